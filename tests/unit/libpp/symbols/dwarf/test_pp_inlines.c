// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which functions were inlined at an address: units of .debug_info, written
 * entry by entry, and all that is found there.
 */

#include "tests/unit/libpp/dwarf_fixture.h"
#include "tests/unit/pp_fixture.h"

#include <limits.h>

#include "libpp/symbols/dwarf/dwarf_die.h"
#include "libpp/symbols/dwarf/inline_index.h"

/* Codes of the abbreviations, which all units share. */
enum {
	UNIT = 1, /* with a range and a line table */
	UNIT_BARE, /* with neither */
	UNIT_RANGES, /* with a list of ranges */
	FUNCTION,
	ABSTRACT, /* with a name and a line */
	LINKED, /* with both names and a declaration */
	NAMED, /* with a name and an origin */
	LINED, /* with a line and an origin */
	COPY, /* inlined, with children */
	LEAF, /* without */
	COPY_RANGES,
	BLOCK,
	STRUCT, /* with children; tells where they end */
	LOST_STRUCT, /* that does not */
	NAMESPACE, /* likewise with an end */
	MODULE,
	NO_CODE, /* a function without */
	LYING_STRUCT, /* its end is itself */
	LINE_ONLY, /* with a line, but no file, and an origin */
	FILE_ONLY, /* the other way round */
	CLASS, /* with a name and a line */
	UNNAMED, /* without a name */
	NAMED_FUNCTION, /* with children */
	OWN_CODE, /* with an origin and code */
	SKELETON, /* a unit whose entries are in another file */
};

static const uint8_t abbrevs[] = {
	/* clang-format off */
	UNIT, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data2, DW_AT_stmt_list, DW_FORM_data1, 0, 0,
	UNIT_BARE, DW_TAG_compile_unit, 1, 0, 0,
	UNIT_RANGES, DW_TAG_compile_unit, 1, DW_AT_ranges, DW_FORM_sec_offset, DW_AT_stmt_list, DW_FORM_data1, 0, 0,
	FUNCTION, DW_TAG_subprogram, 1, DW_AT_sibling, DW_FORM_ref4, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data2, 0, 0,
	ABSTRACT, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_decl_file, DW_FORM_data1, DW_AT_decl_line, DW_FORM_data1, 0, 0,
	LINKED, DW_TAG_subprogram, 0, DW_AT_linkage_name, DW_FORM_string, DW_AT_name, DW_FORM_string, DW_AT_decl_file, DW_FORM_data1, DW_AT_decl_line, DW_FORM_data1, 0, 0,
	NAMED, DW_TAG_subprogram, 0, DW_AT_name, DW_FORM_string, DW_AT_abstract_origin, DW_FORM_ref_addr, 0, 0,
	LINED, DW_TAG_subprogram, 0, DW_AT_decl_file, DW_FORM_data1, DW_AT_decl_line, DW_FORM_data1, DW_AT_abstract_origin, DW_FORM_ref_addr, 0, 0,
	COPY, DW_TAG_inlined_subroutine, 1, DW_AT_abstract_origin, DW_FORM_ref_addr, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data2, DW_AT_call_file, DW_FORM_data1, DW_AT_call_line, DW_FORM_data1, 0, 0,
	LEAF, DW_TAG_inlined_subroutine, 0, DW_AT_abstract_origin, DW_FORM_ref_addr, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data2, DW_AT_call_file, DW_FORM_data1, DW_AT_call_line, DW_FORM_data1, 0, 0,
	COPY_RANGES, DW_TAG_inlined_subroutine, 1, DW_AT_abstract_origin, DW_FORM_ref_addr, DW_AT_ranges, DW_FORM_sec_offset, DW_AT_call_file, DW_FORM_data1, DW_AT_call_line, DW_FORM_data1, 0, 0,
	BLOCK, DW_TAG_lexical_block, 1, DW_AT_sibling, DW_FORM_ref2, 0, 0,
	STRUCT, DW_TAG_structure_type, 1, DW_AT_sibling, DW_FORM_ref4, 0, 0,
	LOST_STRUCT, DW_TAG_structure_type, 1, 0, 0,
	NAMESPACE, DW_TAG_namespace, 1, DW_AT_sibling, DW_FORM_ref2, 0, 0,
	MODULE, DW_TAG_module, 1, DW_AT_sibling, DW_FORM_ref2, 0, 0,
	NO_CODE, DW_TAG_subprogram, 1, 0, 0,
	LYING_STRUCT, DW_TAG_structure_type, 1, DW_AT_sibling, DW_FORM_ref1, 0, 0,
	LINE_ONLY, DW_TAG_subprogram, 0, DW_AT_decl_line, DW_FORM_data1, DW_AT_specification, DW_FORM_ref_addr, 0, 0,
	FILE_ONLY, DW_TAG_subprogram, 0, DW_AT_decl_file, DW_FORM_data1, DW_AT_specification, DW_FORM_ref_addr, 0, 0,
	CLASS, DW_TAG_class_type, 1, DW_AT_name, DW_FORM_string, DW_AT_decl_line, DW_FORM_data1, 0, 0,
	UNNAMED, DW_TAG_union_type, 1, DW_AT_decl_line, DW_FORM_data1, 0, 0,
	NAMED_FUNCTION, DW_TAG_subprogram, 1, DW_AT_name, DW_FORM_string, 0, 0,
	OWN_CODE, DW_TAG_subprogram, 0, DW_AT_abstract_origin, DW_FORM_ref_addr, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data2, 0, 0,
	/* 0x2130 is DW_AT_GNU_dwo_name. */
	SKELETON, DW_TAG_compile_unit, 0, 0xb0, 0x42, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data2, 0, 0,
	0,
	/* clang-format on */
};

