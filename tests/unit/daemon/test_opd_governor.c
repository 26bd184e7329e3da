// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How the rate follows what sampling costs: made series of costs, second by
 * second, with a clock that the test puts forward. A cost is what it would be
 * at the full rate; "fixed" is a part that no rate changes.
 */

#include "tests/unit/rows.h"

#include "daemon/opd_governor.h"
#include "module/uapi/oprofile.h"

#define SECOND UINT64_C(1000000000)
#define PERCENT 10000 /* of a CPU, in millionths */

struct machine {
	struct opd_governor governor;
	uint64_t now;
	unsigned int changes; /* of the shift */
};

static void boot(struct machine *m, uint32_t budget, unsigned int lowest)
{
	memset(m, 0, sizeof(*m));
	m->now = 1000 * SECOND;
	opd_governor_init(&m->governor, budget, lowest);
}

/* Sample for @seconds. Returns the shift at the end. */
static unsigned int pass(struct machine *m, unsigned int seconds, uint64_t cost,
			 uint64_t fixed)
{
	for (unsigned int i = 0; i < seconds; i++) {
		unsigned int before = m->governor.shift;
		uint64_t spent = (cost >> before) + fixed;

		m->now += SECOND;
		m->changes += opd_governor_step(&m->governor, m->now, SECOND,
						spent) != before;
		assert_true(m->governor.shift <= m->governor.lowest);
	}
	return m->governor.shift;
}

/* A steady cost finds its rate within seconds and stays there. */
TEST(steady_cost_has_one_rate)
{
	static const struct {
		uint32_t budget;
		uint64_t cost;
		unsigned int shift;
	} rows[] = {
		{ PERCENT, 0, 0 },
		{ PERCENT, PERCENT / 2, 0 },
		{ PERCENT, PERCENT - 1, 0 },
		{ PERCENT, PERCENT * 3 / 2, 1 },
		{ PERCENT, 2 * PERCENT, 1 },
		{ PERCENT, 3 * PERCENT, 2 },
		{ PERCENT, 15 * PERCENT, 4 },
		{ PERCENT, 60 * PERCENT, 6 },
		{ PERCENT / 10, PERCENT, 4 },
		{ 50 * PERCENT, 60 * PERCENT, 1 },
		{ 10, 55, 3 },
		{ 0, 90 * PERCENT, 0 }, /* no budget */
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct machine m;
		unsigned int changes;

		boot(&m, rows[i].budget, OP_MAX_RATE_SHIFT);
		if (pass(&m, 20, rows[i].cost, 0) != rows[i].shift)
			fail_msg("row %zu: %u", i, m.governor.shift);
		changes = m.changes;
		pass(&m, 3600, rows[i].cost, 0);
		/* Not once in an hour. */
		if (m.changes != changes || m.governor.shift != rows[i].shift)
			fail_msg("row %zu: %u changes", i, m.changes);
	}
}

TEST(start_is_no_reason)
{
	struct machine m;

	boot(&m, PERCENT, 7);
	assert_int_equal(pass(&m, 3, 90 * PERCENT, 0), 0);
	assert_int_equal(pass(&m, 3, 0, 0), 5);
}

/* What comes when it runs: within two seconds, and the rate comes back. */
TEST(rate_follows_load)
{
	struct machine m;

	boot(&m, PERCENT, 7);
	pass(&m, 60, PERCENT / 10, 0);
	assert_int_equal(m.changes, 0);
	assert_in_range(pass(&m, 2, 8 * PERCENT, 0), 1, 3);
	assert_int_equal(pass(&m, 8, 8 * PERCENT, 0), 3);
	assert_int_equal(pass(&m, 300, 8 * PERCENT, 0), 3);
	pass(&m, 30, PERCENT / 10, 0);
	assert_int_equal(m.governor.shift, 0);
	assert_true(m.changes <= 5);
}

