// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records of the stream that tell of tasks, of times, and of what samples stand
 * for. Besides what every stream can print, a line may be
 *
 *	tasks		bring the names of tasks to their file, print it
 *	no-tasks	there is no such file
 *	told		what is told of events and of lowered rates
 */

#include "tests/unit/daemon/opd_rows.h"

#include "libop/session/op_budget.h"
#include "libop/session/op_ledger.h"

/* A process that runs a shell, on one CPU. */
static const char world[] = "stream 1 8;"
			    "cookie 1 0 0 0 0 - /bin/sh;"
			    "cookie 2 0 0 0 0 - /lib/libc.so.6;"
			    "kernel-range first 0xffffffff81000000 "
			    "0xffffffff81001000 - vmlinux;";

#define SH(tgid) "cpu 1; ctx " tgid " 1; tgid " tgid "; user; image 1;"
/* A sample of process 7 before and behind a record. */
#define AROUND(record) SH("7") "sample 0x1 0;" record "; sample 0x2 0;"
#define IDLE "cpu 1; ctx 0 0; tgid 0; kernel;"

/* clang-format off */
static const struct row rows[] = {
	/* ---- names of threads ---- */
	{ "names_of_threads", "--separate-thread=1",
	  "task-name 7 7 main; task-name 7 8 worker; task-name 7 8 idle;"
	  "task-name 9 9 \"\\x1b[2J\"; tasks", EXPECTED_ROW },
	{ "names_of_the_largest_numbers", "--separate-thread=1",
	  "task-name 2147483647 2147483647 most; tasks", EXPECTED_ROW },
	{ "names_of_numbers_that_cannot_be", "--separate-thread=1",
	  AROUND("task-name 2147483648 1 a") AROUND("task-name 1 2147483648 b")
	  "no-tasks", EXPECTED_ROW },
	{ "names_that_are_not_kept", "--separate-cgroup=1",
	  "task-name 7 7 main; task-cgroup 7 4026531841 /a; no-tasks",
	  "taken 0 stored 0\n" },
	{ "mount_namespaces", "--separate-thread=1",
	  "task-name 7 7 main; task-cgroup 7 4026531841 /a;"
	  "task-cgroup 8 0 /a; task-cgroup 9 1 /a; tasks", EXPECTED_ROW },
	/* Names that are known already are not written again. */
	{ "names_are_written_when_there_are_new_ones", "--separate-thread=1",
	  "task-name 7 7 main; tasks; rm tasks; no-tasks;"
	  "task-name 7 7 main; no-tasks; task-name 7 7 other; tasks", EXPECTED_ROW },
	{ "names_that_a_daemon_found", "--separate-thread=1",
	  "task-name 7 7 main; tasks; restart; task-name 7 8 worker; tasks", EXPECTED_ROW },
	/* ---- cgroups ---- */
	{ "cgroups", "--separate-cgroup=1",
	  AROUND("task-cgroup 7 0 /a/b")
	  "task-cgroup 8 0 /c; sample 0x3 0;"
	  SH("8") "sample 0x4 0;"
	  SH("7") "sample 0x5 0; task-cgroup 7 0 \"\"; sample 0x6 0", EXPECTED_ROW },
	{ "cgroups_that_are_not_kept_apart", NULL,
	  SH("7") "task-cgroup 7 0 /a/b; sample 0x2 0", EXPECTED_ROW },
	{ "cgroup_of_idle_cpus", "--separate-cgroup=1",
	  IDLE "sample 0xffffffff81000001 0;" IDLE
	       "task-cgroup 0 0 /idle; sample 0xffffffff81000002 0;" IDLE
	       "sample 0xffffffff81000003 0", EXPECTED_ROW },
	{ "cgroups_that_cannot_be", "--separate-cgroup=1",
	  AROUND("task-cgroup 7 0 no/slash")
	  AROUND("task-cgroup 7 0 /two//slashes")
	  AROUND("task-cgroup 7 0 /ends/")
	  AROUND("task-cgroup 2147483648 0 /a")
	  AROUND("task-cgroup 2147483647 0 /a")
	  "task-cgroup 7 0 /; sample 0x6 0", EXPECTED_ROW },
	/* A new stream tells all anew. */
	{ "cgroups_of_a_new_stream", "--separate-cgroup=1",
	  "task-cgroup 7 0 /a; stream 1 8; cookie 1 0 0 0 0 - /bin/sh;"
	  SH("7") "sample 0x1 0", EXPECTED_ROW },
	/* ---- links that run programs ---- */
	{ "links", "--separate-lib=1",
	  "task-run-as 7 1 /bin/dash; task-run-as 8 9 /bin/late;"
	  AROUND("task-run-as 6 1 /bin/ash")
	  "task-run-as 7 2 /bin/other; sample 0x3 0;"
	  "task-run-as 7 1 /bin/ash; sample 0x4 0; tasks;"
	  "cookie 9 0 0 0 0 - /bin/nine; ctx 8 9; tgid 8;"
	  "image 9; sample 0x5 0", EXPECTED_ROW },
	{ "links_that_cannot_be", "--separate-lib=1",
	  AROUND("task-run-as 7 0 /bin/dash")
	  AROUND("task-run-as 2147483648 1 /bin/dash")
	  AROUND("task-run-as 7 1 relative")
	  AROUND("task-run-as 7 1 /a//b")
	  AROUND("task-run-as 7 1 /a/")
	  AROUND("task-run-as 7 1 /")
	  AROUND("task-run-as 7 1 \"\"")
	  AROUND("task-run-as 2147483647 1 /bin/dash")
	  "tasks", EXPECTED_ROW },
	/* By its process: another one that runs the same program is none. */
	{ "the_profiler_itself", "--separate-lib=1 --separate-kernel=1",
	  SH("7") "task-run-as 7 1 \"OProfile itself\"; sample 0x1 0; image 2; sample 0x2 0; kernel; sample 0xffffffff81000009 0;"
	  SH("8") "sample 0x3 0; no-tasks", EXPECTED_ROW },
	{ "a_link_of_a_wanted_program", "--separate-lib=1 --image=/bin/sh",
	  "task-run-as 7 1 /bin/dash; task-run-as 8 2 /lib/link;"
	  SH("7") "sample 0x1 0; ctx 8 2; tgid 8; image 2; sample 0x2 0", EXPECTED_ROW },
	{ "a_link_with_the_kernels_name", "--vmlinux=/boot/no-vmlinux",
	  SH("7") "task-run-as 7 1 /boot/no-vmlinux; sample 0x1 0", EXPECTED_ROW },
	/* ---- times of events ---- */
	{ "times_of_events", NULL,
	  "event 0 0x76 1000 0 1 1 CLK; event 2 0x77 500 3 1 1 MISS;"
	  "event-time 0 100 60; event-time 2 100 50 7 2;"
	  "event-time 2 10 10 1 1; event-time 0 100 100; told", EXPECTED_ROW },
	{ "times_of_the_timer", NULL, "event-time 0 100 60; told", EXPECTED_ROW },
	{ "periods_of_an_event", NULL,
	  "event-time 0 0 0 0 0 3 3000 4000; event-time 0 0 0 0 0 1 100 200;"
	  "told", EXPECTED_ROW },
	{ "times_with_fewer_words", NULL,
	  "record 28 0 0 100 60 5; record 28 0 0 100; told", EXPECTED_ROW },
	{ "times_of_no_event", NULL,
	  "event 0 0x76 1000 0 1 1 CLK; event 2 0x77 500 3 1 1 MISS;"
	  "event-time 1 100 60; event-time 3 100 60; event-time 4 100 60;"
	  "event-time 32 100 60; told", EXPECTED_ROW },
	/* ---- what samples stand for ---- */
	{ "samples_of_a_lowered_rate", NULL,
	  SH("7") "times lowered 4; sample 0x10 0; times lowered 1;"
		  "sample 0x10 0; times lowered 128; sample 0x20 0; told", EXPECTED_ROW },
	{ "rates_that_cannot_be", NULL,
	  AROUND("times lowered 129") AROUND("times lowered 0") "told", EXPECTED_ROW },
	/* ---- where ---- */
	{ "anonymous_memory_that_cannot_be", NULL,
	  AROUND("anon 0x1000 0x1000 a") AROUND("anon 0x2000 0x1000 a")
	  AROUND("record 16 0 0x1000 0x2000 0") AROUND("anon 0x1000 0x1003 a")
	  "anon 0x1000 0x1002 a; sample 0x2 0", EXPECTED_ROW },
	/* ---- who ---- */
	/* Nothing of the process before holds for the next thread. */
	{ "a_thread_whose_process_is_not_told",
	  "--separate-thread=1 --separate-cgroup=1 --separate-user=1",
	  "task-cgroup 7 0 /a; cpu 1; ctx 7 1; tgid 7 1000; user; image 1;"
	  "sample 0x1 0; ctx 8 1; sample 0x2 0", EXPECTED_ROW },
	{ "a_thread_of_another_program", "--separate-lib=1",
	  "task-run-as 7 1 /bin/dash;" SH("7") "image 2; sample 0x1 0;"
	  "ctx 8 1; sample 0x2 0; ctx 9 2; sample 0x3 0", EXPECTED_ROW },
	{ "the_largest_numbers", "--separate-thread=1 --separate-user=1",
	  "cpu 65535; ctx 2147483647 1; tgid 2147483647 4294967294; user;"
	  "image 1; sample 0x1 0; cpu 65536; sample 0x2 0;"
	  "cpu 1; ctx 2147483648 1; tgid 7; user; image 1; sample 0x3 0;"
	  "cpu 1; ctx 7 1; tgid 2147483648; user; image 1; sample 0x4 0;"
	  "cpu 1; ctx 7 1; tgid 7 4294967295; user; image 1; sample 0x5 0;"
	  "cpu 1; ctx 7 1; tgid 7 0xffffffffffffffff; user; image 1;"
	  "sample 0x6 0", EXPECTED_ROW },
	{ "sources_of_stacks", NULL,
	  "source 1 perf;" SH("7") "sample 0x1 0; image 2; sample 0x2 0", EXPECTED_ROW },
	{ "stacks_from_now_on", NULL,
	  SH("7") "image 2; sample 0x1 0; source 1 perf; image 2;"
		  "sample 0x2 0; source 0 perf; image 2; sample 0x3 0", EXPECTED_ROW },
	/* Not from the next image on. */
	{ "stacks_at_once", NULL,
	  SH("7") "image 2; sample 0x1 0; source 1 perf; sample 0x2 0", EXPECTED_ROW },
	{ "sources_without_stacks", NULL,
	  "source 2 perf;" SH("7") "sample 0x1 0; image 2; sample 0x2 0", EXPECTED_ROW },
	{ "a_source_without_name", NULL, "record 21 0; record 23 0 0 999 0", EXPECTED_ROW },
};
/* clang-format on */

