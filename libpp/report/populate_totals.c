// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Totals: how many samples are in a symbol and in all that it called, from the
 * call trees. tree_points.c has set the symbols of each node, so a walk
 * over each tree suffices. A node adds what is below it to its symbol unless
 * another node of the symbol is above it, so that recursion counts once. A
 * frame may be in several functions, where some were inlined.
 *
 * A sampled frame is known as its function alone. How many samples of a
 * function are in what was inlined there, the flat files tell, but not from
 * where it was called. So these counts are added as wholes, and where an
 * inlined function is above itself (its caller calls itself), the part that
 * would count twice is taken to be the same share of the samples there as of
 * all in its caller.
 *
 * The flat files say which samples the report is about: a stack counts where
 * its last frame is in an image that some of them are about, under the
 * application that they have. So a total is never more than the whole. Samples
 * that came without a stack count for the symbol they are in alone.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/report/line_totals.h"
#include "libpp/tree/tree_input.h"

/* ---- one tree ------------------------------------------------------------ */

/* A walk over one tree; nodes are counted from 1 here, 0 is the root. */
struct walk {
	const struct pp_tree_input *tree;
	uint32_t *parent, *child, *sibling; /* the first; the next; 0: none */
	uint64_t *all; /* samples in each node and below it */
	uint32_t *on_path; /* for each symbol: frames on the way to the root */
	uint64_t *totals; /* nr_classes for each symbol */
	size_t nr_classes;
	uint64_t counted; /* samples in all */
	struct pp_side *side;
	const struct pp_inlined_share *shares; /* by function */
	size_t nr_shares;
	double *twice; /* nr_classes for each symbol: in totals so often */
	bool with_stack_calls;
	struct pp_line_totals *lines; /* or NULL */
};

static int walk_init(struct walk *w, const struct pp_tree_input *tree)
{
	size_t nr = (size_t)ctree_nr_nodes(tree->tree) + 1;

	w->tree = tree;
	w->parent = calloc(nr, sizeof(*w->parent));
	w->child = calloc(nr, sizeof(*w->child));
	w->sibling = calloc(nr, sizeof(*w->sibling));
	w->all = calloc(nr, sizeof(*w->all));
	return w->parent && w->child && w->sibling && w->all ? 0 : -ENOMEM;
}

static void walk_release(struct walk *w)
{
	free(w->parent);
	free(w->child);
	free(w->sibling);
	free(w->all);
}

static uint64_t *total_of(const struct walk *w, uint32_t symbol)
{
	return &w->totals[symbol * w->nr_classes + w->tree->class_nr];
}

/* Children have higher numbers than their parents, so one way back links and
 * sums up all nodes. What a symbol has of its own is in its flat files, too,
 * and comes from there. */
static void link_nodes(struct walk *w)
{
	const struct pp_tree_input *tree = w->tree;

	for (uint32_t i = ctree_nr_nodes(tree->tree); i > 0; i--) {
		struct ctree_node node;

		pp_tree_input_node(tree, i, &node);
		if (tree->images[node.image - 1].is_counted) {
			w->counted = pp_add_counts(w->counted, node.count);
			w->all[i] = pp_add_counts(w->all[i], node.count);
		}
		w->parent[i] = node.parent;
		w->sibling[i] = w->child[node.parent];
		w->child[node.parent] = i;
		w->all[node.parent] =
			pp_add_counts(w->all[node.parent], w->all[i]);
	}
}

static const struct pp_frame_symbols *symbols_of(const struct walk *w,
						 uint32_t node)
{
	static const struct pp_frame_symbols none;

	return pp_tree_input_symbols(w->side, w->tree, node) ?: &none;
}

/* Count the part of @samples in @function that is in functions inlined there,
 * as far as these are on the path already: their totals have it twice. */
static void count_twice(struct walk *w, uint32_t function, uint64_t samples)
{
	unsigned int class_nr = (unsigned int)w->tree->class_nr;
	uint64_t all = w->side->in_table[function * w->nr_classes + class_nr];
	size_t at =
		OP_BISECT(i, w->nr_shares, w->shares[i].function < function);

	for (; at < w->nr_shares && all; at++) {
		const struct pp_inlined_share *share = &w->shares[at];

		if (share->function != function)
			break;
		if (share->class_nr == class_nr && w->on_path[share->inlined])
			w->twice[share->inlined * w->nr_classes + class_nr] +=
				(double)samples * (double)share->count /
				(double)all;
	}
}