struct world {
	struct section info, ranges;
	size_t unit; /* where the last one starts */
	struct pp_inline_index *index;
};

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct world));
	return !*state;
}

static int teardown(void **state)
{
	struct world *w = *state;

	pp_inline_index_free(w->index);
	free(w);
	return 0;
}

#define INLINES_TEST(name) TEST_WITH(name, setup, teardown)

/* ---- entries; each function returns the offset of the entry -------------- */

static void begin_unit(struct world *w)
{
	w->unit = w->info.len;
	put(&w->info, 0, 4);
	put(&w->info, 4, 2);
	put(&w->info, 0, 4);
	PUT(&w->info, 8);
}

static void end_unit(struct world *w)
{
	PUT(&w->info, 0);
	put_len(&w->info, w->unit);
}

/* A unit of @len bytes of code; of 0 for one that does not tell. */
static void put_unit(struct world *w, uint64_t low, uint64_t len, uint8_t lines)
{
	begin_unit(w);
	if (!len) {
		PUT(&w->info, UNIT_BARE);
		return;
	}
	PUT(&w->info, UNIT);
	put(&w->info, low, 8);
	put(&w->info, len, 2);
	PUT(&w->info, lines);
}

/* Entries are walked over in two ways, by the form of what tells their end. */
static size_t sibling_len(uint8_t code)
{
	return code == FUNCTION || code == STRUCT ? 4 : 2;
}

/* What tells where it ends; end_at() does. */
static size_t put_sibling(struct world *w, uint8_t code)
{
	size_t at = w->info.len;

	PUT(&w->info, code);
	put(&w->info, 0, sibling_len(code));
	return at;
}

static void end_at(struct world *w, size_t entry)
{
	size_t len;

	PUT(&w->info, 0);
	len = w->info.len;
	w->info.len = entry + 1;
	put(&w->info, len - w->unit, sibling_len(w->info.bytes[entry]));
	w->info.len = len;
}

static size_t put_function(struct world *w, uint64_t low, uint64_t len)
{
	size_t at = put_sibling(w, FUNCTION);

	put(&w->info, low, 8);
	put(&w->info, len, 2);
	return at;
}

static size_t put_abstract(struct world *w, const char *name, uint8_t line)
{
	size_t at = w->info.len;

	PUT(&w->info, ABSTRACT);
	put_text(&w->info, name);
	PUT(&w->info, 1, line);
	return at;
}

static void put_copy(struct world *w, uint8_t code, size_t origin, uint64_t low,
		     uint64_t len, uint8_t line)
{
	PUT(&w->info, code);
	put(&w->info, origin, 4);
	put(&w->info, low, 8);
	put(&w->info, len, 2);
	PUT(&w->info, 3, line);
}

/* ---- what is found ------------------------------------------------------- */

