/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OCOUNT_OCOUNT_EVENT_H
#define UTILS_OCOUNT_OCOUNT_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

/*
 * The events to count, as --events names them:
 * NAME[:UNIT-MASK[:KERNEL[:USER]]],... (utils/event_list.h), and beside the
 * names of events r and the number of a raw one.
 */

struct ocount_event {
	char *name; /* as it is shown */
	uint32_t type; /* as in struct perf_event_attr */
	uint64_t config;
	bool kernel; /* count in kernel mode */
	bool user; /* count in user mode */
	bool modes_given; /* the user asked for these modes */
	bool failed; /* cannot be counted here; reason says why */
	struct op_diag reason;
};

struct ocount_events {
	struct ocount_event *list;
	size_t nr;
	bool is_fallback; /* chosen by us, for want of hardware counters */
};

/*
 * Parse @text; NULL is the CPU's cycles or, without hardware counters,
 * cpu-clock. Returns 0, or -EINVAL or -ENOMEM with the reason in @diag;
 * ocount_events_release() must follow in any case.
 */
int ocount_events_init(struct ocount_events *events, const char *text,
		       struct op_diag *diag);
void ocount_events_release(struct ocount_events *events);

/* Say in the name of @event which modes are counted. Returns 0 or -ENOMEM. */
int ocount_event_show_modes(struct ocount_event *event);

/* Fill the kernel's description of @event; a counter is not yet enabled. */
void ocount_event_attr(const struct ocount_event *event,
		       struct perf_event_attr *attr);

/* Whether it counts nanoseconds, in all modes whatever was asked for. */
bool ocount_event_is_clock(const struct ocount_event *event);

/* Whether it happens in kernel mode alone, so that user mode has none. */
bool ocount_event_is_kernels(const struct ocount_event *event);

/*
 * The event of @events that @event is best shown as a part of: cycles for
 * instructions, branches for branch-misses. NULL if there is none.
 */
const struct ocount_event *ocount_event_base(const struct ocount_events *events,
					     const struct ocount_event *event);

#endif /* UTILS_OCOUNT_OCOUNT_EVENT_H */
