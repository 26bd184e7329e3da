/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_PACK_PACK_CONTENT_H
#define LIBDB_PACK_PACK_CONTENT_H

/*
 * The content of entries, private to libdb: tables and trees to packed columns
 * and back. Both ways what is equal is made of the same bytes.
 *
 * Table: keys ascend. Those with the same upper half are a group, as the arcs
 * of a caller are, and have but the lower one.
 *
 *	groups	upper half, then number of keys - 1, of each
 *	keys	lower half of each
 *	counts	count - 1 of each
 *
 * Halves are the difference to the one before, less one; the first of all
 * groups, and the first of the keys of each group, as they are.
 *
 * Tree: nodes in preorder.
 *
 *	images		length and bytes of each, ascending by memcmp()
 *	homes		the image of each function, numbered from 0: a function
 *			is an image and an offset, and the more nodes have it
 *			the lower is its number
 *	offsets		the offset of each function
 *	children	how many nodes have no parent, then the number of
 *			children of each node
 *	functions	that of each node; those of siblings ascend
 *	inner		the count of each node that has children
 *	leaves		the count of each other node
 */

#include "libdb/pack.h"
#include "libdb/pack/pack_bytes.h"

#define PACK_TABLE_COLUMNS 3
#define PACK_TREE_COLUMNS 7

/*
 * Add the sum of @parts to @to, and set all but the name of @entry; its user
 * bytes are those of a part. Returns 0, -EINVAL for a tree that is open to be
 * written, -EFBIG or -ENOMEM.
 */
int pack_table_put(struct pack_bytes *to, const struct odb *const *parts,
		   size_t nr, struct pack_entry *entry);
int pack_tree_put(struct pack_bytes *to, const struct ctree *const *parts,
		  size_t nr, struct pack_entry *entry);

/*
 * *@out is what @len @bytes hold, on success only. Returns 0, -EBADMSG when
 * they are damaged or not what @entry says, or -ENOMEM.
 */
int pack_table_get(struct odb **out, const uint8_t *bytes, size_t len,
		   const struct pack_entry *entry);
int pack_tree_get(struct ctree **out, const uint8_t *bytes, size_t len,
		  const struct pack_entry *entry);

/* The sum of both, which stays at UINT64_MAX. */
static inline uint64_t pack_sum(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

#endif /* LIBDB_PACK_PACK_CONTENT_H */
