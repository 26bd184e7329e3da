// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Digests of binaries: what op_bfd reads from one is what it reads from the
 * binary, of any kind of binary; and of damaged ones there is none.
 */

#include "tests/unit/op_fixture.h"

#include <elf.h>

#include "libpp/symbols/elf_digest.h"
#include "libpp/symbols/op_bfd.h"

static const struct op_debug_places nowhere;

/* Run @command in the folder of the test. */
static void run(const char *command)
{
	if (system(command))
		fail_msg("%s", command);
}

static int digest(const char *from, const char *to)
{
	int in = open(from, O_RDONLY);
	int out = open(to, O_RDWR | O_CREAT | O_TRUNC, 0600);
	int err;

	assert_true(in >= 0 && out >= 0);
	err = pp_elf_digest(in, out);
	close(in);
	close(out);
	return err;
}

static off_t size_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

static void write_program(void)
{
	write_text("p.c", "#include <stdlib.h>\n"
			  "static int helper(int x)\n"
			  "{\n"
			  "	return abs(x) + rand();\n"
			  "}\n"
			  "int table[100000] = { 1 };\n"
			  "int main(int argc, char **argv)\n"
			  "{\n"
			  "	(void)argv;\n"
			  "	return helper(argc) + table[argc];\n"
			  "}\n");
}

static int by_key(const void *a, const void *b)
{
	const struct pp_raw_symbol *x = a, *y = b;
	int order = (x->key > y->key) - (x->key < y->key);

	return order ? order : strcmp(x->name, y->name);
}

struct opened {
	struct op_bfd *bfd;
	struct pp_raw_symbol *syms;
	size_t nr;
	enum op_bfd_origin origin;
};

static void open_both(struct opened *o, const char *path)
{
	assert_int_equal(op_bfd_open(&o->bfd, path, &nowhere), 0);
	assert_int_equal(
		op_bfd_symbols(o->bfd, true, &o->syms, &o->nr, &o->origin), 0);
	qsort(o->syms, o->nr, sizeof(*o->syms), by_key);
}

static void close_both(struct opened *o)
{
	free(o->syms);
	op_bfd_close(o->bfd);
}

static void compare_places(struct op_bfd *a, struct op_bfd *b, uint64_t offset)
{
	const char *a_file = NULL, *b_file = NULL;
	unsigned int a_line = 0, b_line = 0;
	uint64_t vma = op_bfd_vma(a, offset);
	bool found = op_bfd_line(a, vma, &a_file, &a_line);

	assert_int_equal(op_bfd_vma(b, offset), vma);
	assert_int_equal(op_bfd_line(b, vma, &b_file, &b_line), found);
	if (!found)
		return;
	assert_string_equal(a_file, b_file);
	assert_int_equal(a_line, b_line);
}

/* The binary "p" and its digest: same symbols, addresses, lines and build. */
static void compare_with_digest(size_t min_symbols)
{
	struct opened a, b;
	const uint8_t *a_id, *b_id;
	size_t a_len, b_len;
	uint8_t code;

	assert_int_equal(digest("p", "d"), 0);
	open_both(&a, "p");
	open_both(&b, "d");
	assert_true(a.nr >= min_symbols);
	assert_int_equal(a.nr, b.nr);
	assert_int_equal(a.origin, b.origin);
	for (size_t i = 0; i < a.nr; i++) {
		assert_string_equal(a.syms[i].name, b.syms[i].name);
		assert_int_equal(a.syms[i].key, b.syms[i].key);
		assert_int_equal(a.syms[i].vma, b.syms[i].vma);
		assert_int_equal(a.syms[i].size, b.syms[i].size);
		assert_int_equal(a.syms[i].limit, b.syms[i].limit);
		for (uint64_t k = 0; k < 16; k++)
			compare_places(a.bfd, b.bfd, a.syms[i].key + k);
	}
	assert_int_equal(op_bfd_first_code(a.bfd), op_bfd_first_code(b.bfd));
	a_id = op_bfd_build_id(a.bfd, &a_len);
	b_id = op_bfd_build_id(b.bfd, &b_len);
	assert_int_equal(a_len, b_len);
	assert_memory_equal(a_id, b_id, a_len);
	/* It has no code, and does not pretend to. */
	for (size_t i = 0; i < b.nr; i++)
		if (!strcmp(b.syms[i].name, "main"))
			assert_false(
				op_bfd_code(b.bfd, b.syms[i].vma, 1, &code));
	close_both(&a);
	close_both(&b);
	assert_true(size_of("d") < size_of("p"));
}

