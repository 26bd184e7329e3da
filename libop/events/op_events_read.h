/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_EVENTS_OP_EVENTS_READ_H
#define LIBOP_EVENTS_OP_EVENTS_READ_H

/* The parsers of the three files, which op_events_load.c calls. */

#include "libop/events/op_events.h"
#include "libop/events/op_events_text.h"

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

/* Read @cpu's file "original", if there is one, once all else is read. */
int op_events_read_original(struct op_events_reader *r, const char *cpu);

/* Whether @name may be that of an event: it becomes part of file names. Returns
 * 0 or -EINVAL with the reason. */
int op_events_check_name(const struct op_events_text *text, const char *name);

/* Take what stands behind "type:" and "extra:". Returns 0 or -EINVAL with the
 * reason. */
int op_events_take_um_type(const struct op_events_text *text,
			   enum op_unit_mask_type *type, const char *value);
int op_events_take_extra(const struct op_events_text *text,
			 struct op_unit_mask_entry *entry, char *flags);

/* Put what is wrong with @um into @diag, with its place. Returns -EINVAL. */
int op_unit_mask_error(const struct op_unit_mask *um, struct op_diag *diag,
		       const char *what);

/* Find the default of @um and check it. Returns 0 or -EINVAL with the reason.
 */
int op_unit_mask_check(struct op_unit_mask *um, struct op_diag *diag);

/*
 * Common to all: open the file for @r. What is read from it belongs to
 * r->events, also after failure.
 */
int op_events_read_open(struct op_events_reader *r, struct op_events_text *text,
			const char *cpu, const char *file, const char **path);

/* An "include:" line: *@cpu is what it names. False for other lines. */
bool op_events_is_include(const struct op_events_text *text, const char **cpu);

#endif /* LIBOP_EVENTS_OP_EVENTS_READ_H */
