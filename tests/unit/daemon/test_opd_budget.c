// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What sampling costs, by clocks that this test sets: clock_gettime() and
 * getrusage() here take the place of the C library's.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "daemon/opd_budget.h"
#include "daemon/source/opd_source.h"
#include "libop/base/op_log.h"

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define MAX_CPUS 4096
#define ONE_PERCENT 10000

/* ns */
static struct {
	uint64_t wall, process, thread, children;
} at;

int clock_gettime(clockid_t clock_id, struct timespec *tp)
{
	uint64_t ns = clock_id == CLOCK_PROCESS_CPUTIME_ID  ? at.process
		      : clock_id == CLOCK_THREAD_CPUTIME_ID ? at.thread
							    : at.wall;

	*tp = (struct timespec){ (time_t)(ns / SECOND), (long)(ns % SECOND) };
	return 0;
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
	assert_int_equal(who, RUSAGE_CHILDREN);
	memset(usage, 0, sizeof(*usage));
	usage->ru_utime.tv_sec = (time_t)(at.children / SECOND);
	usage->ru_stime.tv_usec = (suseconds_t)(at.children % SECOND / 1000);
	return 0;
}

/* Those of this machine: one may be all of them. */
static uint64_t nr_cpus(void)
{
	return (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
}

static uint64_t nr_online(void)
{
	return (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
}

/* ---- a source ---------------------------------------------------------------
 */

static struct {
	uint64_t handler[MAX_CPUS]; /* ns */
	int handler_err, lower_err;
	unsigned int nr_lowered, shift;
	bool on;
} played;

static int play_handler_time(struct opd_source *source, uint64_t *ns,
			     unsigned int nr)
{
	(void)source;
	assert_int_equal(nr, nr_cpus());
	memcpy(ns, played.handler, nr * sizeof(*ns));
	return played.handler_err;
}

static int play_lower_rate(struct opd_source *source, unsigned int shift)
{
	(void)source;
	played.nr_lowered++;
	played.shift = shift;
	return played.lower_err;
}

static int play_enabled(struct opd_source *source, bool *on)
{
	(void)source;
	*on = played.on;
	return 0;
}

static const struct opd_source_ops governed = {
	.enabled = play_enabled,
	.handler_time = play_handler_time,
	.lower_rate = play_lower_rate,
};

static struct opd_source source;
static struct op_log quiet;
static struct opd_budget budget;

static void begin(const struct opd_source_ops *ops, uint32_t millionths)
{
	memset(&played, 0, sizeof(played));
	memset(&at, 0, sizeof(at));
	at.wall = 1000 * SECOND;
	source = (struct opd_source){ .ops = ops, .timer_hz = 1000 };
	op_log_init(&quiet);
	opd_budget_begin(&budget, &source, &quiet, millionths);
	played.on = true;
}

static void end(void)
{
	opd_budget_release(&budget);
	op_log_close(&quiet);
}

/* A second, in which CPU 0 took so long for samples, and the daemon to read
 * them. */
static void pass_second(uint64_t handler, uint64_t reading)
{
	opd_budget_reads(&budget);
	at.thread += reading;
	opd_budget_has_read(&budget);
	at.process += reading;
	at.wall += SECOND;
	played.handler[0] += handler;
	opd_budget_check(&budget, false);
}

static void costs_are(uint64_t time, uint64_t handler, uint64_t daemon)
{
	assert_int_equal(budget.costs[OP_COST_TIME], time);
	assert_int_equal(budget.costs[OP_COST_CPUS], nr_online() * time);
	assert_int_equal(budget.costs[OP_COST_HANDLER], handler);
	assert_int_equal(budget.costs[OP_COST_DAEMON], daemon);
}

/* ---- the account ------------------------------------------------------------
 */

TEST(nothing_is_measured)
{
	static const struct opd_source_ops silent = { .enabled = play_enabled };

	begin(&silent, ONE_PERCENT);
	pass_second(50 * MS, 50 * MS);
	pass_second(50 * MS, 50 * MS);
	costs_are(0, 0, 0);
	end();
}

TEST(what_is_counted)
{
	begin(&governed, 0);
	/* Before the first look nobody knows whether there was sampling. */
	pass_second(7 * MS, 3 * MS);
	costs_are(0, 0, 0);
	pass_second(8 * MS, 4 * MS);
	costs_are(SECOND, 8 * MS, 4 * MS);
	/* What the daemon does beside, and its children. */
	at.process += 20 * MS;
	at.children += 1500 * MS;
	played.handler[nr_cpus() - 1] += 2 * MS;
	pass_second(0, 0);
	costs_are(2 * SECOND, 10 * MS, 1524 * MS);
	/* Too early, at once, and again at the same time. */
	at.wall += 999 * MS;
	played.handler[0] += MS;
	opd_budget_check(&budget, false);
	costs_are(2 * SECOND, 10 * MS, 1524 * MS);
	opd_budget_check(&budget, true);
	opd_budget_check(&budget, true);
	costs_are(2999 * MS, 11 * MS, 1524 * MS);
	/* A CPU that begins anew, and one that cannot be asked. */
	played.handler[0] = 0;
	pass_second(0, 0);
	costs_are(3999 * MS, 11 * MS, 1524 * MS);
	played.handler_err = -EIO;
	pass_second(5 * MS, 0);
	costs_are(4999 * MS, 11 * MS, 1524 * MS);
	/* While there is no sampling. */
	played.on = false;
	pass_second(0, 0);
	costs_are(5999 * MS, 11 * MS, 1524 * MS);
	pass_second(0, 6 * MS);
	costs_are(5999 * MS, 11 * MS, 1524 * MS);
	assert_int_equal(budget.costs[OP_COST_BUDGET], 0);
	assert_int_equal(budget.costs[OP_COST_RATE], 1000);
	assert_int_equal(budget.costs[OP_COST_DIVISOR], 0);
	assert_int_equal(budget.costs[OP_COST_LOWERED], 0);
	assert_int_equal(played.nr_lowered, 0);
	end();
}

/* ---- the rate ---------------------------------------------------------------
 */

/* The costs of each second, and what the rate is divided by after ten. */
TEST(what_lowers_the_rate)
{
	static const struct opd_source_ops fixed = {
		.enabled = play_enabled, .handler_time = play_handler_time
	};
	static const struct {
		const struct opd_source_ops *ops;
		uint32_t budget;
		uint64_t handler;
		uint64_t reading; /* for each CPU */
		uint64_t beside;
		unsigned int shift;
	} rows[] = {
		{ &governed, ONE_PERCENT, 9 * MS, 0, 0, 0 },
		{ &governed, ONE_PERCENT, 19 * MS, 0, 0, 1 },
		{ &governed, 5 * ONE_PERCENT, 19 * MS, 0, 0, 0 },
		/* Each CPU has its share of what the daemon needs. */
		{ &governed, ONE_PERCENT, 0, 9 * MS, 0, 0 },
		{ &governed, ONE_PERCENT, 0, 19 * MS, 0, 1 },
		{ &governed, ONE_PERCENT, 9 * MS, 9 * MS, 0, 1 },
		/* What it does beside is no reason. */
		{ &governed, ONE_PERCENT, 0, 0, 500 * MS, 0 },
		{ &governed, 0, 500 * MS, 0, 0, 0 },
		{ &fixed, ONE_PERCENT, 500 * MS, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(rows[i].ops, rows[i].budget);
		for (int second = 0; second < 10; second++) {
			/* A lower rate costs less. */
			at.process += rows[i].beside;
			pass_second(rows[i].handler >> played.shift,
				    nr_online() * rows[i].reading >>
					    played.shift);
		}
		if (played.shift != rows[i].shift)
			fail_msg("row %zu: the rate is divided by %u, not %u",
				 i, 1u << played.shift, 1u << rows[i].shift);
		assert_int_equal(played.nr_lowered, rows[i].shift ? 1 : 0);
		assert_int_equal(budget.costs[OP_COST_DIVISOR],
				 rows[i].shift ? 2 : 0);
		assert_int_equal(budget.costs[OP_COST_BUDGET], rows[i].budget);
		opd_budget_restart(&budget);
		assert_int_equal(budget.costs[OP_COST_DIVISOR], 0);
		assert_int_equal(budget.costs[OP_COST_TIME], 9 * SECOND);
		end();
	}
}

TEST(how_long_it_was_lower)
{
	uint64_t lowered;

	begin(&governed, ONE_PERCENT);
	while (!played.nr_lowered)
		pass_second(19 * MS, 0);
	assert_int_equal(budget.costs[OP_COST_LOWERED], 0);
	pass_second(9 * MS, 0);
	pass_second(9 * MS, 0);
	lowered = budget.costs[OP_COST_LOWERED];
	assert_int_equal(lowered, 2 * SECOND);
	/* It costs hardly anything now. */
	while (played.nr_lowered == 1)
		pass_second(0, 0);
	assert_int_equal(played.shift, 0);
	lowered = budget.costs[OP_COST_LOWERED];
	pass_second(0, 0);
	assert_int_equal(budget.costs[OP_COST_LOWERED], lowered);
	end();
}

/* What cannot be changed is not tried again. */
TEST(a_rate_that_stays)
{
	begin(&governed, ONE_PERCENT);
	played.lower_err = -EPERM;
	for (int second = 0; second < 100; second++)
		pass_second(50 * MS, 0);
	assert_int_equal(played.nr_lowered, 1);
	assert_int_equal(budget.costs[OP_COST_DIVISOR], 0);
	assert_int_equal(budget.costs[OP_COST_LOWERED], 0);
	assert_int_equal(budget.costs[OP_COST_HANDLER], 99 * 50 * MS);
	end();
}
