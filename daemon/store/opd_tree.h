/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_TREE_H
#define DAEMON_STORE_OPD_TREE_H

/*
 * The cache of open call trees (libdb/ctree.h): one for each application,
 * event, and whatever else is kept apart. It is bounded by the number of trees
 * and by that of their nodes, for each of which the writer needs some memory;
 * the one that was not used for longest is closed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/store/opd_sfile.h"

struct ctree;
struct opd_store;
struct opd_image;

#define OPD_TREE_BUCKETS 1024
#define OPD_MAX_TREES 1024
#define OPD_MAX_TREE_NODES (UINT64_C(1) << 22)

/* Where a frame of a stack is, and where it is counted. */
struct opd_spot {
	struct opd_image *image; /* NULL: unknown */
	uint64_t key; /* as in a flat sample file of the image; of the innermost
			 frame that of its function's start, if known */
	const char *anon; /* NULL: no anonymous memory, like the three below */
	uint64_t start;
	uint64_t end;
	int64_t anon_tgid;
	uint32_t node; /* of the tree; filled by opd_tree_add(), like this: */
	uint32_t number; /* of its image in the tree */
};

/* The number that a tree has for an image. */
struct opd_tree_image {
	const struct opd_image *image; /* NULL: a free slot */
	const char *anon; /* these as in a spot */
	uint64_t start;
	uint64_t end;
	int64_t anon_tgid;
	uint32_t number;
};

struct opd_tree {
	struct opd_tree *chain; /* with the same bucket */
	uint64_t hash;
	uint64_t used; /* the last time, in uses of any tree */
	struct opd_sfile_key key; /* both images are the application */
	unsigned int counter;
	struct ctree *ctree; /* NULL: cannot be opened, until the next sync */
	uint64_t nr_nodes; /* no less than it has */
	struct opd_tree_image *images; /* open-addressed, at most half used */
	size_t nr_images;
	size_t nr_slots; /* a power of two, or 0 */
	/* In the time line, by number: of the file, then of its nodes and its
	 * images. Those up to the last node that was counted. */
	uint64_t *ids;
	uint32_t nr_ids;
};

struct opd_trees {
	struct opd_tree *bucket[OPD_TREE_BUCKETS];
	uint64_t uses;
	uint64_t nr_nodes; /* of all */
	size_t nr;
};

/* The tree of @key, opened if it is not; NULL when memory is short. Holds as
 * long as store->changes is the same. */
struct opd_tree *opd_tree_get(struct opd_store *store,
			      const struct opd_sfile_key *key,
			      unsigned int counter);

/*
 * Whether the tree has a node for the frame at @spot that was called at
 * @caller, whose node is known: then its node and number are filled.
 */
bool opd_tree_find(const struct opd_tree *tree, const struct opd_spot *caller,
		   struct opd_spot *spot);

/*
 * Count a stack, of @nr @spots, innermost first, which are all known, in @tree,
 * @times. The outermost @nr_known of them came before: of these only the
 * innermost is looked at, which has its node. @root, unless NULL, is put before
 * the outermost frame. Returns 0, or -errno when there is no tree to count it
 * in; -EAGAIN when the tree begins anew, and all spots are needed.
 */
int opd_tree_add(struct opd_store *store, struct opd_tree *tree,
		 struct opd_spot *spots, unsigned int nr, unsigned int nr_known,
		 const struct opd_spot *root, uint64_t times);

/* Try those once more that could not be opened. */
void opd_trees_sync(struct opd_store *store);

/* Close all. */
void opd_trees_drop_all(struct opd_store *store);

/*
 * Add the stacks in @tree, which is open to be read, to @stacks, by what
 * op_ledger.h says of them. Returns 0 or -ENOMEM.
 */
int opd_tree_count(const struct ctree *tree, uint64_t *stacks);

#endif /* DAEMON_STORE_OPD_TREE_H */
