// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts of what formats write that depend on one fact of the report each:
 * heads, accounts, names that need quotes, processes, call trees. */

#include "tests/unit/pp_report.h"

#include "libop/base/op_json.h"
#include "libpp/format/text/text.h"
#include "libpp/tree/tree.h"
#include "libpp/format/xml.h"

/* ---- facts --------------------------------------------------------------- */

static void as_it_is(struct made_report *m)
{
	(void)m;
}

static void with_speed(struct made_report *m)
{
	m->report.cpu.khz = 2400500;
	m->report.cpu.timer_hz = 250;
}

static void timer(struct made_report *m)
{
	m->classes[0].event = "TIMER";
	m->classes[0].count = 0;
	m->classes[0].counted_unit_mask = 0;
}

static void timer_with_rate(struct made_report *m)
{
	timer(m);
	with_speed(m);
}

/* The report is of two rates; its own is that of the other one. */
static void timer_at_250(struct made_report *m)
{
	timer_with_rate(m);
	m->report.cpu.timer_hz = 1000;
	m->classes[0].count = 250;
}

static void with_words(struct made_report *m)
{
	m->texts[0] = (struct pp_event_text){ "Cycles", "user mode" };
}

static void masks_differ(struct made_report *m)
{
	with_words(m);
	m->classes[0].unit_masks_differ = true;
}

static void other_mask_differs(struct made_report *m)
{
	m->classes[1].unit_masks_differ = true;
}

static void other_mask_is_another(struct made_report *m)
{
	m->classes[1].counted_unit_mask = 2;
}

static void two_events(struct made_report *m)
{
	m->report.classes.axis = PP_AXIS_EVENT;
	m->classes[1].event = "MISSES";
	m->classes[1].count = 500;
	m->classes[1].counted_unit_mask = 2;
	m->classes[1].unit_mask = 2;
	m->classes[1].cpu = 0;
}

static void by_tgid(struct made_report *m)
{
	m->report.classes.axis = PP_AXIS_TGID;
	m->classes[0].tgid = 7;
}

static void by_tid(struct made_report *m)
{
	m->report.classes.axis = PP_AXIS_TID;
	m->classes[1].tid = 77;
}

static void by_cpu_and_all(struct made_report *m)
{
	m->classes[0].cpu = OP_MANGLE_ALL;
}

static void by_session(struct made_report *m)
{
	m->report.classes.axis = PP_AXIS_SESSION;
	m->classes[0].session = "a";
	m->classes[1].session = "b";
}

static struct op_ledger ledger;

static void old_account(struct made_report *m)
{
	ledger = (struct op_ledger){
		.source = "x", .taken = 3, .stored = 1, .pending = 2
	};
	m->report.old.account = &ledger;
}

static void stacks(struct made_report *m)
{
	ledger = made_account();
	ledger.stacks[OP_STACKS_WHOLE] = 90;
	ledger.stacks[OP_STACKS_NO_UNWIND] = 8;
	ledger.stacks[OP_STACKS_NOT_STORED] = 5;
	ledger.stacks[OP_STACKS_FRAMES] = 1234;
	m->report.account = &ledger;
}

static void stacks_truncated(struct made_report *m)
{
	stacks(m);
	ledger.stacks[OP_STACKS_TRUNCATED] = 2;
	ledger.stacks[OP_STACKS_BROKEN] = 3;
	ledger.stacks[OP_STACKS_NOT_STORED] = 0;
}

static void stacks_not_stored(struct made_report *m)
{
	ledger = (struct op_ledger){ .source = "x" };
	ledger.stacks[OP_STACKS_NOT_STORED] = 1;
	m->report.account = &ledger;
}

static void no_stacks_but_frames(struct made_report *m)
{
	ledger = (struct op_ledger){ .source = "x" };
	ledger.stacks[OP_STACKS_FRAMES] = 1;
	m->report.account = &ledger;
}

/* ---- tables -------------------------------------------------------------- */