static void open_index(struct world *w)
{
	struct pp_dwarf dwarf = {
		.info = bytes_of(&w->info),
		.abbrev = { abbrevs, sizeof(abbrevs) },
		.ranges = bytes_of(&w->ranges),
	};

	pp_inline_index_free(w->index);
	w->index = NULL;
	assert_int_equal(pp_inline_index_new(&w->index, &dwarf, NULL), 0);
}

/* @wanted: "NAME TABLE:FILE:LINE < TABLE:FILE:LINE of the call;" for each. */
static void expect_max(struct world *w, uint64_t address, size_t max,
		       const char *wanted)
{
	struct pp_inlined found[16];
	size_t nr = pp_inline_index_find(w->index, address, found, max);
	struct text t;
	FILE *out = text_begin(&t);
	char row[32];

	for (size_t i = 0; i < nr; i++)
		fprintf(out, "%s%s %d:%d:%d < %d:%d:%d", i ? "; " : "",
			found[i].name, (int)found[i].line_table,
			(int)found[i].decl_file, (int)found[i].decl_line,
			(int)found[i].call_line_table, (int)found[i].call_file,
			(int)found[i].call_line);
	snprintf(row, sizeof(row), "%llx", (unsigned long long)address);
	text_must_be(&t, row, wanted);
}

static void expect(struct world *w, uint64_t address, const char *wanted)
{
	expect_max(w, address, 16, wanted);
}

INLINES_TEST(copies_are_found_innermost_first)
{
	struct world *w = *state;
	size_t outer, inner, function, block, type;

	put_unit(w, 0x1000, 0x100, 7);
	outer = put_abstract(w, "outer", 10);
	inner = put_abstract(w, "inner", 20);
	function = put_function(w, 0x1010, 0x40);
	put_copy(w, COPY, outer, 0x1010, 0x20, 31);
	block = put_sibling(w, BLOCK);
	put_copy(w, LEAF, inner, 0x1018, 8, 11);
	end_at(w, block);
	PUT(&w->info, 0);
	put_copy(w, LEAF, inner, 0x1030, 8, 32);
	type = put_sibling(w, STRUCT);
	put_copy(w, LEAF, inner, 0x1038, 8, 33); /* nothing is in a type */
	end_at(w, type);
	put_copy(w, LEAF, outer, 0x1040, 8, 34);
	end_at(w, function);
	function = put_function(w, 0x1050, 0x10);
	put_copy(w, LEAF, inner, 0x1050, 0x10, 41);
	end_at(w, function);
	end_unit(w);
	open_index(w);
	for (int round = 0; round < 2; round++) {
		expect(w, 0xfff, "");
		expect(w, 0x1000, "");
		expect(w, 0x100f, "");
		expect(w, 0x1010, "outer 7:1:10 < 7:3:31");
		expect(w, 0x1017, "outer 7:1:10 < 7:3:31");
		expect(w, 0x1018,
		       "inner 7:1:20 < 7:3:11; outer 7:1:10 < 7:3:31");
		expect(w, 0x101f,
		       "inner 7:1:20 < 7:3:11; outer 7:1:10 < 7:3:31");
		expect(w, 0x1020, "outer 7:1:10 < 7:3:31");
		expect(w, 0x1030, "inner 7:1:20 < 7:3:32");
		expect(w, 0x1038, "");
		expect(w, 0x1040, "outer 7:1:10 < 7:3:34");
		expect(w, 0x104f, "");
		expect(w, 0x1050, "inner 7:1:20 < 7:3:41");
		expect(w, 0x105f, "inner 7:1:20 < 7:3:41");
		expect(w, 0x1060, "");
		expect(w, 0x1100, "");
	}
	expect_max(w, 0x1018, 1, "inner 7:1:20 < 7:3:11");
	expect_max(w, 0x1018, 0, "");
}

/* The innermost of each depth counts, where copies side by side overlap. */
INLINES_TEST(copies_of_one_level_do_not_nest)
{
	struct world *w = *state;
	size_t a, b, function;

	put_unit(w, 0x1000, 0x100, 7);
	a = put_abstract(w, "a", 10);
	b = put_abstract(w, "b", 20);
	function = put_function(w, 0x1000, 0x40);
	put_copy(w, COPY, a, 0x1000, 0x20, 31);
	put_copy(w, LEAF, b, 0x1000, 0x20, 32);
	PUT(&w->info, 0);
	put_copy(w, LEAF, b, 0x1010, 0x20, 33);
	end_at(w, function);
	end_unit(w);
	open_index(w);
	expect(w, 0x1000, "b 7:1:20 < 7:3:32; a 7:1:10 < 7:3:31");
	expect(w, 0x1010, "b 7:1:20 < 7:3:33");
}

