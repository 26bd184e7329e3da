/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_DIAG_H
#define LIBOP_BASE_OP_DIAG_H

/*
 * A reason that a person will read. The function that knows the reason fills
 * it, callers pass it up unchanged, a program's main prints it once as
 * "tool: what: why; what to try". Always one line.
 */

#define OP_DIAG_MAX 1024

struct op_diag {
	char text[OP_DIAG_MAX];
};

/*
 * Fill @diag (NULL is allowed) unless it already holds a reason; control
 * characters become '?', a text that is too long loses its middle, and where
 * descriptors ran out the way out of that is added. Returns @err, a negative
 * errno, so that callers may write: return op_diag_set(diag, -EINVAL, "...").
 */
int op_diag_set(struct op_diag *diag, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The reason that memory is short. Returns -ENOMEM. */
int op_out_of_memory(struct op_diag *diag);

/* The reason; of @err, a negative errno, where nobody gave one. */
const char *op_diag_text(const struct op_diag *diag, int err);

#endif /* LIBOP_BASE_OP_DIAG_H */
