/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_EVENTS_OP_WAIT_EVENT_H
#define LIBOP_EVENTS_OP_WAIT_EVENT_H

/*
 * THREAD_WAIT, the event of threads that have no CPU: one sample for each COUNT
 * nanoseconds that a thread was blocked or waited for a CPU. The module counts
 * it by the scheduler's tracepoints (module/counter/wait.h), the daemon by the
 * records of perf_events (daemon/source/waits/opd_waits.h), up to
 * OP_WAIT_MAX_EVENTS times with different unit masks.
 */

#include <stdbool.h>

#include "libop/events/op_events.h"

#define OP_WAIT_MAX_EVENTS 4

/*
 * The event of elapsed time, beside samples of the CPU clock: COUNT nanoseconds
 * in which a thread had a CPU, divided by the number of threads of its process
 * that had one (daemon/source/waits/opd_latency.h).
 */
#define OP_LATENCY_EVENT "CPU_LATENCY"

/* Bits of the unit mask: parts of a wait. */
#define OP_WAIT_INTERRUPTIBLE 1u
#define OP_WAIT_UNINTERRUPTIBLE 2u
#define OP_WAIT_READY 4u
#define OP_WAIT_BLOCKED (OP_WAIT_INTERRUPTIBLE | OP_WAIT_UNINTERRUPTIBLE)

/* The descriptions of both; they live as long as the program. */
const struct op_event *op_wait_event(void);
const struct op_event *op_latency_event(void);

bool op_event_is_wait(const struct op_event *event);

#endif /* LIBOP_EVENTS_OP_WAIT_EVENT_H */
