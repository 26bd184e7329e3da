// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From nodes as they came to a tree as it is shown: counts summed up, small
 * nodes cut off, siblings sorted. Stacks may be deep, so nothing calls itself.
 */

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/sample_list.h"
#include "libpp/tree_builder.h"

#define CUT_NAME "(below the threshold)"

struct finisher {
	struct pp_tree_builder *b;
	struct pp_tree *tree;
	uint64_t *all; /* nr_columns for each node of the builder */
	bool *is_kept;
	uint32_t *order; /* kept nodes by parent and name */
	uint32_t *first; /* for each node: where its children start there */
};

static void add_columns(uint64_t *to, const uint64_t *from, size_t nr)
{
	for (size_t c = 0; c < nr; c++)
		to[c] = pp_add_counts(to[c], from[c]);
}

static uint64_t *all_of(const struct finisher *f, uint32_t node)
{
	return f->all + node * f->b->nr_columns;
}

static uint64_t *self_of(const struct finisher *f, uint32_t node)
{
	return f->b->self + node * f->b->nr_columns;
}

/* Children come behind their parents, so one way back sums all up. */
static void sum_up_nodes(struct finisher *f)
{
	size_t nr = f->b->nr_columns;

	memcpy(f->all, f->b->self, f->b->nr_nodes * nr * sizeof(*f->all));
	for (uint32_t i = f->b->nr_nodes - 1; i > 0; i--)
		add_columns(all_of(f, f->b->nodes[i].parent), all_of(f, i), nr);
}

static bool holds_no_samples(const struct finisher *f, uint32_t node)
{
	const uint64_t *all = all_of(f, node);

	for (size_t c = 0; c < f->b->nr_columns; c++)
		if (all[c])
			return false;
	return true;
}

/* The largest share that @node has in a column, in percent. */
static double share_of(const struct finisher *f, uint32_t node)
{
	const uint64_t *all = all_of(f, node), *root = all_of(f, 0);
	double share = 0;

	for (size_t c = 0; c < f->b->nr_columns; c++)
		if (all[c])
			share = fmax(share,
				     100.0 * (double)all[c] / (double)root[c]);
	return share;
}

/* Samples in stacks that are not whole: those below a topmost gap. */
static int count_broken(struct finisher *f)
{
	const struct pp_tree_builder *b = f->b;
	uint64_t *broken =
		op_arena_alloc(b->arena, b->nr_columns, sizeof(*broken));
	bool *below = calloc(b->nr_nodes, sizeof(*below));

	for (uint32_t i = 1; broken && below && i < b->nr_nodes; i++) {
		const struct pp_tree_node *node = &b->nodes[i];

		below[i] = below[node->parent];
		if (below[i] || b->frames[node->frame].kind != PP_FRAME_GAP)
			continue;
		below[i] = true;
		add_columns(broken, all_of(f, i), b->nr_columns);
	}
	free(below);
	f->tree->broken = broken;
	return broken && below ? 0 : -ENOMEM;
}

/* ---- cutting ------------------------------------------------------------- */

/* Move the samples of @node to the node that stands for cut ones beside it. */
static int move_to_cut_node(struct finisher *f, uint32_t node, uint32_t frame)
{
	size_t nr = f->b->nr_columns;
	uint32_t cut;
	int err = pp_tree_child(f->b, f->b->nodes[node].parent, frame, &cut);

	if (err)
		return err;
	add_columns(self_of(f, cut), all_of(f, node), nr);
	add_columns(f->tree->cut, all_of(f, node), nr);
	return 0;
}

