/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_EVENTS_OP_EVENTS_TEXT_H
#define LIBOP_EVENTS_OP_EVENTS_TEXT_H

/*
 * The lines of a file below events/, for libop's own use. A '#' starts a
 * comment, blank lines are skipped. The file is read whole and cut in place,
 * so what is found in it lives as long as its text.
 */

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

struct op_events_text {
	char *text; /* the caller's to free, also after failure */
	char *next;
	char *line; /* the present one, without blanks at its end */
	unsigned int number; /* of the present line, from 1 */
	char path[PATH_MAX];
	struct op_diag *diag;
};

/*
 * Read DIR/CPU/FILE. Returns 0 or -errno, always with a reason in @diag.
 * -EINVAL as "PATH:LINE: what" for a text that is not UTF-8 or has control
 * characters: lists of it are printed.
 */
int op_events_text_open(struct op_events_text *text, const char *dir,
			const char *cpu, const char *file,
			struct op_diag *diag);

/* Move to the next line that holds something; false at the end. */
bool op_events_text_next(struct op_events_text *text);

/* Put "PATH:LINE: what" into the diagnostic. Returns -EINVAL. */
int op_events_text_error(const struct op_events_text *text, const char *fmt,
			 ...) __attribute__((format(printf, 2, 3)));

/*
 * Cut the first word off *@at: it is ended by a zero byte and *@at moves to
 * the next one. Returns NULL when there is no more.
 */
char *op_events_word(char **at);

/*
 * Whether @name may be that of a CPU type, "ARCH/CPU": it names a folder two
 * levels down and leads nowhere else.
 */
bool op_cpu_name_is_valid(const char *name);

#endif /* LIBOP_EVENTS_OP_EVENTS_TEXT_H */
