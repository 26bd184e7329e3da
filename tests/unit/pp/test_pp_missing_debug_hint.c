// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What people are told while they wait, when names are missing and when rows
 * stand for more than their code. The lists of packages, terminal and time are
 * the test's.
 */

#include "tests/unit/pp_fixture.h"

#include <sys/syscall.h>
#include <time.h>

#include "libpp/symbols/debuginfod.h"
#include "libop/image/op_runtime.h"
#include "pp/missing_debug_hint.h"
#include "pp/progress.h"
#include "pp/row_notes.h"

/* ---- cures --------------------------------------------------------------- */

#define FOR(path) "p: to name the functions of " path ": "
#define INSTALL(package) "install the package " package "-dbgsym"
#define FETCH "fetch its debug file with --debuginfod=URL\n"
#define X10(c) c c c c c c c c c c
#define X240 X10(X10("x")) X10(X10("x")) X10("xxxx")

static const struct hint_row {
	const char *name;
	const char *path;
	const char *list, *files; /* that name's, and what it lists */
	bool is_elsewhere, has_archive, has_server;
	const char *maker;
	const char *text;
} hints[] = {
	/* clang-format off */
	{ "nothing is nameless", NULL, "a", "/bin/x\n", false, false, false, NULL,
	  "" },
	{ "a package", "/usr/bin/x", "pkg", "/usr\n/usr/bin\n/usr/bin/x\n", false, false, false, NULL,
	  FOR("/usr/bin/x") INSTALL("pkg") ", or " FETCH },
	{ "of a machine", "/usr/bin/x", "libx1.2+b-c:amd64", "/usr/bin/x\n/usr/bin/y\n", false, false, false, NULL,
	  FOR("/usr/bin/x") INSTALL("libx1.2+b-c") ", or " FETCH },
	{ "behind a longer name", "/bin/x", "a", "/bin/xy\n/y/bin/x\n/bin/x\n", false, false, false, NULL,
	  FOR("/bin/x") INSTALL("a") ", or " FETCH },
	{ "of other files", "/usr/bin/x", "a", "/usr/bin/xy\n/usr/bin/\n/y/usr/bin/x\nx\n", false, false, false, NULL,
	  FOR("/usr/bin/x") FETCH },
	{ "a list that is cut", "/bin/x", "a", "/bin\n/bin/x", false, false, false, NULL,
	  FOR("/bin/x") FETCH },
	{ "an empty list", "/bin/x", "a", "", false, false, false, NULL,
	  FOR("/bin/x") FETCH },
	{ "by the path before /usr", "/usr/bin/x", "a", "/bin/x\n", false, false, false, NULL,
	  FOR("/usr/bin/x") INSTALL("a") ", or " FETCH },
	{ "by the path behind /usr", "/bin/x", "a", "/usr/bin/x\n", false, false, false, NULL,
	  FOR("/bin/x") INSTALL("a") ", or " FETCH },
	{ "a list that others sort behind", "/bin/b", "z", "/bin/b\n", false, false, false, NULL,
	  FOR("/bin/b") INSTALL("b") ", or " FETCH },
	{ "of two, the one with its name", "/bin/b", "a", "/bin/b\n", false, false, false, NULL,
	  FOR("/bin/b") INSTALL("b") ", or " FETCH },
	{ "no name of a package", "/bin/x", "A", "/bin/x\n", false, false, false, NULL,
	  FOR("/bin/x") FETCH },
	{ "no name at all", "/bin/x", "", "/bin/x\n", false, false, false, NULL,
	  FOR("/bin/x") FETCH },
	{ "a server was asked", "/bin/x", "a", "/bin/x\n", false, false, true, NULL,
	  FOR("/bin/x") INSTALL("a") "\n" },
	{ "a server was asked, and no package is known", "/bin/x", "a", "", false, false, true, NULL,
	  "" },
	{ "of another machine", "/bin/x", "a", "/bin/x\n", true, false, false, NULL,
	  FOR("/bin/x") FETCH },
	{ "of an archive", "/bin/x", "a", "/bin/x\n", false, true, false, NULL,
	  "" },
	{ "a path that is none", "x", "a", "x\n", false, false, false, NULL,
	  FOR("x") FETCH },
	{ "a long name", "/bin/x", X240 "1234", "/bin/x\n", false, false, false, NULL,
	  FOR("/bin/x") INSTALL(X240 "1234") ", or " FETCH },
	{ "node", NULL, "a", "", false, false, false, "/usr/bin/node",
	  "p: to name the code that /usr/bin/node makes at run time: start it by operf COMMAND, or run it with --perf-basic-prof\n" },
	{ "java", NULL, "a", "", true, true, true, "/opt/jdk/bin/java",
	  "p: to name the code that /opt/jdk/bin/java makes at run time: start it by operf COMMAND, or run it with -agentpath:DIR/libjvmti_oprofile.so, see operf(1)\n" },
	{ "code of a module of Python", NULL, "a", "", false, false, false, "/usr/bin/python3.11", "" },
	{ "another maker", NULL, "a", "", false, false, false, "/usr/bin/javac", "" },
	{ "both", "/bin/x", "a", "/bin/x\n", false, false, true, "ruby", EXPECTED_ROW },
	/* clang-format on */
};

