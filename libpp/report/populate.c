// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a request to the report model: what is done in which order. Each step
 * has a file of its own, populate_*.c, and works on a side (struct pp_side):
 * the sample files of one specification. A comparison has two sides, which go
 * through the same steps until their symbols are known; populate_compare.c
 * then puts the old one into the later one, so that the rest of the report
 * knows one list of symbols.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_near_names.h"
#include "libop/base/op_search.h"
#include "libpp/tree/tree_input.h"

#define NEAR_NAMES 5

/* ---- counts -------------------------------------------------------------- */

/* ---- the summary --------------------------------------------------------- */

static int sort_rows(const struct pp_sort *sort, uint64_t a, uint64_t b,
		     const char *a_name, const char *b_name)
{
	int order = op_compare(b, a);

	return sort->reverse && order ? -order : order ?: strcmp(a_name, b_name);
}

static int by_app_count(const void *a, const void *b, void *arg)
{
	const struct pp_summary_app *x = a, *y = b;

	return sort_rows(arg, x->counts[0], y->counts[0], x->name, y->name);
}

static int by_image_count(const void *a, const void *b, void *arg)
{
	const struct pp_summary_image *x = a, *y = b;

	return sort_rows(arg, x->counts[0], y->counts[0], x->name, y->name);
}

/* The applications above the threshold, in the order to show them. */
static int take_summary(struct pp_population *p)
{
	const struct pp_side *side = &p->side;
	void *order = (void *)&p->request->symbols.sort;
	struct pp_summary_app *apps =
		op_arena_alloc(&p->report->arena, side->nr_apps, sizeof(*apps));
	size_t kept = 0;

	if (!apps)
		return -ENOMEM;
	for (size_t i = 0; i < side->nr_apps; i++)
		if (pp_passes(p, side->apps[i].counts, side->totals))
			apps[kept++] = side->apps[i];
	qsort_r(apps, kept, sizeof(*apps), by_app_count, order);
	for (size_t i = 0; i < kept; i++)
		qsort_r((void *)apps[i].images, apps[i].nr_images,
			sizeof(*apps[i].images), by_image_count, order);
	p->report->summary.apps = apps;
	p->report->summary.nr_apps = kept;
	p->report->totals = side->totals;
	return 0;
}

/* ---- the symbols --------------------------------------------------------- */

/* Whether some class has files of several applications. */
static int has_several_apps(struct pp_population *p, const struct pp_side *side)
{
	const char **apps = op_arena_alloc(&p->report->arena, side->classes.nr,
					   sizeof(*apps));

	if (!apps)
		return -ENOMEM;
	for (size_t i = 0; i < side->list.nr; i++) {
		const struct pp_sample_file *file = &side->list.files[i];
		const char **app = &apps[file->class_nr];

		if (*app && strcmp(*app, file->app))
			return true;
		*app = file->app;
	}
	return false;
}

static int count_apps(struct pp_population *p)
{
	int several = has_several_apps(p, &p->side);

	if (!several && p->request->compare.spec)
		several = has_several_apps(p, &p->old);
	p->report->symbols.many_apps = several > 0;
	return several < 0 ? several : 0;
}

/* Names that no symbol has are most often mistyped. */
static int check_included_symbols(struct pp_population *p, struct op_diag *diag)
{
	const char *const *wanted = p->request->names.include;
	struct pp_side *side = &p->side;
	const char *near;

	for (size_t i = 0; i < side->nr_symbols; i++)
		if (pp_is_wanted(p->request, side->symbols[i].raw_name,
				 side->symbols[i].name))
			return 0;
	near = side->nr_other_names
		       ? op_near_names(&p->report->arena, *wanted,
				       side->other_names, side->nr_other_names,
				       NEAR_NAMES)
		       : NULL;
	return op_diag_set(
		diag, -ENOENT,
		"--include-symbols=%s: no symbol of this name has samples%s%s",
		*wanted, near ? "; there are " : "", near ? near : "");
}

/* By its total only where rows are sorted by that: below the hot ones would be
 * one row for each function on the way to them. */
static bool is_above_threshold(const struct pp_population *p,
			       const struct pp_symbol_entry *entry)
{
	const struct pp_request *request = p->request;
	bool by_total = !request->threshold ||
			request->symbols.sort.keys[0] == PP_SORT_TOTAL;

	return pp_passes(p, entry->counts, p->side.symbol_totals) ||
	       (entry->all_counts && by_total &&
		pp_passes(p, entry->all_counts, p->side.totals));
}

/*
 * The entries above the threshold, in the order to show them. Those of a call
 * graph are copied, because neighbours point at the others, as do stack calls.
 * Those of a comparison were chosen when they were compared.
 */
