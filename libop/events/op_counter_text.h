/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_EVENTS_OP_COUNTER_TEXT_H
#define LIBOP_EVENTS_OP_COUNTER_TEXT_H

/*
 * The events of counters as text, which operf and opcontrol give to oprofiled:
 *
 *	NAME:VALUE:COUNTER:COUNT:UM:KERNEL:USER[:CONFIG],...
 *
 * The numbers of each event come with its name, so that the daemon reads no
 * event files.
 */

#include <stdint.h>
#include <stdio.h>

#include "libop/base/op_diag.h"

#define OP_EVENT_NAME_MAX 128 /* bytes with the zero byte */

/* The name of the timer, which counts no event and has a COUNT of 0. */
#define OP_TIMER_EVENT "TIMER"

struct op_counter_event {
	char name[OP_EVENT_NAME_MAX];
	uint64_t value; /* event code */
	uint64_t counter;
	uint64_t count; /* events from one sample to the next */
	uint64_t um; /* unit mask */
	uint64_t kernel, user; /* 1: these modes are sampled, else 0 */
	uint64_t config; /* for perf_event_open(2); 0: VALUE | UM << 8 */
};

/* Print @event, without a comma. */
void op_counter_event_print(FILE *out, const struct op_counter_event *event);

/*
 * Parse the event that *@text begins with, and move *@text behind it and its
 * comma. A name that is too long is "" in @event. Returns 0, or -EINVAL with
 * the reason.
 */
int op_counter_event_parse(struct op_counter_event *event, const char **text,
			   struct op_diag *diag);

#endif /* LIBOP_EVENTS_OP_COUNTER_TEXT_H */