INLINES_TEST(functions_are_found_in_all_units)
{
	struct world *w = *state;
	size_t space, module, type, f, entry, at;

	/* Functions are in namespaces, modules and behind types. */
	put_unit(w, 0x1000, 0x1000, 1);
	entry = put_abstract(w, "f", 1);
	space = put_sibling(w, NAMESPACE);
	type = put_sibling(w, STRUCT);
	f = put_function(w, 0x1100, 8); /* nothing is in a type */
	put_copy(w, LEAF, entry, 0x1100, 8, 9);
	end_at(w, f);
	end_at(w, type);
	f = put_function(w, 0x1200, 8);
	put_copy(w, LEAF, entry, 0x1200, 8, 2);
	end_at(w, f);
	end_at(w, space);
	module = put_sibling(w, MODULE);
	f = put_function(w, 0x1300, 8);
	put_copy(w, LEAF, entry, 0x1300, 8, 3);
	end_at(w, f);
	end_at(w, module);
	PUT(&w->info, NO_CODE, 0);
	PUT(&w->info, LOST_STRUCT);
	f = put_function(w, 0x1400, 8); /* of a type whose end is not told */
	put_copy(w, LEAF, entry, 0x1400, 8, 4);
	end_at(w, f);
	PUT(&w->info, 0);
	at = w->info.len - w->unit;
	PUT(&w->info, LYING_STRUCT, (uint8_t)at, 0);
	f = put_function(w, 0x1000, 8); /* the first address of the unit */
	put_copy(w, LEAF, entry, 0x1000, 8, 5);
	end_at(w, f);
	end_unit(w);
	/* A unit inside another one, by its addresses. */
	put_unit(w, 0x1800, 0x10, 2);
	f = put_function(w, 0x1808, 4);
	put_copy(w, LEAF, entry, 0x1808, 4, 6);
	end_at(w, f);
	end_unit(w);
	/* Units that do not tell their code; and what the linker dropped. */
	put_unit(w, 0, 0, 0);
	f = put_function(w, 0x3000, 4);
	put_copy(w, LEAF, entry, 0x3000, 4, 7);
	end_at(w, f);
	end_unit(w);
	put_unit(w, 0, 0x10, 4);
	f = put_function(w, 0, 4);
	put_copy(w, LEAF, entry, 0, 4, 8);
	end_at(w, f);
	end_unit(w);
	open_index(w);
	expect(w, 0x1000, "f 1:1:1 < 1:3:5");
	expect(w, 0x1100, "");
	expect(w, 0x1200, "f 1:1:1 < 1:3:2");
	expect(w, 0x1300, "f 1:1:1 < 1:3:3");
	expect(w, 0x1400, "f 1:1:1 < 1:3:4");
	expect(w, 0x1807, "");
	expect(w, 0x1808, "f 1:1:1 < 2:3:6");
	expect(w, 0x180b, "f 1:1:1 < 2:3:6");
	expect(w, 0x180c, "");
	expect(w, 0x3000, "");
	expect(w, 0, "");
	expect(w, 1, "");
}

/* Whichever unit comes first: the innermost that has the address. */
INLINES_TEST(ranges_nest)
{
	static const struct {
		uint64_t low, len;
	} units[] = {
		{ 0x1100, 0x10 }, { 0x1000, 0x20 },  { 0x1000, 0x400 },
		{ 0x1200, 0x20 }, { 0x1200, 0x100 }, { 0x1300, 0x10 },
	};
	static const struct {
		uint64_t address;
		const char *wanted;
	} rows[] = {
		{ 0x0fff, "" },
		{ 0x1000, "f 0:1:1 < 1:3:9" },
		{ 0x101f, "f 0:1:1 < 1:3:9" },
		{ 0x1020, "f 0:1:1 < 2:3:9" },
		{ 0x1100, "f 0:1:1 < 0:3:9" },
		{ 0x110f, "f 0:1:1 < 0:3:9" },
		{ 0x1110, "f 0:1:1 < 2:3:9" },
		{ 0x1200, "f 0:1:1 < 3:3:9" },
		{ 0x1220, "f 0:1:1 < 4:3:9" },
		{ 0x12ff, "f 0:1:1 < 4:3:9" },
		{ 0x1300, "f 0:1:1 < 5:3:9" },
		{ 0x1310, "f 0:1:1 < 2:3:9" },
		{ 0x13ff, "f 0:1:1 < 2:3:9" },
		{ 0x1400, "" },
	};
	struct world *w = *state;
	size_t entry = 0;

	for (size_t i = 0; i < NR(units); i++) {
		size_t f;

		put_unit(w, units[i].low, units[i].len, (uint8_t)i);
		if (!i)
			entry = put_abstract(w, "f", 1);
		f = put_function(w, units[i].low, units[i].len);
		put_copy(w, LEAF, entry, units[i].low, units[i].len, 9);
		end_at(w, f);
		end_unit(w);
	}
	open_index(w);
	for (size_t i = 0; i < NR(rows); i++)
		expect(w, rows[i].address, rows[i].wanted);
}