/* A fact about the report with @flags, and what is written then. */
struct changed {
	const char *name;
	void (*change)(struct made_report *m);
	unsigned int flags;
	const char *text;
};

/* Rows are what @format writes from @from on up to @to. */
static void write_changed(const char *format, const struct changed *rows,
			  size_t nr, const char *from, const char *to)
{
	static const struct pp_format_options options;

	for (size_t i = 0; i < nr; i++) {
		struct made_report m;

		make_report(&m, rows[i].flags);
		rows[i].change(&m);
		written_must_be(rows[i].name, format, &m.report, &options, from,
				to, rows[i].text);
	}
}

static void with_sums(struct made_report *m, size_t nr)
{
	static const struct pp_sum_of_builds sums[] = {
		{ "/bin/a", 2 }, { "b", 3 }, { "c", 4 }, { "d", 2 },
		{ "e", 2 },	 { "f", 2 }, { "g", 2 },
	};

	m->report.builds.sums = sums;
	m->report.builds.nr_sums = nr;
}

static void one_sum(struct made_report *m)
{
	with_sums(m, 1);
}

static void five_sums(struct made_report *m)
{
	with_sums(m, 5);
}

static void seven_sums(struct made_report *m)
{
	with_sums(m, 7);
}

TEST(text_has_a_head)
{
	/* clang-format off */
	static const struct changed rows[] = {
		{ "plain", as_it_is, SYMBOLS, EXPECTED_AS("plain, 3") },
		{ "speed", with_speed, SYMBOLS, EXPECTED_AS("speed, 1") },
		{ "timer", timer, SYMBOLS, EXPECTED_AS("timer, 1") },
		{ "timer with rate", timer_with_rate, SYMBOLS, EXPECTED_ROW },
		{ "timer at two rates", timer_at_250, SYMBOLS, EXPECTED_ROW },
		{ "words", with_words, SYMBOLS, EXPECTED_AS("words, 1") },
		{ "masks", masks_differ, SYMBOLS, EXPECTED_AS("masks, 1") },
		{ "masks of others", other_mask_differs, SYMBOLS | TWO, EXPECTED_ROW },
		{ "another mask", other_mask_is_another, SYMBOLS | TWO, EXPECTED_ROW },
		{ "two events", two_events, SYMBOLS | TWO,
		  EXPECTED_AS("two events, 1") },
		{ "tgids", by_tgid, SYMBOLS | TWO, EXPECTED_AS("tgids, 1") },
		{ "tids", by_tid, SYMBOLS | TWO, EXPECTED_AS("tids, 1") },
		{ "CPUs", by_cpu_and_all, SYMBOLS | TWO, EXPECTED_ROW },
		{ "sessions", by_session, SYMBOLS | TWO, EXPECTED_AS("sessions, 1") },
		{ "builds", one_sum, SYMBOLS, EXPECTED_ROW },
		{ "builds of five images", five_sums, SYMBOLS, EXPECTED_ROW },
		{ "builds of more images", seven_sums, SYMBOLS, EXPECTED_ROW },
		{ "old account", old_account, SYMBOLS | DIFF | ACCOUNT,
		  EXPECTED_AS("old account, 1") },
		{ "no old account", as_it_is, SYMBOLS | DIFF | ACCOUNT, EXPECTED_ROW },
		{ "old without diff", old_account, SYMBOLS | ACCOUNT, EXPECTED_ROW },
		{ "stacks", stacks, SYMBOLS, EXPECTED_AS("stacks, 2") },
		{ "stacks truncated", stacks_truncated, SYMBOLS, EXPECTED_ROW },
		{ "stacks not stored", stacks_not_stored, SYMBOLS,
		  EXPECTED_AS("stacks not stored, 1") },
		{ "frames alone", no_stacks_but_frames, SYMBOLS, EXPECTED_ROW },
	};
	/* clang-format on */

	write_changed("text", rows, NR(rows), "CPU: ", "samples  %");
}

