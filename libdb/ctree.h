/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_CTREE_H
#define LIBDB_CTREE_H

/*
 * ctree: a file that counts whole stacks. Stacks that begin alike share nodes:
 * a node is a place in an image that was called by its parent's place, and has
 * a count of its own. A stack that came before takes no space, however often it
 * comes. doc/sample-files.md describes the bytes.
 *
 * The file only ever grows at its end and lives in mapped memory: a killed
 * writer loses nothing that it had added. One process writes a file at a time
 * (the caller's lock); any number may read it meanwhile.
 *
 * No function prints or exits; errors are negative errno values. A ctree is
 * not locked: one thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libdb/odb.h"

struct ctree;

#define CTREE_ROOT 0u /* the parent of nodes that nothing called */
#define CTREE_IMAGE_MAX 8192 /* longest description of an image, bytes */

/*
 * Open @path. *@out is set on success only and is the caller's to close.
 * Modes, errors and promises are those of odb_open(): -EBADMSG when the file
 * is not a sound tree, -EPROTO when it is one of another version or byte
 * order. In ODB_RDONLY a private copy is read, with the counts of that moment.
 */
int ctree_open(struct ctree **out, const char *path, enum odb_mode mode);

/* Unmap and close; what was added stays in the file. NULL is allowed. */
void ctree_close(struct ctree *tree);

/* The same as odb_share_room(): ctree_child() and ctree_image() return -EDQUOT
 * where there is too little. */
void ctree_share_room(struct ctree *tree, uint64_t *room);

/*
 * The caller's ODB_USER_SIZE bytes, all zero in a new file; written through
 * in ODB_RDWR. The pointer holds until the next function that may add.
 */
void *ctree_user(struct ctree *tree);

struct ctree_node {
	uint32_t parent; /* CTREE_ROOT or a node */
	uint32_t image;
	uint64_t offset;
	uint64_t count; /* of its own, without those that it called */
};

/* ---- writers ------------------------------------------------------------- */

/*
 * Numbers of images and nodes are good while the tree is open. Errors of all
 * three: -EBADF in ODB_RDONLY, -EINVAL for what cannot be such a number; of the
 * first two also what may go wrong when the file grows (ENOSPC, EFBIG,
 * ENOMEM, EMFILE, EACCES; ENOENT or ESTALE when it was removed or replaced
 * meanwhile): then nothing was added and the file is as it was.
 */

/* *@image is the image that @len bytes (1 to CTREE_IMAGE_MAX) describe. The
 * last of them is not zero, nor is any behind the first 80. */
int ctree_image(struct ctree *tree, const void *bytes, size_t len,
		uint32_t *image);

/* *@node is what @parent (or CTREE_ROOT) called at @offset in @image. */
int ctree_child(struct ctree *tree, uint32_t parent, uint32_t image,
		uint64_t offset, uint32_t *node);

/* The child of @parent at @offset in @image; CTREE_ROOT if there is none. */
uint32_t ctree_find_child(const struct ctree *tree, uint32_t parent,
			  uint32_t image, uint64_t offset);

/*
 * Look at the node or image with the number @at: *@bytes are
 * *@len that describe an image, or NULL, and @node is a node. Numbers begin
 * with 1. Returns the next one that there is, or will be.
 */
uint32_t ctree_walk(const struct ctree *tree, uint32_t at,
		    struct ctree_node *node, const void **bytes, size_t *len);

/* Add @count to the own count of @node, which stays at UINT64_MAX. */
int ctree_add(struct ctree *tree, uint32_t node, uint64_t count);

/*
 * Whether the file had lost pages when it was opened, as by a power cut: it
 * counts more slots than are sound, and what is behind the first that is not is
 * left out. What was brought to the disk before is all there.
 */
bool ctree_is_torn(const struct ctree *tree);

/* ---- readers --------------------------------------------------------------
 */

/*
 * Nodes have numbers from 1 to ctree_nr_nodes(), parents lower ones than
 * their children; images from 1 to ctree_nr_images(). No two nodes are equal
 * in parent, image and offset, no two images in their bytes. In ODB_RDWR there
 * are none of both.
 */

uint32_t ctree_nr_nodes(const struct ctree *tree);
uint32_t ctree_nr_images(const struct ctree *tree);

/* Fill @out; @node is from 1 to ctree_nr_nodes(). */
void ctree_node(const struct ctree *tree, uint32_t node,
		struct ctree_node *out);

/* Let @node, of a tree that is open ODB_RDONLY, have @count: in the copy. */
void ctree_set_count(struct ctree *tree, uint32_t node, uint64_t count);

/* The bytes that describe @image (1 to ctree_nr_images()), *@len of them. */
const void *ctree_image_bytes(const struct ctree *tree, uint32_t image,
			      size_t *len);

/*
 * Add all nodes and counts of @from, which is open ODB_RDONLY, to @to, which is
 * open ODB_RDWR, and @from's user bytes where those of @to are all zero.
 * Returns 0 or -errno as the functions of writers, -EINVAL when @from is open
 * to be written; then @to has a part of them.
 */
int ctree_merge(struct ctree *to, const struct ctree *from);

#endif /* LIBDB_CTREE_H */
