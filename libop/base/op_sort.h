/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_SORT_H
#define LIBOP_BASE_OP_SORT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sort the @nr items of @size bytes by a uint64_t that each has at byte @at, in
 * ascending order. Items with the same number keep their order. For thousands
 * of items this takes a fraction of the time of qsort(3), since it compares
 * none; for items that are in order already it takes next to none.
 *
 * It needs 32 + @size bytes for each item meanwhile. Where these are not to be
 * had it takes a time that grows with the square of @nr.
 */
void op_sort_by_number(void *items, size_t nr, size_t size, size_t at);

/* The same for a field of an array. */
#define op_sort_by(items, nr, field)                                           \
	op_sort_by_number((items), (nr), sizeof(*(items)),                     \
			  offsetof(__typeof__(*(items)), field))

#endif /* LIBOP_BASE_OP_SORT_H */
