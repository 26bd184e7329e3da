/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPTIONS_H
#define PP_OPTIONS_H

/*
 * Values of options that several programs take, all as text from popt; NULL
 * is an option that was not given and leaves the outcome as it is. Each
 * returns 0; -EINVAL with the reason in @diag; -ENOMEM.
 */

#include <stdbool.h>
#include <stdio.h>

#include "libop/op_diag.h"
#include "libpp/report.h"

/* A number from 0 to 100. @option is the long name, as in the reason. */
int pp_take_percent(const char *option, const char *text, double *out,
		    struct op_diag *diag);

/* Add the PP_MERGE_ bits of a comma list to *@merge. */
int pp_take_merge(struct pp_arena *arena, const char *text, unsigned int *merge,
		  struct op_diag *diag);

/* Set bits 1 << PP_REMARK_ for pp_print_messages(); all of them if the option
 * @is_given without a list. */
int pp_take_verbose(struct pp_arena *arena, bool is_given, const char *text,
		    unsigned int *verbose, struct op_diag *diag);

int pp_take_demangle(const char *how, enum pp_demangle *demangle,
		     struct op_diag *diag);

/* A comma list as an array in @arena that NULL ends. */
int pp_take_list(struct pp_arena *arena, const char *text,
		 const char *const **out);

/* @words with @between in between and @end behind the last; NULL when memory
 * is short. */
const char *pp_join_words(struct pp_arena *arena, const char *const *words,
			  const char *between, const char *end);

/* Print warnings, and what @verbose asks for. */
void pp_print_messages(FILE *out, const char *program,
		       const struct pp_messages *messages,
		       unsigned int verbose);

#endif /* PP_OPTIONS_H */