/* Cut off what does not pass. New nodes come behind all others. */
static int mark_small_nodes(struct finisher *f, double threshold)
{
	struct pp_frame frame = { .name = CUT_NAME, .kind = PP_FRAME_CUT };
	uint32_t nr = f->b->nr_nodes, number;
	int err = pp_tree_frame(f->b, &frame, &number);

	for (uint32_t i = 1; i < nr && !err; i++) {
		bool above = f->is_kept[f->b->nodes[i].parent];

		f->is_kept[i] = above && share_of(f, i) >= threshold;
		if (f->is_kept[i] || holds_no_samples(f, i))
			continue;
		f->tree->nr_cut++;
		if (above)
			err = move_to_cut_node(f, i, number);
	}
	return err;
}

static int by_falling_share(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/* Raise @threshold so that at most @max nodes pass. Returns 0 or -ENOMEM. */
static int raise_threshold(const struct finisher *f, uint32_t max,
			   double *threshold)
{
	double *shares = calloc(f->b->nr_nodes, sizeof(*shares));

	if (!shares)
		return -ENOMEM;
	for (uint32_t i = 1; i < f->b->nr_nodes; i++)
		shares[i] = share_of(f, i);
	qsort(shares + 1, f->b->nr_nodes - 1, sizeof(*shares),
	      by_falling_share);
	/* The first that is one too many, and its equals. */
	if (shares[max + 1] >= *threshold && shares[max + 1] > 0)
		*threshold = nextafter(shares[max + 1], INFINITY);
	free(shares);
	return 0;
}

/* After cutting: nodes that are in nodes that were cut off count no more. */
static void drop_cut(struct finisher *f, uint32_t nr_before)
{
	size_t len = f->b->nr_columns * sizeof(*f->b->self);

	for (uint32_t i = 1; i < nr_before; i++)
		if (!f->is_kept[i])
			memset(self_of(f, i), 0, len);
}

/* Room for what belongs to each node of the builder. */
static int total_nodes(struct finisher *f)
{
	size_t nr = f->b->nr_nodes;

	free(f->all);
	free(f->is_kept);
	f->all = calloc(nr * f->b->nr_columns, sizeof(*f->all));
	f->is_kept = calloc(nr, sizeof(*f->is_kept));
	if (!f->all || !f->is_kept)
		return -ENOMEM;
	f->is_kept[0] = true;
	sum_up_nodes(f);
	return 0;
}

static int cut_small_nodes(struct finisher *f, double threshold,
			   uint32_t max_nodes)
{
	uint32_t nr = f->b->nr_nodes;
	int err = total_nodes(f);

	if (!err)
		err = count_broken(f);
	if (!err && max_nodes && nr > max_nodes + 1)
		err = raise_threshold(f, max_nodes, &threshold);
	f->tree->threshold = threshold;
	if (err || threshold <= 0)
		return err;
	err = mark_small_nodes(f, threshold);
	if (err)
		return err;
	drop_cut(f, nr);
	return total_nodes(f);
}

/* ---- order --------------------------------------------------------------- */

static int compare_frames(const struct pp_frame *a, const struct pp_frame *b)
{
	int order = strcmp(a->name, b->name);

	if (!order && a->image && b->image)
		order = strcmp(a->image, b->image);
	return order ? order : (int)a->kind - (int)b->kind;
}

static int by_parent_and_name(const void *a, const void *b, void *arg)
{
	const struct pp_tree_builder *builder = arg;
	const struct pp_tree_node *x = &builder->nodes[*(const uint32_t *)a];
	const struct pp_tree_node *y = &builder->nodes[*(const uint32_t *)b];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return compare_frames(&builder->frames[x->frame],
			      &builder->frames[y->frame]);
}

/* Returns the number of nodes that hold samples. */
static uint32_t sort_nodes(struct finisher *f)
{
	struct pp_tree_builder *b = f->b;
	uint32_t nr = 0;

	for (uint32_t i = 1; i < b->nr_nodes; i++)
		if (!holds_no_samples(f, i))
			f->order[nr++] = i;
	qsort_r(f->order, nr, sizeof(*f->order), by_parent_and_name, b);
	for (uint32_t i = nr; i > 0; i--)
		f->first[b->nodes[f->order[i - 1]].parent] = i;
	return nr;
}

static void put_tree_node(struct finisher *f, uint32_t node, uint32_t parent)
{
	struct pp_tree *tree = f->tree;
	size_t nr = tree->nr_columns, len = nr * sizeof(*tree->self);
	uint32_t at = tree->nr_nodes++;

	tree->nodes[at].parent = parent;
	tree->nodes[at].frame = f->b->nodes[node].frame;
	memcpy(tree->self + at * nr, self_of(f, node), len);
	memcpy(tree->all + at * nr, all_of(f, node), len);
}

/* A step of the walk: a node of the builder, its number in the tree. */
struct step {
	uint32_t node;
	uint32_t number;
	uint32_t next; /* of its children, in the order; 0: none */
};

/*
 * Walk the children of each node in order. @stack has room for all nodes;
 * f->first counts from 1, as @nr does.
 */
static void walk_children_in_order(struct finisher *f, struct step *stack,
				   uint32_t nr)
{
	const struct pp_tree_node *nodes = f->b->nodes;
	uint32_t depth = 1;

	stack[0] = (struct step){ 0, 0, f->first[0] };
	put_tree_node(f, 0, 0);
	while (depth) {
		struct step *top = &stack[depth - 1];
		uint32_t child;

		if (!top->next || top->next > nr ||
		    nodes[f->order[top->next - 1]].parent != top->node) {
			depth--;
			continue;
		}
		child = f->order[top->next++ - 1];
		stack[depth] = (struct step){ child, f->tree->nr_nodes,
					      f->first[child] };
		put_tree_node(f, child, top->number);
		depth++;
	}
}

static int put_in_order(struct finisher *f)
{
	size_t nr_all = f->b->nr_nodes;
	struct step *stack;
	uint32_t nr;

	f->order = calloc(nr_all, sizeof(*f->order));
	f->first = calloc(nr_all, sizeof(*f->first));
	stack = calloc(nr_all, sizeof(*stack));
	if (!f->order || !f->first || !stack) {
		free(stack);
		return -ENOMEM;
	}
	nr = sort_nodes(f);
	walk_children_in_order(f, stack, nr);
	free(stack);
	return 0;
}

/* ---- all of it ----------------------------------------------------------- */

static int allocate_tree(struct finisher *f)
{
	struct pp_tree_builder *b = f->b;
	struct pp_tree *tree = f->tree;
	size_t nr = (size_t)b->nr_nodes + 1;

	tree->frames =
		op_arena_alloc(b->arena, b->nr_frames, sizeof(*tree->frames));
	tree->nodes = op_arena_alloc(b->arena, nr, sizeof(*tree->nodes));
	tree->self = op_arena_alloc(b->arena, nr * b->nr_columns,
				    sizeof(*tree->self));
	tree->all = op_arena_alloc(b->arena, nr * b->nr_columns,
				   sizeof(*tree->all));
	if (!tree->frames || !tree->nodes || !tree->self || !tree->all)
		return -ENOMEM;
	memcpy(tree->frames, b->frames, b->nr_frames * sizeof(*tree->frames));
	tree->nr_frames = b->nr_frames;
	return 0;
}

int pp_tree_finish(struct pp_tree_builder *b, double threshold,
		   uint32_t max_nodes, struct pp_tree *out)
{
	struct finisher f = { .b = b, .tree = out };
	int err = 0;

	*out = (struct pp_tree){ .nr_columns = b->nr_columns };
	out->cut = op_arena_alloc(b->arena, b->nr_columns, sizeof(*out->cut));
	if (!out->cut)
		err = -ENOMEM;
	if (!err)
		err = cut_small_nodes(&f, threshold, max_nodes);
	if (!err)
		err = allocate_tree(&f);
	if (!err)
		err = put_in_order(&f);
	free(f.all);
	free(f.is_kept);
	free(f.order);
	free(f.first);
	return err;
}
