// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The source perf_events: what it tells of itself, of the times of its events
 * and of the cost of its samples, its account, and how it lowers the rate.
 */

#include "source_perf_rig.h"

static const struct row rows[] = {
	{ "what_it_tells", NULL, "open; more", EXPECTED_ROW },
	/* Only the clock leaves the kernel out by itself. */
	{ "whoever_may_not_sample_the_kernel", NULL, "paranoid; open; more",
	  EXPECTED_ROW },
	{ "an_event_that_asks_for_the_kernel", NULL,
	  "paranoid; events A:118:0:5000:0:1:1; open; more", EXPECTED_ROW },
	{ "threads_load_no_code_of_the_kernel", NULL,
	  "paranoid; open exec=7; more", EXPECTED_ROW },
	/* Nobody but root may use fanotify: others watch folders, too. */
	{ "folders_that_a_user_watches", NULL, "uid 1000; open; watched",
	  EXPECTED_ROW },
	{ "no_folders_that_root_watches", NULL, "open; watched", EXPECTED_ROW },
	/* All of them must be there. */
	{ "processes_to_choose", NULL, "open pid=SELF,pid=2147483647",
	  EXPECTED_ROW },
	{ "the_file_of_an_image", NULL,
	  "open; exec 0 1001; user 0 1002 10001; time 2000; read; take",
	  EXPECTED_ROW },
	/* Sums over CPUs. The kernel moves events on every 4 ms. */
	{ "times_of_events", NULL,
	  "events A:118:0:6:0:1:1,B:118:1:9:0:1:1; open;"
	  "ran 40000000 10000000; times",
	  EXPECTED_ROW },
	{ "times_shorter_than_a_turn", NULL,
	  "events A:118:0:15:0:1:1,B:118:1:14:0:1:1; open;"
	  "ran 3999999 1000000; times",
	  EXPECTED_ROW },
	/* It needs no counter. */
	{ "times_of_the_clock", NULL, "open; ran 40000000 10000000; times",
	  EXPECTED_ROW },
	/* CPUs beyond those that are asked for keep their value. */
	{ "cost_of_samples", NULL,
	  "open; kernel 0 1001 ffff1; kernel 1 1001 ffff2;"
	  "kernel 1 1002 ffff3; time 2000; read; handler 4; handler 2;"
	  "handler 1; handler 0",
	  EXPECTED_ROW },
	/* Samples stand for more from then on. */
	{ "a_lower_rate", NULL,
	  "open rate=1000; kernel 0 1001 ffff1; time 1500; lower 2;"
	  "kernel 0 1499 ffff2; kernel 0 1500 ffff3; time 2000; read;"
	  "lower 0; kernel 0 2000 ffff4; time 3000; read",
	  EXPECTED_ROW },
	/* All CPUs have one rate: lost samples are weighed by it. */
	{ "a_rate_that_stays", NULL,
	  "open; no-period 6; lower 3; kernel 0 1001 ffff1;"
	  "kernel 1 1001 ffff2; time 2000; read",
	  EXPECTED_ROW },
	{ "the_rate_of_threads_stays", NULL, "paranoid; open exec=7; lower 2",
	  EXPECTED_ROW },
	/* Those that were lost before are single ones. */
	{ "samples_lost_at_two_rates", NULL,
	  "open; missed 9; lower 2; account; missed 10; account; log",
	  EXPECTED_ROW },
	/* The events and the records tell of the same ones. */
	{ "lost_samples_count_once", NULL,
	  "open; missed 9; account; lost 0 1001 5; time 2000; read;"
	  "account",
	  EXPECTED_ROW },
	{ "lost_samples_in_the_log_count_once", NULL,
	  "open; missed 9; log; lost 0 1001 5; time 2000; read; account",
	  EXPECTED_ROW },
	{ "records_that_are_none", NULL,
	  "open; bad 0 1; bad 1 1; bad 1 0; time 2000; read; log",
	  EXPECTED_ROW },
	{ "cpus_that_cannot_be_enabled", NULL,
	  "open; enable; online 0; no-enable; " SECOND "log", EXPECTED_ROW },
	{ "cpus_that_stay", NULL, "open; " SECOND "log", EXPECTED_ROW },
	/* What comes behind it waits for its time again. */
	{ "a_dump_is_over", NULL,
	  "open; time 2000; dump; read; kernel 0 1999 ffff1; read;"
	  "time 2001; read; time 2002; read",
	  EXPECTED_ROW },
	{ "it_waits_when_all_was_read", NULL,
	  "open; kernel 0 1001 ffff1; time 2000; once;"
	  "kernel 0 1002 ffff2; once; once; once",
	  EXPECTED_ROW },
	{ "a_dump_does_not_wait", NULL,
	  "open; kernel 0 1001 ffff1; time 2000; once;"
	  "kernel 0 1002 ffff2; dump; once; once",
	  EXPECTED_ROW },
	{ "a_dump_between_two_reads", NULL,
	  "open; kernel 0 1002 ffff2; kernel 1 1002 ffff3; time 1010;"
	  "once 1; kernel 0 1009 ffff4; dump; once; once",
	  EXPECTED_ROW },
	/* The end of sampling is over, too. */
	{ "throttled_again", NULL,
	  "open rate=1000; enable; throttle 0 1500; time 2000; read;"
	  "disable; enable; throttle 0 2100; time 2500; read; account",
	  EXPECTED_ROW },
	/* The first time counts. */
	{ "disabled_twice", NULL,
	  "open rate=1000; enable; throttle 0 1500; time 2000; read;"
	  "disable; time 3000; disable; account",
	  EXPECTED_ROW },
	/* It had gone on before the account, which the record says later. */
	{ "throttled_for_less_time_than_told", NULL,
	  "open rate=1000; enable; throttle 0 1500; time 2000; read; account;"
	  "unthrottle 0 1800; time 2500; read; account;"
	  "throttle 0 3000; time 3100; read; account; time 3500; account",
	  EXPECTED_ROW },
	/* The record of its end will never come. */
	{ "throttled_until_it_went_offline", NULL,
	  "open rate=1000; enable; throttle 1 1500; time 2000; read; account;"
	  "online 0; " SECOND "time 9000; read; account; online 0-1;" SECOND
	  "time 9900; read; account",
	  EXPECTED_ROW },
	{ "events_of_a_new_cpu", NULL,
	  "events A:118:0:6:0:1:1,B:118:1:9:0:1:1; online 0; open;"
	  "id 960; kernel 0 1001 ffff1; id 950; kernel 0 1002 ffff2;"
	  "time 2000; read; online 0-1;" SECOND "id 930;"
	  "kernel 1 2001 ffff3; id 920; kernel 1 2001 ffff4; id 960;"
	  "kernel 0 2002 ffff5; time 3000; read",
	  EXPECTED_ROW },
};
/* clang-format on */

TEST_ROWS(test_figures_row, rows)
{
	check_row(*state, run_source);
}
