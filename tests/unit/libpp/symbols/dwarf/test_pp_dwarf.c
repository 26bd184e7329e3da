// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values, units, entries and ranges of DWARF, written byte by byte as the
 * standard (DWARF 5, chapter 7) has them.
 */

#include "tests/unit/libpp/dwarf_fixture.h"
#include "tests/unit/pp_fixture.h"

#include "libpp/symbols/dwarf/dwarf_die.h"

/* The bytes of a row, and how many they are. */
#define BYTES(...)                                                             \
	(const uint8_t[]){ __VA_ARGS__ },                                      \
		sizeof((const uint8_t[]){ __VA_ARGS__ })

#define FORM2(form) ((form)&0x7f) | 0x80, (form) >> 7

static struct section section_of(const uint8_t *bytes, size_t len)
{
	struct section s = { .len = len };

	memcpy(s.bytes, bytes, len);
	return s;
}

#define SECTION(...) section_of(BYTES(__VA_ARGS__))

/* ---- values -------------------------------------------------------------- */

TEST(values_have_forms)
{
	/* clang-format off */
	const struct {
		const char *name;
		uint64_t form;
		const uint8_t *bytes;
		size_t len; /* all of them are read */
		uint64_t number;
		const char *text;
		uint8_t version, address_size;
		bool is_64, big_endian;
	} rows[] = {
		{ "addr", DW_FORM_addr, BYTES(1, 2, 3, 4, 5, 6, 7, 8), 0x0807060504030201, NULL, 5, 8, false, false },
		{ "addr of 4 bytes", DW_FORM_addr, BYTES(1, 2, 3, 4), 0x04030201, NULL, 5, 4, false, false },
		{ "addr, big-endian", DW_FORM_addr, BYTES(1, 2, 3, 4), 0x01020304, NULL, 5, 4, false, true },
		{ "data1", DW_FORM_data1, BYTES(0xff), 0xff, NULL, 5, 8, false, false },
		{ "data2", DW_FORM_data2, BYTES(1, 2), 0x0201, NULL, 5, 8, false, false },
		{ "data4", DW_FORM_data4, BYTES(1, 2, 3, 4), 0x04030201, NULL, 5, 8, false, false },
		{ "data8", DW_FORM_data8, BYTES(1, 2, 3, 4, 5, 6, 7, 8), 0x0807060504030201, NULL, 5, 8, false, false },
		{ "data16", DW_FORM_data16, BYTES(1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8), 0, NULL, 5, 8, false, false },
		{ "sdata", DW_FORM_sdata, BYTES(0xff, 0x7e), (uint64_t)-129, NULL, 5, 8, false, false },
		{ "udata", DW_FORM_udata, BYTES(0xff, 0x7e), 0x3f7f, NULL, 5, 8, false, false },
		{ "flag", DW_FORM_flag, BYTES(1), 1, NULL, 5, 8, false, false },
		{ "flag_present", DW_FORM_flag_present, NULL, 0, 0, NULL, 5, 8, false, false },
		{ "implicit_const", DW_FORM_implicit_const, NULL, 0, 0, NULL, 5, 8, false, false },
		{ "string", DW_FORM_string, BYTES('a', 'b', 0), 0, "ab", 5, 8, false, false },
		{ "strp", DW_FORM_strp, BYTES(1, 0, 0, 0), 0, "str", 5, 8, false, false },
		{ "strp of 64 bits", DW_FORM_strp, BYTES(2, 0, 0, 0, 0, 0, 0, 0), 0, "tr", 5, 8, true, false },
		{ "strp behind the end", DW_FORM_strp, BYTES(5, 0, 0, 0), 0, NULL, 5, 8, false, false },
		{ "line_strp", DW_FORM_line_strp, BYTES(1, 0, 0, 0), 0, "line", 5, 8, false, false },
		{ "line_strp of 64 bits", DW_FORM_line_strp, BYTES(1, 0, 0, 0, 0, 0, 0, 0), 0, "line", 5, 8, true, false },
		{ "strp_sup", DW_FORM_strp_sup, BYTES(1, 0, 0, 0), 0, "shared", 5, 8, false, false },
		{ "GNU_strp_alt", DW_FORM_GNU_strp_alt, BYTES(1, 0, 0, 0), 0, "shared", 4, 8, false, false },
		{ "GNU_strp_alt of 64 bits", DW_FORM_GNU_strp_alt, BYTES(1, 0, 0, 0, 0, 0, 0, 0), 0, "shared", 4, 8, true, false },
		{ "GNU_ref_alt", DW_FORM_GNU_ref_alt, BYTES(1, 2, 3, 4), 0x04030201, NULL, 4, 8, false, false },
		{ "ref_addr", DW_FORM_ref_addr, BYTES(1, 2, 3, 4), 0x04030201, NULL, 3, 8, false, false },
		{ "ref_addr of version 2", DW_FORM_ref_addr, BYTES(1, 2, 3, 4, 5, 6, 7, 8), 0x0807060504030201, NULL, 2, 8, false, false },
		{ "ref_addr of 64 bits", DW_FORM_ref_addr, BYTES(1, 2, 3, 4, 5, 6, 7, 8), 0x0807060504030201, NULL, 3, 4, true, false },
		{ "ref1", DW_FORM_ref1, BYTES(9), 9, NULL, 5, 8, false, false },
		{ "ref2", DW_FORM_ref2, BYTES(9, 1), 0x109, NULL, 5, 8, false, false },
		{ "ref4", DW_FORM_ref4, BYTES(9, 1, 0, 0), 0x109, NULL, 5, 8, false, false },
		{ "ref8", DW_FORM_ref8, BYTES(9, 1, 0, 0, 0, 0, 0, 0), 0x109, NULL, 5, 8, false, false },
		{ "ref_udata", DW_FORM_ref_udata, BYTES(0x80, 1), 0x80, NULL, 5, 8, false, false },
		{ "ref_sig8", DW_FORM_ref_sig8, BYTES(1, 0, 0, 0, 0, 0, 0, 0), 1, NULL, 5, 8, false, false },
		{ "ref_sup4", DW_FORM_ref_sup4, BYTES(1, 0, 0, 0), 1, NULL, 5, 8, false, false },
		{ "ref_sup8", DW_FORM_ref_sup8, BYTES(1, 0, 0, 0, 0, 0, 0, 0), 1, NULL, 5, 8, false, false },
		{ "sec_offset", DW_FORM_sec_offset, BYTES(1, 2, 3, 4), 0x04030201, NULL, 5, 8, false, false },
		{ "sec_offset of 64 bits", DW_FORM_sec_offset, BYTES(1, 2, 3, 4, 5, 6, 7, 8), 0x0807060504030201, NULL, 5, 4, true, false },
		{ "strx", DW_FORM_strx, BYTES(0x80, 1), 0x80, NULL, 5, 8, false, false },
		{ "strx1", DW_FORM_strx1, BYTES(3), 3, NULL, 5, 8, false, false },
		{ "strx2", DW_FORM_strx2, BYTES(3, 1), 0x103, NULL, 5, 8, false, false },
		{ "strx3", DW_FORM_strx3, BYTES(3, 1, 2), 0x20103, NULL, 5, 8, false, false },
		{ "strx3, big-endian", DW_FORM_strx3, BYTES(3, 1, 2), 0x30102, NULL, 5, 8, false, true },
		{ "strx4", DW_FORM_strx4, BYTES(3, 1, 2, 0), 0x20103, NULL, 5, 8, false, false },
		{ "addrx", DW_FORM_addrx, BYTES(0x80, 1), 0x80, NULL, 5, 8, false, false },
		{ "addrx1", DW_FORM_addrx1, BYTES(3), 3, NULL, 5, 8, false, false },
		{ "addrx2", DW_FORM_addrx2, BYTES(3, 1), 0x103, NULL, 5, 8, false, false },
		{ "addrx3", DW_FORM_addrx3, BYTES(3, 1, 2), 0x20103, NULL, 5, 8, false, false },
		{ "addrx4", DW_FORM_addrx4, BYTES(3, 1, 2, 0), 0x20103, NULL, 5, 8, false, false },
		{ "loclistx", DW_FORM_loclistx, BYTES(0x80, 1), 0x80, NULL, 5, 8, false, false },
		{ "rnglistx", DW_FORM_rnglistx, BYTES(0x80, 1), 0x80, NULL, 5, 8, false, false },
		{ "block1", DW_FORM_block1, BYTES(2, 7, 7), 0, NULL, 5, 8, false, false },
		{ "block2", DW_FORM_block2, BYTES(2, 0, 7, 7), 0, NULL, 5, 8, false, false },
		{ "block4", DW_FORM_block4, BYTES(2, 0, 0, 0, 7, 7), 0, NULL, 5, 8, false, false },
		{ "block", DW_FORM_block, BYTES(2, 7, 7), 0, NULL, 5, 8, false, false },
		{ "exprloc", DW_FORM_exprloc, BYTES(2, 7, 7), 0, NULL, 5, 8, false, false },
	};
	/* clang-format on */
	static const uint8_t unknown[] = { 0, 2, 0x2d, 0x7f };
	struct pp_dwarf dwarf = {
		.str = { (const uint8_t *)" str", 5 },
		.line_str = { (const uint8_t *)" line", 6 },
		.shared_str = { (const uint8_t *)" shared", 8 },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		const struct pp_dwarf_form form = {
			.form = rows[i].form,
			.version = rows[i].version,
			.address_size = rows[i].address_size,
			.is_64 = rows[i].is_64,
		};
		uint8_t bytes[17] = { 0 };
		struct pp_dwarf_value value;
		struct op_cursor c;

		print_message("%s\n", rows[i].name);
		if (rows[i].len)
			memcpy(bytes, rows[i].bytes, rows[i].len);
		c = op_cursor(bytes, sizeof(bytes));
		c.big_endian = rows[i].big_endian;
		value = pp_dwarf_read(&dwarf, &c, &form);
		assert_false(c.failed);
		assert_int_equal(c.at - bytes, rows[i].len);
		assert_int_equal(value.number, rows[i].number);
		if (rows[i].text)
			assert_string_equal(value.text, rows[i].text);
		else
			assert_null(value.text);
		if (!rows[i].len)
			continue;
		/* One byte less is not enough. */
		c = op_cursor(bytes, rows[i].len - 1);
		pp_dwarf_read(&dwarf, &c, &form);
		assert_true(c.failed);
	}
	for (size_t i = 0; i < NR(unknown); i++) {
		const struct pp_dwarf_form form = { .form = unknown[i] };
		struct op_cursor c = op_cursor(unknown, sizeof(unknown));

		pp_dwarf_read(&dwarf, &c, &form);
		assert_true(c.failed);
	}
}

