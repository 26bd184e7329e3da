/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_TREE_CTREE_TABLE_H
#define LIBDB_TREE_CTREE_TABLE_H

/*
 * An open call tree, private to libdb. A writer's map is the file itself; a
 * reader's is a copy in memory. No file descriptor stays open.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "libdb/ctree.h"
#include "libdb/tree/ctree_format.h"
#include "libop/base/op_hash.h"

struct ctree {
	struct ctree_header *header; /* the map; NULL while opening */
	union ctree_slot *slots; /* slot 0 is not there */
	uint32_t nr_used;
	bool torn; /* the file counts more slots than are sound */
	size_t map_len; /* bytes */
	/* Slots by what they hold; made anew when a file is opened. */
	struct op_hash index;

	/* writers only */
	bool writable;
	uint64_t *room; /* as of struct odb */
	char *path; /* absolute, its last part not a link */
	dev_t dev; /* which file @path was, to notice another one there */
	ino_t ino;

	/* readers only: what the numbers of the interface are */
	struct ctree_node *nodes; /* node 1 first */
	uint32_t nr_nodes;
	uint32_t *images; /* slots of the heads, image 1 first */
	uint32_t nr_images;
};

/* Slot number @at, from 1 to nr_used. */
static inline union ctree_slot *ctree_slot(const struct ctree *tree,
					   uint32_t at)
{
	return &tree->slots[at - 1];
}

/* Whether slot number @at, known to start one, is the head of an image. */
static inline bool ctree_is_image(const struct ctree *tree, uint32_t at)
{
	return ctree_slot(tree, at)->image.mark == CTREE_IMAGE_HEAD;
}

/* ---- ctree_index.c --------------------------------------------------------
 */

/* The slot of that node or image; 0 when there is none. */
uint32_t ctree_index_node(const struct ctree *tree, uint32_t parent,
			  uint32_t image, uint64_t offset);
uint32_t ctree_index_image(const struct ctree *tree, const void *bytes,
			   size_t len);

/* Make room for one more. Returns 0 or -ENOMEM. */
int ctree_index_reserve(struct ctree *tree);

/* Take up slot @at, a node or the head of an image, for which there is room.
 * Returns false when its equal is there already. */
bool ctree_index_add(struct ctree *tree, uint32_t at);

/* ---- ctree_check.c --------------------------------------------------------
 */

/* Whether @bytes can describe an image, 1 to CTREE_IMAGE_MAX of them. */
bool ctree_may_describe(const uint8_t *bytes, size_t len);

/*
 * Check the header of a file of @file_len bytes, which may have fewer slots
 * than it counts. Returns 0, -EBADMSG when it is not a sound one or -EPROTO
 * when it is of another version or byte order.
 */
int ctree_check_header(const struct ctree_header *header, uint64_t file_len);

/*
 * Check the invariants of all slots and fill the index. The first that is not
 * sound ends them, and the tree is torn. Returns 0, -EBADMSG when none is, or
 * -ENOMEM.
 */
int ctree_check_slots(struct ctree *tree);

/* ---- ctree_read.c ---------------------------------------------------------
 */

/* Fill what readers have, from sound slots. Returns 0 or -ENOMEM. */
int ctree_number(struct ctree *tree);

#endif /* LIBDB_TREE_CTREE_TABLE_H */