/* The samples below @node are of the call by which it came to its symbol @i.
 * The caller is the nearest frame that has a symbol; where there is none the
 * stack begins. */
static void count_stack_call(struct walk *w, uint32_t node, uint32_t i)
{
	const struct pp_frame_symbols *frame = symbols_of(w, node);
	uint32_t callee = frame->symbols[i++], at = node;

	for (; at; at = w->parent[at], i = 0) {
		frame = symbols_of(w, at);
		while (i < frame->nr && frame->symbols[i] == PP_NO_SYMBOL)
			i++;
		if (i < frame->nr)
			break;
	}
	if (!at || !frame->places || !w->all[node] || !w->with_stack_calls)
		return;
	pp_stack_calls_add(&w->side->stack_calls,
			   &(struct pp_stack_call_key){
				   .caller = frame->symbols[i],
				   .callee = callee,
				   .place = frame->places[i],
				   .vma = frame->vma,
				   .is_inlined = at == node,
			   },
			   w->tree->class_nr, w->all[node]);
}

/* The outermost first, which is where the symbol is for the first time. */
static void enter_node(struct walk *w, uint32_t node)
{
	const struct pp_frame_symbols *frame = symbols_of(w, node);
	struct ctree_node is;

	for (uint32_t i = frame->nr; i--;) {
		uint32_t symbol = frame->symbols[i];
		uint64_t *total;

		if (symbol == PP_NO_SYMBOL || w->on_path[symbol]++)
			continue;
		total = total_of(w, symbol);
		*total = pp_add_counts(*total, w->all[node]);
		count_stack_call(w, node, i);
	}
	if (w->lines)
		pp_line_totals_enter(w->lines, frame, w->tree->class_nr,
				     w->all[node]);
	pp_tree_input_node(w->tree, node, &is);
	if (is.count && frame->nr == 1 && *frame->symbols != PP_NO_SYMBOL &&
	    w->tree->images[is.image - 1].is_counted) {
		count_twice(w, *frame->symbols, is.count);
		if (w->lines)
			pp_line_totals_end_stacks(w->lines, *frame->symbols,
						  w->tree->class_nr, is.count);
	}
}

static void leave_node(struct walk *w, uint32_t node)
{
	const struct pp_frame_symbols *frame = symbols_of(w, node);

	for (uint32_t i = 0; i < frame->nr; i++)
		if (frame->symbols[i] != PP_NO_SYMBOL)
			w->on_path[frame->symbols[i]]--;
	if (w->lines)
		pp_line_totals_leave(w->lines, frame);
}

static void walk_tree(struct walk *w)
{
	uint32_t at = w->child[0];

	while (at) {
		enter_node(w, at);
		if (w->child[at]) {
			at = w->child[at];
			continue;
		}
		while (at && !w->sibling[at]) {
			leave_node(w, at);
			at = w->parent[at];
		}
		if (at) {
			leave_node(w, at);
			at = w->sibling[at];
		}
	}
}

/* ---- all of them --------------------------------------------------------- */

/*
 * Samples that have no stack are in the totals of their symbols alone. Trees
 * tell functions of the table; what was inlined in the sampled one, the flat
 * files tell.
 */
static void add_flat_samples(const struct pp_side *side, uint64_t *totals,
			     const uint64_t *in_trees, const double *twice)
{
	size_t nr = side->nr_symbols * side->classes.nr;

	for (size_t i = 0; i < nr; i++) {
		uint64_t own = side->in_table[i];

		if (own > in_trees[i])
			totals[i] = pp_add_counts(totals[i], own - in_trees[i]);
		totals[i] = pp_add_counts(totals[i], side->where_inlined[i]);
		totals[i] -=
			(uint64_t)fmin(nearbyint(twice[i]), (double)totals[i]);
	}
}

