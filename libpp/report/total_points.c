// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples as totals need them: how many are in each function of the table, and
 * how many where it was inlined. populate_totals.c adds what is below them on
 * stacks.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/report/populate_symbols.h"

/* Make room for what is counted for entry @nr beside its samples. */
static int grow_counts_beside(const struct pp_batch *b, size_t nr)
{
	struct op_arena *arena = &b->p->report->arena;
	struct pp_side *side = b->side;
	size_t len = side->classes.nr * sizeof(uint64_t);

	side->in_table = op_arena_grow(arena, side->in_table, nr, len);
	side->where_inlined =
		op_arena_grow(arena, side->where_inlined, nr, len);
	if (!side->in_table || !side->where_inlined)
		return -ENOMEM;
	memset(&side->in_table[nr * side->classes.nr], 0, len);
	memset(&side->where_inlined[nr * side->classes.nr], 0, len);
	return 0;
}

static int add_inlined_share(const struct pp_batch *b,
			     const struct pp_point *point, uint32_t function,
			     uint32_t inlined)
{
	struct pp_side *side = b->side;
	struct pp_inlined_share *all =
		op_arena_grow(&b->p->report->arena, side->inlined_shares,
			      side->nr_inlined_shares, sizeof(*all));

	if (!all)
		return -ENOMEM;
	side->inlined_shares = all;
	all[side->nr_inlined_shares++] = (struct pp_inlined_share){
		.function = function,
		.inlined = inlined,
		.count = point->count,
		.class_nr = point->class_nr,
	};
	return 0;
}

/* A sample in an inlined function is one of a call of it, by the outermost of
 * its callers where it is above itself. */
static int add_inlined_stack_calls(const struct pp_batch *b,
				   const struct pp_point *point)
{
	const struct pp_owner_chain *chain = &point->chain;
	const uint32_t *owners = &b->owners.chained[chain->first];
	struct pp_place *places;

	if (chain->nr == 1)
		return 0;
	places = pp_places_of_chain(b, point);
	if (!places)
		return -ENOMEM;
	for (uint32_t i = 0; i + 1 < chain->nr; i++) {
		uint32_t at = chain->nr - 1, callee;

		callee = pp_entry_in_chain(b, chain, i);
		if (callee == PP_NO_SYMBOL ||
		    pp_owner_is_repeated(&b->owners, chain, i))
			continue;
		while (owners[at] != owners[i])
			at--;
		while (++at < chain->nr &&
		       pp_entry_in_chain(b, chain, at) == PP_NO_SYMBOL)
			;
		if (at < chain->nr)
			pp_stack_calls_add(
				&b->side->stack_calls,
				&(struct pp_stack_call_key){
					.caller =
						pp_entry_in_chain(b, chain, at),
					.callee = callee,
					.place = places[at],
					.vma = pp_image_symbols_vma(b->symbols,
								    b->image,
								    point->key),
					.is_inlined = true,
				},
				point->class_nr, point->count);
	}
	return 0;
}

/* Samples of all functions at their place. A copy of a function in itself is a
 * part of it. */
static int count_beside(const struct pp_batch *b, const struct pp_point *point,
			const struct pp_point *before)
{
	const struct pp_owner_chain *chain = &point->chain;
	uint32_t last = pp_entry_in_chain(b, chain, chain->nr - 1);
	struct pp_side *side = b->side;
	int err = 0;

	(void)before;
	for (uint32_t i = 0; point->count && i < chain->nr && !err; i++) {
		uint32_t entry = pp_entry_in_chain(b, chain, i);
		bool is_inlined = i + 1 < chain->nr;
		uint64_t *count;

		if (entry == PP_NO_SYMBOL ||
		    (is_inlined &&
		     (entry == last ||
		      pp_owner_is_repeated(&b->owners, chain, i))))
			continue;
		count = is_inlined ? side->where_inlined : side->in_table;
		count += entry * side->classes.nr + point->class_nr;
		*count = pp_add_counts(*count, point->count);
		if (is_inlined && last != PP_NO_SYMBOL)
			err = add_inlined_share(b, point, last, entry);
	}
	if (!err && point->count && b->p->request->totals.stack_calls)
		err = add_inlined_stack_calls(b, point);
	return err;
}

/* Counts for each symbol of @nr until now, beside those in the symbols. */
static int add_up_beside(const struct pp_side *side, uint64_t *counts,
			 size_t nr, const uint32_t *into)
{
	size_t nr_classes = side->classes.nr;
	size_t len = nr * nr_classes;
	uint64_t *sums = counts ? calloc(len + 1, sizeof(*sums)) : NULL;

	if (!counts)
		return 0;
	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		pp_add_all_counts(&sums[into[i] * nr_classes],
				  &counts[i * nr_classes], nr_classes);
	memcpy(counts, sums, len * sizeof(*sums));
	free(sums);
	return 0;
}

static int renumber_totals(struct pp_side *side, const uint32_t *into,
			   size_t nr)
{
	for (size_t i = 0; i < side->nr_inlined_shares; i++) {
		pp_renumber(&side->inlined_shares[i].function, into);
		pp_renumber(&side->inlined_shares[i].inlined, into);
	}
	for (size_t i = 0; i < side->stack_calls.nr; i++) {
		pp_renumber(&side->stack_calls.list[i].caller, into);
		pp_renumber(&side->stack_calls.list[i].callee, into);
	}
	return add_up_beside(side, side->in_table, nr, into)
		       ?: add_up_beside(side, side->where_inlined, nr, into);
}

const struct pp_symbol_user pp_totals_user = {
	.take_symbol = grow_counts_beside,
	.take_point = count_beside,
	.renumber = renumber_totals,
};
