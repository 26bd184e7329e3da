// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of stripped Go programs, from tables that are made byte by byte: of
 * each version, and damaged at each number. What Go itself makes is in
 * tests/t/reports/35-stripped-go.sh.
 */

#include "tests/unit/pp_fixture.h"

#include <elf.h>

#include "libpp/symbols/elf_digest.h"
#include "libpp/symbols/op_bfd_internal.h"

static const struct op_debug_places places = { .dirs = { "debug" } };

#define CODE 64u /* bytes of .text */
#define NR_ROWS 4
#define GO_TABLE ".gopclntab"
#define ALL "Go\nmain.f 0 16\nmain.g 16 16\nmain.h 48 16\n"
#define BUT_F "Go\nmain.g 16 16\nmain.h 48 16\n"

/* How versions differ. */
struct go_layout {
	uint32_t magic;
	uint8_t word, field;
	bool has_text;
};

static const struct go_layout go_1_16 = { 0xfffffffa, 8, 8, false };
static const struct go_layout go_1_16_word_4 = { 0xfffffffa, 4, 4, false };
static const struct go_layout go_1_18 = { 0xfffffff0, 8, 4, true };
static const struct go_layout go_1_18_word_4 = { 0xfffffff0, 4, 4, true };
static const struct go_layout go_1_20 = { 0xfffffff1, 8, 4, true };

/* A table, and where numbers are in it. */
struct go_bytes {
	uint8_t byte[512];
	size_t len;
	size_t nr, text, names, rows; /* words of the head */
	size_t row[NR_ROWS + 1];
	size_t about[NR_ROWS]; /* descriptions; one is not used */
	size_t first_name, tail;
};

static void put_number(struct go_bytes *b, size_t at, uint64_t value,
		       size_t size)
{
	assert_true(at + size <= sizeof(b->byte));
	memcpy(b->byte + at, &value, size);
	if (b->len < at + size)
		b->len = at + size;
}

static size_t add_number(struct go_bytes *b, uint64_t value, size_t size)
{
	size_t at = b->len;

	put_number(b, at, value, size);
	return at;
}

/*
 * main.f, main.g, a hole and main.h, of 16 bytes each, in code at @text. Behind
 * all there are 3 bytes that no zero byte ends.
 */
static void make_go_table(struct go_bytes *b, const struct go_layout *l,
			  uint64_t text)
{
	static const char names[] = "main.f\0main.g\0main.h";
	const uint64_t base = l->has_text ? 0 : text;

	memset(b, 0, sizeof(*b));
	add_number(b, l->magic, 4);
	add_number(b, 0, 2);
	add_number(b, 1, 1);
	add_number(b, l->word, 1);
	b->nr = add_number(b, NR_ROWS, l->word);
	add_number(b, 1, l->word);
	if (l->has_text)
		b->text = add_number(b, text, l->word);
	b->names = add_number(b, 0, l->word);
	for (int i = 0; i < 3; i++)
		add_number(b, 8, l->word);
	b->rows = add_number(b, 0, l->word);
	b->first_name = b->len;
	put_number(b, b->names, b->len, l->word);
	memcpy(b->byte + b->len, names, sizeof(names));
	b->len += sizeof(names);
	put_number(b, b->rows, b->len, l->word);
	for (size_t i = 0; i <= NR_ROWS; i++) {
		b->row[i] = add_number(b, base + 16 * i, l->field);
		if (i < NR_ROWS)
			add_number(b, UINT64_MAX, l->field);
	}
	for (size_t i = 0; i < NR_ROWS; i++) {
		if (i == 2)
			continue;
		put_number(b, b->row[i] + l->field, b->len - b->row[0],
			   l->field);
		b->about[i] = add_number(b, base + 16 * i, l->field);
		add_number(b, 7 * (i - (i > 2)), 4);
	}
	b->tail = b->len;
	add_number(b, 0x7a7a7a, 3);
}

/* ---- a binary with the table ------------------------------------------------
 */

/* The binary "b", whose first instruction is @entry bytes behind the start of
 * its code, with room for a table of @len bytes, and with @more. */
static void build_go(size_t len, unsigned int entry, const char *more)
{
	char text[512];

	snprintf(text, sizeof(text),
		 ".text\n.org %u,0x90\n.globl start\nstart:\n.org %u,0x90\n"
		 ".section " GO_TABLE ",\"a\"\n.skip %zu\n%s",
		 entry, CODE, len, more);
	write_text("b.s", text);
	assert_int_equal(system("${CC:-cc} -nostdlib -static -s -Wl,-e,start "
				"-Wl,--build-id=none -o b b.s"),
			 0);
}

