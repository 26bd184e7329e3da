/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPMERGE_OPMERGE_OPTIONS_H
#define PP_OPMERGE_OPMERGE_OPTIONS_H

/* The command line of opmerge, taken apart and checked. */

#include <popt.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_diag.h"
#include "libpp/merge/merge.h"
#include "pp/options.h"

/* Option values as popt leaves them. */
struct opmerge_args {
	struct pp_common_args
		common; /* but those about sessions and binaries */
	char *output, *list, *keep, *drop, *threads, *memory;
	int force;
};

struct opmerge_options {
	struct opmerge_args args;
	struct op_arena arena; /* the caller's to begin and to release */
	struct pp_merge_request request; /* all but the progress */
	unsigned int verbose; /* bits 1 << PP_REMARK_... */
};

/* Returns popt's context, which holds the words that are no options; ends the
 * program for help and for options that are not known. */
poptContext opmerge_parse(struct opmerge_args *args, int argc,
			  const char **argv);

/* Make options->request and so on of options->args and of @words, the archives.
 * Returns 0; -EINVAL or another -errno with the reason in @diag; -ENOMEM. */
int opmerge_take_options(struct opmerge_options *options,
			 const char *const *words, struct op_diag *diag);

#endif /* PP_OPMERGE_OPMERGE_OPTIONS_H */
