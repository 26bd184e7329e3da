// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A call tree in the making. Frames and nodes are numbered as they come, in
 * arrays, and found by hashes of numbers, so that a tree of millions of nodes
 * takes few bytes for each. A parent is added before its children, so parents
 * have smaller numbers, which tree_finish.c relies on. Frames compare by their
 * strings, since names of different files are different pointers.
 */

#include "libpp/tree_builder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/sample_list.h"

#define FIRST_ROOM 1024
#define MAX_NUMBER (UINT32_C(1) << 28)

/* ---- the hash ------------------------------------------------------------ */

static uint64_t mix_tree_hash(uint64_t hash, uint64_t word)
{
	uint64_t x = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);

	x ^= x >> 32;
	x *= UINT64_C(0xd1b54a32d192ed03);
	return x ^ x >> 32;
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = 0;

	for (; text && *text; text++)
		hash = hash * 31 + (unsigned char)*text;
	return hash;
}

static uint64_t hash_frame(const struct pp_frame *frame)
{
	return mix_tree_hash(mix_tree_hash(hash_text(frame->name),
					   hash_text(frame->image)),
			     frame->kind);
}

static uint64_t hash_node(const struct pp_tree_node *node)
{
	return mix_tree_hash(node->parent, node->frame);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_frame(const struct pp_frame *a, const struct pp_frame *b)
{
	return a->kind == b->kind && same_text(a->name, b->name) &&
	       same_text(a->image, b->image);
}

/* The entry that holds @frame, or the free one where it would go. */
static uint32_t *find_frame(const struct pp_tree_builder *b,
			    const struct pp_frame *frame)
{
	const struct pp_tree_index *index = &b->frame_index;
	size_t i = hash_frame(frame) & (index->nr - 1);

	while (index->entries[i] &&
	       !same_frame(&b->frames[index->entries[i] - 1], frame))
		i = (i + 1) & (index->nr - 1);
	return &index->entries[i];
}

static uint32_t *find_node(const struct pp_tree_builder *b,
			   const struct pp_tree_node *node)
{
	const struct pp_tree_index *index = &b->node_index;
	size_t i = hash_node(node) & (index->nr - 1);

	while (index->entries[i]) {
		const struct pp_tree_node *there =
			&b->nodes[index->entries[i] - 1];

		if (there->parent == node->parent &&
		    there->frame == node->frame)
			break;
		i = (i + 1) & (index->nr - 1);
	}
	return &index->entries[i];
}

/* Entries for twice the numbers, none of them taken. */
static int reset_index(struct pp_tree_index *index, size_t nr)
{
	free(index->entries);
	index->entries = calloc(nr, sizeof(*index->entries));
	index->nr = index->entries ? nr : 0;
	return index->entries ? 0 : -ENOMEM;
}

static int grow_frames(struct pp_tree_builder *b)
{
	uint32_t room = b->frames_room ? 2 * b->frames_room : FIRST_ROOM;
	struct pp_frame *frames;

	if (room > MAX_NUMBER)
		return -EFBIG;
	frames = realloc(b->frames, room * sizeof(*frames));
	if (!frames)
		return -ENOMEM;
	b->frames = frames;
	if (reset_index(&b->frame_index, (size_t)room * 2))
		return -ENOMEM;
	b->frames_room = room;
	for (uint32_t i = 0; i < b->nr_frames; i++)
		*find_frame(b, &frames[i]) = i + 1;
	return 0;
}

static int grow_nodes(struct pp_tree_builder *b)
{
	uint32_t room = b->nodes_room ? 2 * b->nodes_room : FIRST_ROOM;
	struct pp_tree_node *nodes;
	uint64_t *self;

	if (room > MAX_NUMBER)
		return -EFBIG;
	nodes = realloc(b->nodes, room * sizeof(*nodes));
	if (!nodes)
		return -ENOMEM;
	b->nodes = nodes;
	self = reallocarray(b->self, room, b->nr_columns * sizeof(*self));
	if (!self)
		return -ENOMEM;
	b->self = self;
	if (reset_index(&b->node_index, (size_t)room * 2))
		return -ENOMEM;
	b->nodes_room = room;
	/* The root is nobody's child. */
	for (uint32_t i = 1; i < b->nr_nodes; i++)
		*find_node(b, &nodes[i]) = i + 1;
	return 0;
}

/* ---- adding -------------------------------------------------------------- */

static int add_tree_node(struct pp_tree_builder *b,
			 const struct pp_tree_node *node)
{
	int err = b->nr_nodes == b->nodes_room ? grow_nodes(b) : 0;

	if (err)
		return err;
	memset(b->self + b->nr_nodes * b->nr_columns, 0,
	       b->nr_columns * sizeof(*b->self));
	b->nodes[b->nr_nodes++] = *node;
	return 0;
}

int pp_tree_frame(struct pp_tree_builder *b, const struct pp_frame *frame,
		  uint32_t *out)
{
	int err = 0;

	*out = *find_frame(b, frame);
	if (*out) {
		--*out;
		return 0;
	}
	if (b->nr_frames == b->frames_room)
		err = grow_frames(b);
	if (err)
		return err;
	*out = b->nr_frames++;
	*find_frame(b, frame) = *out + 1;
	b->frames[*out] = *frame;
	return 0;
}

int pp_tree_child(struct pp_tree_builder *b, uint32_t parent, uint32_t frame,
		  uint32_t *out)
{
	struct pp_tree_node node = { .parent = parent, .frame = frame };
	int err;

	*out = *find_node(b, &node);
	if (*out) {
		--*out;
		return 0;
	}
	err = add_tree_node(b, &node);
	if (err)
		return err;
	*out = b->nr_nodes - 1;
	*find_node(b, &node) = *out + 1;
	return 0;
}

void pp_tree_add(struct pp_tree_builder *b, uint32_t node, size_t column,
		 uint64_t count)
{
	uint64_t *sum = &b->self[node * b->nr_columns + column];

	*sum = pp_add_counts(*sum, count);
}

int pp_tree_builder_init(struct pp_tree_builder *b, struct op_arena *arena,
			 size_t nr_columns, const char *name)
{
	struct pp_frame frame = { .name = name, .kind = PP_FRAME_ROOT };
	struct pp_tree_node root = { 0 };
	uint32_t number;
	int err;

	*b = (struct pp_tree_builder){ .arena = arena,
				       .nr_columns = nr_columns };
	err = grow_frames(b);
	if (!err)
		err = pp_tree_frame(b, &frame, &number);
	return err ? err : add_tree_node(b, &root);
}

void pp_tree_builder_release(struct pp_tree_builder *b)
{
	free(b->frames);
	free(b->nodes);
	free(b->self);
	free(b->frame_index.entries);
	free(b->node_index.entries);
}
