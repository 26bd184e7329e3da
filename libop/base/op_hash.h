/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_HASH_H
#define LIBOP_BASE_OP_HASH_H

/*
 * A hash table of numbers. The things themselves lie where their owner has
 * them, mostly in an array, and are known to the table by a number above 0.
 * The table knows no keys: the owner computes the hash of a key, and compares
 * each thing that the table offers for that hash.
 *
 *	err = op_hash_reserve(&index, index.nr + 1);
 *	if (err)
 *		return err;
 *	hash = op_hash_mix(index.seed, key);
 *	op_hash_each(&index, hash, number)
 *		if (things[number - 1].key == key)
 *			return number;
 *	things[nr++].key = key;
 *	op_hash_add(&index, hash, nr);
 *
 * A table that is all zeros is empty. Numbers are never removed. Slots are
 * searched one after another, and at most half of them are in use. A slot has
 * 32 bits of the hash beside the number: the things need not be looked at when
 * the table grows, and hardly ever when they are not the wanted one. The seed
 * is random, so that no file or program can choose where its things meet.
 */

#include <stddef.h>
#include <stdint.h>

struct op_hash {
	uint64_t *slots; /* 32 bits of a hash, then the number; 0: free */
	uint32_t nr_slots; /* a power of two, or 0 */
	uint32_t nr; /* numbers in the table */
	uint64_t seed; /* hashes begin with it; set by op_hash_reserve() */
};

/* Let the table have room for @nr numbers in all. Returns 0, -EFBIG for more
 * than 2^30, or -ENOMEM with the table as it was. */
static inline int op_hash_reserve(struct op_hash *table, size_t nr);

/* Add @number, not 0, for which there is room. */
void op_hash_add(struct op_hash *table, uint64_t hash, uint32_t number);

/* Free the slots; the table is empty again. */
void op_hash_release(struct op_hash *table);

int op_hash_grow(struct op_hash *table, size_t nr);

static inline int op_hash_reserve(struct op_hash *table, size_t nr)
{
	return nr <= table->nr_slots / 2 ? 0 : op_hash_grow(table, nr);
}

/* ---- searching ----------------------------------------------------------- */

/* Where the search for @hash begins in @table. */
static inline uint32_t op_hash_home(uint64_t hash)
{
	return (uint32_t)(hash >> 32);
}

/* The next number added with @hash, or 0 after the last one. @at is where the
 * search has come to. */
static inline uint32_t op_hash_next(const struct op_hash *table, uint64_t hash,
				    uint32_t *at)
{
	uint64_t slot;

	if (!table->nr)
		return 0;
	while ((slot = table->slots[(*at)++ & (table->nr_slots - 1)]))
		if (slot >> 32 == hash >> 32)
			return (uint32_t)slot;
	return 0;
}

/* For each @number that was added with @hash. It is 0 after the loop, unless
 * the loop was left by a break. */
#define op_hash_each(table, hash, number)                                      \
	for (uint32_t at_ = op_hash_home(hash);                                \
	     ((number) = op_hash_next((table), (hash), &at_));)

/* ---- hashes -------------------------------------------------------------- */

/* Add a word to @hash, which begins as the table's seed. */
static inline uint64_t op_hash_mix(uint64_t hash, uint64_t word)
{
	uint64_t x = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);

	x ^= x >> 32;
	x *= UINT64_C(0xd1b54a32d192ed03);
	return x ^ x >> 32;
}

/* Add @len bytes, or a string. */
uint64_t op_hash_bytes(uint64_t hash, const void *bytes, size_t len);
uint64_t op_hash_text(uint64_t hash, const char *text);

/* A random number. */
uint64_t op_hash_new_seed(void);

#endif /* LIBOP_BASE_OP_HASH_H */
