/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_OPTIONS_OP_PAGER_H
#define LIBOP_OPTIONS_OP_PAGER_H

/*
 * Output on a terminal: long output goes to a pager, and counts have colours.
 * Both are as git has them. In a pipe or a file there is neither.
 *
 * The pager is OPROFILE_PAGER, else PAGER, else less; none where the variable
 * is empty or "cat". Where LESS is not set it is FRX: leave at once what fits
 * the screen, show colours, leave the text there.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"

/* All zeros is a pager that was not started. */
struct op_pager {
	FILE *out;
	pid_t pid; /* 0: none */
	int terminal; /* what @out wrote to before */
	const char *command;
	struct sigaction was_pipe, was_int, was_quit;
};

/* Whether @out is a terminal that colours are wanted on: NO_COLOR is not set,
 * and TERM is there and not "dumb". */
bool op_color_wanted(FILE *out);

/*
 * Start the pager if @out is a terminal and @wanted; @out then writes to it,
 * and COLUMNS is the width of the terminal if it was not set. Where less can do
 * so, the first @nr_header lines stay in sight. While it runs SIGINT and
 * SIGQUIT are left to it, and writing to a pager that is gone is an error and
 * no signal. That a pager cannot be started is no error: @out is what it was.
 */
void op_pager_start(struct op_pager *pager, FILE *out, bool wanted,
		    unsigned int nr_header);

/*
 * Write what @out still has, and wait until the user leaves the pager if one
 * was started. Returns 0, also where the user left it before the end; -errno
 * with the reason in @diag when something could not be written, or the pager
 * could not be run.
 */
int op_pager_end(struct op_pager *pager, FILE *out, struct op_diag *diag);

#endif /* LIBOP_OPTIONS_OP_PAGER_H */
