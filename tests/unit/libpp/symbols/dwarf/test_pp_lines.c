// SPDX-License-Identifier: GPL-2.0-or-later
/* Line tables: what a row means, which of several counts, what files are
 * called, and that damage costs only what it hits. */

#include <errno.h>
#include <inttypes.h>

#include "libop/base/op_arena.h"
#include "libpp/symbols/dwarf/dwarf_dirs.h"
#include "libpp/symbols/dwarf/line_index.h"
#include "libpp/symbols/source_path.h"
#include "libop/base/op_strings.h"
#include "tests/unit/libpp/dwarf_fixture.h"

struct world {
	struct section line, line_str, info, abbrev;
	struct pp_line_index *index;
};

static bool is_code(void *ctx, uint64_t address)
{
	(void)ctx;
	return address >= 0x1000;
}

static void open_index(struct world *w)
{
	struct pp_dwarf dwarf = {
		.line = bytes_of(&w->line),
		.line_str = bytes_of(&w->line_str),
		.info = bytes_of(&w->info),
		.abbrev = bytes_of(&w->abbrev),
	};

	pp_line_index_free(w->index);
	w->index = NULL;
	assert_int_equal(pp_line_index_new(&w->index, &dwarf, is_code, NULL),
			 0);
}

static void expect(struct world *w, uint64_t address, const char *file,
		   unsigned int line)
{
	struct pp_line found;

	assert_true(pp_line_index_find(w->index, address, &found));
	assert_string_equal(found.file, file);
	assert_int_equal(found.line, line);
}

static void expect_none(struct world *w, uint64_t address)
{
	struct pp_line found;

	assert_false(pp_line_index_find(w->index, address, &found));
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct world));
	return !*state;
}

static int teardown(void **state)
{
	struct world *w = *state;

	pp_line_index_free(w->index);
	free(w);
	return 0;
}

#define LINES_TEST(name) TEST_WITH(name, setup, teardown)

/* ---- rows ---------------------------------------------------------------- */

LINES_TEST(test_rows)
{
	struct world *w = *state;
	size_t start = put_header(&w->line, 5);

	put_set_address(&w->line, 0x1000);
	PUT(&w->line, special(0, 4)); /* 1000: a.c:5 */
	PUT(&w->line, 4, 2, special(4, 2)); /* 1004: b.h:7, inlined */
	PUT(&w->line, 4, 1, 3, 0x7d, special(2, 1)); /* 1006: a.c:5 */
	PUT(&w->line, special(0, 3)); /* 1006: a.c:8, the last of both */
	PUT(&w->line, 3, 0x78, 1); /* 1006: a.c:0 */
	PUT(&w->line, 8, 1); /* 1017: by the opcode for 17 bytes */
	PUT(&w->line, 9, 3, 0, special(0, 1)); /* 101a: a.c:1 */
	put_end(&w->line, 2);
	put_len(&w->line, start);
	open_index(w);
	assert_int_equal(pp_line_index_damaged(w->index), 0);
	expect_none(w, 0xfff);
	expect(w, 0x1000, "/src/a.c", 5);
	expect(w, 0x1003, "/src/a.c", 5);
	expect(w, 0x1004, "/src/sub/b.h", 7);
	expect(w, 0x1006, "/src/a.c", 0);
	expect(w, 0x1019, "/src/a.c", 0);
	expect(w, 0x101a, "/src/a.c", 1);
	expect(w, 0x101b, "/src/a.c", 1);
	expect_none(w, 0x101c);
}

static unsigned int discriminator_at(struct world *w, uint64_t address)
{
	struct pp_line found;

	assert_true(pp_line_index_find(w->index, address, &found));
	return found.discriminator;
}

