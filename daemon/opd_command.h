/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_COMMAND_H
#define DAEMON_OPD_COMMAND_H

/* The commands of the control socket. A command returns when it is done. */

#include "libop/base/op_diag.h"

struct opd;
struct opd_answer;

/*
 * Carry out @request (the words of libop/session/op_control.h but "shutdown"),
 * which is cut up. Returns 0, or -errno with the reason.
 */
int opd_command_run(struct opd *opd, char *request, struct opd_answer *answer,
		    struct op_diag *diag);

/* Listen at the session's socket for requests. Returns 0 or -errno with the
 * reason. */
int opd_command_listen(struct opd *opd, struct op_diag *diag);

/* Stop sampling, and handle all samples that were taken. 0 or -errno. */
int opd_command_stop(struct opd *opd, struct op_diag *diag);

/* Delete all samples that were stored. Returns 0 or -errno with the reason. */
int opd_command_reset(struct opd *opd, struct op_diag *diag);

/*
 * Give the session's samples the name @name and start anew. Returns 0; -EINVAL
 * or -EEXIST for a name that cannot be used, -errno, with the reason.
 */
int opd_command_save(struct opd *opd, const char *name, struct op_diag *diag);

#endif /* DAEMON_OPD_COMMAND_H */
