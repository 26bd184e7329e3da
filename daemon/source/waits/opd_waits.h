/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_WAITS_OPD_WAITS_H
#define DAEMON_SOURCE_WAITS_OPD_WAITS_H

/*
 * How long threads wait, from the records of perf_events: samples of the event
 * THREAD_WAIT (libop/events/op_wait_event.h). The records of switches have the
 * exact time at which a thread loses its CPU and gets one; samples of the event
 * context-switches, which stand before the record of the same switch, have the
 * stack that the thread waits with. All calls are in the order of time.
 *
 * A thread that was preempted is ready until it gets a CPU again. Any other one
 * is blocked; the time from its wake-up until it gets a CPU is part of that, as
 * perf_events does not report wake-ups. Threads of the kernel are not counted.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/source/opd_events.h"
#include "daemon/source/waits/opd_axis.h"
#include "libop/events/op_wait_event.h"

struct opd_kept_stack;
struct opd_perf_rec;
struct opd_process_table;
struct opd_waiting_thread;
struct opd_wait_sample;

#define OPD_WAITS_BUCKETS 4096

struct opd_waits {
	struct {
		uint32_t counter;
		uint64_t interval; /* ns that a sample stands for */
		uint64_t unit_mask;
	} events[OP_WAIT_MAX_EVENTS];
	unsigned int nr_events; /* 0: waits are not wanted */
	bool has_stacks; /* switches are sampled */
	uint64_t begun; /* ns, when sampling was turned on */
	struct opd_waiting_thread *bucket[OPD_WAITS_BUCKETS]; /* by thread */
	size_t nr_ended; /* threads, and when to look through them */
	size_t most_ended;
	struct opd_wait_sample *queue; /* an array of op_array.h */
	size_t nr_queued;
	size_t nr_written; /* of these */
	size_t bytes; /* of all stacks that are kept */
	struct opd_draws draws;
};

/* Sample those of @events that are of waits; others are nothing to @waits. */
void opd_waits_init(struct opd_waits *waits, const struct opd_events *events);
void opd_waits_release(struct opd_waits *waits);

/*
 * Sampling is on since @now, ns. The threads of the processes @pids that have
 * no CPU now have waited since then; others are known by their first record.
 */
void opd_waits_begin(struct opd_waits *waits, struct opd_process_table *table,
		     const pid_t *pids, size_t nr_pids, uint64_t now);

/* A record of what processes do, which @table knows already. */
void opd_waits_handle_side(struct opd_waits *waits,
			   struct opd_process_table *table,
			   const struct opd_perf_rec *rec);

/* A record of the ring of switches of @cpu: a switch, the sample of one, or
 * lost records. */
void opd_waits_handle(struct opd_waits *waits, struct opd_process_table *table,
		      const struct opd_perf_rec *rec, uint32_t cpu);

/* Count all waits that are going on as far as @now, ns; they go on. */
void opd_waits_charge(struct opd_waits *waits, struct opd_process_table *table,
		      uint64_t now);

/* Write the samples of waits that are over to the words of @table, as far as
 * there is room. True when all are written. */
bool opd_waits_write(struct opd_waits *waits, struct opd_process_table *table);

#endif /* DAEMON_SOURCE_WAITS_OPD_WAITS_H */
