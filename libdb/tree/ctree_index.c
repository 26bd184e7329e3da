// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding the slot of a call tree that holds a given node, or a given
 * description of an image.
 *
 * The file has no index: a kill could leave an index half changed. Who opens
 * the file makes this hash in memory, and verifies the file by it:
 * ctree_index_add() refuses a slot that equals an earlier one.
 */

#include <string.h>

#include "libdb/tree/ctree_table.h"

static uint64_t hash_tree_node(uint64_t seed, uint32_t parent, uint32_t image,
			       uint64_t offset)
{
	return op_hash_mix(op_hash_mix(seed, (uint64_t)parent << 32 | image),
			   offset);
}

static uint64_t hash_slot(const struct ctree *tree, uint32_t at)
{
	const union ctree_slot *slot = ctree_slot(tree, at);

	if (ctree_is_image(tree, at))
		return op_hash_bytes(tree->index.seed, ctree_bytes_of(slot),
				     slot->image.len);
	return hash_tree_node(tree->index.seed, slot->node.parent,
			      slot->node.image, slot->node.offset);
}

static bool is_node(const union ctree_slot *slot, uint32_t parent,
		    uint32_t image, uint64_t offset)
{
	return slot->node.parent == parent && slot->node.image == image &&
	       slot->node.offset == offset;
}

/* The description goes on in the slots behind, without a gap. */
static bool is_image(const union ctree_slot *slot, const void *bytes,
		     size_t len)
{
	return slot->image.mark == CTREE_IMAGE_HEAD && slot->image.len == len &&
	       !memcmp(ctree_bytes_of(slot), bytes, len);
}

uint32_t ctree_index_node(const struct ctree *tree, uint32_t parent,
			  uint32_t image, uint64_t offset)
{
	uint64_t hash = hash_tree_node(tree->index.seed, parent, image, offset);
	uint32_t at;

	op_hash_each(&tree->index, hash, at)
		if (is_node(ctree_slot(tree, at), parent, image, offset))
			break;
	return at;
}

uint32_t ctree_index_image(const struct ctree *tree, const void *bytes,
			   size_t len)
{
	uint64_t hash = op_hash_bytes(tree->index.seed, bytes, len);
	uint32_t at;

	op_hash_each(&tree->index, hash, at)
		if (is_image(ctree_slot(tree, at), bytes, len))
			break;
	return at;
}

int ctree_index_reserve(struct ctree *tree)
{
	return op_hash_reserve(&tree->index, (size_t)tree->index.nr + 1);
}

bool ctree_index_add(struct ctree *tree, uint32_t at)
{
	const union ctree_slot *slot = ctree_slot(tree, at);
	uint32_t equal =
		ctree_is_image(tree, at)
			? ctree_index_image(tree, ctree_bytes_of(slot),
					    slot->image.len)
			: ctree_index_node(tree, slot->node.parent,
					   slot->node.image, slot->node.offset);

	if (equal)
		return false;
	op_hash_add(&tree->index, hash_slot(tree, at), at);
	return true;
}
