/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPREPORT_OPREPORT_OPTIONS_H
#define PP_OPREPORT_OPREPORT_OPTIONS_H

/* The command line of opreport, taken apart and checked. */

#include <popt.h>

#include "libop/base/op_diag.h"
#include "libpp/format/format.h"
#include "libpp/report/report.h"
#include "pp/opreport/opreport_gate.h"
#include "pp/options.h"

/* The arguments as popt leaves them. */
struct opreport_args {
	struct pp_common_args common;
	char *output, *html, *threshold, *sort, *merge, *layout, *demangle;
	char *include, *exclude, *max_loss, *gate, *format, *tree, *threads;
	struct pp_source_args sources;
	const char *xml; /* what is behind --xml=; NULL for nothing */
	int symbols, call_graph, details, reverse, exclude_dependent, lines;
	int by_build, hide_self, wide, by_line, no_pager, open;
	int no_header, long_names, show_address, accumulated, global_percent;
	char *by_label;
	int intervals, by_session, over_time, no_inlines, native;
	int check, repair;
	int aliases; /* of --format: bits, in the order of their options */
};

struct opreport_options {
	struct opreport_args args;
	struct op_arena arena;
	struct pp_spec_pair spec;
	struct pp_request request; /* all but the session */
	struct pp_format_options format_options;
	const struct pp_format *format;
	unsigned int verbose; /* bits 1 << PP_REMARK_... */
	double max_loss; /* percent; negative: any */
	struct opreport_gate gate;
	bool sort_ignored; /* --sort was given to no purpose */
};

/* Returns popt's context, which holds the words that are no options; ends the
 * program for help and for options that are not known. */
poptContext opreport_parse(struct opreport_args *args, int argc,
			   const char **argv);

/*
 * Make options->request and so on of options->args; @words are for XML to
 * repeat. Returns 0; -EINVAL with the reason in @diag; -ENOMEM. To be released
 * either way.
 */
int opreport_take_options(struct opreport_options *options,
			  const char *const *words, const char *const *argv,
			  struct op_diag *diag);

/* Take the specification from @words, which stay the caller's. Returns
 * likewise. */
int opreport_take_words(struct opreport_options *options,
			const char *const *words, struct op_diag *diag);
void opreport_release_options(struct opreport_options *options);

#endif /* PP_OPREPORT_OPREPORT_OPTIONS_H */
