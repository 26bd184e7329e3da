// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adding up call trees. Parents come before their children in each part, so the
 * node of the sum that a parent became is known when its children come: they
 * are looked for below that.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libdb/tree/ctree_format.h"
#include "libdb/pack/pack_content.h"
#include "libdb/pack/pack_tree.h"
#include "libop/base/op_search.h"

/* ---- images -------------------------------------------------------------- */

static int compare_descriptions(const void *a, const void *b)
{
	const struct pack_tree_image *x = a, *y = b;

	return memcmp(x->bytes, y->bytes, x->len < y->len ? x->len : y->len)
		       ?: op_compare(x->len, y->len);
}

static size_t count_images(const struct ctree *const *parts, size_t nr)
{
	size_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += ctree_nr_images(parts[i]);
	return sum;
}

/* All images of all parts, sorted. Returns how many. */
static size_t list_descriptions(struct pack_tree_image *list,
				const struct ctree *const *parts, size_t nr)
{
	size_t nr_images = 0;

	for (size_t i = 0; i < nr; i++)
		for (uint32_t j = 1; j <= ctree_nr_images(parts[i]); j++) {
			struct pack_tree_image *image = &list[nr_images++];

			image->bytes =
				ctree_image_bytes(parts[i], j, &image->len);
			image->part = i;
			image->number = j;
		}
	qsort(list, nr_images, sizeof(*list), compare_descriptions);
	return nr_images;
}

/*
 * Let each image be there once. @numbers[part][image of it] becomes the number
 * in the sum.
 */
static void unite_descriptions(struct pack_tree *tree, size_t nr,
			       uint32_t **numbers)
{
	struct pack_tree_image *images = tree->images;

	for (size_t i = 0; i < nr; i++) {
		const struct pack_tree_image image = images[i];

		if (!tree->nr_images ||
		    compare_descriptions(&images[tree->nr_images - 1],
					 &image) != 0)
			images[tree->nr_images++] = image;
		numbers[image.part][image.number] = tree->nr_images - 1;
	}
}

static int sum_images(struct pack_tree *tree, const struct ctree *const *parts,
		      size_t nr, uint32_t **numbers)
{
	size_t nr_images = count_images(parts, nr);

	if (nr_images > CTREE_SLOTS_MAX)
		return -EFBIG;
	tree->images = calloc(nr_images + 1, sizeof(*tree->images));
	if (!tree->images)
		return -ENOMEM;
	unite_descriptions(tree, list_descriptions(tree->images, parts, nr),
			   numbers);
	return 0;
}

/* ---- nodes --------------------------------------------------------------- */

static int sum_node(struct pack_tree *tree, const struct ctree_node *node,
		    uint32_t parent, uint32_t image, uint32_t *number)
{
	uint32_t function;
	struct pack_pair *sum;
	int err = pack_pairs_number(&tree->functions, image, node->offset,
				    &function);

	if (!err)
		err = pack_pairs_number(&tree->nodes, parent, function, number);
	if (err)
		return err;
	sum = &tree->nodes.pairs[*number];
	sum->count = pack_sum(sum->count, node->count);
	return tree->nodes.nr > CTREE_SLOTS_MAX ? -EFBIG : 0;
}

static int sum_nodes(struct pack_tree *tree, const struct ctree *part,
		     const uint32_t *images)
{
	uint32_t nr = ctree_nr_nodes(part);
	uint32_t *numbers = calloc((size_t)nr + 1, sizeof(*numbers));
	int err = numbers ? pack_pairs_reserve(&tree->nodes, nr) : -ENOMEM;

	for (uint32_t i = 1; !err && i <= nr; i++) {
		struct ctree_node node;

		ctree_node(part, i, &node);
		err = sum_node(tree, &node, numbers[node.parent],
			       images[node.image], &numbers[i]);
	}
	free(numbers);
	return err;
}

static void count_functions(struct pack_tree *tree)
{
	for (uint32_t i = 1; i <= tree->nodes.nr; i++)
		tree->functions.pairs[tree->nodes.pairs[i].b].count++;
}

/* ---- all ----------------------------------------------------------------- */

/* Room for the new numbers of the images of each part. */
static uint32_t **new_numbers(const struct ctree *const *parts, size_t nr)
{
	size_t all = count_images(parts, nr) + nr;
	uint32_t **numbers = calloc(nr, sizeof(*numbers));
	uint32_t *room = calloc(all, sizeof(*room));

	if (!numbers || !room) {
		free(numbers);
		free(room);
		return NULL;
	}
	for (size_t i = 0; i < nr; i++) {
		numbers[i] = room;
		room += ctree_nr_images(parts[i]) + 1;
	}
	return numbers;
}

int pack_tree_sum(struct pack_tree *tree, const struct ctree *const *parts,
		  size_t nr)
{
	uint32_t **numbers = new_numbers(parts, nr);
	int err = numbers ? sum_images(tree, parts, nr, numbers) : -ENOMEM;

	for (size_t i = 0; !err && i < nr; i++)
		err = sum_nodes(tree, parts[i], numbers[i]);
	if (!err)
		count_functions(tree);
	/* The columns, which take more memory, ask for no number any more. */
	op_hash_release(&tree->functions.index);
	op_hash_release(&tree->nodes.index);
	if (numbers)
		free(numbers[0]);
	free(numbers);
	return err;
}

void pack_tree_release(struct pack_tree *tree)
{
	free(tree->images);
	pack_pairs_release(&tree->functions);
	pack_pairs_release(&tree->nodes);
	*tree = (struct pack_tree){ 0 };
}
