/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_DAEMON_H
#define UTILS_OPERF_OPERF_DAEMON_H

/*
 * The daemon of one run of operf: what it is to sample, and what is said of
 * its end (utils/daemon_child.h).
 */

#include "libop/base/op_diag.h"

struct operf;

/*
 * Start it for what operf is to profile, and wait until it is ready or has
 * failed. Returns 0; -EINTR when a signal came (operf_signals.h); -errno; with
 * the reason.
 */
int operf_daemon_start(struct operf *operf);

/* Ask it, before anything is sampled, for @request, and wait until that is
 * done. Returns 0 or -errno with the reason. */
int operf_daemon_call(struct operf *operf, const char *request);

/*
 * Let it finish, and wait for its end. Returns 0 when it has ended well, or
 * -errno with the reason.
 */
int operf_daemon_stop(struct operf *operf);

/*
 * Collect a daemon that has ended by itself. Returns 0 if another program asked
 * it to end, or -errno with the cause of its end in @diag.
 */
int operf_daemon_reap(struct operf *operf, struct op_diag *diag);

#endif /* UTILS_OPERF_OPERF_DAEMON_H */
