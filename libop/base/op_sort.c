// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A radix sort, from the lowest byte of the numbers to the highest one. What is
 * moved at each byte is the number and the place of the item; items are moved
 * once. A byte that all numbers have in common is left out, which is most of
 * them for addresses in one file.
 */

#include "libop/base/op_sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define VALUES 256 /* of a byte */
#define FEW 32 /* that many are sorted by insertion */

struct numbered {
	uint64_t number;
	size_t item;
};

static uint64_t sort_number_of(const void *item, size_t at)
{
	uint64_t number;

	memcpy(&number, (const char *)item + at, sizeof(number));
	return number;
}

static bool is_sorted(const char *items, size_t nr, size_t size, size_t at)
{
	for (size_t i = 1; i < nr; i++)
		if (sort_number_of(items + (i - 1) * size, at) >
		    sort_number_of(items + i * size, at))
			return false;
	return true;
}

static void swap_items(char *a, char *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		char byte = a[i];

		a[i] = b[i];
		b[i] = byte;
	}
}

static void sort_by_insertion(char *items, size_t nr, size_t size, size_t at)
{
	for (size_t i = 1; i < nr; i++) {
		char *item = items + i * size;

		for (; item > items && sort_number_of(item - size, at) >
					       sort_number_of(item, at);
		     item -= size)
			swap_items(item - size, item, size);
	}
}

/* Do one pass, by the byte that is @shift bits from the lowest one. */
static void sort_by_byte(struct numbered *to, const struct numbered *from,
			 size_t nr, unsigned int shift)
{
	size_t places[VALUES] = { 0 }, place = 0;

	for (size_t i = 0; i < nr; i++)
		places[from[i].number >> shift & 0xff]++;
	for (size_t value = 0; value < VALUES; value++) {
		size_t nr_here = places[value];

		places[value] = place;
		place += nr_here;
	}
	for (size_t i = 0; i < nr; i++)
		to[places[from[i].number >> shift & 0xff]++] = from[i];
}

/* Sort @order, with room for as many behind it. @differ are the bits in which
 * not all numbers are the same. Returns which of both halves has the result. */
static struct numbered *sort_numbers(struct numbered *order, size_t nr,
				     uint64_t differ)
{
	struct numbered *from = order, *to = order + nr;

	for (unsigned int shift = 0; shift < 64; shift += 8) {
		struct numbered *sorted = to;

		if (!(differ >> shift & 0xff))
			continue;
		sort_by_byte(to, from, nr, shift);
		to = from;
		from = sorted;
	}
	return from;
}

void op_sort_by_number(void *items, size_t nr, size_t size, size_t at)
{
	struct numbered *order = NULL, *sorted;
	uint64_t differ = 0;
	char *copy = NULL;

	if (is_sorted(items, nr, size, at))
		return;
	if (nr > FEW) {
		order = reallocarray(NULL, nr, 2 * sizeof(*order));
		copy = reallocarray(NULL, nr, size);
	}
	if (!order || !copy) {
		sort_by_insertion(items, nr, size, at);
	} else {
		memcpy(copy, items, nr * size);
		for (size_t i = 0; i < nr; i++) {
			uint64_t number = sort_number_of(copy + i * size, at);

			order[i] = (struct numbered){ number, i };
			differ |= number ^ order[0].number;
		}
		sorted = sort_numbers(order, nr, differ);
		for (size_t i = 0; i < nr; i++)
			memcpy((char *)items + i * size,
			       copy + sorted[i].item * size, size);
	}
	free(order);
	free(copy);
}