INLINES_TEST(ranges_may_be_lists)
{
	static const uint64_t pairs[] = {
		0x1000, 0x1010, 0x1020, 0x1030, 0, 0,
		0,	0x1000, 0x1024, 0x1028, 0, 0
	};
	struct world *w = *state;
	size_t entry, f;

	for (size_t i = 0; i < NR(pairs); i++)
		put(&w->ranges, pairs[i], 8);
	begin_unit(w);
	PUT(&w->info, UNIT_RANGES, 0, 0, 0, 0, 5);
	entry = put_abstract(w, "f", 1);
	f = put_function(w, 0x1000, 0x30);
	PUT(&w->info, COPY_RANGES);
	put(&w->info, entry, 4);
	put(&w->info, 0, 4);
	PUT(&w->info, 3, 2);
	PUT(&w->info, COPY_RANGES);
	put(&w->info, entry, 4);
	put(&w->info, 8 * 8, 4);
	PUT(&w->info, 3, 3, 0, 0);
	end_at(w, f);
	end_unit(w);
	open_index(w);
	expect(w, 0x100f, "f 5:1:1 < 5:3:2");
	expect(w, 0x1010, ""); /* in the function, and not in the unit */
	expect(w, 0x1020, "f 5:1:1 < 5:3:2");
	expect(w, 0x1024, "f 5:1:1 < 5:3:3; f 5:1:1 < 5:3:2");
	expect(w, 0x1028, "f 5:1:1 < 5:3:2");
	expect(w, 0x1030, "");
}

/* What a copy is called comes of the entries it refers to, one after another;
 * they may be in other units, and may lead nowhere. */
INLINES_TEST(names_come_from_origins)
{
	struct world *w = *state;
	size_t origins[16], nr = 0, f, last, next;

	put_unit(w, 0, 0, 0); /* has no line table */
	origins[nr++] = w->info.len; /* 0 */
	PUT(&w->info, LINKED);
	put_text(&w->info, "_Zf");
	put_text(&w->info, "f");
	PUT(&w->info, 4, 44);
	origins[nr++] = w->info.len; /* 1 */
	PUT(&w->info, NAMED);
	put_text(&w->info, "g");
	put(&w->info, origins[0], 4);
	end_unit(w);
	put_unit(w, 0x1000, 0x100, 7);
	origins[nr++] = w->info.len; /* 2 */
	PUT(&w->info, LINED, 2, 22);
	put(&w->info, origins[1], 4);
	origins[nr++] = w->info.len; /* 3: refers to itself */
	PUT(&w->info, NAMED);
	put_text(&w->info, "loop");
	put(&w->info, origins[3], 4);
	origins[nr++] = w->info.len; /* 4: beyond all units */
	PUT(&w->info, NAMED);
	put_text(&w->info, "away");
	put(&w->info, 0xffff, 4);
	origins[nr++] = w->unit + 4; /* 5: no entry, so no name */
	origins[nr++] = w->info.len; /* 6: no name anywhere */
	PUT(&w->info, LINED, 2, 66);
	put(&w->info, 0, 4);
	origins[nr++] = w->info.len; /* 7: the eighth has the name */
	for (int i = 0; i < 7; i++) {
		next = w->info.len + 7;
		PUT(&w->info, LINED, 2, 0);
		put(&w->info, next, 4);
	}
	last = put_abstract(w, "eighth", 88);
	origins[nr++] = w->info.len; /* 8: one more is not read */
	PUT(&w->info, LINED, 2, 0);
	put(&w->info, origins[7], 4);
	origins[nr++] = w->info.len; /* 9: in the file of its declaration */
	PUT(&w->info, LINE_ONLY, 99);
	put(&w->info, last, 4);
	origins[nr++] = w->info.len; /* 10: on the line of its declaration */
	PUT(&w->info, FILE_ONLY, 2);
	put(&w->info, last, 4);
	f = put_function(w, 0x1000, 0x80);
	for (size_t i = 0; i < nr; i++)
		put_copy(w, LEAF, origins[i], 0x1000 + 8 * i, 8, 3);
	end_at(w, f);
	end_unit(w);
	open_index(w);
	expect(w, 0x1000, "_Zf -1:4:44 < 7:3:3");
	expect(w, 0x1008, "_Zf -1:4:44 < 7:3:3");
	expect(w, 0x1010, "_Zf 7:2:22 < 7:3:3");
	expect(w, 0x1018, "loop -1:0:0 < 7:3:3");
	expect(w, 0x1020, "away -1:0:0 < 7:3:3");
	expect(w, 0x1028, "");
	expect(w, 0x1030, "");
	expect(w, 0x1038, "eighth 7:2:88 < 7:3:3");
	expect(w, 0x1040, "");
	expect(w, 0x1048, "eighth 7:1:99 < 7:3:3");
	expect(w, 0x1050, "eighth 7:2:88 < 7:3:3");
}

