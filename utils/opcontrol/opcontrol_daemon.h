/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPCONTROL_OPCONTROL_DAEMON_H
#define UTILS_OPCONTROL_OPCONTROL_DAEMON_H

/*
 * The daemon oprofiled as seen from here: whether it lives, starting it, and
 * requests to it (libop/op_control.h). Its control socket is the truth; the
 * pid in its lock file only serves to end a daemon that answers no more.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define OC_REPLY_MAX 16384 /* bytes of a daemon's answer */

struct opcontrol;

struct oc_daemon {
	pid_t pid; /* 0: there is none */
	bool answers;
	bool is_sampling;
	bool is_targeted; /* operf's, for a program and not the machine */
	char reply[OC_REPLY_MAX]; /* its answer to "status" */
};

/*
 * Look for the daemon of oc->session and fill oc->daemon. Returns 0 whether
 * there is one or not, or -errno with the reason in oc->diag.
 */
int oc_daemon_find(struct opcontrol *oc);

/* Start the daemon and wait until it is ready. Returns 0 or -errno; where the
 * daemon has told the reason itself, oc->diag stays empty. */
int oc_daemon_start(struct opcontrol *oc);

/* Send @request and wait until it is done. Returns 0 or -errno with the
 * reason in oc->diag. */
int oc_daemon_call(struct opcontrol *oc, const char *request);

/* Ask the daemon to end, wait for it, and end it by signals if it does not.
 * Returns 0 or -errno with the reason in oc->diag. */
int oc_daemon_shutdown(struct opcontrol *oc);

/*
 * Find the value of @key in the lines of @reply and put it in @buf of @len
 * bytes. Returns false, with an empty @buf, if it is not there or too long.
 */
bool oc_reply_find(const char *reply, const char *key, char *buf, size_t len);

#endif /* UTILS_OPCONTROL_OPCONTROL_DAEMON_H */
