// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Images of code that programs made: which name an image gets, where functions
 * are put in it, and its file, header by header as elf(5) has them. Of source
 * lines the section is compared byte by byte with what the DWARF 2 standard,
 * section 6.2, says.
 */

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/session/op_code_image.h"
#include "tests/unit/opd_fixture.h"
#include "tests/unit/rows.h"

#define FILE_MAX 65536

static char folder[64];

static int make_temp_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/op-code-image-XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_temp_folder(void **state)
{
	(void)state;
	remove_tree(folder);
	return 0;
}

#define TEMP_TEST(name) TEST_WITH(name, make_temp_folder, remove_temp_folder)

#define FUNCTION(called, len, contents)                                        \
	(&(const struct op_code_function){ .name = (called),                   \
					   .size = (len),                      \
					   .bytes =                            \
						   (const void *)(contents) })

/* Keep a function: its number. */
static uint32_t keep(struct op_code_image *image, const char *name,
		     uint32_t size, const void *bytes)
{
	uint32_t number = UINT32_MAX;

	assert_int_equal(op_code_image_keep(image, FUNCTION(name, size, bytes),
					    &number),
			 0);
	return number;
}

/* ---- names ------------------------------------------------------------------
 */

/* The name of a new image for process 77 in the folder @in. */
static void expect_name(const char *in, int err, const char *want)
{
	struct op_code_image image;

	assert_int_equal(op_code_image_init_jit(&image, in, 77), err);
	if (!err)
		assert_string_equal(image.name, want);
	op_code_image_release(&image);
}

