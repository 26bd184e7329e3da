// SPDX-License-Identifier: GPL-2.0-or-later
/* The sort by a number, against an array that is sorted by comparing. */

#include "libop/base/op_search.h"
#include "libop/base/op_sort.h"
#include "tests/unit/rows.h"

#define SEED 88172645463325252u

struct item {
	uint8_t before; /* the number is not at the start */
	uint64_t number;
	uint32_t order;
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return op_compare(x->number, y->number)
		       ?: op_compare(x->order, y->order);
}

/* @nr items with the bits @mask of numbers at random. */
static void sort_both_ways(size_t nr, uint64_t mask)
{
	struct item *items = calloc(nr + 1, sizeof(*items));
	struct item *wanted = calloc(nr + 1, sizeof(*items));
	uint64_t state = SEED;

	assert_true(items && wanted);
	for (size_t i = 0; i < nr; i++) {
		items[i].number = next_random(&state) & mask;
		items[i].order = (uint32_t)i;
		items[i].before = (uint8_t)(items[i].number + i);
	}
	items[nr].order = 12345;
	memcpy(wanted, items, (nr + 1) * sizeof(*items));
	qsort(wanted, nr, sizeof(*wanted), compare_items);
	op_sort_by(items, nr, number);
	for (size_t i = 0; i <= nr; i++) {
		assert_int_equal(items[i].order, wanted[i].order);
		assert_int_equal(items[i].number, wanted[i].number);
		assert_int_equal(items[i].before, wanted[i].before);
	}
	/* It is in order now, and stays as it is. */
	op_sort_by(items, nr, number);
	assert_memory_equal(items, wanted, nr * sizeof(*items));
	free(items);
	free(wanted);
}

TEST(all_sizes_and_numbers)
{
	static const size_t nrs[] = { 0, 1, 2, 3, 31, 32, 33, 100, 5000 };
	static const uint64_t masks[] = {
		0,	  1,	    UINT64_MAX,		0xff,
		0xff00,	  0x7fffff, 0xff000000000000ff, UINT64_C(1) << 63,
		0xfff000,
	};

	for (size_t i = 0; i < NR(nrs); i++)
		for (size_t j = 0; j < NR(masks); j++)
			sort_both_ways(nrs[i], masks[j]);
}

/* Numbers alone, each of them at the wrong end. */
TEST(backwards)
{
	uint64_t numbers[1000];

	for (size_t nr = 1000; nr > 1; nr /= 2) {
		for (size_t i = 0; i < nr; i++)
			numbers[i] = UINT64_MAX - i;
		op_sort_by_number(numbers, nr, sizeof(*numbers), 0);
		for (size_t i = 0; i < nr; i++)
			assert_int_equal(numbers[i], UINT64_MAX - nr + 1 + i);
	}
}