static int take_symbols(struct pp_population *p)
{
	const struct pp_request *request = p->request;
	const struct pp_side *side = &p->side;
	struct pp_report *report = p->report;
	struct pp_symbol_entry *shown = side->symbols, *entry = shown;
	bool copies = request->calls.wanted || request->totals.stack_calls;
	struct pp_sort sort = request->symbols.sort;
	size_t kept = 0;
	int err;

	if (copies)
		shown = op_arena_alloc(&report->arena, side->nr_symbols,
				       sizeof(*shown));
	if (!shown && side->nr_symbols)
		return -ENOMEM;
	for (size_t i = 0; i < side->nr_symbols; i++, entry++)
		if (request->compare.spec ||
		    (pp_is_wanted(request, entry->raw_name, entry->name) &&
		     is_above_threshold(p, entry)))
			shown[kept++] = *entry;
	sort.nr_counts = request->select.over_time ? side->classes.nr : 1;
	err = pp_sort_symbols(&sort, shown, kept);
	if (err)
		return err;
	for (size_t i = 0; i < kept && !copies; i++)
		shown[i].nr = i;
	report->symbols.made = true;
	report->symbols.by_samples =
		request->symbols.sort.keys[0] == PP_SORT_SAMPLE &&
		!request->symbols.sort.reverse;
	report->symbols.totals = side->symbol_totals;
	report->symbols.list = shown;
	report->symbols.nr = kept;
	report->symbols.known = copies ? side->symbols : shown;
	report->symbols.nr_known = copies ? side->nr_symbols : kept;
	return count_apps(p);
}

/* ---- all of it ----------------------------------------------------------- */

static int populate_side(struct pp_population *p, struct pp_side *side,
			 struct op_diag *diag)
{
	int err = pp_side_find(p, side, diag);

	if (!err)
		err = pp_side_read_trees(p, side);
	/* Finding symbols takes long; a packer need not wait for that. */
	if (!p->request->tree.wanted)
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

/* Each comparison needs both sides; what is of one side alone comes after. */
static int populate(struct pp_population *p, struct op_diag *diag)
{
	const struct pp_request *request = p->request;
	struct pp_report *report = p->report;
	bool is_diff = request->compare.spec;
	int err = populate_side(p, &p->side, diag);

	if (!err && is_diff)
		err = populate_side(p, &p->old, diag)
			      ?: pp_check_columns(p, diag);
	if (err)
		return err;
	report->classes = p->side.classes;
	report->old.classes = p->old.classes;
	report->old.totals = p->old.totals;
	report->debug = p->side.locator.debug;
	report->archive = p->side.archive;
	report->account = p->side.account;
	report->account_written = p->side.account_written;
	report->builds.sums = p->side.sums_of_builds;
	report->builds.nr_sums = p->side.nr_sums_of_builds;
	report->history = p->side.list.sessions.history;
	report->old.history = p->old.list.sessions.history;
	report->old.account = p->old.account;
	report->old.account_written = p->old.account_written;
	report->lines.made = request->lines.wanted;
	report->symbols.has_details =
		request->symbols.details && !request->lines.split;
	report->lines.split = request->lines.split;
	report->intervals = request->intervals;
	report->calls.made = request->calls.wanted;
	report->old.made = is_diff;
	err = check_classes(p, diag) ?: pp_describe(p) ?: take_summary(p);
	if (!err && request->tree.wanted)
		return pp_populate_tree(p, diag);
	if (err || !request->symbols.wanted)
		return err;
	err = pp_side_find_symbols(p, &p->side);
	if (!err && request->names.include && *request->names.include &&
	    !is_diff)
		err = check_included_symbols(p, diag);
	if (!err && is_diff)
		err = pp_side_find_symbols(p, &p->old) ?: pp_compare_sides(p);
	if (!err && request->calls.wanted)
		err = pp_side_find_calls(p, &p->side);
	if (!err && request->totals.wanted)
		err = pp_side_find_totals(p, &p->side, diag);
	if (!err && request->totals.stack_calls && report->stack_totals.made)
		err = pp_stack_calls_take(p, &p->side);
	err = err ?: take_symbols(p);
	return err || !request->lines.split ? err : pp_populate_sources(p);
}

int pp_report_new(struct pp_report **out, const struct pp_request *request,
		  struct op_diag *diag)
{
	struct pp_report *report = calloc(1, sizeof(*report));
	struct pp_population p = { .report = report, .request = request };
	int err;

	*out = report;
	if (!report)
		return op_diag_set(diag, -ENOMEM, "out of memory");
	op_arena_init(&report->arena);
	report->messages.arena = &report->arena;
	p.side.spec = request->select.spec;
	p.old.spec = request->compare.spec;
	err = populate(&p, diag) ?: pp_scale_counts(&p);
	pp_sessions_close(&p.side.list.sessions);
	pp_sessions_close(&p.old.list.sessions);
	pp_symbol_names_release(&p.names);
	pp_stack_calls_release(&p.side.stack_calls);
	if (p.side.trees)
		pp_tree_inputs_release(p.side.trees);
	return err ? op_diag_set(diag, err, "%s", strerror(-err)) : 0;
}

void pp_report_free(struct pp_report *report)
{
	if (!report)
		return;
	op_arena_release(&report->arena);
	free(report);
}