/* A discriminator is of the next row alone. */
LINES_TEST(test_discriminators)
{
	struct world *w = *state;
	size_t start = put_header(&w->line, 5);

	put_set_address(&w->line, 0x1000);
	PUT(&w->line, 0, 2, 4, 6, special(0, 4)); /* 1000: 6 */
	PUT(&w->line, special(2, 0)); /* 1002: none */
	PUT(&w->line, 0, 3, 4, 0x82, 1, 2, 2, 1); /* 1004: 130, by a copy */
	PUT(&w->line, 0, 2, 4, 7); /* of the end, which is no row */
	put_end(&w->line, 2);
	put_set_address(&w->line, 0x1010);
	PUT(&w->line, special(0, 0)); /* 1010: none */
	PUT(&w->line, 0, 11, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    0xff, 1, special(2, 0)); /* 1012: too many bits are none */
	PUT(&w->line, 0, 6, 4, 0xff, 0xff, 0xff, 0xff, 0x0f,
	    special(2, 0)); /* 1014: all of 32 bits */
	PUT(&w->line, 0, 6, 4, 0x80, 0x80, 0x80, 0x80, 0x10,
	    special(2, 0)); /* 1016: one more */
	put_end(&w->line, 2);
	put_len(&w->line, start);
	open_index(w);
	assert_int_equal(pp_line_index_damaged(w->index), 0);
	assert_int_equal(discriminator_at(w, 0x1000), 6);
	assert_int_equal(discriminator_at(w, 0x1002), 0);
	assert_int_equal(discriminator_at(w, 0x1004), 130);
	assert_int_equal(discriminator_at(w, 0x1005), 130);
	assert_int_equal(discriminator_at(w, 0x1010), 0);
	assert_int_equal(discriminator_at(w, 0x1012), 0);
	assert_int_equal(discriminator_at(w, 0x1014), UINT32_MAX);
	assert_int_equal(discriminator_at(w, 0x1016), 0);
}

static void put_sequence(struct section *s, uint64_t address, uint8_t len,
			 int line)
{
	put_set_address(s, address);
	PUT(s, special(0, line - 1));
	put_end(s, len);
}

LINES_TEST(test_sequences)
{
	struct world *w = *state;
	size_t start = put_header(&w->line, 5);

	put_sequence(&w->line, 0x3000, 0x10, 3);
	put_sequence(&w->line, 0x2000, 0x40, 2);
	put_sequence(&w->line, 0, 0x40, 5); /* what the linker threw away */
	put_sequence(&w->line, 0x2010, 0x10, 4); /* inside another */
	put_len(&w->line, start);
	start = put_header(&w->line, 5);
	put_sequence(&w->line, 0x4000, 0x10, 6);
	put_len(&w->line, start);
	open_index(w);
	expect(w, 0x3000, "/src/a.c", 3);
	expect(w, 0x2000, "/src/a.c", 2);
	expect(w, 0x2010, "/src/a.c", 4);
	expect(w, 0x2020, "/src/a.c", 2);
	expect_none(w, 0x2040);
	expect_none(w, 0);
	expect_none(w, 0x10);
	expect(w, 0x400f, "/src/a.c", 6);
}

LINES_TEST(test_rows_out_of_order)
{
	struct world *w = *state;
	size_t start = put_header(&w->line, 5);

	put_set_address(&w->line, 0x1010);
	PUT(&w->line, special(0, 1)); /* 1010: 2 */
	put_set_address(&w->line, 0x1000);
	PUT(&w->line, special(0, 1), special(16, 1)); /* 1000: 3, 1010: 4 */
	put_end(&w->line, 4);
	put_len(&w->line, start);
	open_index(w);
	expect(w, 0x100f, "/src/a.c", 3);
	expect(w, 0x1010, "/src/a.c", 4);
	expect(w, 0x1013, "/src/a.c", 4);
}

/* ---- names --------------------------------------------------------------- */

/* A unit whose only entry has a form before what is looked for. */
static void put_unit_of(struct world *w, int version, uint64_t table,
			const char *dir)
{
	size_t start = w->info.len;

	PUT(&w->abbrev, 1, 0x11, 0, 3, DW_FORM_string, 0x10, DW_FORM_sec_offset,
	    0x1b, DW_FORM_string, 0, 0, 0);
	put(&w->info, 0, 4);
	put(&w->info, (uint64_t)version, 2);
	put(&w->info, 0, 4);
	PUT(&w->info, 8, 1);
	put_text(&w->info, "a.c");
	put(&w->info, table, 4);
	put_text(&w->info, dir);
	put_len(&w->info, start);
}

static void put_unit(struct world *w, int version, const char *dir)
{
	put_unit_of(w, version, 0, dir);
}

