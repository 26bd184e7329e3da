/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_EVENTS_OP_PARSE_EVENT_H
#define LIBOP_EVENTS_OP_PARSE_EVENT_H

/*
 * Event specifications, NAME:COUNT[:UNITMASK[:KERNEL[:USER]]], the text that
 * users give to every tool. UNITMASK is a number, the name of an entry, or
 * several names joined by '+' where entries can be combined; absent or empty
 * it is the event's default. KERNEL and USER are 0 or 1, by default 1.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libop/events/op_events.h"

#define OP_UM_NAME_MAX 128

struct op_parsed_event {
	const struct op_event *event;
	uint64_t count;
	uint64_t um;
	uint64_t extra; /* OP_EXTRA_... */
	char um_name[OP_UM_NAME_MAX]; /* "" if none was given */
	bool kernel;
	bool user;
	/* For perf_event_open(2): code, unit mask and extra bits together. */
	uint64_t config;
};

struct op_parse_options {
	bool no_count; /* specifications have no COUNT field */
	uint64_t factor; /* of minimum counts, 0 is 1 */
};

/* The factor for minimum counts with call graphs, which make a sample dearer.
 */
#define OP_CALLGRAPH_FACTOR 15

/*
 * Parse @spec, or the CPU's default event where it is "default". Returns 0 or
 * -EINVAL with the reason: what is wrong, and what would be right.
 */
int op_parse_event(struct op_parsed_event *out, const struct op_events *events,
		   const char *spec, const struct op_parse_options *options,
		   struct op_diag *diag);

/* Print the specification of @event with all fields, as op_parse_event() reads
 * it: the unit mask by name where that was given or says more than its value.
 */
void op_parsed_event_print(FILE *out, const struct op_parsed_event *event);

/*
 * Check that the @nr events can be counted at once and give each a counter,
 * see op_alloc_counters(). Returns 0, -EBUSY, or -EINVAL when two of them
 * count the same; with the reason.
 */
int op_check_events(int *counters, const struct op_events *events,
		    const struct op_parsed_event *parsed, size_t nr,
		    struct op_diag *diag);

/*
 * Write the names of events like @name to @buf: ", ", then the most similar
 * first, or "" if there is none.
 */
void op_events_similar(const struct op_events *events, const char *name,
		       char *buf, size_t len);

#endif /* LIBOP_EVENTS_OP_PARSE_EVENT_H */