TEST(json_has_a_head)
{
	/* clang-format off */
	static const struct changed rows[] = {
		{ "speed", with_speed, 0, EXPECTED_AS("speed, 2") },
		{ "words", with_words, 0, EXPECTED_ROW },
		{ "masks", masks_differ, 0, EXPECTED_ROW },
		{ "tgids", by_tgid, TWO, EXPECTED_ROW },
		{ "tids", by_tid, TWO, EXPECTED_ROW },
		{ "sessions", by_session, TWO,
		  EXPECTED_AS("sessions, 2") },
		{ "stacks", stacks, 0, EXPECTED_AS("stacks, 1") },
		{ "stacks not stored", stacks_not_stored, 0, EXPECTED_AS("stacks not stored, 2") },
		{ "old account", old_account, DIFF | ACCOUNT, EXPECTED_AS("old account, 2") },
	};
	/* clang-format on */

	write_changed("json", rows, NR(rows), " \"title\"",
		      " \"applications\"");
}

/* ---- XML ----------------------------------------------------------------- */

static void plain_cpu_type(struct made_report *m)
{
	strcpy(m->report.cpu.type, "timer");
}

static void three_parts(struct made_report *m)
{
	strcpy(m->report.cpu.type, "a/b/c");
}

static void same_cpu(struct made_report *m)
{
	m->classes[1].cpu = m->classes[0].cpu;
}

static void other_event(struct made_report *m)
{
	same_cpu(m);
	m->classes[1].event = "MISSES";
}

static void other_count(struct made_report *m)
{
	same_cpu(m);
	m->classes[1].count = 1;
}

static void other_mask(struct made_report *m)
{
	same_cpu(m);
	m->classes[1].unit_mask = 2;
}

static void merged_sessions(struct made_report *m)
{
	same_cpu(m);
	m->classes[0].session = "a";
}

static void two_sessions(struct made_report *m)
{
	by_session(m);
	same_cpu(m);
}

static void two_threads(struct made_report *m)
{
	same_cpu(m);
	m->classes[0].tgid = m->classes[1].tgid = 7;
	m->classes[0].tid = 7;
	m->classes[1].tid = 8;
}

static void two_processes(struct made_report *m)
{
	same_cpu(m);
	m->classes[0].tgid = 7;
	m->classes[1].tgid = 9;
}

static void one_process_of_all(struct made_report *m)
{
	same_cpu(m);
	m->classes[1].tgid = 9;
}

static void control_characters(struct made_report *m)
{
	m->symbols[0].name = "a\x01\x1f \x7f\xc3\xa4'\n";
}

/* Two functions of one name and image; and of the same name in another. */
static void same_names(struct made_report *m)
{
	m->symbols[1].image = m->symbols[0].image;
	m->symbols[1].raw_name = m->symbols[0].raw_name;
	m->symbols[2].raw_name = m->symbols[0].raw_name;
}

/* What is known has another order, and one symbol is not shown. */
static void known_in_other_order(struct made_report *m)
{
	static struct pp_symbol_entry known[3];

	for (size_t i = 0; i < 3; i++) {
		known[i] = m->symbols[2 - i];
		known[i].nr = i;
		m->symbols[2 - i].nr = i;
	}
	m->report.symbols.known = known;
	m->report.symbols.nr = 2;
}

static void huge_counts(struct made_report *m)
{
	static const uint64_t huge[] = { UINT64_MAX - 1, 5 };

	same_cpu(m);
	m->symbols[0].counts = huge;
}

