/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_REPORT_POPULATION_H
#define LIBPP_REPORT_POPULATION_H

/*
 * A report in the making, for the files of its parts, and for archive_list.c
 * and symbol_store.c, which select samples as a report does. A report is about
 * one side, or about two that are compared: the later one first.
 *
 * Everything belongs to the report's arena.
 */

#include "libpp/images/image_symbols.h"
#include "libpp/images/locate_images.h"
#include "libpp/report/report.h"
#include "libpp/select/sample_list.h"
#include "libpp/tree/stack_calls.h"
#include "libpp/images/symbol_names.h"

#define PP_NO_SYMBOL UINT32_MAX /* where a number of a symbol is expected */
#define PP_MAX_SYMBOL_USERS 4

struct pp_symbol_user; /* libpp/report/populate_symbols.h */

/* Calls from one symbol to another in one column, by their numbers. */
struct pp_symbol_call {
	uint32_t caller, callee;
	uint64_t count;
	unsigned int class_nr;
};

/* Samples in one column that are in @function of the table and in @inlined,
 * which was inlined there. */
struct pp_inlined_share {
	uint32_t function, inlined;
	uint64_t count;
	unsigned int class_nr;
};

/* The functions that a frame of a call tree is in: last the function of the
 * table, and before it those that were inlined there. */
struct pp_frame_symbols {
	uint32_t *symbols; /* their numbers; each may be PP_NO_SYMBOL */
	uint32_t nr;
	struct pp_place *places; /* in each, where it calls the one before, or
				    the next frame; for stack calls; or NULL */
	uint64_t vma; /* of these; likewise, and for addresses of calls */
	bool is_function; /* known as a function alone, as is the end of a stack
			     in a call tree */
};

/* Samples in one column at one place. */
struct pp_flat_place {
	uint32_t frame; /* number of the pp_frame_symbols */
	unsigned int class_nr;
	uint64_t count;
};

/* The sample files of one specification and all that is found from them. */
struct pp_side {
	/* Selection. */
	const struct pp_spec *spec;
	const struct op_session
		*session; /* an archive's own, if one is named */
	const struct pp_archive *archive; /* or NULL */
	struct pp_locator locator;
	struct pp_sample_list list; /* after pp_side_find() by image, build,
				       application and path */
	struct pp_classes classes;
	struct pp_sum_of_builds *sums_of_builds;
	size_t nr_sums_of_builds;
	const uint64_t *totals; /* one per class, as all counts below */
	const struct pp_summary_app *apps; /* all, in no order */
	size_t nr_apps;
	const struct op_ledger *account;
	uint64_t account_written; /* seconds, see pp_report */

	/* Symbols, and the parts that need to know the symbols of code. */
	unsigned int wants; /* PP_WANT_ of the symbols of images */
	struct pp_symbol_entry *symbols; /* all that are wanted, in no order; of
					    call graphs all that there are */
	size_t nr_symbols;
	const uint64_t *symbol_totals;
	const char **other_names; /* of symbols that are not wanted */
	size_t nr_other_names;
	const struct pp_symbol_user *users[PP_MAX_SYMBOL_USERS];
	size_t nr_users;

	/* Call trees for totals and calls, and the symbols of their frames. */
	struct pp_tree_inputs *trees; /* NULL: none were read */
	struct pp_frame_symbols *frame_symbols;
	uint32_t nr_frame_symbols;

	/* Totals. Counts are nr_classes for each of @symbols: samples in the
	 * symbol that has them in the table of its image, and samples in places
	 * where the symbol was inlined; then the latter by these places. */
	uint64_t *in_table, *where_inlined;
	struct pp_inlined_share *inlined_shares;
	size_t nr_inlined_shares;
	struct pp_stack_calls stack_calls; /* if they are wanted */

	/* Totals of lines. */
	struct pp_flat_place *flat_places;
	size_t nr_flat_places;

	/* Call graphs: calls to functions that were inlined. */
	struct pp_symbol_call *inlined_calls;
	size_t nr_inlined_calls;
};

struct pp_population {
	struct pp_report *report;
	const struct pp_request *request;
	struct pp_side side;
	struct pp_side old; /* if request->compare.spec */
	struct pp_symbol_names names; /* of both */
};

/* Each returns 0 or -errno, with a reason in @diag unless it is -ENOMEM. */

/*
 * Find and read the sample files, arrange their classes, tell their images.
 * The sessions of the list stay open, for call trees to be read, and are to be
 * closed in any case.
 */
int pp_side_find(struct pp_population *p, struct pp_side *side,
		 struct op_diag *diag);

/* Add @nr more files, which have images, to @side's list; the files move.
 * Returns 0 or -ENOMEM. */
int pp_side_add_files(struct pp_side *side, const struct pp_sample_file *files,
		      size_t nr);

/* An image called @name, of @build, as a sample file with @header has it. */
struct pp_image *pp_image_new(struct op_arena *arena, const char *name,
			      const struct op_image_name *recorded,
			      const char *build,
			      const struct op_sample_header *header);

/* Give each call-graph file the image of its callees. */
int pp_side_find_callees(struct pp_population *p, struct pp_side *side);

