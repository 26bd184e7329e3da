// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call trees to columns; pack_content.h has the columns. The order of nodes,
 * functions and images is that of what they are, so it does not tell in which
 * order they came.
 */
#include <errno.h>
#include <stdlib.h>

#include "libdb/ctree_table.h"
#include "libdb/db_file.h"
#include "libdb/pack_column.h"
#include "libdb/pack_content.h"
#include "libdb/pack_tree.h"

enum { IMAGES, HOMES, OFFSETS, CHILDREN, FUNCTIONS, INNER, LEAVES };

/* ---- functions ----------------------------------------------------------- */

struct ranked {
	struct pack_pair pair;
	uint32_t number;
};

/* Frequent ones first: low numbers are short. */
static int compare(const void *a, const void *b)
{
	const struct pack_pair *x = &((const struct ranked *)a)->pair;
	const struct pack_pair *y = &((const struct ranked *)b)->pair;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return (x->b > y->b) - (x->b < y->b);
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
	qsort(ranked, nr, sizeof(*ranked), compare);
	for (uint32_t i = 0; i < nr; i++) {
		ranks[ranked[i].number] = i;
		pack_bytes_number(&columns[HOMES], ranked[i].pair.a);
		pack_bytes_number(&columns[OFFSETS], ranked[i].pair.b);
	}
	free(ranked);
	return 0;
}

/* ---- nodes --------------------------------------------------------------- */

/*
 * How to walk the tree: lists of children, ascending by the rank of their
 * functions. Node 0 stands for what has no parent. Each array has an element
 * for each node, but for the ranks of functions.
 */
struct walk {
	uint32_t *ranks;
	uint32_t *first; /* child; 0: none */
	uint32_t *next; /* sibling; 0: none */
	uint32_t *nr_children;
};

static int new_walk(struct walk *walk, const struct pack_tree *tree)
{
	size_t nr = (size_t)tree->nodes.nr + 1;

	walk->ranks = calloc((size_t)tree->functions.nr + 1, sizeof(uint32_t));
	walk->first = calloc(nr, sizeof(uint32_t));
	walk->next = calloc(nr, sizeof(uint32_t));
	walk->nr_children = calloc(nr, sizeof(uint32_t));
	return walk->ranks && walk->first && walk->next && walk->nr_children
		       ? 0
		       : -ENOMEM;
}

static void free_walk(struct walk *walk)
{
	free(walk->ranks);
	free(walk->first);
	free(walk->next);
	free(walk->nr_children);
}

/* Put @node before the other children of its parent. */
static void add_child(struct walk *walk, const struct pack_tree *tree,
		      uint32_t node)
{
	uint64_t parent = tree->nodes.pairs[node].a;

	walk->next[node] = walk->first[parent];
	walk->first[parent] = node;
	walk->nr_children[parent]++;
}

/*
 * The nodes of each rank are a list at first, which begins in @ranked and goes
 * on in walk->next. Children come to their parents from the highest rank down.
 */
static int order_children(struct walk *walk, const struct pack_tree *tree)
{
	uint32_t nr = tree->functions.nr;
	uint32_t *ranked = calloc((size_t)nr + 1, sizeof(*ranked));

	if (!ranked)
		return -ENOMEM;
	for (uint32_t i = 1; i <= tree->nodes.nr; i++) {
		uint32_t *head = &ranked[walk->ranks[tree->nodes.pairs[i].b]];

		walk->next[i] = *head;
		*head = i;
	}
	while (nr--)
		for (uint32_t node = ranked[nr], next; node; node = next) {
			next = walk->next[node];
			add_child(walk, tree, node);
		}
	free(ranked);
	return 0;
}

static uint32_t next_node(const struct walk *walk, const struct pack_tree *tree,
			  uint32_t node)
{
	if (walk->first[node])
		return walk->first[node];
	while (node && !walk->next[node])
		node = (uint32_t)tree->nodes.pairs[node].a;
	return walk->next[node];
}

static void put_nodes(const struct walk *walk, const struct pack_tree *tree,
		      struct pack_bytes *columns)
{
	uint32_t node = 0;

	pack_bytes_number(&columns[CHILDREN], walk->nr_children[0]);
	while ((node = next_node(walk, tree, node))) {
		const struct pack_pair *pair = &tree->nodes.pairs[node];
		bool inner = walk->first[node];

		pack_bytes_number(&columns[CHILDREN], walk->nr_children[node]);
		pack_bytes_number(&columns[FUNCTIONS], walk->ranks[pair->b]);
		pack_bytes_number(&columns[inner ? INNER : LEAVES],
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

static int put_tree(struct pack_bytes *to, const struct pack_tree *tree)
{
	struct pack_bytes columns[PACK_TREE_COLUMNS] = { 0 };
	struct walk walk = { 0 };
	int err = new_walk(&walk, tree);

	if (!err)
		err = put_functions(&tree->functions, walk.ranks, columns);
	if (!err)
		err = order_children(&walk, tree);
	if (!err) {
		put_images(tree, &columns[IMAGES]);
		put_nodes(&walk, tree, columns);
	}
	free_walk(&walk);
	if (!err)
		err = pack_columns_put(to, columns, PACK_TREE_COLUMNS);
	for (size_t i = 0; i < PACK_TREE_COLUMNS; i++)
		pack_bytes_release(&columns[i]);
	return err;
}

static const void *user_of(const struct ctree *const *parts, size_t nr)
{
	size_t i = 0;

	while (i < nr - 1 && odb_is_zero(parts[i]->header->user, ODB_USER_SIZE))
		i++;
	return parts[i]->header->user;
}

static uint64_t total_of(const struct pack_pairs *nodes)
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
	entry->user = user_of(parts, nr);
	entry->nr = tree.nodes.nr;
	entry->total = total_of(&tree.nodes);
	if (!err)
		err = put_tree(to, &tree);
	pack_tree_release(&tree);
	return err;
}