/* ---- units --------------------------------------------------------------- */

TEST(units_have_headers)
{
	/* clang-format off */
	const struct {
		const char *name;
		const uint8_t *bytes; /* each behind one byte of another */
		size_t len;
		const char *wanted; /* of the unit; else what is behind it */
	} rows[] = {
		{ "version 4", BYTES(9, 0, 0, 0, 4, 0, 0x10, 0, 0, 0, 8, 1, 0),
		  "unit 1: version 4, address 8, abbrevs 10, entries c-e, then e\n" },
		{ "version 2", BYTES(8, 0, 0, 0, 2, 0, 0x10, 1, 0, 0, 4, 0),
		  "unit 1: version 2, address 4, abbrevs 110, entries c-d, then d\n" },
		{ "no entries", BYTES(7, 0, 0, 0, 3, 0, 0, 0, 0, 0, 1),
		  "unit 1: version 3, address 1, abbrevs 0, entries c-c, then c\n" },
		{ "cut off", BYTES(6, 0, 0, 0, 3, 0, 0, 0, 0, 0, 1), "none, then b\n" },
		{ "of 64 bits", BYTES(0xff, 0xff, 0xff, 0xff, 12, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 8, 0),
		  "unit 1: version 4, address 8, abbrevs 10, entries 18-19, of 64 bits, then 19\n" },
		{ "version 5", BYTES(9, 0, 0, 0, 5, 0, 1, 8, 0x10, 0, 0, 0, 0),
		  "unit 1: version 5, address 8, abbrevs 10, entries d-e, then e\n" },
		{ "partial", BYTES(9, 0, 0, 0, 5, 0, 3, 8, 0x10, 0, 0, 0, 0),
		  "unit 1: version 5, address 8, abbrevs 10, entries d-e, then e\n" },
		{ "skeleton", BYTES(17, 0, 0, 0, 5, 0, 4, 8, 0x10, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0),
		  "unit 1: version 5, address 8, abbrevs 10, entries 15-16, then 16\n" },
		{ "split", BYTES(17, 0, 0, 0, 5, 0, 5, 8, 0x10, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0),
		  "unit 1: version 5, address 8, abbrevs 10, entries 15-16, then 16\n" },
		{ "of types", BYTES(9, 0, 0, 0, 5, 0, 2, 8, 0x10, 0, 0, 0, 0), "none, then e\n" },
		{ "of split types", BYTES(9, 0, 0, 0, 5, 0, 6, 8, 0x10, 0, 0, 0, 0), "none, then e\n" },
		{ "version 1", BYTES(9, 0, 0, 0, 1, 0, 0x10, 0, 0, 0, 8, 1, 0), "none, then e\n" },
		{ "version 6", BYTES(9, 0, 0, 0, 6, 0, 1, 8, 0x10, 0, 0, 0, 0), "none, then e\n" },
		{ "no addresses", BYTES(9, 0, 0, 0, 5, 0, 1, 0, 0x10, 0, 0, 0, 0), "none, then e\n" },
		{ "long addresses", BYTES(9, 0, 0, 0, 5, 0, 1, 9, 0x10, 0, 0, 0, 0), "none, then e\n" },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		struct section info = SECTION(0);
		struct pp_dwarf dwarf = { 0 };
		struct pp_dwarf_unit unit;
		struct op_cursor all;
		struct text t;
		FILE *out = text_begin(&t);

		for (size_t n = 0; n < rows[i].len; n++)
			put(&info, rows[i].bytes[n], 1);
		PUT(&info, 0);
		dwarf.info = bytes_of(&info);
		all = pp_dwarf_cursor(&dwarf, &dwarf.info, 1);
		if (pp_dwarf_unit_header(&dwarf, &all, &unit)) {
			assert_int_equal(unit.line_table, UINT64_MAX);
			fprintf(out,
				"unit %zx: version %d, address %d, abbrevs %zx,"
				" entries %zx-%zx%s",
				(size_t)unit.start, unit.form.version,
				unit.form.address_size, (size_t)unit.abbrevs,
				(size_t)unit.first, (size_t)unit.end,
				unit.form.is_64 ? ", of 64 bits" : "");
		} else {
			fputs("none", out);
		}
		fprintf(out, ", then %zx\n", (size_t)(all.at - info.bytes));
		text_must_be(&t, rows[i].name, rows[i].wanted);
	}
}

