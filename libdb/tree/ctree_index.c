// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding the slot of a call tree that holds a given node, or a given
 * description of an image.
 *
 * The file has no index: a kill could leave an index half changed. Who opens
 * the file makes this hash in memory, and verifies the file by it:
 * ctree_index_add() refuses a slot that equals an earlier one.
 *
 * The hash holds numbers of slots. When an entry is taken, the next one is
 * tried. The hash grows before it is more than half full, so each search meets
 * a free entry.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libdb/tree/ctree_table.h"

#define FIRST_SIZE 256

static uint64_t mix_word(uint64_t hash, uint64_t word)
{
	uint64_t x = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);

	x ^= x >> 32;
	x *= UINT64_C(0xd1b54a32d192ed03);
	return x ^ x >> 32;
}

static uint64_t hash_tree_node(uint64_t seed, uint32_t parent, uint32_t image,
			       uint64_t offset)
{
	return mix_word(mix_word(seed, (uint64_t)parent << 32 | image), offset);
}

static uint64_t hash_bytes(uint64_t seed, const uint8_t *bytes, size_t len)
{
	uint64_t hash = mix_word(seed, len);

	while (len) {
		size_t n = len < sizeof(uint64_t) ? len : sizeof(uint64_t);
		uint64_t word = 0;

		memcpy(&word, bytes, n);
		hash = mix_word(hash, word);
		bytes += n;
		len -= n;
	}
	return hash;
}

static uint64_t hash_slot(const struct ctree *tree, uint32_t at)
{
	const union ctree_slot *slot = ctree_slot(tree, at);

	if (ctree_is_image(tree, at))
		return hash_bytes(tree->index.seed, ctree_bytes_of(slot),
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

/* The next entry of the index after @i. It is never full. */
static uint32_t next_index_slot(const struct ctree_index *index, uint32_t i)
{
	return (i + 1) & (index->nr - 1);
}

uint32_t ctree_index_node(const struct ctree *tree, uint32_t parent,
			  uint32_t image, uint64_t offset)
{
	const struct ctree_index *index = &tree->index;
	uint32_t i;

	if (!index->nr)
		return 0;
	i = hash_tree_node(index->seed, parent, image, offset) &
	    (index->nr - 1);
	for (; index->slots[i]; i = next_index_slot(index, i))
		if (is_node(ctree_slot(tree, index->slots[i]), parent, image,
			    offset))
			break;
	return index->slots[i];
}

uint32_t ctree_index_image(const struct ctree *tree, const void *bytes,
			   size_t len)
{
	const struct ctree_index *index = &tree->index;
	uint32_t i;

	if (!index->nr)
		return 0;
	i = hash_bytes(index->seed, bytes, len) & (index->nr - 1);
	for (; index->slots[i]; i = next_index_slot(index, i))
		if (is_image(ctree_slot(tree, index->slots[i]), bytes, len))
			break;
	return index->slots[i];
}

static void put_into_index(struct ctree *tree, uint32_t at)
{
	struct ctree_index *index = &tree->index;
	uint32_t i = hash_slot(tree, at) & (index->nr - 1);

	while (index->slots[i])
		i = next_index_slot(index, i);
	index->slots[i] = at;
}

int ctree_index_reserve(struct ctree *tree)
{
	struct ctree_index old = tree->index;
	uint32_t nr = old.nr ? 2 * old.nr : FIRST_SIZE;

	if (old.nr_used < old.nr / 2)
		return 0;
	tree->index.slots = calloc(nr, sizeof(*old.slots));
	if (!tree->index.slots) {
		tree->index.slots = old.slots;
		return -ENOMEM;
	}
	tree->index.nr = nr;
	for (uint32_t i = 0; i < old.nr; i++)
		if (old.slots[i])
			put_into_index(tree, old.slots[i]);
	free(old.slots);
	return 0;
}

bool ctree_index_add(struct ctree *tree, uint32_t at)
{
	const union ctree_slot *slot = ctree_slot(tree, at);
	uint32_t equal;

	if (ctree_is_image(tree, at))
		equal = ctree_index_image(tree, ctree_bytes_of(slot),
					  slot->image.len);
	else
		equal = ctree_index_node(tree, slot->node.parent,
					 slot->node.image, slot->node.offset);
	if (equal)
		return false;
	put_into_index(tree, at);
	tree->index.nr_used++;
	return true;
}
