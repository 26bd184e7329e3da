// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of symbols: of all symbols that were found, those that are wanted
 * by their names and above the threshold, in the order to show them.
 */

#include <errno.h>
#include <string.h>

#include "libop/base/op_near_names.h"
#include "libpp/images/symbol_match.h"
#include "libpp/report/population.h"
#include "libpp/symbols/demangle.h"

#define NEAR_NAMES 5

int pp_check_included_symbols(struct pp_population *p, struct op_diag *diag)
{
	const char *const *wanted = p->request->names.include;
	struct pp_side *side = &p->side;
	const char *near;

	if (!wanted || !*wanted)
		return 0;
	for (size_t i = 0; i < side->nr_symbols; i++)
		if (pp_is_wanted(&p->request->names, side->symbols[i].raw_name,
				 side->symbols[i].name))
			return 0;
	/* Brief names, as whole ones would fill the screen. */
	for (size_t i = 0; i < side->nr_other_names; i++)
		side->other_names[i] =
			pp_demangle(&p->report->arena, side->other_names[i],
				    PP_DEMANGLE_BRIEF);
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

/* Whether columns are parts of one whole, by the sum of which rows are sorted:
 * the first of them may be the thread that does least. */
static bool columns_are_tasks(const struct pp_population *p)
{
	const struct pp_classes *classes = &p->side.classes;

	return p->request->select.layout == PP_LAYOUT_AUTO &&
	       !classes->in_rows && classes->axis != PP_AXIS_EVENT &&
	       (classes->differing[PP_AXIS_TGID] ||
		classes->differing[PP_AXIS_TID] ||
		classes->differing[PP_AXIS_CGROUP]);
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
int pp_populate_table(struct pp_population *p)
{
	const struct pp_request *request = p->request;
	const struct pp_side *side = &p->side;
	struct pp_report *report = p->report;
	struct pp_symbol_entry *shown = side->symbols, *entry = shown;
	bool copies = request->calls.wanted || request->totals.stack_calls;
	struct pp_sort sort = request->symbols.sort;
	size_t kept = 0;
	int err, several;

	if (copies)
		shown = op_arena_alloc(&report->arena, side->nr_symbols,
				       sizeof(*shown));
	if (!shown && side->nr_symbols)
		return -ENOMEM;
	for (size_t i = 0; i < side->nr_symbols; i++, entry++)
		if (request->compare.spec ||
		    (pp_is_wanted(&request->names, entry->raw_name,
				  entry->name) &&
		     is_above_threshold(p, entry)))
			shown[kept++] = *entry;
	sort.by_difference = report->old.made && sort.is_default &&
			     report->old.measures[0].per_sample > 0;
	sort.nr_counts = request->select.over_time || columns_are_tasks(p)
				 ? side->classes.nr
				 : 1;
	err = pp_sort_symbols(&sort, shown, kept);
	if (err)
		return err;
	for (size_t i = 0; i < kept && !copies; i++)
		shown[i].nr = i;
	report->symbols.made = true;
	report->symbols.by_samples =
		!sort.by_difference &&
		request->symbols.sort.keys[0] == PP_SORT_SAMPLE &&
		!request->symbols.sort.reverse;
	report->symbols.totals = side->symbol_totals;
	report->symbols.list = shown;
	report->symbols.nr = kept;
	report->symbols.known = copies ? side->symbols : shown;
	report->symbols.nr_known = copies ? side->nr_symbols : kept;
	several = has_several_apps(p, side);
	if (!several && request->compare.spec)
		several = has_several_apps(p, &p->old);
	report->symbols.many_apps = several > 0;
	return several < 0 ? several : 0;
}
