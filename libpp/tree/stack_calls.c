// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stack calls are kept in one array with a hash while they are counted, and
 * then sorted by caller, so that each symbol has its own in a row.
 *
 * The calls of a symbol must add up to its total. What they lack is where
 * stacks begin, or has no stack, and becomes an outer call. What they have too
 * much is the estimate that populate_totals.c has taken off from the total of
 * an inlined function that is above itself; it is taken off from the calls of
 * inlined code, too.
 */

#include "libpp/tree/stack_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_search.h"
#include "libpp/report/population.h"

/* ---- counting ------------------------------------------------------------ */

static uint64_t hash_stack_call(const struct op_hash *index,
				const struct pp_stack_call_key *key)
{
	uint64_t hash = op_hash_mix(index->seed,
				    (uint64_t)key->caller << 32 | key->callee);

	hash = op_hash_mix(hash,
			   (uint64_t)key->place.line << 1 | key->is_inlined);
	return op_hash_mix(hash, key->is_inlined ? 0 : key->vma);
}

static bool is_same_stack_call(const struct pp_stack_call_key *a,
			       const struct pp_stack_call_key *b)
{
	return a->caller == b->caller && a->callee == b->callee &&
	       a->place.line == b->place.line &&
	       a->place.file == b->place.file &&
	       a->is_inlined == b->is_inlined &&
	       (a->is_inlined || a->vma == b->vma);
}

/* The number of the call, from 1; 0 when memory is short. */
static uint32_t find_stack_call(struct pp_stack_calls *calls,
				const struct pp_stack_call_key *key)
{
	size_t nr_classes = calls->nr_classes;
	uint32_t number;
	uint64_t hash;

	if (op_hash_reserve(&calls->index, calls->nr + 1) ||
	    op_array_reserve(&calls->list, calls->nr, 1) ||
	    op_array_reserve(&calls->counts, calls->nr * nr_classes,
			     nr_classes))
		return 0;
	hash = hash_stack_call(&calls->index, key);
	op_hash_each(&calls->index, hash, number)
		if (is_same_stack_call(&calls->list[number - 1], key))
			return number;
	memset(&calls->counts[calls->nr * nr_classes], 0,
	       nr_classes * sizeof(*calls->counts));
	calls->list[calls->nr++] = *key;
	op_hash_add(&calls->index, hash, (uint32_t)calls->nr);
	return (uint32_t)calls->nr;
}

void pp_stack_calls_add(struct pp_stack_calls *calls,
			const struct pp_stack_call_key *key, size_t class_nr,
			uint64_t count)
{
	uint32_t number = calls->err ? 0 : find_stack_call(calls, key);
	uint64_t *sum;

	if (!number) {
		calls->err = -ENOMEM;
		return;
	}
	sum = &calls->counts[(number - 1) * calls->nr_classes + class_nr];
	*sum = pp_add_counts(*sum, count);
}

void pp_stack_calls_release(struct pp_stack_calls *calls)
{
	free(calls->list);
	free(calls->counts);
	op_hash_release(&calls->index);
}

/* ---- totals -------------------------------------------------------------- */

/* Add up the calls of each symbol in @sums, but no more than its total. */
static void limit_stack_calls(const struct pp_side *side, uint64_t *sums)
{
	const struct pp_stack_calls *calls = &side->stack_calls;
	size_t nr_classes = calls->nr_classes;

	for (int inlined = 0; inlined < 2; inlined++)
		for (size_t i = 0; i < calls->nr * nr_classes; i++) {
			const struct pp_stack_call_key *key =
				&calls->list[i / nr_classes];
			size_t c = i % nr_classes;
			uint64_t *sum = &sums[key->callee * nr_classes + c];
			uint64_t all = side->symbols[key->callee].all_counts[c];
			uint64_t left = all > *sum ? all - *sum : 0;

			if (key->is_inlined != inlined)
				continue;
			if (calls->counts[i] > left)
				calls->counts[i] = left;
			*sum += calls->counts[i];
		}
}

