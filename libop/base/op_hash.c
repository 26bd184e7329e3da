// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The parts of a hash table that need not be fast in each place: seeds, longer
 * keys, growth. A slot goes to the first free place from its home on, in any
 * order, so a larger table is filled from the slots of the smaller one.
 */

#include "libop/base/op_hash.h"
#include "libop/base/op_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define FIRST_SLOTS 64
#define MAX_SLOTS (UINT32_C(1) << 31)

uint64_t op_hash_new_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed))
		return seed;
	/* Early in the boot: the time is another one for each table, too. */
	return op_clock_ns(CLOCK_MONOTONIC) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t load_word(const uint8_t *at, size_t len)
{
	uint64_t word = 0;

	memcpy(&word, at, len);
	return word;
}

/* Two words at once, by one multiplication. Whoever chooses them does not know
 * @hash, so cannot make a factor 0. */
static uint64_t mix_two(uint64_t hash, uint64_t first, uint64_t second)
{
	__extension__ unsigned __int128 product =
		(unsigned __int128)(first ^ hash) *
		(second ^ (hash << 32 | hash >> 32));

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t op_hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	hash = op_hash_mix(hash, len);
	for (; len > 2 * sizeof(uint64_t); len -= 2 * sizeof(uint64_t)) {
		hash = mix_two(hash, load_word(at, 8), load_word(at + 8, 8));
		at += 2 * sizeof(uint64_t);
	}
	if (len > sizeof(uint64_t)) {
		hash = op_hash_mix(hash, load_word(at, 8));
		at += sizeof(uint64_t);
		len -= sizeof(uint64_t);
	}
	return len ? op_hash_mix(hash, load_word(at, len)) : hash;
}

uint64_t op_hash_text(uint64_t hash, const char *text)
{
	return op_hash_bytes(hash, text, strlen(text));
}

static void put_slot(struct op_hash *table, uint64_t slot)
{
	uint32_t at = op_hash_home(slot);

	while (table->slots[at & (table->nr_slots - 1)])
		at++;
	table->slots[at & (table->nr_slots - 1)] = slot;
}

int op_hash_grow(struct op_hash *table, size_t nr)
{
	struct op_hash old = *table;
	uint32_t nr_slots = old.nr_slots ? old.nr_slots : FIRST_SLOTS;
	uint64_t *slots;

	if (nr > MAX_SLOTS / 2)
		return -EFBIG;
	while (nr > nr_slots / 2)
		nr_slots *= 2;
	slots = calloc(nr_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	if (!old.slots)
		table->seed = op_hash_new_seed();
	table->slots = slots;
	table->nr_slots = nr_slots;
	for (uint32_t i = 0; i < old.nr_slots; i++)
		if (old.slots[i])
			put_slot(table, old.slots[i]);
	free(old.slots);
	return 0;
}

void op_hash_add(struct op_hash *table, uint64_t hash, uint32_t number)
{
	put_slot(table, hash >> 32 << 32 | number);
	table->nr++;
}

void op_hash_release(struct op_hash *table)
{
	free(table->slots);
	*table = (struct op_hash){ 0 };
}
