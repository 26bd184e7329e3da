// SPDX-License-Identifier: GPL-2.0-or-later
/* What each format writes of a report: every row is a report, options and the
 * whole text. doc/reports.md says what is to be written. */

#include "tests/unit/pp_report.h"

#include "libop/base/op_json.h"
#include "libpp/format/text/text.h"
#include "libpp/tree/tree.h"

/* ---- values -------------------------------------------------------------- */

TEST(shares_have_seven_characters)
{
	static const struct {
		double percent;
		const char *text;
	} rows[] = {
		{ 0, "      0" },	 { 100, "100.000" },
		{ 99.99994, "99.9999" }, { 99.99996, "100.000" },
		{ 5, " 5.0000" },	 { 0.00101, " 0.0010" },
		{ 0.001, "1.0e-03" },	 { 0.00099, "9.9e-04" },
		{ 1e-12, "1.0e-12" },	 { -5, "-5.0000" },
		{ -0.001, "-1.0e-03" },	 { -0.0011, "-0.0011" },
		{ 1000, "1000.0000" },
	};
	char buf[PP_PERCENT_LEN];

	for (size_t i = 0; i < NR(rows); i++)
		assert_string_equal(pp_text_percent(buf, rows[i].percent),
				    rows[i].text);
	assert_true(pp_percent(1, 4) == 25);
	assert_true(pp_percent(1, 0) == 0);
	assert_true(pp_percent(7, 7) == 100);
	/* A threshold of 29 % is reached by 29 of 100. */
	for (uint64_t i = 0; i <= 100; i++)
		assert_true(pp_percent(i, 100) == (double)i);
}

TEST(addresses_have_8_or_16_digits)
{
	static const struct {
		uint64_t vma, detail;
		int digits;
	} rows[] = {
		{ 0, 0, 8 },
		{ UINT32_MAX, 0, 8 },
		{ UINT32_MAX, UINT32_MAX, 8 },
		{ 1ull << 32, 0, 16 },
		{ 0, 1ull << 32, 16 },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		const struct pp_detail details[] = {
			{ .vma = 1 }, { .vma = rows[i].detail }
		};
		const struct pp_symbol_entry entries[] = {
			{ .vma = rows[i].vma },
			{ .details = details,
			  .nr_details = rows[i].detail ? 2 : 0 },
		};
		const struct pp_report report = { .symbols.list = entries,
						  .symbols.nr = 2 };

		assert_int_equal(pp_vma_digits(&report), rows[i].digits);
	}
	assert_int_equal(pp_vma_digits(&(struct pp_report){ 0 }), 8);
}

TEST(formats_have_names)
{
	static const char *const names[] = {
		"text",	  "xml",	"json",	   "csv",
		"folded", "flamegraph", "pprof",   "speedscope",
		"html",	  "callgrind",	"firefox", "autofdo"
	};
	char buf[PP_FORMAT_NAMES_LEN];
	struct text t;
	FILE *out = text_begin(&t);

	for (size_t i = 0; i < NR(names); i++) {
		const struct pp_format *f = pp_format_find(names[i]);

		fprintf(out, "%s%s%s%s%s%s%s %u%s%s\n", f->name,
			f->flags & PP_SHOWS_AXES ? " axes" : "",
			f->flags & PP_NEEDS_SYMBOLS ? " image" : "",
			f->flags & PP_SHOWS_TREE ? " tree" : "",
			f->flags & PP_SHOWS_FLAT ? " flat" : "",
			f->flags & PP_NEEDS_NAMES ? " name" : "",
			f->flags & PP_NEEDS_ONE_CLASS ? " one" : "",
			f->tree_max_nodes,
			f->flags & PP_SHOWS_LOSS ? "" : " silent",
			f->flags & PP_NEEDS_FILE ? " page" : "");
	}
	text_must_be(&t, "formats", EXPECTED("formats-have-names"));
	assert_string_equal(
		pp_format_names(buf),
		"text, xml, json, csv, folded, flamegraph, pprof, speedscope, html, callgrind, firefox or autofdo");
	assert_null(pp_format_find("Text"));
	assert_null(pp_format_find(""));
}

/* ---- tables -------------------------------------------------------------- */

struct written {
	const char *name;
	unsigned int flags;
	struct pp_format_options options;
	const char *text;
	const char *from, *to; /* if not NULL: the text is of what is written
				  from the first to the second */
};

/* Leave only the part of @t that is looked at. */
static void cut_out(struct text *t, const struct written *row)
{
	const char *from, *to;

	assert_int_equal(fclose(t->out), 0);
	from = row->from ? strstr(t->all, row->from) : t->all;
	assert_non_null(from);
	to = row->to ? strstr(from, row->to) : from + strlen(from);
	assert_non_null(to);
	from = strndup(from, (size_t)(to - from));
	free(t->all);
	fputs(from, text_begin(t));
	free((char *)from);
}

