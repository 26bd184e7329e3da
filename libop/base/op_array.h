/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_ARRAY_H
#define LIBOP_BASE_OP_ARRAY_H

/*
 * Arrays on the heap that grow. Their owner keeps two fields, the pointer and
 * the number of elements in use; the room follows from that number: none for
 * 0, else the next power of two, and at least OP_ARRAY_MIN. So the array of a
 * struct that is all zeros is empty, elements may be dropped from the end at
 * any time, and free() releases the array. Allocate such an array with
 * op_array_reserve() alone, since an array from malloc() may have less room
 * than its number of elements promises.
 *
 *	err = op_array_reserve(&list->items, list->nr, 1);
 *	if (err)
 *		return err;
 *	list->items[list->nr++] = item;
 */

#include <stdbool.h>
#include <stddef.h>

#define OP_ARRAY_MIN 16

/*
 * Make room for @more elements behind the @nr elements in use. @array is the
 * address of the pointer, which changes when the elements have to move; new
 * elements are not initialised. Returns 0, or -ENOMEM with the array as it
 * was, also where the size in bytes overflows.
 */
#define op_array_reserve(array, nr, more)                                      \
	op_array_reserve_sized((array), (nr), (more), sizeof(**(array)))

/* Give back the room behind the @nr elements in use: none will be added. */
#define op_array_trim(array, nr)                                               \
	op_array_trim_sized((array), (nr), sizeof(**(array)))

int op_array_grow(void *array, size_t nr, size_t more, size_t size);
void op_array_trim_sized(void *array, size_t nr, size_t size);

static inline int op_array_reserve_sized(void *array, size_t nr, size_t more,
					 size_t size)
{
	/* The room stays the same if the highest bit of the last index does:
	 * then that bit is in a & b, above all bits of a ^ b. */
	size_t a = nr - 1, b = nr - 1 + more;
	bool is_room = nr > OP_ARRAY_MIN && b >= a && (a ^ b) < (a & b);

	return is_room ? 0 : op_array_grow(array, nr, more, size);
}

#endif /* LIBOP_BASE_OP_ARRAY_H */
