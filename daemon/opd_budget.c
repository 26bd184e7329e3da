// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The daemon's work on samples is measured as time of its thread while it
 * reads; all its other work is in the time of the process, which counts for the
 * account alone. The daemon may run on any CPU, so each CPU has its share.
 */

#include "daemon/opd_budget.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "daemon/source/opd_source.h"
#include "libop/base/op_clock.h"
#include "libop/base/op_log.h"

#define SECOND UINT64_C(1000000000)
#define MILLION 1000000

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_usec * 1000;
}

/* CPU time, ns, of the daemon and of its children that have ended. */
static uint64_t daemon_time(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage))
		return op_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return op_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + ns_of(&usage.ru_utime) +
	       ns_of(&usage.ru_stime);
}

static unsigned int number_of_cpus(int which)
{
	long nr = sysconf(which);

	return nr < 1 ? 1 : (unsigned int)nr;
}

void opd_budget_begin(struct opd_budget *budget, struct opd_source *source,
		      struct op_log *log, uint32_t millionths)
{
	memset(budget, 0, sizeof(*budget));
	if (!source->ops->handler_time)
		return;
	budget->nr_cpus = number_of_cpus(_SC_NPROCESSORS_CONF);
	budget->handler = calloc(budget->nr_cpus, sizeof(uint64_t));
	budget->handler_now = calloc(budget->nr_cpus, sizeof(uint64_t));
	if (!budget->handler || !budget->handler_now) {
		opd_budget_release(budget);
		return;
	}
	budget->source = source;
	budget->log = log;
	budget->looked = op_clock_ns(CLOCK_MONOTONIC);
	budget->daemon = daemon_time();
	budget->millionths = millionths;
	opd_governor_init(&budget->governor,
			  source->ops->lower_rate ? millionths : 0,
			  opd_governor_lowest(source->timer_hz));
}

void opd_budget_release(struct opd_budget *budget)
{
	free(budget->handler);
	free(budget->handler_now);
	budget->handler = budget->handler_now = NULL;
	budget->source = NULL;
}

void opd_budget_restart(struct opd_budget *budget)
{
	budget->costs[OP_COST_DIVISOR] = 0;
}

void opd_budget_reads(struct opd_budget *budget)
{
	if (budget->source)
		budget->began_to_read = op_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void opd_budget_has_read(struct opd_budget *budget)
{
	if (budget->source)
		budget->read += op_clock_ns(CLOCK_THREAD_CPUTIME_ID) -
				budget->began_to_read;
}

/* ---- a look
 * ------------------------------------------------------------------
 */

/* Time, ns, since the last look. */
struct passed {
	uint64_t wall, daemon, reading;
	uint64_t handler; /* of all CPUs */
	uint64_t dearest; /* of the CPU that had most of it */
};

static void read_handler_times(struct opd_budget *budget, struct passed *passed)
{
	uint64_t *before = budget->handler, *now = budget->handler_now;

	memcpy(now, before, budget->nr_cpus * sizeof(*now));
	if (budget->source->ops->handler_time(budget->source, now,
					      budget->nr_cpus))
		return;
	for (unsigned int i = 0; i < budget->nr_cpus; i++) {
		uint64_t more = now[i] > before[i] ? now[i] - before[i] : 0;

		passed->handler += more;
		if (more > passed->dearest)
			passed->dearest = more;
	}
	budget->handler = now;
	budget->handler_now = before;
}

static void look(struct opd_budget *budget, uint64_t now, struct passed *passed)
{
	uint64_t daemon = daemon_time();

	memset(passed, 0, sizeof(*passed));
	read_handler_times(budget, passed);
	passed->wall = now - budget->looked;
	passed->daemon = daemon - budget->daemon;
	passed->reading = budget->read - budget->reading;
	budget->looked = now;
	budget->daemon = daemon;
	budget->reading = budget->read;
	budget->nr_online = number_of_cpus(_SC_NPROCESSORS_ONLN);
}

static void add_costs(struct opd_budget *budget, const struct passed *passed)
{
	unsigned int shift = budget->governor.shift;
	const uint64_t more[OP_NR_COSTS] = {
		[OP_COST_TIME] = passed->wall,
		[OP_COST_CPUS] = passed->wall * budget->nr_online,
		[OP_COST_HANDLER] = passed->handler,
		[OP_COST_DAEMON] = passed->daemon,
		[OP_COST_LOWERED] = shift ? passed->wall : 0,
		[OP_COST_BUDGET] = budget->millionths,
		[OP_COST_RATE] = budget->source->timer_hz,
		[OP_COST_DIVISOR] = shift ? UINT64_C(1) << shift : 0,
	};

	op_ledger_add_costs(budget->costs, more);
}

static void lower(struct opd_budget *budget, unsigned int shift,
		  unsigned int before, uint64_t cost)
{
	int err = budget->source->ops->lower_rate(budget->source, shift);

	if (!err) {
		op_log(budget->log,
		       "sampling took %.2f %% of a CPU for the last second: the rate is divided by %u",
		       (double)cost * 100 / MILLION, 1u << shift);
		return;
	}
	op_log(budget->log,
	       "sampling took %.2f %% of a CPU, and the rate cannot be changed: %s",
	       (double)cost * 100 / MILLION, strerror(-err));
	/* The governor begins again at the rate that the source has kept. */
	opd_governor_init(&budget->governor, 0, 0);
	budget->governor.shift = before;
}

static void govern(struct opd_budget *budget, const struct passed *passed)
{
	struct opd_governor *governor = &budget->governor;
	unsigned int before = governor->shift, shift;
	uint64_t cost = passed->dearest + passed->reading / budget->nr_online;

	cost = cost * MILLION / passed->wall;
	shift = opd_governor_step(governor, budget->looked, passed->wall, cost);
	if (shift != before)
		lower(budget, shift, before, cost);
}

void opd_budget_check(struct opd_budget *budget, bool at_once)
{
	uint64_t now = op_clock_ns(CLOCK_MONOTONIC);
	struct passed passed;

	if (!budget->source || now == budget->looked ||
	    (!at_once && now - budget->looked < SECOND))
		return;
	look(budget, now, &passed);
	if (budget->was_on) {
		add_costs(budget, &passed);
		govern(budget, &passed);
	}
	budget->was_on = opd_source_is_enabled(budget->source);
}
