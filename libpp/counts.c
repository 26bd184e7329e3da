// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums of counts, which stay at the largest number. */

#include "libpp/counts.h"

void pp_add_all_counts(uint64_t *to, const uint64_t *from, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		to[i] = pp_add_counts(to[i], from[i]);
}

bool pp_has_counts(const uint64_t *counts, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (counts[i])
			return true;
	return false;
}

uint64_t pp_sum_counts(const uint64_t *counts, size_t nr)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum = pp_add_counts(sum, counts[i]);
	return sum;
}
