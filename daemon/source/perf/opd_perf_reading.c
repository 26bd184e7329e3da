// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The values that an open event is read for: the samples that did not fit its
 * ring, and how long it was enabled and had a hardware counter. Where there are
 * more events than counters the kernel lets them take turns, so that the second
 * is less.
 *
 * A CPU's event is enabled as long as the CPU is there. A thread is sampled by
 * one event for each CPU, since none can be inherited and on all CPUs; of
 * these, all are enabled whenever the thread runs, and one has a counter. So
 * the sum of their times is divided by the number of CPUs.
 */

#include <string.h>
#include <unistd.h>

#include "daemon/source/perf/opd_perf_attr.h"
#include "daemon/source/perf/opd_perf_events.h"

struct reading {
	struct opd_perf_times times; /* zeros where they were not asked for */
	uint64_t lost;
};

/* Read an event by the read_format that it was opened with. False for an event
 * of side band or of switches. */
static bool read_event(const struct opd_perf_events *all,
		       const struct opd_perf_event *event,
		       struct reading *reading)
{
	bool timed = opd_perf_is_timed(&all->counters->counter[event->counter]);
	uint64_t values[4]; /* the count, two times, the lost samples */
	size_t nr = 1;
	ssize_t got;

	memset(reading, 0, sizeof(*reading));
	/* Lost records of switches are no samples: see opd_waits.h. */
	if (!event->samples ||
	    opd_event_is_wait(&all->counters->counter[event->counter]))
		return false;
	got = read(event->fd, values, sizeof(values));
	if (timed && got >= 3 * (ssize_t)sizeof(values[0])) {
		reading->times.count = values[0];
		reading->times.enabled = values[1];
		reading->times.running = values[2];
		nr += 2;
	}
	if (all->tells_lost && got >= (ssize_t)((nr + 1) * sizeof(values[0])))
		reading->lost = values[nr];
	return true;
}

static void add_times(struct opd_perf_times *sum,
		      const struct opd_perf_times *more)
{
	sum->enabled += more->enabled;
	sum->running += more->running;
	sum->count += more->count;
}

void opd_perf_events_keep(struct opd_perf_events *all,
			  const struct opd_perf_event *event)
{
	struct opd_perf_times *times = &all->times[event->counter];
	struct reading reading;

	if (!read_event(all, event, &reading))
		return;
	all->lost += reading.lost;
	add_times(times, &reading.times);
}

bool opd_perf_events_lost(const struct opd_perf_events *all, uint64_t *lost)
{
	struct reading reading;

	*lost = all->lost;
	if (!all->tells_lost)
		return false;
	for (size_t i = 0; i < all->nr; i++)
		if (read_event(all, &all->events[i], &reading))
			*lost += reading.lost;
	return true;
}

/* A thread has an event on each CPU that is open, and each of these is enabled
 * whenever the thread runs, on whatever CPU. */
static unsigned int nr_enabled_at_once(const struct opd_perf_events *all)
{
	unsigned int nr = 0;

	if (opd_perf_samples_cpus(all->target))
		return 1;
	for (unsigned int i = 0; i < all->nr_cpus; i++)
		nr += all->cpus[i].side.meta != NULL;
	return nr ? nr : 1;
}

bool opd_perf_events_times(const struct opd_perf_events *all, uint32_t counter,
			   struct opd_perf_times *times)
{
	const struct opd_events *counters = all->counters;
	struct reading reading;

	if (counter >= counters->nr || !counters->counter[counter].set ||
	    !opd_perf_is_timed(&counters->counter[counter]))
		return false;
	*times = all->times[counter];
	for (size_t i = 0; i < all->nr; i++) {
		if (all->events[i].counter != counter ||
		    !read_event(all, &all->events[i], &reading))
			continue;
		add_times(times, &reading.times);
	}
	times->enabled /= nr_enabled_at_once(all);
	return true;
}
