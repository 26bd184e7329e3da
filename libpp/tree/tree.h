/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_TREE_TREE_H
#define LIBPP_TREE_TREE_H

/*
 * The call tree of a report: the stacks of all chosen trees put together, with
 * names for their frames. A frame is a function in an image, so places in one
 * function are one; a node is a frame that was called by its parent's.
 *
 * What holds of a sample in a flat profile holds of a stack: it is chosen by
 * the image and the symbol that its sample is in, its last frame.
 *
 * Columns of counts are the classes of the report, and in a comparison behind
 * them those of the old profile. Everything belongs to the report's arena.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a frame's code is from. */
enum pp_frame_kind {
	PP_FRAME_ROOT, /* no code: an application, or all of them */
	PP_FRAME_APP, /* the application itself */
	PP_FRAME_LIBRARY, /* another file */
	PP_FRAME_KERNEL, /* or a module of it */
	PP_FRAME_ANON, /* memory without a file, as made by a JIT compiler */
	PP_FRAME_GAP, /* no code: why the stack is not whole */
	PP_FRAME_CUT, /* no code: frames that were left out */
	PP_NR_FRAME_KINDS
};

struct pp_image; /* libpp/report/report.h */

struct pp_frame {
	const char *name; /* of the symbol, or what stands for one */
	const char *image; /* its name; NULL for none */
	enum pp_frame_kind kind;
	bool is_apart; /* a root of the threads below; else both are 0 */
	int64_t tgid, tid; /* OP_MANGLE_ALL: all of them */
	const char *cgroup; /* of a root, with tree_origins: its path; empty:
			       not known; NULL: not kept apart */

	/* What is known beyond that tells frames apart: of the first function
	 * where several are one frame. */
	const struct pp_image *binary; /* that the code is in; NULL for none */
	bool many_builds; /* it is in other builds of that, too */
	const char *raw_name; /* as the binary has it; NULL without a symbol */
	uint64_t vma, size; /* of its symbol; 0 without one */
	/* With tree_origins. */
	const char *source; /* where the function is declared; NULL when not
			       known */
	unsigned int line;
	const char *process, *thread; /* of a root: names; NULL when not known
				       */
	const char *wait; /* the class of waits that began there; NULL: none,
			     or not known */
};

struct pp_tree_node {
	uint32_t parent; /* the root is its own */
	uint32_t frame : 31;
	uint32_t is_inlined : 1; /* into its parent's function, always */
};

struct pp_tree {
	bool callers; /* each frame is below the one that it called */
	struct pp_frame *frames;
	uint32_t nr_frames;
	/* Node 0 is the root. A parent comes before its children, in the order
	 * of a walk; children are in the order of their names. */
	struct pp_tree_node *nodes;
	uint32_t nr_nodes;
	size_t nr_columns;
	uint64_t *self; /* nr_columns for each node: samples there */
	uint64_t *all; /* likewise: and in what it called */
	const uint64_t *broken; /* for each column: samples below a gap */
	uint64_t *cut; /* for each column: samples in nodes that were cut off */
	uint32_t nr_cut; /* nodes */
	double threshold; /* they had less than this in percent of the root */
};

/* The counts of node @node. */
static inline const uint64_t *pp_tree_self(const struct pp_tree *tree,
					   uint32_t node)
{
	return tree->self + node * tree->nr_columns;
}

static inline const uint64_t *pp_tree_all(const struct pp_tree *tree,
					  uint32_t node)
{
	return tree->all + node * tree->nr_columns;
}

#endif /* LIBPP_TREE_TREE_H */