static void put_class(struct world *w, const char *name, uint8_t line)
{
	PUT(&w->info, CLASS);
	put_text(&w->info, name);
	PUT(&w->info, line);
}

/* Functions that linkers do not know have the names of what they are in, but
 * for blocks and the unit. */
INLINES_TEST(names_are_qualified)
{
	struct world *w = *state;
	size_t origins[8], nr = 0, f, space;

	put_unit(w, 0x1000, 0x100, 7);
	put_class(w, "Other", 1);
	PUT(&w->info, 0);
	space = put_sibling(w, NAMESPACE);
	put_class(w, "A", 2);
	origins[nr++] = put_abstract(w, "run", 3); /* 0 */
	PUT(&w->info, UNNAMED, 4);
	origins[nr++] = put_abstract(w, "operator()", 5); /* 1 */
	origins[nr++] = w->info.len; /* 2: linkers know it */
	PUT(&w->info, LINKED);
	put_text(&w->info, "_ZN1A1fEv");
	put_text(&w->info, "f");
	PUT(&w->info, 1, 6);
	PUT(&w->info, 0, 0); /* of both */
	end_at(w, space);
	PUT(&w->info, NAMED_FUNCTION);
	put_text(&w->info, "main");
	space = put_sibling(w, BLOCK);
	put_class(w, "B<int>", 7);
	origins[nr++] = put_abstract(w, "go", 8); /* 3 */
	PUT(&w->info, 0);
	end_at(w, space);
	PUT(&w->info, 0);
	PUT(&w->info, UNNAMED, 9);
	origins[nr++] = put_abstract(w, "get", 10); /* 4 */
	PUT(&w->info, 0);
	origins[nr++] = w->info.len; /* 5: what says where is elsewhere */
	PUT(&w->info, LINE_ONLY, 11);
	put(&w->info, origins[0], 4);
	f = put_function(w, 0x1000, 0x80);
	for (size_t i = 0; i < nr; i++)
		put_copy(w, LEAF, origins[i], 0x1000 + 8 * i, 8, 3);
	end_at(w, f);
	end_unit(w);
	open_index(w);
	expect(w, 0x1000, "(anonymous namespace)::A::run 7:1:3 < 7:3:3");
	expect(w, 0x1008,
	       "(anonymous namespace)::A::{lambda:4}::operator() 7:1:5 < 7:3:3");
	expect(w, 0x1010, "_ZN1A1fEv 7:1:6 < 7:3:3");
	expect(w, 0x1018, "main::B<int>::go 7:1:8 < 7:3:3");
	expect(w, 0x1020, "{unnamed:9}::get 7:1:10 < 7:3:3");
	expect(w, 0x1028, "(anonymous namespace)::A::run 7:1:11 < 7:3:3");
}

