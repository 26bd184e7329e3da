// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Columns to call trees, as readers have them: the slots have images alone,
 * nodes are numbered in preorder. What is read makes memory grow, not what was
 * claimed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libdb/tree/ctree_table.h"
#include "libdb/pack/pack_column.h"
#include "libdb/pack/pack_content.h"
#include "libop/base/op_search.h"

enum { IMAGES, HOMES, OFFSETS, CHILDREN, FUNCTIONS, INNER, LEAVES };

struct function {
	uint32_t image; /* from 1 */
	uint64_t offset;
};

/* A node whose children come. */
struct family {
	uint32_t node;
	uint64_t to_come;
	uint64_t next; /* the lowest function that the next one may have */
};

struct reader {
	struct pack_column columns[PACK_TREE_COLUMNS];
	struct pack_bytes slots; /* of descriptions */
	struct pack_bytes images; /* slot numbers of their heads */
	struct pack_bytes functions;
	struct pack_bytes families; /* the innermost last */
	struct pack_bytes nodes;
	struct ctree *tree; /* points to slots, images and nodes */
	uint32_t nr_functions;
	uint64_t total;
};

static bool is_at_end(const struct pack_column *column)
{
	return column->at == column->end && !column->to_come;
}

/* ---- images -------------------------------------------------------------- */

/* Add an image of @len bytes, *@slot is its head. */
static int make_image_slots(struct reader *r, size_t len,
			    union ctree_slot **slot)
{
	uint32_t nr = ctree_image_slots(len);
	struct ctree *tree = r->tree;
	uint32_t *image = pack_bytes_add(&r->images, sizeof(*image));

	if (nr > CTREE_SLOTS_MAX - tree->nr_used)
		return -EBADMSG;
	*slot = pack_bytes_add(&r->slots, nr * sizeof(**slot));
	if (!image || !*slot)
		return -ENOMEM;
	memset(*slot, 0, nr * sizeof(**slot));
	(*slot)->image.mark = CTREE_IMAGE_HEAD;
	(*slot)->image.len = (uint32_t)len;
	*image = tree->nr_used + 1;
	tree->nr_used += nr;
	tree->nr_images++;
	tree->slots = (union ctree_slot *)r->slots.bytes;
	tree->images = (uint32_t *)r->images.bytes;
	return 0;
}

/* Whether the last two images ascend. */
static bool images_ascend(const struct ctree *tree)
{
	size_t a_len, b_len;
	const void *a, *b;
	int order;

	if (tree->nr_images < 2)
		return true;
	a = ctree_image_bytes(tree, tree->nr_images - 1, &a_len);
	b = ctree_image_bytes(tree, tree->nr_images, &b_len);
	order = memcmp(a, b, a_len < b_len ? a_len : b_len);
	return order < 0 || (!order && a_len < b_len);
}

static int get_image(struct reader *r)
{
	union ctree_slot *slot = NULL;
	uint64_t len = 0;
	int err = pack_column_number(&r->columns[IMAGES], &len);

	if (!err && (!len || len > CTREE_IMAGE_MAX))
		err = -EBADMSG;
	if (!err)
		err = make_image_slots(r, len, &slot);
	if (!err)
		err = pack_column_bytes(&r->columns[IMAGES],
					(uint8_t *)slot +
						offsetof(union ctree_slot,
							 image.bytes),
					len);
	if (!err && !images_ascend(r->tree))
		err = -EBADMSG;
	return err;
}

/* ---- functions ----------------------------------------------------------- */

static int get_function(struct reader *r)
{
	struct function *function =
		pack_bytes_add(&r->functions, sizeof(*function));
	uint64_t image = 0;
	int err = function ? 0 : -ENOMEM;

	if (!err)
		err = pack_column_number(&r->columns[HOMES], &image);
	if (!err)
		err = pack_column_number(&r->columns[OFFSETS],
					 &function->offset);
	if (!err && image >= r->tree->nr_images)
		err = -EBADMSG;
	if (err)
		return err;
	function->image = (uint32_t)image + 1;
	/* Each is of a node. */
	return r->nr_functions++ < CTREE_SLOTS_MAX ? 0 : -EBADMSG;
}

static int compare_tree_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return op_compare(x->image, y->image)
		       ?: op_compare(x->offset, y->offset);
}

/* -EBADMSG if two functions are the same. */
static int check_functions(const struct reader *r)
{
	struct pack_bytes copy = { 0 };
	struct function *sorted;
	int err;

	pack_bytes_put(&copy, r->functions.bytes, r->functions.len);
	err = copy.err;
	sorted = (struct function *)copy.bytes;
	if (!err)
		qsort(sorted, r->nr_functions, sizeof(*sorted),
		      compare_tree_functions);
	for (uint32_t i = 1; !err && i < r->nr_functions; i++)
		if (!compare_tree_functions(&sorted[i - 1], &sorted[i]))
			err = -EBADMSG;
	pack_bytes_release(&copy);
	return err;
}

