// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether bytes are a sound database. Everything that db_format.h promises is
 * checked here once, so that the rest of the library may rely on it: after
 * these checks no number of the file leads out of the map, and every search
 * ends. The work is bounded by slots times the length of a row, whatever the
 * file holds.
 */
#include <errno.h>
#include <string.h>

#include "libdb/table/db_file.h"
#include "libdb/table/db_table.h"

/* The fields that may differ between versions: after the version is known. */
static bool sizes_are_sound(const struct odb_header *header, uint64_t file_len)
{
	return header->header_len == sizeof(*header) &&
	       header->slot_len == sizeof(struct odb_slot) &&
	       header->nr_slots >= ODB_SLOTS_MIN &&
	       header->nr_slots <= ODB_SLOTS_MAX &&
	       header->nr_slots % ODB_LINE_SLOTS == 0 &&
	       file_len == odb_file_len(header->nr_slots) &&
	       header->nr_used <= header->nr_slots;
}

int odb_check_header(const struct odb_header *header, uint64_t file_len)
{
	if (file_len < sizeof(*header))
		return -EBADMSG;
	if (memcmp(header->magic, ODB_MAGIC, ODB_MAGIC_LEN))
		return -EBADMSG;
	if (header->byte_order == ODB_BYTE_ORDER_SWAPPED)
		return -EPROTO;
	if (header->byte_order != ODB_BYTE_ORDER)
		return -EBADMSG;
	if (header->version != ODB_VERSION)
		return -EPROTO;
	if (!odb_is_zero(header->reserved, sizeof(header->reserved)))
		return -EBADMSG;
	return sizes_are_sound(header, file_len) ? 0 : -EBADMSG;
}

/* Whether no slot from @at to before @end holds @key. Sets *@gap for one that
 * is free. */
static bool others_hold(const struct odb *odb, const struct odb_slot *before,
			size_t at, size_t end, uint64_t key, bool *gap)
{
	for (; at < end; at++) {
		const struct odb_slot *slot = &odb->slots[at];

		if (!slot->count)
			*gap = true;
		else if (slot->key == key && before[at].count)
			return false;
	}
	return true;
}

/* Whether the key in slot @at is in its row, and nowhere before that. Sets
 * *@gap where a search would end at a free slot before it comes there. */
static bool is_in_row(const struct odb *odb, const struct odb_slot *before,
		      size_t at, bool *gap)
{
	uint64_t key = odb->slots[at].key;
	size_t line = odb_home(odb->seed, odb->nr_lines, key);

	for (size_t step = 0; step < ODB_ROW_LINES; step++) {
		size_t first = line * ODB_LINE_SLOTS;
		bool here = line == at / ODB_LINE_SLOTS;
		size_t end = here ? at : first + ODB_LINE_SLOTS;

		if (!others_hold(odb, before, first, end, key, gap))
			return false;
		if (here)
			return true;
		line = odb_next_line(odb->nr_lines, line, step);
	}
	return false;
}

int odb_check_slots(const struct odb *odb, const struct odb_slot *before,
		    bool *torn)
{
	*torn = false;
	for (size_t i = 0; i < odb->nr_slots; i++) {
		if (!before[i].count)
			continue;
		if (!odb->slots[i].count || !is_in_row(odb, before, i, torn))
			return -EBADMSG;
	}
	return 0;
}
