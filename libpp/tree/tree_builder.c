// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A call tree in the making. Frames and nodes are numbered as they come, in
 * arrays, and found by hashes of numbers, so that a tree of millions of nodes
 * takes few bytes for each. A parent is added before its children, so parents
 * have smaller numbers, which tree_finish.c relies on. Frames compare by their
 * strings, since names of different files are different pointers.
 */

#include "libpp/tree/tree_builder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libpp/report/report.h"
#include "libpp/select/sample_list.h"

#define MAX_NUMBER (UINT32_C(1) << 28)

/* ---- frames -------------------------------------------------------------- */

static uint64_t hash_frame(uint64_t hash, const struct pp_frame *frame)
{
	hash = op_hash_mix(hash, frame->kind);
	hash = op_hash_text(hash, frame->name ? frame->name : "");
	return op_hash_text(hash, frame->image ? frame->image : "");
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_frame(const struct pp_frame *a, const struct pp_frame *b)
{
	return a->kind == b->kind && a->is_apart == b->is_apart &&
	       a->tgid == b->tgid && a->tid == b->tid &&
	       same_text(a->name, b->name) && same_text(a->image, b->image) &&
	       same_text(a->cgroup, b->cgroup);
}

static bool same_binary(const struct pp_image *a, const struct pp_image *b)
{
	return a == b ||
	       (a && b &&
		!memcmp(&a->build_id, &b->build_id, sizeof(a->build_id)));
}

int pp_tree_frame(struct pp_tree_builder *b, const struct pp_frame *frame,
		  uint32_t *out)
{
	struct op_hash *index = &b->frame_index;
	int err = op_hash_reserve(index, (size_t)b->nr_frames + 1);
	uint32_t number;
	uint64_t hash;

	if (err)
		return err;
	hash = hash_frame(index->seed, frame);
	op_hash_each(index, hash, number) {
		struct pp_frame *found = &b->frames[number - 1];

		if (!same_frame(found, frame))
			continue;
		found->many_builds |=
			!same_binary(found->binary, frame->binary);
		*out = number - 1;
		return 0;
	}
	if (b->nr_frames == MAX_NUMBER)
		return -EFBIG;
	err = op_array_reserve(&b->frames, b->nr_frames, 1);
	if (err)
		return err;
	*out = b->nr_frames++;
	b->frames[*out] = *frame;
	op_hash_add(index, hash, *out + 1);
	return 0;
}

/* ---- nodes --------------------------------------------------------------- */

static int add_tree_node(struct pp_tree_builder *b,
			 const struct pp_tree_node *node)
{
	size_t self_len = b->nr_columns * sizeof(*b->self);
	int err = b->nr_nodes == MAX_NUMBER ? -EFBIG : 0;

	if (!err)
		err = op_array_reserve(&b->nodes, b->nr_nodes, 1);
	if (!err)
		err = op_array_reserve_sized(&b->self, b->nr_nodes, 1,
					     self_len);
	if (err)
		return err;
	memset(b->self + b->nr_nodes * b->nr_columns, 0, self_len);
	b->nodes[b->nr_nodes++] = *node;
	return 0;
}

/* The root is nobody's child, so it is not in the index. A function may be
 * inlined in one place of a caller and called in another; then it is no part of
 * the caller. */
static int find_child(struct pp_tree_builder *b, uint32_t parent,
		      uint32_t frame, bool is_inlined, uint32_t *out)
{
	const struct pp_tree_node node = {
		.parent = parent,
		.frame = frame,
		.is_inlined = is_inlined,
	};
	struct op_hash *index = &b->node_index;
	int err = op_hash_reserve(index, b->nr_nodes);
	uint32_t number;
	uint64_t hash;

	if (err)
		return err;
	hash = op_hash_mix(index->seed, (uint64_t)parent << 32 | frame);
	op_hash_each(index, hash, number) {
		struct pp_tree_node *found = &b->nodes[number - 1];

		if (found->parent != parent || found->frame != frame)
			continue;
		found->is_inlined &= is_inlined;
		*out = number - 1;
		return 0;
	}
	err = add_tree_node(b, &node);
	if (err)
		return err;
	*out = b->nr_nodes - 1;
	op_hash_add(index, hash, b->nr_nodes);
	return 0;
}

int pp_tree_child(struct pp_tree_builder *b, uint32_t parent, uint32_t frame,
		  uint32_t *out)
{
	return find_child(b, parent, frame, false, out);
}

int pp_tree_inlined(struct pp_tree_builder *b, uint32_t parent, uint32_t frame,
		    uint32_t *out)
{
	return find_child(b, parent, frame, true, out);
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
	err = pp_tree_frame(b, &frame, &number);
	return err ? err : add_tree_node(b, &root);
}

void pp_tree_builder_release(struct pp_tree_builder *b)
{
	free(b->frames);
	free(b->nodes);
	free(b->self);
	op_hash_release(&b->frame_index);
	op_hash_release(&b->node_index);
}