/* ---- nodes --------------------------------------------------------------- */

/* The next nodes are the children of @node. */
static int begin_family(struct reader *r, uint32_t node, uint64_t nr_children)
{
	struct family *family;

	if (!nr_children)
		return 0;
	family = pack_bytes_add(&r->families, sizeof(*family));
	if (!family)
		return -ENOMEM;
	*family = (struct family){ .node = node, .to_come = nr_children };
	return 0;
}

static struct family *innermost(const struct reader *r)
{
	return (struct family *)(r->families.bytes + r->families.len) - 1;
}

/* The function of the next node, which has to fit in with its siblings. */
static int get_child(struct reader *r, struct family *family,
		     uint64_t *function)
{
	int err = pack_column_number(&r->columns[FUNCTIONS], function);

	if (!err && (*function < family->next || *function >= r->nr_functions))
		err = -EBADMSG;
	family->next = *function + 1;
	return err;
}

static int read_node(struct reader *r, uint32_t parent, uint64_t function,
		     uint64_t count)
{
	const struct function *of =
		(struct function *)r->functions.bytes + function;
	struct ctree_node *node = pack_bytes_add(&r->nodes, sizeof(*node));

	if (!node)
		return -ENOMEM;
	*node = (struct ctree_node){
		.parent = parent,
		.image = of->image,
		.offset = of->offset,
		.count = count,
	};
	r->tree->nr_nodes++;
	r->total = pack_sum(r->total, count);
	return 0;
}

static int get_node(struct reader *r)
{
	struct family *family = innermost(r);
	uint64_t nr_children = 0, function = 0, count = 0;
	int err = pack_column_number(&r->columns[CHILDREN], &nr_children);

	if (!err)
		err = get_child(r, family, &function);
	if (!err)
		err = pack_column_number(
			&r->columns[nr_children ? INNER : LEAVES], &count);
	if (!err)
		err = read_node(r, family->node, function, count);
	if (err)
		return err;
	/* First of all: families without an end would be a stack as deep as
	 * the tree. */
	if (!--family->to_come)
		r->families.len -= sizeof(*family);
	return begin_family(r, r->tree->nr_nodes, nr_children);
}

/* ---- all ----------------------------------------------------------------- */

static int get_all(struct reader *r, const struct pack_entry *entry)
{
	uint64_t nr_roots;
	int err = entry->nr > CTREE_SLOTS_MAX ? -EBADMSG : 0;

	while (!err && !is_at_end(&r->columns[IMAGES]))
		err = get_image(r);
	while (!err && !is_at_end(&r->columns[HOMES]))
		err = get_function(r);
	if (!err)
		err = check_functions(r) ?:
		      pack_column_number(&r->columns[CHILDREN], &nr_roots) ?:
		      begin_family(r, CTREE_ROOT, nr_roots);
	while (!err && r->families.len)
		err = r->tree->nr_nodes < entry->nr ? get_node(r) : -EBADMSG;
	if (!err &&
	    (r->tree->nr_nodes != entry->nr || r->total != entry->total))
		err = -EBADMSG;
	return err;
}

/* The slots get the header before them; the rest is taken over. */
static int fill_tree(struct reader *r, const void *user)
{
	struct ctree *tree = r->tree;

	tree->header = calloc(1, sizeof(*tree->header) + r->slots.len);
	if (!tree->header)
		return -ENOMEM;
	memcpy(tree->header->user, user, ODB_USER_SIZE);
	tree->slots = (union ctree_slot *)(tree->header + 1);
	if (r->slots.len)
		memcpy(tree->slots, r->slots.bytes, r->slots.len);
	tree->nodes = (struct ctree_node *)r->nodes.bytes;
	r->nodes = r->images = (struct pack_bytes){ 0 };
	return 0;
}

static void reader_release(struct reader *r)
{
	pack_bytes_release(&r->slots);
	pack_bytes_release(&r->images);
	pack_bytes_release(&r->functions);
	pack_bytes_release(&r->families);
	pack_bytes_release(&r->nodes);
}

int pack_tree_get(struct ctree **out, const uint8_t *bytes, size_t len,
		  const struct pack_entry *entry)
{
	struct reader r = { .tree = calloc(1, sizeof(*r.tree)) };
	int end, err;

	if (!r.tree)
		return -ENOMEM;
	err = pack_columns_open(r.columns, PACK_TREE_COLUMNS, bytes, len);
	if (!err)
		err = get_all(&r, entry);
	end = pack_columns_close(r.columns, PACK_TREE_COLUMNS);
	if (!err)
		err = end;
	if (!err)
		err = fill_tree(&r, entry->user);
	if (err)
		free(r.tree);
	else
		*out = r.tree;
	reader_release(&r);
	return err;
}
