/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_FOLDED_H
#define PP_OPIMPORT_OPIMPORT_FOLDED_H

/*
 * Folded stacks, "application;caller;...;function COUNT" on a line, as the
 * scripts that make flame graphs read them, become a session. Who wrote them
 * does not tell of images: all functions are those of the application.
 */

#include <stddef.h>

#include "pp/opimport/opimport_profile.h"

/*
 * Tell all of @text, @len bytes and the only zero byte, to @profile; @path is
 * for errors. Single lines that are no stacks are left out, with a warning on
 * stderr, and lost in the account. The text is changed. Returns 0 or -errno
 * with the reason in @diag.
 */
int opimport_folded(struct opimport_profile *profile, const char *path,
		    char *text, size_t len, struct op_diag *diag);

#endif /* PP_OPIMPORT_OPIMPORT_FOLDED_H */