/* Find images of several builds: note that these will be added up or, where
 * they are kept apart, put the build into their names. */
int pp_side_tell_builds(struct pp_population *p, struct pp_side *side);

/* Add up the symbols of those that were noted. Returns 0 or -ENOMEM. */
int pp_side_add_up_builds(struct pp_side *side);

/* Fill @side's totals and applications. */
int pp_side_summarize(struct pp_population *p, struct pp_side *side);

/* Fill the summary of the report: the applications above the threshold, in the
 * order to show them. Returns 0 or -ENOMEM. */
int pp_populate_summary(struct pp_population *p);

/* Check that a symbol has a name that is asked for: names that no symbol has
 * are most often mistyped. Returns 0, or -ENOENT with the reason. */
int pp_check_included_symbols(struct pp_population *p, struct op_diag *diag);

/* Whether @request asks for no symbols: those that tell waits are then looked
 * for without the others. */
static inline bool pp_seeks_waits_only(const struct pp_request *request)
{
	return request->select.threads || request->tree.wanted;
}

/* Add up what threads waited for, and mark where they did: before the table is
 * made of the symbols, and when the tree is made. Returns 0 or -ENOMEM. */
int pp_populate_waits(struct pp_population *p);

/* Find how long each thread ran and waited. Its symbols tell waits alone. */
int pp_populate_threads(struct pp_population *p, struct op_diag *diag);

/* Fill the report's table of symbols. Returns 0 or -ENOMEM. */
int pp_populate_table(struct pp_population *p);

/* Make each source line of @side's symbols, which have details, a symbol of its
 * own. Returns 0 or -ENOMEM. */
int pp_side_split_lines(struct pp_population *p, struct pp_side *side);

/* Fill the texts of the report's symbols, which are lines. Returns likewise. */
int pp_populate_sources(struct pp_population *p);

/* Fill @side's symbols and their totals. */
int pp_side_find_symbols(struct pp_population *p, struct pp_side *side);

/* Read @side's call trees, if it has any, for pp_side_find_symbols(), totals
 * and calls; its classes and images are known. */
int pp_side_read_trees(struct pp_population *p, struct pp_side *side);

/* Fill all_counts of @side's symbols from its call trees. Returns 0 or
 * -ENOMEM. */
int pp_side_find_totals(struct pp_population *p, struct pp_side *side);

/* Give a kernel module the name that it has in the image path. */
int pp_side_name_module(struct pp_side *side, const struct op_image_name *name,
			const char **shown);

/* Put together the call trees of both sides in the report. */
int pp_populate_tree(struct pp_population *p, struct op_diag *diag);

/* Make the calls of @side's symbols from its call trees and arcs. */
int pp_side_find_calls(struct pp_population *p, struct pp_side *side);

/* By application, image and name: 0 for what may be the same symbol. */
int pp_compare_entry_names(const struct pp_symbol_entry *a,
			   const struct pp_symbol_entry *b);

/* Compare the symbols of the two sides; the outcome is in p->side. */
int pp_compare_sides(struct pp_population *p);

/* Find what samples stand for where both sides say the same of it, and how much
 * more of it all samples are. Returns 0 or -ENOMEM. */
int pp_find_measures(struct pp_population *p);

/* Whether both sides have columns that mean the same. */
int pp_check_columns(const struct pp_population *p, struct op_diag *diag);

/* Read the accounts of the sessions that @side's files are from. */
int pp_side_account(struct pp_population *p, struct pp_side *side);

/* Add how long the events of @side's classes had a counter in the session
 * called @session, whose account this is. */
void pp_side_add_times(struct pp_side *side, const struct pp_session *session,
		       const struct op_ledger *account);

/* The last step: multiply the report's counts where events had a counter for a
 * part of the time. Returns 0 or -ENOMEM. */
int pp_scale_counts(struct pp_population *p);

/* The time that an event was to be counted through the time that it had a
 * counter, both in ns; 1 where they hardly differ. */
double pp_scale_of_times(uint64_t enabled, uint64_t running);

/* Find the files of applications that were run by a link. */
int pp_side_find_app_files(struct pp_population *p, struct pp_side *side);

/* Give the classes of @side the names of their processes, threads and cgroups,
 * as far as the sessions know them. */
int pp_side_name_tasks(struct pp_population *p, struct pp_side *side);

/* Likewise the roots of a call tree. */
int pp_side_name_roots(struct pp_population *p, struct pp_side *side,
		       struct pp_tree *tree);

/* Say in the report what CPU and events the sample files name. */
int pp_describe(struct pp_population *p);

/* The axes that make no classes for @request: PP_MERGE_ bits. */
unsigned int pp_class_merge(const struct pp_request *request);

/* ---- counts -------------------------------------------------------------- */

/* Zeroed counts, one per class; NULL when memory is short. */
uint64_t *pp_new_counts(struct pp_population *p, const struct pp_side *side);

/* Whether some column is at least the asked percentage of its total. */
bool pp_passes(const struct pp_population *p, const uint64_t *counts,
	       const uint64_t *totals);

#endif /* LIBPP_REPORT_POPULATION_H */