FOLDER_TEST(test_a_program)
{
	write_program();
	run("${CC:-cc} -g -O1 -Wl,--build-id -o p p.c");
	compare_with_digest(3);
	/* The table of 400 kB is not in it. */
	assert_true(size_of("d") < 100000);
}

FOLDER_TEST(test_kinds_of_programs)
{
	static const char *const kinds[] = {
		"-static-pie -fPIE",
		"-no-pie",
		"-static",
		"-shared -fPIC",
		"-Wl,-z,lazy",
		"-Wl,-z,now",
		"-gdwarf-4",
		"-gz",
		"-Wl,--build-id=none -Wl,-s",
		"-Wl,-q",
		"-Wl,-z,separate-code",
		"-Wl,-z,noseparate-code",
	};
	char command[256];

	write_program();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		snprintf(command, sizeof(command),
			 "${CC:-cc} -g -O1 -Wl,--build-id %s -o p p.c",
			 kinds[i]);
		run(command);
		compare_with_digest(1);
	}
}

/* Stripped ones, whose functions are in other sections. */
FOLDER_TEST(test_stripped_programs)
{
	static const char *const kinds[] = {
		"-static",
		"-static -Wl,--no-eh-frame-hdr",
		"-static -Wl,--eh-frame-hdr",
		"-static-pie -fPIE",
		"-shared -fPIC -Wl,--no-eh-frame-hdr",
	};
	char command[256];

	write_program();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		snprintf(command, sizeof(command),
			 "${CC:-cc} -O1 -s -Wl,--build-id %s -o p p.c",
			 kinds[i]);
		run(command);
		compare_with_digest(2);
	}
}

/* The descriptions of functions are kept where nothing else has the starts. */
FOLDER_TEST(test_frames_that_are_kept)
{
	static const struct {
		const char *flags;
		bool is_kept;
	} rows[] = {
		{ "-s -Wl,--no-eh-frame-hdr", true },
		{ "-s -Wl,--eh-frame-hdr", false },
		{ "-Wl,--no-eh-frame-hdr", false },
		{ "-Wl,--eh-frame-hdr", false },
	};
	char command[256];

	write_program();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(command, sizeof(command),
			 "${CC:-cc} -O1 -static -Wl,--build-id %s -o p p.c",
			 rows[i].flags);
		run(command);
		assert_int_equal(digest("p", "d"), 0);
		run("readelf -SW d | grep -o '[.]eh_frame  *[A-Z]*' >list");
		if ((system("grep -q PROGBITS list") == 0) != rows[i].is_kept)
			fail_msg("%s", rows[i].flags);
	}
}

/* As kernel modules are. */
FOLDER_TEST(test_a_relocatable_file)
{
	write_program();
	run("${CC:-cc} -g -O1 -ffunction-sections -c -o p p.c");
	compare_with_digest(1);
}

FOLDER_TEST(test_digest_of_a_digest)
{
	write_program();
	run("${CC:-cc} -g -O1 -Wl,--build-id -o p p.c");
	assert_int_equal(digest("p", "d"), 0);
	assert_int_equal(rename("d", "q"), 0);
	assert_int_equal(digest("q", "d"), 0);
	assert_int_equal(rename("q", "p"), 0);
	{
		struct opened a, b;

		open_both(&a, "p");
		open_both(&b, "d");
		assert_int_equal(a.nr, b.nr);
		close_both(&a);
		close_both(&b);
	}
}

