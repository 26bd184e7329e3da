// SPDX-License-Identifier: GPL-2.0-or-later
/* The programs that read sessions: rows are command lines. Those of listings of
 * code are in test_pp_opannotate.c. */

#include <signal.h>

#include "config.h"

#include "libpp/format/format.h"
#include "pp_programs.h"
#include "tests/unit/pp_report.h"

/* ---- reports ------------------------------------------------------------- */

FOLDER_TEST(reports_are_written)
{
	static const struct program_row rows[] = {
		{ .line = "opreport --session-dir=. --root=root",
		  .wanted = EXPECTED("opreport") },
		{ .line = "opreport --session-dir=. --root=root -l -n -o report",
		  .wanted = "" },
		{ .line = "opreport --session-dir=. --root=root -l -o none/report",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --root=root -l -t 200",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. -o /dev/full",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. /bin/none",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --csv -l --sort=vma",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --format=html --sort=vma",
		  .wanted = EXPECTED_ROW,
		  .from = "opreport: " },
		{ .line = "opreport --session-dir=. --check",
		  .wanted = "$: 3 files with 218 samples: all sound\n" },
		{ .line = "opreport --session-dir=. --check words",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --repair words",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --max-loss=5",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --root=root --format=html",
		  .wanted = EXPECTED("opreport-format-html"),
		  .from = "\"symbols\"",
		  .to = "</script" },
	};

	static const struct program_row damaged[] = {
		{ .line = "opreport --session-dir=. --check",
		  .wanted = EXPECTED("a-damaged-file") },
		{ .line = "opreport --session-dir=. --repair",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. -l",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. -a",
		  .wanted = EXPECTED_ROW },
		{ .line = "opgprof --session-dir=.",
		  .wanted = EXPECTED_AS("opgprof --session-dir=., 1") },
		{ .line = "oparchive --session-dir=. -o damaged",
		  .wanted =
			  "oparchive: warning: $/samples/current/{root}/bin/x/{dep}/{root}/bin/x/CYCLES.100.0.all.all.all: it is damaged; left out\n" },
		{ .line = "opsymbols --session-dir=.", .wanted = "" },
	};
	static const struct program_row of_y[] = {
		{ .line = "opreport --session-dir=. --root=root -ld /bin/y",
		  .wanted = EXPECTED_ROW },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	check_runs(programs, rows, NR(rows), *state);
	assert_non_null(strstr(text_of("report"), " first\n"));
	write_text(CYCLES_OF_X, "no samples");
	check_runs(programs, damaged, NR(damaged), *state);
	write_session(two_events, NR(two_events));
	check_runs(programs, of_y, NR(of_y), *state);
}

/* ---- source lines -------------------------------------------------------- */

FOLDER_TEST(lines_have_their_texts)
{
	/* clang-format off */
	static const struct program_row rows[] = {
		/* One blank stands for several and for control characters. */
		{ .line = "opreport --session-dir=. --root=root --lines -n",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --root=root --lines -n --threshold=10 --search-dirs=other --base-dirs=src",
		  .wanted = EXPECTED_ROW },
	};
	/* clang-format on */

	make_binaries();
	write_session(one_event, NR(one_event));
	assert_int_equal(system("sed -i '29,$d; s/^line 3$/\\t x  =\\t1;  /; "
				"s/^line 2$/ \\t a\\t b\\t /' src/x.c; "
				"printf 'a\\177b\\001 c' >src/x.h; "
				"touch -d @1000 src/x.?"),
			 0);
	mkdir("other", 0755);
	write_text("other/x.h", "another header\n");
	check_runs(programs, rows, NR(rows), *state);
}

/* ---- files for gprof ----------------------------------------------------- */

FOLDER_TEST(files_for_gprof_are_of_one_program)
{
	static const struct program_row one[] = {
		{ .line = "opgprof --session-dir=. --root=root", .wanted = "" },
		{ .line = "opgprof --session-dir=. --root=root -t 100",
		  .wanted = EXPECTED_ROW },
		{ .line = "opgprof --session-dir=. --root=root -o none/gmon",
		  .wanted = EXPECTED_ROW },
		{ .line = "opgprof --session-dir=. --root=root -o /dev/full",
		  .wanted = EXPECTED_ROW },
		{ .line = "opgprof --session-dir=.",
		  .wanted = EXPECTED_AS("opgprof --session-dir=., 2") },
		{ .line = "opgprof --session-dir=. -t x",
		  .wanted = EXPECTED_ROW },
		{ .line = "opgprof --session-dir=. { }",
		  .wanted = EXPECTED_ROW },
		{ .line = "opgprof --session-dir=. --root=root /bin/none",
		  .wanted = EXPECTED_ROW },
		{ .line = "opgprof --session-dir=none",
		  .wanted = EXPECTED_ROW },
	};
	static const struct program_row two[] = {
		{ .line = "opgprof --session-dir=. --root=root",
		  .wanted = EXPECTED_ROW },
		{ .line = "opgprof --session-dir=. --root=root event:CYCLES",
		  .wanted = EXPECTED_ROW },
		{ .line = "opgprof --session-dir=. --root=root event:MISSES",
		  .wanted = "" },
		{ .line = "opgprof --session-dir=. --root=root /bin/x",
		  .wanted = EXPECTED_AS(
			  "opgprof --session-dir=. --root=root /bin/x, 1") },
	};
	static const struct program_row more[] = {
		{ .line = "opgprof --session-dir=. --root=root",
		  .wanted = EXPECTED_AS(
			  "opgprof --session-dir=. --root=root, 2") },
		{ .line = "opgprof --session-dir=. --root=root event:HUGE",
		  .wanted =
			  "opgprof: warning: samples are divided by 24, because gprof cannot count so many\n" },
		{ .line = "opgprof --session-dir=. --root=root event:HUGE -o big.out",
		  .wanted =
			  "opgprof: warning: samples are divided by 24, because gprof cannot count so many\n" },
		{ .line = "opgprof --session-dir=. --root=root /bin/w",
		  .wanted = EXPECTED_ROW },
	};
	static const char *const many_events[] = {
		"current x x CYCLES 1000=5",
		"current x x MISSES 1000=5",
		"current x x HUGE 1000=50000000000",
		"current y y OTHER 1000=5",
		"current z z OTHER 1000=5",
		"current w k CYCLES 110=10",
	};

	/* Calls, but no samples. */
	static const char *const calls[] = {
		"current x x>x CYCLES 1020>1000=9",
	};
	static const struct program_row of_calls[] = {
		{ .line = "opgprof --session-dir=. --root=root",
		  .wanted = EXPECTED_AS(
			  "opgprof --session-dir=. --root=root, 1") },
		{ .line = "opgprof --session-dir=. --root=root /bin/x",
		  .wanted = EXPECTED_AS(
			  "opgprof --session-dir=. --root=root, 1") },
	};
	/* In the kernel alone. */
	static const char *const kernel[] = { "current x k CYCLES 110=10" };
	static const struct program_row of_kernel[] = {
		{ .line = "opgprof --session-dir=. --root=root -o gmon",
		  .wanted = EXPECTED_ROW },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	check_runs(programs, one, NR(one), *state);
	assert_int_equal(access("gmon.out", F_OK), 0);
	write_session(calls, NR(calls));
	check_runs(programs, of_calls, NR(of_calls), *state);
	write_session(kernel, NR(kernel));
	check_runs(programs, of_kernel, NR(of_kernel), *state);
	write_session(two_events, NR(two_events));
	check_runs(programs, two, NR(two), *state);
	write_session(many_events, NR(many_events));
	check_runs(programs, more, NR(more), *state);
}

/* ---- archives and what is kept ------------------------------------------- */

FOLDER_TEST(archives_are_made)
{
	static const struct program_row rows[] = {
		{ .line = "oparchive --session-dir=. --root=root -l",
		  .wanted = EXPECTED_AS(
			  "oparchive --session-dir=. --root=root -l, 1") },
		{ .line = "oparchive --session-dir=. --root=root -lx",
		  .wanted = EXPECTED_ROW },
		{ .line = "oparchive --session-dir=. --root=root -o ar -V",
		  .wanted = EXPECTED_ROW },
		{ .line = "oparchive --session-dir=. --root=root -o ar",
		  .wanted = EXPECTED_AS(
			  "oparchive --session-dir=. --root=root -o ar, 1") },
		{ .line = "oparchive --session-dir=. --root=root -o ar --force --with-sources",
		  .wanted = "" },
		{ .line = "oparchive --session-dir=. --root=root -o two --samples-only --label=host=b",
		  .wanted = "" },
		{ .line = "oparchive --session-dir=. --root=root",
		  .wanted = EXPECTED_ROW },
		{ .line = "oparchive --session-dir=. { } -o x",
		  .wanted = EXPECTED_ROW },
		{ .line = "oparchive --session-dir=. -l /bin/none",
		  .wanted = EXPECTED_ROW },
		{ .line = "oparchive -l --session-dir=none",
		  .wanted = EXPECTED_ROW },
		{ .line = "opmerge ar two -o sum -V", .wanted = "" },
		{ .line = "opmerge ar two -o sum", .wanted = EXPECTED_ROW },
		{ .line = "opmerge ar none -o less", .wanted = EXPECTED_ROW },
		{ .line = "opmerge ar . -o less --force",
		  .wanted = EXPECTED_ROW },
		{ .line = "opmerge -o most", .wanted = EXPECTED_ROW },
		{ .line = "opmerge -o most --files-from=none",
		  .wanted = EXPECTED_ROW },
		{ .line = "opmerge -o most two --files-from=src",
		  .wanted = EXPECTED_ROW },
		{ .line = "opmerge -o most --files-from=-",
		  .wanted = EXPECTED_ROW },
		{ .line = "opmerge -o / two", .wanted = EXPECTED_ROW },
		{ .line = "opmerge -o most two --verbose=x",
		  .wanted = EXPECTED_ROW },
		{ .line = "opmerge -o most --files-from=list archive:two",
		  .wanted =
			  "opmerge: warning: $/ar: named twice; it counts once\n" },
		{ .line = "opreport archive:most -ln", .wanted = EXPECTED_ROW },
		{ .line = "opmerge -o more two --jobs=0",
		  .wanted = EXPECTED_ROW },
		{ .line = "opmerge -o more two --jobs=257",
		  .wanted = EXPECTED_ROW },
		{ .line = "opmerge -o more two --memory=15",
		  .wanted = EXPECTED_ROW },
		{ .line = "opmerge -o more two --keep-labels=a=b",
		  .wanted = EXPECTED_ROW },
		{ .line = "opmerge -o more two --drop-labels=,",
		  .wanted = EXPECTED_ROW },
		{ .line = "opmerge -o more ar two --jobs=256 --memory=16 --drop-labels=host",
		  .wanted = "" },
		{ .line = "opreport archive:sum host:b -ln",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport archive:more host:b -ln",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport archive:sum -ln", .wanted = EXPECTED_ROW },
		{ .line = "opreport archive:less -ln", .wanted = EXPECTED_ROW },
		{ .line = "opannotate archive:ar -sn -i second",
		  .wanted = EXPECTED_ROW },
		{ .line = "opsymbols --session-dir=. -V", .wanted = "" },
		{ .line = "opsymbols --session-dir=. --symbol-store=0 -V",
		  .wanted = "" },
		{ .line = "opsymbols --session-dir=. --symbol-store=x",
		  .wanted = EXPECTED_ROW },
		{ .line = "opsymbols --session-dir=. --symbol-store=1048577",
		  .wanted = EXPECTED_ROW },
		{ .line = "opsymbols --session-dir=. cpu:x",
		  .wanted = EXPECTED_ROW },
		{ .line = "opsymbols --session-dir=. --symbol-store=1 /bin/none",
		  .wanted = EXPECTED_ROW },
		{ .line = "opsymbols --session-dir=none",
		  .wanted = EXPECTED_ROW },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	write_text("list", "ar\n\nar");
	check_runs(programs, rows, NR(rows), *state);
}

/* ---- checks and losses --------------------------------------------------- */

/* A byte that is not as it was. */
static void damage(const char *path, long at)
{
	FILE *file = fopen(path, "r+");
	int c;

	assert_non_null(file);
	assert_int_equal(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
	c = fgetc(file);
	assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
	assert_int_equal(fputc(c ^ 0x55, file), c ^ 0x55);
	assert_int_equal(fclose(file), 0);
}

#define PACKED "packed/samples/current/packed"

/* The session of a sum is packed into one file. */
FOLDER_TEST(checks_tell_what_is_left)
{
	static const struct program_row archives[] = {
		{ .line = "oparchive --session-dir=. --root=root -o ar",
		  .wanted = "" },
		{ .line = "opmerge ar -o sum", .wanted = "" },
	};
	static const struct program_row of_pack[] = {
		{ .line = "opreport --session-dir=packed --check",
		  .wanted = EXPECTED_AS(
			  "opreport --session-dir=packed --check, 1") },
		{ .line = "opreport --session-dir=packed --repair",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=packed --check -o none --csv",
		  .wanted = "$/packed: 3 files with 218 samples: all sound\n" },
	};
	static const struct program_row of_more[] = {
		{ .line = "opreport --session-dir=packed --repair --check",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=packed --repair --sort=x",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=packed -ln",
		  .wanted = EXPECTED_ROW },
	};
	static const char *const one_sample = "current x x CYCLES 1000=1";
	static const struct program_row of_one[] = {
		{ .line = "opreport --session-dir=none --check",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=packed --check",
		  .wanted = "$/packed: 1 file with 1 sample: all sound\n" },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	check_runs(programs, archives, NR(archives), *state);
	assert_int_equal(system("mv sum/var/lib/oprofile packed; "
				"mv packed/samples/* packed/samples/current"),
			 0);
	damage(PACKED, 3);
	check_runs(programs, of_pack, NR(of_pack), *state);
	damage(PACKED, 3);
	assert_int_equal(system("mv samples/current/* packed/samples/current"),
			 0);
	write_text("packed/" CYCLES_OF_X, "no samples");
	check_runs(programs, of_more, NR(of_more), *state);
	write_session(&one_sample, 1);
	assert_int_equal(system("rm -r packed symbols; mkdir packed; "
				"mv samples packed"),
			 0);
	check_runs(programs, of_one, NR(of_one), *state);
}

/* 82 of 300 samples, 27.3 % */
FOLDER_TEST(losses_are_told)
{
	static const struct program_row rows[] = {
		{ .line = "opreport --session-dir=. --root=root -l -t 50",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --root=root -ln -t 50",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --root=root --format=html -o page",
		  .wanted = "" },
		{ .line = "opreport --session-dir=. --root=root --format=autofdo",
		  .wanted = EXPECTED("opreport-format-autofdo") },
		{ .line = "opreport --session-dir=. --root=root --csv -t 50 --max-loss=28",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --root=root -ln -t 50 --max-loss=28",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --root=root -l --max-loss=27 -o report",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --root=root -X --max-loss=27",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root -sn -e first,second,bare,tiny,do_work",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root -an -e first,second,bare,tiny,do_work",
		  .wanted = EXPECTED_ROW },
		{ .line = "opgprof --session-dir=. --root=root /vmlinux",
		  .wanted = EXPECTED_ROW },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	write_text("samples/current/ledger",
		   "source = x\ntaken = 300\nstored = 218\npending = 0\n"
		   "lost.buffer_full = 82\n");
	check_runs(programs, rows, NR(rows), *state);
	/* A report that is refused is not written at all. */
	assert_int_equal(access("report", F_OK), -1);
}

/* ---- what all programs do ------------------------------------------------ */

FOLDER_TEST(programs_tell_of_themselves)
{
	static const char *const names[] = { "opannotate", "oparchive",
					     "opgprof",	   "opmerge",
					     "opreport",   "opsymbols" };
	static const char *const usages[] = {
		"--source|--assembly [OPTION...] [PROFILE SPECIFICATION]",
		"[OPTION...] [PROFILE SPECIFICATION]",
		"[OPTION...] [PROFILE SPECIFICATION]",
		"[OPTION...] -o DIR ARCHIVE...",
		"[OPTION...] [PROFILE SPECIFICATION]",
		"[OPTION...] [PROFILE SPECIFICATION]",
	};

	for (size_t i = 0; i < NR(names); i++) {
		char line[64], wanted[256];
		struct program_row row = { .line = line, .wanted = wanted };

		snprintf(line, sizeof(line), "%s -v", names[i]);
		snprintf(wanted, sizeof(wanted),
			 "%s: oprofile " PACKAGE_VERSION "\n", names[i]);
		check_run(programs, &row, *state);
		snprintf(line, sizeof(line), "%s --none", names[i]);
		snprintf(wanted, sizeof(wanted),
			 "%s: --none: unknown option; see %s --help\n= 2\n",
			 names[i], names[i]);
		check_run(programs, &row, *state);
		snprintf(line, sizeof(line), "%s -h", names[i]);
		snprintf(wanted, sizeof(wanted), "Usage: %s %s", names[i],
			 usages[i]);
		row.to = "\n";
		check_run(programs, &row, *state);
	}
}

static void fill_standard_output(const void *ctx)
{
	(void)ctx;
	if (!freopen("/dev/full", "w", stdout))
		_exit(99);
}

/* Run the program of @line with a standard output that nothing can be written
 * to. */
static void write_full_run(FILE *out, const char *line, const char *folder)
{
	int status = run_program(programs, line, fill_standard_output, NULL);

	write_without(out, strdup(text_of("err")), folder);
	fprintf(out, "= %d\n", WEXITSTATUS(status));
}

FOLDER_TEST(full_disks_are_told)
{
	static const struct program_row rows[] = {
		{ .line = "opreport --session-dir=. --root=root",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --root=root --csv",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --root=root --format=html",
		  .wanted = EXPECTED_ROW },
		{ .line = "opreport --session-dir=. --check",
		  .wanted = EXPECTED_AS(
			  "opreport --session-dir=. --root=root, 1") },
		{ .line = "opannotate --session-dir=. --root=root -a /bin/x",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root -s -i first",
		  .wanted = EXPECTED_ROW },
		{ .line = "opannotate --session-dir=. --root=root -s --all -i first",
		  .wanted = EXPECTED_ROW },
		{ .line = "oparchive --session-dir=. --root=root -l",
		  .wanted = EXPECTED_AS(
			  "oparchive --session-dir=. --root=root -l, 2") },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;

		write_full_run(text_begin(&t), rows[i].line, *state);
		text_must_be(&t, rows[i].line, rows[i].wanted);
	}
}

/* ---- signals and progress ------------------------------------------------ */

static void catch_signal(const void *signal)
{
	setvbuf(stderr, NULL, _IONBF, 0);
	pp_catch_signals();
	raise(*(const int *)signal);
}

/* The program of @line, to which @signal came while it began. */
static void write_ended_run(FILE *out, const char *line, int signal)
{
	int status = run_program(programs, line, catch_signal, &signal);

	fputs(text_of("err"), out);
	if (WIFSIGNALED(status))
		fprintf(out, "by signal %d\n", WTERMSIG(status));
	else
		fprintf(out, "= %d\n", WEXITSTATUS(status));
}

FOLDER_TEST(signals_end_what_takes_long)
{
	static const struct {
		int signal;
		const char *line, *wanted;
	} rows[] = {
		{ SIGINT, "oparchive --session-dir=. --root=root -o made",

		  EXPECTED_ROW },
		{ SIGTERM, "opmerge ar two -o made --jobs=1", EXPECTED_ROW },
		{ SIGHUP, "opmerge ar two -o made --jobs=2", EXPECTED_ROW },
	};
	static const struct program_row archives[] = {
		{ .line = "oparchive --session-dir=. --root=root -o ar",
		  .wanted = "" },
		{ .line = "oparchive --session-dir=. --root=root -o two --label=host=b",
		  .wanted = "" },
	};

	make_binaries();
	write_session(one_event, NR(one_event));
	check_runs(programs, archives, NR(archives), *state);
	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;

		write_ended_run(text_begin(&t), rows[i].line, rows[i].signal);
		text_must_be(&t, rows[i].line, rows[i].wanted);
		assert_int_equal(access("made", F_OK), -1);
		assert_int_equal(system("! ls -A | grep -q '^[.]made'"), 0);
	}
}

/* What nohup(1) ignores stays ignored. */
TEST(ignored_signals_end_nothing)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		signal(SIGHUP, SIG_IGN);
		pp_catch_signals();
		raise(SIGHUP);
		pp_end_by_signal();
		if (pp_caught_signal())
			_exit(1);
		raise(SIGTERM);
		_exit(pp_caught_signal() == SIGTERM ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* What a terminal sees, when it is time and when it is not. */
FOLDER_TEST(progress_is_one_line)
{
	struct copying copying = { .total = UINT64_C(5) << 20,
				   .progress.next = 1 };
	struct pp_progress merging = { .next = 1 }, never = { 0 };
	int was = dup(STDERR_FILENO);

	fflush(stderr);
	assert_non_null(freopen("progress", "w", stderr));
	assert_int_equal(show_copying(&copying, UINT64_C(3) << 20), 0);
	/* It is not time again yet. */
	assert_true(copying.progress.next > 1);
	copying.progress.next = UINT64_MAX;
	assert_int_equal(show_copying(&copying, UINT64_C(4) << 20), 0);
	copying.progress.next = 1;
	assert_int_equal(show_copying(&copying, UINT64_C(7) << 20), 0);
	pp_progress_end(&copying.progress);
	assert_int_equal(copying.progress.next, 0);
	assert_false(copying.progress.shown);
	/* There is nothing to remove. */
	pp_progress_end(&copying.progress);
	fputc('\n', stderr);
	assert_int_equal(show_merging(&merging, "files\033", 3, 7), 0);
	fputc('\n', stderr);
	assert_int_equal(show_merging(&never, "files", 4, 7), 0);
	pp_progress_end(&never);
	pp_progress_start(&never);
	/* A file is no terminal. */
	assert_int_equal(never.next, 0);
	fflush(stderr);
	assert_true(dup2(was, STDERR_FILENO) >= 0);
	close(was);
	assert_string_equal(text_of("progress"),
			    "\r\033[Koparchive: 3 of 5 MB"
			    "\r\033[Koparchive: 7 of 7 MB"
			    "\r\033[K\n"
			    "\r\033[Kopmerge: 3 of 7 files?\n");
}

/* ---- pagers -------------------------------------------------------------- */

/* Lines above the rows of a table, which a pager keeps in sight. */
TEST(header_lines_are_counted)
{
	static const struct {
		unsigned int flags;
		const char *format;
		int no_header;
		unsigned int nr;
	} rows[] = {
		{ SYMBOLS, "text", 0, 3 },
		{ SYMBOLS | ACCOUNT, "text", 0, 4 },
		{ SYMBOLS | TWO, "text", 0, 5 },
		{ SYMBOLS, "text", 1, 0 },
		{ SYMBOLS, "csv", 0, 0 },
		{ SYMBOLS | CALLS, "text", 0, 0 },
		{ 0, "text", 0, 0 },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		const struct opreport_options o = {
			.format = pp_format_find(rows[i].format),
			.args.no_header = rows[i].no_header,
		};
		struct made_report m;

		make_report(&m, rows[i].flags);
		assert_int_equal(nr_header_lines(&o, &m.report), rows[i].nr);
	}
}

BEFORE_TESTS()
{
	set_program_environment();
}
