// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mkfleet FOLDER FIRST NR HOSTS [PROGRAMS [BUILDS]] makes NR archives FOLDER/N,
 * from number FIRST on, as oparchive writes them on the machines of a fleet.
 * Archive N is of host N modulo HOSTS and has samples, and call trees, of each
 * of PROGRAMS programs (40), all of build N modulo BUILDS (200), which is its
 * label "version", too. Binaries are hard links to those in FOLDER/binaries,
 * which are made once, and the samples of archive N are those of archive N
 * modulo SAME, so that thousands are made quickly. Prints the number of samples
 * in all of them.
 */

#include <elf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libdb/pack.h"
#include "libop/files/op_folder.h"
#include "libop/base/op_hash.h"
#include "libop/session/op_sample_file.h"
#include "libop/session/op_tree_image.h"
#include "libpp/archive/sums.h"

#define SAMPLES "var/lib/oprofile/samples/current"
#define SAME 1000
#define NR_KEYS 40
#define NR_FUNCTIONS 16
#define TREE_EACH 8 /* programs of which one has a tree */
#define ID_LEN 20

static const char *folder;
static unsigned int nr_programs = 40, nr_builds = 200;
static uint64_t nr_samples;

static void check(int ret, const char *what)
{
	if (ret)
		errx(1, "%s: %s", what, strerror(-ret));
}

static unsigned int count_of(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || n > 10000000)
		errx(2, "%s: not a number up to 10000000", text);
	return (unsigned int)n;
}

/* A number that depends on all of these. */
static uint64_t mixed(uint64_t a, uint64_t b, uint64_t c)
{
	return op_hash_mix(op_hash_mix(op_hash_mix(1, a), b), c);
}

static void build_id(unsigned int program, unsigned int build, uint8_t *id)
{
	for (unsigned int i = 0; i < ID_LEN; i++)
		id[i] = (uint8_t)mixed(program, build, i);
}

static const char *hex_id(unsigned int program, unsigned int build)
{
	static char text[2 * ID_LEN + 1];
	uint8_t id[ID_LEN];

	build_id(program, build, id);
	for (unsigned int i = 0; i < ID_LEN; i++)
		snprintf(text + 2 * i, 3, "%02x", id[i]);
	return text;
}

/* ---- binaries ------------------------------------------------------------ */

/* A digest, with a build-id and functions of 4096 bytes. */
struct binary {
	Elf64_Ehdr header;
	struct {
		Elf64_Nhdr header;
		char name[4];
		uint8_t id[ID_LEN];
	} note;
	Elf64_Sym symbols[NR_FUNCTIONS + 1];
	char strings[NR_FUNCTIONS * 16 + 1];
	char sections[64];
	Elf64_Shdr heads[7];
};

static void set_section(struct binary *b, unsigned int i, const char *name,
			unsigned int type, uint64_t offset, uint64_t size)
{
	size_t at = 1;

	while (b->sections[at])
		at += strlen(b->sections + at) + 1;
	strcpy(b->sections + at, name);
	b->heads[i] = (Elf64_Shdr){ .sh_name = (uint32_t)at,
				    .sh_type = type,
				    .sh_offset = offset,
				    .sh_size = size,
				    .sh_addralign = 1 };
}

static void set_symbols(struct binary *b)
{
	size_t at = 1;

	for (unsigned int i = 0; i < NR_FUNCTIONS; i++) {
		b->symbols[i + 1] = (Elf64_Sym){
			.st_name = (uint32_t)at,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = 2,
			.st_value = 0x1000 + i * 0x1000,
			.st_size = 0x1000,
		};
		at += (size_t)sprintf(b->strings + at, "function_%u", i) + 1;
	}
}