/* Where variables lie, macros, lists of what is in the rest, how to unwind. */
FOLDER_TEST(test_debug_sections_of_no_use)
{
	static const char *const rows[] = { "-gdwarf-5", "-gdwarf-4",
					    "-gdwarf-5 -gz",
					    "-gdwarf-4 -gz=zlib-gnu" };

	write_program();
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char build[256];

		snprintf(
			build, sizeof(build),
			"${CC:-cc} -g3 -O2 -gpubnames -fno-asynchronous-unwind-tables %s -c -o p p.c",
			rows[i]);
		run(build);
		run("readelf -SW p >all; for name in frame loc mac pub; do grep -q \"debug_$name\" all || exit 1; done");
		assert_int_equal(digest("p", "d"), 0);
		run("readelf -SW d >kept");
		run("! grep -E 'debug_(frame|loc|mac|pub)' kept | grep -v NOBITS");
		run("grep -E 'debug_line ' kept | grep -q PROGBITS");
		assert_true(size_of("d") < size_of("p"));
	}
}

/* A file that lost its code in another way has no offsets to go by. */
FOLDER_TEST(test_a_debug_file_is_no_digest)
{
	struct op_bfd *bfd;

	write_program();
	run("${CC:-cc} -g -O1 -o p p.c && objcopy --only-keep-debug p q");
	assert_int_equal(op_bfd_open(&bfd, "q", &nowhere), 0);
	/* An offset in no section is left as it is. */
	for (uint64_t offset = 0; offset < 20000; offset += 16)
		assert_int_equal(op_bfd_vma(bfd, offset), offset);
	op_bfd_close(bfd);
}

FOLDER_TEST(test_refuses_what_is_no_binary)
{
	static char all[4 << 20];
	size_t len;
	FILE *file;

	write_text("p", "");
	assert_int_equal(digest("p", "d"), -ENOEXEC);
	write_text("p",
		   "#!/bin/sh\necho some script, longer than a header is\n");
	assert_int_equal(digest("p", "d"), -ENOEXEC);
	write_program();
	run("${CC:-cc} -g -O1 -o p p.c");
	file = fopen("p", "r");
	len = fread(all, 1, sizeof(all), file);
	fclose(file);
	/* The section headers are at the end. */
	for (size_t cut = 1; cut < len; cut += len / 50) {
		write_bytes("q", all, len - cut);
		assert_int_equal(digest("q", "d"), -ENOEXEC);
	}
}

/* The file "p" with @nr sections. Only the one with the names is used. */
static void write_sections(uint64_t nr)
{
	Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 1,
		.e_shoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = nr < SHN_LORESERVE ? (uint16_t)nr : 0,
		.e_shstrndx = 1,
	};
	static const char names[] = ".plt";
	size_t len = sizeof(header) + nr * sizeof(Elf64_Shdr);
	uint8_t *bytes = calloc(1, len + sizeof(names));
	Elf64_Shdr *sections;

	assert_non_null(bytes);
	memcpy(bytes, &header, sizeof(header));
	sections = (Elf64_Shdr *)(bytes + sizeof(header));
	sections[0].sh_size = nr < SHN_LORESERVE ? 0 : nr;
	sections[1] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				    .sh_offset = len,
				    .sh_size = sizeof(names) };
	memcpy(bytes + len, names, sizeof(names));
	write_bytes("p", bytes, len + sizeof(names));
	free(bytes);
}

/* Section @nr of the file @path, and of which there are @header->e_shnum. */
static Elf64_Shdr section_of(const char *path, uint64_t nr, Elf64_Ehdr *header)
{
	FILE *file = fopen(path, "r");
	Elf64_Shdr section;

	assert_non_null(file);
	assert_int_equal(fread(header, sizeof(*header), 1, file), 1);
	assert_int_equal(fseek(file,
			       (long)(header->e_shoff + nr * sizeof(section)),
			       SEEK_SET),
			 0);
	assert_int_equal(fread(&section, sizeof(section), 1, file), 1);
	fclose(file);
	return section;
}

