// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call graphs: each symbol with its callers and callees. gather_calls.c has
 * summed the calls up by caller and callee in one sorted list. Going over it
 * twice, once to count and once to fill, gives each symbol an array of exactly
 * as many callers and callees as it has.
 *
 * Totals are taken of all neighbours before small ones are left out, so that
 * shares stay shares of everything.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/tree/gather_calls.h"

/* ---- neighbours ---------------------------------------------------------- */

/* A symbol's neighbours in the making. */
struct draft {
	struct pp_arc *callers, *callees;
	size_t nr_callers, nr_callees;
	uint64_t *caller_totals, *callee_totals, *cumulative;
};

struct graph {
	struct pp_population *p;
	struct pp_side *side;
	struct draft *drafts; /* one for each symbol */
};

/* Make room for the callers and callees of each symbol. */
static int make_room_for_arcs(struct graph *g,
			      const struct pp_symbol_call *calls, size_t nr)
{
	struct op_arena *arena = &g->p->report->arena;

	for (size_t i = 0; i < nr; i++) {
		if (i && calls[i - 1].caller == calls[i].caller &&
		    calls[i - 1].callee == calls[i].callee)
			continue;
		g->drafts[calls[i].caller].nr_callees++;
		g->drafts[calls[i].callee].nr_callers++;
	}
	for (size_t i = 0; i < g->side->nr_symbols; i++) {
		struct draft *d = &g->drafts[i];

		d->callers = op_arena_alloc(arena, d->nr_callers,
					    sizeof(*d->callers));
		d->callees = op_arena_alloc(arena, d->nr_callees + 1,
					    sizeof(*d->callees));
		d->caller_totals = pp_new_counts(g->p, g->side);
		d->callee_totals = pp_new_counts(g->p, g->side);
		d->cumulative = pp_new_counts(g->p, g->side);
		if (!d->callers || !d->callees || !d->caller_totals ||
		    !d->callee_totals || !d->cumulative)
			return -ENOMEM;
		d->nr_callers = d->nr_callees = 0;
	}
	return 0;
}

static void add_arc(const struct graph *g, uint32_t caller, uint32_t callee,
		    const uint64_t *counts)
{
	struct draft *from = &g->drafts[caller], *to = &g->drafts[callee];
	struct pp_arc arc = { .counts = counts, .recursive = caller == callee };
	size_t nr_classes = g->side->classes.nr;

	arc.other = &g->side->symbols[callee];
	from->callees[from->nr_callees++] = arc;
	arc.other = &g->side->symbols[caller];
	to->callers[to->nr_callers++] = arc;
	pp_add_all_counts(from->callee_totals, counts, nr_classes);
	pp_add_all_counts(to->caller_totals, counts, nr_classes);
	if (!arc.recursive)
		pp_add_all_counts(from->cumulative, counts, nr_classes);
}

static int add_arcs(const struct graph *g, const struct pp_symbol_call *calls,
		    size_t nr)
{
	for (size_t i = 0; i < nr;) {
		uint32_t caller = calls[i].caller, callee = calls[i].callee;
		uint64_t *counts = pp_new_counts(g->p, g->side);

		if (!counts)
			return -ENOMEM;
		for (; i < nr && calls[i].caller == caller &&
		       calls[i].callee == callee;
		     i++)
			counts[calls[i].class_nr] = calls[i].count;
		add_arc(g, caller, callee, counts);
	}
	return 0;
}

/* Which of two neighbours with the same count comes first: the symbol itself
 * last, others by their names. */
static int compare_equal_arcs(const struct pp_arc *a, const struct pp_arc *b)
{
	const struct pp_symbol_entry *x = a->other, *y = b->other;

	return a->self - b->self ?: strcmp(x->image->base, y->image->base) ?:
	       strcmp(x->name, y->name) ?: op_compare(x->nr, y->nr);
}

static int by_rising_count(const void *a, const void *b)
{
	const struct pp_arc *x = a, *y = b;

	return op_compare(x->counts[0], y->counts[0])
		       ?: compare_equal_arcs(x, y);
}

static int by_falling_count(const void *a, const void *b)
{
	const struct pp_arc *x = a, *y = b;

	return op_compare(y->counts[0], x->counts[0])
		       ?: compare_equal_arcs(x, y);
}

/* Leave out the @arcs that are small among @totals, and sort the others.
 * Returns how many stay. */
static size_t finish_arcs(const struct pp_population *p, struct pp_arc *arcs,
			  size_t nr, const uint64_t *totals,
			  int (*compare)(const void *a, const void *b))
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++)
		if (pp_passes(p, arcs[i].counts, totals))
			arcs[kept++] = arcs[i];
	qsort(arcs, kept, sizeof(*arcs), compare);
	return kept;
}

/* The samples that symbol @i has of its own are one of its callees. */
static int finish_neighbours(const struct graph *g, size_t i)
{
	struct draft *d = &g->drafts[i];
	struct pp_symbol_entry *entry = &g->side->symbols[i];
	size_t nr_classes = g->side->classes.nr;
	struct pp_neighbours *n =
		op_arena_alloc(&g->p->report->arena, 1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	d->callees[d->nr_callees++] = (struct pp_arc){
		.other = entry,
		.counts = entry->counts,
		.self = true,
	};
	pp_add_all_counts(d->callee_totals, entry->counts, nr_classes);
	pp_add_all_counts(d->cumulative, entry->counts, nr_classes);
	*n = (struct pp_neighbours){
		.callers = d->callers,
		.callees = d->callees,
		.nr_callers = finish_arcs(g->p, d->callers, d->nr_callers,
					  d->caller_totals, by_rising_count),
		.nr_callees = finish_arcs(g->p, d->callees, d->nr_callees,
					  d->callee_totals, by_falling_count),
		.caller_totals = d->caller_totals,
		.callee_totals = d->callee_totals,
		.cumulative = d->cumulative,
	};
	entry->neighbours = n;
	return 0;
}

/* ---- all of it ----------------------------------------------------------- */

int pp_side_find_calls(struct pp_population *p, struct pp_side *side)
{
	struct graph g = { .p = p, .side = side };
	struct pp_symbol_calls calls;
	int err = pp_symbol_calls_gather(&calls, side);

	g.drafts = calloc(side->nr_symbols + 1, sizeof(*g.drafts));
	if (!g.drafts)
		err = -ENOMEM;
	if (!err)
		err = make_room_for_arcs(&g, calls.list, calls.nr)
			      ?: add_arcs(&g, calls.list, calls.nr);
	for (size_t i = 0; i < side->nr_symbols && !err; i++)
		err = finish_neighbours(&g, i);
	if (!err && p->request->calls.addresses)
		err = pp_address_calls_gather(p, side);
	p->report->calls.made = !err;
	free(g.drafts);
	free(calls.list);
	return err;
}
