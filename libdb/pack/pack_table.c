// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables to columns and back; pack_content.h has the columns. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "libdb/table/db_file.h"
#include "libdb/table/db_table.h"
#include "libdb/pack/pack_column.h"
#include "libdb/pack/pack_content.h"
#include "libop/base/op_search.h"

enum { GROUPS, KEYS, COUNTS };

/* All keys of a table, ascending. */
struct pairs {
	struct odb_slot *slots;
	uint64_t nr;
};

static uint32_t upper(uint64_t key)
{
	return (uint32_t)(key >> 32);
}

/* ---- adding up ------------------------------------------------------------
 */

static int compare_keys(const void *a, const void *b)
{
	const struct odb_slot *x = a, *y = b;

	return op_compare(x->key, y->key);
}

/* Make one pair of those with the same key. */
static void unite_equal_keys(struct pairs *pairs)
{
	uint64_t nr = 0;

	for (uint64_t i = 0; i < pairs->nr; i++) {
		const struct odb_slot *slot = &pairs->slots[i];
		struct odb_slot *last = &pairs->slots[nr ? nr - 1 : 0];

		if (nr && last->key == slot->key)
			last->count = pack_sum(last->count, slot->count);
		else
			pairs->slots[nr++] = *slot;
	}
	pairs->nr = nr;
}

static int add_up(struct pairs *pairs, const struct odb *const *parts,
		  size_t nr)
{
	uint64_t key, count, room = 0;

	for (size_t i = 0; i < nr; i++)
		for (size_t at = 0; odb_next(parts[i], &at, &key, &count);)
			room++;
	pairs->slots = calloc(room + 1, sizeof(*pairs->slots));
	if (!pairs->slots)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		for (size_t at = 0; odb_next(parts[i], &at, &key, &count);)
			pairs->slots[pairs->nr++] =
				(struct odb_slot){ key, count };
	qsort(pairs->slots, pairs->nr, sizeof(*pairs->slots), compare_keys);
	unite_equal_keys(pairs);
	return pairs->nr > odb_used_max(ODB_SLOTS_MAX) ? -EFBIG : 0;
}

/* ---- writing ------------------------------------------------------------- */

/* The end of the group that begins at @i. */
static uint64_t group_end(const struct pairs *pairs, uint64_t i)
{
	uint32_t half = upper(pairs->slots[i].key);

	while (i < pairs->nr && upper(pairs->slots[i].key) == half)
		i++;
	return i;
}

static void put_groups(const struct pairs *pairs, struct pack_bytes *columns)
{
	uint64_t next = 0, end;

	for (uint64_t i = 0; i < pairs->nr; i = end) {
		uint64_t half = upper(pairs->slots[i].key), low = 0;

		end = group_end(pairs, i);
		pack_bytes_number(&columns[GROUPS], half - next);
		pack_bytes_number(&columns[GROUPS], end - i - 1);
		next = half + 1;
		for (; i < end; i++) {
			uint64_t key = (uint32_t)pairs->slots[i].key;

			pack_bytes_number(&columns[KEYS], key - low);
			low = key + 1;
		}
	}
}

static void put_counts(const struct pairs *pairs, struct pack_bytes *column,
		       uint64_t *total)
{
	for (uint64_t i = 0; i < pairs->nr; i++) {
		pack_bytes_number(column, pairs->slots[i].count - 1);
		*total = pack_sum(*total, pairs->slots[i].count);
	}
}

static const void *first_table_user(const struct odb *const *parts, size_t nr)
{
	size_t i = 0;

	while (i < nr - 1 && odb_is_zero(parts[i]->header->user, ODB_USER_SIZE))
		i++;
	return parts[i]->header->user;
}

int pack_table_put(struct pack_bytes *to, const struct odb *const *parts,
		   size_t nr, struct pack_entry *entry)
{
	struct pack_bytes columns[PACK_TABLE_COLUMNS] = { 0 };
	struct pairs pairs = { 0 };
	int err = add_up(&pairs, parts, nr);

	entry->kind = PACK_TABLE;
	entry->user = first_table_user(parts, nr);
	entry->nr = pairs.nr;
	entry->total = 0;
	if (!err) {
		put_groups(&pairs, columns);
		put_counts(&pairs, &columns[COUNTS], &entry->total);
		err = pack_columns_put(to, columns, PACK_TABLE_COLUMNS);
	}
	for (size_t i = 0; i < PACK_TABLE_COLUMNS; i++)
		pack_bytes_release(&columns[i]);
	free(pairs.slots);
	return err;
}

/* ---- reading ------------------------------------------------------------- */

/* Read a half that is at least *@next, and let that be one more. */
static int get_half(struct pack_column *column, uint64_t *next, uint64_t *half)
{
	uint64_t more = 0;
	int err = pack_column_number(column, &more);

	if (!err && (*next > UINT32_MAX || more > UINT32_MAX - *next))
		err = -EBADMSG;
	*half = *next + more;
	*next = *half + 1;
	return err;
}

/* Room is made as pairs come: the number of them is only a claim. */
static int get_pair(struct pack_bytes *pairs, struct pack_column *columns,
		    uint64_t half, uint64_t *next)
{
	struct odb_slot *pair;
	uint64_t low, count = 0;
	int err = get_half(&columns[KEYS], next, &low);

	if (!err)
		err = pack_column_number(&columns[COUNTS], &count);
	if (!err && count == UINT64_MAX)
		err = -EBADMSG;
	if (err)
		return err;
	pair = pack_bytes_add(pairs, sizeof(*pair));
	if (!pair)
		return -ENOMEM;
	*pair = (struct odb_slot){ half << 32 | low, count + 1 };
	return 0;
}

static int get_pairs(struct pack_bytes *pairs, struct pack_column *columns,
		     uint64_t nr)
{
	uint64_t next = 0, half = 0;
	int err = 0;

	while (!err && nr) {
		uint64_t more = 0, low = 0;

		err = get_half(&columns[GROUPS], &next, &half);
		if (!err)
			err = pack_column_number(&columns[GROUPS], &more);
		if (!err && more >= nr)
			err = -EBADMSG;
		for (uint64_t i = 0; !err && i <= more; i++, nr--)
			err = get_pair(pairs, columns, half, &low);
	}
	return err;
}

/* Whether the counts are what @entry says of them. */
static bool adds_up(const struct odb_slot *pairs,
		    const struct pack_entry *entry)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < entry->nr; i++)
		sum = pack_sum(sum, pairs[i].count);
	return sum == entry->total;
}

int pack_table_get(struct odb **out, const uint8_t *bytes, size_t len,
		   const struct pack_entry *entry)
{
	struct pack_column columns[PACK_TABLE_COLUMNS];
	struct pack_bytes pairs = { 0 };
	int end, err = pack_columns_open(columns, PACK_TABLE_COLUMNS, bytes,
					 len);
	const struct odb_slot *slots;

	if (!err && entry->nr > odb_used_max(ODB_SLOTS_MAX))
		err = -EBADMSG;
	if (!err)
		err = get_pairs(&pairs, columns, entry->nr);
	end = pack_columns_close(columns, PACK_TABLE_COLUMNS);
	if (!err)
		err = end;
	slots = (const struct odb_slot *)pairs.bytes;
	if (!err && !adds_up(slots, entry))
		err = -EBADMSG;
	if (!err)
		err = odb_from_pairs(out, entry->user, slots, entry->nr);
	pack_bytes_release(&pairs);
	return err;
}
