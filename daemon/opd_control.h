/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_CONTROL_H
#define DAEMON_OPD_CONTROL_H

/*
 * The daemon's end of the control socket (libop/session/op_control.h): takes
 * request lines from a few clients at once, has opd_command carry them out,
 * answers and hangs up. A client that is slow or silent holds up nobody.
 */

#include <stddef.h>
#include <stdint.h>

#include "libop/session/op_control.h"
#include "libop/base/op_diag.h"

struct opd;

#define OPD_MAX_CLIENTS 16

struct opd_client {
	int fd; /* -1: free */
	size_t len;
	char line[OP_CONTROL_LINE_MAX];
};

struct opd_control {
	int fd; /* -1: nothing listens */
	unsigned int oldest; /* the client to drop when there are too many */
	int shutdown_fd; /* who waits for the end of the daemon, or -1 */
	struct opd_client clients[OPD_MAX_CLIENTS];
};

/* All is closed, nothing listens. */
void opd_control_init(struct opd_control *control);

/* Listen. Returns 0 or -errno with the reason. */
int opd_control_open(struct opd *opd, struct op_diag *diag);

/* Stop listening and remove the socket. */
void opd_control_close(struct opd *opd);

/* A client came; client number @nr wrote or hung up. */
void opd_control_accept(struct opd *opd);
void opd_control_handle(struct opd *opd, unsigned int nr);

/* Tell who waits for the daemon's end that packing @bytes comes before it. */
void opd_control_say_packing(struct opd *opd, uint64_t bytes);

/* Tell who asked for it that the daemon is at its end, and with @err why it is
 * not a good one. */
void opd_control_answer_shutdown(struct opd *opd, int err,
				 const struct op_diag *diag);

#endif /* DAEMON_OPD_CONTROL_H */
