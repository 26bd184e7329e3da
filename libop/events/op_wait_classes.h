/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_EVENTS_OP_WAIT_CLASSES_H
#define LIBOP_EVENTS_OP_WAIT_CLASSES_H

/*
 * Classes of what threads wait for ("lock", "disk"), by names of functions of
 * the kernel: those of the file events/linux/waits/classes. A line of it is
 *
 *	CLASS PATTERN...
 *
 * with blanks between, an empty line or, behind "#", a comment.
 */

#include <stddef.h>

#include "libop/base/op_diag.h"

struct op_wait_pattern {
	const char *class;
	const char *pattern; /* a name or shell pattern of a function */
};

struct op_wait_classes {
	struct op_wait_pattern *patterns; /* in the order of the file */
	size_t nr;
	char *text; /* where they are */
};

/*
 * Read the file in the folder @dir of event files (op_events_dir()). Returns 0
 * or -errno with the reason: -EINVAL for a class without patterns.
 * op_wait_classes_release() must follow in any case.
 */
int op_wait_classes_read(struct op_wait_classes *classes, const char *dir,
			 struct op_diag *diag);
void op_wait_classes_release(struct op_wait_classes *classes);

/* The class of the kernel's function @name; NULL if it has none. */
const char *op_wait_class_of(const struct op_wait_classes *classes,
			     const char *name);

#endif /* LIBOP_EVENTS_OP_WAIT_CLASSES_H */