/* ---- entries ------------------------------------------------------------- */

enum {
	DW_AT_const_value = 0x1c,
	DW_AT_external = 0x3f,
};

struct world {
	struct section info, abbrev, str, str_offsets, addr, ranges, rnglists;
	struct pp_dwarf dwarf;
	struct pp_dwarf_unit unit;
};

static void world_sections(struct world *w)
{
	w->dwarf = (struct pp_dwarf){
		.info = bytes_of(&w->info),
		.abbrev = bytes_of(&w->abbrev),
		.str = bytes_of(&w->str),
		.str_offsets = bytes_of(&w->str_offsets),
		.addr = bytes_of(&w->addr),
		.ranges = bytes_of(&w->ranges),
		.rnglists = bytes_of(&w->rnglists),
	};
}

/* A unit's header behind 3 bytes of another; returns where its length is. */
static size_t put_unit_header(struct world *w, int version, bool is_64,
			      uint8_t address_size)
{
	size_t start;

	PUT(&w->info, 0, 0, 0);
	start = w->info.len;
	if (is_64)
		put(&w->info, UINT32_MAX, 4);
	put(&w->info, 0, is_64 ? 8 : 4);
	put(&w->info, (uint64_t)version, 2);
	if (version >= 5)
		PUT(&w->info, 1, address_size);
	put(&w->info, 0, is_64 ? 8 : 4); /* abbreviations */
	if (version < 5)
		PUT(&w->info, address_size);
	return start;
}

/* End the unit whose length is at @start, and open it. */
static void open_unit(struct world *w, size_t start, bool is_64)
{
	size_t end = w->info.len, head = is_64 ? 12 : 4;
	struct op_cursor all;

	w->info.len = start + head - (is_64 ? 8 : 4);
	put(&w->info, end - start - head, is_64 ? 8 : 4);
	w->info.len = end;
	PUT(&w->info, 9, 9, 9, 9); /* of the next one */
	world_sections(w);
	all = pp_dwarf_cursor(&w->dwarf, &w->dwarf.info, start);
	assert_true(pp_dwarf_unit_header(&w->dwarf, &all, &w->unit));
	assert_int_equal(w->unit.end, end);
	assert_int_equal(pp_dwarf_unit_open(&w->dwarf, &w->unit), 0);
}

