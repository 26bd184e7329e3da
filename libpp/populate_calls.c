// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call graphs. Sample files of call graphs count calls from an address of one
 * image to one of another; populate_symbols.c has told which symbols these
 * addresses are in. Here calls are summed up by caller and callee in one
 * sorted list. Going over it twice, once to count and once to fill, gives each
 * symbol an array of exactly as many callers and callees as it has.
 *
 * Totals are taken of all neighbours before small ones are left out, so that
 * shares stay shares of everything.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_search.h"
#include "libpp/population.h"

/* ---- calls --------------------------------------------------------------- */

static int compare_calls(const void *a, const void *b)
{
	const struct pp_symbol_call *x = a, *y = b;

	return op_compare(x->caller, y->caller) ?:
	       op_compare(x->callee, y->callee) ?:
	       op_compare(x->class_nr, y->class_nr);
}

/* All calls of @side, by caller and callee, one for each pair and column; the
 * caller of this function frees them. */
static struct pp_symbol_call *gather_calls(const struct pp_side *side,
					   size_t *nr)
{
	struct pp_symbol_call *calls;
	size_t room = side->nr_inlined_calls, kept = 0;

	*nr = 0;
	for (size_t i = 0; i < side->list.nr; i++)
		if (pp_is_call_graph(&side->list.files[i]))
			room += side->list.files[i].nr_samples;
	calls = calloc(room + 1, sizeof(*calls));
	if (!calls)
		return NULL;
	for (size_t i = 0; i < side->list.nr; i++) {
		const struct pp_sample_file *file = &side->list.files[i];

		for (size_t j = 0;
		     pp_is_call_graph(file) && j < file->nr_samples; j++)
			calls[(*nr)++] = (struct pp_symbol_call){
				.caller = file->callers[j],
				.callee = file->callees[j],
				.count = file->samples[j].count,
				.class_nr = file->class_nr,
			};
	}
	for (size_t i = 0; i < side->nr_inlined_calls; i++)
		calls[(*nr)++] = side->inlined_calls[i];
	qsort(calls, *nr, sizeof(*calls), compare_calls);
	for (size_t i = 0; i < *nr; i++)
		if (kept && !compare_calls(&calls[kept - 1], &calls[i]))
			calls[kept - 1].count = pp_add_counts(
				calls[kept - 1].count, calls[i].count);
		else
			calls[kept++] = calls[i];
	*nr = kept;
	return calls;
}

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

/* ---- addresses ----------------------------------------------------------- */

static void take_address_call(struct pp_report *report,
			      struct pp_address_call *calls,
			      const struct pp_side *side,
			      const struct pp_sample_file *file, size_t i)
{
	const struct pp_symbol_entry *from = &side->symbols[file->callers[i]];
	const struct pp_symbol_entry *to = &side->symbols[file->callees[i]];
	uint64_t key = file->samples[i].key;

	if (!from->size || !to->size)
		return;
	calls[report->nr_calls++] = (struct pp_address_call){
		.caller = from,
		.callee = to,
		.caller_vma = from->vma + (uint32_t)(key >> 32) - from->key,
		.callee_vma = to->vma + (uint32_t)key - to->key,
		.count = file->samples[i].count,
		.class_nr = file->class_nr,
	};
}

/* An order that depends on nothing but what the calls are. */
static int compare_address_calls(const void *a, const void *b)
{
	const struct pp_address_call *x = a, *y = b;

	return op_compare(x->caller_vma, y->caller_vma) ?:
	       op_compare(x->callee_vma, y->callee_vma) ?:
	       op_compare(x->class_nr, y->class_nr) ?:
	       op_compare(x->count, y->count);
}

static int take_address_calls(struct pp_population *p,
			      const struct pp_side *side)
{
	const struct pp_sample_list *list = &side->list;
	struct pp_address_call *calls;
	size_t room = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (pp_is_call_graph(&list->files[i]))
			room += list->files[i].nr_samples;
	calls = op_arena_alloc(&p->report->arena, room, sizeof(*calls));
	if (!calls)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++)
		if (pp_is_call_graph(&list->files[i]))
			for (size_t j = 0; j < list->files[i].nr_samples; j++)
				take_address_call(p->report, calls, side,
						  &list->files[i], j);
	qsort(calls, p->report->nr_calls, sizeof(*calls),
	      compare_address_calls);
	p->report->calls = calls;
	return 0;
}

/* ---- all of it ----------------------------------------------------------- */

int pp_side_find_calls(struct pp_population *p, struct pp_side *side)
{
	struct graph g = { .p = p, .side = side };
	size_t nr;
	struct pp_symbol_call *calls = gather_calls(side, &nr);
	int err = -ENOMEM;

	g.drafts = calloc(side->nr_symbols + 1, sizeof(*g.drafts));
	if (calls && g.drafts)
		err = make_room_for_arcs(&g, calls, nr)
			      ?: add_arcs(&g, calls, nr);
	for (size_t i = 0; i < side->nr_symbols && !err; i++)
		err = finish_neighbours(&g, i);
	if (!err && p->request->addresses_of_calls)
		err = take_address_calls(p, side);
	free(g.drafts);
	free(calls);
	return err;
}
