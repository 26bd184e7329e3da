// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The mean forgets what was by the share of MEAN_NS that has passed, so a cost
 * of four times the budget is acted upon within two seconds, and a burst of
 * half a second is not. When the shift changes, the mean is what is expected
 * from then on; what really comes replaces that in the seconds that follow.
 */

#include "daemon/opd_governor.h"

#include <string.h>

#include "module/uapi/oprofile.h"

#define SECOND UINT64_C(1000000000)
#define MEAN_NS (4 * SECOND)
#define GRACE_NS (4 * SECOND) /* files are made, tables are built */
#define TRIAL_NS (5 * SECOND)
#define HOLD_NS (5 * SECOND)
#define HOLD_MAX_NS (320 * SECOND)
#define QUIET_NS (30 * SECOND)
#define QUIET_MAX_NS (480 * SECOND)
/* A step up that had to be taken back within this was one too many. */
#define HASTY_NS (60 * SECOND)

/* Small costs and budgets are not to be lost in rounding: the mean has so many
 * bits behind the point. */
#define FINE 10

/* A profile needs some samples per second to say anything of a minute. */
#define FEWEST_HZ 50
#define LOWEST_UNKNOWN 4

void opd_governor_init(struct opd_governor *governor, uint32_t budget,
		       unsigned int lowest)
{
	memset(governor, 0, sizeof(*governor));
	governor->budget = budget;
	governor->lowest =
		lowest < OP_MAX_RATE_SHIFT ? lowest : OP_MAX_RATE_SHIFT;
	governor->hold = HOLD_NS;
	governor->quiet = QUIET_NS;
}

unsigned int opd_governor_lowest(uint32_t hz)
{
	unsigned int shift = 0;

	if (!hz)
		return LOWEST_UNKNOWN;
	while (shift < OP_MAX_RATE_SHIFT && hz >> (shift + 1) >= FEWEST_HZ)
		shift++;
	return shift;
}

/* The budget in the unit of the mean. */
static uint64_t fine_budget(const struct opd_governor *g)
{
	return (uint64_t)g->budget << FINE;
}

static void add_to_mean(struct opd_governor *g, uint64_t passed, uint64_t cost)
{
	if (passed >= MEAN_NS)
		g->mean = cost;
	else if (cost >= g->mean)
		g->mean += (cost - g->mean) * (passed >> 10) / (MEAN_NS >> 10);
	else
		g->mean -= (g->mean - cost) * (passed >> 10) / (MEAN_NS >> 10);
}

static uint64_t twice(uint64_t ns, uint64_t most)
{
	return ns * 2 < most ? ns * 2 : most;
}

static void change(struct opd_governor *g, uint64_t now, unsigned int shift)
{
	if (shift > g->shift)
		g->mean >>= shift - g->shift;
	else
		g->mean <<= g->shift - shift;
	g->shift = shift;
	g->changed = now;
}

static void lower(struct opd_governor *g, uint64_t now, uint64_t cost)
{
	unsigned int shift = g->shift + 1;

	while (shift < g->lowest &&
	       g->mean >> (shift - g->shift) > fine_budget(g))
		shift++;
	if (g->raised && now - g->raised < HASTY_NS)
		g->hold = twice(g->hold, HOLD_MAX_NS);
	g->raised = 0;
	g->was_shift = g->shift;
	g->was_cost = cost;
	g->on_trial = true;
	change(g, now, shift);
}

static void raise_by_one(struct opd_governor *g, uint64_t now)
{
	/* The one before has lasted. */
	if (g->raised && now - g->raised >= HASTY_NS)
		g->hold = HOLD_NS;
	g->raised = now;
	change(g, now, g->shift - 1);
}

/* A step down has had its time. */
static void end_trial(struct opd_governor *g, uint64_t now)
{
	g->on_trial = false;
	if (g->mean <= fine_budget(g) || g->mean < g->was_cost / 4 * 3) {
		g->quiet = QUIET_NS;
		return;
	}
	g->quiet_until = now + g->quiet;
	g->quiet = twice(g->quiet, QUIET_MAX_NS);
	g->shift = g->was_shift;
	g->changed = now;
}

unsigned int opd_governor_step(struct opd_governor *governor, uint64_t now,
			       uint64_t passed, uint64_t cost)
{
	struct opd_governor *g = governor;

	cost <<= FINE;
	add_to_mean(g, passed, cost);
	if (!g->budget)
		return g->shift;
	if (!g->begun)
		g->begun = now;
	if (now - g->begun < GRACE_NS)
		return g->shift;
	if (g->on_trial && now - g->changed < TRIAL_NS)
		return g->shift;
	if (g->on_trial)
		end_trial(g, now);
	if (g->mean > fine_budget(g) && g->shift < g->lowest &&
	    now >= g->quiet_until)
		lower(g, now, cost);
	else if (g->shift && now - g->changed >= g->hold &&
		 g->mean * 2 <= fine_budget(g) * 4 / 5)
		raise_by_one(g, now);
	return g->shift;
}
