// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables in one piece: what comes back is what was there; and whatever a piece
 * holds, it is refused, or leads unwinding nowhere that it should not be.
 */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libcfi/cfi.h"

#define CHANGES 3000
#define STEPS 64

static struct cfi_table *own_table_of(enum cfi_extent extent)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct cfi_table *table = NULL;

	assert_true(fd >= 0);
	assert_int_equal(cfi_table_read(&table, fd, extent, NULL), 0);
	assert_true(cfi_table_nr_rows(table) > 100);
	close(fd);
	return table;
}

static struct cfi_table *own_table(void)
{
	return own_table_of(CFI_ALL);
}

/* The piece, which is the caller's to free. */
static uint8_t *flatten(const struct cfi_table *table, size_t *len)
{
	uint8_t *piece;

	*len = cfi_table_flat_len(table);
	piece = malloc(*len);
	assert_non_null(piece);
	cfi_table_flatten(table, piece);
	return piece;
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *seed >> 20;
}

/* Ways up from places all over the table, and what each step says. */
static uint64_t walk(const struct cfi_table *table, uint64_t seed)
{
	uint64_t words[128], sum = 0, start;
	struct cfi_stack stack = { 0x7fff0000, (const uint8_t *)words,
				   sizeof(words) };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = 0x7fff0000 + 8 * i;
	for (int i = 0; i < STEPS; i++) {
		uint64_t offset = next_random(&seed) % 0x80000;
		struct cfi_regs regs = { .known = UINT64_MAX >> 31 };

		for (int reg = 0; reg < CFI_MAX_REGS; reg++)
			regs.reg[reg] = 0x7fff0000;
		sum = sum * 31 +
		      cfi_unwind(table, offset, i & 1, &regs, &stack);
		sum = sum * 31 + regs.reg[CFI_X86_64_RSP];
		sum = sum * 31 + cfi_function(table, offset, &start);
	}
	return sum;
}

static void test_there_and_back(void **state)
{
	struct cfi_table *table = own_table(), *back = NULL;
	uint8_t *piece, *again;
	size_t len, again_len;

	(void)state;
	piece = flatten(table, &len);
	assert_int_equal(cfi_table_unflatten(&back, piece, len), 0);
	again = flatten(back, &again_len);
	assert_int_equal(again_len, len);
	assert_memory_equal(again, piece, len);
	assert_int_equal(cfi_table_bytes(back), cfi_table_bytes(table));
	for (uint64_t seed = 0; seed < 100; seed++)
		assert_int_equal(walk(back, seed), walk(table, seed));
	free(again);
	free(piece);
	cfi_table_free(back);
	cfi_table_free(table);
}

/* A table of functions alone knows them all, each in one row. */
static void test_functions_alone(void **state)
{
	struct cfi_table *all = own_table();
	struct cfi_table *alone = own_table_of(CFI_FUNCTIONS);
	uint64_t known = 0;

	(void)state;
	for (uint64_t offset = 0; offset < 0x80000; offset++) {
		uint64_t start = 0, want = 0;
		bool is_known = cfi_function(all, offset, &want);

		assert_int_equal(cfi_function(alone, offset, &start), is_known);
		assert_int_equal(start, want);
		known += is_known;
	}
	assert_true(known > 10000);
	assert_true(cfi_table_nr_rows(alone) < cfi_table_nr_rows(all) / 2);
	assert_true(cfi_table_nr_rules(alone) < cfi_table_nr_rules(all));
	cfi_table_free(alone);
	cfi_table_free(all);
}

static void test_cut(void **state)
{
	struct cfi_table *table = own_table(), *back;
	uint8_t *piece, *copy;
	size_t len;

	(void)state;
	piece = flatten(table, &len);
	for (size_t cut = 0; cut < len; cut += 1 + cut / 16) {
		/* Of its own, so that a sanitizer sees what is behind. */
		copy = malloc(cut + !cut);
		assert_non_null(copy);
		memcpy(copy, piece, cut);
		assert_int_equal(cfi_table_unflatten(&back, copy, cut),
				 -EBADMSG);
		free(copy);
	}
	free(piece);
	cfi_table_free(table);
}

/* One to eight bytes are others; half of the time in the head or the pools. */
static void test_changed(void **state)
{
	struct cfi_table *table = own_table(), *back;
	size_t len, nr_taken = 0;
	uint64_t seed = 1;
	uint8_t *piece;

	(void)state;
	piece = flatten(table, &len);
	for (int i = 0; i < CHANGES; i++) {
		uint8_t before[8];
		size_t at = next_random(&seed) % (len - 8);
		unsigned int way = next_random(&seed) % 4;

		if (way == 0)
			at = next_random(&seed) % 56;
		else if (way == 1)
			at = len - 8 - next_random(&seed) % 2000;
		memcpy(before, piece + at, 8);
		for (uint64_t n = next_random(&seed) % 8 + 1; n--;)
			piece[at + n] = (uint8_t)next_random(&seed);
		if (!cfi_table_unflatten(&back, piece, len)) {
			walk(back, seed);
			cfi_table_free(back);
			nr_taken++;
		}
		memcpy(piece + at, before, 8);
	}
	/* Some are tables, too, of other code. */
	assert_in_range(nr_taken, 1, CHANGES - 1);
	free(piece);
	cfi_table_free(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_functions_alone),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
