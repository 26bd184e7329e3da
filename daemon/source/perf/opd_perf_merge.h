/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_MERGE_H
#define DAEMON_SOURCE_PERF_OPD_PERF_MERGE_H

/*
 * Brings the records of all CPUs in order. Each CPU has a ring of samples and
 * one of side band (what processes do), both in the order of time but for
 * moments. What counts is the order of samples and side band: a sample is
 * placed after every change before it and before every change behind it. Among
 * themselves samples stay CPU by CPU, which the stream says in fewer words.
 *
 *	side band   --m1---------m2------------ horizon
 *	CPU 0       s  s  s   s       s   s  s  |  s
 *	CPU 1        s     s    s  s    s     s | s
 *
 * Here samples are taken up to m1, then up to m2, then up to the horizon.
 *
 * Switches of threads, in a third ring of each CPU, are handled in the order of
 * time of all CPUs, as a thread leaves one CPU and goes on with another.
 *
 * The horizon is a moment before we looked at the rings: what was written
 * before it is there. A record that a CPU was late to write is handled when it
 * is found, at the time of its predecessors.
 */

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/perf/opd_perf_rates.h"
#include "daemon/source/perf/opd_perf_ring.h"
#include "daemon/source/perf/opd_perf_handle.h"
#include "daemon/source/waits/opd_latency.h"
#include "daemon/source/waits/opd_waits.h"

struct opd_perf_cpu {
	uint32_t cpu;
	struct opd_perf_ring samples;
	struct opd_perf_ring side;
	struct opd_perf_ring switches; /* of threads, where waits are wanted */
	int samples_fd; /* the events that own them */
	int side_fd;
	int switches_fd;
	/* Samples of switches, of which the kernel takes one in
	 * @switch_period (0 is 1): how many were read since @paced_at, ns, and
	 * how many more there may be before the period is raised. */
	uint64_t switch_period, nr_switches, paced_at;
	int64_t switch_credit;
	struct opd_perf_rates rates;
	uint64_t
		handler; /* ns that its samples cost the kernel, as estimated */
	uint64_t throttled_at; /* ns, 0: it is not */
	uint64_t enabled; /* ns that it had been at the last look */
};

/* Which event wrote a sample. */
struct opd_perf_id {
	uint64_t id;
	uint32_t counter;
};

struct opd_perf_merge {
	struct opd_perf_cpu *cpus;
	unsigned int nr_cpus;
	const struct opd_perf_id *ids; /* sorted by id */
	size_t nr_ids; /* 0: all samples are of counter 0 */
	uint64_t period_ns; /* between samples of the clock, 0 not one */
	void *bounce; /* OPD_PERF_RECORD_MAX bytes */
	struct opd_waits *waits; /* NULL: there are no rings of switches */
	struct opd_latency
		*latency; /* NULL: not wanted; else there are waits */
};

/* Look at what is in the rings by now. */
void opd_perf_merge_poll(struct opd_perf_merge *merge);

/*
 * Look at what has come to the rings of side band since the last call, before
 * its turn: the files of new images are opened while they are there. Returns
 * the number of records; *@filling is whether a ring should soon be read.
 */
size_t opd_perf_merge_look_ahead(struct opd_perf_merge *merge,
				 struct opd_process_table *table,
				 bool *filling);

/*
 * Handle all records up to @horizon, ns, as long as there is room for their
 * samples. True when all of them are handled.
 */
bool opd_perf_merge_run(struct opd_perf_merge *merge,
			struct opd_process_table *table, uint64_t horizon);

/*
 * Samples of the clock that were not taken because CPUs are throttled since
 * then and until @now, beyond what is in the statistics.
 */
uint64_t opd_perf_merge_throttled(const struct opd_perf_merge *merge,
				  uint64_t now);

/* Sampling was turned off at @now: put these in the statistics. */
void opd_perf_merge_stop(struct opd_perf_merge *merge,
			 struct opd_process_table *table, uint64_t now);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_MERGE_H */