static struct op_bfd *open_go(const char *path)
{
	struct op_bfd *bfd;

	assert_int_equal(op_bfd_open(&bfd, path, &places), 0);
	return bfd;
}

static asection *section_of(struct op_bfd *bfd, const char *name)
{
	asection *section = bfd_get_section_by_name(bfd->main.abfd, name);

	assert_non_null(section);
	return section;
}

/* Address of the code of "b". */
static uint64_t text_of_b(void)
{
	struct op_bfd *bfd = open_go("b");
	uint64_t text = bfd_section_vma(section_of(bfd, ".text"));

	op_bfd_close(bfd);
	return text;
}

/* The @len bytes at @offset of a section. */
static void write_section_at(const char *name, size_t offset, const void *bytes,
			     size_t len)
{
	struct op_bfd *bfd = open_go("b");
	asection *section = section_of(bfd, name);
	long at = (long)(section->filepos + offset);
	FILE *file = fopen("b", "r+");

	assert_true(section->size >= offset + len);
	op_bfd_close(bfd);
	assert_non_null(file);
	assert_int_equal(fseek(file, at, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, len, 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

static void write_section(const char *name, const void *bytes, size_t len)
{
	write_section_at(name, 0, bytes, len);
}

/* Let @section of "b" have @len bytes, by its header alone. */
static void resize_section(const char *name, uint64_t len)
{
	struct op_bfd *bfd = open_go("b");
	uint64_t at = (uint64_t)section_of(bfd, name)->filepos;
	FILE *file = fopen("b", "r+");
	Elf64_Ehdr header;
	Elf64_Shdr section;

	op_bfd_close(bfd);
	assert_non_null(file);
	assert_int_equal(fread(&header, sizeof(header), 1, file), 1);
	for (uint64_t i = 0;; i++) {
		long place = (long)(header.e_shoff + i * sizeof(section));

		assert_true(i < header.e_shnum);
		assert_int_equal(fseek(file, place, SEEK_SET), 0);
		assert_int_equal(fread(&section, sizeof(section), 1, file), 1);
		if (section.sh_offset != at || section.sh_type == SHT_NULL)
			continue;
		section.sh_size = len;
		assert_int_equal(fseek(file, place, SEEK_SET), 0);
		assert_int_equal(fwrite(&section, sizeof(section), 1, file), 1);
		break;
	}
	assert_int_equal(fclose(file), 0);
}

/* "NAME KEY SIZE" of each function, its key from the start of code; all lie in
 * the code. */
static void write_go_symbols(FILE *out, const char *path)
{
	struct op_bfd *bfd = open_go(path);
	uint64_t text = (uint64_t)section_of(bfd, ".text")->filepos;
	struct pp_raw_symbol *syms;
	enum op_bfd_origin origin;
	size_t nr;

	assert_int_equal(op_bfd_symbols(bfd, false, &syms, &nr, &origin), 0);
	assert_true(nr <= sizeof(((struct go_bytes *)0)->byte) / 8);
	assert_int_equal(origin, nr ? OP_BFD_GO : OP_BFD_NONE);
	fprintf(out, "%s\n", nr ? "Go" : "none");
	for (size_t i = 0; i < nr; i++) {
		assert_true(syms[i].key >= text && syms[i].size);
		assert_true(syms[i].key + syms[i].size <= syms[i].limit);
		assert_int_equal(syms[i].limit, text + CODE);
		assert_int_equal(syms[i].vma, op_bfd_vma(bfd, syms[i].key));
		assert_int_equal(syms[i].flags, PP_SYM_FUNCTION);
		fprintf(out, "%s %d %d\n", syms[i].name,
			(int)(syms[i].key - text), (int)syms[i].size);
	}
	free(syms);
	op_bfd_close(bfd);
}

static void symbols_must_be(const char *path, const char *row,
			    const char *wanted)
{
	struct text t;

	write_go_symbols(text_begin(&t), path);
	text_must_be(&t, row, wanted);
}

/* ---- tests ------------------------------------------------------------------
 */

FOLDER_TEST(versions_are_read)
{
	static const struct {
		const char *name;
		const struct go_layout *layout;
	} rows[] = {
		{ "1.16", &go_1_16 },
		{ "1.16, words of 4 bytes", &go_1_16_word_4 },
		{ "1.18", &go_1_18 },
		{ "1.18, words of 4 bytes", &go_1_18_word_4 },
		{ "1.20", &go_1_20 },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct go_bytes b;

		make_go_table(&b, rows[i].layout, 0);
		build_go(b.len, 0, "");
		make_go_table(&b, rows[i].layout, text_of_b());
		write_section(GO_TABLE, b.byte, b.len);
		symbols_must_be("b", rows[i].name, ALL);
	}
	assert_int_equal(system("objcopy --rename-section " GO_TABLE
				"=.data.rel.ro" GO_TABLE " b"),
			 0);
	symbols_must_be("b", "position-independent", ALL);
	/* The table of symbols is better where there is one. */
	write_text("b.s", ".text\n.type f,@function\nf: .skip 64,0x90\n"
			  ".section .gopclntab,\"a\"\n.skip 4\n");
	assert_int_equal(system("${CC:-cc} -nostdlib -c -o b b.s"), 0);
	{
		struct op_bfd *bfd = open_go("b");
		struct pp_raw_symbol *syms;
		enum op_bfd_origin origin;
		size_t nr;

		assert_int_equal(op_bfd_symbols(bfd, true, &syms, &nr, &origin),
				 0);
		assert_int_equal(origin, OP_BFD_OWN);
		assert_null(bfd->go_names);
		free(syms);
		op_bfd_close(bfd);
	}
}

FOLDER_TEST(numbers_are_checked)
{
	struct go_bytes good, b;
	uint64_t text;

	make_go_table(&good, &go_1_20, 0);
	build_go(good.len, 0, "");
	text = text_of_b();
	make_go_table(&good, &go_1_20, text);
	{
		const uint64_t behind = good.len - good.row[0];
		const uint64_t room = (behind - 4) / 8;
		const struct {
			const char *name;
			size_t at, size;
			uint64_t value;
			const char *wanted;
		} rows[] = {
			{ "as it is", 0, 4, 0xfffffff1, ALL },
			{ "Go 1.2", 0, 4, 0xfffffffb, "none\n" },
			{ "a later one", 0, 4, 0xfffffff2, "none\n" },
			{ "another byte order", 0, 4, 0xf1ffffff, "none\n" },
			{ "not 0", 4, 1, 1, "none\n" },
			{ "nor this", 5, 1, 1, "none\n" },
			{ "no quantum", 6, 1, 0, "none\n" },
			{ "quantum 2", 6, 1, 2, ALL },
			{ "quantum 3", 6, 1, 3, "none\n" },
			{ "quantum 4", 6, 1, 4, ALL },
			{ "quantum 8", 6, 1, 8, "none\n" },
			{ "no word", 7, 1, 0, "none\n" },
			{ "word of 2", 7, 1, 2, "none\n" },
			{ "word of 16", 7, 1, 16, "none\n" },
			{ "no functions", good.nr, 8, 0, "none\n" },
			{ "three", good.nr, 8, 3,
			  "Go\nmain.f 0 16\nmain.g 16 16\n" },
			{ "as many as there is room for", good.nr, 8, room,
			  ALL },
			{ "one more", good.nr, 8, room + 1, "none\n" },
			{ "2^61", good.nr, 8, UINT64_C(1) << 61, "none\n" },
			{ "most", good.nr, 8, UINT64_MAX, "none\n" },
			{ "code begins later", good.text, 8, text + 1,
			  "Go\nmain.f 1 16\nmain.g 17 16\n" },
			{ "at its end", good.text, 8, text + CODE, "none\n" },
			{ "before it", good.text, 8, text - 1, "none\n" },
			{ "nowhere", good.text, 8, UINT64_MAX, "none\n" },
			{ "no names", good.names, 8, good.len, "none\n" },
			{ "less", good.names, 8, good.len + 1, "none\n" },
			{ "least", good.names, 8, UINT64_MAX, "none\n" },
			{ "no rows", good.rows, 8, good.len, "none\n" },
			{ "rows behind", good.rows, 8, good.len + 1, "none\n" },
			{ "far behind", good.rows, 8, UINT64_MAX, "none\n" },
			{ "starts go back", good.row[1], 4, 0,
			  "Go\nmain.h 48 16\n" },
			{ "and out", good.row[1], 4, UINT32_MAX,
			  "Go\nmain.h 48 16\n" },
			{ "an earlier end", good.row[4], 4, 63,
			  "Go\nmain.f 0 16\nmain.g 16 16\nmain.h 48 15\n" },
			{ "a later one", good.row[4], 4, 65,
			  "Go\nmain.f 0 16\nmain.g 16 16\n" },
			{ "none", good.row[4], 4, 48,
			  "Go\nmain.f 0 16\nmain.g 16 16\n" },
			{ "a hole", good.row[0] + 4, 4, UINT32_MAX, BUT_F },
			{ "the description is behind", good.row[0] + 4, 4,
			  behind, BUT_F },
			{ "or further", good.row[0] + 4, 4, behind + 1, BUT_F },
			{ "or half", good.row[0] + 4, 4, behind - 7, BUT_F },
			{ "that of another", good.row[0] + 4, 4,
			  good.about[1] - good.row[0], BUT_F },
			{ "of another start", good.about[0], 4, 1, BUT_F },
			{ "the name of another", good.about[0] + 4, 4, 7,
			  "Go\nmain.g 0 16\nmain.g 16 16\nmain.h 48 16\n" },
			{ "a part of it", good.about[0] + 4, 4, 5,
			  "Go\nf 0 16\nmain.g 16 16\nmain.h 48 16\n" },
			{ "an empty one", good.about[0] + 4, 4, 6, BUT_F },
			{ "one without end", good.about[0] + 4, 4,
			  good.tail - good.first_name, BUT_F },
			{ "behind all", good.about[0] + 4, 4,
			  good.len - good.first_name, BUT_F },
			{ "or further", good.about[0] + 4, 4, UINT32_MAX,
			  BUT_F },
		};

		for (size_t i = 0; i < NR(rows); i++) {
			b = good;
			put_number(&b, rows[i].at, rows[i].value, rows[i].size);
			assert_int_equal(b.len, good.len);
			write_section(GO_TABLE, b.byte, b.len);
			symbols_must_be("b", rows[i].name, rows[i].wanted);
		}
	}
}

/* Since 1.26 the table says no more where code begins. */
FOLDER_TEST(code_begins_somewhere)
{
#define MODULE ".section .go.module,\"a\"\n.skip 184\n"
	static const struct {
		const char *name;
		unsigned int entry; /* in the code */
		int module[3]; /* first, last, text: behind the code's start */
		const char *more;
		const char *wanted;
	} rows[] = {
		{ "at .text", 16, { 0 }, "", ALL },
		{ "no function is at the entry", 8, { 0 }, "", "none\n" },
		{ "nor behind all", 64, { 0 }, "", "none\n" },
		{ "of the module", 8, { 0, 64, 0 }, MODULE, ALL },
		{ "of a part of it", 8, { 0, 63, 0 }, MODULE, "none\n" },
		{ "with another start", 8, { 1, 64, 0 }, MODULE, "none\n" },
		{ "with another text", 8, { 0, 64, 1 }, MODULE, "none\n" },
		{ "a module of something else, at .text",
		  16,
		  { 7, 8, 9 },
		  MODULE,
		  ALL },
		{ "a part of one",
		  8,
		  { 0 },
		  ".section .go.module,\"a\"\n.skip 183\n",
		  "none\n" },
	};
	uint64_t words[23];
	struct go_bytes b;

	make_go_table(&b, &go_1_20, 0);
	for (size_t i = 0; i < NR(rows); i++) {
		build_go(b.len, rows[i].entry, rows[i].more);
		write_section(GO_TABLE, b.byte, b.len);
		memset(words, 0, sizeof(words));
		for (size_t k = 0; k < 3; k++)
			words[20 + k] =
				text_of_b() + (uint64_t)rows[i].module[k];
		if (!strcmp(rows[i].more, MODULE))
			write_section(".go.module", words, sizeof(words));
		symbols_must_be("b", rows[i].name, rows[i].wanted);
	}
}

static void make_digest(void)
{
	int from = open("b", O_RDONLY);
	int to = open("d", O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(from >= 0 && to >= 0);
	assert_int_equal(pp_elf_digest(from, to), 0);
	close(from);
	close(to);
}

/* A position-independent program that another linker than Go's made has the
 * table among other data, and where code begins in a relocation. */
FOLDER_TEST(another_linker_made_it)
{
#define NOTE ".section .note.go.buildid,\"a\",@note\n.skip 16\n"
	static const struct {
		const char *name;
		const char *more, *command;
		size_t before; /* bytes of other data */
		uint32_t decoy; /* first bytes of these */
		const char *wanted;
	} rows[] = {
		{ "as it is", NOTE, ":", 64, 0, ALL },
		{ "first of all", NOTE, ":", 0, 0, ALL },
		{ "not aligned", NOTE, ":", 68, 0, "none\n" },
		{ "not of Go", "", ":", 64, 0, "none\n" },
		{ "no relocation", NOTE, "objcopy --remove-section=.rela.dyn b",
		  64, 0, "none\n" },
		{ "half of the head before", NOTE, ":", 64, 0xfffffff1, ALL },
	};
	struct go_bytes b;
	char text[512];

	make_go_table(&b, &go_1_20, 0);
	for (size_t i = 0; i < NR(rows); i++) {
		const size_t before = rows[i].before, head = before + b.text;

		snprintf(text, sizeof(text),
			 ".text\n.skip 8,0x90\n.globl start\nstart:\n"
			 ".org %u,0x90\n.section .data.rel.ro,\"aw\"\n"
			 ".balign 32\n.skip %zu\n.quad start - 8\n.skip %zu\n"
			 "%s",
			 CODE, head, b.len - b.text - 8, rows[i].more);
		write_text("b.s", text);
		assert_int_equal(
			system("${CC:-cc} -nostdlib -pie -s "
			       "-Wl,-e,start,--build-id=none -o b b.s"),
			0);
		assert_int_equal(system(rows[i].command), 0);
		write_section_at(".data.rel.ro", before, b.byte, b.len);
		if (rows[i].decoy)
			write_section(".data.rel.ro", &rows[i].decoy, 4);
		symbols_must_be("b", rows[i].name, rows[i].wanted);
		make_digest();
		symbols_must_be("d", rows[i].name, rows[i].wanted);
	}
}

/* No byte is believed: what symbols there are lie in the code. */
FOLDER_TEST(any_byte_is_damaged)
{
	static const uint8_t others[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct go_bytes good, b;
	uint64_t text;

	make_go_table(&good, &go_1_20, 0);
	build_go(good.len, 0, "");
	text = text_of_b();
	make_go_table(&good, &go_1_20, text);
	for (size_t at = 0; at < good.len; at++)
		for (size_t i = 0; i < NR(others); i++) {
			struct text t;

			b = good;
			b.byte[at] ^= others[i];
			write_section(GO_TABLE, b.byte, b.len);
			write_go_symbols(text_begin(&t), "b");
			assert_int_equal(fclose(t.out), 0);
			assert_true(i || !strcmp(t.all, ALL));
			free(t.all);
		}
}

FOLDER_TEST(tables_are_cut)
{
	struct go_bytes b;

	make_go_table(&b, &go_1_20, 0);
	build_go(b.len, 0, "");
	make_go_table(&b, &go_1_20, text_of_b());
	write_section(GO_TABLE, b.byte, b.len);
	for (size_t len = b.len; len--;) {
		struct text t;

		resize_section(GO_TABLE, len);
		write_go_symbols(text_begin(&t), "b");
		assert_int_equal(fclose(t.out), 0);
		assert_true(strcmp(t.all, ALL) || len >= b.tail);
		free(t.all);
	}
	resize_section(GO_TABLE, b.len);
	symbols_must_be("b", "whole", ALL);
}

/* Up to 64 MiB are read and kept. */
FOLDER_TEST(large_tables_are_not_read)
{
	static const struct {
		uint64_t len;
		const char *wanted;
	} rows[] = {
		{ PP_FUNCTION_TABLE_MAX + 1, "none\n" },
		{ PP_FUNCTION_TABLE_MAX, ALL },
	};
	struct go_bytes b;

	make_go_table(&b, &go_1_20, 0);
	build_go(b.len, 0, "");
	make_go_table(&b, &go_1_20, text_of_b());
	write_section(GO_TABLE, b.byte, b.len);
	assert_int_equal(truncate("b", PP_FUNCTION_TABLE_MAX + (1 << 20)), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		struct stat st;

		resize_section(GO_TABLE, rows[i].len);
		symbols_must_be("b", "a large one", rows[i].wanted);
		make_digest();
		assert_int_equal(stat("d", &st), 0);
		assert_int_equal((uint64_t)st.st_size > rows[i].len,
				 strcmp(rows[i].wanted, ALL) == 0);
		symbols_must_be("d", "its digest", rows[i].wanted);
	}
}
