// SPDX-License-Identifier: GPL-2.0-or-later
/* What formats write of columns with a time, a task or a scale, of tasks in
 * rows, of source lines, and of histories. A row is a fact about a report that
 * is made by hand, and the part of the text that tells of it. */

#include "tests/unit/pp_report.h"

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
		.begin = 1774965600,
		.end = 1774965720,
		.nr_spans = 2,
		.asked_begin = 1774965600,
		.asked_end = 1774965660,
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
		m->classes[i].begin = 1774965600 + 60 * i;
		m->classes[i].end = m->classes[i].begin + 60;
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
	  "      600 60.0000         3 37.5000 10/10  prog\n"
	  "\t      500 50.0000         3 37.5000 /usr/bin/prog\n"
	  "\t      100 10.0000         0       0 /lib/libc.so\n"
	  "      300 30.0000         5 62.5000 10/11  prog/worker\n"
	  "\t      200 20.0000         5 62.5000 /lib/libc.so\n"
	  "\t      100 10.0000         0       0 /usr/bin/prog\n"
	  "      100 10.0000         0       0 20/20  other\n"
	  "\t      100 10.0000         0       0 /opt/other\n" },
	{ "processes",
	  "text", processes_in_rows, 0, { .no_header = true }, "", "END",
	  "      600 99.5025 10  prog\n"
	  "\t      500 83.3333 prog\n"
	  "\t      100 16.6667 libc.so\n"
	  "        3  0.4975 20  other\n"
	  "\t        3 100.000 prog\n" },
	{ "processes in cgroups",
	  "text", cgroups_in_rows, 0, { .no_header = true }, "", "END",
	  "      600 99.5025 10  prog   a.service\n"
	  "\t      500 83.3333 prog\n"
	  "\t      100 16.6667 libc.so\n"
	  "        3  0.4975 20  other  b\n"
	  "\t        3 100.000 prog\n" },
	{ "cgroups",
	  "text", cgroups_alone, 0, { .no_header = true }, "", "END",
	  "      600 99.5025 a.service\n"
	  "\t      500 83.3333 prog\n"
	  "\t      100 16.6667 libc.so\n"
	  "        3  0.4975 b\n"
	  "\t        3 100.000 prog\n" },
	{ "an image in two applications",
	  "text", one_image_of_two, 0, { .no_header = true }, "", "END",
	  "      600 60.0000         3 37.5000 10/10  prog\n"
	  "\t      500 83.3333         3 100.000 other\n"
	  "\t      100 16.6667         0       0 libc.so of other\n"
	  "\t      100 16.6667         0       0 libc.so of prog\n"
	  "      300 30.0000         5 62.5000 10/11  prog/worker\n"
	  "\t      200 66.6667         5 100.000 libc.so of other\n"
	  "\t      200 66.6667         5 100.000 libc.so of prog\n"
	  "\t      100 33.3333         0       0 other\n"
	  "      100 10.0000         0       0 20/20  other\n" },
	{ "symbols of tasks",
	  "text", tasks_in_rows, SYMBOLS, { 0 }, "", "END",
	  "CPU: AMD64 family10\n"
	  "Counted CYCLES 0x01 100000\n"
	  "Counted MISSES 0x01 100000\n"
	  "samples  %        samples  %        tgid/tid  process/thread  image name               symbol name\n"
	  "500      50.0000  3        37.5000  10/10     prog            prog                     main\n"
	  "200      20.0000  5        62.5000  10/11     prog/worker     libc.so                  f<a&, \"b\">\n"
	  "100      10.0000  0              0  10/11     prog/worker     prog                     main\n"
	  "100      10.0000  0              0  10/10     prog            libc.so                  f<a&, \"b\">\n"
	  "100      10.0000  0              0  20/20     other           other                    /opt/other\n" },
	{ "symbols of tasks with running sums",
	  "text", tasks_in_rows, SYMBOLS, { .no_header = true, .accumulated = true }, "", "END",
	  "500      500           50.0000  50.0000    3        3             37.5000  37.5000    10/10     prog            prog                     main\n"
	  "200      700           20.0000  70.0000    5        8             62.5000  100.000    10/11     prog/worker     libc.so                  f<a&, \"b\">\n"
	  "100      800           10.0000  80.0000    0        8                   0  100.000    10/11     prog/worker     prog                     main\n"
	  "100      900           10.0000  90.0000    0        8                   0  100.000    10/10     prog            libc.so                  f<a&, \"b\">\n"
	  "100      1000          10.0000  100.000    0        8                   0  100.000    20/20     other           other                    /opt/other\n" },
	{ "symbols of tasks by symbol",
	  "text", in_order_of_symbols, SYMBOLS, { .no_header = true }, "", "END",
	  "500      50.0000  3        37.5000  10/10     prog            prog                     main\n"
	  "100      10.0000  0              0  10/11     prog/worker     prog                     main\n"
	  "100      10.0000  0              0  10/10     prog            libc.so                  f<a&, \"b\">\n"
	  "200      20.0000  5        62.5000  10/11     prog/worker     libc.so                  f<a&, \"b\">\n"
	  "100      10.0000  0              0  20/20     other           other                    /opt/other\n" },
	{ "symbols of tasks with what they called",
	  "text", totals_of_tasks, SYMBOLS, { 0 }, "samples", "END",
	  "samples  %        total %  samples  %        total %  tgid/tid  process/thread  image name               symbol name\n"
	  "500      50.0000  50.0000  3        37.5000  37.5000  10/10     prog            prog                     main\n"
	  "200      20.0000  20.0000  5        62.5000  62.5000  10/11     prog/worker     libc.so                  f<a&, \"b\">\n"
	  "100      10.0000  10.0000  0              0        0  10/11     prog/worker     prog                     main\n"
	  "100      10.0000  10.0000  0              0        0  10/10     prog            libc.so                  f<a&, \"b\">\n"
	  "100      10.0000  10.0000  0              0        0  20/20     other           other                    /opt/other\n"
	  "0              0  60.0000  0              0  37.5000  10/10     prog            other                    /opt/other\n"
	  "0              0  30.0000  0              0  62.5000  10/11     prog/worker     other                    /opt/other\n" },
	{ "symbols of processes",
	  "text", processes_in_rows, SYMBOLS, { .show_address = true }, "vma", "END",
	  "vma      samples  %        tgid/tid  process/thread  image name               symbol name\n"
	  "00401000 500      82.9187  10        prog            prog                     main\n"
	  "00001000 100      16.5837  10        prog            libc.so                  f<a&, \"b\">\n"
	  "00401000 3         0.4975  20        other           prog                     main\n" },
	{ "symbols of processes in cgroups",
	  "text", cgroups_in_rows, SYMBOLS, { 0 }, "samples", "END",
	  "samples  %        tgid/tid  process/thread  cgroup     image name               symbol name\n"
	  "500      82.9187  10        prog            a.service  prog                     main\n"
	  "100      16.5837  10        prog            a.service  libc.so                  f<a&, \"b\">\n"
	  "3         0.4975  20        other           b          prog                     main\n" },
	{ "symbols of cgroups",
	  "text", cgroups_alone, SYMBOLS, { 0 }, "samples", "END",
	  "samples  %        cgroup     image name               symbol name\n"
	  "500      82.9187  a.service  prog                     main\n"
	  "100      16.5837  a.service  libc.so                  f<a&, \"b\">\n"
	  "3         0.4975  b          prog                     main\n" },
	{ "lines",
	  "text", source_lines, SYMBOLS | LINES, { 0 }, "samples", "END",
	  "samples  %        linenr info  image name  symbol name  source\n"
	  "600      60.0000  main.c:12    prog        main         for (i = 0; i < nr; i++) { do_something(i); }\n"
	  "399      39.9000  f.c:7        libc.so     f<a&, \"b\">\n"
	  "1         0.1000  (no line)    other       /opt/other\n" },
	{ "lines on a terminal",
	  "text", source_lines, SYMBOLS | LINES, { .width = 80 }, "samples", "END",
	  "samples  %        linenr info  symbol name  source\n"
	  "600      60.0000  main.c:12    main         for (i = 0; i < nr; i++) { do_someth\n"
	  "399      39.9000  f.c:7        f\n"
	  "1         0.1000  (no line)    /opt/other\n" },
	{ "lines on a terminal with little room",
	  "text", source_lines, SYMBOLS | LINES, { .width = 56 }, "samples", "END",
	  "samples  %        linenr info  symbol name  source\n"
	  "600      60.0000  main.c:12    main         for (i = 0;\n"
	  "399      39.9000  f.c:7        f\n"
	  "1         0.1000  (no line)    /opt/other\n" },
	{ "lines on a wide terminal",
	  "text", source_lines, SYMBOLS | LINES | MANY_APPS, { .width = 100, .long_names = true }, "samples", "END",
	  "samples  %        linenr info         image name    app name      symbol name  source\n"
	  "600      60.0000  /src/dir/main.c:12  /usr/bin/prog /usr/bin/prog main         for (i = 0; i < nr; i\n"
	  "399      39.9000  /src/f.c:7          /lib/libc.so  /usr/bin/prog f\n"
	  "1         0.1000  (no line)           /opt/other    /opt/other    /opt/other\n" },
	{ "lines with long names",
	  "text", long_names_of_lines, SYMBOLS | LINES, { .width = 99 }, "samples", "END",
	  "samples  %        linenr info               symbol name               source\n"
	  "600      60.0000  a_file_with_quite_a_long_name_as_well.c:12 a_name_of_a...ong_indeed  for (i = 0;\n"
	  "399      39.9000  f.c:7                     f\n"
	  "1         0.1000  (no line)                 /opt/other\n" },
	{ "lines with long names in a file",
	  "text", long_names_of_lines, SYMBOLS | LINES, { .long_names = true }, "samples", "END",
	  "samples  %        linenr info                   image name     symbol name               source\n"
	  "600      60.0000  /src/a_file_with_quite_a_long_name_as_well.c:12 /usr/bin/prog  a_name_of_a_function_that_is_quite_long_indeed for (i = 0; i < nr; i++) { do_something(i); }\n"
	  "399      39.9000  /src/f.c:7                    /lib/libc.so   f<a&, \"b\">\n"
	  "1         0.1000  (no line)                     /opt/other     /opt/other\n" },
	{ "lines in JSON",
	  "json", source_lines, SYMBOLS, { 0 }, "\"lines\"", "END",
	  "\"lines\": [\n"
	  "  {\"application\": \"/usr/bin/prog\", \"image\": \"/usr/bin/prog\", \"symbol\": \"main\", \"raw_symbol\": \"main\", \"source\": \"for (i = 0; i < nr; i++) { do_something(i); }\", \"address\": \"0x401000\", \"size\": 32, \"samples\": [600], \"percent\": [60]},\n"
	  "  {\"application\": \"/usr/bin/prog\", \"image\": \"/lib/libc.so\", \"symbol\": \"f<a&, \\\"b\\\">\", \"raw_symbol\": \"_Z1f\", \"address\": \"0x1000\", \"size\": 8, \"file\": \"/src/f.c\", \"line\": 7, \"samples\": [399], \"percent\": [39.9]},\n"
	  "  {\"application\": \"/opt/other\", \"image\": \"/opt/other\", \"symbol\": \"/opt/other\", \"raw_symbol\": \"/opt/other\", \"samples\": [1], \"percent\": [0.1]}\n"
	  " ]\n"
	  "}\n" },
	{ "lines in CSV",
	  "csv", source_lines, SYMBOLS, { 0 }, "", "END",
	  "version,row,class,application,image,symbol,address,file,line,samples,percent,source\n"
	  "1,line,cpu:0,/usr/bin/prog,/usr/bin/prog,main,0x401000,,,600,60,\"for (i = 0; i < nr; i++) { do_something(i); }\"\n"
	  "1,line,cpu:0,/usr/bin/prog,/lib/libc.so,\"f<a&, \"\"b\"\">\",0x1000,/src/f.c,7,399,39.9,\n"
	  "1,line,cpu:0,/opt/other,/opt/other,/opt/other,,,,1,0.1,\n" },
	{ "a scale",
	  "text", a_scale, 0, { 0 }, "Counted", "            cpu",
	  "Counted CYCLES 0x01 100000\n"
	  "CYCLES was counted 25.0 % of the time: counts are scaled by 4, intervals widened; 1000 samples in all, 95 % interval 898 to 1113\n" },
	{ "samples that came together",
	  "text", a_scale_in_turns, 0, { 0 }, "Counted", "            cpu",
	  "Counted CYCLES 0x01 100000\n"
	  "CYCLES was counted 25.0 % of the time: counts are scaled by 4, intervals widened; 1000 samples in all, 95 % interval 702 to 1425\n" },
	{ "samples that stand for some",
	  "text", a_scale_and_a_grain, 0, { 0 }, "Counted", "            cpu",
	  "Counted CYCLES 0x01 100000\n"
	  "CYCLES was counted 25.0 % of the time: counts are scaled by 4, intervals widened; 1000 samples in all, 95 % interval 691 to 1447\n" },
	{ "samples that count for their periods",
	  "text", samples_of_periods, 0, { 0 }, "Counted", "            cpu",
	  "Counted CYCLES 0x01 100000\n"
	  "4 samples of CYCLES, each counted for its period, 250.0 events on average\n" },
	{ "periods in JSON",
	  "json", samples_of_periods, 0, { 0 }, "\"classes\"", "\"applications\"",
	  "\"classes\": [\n"
	  "  {\"name\": \"cpu:0\", \"event\": \"CYCLES\", \"count\": 100000, \"unit_mask\": 1, \"periods\": 4, \"sum_of_periods\": 1000, \"cpu\": 0, \"samples\": 1000}\n"
	  " ],\n"
	  " " },
	{ "a scale of a column",
	  "text", a_scale_of_a_cpu, 0, { 0 }, "Counted", "            cpu",
	  "Counted CYCLES 0x01 100000\n"
	  "CYCLES was counted 25.0 % of the time: counts are scaled by 4, intervals widened\n"
	  "Samples on CPU 0\n" },
	{ "an old scale",
	  "text", an_old_scale, SYMBOLS | DIFF, { 0 }, "Counted", "samples  %",
	  "Counted CYCLES 0x01 100000\n"
	  "In the old profile CYCLES was counted 50.0 % of the time: counts are scaled by 2, intervals widened; 2000 samples in all, 95 % interval 1914 to 2090\n" },
	{ "a scale in JSON",
	  "json", a_scale, 0, { 0 }, "\"classes\"", "\"applications\"",
	  "\"classes\": [\n"
	  "  {\"name\": \"cpu:0\", \"event\": \"CYCLES\", \"count\": 100000, \"unit_mask\": 1, \"scale\": 4, \"time_counted_percent\": 25, \"time_enabled_ns\": 4000, \"time_counted_ns\": 1000, \"samples_interval\": [898.256006, 1113.26837], \"cpu\": 0, \"samples\": 1000}\n"
	  " ],\n"
	  " " },
	{ "an old scale in JSON",
	  "json", an_old_scale, SYMBOLS | DIFF, { 0 }, "\"old_scales\"", "\"applications\"",
	  "\"old_scales\": [\n"
	  "  2\n"
	  " ],\n"
	  " " },
	{ "a scale in CSV",
	  "csv", a_scale, 0, { 0 }, "1,scaled", "END",
	  "1,scaled,cpu:0,,,,,,,1000,25\n"
	  "1,scaled_low,cpu:0,,,,,,,898.256006\n"
	  "1,scaled_high,cpu:0,,,,,,,1113.26837\n" },
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
	  "text", an_old_history, SYMBOLS | DIFF, { 0 }, "Time", "samples",
	  "Time of the old profile: 2026-03-31 14:00:00 to 2026-03-31 14:02:00, 9 spans\n"
	  "Time: 2026-03-31 14:00:00 to 2026-03-31 14:02:00, 2 spans\n" },
	{ "a history in JSON",
	  "json", a_history, 0, { 0 }, "\"history\"", "\"applications\"",
	  "\"history\": {\n"
	  "  \"begin\": 1774965600,\n"
	  "  \"end\": 1774965720,\n"
	  "  \"spans\": 2\n"
	  " },\n"
	  " " },
	{ "a part in JSON",
	  "json", a_part_of_it, 0, { 0 }, "\"history\"", "\"applications\"",
	  "\"history\": {\n"
	  "  \"begin\": 1774965600,\n"
	  "  \"end\": 1774965720,\n"
	  "  \"spans\": 2,\n"
	  "  \"asked_begin\": 1774965600,\n"
	  "  \"asked_end\": 1774965660\n"
	  " },\n"
	  " " },
	{ "a history that was dropped in JSON",
	  "json", some_was_dropped, 0, { 0 }, "\"history\"", "\"applications\"",
	  "\"history\": {\n"
	  "  \"begin\": 1774965600,\n"
	  "  \"end\": 1774965720,\n"
	  "  \"spans\": 2,\n"
	  "  \"dropped_end\": 1774965500,\n"
	  "  \"dropped_samples\": 77\n"
	  " },\n"
	  " " },
	{ "an old history in JSON",
	  "json", an_old_history, 0, { 0 }, "\"history\"", "\"applications\"",
	  EXPECTED("an-old-history-in-json") },
	{ "a history that was dropped in CSV",
	  "csv", some_was_dropped, 0, { 0 }, "1,dropped", "END",
	  "1,dropped,,,,,,,,77\n" },
	{ "a history in XML",
	  "xml", a_history, SYMBOLS, { 0 }, "<history", "<binary",
	  "<history begin=\"1774965600\" end=\"1774965720\" spans=\"2\"/>\n"
	  "\n" },
	{ "a history that was dropped in XML",
	  "xml", some_was_dropped, SYMBOLS, { 0 }, "<history", "<binary",
	  "<history begin=\"1774965600\" end=\"1774965720\" spans=\"2\" droppedend=\"1774965500\" droppedsamples=\"77\"/>\n"
	  "\n" },
	{ "times in JSON",
	  "json", columns_of_times, TWO, { 0 }, "\"classes\"", "\"applications\"",
	  "\"classes\": [\n"
	  "  {\"name\": \"cpu:0\", \"event\": \"CYCLES\", \"count\": 100000, \"unit_mask\": 1, \"begin\": 1774965600, \"end\": 1774965660, \"samples\": 1000},\n"
	  "  {\"name\": \"cpu:12 and a long name\", \"event\": \"CYCLES\", \"count\": 100000, \"unit_mask\": 1, \"begin\": 1774965660, \"end\": 1774965720, \"samples\": 8}\n"
	  " ],\n"
	  " " },
	{ "times in XML",
	  "xml", columns_of_times, SYMBOLS | TWO, { 0 }, "<classes", "<binary",
	  "<classes>\n"
	  "<class  name=\"c0\" begin=\"1774965600\" end=\"1774965660\"/>\n"
	  "<class  name=\"c1\" begin=\"1774965660\" end=\"1774965720\"/>\n"
	  "</classes>\n" },
	{ "named threads",
	  "text", named_threads, TWO, { 0 }, "Thread", "            cpu",
	  "Thread 7 (a \"program\")\n"
	  "Thread 8 (a \"program\"/worker)\n" },
	{ "named threads in JSON",
	  "json", named_threads, TWO, { 0 }, "\"classes\"", "\"applications\"",
	  "\"classes\": [\n"
	  "  {\"name\": \"cpu:0\", \"event\": \"CYCLES\", \"count\": 100000, \"unit_mask\": 1, \"tgid\": 7, \"tid\": 7, \"process\": \"a \\\"program\\\"\", \"samples\": 1000},\n"
	  "  {\"name\": \"cpu:12 and a long name\", \"event\": \"CYCLES\", \"count\": 100000, \"unit_mask\": 1, \"tgid\": 7, \"tid\": 8, \"process\": \"a \\\"program\\\"\", \"thread\": \"worker\", \"mount_namespace\": 4026531841, \"samples\": 8}\n"
	  " ],\n"
	  " " },
	{ "named threads in CSV",
	  "csv", named_threads, TWO, { 0 }, "", "END",
	  "version,row,class,application,image,symbol,address,file,line,samples,percent,process,thread,cgroup\n"
	  "1,image,cpu:0,/usr/bin/prog,/usr/bin/prog,,,,,600,60,\"a \"\"program\"\"\",,\n"
	  "1,image,cpu:12 and a long name,/usr/bin/prog,/usr/bin/prog,,,,,3,37.5,\"a \"\"program\"\"\",worker,\n"
	  "1,image,cpu:0,/usr/bin/prog,/lib/libc.so,,,,,399,39.9,\"a \"\"program\"\"\",,\n"
	  "1,image,cpu:12 and a long name,/usr/bin/prog,/lib/libc.so,,,,,5,62.5,\"a \"\"program\"\"\",worker,\n"
	  "1,image,cpu:0,/opt/other,/opt/other,,,,,1,0.1,\"a \"\"program\"\"\",,\n" },
	{ "named threads in CSV with changes",
	  "csv", named_threads, SYMBOLS | DIFF | TWO, { 0 }, "", "END",
	  "version,row,class,application,image,symbol,address,file,line,samples,percent,old_samples,old_percent,change_percent,process,thread,cgroup\n"
	  "1,symbol,cpu:0,/usr/bin/prog,/usr/bin/prog,main,0x401000,,,600,60,1000,50,20,\"a \"\"program\"\"\",,\n"
	  "1,symbol,cpu:12 and a long name,/usr/bin/prog,/usr/bin/prog,main,0x401000,,,3,37.5,0,0,0,\"a \"\"program\"\"\",worker,\n"
	  "1,symbol,cpu:0,/usr/bin/prog,/lib/libc.so,\"f<a&, \"\"b\"\">\",0x1000,,,399,39.9,0,0,,\"a \"\"program\"\"\",,\n"
	  "1,symbol,cpu:12 and a long name,/usr/bin/prog,/lib/libc.so,\"f<a&, \"\"b\"\">\",0x1000,,,5,62.5,0,0,,\"a \"\"program\"\"\",worker,\n"
	  "1,symbol,cpu:0,/opt/other,/opt/other,/opt/other,,,,1,0.1,7,0.35,-100,\"a \"\"program\"\"\",,\n" },
	{ "named threads in CSV with intervals of changes",
	  "csv", named_threads, SYMBOLS | DIFF | INTERVALS | TWO, { 0 }, "version", "1,symbol,cpu:12",
	  "version,row,class,application,image,symbol,address,file,line,samples,percent,percent_low,percent_high,old_samples,old_percent,change_percent,change_low,change_high,p,significant,process,thread,cgroup\n"
	  "1,symbol,cpu:0,/usr/bin/prog,/usr/bin/prog,main,0x401000,,,600,60,56.930943,62.9925219,1000,50,20,10.5,30,1e-05,1,\"a \"\"program\"\"\",,\n" },
	{ "named processes",
	  "text", named_processes, TWO, { 0 }, "Processes", "            cpu",
	  "Processes with a thread group ID of 7 (a \"program\")\n"
	  "Processes with a thread group ID of all\n" },
	{ "cgroups in columns",
	  "text", columns_of_cgroups, TWO, { 0 }, "Processes", "            cpu",
	  "Processes in cgroup /system.slice/a.service\n"
	  "Processes in cgroup unknown\n" },
	{ "a cgroup and all",
	  "text", one_cgroup_and_all, TWO, { 0 }, "Processes", "            cpu",
	  "Processes in cgroup /system.slice/a.service\n"
	  "Processes in cgroup all\n" },
	{ "cgroups in JSON",
	  "json", columns_of_cgroups, TWO, { 0 }, "\"classes\"", "\"applications\"",
	  "\"classes\": [\n"
	  "  {\"name\": \"cpu:0\", \"event\": \"CYCLES\", \"count\": 100000, \"unit_mask\": 1, \"cpu\": 0, \"cgroup\": \"/system.slice/a.service\", \"cgroup_name\": \"a.service\", \"samples\": 1000},\n"
	  "  {\"name\": \"cpu:12 and a long name\", \"event\": \"CYCLES\", \"count\": 100000, \"unit_mask\": 1, \"cpu\": 12, \"cgroup_name\": \"unknown\", \"samples\": 8}\n"
	  " ],\n"
	  " " },
	{ "cgroups in CSV",
	  "csv", columns_of_cgroups, TWO, { .no_header = true }, "", "END",
	  "1,image,cpu:0,/usr/bin/prog,/usr/bin/prog,,,,,600,60,,,/system.slice/a.service\n"
	  "1,image,cpu:12 and a long name,/usr/bin/prog,/usr/bin/prog,,,,,3,37.5,,,\n"
	  "1,image,cpu:0,/usr/bin/prog,/lib/libc.so,,,,,399,39.9,,,/system.slice/a.service\n"
	  "1,image,cpu:12 and a long name,/usr/bin/prog,/lib/libc.so,,,,,5,62.5,,,\n"
	  "1,image,cpu:0,/opt/other,/opt/other,,,,,1,0.1,,,/system.slice/a.service\n" },
	{ "labels",
	  "text", labels_of_sessions, TWO, { 0 }, "Samples of", "            cpu",
	  "Samples of host a\n"
	  "Samples of host b\n" },
	{ "labels in JSON",
	  "json", labels_of_sessions, TWO, { 0 }, "\"classes\"", "\"applications\"",
	  "\"classes\": [\n"
	  "  {\"name\": \"cpu:0\", \"event\": \"CYCLES\", \"count\": 100000, \"unit_mask\": 1, \"cpu\": 0, \"label\": \"host\", \"label_value\": \"a\", \"samples\": 1000},\n"
	  "  {\"name\": \"cpu:12 and a long name\", \"event\": \"CYCLES\", \"count\": 100000, \"unit_mask\": 1, \"cpu\": 12, \"label\": \"host\", \"label_value\": \"b\", \"samples\": 8}\n"
	  " ],\n"
	  " " },
	{ "a rate that was lowered",
	  "text", rate_was_lowered, 0, { 0 }, "Samples", "            cpu",
	  "Samples: 1010 = 1000 + 10 (8 buffer_full, 2 no_mm)\n"
	  "Rate lowered to 250/s for 12 s of 60 s to stay within 1 % of each CPU; cost 1.00 %: each sample stands for several, intervals are wider\n" },
	{ "a rate that was not",
	  "text", rate_was_as_asked, 0, { 0 }, "Samples", "            cpu",
	  "Samples: 1010 = 1000 + 10 (8 buffer_full, 2 no_mm)\n" },
	{ "a rate that was lowered in JSON",
	  "json", rate_was_lowered, 0, { 0 }, "\"causes\"", "\"applications\"",
	  "\"causes\": {\"buffer_full\": 8, \"nothing\": 0, \"no_mm\": 2},\n"
	  "  \"cost\": {\"time_ns\": 60000000000, \"cpus_ns\": 120000000000, \"handler_ns\": 600000000, \"daemon_ns\": 600000000, \"lowered_ns\": 12000000000, \"spread\": 0, \"budget\": 10000, \"divisor\": 4, \"rate\": 1000, \"percent\": 1}\n"
	  " },\n"
	  " " },
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
	  "json", files_were_unread, 0, { 0 }, "\"unread", "\"applications\"",
	  "\"unread_files\": 3,\n"
	  " " },
	{ "files that were not read in CSV",
	  "csv", files_were_unread, 0, { 0 }, "1,unread", "END",
	  "1,unread,,,,,,,,3\n" },
	{ "totals",
	  "text", totals_alone, SYMBOLS | TWO | INTERVALS, { .accumulated = true }, "samples", "END",
	  "samples  cum. samples  %        95% interval      cum. %     total %  95% interval      samples  cum. samples  %        95% interval      cum. %     total %  95% interval      image name               symbol name\n"
	  "600      600           60.0000  56.9309-62.9925   60.0000    90.0000  87.9848-91.7091   3        3             37.5000  13.6844-69.4258   37.5000    50.0000  21.5216-78.4784   prog                     main\n"
	  "399      999           39.9000  36.9091-42.9682   99.9000          0  0.0000-0.3827     5        8             62.5000  30.5742-86.3156   100.000          0  0.0000-32.4408    libc.so                  f<a&, \"b\">\n"
	  "0        999                 0  0.0000-0.3827     99.9000     0.1000  0.0177-0.5643     0        8                   0  0.0000-32.4408    100.000    100.000  67.5592-100.0000  other                    /opt/other\n" },
	{ "totals in CSV",
	  "csv", totals_alone, SYMBOLS | TWO, { 0 }, "", "END",
	  "version,row,class,application,image,symbol,address,file,line,samples,percent,total,total_percent\n"
	  "1,symbol,cpu:0,/usr/bin/prog,/usr/bin/prog,main,0x401000,,,600,60,900,90\n"
	  "1,symbol,cpu:12 and a long name,/usr/bin/prog,/usr/bin/prog,main,0x401000,,,3,37.5,4,50\n"
	  "1,symbol,cpu:0,/usr/bin/prog,/lib/libc.so,\"f<a&, \"\"b\"\">\",0x1000,,,399,39.9,0,0\n"
	  "1,symbol,cpu:12 and a long name,/usr/bin/prog,/lib/libc.so,\"f<a&, \"\"b\"\">\",0x1000,,,5,62.5,0,0\n"
	  "1,symbol,cpu:0,/opt/other,/opt/other,/opt/other,,,,0,0,1,0.1\n"
	  "1,symbol,cpu:12 and a long name,/opt/other,/opt/other,/opt/other,,,,0,0,8,100\n" },
	{ "totals and tasks in CSV",
	  "csv", totals_and_a_task, CALLS | TWO | INTERVALS | DETAILS, { 0 }, "", "1,symbol,cpu:0,/opt",
	  EXPECTED("totals-and-tasks-in-csv") },
	{ "totals in JSON",
	  "json", with_totals, SYMBOLS | TWO | INTERVALS, { 0 }, "\"symbols\"", "END",
	  "\"symbols\": [\n"
	  "  {\"application\": \"/usr/bin/prog\", \"image\": \"/usr/bin/prog\", \"symbol\": \"main\", \"raw_symbol\": \"main\", \"address\": \"0x401000\", \"size\": 32, \"samples\": [600, 3], \"percent\": [60, 37.5], \"percent_interval\": [[56.930943, 62.9925219], [13.6844286, 69.4257605]], \"total\": [900, 4], \"total_percent\": [90, 50], \"total_percent_interval\": [[87.9848037, 91.7090556], [21.5216062, 78.4783938]]},\n"
	  "  {\"application\": \"/usr/bin/prog\", \"image\": \"/lib/libc.so\", \"symbol\": \"f<a&, \\\"b\\\">\", \"raw_symbol\": \"_Z1f\", \"address\": \"0x1000\", \"size\": 8, \"samples\": [399, 5], \"percent\": [39.9, 62.5], \"percent_interval\": [[36.9091251, 42.9681754], [30.5742395, 86.3155714]], \"total\": [0, 0], \"total_percent\": [0, 0], \"total_percent_interval\": [[0, 0.382675849], [0, 32.4407565]]},\n"
	  "  {\"application\": \"/opt/other\", \"image\": \"/opt/other\", \"symbol\": \"/opt/other\", \"raw_symbol\": \"/opt/other\", \"samples\": [1, 0], \"percent\": [0.1, 0], \"percent_interval\": [[0.0176546371, 0.56425586], [0, 32.4407565]], \"total\": [1, 8], \"total_percent\": [0.1, 100], \"total_percent_interval\": [[0.0176546371, 0.56425586], [67.5592435, 100]]}\n"
	  " ]\n"
	  "}\n" },
	{ "totals on a page",
	  "html", totals_alone, SYMBOLS | TWO, { 0 }, "\"has_totals\"", " \"cpu\"",
	  "\"has_totals\": true,\n" },
	{ "totals of symbols on a page",
	  "html", totals_alone, SYMBOLS | TWO, { 0 }, " \"counts\"", " \"texts\"",
	  " \"counts\": [2,0,600,1,3,2,0,399,1,5,0],\n"
	  "  \"all\": [2,0,900,1,4,0,2,0,1,1,8]\n"
	  " },\n" },
	{ "an inlined function",
	  "text", an_inlined_function, SYMBOLS | DETAILS, { .show_address = true }, "vma", "END",
	  "vma      samples  %        image name               symbol name\n"
	  "00401000 600      60.0000  prog                     main\n"
	  "  00401000 100      16.6667\n"
	  "  00401008 500      83.3333\n"
	  "inlined  399      39.9000  libc.so                  f<a&, \"b\">\n"
	  "  00001001 399      100.000\n"
	  "00000000 1         0.1000  other                    /opt/other\n" },
	{ "an inlined function at a long address",
	  "text", an_inlined_function, SYMBOLS | BIG, { .show_address = true }, "vma", "END",
	  "vma      samples  %        image name               symbol name\n"
	  "0000000000401000 600      60.0000  prog                     main\n"
	  "inlined          399      39.9000  libc.so                  f<a&, \"b\">\n"
	  "0000000000000000 1         0.1000  other                    /opt/other\n" },
	{ "an inlined function in JSON",
	  "json", an_inlined_function, SYMBOLS, { 0 }, "\"symbols\"", "END",
	  "\"symbols\": [\n"
	  "  {\"application\": \"/usr/bin/prog\", \"image\": \"/usr/bin/prog\", \"symbol\": \"main\", \"raw_symbol\": \"main\", \"address\": \"0x401000\", \"size\": 32, \"samples\": [600], \"percent\": [60]},\n"
	  "  {\"application\": \"/usr/bin/prog\", \"image\": \"/lib/libc.so\", \"symbol\": \"f<a&, \\\"b\\\">\", \"raw_symbol\": \"_Z1f\", \"inlined\": true, \"address\": \"0x1000\", \"size\": 8, \"samples\": [399], \"percent\": [39.9]},\n"
	  "  {\"application\": \"/opt/other\", \"image\": \"/opt/other\", \"symbol\": \"/opt/other\", \"raw_symbol\": \"/opt/other\", \"samples\": [1], \"percent\": [0.1]}\n"
	  " ]\n"
	  "}\n" },
	{ "an inlined function on a page",
	  "html", an_inlined_function, SYMBOLS, { 0 }, " \"vma\"", " \"counts\"",
	  " \"vma\": [\"401000\", \"inlined\", \"\"],\n"
	  " " },
	{ "symbols on a terminal",
	  "text", places_of_all, SYMBOLS | MANY_APPS | LINES, { .width = 80 }, "samples", "END",
	  "samples  %        linenr info           image name  app name  symbol name\n"
	  "600      60.0000  main.c:12             prog        prog      main\n"
	  "399      39.9000  a_long_name_of_a_file.c:4000 libc.so     prog      f<a&, \"b\">\n"
	  "1         0.1000  b.c:1                 other       other     /opt/other\n" },
	{ "symbols without places on a terminal",
	  "text", one_place, SYMBOLS | MANY_APPS | LINES, { .width = 80 }, "samples", "END",
	  
		  "samples  %        linenr info  image name  app name  symbol name\n"
		  "600      60.0000  main.c:12    prog        prog      main\n"
		  "399      39.9000  b.c:1        libc.so     prog      f<a&, \"b\">\n"
		  "1         0.1000  (no line)    other       other     /opt/other\n" },
	{ "symbols without places in a file",
	  "text", one_place, SYMBOLS | MANY_APPS | LINES, { .width = 0 }, "samples", "END",
	  
		  "samples  %        linenr info                 image name               app name                 symbol name\n"
		  "600      60.0000  main.c:12                   prog                     prog                     main\n"
		  "399      39.9000  b.c:1                       libc.so                  prog                     f<a&, \"b\">\n"
		  "1         0.1000  (no location information)   other                    other                    /opt/other\n" },
	{ "symbols on a narrow terminal",
	  "text", places_of_all, SYMBOLS | MANY_APPS | LINES, { .width = 40, .long_names = true }, "samples", "END",
	  "samples  %        linenr info       image name     app name       symbol name\n"
	  "600      60.0000  /src/dir/main.c:12 /usr/bin/prog  /usr/bin/prog  main\n"
	  "399      39.9000  /src/a_long_name_of_a_file.c:4000 /lib/libc.so   /usr/bin/prog  f<a&, \"b\">\n"
	  "1         0.1000  b.c:1             /opt/other     /opt/other     /opt/other\n" },
	{ "symbols on a wide terminal",
	  "text", places_of_all, SYMBOLS | MANY_APPS | LINES, { .width = 200, .long_names = true }, "samples", "END",
	  "samples  %        linenr info                        image name     app name       symbol name\n"
	  "600      60.0000  /src/dir/main.c:12                 /usr/bin/prog  /usr/bin/prog  main\n"
	  "399      39.9000  /src/a_long_name_of_a_file.c:4000  /lib/libc.so   /usr/bin/prog  f<a&, \"b\">\n"
	  "1         0.1000  b.c:1                              /opt/other     /opt/other     /opt/other\n" },
	{ "builds on a page",
	  "html", builds_were_added, 0, { 0 }, " \"builds\"", " \"totals\"",
	  " \"builds\": [\n"
	  "  \"/lib/libc.so\",\n"
	  "  3,\n"
	  "  \"/opt/other\",\n"
	  "  2\n"
	  " ],\n" },
	{ "messages on a page",
	  "html", there_are_messages, 0, { 0 }, " \"warnings\"", " \"apps\"",
	  " \"warnings\": [\n"
	  "  \"/bin/x: no symbols\",\n"
	  "  \"\\u003clost>\"\n"
	  " ],\n"
	  " \"code_warnings\": [],\n" },
	{ "columns of the stacks on a page",
	  "html", a_page_with_stacks, TWO, { .stacks = &page_stacks }, " \"events\"", " \"builds\"",
	  " \"events\": [\n"
	  "  {\"name\": \"cpu:0\", \"column\": -1},\n"
	  "  {\"name\": \"cpu:12 and a long name\", \"column\": 0}\n"
	  " ],\n"
	  " \"class_event\": [\n"
	  "  0,\n"
	  "  1\n"
	  " ],\n" },
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
	  "<symboltable>\n"
	  "<symboldata  id=\"0\"  name=\"main\"  file=\"/src/dir/main.c\" line=\"12\"  startingaddr=\"00401000\"/>\n"
	  "<symboldata  id=\"1\"  name=\"f&lt;a&amp;, &quot;b&quot;&gt;\"  file=\"/src/f.c\" line=\"7\"  startingaddr=\"00001000\"/>\n"
	  "<symboldata  id=\"2\"  name=\"/opt/other\"  startingaddr=\"00000000\"/>\n"
	  "</symboltable>\n"
	  "</profile>\n" },
	{ "a callee that is not shown",
	  "xml", a_callee_that_is_not_shown, CALLS, { 0 }, "<symboltable", "</profile",
	  "<symboltable>\n"
	  "<symboldata  id=\"0\"  name=\"main\"  startingaddr=\"00401000\"/>\n"
	  "<symboldata  id=\"1\"  name=\"f&lt;a&amp;, &quot;b&quot;&gt;\"  startingaddr=\"00001000\"/>\n"
	  "</symboltable>\n" },
	{ "functions of one name",
	  "xml", functions_of_one_name, SYMBOLS | DETAILS, { 0 }, "<binary", "<bytestable",
	  EXPECTED("functions-of-one-name") },
	{ "three events in XML",
	  "xml", three_events, SYMBOLS, { 0 }, "<setup", "<module",
	  EXPECTED("three-events-in-xml") },
	{ "one application in callgrind",
	  "callgrind", one_application, SYMBOLS, { 0 }, "cmd", "\nob=",
	  "cmd: /usr/bin/prog\n"
	  "desc: CPU: AMD64 family10\n"
	  "positions: line\n"
	  "event: CYCLES_user : cpu:0, Cycles?of the CPU\n"
	  "events: CYCLES_user\n"
	  "summary: 1000\n" },
	{ "several applications in callgrind",
	  "callgrind", columns_of_cgroups, SYMBOLS, { 0 }, "cmd", "\nob=",
	  "cmd: 2 applications\n"
	  "desc: CPU: AMD64 family10\n"
	  "positions: line\n"
	  "event: CYCLES : cpu:0\n"
	  "events: CYCLES\n"
	  "summary: 1000\n" },
	{ "names that fit a terminal, and one that does not",
	  "text", names_of_some_length, SYMBOLS, { .width = 80 }, "samples", "END",
	  "samples  %        image name            symbol name\n"
	  "600      60.0000  libof20characters.so  main\n"
	  "399      39.9000  libof21ch...ters0.so  f<a&, \"b\">\n"
	  "1         0.1000  other                 /opt/other\n" },
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
