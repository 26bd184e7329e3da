/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_SEARCH_H
#define LIBOP_BASE_OP_SEARCH_H

/* Sorting and searching arrays of numbers, and of what is ordered by one. */

#include <stddef.h>
#include <stdint.h>

/* The order of @a and @b as qsort(3) wants it: negative, 0 or positive. */
static inline int op_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/*
 * The first index from 0 to @nr for which @is_before does not hold, or @nr, by
 * bisection. @is_before is an expression of @i, the index, that holds for no
 * index behind the first one for which it does not:
 *
 *	size_t end = OP_BISECT(i, nr, rows[i].address <= address);
 */
#define OP_BISECT(i, nr, is_before)                                            \
	({                                                                     \
		size_t op_low = 0, op_high = (nr);                             \
                                                                               \
		while (op_low < op_high) {                                     \
			size_t i = op_low + (op_high - op_low) / 2;            \
                                                                               \
			if (is_before)                                         \
				op_low = i + 1;                                \
			else                                                   \
				op_high = i;                                   \
		}                                                              \
		op_low;                                                        \
	})

#endif /* LIBOP_BASE_OP_SEARCH_H */