/* More scopes than any program has are none. */
INLINES_TEST(scopes_are_bounded)
{
	struct world *w = *state;
	size_t origins[2] = { 0 }, f;

	put_unit(w, 0x1000, 0x100, 7);
	for (size_t i = 0; i < 17; i++) {
		put_class(w, "c", 1);
		if (i == 15)
			origins[0] = put_abstract(w, "f", 2);
	}
	origins[1] = put_abstract(w, "g", 3);
	for (size_t i = 0; i < 17; i++)
		PUT(&w->info, 0);
	f = put_function(w, 0x1000, 0x10);
	put_copy(w, LEAF, origins[0], 0x1000, 8, 3);
	put_copy(w, LEAF, origins[1], 0x1008, 8, 3);
	end_at(w, f);
	end_unit(w);
	open_index(w);
	expect(w, 0x1000,
	       "c::c::c::c::c::c::c::c::c::c::c::c::c::c::c::c::f 7:1:2 < 7:3:3");
	expect(w, 0x1008, "g 7:1:3 < 7:3:3");
}

static uint64_t code_of_inlined(struct world *w, uint64_t address)
{
	struct pp_inlined found[4];

	assert_int_equal(pp_inline_index_find(w->index, address, found, 4), 1);
	return found[0].code;
}

static void put_own_code(struct world *w, size_t origin, uint64_t low)
{
	PUT(&w->info, OWN_CODE);
	put(&w->info, origin, 4);
	put(&w->info, low, 8);
	put(&w->info, 0x10, 2);
}

/* A function may be compiled by itself, too; clones are behind it. */
INLINES_TEST(functions_have_code_of_their_own)
{
	struct world *w = *state;
	size_t once, twice, never, linked, f;

	put_unit(w, 0x1000, 0x100, 7);
	once = put_abstract(w, "once", 1);
	twice = put_abstract(w, "twice", 2);
	never = put_abstract(w, "never", 3);
	linked = w->info.len;
	PUT(&w->info, LINKED);
	put_text(&w->info, "_Zf");
	put_text(&w->info, "f");
	PUT(&w->info, 1, 4);
	put_own_code(w, twice, 0x1060);
	put_own_code(w, once, 0x1040);
	put_own_code(w, twice, 0x1050);
	put_own_code(w, linked, 0x1070);
	f = put_function(w, 0x1000, 0x40);
	put_copy(w, LEAF, once, 0x1000, 8, 3);
	put_copy(w, LEAF, twice, 0x1008, 8, 3);
	put_copy(w, LEAF, never, 0x1010, 8, 3);
	put_copy(w, LEAF, linked, 0x1018, 8, 3);
	end_at(w, f);
	end_unit(w);
	open_index(w);
	assert_int_equal(code_of_inlined(w, 0x1000), 0x1040);
	assert_int_equal(code_of_inlined(w, 0x1008), 0x1050);
	assert_int_equal(code_of_inlined(w, 0x1010), 0);
	assert_int_equal(code_of_inlined(w, 0x1018), 0);
}

/* Units whose entries are in another file matter where code is theirs. */
INLINES_TEST(split_units_without_a_file)
{
	struct world *w = *state;
	struct pp_inlined found;
	size_t f, entry;

	put_unit(w, 0x1000, 0x100, 7);
	entry = put_abstract(w, "f", 1);
	f = put_function(w, 0x1000, 0x40);
	put_copy(w, LEAF, entry, 0x1000, 8, 3);
	end_at(w, f);
	end_unit(w);
	begin_unit(w);
	PUT(&w->info, SKELETON);
	put_text(&w->info, "x.dwo");
	put(&w->info, 0x2000, 8);
	put(&w->info, 0x100, 2);
	put_len(&w->info, w->unit);
	open_index(w);
	expect(w, 0x1000, "f 7:1:1 < 7:3:3");
	expect(w, 0x3000, "");
	assert_false(pp_inline_index_lacks_file(w->index));
	expect(w, 0x2000, "");
	assert_true(pp_inline_index_lacks_file(w->index));
	open_index(w);
	assert_false(pp_inline_index_function(w->index, 0x20ff, &found));
	assert_true(pp_inline_index_lacks_file(w->index));
}

/* Entries of one length without code are passed over, side by side and nested,
 * by what their abbreviations tell. */
