/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_EVENTS_OP_ALLOC_COUNTER_H
#define LIBOP_EVENTS_OP_ALLOC_COUNTER_H

/*
 * Which hardware counter counts which event: each event names the counters
 * that can count it, and no counter counts two events.
 */

#include <stddef.h>

#include "libop/events/op_events.h"

#define OP_NO_COUNTER (-1) /* of an event that a feature counts, "ext:" */

/*
 * Give each of the @nr events of the CPU type @cpu a counter: counters[i] is
 * that of events[i]. Returns 0, or -EBUSY with a reason that names the events
 * that cannot be counted together; -ENOMEM.
 */
int op_alloc_counters(int *counters, const struct op_cpu_type *cpu,
		      const struct op_event *const *events, size_t nr,
		      struct op_diag *diag);

#endif /* LIBOP_EVENTS_OP_ALLOC_COUNTER_H */
