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
#include "utils/opcontrol/opcontrol_settings.h"

struct opcontrol;

struct oc_events {
	struct event_machine machine;
	struct event_list list; /* chosen for a daemon; empty: the timer */
};

/* Returns 0 or -ENOMEM; oc_events_release() must follow in any case. */
int oc_events_init(struct oc_events *events);
void oc_events_release(struct oc_events *events);

/*
 * Check what --event has put into @settings and write it out in full. Returns
 * 0, -EINVAL, or another -errno where the machine cannot do it, with the
 * reason in oc->diag, like all below.
 */
int oc_events_check(struct opcontrol *oc, struct oc_settings *settings);

/*
 * Resolve the events for the source of oc->choice, and tell a default that is
 * used.
 */
int oc_events_choose(struct opcontrol *oc);

/* Write all counters to oprofilefs, and turn off those without an event. */
int oc_events_write(struct opcontrol *oc);

/* Add to oc->diag, which has the reason why the daemon could not start to
 * sample, what to do about it where that is the counters'. */
void oc_events_explain(struct opcontrol *oc);

/*
 * The list that is or will be sampled, for people; NULL for the timer, and
 * when it cannot be told. @source is what --status says of it, "module" or
 * that with a slash and what the daemon samples. The caller's to free.
 */
char *oc_events_text(struct opcontrol *oc, const char *source);

#endif /* UTILS_OPCONTROL_OPCONTROL_EVENTS_H */