/* Each table has the folder of the unit that names it, in any order. */
LINES_TEST(test_folders_of_units)
{
	struct world *w = *state;
	size_t tables[3];

	for (int i = 0; i < 3; i++) {
		tables[i] = put_header(&w->line, 4);
		put_sequence(&w->line, 0x1000 * ((uint64_t)i + 1), 4, i + 2);
		put_len(&w->line, tables[i]);
	}
	put_unit_of(w, 4, tables[2], "/c");
	put_unit_of(w, 4, tables[0], "/a");
	put_unit_of(w, 4, 0x7777, "/none");
	open_index(w);
	expect(w, 0x1000, "/a/a.c", 2);
	expect(w, 0x2000, "a.c", 3);
	expect(w, 0x3000, "/c/a.c", 4);
}

/* Files by their numbers in a table, as entries of functions name them. */
LINES_TEST(test_files_of_tables)
{
	struct world *w = *state;
	size_t tables[2];
	/* clang-format off */
	static const struct {
		int table; /* of these; 2: behind the first's start */
		uint64_t nr;
		const char *file;
	} rows[] = {
		{ 0, 0, "/src/a.c" }, { 0, 1, "/src/a.c" },
		{ 0, 2, "/src/sub/b.h" }, { 0, 3, NULL },
		{ 0, UINT32_MAX, NULL }, { 0, UINT64_MAX, NULL },
		{ 0, (1ull << 32) + 1, NULL }, { 2, 1, NULL },
		{ 1, 0, NULL }, { 1, 1, "a.c" }, { 1, 2, "sub/b.h" },
		{ 1, 3, NULL }, { 0, 2, "/src/sub/b.h" }, { 3, 1, NULL },
	};
	/* clang-format on */

	for (int i = 0; i < 2; i++) {
		tables[i] = put_header(&w->line, i ? 4 : 5);
		put_sequence(&w->line, 0x1000 * ((uint64_t)i + 1), 4, i + 2);
		put_len(&w->line, tables[i]);
	}
	open_index(w);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		uint64_t table = rows[i].table == 2   ? tables[0] + 1
				 : rows[i].table == 3 ? UINT64_MAX
						      : tables[rows[i].table];
		const char *file =
			pp_line_index_file(w->index, table, rows[i].nr);

		assert_string_equal(file ? file : "(none)",
				    rows[i].file ? rows[i].file : "(none)");
	}
}

/* Machines with several operations in an instruction: an address goes on with
 * each whole one. */
LINES_TEST(test_operations)
{
	struct world *w = *state;
	size_t start = put_header(&w->line, 4);

	/* Behind the lengths and the version: instructions of 4 bytes, with 3
	 * operations each. */
	assert_int_equal(w->line.bytes[start + 10], 1);
	w->line.bytes[start + 10] = 4;
	w->line.bytes[start + 11] = 3;
	put_set_address(&w->line, 0x1000);
	PUT(&w->line, special(0, 1)); /* 1000: 2 */
	PUT(&w->line, 2, 7, 1); /* 1008, operation 1: 2 */
	PUT(&w->line, 2, 1, special(0, 1)); /* 1008, operation 2: 3 */
	PUT(&w->line, special(1, 1)); /* 100c, operation 0: 4 */
	PUT(&w->line, 2, 2); /* 100c, operation 2 */
	PUT(&w->line, 9, 4, 0, special(0, 1)); /* 1010, operation 0: 5 */
	put_end(&w->line, 3); /* 1014 */
	put_len(&w->line, start);
	open_index(w);
	assert_int_equal(pp_line_index_damaged(w->index), 0);
	expect(w, 0x1000, "a.c", 2);
	expect(w, 0x1007, "a.c", 2);
	expect(w, 0x1008, "a.c", 3);
	expect(w, 0x100b, "a.c", 3);
	expect(w, 0x100c, "a.c", 4);
	expect(w, 0x1010, "a.c", 5);
	expect(w, 0x1013, "a.c", 5);
	expect_none(w, 0x1014);
}

