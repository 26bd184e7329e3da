// SPDX-License-Identifier: GPL-2.0-or-later

#include "libdb/pack/pack_pairs.h"

#include <errno.h>
#include <stdlib.h>

#include "libdb/table/db_table.h"

#define FIRST_SLOTS 256
#define MAX_SLOTS (UINT32_C(1) << 31)

static uint32_t home(const struct pack_pairs *pairs, uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ pairs->seed) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 32 ^ b) * UINT64_C(0xd1b54a32d192ed03);
	x ^= x >> 32;
	x *= UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(x >> 32) & (pairs->nr_slots - 1);
}

/* The slot of the pair, or the free one where it goes. */
static uint32_t *find_pair_slot(const struct pack_pairs *pairs, uint64_t a,
				uint64_t b)
{
	uint32_t i = home(pairs, a, b);

	for (;; i = (i + 1) & (pairs->nr_slots - 1)) {
		const struct pack_pair *pair = &pairs->pairs[pairs->slots[i]];

		if (!pairs->slots[i] || (pair->a == a && pair->b == b))
			return &pairs->slots[i];
	}
}

/* Let there be @nr slots, more than there are. */
static int pairs_make_room(struct pack_pairs *pairs, uint32_t nr)
{
	uint32_t *slots;
	void *more = reallocarray(pairs->pairs, (size_t)nr / 2 + 1,
				  sizeof(*pairs->pairs));

	if (!more)
		return -ENOMEM;
	pairs->pairs = more;
	slots = calloc(nr, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	if (!pairs->nr_slots)
		pairs->seed = odb_new_seed();
	free(pairs->slots);
	pairs->slots = slots;
	pairs->nr_slots = nr;
	for (uint32_t i = 1; i <= pairs->nr; i++)
		*find_pair_slot(pairs, pairs->pairs[i].a, pairs->pairs[i].b) =
			i;
	return 0;
}

int pack_pairs_reserve(struct pack_pairs *pairs, uint32_t nr)
{
	uint32_t nr_slots = pairs->nr_slots ? pairs->nr_slots : FIRST_SLOTS;

	while (nr > nr_slots / 2 && nr_slots < MAX_SLOTS)
		nr_slots *= 2;
	if (nr > nr_slots / 2)
		return -EFBIG;
	return nr_slots > pairs->nr_slots ? pairs_make_room(pairs, nr_slots)
					  : 0;
}

int pack_pairs_number(struct pack_pairs *pairs, uint64_t a, uint64_t b,
		      uint32_t *number)
{
	int err = pack_pairs_reserve(pairs, pairs->nr + 1);
	uint32_t *slot;

	if (err)
		return err;
	slot = find_pair_slot(pairs, a, b);
	if (!*slot) {
		*slot = ++pairs->nr;
		pairs->pairs[pairs->nr] = (struct pack_pair){ a, b, 0 };
	}
	*number = *slot;
	return 0;
}

void pack_pairs_release(struct pack_pairs *pairs)
{
	free(pairs->pairs);
	free(pairs->slots);
	*pairs = (struct pack_pairs){ 0 };
}
