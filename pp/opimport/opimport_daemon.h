/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPIMPORT_OPIMPORT_DAEMON_H
#define PP_OPIMPORT_OPIMPORT_DAEMON_H

/*
 * A profile that is imported sample by sample becomes a session as new samples
 * do: by the daemon, from a source that ends.
 */

#include <stdbool.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_session.h"

struct opimport_into {
	const char *to; /* the session folder */
	bool separate_thread;
	bool separate_cpu;
	uint64_t slices; /* of the time line, at most; 0: it is not kept */
};

/* Fill @session, which has no samples yet. Returns 0 or -errno with the reason
 * in @diag. */
int opimport_find_session(const struct opimport_into *into,
			  struct op_session *session, struct op_diag *diag);

/*
 * Run the daemon with @source, as its --source, until that ends. What became of
 * the samples goes to stderr. Returns 0 or -errno with the reason in @diag.
 */
int opimport_run_daemon(const struct opimport_into *into,
			const struct op_session *session, const char *source,
			struct op_diag *diag);

#endif /* PP_OPIMPORT_OPIMPORT_DAEMON_H */