FOLDER_TEST(missing_names_have_hints)
{
	if (!pp_debuginfod_is_built())
		skip();
	assert_int_equal(mkdir("info", 0755), 0);
	write_text("info/b.list", "/bin/b\n");
	/* Files of packages that list none. */
	write_text("info/a.md5sums", "/bin/x\n");
	write_text("info/list", "/bin/x\n");
	setenv("DPKG_ADMINDIR", ".", 1);
	for (size_t i = 0; i < NR(hints); i++) {
		const struct hint_row *row = &hints[i];
		const struct pp_report report = {
			.missing.nameless = row->path,
			.missing.nameless_maker = row->maker,
			.archive = row->has_archive ? (void *)"x" : NULL,
			.debug.server = row->has_server ? (void *)"x" : NULL,
		};
		char list[512];
		struct text t;

		snprintf(list, sizeof(list), "info/%s.list", row->list);
		write_text(list, row->files);
		pp_print_missing_debug_hint(text_begin(&t), "p", &report,
					    row->is_elsewhere);
		text_must_be(&t, row->name, row->text);
		assert_int_equal(unlink(list), 0);
	}
}

/* Interpreters that have a tenth of all samples. */
TEST(interpreters_have_hints)
{
	const struct op_runtime *ruby = op_runtime_of_file("ruby3.1");
	const struct op_runtime *node = op_runtime_of_file("node");
	/* clang-format off */
	static const struct {
		uint64_t samples; /* of 1000, in two columns */
		const char *text;
	} rows[] = {
		{ 99, "" },
		{ 100, "p: to name the functions of Ruby in /bin/x: run it with --yjit-perf, which Ruby 3.3 and later have\n" },
	};
	/* clang-format on */
	const struct pp_report embedding = {
		.missing.nameless_maker = "/bin/editor",
		.missing.maker = node,
	};
	struct text t;

	for (size_t i = 0; i < NR(rows); i++) {
		const uint64_t totals[] = { 400, 600 };
		const struct pp_report report = {
			.classes.nr = 2,
			.totals = totals,
			.missing.interpreter = ruby,
			.missing.interpreted_app = "/bin/x",
			.missing.interpreted_samples = rows[i].samples,
		};

		pp_print_missing_debug_hint(text_begin(&t), "p", &report,
					    false);
		text_must_be(&t, "an interpreter", rows[i].text);
	}
	pp_print_missing_debug_hint(text_begin(&t), "p", &embedding, false);
	/* clang-format off */
	text_must_be(&t, "a program that embeds a runtime", "p: to name the code that /bin/editor makes at run time: start it by operf COMMAND, or run it with --perf-basic-prof\n");
	/* clang-format on */
}

/* Without dpkg there is no package. */
FOLDER_TEST(there_may_be_no_dpkg)
{
	const struct pp_report report = { .missing.nameless = "/bin/x" };
	struct text t;

	setenv("DPKG_ADMINDIR", "/nowhere", 1);
	pp_print_missing_debug_hint(text_begin(&t), "p", &report, false);
	text_must_be(&t, "no dpkg",
		     pp_debuginfod_is_built() ? FOR("/bin/x") FETCH : "");
}

/* ---- progress ------------------------------------------------------------ */

static uint64_t now_ms;
static bool has_terminal;

int clock_gettime(clockid_t clock_id, struct timespec *tp)
{
	if (clock_id != CLOCK_MONOTONIC)
		return (int)syscall(SYS_clock_gettime, clock_id, tp);
	tp->tv_sec = (time_t)(now_ms / 1000);
	tp->tv_nsec = (long)(now_ms % 1000) * 1000000;
	return 0;
}

