// SPDX-License-Identifier: GPL-2.0-or-later
/* From samples of the clock and switches to the elapsed time of processes. */

#include "daemon/source/perf/opd_perf_record.h"
#include "daemon/source/waits/opd_latency.h"
#include "tests/unit/test.h"

#define INTERVAL 10u /* ns */
#define TICK 7u /* ns between samples of the clock */
#define NR_TICKS 1000u
#define LATENCY "CPU_LATENCY:0:1:10:0:1:1"

static void new_latency(struct opd_latency *latency)
{
	struct opd_events events;
	struct op_diag diag;

	assert_int_equal(opd_events_parse(&events, "TIMER:0:0:0:0:1:1," LATENCY,
					  &diag),
			 0);
	opd_latency_init(latency, &events);
	assert_int_equal(latency->interval, INTERVAL);
	assert_int_equal(latency->counter, 1);
}

static struct opd_perf_rec record(uint32_t type, uint32_t tgid, uint32_t tid)
{
	return (struct opd_perf_rec){ .type = type, .pid = tgid, .tid = tid };
}

static void switches(struct opd_latency *latency, uint32_t cpu, uint32_t tgid,
		     uint32_t tid, bool out)
{
	struct opd_perf_rec rec = record(PERF_RECORD_SWITCH, tgid, tid);

	rec.misc = out ? PERF_RECORD_MISC_SWITCH_OUT : 0;
	opd_latency_switch(latency, &rec, cpu);
}

/* What NR_TICKS ticks on @cpu, in thread @tid of process @tgid, count for. */
static uint64_t ticks(struct opd_latency *latency, uint32_t cpu, uint32_t tgid,
		      uint32_t tid)
{
	struct opd_perf_rec rec = record(PERF_RECORD_SAMPLE, tgid, tid);
	uint64_t sum = 0;

	for (unsigned int i = 0; i < NR_TICKS; i++)
		sum += opd_latency_count(latency, &rec, cpu, TICK);
	return sum;
}

/* @samples stand for NR_TICKS parts of @ns each, but for one sample. */
static void expect_ns(uint64_t samples, uint64_t ns)
{
	assert_in_range(samples * INTERVAL, NR_TICKS * ns - INTERVAL,
			NR_TICKS * ns + INTERVAL);
}

TEST(threads_share_the_time)
{
	struct opd_latency latency;

	new_latency(&latency);
	switches(&latency, 0, 5, 50, false);
	expect_ns(ticks(&latency, 0, 5, 50), TICK);
	switches(&latency, 3, 5, 51, false);
	expect_ns(ticks(&latency, 0, 5, 50), TICK / 2);
	expect_ns(ticks(&latency, 3, 5, 51), TICK / 2);
	switches(&latency, 1, 5, 52, false);
	expect_ns(ticks(&latency, 0, 5, 50), TICK / 3);
	/* Threads of others have nothing to do with it. */
	switches(&latency, 2, 6, 60, false);
	expect_ns(ticks(&latency, 0, 5, 50), TICK / 3);
	expect_ns(ticks(&latency, 2, 6, 60), TICK);
	opd_latency_release(&latency);
}

TEST(threads_leave)
{
	struct opd_perf_rec end = record(PERF_RECORD_EXIT, 5, 51);
	struct opd_latency latency;

	new_latency(&latency);
	switches(&latency, 0, 5, 50, false);
	switches(&latency, 1, 5, 51, false);
	switches(&latency, 1, 5, 51, true);
	expect_ns(ticks(&latency, 0, 5, 50), TICK);
	/* A record of one that has left already is late. */
	switches(&latency, 1, 5, 51, false);
	switches(&latency, 1, 5, 52, true);
	expect_ns(ticks(&latency, 0, 5, 50), TICK / 2);
	opd_latency_side(&latency, &end);
	expect_ns(ticks(&latency, 0, 5, 50), TICK);
	opd_latency_release(&latency);
}

TEST(samples_show_who_runs)
{
	struct opd_latency latency;

	new_latency(&latency);
	expect_ns(ticks(&latency, 1, 5, 51), TICK);
	expect_ns(ticks(&latency, 0, 5, 50), TICK / 2);
	/* Neither idle CPUs nor tasks that are freed have a process. */
	assert_int_equal(ticks(&latency, 2, 0, 0), 0);
	assert_int_equal(ticks(&latency, 2, UINT32_MAX, UINT32_MAX), 0);
	expect_ns(ticks(&latency, 0, 5, 50), TICK / 2);
	opd_latency_release(&latency);
}