INLINES_TEST(entries_without_code_are_passed_over)
{
	struct world *w = *state;
	size_t entry, f, type;

	put_unit(w, 0x1000, 0x100, 7);
	entry = put_abstract(w, "f", 1);
	for (int i = 0; i < 3; i++) {
		PUT(&w->info, FILE_ONLY, 2);
		put(&w->info, entry, 4);
	}
	f = put_function(w, 0x1000, 0x40);
	for (int i = 0; i < 3; i++) {
		PUT(&w->info, FILE_ONLY, (uint8_t)(LEAF + i));
		put(&w->info, entry, 4);
		PUT(&w->info, LINE_ONLY, LEAF);
		put(&w->info, entry, 4);
	}
	put_copy(w, LEAF, entry, 0x1000, 8, 2);
	type = put_sibling(w, STRUCT);
	put_copy(w, LEAF, entry, 0x1010, 8, 3);
	end_at(w, type);
	PUT(&w->info, LINE_ONLY, 0);
	put(&w->info, entry, 4);
	put_copy(w, LEAF, entry, 0x1020, 8, 4);
	end_at(w, f);
	PUT(&w->info, LINE_ONLY, 0);
	put(&w->info, entry, 4);
	f = put_function(w, 0x1080, 0x40);
	put_copy(w, LEAF, entry, 0x1080, 8, 5);
	end_at(w, f);
	end_unit(w);
	open_index(w);
	expect(w, 0x1000, "f 7:1:1 < 7:3:2");
	expect(w, 0x1010, "");
	expect(w, 0x1020, "f 7:1:1 < 7:3:4");
	expect(w, 0x1080, "f 7:1:1 < 7:3:5");
}

/* A function whose entries end early has what stands before. */
INLINES_TEST(damage_ends_a_function)
{
	struct world *w = *state;
	size_t entry, f;

	put_unit(w, 0x1000, 0x100, 7);
	entry = put_abstract(w, "f", 1);
	f = put_function(w, 0x1000, 0x80);
	put_copy(w, COPY, entry, 0x1000, 8, 2);
	put_copy(w, LEAF, entry, 0x1004, 8, 3);
	PUT(&w->info, 0, 0x7f);
	end_at(w, f);
	end_unit(w);
	put_unit(w, 0x2000, 0x100, 8);
	f = put_function(w, 0x2000, 0x80);
	put_copy(w, LEAF, entry, 0x2000, 8, 4);
	end_at(w, f);
	end_unit(w);
	PUT(&w->info, 1, 2, 3); /* no unit */
	open_index(w);
	expect(w, 0x1000, "f 7:1:1 < 7:3:2");
	expect(w, 0x1004, "f 7:1:1 < 7:3:3; f 7:1:1 < 7:3:2");
	expect(w, 0x2000, "f 7:1:1 < 8:3:4");
}

/* What is in an entry that does not end where it says so is passed over, up to
 * the end of its list; behind the unit nothing is found. */
INLINES_TEST(ends_may_lie)
{
	static const struct {
		int end; /* from the entry on */
		const char *behind;
	} rows[] = {
		{ 0, "f 7:1:1 < 7:3:9" },
		{ -3, "f 7:1:1 < 7:3:9" },
		{ 4000, "" },
		{ INT_MAX, "" },
	};
	struct world *w = *state;

	for (size_t i = 0; i < NR(rows); i++) {
		size_t entry, f, type, len;

		w->info.len = 0;
		put_unit(w, 0x1000, 0x100, 7);
		entry = put_abstract(w, "f", 1);
		f = put_function(w, 0x1000, 0x80);
		type = put_sibling(w, STRUCT);
		put_copy(w, LEAF, entry, 0x1000, 8, 2);
		PUT(&w->info, LOST_STRUCT);
		put_copy(w, LEAF, entry, 0x1000, 8, 3);
		PUT(&w->info, 0, 0);
		len = w->info.len;
		w->info.len = type + 1;
		put(&w->info,
		    (uint64_t)((int64_t)(type - w->unit) + rows[i].end), 4);
		w->info.len = len;
		put_copy(w, LEAF, entry, 0x1008, 8, 9);
		end_at(w, f);
		end_unit(w);
		open_index(w);
		expect(w, 0x1000, "");
		expect(w, 0x1008, rows[i].behind);
	}
}

INLINES_TEST(nothing_has_no_copies)
{
	struct world *w = *state;

	open_index(w);
	expect(w, 0, "");
	expect(w, 0x1000, "");
	pp_inline_index_free(NULL);
}
