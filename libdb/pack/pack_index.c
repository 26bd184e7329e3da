// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The index of a pack: the name of each entry, what it is about, and how long
 * its content is.
 *
 * The index has the lengths of contents and of the gaps between them, where
 * groups are; an entry's place is the sum of those before it. Names have to
 * ascend: that makes a search
 * by halves possible, and no name is there twice.
 *
 * While items are read, the arrays of names and of user bytes may move as they
 * grow. So entries get their pointers into these arrays last, in
 * pack_index_link().
 */

#include "libdb/pack/pack_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libdb/pack/pack_column.h"
#include "libdb/pack/pack_content.h"

#define CRC_LEN 4

/* ---- names --------------------------------------------------------------- */

/* "", "." and ".." are none of a name. */
static bool part_is_sound(const char *part, size_t len)
{
	return len && !(len <= 2 && !memcmp(part, "..", len));
}

bool pack_name_is_sound(const char *name)
{
	for (;;) {
		size_t len = strcspn(name, "/");

		if (!part_is_sound(name, len))
			return false;
		if (!name[len])
			return true;
		name += len + 1;
	}
}

/* ---- writing ------------------------------------------------------------- */

void pack_index_put(struct pack_bytes *columns, const struct pack_item *item,
		    uint64_t gap)
{
	const struct pack_entry *entry = &item->entry;
	uint8_t crc[CRC_LEN];

	for (size_t i = 0; i < CRC_LEN; i++)
		crc[i] = (uint8_t)(item->crc >> 8 * i);
	pack_bytes_put(&columns[PACK_NAMES], entry->name,
		       strlen(entry->name) + 1);
	pack_bytes_put(&columns[PACK_USERS], entry->user, ODB_USER_SIZE);
	pack_bytes_number(&columns[PACK_FIGURES], entry->kind);
	pack_bytes_number(&columns[PACK_FIGURES], entry->nr);
	pack_bytes_number(&columns[PACK_FIGURES], entry->total);
	pack_bytes_number(&columns[PACK_FIGURES], item->len);
	pack_bytes_number(&columns[PACK_FIGURES], gap);
	pack_bytes_put(&columns[PACK_CHECKSUMS], crc, CRC_LEN);
}

/* ---- reading ------------------------------------------------------------- */

static int get_name(struct pack_bytes *names, struct pack_column *column)
{
	size_t first = names->len;
	uint8_t *at;
	int err;

	do {
		at = pack_bytes_reserve(names, 1);
		err = at ? pack_column_byte(column, at) : -ENOMEM;
		if (!err && names->len - first > PACK_NAME_MAX)
			err = -EBADMSG;
		if (err)
			return err;
		names->len++;
	} while (*at);
	return pack_name_is_sound((char *)names->bytes + first) ? 0 : -EBADMSG;
}

static int get_user(struct pack_bytes *users, struct pack_column *column)
{
	uint8_t *at = pack_bytes_add(users, ODB_USER_SIZE);

	return at ? pack_column_bytes(column, at, ODB_USER_SIZE) : -ENOMEM;
}

static int get_crc(struct pack_item *item, struct pack_column *column)
{
	uint8_t crc[CRC_LEN];
	int err = pack_column_bytes(column, crc, CRC_LEN);

	for (size_t i = 0; !err && i < CRC_LEN; i++)
		item->crc |= (uint32_t)crc[i] << 8 * i;
	return err;
}

static int get_figures(struct pack_item *item, struct pack_column *column)
{
	uint64_t kind;
	int err = pack_column_number(column, &kind) ?:
		  pack_column_number(column, &item->entry.nr) ?:
		  pack_column_number(column, &item->entry.total) ?:
		  pack_column_number(column, &item->len);

	if (err)
		return err;
	item->entry.kind = (enum pack_kind)kind;
	return kind == PACK_TABLE || kind == PACK_TREE ? 0 : -EBADMSG;
}

/* Where contents are, and how they are described. */
struct extent {
	uint64_t nr;
	uint64_t at; /* behind the last one that was read */
	uint64_t end; /* what is behind them all */
	bool has_gaps;
};

/* Read the next item. */
static int get_item(struct pack_index *index, struct pack_column *columns,
		    struct extent *extent)
{
	struct pack_item *item = pack_bytes_add(&index->items, sizeof(*item));
	uint64_t gap = 0;
	int err;

	if (!item)
		return -ENOMEM;
	*item = (struct pack_item){ .at = 0 };
	err = get_name(&index->names, &columns[PACK_NAMES]) ?:
	      get_user(&index->users, &columns[PACK_USERS]) ?:
	      get_figures(item, &columns[PACK_FIGURES]) ?:
	      get_crc(item, &columns[PACK_CHECKSUMS]);
	if (!err && extent->has_gaps)
		err = pack_column_number(&columns[PACK_FIGURES], &gap);
	if (!err && gap > extent->end - extent->at)
		err = -EBADMSG;
	if (err)
		return err;
	item->at = extent->at + gap;
	/* The lengths of columns alone take as much. */
	if (item->len < 2 * PACK_TABLE_COLUMNS ||
	    item->len > extent->end - item->at)
		return -EBADMSG;
	extent->at = item->at + item->len;
	index->nr++;
	return 0;
}

static int get_items(struct pack_index *index, const uint8_t *bytes, size_t len,
		     struct extent *extent)
{
	struct pack_column columns[PACK_INDEX_COLUMNS];
	int end, err = pack_columns_open(columns, PACK_INDEX_COLUMNS, bytes,
					 len);

	for (uint64_t i = 0; !err && i < extent->nr; i++)
		err = get_item(index, columns, extent);
	end = pack_columns_close(columns, PACK_INDEX_COLUMNS);
	return err ? err : end;
}

/* Now that names and user bytes stay where they are. */
int pack_index_link(struct pack_index *index)
{
	const char *name = (const char *)index->names.bytes, *last = NULL;

	for (size_t i = 0; i < index->nr; i++) {
		struct pack_entry *entry = &pack_index_items(index)[i].entry;

		entry->name = name;
		entry->user = index->users.bytes + i * ODB_USER_SIZE;
		if (last && strcmp(last, name) >= 0)
			return -EBADMSG;
		last = name;
		name += strlen(name) + 1;
	}
	return 0;
}

int pack_index_get(struct pack_index *index, const struct pack_header *header,
		   const uint8_t *bytes)
{
	struct extent extent = {
		.nr = header->nr,
		.at = sizeof(*header),
		.end = header->index_at,
		.has_gaps = header->version != PACK_VERSION_WITHOUT_GROUPS,
	};
	int err = get_items(index, bytes, header->index_len, &extent);

	if (!err && !extent.has_gaps && extent.at != extent.end)
		err = -EBADMSG;
	return err ? err : pack_index_link(index);
}

int pack_index_add_group(struct pack_index *index,
			 const struct pack_group *group, const uint8_t *bytes)
{
	const struct pack_index before = *index;
	struct extent extent = {
		.nr = group->nr,
		.at = group->contents_at,
		.end = group->at,
		.has_gaps = true,
	};
	int err = get_items(index, bytes, group->len, &extent);

	if (!err && extent.at != extent.end)
		err = -EBADMSG;
	/* Without half a group; the arrays may have moved. */
	if (err) {
		index->nr = before.nr;
		index->items.len = before.items.len;
		index->names.len = before.names.len;
		index->users.len = before.users.len;
	}
	return err;
}

void pack_index_release(struct pack_index *index)
{
	pack_bytes_release(&index->items);
	pack_bytes_release(&index->names);
	pack_bytes_release(&index->users);
	*index = (struct pack_index){ 0 };
}
