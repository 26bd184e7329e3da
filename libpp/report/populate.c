// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a request to the report: which parts are made in which order. Each part
 * has files of its own and works on a side (struct pp_side): the sample files
 * of one specification. A comparison has two sides, which go through the same
 * steps until their symbols are known; populate_compare.c then puts the old
 * side into the later one, so that the parts after it know one list of symbols.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/report/populate_symbols.h"
#include "libpp/tree/tree_input.h"

/* ---- selection ----------------------------------------------------------- */

static int select_samples_of_side(struct pp_population *p, struct pp_side *side,
				  struct op_diag *diag)
{
	const struct pp_request *request = p->request;
	int err = pp_side_find(p, side, diag);

	if (!err && side->list.nr_trees && request->symbols.wanted &&
	    (request->totals.wanted || request->calls.wanted ||
	     request->names.fold_interpreters))
		err = pp_side_read_trees(p, side);
	/* Finding symbols takes long; a packer need not wait for that. */
	if (!request->tree.wanted)
		pp_sessions_close(&side->list.sessions);
	return err ?: pp_side_summarize(p, side) ?: pp_side_account(p, side);
}

static int check_classes(const struct pp_population *p, struct op_diag *diag)
{
	const struct pp_class *classes = p->side.classes.classes;
	size_t nr = p->side.classes.nr;

	if (!p->request->select.one_class || nr == 1)
		return 0;
	return op_diag_set(
		diag, -EINVAL,
		"%s one count, but there are %zu (%s, %s ...); choose with event:%s or the like%s",
		p->request->tree.wanted ? "a folded stack has"
					: "lines of this format have",
		nr, classes[0].name, classes[1].name, classes[0].event,
		p->request->tree.wanted ? ", or use --format=flamegraph" : "");
}

/* The samples of both sides: what every report is about. */
static int select_samples(struct pp_population *p, struct op_diag *diag)
{
	struct pp_report *report = p->report;
	struct pp_side *side = &p->side, *old = &p->old;
	int err = select_samples_of_side(p, side, diag);

	if (!err && old->spec)
		err = select_samples_of_side(p, old, diag)
			      ?: pp_check_columns(p, diag);
	if (err)
		return err;
	report->classes = side->classes;
	report->debug = side->locator.debug;
	report->archive = side->archive;
	report->account = side->account;
	report->account_written = side->account_written;
	report->builds.sums = side->sums_of_builds;
	report->builds.nr_sums = side->nr_sums_of_builds;
	report->history = side->list.sessions.history;
	report->intervals = p->request->intervals;
	if (old->spec)
		report->old = (struct pp_old_profile){
			.made = true,
			.classes = old->classes,
			.totals = old->totals,
			.account = old->account,
			.account_written = old->account_written,
			.history = old->list.sessions.history,
		};
	if (old->spec)
		err = pp_find_measures(p);
	return err ?: check_classes(p, diag) ?: pp_describe(p) ?: pp_populate_summary(p);
}

/* ---- symbols, and what is of them ---------------------------------------- */

static bool has_trees(const struct pp_side *side)
{
	return side->trees && side->trees->nr;
}

static int find_symbols_of_side(struct pp_population *p, struct pp_side *side)
{
	const struct pp_request *request = p->request;

	if (has_trees(side)) {
		pp_side_add_user(side, &pp_tree_user);
		if (request->totals.wanted)
			pp_side_add_user(side, &pp_totals_user);
		if (request->lines.totals)
			pp_side_add_user(side, &pp_lines_user);
	}
	if (request->calls.wanted)
		pp_side_add_user(side, &pp_calls_user);
	side->stack_calls.nr_classes = side->classes.nr;
	return pp_side_find_symbols(p, side);
}

/* Lines are compared as symbols are, but totals are of whole symbols first. */
static int compare_symbols(struct pp_population *p)
{
	int err = find_symbols_of_side(p, &p->old);

	if (!err && p->request->lines.split)
		err = pp_side_split_lines(p, &p->side)
			      ?: pp_side_split_lines(p, &p->old);
	return err ?: pp_compare_sides(p);
}

static int populate_symbols(struct pp_population *p, struct op_diag *diag)
{
	const struct pp_request *request = p->request;
	struct pp_report *report = p->report;
	int err = find_symbols_of_side(p, &p->side);

	report->symbols.has_details =
		request->symbols.details && !request->lines.split;
	report->lines.made = request->lines.wanted;
	report->lines.split = request->lines.split;
	if (!err && p->old.spec)
		err = compare_symbols(p);
	else if (!err)
		err = pp_check_included_symbols(p, diag);
	if (!err && request->calls.wanted)
		err = pp_side_find_calls(p, &p->side);
	if (!err && request->totals.wanted && has_trees(&p->side))
		err = pp_side_find_totals(p, &p->side);
	else if (!err && request->totals.wanted &&
		 request->symbols.sort.wants_total)
		err = op_diag_set(
			diag, -ENOENT,
			"--sort=total: the samples have no stacks, so there are no totals; profile with --callgraph");
	if (!err && request->totals.stack_calls && report->stack_totals.made)
		err = pp_stack_calls_take(p, &p->side);
	if (!err && request->lines.split && !p->old.spec)
		err = pp_side_split_lines(p, &p->side);
	err = err ?: pp_populate_waits(p) ?: pp_populate_table(p);
	return err || !request->lines.split ? err : pp_populate_sources(p);
}

/* ---- all of it ----------------------------------------------------------- */

static void release_side(struct pp_side *side)
{
	pp_sessions_close(&side->list.sessions);
	if (!side->trees)
		return;
	pp_stack_calls_release(&side->stack_calls);
	pp_tree_inputs_release(side->trees);
}

int pp_report_new(struct pp_report **out, const struct pp_request *request,
		  struct op_diag *diag)
{
	struct pp_report *report = calloc(1, sizeof(*report));
	struct pp_population p = { .report = report, .request = request };
	int err;

	*out = report;
	if (!report)
		return op_out_of_memory(diag);
	op_arena_init(&report->arena);
	report->messages.arena = &report->arena;
	p.side.spec = request->select.spec;
	p.old.spec = request->compare.spec;
	err = select_samples(&p, diag);
	if (!err && request->tree.wanted)
		err = pp_populate_tree(&p, diag);
	else if (!err && request->symbols.wanted)
		err = populate_symbols(&p, diag);
	if (!err && pp_seeks_waits_only(request))
		err = pp_populate_waits(&p);
	err = err ?: pp_scale_counts(&p);
	if (!err && request->select.threads)
		err = pp_populate_threads(&p, diag);
	release_side(&p.side);
	release_side(&p.old);
	pp_symbol_names_release(&p.names);
	return err ? op_diag_set(diag, err, "%s", strerror(-err)) : 0;
}

void pp_report_free(struct pp_report *report)
{
	if (!report)
		return;
	op_arena_release(&report->arena);
	free(report);
}