/* Whoever jumps over an entry goes on where its reader does. */
static void skim_as_read(const struct world *w, uint64_t offset)
{
	struct pp_skimmed skimmed;
	struct pp_die die, code;
	bool ok = pp_die_read(&w->dwarf, &w->unit, offset, &die);

	assert_int_equal(pp_die_skim(&w->dwarf, &w->unit, offset, &skimmed),
			 ok);
	if (!ok)
		return;
	assert_int_equal(skimmed.next, die.next);
	assert_int_equal(skimmed.sibling, die.sibling);
	assert_int_equal(skimmed.abbrev->tag, die.tag);
	assert_int_equal(skimmed.abbrev->has_children, die.has_children);
	assert_true(
		pp_die_read_code(&w->dwarf, &w->unit, offset, &skimmed, &code));
	assert_int_equal(code.next, die.next);
	assert_int_equal(code.has_children, die.has_children);
	assert_int_equal(code.has_low, die.has_low);
	assert_int_equal(code.has_high, die.has_high);
	assert_int_equal(code.has_ranges, die.has_ranges);
	assert_int_equal(code.low, die.low);
	assert_int_equal(code.high, die.high);
	assert_int_equal(code.ranges, die.ranges);
}

static void write_die(FILE *out, const struct world *w, uint64_t offset)
{
	struct pp_die die;

	skim_as_read(w, offset);
	if (!pp_die_read(&w->dwarf, &w->unit, offset, &die)) {
		fputs("no entry\n", out);
		return;
	}
	fprintf(out, "tag %x%s, %zd bytes", (unsigned int)die.tag,
		die.has_children ? " with children" : "",
		(ssize_t)(die.next - offset));
#define FIELD(field, none)                                                     \
	if (die.field != (none))                                               \
	fprintf(out, ", " #field " %zx", (size_t)die.field)
	FIELD(sibling, PP_NO_DIE);
	FIELD(origin, PP_NO_DIE);
	FIELD(decl_file, 0);
	FIELD(decl_line, 0);
	FIELD(call_file, 0);
	FIELD(call_line, 0);
	FIELD(call_discriminator, 0);
	if (die.name)
		fprintf(out, ", name %s", die.name);
	if (die.linkage_name)
		fprintf(out, ", linkage_name %s", die.linkage_name);
	if (die.has_low)
		fprintf(out, ", low %zx", (size_t)die.low);
	if (die.has_high)
		fprintf(out, ", high %zx", (size_t)die.high);
	if (die.has_ranges)
		fprintf(out, ", ranges %zx", (size_t)die.ranges);
	fputc('\n', out);
}

/* Strings at 1 and 7, their offsets from 8 on, addresses from 8 on. */
static void put_tables(struct world *w, bool is_64, uint8_t address_size)
{
	static const uint64_t addresses[] = { 0x1000, 0x2000, 0x2040 };
	size_t size = is_64 ? 8 : 4;

	PUT(&w->str, 0);
	put_text(&w->str, "alpha");
	put_text(&w->str, "beta");
	put(&w->str_offsets, 0, 8);
	put(&w->str_offsets, 1, size);
	put(&w->str_offsets, 7, size);
	put(&w->addr, 0, 8);
	for (size_t i = 0; i < NR(addresses); i++)
		put(&w->addr, addresses[i], address_size);
	put(&w->rnglists, 0, 8);
	put(&w->rnglists, 0, 4);
	put(&w->rnglists, 0x20, size);
	put(&w->rnglists, 0x30, size);
}

/* The unit's own entry, of code 1. It names the tables behind its address. */
static void put_first(struct world *w, int version, uint8_t address_size)
{
	PUT(&w->abbrev, 1, DW_TAG_compile_unit, 1);
	PUT(&w->info, 1);
	if (version >= 5) {
		PUT(&w->abbrev, DW_AT_low_pc, DW_FORM_addrx);
		PUT(&w->abbrev, DW_AT_rnglists_base, DW_FORM_data1);
		PUT(&w->abbrev, DW_AT_addr_base, DW_FORM_data1);
		PUT(&w->abbrev, DW_AT_str_offsets_base, DW_FORM_data1);
		PUT(&w->info, 0, 12, 8, 8);
	} else {
		PUT(&w->abbrev, DW_AT_low_pc, DW_FORM_addr);
		put(&w->info, 0x1000, address_size);
	}
	PUT(&w->abbrev, DW_AT_stmt_list, DW_FORM_data1, 0, 0);
	PUT(&w->info, 0x77);
}

TEST(entries_have_attributes)
{
	/* clang-format off */
	const struct {
		const char *name;
		const uint8_t *abbrev; /* all but the code */
		size_t abbrev_len;
		const uint8_t *info; /* all but the code */
		size_t info_len;
		const char *wanted;
		bool is_64;
	} rows[] = {
		{ "nothing", BYTES(0x2e, 0, 0, 0), NULL, 0,
		  "tag 2e, 1 bytes\n", false },
		{ "children", BYTES(0x2e, 1, 0, 0), NULL, 0,
		  "tag 2e with children, 1 bytes\n", false },
		{ "numbers",
		  BYTES(0x1d, 0, DW_AT_decl_file, DW_FORM_data1, DW_AT_decl_line, DW_FORM_data2,
			DW_AT_call_file, DW_FORM_udata, DW_AT_call_line, DW_FORM_data1, 0, 0),
		  BYTES(3, 4, 1, 5, 6),
		  "tag 1d, 6 bytes, decl_file 3, decl_line 104, call_file 5, call_line 6\n", false },
		{ "one of several calls on a line",
		  BYTES(0x1d, 0, DW_AT_call_line, DW_FORM_data1, 0xb6,
			0x42, DW_FORM_data2, 0, 0), /* DW_AT_GNU_discriminator */
		  BYTES(6, 2, 1),
		  "tag 1d, 4 bytes, call_line 6, call_discriminator 102\n", false },
		{ "references count from the unit",
		  BYTES(0x1d, 0, DW_AT_sibling, DW_FORM_ref4, DW_AT_abstract_origin, DW_FORM_ref1, 0, 0),
		  BYTES(0x20, 1, 0, 0, 0x10),
		  "tag 1d, 6 bytes, sibling 123, origin 13\n", false },
		{ "references of other forms",
		  BYTES(0x1d, 0, DW_AT_sibling, DW_FORM_ref2, DW_AT_specification, DW_FORM_ref_udata, 0, 0),
		  BYTES(0x20, 1, 0x11),
		  "tag 1d, 4 bytes, sibling 123, origin 14\n", false },
		{ "a reference of 8 bytes", BYTES(0x1d, 0, DW_AT_specification, DW_FORM_ref8, 0, 0),
		  BYTES(0x20, 1, 0, 0, 0, 0, 0, 0),
		  "tag 1d, 9 bytes, origin 123\n", false },
		{ "a reference beyond all", BYTES(0x1d, 0, DW_AT_specification, DW_FORM_ref8, 0, 0),
		  BYTES(0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
		  "tag 1d, 9 bytes\n", false },
		{ "a reference to another unit", BYTES(0x1d, 0, DW_AT_abstract_origin, DW_FORM_ref_addr, 0, 0),
		  BYTES(0x20, 1, 0, 0),
		  "tag 1d, 5 bytes, origin 120\n", false },
		{ "a reference to another file", BYTES(0x1d, 0, DW_AT_abstract_origin, DW_FORM_ref_sup4, 0, 0),
		  BYTES(0x20, 1, 0, 0),
		  "tag 1d, 5 bytes\n", false },
		{ "names", BYTES(0x2e, 0, DW_AT_name, DW_FORM_string, DW_AT_linkage_name, DW_FORM_strp, 0, 0),
		  BYTES('f', 0, 7, 0, 0, 0),
		  "tag 2e, 7 bytes, name f, linkage_name beta\n", false },
		{ "a name of old compilers", BYTES(0x2e, 0, FORM2(0x2007), DW_FORM_string, 0, 0),
		  BYTES('f', 0),
		  "tag 2e, 3 bytes, linkage_name f\n", false },
		{ "names by index", BYTES(0x2e, 0, DW_AT_name, DW_FORM_strx, DW_AT_linkage_name, DW_FORM_strx1, 0, 0),
		  BYTES(1, 0),
		  "tag 2e, 3 bytes, name beta, linkage_name alpha\n", false },
		{ "names by index of 64 bits", BYTES(0x2e, 0, DW_AT_name, DW_FORM_strx4, DW_AT_linkage_name, DW_FORM_strx2, 0, 0),
		  BYTES(1, 0, 0, 0, 0, 0),
		  "tag 2e, 7 bytes, name beta, linkage_name alpha\n", true },
		{ "a name by an index beyond", BYTES(0x2e, 0, DW_AT_name, DW_FORM_strx1, 0, 0),
		  BYTES(2),
		  "tag 2e, 2 bytes\n", false },
		{ "code with an end", BYTES(0x2e, 0, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_addr, 0, 0),
		  BYTES(0, 0x10, 0, 0, 0, 0, 0, 0, 4, 0x10, 0, 0, 0, 0, 0, 0),
		  "tag 2e, 17 bytes, low 1000, high 1004\n", false },
		{ "code with a size", BYTES(0x2e, 0, DW_AT_low_pc, DW_FORM_addrx, DW_AT_high_pc, DW_FORM_data1, 0, 0),
		  BYTES(1, 4),
		  "tag 2e, 3 bytes, low 2000, high 2004\n", false },
		{ "code with indexed ends", BYTES(0x2e, 0, DW_AT_low_pc, DW_FORM_addrx1, DW_AT_high_pc, DW_FORM_addrx4, 0, 0),
		  BYTES(1, 2, 0, 0, 0),
		  "tag 2e, 6 bytes, low 2000, high 2040\n", false },
		{ "an index beyond all addresses", BYTES(0x2e, 0, DW_AT_low_pc, DW_FORM_addrx1, DW_AT_high_pc, DW_FORM_addrx1, 0, 0),
		  BYTES(0, 3),
		  "tag 2e, 3 bytes, low 1000\n", false },
		{ "an index that overflows", BYTES(0x2e, 0, DW_AT_low_pc, DW_FORM_addrx, 0, 0),
		  BYTES(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f),
		  "tag 2e, 10 bytes\n", false },
		{ "a size that overflows", BYTES(0x2e, 0, DW_AT_low_pc, DW_FORM_addrx1, DW_AT_high_pc, DW_FORM_data8, 0, 0),
		  BYTES(0, 0, 0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
		  "tag 2e, 10 bytes, low 1000\n", false },
		{ "ranges", BYTES(0x2e, 0, DW_AT_ranges, DW_FORM_sec_offset, 0, 0),
		  BYTES(0x10, 0, 0, 0),
		  "tag 2e, 5 bytes, ranges 10\n", false },
		{ "ranges by index count from their table", BYTES(0x2e, 0, DW_AT_ranges, DW_FORM_rnglistx, 0, 0),
		  BYTES(1),
		  "tag 2e, 2 bytes, ranges 3c\n", false },
		{ "ranges by index of 64 bits", BYTES(0x2e, 0, DW_AT_ranges, DW_FORM_rnglistx, 0, 0),
		  BYTES(1),
		  "tag 2e, 2 bytes, ranges 3c\n", true },
		{ "ranges by an index beyond", BYTES(0x2e, 0, DW_AT_ranges, DW_FORM_rnglistx, 0, 0),
		  BYTES(2),
		  "tag 2e, 2 bytes\n", false },
		{ "a number in the abbreviation",
		  BYTES(0x2e, 0, DW_AT_decl_line, DW_FORM_implicit_const, 0x80, 1, DW_AT_decl_file, DW_FORM_data1, 0, 0),
		  BYTES(3),
		  "tag 2e, 2 bytes, decl_file 3, decl_line 80\n", false },
		{ "a form among the values", BYTES(0x2e, 0, DW_AT_decl_line, DW_FORM_indirect, DW_AT_decl_file, DW_FORM_data1, 0, 0),
		  BYTES(DW_FORM_data2, 4, 1, 3),
		  "tag 2e, 5 bytes, decl_file 3, decl_line 104\n", false },
		{ "all of them, each once",
		  BYTES(0x1d, 0, DW_AT_call_line, DW_FORM_data1, DW_AT_call_file, DW_FORM_data1,
			DW_AT_decl_line, DW_FORM_data1, DW_AT_decl_file, DW_FORM_data1,
			DW_AT_ranges, DW_FORM_sec_offset, DW_AT_low_pc, DW_FORM_addrx1,
			DW_AT_high_pc, DW_FORM_data1, DW_AT_abstract_origin, DW_FORM_ref1,
			DW_AT_linkage_name, DW_FORM_string, DW_AT_name, DW_FORM_string,
			DW_AT_sibling, DW_FORM_ref1, 0, 0),
		  BYTES(1, 2, 3, 4, 5, 0, 0, 0, 1, 6, 0x10, 'l', 0, 'n', 0, 0x20),
		  EXPECTED_ROW, false },
		{ "a start behind its end", BYTES(0x2e, 0, DW_AT_high_pc, DW_FORM_addrx1, DW_AT_low_pc, DW_FORM_addrx1, 0, 0),
		  BYTES(2, 1),
		  "tag 2e, 3 bytes, low 2000, high 2040\n", false },
		{ "form 0 is not the end", BYTES(0x2e, 0, DW_AT_decl_line, 0, 0, 0), BYTES(1),
		  "no entry\n", false },
		{ "attribute 0 is not the end", BYTES(0x2e, 0, 0, DW_FORM_data1, DW_AT_decl_line, DW_FORM_data1, 0, 0),
		  BYTES(1, 9),
		  "tag 2e, 3 bytes, decl_line 9\n", false },
		{ "what nobody asks for", BYTES(0x34, 0, 2, DW_FORM_exprloc, 0x49, DW_FORM_ref4, DW_AT_decl_line, DW_FORM_data1, 0, 0),
		  BYTES(2, 0x91, 0, 1, 1, 1, 1, 9),
		  "tag 34, 9 bytes, decl_line 9\n", false },
		{ "an unknown form", BYTES(0x2e, 0, DW_AT_decl_line, 0x7f, 0, 0),
		  BYTES(1), "no entry\n", false },
		{ "an abbreviation without end", BYTES(0x2e, 0, DW_AT_decl_line, DW_FORM_data1),
		  BYTES(1), "no entry\n", false },
		{ "a value without end", BYTES(0x2e, 0, DW_AT_decl_line, DW_FORM_data8, 0, 0),
		  BYTES(1), "no entry\n", false },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		struct world w = { 0 };
		size_t start = put_unit_header(&w, 5, rows[i].is_64, 8), entry;
		struct text t;

		put_tables(&w, rows[i].is_64, 8);
		put_first(&w, 5, 8);
		entry = w.info.len;
		PUT(&w.info, 2);
		PUT(&w.abbrev, 2);
		for (size_t n = 0; n < rows[i].abbrev_len; n++)
			put(&w.abbrev, rows[i].abbrev[n], 1);
		for (size_t n = 0; n < rows[i].info_len; n++)
			put(&w.info, rows[i].info[n], 1);
		open_unit(&w, start, rows[i].is_64);
		assert_int_equal(w.unit.low, 0x1000);
		assert_int_equal(w.unit.line_table, 0x77);
		write_die(text_begin(&t), &w, entry);
		text_must_be(&t, rows[i].name, rows[i].wanted);
		pp_dwarf_unit_close(&w.unit);
	}
}

/* Codes of abbreviations need not count from 1 on; entries are read anywhere
 * in the unit, and nowhere else. */
TEST(entries_have_codes)
{
	struct world w = { 0 };
	size_t start = put_unit_header(&w, 4, false, 8), first = w.info.len;
	struct text t;
	FILE *out = text_begin(&t);

	PUT(&w.abbrev, 9, DW_TAG_compile_unit, 1, 0, 0);
	PUT(&w.abbrev, 2, DW_TAG_subprogram, 0, 0, 0);
	PUT(&w.abbrev, FORM2(300), DW_TAG_namespace, 1, 0, 0);
	PUT(&w.abbrev, 5, DW_TAG_module, 0, 0, 0);
	PUT(&w.abbrev, 8, DW_TAG_module, 0, 0, 0, 0); /* a header's last byte */
	PUT(&w.abbrev, 4, DW_TAG_module, 0, 0, 0); /* behind the end */
	PUT(&w.info, 9, 2, FORM2(300), 5, 0, 1, 3, 4);
	open_unit(&w, start, false);
	assert_int_equal(w.unit.table.nr, 5);
	for (size_t at = first - 1; at <= w.unit.end; at++) {
		fprintf(out, "%zd: ", (ssize_t)(at - first));
		write_die(out, &w, at);
	}
	text_must_be(&t, "codes", EXPECTED_ROW);
	pp_dwarf_unit_close(&w.unit);
	assert_null(w.unit.table.list);
	assert_int_equal(w.unit.table.nr, 0);
}

/* What nobody asks for is one value of an abbreviation, unless its length
 * differs from entry to entry. */
TEST(unwanted_values_are_jumped_over)
{
	static const struct {
		uint8_t form;
		size_t nr; /* of values, with the sibling */
		uint32_t sibling, len;
		uint8_t at; /* where the sibling is in the entry */
	} rows[] = {
		{ DW_FORM_data4, 3, 7, 10, 7 },
		{ DW_FORM_data16, 3, 19, 22, 19 },
		{ DW_FORM_flag_present, 3, 3, 6, 3 },
		{ DW_FORM_implicit_const, 3, 3, 6, 3 },
		{ DW_FORM_udata, 5, PP_ANY_LENGTH, PP_ANY_LENGTH, 5 },
		{ DW_FORM_string, 5, PP_ANY_LENGTH, PP_ANY_LENGTH, 4 },
		{ DW_FORM_exprloc, 5, PP_ANY_LENGTH, PP_ANY_LENGTH, 11 },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct world w = { 0 };
		size_t start = put_unit_header(&w, 4, false, 8);
		size_t first = w.info.len;
		const struct pp_abbrev *abbrev;
		uint8_t values[32] = { 0x81, 2 };
		struct pp_die die;

		/* A number of two bytes, or the length of an expression. */
		values[2] = rows[i].form == DW_FORM_udata     ? 0x80
			    : rows[i].form == DW_FORM_exprloc ? 7
							      : 0;
		values[rows[i].at] = 0x44;
		PUT(&w.abbrev, 1, DW_TAG_subprogram, 0);
		PUT(&w.abbrev, DW_AT_external, DW_FORM_data2);
		PUT(&w.abbrev, DW_AT_const_value, rows[i].form);
		if (rows[i].form == DW_FORM_implicit_const)
			PUT(&w.abbrev, 5);
		PUT(&w.abbrev, DW_AT_external, DW_FORM_data1);
		PUT(&w.abbrev, DW_AT_sibling, DW_FORM_ref1);
		PUT(&w.abbrev, DW_AT_external, DW_FORM_data2, 0, 0, 0);
		PUT(&w.info, 1);
		for (size_t at = 0; at < sizeof(values); at++)
			PUT(&w.info, values[at]);
		open_unit(&w, start, false);
		abbrev = pp_abbrevs_find(&w.unit.table, 1);
		assert_int_equal(abbrev->nr, rows[i].nr);
		assert_int_equal(abbrev->sibling.at, rows[i].sibling);
		assert_int_equal(abbrev->len, rows[i].len);
		assert_true(pp_die_read(&w.dwarf, &w.unit, first, &die));
		assert_int_equal(die.next, first + 1 + rows[i].at + 3u);
		assert_int_equal(die.sibling, w.unit.start + 0x44);
		skim_as_read(&w, first);
		/* An entry that is cut off is none. */
		w.unit.end = die.next - 1;
		skim_as_read(&w, first);
		assert_false(pp_die_read(&w.dwarf, &w.unit, first, &die));
		pp_dwarf_unit_close(&w.unit);
	}
}

/* The first entry needs one abbreviation, wherever that stands. */
TEST(first_entries_need_one_abbreviation)
{
	struct world w = { 0 };
	size_t start = put_unit_header(&w, 4, false, 8);

	PUT(&w.abbrev, 1, DW_TAG_subprogram, 0, DW_AT_external,
	    DW_FORM_implicit_const, 0x7f, 0, 0);
	PUT(&w.abbrev, 7, DW_TAG_compile_unit, 1, DW_AT_low_pc, DW_FORM_addr, 0,
	    0);
	PUT(&w.abbrev, 2, DW_TAG_module, 0, 0, 0, 0);
	PUT(&w.info, 7, 1, 2, 3, 4, 0, 0, 0, 0);
	open_unit(&w, start, false);
	pp_dwarf_unit_close(&w.unit);
	w.unit.low = 0;
	assert_int_equal(pp_dwarf_unit_open_first(&w.dwarf, &w.unit), 0);
	assert_int_equal(w.unit.table.nr, 1);
	assert_int_equal(w.unit.table.list[0].tag, DW_TAG_compile_unit);
	assert_int_equal(w.unit.low, 0x4030201);
	pp_dwarf_unit_close(&w.unit);
}

/* The last byte of a unit may begin a code. */
TEST(codes_end_in_the_unit)
{
	struct world w = { 0 };
	size_t start = put_unit_header(&w, 4, false, 8), first = w.info.len;
	struct pp_die die;

	PUT(&w.abbrev, FORM2(0x480), DW_TAG_subprogram, 0, 0, 0, 0);
	PUT(&w.info, 0x80);
	open_unit(&w, start, false);
	assert_int_equal(w.unit.table.nr, 1);
	assert_false(pp_die_read(&w.dwarf, &w.unit, first, &die));
	pp_dwarf_unit_close(&w.unit);
}

/* A unit without abbreviations, and one whose last is cut off. */
TEST(abbreviations_may_be_missing)
{
	static const struct {
		size_t len, nr;
	} rows[] = { { 0, 0 }, { 1, 0 },  { 2, 0 },
		     { 5, 1 }, { 11, 1 }, { 12, 2 } };

	for (size_t i = 0; i < NR(rows); i++) {
		struct world w = { 0 };
		size_t start = put_unit_header(&w, 4, false, 8);
		size_t first = w.info.len;
		struct pp_die die;

		PUT(&w.abbrev, 1, DW_TAG_compile_unit, 1, 0, 0);
		PUT(&w.abbrev, 2, DW_TAG_subprogram, 0, 3, 8, 0, 0, 0);
		PUT(&w.info, 1, 2, 'x', 0);
		w.abbrev.len = rows[i].len;
		open_unit(&w, start, false);
		assert_int_equal(w.unit.table.nr, rows[i].nr);
		assert_int_equal(pp_die_read(&w.dwarf, &w.unit, first, &die),
				 rows[i].nr >= 1);
		assert_int_equal(pp_die_read(&w.dwarf, &w.unit, first + 1,
					     &die),
				 rows[i].nr >= 2);
		pp_dwarf_unit_close(&w.unit);
	}
}

/* ---- ranges -------------------------------------------------------------- */

static void write_ranges(FILE *out, const struct world *w,
			 const struct pp_die *die)
{
	struct pp_die_ranges ranges;
	uint64_t low, high;

	pp_die_ranges_init(&ranges, &w->dwarf, &w->unit, die);
	while (pp_die_ranges_next(&ranges, &low, &high))
		fprintf(out, "%llx-%llx ", (unsigned long long)low,
			(unsigned long long)high);
	/* The end stays the end. */
	assert_true(ranges.is_list ||
		    !pp_die_ranges_next(&ranges, &low, &high));
}

TEST(lists_have_ranges)
{
#define A(low) 0, (low), 0, 0 /* an address of 4 bytes below 0x10000 */
	/* clang-format off */
	const struct {
		const char *name;
		int version;
		uint8_t address_size;
		const uint8_t *bytes;
		size_t len;
		const char *wanted;
	} rows[] = {
		{ "pairs count from the unit", 4, 1, BYTES(0x10, 0x20, 0x30, 0x38, 0, 0, 1, 2), "1010-1020 1030-1038 " },
		{ "empty pairs, and backward ones", 4, 1, BYTES(4, 4, 9, 8, 0, 2, 0, 0), "1000-1002 " },
		{ "pairs from a new base", 4, 1, BYTES(1, 2, 0xff, 0x50, 1, 2, 0xff, 0, 3, 4, 0, 0), "1001-1002 51-52 3-4 " },
		{ "pairs of 2 bytes", 3, 2, BYTES(1, 0, 2, 0, 0xff, 0, 0, 1, 0xff, 0xff, 0, 9, 1, 0, 2, 0, 0, 0, 0, 0), "1001-1002 10ff-1100 901-902 " },
		{ "pairs of 8 bytes", 4, 8,
		  BYTES(1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0,
			255, 255, 255, 255, 255, 255, 255, 255, 9, 0, 0, 0, 0, 0, 0, 0,
			1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0), "1001-1002 a-b " },
		{ "pairs without end", 4, 1, BYTES(1, 2, 3), "1001-1002 " },
		{ "no pairs", 4, 1, BYTES(0, 0, 1, 2), "" },
		{ "a list's offsets count from the unit", 5, 4, BYTES(4, 1, 2, 4, 3, 0x80, 1, 0, 4, 5, 6), "1001-1002 1003-1080 " },
		{ "from a new base", 5, 4, BYTES(5, A(0x50), 4, 1, 2, 1, 1, 4, 3, 4, 0), "5001-5002 2003-2004 " },
		{ "two addresses", 5, 4, BYTES(6, A(0x30), A(0x31), 4, 1, 2, 0), "3000-3100 1001-1002 " },
		{ "an address and a length", 5, 4, BYTES(7, A(0x30), 0x80, 1, 0), "3000-3080 " },
		{ "two indices", 5, 4, BYTES(2, 0, 1, 2, 1, 2, 0), "1000-2000 2000-2040 " },
		{ "an index and a length", 5, 4, BYTES(3, 2, 8, 0), "2040-2048 " },
		{ "empty ones are no end", 5, 4, BYTES(4, 1, 1, 3, 1, 0, 4, 7, 8, 0), "1007-1008 " },
		{ "a base that is not there", 5, 4, BYTES(4, 1, 2, 1, 3, 4, 1, 2, 0), "1001-1002 " },
		{ "a start that is not there", 5, 4, BYTES(4, 1, 2, 2, 3, 1, 4, 1, 2, 0), "1001-1002 " },
		{ "an end that is not there", 5, 4, BYTES(4, 1, 2, 2, 1, 3, 4, 1, 2, 0), "1001-1002 " },
		{ "a start with a length that is not there", 5, 4, BYTES(4, 1, 2, 3, 3, 1, 4, 1, 2, 0), "1001-1002 " },
		{ "an unknown entry", 5, 4, BYTES(4, 1, 2, 8, 4, 1, 2, 0), "1001-1002 " },
		{ "cut off", 5, 4, BYTES(4, 1, 2, 4, 1), "1001-1002 " },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		bool is_list = rows[i].version >= 5;
		struct world w = { 0 };
		size_t start = put_unit_header(&w, rows[i].version, false,
					       rows[i].address_size);
		struct pp_die die = { .has_ranges = true,
				      .has_low = true,
				      .has_high = true,
				      .high = 1 };
		struct section *list = is_list ? &w.rnglists : &w.ranges;
		struct text t;

		put_tables(&w, false, rows[i].address_size);
		put_first(&w, rows[i].version, rows[i].address_size);
		die.ranges = list->len;
		for (size_t n = 0; n < rows[i].len; n++)
			put(list, rows[i].bytes[n], 1);
		open_unit(&w, start, false);
		w.unit.low = 0x1000; /* more than an address of 1 byte holds */
		write_ranges(text_begin(&t), &w, &die);
		text_must_be(&t, rows[i].name, rows[i].wanted);
		pp_dwarf_unit_close(&w.unit);
	}
}

TEST(code_is_one_range)
{
	/* clang-format off */
	static const struct {
		const char *name;
		struct pp_die die;
		const char *wanted;
	} rows[] = {
		{ "both ends", { .has_low = true, .has_high = true, .low = 5, .high = 6 }, "5-6 " },
		{ "no end", { .has_low = true, .low = 5, .high = 6 }, "" },
		{ "no start", { .has_high = true, .low = 5, .high = 6 }, "" },
		{ "empty", { .has_low = true, .has_high = true, .low = 5, .high = 5 }, "" },
		{ "backward", { .has_low = true, .has_high = true, .low = 5, .high = 4 }, "" },
	};
	/* clang-format on */
	struct world w = { 0 };

	world_sections(&w);
	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;

		write_ranges(text_begin(&t), &w, &rows[i].die);
		text_must_be(&t, rows[i].name, rows[i].wanted);
	}
}
