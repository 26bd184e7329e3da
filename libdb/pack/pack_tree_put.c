// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call trees to columns; pack_content.h has the columns. The order of nodes,
 * functions and images is that of what they are, so it does not tell in which
 * order they came.
 */
#include <errno.h>
#include <stdlib.h>

#include "libdb/tree/ctree_table.h"
#include "libdb/table/db_file.h"
#include "libdb/pack/pack_column.h"
#include "libdb/pack/pack_content.h"
#include "libdb/pack/pack_tree.h"
#include "libop/base/op_search.h"

enum { IMAGES, HOMES, OFFSETS, CHILDREN, FUNCTIONS, INNER, LEAVES };

/* ---- functions ----------------------------------------------------------- */

struct ranked {
	struct pack_pair pair;
	uint32_t number;
};

/* Frequent ones first: low numbers are short. */
static int compare_function_uses(const void *a, const void *b)
{
	const struct pack_pair *x = &((const struct ranked *)a)->pair;
	const struct pack_pair *y = &((const struct ranked *)b)->pair;

	return op_compare(y->count, x->count) ?: op_compare(x->a, y->a) ?:
	       op_compare(x->b, y->b);
}

/* Write the functions. @ranks[number] becomes the place of each, from 0. */
static int put_functions(const struct pack_pairs *functions, uint32_t *ranks,
			 struct pack_bytes *columns)
{
	uint32_t nr = functions->nr;
	struct ranked *ranked = calloc((size_t)nr + 1, sizeof(*ranked));

	if (!ranked)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		ranked[i] = (struct ranked){ functions->pairs[i + 1], i + 1 };
	qsort(ranked, nr, sizeof(*ranked), compare_function_uses);
	for (uint32_t i = 0; i < nr; i++) {
		ranks[ranked[i].number] = i;
		pack_bytes_number(&columns[HOMES], ranked[i].pair.a);
		pack_bytes_number(&columns[OFFSETS], ranked[i].pair.b);
	}
	free(ranked);
	return 0;
}

/* ---- nodes --------------------------------------------------------------- */

/* Where a node is: what its children are a list of. */
struct place {
	uint32_t first; /* child; 0: none */
	uint32_t next; /* sibling; 0: none */
	uint32_t nr_children;
};

/*
 * How to walk the tree: children ascend by the ranks of their functions. Node 0
 * stands for what has no parent.
 */
struct walk {
	const struct pack_pair *nodes;
	uint32_t nr_nodes;
	struct place *places; /* of each node */
	uint32_t *ranks; /* of each function */
};

static int new_walk(struct walk *walk, const struct pack_tree *tree)
{
	walk->nodes = tree->nodes.pairs;
	walk->nr_nodes = tree->nodes.nr;
	walk->places =
		calloc((size_t)tree->nodes.nr + 1, sizeof(*walk->places));
	walk->ranks =
		calloc((size_t)tree->functions.nr + 1, sizeof(*walk->ranks));
	return walk->places && walk->ranks ? 0 : -ENOMEM;
}

static void free_walk(struct walk *walk)
{
	free(walk->places);
	free(walk->ranks);
}

/* Put @node before the other children of its parent. */
static void add_child(struct walk *walk, uint32_t node)
{
	struct place *parent = &walk->places[walk->nodes[node].a];

	walk->places[node].next = parent->first;
	parent->first = node;
	parent->nr_children++;
}

/*
 * The nodes of each rank are a list at first, which begins in @ranked and goes
 * on where siblings will be. Children come to their parents from the highest
 * rank down.
 */
static int order_children(struct walk *walk, uint32_t nr_functions)
{
	uint32_t *ranked = calloc((size_t)nr_functions + 1, sizeof(*ranked));

	if (!ranked)
		return -ENOMEM;
	for (uint32_t i = 1; i <= walk->nr_nodes; i++) {
		uint32_t *head = &ranked[walk->ranks[walk->nodes[i].b]];

		walk->places[i].next = *head;
		*head = i;
	}
	for (uint32_t rank = nr_functions; rank--;)
		for (uint32_t node = ranked[rank], next; node; node = next) {
			next = walk->places[node].next;
			add_child(walk, node);
		}
	free(ranked);
	return 0;
}

static uint32_t next_node(const struct walk *walk, uint32_t node)
{
	const struct place *places = walk->places;

	if (places[node].first)
		return places[node].first;
	while (node && !places[node].next)
		node = (uint32_t)walk->nodes[node].a;
	return places[node].next;
}

static void put_nodes(const struct walk *walk, struct pack_bytes *columns)
{
	uint32_t node = 0;

	pack_bytes_number(&columns[CHILDREN], walk->places[0].nr_children);
	while ((node = next_node(walk, node))) {
		const struct pack_pair *pair = &walk->nodes[node];
		uint32_t nr_children = walk->places[node].nr_children;

		pack_bytes_number(&columns[CHILDREN], nr_children);
		pack_bytes_number(&columns[FUNCTIONS], walk->ranks[pair->b]);
		pack_bytes_number(&columns[nr_children ? INNER : LEAVES],
				  pair->count);
	}
}

/* ---- all ----------------------------------------------------------------- */

static void put_images(const struct pack_tree *tree, struct pack_bytes *column)
{
	for (uint32_t i = 0; i < tree->nr_images; i++) {
		pack_bytes_number(column, tree->images[i].len);
		pack_bytes_put(column, tree->images[i].bytes,
			       tree->images[i].len);
	}
}

static int put_tree_columns(struct pack_bytes *to, const struct pack_tree *tree)
{
	struct pack_bytes columns[PACK_TREE_COLUMNS] = { 0 };
	struct walk walk = { 0 };
	int err = new_walk(&walk, tree);

	if (!err)
		err = put_functions(&tree->functions, walk.ranks, columns);
	if (!err)
		err = order_children(&walk, tree->functions.nr);
	if (!err) {
		put_images(tree, &columns[IMAGES]);
		put_nodes(&walk, columns);
	}
	free_walk(&walk);
	if (!err)
		err = pack_columns_put(to, columns, PACK_TREE_COLUMNS);
	for (size_t i = 0; i < PACK_TREE_COLUMNS; i++)
		pack_bytes_release(&columns[i]);
	return err;
}

static const void *first_tree_user(const struct ctree *const *parts, size_t nr)
{
	size_t i = 0;

	while (i < nr - 1 && odb_is_zero(parts[i]->header->user, ODB_USER_SIZE))
		i++;
	return parts[i]->header->user;
}

static uint64_t add_up_counts(const struct pack_pairs *nodes)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i <= nodes->nr; i++)
		sum = pack_sum(sum, nodes->pairs[i].count);
	return sum;
}

int pack_tree_put(struct pack_bytes *to, const struct ctree *const *parts,
		  size_t nr, struct pack_entry *entry)
{
	struct pack_tree tree = { 0 };
	int err = 0;

	for (size_t i = 0; i < nr; i++)
		if (parts[i]->writable)
			return -EINVAL;
	err = pack_tree_sum(&tree, parts, nr);
	entry->kind = PACK_TREE;
	entry->user = first_tree_user(parts, nr);
	entry->nr = tree.nodes.nr;
	entry->total = add_up_counts(&tree.nodes);
	if (!err)
		err = put_tree_columns(to, &tree);
	pack_tree_release(&tree);
	return err;
}
