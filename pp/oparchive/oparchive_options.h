/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPARCHIVE_OPARCHIVE_OPTIONS_H
#define PP_OPARCHIVE_OPARCHIVE_OPTIONS_H

/* The command line of oparchive, taken apart and checked. */

#include <popt.h>

#include "libop/base/op_diag.h"
#include "libpp/archive/archive_list.h"
#include "libpp/select/profile_spec.h"
#include "pp/options.h"

/* Option values as popt leaves them. */
struct oparchive_args {
	struct pp_common_args common;
	char *output;
	char **labels; /* ended by NULL; or NULL */
	int exclude_dependent, list_files, symbols_only, samples_only, sources,
		force;
};

struct oparchive_options {
	struct oparchive_args args;
	struct pp_spec spec;
	struct op_labels labels;
	struct pp_archive_request request; /* all but the session */
	unsigned int verbose; /* bits 1 << PP_REMARK_... */
};

/* Returns popt's context, which holds the words that are no options; ends the
 * program for help and for options that are not known. */
poptContext oparchive_parse(struct oparchive_args *args, int argc,
			    const char **argv);

/*
 * Make options->request and so on of options->args. Returns 0; -EINVAL with
 * the reason in @diag; -ENOMEM. What is not released by pp_spec_release() of
 * options->spec and op_labels_release() of options->labels belongs to popt.
 */
int oparchive_take_options(struct oparchive_options *options,
			   struct op_diag *diag);

/* Take the specification from @words, which stay the caller's, before the
 * above. Returns likewise. */
int oparchive_take_words(struct oparchive_options *options,
			 const char *const *words, struct op_diag *diag);

#endif /* PP_OPARCHIVE_OPARCHIVE_OPTIONS_H */