LINES_TEST(test_old_versions)
{
	struct world *w = *state;

	for (int version = 2; version <= 4; version++) {
		size_t start;

		w->line.len = w->info.len = w->abbrev.len = 0;
		put_unit(w, version, "/build/x/..");
		start = put_header(&w->line, version);
		put_set_address(&w->line, 0x1000);
		PUT(&w->line, special(0, 1), 4, 2, special(1, 1), 4, 0,
		    special(1, 1), 4, 3, special(1, 1));
		put_end(&w->line, 4);
		put_len(&w->line, start);
		open_index(w);
		assert_true(pp_line_index_wants_info(w->index));
		expect(w, 0x1000, "/build/a.c", 2);
		expect(w, 0x1001, "/build/sub/b.h", 3);
		/* Files are counted from 1, and there are two. */
		expect_none(w, 0x1002);
		expect_none(w, 0x1003);
	}
}

LINES_TEST(test_without_its_unit)
{
	struct world *w = *state;
	size_t start = put_header(&w->line, 3);

	put_sequence(&w->line, 0x1000, 4, 2);
	put_len(&w->line, start);
	open_index(w);
	expect(w, 0x1000, "a.c", 2);
}

static void joins(const char *dir, const char *sub, const char *name,
		  const char *wanted)
{
	char *path = pp_source_path_join(dir, sub, name);

	assert_non_null(path);
	assert_string_equal(path, wanted);
	free(path);
}

LINES_TEST(test_paths)
{
	joins("/a", "b", "c", "/a/b/c");
	joins("/a", "/b", "c", "/b/c");
	joins("/a", "b", "/c", "/c");
	joins(NULL, NULL, "c", "c");
	joins(NULL, "b", "c", "b/c");
	joins("/a/b", "../x", "c.h", "/a/x/c.h");
	joins("/a//b/.", "./x/", ".//c.h", "/a/b/x/c.h");
	joins("/", "../..", "c", "/c");
	joins(NULL, "../..", "c", "../../c");
	joins(NULL, "a/../..", "c", "../c");
	joins("/a", "..", "..", "/");
	joins(NULL, "..x/..", "...", "...");
	joins("", "", "", "");
}

LINES_TEST(test_strings)
{
	struct op_arena arena;
	struct op_strings strings;
	const char *first, *known[1000];
	char text[16];

	op_arena_init(&arena);
	op_strings_init(&strings, &arena);
	first = op_strings_add(&strings, "");
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "%d", i);
		known[i] = op_strings_add(&strings, text);
		assert_string_equal(known[i], text);
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "%d", i);
		assert_ptr_equal(op_strings_add(&strings, text), known[i]);
	}
	assert_ptr_equal(op_strings_add(&strings, ""), first);
	for (uint32_t i = 0, number; i < 1002; i++) {
		snprintf(text, sizeof(text), "%" PRIu32, i - 1);
		assert_int_equal(
			op_strings_number(&strings, i ? text : "", &number), 0);
		assert_int_equal(number, i);
	}
	op_strings_release(&strings);
	op_arena_release(&arena);
}

/* ---- damage -------------------------------------------------------------- */

LINES_TEST(test_damage_is_counted)
{
	struct world *w = *state;
	size_t first = put_header(&w->line, 5), second;

	put_sequence(&w->line, 0x1000, 4, 2);
	put_set_address(&w->line, 0x1100); /* without an end */
	PUT(&w->line, special(0, 1));
	put_len(&w->line, first);
	second = put_header(&w->line, 5);
	put_sequence(&w->line, 0x2000, 4, 3);
	put_len(&w->line, second);
	put(&w->line, 99, 4); /* longer than the section */
	open_index(w);
	assert_int_equal(pp_line_index_damaged(w->index), 2);
	expect(w, 0x1000, "/src/a.c", 2);
	expect_none(w, 0x1100);
	expect(w, 0x2000, "/src/a.c", 3);
}

/* A header of version 5 with folder /src and file 0, its name in a section of
 * names. */
static size_t put_named_header(struct section *s, uint64_t name)
{
	size_t start = s->len, tables;

	put(s, 0, 4);
	put(s, 5, 2);
	PUT(s, 8, 0);
	tables = s->len;
	put(s, 0, 4);
	put_numbers(s, 5);
	PUT(s, 1, 1, DW_FORM_string, 1);
	put_text(s, "/src");
	PUT(s, 2, 1, DW_FORM_line_strp, 2, DW_FORM_udata, 1);
	put(s, name, 4);
	PUT(s, 0);
	put_len(s, tables);
	return start;
}

