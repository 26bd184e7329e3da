// SPDX-License-Identifier: GPL-2.0-or-later
/* What formats write of columns with a time, a task or a scale, of tasks in
 * rows, of source lines, and of histories. A row is a fact about a report that
 * is made by hand, and the part of the text that tells of it. */

#include "tests/unit/pp_report.h"

#include "libop/image/op_runtime.h"
#include "libpp/images/code.h"
#include "libpp/format/text/text.h"
#include "libpp/tree/tree.h"

/* ---- tasks in rows ------------------------------------------------------- */

/*
 * Two events of the threads 10/10 and 10/11 of one program, and one of them in
 * process 20 of another: five columns, two of them in each row.
 */
static struct pp_class task_classes[5];
static const struct pp_event_text task_texts[5];
static const uint64_t task_totals[] = { 600, 3, 300, 5, 100 };
static const uint64_t task_counts[3][5] = { { 500, 3, 100, 0, 0 },
					    { 100, 0, 200, 5, 0 },
					    { 0, 0, 0, 0, 100 } };
static const struct pp_summary_image task_images[] = {
	{ "/usr/bin/prog", task_counts[0] },
	{ "/lib/libc.so", task_counts[1] },
	{ "/opt/other", task_counts[2] },
};
static const struct pp_summary_app task_apps[] = {
	{ "/usr/bin/prog", NULL, task_images, 2 },
	{ "/opt/other", NULL, task_images + 2, 1 },
};

static void tasks_in_rows(struct made_report *m)
{
	static const int64_t tids[] = { 10, 10, 11, 11, 20 };

	for (size_t i = 0; i < NR(task_classes); i++) {
		task_classes[i] = m->classes[0];
		task_classes[i].event = i == 1 || i == 3 ? "MISSES" : "CYCLES";
		task_classes[i].tgid = tids[i] < 20 ? 10 : 20;
		task_classes[i].tid = tids[i];
		task_classes[i].cpu = OP_MANGLE_ALL;
		task_classes[i].process = tids[i] < 20 ? "prog" : "other";
	}
	task_classes[2].thread = task_classes[3].thread = "worker";
	m->report.classes.classes = task_classes;
	m->report.classes.nr = NR(task_classes);
	m->report.classes.axis = PP_AXIS_EVENT;
	m->report.classes.in_rows = true;
	m->report.cpu.event_texts = task_texts;
	m->report.totals = m->report.symbols.totals = task_totals;
	m->report.summary.apps = task_apps;
	for (size_t i = 0; i < 3; i++)
		m->symbols[i].counts = task_counts[i];
	m->report.symbols.by_samples = true;
}

static void in_order_of_symbols(struct made_report *m)
{
	tasks_in_rows(m);
	m->report.symbols.by_samples = false;
}

static void processes_in_rows(struct made_report *m)
{
	tasks_in_rows(m);
	for (size_t i = 0; i < NR(task_classes); i++)
		task_classes[i].tid = OP_MANGLE_ALL;
	task_classes[1] = task_classes[4];
	m->report.classes.nr = 2;
}

static void cgroups_in_rows(struct made_report *m)
{
	processes_in_rows(m);
	m->report.classes.row_axes[PP_AXIS_CGROUP] = true;
	for (size_t i = 0; i < 2; i++) {
		task_classes[i].cgroup = i ? "/b" : "/a";
		task_classes[i].cgroup_name = i ? "b" : "a.service";
	}
}

static void cgroups_alone(struct made_report *m)
{
	cgroups_in_rows(m);
	task_classes[0].tgid = task_classes[1].tgid = OP_MANGLE_ALL;
}

/* An image that one task uses in two applications. */
static void one_image_of_two(struct made_report *m)
{
	static const struct pp_summary_image images[] = {
		{ "/lib/libc.so", task_counts[1] },
		{ "/opt/other", task_counts[0] },
	};
	static const struct pp_summary_app apps[] = {
		{ "/usr/bin/prog", NULL, images, 1 },
		{ "/opt/other", NULL, images, 2 },
	};

	tasks_in_rows(m);
	m->report.summary.apps = apps;
}

/* What a symbol has only called counts, too. */
static void totals_of_tasks(struct made_report *m)
{
	tasks_in_rows(m);
	m->report.stack_totals.made = true;
	for (size_t i = 0; i < 3; i++)
		m->symbols[i].all_counts = task_counts[i];
	m->symbols[2].all_counts = task_totals;
}

/* ---- what symbols called ------------------------------------------------- */

static const uint64_t all_counts[3][2] = { { 900, 4 }, { 0, 0 }, { 1, 8 } };

static void with_totals(struct made_report *m)
{
	m->report.stack_totals.made = true;
	for (size_t i = 0; i < 3; i++)
		m->symbols[i].all_counts = all_counts[i];
}

