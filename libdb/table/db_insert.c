// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counting. Most calls find their key in its home line, whose slots are all
 * compared without a branch. Which of them it is cannot be predicted, and a
 * wrong guess would cost more than the rest.
 */
#include <errno.h>

#include "libdb/table/db_table.h"

static void add_count(struct odb_slot *slot, uint64_t count)
{
	uint64_t sum;

	if (__builtin_add_overflow(slot->count, count, &sum))
		sum = UINT64_MAX;
	__atomic_store_n(&slot->count, sum, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) int add_elsewhere(struct odb *odb,
						   uint64_t key, uint64_t count)
{
	if (!odb->writable)
		return -EBADF;
	if (!count)
		return 0;
	for (;;) {
		struct odb_slot *slot = odb_place(odb, key);
		int err;

		if (slot && slot->count) {
			add_count(slot, count);
			return 0;
		}
		if (slot && odb->nr_used < odb->used_max) {
			odb_slot_take(odb, slot, key, count);
			return 0;
		}
		err = odb_grow(odb);
		if (err)
			return err;
	}
}

int odb_add(struct odb *odb, uint64_t key, uint64_t count)
{
	size_t home = odb_home(odb->seed, odb->nr_lines, key);
	struct odb_slot *line = odb->slots + home * ODB_LINE_SLOTS;
	unsigned int found = (unsigned int)(line[0].key == key) |
			     (unsigned int)(line[1].key == key) << 1 |
			     (unsigned int)(line[2].key == key) << 2 |
			     (unsigned int)(line[3].key == key) << 3;
	/* Key 0 also equals free slots, which are behind its own. */
	struct odb_slot *slot = line + __builtin_ctz(found | 8);

	if (!found || !slot->count || !odb->writable)
		return add_elsewhere(odb, key, count);
	add_count(slot, count);
	return 0;
}