static void write_binary(const char *path, unsigned int program,
			 unsigned int build)
{
	struct binary b = { .header = {
				    .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2,
						 ELFMAG3, ELFCLASS64,
						 ELFDATA2LSB, EV_CURRENT },
				    .e_type = ET_DYN,
				    .e_machine = EM_X86_64,
				    .e_version = EV_CURRENT,
				    .e_ehsize = sizeof(Elf64_Ehdr),
				    .e_shentsize = sizeof(Elf64_Shdr),
				    .e_shoff = offsetof(struct binary, heads),
				    .e_shnum = 7,
				    .e_shstrndx = 5,
			    } };
	FILE *file;

	b.note.header = (Elf64_Nhdr){ 4, ID_LEN, NT_GNU_BUILD_ID };
	memcpy(b.note.name, "GNU", 4);
	build_id(program, build, b.note.id);
	set_symbols(&b);
	set_section(&b, 1, ".note.gnu.build-id", SHT_NOTE,
		    offsetof(struct binary, note), sizeof(b.note));
	b.heads[1].sh_flags = SHF_ALLOC;
	b.heads[1].sh_addralign = 4;
	set_section(&b, 2, ".text", SHT_NOBITS, 0x1000, NR_FUNCTIONS * 0x1000);
	b.heads[2].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	b.heads[2].sh_addr = 0x1000;
	set_section(&b, 3, ".symtab", SHT_SYMTAB,
		    offsetof(struct binary, symbols), sizeof(b.symbols));
	b.heads[3].sh_link = 4;
	b.heads[3].sh_info = 1;
	b.heads[3].sh_entsize = sizeof(Elf64_Sym);
	b.heads[3].sh_addralign = 8;
	set_section(&b, 4, ".strtab", SHT_STRTAB,
		    offsetof(struct binary, strings), sizeof(b.strings));
	set_section(&b, 6, ".oprofile.digest", SHT_NOBITS, 0, 0);
	set_section(&b, 5, ".s", SHT_STRTAB, offsetof(struct binary, sections),
		    sizeof(b.sections));
	file = fopen(path, "we");
	if (!file || fwrite(&b, sizeof(b), 1, file) != 1 || fclose(file))
		err(1, "%s", path);
}

/* Where the binary is that is linked to, and its hash, once it is made. */
static const char *made_binary(unsigned int program, unsigned int build,
			       uint8_t *hash)
{
	static char path[PATH_MAX];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/binaries/%u-%u", folder, program,
		 build);
	if (stat(path, &st)) {
		check(op_make_parents(path, 0755), path);
		write_binary(path, program, build);
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", path);
	check(pp_sha256_fd(fd, hash), path);
	close(fd);
	return path;
}

/* ---- sample files -------------------------------------------------------- */

static struct op_sample_header header_of(unsigned int program,
					 unsigned int build)
{
	struct op_sample_header header = {
		.magic = OP_SAMPLE_MAGIC,
		.version = OP_SAMPLE_VERSION,
		.kind = OP_IMAGE_FILE,
		.timer_hz = 1000,
		.build_id_len = ID_LEN,
		.cpu_type = "timer",
	};

	build_id(program, build, header.build_id);
	return header;
}

static uint64_t count_of_key(unsigned int n, unsigned int program,
			     unsigned int i)
{
	return 1 + mixed(n, program, i) % 50;
}

/* Let @odb have the samples of archive @n in @program. */
static void fill_table(struct odb *odb, unsigned int n, unsigned int program,
		       unsigned int build)
{
	struct op_sample_header header = header_of(program, build);

	for (unsigned int i = 0; i < NR_KEYS; i++) {
		uint64_t count = count_of_key(n, program, i);
		uint64_t key = 0x1000 + mixed(program, build, i * 7 + n % 5) %
						(NR_FUNCTIONS * 0x1000);

		check(odb_add(odb, key, count), "table");
	}
	memcpy(odb_user(odb), &header, sizeof(header));
}