/* Let @section be number @nr of the file "p". */
static void put_section(uint64_t nr, const Elf64_Shdr *section)
{
	FILE *file = fopen("p", "r+");

	assert_non_null(file);
	assert_int_equal(
		fseek(file, (long)(sizeof(Elf64_Ehdr) + nr * sizeof(*section)),
		      SEEK_SET),
		0);
	assert_int_equal(fwrite(section, sizeof(*section), 1, file), 1);
	fclose(file);
}

/* The last section tells that it is a digest; there is no fingerprint of a file
 * without code for it. */
FOLDER_TEST(test_the_mark)
{
	Elf64_Ehdr header;
	Elf64_Shdr mark, names;
	char name[64] = "";
	FILE *file;

	write_sections(2);
	assert_int_equal(digest("p", "d"), 0);
	mark = section_of("d", 2, &header);
	names = section_of("d", header.e_shstrndx, &header);
	assert_int_equal(header.e_shnum, 3);
	assert_int_equal(mark.sh_type, SHT_PROGBITS);
	assert_int_equal(mark.sh_flags, 0);
	assert_int_equal(mark.sh_size, 0);
	assert_int_equal(mark.sh_addralign, 1);
	assert_int_equal(mark.sh_offset, names.sh_offset + names.sh_size);
	/* Behind the names that were there before. */
	assert_int_equal(mark.sh_name, sizeof(".plt"));
	assert_int_equal(names.sh_size, sizeof(".plt") + sizeof(PP_ELF_DIGEST));
	file = fopen("d", "r");
	assert_non_null(file);
	assert_int_equal(fseek(file, (long)names.sh_offset, SEEK_SET), 0);
	assert_int_equal(fread(name, names.sh_size, 1, file), 1);
	fclose(file);
	assert_string_equal(name, ".plt");
	assert_string_equal(name + mark.sh_name, PP_ELF_DIGEST);
}

/* What is kept follows each other from behind the header on, aligned as it was,
 * around code that keeps its place. */
