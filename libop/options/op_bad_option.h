/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_OPTIONS_OP_BAD_OPTION_H
#define LIBOP_OPTIONS_OP_BAD_OPTION_H

/* Groups of options, and the reason why popt does not accept a command line,
 * for all programs. */

#include <popt.h>

#include "libop/base/op_diag.h"

/* A row of a table of options for popt: the options of @table, which help lists
 * below @title. */
#define OP_OPTION_GROUP(title, table)                                          \
	{                                                                      \
		NULL, '\0', POPT_ARG_INCLUDE_TABLE, (void *)(table), 0, title, \
			NULL                                                   \
	}

/*
 * popt has stopped at @option, as poptBadOption(3) gives it, for @error, what
 * poptGetNextOpt(3) returned. @diag has the reason: what @program has in place
 * of an option of perf(1), the option of @table (ended by POPT_TABLEEND) that
 * was probably meant, or where options are listed. The value of an option is
 * looked up in @argv, which NULL ends. Returns -EINVAL.
 */
int op_bad_option(struct op_diag *diag, const char *program,
		  const struct poptOption *table, const char *const *argv,
		  const char *option, int error);

#endif /* LIBOP_OPTIONS_OP_BAD_OPTION_H */