/* One second of work is within what the seconds around it leave. */
TEST(short_burst_is_none)
{
	struct machine m;

	boot(&m, PERCENT, 7);
	pass(&m, 60, PERCENT / 10, 0);
	pass(&m, 1, 3 * PERCENT, 0);
	pass(&m, 60, PERCENT / 10, 0);
	assert_int_equal(m.changes, 0);
}

TEST(floor_holds)
{
	struct machine m;

	boot(&m, PERCENT, 2);
	assert_int_equal(pass(&m, 600, 90 * PERCENT, 0), 2);
	boot(&m, PERCENT, 0);
	assert_int_equal(pass(&m, 600, 90 * PERCENT, 0), 0);
	boot(&m, 1, 99);
	assert_int_equal(pass(&m, 600, 90 * PERCENT, 0), OP_MAX_RATE_SHIFT);
}

/* A cost that no rate changes is tried, and ever more rarely. */
TEST(futile_steps_are_taken_back)
{
	struct machine m;
	unsigned int lowered = 0;

	boot(&m, PERCENT, 4);
	for (unsigned int i = 0; i < 3600; i++)
		lowered += pass(&m, 1, PERCENT / 50, 2 * PERCENT) != 0;
	assert_int_equal(m.governor.shift, 0);
	assert_true(m.changes >= 4 && m.changes <= 30);
	assert_true(lowered < 100);
}

/* Load that swings faster than the rate may follow does not drag it along. */
TEST(swinging_load_settles)
{
	static const unsigned int periods[] = { 2, 5, 8, 13, 21, 34, 60 };

	for (size_t p = 0; p < NR(periods); p++) {
		struct machine m;
		unsigned int early;

		boot(&m, PERCENT, 7);
		for (unsigned int i = 0; i < 1800 / periods[p]; i++) {
			pass(&m, periods[p] / 2, 4 * PERCENT, 0);
			pass(&m, periods[p] - periods[p] / 2, PERCENT / 10, 0);
		}
		early = m.changes;
		/* The waits have grown by then: twice a minute at most. */
		for (unsigned int i = 0; i < 1800 / periods[p]; i++) {
			pass(&m, periods[p] / 2, 4 * PERCENT, 0);
			pass(&m, periods[p] - periods[p] / 2, PERCENT / 10, 0);
		}
		if (m.changes - early > 60)
			fail_msg("period %u: %u changes in half an hour",
				 periods[p], m.changes - early);
	}
}

/* On the mean the budget is kept, whatever the load does. */
TEST(budget_is_kept)
{
	struct machine m;
	uint64_t random = 1, spent = 0;

	boot(&m, PERCENT, 7);
	for (unsigned int i = 0; i < 3600; i++) {
		uint64_t cost;

		random = random * 6364136223846793005 + 1442695040888963407;
		/* Some minutes of one load, then another, with noise. */
		cost = (i / 180 * 7 % 5) * PERCENT + (random >> 48) % PERCENT;
		spent += cost >> m.governor.shift;
		pass(&m, 1, cost, 0);
	}
	assert_true(spent / 3600 <= PERCENT);
	assert_true(m.changes < 120);
}

/* A daemon that had to wait looks late. */
TEST(late_looks_count_for_their_time)
{
	struct machine m;

	boot(&m, PERCENT, 7);
	pass(&m, 10, PERCENT / 10, 0);
	m.now += 9 * SECOND;
	assert_int_equal(opd_governor_step(&m.governor, m.now, 9 * SECOND,
					   8 * PERCENT),
			 3);
}

TEST(lowest_leaves_some)
{
	static const struct {
		uint32_t hz;
		unsigned int lowest;
	} rows[] = { { 0, 4 },	   { 1, 0 },	  { 50, 0 },	    { 99, 0 },
		     { 100, 1 },   { 250, 2 },	  { 997, 4 },	    { 1000, 4 },
		     { 10000, 7 }, { 100000, 7 }, { UINT32_MAX, 7 } };

	for (size_t i = 0; i < NR(rows); i++)
		assert_int_equal(opd_governor_lowest(rows[i].hz),
				 rows[i].lowest);
}
