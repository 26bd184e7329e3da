/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPTOP_OPTOP_COUNTS_H
#define PP_OPTOP_OPTOP_COUNTS_H

/*
 * The counts of one reading of the sample files, found by row. Rows are known
 * by keys, which are the same in all readings; so two readings can be
 * subtracted, whatever the order of their rows. A reading is shown with its own
 * and kept for what comes after it, so the object is counted.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "libop/base/op_hash.h"

#define OPTOP_NONE SIZE_MAX /* no row, no event */

struct optop_counts {
	unsigned int nr_users;
	time_t when; /* it was read */
	size_t nr, nr_events;
	char **events; /* their names */
	uint64_t *keys; /* one per row; 0: a row without counts */
	uint64_t *self; /* nr_events per row: samples in it */
	uint64_t *all; /* likewise, with what it called; NULL where no row has
			  these */
	uint64_t *self_sums, *all_sums; /* per event: what shares are of */
	struct op_hash index; /* of rows, by key */
};

/*
 * Zeros for @nr rows and @nr_events events, which have no names yet. It is used
 * by the caller alone. NULL when memory is short.
 */
struct optop_counts *optop_counts_new(size_t nr, size_t nr_events,
				      bool has_all);
struct optop_counts *optop_counts_get(struct optop_counts *counts);
void optop_counts_put(struct optop_counts *counts); /* may be NULL */

/* Make rows findable once their keys are set. Returns 0 or -ENOMEM; -EFBIG. */
int optop_counts_index(struct optop_counts *counts);

/* The number of the row, or of the event; OPTOP_NONE if there is none. */
size_t optop_counts_row(const struct optop_counts *counts, uint64_t key);
size_t optop_counts_event(const struct optop_counts *counts, const char *name);

/* The key of what @text names beside @key; never 0. */
uint64_t optop_key(uint64_t key, const char *text);

#endif /* PP_OPTOP_OPTOP_COUNTS_H */
