// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls are in the call trees of a session: a node that has a parent was called
 * from there, by all stacks that go through it. Sessions that were imported may
 * have arcs instead: files that count calls from an address of one image to one
 * of another. tree_points.c and call_points.c have the symbols of nodes and
 * arcs.
 *
 * Where the code of a call was inlined, it is a call from the innermost
 * function there, which its function called in turn, and so on.
 */

#include "libpp/tree/gather_calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_hash.h"
#include "libop/base/op_search.h"
#include "libpp/tree/tree_input.h"

/* ---- each call of a tree ------------------------------------------------- */

/* A call from one node to another; as often as stacks go through it. */
struct tree_call {
	const struct pp_frame_symbols *from, *to;
	uint64_t count;
	unsigned int class_nr;
};

typedef int (*take_tree_call_fn)(void *ctx, const struct tree_call *call);

/* Children have higher numbers than their parents, so on the way back each
 * node knows all that is below it. */
static int each_call_of_tree(const struct pp_side *side,
			     const struct pp_tree_input *tree,
			     take_tree_call_fn take, void *ctx)
{
	uint32_t nr = ctree_nr_nodes(tree->tree);
	uint64_t *all = calloc((size_t)nr + 1, sizeof(*all));
	int err = all ? 0 : -ENOMEM;

	for (uint32_t i = nr; i > 0 && !err; i--) {
		struct ctree_node node, parent;
		struct tree_call call = {
			.class_nr = (unsigned int)tree->class_nr
		};

		pp_tree_input_node(tree, i, &node);
		call.count = pp_add_counts(all[i], node.count);
		if (!node.parent)
			continue;
		all[node.parent] = pp_add_counts(all[node.parent], call.count);
		pp_tree_input_node(tree, node.parent, &parent);
		call.from = pp_tree_input_symbols(side, tree, node.parent);
		call.to = pp_tree_input_symbols(side, tree, i);
		if (call.count && call.from && call.to &&
		    pp_tree_input_has_call(side->trees, tree, parent.image,
					   node.image))
			err = take(ctx, &call);
	}
	free(all);
	return err;
}

static int each_tree_call(const struct pp_side *side, take_tree_call_fn take,
			  void *ctx)
{
	int err = 0;

	for (size_t i = 0; side->trees && i < side->trees->nr && !err; i++)
		err = each_call_of_tree(side, &side->trees->list[i], take, ctx);
	return err;
}

/* ---- by symbols ---------------------------------------------------------- */

/* Calls that are being added up. */
struct adding {
	struct pp_symbol_calls *calls;
	struct op_hash index; /* of places in the list, from 1 */
};

static int add_symbol_call(struct adding *a, const struct pp_symbol_call *call)
{
	struct pp_symbol_calls *calls = a->calls;
	uint64_t hash;
	uint32_t number;
	int err = op_hash_reserve(&a->index, calls->nr + 1)
			  ?: op_array_reserve(&calls->list, calls->nr, 1);

	if (err)
		return -ENOMEM;
	hash = op_hash_mix(a->index.seed,
			   (uint64_t)call->caller << 32 | call->callee);
	hash = op_hash_mix(hash, call->class_nr);
	op_hash_each(&a->index, hash, number) {
		struct pp_symbol_call *have = &calls->list[number - 1];

		if (have->caller != call->caller ||
		    have->callee != call->callee ||
		    have->class_nr != call->class_nr)
			continue;
		have->count = pp_add_counts(have->count, call->count);
		return 0;
	}
	calls->list[calls->nr++] = *call;
	op_hash_add(&a->index, hash, (uint32_t)calls->nr);
	return 0;
}

static int add_calls_of_file(struct adding *a,
			     const struct pp_sample_file *file)
{
	int err = 0;

	for (size_t i = 0; i < file->nr_samples && !err; i++)
		err = add_symbol_call(a,
				      &(struct pp_symbol_call){
					      .caller = file->callers[i],
					      .callee = file->callees[i],
					      .count = file->samples[i].count,
					      .class_nr = file->class_nr,
				      });
	return err;
}

static int add_tree_call(void *ctx, const struct tree_call *call)
{
	const struct pp_frame_symbols *from = call->from, *to = call->to;
	struct pp_symbol_call add = {
		.caller = from->symbols[0],
		.callee = to->symbols[to->nr - 1],
		.count = call->count,
		.class_nr = call->class_nr,
	};
	int err = add_symbol_call(ctx, &add);

	for (uint32_t i = 0; i + 1 < from->nr && !err; i++) {
		add.callee = from->symbols[i];
		add.caller = from->symbols[i + 1];
		err = add_symbol_call(ctx, &add);
	}
	return err;
}

static int compare_symbol_calls(const void *a, const void *b)
{
	const struct pp_symbol_call *x = a, *y = b;

	return op_compare(x->caller, y->caller) ?:
	       op_compare(x->callee, y->callee) ?:
	       op_compare(x->class_nr, y->class_nr);
}

