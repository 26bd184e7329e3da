/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_OPTIONS_OP_PERF_HABITS_H
#define LIBOP_OPTIONS_OP_PERF_HABITS_H

/*
 * Options that users of perf(1) type out of habit, and the options of our
 * programs in their place. Facts are from the man pages perf-record,
 * perf-report, perf-stat and perf-annotate of Linux 6.1.
 */

#include "libop/base/op_diag.h"

/*
 * Whether @word is perf's: an option as "-F" or "--freq", or a word such as
 * "record", on the command line of our @program, which does not know it. If so
 * @diag has the reason, with -EINVAL. @value is what follows the option; NULL
 * if nothing does.
 */
int op_perf_habit(struct op_diag *diag, const char *program, const char *word,
		  const char *value);

#endif /* LIBOP_OPTIONS_OP_PERF_HABITS_H */
