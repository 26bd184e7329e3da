/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_CALLGRIND_H
#define PP_OPIMPORT_OPIMPORT_CALLGRIND_H

/*
 * Files of valgrind's callgrind and cachegrind, and of whoever else writes that
 * format, as opreport does, become a session: samples by function and line, and
 * calls. Stacks are not in them.
 */

#include <stdbool.h>
#include <stddef.h>

#include "pp/opimport/opimport_profile.h"

/* Whether @text, which ends with a zero byte, begins as such files do. */
bool opimport_is_callgrind(const char *text);

/*
 * Tell all of @text, @len bytes and the only zero byte, to @profile; @path is
 * for errors, and for warnings, which go to stderr. The text is changed.
 * Returns 0 or -errno with the reason in @diag.
 */
int opimport_callgrind(struct opimport_profile *profile, const char *path,
		       char *text, size_t len, struct op_diag *diag);

#endif /* PP_OPIMPORT_OPIMPORT_CALLGRIND_H */