int isatty(int fd)
{
	return fd == STDERR_FILENO && has_terminal;
}

TEST(progress_comes_after_a_while)
{
#define CLEAR "\r\033[K"
	/* clang-format off */
	static const struct {
		const char *name;
		bool has_terminal;
		unsigned int ms[6]; /* when it is shown: from the start; 0: no
				       more */
		const char *text;
	} rows[] = {
		{ "never", true, { 0 }, "|" },
		{ "too early", true, { 1, 499 }, "|" },
		{ "after half a second", true, { 499, 500 }, CLEAR "at 500" "|" CLEAR },
		{ "a tenth of a second later", true, { 700, 799, 800, 850, 900 },
		  CLEAR "at 700" CLEAR "at 800" CLEAR "at 900" "|" CLEAR },
		{ "no terminal", false, { 500, 1000, 9999 }, "|" },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_progress progress;
		struct text t;
		FILE *was = stderr;

		has_terminal = rows[i].has_terminal;
		now_ms = 123456;
		stderr = text_begin(&t);
		pp_progress_start(&progress);
		for (size_t k = 0; rows[i].ms[k]; k++) {
			now_ms = 123456 + rows[i].ms[k];
			pp_progress_show(&progress, "at %u", rows[i].ms[k]);
		}
		putc('|', stderr);
		pp_progress_end(&progress);
		/* Once; and no more of it. */
		pp_progress_end(&progress);
		now_ms += 10000;
		pp_progress_show(&progress, "late");
		stderr = was;
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}

/* ---- rows that stand for more than their code ------------------------------
 */

TEST(rows_have_notes)
{
	/* clang-format off */
	static const struct {
		const char *name, *event;
		enum op_image_kind kind;
		const char *symbol;
		uint64_t samples; /* of 1000 in its column; the other has none */
		const char *text;
	} rows[] = {
		{ "page tables", "CYCLES", OP_IMAGE_KERNEL, "native_set_pmd", 60,
		  "native_set_pmd: in a virtual machine the kernel calls the hypervisor here; the time is the hypervisor's.\n" },
		{ "interrupts of a virtual machine", "TIMER", OP_IMAGE_KERNEL, "pvm_irq_enable", 60,
		  EXPECTED_ROW },
		{ "a lock", "TIMER", OP_IMAGE_KERNEL, "_raw_spin_unlock_irqrestore", 60,
		  "_raw_spin_unlock_irqrestore: switches interrupts on; the timer's samples that were due while they were off, in code before it, are taken here.\n" },
		{ "a clone of a function", "TIMER", OP_IMAGE_KERNEL, "finish_task_switch.isra.0", 60,
		  "finish_task_switch.isra.0: switches interrupts on; the timer's samples that were due while they were off, in code before it, are taken here.\n" },
		{ "a counter asks at any time", "CYCLES", OP_IMAGE_KERNEL, "_raw_spin_unlock_irqrestore", 900, "" },
		{ "a program's own", "TIMER", OP_IMAGE_FILE, "native_set_pmd", 900, "" },
		{ "a lock of the kernel that spins", "TIMER", OP_IMAGE_KERNEL, "native_queued_spin_lock_slowpath", 900, "" },
		{ "few", "TIMER", OP_IMAGE_KERNEL, "native_set_pmd", 50, "" },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_image kernel = { .kind = rows[i].kind };
		struct pp_class columns[] = { { .event = rows[i].event },
					      { .event = rows[i].event } };
		const uint64_t counts[][2] = { { rows[i].samples, 0 },
					       { 10, 10 },
					       { 0, 0 } };
		const struct pp_symbol_entry symbols[] = {
			{ .image = &kernel,
			  .raw_name = rows[i].symbol,
			  .counts = counts[0] },
			{ .image = &kernel,
			  .raw_name = "hv_few",
			  .counts = counts[1] },
			{ .image = &kernel,
			  .raw_name = "xen_none",
			  .counts = counts[2] },
		};
		const uint64_t totals[] = { 990, 10 };
		const struct pp_report report = {
			.classes = { .classes = columns, .nr = 2 },
			.totals = totals,
			.symbols.list = symbols,
			.symbols.nr = NR(symbols),
		};
		struct text t;

		pp_print_row_notes(text_begin(&t), &report);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}
