/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_DAEMON_H
#define UTILS_OPERF_OPERF_DAEMON_H

/*
 * The daemon oprofiled that takes the samples: a child of ours in a session
 * of its own, which no Ctrl-C reaches and which ends when we are killed. It
 * works in the foreground, says at a pipe when it is ready, and is asked over
 * its control socket (libop/op_control.h).
 */

#include <stdbool.h>
#include <sys/types.h>

#include "libop/op_diag.h"

struct operf;

struct operf_daemon {
	pid_t pid; /* 0: there is none, or none any more */
	int pidfd; /* becomes readable when it ends; -1 without pid */
	int error_fd; /* a file with what it has written to stderr, or -1 */
	int status; /* of wait(2), when it has ended */
};

void operf_daemon_init(struct operf_daemon *daemon);

/*
 * Start it for what operf is to profile, and wait until it is ready or has
 * failed. Returns 0; -EINTR when a signal came (operf_wait.h); -errno; with
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
 * It has ended by itself. Returns 0 when it was told to by somebody, or
 * -errno with what it died of in @diag.
 */
int operf_daemon_reap(struct operf *operf, struct op_diag *diag);

/* End one that still runs, and close all. */
void operf_daemon_release(struct operf_daemon *daemon);

#endif /* UTILS_OPERF_OPERF_DAEMON_H */
