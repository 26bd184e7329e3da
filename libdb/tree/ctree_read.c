// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The view of readers: nodes and images numbered without gaps.
 */
#include <errno.h>
#include <stdlib.h>

#include "libdb/tree/ctree_table.h"

static uint32_t slots_at(const struct ctree *tree, uint32_t at)
{
	if (!ctree_is_image(tree, at))
		return 1;
	return ctree_image_slots(ctree_slot(tree, at)->image.len);
}

static void count_both(struct ctree *tree)
{
	for (uint32_t at = 1; at <= tree->nr_used; at += slots_at(tree, at)) {
		if (ctree_is_image(tree, at))
			tree->nr_images++;
		else
			tree->nr_nodes++;
	}
}

/* @numbers[slot] becomes the number of what is there. */
static void number_all(struct ctree *tree, uint32_t *numbers)
{
	uint32_t nr_nodes = 0, nr_images = 0;

	for (uint32_t at = 1; at <= tree->nr_used; at += slots_at(tree, at)) {
		const union ctree_slot *slot = ctree_slot(tree, at);

		if (ctree_is_image(tree, at)) {
			tree->images[nr_images++] = at;
			numbers[at] = nr_images;
			continue;
		}
		tree->nodes[nr_nodes++] = (struct ctree_node){
			.parent = numbers[slot->node.parent],
			.image = numbers[slot->node.image],
			.offset = slot->node.offset,
			.count = slot->node.count,
		};
		numbers[at] = nr_nodes;
	}
}

int ctree_number(struct ctree *tree)
{
	uint32_t *numbers;

	op_hash_release(&tree->index);
	count_both(tree);
	numbers = calloc((size_t)tree->nr_used + 1, sizeof(*numbers));
	tree->nodes = calloc((size_t)tree->nr_nodes + 1, sizeof(*tree->nodes));
	tree->images =
		calloc((size_t)tree->nr_images + 1, sizeof(*tree->images));
	if (!numbers || !tree->nodes || !tree->images) {
		free(numbers);
		return -ENOMEM;
	}
	number_all(tree, numbers);
	free(numbers);
	return 0;
}

uint32_t ctree_nr_nodes(const struct ctree *tree)
{
	return tree->nr_nodes;
}

uint32_t ctree_nr_images(const struct ctree *tree)
{
	return tree->nr_images;
}

void ctree_node(const struct ctree *tree, uint32_t node, struct ctree_node *out)
{
	*out = tree->nodes[node - 1];
}

void ctree_set_count(struct ctree *tree, uint32_t node, uint64_t count)
{
	tree->nodes[node - 1].count = count;
}

const void *ctree_image_bytes(const struct ctree *tree, uint32_t image,
			      size_t *len)
{
	const union ctree_slot *slot =
		ctree_slot(tree, tree->images[image - 1]);

	*len = slot->image.len;
	return ctree_bytes_of(slot);
}
