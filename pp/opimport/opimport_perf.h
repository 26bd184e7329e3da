/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_PERF_H
#define PP_OPIMPORT_OPIMPORT_PERF_H

/* Files that "perf record" wrote become a session. */

#include "pp/opimport/opimport_daemon.h"

struct opimport_input;

/* Whether it looks like one. */
bool opimport_is_perf(const struct opimport_input *input);

/*
 * Import @files, ended by NULL, "-" is standard input, as one session in a
 * folder that has no samples yet; @first is the first of them, borrowed. What
 * became of them goes to stderr. Returns 0 or -errno with the reason in @diag;
 * of damaged files that what can be read is in the session.
 */
int opimport_perf(const struct opimport_into *into, const char *const *files,
		  const struct opimport_input *first, struct op_diag *diag);

#endif /* PP_OPIMPORT_OPIMPORT_PERF_H */
