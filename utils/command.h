/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_COMMAND_H
#define UTILS_COMMAND_H

/*
 * The command that is profiled or counted: a child that waits at a pipe until
 * it may become the command, so that this can begin before its first
 * instruction.
 */

#include <limits.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"

struct command {
	char **argv; /* the caller's */
	char path[PATH_MAX]; /* what is executed */
	char **environment; /* what it gets, the caller's; NULL: ours */
	bool is_text; /* a script, perhaps without a first line that says so */
	pid_t pid; /* 0: there is no child, or none any more */
	int go_fd; /* a byte here lets it go on, the end lets it exit */
	int error_fd; /* its errno if it could not execute, or the end */
	int status; /* of wait(2), when it has ended */
	struct rusage usage; /* of it and of the children it waited for */
};

void command_init(struct command *command, char **argv);

/*
 * Find the program as a shell would. Returns 0; -ENOENT or another -errno
 * when there is none that can be executed, with the reason in @diag.
 */
int command_find(struct command *command, struct op_diag *diag);

/* Make the child, which waits. Returns 0 or -errno with the reason. */
int command_fork(struct command *command, struct op_diag *diag);

/*
 * Let the child become the command. Returns 0 when it has, or -errno with
 * the reason: then nothing of it has run.
 */
int command_exec(struct command *command, struct op_diag *diag);

/* Wait for its end, which has come or will soon: sets status and usage. */
void command_wait(struct command *command);

/* End a child that still waits, wait for one that does not, close all. */
void command_release(struct command *command);

/* Its exit status as a shell has it: 128 and the signal that ended it. */
int command_exit_status(const struct command *command);

#endif /* UTILS_COMMAND_H */