static int compare_outer_calls(const void *a, const void *b)
{
	const struct pp_stack_call *x = a, *y = b;

	return strcmp(x->callee->app, y->callee->app)
		       ?: op_compare(x->callee->nr, y->callee->nr);
}

/* @sums are those of the calls until now. */
static int take_outer_calls(struct pp_population *p, const struct pp_side *side,
			    const uint64_t *sums)
{
	struct pp_report *report = p->report;
	size_t nr_classes = side->classes.nr;
	struct pp_stack_call *outer = op_arena_alloc(
		&report->arena, side->nr_symbols, sizeof(*outer));

	if (!outer)
		return -ENOMEM;
	for (size_t i = 0; i < side->nr_symbols; i++) {
		const struct pp_symbol_entry *entry = &side->symbols[i];
		uint64_t *counts = pp_new_counts(p, side);

		if (!counts)
			return -ENOMEM;
		for (size_t c = 0; c < nr_classes; c++)
			counts[c] =
				entry->all_counts[c] - sums[i * nr_classes + c];
		if (pp_has_counts(counts, nr_classes))
			outer[report->stack_totals.nr_outer++] =
				(struct pp_stack_call){ .callee = entry,
							.counts = counts };
	}
	qsort(outer, report->stack_totals.nr_outer, sizeof(*outer),
	      compare_outer_calls);
	report->stack_totals.outer = outer;
	return 0;
}

/* ---- all of it ----------------------------------------------------------- */

/* By caller and address, then by what depends on nothing but the call. */
static int compare_stack_calls(const void *a, const void *b, void *arg)
{
	const struct pp_stack_call_key *list = arg;
	const struct pp_stack_call_key *x = &list[*(const uint32_t *)a];
	const struct pp_stack_call_key *y = &list[*(const uint32_t *)b];

	return op_compare(x->caller, y->caller) ?: op_compare(x->vma, y->vma) ?:
	       op_compare(x->callee, y->callee) ?:
	       op_compare(x->place.line, y->place.line) ?:
	       op_compare(x->is_inlined, y->is_inlined) ?:
	       strcmp(x->place.file ?: "", y->place.file ?: "");
}

/* Give each caller its own; @order has room for all. */
static int share_stack_calls(struct pp_population *p, struct pp_side *side,
			     uint32_t *order)
{
	const struct pp_stack_calls *calls = &side->stack_calls;
	struct pp_stack_call *all =
		op_arena_alloc(&p->report->arena, calls->nr, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < calls->nr; i++)
		order[i] = (uint32_t)i;
	if (calls->nr)
		qsort_r(order, calls->nr, sizeof(*order), compare_stack_calls,
			calls->list);
	for (size_t i = 0; i < calls->nr; i++) {
		const struct pp_stack_call_key *key = &calls->list[order[i]];
		struct pp_symbol_entry *caller = &side->symbols[key->caller];
		uint64_t *counts = pp_new_counts(p, side);

		if (!counts)
			return -ENOMEM;
		memcpy(counts, &calls->counts[order[i] * calls->nr_classes],
		       calls->nr_classes * sizeof(*counts));
		if (!pp_has_counts(counts, calls->nr_classes))
			continue;
		all[0] = (struct pp_stack_call){
			.callee = &side->symbols[key->callee],
			.place = key->place,
			.vma = key->vma,
			.counts = counts,
		};
		if (!caller->nr_stack_calls++)
			caller->stack_calls = all;
		all++;
	}
	return 0;
}

int pp_stack_calls_take(struct pp_population *p, struct pp_side *side)
{
	struct pp_stack_calls *calls = &side->stack_calls;
	uint64_t *sums =
		calloc(side->nr_symbols * side->classes.nr + 1, sizeof(*sums));
	uint32_t *order = calloc(calls->nr + 1, sizeof(*order));
	int err = sums && order ? calls->err : -ENOMEM;

	if (!err) {
		limit_stack_calls(side, sums);
		err = share_stack_calls(p, side, order)
			      ?: take_outer_calls(p, side, sums);
	}
	free(order);
	free(sums);
	return err;
}
