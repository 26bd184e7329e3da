/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_MULTIPLEX_H
#define MODULE_MULTIPLEX_H

/*
 * Events that share the hardware counters of a CPU. As long as all of them fit
 * they count all the time. Where there are more, they take turns: in each slice
 * of time as many as fit count, the next ones in the next slice.
 */

#include <linux/types.h>

struct perf_event;
struct throttle;

#define MULTIPLEX_SLICE_MAX 1000 /* ms */

extern unsigned long multiplex_slice; /* ms, on average */

/* An event of a CPU, pinned and off, its throttle, and the number of its turns,
 * which grows. */
struct multiplexed {
	struct perf_event *event;
	struct throttle *throttle;
	unsigned long *turns;
};

/*
 * Let the @nr events count on @cpu, no more than @nr_counters at a time.
 * Returns 0, or -EBUSY when one of them gets no counter, even when it is the
 * first; *@failed is its number, and all are off. Process context on @cpu.
 */
int multiplex_start(unsigned int cpu, const struct multiplexed *events,
		    unsigned int nr, unsigned int nr_counters,
		    unsigned int *failed);

/* End the turns, so that the events may be released; and then forget these.
 * Likewise. */
void multiplex_pause(unsigned int cpu);
void multiplex_stop(unsigned int cpu);

/* Whether the events of @cpu take turns. */
bool multiplex_rotates(unsigned int cpu);

#endif /* MODULE_MULTIPLEX_H */