static void fill_tree(struct ctree *tree, unsigned int n, unsigned int program,
		      unsigned int build)
{
	struct op_sample_header header = header_of(program, build);
	char name[64];
	struct op_tree_image image = {
		.name = { .space = OP_SPACE_ROOT, .name = name },
		.kind = OP_IMAGE_FILE,
		.build_id.len = ID_LEN,
	};
	uint8_t bytes[OP_TREE_IMAGE_MAX];
	uint32_t number, node = CTREE_ROOT;
	int len;

	snprintf(name, sizeof(name), "/usr/bin/program-%u", program);
	memcpy(image.build_id.bytes, header.build_id, ID_LEN);
	len = op_tree_image_encode(&image, bytes, sizeof(bytes));
	check(len < 0 ? len : 0, "image");
	check(ctree_image(tree, bytes, (size_t)len, &number), "image");
	for (unsigned int i = 0; i < NR_KEYS; i++) {
		if (!(i % 8))
			node = CTREE_ROOT;
		check(ctree_child(
			      tree, node, number,
			      0x1000 * (1 + mixed(program, build, i + n % 5) %
						    NR_FUNCTIONS),
			      &node),
		      "node");
		check(ctree_add(tree, node, 1 + i), "node");
	}
	memcpy(ctree_user(tree), &header, sizeof(header));
}

/* The files are made where they are forgotten, and packed. */
static void write_program(struct pack_writer *writer, unsigned int n,
			  unsigned int program, unsigned int build)
{
	char name[512], path[PATH_MAX];
	struct ctree *tree;
	struct odb *odb;

	snprintf(path, sizeof(path), "%s/binaries/file", folder);
	snprintf(
		name, sizeof(name),
		"{root}/usr/bin/program-%u/{dep}/{root}/usr/bin/program-%u/{build:%s}/TIMER.0.0.%u.%u.0",
		program, program, hex_id(program, build), 100 + n, 100 + n);
	check(odb_open(&odb, path, ODB_RDWR), path);
	fill_table(odb, n, program, build);
	check(pack_writer_table(writer, name, (const struct odb *const *)&odb,
				1),
	      name);
	odb_close(odb);
	unlink(path);
	if (program % TREE_EACH)
		return;
	snprintf(name, sizeof(name),
		 "{root}/usr/bin/program-%u/{tree}/TIMER.0.0.%u.%u.0", program,
		 100 + n, 100 + n);
	check(ctree_open(&tree, path, ODB_RDWR), path);
	fill_tree(tree, n, program, build);
	ctree_close(tree);
	check(ctree_open(&tree, path, ODB_RDONLY), path);
	check(pack_writer_tree(writer, name, (const struct ctree *const *)&tree,
			       1),
	      name);
	ctree_close(tree);
	unlink(path);
}

/* ---- an archive ---------------------------------------------------------- */

struct archive {
	char path[PATH_MAX - 512];
	struct pp_sum sums[1024];
	size_t nr_sums;
};

static void add_sum(struct archive *a, const char *name, const uint8_t *hash)
{
	struct pp_sum *sum = &a->sums[a->nr_sums++];

	if (a->nr_sums > sizeof(a->sums) / sizeof(a->sums[0]))
		errx(2, "too many programs");
	sum->name = strdup(name);
	memcpy(sum->hash, hash, sizeof(sum->hash));
}

static void hash_file(struct archive *a, const char *name)
{
	uint8_t hash[PP_SHA256_LEN];
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", a->path, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", path);
	check(pp_sha256_fd(fd, hash), path);
	close(fd);
	add_sum(a, name, hash);
}

__attribute__((format(printf, 3, 4))) static void
write_text(struct archive *a, const char *name, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", a->path, name);
	check(op_make_parents(path, 0755), path);
	file = fopen(path, "we");
	if (!file)
		err(1, "%s", path);
	va_start(ap, fmt);
	vfprintf(file, fmt, ap);
	va_end(ap);
	if (fclose(file))
		err(1, "%s", path);
	hash_file(a, name);
}

static int compare_names(const void *a, const void *b)
{
	const unsigned int *x = a, *y = b;
	char p[16], q[16];

	snprintf(p, sizeof(p), "%u/", *x);
	snprintf(q, sizeof(q), "%u/", *y);
	return strcmp(p, q);
}

