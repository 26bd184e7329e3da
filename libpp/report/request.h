/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_REPORT_REQUEST_H
#define LIBPP_REPORT_REQUEST_H

/*
 * The request for a report, in parts. Every report has the part that selects
 * samples. A program composes the rest: it wants symbols, and with them source
 * lines, calls and totals, or it wants the call tree. Each part is made by code
 * that reads its own request, those of selection, images and names, and no
 * other. All zeros asks for the summary of images alone.
 *
 * Pointers are the caller's and must outlive the making of the report.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpp/report/sort.h"
#include "libpp/select/arrange_profiles.h"
#include "libpp/symbols/demangle.h"

struct op_session; /* libop/session/op_session.h */
struct pp_debuginfod; /* libpp/symbols/debuginfod.h */
struct pp_kept_symbols; /* libpp/images/kept_symbols.h */
struct pp_spec; /* libpp/select/profile_spec.h */

/* Samples that the report is about, and the columns that these make. */
struct pp_select_request {
	const struct op_session *session;
	const struct pp_spec *spec;
	bool exclude_dependent; /* leave out images that are not their
				   application */
	bool hide_own; /* leave out the profiler's own processes */
	const char *only_image; /* leave out samples in images with another name
				   than this; or NULL */
	unsigned int merge; /* PP_MERGE_ bits */
	const char *by_label; /* unless sessions are merged: a column for each
				 value of it; NULL: for each session */
	bool any_axes; /* classes may differ in several ways */
	bool one_class; /* several are an error */
	enum pp_layout layout; /* tasks may be in rows */
	size_t max_columns; /* of tasks, before these are rows; 0: as many as
			       without a terminal */
	bool over_time; /* columns are times: of spans of the history... */
	size_t time_columns; /* ...or no more than so many; 0: any number */
	bool threads; /* how long each ran and waited is wanted, too */
	bool pools; /* of these, those of a pool are one */
	bool by_build; /* builds of one path are images of their own */
	bool one_build; /* the build with most samples of each path alone */
	bool as_taken; /* scale no counts: readings of one session can then be
			  subtracted from each other */
};

/* Files that have the symbols of images. */
struct pp_images_request {
	const char *root; /* see pp_locator_init() */
	const char *const *path; /* likewise */
	struct pp_debuginfod *debuginfod; /* asked for debug files that are not
					     here; it must outlive the report;
					     or NULL */
	struct pp_kept_symbols *kept_symbols; /* from earlier reports, for later
						 ones; or NULL */
};

/* Functions: how they are called, and which of them count. */
struct pp_names_request {
	enum pp_demangle demangle;
	bool inlines; /* functions that were inlined are symbols of their own */
	bool fold_interpreters; /* an interpreter's own frames, below functions
				   of its language, are part of what called
				   them */
	const char *const *include; /* ended by NULL; or NULL */
	const char *const *exclude; /* likewise */
};

/* The table of symbols. */
struct pp_symbols_request {
	bool wanted;
	bool details; /* the addresses in each symbol; builds are then images of
			 their own */
	bool code; /* the bytes of each symbol */
	struct pp_sort sort;
};

/* Folders where source files are looked for first; each list ends with NULL, or
 * is NULL. */
struct pp_source_dirs {
	const char *const *search;
	const char *const *bases; /* dropped from names before the search */
};

/* Source files and lines of symbols and of their addresses. */
struct pp_lines_request {
	bool wanted;
	bool declarations; /* a symbol's line is that where its function is
			      declared, not that of its first address */
	bool call_sites; /* with details and inlines: where each address was
			    inlined */
	bool frames; /* with details: the functions that the code at each
			address was written in */
	bool split; /* with details: a symbol for each source line of each
		       symbol, and no details */
	bool totals; /* with details and totals: samples that have a line or an
			address on their stacks */
	struct pp_source_dirs source_dirs; /* for the text of lines */
};

/* The call graph: the callers and the callees of each symbol. */
struct pp_calls_request {
	bool wanted;
	bool addresses; /* calls by address, too; and a report without any call
			   is no error */
};

/* Samples in symbols and in all that they called; only where there are call
 * trees. */
struct pp_totals_request {
	bool wanted;
	bool stack_calls; /* the calls that these samples are of */
};

/* The call tree. */
struct pp_tree_request {
	bool wanted;
	bool callers; /* from the samples outwards */
	bool by_name; /* functions of one name are one frame */
	bool all; /* samples without a stack, too: as stacks of their function
		     alone; and no others than symbols would have */
	bool origins; /* roots keep cgroups apart and have names of tasks,
			 functions have source files */
	uint32_t max_nodes; /* small ones are left out; 0: any number */
};

/* The comparison of symbols, or of call trees, with those of an old profile. */
struct pp_compare_request {
	const struct pp_spec *spec; /* of the old profile; NULL: no comparison
				     */
};

struct pp_request {
	bool intervals; /* of shares, and in a comparison of changes */
	double threshold; /* percent; rows with less are left out */
	struct pp_select_request select;
	struct pp_images_request images;
	struct pp_names_request names;
	struct pp_symbols_request symbols;
	struct pp_lines_request lines;
	struct pp_calls_request calls;
	struct pp_totals_request totals;
	struct pp_tree_request tree;
	struct pp_compare_request compare;
};

#endif /* LIBPP_REPORT_REQUEST_H */
