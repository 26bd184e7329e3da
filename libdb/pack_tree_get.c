// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Columns to call trees, as readers have them: the slots have images alone,
 * nodes are numbered in preorder. What is read makes memory grow, not what was
 * claimed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libdb/ctree_table.h"
#include "libdb/pack_column.h"
#include "libdb/pack_content.h"

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
	struct ctree *tree;
	struct pack_column columns[PACK_TREE_COLUMNS];
	struct function *functions;
	size_t nr_functions, function_room;
	struct family *families; /* the innermost last */
	size_t nr_families, family_room;
	size_t slot_room, image_room, node_room;
	uint64_t total;
};

/*
 * Make room for element number @nr, counted from 0, of an array of *@room
 * elements of @size bytes. @pointer is where the pointer to it is.
 */
static int reserve(void *pointer, size_t *room, size_t nr, size_t size)
{
	size_t more = nr < 32 ? 64 : 2 * nr;
	void *array, *longer;

	if (nr < *room)
		return 0;
	memcpy(&array, pointer, sizeof(array));
	longer = reallocarray(array, more, size);
	if (!longer)
		return -ENOMEM;
	memcpy(pointer, &longer, sizeof(longer));
	*room = more;
	return 0;
}

#define RESERVE(array, room, nr)                                               \
	reserve(&(array), &(room), nr, sizeof(*(array)))

static bool is_at_end(const struct pack_column *column)
{
	return column->at == column->end && !column->to_come;
}

/* ---- images -------------------------------------------------------------- */

/* Make room for an image of @len bytes, and *@slot its head. */
static int new_image(struct reader *r, size_t len, union ctree_slot **slot)
{
	uint32_t nr = ctree_image_slots(len);
	struct ctree *tree = r->tree;
	int err;

	if (nr > CTREE_SLOTS_MAX - tree->nr_used)
		return -EBADMSG;
	err = RESERVE(tree->slots, r->slot_room, tree->nr_used + nr);
	if (!err)
		err = RESERVE(tree->images, r->image_room, tree->nr_images);
	if (err)
		return err;
	*slot = ctree_slot(tree, tree->nr_used + 1);
	memset(*slot, 0, nr * sizeof(**slot));
	(*slot)->image.mark = CTREE_IMAGE_HEAD;
	(*slot)->image.len = (uint32_t)len;
	tree->images[tree->nr_images++] = tree->nr_used + 1;
	tree->nr_used += nr;
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
		err = new_image(r, len, &slot);
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
	uint64_t image = 0, offset = 0;
	int err = RESERVE(r->functions, r->function_room, r->nr_functions);

	if (!err)
		err = pack_column_number(&r->columns[HOMES], &image);
	if (!err)
		err = pack_column_number(&r->columns[OFFSETS], &offset);
	if (!err && image >= r->tree->nr_images)
		err = -EBADMSG;
	if (!err)
		r->functions[r->nr_functions++] = (struct function){
			.image = (uint32_t)image + 1,
			.offset = offset,
		};
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Whether no two functions are the same: -EBADMSG if they are. */
static int check_functions(const struct reader *r)
{
	struct function *sorted = calloc(r->nr_functions + 1, sizeof(*sorted));
	int err = 0;

	if (!sorted)
		return -ENOMEM;
	if (r->nr_functions)
		memcpy(sorted, r->functions, r->nr_functions * sizeof(*sorted));
	qsort(sorted, r->nr_functions, sizeof(*sorted), compare);
	for (size_t i = 1; !err && i < r->nr_functions; i++)
		if (!compare(&sorted[i - 1], &sorted[i]))
			err = -EBADMSG;
	free(sorted);
	return err;
}

/* ---- nodes --------------------------------------------------------------- */

/* The next nodes are the children of @node. */
static int begin_family(struct reader *r, uint32_t node, uint64_t nr_children)
{
	int err;

	if (!nr_children)
		return 0;
	err = RESERVE(r->families, r->family_room, r->nr_families);
	if (!err)
		r->families[r->nr_families++] = (struct family){
			.node = node,
			.to_come = nr_children,
		};
	return err;
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

static int get_node(struct reader *r)
{
	struct family *family = &r->families[r->nr_families - 1];
	uint32_t number = r->tree->nr_nodes + 1, parent = family->node;
	uint64_t nr_children = 0, function = 0, count = 0;
	int err = RESERVE(r->tree->nodes, r->node_room, number);

	if (!err)
		err = pack_column_number(&r->columns[CHILDREN], &nr_children);
	if (!err)
		err = get_child(r, family, &function);
	if (!err)
		err = pack_column_number(
			&r->columns[nr_children ? INNER : LEAVES], &count);
	if (err)
		return err;
	r->tree->nodes[number - 1] = (struct ctree_node){
		.parent = parent,
		.image = r->functions[function].image,
		.offset = r->functions[function].offset,
		.count = count,
	};
	r->tree->nr_nodes = number;
	r->total = pack_sum(r->total, count);
	/* First of all: families without an end would be a stack as deep as
	 * the tree. */
	if (!--family->to_come)
		r->nr_families--;
	return begin_family(r, number, nr_children);
}

/* ---- all ----------------------------------------------------------------- */

static int get_all(struct reader *r, const struct pack_entry *entry)
{
	uint64_t nr_roots = 0;
	int err = entry->nr > CTREE_SLOTS_MAX ? -EBADMSG : 0;

	while (!err && !is_at_end(&r->columns[IMAGES]))
		err = get_image(r);
	while (!err && !is_at_end(&r->columns[HOMES]))
		err = get_function(r);
	if (!err)
		err = check_functions(r);
	if (!err)
		err = pack_column_number(&r->columns[CHILDREN], &nr_roots);
	if (!err)
		err = begin_family(r, CTREE_ROOT, nr_roots);
	while (!err && r->nr_families)
		err = r->tree->nr_nodes < entry->nr ? get_node(r) : -EBADMSG;
	if (!err &&
	    (r->tree->nr_nodes != entry->nr || r->total != entry->total))
		err = -EBADMSG;
	return err;
}

/* The slots get the header before them. */
static int finish(struct ctree *tree, const void *user)
{
	size_t len = (size_t)tree->nr_used * sizeof(*tree->slots);

	tree->header = calloc(1, sizeof(*tree->header) + len);
	if (!tree->header)
		return -ENOMEM;
	memcpy(tree->header->user, user, ODB_USER_SIZE);
	if (len)
		memcpy(tree->header + 1, tree->slots, len);
	free(tree->slots);
	tree->slots = (union ctree_slot *)(tree->header + 1);
	return 0;
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
		err = finish(r.tree, entry->user);
	free(r.functions);
	free(r.families);
	if (!err) {
		*out = r.tree;
		return 0;
	}
	free(r.tree->slots);
	r.tree->slots = NULL;
	ctree_close(r.tree);
	return err;
}