FOLDER_TEST(test_places_of_sections)
{
#define NOTE(size, align)                                                      \
	{                                                                      \
		.sh_type = SHT_NOTE, .sh_offset = 8, .sh_size = size,          \
		.sh_addralign = align                                          \
	}
#define CODE(offset, size)                                                     \
	{                                                                      \
		.sh_type = SHT_PROGBITS,                                       \
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_offset = offset,    \
		.sh_size = size                                                \
	}
	static const struct {
		const char *name;
		Elf64_Shdr sections[3];
		uint64_t offsets[3];
	} rows[] = {
		{ "aligned already",
		  { NOTE(8, 8), NOTE(16, 8), NOTE(1, 1) },
		  { 64, 72, 88 } },
		{ "with gaps",
		  { NOTE(1, 8), NOTE(1, 32), NOTE(1, 4) },
		  { 64, 96, 100 } },
		{ "alignments that are none are of 16 bytes",
		  { NOTE(1, 0), NOTE(1, 3), NOTE(1, 8192) },
		  { 64, 80, 96 } },
		{ "up to a page",
		  { NOTE(1, 1), NOTE(1, 4096), NOTE(1, 1) },
		  { 64, 4096, 4097 } },
		{ "room before code",
		  { CODE(68, 8), NOTE(4, 4), NOTE(4, 4) },
		  { 68, 64, 76 } },
		{ "one byte less",
		  { CODE(67, 8), NOTE(4, 4), NOTE(4, 4) },
		  { 67, 76, 80 } },
		{ "room between code",
		  { CODE(84, 4), CODE(64, 16), NOTE(4, 4) },
		  { 84, 64, 80 } },
		{ "none between code",
		  { CODE(84, 4), CODE(64, 16), NOTE(5, 4) },
		  { 84, 64, 88 } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		Elf64_Ehdr header;

		write_sections(8);
		for (uint64_t k = 0; k < 3; k++)
			put_section(2 + k, &rows[i].sections[k]);
		assert_int_equal(digest("p", "d"), 0);
		for (uint64_t k = 0; k < 3; k++) {
			Elf64_Shdr section = section_of("d", 2 + k, &header);

			if (section.sh_offset != rows[i].offsets[k])
				fail_msg("%s: %d is at %d", rows[i].name,
					 (int)k, (int)section.sh_offset);
			assert_int_equal(section.sh_type,
					 rows[i].sections[k].sh_type);
			assert_int_equal(section.sh_size,
					 rows[i].sections[k].sh_size);
		}
	}
}

/* A name may begin where the names end, which is none; behind that is damage,
 * and what has it is not kept. */
FOLDER_TEST(test_names_of_sections)
{
	static const struct {
		uint32_t name;
		bool is_kept;
	} rows[] = {
		{ 0, true },
		{ sizeof(".plt") - 1, true },
		{ sizeof(".plt"), true },
		{ sizeof(".plt") + 1, false },
		{ UINT32_MAX, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		Elf64_Shdr note = NOTE(4, 4);
		Elf64_Ehdr header;

		note.sh_name = rows[i].name;
		write_sections(3);
		put_section(2, &note);
		assert_int_equal(digest("p", "d"), 0);
		assert_int_equal(section_of("d", 2, &header).sh_type,
				 rows[i].is_kept ? SHT_NOTE : SHT_NOBITS);
	}
}

/*
 * From 0xff00 on, the number of sections is the size of the first. The headers
 * are aligned; program headers are left out.
 */
FOLDER_TEST(test_headers)
{
	static const struct {
		uint64_t nr; /* without the section that marks a digest */
		uint16_t e_shnum;
		uint64_t sh_size;
	} rows[] = {
		{ 2, 3, 0 },
		{ 0xfefe, 0xfeff, 0 },
		{ 0xfeff, 0, 0xff00 },
		{ 0xff00, 0, 0xff01 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		Elf64_Ehdr header;
		Elf64_Shdr first;
		FILE *file;

		write_sections(rows[i].nr);
		assert_int_equal(digest("p", "d"), 0);
		file = fopen("d", "r");
		assert_non_null(file);
		assert_int_equal(fread(&header, sizeof(header), 1, file), 1);
		assert_int_equal(fseek(file, (long)header.e_shoff, SEEK_SET),
				 0);
		assert_int_equal(fread(&first, sizeof(first), 1, file), 1);
		fclose(file);
		assert_int_equal(header.e_shoff % sizeof(uint64_t), 0);
		assert_int_equal(header.e_phoff, 0);
		assert_int_equal(header.e_phnum, 0);
		assert_int_equal(header.e_shnum, rows[i].e_shnum);
		assert_int_equal(first.sh_size, rows[i].sh_size);
	}
}

/* Linkage code keeps its place, which cannot be that of the header. */
FOLDER_TEST(test_code_in_the_header)
{
	static const struct {
		uint64_t offset;
		int err;
	} rows[] = {
		{ 0, -ENOEXEC },
		{ sizeof(Elf64_Ehdr) - 1, -ENOEXEC },
		{ sizeof(Elf64_Ehdr), 0 },
	};
	static const Elf64_Shdr code = {
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_size = 1,
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		Elf64_Shdr plt = code;
		FILE *file;

		plt.sh_offset = rows[i].offset;
		write_sections(3);
		file = fopen("p", "r+");
		assert_non_null(file);
		assert_int_equal(fseek(file,
				       sizeof(Elf64_Ehdr) + 2 * sizeof(plt),
				       SEEK_SET),
				 0);
		assert_int_equal(fwrite(&plt, sizeof(plt), 1, file), 1);
		fclose(file);
		assert_int_equal(digest("p", "d"), rows[i].err);
	}
}
