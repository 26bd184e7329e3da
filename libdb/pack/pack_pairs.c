// SPDX-License-Identifier: GPL-2.0-or-later

#include "libdb/pack/pack_pairs.h"

#include <stdlib.h>

#include "libop/base/op_array.h"

int pack_pairs_reserve(struct pack_pairs *pairs, uint32_t nr)
{
	size_t used = pairs->pairs ? (size_t)pairs->nr + 1 : 0;
	int err = op_hash_reserve(&pairs->index, nr);

	if (err || nr + UINT64_C(1) <= used)
		return err;
	return op_array_reserve(&pairs->pairs, used, nr + (size_t)1 - used);
}

int pack_pairs_number(struct pack_pairs *pairs, uint64_t a, uint64_t b,
		      uint32_t *number)
{
	uint64_t hash = op_hash_mix(op_hash_mix(pairs->index.seed, a), b);
	uint32_t i;
	int err;

	op_hash_each(&pairs->index, hash, i) {
		if (pairs->pairs[i].a == a && pairs->pairs[i].b == b) {
			*number = i;
			return 0;
		}
	}
	err = pack_pairs_reserve(pairs, pairs->nr + 1);
	if (err)
		return err;
	/* The first call of op_hash_reserve() sets the seed. */
	if (!pairs->nr)
		hash = op_hash_mix(op_hash_mix(pairs->index.seed, a), b);
	*number = ++pairs->nr;
	pairs->pairs[*number] = (struct pack_pair){ a, b, 0 };
	op_hash_add(&pairs->index, hash, *number);
	return 0;
}

void pack_pairs_release(struct pack_pairs *pairs)
{
	free(pairs->pairs);
	op_hash_release(&pairs->index);
	*pairs = (struct pack_pairs){ 0 };
}
