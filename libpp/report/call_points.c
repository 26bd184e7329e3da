// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ends of arcs as places whose symbols are to be found, for call graphs, and
 * calls of what was inlined. gather_calls.c goes on with both.
 */

#include <errno.h>

#include "libpp/report/populate_symbols.h"

static size_t nr_call_uses(const struct pp_side *side)
{
	return 2 * side->list.nr;
}

static uint64_t key_of_end(const struct pp_use *use, size_t i)
{
	return (uint32_t)(use->file->samples[i].key >> use->shift);
}

static void put_ends(struct pp_point *points, const struct pp_use *use)
{
	const struct pp_sample_file *file = use->file;

	for (size_t i = 0; i < file->nr_samples; i++)
		points[i] = (struct pp_point){
			.key = key_of_end(use, i),
			.class_nr = file->class_nr,
			.symbol_nr = &use->ends[i],
			.is_function = !use->shift,
			.weight = file->samples[i].count,
		};
}

/* A file of arcs uses two images, that of the callers and that of the
 * callees. */
static int add_call_uses(struct pp_population *p, struct pp_side *side,
			 struct pp_use *uses, size_t *nr)
{
	struct op_arena *arena = &p->report->arena;

	for (size_t i = 0; i < side->list.nr; i++) {
		struct pp_sample_file *file = &side->list.files[i];
		struct pp_use use = {
			.image = file->image,
			.app = file->app,
			.file = file,
			.nr_points = file->nr_samples,
			.key = key_of_end,
			.put = put_ends,
			.is_of_user = true,
			.shift = 32,
		};

		if (!pp_is_call_graph(file))
			continue;
		file->callers = op_arena_alloc(arena, file->nr_samples,
					       sizeof(*file->callers));
		file->callees = op_arena_alloc(arena, file->nr_samples,
					       sizeof(*file->callees));
		if (!file->callers || !file->callees)
			return -ENOMEM;
		use.ends = file->callers;
		uses[(*nr)++] = use;
		use.image = file->callee;
		use.ends = file->callees;
		use.shift = 0;
		uses[(*nr)++] = use;
	}
	return 0;
}

/* An end of an arc gets its symbol. A sample in an inlined function, or a call
 * from it, is a call of that function. */
static int take_call_point(const struct pp_batch *b,
			   const struct pp_point *point,
			   const struct pp_point *before)
{
	struct pp_side *side = b->side;

	(void)before;
	if (point->is_node)
		return 0;
	if (point->symbol_nr)
		*point->symbol_nr = b->entries[point->owner];
	for (uint32_t i = 0; i + 1 < point->chain.nr; i++) {
		struct pp_symbol_call *all =
			op_arena_grow(&b->p->report->arena, side->inlined_calls,
				      side->nr_inlined_calls, sizeof(*all));

		if (!all)
			return -ENOMEM;
		side->inlined_calls = all;
		all[side->nr_inlined_calls++] = (struct pp_symbol_call){
			.caller = pp_entry_in_chain(b, &point->chain, i + 1),
			.callee = pp_entry_in_chain(b, &point->chain, i),
			.count = point->weight,
			.class_nr = point->class_nr,
		};
	}
	return 0;
}

static int renumber_calls(struct pp_side *side, const uint32_t *into, size_t nr)
{
	(void)nr;
	for (size_t i = 0; i < side->nr_inlined_calls; i++) {
		pp_renumber(&side->inlined_calls[i].caller, into);
		pp_renumber(&side->inlined_calls[i].callee, into);
	}
	for (size_t i = 0; i < side->list.nr; i++) {
		struct pp_sample_file *file = &side->list.files[i];

		for (size_t j = 0; file->callers && j < file->nr_samples; j++) {
			pp_renumber(&file->callers[j], into);
			pp_renumber(&file->callees[j], into);
		}
	}
	return 0;
}

const struct pp_symbol_user pp_calls_user = {
	.nr_uses = nr_call_uses,
	.add_uses = add_call_uses,
	.take_point = take_call_point,
	.renumber = renumber_calls,
};
