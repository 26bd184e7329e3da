/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_PACK_PACK_PAIRS_H
#define LIBDB_PACK_PACK_PAIRS_H

/*
 * Pairs that are counted, private to libdb: numbered from 1 in the order in
 * which they come. Equal pairs have one number. An all-zero struct has none.
 */

#include <stdint.h>

#include "libop/base/op_hash.h"

struct pack_pair {
	uint64_t a, b;
	uint64_t count; /* is the user's; 0 at first */
};

struct pack_pairs {
	struct pack_pair *pairs; /* 0 is not used */
	uint32_t nr;
	struct op_hash index;
};

/* Make room for @nr pairs in all. Returns 0, -EFBIG or -ENOMEM. */
int pack_pairs_reserve(struct pack_pairs *pairs, uint32_t nr);

/* *@number is that of the pair. Returns 0, -EFBIG or -ENOMEM. */
int pack_pairs_number(struct pack_pairs *pairs, uint64_t a, uint64_t b,
		      uint32_t *number);

void pack_pairs_release(struct pack_pairs *pairs);

#endif /* LIBDB_PACK_PACK_PAIRS_H */
