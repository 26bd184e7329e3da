/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_COUNTS_H
#define LIBPP_COUNTS_H

/* Counts of samples, one for each column. A sum stays at UINT64_MAX. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* @a + @b. */
static inline uint64_t pp_add_counts(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Add each of the @nr counts @from to that of @to. */
void pp_add_all_counts(uint64_t *to, const uint64_t *from, size_t nr);

/* Whether any of @nr counts is not 0. */
bool pp_has_counts(const uint64_t *counts, size_t nr);

/* The sum of @nr counts. */
uint64_t pp_sum_counts(const uint64_t *counts, size_t nr);

#endif /* LIBPP_COUNTS_H */