TEMP_TEST(test_name)
{
	/* A file's name, and that of an image made when it is there. */
	static const struct {
		const char *file;
		const char *want;
	} rows[] = {
		{ "7.jo-00", "/77.jo" },      { "77.jo", "/77.jo" },
		{ "77.jo.-00", "/77.jo" },    { "x77.jo-00", "/77.jo" },
		{ "77.2.jo-00", "/77.jo" },   { "77.jo-00", "/77.3.jo" },
		{ "77.3.jo-1", "/77.4.jo" },  { "77.5.jo-", "/77.4.jo" },
		{ "77.4.jo-01", "/77.6.jo" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		write_text(folder, rows[i].file, "");
		expect_name(folder, 0, rows[i].want);
	}
}

TEMP_TEST(test_no_more_names)
{
	char name[32];

	write_text(folder, "77.jo-0", "");
	for (int i = 2; i < 999; i++) {
		snprintf(name, sizeof(name), "77.%d.jo-0", i);
		write_text(folder, name, "");
	}
	expect_name(folder, 0, "/77.999.jo");
	write_text(folder, "77.999.jo-0", "");
	expect_name(folder, -EEXIST, NULL);
}

/* The build-id is by chance, and in the name of the file. */
TEMP_TEST(test_path)
{
	char path[512], images[80];
	struct op_code_image a, b;
	struct stat st;
	size_t len;

	snprintf(images, sizeof(images), "%s/images", folder);
	assert_int_equal(op_code_image_init_jit(&a, images, 77), 0);
	assert_int_equal(stat(images, &st), 0);
	/* There are no samples beside it that say who may read it. */
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(op_code_image_init_jit(&b, images, 4000000000u), 0);
	assert_string_equal(b.name, "/4000000000.jo");
	assert_int_equal(a.build_id.len, 16);
	assert_int_equal(b.build_id.len, 16);
	assert_memory_not_equal(a.build_id.bytes, b.build_id.bytes, 16);
	/* All of it is. */
	assert_memory_not_equal(a.build_id.bytes + 12, b.build_id.bytes + 12,
				4);
	len = (size_t)snprintf(path, sizeof(path), "%s/77.jo-", images);
	for (int i = 0; i < 16; i++)
		snprintf(path + len + 2 * i, 3, "%02x", a.build_id.bytes[i]);
	assert_string_equal(a.path, path);
	op_code_image_release(&a);
	op_code_image_release(&b);
}

TEMP_TEST(test_no_folder)
{
	char path[80];

	write_text(folder, "file", "");
	snprintf(path, sizeof(path), "%s/file/images", folder);
	expect_name(path, -ENOTDIR, NULL);
	snprintf(path, sizeof(path), "%s/none/images", folder);
	expect_name(path, -ENOENT, NULL);
}

/* ---- functions --------------------------------------------------------------
 */

/* Between two functions there is a byte at least. */
TEMP_TEST(test_keys)
{
	static const struct {
		uint32_t size;
		uint64_t key;
	} rows[] = {
		{ 1, 0x1000 },
		{ 15, 0x1010 },
		{ 16, 0x1020 },
		{ 17, 0x1040 },
		{ 31, 0x1060 },
		{ 0x1000, 0x1080 },
		{ 1, 0x2090 },
		{ UINT32_MAX, 0x20a0 },
		{ 1, UINT64_C(0x1000020a0) },
	};
	struct op_code_image image;
	char name[8];

	assert_int_equal(op_code_image_init_jit(&image, folder, 77), 0);
	for (uint32_t i = 0; i < NR(rows); i++) {
		snprintf(name, sizeof(name), "f%u", i);
		assert_int_equal(keep(&image, name, rows[i].size, NULL), i + 1);
		assert_int_equal(image.nr, i + 1);
		assert_int_equal(image.kept[i].key, rows[i].key);
		assert_int_equal(image.kept[i].size, rows[i].size);
		assert_string_equal(image.names + image.kept[i].name, name);
	}
	op_code_image_release(&image);
}

/* Without bytes a function is the earlier one of its name that is no shorter.
 */
TEMP_TEST(test_same_name)
{
	struct op_code_image image;

	assert_int_equal(op_code_image_init_jit(&image, folder, 77), 0);
	assert_int_equal(keep(&image, "a", 8, NULL), 1);
	assert_int_equal(keep(&image, "a", 8, NULL), 1);
	assert_int_equal(keep(&image, "a", 7, NULL), 1);
	assert_int_equal(keep(&image, "b", 8, NULL), 2);
	assert_int_equal(keep(&image, "a", 9, NULL), 3);
	assert_int_equal(keep(&image, "a", 9, NULL), 3);
	assert_int_equal(keep(&image, "A", 1, NULL), 4);
	/* With bytes it may be other code each time. */
	assert_int_equal(keep(&image, "a", 4, "abcd"), 5);
	assert_int_equal(keep(&image, "a", 4, "abcd"), 6);
	assert_int_equal(keep(&image, "c", 4, "abcd"), 7);
	assert_int_equal(keep(&image, "c", 4, NULL), 8);
	assert_int_equal(keep(&image, "b", 1, NULL), 2);
	assert_int_equal(image.nr, 8);
	op_code_image_release(&image);
}

TEMP_TEST(test_most_functions)
{
	struct op_code_image image;
	uint32_t number = 1;
	char name[16];

	assert_int_equal(op_code_image_init_jit(&image, folder, 77), 0);
	for (uint32_t i = 1; i <= 65535; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		assert_int_equal(keep(&image, name, 1, NULL), i);
	}
	assert_int_equal(op_code_image_keep(&image, FUNCTION("g", 1, NULL),
					    &number),
			 -ENOSPC);
	assert_int_equal(number, 0);
	assert_int_equal(image.nr, 65535);
	assert_int_equal(keep(&image, "f65535", 1, NULL), 65535);
	op_code_image_release(&image);
}

/* 64 MiB of code; functions without bytes take of it, too. */
TEMP_TEST(test_most_bytes)
{
	const uint32_t most = 64u << 20;
	uint8_t *bytes = calloc(1, most);
	struct op_code_image image;
	uint32_t number;

	assert_non_null(bytes);
	assert_int_equal(op_code_image_init_jit(&image, folder, 77), 0);
	assert_int_equal(keep(&image, "a", 1, NULL), 1);
	assert_int_equal(op_code_image_keep(&image,
					    FUNCTION("b", most - 15, bytes),
					    &number),
			 -ENOSPC);
	assert_int_equal(image.code_len, 0);
	assert_int_equal(keep(&image, "b", most - 16, bytes), 2);
	assert_int_equal(image.code_len, most);
	assert_int_equal(op_code_image_keep(&image, FUNCTION("c", 1, bytes),
					    &number),
			 -ENOSPC);
	assert_int_equal(keep(&image, "c", 1, NULL), 3);
	op_code_image_release(&image);
	free(bytes);
}

/* ---- the file ---------------------------------------------------------------
 */

static size_t read_file(const char *path, void *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	assert_true(fd >= 0);
	len = read(fd, bytes, FILE_MAX);
	close(fd);
	assert_true(len > 0 && len < FILE_MAX);
	return (size_t)len;
}

static void show_bytes(FILE *out, const uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fprintf(out, " %02x", bytes[i]);
}

/* Non-zero bytes of the text, by address. */
static void show_text(FILE *out, const uint8_t *bytes, const Elf64_Shdr *s)
{
	fprintf(out, " flags %lx addr %lx:", (unsigned long)s->sh_flags,
		(unsigned long)s->sh_addr);
	for (size_t i = 0; s->sh_type != SHT_NOBITS && i < s->sh_size; i++)
		if (bytes[s->sh_offset + i])
			fprintf(out, " %zx=%c", i, bytes[s->sh_offset + i]);
}

static void show_symbols(FILE *out, const uint8_t *bytes, const Elf64_Shdr *s,
			 const Elf64_Shdr *names)
{
	Elf64_Sym sym;

	fprintf(out, " link %u info %u entsize %lu:", s->sh_link, s->sh_info,
		(unsigned long)s->sh_entsize);
	for (size_t at = 0; at < s->sh_size; at += sizeof(sym)) {
		memcpy(&sym, bytes + s->sh_offset + at, sizeof(sym));
		fprintf(out, " [%s %x %x %lx+%lu]",
			bytes + names->sh_offset + sym.st_name, sym.st_info,
			sym.st_shndx, (unsigned long)sym.st_value,
			(unsigned long)sym.st_size);
	}
}

static void show_section(FILE *out, const uint8_t *bytes, const Elf64_Shdr *all,
			 const Elf64_Shdr *s, const char *name)
{
	fprintf(out, "%s type %u at %lx+%lx align %lu", name, s->sh_type,
		(unsigned long)s->sh_offset, (unsigned long)s->sh_size,
		(unsigned long)s->sh_addralign);
	if (!strcmp(name, ".text"))
		show_text(out, bytes, s);
	else if (!strcmp(name, ".symtab"))
		show_symbols(out, bytes, s, &all[s->sh_link]);
	else if (!strcmp(name, ".strtab") || !strcmp(name, ".debug_line"))
		show_bytes(out, bytes + s->sh_offset, s->sh_size);
	else if (!strcmp(name, ".note.gnu.build-id"))
		show_bytes(out, bytes + s->sh_offset, 16);
	fputc('\n', out);
}

static void show_elf(FILE *out, const struct op_code_image *image)
{
	uint8_t bytes[FILE_MAX];
	size_t len = read_file(image->path, bytes);
	Elf64_Shdr sections[16];
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	memcpy(&header, bytes, sizeof(header));
	memcpy(&segment, bytes + header.e_phoff, sizeof(segment));
	assert_memory_equal(header.e_ident, "\177ELF\2\1\1\0\0", 9);
	assert_int_equal(header.e_ehsize, 64);
	assert_int_equal(header.e_phentsize, 56);
	assert_int_equal(header.e_shentsize, 64);
	assert_int_equal(header.e_version, 1);
	fprintf(out,
		"type %u machine %u segments %u at %lx sections %u at %lx names %u\n",
		header.e_type, header.e_machine, header.e_phnum,
		(unsigned long)header.e_phoff, header.e_shnum,
		(unsigned long)header.e_shoff, header.e_shstrndx);
	fprintf(out, "segment type %u flags %u at %lx+%lx (%lx) align %lu\n",
		segment.p_type, segment.p_flags,
		(unsigned long)segment.p_offset,
		(unsigned long)segment.p_filesz, (unsigned long)segment.p_memsz,
		(unsigned long)segment.p_align);
	assert_int_equal(len, header.e_shoff + header.e_shnum * 64u);
	assert_true(header.e_shnum <= NR(sections));
	memcpy(sections, bytes + header.e_shoff, header.e_shnum * 64u);
	for (unsigned int i = 0; i < header.e_shnum; i++)
		show_section(out, bytes, sections, &sections[i],
			     (char *)bytes +
				     sections[header.e_shstrndx].sh_offset +
				     sections[i].sh_name);
	for (const Elf64_Shdr *s = sections; s->sh_type != SHT_NOTE; s++)
		assert_true(s < sections + header.e_shnum);
	assert_memory_equal(bytes + segment.p_offset + 16,
			    image->build_id.bytes, 16);
}

/*
 * name SIZE [BYTES]: a function of an image of machine 1; line OFFSET NUMBER
 * FILE: of the next function; save: show the file
 */
static void run_image(const struct row *row, FILE *out)
{
	struct op_code_line lines[16];
	char line[256], files[16][8];
	const char *at = row->script;
	struct op_diag diag = { "" };
	struct op_code_image image;
	size_t nr_lines = 0;

	assert_int_equal(op_code_image_init_jit(&image, folder, 77), 0);
	image.machine = 1;
	while (next_line(&at, line, sizeof(line))) {
		char name[16], bytes[64] = "", file[8];
		struct op_code_function function;
		unsigned int size, number;

		if (!strcmp(line, "save")) {
			assert_int_equal(op_code_image_save(&image, &diag), 0);
			show_elf(out, &image);
		} else if (sscanf(line, "line %u %u %7s", &size, &number,
				  file) == 3) {
			strcpy(files[nr_lines], file);
			lines[nr_lines] =
				(struct op_code_line){ size, number,
						       files[nr_lines] };
			nr_lines++;
		} else if (sscanf(line, "%15s %u %63s", name, &size, bytes) >=
			   2) {
			function = *FUNCTION(name, size, *bytes ? bytes : NULL);
			function.lines = lines;
			function.nr_lines = nr_lines;
			assert_int_equal(op_code_image_keep(&image, &function,
							    &number),
					 0);
			nr_lines = 0;
		} else {
			fail_msg("%s: no such line", line);
		}
	}
	op_code_image_release(&image);
}

/* clang-format off */
static const struct row rows[] = {
	{ "no_bytes", NULL, "first 5; second 16; save",
	  EXPECTED("no-bytes") },
	{ "some_bytes", NULL, "a 4 ABCD; b 20; c 3 EFG; d 40; save", EXPECTED_ROW },
	/* Code without a line ends a sequence; the end of the function does not
	 * count as such. */
	{ "no_lines_between", NULL,
	  "line 0 0 a.c; line 2 5 a.c; line 4 0 a.c; line 6 0 b.c; line 7 9 b.c; line 9 0 c.c; a 16 ;"
	  "line 3 0 a.c; b 4; line 3 1 a.c; c 4; save",
	  EXPECTED("no-lines-between") },
	{ "lines", NULL,
	  "line 4 100 a.c; line 2 10 b.c; line 4 37 b.c; a 300 ;"
	  "line 0 2 a.c; line 128 66 a.c; line 256 2 a.c; line 257 66 a.c; line 258 1 a.c; b 500; save",
	  EXPECTED("lines") },
};
/* clang-format on */

TEST_ROWS(test_row, rows)
{
	assert_int_equal(make_temp_folder(NULL), 0);
	check_row(*state, run_image);
	remove_temp_folder(NULL);
}

/* What has not changed is not written again. */
TEMP_TEST(test_save)
{
	struct op_diag diag = { "" };
	struct op_code_image image;
	struct stat st;

	assert_int_equal(op_code_image_init_jit(&image, folder, 77), 0);
	assert_int_equal(op_code_image_save(&image, &diag), 0);
	assert_int_equal(access(image.path, F_OK), -1);
	keep(&image, "a", 1, NULL);
	assert_int_equal(op_code_image_save(&image, &diag), 0);
	assert_int_equal(stat(image.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(unlink(image.path), 0);
	keep(&image, "a", 1, NULL);
	assert_int_equal(op_code_image_save(&image, &diag), 0);
	assert_int_equal(access(image.path, F_OK), -1);
	/* What could not be written is tried again. */
	keep(&image, "b", 1, NULL);
	remove_tree(folder);
	assert_int_equal(op_code_image_save(&image, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "77.jo-"));
	assert_int_equal(mkdir(folder, 0755), 0);
	assert_int_equal(op_code_image_save(&image, &diag), 0);
	assert_int_equal(access(image.path, F_OK), 0);
	op_code_image_release(&image);
}

/* ---- lines ------------------------------------------------------------------
 */

static size_t length_of(const struct op_code_lines *lines)
{
	char *text = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&text, &len);

	assert_non_null(file);
	op_code_lines_write(lines, file);
	assert_int_equal(fclose(file), 0);
	free(text);
	return len;
}

TEST(test_no_lines)
{
	struct op_code_lines lines = { 0 };

	assert_int_equal(op_code_lines_add(&lines, 0x1000, 16, NULL, 0), 0);
	assert_int_equal(length_of(&lines), 0);
	op_code_lines_release(&lines);
}

TEST(test_most_files)
{
	struct op_code_lines lines = { 0 };
	struct op_code_line line = { .line = 1 };
	size_t len;
	char name[16];

	line.file = name;
	for (unsigned int i = 0; i < 4096; i++) {
		snprintf(name, sizeof(name), "%u.c", i);
		assert_int_equal(op_code_lines_add(&lines, i, 1, &line, 1), 0);
	}
	len = lines.program_len;
	strcpy(name, "one more");
	assert_int_equal(op_code_lines_add(&lines, 5000, 1, &line, 1), -ENOMEM);
	assert_int_equal(lines.program_len, len);
	op_code_lines_release(&lines);
}
