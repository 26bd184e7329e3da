/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_EVENTS_OP_WAIT_EVENT_H
#define LIBOP_EVENTS_OP_WAIT_EVENT_H

/*
 * THREAD_WAIT, the event of threads that have no CPU: one sample for each COUNT
 * nanoseconds that a thread was blocked or waited for a CPU. The module counts
 * it by the scheduler's tracepoints (module/counter/wait.h), up to
 * OP_WAIT_MAX_EVENTS times with different unit masks.
 */

#include <stdbool.h>

#include "libop/events/op_events.h"

#define OP_WAIT_MAX_EVENTS 4

/* The description of THREAD_WAIT; lives as long as the program. */
const struct op_event *op_wait_event(void);

bool op_event_is_wait(const struct op_event *event);

#endif /* LIBOP_EVENTS_OP_WAIT_EVENT_H */
