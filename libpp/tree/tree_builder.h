/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_TREE_TREE_BUILDER_H
#define LIBPP_TREE_TREE_BUILDER_H

/*
 * A call tree in the making, for libpp alone: frames and nodes are found or
 * added by what they are, in any order; pp_tree_finish() puts them in theirs.
 */

#include "libop/base/op_arena.h"
#include "libop/base/op_hash.h"
#include "libpp/tree/tree.h"

struct pp_tree_builder {
	struct op_arena *arena;
	size_t nr_columns;
	struct pp_frame *frames; /* frame 0 is the root's */
	uint32_t nr_frames;
	struct pp_tree_node *nodes; /* parents first */
	uint32_t nr_nodes;
	uint64_t *self; /* nr_columns for each node */
	struct op_hash frame_index, node_index; /* of numbers plus 1 */
};

/* Begin with a root called @name. Returns 0 or -ENOMEM; to be released either
 * way. */
int pp_tree_builder_init(struct pp_tree_builder *b, struct op_arena *arena,
			 size_t nr_columns, const char *name);
void pp_tree_builder_release(struct pp_tree_builder *b);

/* *@out is the frame equal to @frame, whose strings outlive the tree. Returns
 * 0; -ENOMEM; -EFBIG for one too many, like the next function. */
int pp_tree_frame(struct pp_tree_builder *b, const struct pp_frame *frame,
		  uint32_t *out);

/* *@out is the node of @frame below @parent; the second is for a function that
 * was inlined into that of @parent. */
int pp_tree_child(struct pp_tree_builder *b, uint32_t parent, uint32_t frame,
		  uint32_t *out);
int pp_tree_inlined(struct pp_tree_builder *b, uint32_t parent, uint32_t frame,
		    uint32_t *out);

/* Add to a node's own count; it stays at UINT64_MAX. */
void pp_tree_add(struct pp_tree_builder *b, uint32_t node, size_t column,
		 uint64_t count);

/*
 * Make a tree of what was built, without nodes that hold no samples. Nodes
 * with less than @threshold percent of the root in each column are cut off;
 * what they held is in one node of kind PP_FRAME_CUT at their parent. The
 * threshold is raised where more than @max_nodes (0: any number) would stay.
 * Returns 0 or -ENOMEM.
 */
int pp_tree_finish(struct pp_tree_builder *b, double threshold,
		   uint32_t max_nodes, struct pp_tree *out);

#endif /* LIBPP_TREE_TREE_BUILDER_H */
