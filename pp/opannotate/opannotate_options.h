/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPANNOTATE_OPANNOTATE_OPTIONS_H
#define PP_OPANNOTATE_OPANNOTATE_OPTIONS_H

/* The command line of opannotate, taken apart and checked. */

#include <popt.h>

#include "libop/base/op_diag.h"
#include "libpp/symbols/op_disasm.h"
#include "libpp/report/report.h"
#include "pp/options.h"

/* The arguments as popt leaves them. */
struct opannotate_args {
	struct pp_common_args common;
	struct pp_source_args sources;
	char *output_dir;
	char *include_file, *exclude_file, *include, *exclude;
	char *objdump_params, *threshold, *merge, *demangle, *color;
	int source, assembly, both, all, exclude_dependent, no_header, no_pager;
};

/* The meaning, for the listings here, of those arguments for objdump that are
 * understood. */
struct opannotate_listing {
	struct op_disasm_options disasm;
	bool with_lines; /* -l: names of functions and lines */
	bool with_bytes; /* --show-raw-insn */
	bool wide; /* -w: all bytes of an instruction in its line */
	bool no_addresses;
};

struct opannotate_options {
	struct opannotate_args args;
	struct op_arena arena;
	struct pp_spec_pair spec;
	struct pp_request request; /* all but the session */
	struct opannotate_listing listing;
	const char *command;
	const char *params; /* of objdump, each with a blank behind it */
	const char *output_dir; /* absolute; NULL for standard output */
	const char *const *include_files; /* these may be NULL */
	const char *const *exclude_files;
	double threshold; /* percent */
	unsigned int verbose; /* bits 1 << PP_REMARK_... */
	bool color;
	size_t width; /* columns of the terminal; 0 where it is none */
	struct pp_names_request inlined; /* of functions that have no symbol:
					    show their code where they are
					    inlined, and nothing else; without
					    includes: all code */
	bool all; /* whole files and symbols, in the layout of the original
		     profiler; else the functions above the threshold */
};

/* Returns popt's context, which holds the words that are no options; ends the
 * program for help and for options that are not known. */
poptContext opannotate_parse(struct opannotate_args *args, int argc,
			     const char **argv);

/*
 * Make the rest of options->args. Returns 0; -EINVAL with the reason in @diag;
 * -ENOMEM. To be released either way.
 */
int opannotate_take_options(struct opannotate_options *options,
			    const char *const *argv, struct op_diag *diag);

/* Take the specification from @words, which stay the caller's. Returns
 * likewise. */
int opannotate_take_words(struct opannotate_options *options,
			  const char *const *words, struct op_diag *diag);
void opannotate_release_options(struct opannotate_options *options);

#endif /* PP_OPANNOTATE_OPANNOTATE_OPTIONS_H */
