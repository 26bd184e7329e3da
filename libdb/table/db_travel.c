// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding the place of a key, its count, or all keys. */
#include "libdb/table/db_table.h"

struct odb_slot *odb_place(const struct odb *odb, uint64_t key)
{
	size_t line = odb_home(odb->seed, odb->nr_lines, key);

	for (size_t step = 0; step < ODB_ROW_LINES; step++) {
		struct odb_slot *slot = odb->slots + line * ODB_LINE_SLOTS;

		for (size_t i = 0; i < ODB_LINE_SLOTS; i++, slot++) {
			if (slot->key == key || !slot->count)
				return slot;
		}
		line = odb_next_line(odb->nr_lines, line, step);
	}
	return NULL;
}

uint64_t odb_get(const struct odb *odb, uint64_t key)
{
	size_t line = odb_home(odb->seed, odb->nr_lines, key);

	for (size_t step = 0; step < ODB_ROW_LINES; step++) {
		const struct odb_slot *slot =
			odb->slots + line * ODB_LINE_SLOTS;

		for (size_t i = 0; i < ODB_LINE_SLOTS; i++, slot++) {
			if (slot->key == key && slot->count)
				return slot->count;
			if (!slot->count && !odb->gaps)
				return 0;
		}
		line = odb_next_line(odb->nr_lines, line, step);
	}
	return 0;
}

bool odb_next(const struct odb *odb, size_t *at, uint64_t *key, uint64_t *count)
{
	while (*at < odb->nr_slots) {
		const struct odb_slot *slot = &odb->slots[(*at)++];

		if (slot->count) {
			*key = slot->key;
			*count = slot->count;
			return true;
		}
	}
	return false;
}
