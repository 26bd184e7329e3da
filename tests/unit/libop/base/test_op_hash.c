// SPDX-License-Identifier: GPL-2.0-or-later
/* The table against an array that is searched from its start. */

#include <errno.h>

#include "libop/base/op_array.h"
#include "libop/base/op_hash.h"
#include "tests/unit/rows.h"

#define SEED UINT64_C(0x123456789abcdef)

/* The number of @key among @keys, or 0. */
static uint32_t find_key(const struct op_hash *table, const uint64_t *keys,
			 uint64_t hash, uint64_t key)
{
	uint32_t number;

	op_hash_each(table, hash, number)
		if (keys[number - 1] == key)
			break;
	return number;
}

static uint64_t hash_well(uint64_t seed, uint64_t key)
{
	return op_hash_mix(seed, key);
}

static uint64_t hash_to_one_slot(uint64_t seed, uint64_t key)
{
	(void)seed;
	(void)key;
	return UINT64_MAX;
}

static uint64_t hash_to_one_word(uint64_t seed, uint64_t key)
{
	(void)seed;
	/* Equal in the half that a slot keeps, or else neighbours. */
	return key << 29;
}

TEST(every_number_is_found)
{
	static const struct {
		uint64_t (*hash)(uint64_t seed, uint64_t key);
		uint32_t nr;
	} rows[] = {
		{ hash_well, 1 },	   { hash_well, 32 },
		{ hash_well, 33 },	   { hash_well, 20000 },
		{ hash_to_one_slot, 300 }, { hash_to_one_word, 3000 },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		uint64_t (*hash)(uint64_t, uint64_t) = rows[i].hash;
		struct op_hash table = { 0 };
		uint64_t *keys = NULL;

		for (uint32_t nr = 0; nr < rows[i].nr; nr++) {
			uint64_t key = nr * UINT64_C(3);

			assert_int_equal(op_hash_reserve(&table, nr + 1), 0);
			assert_int_equal(op_array_reserve(&keys, nr, 1), 0);
			assert_int_equal(find_key(&table, keys,
						  hash(table.seed, key), key),
					 0);
			keys[nr] = key;
			op_hash_add(&table, hash(table.seed, key), nr + 1);
			assert_int_equal(table.nr, nr + 1);
			assert_true(table.nr_slots >= 2 * table.nr);
		}
		for (uint64_t key = 0; key < 3 * rows[i].nr; key++)
			assert_int_equal(find_key(&table, keys,
						  hash(table.seed, key), key),
					 key % 3 ? 0 : key / 3 + 1);
		op_hash_release(&table);
		assert_int_equal(table.nr, 0);
		assert_null(table.slots);
		free(keys);
	}
}

TEST(nothing_is_in_an_empty_table)
{
	struct op_hash table = { 0 };
	uint64_t seed;
	uint32_t number = 7;

	op_hash_each(&table, 1, number)
		fail();
	assert_int_equal(number, 0);
	assert_int_equal(op_hash_reserve(&table, 100), 0);
	assert_true(table.nr_slots >= 200);
	op_hash_each(&table, 1, number)
		fail();
	/* What there is room for moves nothing. */
	seed = table.seed;
	for (uint32_t i = 1; i <= 100; i++) {
		const uint64_t *slots = table.slots;

		assert_int_equal(op_hash_reserve(&table, i), 0);
		assert_ptr_equal(table.slots, slots);
		op_hash_add(&table, op_hash_mix(seed, i), i);
	}
	/* The hashes stay as they are while it grows. */
	assert_int_equal(op_hash_reserve(&table, 10000), 0);
	assert_int_equal(table.seed, seed);
	op_hash_release(&table);
}

TEST(too_many_are_refused)
{
	static const size_t rows[] = { ((size_t)1 << 30) + 1, SIZE_MAX,
				       (size_t)UINT32_MAX + 1 };
	struct op_hash table = { 0 };

	assert_int_equal(op_hash_reserve(&table, 1), 0);
	op_hash_add(&table, 5, 1);
	for (size_t i = 0; i < NR(rows); i++)
		assert_int_equal(op_hash_reserve(&table, rows[i]), -EFBIG);
	assert_int_equal(table.nr, 1);
	op_hash_release(&table);
}

TEST(bytes_that_differ_have_other_hashes)
{
	static const char *const rows[] = {
		"",	     "a",	  "b",	      "ab",
		"ba",	     "abcdefg",	  "abcdefgh", "abcdefghi",
		"abcdefghj", "bbcdefghi", "hgfedcba", "abcdefghabcdefgh",
		"\1",	     "\1\1",
	};

	for (size_t i = 0; i < NR(rows); i++)
		for (size_t j = 0; j < NR(rows); j++) {
			uint64_t a = op_hash_text(SEED, rows[i]);
			uint64_t b = op_hash_text(SEED, rows[j]);

			/* Also in the half that slots keep. */
			assert_int_equal(a == b, i == j);
			assert_int_equal(a >> 32 == b >> 32, i == j);
		}
	assert_true(op_hash_text(SEED, "a") != op_hash_text(2, "a"));
	assert_int_equal(op_hash_bytes(SEED, "abc", 3),
			 op_hash_text(SEED, "abc"));
	/* Zeros count, as what they are and how many. */
	assert_true(op_hash_bytes(SEED, "\0", 1) !=
		    op_hash_bytes(SEED, "\0\0", 2));
	assert_true(op_hash_bytes(SEED, "", 0) != op_hash_bytes(SEED, "\0", 1));
	assert_true(op_hash_new_seed() != op_hash_new_seed());
}
