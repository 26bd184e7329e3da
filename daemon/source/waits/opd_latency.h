/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_WAITS_OPD_LATENCY_H
#define DAEMON_SOURCE_WAITS_OPD_LATENCY_H

/*
 * The elapsed time of processes, by the code that ran meanwhile: samples of the
 * event CPU_LATENCY (libop/events/op_wait_event.h). A sample of the clock
 * stands for a length of time in which several threads of its process may have
 * had a CPU; it counts for that length divided by their number. So what a
 * process does alone counts in full, and what N threads do at a time counts for
 * what it adds to the time that a user waits.
 *
 * The threads that have a CPU are known from switches. All calls are in the
 * order of time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/opd_events.h"
#include "daemon/source/waits/opd_axis.h"

struct opd_perf_rec;

/* A CPU and the thread that has it. */
struct opd_running {
	uint32_t tgid, tid; /* 0: none of a process that is profiled */
	bool is_known; /* the axis has begun */
	struct opd_axis axis; /* of the time that its samples count for */
};

struct opd_latency {
	uint64_t interval; /* ns that a sample stands for; 0: not wanted */
	uint32_t counter;
	struct opd_running *cpus; /* by number; an array of op_array.h */
	size_t nr_cpus;
	struct opd_draws draws;
};

void opd_latency_init(struct opd_latency *latency,
		      const struct opd_events *events);
void opd_latency_release(struct opd_latency *latency);

/* A record of the ring of switches of @cpu. */
void opd_latency_switch(struct opd_latency *latency,
			const struct opd_perf_rec *rec, uint32_t cpu);

/* A record of side band: a thread that ends has no switch after that. */
void opd_latency_side(struct opd_latency *latency,
		      const struct opd_perf_rec *rec);

/* A sample of the clock on @cpu that stands for @ns: how many samples of the
 * event it is. */
uint64_t opd_latency_count(struct opd_latency *latency,
			   const struct opd_perf_rec *rec, uint32_t cpu,
			   uint64_t ns);

#endif /* DAEMON_SOURCE_WAITS_OPD_LATENCY_H */
