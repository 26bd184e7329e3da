/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_CONTROL_H
#define DAEMON_OPD_CONTROL_H

/*
 * The daemon's end of the control socket (libop/session/op_control.h): takes
 * request lines from a few clients at once, has them carried out by @run,
 * answers and hangs up. A client that is slow or silent holds up nobody.
 */

#include <stddef.h>
#include <stdint.h>

#include "libop/session/op_control.h"
#include "libop/base/op_diag.h"

struct op_log;
struct opd_loop;

#define OPD_MAX_CLIENTS 16

struct opd_client {
	int fd; /* -1: free */
	size_t len;
	char line[OP_CONTROL_LINE_MAX];
};

/* Data lines for the client. */
struct opd_answer {
	char text[32768];
	size_t len;
};

struct opd_control {
	struct opd_loop *loop; /* borrowed, like all up to the descriptor */
	struct op_log *log;
	const char *socket; /* its path, while it is open */
	/* Carry out @request, which is cut up. Returns 0, or -errno with the
	 * reason. */
	int (*run)(void *ctx, char *request, struct opd_answer *answer,
		   struct op_diag *diag);
	void *ctx;
	int fd; /* -1: nothing listens */
	unsigned int oldest; /* the client to drop when there are too many */
	int shutdown_fd; /* who waits for the end of the daemon, or -1 */
	struct opd_client clients[OPD_MAX_CLIENTS];
};

/* All is closed, nothing listens. */
void opd_control_init(struct opd_control *control, struct opd_loop *loop,
		      struct op_log *log);

/* Listen at @socket, which the caller keeps; control->run is set. Returns 0 or
 * -errno with the reason. */
int opd_control_open(struct opd_control *control, const char *socket,
		     struct op_diag *diag);

/* Stop listening and remove the socket. */
void opd_control_close(struct opd_control *control);

/* A client came; client number @nr wrote or hung up. */
void opd_control_accept(struct opd_control *control);
void opd_control_handle(struct opd_control *control, unsigned int nr);

/* Send to the client that waits for the daemon's end that packing @bytes comes
 * before it. */
void opd_control_report_packing(struct opd_control *control, uint64_t bytes);

/* Answer the client that asked for the daemon's end: it has come, and @err and
 * @diag are why it is not a good one. */
void opd_control_answer_shutdown(struct opd_control *control, int err,
				 const struct op_diag *diag);

#endif /* DAEMON_OPD_CONTROL_H */
