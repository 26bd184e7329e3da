/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_TREE_CTREE_FORMAT_H
#define LIBDB_TREE_CTREE_FORMAT_H

/*
 * The bytes of a call tree's file; described for people in
 * doc/sample-files.md.
 *
 *	| header 64 | user 192 | slot 1 | slot 2 | ... | slot nr_used | free |
 *
 * A slot is a node, or the head of an image's description, whose further bytes
 * fill the slots behind it. Everything refers to what stands before it, by
 * slot number. What is in nr_used slots never changes but for counts.
 *
 * Invariants, which ctree_check.c verifies before a file is used:
 *  - slots 1 to nr_used are nodes and whole descriptions, one behind another;
 *  - a description ends with a byte that is not zero, and has zero bytes among
 *    its first CTREE_IMAGE_ZEROES alone: what a power cut has cost of it shows;
 *  - a node's parent is 0 or a node before it, its image the head of one
 *    before it;
 *  - no two nodes have the same parent, image and offset, no two descriptions
 *    the same bytes.
 *
 * All numbers are in the byte order of the machine that wrote them.
 */

#include <stddef.h>
#include <stdint.h>

#include "libdb/odb.h"

#define CTREE_MAGIC "\211OCT\r\n\032\n"
#define CTREE_MAGIC_LEN 8
#define CTREE_VERSION 1
#define CTREE_BYTE_ORDER 0x01020304u
#define CTREE_BYTE_ORDER_SWAPPED 0x04030201u

#define CTREE_PAGE 4096 /* files get longer by whole pages of this */
#define CTREE_IMAGE_HEAD UINT32_MAX /* in place of a parent */

struct ctree_header {
	uint8_t magic[CTREE_MAGIC_LEN];
	uint32_t byte_order;
	uint32_t version;
	uint32_t header_len; /* bytes before slot 1 */
	uint32_t slot_len; /* bytes */
	uint64_t nr_used; /* slots that are complete */
	uint8_t reserved[32]; /* zero */
	uint8_t user[ODB_USER_SIZE];
};

/* The bytes of a description that its first slot holds. */
#define CTREE_HEAD_BYTES 16

union ctree_slot {
	struct {
		uint32_t parent;
		uint32_t image;
		uint64_t offset;
		uint64_t count;
	} node;
	struct {
		uint32_t mark; /* CTREE_IMAGE_HEAD */
		uint32_t len; /* bytes of the description */
		uint8_t bytes[CTREE_HEAD_BYTES]; /* zero behind the end */
	} image;
	uint8_t bytes[24]; /* of a description; zero behind its end */
};

_Static_assert(sizeof(struct ctree_header) == 256, "on disk since version 1");
_Static_assert(offsetof(struct ctree_header, user) == 64, "on disk");
_Static_assert(sizeof(union ctree_slot) == 24, "on disk since version 1");

#define CTREE_SLOTS_MAX (UINT32_C(1) << 26) /* 1.5 GiB */

/* Bytes of a description, the first ones, that may be zero. */
#define CTREE_IMAGE_ZEROES 80

/* All @slot->image.len bytes of a description, of which the head has a few. */
static inline const uint8_t *ctree_bytes_of(const union ctree_slot *slot)
{
	return (const uint8_t *)slot + offsetof(union ctree_slot, image.bytes);
}

/* Slots with a description of @len bytes, 1 to CTREE_IMAGE_MAX. */
static inline uint32_t ctree_image_slots(size_t len)
{
	size_t rest = len > CTREE_HEAD_BYTES ? len - CTREE_HEAD_BYTES : 0;

	return (uint32_t)(1 + (rest + sizeof(union ctree_slot) - 1) /
				      sizeof(union ctree_slot));
}

/* The bytes from the start of the file to behind @nr_slots of them. */
static inline size_t ctree_used_len(uint32_t nr_slots)
{
	return sizeof(struct ctree_header) +
	       (size_t)nr_slots * sizeof(union ctree_slot);
}

#endif /* LIBDB_TREE_CTREE_FORMAT_H */