/* One symbol has samples in what it called alone. */
static void totals_alone(struct made_report *m)
{
	static const uint64_t none[2];

	with_totals(m);
	m->symbols[2].counts = none;
}

/* A task is known of the second column alone. */
static void totals_and_a_task(struct made_report *m)
{
	with_totals(m);
	m->classes[1].thread = "worker";
}

static void places_of_all(struct made_report *m)
{
	m->symbols[1].place =
		(struct pp_place){ "/src/a_long_name_of_a_file.c", 4000 };
	m->symbols[2].place = (struct pp_place){ "b.c", 1 };
}

static void one_place(struct made_report *m)
{
	m->symbols[1].place = (struct pp_place){ "b.c", 1 };
}

static void an_inlined_function(struct made_report *m)
{
	m->symbols[1].is_inlined = true;
}

/* ---- source lines -------------------------------------------------------- */

static void source_lines(struct made_report *m)
{
	m->report.lines.split = true;
	m->report.lines.made = true;
	for (size_t i = 0; i < 3; i++)
		m->symbols[i].is_line = true;
	m->symbols[0].source = "for (i = 0; i < nr; i++) { do_something(i); }";
	m->symbols[1].place = (struct pp_place){ "/src/f.c", 7 };
	m->symbols[1].brief = "f";
}

static void long_names_of_lines(struct made_report *m)
{
	source_lines(m);
	m->symbols[0].name = "a_name_of_a_function_that_is_quite_long_indeed";
	m->symbols[0].place.file =
		"/src/a_file_with_quite_a_long_name_as_well.c";
}

/* ---- scales -------------------------------------------------------------- */

static void a_scale(struct made_report *m)
{
	m->classes[0].scale = 4;
	m->classes[0].enabled = 4000;
	m->classes[0].running = 1000;
	m->report.old.classes.nr = 0;
}

/* The samples came together, ten in a turn. */
static void a_scale_in_turns(struct made_report *m)
{
	a_scale(m);
	m->classes[0].taken = 1000;
	m->classes[0].turns = 100;
}

/* And each stands for some. */
static void a_scale_and_a_grain(struct made_report *m)
{
	a_scale_in_turns(m);
	m->classes[0].grain = 2;
}

static void samples_of_periods(struct made_report *m)
{
	m->classes[0].periods = 4;
	m->classes[0].sum_of_periods = 1000;
}

static void a_scale_of_a_cpu(struct made_report *m)
{
	a_scale(m);
	m->report.classes.axis = PP_AXIS_CPU;
}

static void an_old_scale(struct made_report *m)
{
	static struct pp_class old;

	old = m->classes[0];
	old.scale = 2;
	m->report.old.classes.classes = &old;
	m->report.old.classes.nr = 1;
}

/* ---- times --------------------------------------------------------------- */

static void a_history(struct made_report *m)
{
	m->report.history = (struct pp_history){
		.begin = 1774965600 * PP_TIME_NS,
		.end = 1774965720 * PP_TIME_NS,
		.nr_spans = 2,
		.asked_begin = 1774965600 * PP_TIME_NS,
		.asked_end = 1774965660 * PP_TIME_NS,
	};
}

static void one_span(struct made_report *m)
{
	a_history(m);
	m->report.history.nr_spans = 1;
}

static void a_part_of_it(struct made_report *m)
{
	a_history(m);
	m->report.history.is_part = m->report.history.is_coarse = true;
}

static void some_was_dropped(struct made_report *m)
{
	a_history(m);
	m->report.history.dropped_end = 1774965500;
	m->report.history.dropped_samples = 77;
}

static void an_old_history(struct made_report *m)
{
	a_history(m);
	m->report.old.history = m->report.history;
	m->report.old.history.nr_spans = 9;
}

static void columns_of_times(struct made_report *m)
{
	m->report.classes.axis = PP_AXIS_TIME;
	for (size_t i = 0; i < 2; i++) {
		m->classes[i].cpu = OP_MANGLE_ALL;
		m->classes[i].begin =
			(1774965600 + 60 * i) * (uint64_t)PP_TIME_NS;
		m->classes[i].end = m->classes[i].begin + 60 * PP_TIME_NS;
	}
}

/* ---- tasks in columns ---------------------------------------------------- */

static void named_threads(struct made_report *m)
{
	m->report.classes.axis = PP_AXIS_TID;
	for (size_t i = 0; i < 2; i++) {
		m->classes[i].cpu = OP_MANGLE_ALL;
		m->classes[i].tgid = 7;
		m->classes[i].tid = 7 + (int64_t)i;
		m->classes[i].process = "a \"program\"";
	}
	m->classes[1].thread = "worker";
	m->classes[1].mounts = 4026531841;
}

