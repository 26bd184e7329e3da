// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From nodes as they came to a tree as it is shown: counts summed up, nodes
 * below the threshold cut off, siblings sorted by name, so that the same
 * program looks the same in every picture. Stacks may be thousands of frames
 * deep, so nothing here calls itself: the builder has parents before their
 * children, and one pass from the back sums up; the walk that numbers the
 * nodes keeps its own stack.
 *
 * The threshold holds for the largest share that a node has in any column, so
 * that what matters on one side of a comparison stays. Where a limit of nodes
 * is given, it is raised to the share of the first node that is one too many.
 */

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_search.h"
#include "libpp/select/sample_list.h"
#include "libpp/tree/tree_builder.h"

#define CUT_NAME "(below the threshold)"

struct finisher {
	struct pp_tree_builder *b;
	struct pp_tree *tree;
	uint64_t *all; /* nr_columns for each node of the builder */
	bool *is_kept;
	uint32_t *order; /* kept nodes by parent and name */
	uint32_t *first; /* for each node: where its children start there */
};

static uint64_t *all_of(const struct finisher *f, uint32_t node)
{
	return f->all + node * f->b->nr_columns;
}

static uint64_t *self_of(const struct finisher *f, uint32_t node)
{
	return f->b->self + node * f->b->nr_columns;
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
		pp_add_all_counts(broken, all_of(f, i), b->nr_columns);
	}
	free(below);
	f->tree->broken = broken;
	return broken && below ? 0 : -ENOMEM;
}

/* ---- cutting ------------------------------------------------------------- */

/*
 * Cut off what has less than @threshold. The samples of a topmost small node
 * move to one node beside it that stands for all that were cut there; it comes
 * behind all other nodes. Nodes below it count no more.
 */