TEST(xml_is_of_the_schema)
{
	/* clang-format off */
	static const struct changed heads[] = {
		{ "timer", timer_with_rate, 0, EXPECTED_AS("timer, 2") },
		{ "CPU type", plain_cpu_type, 0, EXPECTED_ROW },
		{ "long CPU type", three_parts, 0, EXPECTED_ROW },
	};
	static const struct changed setups[] = {
		{ "timer", timer_with_rate, 0, EXPECTED_AS("timer, 3") },
		{ "two events", two_events, TWO,
		  EXPECTED_AS("two events, 2") },
		{ "event", other_event, TWO, EXPECTED_ROW },
		{ "count", other_count, TWO, EXPECTED_ROW },
		{ "mask", other_mask, TWO, EXPECTED_ROW },
		{ "all CPUs", by_cpu_and_all, TWO, EXPECTED_ROW },
		{ "sessions", two_sessions, TWO,
		  EXPECTED_AS("sessions, 3") },
		{ "merged sessions", merged_sessions, TWO, EXPECTED_ROW },
		{ "same class", same_cpu, TWO, EXPECTED_ROW },
	};
	static const struct changed bodies[] = {
		{ "threads", two_threads, SYMBOLS | TWO, EXPECTED_ROW },
		{ "processes", two_processes, SYMBOLS | TWO, EXPECTED_ROW },
		{ "one of all", one_process_of_all, SYMBOLS | TWO,
		  EXPECTED_ROW },
		{ "threads that call", two_threads, CALLS | TWO, EXPECTED_ROW },
		{ "characters", control_characters, SYMBOLS, EXPECTED_ROW },
		{ "same names", same_names, SYMBOLS | DETAILS, EXPECTED_ROW },
		{ "order", known_in_other_order, SYMBOLS | DETAILS,
		  EXPECTED_ROW },
		{ "huge", huge_counts, SYMBOLS | TWO, EXPECTED_ROW },
	};
	/* clang-format on */

	write_changed("xml", heads, NR(heads), "<profile", "<options");
	write_changed("xml", setups, NR(setups), "<setup>", "<symboltable");
	write_changed("xml", bodies, NR(bodies), "</setup>\n", "</profile>");
}

