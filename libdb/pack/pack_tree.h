/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_PACK_PACK_TREE_H
#define LIBDB_PACK_PACK_TREE_H

/*
 * The sum of call trees, private to libdb: its images, functions and nodes,
 * each once. Memory and time are linear in the nodes of the parts, but for
 * sorting images and functions.
 */

#include "libdb/ctree.h"
#include "libdb/pack/pack_pairs.h"

struct pack_tree_image {
	const void *bytes; /* belong to a part */
	size_t len;
	size_t part;
	uint32_t number; /* there */
};

struct pack_tree {
	struct pack_tree_image *images; /* ascending by their bytes */
	uint32_t nr_images;
	/* image from 0, offset; how many nodes have that function */
	struct pack_pairs functions;
	/* number of the parent or CTREE_ROOT, of the function; the count */
	struct pack_pairs nodes;
};

/*
 * Fill in an all-zero @tree; the parts, open ODB_RDONLY, must outlive it.
 * Returns 0, -EFBIG or -ENOMEM; pack_tree_release() in any case.
 */
int pack_tree_sum(struct pack_tree *tree, const struct ctree *const *parts,
		  size_t nr);

void pack_tree_release(struct pack_tree *tree);

#endif /* LIBDB_PACK_PACK_TREE_H */
