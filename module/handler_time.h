/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_HANDLER_TIME_H
#define MODULE_HANDLER_TIME_H

/*
 * The cost of sampling for each CPU: stats/cpuN/handler_ns. Looking at the
 * clock twice costs a good part of what a sample does, so one handler in
 * HANDLER_EVERY is timed and counts for all of them. Each place takes its own
 * turns, as places may follow each other in a fixed order.
 */

#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/types.h>

#include "oprofile_stats.h"

#define HANDLER_EVERY 16

/*
 * The part of an interrupt that no handler can time: to enter and leave it, and
 * to set the timer or the counter again. Some 1,150 instructions
 * (doc/overhead.md), at two for each nanosecond.
 */
#define HANDLER_UNSEEN_NS 600

enum handler_place {
	HANDLER_INTERRUPT, /* or NMI, that takes the sample */
	HANDLER_STAGED, /* the interrupt behind an NMI */
	HANDLER_WAIT, /* the interrupt behind a switch to a thread */
	HANDLER_TIMER, /* the timer's, which limits itself (counter_timer.c) */
	NR_HANDLER_PLACES
};

struct handler_turns {
	u32 nr[NR_HANDLER_PLACES];
};

DECLARE_PER_CPU(struct handler_turns, handler_turns);

/* Any context; the handler stays on its CPU. The result is for handler_ends().
 */
static inline u64 handler_begins(enum handler_place place)
{
	if (this_cpu_inc_return(handler_turns.nr[place]) % HANDLER_EVERY)
		return 0;
	return local_clock();
}

static inline void handler_ends(enum handler_place place, u64 begun)
{
	u64 unseen = place == HANDLER_INTERRUPT ? HANDLER_UNSEEN_NS : 0;

	if (begun)
		oprofile_stat_add(STAT_HANDLER_NS,
				  (local_clock() - begun + unseen) *
					  HANDLER_EVERY);
}

/*
 * The same for work in a task, which is worth looking at each time. What was
 * interrupted by another task is not known and left out: it is no more costly
 * than other work, but had to wait.
 */
struct handler_task {
	u64 begun;
	unsigned long switches;
};

/* The scheduler counts on when it takes the CPU away between two reads. */
static inline unsigned long handler_switches(void)
{
	return READ_ONCE(current->nvcsw) + READ_ONCE(current->nivcsw);
}

static inline struct handler_task handler_task_begins(void)
{
	return (struct handler_task){ local_clock(), handler_switches() };
}

static inline void handler_task_ends(const struct handler_task *task)
{
	if (task->switches == handler_switches())
		oprofile_stat_add(STAT_HANDLER_NS, local_clock() - task->begun);
}

#endif /* MODULE_HANDLER_TIME_H */