TEST(xml_is_utf8)
{
	static const struct {
		const char *name, *xml;
	} rows[] = {
		{ "", "" },
		{ "<>&\"'", "&lt;&gt;&amp;&quot;'" },
		{ "\x01\x1f \x7e\x7f", "?\? ~?" },
		{ "\xc3\xa4\xed\x9f\xbf\xf4\x8f\xbf\xbf",
		  "\xc3\xa4\xed\x9f\xbf\xf4\x8f\xbf\xbf" },
		{ "\xef\xbf\xbd\xef\xbf\xbe\xef\xbf\xbf",
		  "\xef\xbf\xbd?\?\?\?\?\?" },
		{ "\xc3", "?" },
		{ "a\x80z", "a?z" },
		{ "\xed\xa0\x80", "?\?\?" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		char wanted[64];
		struct text t;
		FILE *out = text_begin(&t);

		op_xml_attr(out, "none", NULL);
		op_xml_attr(out, "a", rows[i].name);
		snprintf(wanted, sizeof(wanted), " a=\"%s\"", rows[i].xml);
		text_must_be(&t, rows[i].xml, wanted);
	}
}

/* ---- text in JSON and CSV ------------------------------------------------ */

TEST(json_strings_are_utf8)
{
#define BAD "\\ufffd"
	static const struct {
		const char *text, *json;
	} rows[] = {
		{ "", "\"\"" },
		{ "a b", "\"a b\"" },
		{ "\"\\/", "\"\\\"\\\\/\"" },
		{ "\n\t\x01\x1f\x20\x7e\x7f",
		  "\"\\u000a\\u0009\\u0001\\u001f ~\\u007f\"" },
		{ "\xc3\xa4", "\"\xc3\xa4\"" },
		{ "\xc2\x80", "\"\xc2\x80\"" },
		{ "\xdf\xbf", "\"\xdf\xbf\"" },
		{ "\xe0\xa0\x80", "\"\xe0\xa0\x80\"" },
		{ "\xed\x9f\xbf", "\"\xed\x9f\xbf\"" },
		{ "\xee\x80\x80", "\"\xee\x80\x80\"" },
		{ "\xef\xbf\xbf", "\"\xef\xbf\xbf\"" },
		{ "\xf0\x90\x80\x80", "\"\xf0\x90\x80\x80\"" },
		{ "\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"" },
		/* Cut off, alone, too long, a surrogate, too large. */
		{ "\xc3", "\"" BAD "\"" },
		{ "\xe2\x82", "\"" BAD BAD "\"" },
		{ "\xc3x", "\"" BAD "x\"" },
		{ "\x80", "\"" BAD "\"" },
		{ "\xbf", "\"" BAD "\"" },
		{ "\xc1\xbf", "\"" BAD BAD "\"" },
		{ "\xe0\x9f\xbf", "\"" BAD BAD BAD "\"" },
		{ "\xf0\x8f\xbf\xbf", "\"" BAD BAD BAD BAD "\"" },
		{ "\xed\xa0\x80", "\"" BAD BAD BAD "\"" },
		{ "\xed\xbf\xbf", "\"" BAD BAD BAD "\"" },
		{ "\xf4\x90\x80\x80", "\"" BAD BAD BAD BAD "\"" },
		{ "\xf8\x88\x80\x80\x80", "\"" BAD BAD BAD BAD BAD "\"" },
		{ "\xff", "\"" BAD "\"" },
		{ NULL, "null" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;
		struct op_json json = { .out = text_begin(&t) };

		op_json_text(&json, NULL, rows[i].text);
		text_must_be(&t, rows[i].json, rows[i].json);
	}
}

TEST(json_values_stand_in_lines)
{
	struct text t;
	struct op_json json = { .out = text_begin(&t) };

	op_json_open(&json, NULL, '{');
	op_json_open(&json, "empty", '{');
	op_json_close(&json, '}');
	op_json_open(&json, "a\"", '[');
	op_json_u64(&json, NULL, UINT64_MAX);
	op_json_open(&json, NULL, '[');
	op_json_i64(&json, NULL, INT64_MIN);
	op_json_open(&json, NULL, '[');
	op_json_close(&json, ']');
	op_json_bool(&json, NULL, false);
	op_json_close(&json, ']');
	op_json_double(&json, NULL, INFINITY);
	op_json_double(&json, NULL, NAN);
	op_json_double(&json, NULL, 0.1234567894);
	op_json_close(&json, ']');
	op_json_close(&json, '}');
	text_must_be(&t, "values", EXPECTED("json-values-stand-in-lines"));
}

TEST(csv_fields_are_quoted)
{
	static const struct {
		const char *name, *field;
	} rows[] = {
		{ "", "" },
		{ "a b'", "a b'" },
		{ "a;=b", "\"a;=b\"" },
		{ "a,b", "\"a,b\"" },
		{ "\"", "\"\"\"\"" },
		{ "a\nb", "\"a\nb\"" },
		{ "a\rb", "\"a\rb\"" },
		/* Text that a spreadsheet would take for a formula. */
		{ "=1+cmd|' /C calc'!A0", "'=1+cmd|' /C calc'!A0" },
		{ "+1", "'+1" },
		{ "-[Shape draw]", "'-[Shape draw]" },
		{ "@SUM(A1)", "'@SUM(A1)" },
		{ "=\"\"", "\"'=\"\"\"\"\"" },
		{ "\t=1", "\"'\t=1\"" },
		{ "\r=1", "\"'\r=1\"" },
		{ "\n=1", "\"'\n=1\"" },
		{ "a=+-@b", "a=+-@b" },
		{ "[unknown]", "[unknown]" },
	};
	static const struct pp_format_options options = { .no_header = true };

	for (size_t i = 0; i < NR(rows); i++) {
		struct made_report m;
		struct text t;
		char wanted[128];

		make_report(&m, SYMBOLS);
		m.report.symbols.nr = 1;
		m.symbols[0].name = rows[i].name;
		m.symbols[0].size = 0;
		pp_format_csv(text_begin(&t), &m.report, &options);
		snprintf(wanted, sizeof(wanted),
			 "1,symbol,cpu:0,/usr/bin/prog,/usr/bin/prog,%s,,,,"
			 "600,60\n",
			 rows[i].field);
		text_must_be(&t, rows[i].name, wanted);
	}
}

/* ---- names in text ------------------------------------------------------- */

/* Whoever names a symbol or a file must not make a row of a table. */
TEST(names_end_no_rows)
{
	static const struct pp_format_options options = { .no_header = true };
	static const struct pp_format_options more = { .no_header = true,
						       .long_names = true };
	struct pp_image image = { .name = "/opt/a\nb/c\nd" };
	struct made_report m;
	struct text t;

	make_report(&m, SYMBOLS | LINES);
	m.report.symbols.nr = 1;
	m.symbols[0].name = "f\n9999      99.9000  b\t\r";
	m.symbols[0].image = &image;
	m.symbols[0].place =
		(struct pp_place){ .file = "/x\n/y\tz.c", .line = 3 };
	pp_format_text(text_begin(&t), &m.report, &options);
	text_must_be(
		&t, "short names",
		"600      60.0000  y?z.c:3                     c?d                      f?9999      99.9000  b??\n");
	pp_format_text(text_begin(&t), &m.report, &more);
	text_must_be(
		&t, "long names",
		"600      60.0000  /x?/y?z.c:3                 /opt/a?b/c?d             f?9999      99.9000  b??\n");
}

/* ---- call trees ---------------------------------------------------------- */

static struct pp_frame frames[] = {
	{ .name = "all", .kind = PP_FRAME_ROOT },
	{ .name = "prog", .kind = PP_FRAME_ROOT },
	{ .name = "main", .image = "/bin/prog", .kind = PP_FRAME_APP },
	{ .name = "f;<g>\x01\x7f\x80",
	  .image = "/lib/x.so",
	  .kind = PP_FRAME_LIBRARY },
	{ .name = "[broken]", .kind = PP_FRAME_GAP },
	{ .name = "k", .image = "/vmlinux", .kind = PP_FRAME_KERNEL },
	{ .name = "h", .image = "/bin/prog", .kind = PP_FRAME_APP },
};

/* all, prog, main, f, k below f, h below main, a gap below prog */
static struct pp_tree_node nodes[] = {
	{ 0, 0, 0 }, { 0, 1, 0 }, { 1, 2, 0 }, { 2, 3, 0 },
	{ 3, 5, 0 }, { 2, 6, 0 }, { 1, 4, 0 },
};

static uint64_t self[] = { 0, 0, 1, 0, 4, 30, 500 };
static uint64_t all[] = { 535, 535, 35, 4, 4, 30, 500 };
static uint64_t self_of_two[][2] = {
	{ 0, 0 }, { 0, 0 }, { 1, 0 }, { 0, 7 }, { 4, 4 }, { 30, 0 }, { 500, 2 },
};
static uint64_t all_of_two[][2] = {
	{ 535, 13 }, { 535, 13 }, { 35, 11 }, { 4, 11 },
	{ 4, 4 },    { 30, 0 },	  { 500, 2 },
};
static uint64_t none[] = { 0, 0 };
static uint64_t broken[] = { 500, 2 };
static uint64_t cut[] = { 107, 0 };

static struct pp_tree tree;

static void with_tree(struct made_report *m)
{
	tree = (struct pp_tree){
		.frames = frames,
		.nr_frames = NR(frames),
		.nodes = nodes,
		.nr_nodes = NR(nodes),
		.nr_columns = m->report.old.made ? 2 : m->report.classes.nr,
		.self = self,
		.all = all,
		.broken = none,
		.cut = none,
	};
	if (tree.nr_columns == 2) {
		tree.self = self_of_two[0];
		tree.all = all_of_two[0];
	}
	m->report.tree = &tree;
}

/* Also where only the program is known. */
static void tree_of_programs(struct made_report *m)
{
	static uint64_t some[] = { 0, 9, 1, 0, 4, 30, 500 };

	with_tree(m);
	tree.self = some;
}

static void broken_tree(struct made_report *m)
{
	with_tree(m);
	tree.broken = broken;
}

static void cut_tree(struct made_report *m)
{
	with_tree(m);
	tree.cut = cut;
	tree.nr_cut = 21;
	tree.threshold = 0.0123456;
}

static void whole_tree(struct made_report *m)
{
	static const uint64_t totals[] = { 535 };

	with_tree(m);
	m->report.totals = totals;
}

static void more_than_there_is(struct made_report *m)
{
	static const uint64_t totals[] = { 534 };

	with_tree(m);
	m->report.totals = totals;
}

static void told_tree(struct made_report *m)
{
	with_tree(m);
	stacks(m);
	with_speed(m);
}

static void compared_tree(struct made_report *m)
{
	with_tree(m);
	old_account(m);
}

static void some_apps(struct made_report *m, size_t nr)
{
	static const struct pp_summary_app apps[] = {
		{ .name = "/bin/a" },
		{ .name = "/bin/b" },
		{ .name = "/c" },
		{ .name = "d/e" },
	};

	with_tree(m);
	m->report.summary.apps = apps;
	m->report.summary.nr_apps = nr;
}

static void three_apps(struct made_report *m)
{
	some_apps(m, 3);
}

static void four_apps(struct made_report *m)
{
	some_apps(m, 4);
}

static void no_apps(struct made_report *m)
{
	some_apps(m, 0);
}

TEST(call_trees_are_written)
{
	/* clang-format off */
	static const struct changed folded[] = {
		{ "one", with_tree, 0, EXPECTED_ROW },
		{ "programs", tree_of_programs, 0, EXPECTED_ROW },
		{ "old and new", with_tree, DIFF, EXPECTED_ROW },
	};
	static const struct changed data[] = {
		{ "plain", with_tree, 0, EXPECTED_AS("plain, 2") },
		{ "two columns", with_tree, TWO, EXPECTED_AS("two columns, 2") },
	};
	static const struct changed speedscope[] = {
		{ "three applications", three_apps, 0,
		  EXPECTED("three-applications") },
		{ "two columns", with_tree, TWO,
		  EXPECTED("two-columns") },
	};
	static const struct changed heads[] = {
		{ "broken", broken_tree, 0, EXPECTED_ROW },
		{ "cut", cut_tree, 0, EXPECTED_ROW },
		{ "whole", whole_tree, 0, EXPECTED_ROW },
		{ "too many", more_than_there_is, 0, EXPECTED_ROW },
		{ "told", told_tree, 0, EXPECTED_ROW },
		{ "compared", compared_tree, DIFF | ACCOUNT, EXPECTED_ROW },
		{ "three", three_apps, 0, EXPECTED_ROW },
		{ "four", four_apps, 0, EXPECTED_ROW },
		{ "none", no_apps, 0, EXPECTED_ROW },
	};
	/* clang-format on */

	write_changed("folded", folded, NR(folded), "", "END");
	write_changed("flamegraph", data, NR(data), " \"columns\"", "</script");
	write_changed("speedscope", speedscope, NR(speedscope), "{", "END");
	write_changed("flamegraph", heads, NR(heads), " \"title\": \"Flame",
		      " \"images\"");
}

/* What was asked for is repeated, and what it left out is said. */
TEST(flame_graphs_tell_options)
{
	static const struct {
		struct pp_format_options options;
		const char *text;
	} rows[] = {
		{ { .command = "opreport <x>" },
		  "AMD64 family10 — opreport \\u003cx>\"" },
		{ { .include_symbols = "x" },
		  "the others have no stack or were left out by their symbols." },
		{ { .exclude_symbols = "x" },
		  "the others have no stack or were left out by their symbols." },
		{ { .merge = "x" }, "the others have no stack.\"" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct made_report m;
		struct text t;

		make_report(&m, 0);
		with_tree(&m);
		pp_format_flamegraph(text_begin(&t), &m.report,
				     &rows[i].options);
		fclose(t.out);
		assert_non_null(strstr(t.all, rows[i].text));
		assert_null(strstr(t.all, "@DATA@"));
		assert_int_equal(strncmp(t.all, "<!DOCTYPE html>", 15), 0);
		assert_string_equal(t.all + t.len - 8, "</html>\n");
		free(t.all);
	}
}

/* Lines of the tree as text: chains, order, what is repeated and what not. */
TEST(trees_are_text)
{
	/* clang-format off */
	static struct pp_frame chained[] = {
		{ .name = "all", .kind = PP_FRAME_ROOT },
		{ .name = "prog", .image = "/bin/prog", .kind = PP_FRAME_ROOT },
		{ .name = "main", .image = "/bin/prog", .kind = PP_FRAME_APP },
		{ .name = "work", .image = "/lib/x.so", .kind = PP_FRAME_LIBRARY },
		{ .name = "[x.so]", .image = "/lib/x.so", .kind = PP_FRAME_LIBRARY },
		{ .name = "small", .kind = PP_FRAME_CUT },
		{ .name = "idle", .image = "/lib/x.so", .kind = PP_FRAME_LIBRARY },
		{ .name = "lost", .kind = PP_FRAME_GAP },
	};
	/* all, prog, main; below main: small (cut), work, [x.so] and in that
	 * work; below prog: lost, idle */
	static struct pp_tree_node chained_nodes[] = {
		{ 0, 0, 0 }, { 0, 1, 0 }, { 1, 2, 0 }, { 2, 5, 0 }, { 2, 3, 0 }, { 2, 4, 0 },
		{ 5, 3, 0 }, { 1, 7, 0 }, { 7, 6, 0 },
	};
	static uint64_t chained_self[] = { 0, 0, 0, 1, 30, 0, 49, 0, 20 };
	static uint64_t chained_all[] = { 100, 100, 80, 1, 30, 49, 49, 20, 20 };
	static uint64_t self_2[] = { 0, 0, 0, 0, 0, 0, 0, 1, 30, 0, 0, 0, 49, 0, 0, 0, 20, 1 };
	static uint64_t all_2[] = { 100, 2, 100, 2, 80, 1, 1, 0, 30, 1, 49, 0, 49, 0, 20, 1, 20, 1 };
	static const struct {
		const char *name;
		unsigned int flags;
		bool callers;
		struct pp_format_options options;
		const char *text;
	} rows[] = {
		{ "plain", 0, false, { 0 }, EXPECTED_AS("plain, 1") },
		{ "no heads, paths", 0, false, { .no_header = true, .long_names = true },
		  EXPECTED_ROW },
		{ "callers", 0, true, { .no_header = true }, EXPECTED_ROW },
		{ "heads of callers", INTERVALS, true, { 0 }, EXPECTED_ROW },
		{ "two columns", TWO, false, { 0 }, EXPECTED_AS("two columns, 1") },
		/* The samples of the old profile stand for four each. */
		{ "an old profile with intervals", DIFF | INTERVALS, true, { .no_header = true },
		  EXPECTED_ROW },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		bool two = rows[i].flags & (TWO | DIFF);
		struct pp_class old;
		struct made_report m;
		struct pp_text t;
		struct text written;

		make_report(&m, rows[i].flags);
		with_tree(&m);
		tree.frames = chained;
		tree.nr_frames = NR(chained);
		tree.nodes = chained_nodes;
		tree.nr_nodes = NR(chained_nodes);
		tree.self = two ? self_2 : chained_self;
		tree.all = two ? all_2 : chained_all;
		tree.nr_cut = 3;
		tree.threshold = 0.0123456;
		tree.callers = rows[i].callers;
		old = m.classes[0];
		old.grain = 4;
		m.report.old.classes.classes = &old;
		t = (struct pp_text){ .out = text_begin(&written),
				      .report = &m.report,
				      .options = &rows[i].options };
		assert_int_equal(pp_text_tree(&t), 0);
		text_must_be(&written, rows[i].name, rows[i].text);
	}
}
