/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_EVENTS_H
#define DAEMON_SOURCE_OPD_EVENTS_H

/*
 * Which event each counter of the stream counts: from --events, or from the
 * OP_EVENT records of a recorded stream. Without any it is timer mode, with
 * the one event TIMER on counter 0 (count 0).
 */

#include <stdbool.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/events/op_counter_text.h"
#include "module/uapi/oprofile.h"

struct opd_event {
	bool set; /* the counter is in use */
	char name[OP_EVENT_NAME_MAX];
	uint64_t value; /* event code; samples per second of the timer */
	uint64_t count; /* reset value; 0 for the timer */
	uint64_t um;
	uint64_t config; /* the same as perf_event_open(2) wants it */
	bool kernel;
	bool user;
	bool derived; /* its counts are no samples: see opd_ext_files.h */
};

struct opd_events {
	struct opd_event counter[OP_MAX_COUNTERS];
	unsigned int nr; /* highest counter in use plus 1 */
	bool weights; /* of samples are wanted (opd_weight.c) */
};

/* The one event of timer mode. */
void opd_events_timer(struct opd_events *events);

/* Whether @event is the timer. */
bool opd_event_is_timer(const struct opd_event *event);

/* Whether @event is THREAD_WAIT (libop/events/op_wait_event.h). */
bool opd_event_is_wait(const struct opd_event *event);
/* Whether it is made of samples of the clock (opd_latency.h). */
bool opd_event_is_latency(const struct opd_event *event);

/* Whether any of them is to be sampled in the kernel. */
bool opd_events_sample_kernel(const struct opd_events *events);

/*
 * Give @counter an event. Returns 0; -EINVAL with the reason for a counter
 * beyond OP_MAX_COUNTERS or a name that cannot be part of a file's name.
 */
int opd_events_set(struct opd_events *events, uint64_t counter,
		   const struct opd_event *event, struct op_diag *diag);

/*
 * Parse the text of --events (op_counter_text.h; a comma at the end is
 * allowed). NULL or "" is timer mode. Returns 0 or -EINVAL with the reason.
 */
int opd_events_parse(struct opd_events *events, const char *text,
		     struct op_diag *diag);

#endif /* DAEMON_SOURCE_OPD_EVENTS_H */