static void named_processes(struct made_report *m)
{
	named_threads(m);
	m->report.classes.axis = PP_AXIS_TGID;
	m->classes[0].tid = OP_MANGLE_ALL;
	m->classes[1].tgid = m->classes[1].tid = OP_MANGLE_ALL;
}

static void columns_of_cgroups(struct made_report *m)
{
	m->report.classes.axis = PP_AXIS_CGROUP;
	m->classes[0].cgroup = "/system.slice/a.service";
	m->classes[0].cgroup_name = "a.service";
	m->classes[1].cgroup = "";
	m->classes[1].cgroup_name = "unknown";
}

static void one_cgroup_and_all(struct made_report *m)
{
	columns_of_cgroups(m);
	m->classes[1].cgroup = NULL;
}

static void labels_of_sessions(struct made_report *m)
{
	m->report.classes.axis = PP_AXIS_SESSION;
	m->report.classes.by_label = "host";
	m->classes[0].session = "a";
	m->classes[1].session = "b";
}

/* ---- accounts ------------------------------------------------------------ */

static struct op_ledger account_of_facts;

static void rate_was_lowered(struct made_report *m)
{
	account_of_facts = made_account();
	account_of_facts.costs[OP_COST_TIME] = 60000000000;
	account_of_facts.costs[OP_COST_CPUS] = 120000000000;
	account_of_facts.costs[OP_COST_HANDLER] = 600000000;
	account_of_facts.costs[OP_COST_DAEMON] = 600000000;
	account_of_facts.costs[OP_COST_LOWERED] = 12000000000;
	account_of_facts.costs[OP_COST_BUDGET] = 10000;
	account_of_facts.costs[OP_COST_DIVISOR] = 4;
	account_of_facts.costs[OP_COST_RATE] = 1000;
	m->report.account = &account_of_facts;
}

static void rate_was_as_asked(struct made_report *m)
{
	rate_was_lowered(m);
	account_of_facts.costs[OP_COST_DIVISOR] = 0;
}

static void files_were_unread(struct made_report *m)
{
	m->report.messages.nr_unread = 3;
}

static void frames_were_folded(struct made_report *m)
{
	static const struct op_runtime *list[2];

	list[0] = op_runtime_of_file("python3");
	list[1] = op_runtime_of_file("ruby");
	m->report.missing.folded = list;
	m->report.missing.nr_folded = NR(list);
}

/* ---- pages --------------------------------------------------------------- */

static void builds_were_added(struct made_report *m)
{
	static const struct pp_sum_of_builds sums[] = { { "/lib/libc.so", 3 },
							{ "/opt/other", 2 } };

	m->report.builds.sums = sums;
	m->report.builds.nr_sums = NR(sums);
}

static void there_are_messages(struct made_report *m)
{
	static struct pp_message list[] = {
		{ .kind = PP_WARNING, .text = "/bin/x: no symbols" },
		{ .kind = PP_REMARK_STATS, .text = "7 files" },
		{ .kind = PP_WARNING, .text = "<lost>" },
	};

	m->report.messages.list = list;
	m->report.messages.nr = NR(list);
}

/* The code of a page: its report has a class for each event, in another order
 * than that of the symbols. */
static struct pp_class code_classes[2];
static struct pp_report code_report;
static struct pp_code_symbol code_symbols[3];
static const char *code_lines[] = { NULL, "one", "two", NULL, NULL, "last" };
static struct pp_code_file code_files[] = {
	{ "/src/a.c", code_lines, NR(code_lines), false },
	{ "/src/b.c", NULL, 0, true },
	{ "/src/c.c", code_lines, 4, false },
};
static struct pp_code_insn code_insns[] = {
	{ .vma = 0x401000, .text = "push", .counts = made_counts[0] },
	{ .vma = 0x401001, .text = "nop", .file = 2, .line = 3 },
	{ .vma = 0x401008, .text = "nop", .line = 2, .counts = made_counts[2] },
};
static const struct pp_code page_code = {
	.report = &code_report,
	.symbols = code_symbols,
	.nr_symbols = NR(code_symbols),
	.nr_more = 4,
	.files = code_files,
	.nr_files = NR(code_files),
};

/* Two threads of two events. */
static void a_page_with_code(struct made_report *m)
{
	static struct pp_symbol_entry entries[3];

	tasks_in_rows(m);
	for (size_t i = 0; i < 2; i++) {
		code_classes[i] = task_classes[1 - i];
		code_classes[i].tgid = code_classes[i].tid = OP_MANGLE_ALL;
		code_classes[i].name = code_classes[i].event;
	}
	code_report = m->report;
	code_report.classes = (struct pp_classes){ .classes = code_classes,
						   .nr = 2,
						   .axis = PP_AXIS_EVENT };
	for (size_t i = 0; i < 3; i++)
		entries[i] = m->symbols[i];
	entries[1].is_inlined = true;
	code_symbols[0] = (struct pp_code_symbol){
		.entry = &entries[0],
		.insns = code_insns,
		.nr_insns = NR(code_insns),
		.is_cut = true,
	};
	code_symbols[1] = (struct pp_code_symbol){ .entry = &entries[1],
						   .insns = code_insns + 1,
						   .nr_insns = 1 };
	code_symbols[2] = (struct pp_code_symbol){ .entry = &entries[2],
						   .problem = "no binary" };
	there_are_messages(m);
	code_report.messages = m->report.messages;
	code_report.messages.nr = 1;
}