int pp_symbol_calls_gather(struct pp_symbol_calls *calls,
			   const struct pp_side *side)
{
	struct adding a = { .calls = calls };
	int err = 0;

	*calls = (struct pp_symbol_calls){ 0 };
	for (size_t i = 0; i < side->list.nr && !err; i++)
		if (pp_is_call_graph(&side->list.files[i]))
			err = add_calls_of_file(&a, &side->list.files[i]);
	for (size_t i = 0; i < side->nr_inlined_calls && !err; i++)
		err = add_symbol_call(&a, &side->inlined_calls[i]);
	err = err ?: each_tree_call(side, add_tree_call, &a);
	op_hash_release(&a.index);
	if (!err && calls->nr)
		qsort(calls->list, calls->nr, sizeof(*calls->list),
		      compare_symbol_calls);
	return err;
}

/* ---- by addresses -------------------------------------------------------- */

struct taking {
	struct pp_report *report;
	const struct pp_side *side;
	struct pp_address_call *calls;
};

static int take_address_call(struct taking *t,
			     const struct pp_address_call *call)
{
	struct pp_report *report = t->report;

	if (!call->caller->size || !call->callee->size)
		return 0;
	t->calls = op_arena_grow(&report->arena, t->calls, report->calls.nr,
				 sizeof(*t->calls));
	if (!t->calls)
		return -ENOMEM;
	t->calls[report->calls.nr++] = *call;
	return 0;
}

static int take_call_of_file(struct taking *t,
			     const struct pp_sample_file *file, size_t i)
{
	const struct pp_symbol_entry *symbols = t->side->symbols;
	const struct pp_symbol_entry *from = &symbols[file->callers[i]];
	const struct pp_symbol_entry *to = &symbols[file->callees[i]];
	uint64_t key = file->samples[i].key;

	return take_address_call(
		t, &(struct pp_address_call){
			   .caller = from,
			   .callee = to,
			   .caller_vma = from->vma + (uint32_t)(key >> 32) -
					 from->key,
			   .callee_vma = to->vma + (uint32_t)key - to->key,
			   .count = file->samples[i].count,
			   .class_nr = file->class_nr,
		   });
}

static int take_call_of_tree(void *ctx, const struct tree_call *call)
{
	struct taking *t = ctx;
	const struct pp_symbol_entry *symbols = t->side->symbols;
	const struct pp_symbol_entry *from = &symbols[*call->from->symbols];
	const struct pp_symbol_entry *to =
		&symbols[call->to->symbols[call->to->nr - 1]];

	return take_address_call(t, &(struct pp_address_call){
					    .caller = from,
					    .callee = to,
					    .caller_vma = call->from->vma,
					    .callee_vma = to->vma,
					    .count = call->count,
					    .class_nr = call->class_nr,
				    });
}

/* An order that depends on nothing but what the calls are. */
static int compare_address_calls(const void *a, const void *b)
{
	const struct pp_address_call *x = a, *y = b;

	return op_compare(x->caller_vma, y->caller_vma) ?:
	       op_compare(x->callee_vma, y->callee_vma) ?:
	       op_compare(x->class_nr, y->class_nr) ?:
	       op_compare(x->caller->nr, y->caller->nr) ?:
	       op_compare(x->callee->nr, y->callee->nr) ?:
	       op_compare(x->count, y->count);
}

/* Add up the calls between the same addresses, which are sorted. */
static void add_up_address_calls(struct pp_report *report,
				 struct pp_address_call *calls)
{
	size_t kept = 0;

	for (size_t i = 0; i < report->calls.nr; i++) {
		struct pp_address_call *last = kept ? &calls[kept - 1] : NULL;

		if (last && last->caller == calls[i].caller &&
		    last->callee == calls[i].callee &&
		    last->caller_vma == calls[i].caller_vma &&
		    last->callee_vma == calls[i].callee_vma &&
		    last->class_nr == calls[i].class_nr)
			last->count =
				pp_add_counts(last->count, calls[i].count);
		else
			calls[kept++] = calls[i];
	}
	report->calls.nr = kept;
}

int pp_address_calls_gather(struct pp_population *p, const struct pp_side *side)
{
	struct pp_report *report = p->report;
	struct taking t = { .report = report, .side = side };
	int err = 0;

	for (size_t i = 0; i < side->list.nr && !err; i++) {
		const struct pp_sample_file *file = &side->list.files[i];

		for (size_t j = 0;
		     pp_is_call_graph(file) && j < file->nr_samples && !err;
		     j++)
			err = take_call_of_file(&t, file, j);
	}
	err = err ?: each_tree_call(side, take_call_of_tree, &t);
	if (err)
		return err;
	if (report->calls.nr)
		qsort(t.calls, report->calls.nr, sizeof(*t.calls),
		      compare_address_calls);
	add_up_address_calls(report, t.calls);
	report->calls.list = t.calls;
	return 0;
}
