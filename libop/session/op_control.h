/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_CONTROL_H
#define LIBOP_SESSION_OP_CONTROL_H

/*
 * The daemon's control socket (a unix stream socket, mode 0600): a client
 * sends one request line and the daemon answers when it is done.
 *
 *	request := VERB [" " ARGUMENT] "\n"
 *	answer  := { " " TEXT "\n" } ( "ok\n" | "error " TEXT "\n" )
 *
 * Verbs: "status", "start", "stop", "dump", "reset", "save NAME", "shutdown".
 * Lines of an answer that start with a blank are data for the caller
 * ("key = value" lines for status). A line is at most OP_CONTROL_LINE_MAX
 * bytes with its newline.
 *
 * To "shutdown" there may be a line "packing = BYTES" before the daemon takes
 * its time to pack that much.
 */

#include <stddef.h>

#include "libop/base/op_diag.h"

#define OP_CONTROL_LINE_MAX 4096

/*
 * Send @request (without newline) to the daemon at @socket and wait for the
 * answer at most @timeout_ms milliseconds. The data lines, without their
 * leading blank, are put in @reply (@len bytes, zero-terminated, cut at whole
 * lines; NULL if not wanted). A negative @timeout_ms sets no limit. Returns 0;
 * -ENOENT or -ECONNREFUSED when no daemon listens; -ETIMEDOUT; -EREMOTEIO with
 * the daemon's own text in @diag when it refused; -EPROTO for an answer that
 * is none; -EINVAL for a request that is not one line. All with a reason.
 */
int op_control_call(const char *socket, const char *request, char *reply,
		    size_t len, int timeout_ms, struct op_diag *diag);

/*
 * The same, but each data line is handed to @heard as soon as it comes. It is
 * what the daemon does now: the answer follows.
 */
int op_control_follow(const char *socket, const char *request,
		      void (*heard)(void *data, const char *line), void *data,
		      int timeout_ms, struct op_diag *diag);

/*
 * Connect to the socket @socket of a daemon that answers whoever comes
 * (daemon/user_samples/opd_user_samples.h) and writes bytes behind its answer,
 * up to the end of the connection: these go to the descriptor @out. Otherwise
 * as op_control_call(); what came is not known to be all of it.
 */
int op_control_fetch(const char *socket, char *reply, size_t len, int out,
		     int timeout_ms, struct op_diag *diag);

/*
 * Listen at @socket, which is made with mode 0600; its folder must exist. A
 * socket that nobody answers at is removed first; so that two daemons do not
 * race here, the caller holds the session's lock. Returns the listening
 * descriptor (blocking, closed on exec), which is the caller's to close, the
 * file being its to unlink; -EADDRINUSE when a daemon answers there, -EEXIST
 * when something else is in the way, -errno else, with the reason in @diag.
 * Paths longer than a socket address are no problem here or in a call.
 */
int op_control_listen(const char *socket, struct op_diag *diag);

#endif /* LIBOP_SESSION_OP_CONTROL_H */
