/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_THROTTLE_H
#define MODULE_THROTTLE_H

/*
 * perf_events stops an event for a while when its interrupts take too much
 * time; the last interrupt before that shows it. What the event would have
 * sampled meanwhile is told by how often it did before, in the time that it was
 * on.
 */

#include <linux/types.h>

struct perf_event;

/*
 * Count @nr samples as taken, and as lost because sampling took too much time.
 * Any context.
 */
void throttle_lose(u64 nr);

/* The state of one event on one CPU. */
struct throttle {
	u64 nr; /* samples that its overflows stand for */
	u64 started_at; /* ns */
	u64 throttled_at; /* ns; 0: it is not */
	u64 stopped_at; /* ns; 0: it is not */
	u64 off_ns; /* throttled or stopped in all, up to then */
};

/* The event is about to start. */
void throttle_start(struct throttle *throttle);

/* In its overflow handler, first; it stands for 1 << @shift samples. */
void throttle_overflow(struct throttle *throttle,
		       const struct perf_event *event, unsigned int shift);

/*
 * The event has stopped; the event is about to go on, if it has stopped before.
 */
void throttle_stop(struct throttle *throttle);
void throttle_continue(struct throttle *throttle);

#endif /* MODULE_THROTTLE_H */