/* The stacks of a page, of one of its events. */
static struct pp_report page_stacks;

static void a_page_with_stacks(struct made_report *m)
{
	static struct pp_frame frames[] = { { .name = "all" } };
	static struct pp_tree_node nodes[] = { { 0, 0, 0 } };
	static uint64_t counts[] = { 7 };
	static uint64_t none[] = { 0 };
	static struct pp_tree tree = { .frames = frames,
				       .nr_frames = 1,
				       .nodes = nodes,
				       .nr_nodes = 1,
				       .nr_columns = 1,
				       .self = counts,
				       .all = counts,
				       .broken = none,
				       .cut = none };

	m->classes[0].event = "MISSES";
	page_stacks = m->report;
	page_stacks.classes.classes = &m->classes[1];
	page_stacks.classes.nr = 1;
	page_stacks.tree = &tree;
	page_stacks.totals = made_totals + 1;
}

/* ---- classic XML --------------------------------------------------------- */

/* The first application has samples in its library alone. */
static void a_library_alone(struct made_report *m)
{
	m->report.symbols.list++;
	m->report.symbols.nr = 2;
	m->report.symbols.known = m->symbols;
}

static void processes_in_classic_xml(struct made_report *m)
{
	named_threads(m);
	m->classes[0].cgroup = m->classes[1].cgroup = "/a.service";
}

/* Two lines of one function, and a function of its name in another image. */
static void lines_of_one_function(struct made_report *m)
{
	source_lines(m);
	m->symbols[1].image = m->symbols[0].image;
	for (size_t i = 1; i < 3; i++)
		m->symbols[i].raw_name = m->symbols[0].raw_name;
}

/* ---- which symbols are written ------------------------------------------- */

/* The only symbol that is shown calls another one and itself. */
static void a_callee_that_is_not_shown(struct made_report *m)
{
	m->neighbours[0].nr_callers = 0;
	m->report.symbols.nr = 1;
}

/* Of three functions of one name two are shown, the last one first. */
static void functions_of_one_name(struct made_report *m)
{
	static struct pp_symbol_entry shown[2];

	for (size_t i = 1; i < 3; i++) {
		m->symbols[i].raw_name = m->symbols[0].raw_name;
		m->symbols[i].image = m->symbols[0].image;
		m->symbols[i].app = m->symbols[0].app;
	}
	m->symbols[2].details = made_details;
	m->symbols[2].nr_details = 1;
	shown[0] = m->symbols[2];
	shown[1] = m->symbols[1];
	m->report.symbols.list = shown;
	m->report.symbols.nr = 2;
}

/* Three events, and two of the columns are of the third. */
static void three_events(struct made_report *m)
{
	static const char *const events[] = { "CYCLES", "MISSES", "BRANCHES",
					      "BRANCHES", "MISSES" };

	tasks_in_rows(m);
	m->report.classes.in_rows = false;
	for (size_t i = 0; i < NR(task_classes); i++) {
		task_classes[i].event = events[i];
		task_classes[i].tgid = task_classes[i].tid = OP_MANGLE_ALL;
		task_classes[i].cpu = i < 3 ? 0 : 1;
	}
}

static void one_application(struct made_report *m)
{
	m->report.summary.nr_apps = 1;
	m->classes[0].event = "CYCLES:user";
	m->texts[0].event = "Cycles\nof the CPU";
}

/* The names of images have 20 and 21 characters. */
static void names_of_some_length(struct made_report *m)
{
	static const struct pp_image images[] = {
		{ .name = "/lib/libof20characters.so" },
		{ .name = "/lib/libof21characters0.so" },
	};

	m->symbols[0].image = &images[0];
	m->symbols[1].image = &images[1];
}

/* ---- rows ---------------------------------------------------------------- */

