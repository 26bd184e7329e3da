// SPDX-License-Identifier: GPL-2.0
/*
 * Each CPU has a ring of its events and a position in it. A turn begins at the
 * position and takes the events behind it, one by one, until one gets no
 * counter; the next turn begins with that one. So every event has the same
 * number of turns, whichever of them can be counted together: 8 events on 3
 * counters have 3/8 of the time each. Nobody has to know which counter can
 * count what.
 *
 * Events are pinned, so each has a counter from the beginning of its turn to
 * the end, or is in the error state. When one is turned on the kernel places
 * all pinned events anew, in the order in which they were made, and another one
 * may be the one that finds no place; so all are looked at.
 *
 * Turning events on and off takes a mutex, so it is the work of a kernel thread
 * of the CPU. An hrtimer asks for it. A slice that is late, as the thread had
 * to wait for the CPU, is longer; the kernel tells how long an event really had
 * a counter (counter_perf_time()). An event that is off raises no interrupt,
 * and what it had counted towards the next sample is kept.
 *
 * Slices are spread evenly over a half to three halves of their length. Turns
 * of about one length would keep step with work that is timed, too: two tasks
 * that share a CPU change places at each of the kernel's ticks.
 */

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/random.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "counter/multiplex.h"
#include "counter/throttle.h"
#include "oprofile_stats.h"
#include "uapi/oprofile.h"

struct multiplex {
	struct multiplexed events[OP_MAX_COUNTERS];
	unsigned int nr;
	unsigned int nr_counters;
	unsigned int first; /* of the turn */
	unsigned int nr_on; /* events in it */
	bool rotates;
	unsigned int cpu;
	struct hrtimer timer;
	struct work_struct work;
	u32 random; /* state of a linear congruential generator */
};

static DEFINE_PER_CPU(struct multiplex, multiplexes);

unsigned long multiplex_slice = 4;

/* ---- turns --------------------------------------------------------------- */

static struct multiplexed *nth_of_turn(struct multiplex *m, unsigned int n)
{
	return &m->events[(m->first + n) % m->nr];
}

static bool has_counter(const struct multiplexed *one)
{
	return READ_ONCE(one->event->state) == PERF_EVENT_STATE_ACTIVE;
}

static bool all_have_counters(struct multiplex *m)
{
	unsigned int i;

	for (i = 0; i < m->nr_on; i++)
		if (!has_counter(nth_of_turn(m, i)))
			return false;
	return true;
}

static void begin_turn(struct multiplex *m)
{
	unsigned int most = min(m->nr, m->nr_counters), i;

	for (m->nr_on = 0; m->nr_on < most;) {
		struct multiplexed *next = nth_of_turn(m, m->nr_on);

		throttle_continue(next->throttle);
		perf_event_enable(next->event);
		m->nr_on++;
		if (all_have_counters(m))
			continue;
		perf_event_disable(next->event);
		throttle_stop(next->throttle);
		m->nr_on--;
		/* It may have taken the place of one before it. */
		for (i = 0; i < m->nr_on; i++)
			if (!has_counter(nth_of_turn(m, i)))
				perf_event_enable(nth_of_turn(m, i)->event);
		break;
	}
}

static void end_turn(struct multiplex *m)
{
	unsigned int i;

	for (i = 0; i < m->nr_on; i++) {
		struct multiplexed *one = nth_of_turn(m, i);

		perf_event_disable(one->event);
		throttle_stop(one->throttle);
		WRITE_ONCE(*one->turns, *one->turns + 1);
	}
	m->first = (m->first + m->nr_on) % m->nr;
	m->nr_on = 0;
}

/* Give each event one turn, to find events that can never have a counter. */
static int try_all_events(struct multiplex *m)
{
	unsigned int tried;

	for (tried = 0; tried < m->nr;) {
		begin_turn(m);
		if (!m->nr_on)
			return -EBUSY;
		tried += m->nr_on;
		end_turn(m);
	}
	return 0;
}

/* ---- slices -------------------------------------------------------------- */

static ktime_t next_slice(struct multiplex *m)
{
	u64 slice = (u64)multiplex_slice * NSEC_PER_MSEC;

	/* Numerical Recipes, 7.1: good enough in its upper bits. */
	m->random = m->random * 1664525 + 1013904223;
	return ns_to_ktime(slice / 2 + ((slice * (m->random >> 16)) >> 16));
}

static void rotate_events(struct work_struct *work)
{
	struct multiplex *m = container_of(work, struct multiplex, work);

	end_turn(m);
	begin_turn(m);
	oprofile_stat_inc(STAT_MULTIPLEX_COUNTER);
}

static enum hrtimer_restart on_slice_end(struct hrtimer *timer)
{
	struct multiplex *m = container_of(timer, struct multiplex, timer);

	queue_work_on(m->cpu, system_highpri_wq, &m->work);
	hrtimer_forward_now(timer, next_slice(m));
	return HRTIMER_RESTART;
}

/* ---- a CPU --------------------------------------------------------------- */

int multiplex_start(unsigned int cpu, const struct multiplexed *events,
		    unsigned int nr, unsigned int nr_counters,
		    unsigned int *failed)
{
	struct multiplex *m = per_cpu_ptr(&multiplexes, cpu);
	int err;

	memset(m, 0, sizeof(*m));
	if (!nr)
		return 0;
	memcpy(m->events, events, nr * sizeof(*events));
	m->nr = nr;
	m->nr_counters = nr_counters;
	m->cpu = cpu;
	begin_turn(m);
	if (m->nr_on == nr)
		return 0;
	end_turn(m);
	err = try_all_events(m);
	if (err) {
		*failed = m->first;
		m->nr = 0;
		return err;
	}
	m->random = get_random_u32();
	m->rotates = true;
	begin_turn(m);
	INIT_WORK(&m->work, rotate_events);
	hrtimer_setup(&m->timer, on_slice_end, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED);
	hrtimer_start(&m->timer, next_slice(m), HRTIMER_MODE_REL_PINNED);
	return 0;
}

void multiplex_pause(unsigned int cpu)
{
	struct multiplex *m = per_cpu_ptr(&multiplexes, cpu);

	if (!m->rotates)
		return;
	hrtimer_cancel(&m->timer);
	cancel_work_sync(&m->work);
}

void multiplex_stop(unsigned int cpu)
{
	struct multiplex *m = per_cpu_ptr(&multiplexes, cpu);

	m->rotates = false;
	m->nr = 0;
}

bool multiplex_rotates(unsigned int cpu)
{
	return per_cpu_ptr(&multiplexes, cpu)->rotates;
}
