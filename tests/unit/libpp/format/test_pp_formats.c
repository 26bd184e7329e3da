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
		  .from = "samples", .text =
		  "samples  %        image name               symbol name\n"
		  "600      60.0000  prog                     main\n"
		  "399      39.9000  libc.so                  f<a&, \"b\">\n"
		  "1         0.1000  other                    /opt/other\n" },
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
		  .from = "vma", .text =
		  "vma      samples  %        image name               symbol name\n"
		  "00401000 600      60.0000  prog                     main\n"
		  "  00401000 100      16.6667\n"
		  "  00401008 500      83.3333\n"
		  "00001000 399      39.9000  libc.so                  f<a&, \"b\">\n"
		  "  00001001 399      100.000\n"
		  "00000000 1         0.1000  other                    /opt/other\n" },
		{ "details, all there is", SYMBOLS | DETAILS | LINES | TWO | INTERVALS | MANY_APPS, { .show_address = true, .accumulated = true, .global_percent = true },
		  .from = "vma", .text = EXPECTED_ROW },
		{ "details, running sums", SYMBOLS | DETAILS, { BARE, .accumulated = true }, .text = EXPECTED_ROW },
		{ "changes", SYMBOLS | DIFF, { 0 },
		  .from = "samples", .text =
		  "samples  %        diff %    image name               symbol name\n"
		  "600      60.0000  +20.0000  prog                     main\n"
		  "399      39.9000  +++       libc.so                  f<a&, \"b\">\n"
		  "7        ---      ---       other                    /opt/other\n" },
		{ "changes, intervals", SYMBOLS | DIFF | INTERVALS, { .accumulated = true },
		  .from = "samples", .text =
		  "samples  cum. samples  %        95% interval      cum. %     diff %    95% interval          sig. image name               symbol name\n"
		  "600      600           60.0000  56.9309-62.9925   60.0000    +20.0000  +10.5000..+30.0000    *    prog                     main\n"
		  "399      999           39.9000  36.9091-42.9682   99.9000    +++       +5.0000..+++               libc.so                  f<a&, \"b\">\n"
		  "7        ---           ---      ---               ---        ---       -100.0000..-20.0000   *    other                    /opt/other\n" },
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
		{ "summary, intervals", INTERVALS, { 0 }, .text =
		  "version,row,class,application,image,symbol,address,file,line,samples,percent,percent_low,percent_high\n"
		  "1,image,cpu:0,/usr/bin/prog,/usr/bin/prog,,,,,600,60,56.930943,62.9925219\n"
		  "1,image,cpu:0,/usr/bin/prog,/lib/libc.so,,,,,399,39.9,36.9091251,42.9681754\n"
		  "1,image,cpu:0,/opt/other,/opt/other,,,,,1,0.1,0.0176546371,0.56425586\n" },
		{ "without header", ACCOUNT, { BARE }, .text = EXPECTED_ROW },
		{ "account", ACCOUNT, { 0 },
		  .from = "1,taken", .text =
		  "1,taken,,,,,,,,1010\n"
		  "1,stored,,,,,,,,1000\n"
		  "1,pending,,,,,,,,0\n"
		  "1,lost,,,,buffer_full,,,,8\n"
		  "1,lost,,,,nothing,,,,0\n"
		  "1,lost,,,,no_mm,,,,2\n" },
		{ "symbols", SYMBOLS | LINES | TWO, { 0 }, .text =
		  "version,row,class,application,image,symbol,address,file,line,samples,percent\n"
		  "1,symbol,cpu:0,/usr/bin/prog,/usr/bin/prog,main,0x401000,/src/dir/main.c,12,600,60\n"
		  "1,symbol,cpu:12 and a long name,/usr/bin/prog,/usr/bin/prog,main,0x401000,/src/dir/main.c,12,3,37.5\n"
		  "1,symbol,cpu:0,/usr/bin/prog,/lib/libc.so,\"f<a&, \"\"b\"\">\",0x1000,,,399,39.9\n"
		  "1,symbol,cpu:12 and a long name,/usr/bin/prog,/lib/libc.so,\"f<a&, \"\"b\"\">\",0x1000,,,5,62.5\n"
		  "1,symbol,cpu:0,/opt/other,/opt/other,/opt/other,,,,1,0.1\n" },
		{ "details", SYMBOLS | DETAILS | LINES | TWO, { BARE }, .text =
		  EXPECTED("details") },
		{ "changes", SYMBOLS | DIFF | TWO, { 0 }, .text =
		  "version,row,class,application,image,symbol,address,file,line,samples,percent,old_samples,old_percent,change_percent\n"
		  "1,symbol,cpu:0,/usr/bin/prog,/usr/bin/prog,main,0x401000,,,600,60,1000,50,20\n"
		  "1,symbol,cpu:12 and a long name,/usr/bin/prog,/usr/bin/prog,main,0x401000,,,3,37.5,0,0,0\n"
		  "1,symbol,cpu:0,/usr/bin/prog,/lib/libc.so,\"f<a&, \"\"b\"\">\",0x1000,,,399,39.9,0,0,\n"
		  "1,symbol,cpu:12 and a long name,/usr/bin/prog,/lib/libc.so,\"f<a&, \"\"b\"\">\",0x1000,,,5,62.5,0,0,\n"
		  "1,symbol,cpu:0,/opt/other,/opt/other,/opt/other,,,,1,0.1,7,0.35,-100\n" },
		{ "changes, intervals", SYMBOLS | DIFF | INTERVALS, { 0 }, .text =
		  "version,row,class,application,image,symbol,address,file,line,samples,percent,percent_low,percent_high,old_samples,old_percent,change_percent,change_low,change_high,p,significant\n"
		  "1,symbol,cpu:0,/usr/bin/prog,/usr/bin/prog,main,0x401000,,,600,60,56.930943,62.9925219,1000,50,20,10.5,30,1e-05,1\n"
		  "1,symbol,cpu:0,/usr/bin/prog,/lib/libc.so,\"f<a&, \"\"b\"\">\",0x1000,,,399,39.9,36.9091251,42.9681754,0,0,,5,,0.03,0\n"
		  "1,symbol,cpu:0,/opt/other,/opt/other,/opt/other,,,,1,0.1,0.0176546371,0.56425586,7,0.35,-100,-100,-20,0.04,1\n" },
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
		  .from = " \"applications\"", .text =
		  " \"applications\": [\n"
		  "  {\"application\": \"/usr/bin/prog\", \"samples\": [999], \"percent\": [99.9], \"percent_interval\": [[99.4357441, 99.9823454]], \"images\": [{\"image\": \"/usr/bin/prog\", \"samples\": [600], \"percent\": [60], \"percent_interval\": [[56.930943, 62.9925219]]}, {\"image\": \"/lib/libc.so\", \"samples\": [399], \"percent\": [39.9], \"percent_interval\": [[36.9091251, 42.9681754]]}]},\n"
		  "  {\"application\": \"/opt/other\", \"samples\": [1], \"percent\": [0.1], \"percent_interval\": [[0.0176546371, 0.56425586]], \"images\": [{\"image\": \"/opt/other\", \"samples\": [1], \"percent\": [0.1], \"percent_interval\": [[0.0176546371, 0.56425586]]}]}\n"
		  " ]\n"
		  "}\n" },
		{ "account", ACCOUNT, { BARE },
		  .from = " \"account\"", .to = " \"applications\"", .text =
		  " \"account\": {\n"
		  "  \"source\": \"file\",\n"
		  "  \"taken\": 1010,\n"
		  "  \"stored\": 1000,\n"
		  "  \"pending\": 0,\n"
		  "  \"lost\": 10,\n"
		  "  \"causes\": {\"buffer_full\": 8, \"nothing\": 0, \"no_mm\": 2}\n"
		  " },\n" },
		{ "symbols", SYMBOLS | LINES, { 0 }, .text =
		  EXPECTED("symbols") },
		{ "details", SYMBOLS | DETAILS | LINES, { 0 },
		  .from = " \"symbols\"", .text =
		  " \"symbols\": [\n"
		  "  {\"application\": \"/usr/bin/prog\", \"image\": \"/usr/bin/prog\", \"symbol\": \"main\", \"raw_symbol\": \"main\", \"address\": \"0x401000\", \"size\": 32, \"file\": \"/src/dir/main.c\", \"line\": 12, \"samples\": [600], \"percent\": [60], \"addresses\": [{\"address\": \"0x401000\", \"samples\": [100], \"file\": \"/src/dir/main.c\", \"line\": 12}, {\"address\": \"0x401008\", \"samples\": [500]}]},\n"
		  "  {\"application\": \"/usr/bin/prog\", \"image\": \"/lib/libc.so\", \"symbol\": \"f<a&, \\\"b\\\">\", \"raw_symbol\": \"_Z1f\", \"address\": \"0x1000\", \"size\": 8, \"samples\": [399], \"percent\": [39.9], \"addresses\": [{\"address\": \"0x1001\", \"samples\": [399], \"file\": \"file.c\", \"line\": 4000000000}]},\n"
		  "  {\"application\": \"/opt/other\", \"image\": \"/opt/other\", \"symbol\": \"/opt/other\", \"raw_symbol\": \"/opt/other\", \"samples\": [1], \"percent\": [0.1], \"addresses\": []}\n"
		  " ]\n"
		  "}\n" },
		{ "changes", SYMBOLS | DIFF | TWO, { 0 },
		  .from = " \"classes\"", .text =
		  EXPECTED("changes") },
		{ "changes, intervals", SYMBOLS | DIFF | INTERVALS, { 0 },
		  .from = " \"symbols\"", .text =
		  " \"symbols\": [\n"
		  "  {\"application\": \"/usr/bin/prog\", \"image\": \"/usr/bin/prog\", \"symbol\": \"main\", \"raw_symbol\": \"main\", \"address\": \"0x401000\", \"size\": 32, \"samples\": [600], \"percent\": [60], \"percent_interval\": [[56.930943, 62.9925219]], \"presence\": \"both\", \"old_samples\": [1000], \"change\": [{\"percent\": 20, \"low\": 10.5, \"high\": 30, \"p\": 1e-05, \"significant\": true}]},\n"
		  "  {\"application\": \"/usr/bin/prog\", \"image\": \"/lib/libc.so\", \"symbol\": \"f<a&, \\\"b\\\">\", \"raw_symbol\": \"_Z1f\", \"address\": \"0x1000\", \"size\": 8, \"samples\": [399], \"percent\": [39.9], \"percent_interval\": [[36.9091251, 42.9681754]], \"presence\": \"new\", \"old_samples\": [0], \"change\": [{\"percent\": null, \"low\": 5, \"high\": null, \"p\": 0.03, \"significant\": false}]},\n"
		  "  {\"application\": \"/opt/other\", \"image\": \"/opt/other\", \"symbol\": \"/opt/other\", \"raw_symbol\": \"/opt/other\", \"samples\": [1], \"percent\": [0.1], \"percent_interval\": [[0.0176546371, 0.56425586]], \"presence\": \"gone\", \"old_samples\": [7], \"change\": [{\"percent\": -100, \"low\": -100, \"high\": -20, \"p\": 0.04, \"significant\": true}]}\n"
		  " ]\n"
		  "}\n" },
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
		  .from = "<account", .to = "<symboltable", .text =
		  "<account  source=\"file\" taken=\"1010\" stored=\"1000\" pending=\"0\" lost=\"10\">\n"
		  "<loss  cause=\"buffer_full\" samples=\"8\"/>\n"
		  "<loss  cause=\"nothing\" samples=\"0\"/>\n"
		  "<loss  cause=\"no_mm\" samples=\"2\"/>\n"
		  "</account>\n"
		  "\n" },
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
		  .from = "  \"counts\"", .to = " \"texts\"", .text = EXPECTED_ROW },
		{ "page: what was asked for", 0, { .command = "opreport </script>" },
		  .from = " \"title\"", .to = " \"cpu\"", .text = EXPECTED_ROW },
	};
	/* clang-format on */

	write_rows(rows, NR(rows), pp_format_html);
}
