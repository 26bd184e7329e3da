/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_EVENTS_H
#define DAEMON_SOURCE_PERF_OPD_PERF_EVENTS_H

/*
 * The open events of perf_events: for each CPU, and where single processes are
 * sampled and not CPUs for each of their threads, one that tells what processes
 * do (it counts nothing and is always on), one for each counter, and one for
 * all counters of waits. Those of one CPU share its two rings; switches of
 * threads have a third one. A CPU that is offline has none.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/opd_events.h"
#include "daemon/source/perf/opd_perf_merge.h"
#include "daemon/source/perf/opd_perf_target.h"
#include "libop/base/op_diag.h"

struct opd_perf_event {
	int fd;
	uint32_t cpu;
	bool samples; /* else it tells what processes do */
	uint32_t counter; /* of @samples */
};

/* How long an event was to be counted and had a counter, ns, and its count. */
struct opd_perf_times {
	uint64_t enabled;
	uint64_t running;
	uint64_t count;
};

struct opd_perf_events {
	struct opd_perf_event *events;
	size_t nr;
	struct opd_perf_id *ids; /* sorted; empty with one counter */
	size_t nr_ids;
	struct opd_perf_cpu *cpus; /* all that may ever be there */
	unsigned int nr_cpus;
	const struct opd_perf_target *target; /* what was asked for */
	const struct opd_events *counters;
	int cgroup_fd; /* its folder, 0: not open */
	unsigned int shift; /* events count 1 << shift times as far */
	uint64_t lost; /* on CPUs that have gone since, as are these: */
	struct opd_perf_times times[OP_MAX_COUNTERS];
	uint64_t sample_type;
	uint64_t switch_type; /* of samples in the rings of switches */
	uint32_t switch_depth; /* frames that the kernel tells in these */
	uint32_t stack; /* bytes of user stack in a sample */
	uint32_t kernel_depth; /* frames that the kernel tells of its own */
	size_t sample_size; /* bytes of a CPU's rings */
	size_t side_size;
	bool tells_lost; /* reading an event tells its lost samples */
	bool no_build_ids; /* the kernel is too old to tell them */
};

/*
 * Open all. Sampling is off; where a process is about to exec, its exec turns
 * it on. Returns 0 or -errno with the reason; close in any case.
 */
int opd_perf_events_open(struct opd_perf_events *all,
			 const struct opd_perf_target *target,
			 const struct opd_events *counters,
			 struct op_diag *diag);
void opd_perf_events_close(struct opd_perf_events *all);

/*
 * CPUs may have come or gone: open and close what is needed where the whole
 * machine is sampled. What is in the rings of CPUs that have gone is to be
 * read before. Returns the number of changes, or -errno with the reason.
 */
int opd_perf_events_replug(struct opd_perf_events *all, struct op_diag *diag);

/* Turn sampling on or off. Returns 0 or -errno. */
int opd_perf_events_enable(const struct opd_perf_events *all, bool on);

/*
 * Count 1 << @shift times as far from one sample to the next from now on, which
 * @now tells, on the clock of the samples. -EOPNOTSUPP where threads are
 * sampled: those that they have started would go on as before. With another
 * -errno, of a CPU that refuses it, all go on as before.
 */
int opd_perf_events_lower(struct opd_perf_events *all, unsigned int shift,
			  uint64_t (*now)(void));

/*
 * Where CPUs are sampled, let no more switches of threads be samples on each of
 * them than the clock has samples, lowered as that is: by what was read until
 * @now, ns. Threads that are sampled one by one are paced by the kernel.
 */
void opd_perf_events_pace(const struct opd_perf_events *all, uint64_t now);

/* Add what @event, which is about to be closed, tells to what is kept in @all
 * of CPUs that have gone. */
void opd_perf_events_keep(struct opd_perf_events *all,
			  const struct opd_perf_event *event);

/* Samples that did not fit the rings so far; false if the kernel is too old to
 * tell. */
bool opd_perf_events_lost(const struct opd_perf_events *all, uint64_t *lost);

/*
 * How long the event of @counter was to be counted so far, and had a hardware
 * counter: sums over CPUs, of single processes over the time that they ran.
 * False for the clock, which needs none, and for a counter without event.
 */
bool opd_perf_events_times(const struct opd_perf_events *all, uint32_t counter,
			   struct opd_perf_times *times);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_EVENTS_H */
