// SPDX-License-Identifier: GPL-2.0

#include <linux/math64.h>
#include <linux/perf_event.h>
#include <linux/timekeeping.h>

#include "counter/throttle.h"
#include "oprofile_stats.h"

/* The value that perf_events writes to hw.interrupts of an event that it
 * throttles. */
#define THROTTLED (~0ull)

void throttle_lose(u64 nr)
{
	oprofile_stat_add(STAT_SAMPLE_RECEIVED, nr);
	oprofile_stat_add(STAT_SAMPLE_LOST_THROTTLED, nr);
}

static void end_throttle(struct throttle *throttle, u64 now)
{
	u64 gap = now - throttle->throttled_at;
	u64 on = throttle->throttled_at - throttle->started_at -
		 throttle->off_ns;
	u64 missed = on ? mul_u64_u64_div_u64(gap, throttle->nr, on) : 0;

	throttle->off_ns += gap;
	throttle->throttled_at = 0;
	throttle_lose(missed);
}

void throttle_start(struct throttle *throttle)
{
	*throttle = (struct throttle){ .started_at = ktime_get_mono_fast_ns() };
}

void throttle_overflow(struct throttle *throttle,
		       const struct perf_event *event, unsigned int shift)
{
	if (throttle->throttled_at)
		end_throttle(throttle, ktime_get_mono_fast_ns());
	throttle->nr += 1ul << shift;
	if (event->hw.interrupts == THROTTLED) {
		throttle->throttled_at = ktime_get_mono_fast_ns();
		oprofile_stat_inc(STAT_THROTTLE);
	}
}

void throttle_stop(struct throttle *throttle)
{
	u64 now = ktime_get_mono_fast_ns();

	if (throttle->throttled_at)
		end_throttle(throttle, now);
	throttle->stopped_at = now;
}

void throttle_continue(struct throttle *throttle)
{
	if (throttle->stopped_at)
		throttle->off_ns +=
			ktime_get_mono_fast_ns() - throttle->stopped_at;
	throttle->stopped_at = 0;
}