static void show_told(struct fixture *f, FILE *out)
{
	struct op_ledger ledger;

	opd_stats_ledger(&f->opd.stats, &ledger);
	for (unsigned int i = 0; i < ledger.nr_events; i++) {
		const struct op_ledger_event *e = &ledger.events[i];

		fprintf(out, "%s:%lu:%lu %lu of %lu ns, %lu in %lu turns",
			e->name, e->count, e->unit_mask, e->running, e->enabled,
			e->samples, e->turns);
		if (e->periods)
			fprintf(out, ", %lu periods of %lu, %lu", e->periods,
				e->sum_of_periods, e->squares_of_periods);
		fputc('\n', out);
	}
	fprintf(out, "spread %lu\n", ledger.costs[OP_COST_SPREAD]);
}

/* False if @line is none of those that only this test has. */
static bool do_code_command(struct fixture *f, struct words *w,
			    const char *line, FILE *out)
{
	bool tasks = !strcmp(line, "tasks");

	if (!tasks && strcmp(line, "no-tasks") && strcmp(line, "told"))
		return false;
	run_whole(f, w);
	if (!strcmp(line, "told")) {
		show_told(f, out);
		return true;
	}
	opd_tasks_write(&f->opd.tasks, false);
	assert_int_equal(exists(f, "current/tasks"), tasks);
	if (tasks)
		show_text(f, "current/tasks", out);
	return true;
}

static void run_codes(const struct row *row, FILE *out)
{
	struct fixture *f = new_with(row->given);
	struct words *w = calloc(1, sizeof(*w));
	const char *at = row->script;
	char line[8192];

	assert_non_null(w);
	put_text(w, world);
	while (next_line(&at, line, sizeof(line)))
		if (!do_code_command(f, w, line, out) &&
		    !do_command(f, w, line, out))
			put_line(w, line);
	run_words(f, w);
	show_all(f, out);
	free(w);
	free_with(f);
}

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_codes);
}
