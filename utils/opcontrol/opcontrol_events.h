/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_EVENTS_H
#define UTILS_OPCONTROL_OPCONTROL_EVENTS_H

/*
 * Which events are sampled: those of --event; with nothing chosen the CPU's
 * default event, or the timer where that cannot be had.
 */

#include <stdbool.h>

#include "utils/event_list.h"
#include "utils/event_machine.h"
#include "utils/opcontrol/opcontrol_fs.h"
#include "utils/opcontrol/opcontrol_settings.h"

struct oc_events {
	const struct oc_fs *fs; /* the caller's */
	struct event_machine machine;
	struct event_list list; /* chosen for a daemon; empty: the timer */
	bool share; /* the CPU has fewer counters than these need */
};

/* Returns 0 or -ENOMEM; oc_events_release() must follow in any case. */
int oc_events_init(struct oc_events *events, const struct oc_fs *fs);
void oc_events_release(struct oc_events *events);

/*
 * Check what --event has put into @settings and write it out in full. Returns
 * 0, -EINVAL, or another -errno where the machine cannot do it, with the
 * reason in @diag, like all below.
 */
int oc_events_check(struct oc_events *events, struct oc_settings *settings,
		    struct op_diag *diag);

/*
 * Resolve the events of @settings for @source, and say which default is used.
 */
int oc_events_choose(struct oc_events *events,
		     const struct oc_settings *settings, enum oc_source source,
		     struct op_diag *diag);

/* Write all counters to oprofilefs, and turn off those without an event. */
int oc_events_write(const struct oc_events *events, struct op_diag *diag);

/*
 * @diag has the reason why the daemon, whose answer to "status" is @reply,
 * could not start to sample. Add what to do where the counters are the cause.
 */
void oc_events_explain(const char *reply, struct op_diag *diag);

/*
 * The list that is or will be sampled, for people; NULL for the timer, and
 * when it cannot be told. @chosen is the source; @told is what --status says
 * of it, "module" or that with a slash and what the daemon samples. The
 * caller's to free.
 */
char *oc_events_text(struct oc_events *events,
		     const struct oc_settings *settings, enum oc_source chosen,
		     const char *told);

#endif /* UTILS_OPCONTROL_OPCONTROL_EVENTS_H */
