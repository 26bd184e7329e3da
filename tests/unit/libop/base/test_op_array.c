// SPDX-License-Identifier: GPL-2.0-or-later
/* Arrays that grow: what was in them stays, and there is the room promised. */

#include <errno.h>
#include <stdint.h>

#include "libop/base/op_array.h"
#include "tests/unit/rows.h"

/* The room of @nr elements, as the header states it. */
static size_t room_of(size_t nr)
{
	size_t room = OP_ARRAY_MIN;

	while (room < nr)
		room *= 2;
	return nr ? room : 0;
}

/* Write to the whole room: the sanitizer sees a byte too many. */
static void fill(uint32_t *array, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		array[i] = (uint32_t)i;
}

TEST(elements_stay_and_room_is_there)
{
	/* Elements in use, and how many more are wanted. */
	static const struct {
		size_t nr, more;
	} rows[] = {
		{ 0, 0 },   { 0, 1 },	{ 0, 16 },   { 0, 17 },
		{ 1, 1 },   { 15, 1 },	{ 16, 1 },   { 17, 1 },
		{ 16, 0 },  { 17, 15 }, { 17, 16 },  { 31, 1 },
		{ 32, 1 },  { 33, 31 }, { 33, 32 },  { 5, 1000 },
		{ 63, 65 }, { 64, 64 }, { 100, 28 }, { 1000, 100000 },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		size_t nr = rows[i].nr, all = nr + rows[i].more;
		uint32_t *array = NULL;

		assert_int_equal(op_array_reserve(&array, 0, nr), 0);
		assert_true(!array == !nr);
		fill(array, 0, room_of(nr));
		assert_int_equal(op_array_reserve(&array, nr, rows[i].more), 0);
		fill(array, nr, room_of(all));
		for (size_t j = 0; j < all; j++)
			assert_int_equal(array[j], j);
		free(array);
	}
}

TEST(one_at_a_time_moves_at_powers_of_two)
{
	uint64_t *array = NULL, *was;
	unsigned int nr_moves = 0;

	for (size_t nr = 0; nr < 5000; nr++) {
		was = array;
		assert_int_equal(op_array_reserve(&array, nr, 1), 0);
		/* Within the room the pointer stays. */
		if (nr < room_of(nr))
			assert_ptr_equal(array, was);
		else
			nr_moves++;
		array[nr] = nr;
	}
	assert_int_equal(nr_moves, 10);
	for (size_t nr = 0; nr < 5000; nr++)
		assert_int_equal(array[nr], nr);
	free(array);
}

TEST(dropped_elements_leave_a_sound_array)
{
	static const size_t kept[] = { 0, 1, 16, 17, 31, 999 };

	for (size_t i = 0; i < NR(kept); i++) {
		uint32_t *array = NULL;

		assert_int_equal(op_array_reserve(&array, 0, 1000), 0);
		fill(array, 0, 1000);
		for (size_t nr = kept[i]; nr < 3000; nr++) {
			assert_int_equal(op_array_reserve(&array, nr, 1), 0);
			array[nr] = (uint32_t)nr;
		}
		for (size_t nr = 0; nr < 3000; nr++)
			assert_int_equal(array[nr], nr);
		op_array_trim(&array, 10);
		assert_int_equal(array[9], 9);
		op_array_trim(&array, 0);
		free(array);
	}
}

TEST(too_much_changes_nothing)
{
	static const size_t more[] = {
		SIZE_MAX,	  SIZE_MAX - 1, SIZE_MAX - 20,	  SIZE_MAX / 2,
		SIZE_MAX / 2 + 2, SIZE_MAX / 4, SIZE_MAX / 8 + 1,
	};
	uint64_t *array = NULL, *was;

	for (size_t nr = 0; nr < 40; nr++) {
		assert_int_equal(op_array_reserve(&array, nr, 1), 0);
		array[nr] = nr;
		was = array;
		for (size_t i = 0; i < NR(more); i++) {
			assert_int_equal(op_array_reserve(&array, nr + 1,
							  more[i]),
					 -ENOMEM);
			assert_ptr_equal(array, was);
		}
		assert_int_equal(array[nr], nr);
	}
	free(array);
}
