// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * No pattern of keys is worse than random keys. The seed of the hash is fixed
 * here, so each run computes the same.
 */
#include "libdb/table/db_table.h"
#include "tests/unit/libdb/odb_fixture.h"

#define NR_KEYS 5000

typedef uint64_t key_fn(uint64_t i, unsigned int arg);

static struct odb_stat stat_of(struct fixture *f, key_fn *key, unsigned int arg)
{
	struct odb *odb = open_seeded(f->path);
	struct odb_stat stat;

	for (uint64_t i = 0; i < NR_KEYS; i++)
		assert_int_equal(odb_add(odb, key(i, arg), 1), 0);
	odb_stat(odb, &stat);
	assert_int_equal(stat.nr_keys, NR_KEYS);
	odb_close(odb);
	assert_int_equal(unlink(f->path), 0);
	return stat;
}

static uint64_t random_key(uint64_t i, unsigned int arg)
{
	return scattered(i + (uint64_t)arg * NR_KEYS);
}

static void must_look_random(struct fixture *f, key_fn *key, unsigned int arg)
{
	struct odb_stat random = stat_of(f, random_key, 0);
	struct odb_stat stat = stat_of(f, key, arg);

	if (stat.mean_probe > random.mean_probe * 1.15 ||
	    stat.longest_probe > 80 || stat.file_len != random.file_len)
		fail_msg(
			"argument %u: mean %.2f (random %.2f), longest %d, %d bytes (random %d)",
			arg, stat.mean_probe, random.mean_probe,
			(int)stat.longest_probe, (int)stat.file_len,
			(int)random.file_len);
}

static uint64_t power_stride(uint64_t i, unsigned int shift)
{
	return i << shift;
}

ODB_TEST(strides_by_powers_of_two)
{
	/* 5000 keys are 13 bits. */
	for (unsigned int shift = 0; shift <= 64 - 13; shift++)
		must_look_random(*state, power_stride, shift);
}

static uint64_t odd_stride(uint64_t i, unsigned int stride)
{
	return i * stride;
}

ODB_TEST(odd_strides)
{
	for (unsigned int stride = 3; stride < 200; stride += 6)
		must_look_random(*state, odd_stride, stride);
}

static uint64_t self_arc(uint64_t i, unsigned int stride)
{
	return (i * stride) << 32 | (i * stride);
}

ODB_TEST(self_arcs)
{
	for (unsigned int stride = 1; stride <= 4096; stride *= 2)
		must_look_random(*state, self_arc, stride);
}

/* 50 callers with 100 callees each, @shift apart, from the same addresses. */
static uint64_t arc(uint64_t i, unsigned int shift)
{
	return (i / 100) << (32 + shift) | (i % 100) << shift;
}

ODB_TEST(arcs)
{
	for (unsigned int shift = 0; shift <= 16; shift++)
		must_look_random(*state, arc, shift);
}

static uint64_t descending(uint64_t i, unsigned int stride)
{
	return UINT64_MAX - i * stride;
}

ODB_TEST(descending_keys)
{
	for (unsigned int stride = 1; stride <= 4096; stride *= 2)
		must_look_random(*state, descending, stride);
}

static uint64_t reversed_bits(uint64_t i, unsigned int arg)
{
	uint64_t key = 0;

	(void)arg;
	for (int bit = 0; bit < 64; bit++)
		key |= (i >> bit & 1) << (63 - bit);
	return key;
}

ODB_TEST(bits_in_reverse)
{
	must_look_random(*state, reversed_bits, 0);
}

ODB_TEST(other_random_keys)
{
	for (unsigned int i = 1; i < 10; i++)
		must_look_random(*state, random_key, i);
}

/*
 * Keys chosen for the seed of a file, to meet in one line of a table of any
 * size: the file gets another seed instead of growing without end.
 */
ODB_TEST(chosen_keys_do_not_help)
{
	struct fixture *f = *state;
	struct odb *odb = open_seeded(f->path);
	struct odb_stat stat;
	uint64_t key = 0;

	for (int n = 0; n < 2000; key++) {
		if (odb_hash(FIXED_SEED, key) > UINT32_MAX / 4096)
			continue;
		assert_int_equal(odb_add(odb, key, ++n), 0);
	}
	odb_stat(odb, &stat);
	assert_int_equal(stat.nr_keys, 2000);
	assert_int_equal(stat.total, 2000 * 2001 / 2);
	assert_true(stat.file_len <= 2000 * 33);
	assert_true(stat.longest_probe < 100);
	odb_close(odb);
	odb = must_open(f->path, ODB_RDONLY);
	assert_int_equal(walk(odb), 2000);
	odb_close(odb);
}

/* A row has so many lines, and a key behind them is not looked for. */
TEST(rows_have_an_end)
{
	enum { NR_LINES = 256 };
	static struct odb_slot slots[NR_LINES * ODB_LINE_SLOTS];
	struct odb odb = { .slots = slots, .nr_lines = NR_LINES };
	size_t taken = 0;
	struct odb_slot *slot;

	memset(slots, 0, sizeof(slots));
	for (uint64_t key = 1; (slot = odb_place(&odb, key)); key++) {
		assert_int_equal(slot->count, 0);
		/* Every key takes the row of key 1. */
		while (odb_home(odb.seed, NR_LINES, key) !=
		       odb_home(odb.seed, NR_LINES, 1))
			key++;
		slot = odb_place(&odb, key);
		if (!slot)
			break;
		slot->key = key;
		slot->count = 1;
		taken++;
		assert_ptr_equal(odb_place(&odb, key), slot);
	}
	assert_int_equal(taken, ODB_ROW_LINES * ODB_LINE_SLOTS);
}

ODB_TEST(seeds_differ)
{
	struct fixture *f = *state;
	uint64_t seed[2];

	for (int i = 0; i < 2; i++) {
		size_t len;
		uint8_t *bytes;

		odb_close(must_open(f->path, ODB_RDWR));
		bytes = read_file(f->path, &len);
		seed[i] = ((struct odb_header *)bytes)->seed;
		free(bytes);
		unlink(f->path);
	}
	assert_true(seed[0] != seed[1]);
}
