/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPGPROF_OPGPROF_OPTIONS_H
#define PP_OPGPROF_OPGPROF_OPTIONS_H

/* The command line of opgprof, taken apart and checked. */

#include <popt.h>

#include "libop/base/op_diag.h"
#include "libpp/report/report.h"
#include "pp/options.h"

/* Option values as popt leaves them. */
struct opgprof_args {
	struct pp_common_args common;
	char *output, *threshold;
};

struct opgprof_options {
	struct opgprof_args args;
	struct op_arena arena;
	struct pp_spec spec;
	struct pp_request request; /* all but the session */
	unsigned int verbose; /* bits 1 << PP_REMARK_... */
};

/* Returns popt's context, which holds the words that are no options; ends the
 * program for help and for options that are not known. */
poptContext opgprof_parse(struct opgprof_args *args, int argc,
			  const char **argv);

/*
 * Make the rest of *@options of options->args. Returns 0; -EINVAL with the
 * reason in @diag; -ENOMEM. To be released either way.
 */
int opgprof_take_options(struct opgprof_options *options, struct op_diag *diag);

/* Take the specification from @words, which stay the caller's. Returns
 * likewise. */
int opgprof_take_words(struct opgprof_options *options,
		       const char *const *words, struct op_diag *diag);
void opgprof_release_options(struct opgprof_options *options);

#endif /* PP_OPGPROF_OPGPROF_OPTIONS_H */
