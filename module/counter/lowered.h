/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_LOWERED_H
#define MODULE_LOWERED_H

/* Events of perf_events whose rate is lowered while they run. */

#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/perf_event.h>

/*
 * How many samples the one that @event takes now stands for, as a shift; @count
 * is its period at the full rate. A change of the period begins a new one, so
 * what the event has is what this sample waited for. (What perf_events hands
 * out as the period of a sample stays the old one where a software clock
 * samples.) Its overflow handler.
 */
static inline unsigned int lowered_shift(const struct perf_event *event,
					 unsigned long count)
{
	u64 period = event->hw.sample_period;

	return likely(period <= count) ? 0 : ilog2(div64_ul(period, count));
}

/* Process context; 0 or -errno. @event may be NULL. */
static inline int lowered_set(struct perf_event *event, unsigned long count,
			      unsigned int shift)
{
	return event ? perf_event_period(event, (u64)count << shift) : 0;
}

#endif /* MODULE_LOWERED_H */