static void write_pack(const char *path, unsigned int n)
{
	unsigned int *programs = calloc(nr_programs, sizeof(*programs));
	struct pack_writer *writer;

	if (!programs)
		err(1, "memory");
	for (unsigned int i = 0; i < nr_programs; i++)
		programs[i] = i;
	qsort(programs, nr_programs, sizeof(*programs), compare_names);
	check(pack_writer_new(&writer, path, 1), path);
	for (unsigned int i = 0; i < nr_programs; i++)
		write_program(writer, n, programs[i], n % nr_builds);
	check(pack_writer_finish_early(writer), path);
	free(programs);
}

static void write_samples(struct archive *a, unsigned int n)
{
	char path[PATH_MAX], same[PATH_MAX];
	uint64_t before = nr_samples;

	snprintf(path, sizeof(path), "%s/" SAMPLES "/packed", a->path);
	snprintf(same, sizeof(same), "%s/%u/" SAMPLES "/packed", folder,
		 n % SAME);
	if (n < SAME || link(same, path))
		write_pack(path, n % SAME);
	hash_file(a, SAMPLES "/packed");
	for (unsigned int i = 0; i < nr_programs * NR_KEYS; i++)
		nr_samples += count_of_key(n % SAME, i / NR_KEYS, i % NR_KEYS);
	write_text(a, SAMPLES "/ledger",
		   "source = file\ntaken = %" PRIu64 "\nstored = %" PRIu64
		   "\npending = 0\nlost.overflow = 3\n",
		   nr_samples - before + 3, nr_samples - before);
}

static void link_binaries(struct archive *a, unsigned int build)
{
	for (unsigned int i = 0; i < nr_programs; i++) {
		uint8_t hash[PP_SHA256_LEN];
		const char *from = made_binary(i, build, hash);
		char name[64], path[PATH_MAX];

		snprintf(name, sizeof(name), "usr/bin/program-%u", i);
		snprintf(path, sizeof(path), "%s/%s", a->path, name);
		if (!i)
			check(op_make_parents(path, 0755), path);
		if (link(from, path))
			err(1, "%s", path);
		add_sum(a, name, hash);
	}
}

static int compare_sums(const void *a, const void *b)
{
	const struct pp_sum *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void make_archive(unsigned int n, unsigned int nr_hosts)
{
	static struct archive a;
	struct pp_sums sums = { .list = a.sums };
	char path[PATH_MAX];

	a.nr_sums = 0;
	snprintf(a.path, sizeof(a.path), "%s/%u", folder, n);
	write_text(&a, ".oparchive/facts",
		   "format = 1\nsession = /var/lib/oprofile\n");
	write_text(&a, SAMPLES "/labels", "host = host-%u\nversion = 1.%u\n",
		   n % nr_hosts, n % nr_builds);
	write_samples(&a, n);
	link_binaries(&a, n % nr_builds);
	qsort(a.sums, a.nr_sums, sizeof(*a.sums), compare_sums);
	sums.nr = a.nr_sums;
	snprintf(path, sizeof(path), "%s/.oparchive/SHA256SUMS", a.path);
	check(pp_sums_write(&sums, path), path);
	for (size_t i = 0; i < a.nr_sums; i++)
		free((char *)a.sums[i].name);
}

int main(int argc, char **argv)
{
	unsigned int first, nr, nr_hosts;
	char path[PATH_MAX];

	if (argc < 5 || argc > 7)
		errx(2, "FOLDER FIRST NR HOSTS [PROGRAMS [BUILDS]]");
	folder = argv[1];
	first = count_of(argv[2]);
	nr = count_of(argv[3]);
	nr_hosts = count_of(argv[4]);
	if (argc > 5)
		nr_programs = count_of(argv[5]);
	if (argc > 6)
		nr_builds = count_of(argv[6]);
	snprintf(path, sizeof(path), "%s/binaries/file", folder);
	check(op_make_parents(path, 0755), path);
	for (unsigned int i = 0; i < nr; i++)
		make_archive(first + i, nr_hosts);
	printf("%" PRIu64 "\n", nr_samples);
	return 0;
}