LINES_TEST(test_names_cut_off)
{
	struct world *w = *state;

	put_text(&w->line_str, "a.c");
	put_text(&w->line_str, "b.c");
	for (uint64_t name = 0; name <= 4; name += 4) {
		size_t start = put_named_header(&w->line, name);

		put_set_address(&w->line, 0x1000 + name);
		PUT(&w->line, 4, 0, special(0, 1)); /* file 0, line 2 */
		put_end(&w->line, 4);
		put_len(&w->line, start);
	}
	open_index(w);
	assert_int_equal(pp_line_index_damaged(w->index), 0);
	expect(w, 0x1000, "/src/a.c", 2);
	expect(w, 0x1004, "/src/b.c", 2);
	w->line_str.len = 6;
	open_index(w);
	assert_int_equal(pp_line_index_damaged(w->index), 1);
	expect(w, 0x1000, "/src/a.c", 2);
	expect_none(w, 0x1004);
	w->line_str.len = 0;
	open_index(w);
	assert_int_equal(pp_line_index_damaged(w->index), 2);
}

/* Whatever one byte becomes: no crash, and the unit behind stands unless the
 * length was hit. */
LINES_TEST(test_any_byte)
{
	struct world *w = *state;
	size_t first = put_header(&w->line, 5), second, len;

	put_sequence(&w->line, 0x1000, 4, 2);
	put_len(&w->line, first);
	len = w->line.len;
	second = put_header(&w->line, 5);
	put_sequence(&w->line, 0x2000, 4, 3);
	put_len(&w->line, second);
	for (size_t i = 0; i < len; i++)
		for (int value = 0; value < 256; value++) {
			uint8_t was = w->line.bytes[i];
			struct pp_line found;

			w->line.bytes[i] = (uint8_t)value;
			open_index(w);
			pp_line_index_find(w->index, 0x1000, &found);
			if (i >= 4)
				expect(w, 0x2000, "/src/a.c", 3);
			w->line.bytes[i] = was;
		}
}

LINES_TEST(test_any_length)
{
	struct world *w = *state;
	size_t start = put_header(&w->line, 5), len;

	put_sequence(&w->line, 0x1000, 4, 2);
	put_len(&w->line, start);
	len = w->line.len;
	for (w->line.len = 0; w->line.len < len; w->line.len++) {
		open_index(w);
		expect_none(w, 0x1000);
	}
	open_index(w);
	expect(w, 0x1000, "/src/a.c", 2);
}

static void put_uleb_of_two(struct section *s, unsigned int value)
{
	PUT(s, (uint8_t)(value & 0x7f) | 0x80, (uint8_t)(value >> 7));
}

/* The abbreviation of a unit's first entry is where the compiler put it. */
LINES_TEST(test_dirs_of_any_abbreviation)
{
	static const unsigned int rows[] = { 1, 2, 256, 257, 600 };
	struct world *w = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pp_dwarf dwarf;
		struct pp_dwarf_dirs dirs;
		const char *dir;

		w->abbrev.len = w->info.len = 0;
		for (unsigned int code = 1; code < rows[i]; code++) {
			put_uleb_of_two(&w->abbrev, code);
			PUT(&w->abbrev, 0x13, 0, 0, 0); /* a structure */
		}
		put_uleb_of_two(&w->abbrev, rows[i]);
		PUT(&w->abbrev, 0x11, 0, 0x1b, DW_FORM_string); /* its folder */
		PUT(&w->abbrev, 0x10, DW_FORM_sec_offset, 0, 0, 0);
		put(&w->info, 0, 4);
		put(&w->info, 4, 2);
		put(&w->info, 0, 4);
		PUT(&w->info, 8);
		put_uleb_of_two(&w->info, rows[i]);
		put_text(&w->info, "/build");
		put(&w->info, 0x40, 4);
		put_len(&w->info, 0);
		dwarf = (struct pp_dwarf){ .info = bytes_of(&w->info),
					   .abbrev = bytes_of(&w->abbrev) };
		assert_int_equal(pp_dwarf_dirs_init(&dirs, &dwarf), 0);
		dir = pp_dwarf_dirs_find(&dirs, 0x40);
		if (!dir || strcmp(dir, "/build"))
			fail_msg("abbreviation %u", rows[i]);
		assert_null(pp_dwarf_dirs_find(&dirs, 0x41));
		pp_dwarf_dirs_release(&dirs);
	}
}
