// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts of a report: new ones, those to show, and which are large enough. */

#include "libpp/report/population.h"

uint64_t *pp_new_counts(struct pp_population *p, const struct pp_side *side)
{
	return op_arena_alloc(&p->report->arena, side->classes.nr,
			      sizeof(uint64_t));
}

/* Columns of times are parts of one. */
static bool passes_over_time(const struct pp_population *p,
			     const uint64_t *counts, const uint64_t *totals)
{
	size_t nr = p->side.classes.nr;
	uint64_t sum = pp_sum_counts(counts, nr);

	return sum &&
	       100.0 * (double)sum >= p->request->threshold *
					      (double)pp_sum_counts(totals, nr);
}

bool pp_passes(const struct pp_population *p, const uint64_t *counts,
	       const uint64_t *totals)
{
	if (p->request->calls.wanted && !p->request->threshold)
		return true;
	if (p->request->select.over_time)
		return passes_over_time(p, counts, totals);
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
