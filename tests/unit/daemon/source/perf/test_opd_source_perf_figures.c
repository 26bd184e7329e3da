// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The source perf_events: what it tells of itself, of the times of its events
 * and of the cost of its samples, its account, and how it lowers the rate.
 */

#include "source_perf_rig.h"

/* clang-format off */
#define CLOCK                                                                 \
	" 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256 timer 100 ms\n" \
	"open: 0\n"
#define CLOSED "close: -3 -4 -5 -6\n"

static const struct row rows[] = {
	{ "what_it_tells", NULL, "open; more",
	  CLOCK
	  " perf_events kernel-code TIMER with the kernel\n"
	  CLOSED },
	/* Only the clock leaves the kernel out by itself. */
	{ "whoever_may_not_sample_the_kernel", NULL, "paranoid; open; more",
	  CLOCK
	  " perf_events kernel-code TIMER\n"
	  CLOSED },
	{ "an_event_that_asks_for_the_kernel", NULL,
	  "paranoid; events A:118:0:5000:0:1:1; open; more",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 raw76@0=4 map 4:256 side@1=5 map 5:2048 raw76@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " perf_events kernel-code A with the kernel\n"
	  CLOSED },
	{ "threads_load_no_code_of_the_kernel", NULL,
	  "paranoid; open exec=7; more",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side/7@0=3 map 3:128 clock/7@0=4 map 4:256 side/7@1=5 map 5:128 clock/7@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  " perf_events TIMER\n"
	  CLOSED },
	/* Nobody but root may use fanotify: others watch folders, too. */
	{ "folders_that_a_user_watches", NULL, "uid 1000; open; watched",
	  CLOCK
	  " 6 of 6 2 of 2\n"
	  CLOSED },
	{ "no_folders_that_root_watches", NULL, "open; watched",
	  CLOCK
	  " 5 of 5 2 of 2\n"
	  CLOSED },
	/* All of them must be there. */
	{ "processes_to_choose", NULL, "open pid=SELF,pid=2147483647",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 clock@0=4 map 4:256 side@1=5 map 5:2048 clock@1=6 map 6:256\n"
	  "open: ESRCH\n"
	  CLOSED },
	{ "the_file_of_an_image", NULL,
	  "open; exec 0 1001; user 0 1002 10001; time 2000; read; take",
	  CLOCK
	  " 1@0#0(/nonexistent/program); EAGAIN\n"
	  "\n"
	  "take: ENOENT\n"
	  CLOSED },
	/* Sums over CPUs. The kernel moves events on every 4 ms. */
	{ "times_of_events", NULL,
	  "events A:118:0:6:0:1:1,B:118:1:9:0:1:1; open;"
	  "ran 40000000 10000000; times",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 raw76@0=4 map 4:256 raw76@0=5 5>4 side@1=6 map 6:2048 raw76@1=7 map 7:256 raw76@1=8 8>7 timer 100 ms\n"
	  "open: 0\n"
	  " 20000000/80000000:2:10 20000000/80000000:1:10 ENOENT\n"
	  "close: -3 -4 -5 -6 -7 -8\n" },
	{ "times_shorter_than_a_turn", NULL,
	  "events A:118:0:15:0:1:1,B:118:1:14:0:1:1; open;"
	  "ran 3999999 1000000; times",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 raw76@0=4 map 4:256 raw76@0=5 5>4 side@1=6 map 6:2048 raw76@1=7 map 7:256 raw76@1=8 8>7 timer 100 ms\n"
	  "open: 0\n"
	  " 2000000/7999998:0:0 2000000/7999998:1:0 ENOENT\n"
	  "close: -3 -4 -5 -6 -7 -8\n" },
	/* It needs no counter. */
	{ "times_of_the_clock", NULL, "open; ran 40000000 10000000; times",
	  CLOCK
	  " ENOENT ENOENT\n"
	  CLOSED },
	/* CPUs beyond those that are asked for keep their value. */
	{ "cost_of_samples", NULL,
	  "open; kernel 0 1001 ffff1; kernel 1 1001 ffff2;"
	  "kernel 1 1002 ffff3; time 2000; read; handler 4; handler 2;"
	  "handler 1; handler 0",
	  CLOCK
	  " ffff1@0#0 ffff2@1#0 ffff3@1#0; EAGAIN\n"
	  " 1000 2000 1 1\n"
	  " 1000 2000 1 1\n"
	  " 1000 1 1 1\n"
	  " 1 1 1 1\n"
	  CLOSED },
	/* Samples stand for more from then on. */
	{ "a_lower_rate", NULL,
	  "open rate=1000; kernel 0 1001 ffff1; time 1500; lower 2;"
	  "kernel 0 1499 ffff2; kernel 0 1500 ffff3; time 2000; read;"
	  "lower 0; kernel 0 2000 ffff4; time 3000; read",
	  CLOCK
	  " period 4:4012000 period 6:4012000\n"
	  "lower: 0\n"
	  " ffff1@0#0 ffff2@0#0 ffff3@0#0*4; EAGAIN\n"
	  " period 4:1003000 period 6:1003000\n"
	  "lower: 0\n"
	  " ffff4@0#0; EAGAIN\n"
	  CLOSED },
	/* All CPUs have one rate: lost samples are weighed by it. */
	{ "a_rate_that_stays", NULL,
	  "open; no-period 6; lower 3; kernel 0 1001 ffff1;"
	  "kernel 1 1001 ffff2; time 2000; read",
	  CLOCK
	  " period 4:8024000 period 6:8024000 period 4:1003000 period 6:1003000\n"
	  "lower: EIO\n"
	  " ffff1@0#0 ffff2@1#0; EAGAIN\n"
	  CLOSED },
	{ "the_rate_of_threads_stays", NULL,
	  "paranoid; open exec=7; lower 2",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side/7@0=3 map 3:128 clock/7@0=4 map 4:256 side/7@1=5 map 5:128 clock/7@1=6 map 6:256 timer 100 ms\n"
	  "open: 0\n"
	  "\n"
	  "lower: EOPNOTSUPP\n"
	  CLOSED },
	/* Those that were lost before are single ones. */
	{ "samples_lost_at_two_rates", NULL,
	  "open; missed 9; lower 2; account; missed 10; account; log",
	  CLOCK
	  " period 4:4012000 period 6:4012000\n"
	  "lower: 0\n"
	  " taken 18 sample_lost_overflow 18\n"
	  " taken 26 sample_lost_overflow 26\n"
	  "Nr. sample_lost_overflow: 26\n"
	  CLOSED },
	/* The events and the records tell of the same ones. */
	{ "lost_samples_count_once", NULL,
	  "open; missed 9; account; lost 0 1001 5; time 2000; read;"
	  "account",
	  CLOCK
	  " taken 18 sample_lost_overflow 18\n"
	  " EAGAIN\n"
	  " taken 18 sample_lost_overflow 18\n"
	  CLOSED },
	{ "lost_samples_in_the_log_count_once", NULL,
	  "open; missed 9; log; lost 0 1001 5; time 2000; read; account",
	  CLOCK
	  "Nr. sample_lost_overflow: 18\n"
	  " EAGAIN\n"
	  " taken 18 sample_lost_overflow 18\n"
	  CLOSED },
	{ "records_that_are_none", NULL,
	  "open; bad 0 1; bad 1 1; bad 1 0; time 2000; read; log",
	  CLOCK
	  " EAGAIN\n"
	  "Nr. invalid records: 3\n"
	  CLOSED },
	{ "cpus_that_cannot_be_enabled", NULL,
	  "open; enable; online 0; no-enable; " SECOND "log",
	  CLOCK
	  " on 4 on 6\n"
	  "enable: 0\n"
	  "......... -5 -6 EAGAIN\n"
	  "Nr. cpu_replug_failed: 1\n"
	  "close: -3 -4\n" },
	{ "cpus_that_stay", NULL, "open; " SECOND "log",
	  CLOCK
	  ".........."
	  CLOSED },
	/* What comes behind it waits for its time again. */
	{ "a_dump_is_over", NULL,
	  "open; time 2000; dump; read; kernel 0 1999 ffff1; read;"
	  "time 2001; read; time 2002; read",
	  CLOCK
	  " EAGAIN\n"
	  " EAGAIN\n"
	  " ffff1@0#0; EAGAIN\n"
	  " EAGAIN\n"
	  CLOSED },
	{ "it_waits_when_all_was_read", NULL,
	  "open; kernel 0 1001 ffff1; time 2000; once;"
	  "kernel 0 1002 ffff2; once; once; once",
	  CLOCK
	  " ffff1@0#0; more\n"
	  " EAGAIN\n"
	  " ffff2@0#0; more\n"
	  " EAGAIN\n"
	  CLOSED },
	{ "a_dump_does_not_wait", NULL,
	  "open; kernel 0 1001 ffff1; time 2000; once;"
	  "kernel 0 1002 ffff2; dump; once; once",
	  CLOCK
	  " ffff1@0#0; more\n"
	  " ffff2@0#0; more\n"
	  " EAGAIN\n"
	  CLOSED },
	{ "a_dump_between_two_reads", NULL,
	  "open; kernel 0 1002 ffff2; kernel 1 1002 ffff3; time 1010;"
	  "once 130; kernel 0 1009 ffff4; dump; once; once",
	  CLOCK
	  " ffff2@0#0; more\n"
	  " ffff4@0#0 ffff3@1#0; more\n"
	  " EAGAIN\n"
	  CLOSED },
	/* The end of sampling is over, too. */
	{ "throttled_again", NULL,
	  "open rate=1000; enable; throttle 0 1500; time 2000; read;"
	  "disable; enable; throttle 0 2100; time 2500; read; account",
	  CLOCK
	  " on 4 on 6\n"
	  "enable: 0\n"
	  " EAGAIN\n"
	  " off 4 off 6\n"
	  "disable: 0\n"
	  " on 4 on 6\n"
	  "enable: 0\n"
	  " EAGAIN\n"
	  " taken 896 sample_lost_throttled 896\n"
	  CLOSED },
	/* The first time counts. */
	{ "disabled_twice", NULL,
	  "open rate=1000; enable; throttle 0 1500; time 2000; read;"
	  "disable; time 3000; disable; account",
	  CLOCK
	  " on 4 on 6\n"
	  "enable: 0\n"
	  " EAGAIN\n"
	  " off 4 off 6\n"
	  "disable: 0\n"
	  " off 4 off 6\n"
	  "disable: 0\n"
	  " taken 498 sample_lost_throttled 498\n"
	  CLOSED },
	/* It had gone on before the account, which the record says later. */
	{ "throttled_for_less_time_than_told", NULL,
	  "open rate=1000; enable; throttle 0 1500; time 2000; read; account;"
	  "unthrottle 0 1800; time 2500; read; account;"
	  "throttle 0 3000; time 3100; read; account; time 3500; account",
	  CLOCK
	  " on 4 on 6\n"
	  "enable: 0\n"
	  " EAGAIN\n"
	  " taken 498 sample_lost_throttled 498\n"
	  " EAGAIN\n"
	  " taken 498 sample_lost_throttled 498\n"
	  " EAGAIN\n"
	  " taken 498 sample_lost_throttled 498\n"
	  " taken 797 sample_lost_throttled 797\n"
	  CLOSED },
	/* The record of its end will never come. */
	{ "throttled_until_it_went_offline", NULL,
	  "open rate=1000; enable; throttle 1 1500; time 2000; read; account;"
	  "online 0; " SECOND "time 9000; read; account; online 0-1;" SECOND
	  "time 9900; read; account",
	  CLOCK
	  " on 4 on 6\n"
	  "enable: 0\n"
	  " EAGAIN\n"
	  " taken 498 sample_lost_throttled 498\n"
	  "......... -5 -6 on 4 EAGAIN\n"
	  " EAGAIN\n"
	  " taken 498 sample_lost_throttled 498\n"
	  "......... side@1=7 map 7:2048 clock@1=8 map 8:256 on 4 on 8 EAGAIN\n"
	  " EAGAIN\n"
	  " taken 498 sample_lost_throttled 498\n"
	  "close: -3 -4 -7 -8\n" },
	{ "events_of_a_new_cpu", NULL,
	  "events A:118:0:6:0:1:1,B:118:1:9:0:1:1; online 0; open;"
	  "id 960; kernel 0 1001 ffff1; id 950; kernel 0 1002 ffff2;"
	  "time 2000; read; online 0-1;" SECOND "id 930;"
	  "kernel 1 2001 ffff3; id 920; kernel 1 2001 ffff4; id 960;"
	  "kernel 0 2002 ffff5; time 3000; read",
	  " 1:1@-1=0 -0 side@-1=1 -1 side@-1=2 -2 side@0=3 map 3:2048 raw76@0=4 map 4:256 raw76@0=5 5>4 timer 100 ms\n"
	  "open: 0\n"
	  " ffff1@0#0 ffff2@0#1; EAGAIN\n"
	  "......... side@1=6 map 6:2048 raw76@1=7 map 7:256 raw76@1=8 8>7 EAGAIN\n"
	  " ffff5@0#0 ffff3@1#0 ffff4@1#1; EAGAIN\n"
	  "close: -3 -4 -5 -6 -7 -8\n" },
};
/* clang-format on */

TEST_ROWS(test_figures_row, rows)
{
	check_row(*state, run_source);
}
