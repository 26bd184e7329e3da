/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_GOVERNOR_H
#define DAEMON_OPD_GOVERNOR_H

/*
 * Decides by how much the rate of samples is lowered, from what they cost. It
 * knows neither clock nor source: all it is told are times and costs.
 *
 * The rate is divided by powers of two. It is lowered when the mean cost of the
 * last seconds is over the budget, as far as it takes; and raised by one step
 * when twice the cost would still leave a fifth of the budget.
 *
 *	cost	   ___________ budget
 *	    ......|_______....         each step down halves it
 *	time ->   ^lowered    ^raised, no sooner than the hold says
 *
 * Two things would make it go up and down for ever: a step up that has to be
 * taken back, and a cost that does not depend on the rate, such as that of
 * reading what programs map. After the former the next step up has to wait
 * twice as long. A step down that saved less than a quarter was for nothing: it
 * is taken back, and the next one waits.
 */

#include <stdbool.h>
#include <stdint.h>

struct opd_governor {
	uint32_t budget; /* millionths of a CPU; 0: none, the rate stays */
	unsigned int lowest; /* the largest shift that may be */
	unsigned int shift; /* now: the rate is divided by 1 << shift */
	uint64_t mean; /* cost of the last seconds, in 1/1024 of that */
	uint64_t begun; /* ns, when the first cost was told; 0: not yet */
	uint64_t changed; /* ns, when the shift was changed last */
	uint64_t raised; /* ns, when it was raised last; 0: never */
	uint64_t hold; /* ns from a change to the next step up */
	/* While it is not known whether a step down saves anything: */
	bool on_trial;
	unsigned int was_shift;
	uint64_t was_cost; /* of the last look before it */
	uint64_t quiet_until; /* ns: no step down until then */
	uint64_t quiet; /* ns, how long that was */
};

/* The rate shall not be divided by more than 1 << @lowest. */
void opd_governor_init(struct opd_governor *governor, uint32_t budget,
		       unsigned int lowest);

/*
 * Sampling has cost @cost millionths of a CPU for the last @passed ns; it is
 * @now, ns since any moment but 0. Returns the shift that is to be from now on,
 * which the caller sees to; if it cannot, the governor is to be initialized
 * without a budget.
 */
unsigned int opd_governor_step(struct opd_governor *governor, uint64_t now,
			       uint64_t passed, uint64_t cost);

/* How low the rate of @hz samples per second may get, 0: not known. */
unsigned int opd_governor_lowest(uint32_t hz);

#endif /* DAEMON_OPD_GOVERNOR_H */
