// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Callers and callees of a function: callers above, with those of most calls
 * next to the function, then the function's own samples, then callees. Shares
 * are of the samples in the function and in its callees.
 */

#include <errno.h>
#include <string.h>

#include "pp/optop/optop_rows.h"

static struct optop_target *target_of_call(struct optop_reading *reading,
					   const struct pp_symbol_entry *entry)
{
	struct optop_target *target =
		op_arena_alloc(&reading->arena, 1, sizeof(*target));

	if (target)
		*target =
			(struct optop_target){ .image = entry->image->path,
					       .symbol = entry->raw_name,
					       .title = entry->name,
					       .vma = entry->vma,
					       .is_inlined = entry->is_inlined,
					       .tgid = OP_MANGLE_ALL,
					       .tid = OP_MANGLE_ALL };
	return target;
}

/* @side is 1 for callers, 2 for callees: a function may be both. */
static int add_call(struct optop_reading *reading, size_t nr, uint64_t side,
		    const struct pp_arc *arc, const size_t *event_of)
{
	struct optop_counts *counts = reading->counts;
	struct optop_row *row = &reading->rows[nr];
	const struct pp_symbol_entry *other = arc->other;
	const char *kind = arc->self	    ? "[self]"
			   : arc->recursive ? "[itself]"
			   : side == 1	    ? "caller"
					    : "callee";
	uint64_t key = optop_key(op_hash_mix(side, other->vma), kind);

	row->name =
		op_arena_printf(&reading->arena, "%-8s%s", kind, other->name);
	row->beside = other->image->base;
	row->opens = target_of_call(reading, other);
	counts->keys[nr] =
		optop_key(optop_key(key, other->image->name), other->raw_name);
	optop_add_counts(reading, event_of,
			 &counts->self[nr * counts->nr_events], arc->counts);
	return row->name && row->opens ? 0 : -ENOMEM;
}

int optop_fill_calls(struct optop_reading *reading,
		     const struct optop_query *query,
		     const struct pp_request *base, struct op_diag *diag)
{
	struct pp_request request = *base;
	const struct pp_symbol_entry *entry;
	const struct pp_neighbours *n;
	const size_t *event_of;
	size_t nr = 0;
	int err;

	if (!query->target.symbol)
		return op_diag_set(
			diag, -ENOENT,
			"a source file has no calls; open one of its functions");
	request.select.merge |= PP_MERGE_ALL & ~PP_MERGE_UNIT_MASK;
	request.symbols.wanted = request.calls.wanted = true;
	err = optop_make_report(reading, &request, &query->target, diag);
	if (err)
		return err;
	entry = optop_find_function(reading->report, &query->target);
	n = entry ? entry->neighbours : NULL;
	if (!n)
		return op_diag_set(diag, -ENOENT, "%s: no calls",
				   query->target.title);
	err = optop_make_rows(reading, n->nr_callers + n->nr_callees, false,
			      &event_of);
	for (size_t i = 0; i < n->nr_callers && !err; i++)
		err = add_call(reading, nr++, 1, &n->callers[i], event_of);
	reading->first = n->nr_callers;
	for (size_t i = 0; i < n->nr_callees && !err; i++)
		err = add_call(reading, nr++, 2, &n->callees[i], event_of);
	if (err)
		return err;
	reading->keeps_order = true;
	if (nr < 2)
		reading->note =
			"no callers or callees; record stacks with --callgraph";
	optop_add_counts(reading, event_of, reading->counts->self_sums,
			 n->callee_totals);
	return 0;
}
