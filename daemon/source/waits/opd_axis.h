/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_WAITS_OPD_AXIS_H
#define DAEMON_SOURCE_WAITS_OPD_AXIS_H

/*
 * From lengths of time to numbers of samples. Time is divided into intervals,
 * and one point is drawn in each; a length has one sample for each point in it.
 * So the sum of samples is exact to one, and lengths that repeat in step with
 * the interval are sampled as often as others.
 */

#include <stdint.h>

struct opd_draws {
	uint64_t seed, nr;
};

struct opd_axis {
	uint64_t at; /* ns in the present interval */
	uint64_t point; /* ns, that of the interval */
};

void opd_draws_init(struct opd_draws *draws);

void opd_axis_init(struct opd_axis *axis, struct opd_draws *draws,
		   uint64_t interval);

/* The points in the next @ns. */
uint64_t opd_axis_pass(struct opd_axis *axis, struct opd_draws *draws,
		       uint64_t ns, uint64_t interval);

#endif /* DAEMON_SOURCE_WAITS_OPD_AXIS_H */