/* Add up the samples that each symbol has of its own in the trees. */
static void count_own_samples(const struct pp_side *side, uint64_t *in_trees)
{
	for (size_t t = 0; t < side->trees->nr; t++) {
		const struct pp_tree_input *tree = &side->trees->list[t];

		for (uint32_t i = 1; i <= ctree_nr_nodes(tree->tree); i++) {
			const struct pp_frame_symbols *frame =
				pp_tree_input_symbols(side, tree, i);
			struct ctree_node node;
			uint32_t symbol;
			uint64_t *own;

			if (!frame)
				continue;
			pp_tree_input_node(tree, i, &node);
			symbol = frame->symbols[frame->nr - 1];
			if (symbol == PP_NO_SYMBOL)
				continue;
			own = &in_trees[symbol * side->classes.nr +
					tree->class_nr];
			*own = pp_add_counts(*own, node.count);
		}
	}
}

static void tell_of_samples_without_stack(struct pp_population *p,
					  const struct pp_side *side,
					  uint64_t counted)
{
	uint64_t all = 0, missing;

	for (size_t c = 0; c < side->classes.nr; c++)
		all = pp_add_counts(all, side->totals[c]);
	missing = all > counted ? all - counted : 0;
	if (missing)
		pp_message(
			&p->report->messages, PP_REMARK_STATS,
			"%llu of %llu samples have no stack; in totals they count only for their own symbol",
			(unsigned long long)missing, (unsigned long long)all);
}

static int compare_shares_by_function(const void *a, const void *b)
{
	const struct pp_inlined_share *x = a, *y = b;

	return op_compare(x->function, y->function);
}

static int walk_all_trees(struct pp_population *p, struct pp_side *side,
			  uint64_t *totals, double *twice)
{
	struct walk w = {
		.totals = totals,
		.nr_classes = side->classes.nr,
		.side = side,
		.shares = side->inlined_shares,
		.nr_shares = side->nr_inlined_shares,
		.twice = twice,
		.with_stack_calls = p->request->totals.stack_calls,
	};
	struct op_arena *arena = &p->report->arena;
	uint64_t counted = 0;
	int err = 0;

	if (w.nr_shares)
		qsort(side->inlined_shares, w.nr_shares,
		      sizeof(*side->inlined_shares),
		      compare_shares_by_function);
	w.on_path = calloc(side->nr_symbols + 1, sizeof(*w.on_path));
	if (!w.on_path)
		err = -ENOMEM;
	else if (p->request->lines.totals)
		err = pp_line_totals_new(&w.lines, side, arena);
	for (size_t i = 0; i < side->trees->nr && !err; i++) {
		err = walk_init(&w, &side->trees->list[i]);
		if (!err) {
			link_nodes(&w);
			walk_tree(&w);
		}
		walk_release(&w);
	}
	counted = w.counted;
	if (!err && w.lines) {
		err = pp_line_totals_fill(w.lines);
		p->report->lines.totals = !err;
	}
	pp_line_totals_free(w.lines);
	free(w.on_path);
	if (!err)
		tell_of_samples_without_stack(p, side, counted);
	return err;
}

int pp_side_find_totals(struct pp_population *p, struct pp_side *side)
{
	size_t nr_classes = side->classes.nr, nr = side->nr_symbols;
	struct op_arena *arena = &p->report->arena;
	uint64_t *totals, *in_trees;
	double *twice;
	int err;

	totals = op_arena_alloc(arena, nr * nr_classes, sizeof(*totals));
	in_trees = calloc(nr * nr_classes + 1, sizeof(*in_trees));
	twice = calloc(nr * nr_classes + 1, sizeof(*twice));
	err = totals && in_trees && twice
		      ? walk_all_trees(p, side, totals, twice)
		      : -ENOMEM;
	if (!err) {
		count_own_samples(side, in_trees);
		add_flat_samples(side, totals, in_trees, twice);
		for (size_t i = 0; i < nr; i++)
			side->symbols[i].all_counts = &totals[i * nr_classes];
		p->report->stack_totals.made = true;
	}
	free(twice);
	free(in_trees);
	return err;
}