static void write_rows(const struct written *rows, size_t nr,
		       int (*write)(FILE *out, const struct pp_report *report,
				    const struct pp_format_options *options))
{
	for (size_t i = 0; i < nr; i++) {
		struct made_report m;
		struct text t;

		make_report(&m, rows[i].flags);
		assert_int_equal(
			write(text_begin(&t), &m.report, &rows[i].options), 0);
		cut_out(&t, &rows[i]);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}

#define BARE .no_header = true

TEST(text_is_written)
{
	/* clang-format off */
	static const struct written rows[] = {
		{ "summary", 0, { 0 }, .text =
		  EXPECTED("summary") },
		{ "summary of two", TWO, { 0 }, .text =
		  EXPECTED("summary-of-two") },
		{ "summary without header", TWO, { BARE }, .text = EXPECTED_ROW },
		{ "summary, paths", 0, { BARE, .long_names = true }, .text = EXPECTED_ROW },
		{ "summary, global", 0, { BARE, .global_percent = true }, .text = EXPECTED_ROW },
		{ "summary, intervals", INTERVALS | TWO, { 0 }, .text =
		  EXPECTED("summary-intervals") },
		{ "symbols", SYMBOLS, { 0 },
		  .from = "samples", .text = EXPECTED_AS("symbols, 1") },
		{ "symbols of two", SYMBOLS | TWO, { 0 }, .text = EXPECTED_ROW },
		{ "symbols without header", SYMBOLS | TWO, { BARE }, .text = EXPECTED_ROW },
		{ "symbols of applications", SYMBOLS | MANY_APPS, { .long_names = true },
		  .from = "samples", .text = EXPECTED_ROW },
		{ "symbols, addresses", SYMBOLS, { .show_address = true },
		  .from = "vma", .text = EXPECTED_ROW },
		{ "symbols, long addresses", SYMBOLS | BIG, { .show_address = true },
		  .from = "vma", .text = EXPECTED_ROW },
		{ "symbols, lines", SYMBOLS | LINES, { 0 },
		  .from = "samples", .text = EXPECTED_ROW },
		{ "symbols, paths of lines", SYMBOLS | LINES, { BARE, .long_names = true }, .text = EXPECTED_ROW },
		{ "symbols, running sums", SYMBOLS | TWO, { .accumulated = true },
		  .from = "samples", .text = EXPECTED_ROW },
		{ "symbols, intervals", SYMBOLS | INTERVALS, { 0 },
		  .from = "samples", .text = EXPECTED_ROW },
		{ "details", SYMBOLS | DETAILS, { .show_address = true },
		  .from = "vma", .text = EXPECTED_AS("details, 1") },
		{ "details, all there is", SYMBOLS | DETAILS | LINES | TWO | INTERVALS | MANY_APPS, { .show_address = true, .accumulated = true, .global_percent = true },
		  .from = "vma", .text = EXPECTED_ROW },
		{ "details, running sums", SYMBOLS | DETAILS, { BARE, .accumulated = true }, .text = EXPECTED_ROW },
		{ "changes", SYMBOLS | DIFF, { 0 },
		  .from = "samples", .text = EXPECTED_AS("changes, 1") },
		{ "changes, intervals", SYMBOLS | DIFF | INTERVALS, { .accumulated = true },
		  .from = "samples", .text = EXPECTED_AS("changes, intervals, 1") },
		{ "changes of two", SYMBOLS | DIFF | TWO, { BARE }, .text = EXPECTED_ROW },
		{ "call graph", CALLS, { 0 },
		  .from = "samples", .text =
		  EXPECTED("call-graph") },
		{ "call graph, all there is", CALLS | TWO | LINES, { .accumulated = true, .global_percent = true },
		  .from = "samples", .text =
		  EXPECTED("call-graph-all-there-is") },
		{ "account", SYMBOLS | ACCOUNT, { 0 },
		  .from = "Samples:", .to = "samples", .text = "Samples: 1010 = 1000 + 10 (8 buffer_full, 2 no_mm)\n" },
	};
	/* clang-format on */

	write_rows(rows, NR(rows), pp_format_text);
}

TEST(csv_is_written)
{
	/* clang-format off */
	static const struct written rows[] = {
		{ "summary", TWO, { 0 }, .text = EXPECTED_ROW },
		{ "summary, intervals", INTERVALS, { 0 }, .text = EXPECTED_AS("summary, intervals, 1") },
		{ "without header", ACCOUNT, { BARE }, .text = EXPECTED_ROW },
		{ "account", ACCOUNT, { 0 },
		  .from = "1,taken", .text = EXPECTED_AS("account, 1") },
		{ "symbols", SYMBOLS | LINES | TWO, { 0 }, .text = EXPECTED_AS("symbols, 2") },
		{ "details", SYMBOLS | DETAILS | LINES | TWO, { BARE }, .text =
		  EXPECTED("details") },
		{ "changes", SYMBOLS | DIFF | TWO, { 0 }, .text = EXPECTED_AS("changes, 2") },
		{ "changes, intervals", SYMBOLS | DIFF | INTERVALS, { 0 }, .text = EXPECTED_AS("changes, intervals, 2") },
		{ "call graph", CALLS | TWO, { 0 }, .text =
		  EXPECTED("call-graph-2") },
	};
	/* clang-format on */

	write_rows(rows, NR(rows), pp_format_csv);
}

TEST(json_is_written)
{
	/* clang-format off */
	static const struct written rows[] = {
		{ "summary", TWO, { 0 }, .text =
		  EXPECTED("summary-2") },
		{ "summary, intervals", INTERVALS, { 0 },
		  .from = " \"applications\"", .text = EXPECTED_AS("summary, intervals, 2") },
		{ "account", ACCOUNT, { BARE },
		  .from = " \"account\"", .to = " \"applications\"", .text = EXPECTED_AS("account, 2") },
		{ "symbols", SYMBOLS | LINES, { 0 }, .text =
		  EXPECTED("symbols") },
		{ "details", SYMBOLS | DETAILS | LINES, { 0 },
		  .from = " \"symbols\"", .text = EXPECTED_AS("details, 2") },
		{ "changes", SYMBOLS | DIFF | TWO, { 0 },
		  .from = " \"classes\"", .text =
		  EXPECTED("changes") },
		{ "changes, intervals", SYMBOLS | DIFF | INTERVALS, { 0 },
		  .from = " \"symbols\"", .text = EXPECTED_AS("changes, intervals, 3") },
		{ "call graph", CALLS, { 0 },
		  .from = " \"symbols\"", .text = EXPECTED_ROW },
	};
	/* clang-format on */

	write_rows(rows, NR(rows), pp_format_json);
}

TEST(xml_is_written)
{
	/* clang-format off */
	static const struct written rows[] = {
		{ "symbols", SYMBOLS, { 0 }, .text =
		  EXPECTED("symbols-2") },
		{ "symbols of two", SYMBOLS | TWO, { .command = "opreport -X <a> ", .words = "tgid:1" }, .text =
		  EXPECTED("symbols-of-two") },
		{ "options", 0, { .words = "w", .exclude_symbols = "e", .include_symbols = "i", .image_path = "p", .merge = "m", .exclude_dependent = true },
		  .from = "<options", .to = "<setup>", .text = "<options  session=\"w\" excludedependent=\"true\" excludesymbols=\"e\" imagepath=\"p\" includesymbols=\"i\" merge=\"m\"/>\n" },
		{ "option words", 0, { .words = "w" },
		  .from = "<options", .to = "<setup>", .text = "<options  session=\"w\"/>\n" },
		{ "option -e", 0, { .exclude_symbols = "e" },
		  .from = "<options", .to = "<setup>", .text = "<options  excludesymbols=\"e\"/>\n" },
		{ "option -i", 0, { .include_symbols = "i" },
		  .from = "<options", .to = "<setup>", .text = "<options  includesymbols=\"i\"/>\n" },
		{ "option -p", 0, { .image_path = "p" },
		  .from = "<options", .to = "<setup>", .text = "<options  imagepath=\"p\"/>\n" },
		{ "option -m", 0, { .merge = "m" },
		  .from = "<options", .to = "<setup>", .text = "<options  merge=\"m\"/>\n" },
		{ "option -x", 0, { .exclude_dependent = true },
		  .from = "<options", .to = "<setup>", .text = "<options  excludedependent=\"true\"/>\n" },
		{ "account", ACCOUNT, { 0 },
		  .from = "<account", .to = "<symboltable", .text = EXPECTED_AS("account, 3") },
		{ "lines", SYMBOLS | LINES, { 0 },
		  .from = "<symboltable>", .to = "</profile>", .text = EXPECTED_ROW },
		{ "details", SYMBOLS | DETAILS | LINES | CODE | BIG, { 0 },
		  .from = "<options", .to = "</profile>", .text =
		  EXPECTED("details-2") },
		{ "details of two", SYMBOLS | DETAILS | TWO, { 0 },
		  .from = "<options", .to = "</profile>", .text =
		  EXPECTED("details-of-two") },
		{ "call graph", CALLS | TWO, { 0 },
		  .from = "<binary", .to = "<symboltable>", .text =
		  EXPECTED("call-graph-3") },
	};
	/* clang-format on */

	write_rows(rows, NR(rows), pp_format_xml);
}

/* Texts are numbers, and counts are lists of class and count. */
TEST(html_is_written)
{
	/* clang-format off */
	static const struct written rows[] = {
		{ "page: events and applications", SYMBOLS | TWO | BIG, { 0 },
		  .from = " \"events\"", .to = " \"symbols\"", .text =
		  EXPECTED("page-events-and-applications") },
		{ "page: symbols", SYMBOLS | TWO | BIG, { 0 },
		  .from = " \"symbols\"", .to = "</script", .text =
		  EXPECTED("page-symbols") },
		{ "page: a comparison", SYMBOLS | DIFF | INTERVALS, { 0 },
		  .from = "  \"counts\"", .to = " \"whole_names\"", .text = EXPECTED_ROW },
		{ "page: what was asked for", 0, { .command = "opreport </script>" },
		  .from = " \"title\"", .to = " \"cpu\"", .text = EXPECTED_ROW },
	};
	/* clang-format on */

	write_rows(rows, NR(rows), pp_format_html);
}
