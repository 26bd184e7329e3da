// SPDX-License-Identifier: GPL-2.0-or-later
/* The time that the samples of a report stand for. */

#include <string.h>

#include "libpp/report/report_times.h"
#include "tests/unit/test.h"

#define MS UINT64_C(1000000)
#define MAX 4

struct row {
	const char *event;
	uint64_t count, unit_mask, samples;
	int64_t tid;
};

struct rig {
	struct pp_class classes[MAX];
	uint64_t totals[MAX];
	struct pp_report report;
};

static const struct pp_report *report_of(struct rig *rig,
					 const struct row *rows, size_t nr)
{
	struct pp_class *classes = rig->classes;

	memset(rig, 0, sizeof(*rig));
	rig->report.totals = rig->totals;
	rig->report.cpu.timer_hz = 500;
	rig->report.classes.classes = classes;
	rig->report.classes.nr = nr;
	for (size_t i = 0; i < nr; i++) {
		classes[i].event = rows[i].event;
		classes[i].count = rows[i].count;
		classes[i].unit_mask = rows[i].unit_mask;
		classes[i].counted_unit_mask = rows[i].unit_mask;
		classes[i].tid = rows[i].tid;
		rig->totals[i] = rows[i].samples;
	}
	return &rig->report;
}

/* Returns what pp_report_times() returns. */
static bool times_of(const struct row *rows, size_t nr, struct pp_times *times)
{
	struct rig rig;

	return pp_report_times(report_of(&rig, rows, nr), times);
}

#define TIMES_OF(rows, times)                                                  \
	times_of(rows, sizeof(rows) / sizeof((rows)[0]), times)

TEST(the_timer_and_all_waits)
{
	const struct row rows[] = {
		{ "TIMER", 0, 0, 100, 0 },
		{ "THREAD_WAIT", 2 * MS, 7, 300, 0 },
	};
	struct pp_times times;

	assert_true(TIMES_OF(rows, &times));
	assert_true(times.has_ran);
	assert_int_equal(times.ran, 200 * MS);
	assert_int_equal(times.waited, 600 * MS);
	assert_int_equal(times.blocked, 0);
	assert_int_equal(times.ready, 0);
	assert_int_equal(times.parts, 7);
}

TEST(parts_of_waits_of_two_threads)
{
	const struct row rows[] = {
		{ "THREAD_WAIT", MS, 4, 100, 1 },
		{ "THREAD_WAIT", 2 * MS, 3, 300, 1 },
		{ "THREAD_WAIT", MS, 4, 10, 2 },
		{ "THREAD_WAIT", 2 * MS, 3, 30, 2 },
	};
	struct pp_times times;

	assert_true(TIMES_OF(rows, &times));
	assert_false(times.has_ran);
	assert_int_equal(times.ready, 110 * MS);
	assert_int_equal(times.blocked, 660 * MS);
	assert_int_equal(times.waited, 770 * MS);
	assert_int_equal(times.parts, 7);
}

TEST(the_same_time_twice_is_no_sum)
{
	const struct row waits[] = {
		{ "THREAD_WAIT", MS, 7, 100, 0 },
		{ "THREAD_WAIT", MS, 4, 100, 0 },
	};
	const struct row clocks[] = {
		{ "TIMER", 0, 0, 100, 0 },
		{ "cpu-clock", MS, 0, 100, 0 },
		{ "THREAD_WAIT", MS, 7, 100, 0 },
	};
	struct pp_times times;

	assert_false(TIMES_OF(waits, &times));
	assert_false(TIMES_OF(clocks, &times));
}

TEST(events_that_are_no_time)
{
	const struct row rows[] = {
		{ "CYCLES", 100, 0, 100, 0 },
		{ "THREAD_WAIT", MS, 3, 100, 0 },
	};
	struct pp_times times;

	assert_false(times_of(rows, 1, &times));
	assert_true(TIMES_OF(rows, &times));
	assert_false(times.has_ran);
	assert_int_equal(times.parts, 3);
}

TEST(counts_are_seconds_beside_times_alone)
{
	const struct row rows[] = {
		{ "TIMER", 0, 0, 100, 0 },
		{ "CPU_LATENCY", MS, 0, 100, 0 },
		{ "THREAD_WAIT", MS, 7, 100, 0 },
	};
	struct pp_times times;
	struct rig rig;

	assert_false(pp_counts_are_seconds(report_of(&rig, rows, 1)));
	assert_true(pp_counts_are_seconds(report_of(&rig, rows, 2)));
	assert_true(pp_counts_are_seconds(report_of(&rig, rows, 3)));
	assert_true(pp_counts_are_seconds(report_of(&rig, rows + 1, 1)));
	assert_true(pp_counts_are_seconds(report_of(&rig, rows + 2, 1)));
	rig.report.old.made = true;
	assert_false(pp_counts_are_seconds(&rig.report));
	/* Elapsed time is a part of neither. */
	assert_true(TIMES_OF(rows, &times));
	assert_int_equal(times.ran, 200 * MS);
	assert_int_equal(times.waited, 100 * MS);
}
