// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a request to the report model: what is done in which order. Each step
 * has a file of its own.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/population.h"

/* ---- counts -------------------------------------------------------------- */

uint64_t *pp_new_counts(struct pp_population *p, const struct pp_side *side)
{
	return op_arena_alloc(&p->report->arena, side->classes.nr,
			      sizeof(uint64_t));
}

void pp_add_all_counts(uint64_t *to, const uint64_t *from, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		to[i] = pp_add_counts(to[i], from[i]);
}

bool pp_passes(const struct pp_population *p, const uint64_t *counts,
	       const uint64_t *totals)
{
	if (p->request->call_graph && !p->request->threshold)
		return true;
	for (size_t i = 0; i < p->side.classes.nr; i++)
		if (counts[i] &&
		    100.0 * (double)counts[i] >=
			    p->request->threshold * (double)totals[i])
			return true;
	return false;
}

const uint64_t *pp_shown_counts(const struct pp_symbol_entry *entry)
{
	return entry->presence == PP_GONE ? entry->old_counts : entry->counts;
}

/* ---- the summary --------------------------------------------------------- */

static int sort_rows(const struct pp_sort *sort, uint64_t a, uint64_t b,
		     const char *a_name, const char *b_name)
{
	int order = (a < b) - (a > b);

	if (!order)
		return strcmp(a_name, b_name);
	return sort->reverse ? -order : order;
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
	void *order = (void *)&p->request->sort;
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
	p->report->apps = apps;
	p->report->nr_apps = kept;
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

	if (!several && p->request->old_spec)
		several = has_several_apps(p, &p->old);
	p->report->many_apps = several > 0;
	return several < 0 ? several : 0;
}

static bool is_shown(const struct pp_population *p,
		     const struct pp_symbol_entry *entry)
{
	if (p->request->old_spec)
		return true;
	return pp_is_wanted(p->request, entry->raw_name, entry->name) &&
	       pp_passes(p, entry->counts, p->side.symbol_totals);
}

/* Where to keep the entries that are shown: those of a call graph stay where
 * they are, too, as neighbours of others. */
static struct pp_symbol_entry *place_for_shown(struct pp_population *p)
{
	struct pp_side *side = &p->side;

	if (!p->request->call_graph)
		return side->symbols;
	p->report->known = side->symbols;
	p->report->nr_known = side->nr_symbols;
	return op_arena_alloc(&p->report->arena, side->nr_symbols,
			      sizeof(*side->symbols));
}

/* The entries above the threshold, in the order to show them. */
static int take_symbols(struct pp_population *p)
{
	const struct pp_side *side = &p->side;
	struct pp_report *report = p->report;
	struct pp_symbol_entry *shown = place_for_shown(p);
	size_t kept = 0;

	if (!shown && side->nr_symbols)
		return -ENOMEM;
	for (size_t i = 0; i < side->nr_symbols; i++)
		if (is_shown(p, &side->symbols[i]))
			shown[kept++] = side->symbols[i];
	pp_sort_symbols(&p->request->sort, shown, kept);
	report->has_symbols = true;
	report->symbol_totals = side->symbol_totals;
	report->symbols = shown;
	report->nr_symbols = kept;
	if (report->known)
		return count_apps(p);
	for (size_t i = 0; i < kept; i++)
		shown[i].nr = i;
	report->known = shown;
	report->nr_known = kept;
	return count_apps(p);
}

/* ---- all of it ----------------------------------------------------------- */

static int populate_side(struct pp_population *p, struct pp_side *side,
			 struct op_diag *diag)
{
	int err = pp_side_find(p, side, diag);

	/* Symbols take their time: who packs need not wait for them. */
	if (!p->request->tree)
		pp_sessions_close(&side->list.sessions);
	if (!err)
		err = pp_side_summarize(p, side);
	if (!err)
		err = pp_side_account(p, side);
	return err;
}

static int populate(struct pp_population *p, struct op_diag *diag)
{
	const struct pp_request *request = p->request;
	int err = populate_side(p, &p->side, diag);

	if (!err && request->old_spec)
		err = populate_side(p, &p->old, diag);
	if (!err && request->old_spec)
		err = pp_check_columns(p, diag);
	if (err)
		return err;
	p->report->classes = p->side.classes;
	p->report->old_totals = p->old.totals;
	memcpy(p->report->debug_dirs, p->side.locator.debug_dirs,
	       sizeof(p->report->debug_dirs));
	p->report->archive = p->side.archive;
	p->report->account = p->side.account;
	p->report->old_account = p->old.account;
	p->report->has_lines = request->lines;
	p->report->has_details = request->details;
	p->report->has_intervals = request->intervals;
	p->report->has_calls = request->call_graph;
	p->report->is_diff = request->old_spec != NULL;
	err = pp_describe(p);
	if (!err)
		err = take_summary(p);
	if (!err && request->tree)
		return pp_populate_tree(p, diag);
	if (err || !request->symbols)
		return err;
	err = pp_side_find_symbols(p, &p->side);
	if (!err && request->old_spec)
		err = pp_side_find_symbols(p, &p->old);
	if (!err && request->old_spec)
		err = pp_compare_sides(p);
	if (!err && request->call_graph)
		err = pp_side_find_calls(p, &p->side);
	return err ? err : take_symbols(p);
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
	p.side.spec = request->spec;
	p.old.spec = request->old_spec;
	err = populate(&p, diag);
	pp_sessions_close(&p.side.list.sessions);
	pp_sessions_close(&p.old.list.sessions);
	return err ? op_diag_set(diag, err, "%s", strerror(-err)) : 0;
}

void pp_report_free(struct pp_report *report)
{
	if (!report)
		return;
	op_arena_release(&report->arena);
	free(report);
}
