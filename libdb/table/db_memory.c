// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory of a table, which is the map of a file or comes from the heap, and
 * tables that are in memory alone, as readers have them. Those come from the
 * heap: most are small, and there may be many thousands, one after the other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "libdb/table/db_table.h"
#include "libop/base/op_hash.h"

void odb_attach(struct odb *odb, struct odb_header *header)
{
	odb->header = header;
	odb->slots = (struct odb_slot *)(header + 1);
	odb->nr_slots = header->nr_slots;
	odb->nr_lines = odb_lines(header->nr_slots);
	odb->used_max = odb_used_max(header->nr_slots);
	odb->seed = header->seed;
}

void odb_detach(struct odb *odb)
{
	if (odb->in_heap)
		free(odb->header);
	else if (odb->header)
		munmap(odb->header, odb_file_len(odb->nr_slots));
	odb->header = NULL;
}

void odb_init_header(struct odb_header *header, uint64_t nr_slots,
		     uint64_t seed)
{
	*header = (struct odb_header){
		.byte_order = ODB_BYTE_ORDER,
		.version = ODB_VERSION,
		.header_len = sizeof(struct odb_header),
		.slot_len = sizeof(struct odb_slot),
		.nr_slots = nr_slots,
		.seed = seed,
	};
	memcpy(header->magic, ODB_MAGIC, ODB_MAGIC_LEN);
}

/* Slots for @nr keys at three quarters; 0 when that is too long. */
static uint64_t slots_for(uint64_t nr)
{
	uint64_t nr_slots = (nr / 3 + 1) * 4;

	if (nr_slots < ODB_SLOTS_MIN)
		nr_slots = ODB_SLOTS_MIN;
	return nr_slots > ODB_SLOTS_MAX ? 0 : nr_slots;
}

/* Returns 0, or -EOVERFLOW when a key finds its row full. */
static int add_sorted_pairs(struct odb *odb, const struct odb_slot *pairs,
			    uint64_t nr)
{
	for (uint64_t i = 0; i < nr; i++) {
		struct odb_slot *slot = odb_place(odb, pairs[i].key);

		if (!slot)
			return -EOVERFLOW;
		*slot = pairs[i];
	}
	odb->nr_used = nr;
	odb->header->nr_used = nr;
	return 0;
}

static int make_memory_table(struct odb *odb, uint64_t nr_slots,
			     const struct odb_slot *pairs, uint64_t nr)
{
	struct odb_header *header = calloc(1, odb_file_len(nr_slots));
	int err;

	if (!header)
		return -ENOMEM;
	odb_init_header(header, nr_slots, op_hash_new_seed());
	odb_attach(odb, header);
	odb->in_heap = true;
	err = add_sorted_pairs(odb, pairs, nr);
	if (err)
		odb_detach(odb);
	return err;
}

int odb_from_pairs(struct odb **out, const void *user,
		   const struct odb_slot *pairs, uint64_t nr)
{
	struct odb *odb = calloc(1, sizeof(*odb));
	uint64_t room = nr;
	int err;

	if (!odb)
		return -ENOMEM;
	/* Keys that suit one seed badly do not suit the next one as badly. */
	do {
		uint64_t nr_slots = slots_for(room);

		err = nr_slots ? make_memory_table(odb, nr_slots, pairs, nr)
			       : -EFBIG;
		room += room / 3 + 1;
	} while (err == -EOVERFLOW);
	if (err) {
		free(odb);
		return err;
	}
	memcpy(odb->header->user, user, ODB_USER_SIZE);
	*out = odb;
	return 0;
}