/* clang-format off */
static const struct fact_row {
	const char *name, *format;
	void (*change)(struct made_report *m);
	unsigned int flags;
	struct pp_format_options options;
	const char *from, *to;
	const char *wanted;
} fact_rows[] = {
	{ "tasks and their images",
	  "text", tasks_in_rows, 0, { 0 }, "", "END",
	  EXPECTED("tasks-and-their-images") },
	{ "tasks without a head",
	  "text", tasks_in_rows, 0, { .no_header = true, .long_names = true, .global_percent = true }, "", "END",
	  EXPECTED_ROW },
	{ "processes",
	  "text", processes_in_rows, 0, { .no_header = true }, "", "END", EXPECTED_ROW },
	{ "processes in cgroups",
	  "text", cgroups_in_rows, 0, { .no_header = true }, "", "END", EXPECTED_ROW },
	{ "cgroups",
	  "text", cgroups_alone, 0, { .no_header = true }, "", "END", EXPECTED_ROW },
	{ "an image in two applications",
	  "text", one_image_of_two, 0, { .no_header = true }, "", "END", EXPECTED_ROW },
	{ "symbols of tasks",
	  "text", tasks_in_rows, SYMBOLS, { 0 }, "", "END", EXPECTED_ROW },
	{ "symbols of tasks with running sums",
	  "text", tasks_in_rows, SYMBOLS, { .no_header = true, .accumulated = true }, "", "END",
	  EXPECTED_ROW },
	{ "symbols of tasks by symbol",
	  "text", in_order_of_symbols, SYMBOLS, { .no_header = true }, "", "END", EXPECTED_ROW },
	{ "symbols of tasks with what they called",
	  "text", totals_of_tasks, SYMBOLS, { 0 }, "samples", "END", EXPECTED_ROW },
	{ "symbols of processes",
	  "text", processes_in_rows, SYMBOLS, { .show_address = true }, "vma", "END",
	  EXPECTED_ROW },
	{ "symbols of processes in cgroups",
	  "text", cgroups_in_rows, SYMBOLS, { 0 }, "samples", "END", EXPECTED_ROW },
	{ "symbols of cgroups",
	  "text", cgroups_alone, SYMBOLS, { 0 }, "samples", "END", EXPECTED_ROW },
	{ "lines",
	  "text", source_lines, SYMBOLS | LINES, { 0 }, "samples", "END", EXPECTED_ROW },
	{ "lines on a terminal",
	  "text", source_lines, SYMBOLS | LINES, { .width = 80 }, "samples", "END", EXPECTED_ROW },
	{ "lines on a terminal with little room",
	  "text", source_lines, SYMBOLS | LINES, { .width = 56 }, "samples", "END", EXPECTED_ROW },
	{ "lines on a wide terminal",
	  "text", source_lines, SYMBOLS | LINES | MANY_APPS, { .width = 100, .long_names = true }, "samples", "END",
	  EXPECTED_ROW },
	{ "lines with long names",
	  "text", long_names_of_lines, SYMBOLS | LINES, { .width = 99 }, "samples", "END",
	  EXPECTED_ROW },
	{ "lines with long names in a file",
	  "text", long_names_of_lines, SYMBOLS | LINES, { .long_names = true }, "samples", "END",
	  EXPECTED_ROW },
	{ "lines in JSON",
	  "json", source_lines, SYMBOLS, { 0 }, "\"lines\"", "END", EXPECTED_ROW },
	{ "lines in CSV",
	  "csv", source_lines, SYMBOLS, { 0 }, "", "END", EXPECTED_ROW },
	{ "a scale",
	  "text", a_scale, 0, { 0 }, "Counted", "            cpu", EXPECTED_ROW },
	{ "samples that came together",
	  "text", a_scale_in_turns, 0, { 0 }, "Counted", "            cpu", EXPECTED_ROW },
	{ "samples that stand for some",
	  "text", a_scale_and_a_grain, 0, { 0 }, "Counted", "            cpu", EXPECTED_ROW },
	{ "samples that count for their periods",
	  "text", samples_of_periods, 0, { 0 }, "Counted", "            cpu", EXPECTED_ROW },
	{ "periods in JSON",
	  "json", samples_of_periods, 0, { 0 }, "\"classes\"", "\"applications\"", EXPECTED_ROW },
	{ "a scale of a column",
	  "text", a_scale_of_a_cpu, 0, { 0 }, "Counted", "            cpu", EXPECTED_ROW },
	{ "an old scale",
	  "text", an_old_scale, SYMBOLS | DIFF, { 0 }, "Counted", "samples  %", EXPECTED_ROW },
	{ "a scale in JSON",
	  "json", a_scale, 0, { 0 }, "\"classes\"", "\"applications\"", EXPECTED_ROW },
	{ "an old scale in JSON",
	  "json", an_old_scale, SYMBOLS | DIFF, { 0 }, "\"old_scales\"", "\"applications\"",
	  EXPECTED_ROW },
	{ "a scale in CSV",
	  "csv", a_scale, 0, { 0 }, "1,scaled", "END", EXPECTED_ROW },
	{ "a scale in XML",
	  "xml", a_scale, SYMBOLS, { 0 }, "<eventsetup", "</setup>",
	  "<eventsetup  id=\"0\" eventname=\"CYCLES\" unitmask=\"1\" setupcount=\"100000\" timecounted=\"25\" scale=\"4\"/>\n" },
	{ "a scale in XML of the original",
	  "xml", a_scale, SYMBOLS, { .xml_classic = true }, "<eventsetup", "</setup>",
	  "<eventsetup  id=\"0\" eventname=\"CYCLES\" unitmask=\"1\" setupcount=\"100000\"/>\n" },
	{ "a history",
	  "text", a_history, 0, { 0 }, "Time", "            cpu",
	  "Time: 2026-03-31 14:00:00 to 2026-03-31 14:02:00, 2 spans\n" },
	{ "one span",
	  "text", one_span, 0, { 0 }, "Time", "            cpu",
	  "Time: 2026-03-31 14:00:00 to 2026-03-31 14:02:00, 1 span\n" },
	{ "a coarse part",
	  "text", a_part_of_it, 0, { 0 }, "Time", "            cpu",
	  "Time: 2026-03-31 14:00:00 to 2026-03-31 14:02:00, 2 spans; asked for 2026-03-31 14:00:00 to 2026-03-31 14:01:00, but the history is no finer there\n" },
	{ "a history that was dropped",
	  "text", some_was_dropped, 0, { 0 }, "Time", "            cpu",
	  "Time: 2026-03-31 14:00:00 to 2026-03-31 14:02:00, 2 spans; 77 samples up to 2026-03-31 13:58:20 dropped\n" },
	{ "an old history",
	  "text", an_old_history, SYMBOLS | DIFF, { 0 }, "Time", "samples", EXPECTED_ROW },
	{ "a history in JSON",
	  "json", a_history, 0, { 0 }, "\"history\"", "\"applications\"", EXPECTED_ROW },
	{ "a part in JSON",
	  "json", a_part_of_it, 0, { 0 }, "\"history\"", "\"applications\"", EXPECTED_ROW },
	{ "a history that was dropped in JSON",
	  "json", some_was_dropped, 0, { 0 }, "\"history\"", "\"applications\"", EXPECTED_ROW },
	{ "an old history in JSON",
	  "json", an_old_history, 0, { 0 }, "\"history\"", "\"applications\"",
	  EXPECTED("an-old-history-in-json") },
	{ "a history that was dropped in CSV",
	  "csv", some_was_dropped, 0, { 0 }, "1,dropped", "END",
	  "1,dropped,,,,,,,,77\n" },
	{ "a history in XML",
	  "xml", a_history, SYMBOLS, { 0 }, "<history", "<binary", EXPECTED_ROW },
	{ "a history that was dropped in XML",
	  "xml", some_was_dropped, SYMBOLS, { 0 }, "<history", "<binary", EXPECTED_ROW },
	{ "times in JSON",
	  "json", columns_of_times, TWO, { 0 }, "\"classes\"", "\"applications\"", EXPECTED_ROW },
	{ "times in XML",
	  "xml", columns_of_times, SYMBOLS | TWO, { 0 }, "<classes", "<binary", EXPECTED_ROW },
	{ "named threads",
	  "text", named_threads, TWO, { 0 }, "Thread", "            cpu", EXPECTED_ROW },
	{ "named threads in JSON",
	  "json", named_threads, TWO, { 0 }, "\"classes\"", "\"applications\"", EXPECTED_ROW },
	{ "named threads in CSV",
	  "csv", named_threads, TWO, { 0 }, "", "END", EXPECTED_ROW },
	{ "named threads in CSV with changes",
	  "csv", named_threads, SYMBOLS | DIFF | TWO, { 0 }, "", "END", EXPECTED_ROW },
	{ "named threads in CSV with intervals of changes",
	  "csv", named_threads, SYMBOLS | DIFF | INTERVALS | TWO, { 0 }, "version", "1,symbol,cpu:12",
	  EXPECTED_ROW },
	{ "named processes",
	  "text", named_processes, TWO, { 0 }, "Processes", "            cpu", EXPECTED_ROW },
	{ "cgroups in columns",
	  "text", columns_of_cgroups, TWO, { 0 }, "Processes", "            cpu", EXPECTED_ROW },
	{ "a cgroup and all",
	  "text", one_cgroup_and_all, TWO, { 0 }, "Processes", "            cpu", EXPECTED_ROW },
	{ "cgroups in JSON",
	  "json", columns_of_cgroups, TWO, { 0 }, "\"classes\"", "\"applications\"", EXPECTED_ROW },
	{ "cgroups in CSV",
	  "csv", columns_of_cgroups, TWO, { .no_header = true }, "", "END", EXPECTED_ROW },
	{ "labels",
	  "text", labels_of_sessions, TWO, { 0 }, "Samples of", "            cpu", EXPECTED_ROW },
	{ "labels in JSON",
	  "json", labels_of_sessions, TWO, { 0 }, "\"classes\"", "\"applications\"", EXPECTED_ROW },
	{ "a rate that was lowered",
	  "text", rate_was_lowered, 0, { 0 }, "Samples", "            cpu", EXPECTED_ROW },
	{ "a rate that was not",
	  "text", rate_was_as_asked, 0, { 0 }, "Samples", "            cpu",
	  "Samples: 1010 = 1000 + 10 (8 buffer_full, 2 no_mm)\n" },
	{ "a rate that was lowered in JSON",
	  "json", rate_was_lowered, 0, { 0 }, "\"causes\"", "\"applications\"", EXPECTED_ROW },
	{ "a rate that was lowered in XML",
	  "xml", rate_was_lowered, SYMBOLS, { 0 }, "<account", "<loss",
	  "<account  source=\"file\" taken=\"1010\" stored=\"1000\" pending=\"0\" lost=\"10\" loweredby=\"4\" loweredfor=\"12.0\" of=\"60.0\" cost=\"1.000\">\n" },
	{ "a rate that was not in XML",
	  "xml", rate_was_as_asked, SYMBOLS, { 0 }, "<account", "<loss",
	  "<account  source=\"file\" taken=\"1010\" stored=\"1000\" pending=\"0\" lost=\"10\" cost=\"1.000\">\n" },
	{ "files that were not read",
	  "text", files_were_unread, 0, { 0 }, "Not shown", "            cpu",
	  "Not shown: 3 sample files could not be read\n" },
	{ "files that were not read in JSON",
	  "json", files_were_unread, 0, { 0 }, "\"unread", "\"applications\"", EXPECTED_ROW },
	{ "frames of interpreters",
	  "text", frames_were_folded, 0, { 0 }, "Python", "            cpu",
	  EXPECTED_ROW },
	{ "frames of interpreters in JSON",
	  "json", frames_were_folded, 0, { 0 }, "\"folded", "\"applications\"", EXPECTED_ROW },
	{ "files that were not read in CSV",
	  "csv", files_were_unread, 0, { 0 }, "1,unread", "END",
	  "1,unread,,,,,,,,3\n" },
	{ "totals",
	  "text", totals_alone, SYMBOLS | TWO | INTERVALS, { .accumulated = true }, "samples", "END",
	  EXPECTED_ROW },
	{ "totals in CSV",
	  "csv", totals_alone, SYMBOLS | TWO, { 0 }, "", "END", EXPECTED_ROW },
	{ "totals and tasks in CSV",
	  "csv", totals_and_a_task, CALLS | TWO | INTERVALS | DETAILS, { 0 }, "", "1,symbol,cpu:0,/opt",
	  EXPECTED("totals-and-tasks-in-csv") },
	{ "totals in JSON",
	  "json", with_totals, SYMBOLS | TWO | INTERVALS, { 0 }, "\"symbols\"", "END",
	  EXPECTED_ROW },
	{ "totals on a page",
	  "html", totals_alone, SYMBOLS | TWO, { 0 }, "\"has_totals\"", " \"cpu\"",
	  "\"has_totals\": true,\n" },
	{ "totals of symbols on a page",
	  "html", totals_alone, SYMBOLS | TWO, { 0 }, " \"counts\"", " \"whole_names\"", EXPECTED_ROW },
	{ "an inlined function",
	  "text", an_inlined_function, SYMBOLS | DETAILS, { .show_address = true }, "vma", "END",
	  EXPECTED_ROW },
	{ "an inlined function at a long address",
	  "text", an_inlined_function, SYMBOLS | BIG, { .show_address = true }, "vma", "END",
	  EXPECTED_ROW },
	{ "an inlined function in JSON",
	  "json", an_inlined_function, SYMBOLS, { 0 }, "\"symbols\"", "END", EXPECTED_ROW },
	{ "an inlined function on a page",
	  "html", an_inlined_function, SYMBOLS, { 0 }, " \"vma\"", " \"counts\"", EXPECTED_ROW },
	{ "symbols on a terminal",
	  "text", places_of_all, SYMBOLS | MANY_APPS | LINES, { .width = 80 }, "samples", "END",
	  EXPECTED_ROW },
	{ "symbols without places on a terminal",
	  "text", one_place, SYMBOLS | MANY_APPS | LINES, { .width = 80 }, "samples", "END",
	  EXPECTED_ROW },
	{ "symbols without places in a file",
	  "text", one_place, SYMBOLS | MANY_APPS | LINES, { .width = 0 }, "samples", "END",
	  EXPECTED_ROW },
	{ "symbols on a narrow terminal",
	  "text", places_of_all, SYMBOLS | MANY_APPS | LINES, { .width = 40, .long_names = true }, "samples", "END",
	  EXPECTED_ROW },
	{ "symbols on a wide terminal",
	  "text", places_of_all, SYMBOLS | MANY_APPS | LINES, { .width = 200, .long_names = true }, "samples", "END",
	  EXPECTED_ROW },
	{ "builds on a page",
	  "html", builds_were_added, 0, { 0 }, " \"builds\"", " \"totals\"", EXPECTED_ROW },
	{ "messages on a page",
	  "html", there_are_messages, 0, { 0 }, " \"warnings\"", " \"apps\"", EXPECTED_ROW },
	{ "columns of the stacks on a page",
	  "html", a_page_with_stacks, TWO, { .stacks = &page_stacks }, " \"events\"", " \"builds\"",
	  EXPECTED_ROW },
	{ "stacks on a page",
	  "html", a_page_with_stacks, TWO, { .stacks = &page_stacks }, " \"tree\"", " \"texts\"",
	  EXPECTED("stacks-on-a-page") },
	{ "events of a page with code",
	  "html", a_page_with_code, SYMBOLS, { .code = &page_code }, " \"events\"", " \"apps\"",
	  EXPECTED("events-of-a-page-with-code") },
	{ "what a page with code counted",
	  "html", a_page_with_code, SYMBOLS, { .code = &page_code }, " \"counted\"", " \"command\"",
	  " \"counted\": \"CPU: AMD64 family10\\u000aCounted MISSES 0x01 100000\\u000aCounted CYCLES 0x01 100000\\u000a\",\n" },
	{ "code on a page",
	  "html", a_page_with_code, SYMBOLS, { .code = &page_code }, " \"code\"", "</script",
	  EXPECTED("code-on-a-page") },
	{ "a library alone in classic XML",
	  "xml", a_library_alone, SYMBOLS, { .xml_classic = true }, "<profile", "</profile",
	  EXPECTED("a-library-alone-in-classic-xml") },
	{ "a library alone in classic XML, two columns",
	  "xml", a_library_alone, SYMBOLS | TWO, { .xml_classic = true }, "<classes", "<symboltable",
	  EXPECTED("a-library-alone-in-classic-xml-two-colum") },
	{ "an account in classic XML",
	  "xml", some_was_dropped, SYMBOLS | ACCOUNT | DETAILS | CODE, { .xml_classic = true }, "<profile", "END",
	  EXPECTED("an-account-in-classic-xml") },
	{ "processes in classic XML",
	  "xml", processes_in_classic_xml, SYMBOLS | TWO, { .xml_classic = true }, "<setup", "<symboltable",
	  EXPECTED("processes-in-classic-xml") },
	{ "processes in XML",
	  "xml", processes_in_classic_xml, SYMBOLS | TWO, { 0 }, "<setup", "<symboltable",
	  EXPECTED("processes-in-xml") },
	{ "lines in XML",
	  "xml", lines_of_one_function, SYMBOLS | LINES | DETAILS, { 0 }, "<binary", "<bytestable",
	  EXPECTED("lines-in-xml") },
	{ "lines in classic XML",
	  "xml", lines_of_one_function, SYMBOLS | LINES, { .xml_classic = true }, "<symboltable", "END",
	  EXPECTED_ROW },
	{ "a callee that is not shown",
	  "xml", a_callee_that_is_not_shown, CALLS, { 0 }, "<symboltable", "</profile",
	  EXPECTED_ROW },
	{ "functions of one name",
	  "xml", functions_of_one_name, SYMBOLS | DETAILS, { 0 }, "<binary", "<bytestable",
	  EXPECTED("functions-of-one-name") },
	{ "three events in XML",
	  "xml", three_events, SYMBOLS, { 0 }, "<setup", "<module",
	  EXPECTED("three-events-in-xml") },
	{ "one application in callgrind",
	  "callgrind", one_application, SYMBOLS, { 0 }, "cmd", "\nob=", EXPECTED_ROW },
	{ "several applications in callgrind",
	  "callgrind", columns_of_cgroups, SYMBOLS, { 0 }, "cmd", "\nob=", EXPECTED_ROW },
	{ "names that fit a terminal, and one that does not",
	  "text", names_of_some_length, SYMBOLS, { .width = 80 }, "samples", "END", EXPECTED_ROW },
};
/* clang-format on */

TEST(facts_are_told)
{
	for (size_t i = 0; i < NR(fact_rows); i++) {
		const struct fact_row *row = &fact_rows[i];
		struct made_report m;

		make_report(&m, row->flags);
		row->change(&m);
		written_must_be(row->name, row->format, &m.report,
				&row->options, row->from, row->to, row->wanted);
	}
}

BEFORE_TESTS()
{
	setenv("TZ", "UTC", 1);
}
