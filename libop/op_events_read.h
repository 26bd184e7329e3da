/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_OP_EVENTS_READ_H
#define LIBOP_OP_EVENTS_READ_H

/* The parsers of the two files; for op_events_load.c. */

#include "libop/op_events.h"
#include "libop/op_events_text.h"

#define OP_EVENTS_MAX_DEPTH 8 /* of include: */

struct op_events_reader {
	struct op_events *events;
	const char *dir;
	unsigned int depth; /* of include:, 0 for the CPU's own file */
	struct op_diag *diag;
};

/*
 * Read @cpu's file of that kind and what it includes into r->events. Returns 0
 * or -errno with the reason.
 */
int op_events_read_unit_masks(struct op_events_reader *r, const char *cpu);
int op_events_read_events(struct op_events_reader *r, const char *cpu);

/*
 * Common to both: open the file for @r. What is read from it belongs to
 * r->events, also after failure.
 */
int op_events_read_open(struct op_events_reader *r, struct op_events_text *text,
			const char *cpu, const char *file, const char **path);

/* An "include:" line: *@cpu is what it names. False for other lines. */
bool op_events_is_include(const struct op_events_text *text, const char **cpu);

#endif /* LIBOP_OP_EVENTS_READ_H */
