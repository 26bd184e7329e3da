/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_PERF_H
#define PP_OPIMPORT_PERF_H

/* Files that "perf record" wrote become a session. */

#include "pp/opimport_daemon.h"

/* One of them. */
struct opimport_recording {
	const char *path; /* as the user gave it; borrowed */
	int fd; /* of what was packed in it; -1: nothing was */
};

/* Whether @path looks like one, packed or not, or is standard input. Then
 * opimport_perf() is to be called, which closes *@recording. */
bool opimport_is_perf(struct opimport_recording *recording, const char *path);

/*
 * Import @files, ended by NULL, "-" is standard input, as one session in a
 * folder that has no samples yet; @first is the first of them. What became of
 * them goes to stderr. Returns 0 or -errno with the reason in @diag; of damaged
 * files that what can be read is in the session.
 */
int opimport_perf(const struct opimport_into *into, const char *const *files,
		  const struct opimport_recording *first, struct op_diag *diag);

#endif /* PP_OPIMPORT_PERF_H */
