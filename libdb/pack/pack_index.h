/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_PACK_PACK_INDEX_H
#define LIBDB_PACK_PACK_INDEX_H

/*
 * Which entries a pack has, private to libdb.
 */

#include "libdb/pack.h"
#include "libdb/pack/pack_bytes.h"
#include "libdb/pack/pack_format.h"

struct pack_item {
	struct pack_entry entry; /* comes first */
	uint64_t at; /* of the content: bytes from the start of the file */
	uint64_t len; /* bytes */
	uint32_t crc;
};

struct pack_index {
	size_t nr;
	struct pack_bytes items;
	struct pack_bytes names;
	struct pack_bytes users;
};

struct pack {
	int fd;
	uint64_t generation;
	uint32_t version;
	struct pack_index index;
	uint64_t nr_missing; /* entries; UINT64_MAX: nobody knows */
};

/*
 * Fill in an all-zero @index from the @len packed @bytes that @header, which is
 * sound, tells of. Returns 0, -EBADMSG or -ENOMEM; pack_index_release() in any
 * case.
 */
int pack_index_get(struct pack_index *index, const struct pack_header *header,
		   const uint8_t *bytes);

void pack_index_release(struct pack_index *index);

/*
 * The same for the entries of @group, which come behind those that are there.
 * When all have been added, pack_index_link() gives them their names: -EBADMSG
 * if these do not ascend.
 */
int pack_index_add_group(struct pack_index *index,
			 const struct pack_group *group, const uint8_t *bytes);
int pack_index_link(struct pack_index *index);

/* Add an item, @gap bytes behind the one before, to the columns of an index
 * that is written. */
void pack_index_put(struct pack_bytes *columns, const struct pack_item *item,
		    uint64_t gap);

/* Read @len bytes that are in the file @fd. *@out is to be freed. Returns 0,
 * -EBADMSG when they do not have that checksum, or -errno. */
int pack_read_piece(int fd, uint64_t at, uint64_t len, uint32_t crc,
		    uint8_t **out);

/* *@bytes is the packed content of @entry, to be freed. Returns 0, -EBADMSG
 * when it is damaged, -errno. */
int pack_read(const struct pack *pack, const struct pack_entry *entry,
	      uint8_t **bytes);

static inline struct pack_item *pack_index_items(const struct pack_index *index)
{
	return (struct pack_item *)index->items.bytes;
}

/* The item that has @entry. */
static inline const struct pack_item *
pack_item_of(const struct pack_entry *entry)
{
	return (const struct pack_item *)entry;
}

#endif /* LIBDB_PACK_PACK_INDEX_H */
