// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The source perf_events as a whole: when it looks at its rings, what it hands
 * out, and its account.
 */

#include <sys/resource.h>

#include "source_perf_rig.h"

/* clang-format off */
static const struct row rows[] = {
	{ "about_the_clock", NULL, "open; about; enable; about; log", EXPECTED_ROW },
	{ "about_an_event", NULL,
	  "events cpu-cycles:0:0:5000:0:0:1; open rate=100; about", EXPECTED_ROW },
	{ "about_stacks", NULL, "paranoid; open exec=7,callgraph=5; about; log", EXPECTED_ROW },
	{ "the_kernel_is_not_sampled", NULL,
	  "paranoid; events A:118:0:5000:0:1:1; open; about", EXPECTED_ROW },
	{ "a_bad_argument", NULL, "open rate=0", EXPECTED_ROW },
	{ "a_refusal", NULL, "refuse 4 24; open", EXPECTED_ROW },
	/* What is younger than 2 ms waits; a dump asks for all. */
	{ "the_last_moments_wait", NULL,
	  "paranoid; open exec=7; enable; exec 0 1001; kernel 0 1005 ffff1;"
	  "user 1 1008 10002; kernel 1 1009 ffff3; time 1010; read; read;"
	  "dump; read; account", EXPECTED_ROW },
	/* All is read, then the source waits once. */
	{ "little_room", NULL,
	  "open; exec 0 1001; user 0 1002 10001; kernel 1 1002 ffff2;"
	  "kernel 1 1003 ffff3; time 2000; read 1; read 1; read; read",
	  EXPECTED_ROW },
	{ "a_dump_starts_anew", NULL,
	  "open; kernel 0 1002 ffff2; kernel 1 1002 ffff3; time 1010; read 1;"
	  "time 2000; kernel 0 1999 ffff4; dump; read; read",
	  EXPECTED_ROW },
	/* ---- once a second ---- */
	{ "modules_that_change_are_told", NULL,
	  "open; modules ext4; dump; read; modules xfs; dump; kernel 0 1 ffff1;"
	  "read; kernel 0 2 ffff2; read; dump; read", EXPECTED_ROW },
	{ "a_second_has_ten_ticks", NULL,
	  "open; dump; read; modules xfs; " SECOND SECOND, EXPECTED_ROW },
	{ "cpus_come_and_go", NULL,
	  "open; enable; online 0; " SECOND "online 0-1;" SECOND
	  "disable; online 0;" SECOND "online 0-1;" SECOND "log",
	  EXPECTED("cpus-come-and-go") },
	{ "a_cpu_is_refused", NULL,
	  "online 0; open; enable; online 0-1; refuse 1 24;" SECOND "log", EXPECTED_ROW },
	/* Another one that could be opened is sampled all the same. */
	{ "one_of_two_cpus_is_refused", NULL,
	  "possible 0-2; online 0; open; enable; online 0-2; refuse 3 24; kernel 0 900 ffff1;"
	  SECOND "log; " SECOND "log",
	  EXPECTED("one-of-two-cpus-is-refused") },
	/* ---- processes, where CPUs may be sampled ---- */
	{ "a_process_that_is_to_be_started", NULL,
	  "open exec=SELF; about; enable; of SELF; kernel 0 1000 ffff0;"
	  "exec 0 1001; kernel 1 1002 ffff1; fork 0 1003; of PID;"
	  "user 0 1004 10001; kernel 1 1005 ffff2; time 2000; read; account; log",
	  EXPECTED("a-process-that-is-to-be-started") },
	{ "a_process_that_runs_and_others", NULL,
	  "open pid=SELF; enable; of PID; kernel 0 1000 ffff0; exec 0 1001;"
	  "user 0 1002 10001; of SELF; kernel 0 1003 ffff1; lost 0 1004 5; time 2000; read; account",
	  EXPECTED_ROW },
	/* With stacks only if the kernel drops those of others. */
	{ "stacks_of_a_process_among_others", NULL,
	  "filters; open exec=SELF,callgraph=5; more; enable; online 0; time 2000;"
	  "tick; tick; tick; tick; tick; tick; tick; tick; tick; tick; online 0-1;"
	  "tick; tick; tick; tick; tick; tick; tick; tick; tick; tick", EXPECTED_ROW },
	{ "stacks_of_a_process_alone", NULL,
	  "open exec=SELF,callgraph=5; more; enable", EXPECTED_ROW },
	{ "stacks_of_an_ordinary_users_process", NULL,
	  "paranoid; filters; open exec=SELF,callgraph=5; more; enable", EXPECTED_ROW },
	/* Nobody told of PID, and it is gone: that may have been one of SELF's,
	 * but only if something was lost. */
	{ "a_process_that_nobody_knows", NULL,
	  "open pid=SELF; enable; of PID; kernel 0 1000 ffff0; of SELF;"
	  "kernel 0 1001 ffff1; time 2000; read; account; fork-lost 0 2001;"
	  "time 4000; read; account", EXPECTED_ROW },
	{ "a_process_that_is_not_there", NULL, "open pid=2147483647", EXPECTED_ROW },
	{ "a_process_that_cannot_be_started", NULL, "open exec=2147483647", EXPECTED_ROW },
	/* ---- the account ---- */
	/* What was lost in rings is told by records, later by events. */
	{ "lost_samples", NULL,
	  "open; lost 0 1001 5; kernel 0 1002 ffff1; user 0 1002 5; time 2000;"
	  "read; account; missed 2; account; missed 9; account; log",
	  EXPECTED("lost-samples") },
	/* The clock would have gone on, up to now or the end. */
	{ "throttled_samples", NULL,
	  "open rate=1000; enable; throttle 0 1500; time 2000; read; account;"
	  "time 2503; account; disable; time 9000; account; enable; account;"
	  "disable; disable; account",
	  EXPECTED("throttled-samples") },
	{ "throttled_samples_of_no_clock", NULL,
	  "events A:118:0:5000:0:1:1; open; throttle 0 1500; time 2000; read;"
	  "account", EXPECTED_ROW },
	/* The exec of the program turns it on, the first time. */
	{ "an_exec_enables", NULL,
	  "paranoid; open exec=7; enable; about; disable; enable; about",
	  EXPECTED("an-exec-enables") },
	{ "cannot_be_enabled", NULL, "open; no-enable; enable; about; read", EXPECTED_ROW },
	/* ---- looking ahead ---- */
	/* New images are looked for again after a short pause, in which
	   side band wakes nobody; its records wait for their turn. */
	{ "a_new_image", NULL,
	  "open; watched; read; exec 0 1001; wake 0 0; time 1001; read; watched;"
	  "exec 1 1002; read; sleep 0 0; pause-ends; read; watched; pause-ends;"
	  "read; watched; read; log",
	  EXPECTED("a-new-image") },
	/* Without news the pause is longer. */
	{ "no_new_image", NULL,
	  "open; time 5000; read; fork 0 4000; wake 0 0; read; pause-ends; read;"
	  "exec 0 4001; pause-ends; read; time 5199; fork 0 4002; pause-ends;"
	  "read; time 5200; fork 0 4003; pause-ends; read", EXPECTED_ROW },
	/* A ring of side band that fills is read. */
	{ "much_side_band", NULL,
	  "open; time 5000; read; kernel 0 3000 ffff1; fill 0 4000 262128;"
	  "wake 0 0; read; fill 0 4000 48; pause-ends; read; pause-ends; read", EXPECTED_ROW },
	{ "samples_wake", NULL,
	  "open; read; kernel 0 1001 ffff1; time 2000; read; wake 0 1; read;"
	  "kernel 0 1002 ffff2; read; sleep 0 1; kernel 0 1003 ffff3; read", EXPECTED_ROW },
	{ "names_are_told_again", NULL,
	  "names; paranoid; open exec=7; enable; exec 0 1001; kernel 0 1002 ffff1;"
	  "kernel 0 1003 ffff2; time 1010; dump; read; again;"
	  "kernel 0 1012 ffff3; time 1020; dump; read", EXPECTED_ROW },
	/* What is always ready as nothing is left of it is forgotten. */
	{ "tasks_that_have_ended", NULL,
	  "open; watched; end 0 1; read; watched; end 1 0; read; watched; read", EXPECTED_ROW },
};
/* clang-format on */

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_source);
}

/* With any number of descriptors it opens, or says why not, and keeps none. */
TEST(test_few_descriptors)
{
	struct rlimit before, few;
	int nr_failed = 0, err;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	do {
		FILE *out = fopen("/dev/null", "we");
		int nr = count_open(), next;
		struct rig *rig = new_rig(out);

		/* Above this there are no others. */
		next = fcntl(fileno(out), F_DUPFD_CLOEXEC, nr);
		close(next);
		few = before;
		few.rlim_cur = (rlim_t)next + (rlim_t)nr_failed;
		assert_int_equal(prlimit(0, RLIMIT_NOFILE, &few, NULL), 0);
		err = open_source(rig, "");
		assert_int_equal(prlimit(0, RLIMIT_NOFILE, &before, NULL), 0);
		if (err)
			assert_int_equal(err, -EMFILE);
		nr_failed += err != 0;
		close_rig(rig);
		kernel.told = NULL;
		assert_int_equal(count_open(), nr);
		fclose(out);
	} while (err);
	assert_true(nr_failed > 5);
}