static int cut_small_nodes(struct finisher *f, double threshold)
{
	struct pp_frame frame = { .name = CUT_NAME, .kind = PP_FRAME_CUT };
	struct pp_tree_builder *b = f->b;
	uint32_t nr = b->nr_nodes, number, cut;
	size_t len = b->nr_columns * sizeof(*b->self);
	int err = pp_tree_frame(b, &frame, &number);

	for (uint32_t i = 1; i < nr && !err; i++) {
		bool above = f->is_kept[b->nodes[i].parent];

		f->is_kept[i] = above && share_of(f, i) >= threshold;
		if (f->is_kept[i] ||
		    !pp_has_counts(all_of(f, i), b->nr_columns))
			continue;
		f->tree->nr_cut++;
		if (!above)
			continue;
		err = pp_tree_child(b, b->nodes[i].parent, number, &cut);
		if (err)
			break;
		pp_add_all_counts(self_of(f, cut), all_of(f, i), b->nr_columns);
		pp_add_all_counts(f->tree->cut, all_of(f, i), b->nr_columns);
	}
	for (uint32_t i = 1; i < nr && !err; i++)
		if (!f->is_kept[i])
			memset(self_of(f, i), 0, len);
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

/* Make room for what belongs to each node of the builder, and sum up counts.
 * Children come behind their parents, so one way back sums all up. */
static int total_nodes(struct finisher *f)
{
	const struct pp_tree_builder *b = f->b;
	size_t nr = b->nr_nodes;

	free(f->all);
	free(f->is_kept);
	f->all = calloc(nr * b->nr_columns, sizeof(*f->all));
	f->is_kept = calloc(nr, sizeof(*f->is_kept));
	if (!f->all || !f->is_kept)
		return -ENOMEM;
	f->is_kept[0] = true;
	memcpy(f->all, b->self, nr * b->nr_columns * sizeof(*f->all));
	for (uint32_t i = b->nr_nodes - 1; i > 0; i--)
		pp_add_all_counts(all_of(f, b->nodes[i].parent), all_of(f, i),
				  b->nr_columns);
	return 0;
}

/* Cut off nodes below the threshold, which is raised where more than
 * @max_nodes would stay. */
static int apply_threshold(struct finisher *f, double threshold,
			   uint32_t max_nodes)
{
	int err = total_nodes(f) ?: count_broken(f);

	if (!err && max_nodes && f->b->nr_nodes > max_nodes + 1)
		err = raise_threshold(f, max_nodes, &threshold);
	f->tree->threshold = threshold;
	if (err || threshold <= 0)
		return err;
	return cut_small_nodes(f, threshold) ?: total_nodes(f);
}

/* ---- order --------------------------------------------------------------- */

static int compare_frames(const struct pp_frame *a, const struct pp_frame *b)
{
	return strcmp(a->name, b->name) ?:
	       (a->image && b->image ? strcmp(a->image, b->image) : 0) ?:
	       (int)a->kind - (int)b->kind ?:
	       strcmp(a->cgroup ?: "", b->cgroup ?: "");
}

static int by_parent_and_name(const void *a, const void *b, void *arg)
{
	const struct pp_tree_builder *builder = arg;
	const struct pp_tree_node *x = &builder->nodes[*(const uint32_t *)a];
	const struct pp_tree_node *y = &builder->nodes[*(const uint32_t *)b];

	return op_compare(x->parent, y->parent)
		       ?: compare_frames(&builder->frames[x->frame],
					 &builder->frames[y->frame]);
}

/* Returns the number of nodes that hold samples. */
static uint32_t sort_nodes(struct finisher *f)
{
	struct pp_tree_builder *b = f->b;
	uint32_t nr = 0;

	for (uint32_t i = 1; i < b->nr_nodes; i++)
		if (!!pp_has_counts(all_of(f, i), b->nr_columns))
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

	tree->nodes[at] = f->b->nodes[node];
	tree->nodes[at].parent = parent;
	memcpy(tree->self + at * nr, self_of(f, node), len);
	memcpy(tree->all + at * nr, all_of(f, node), len);
}

/* A step of the walk: a node of the builder, its number in the tree. */
struct step {
	uint32_t node;
	uint32_t number;
	uint32_t next; /* of its children, in the order; 0: none */
};

/* Walk the children of each node in order. f->first counts from 1, as @nr
 * does. Returns 0 or -ENOMEM. */
static int walk_children_in_order(struct finisher *f, uint32_t nr)
{
	const struct pp_tree_node *nodes = f->b->nodes;
	struct step *stack = NULL;
	uint32_t depth = 1;

	if (op_array_reserve(&stack, 0, 1))
		return -ENOMEM;
	stack[0] = (struct step){ 0, 0, f->first[0] };
	put_tree_node(f, 0, 0);
	while (depth) {
		struct step *top;
		uint32_t child;

		if (op_array_reserve(&stack, depth, 1)) {
			free(stack);
			return -ENOMEM;
		}
		top = &stack[depth - 1];
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
	free(stack);
	return 0;
}

/* Leave out frames that no node has any more. Returns 0 or -ENOMEM. */
static int drop_unused_frames(struct pp_tree *tree)
{
	uint32_t *numbers =
		calloc((size_t)tree->nr_frames + 1, sizeof(*numbers));
	uint32_t kept = 0;

	if (!numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->nr_nodes; i++)
		numbers[tree->nodes[i].frame] = 1;
	for (uint32_t i = 0; i < tree->nr_frames; i++)
		if (numbers[i]) {
			tree->frames[kept] = tree->frames[i];
			numbers[i] = kept++;
		}
	for (uint32_t i = 0; i < tree->nr_nodes; i++)
		tree->nodes[i].frame = numbers[tree->nodes[i].frame];
	tree->nr_frames = kept;
	free(numbers);
	return 0;
}

/* ---- all of it ----------------------------------------------------------- */

int pp_tree_finish(struct pp_tree_builder *b, double threshold,
		   uint32_t max_nodes, struct pp_tree *out)
{
	struct finisher f = { .b = b, .tree = out };
	struct op_arena *arena = b->arena;
	size_t nr;
	int err;

	*out = (struct pp_tree){ .nr_columns = b->nr_columns };
	out->cut = op_arena_alloc(arena, b->nr_columns, sizeof(*out->cut));
	err = out->cut ? apply_threshold(&f, threshold, max_nodes) : -ENOMEM;
	if (err)
		goto out;
	/* Nothing is added any more, and the tree needs room beside these. */
	op_hash_release(&b->frame_index);
	op_hash_release(&b->node_index);
	nr = (size_t)b->nr_nodes + 1;
	out->nr_frames = b->nr_frames;
	out->frames = op_arena_alloc(arena, b->nr_frames, sizeof(*out->frames));
	out->nodes = op_arena_alloc(arena, nr, sizeof(*out->nodes));
	out->self =
		op_arena_alloc(arena, nr * b->nr_columns, sizeof(*out->self));
	out->all = op_arena_alloc(arena, nr * b->nr_columns, sizeof(*out->all));
	f.order = calloc(nr, sizeof(*f.order));
	f.first = calloc(nr, sizeof(*f.first));
	if (!out->frames || !out->nodes || !out->self || !out->all ||
	    !f.order || !f.first) {
		err = -ENOMEM;
		goto out;
	}
	memcpy(out->frames, b->frames, b->nr_frames * sizeof(*out->frames));
	err = walk_children_in_order(&f, sort_nodes(&f));
	if (!err && out->nr_cut)
		err = drop_unused_frames(out);
out:
	free(f.all);
	free(f.is_kept);
	free(f.order);
	free(f.first);
	return err;
}
