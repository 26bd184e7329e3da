// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What people are told while they wait and when names are missing. A program of
 * the test's answers for dpkg-query; terminal and time are the test's.
 */

#include "tests/unit/pp_fixture.h"

#include <sys/syscall.h>
#include <time.h>

#include "libpp/symbols/debuginfod.h"
#include "pp/cure.h"
#include "pp/progress.h"

/* ---- cures --------------------------------------------------------------- */

#define FOR(path) "p: to name the functions of " path ": "
#define INSTALL(package) "install the package " package "-dbgsym"
#define FETCH "fetch its debug file with --debuginfod=URL\n"
#define X10(c) c c c c c c c c c c
#define X120 X10(X10("x")) X10("x") X10("x")

static const struct cure_row {
	const char *name;
	const char *path;
	const char *answer;
	bool is_elsewhere, has_archive, has_server;
	const char *maker;
	const char *text;
	const char *asked; /* the path, and the one with or without /usr */
} cures[] = {
	/* clang-format off */
	{ "nothing is nameless", NULL, "", false, false, false, NULL, "", "" },
	{ "a package", "/usr/bin/x", "pkg: /usr/bin/x\n", false, false, false, NULL,
	  FOR("/usr/bin/x") INSTALL("pkg") ", or " FETCH, "/usr/bin/x\n/bin/x\n" },
	{ "of a machine", "/usr/bin/x", "libx1.2+b-c:amd64: /usr/bin/x\n", false, false, false, NULL,
	  FOR("/usr/bin/x") INSTALL("libx1.2+b-c") ", or " FETCH, "/usr/bin/x\n/bin/x\n" },
	{ "several", "/usr/bin/x", "a, b: /usr/bin/x\nc: /usr/bin/x\n", false, false, false, NULL,
	  FOR("/usr/bin/x") INSTALL("a") ", or " FETCH, "/usr/bin/x\n/bin/x\n" },
	{ "a diversion", "/usr/bin/x", "diversion by a from: /usr/bin/x\nb: /usr/bin/x\n", false, false, false, NULL,
	  FOR("/usr/bin/x") INSTALL("b") ", or " FETCH, "/usr/bin/x\n/bin/x\n" },
	{ "of other files", "/usr/bin/x", "a: /usr/bin/xy\nb: /usr/bin/\nc: /y/usr/bin/x\nD: /usr/bin/x\nx\n", false, false, false, NULL,
	  FOR("/usr/bin/x") FETCH, "/usr/bin/x\n/bin/x\n" },
	{ "by the path before /usr", "/usr/bin/x", "a: /bin/x\n", false, false, false, NULL,
	  FOR("/usr/bin/x") INSTALL("a") ", or " FETCH, "/usr/bin/x\n/bin/x\n" },
	{ "by the path behind /usr", "/bin/x", "a: /usr/bin/x\n", false, false, false, NULL,
	  FOR("/bin/x") INSTALL("a") ", or " FETCH, "/bin/x\n/usr/bin/x\n" },
	{ "a long name", "/bin/x", X120 "1234567: /bin/x\n", false, false, false, NULL,
	  FOR("/bin/x") INSTALL(X120 "1234567") ", or " FETCH, "/bin/x\n/usr/bin/x\n" },
	{ "too long a name", "/bin/x", X120 "12345678: /bin/x\n", false, false, false, NULL,
	  FOR("/bin/x") FETCH, "/bin/x\n/usr/bin/x\n" },
	{ "a server was asked", "/bin/x", "a: /bin/x\n", false, false, true, NULL,
	  FOR("/bin/x") INSTALL("a") "\n", "/bin/x\n/usr/bin/x\n" },
	{ "a server was asked, and no package is known", "/bin/x", "", false, false, true, NULL,
	  "", "/bin/x\n/usr/bin/x\n" },
	{ "of another machine", "/bin/x", "a: /bin/x\n", true, false, false, NULL,
	  FOR("/bin/x") FETCH, "" },
	{ "of an archive", "/bin/x", "a: /bin/x\n", false, true, false, NULL, "", "" },
	{ "a pattern", "/bin/[x", "a: /bin/[x\n", false, false, false, NULL,
	  FOR("/bin/[x") FETCH, "" },
	{ "a path that is none", "x", "a: x\n", false, false, false, NULL,
	  FOR("x") FETCH, "" },
	{ "node", NULL, "", false, false, false, "/usr/bin/node",
	  "p: to name the code that /usr/bin/node makes at run time: run it with --perf-basic-prof\n", "" },
	{ "java", NULL, "", true, true, true, "/opt/jdk/bin/java",
	  "p: to name the code that /opt/jdk/bin/java makes at run time: run it with -agentlib:jvmti_oprofile\n", "" },
	{ "another maker", NULL, "", false, false, false, "/usr/bin/javac", "", "" },
	{ "both", "/bin/x", "a: /bin/x\n", false, false, true, "ruby",
	  "p: to name the code that ruby makes at run time: run it with --yjit-perf\n"
	  FOR("/bin/x") INSTALL("a") "\n", "/bin/x\n/usr/bin/x\n" },
	/* clang-format on */
};

static void names_have_cures(void **state)
{
	char path[256];

	if (!pp_debuginfod_is_built())
		skip();
	assert_int_equal(mkdir("bin", 0755), 0);
	write_text("bin/dpkg-query",
		   "#!/bin/sh\n[ \"$1\" = --search ] || exit 1\n"
		   "shift; printf '%s\\n' \"$@\" >>asked\n"
		   "echo error >&2\ncat answer\n");
	assert_int_equal(chmod("bin/dpkg-query", 0755), 0);
	snprintf(path, sizeof(path), "%s/bin:/usr/bin:/bin", (char *)*state);
	setenv("PATH", path, 1);
	for (size_t i = 0; i < NR(cures); i++) {
		const struct cure_row *row = &cures[i];
		const struct pp_report report = {
			.nameless = row->path,
			.nameless_maker = row->maker,
			.archive = row->has_archive ? (void *)"x" : NULL,
			.debug.server = row->has_server ? (void *)"x" : NULL,
		};
		struct text t;

		write_text("asked", "");
		write_text("answer", row->answer);
		pp_print_cure(text_begin(&t), "p", &report, row->is_elsewhere);
		text_must_be(&t, row->name, row->text);
		assert_string_equal(text_of("asked"), row->asked);
	}
}

/* Without dpkg there is no package. */
static void there_may_be_no_dpkg(void **state)
{
	const struct pp_report report = { .nameless = "/bin/x" };
	struct text t;

	(void)state;
	setenv("PATH", "/nowhere", 1);
	pp_print_cure(text_begin(&t), "p", &report, false);
	setenv("PATH", "/usr/bin:/bin", 1);
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

static void progress_comes_after_a_while(void **state)
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

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(names_have_cures),
		folder_test(there_may_be_no_dpkg),
		cmocka_unit_test(progress_comes_after_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
