/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_DAEMON_H
#define UTILS_DAEMON_H

/*
 * The daemon oprofiled of a session, as its clients opcontrol and operf see
 * it: whether it lives, starting it, and requests over its control socket
 * (libop/session/op_control.h). A daemon that is a child of ours is in
 * daemon_child.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"
#include "libop/files/op_process.h"
#include "libop/session/op_session.h"

#define DAEMON_NAME "oprofiled"
#define DAEMON_REPLY_MAX 16384 /* bytes of its answer to "status" */

struct daemon {
	const struct op_session *session; /* the caller's */
	bool verbose; /* say each step on stderr */
	int turn_ms; /* to wait for its answer before looking whether it is at
			work; 0: as usual */
	pid_t pid; /* 0: there is none, or none any more */
	bool answers;
	bool is_sampling;
	bool is_targeted; /* operf's, for a program and not the machine */
	char reply[DAEMON_REPLY_MAX]; /* its answer to "status", or "" */
};

/*
 * Look for the daemon of the session and fill @daemon. A daemon that is at work
 * may take two minutes to answer, any other one 15 seconds. Returns 0 whether
 * there is one or not, or -errno with the reason.
 */
int daemon_find(struct daemon *daemon, struct op_diag *diag);

/*
 * Start the program @path, which goes into the background once it is ready,
 * and find it. Returns 0 or -errno; where the daemon has told the reason
 * itself, @diag stays empty.
 */
int daemon_start(struct daemon *daemon, const char *path,
		 const struct op_process_args *args, struct op_diag *diag);

/* Say what is started. Returns 0, or -ENOMEM with the reason if @args could
 * not be made. */
int daemon_say_start(const struct daemon *daemon, const char *path,
		     const struct op_process_args *args, struct op_diag *diag);

/*
 * Send @request and wait until it is done. Returns 0, or what
 * op_control_call() does with its text in @why.
 */
int daemon_ask(const struct daemon *daemon, const char *request,
	       struct op_diag *why);

/*
 * Ask the daemon, the process behind @pidfd, to end, and wait for its end. If
 * it does not end it gets SIGTERM, and SIGKILL @grace_ms milliseconds later;
 * *@is_forced is set then. Lines that it says meanwhile are handed to @heard.
 * Returns 0; -EREMOTEIO when it has ended but something failed, with its own
 * text in @why; another -errno when it lives on.
 */
int daemon_end(const struct daemon *daemon, int pidfd, int grace_ms,
	       void (*heard)(void *data, const char *line), void *data,
	       bool *is_forced, struct op_diag *why);

/*
 * Find the value of @key in the daemon's answer to "status" and put it in @buf
 * of @len bytes. Returns false, with an empty @buf, if it is not there or too
 * long.
 */
bool daemon_reply_find(const char *reply, const char *key, char *buf,
		       size_t len);

#endif /* UTILS_DAEMON_H */
