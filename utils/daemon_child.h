/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_DAEMON_CHILD_H
#define UTILS_DAEMON_CHILD_H

/*
 * A daemon that is a child of ours: in a session of its own, which no Ctrl-C
 * reaches, and ended by the kernel when we are killed. It works in the
 * foreground and says at a pipe when it is ready.
 */

#include <sys/types.h>

#include "libop/base/op_diag.h"
#include "libop/files/op_process.h"
#include "utils/daemon.h"

struct daemon_child {
	struct daemon daemon; /* whose pid is 0 once its end was waited for */
	int pidfd; /* becomes readable when it ends; -1 without pid */
	int error_fd; /* a file with what it has written to stderr, or -1 */
	int ready[2]; /* the pipe that it says at that it is ready, or -1 */
	int status; /* of wait(2), when it has ended */
};

void daemon_child_init(struct daemon_child *child);

/*
 * Begin the command line @args of one, with what makes it a child of ours.
 * Returns 0 or -errno with the reason.
 */
int daemon_child_begin(struct daemon_child *child, struct op_process_args *args,
		       struct op_diag *diag);

/*
 * Start the program @path with @args, and wait until it is ready or has failed.
 * Returns 0; -EINTR without a reason when a signal can be read from @signal_fd;
 * another -errno with the reason.
 */
int daemon_child_start(struct daemon_child *child, const char *path,
		       const struct op_process_args *args, int signal_fd,
		       struct op_diag *diag);

/* Wait for the end of one that has ended, or is about to without a signal. */
void daemon_child_wait(struct daemon_child *child);

/*
 * Why it has ended: its own words if it had some, with @hint on what to do
 * behind all others. Returns 0 if it has ended well, or -EIO with the reason.
 */
int daemon_child_explain(const struct daemon_child *child, const char *hint,
			 struct op_diag *diag);

/*
 * Why a call of it has failed with @err and @why while it started: because it
 * is about to end, or for that reason. Returns an -errno with the reason.
 */
int daemon_child_explain_call(struct daemon_child *child, int err,
			      const char *why, struct op_diag *diag);

/* End one that still runs, and close all. */
void daemon_child_release(struct daemon_child *child);

#endif /* UTILS_DAEMON_CHILD_H */
