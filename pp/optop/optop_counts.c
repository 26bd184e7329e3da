// SPDX-License-Identifier: GPL-2.0-or-later
/* See optop_counts.h. A key is a hash of 64 bits: among a million rows two are
 * taken for one with a chance of 3 in 100,000,000. */

#include "pp/optop/optop_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct optop_counts *optop_counts_new(size_t nr, size_t nr_events, bool has_all)
{
	struct optop_counts *counts = calloc(1, sizeof(*counts));

	if (!counts)
		return NULL;
	counts->nr_users = 1;
	counts->nr = nr;
	counts->nr_events = nr_events;
	counts->keys = calloc(nr + 1, sizeof(*counts->keys));
	counts->self = calloc(nr + 1, (nr_events + 1) * sizeof(*counts->self));
	if (has_all)
		counts->all =
			calloc(nr + 1, (nr_events + 1) * sizeof(*counts->all));
	counts->self_sums = calloc(nr_events + 1, sizeof(*counts->self_sums));
	counts->all_sums = calloc(nr_events + 1, sizeof(*counts->all_sums));
	counts->events = calloc(nr_events + 1, sizeof(*counts->events));
	if (counts->keys && counts->self && (counts->all || !has_all) &&
	    counts->self_sums && counts->all_sums && counts->events)
		return counts;
	optop_counts_put(counts);
	return NULL;
}

struct optop_counts *optop_counts_get(struct optop_counts *counts)
{
	if (counts)
		counts->nr_users++;
	return counts;
}

void optop_counts_put(struct optop_counts *counts)
{
	if (!counts || --counts->nr_users)
		return;
	for (size_t i = 0; counts->events && i < counts->nr_events; i++)
		free(counts->events[i]);
	free(counts->events);
	free(counts->keys);
	free(counts->self);
	free(counts->all);
	free(counts->self_sums);
	free(counts->all_sums);
	op_hash_release(&counts->index);
	free(counts);
}

int optop_counts_index(struct optop_counts *counts)
{
	int err = op_hash_reserve(&counts->index, counts->nr);

	for (size_t i = 0; i < counts->nr && !err; i++)
		if (counts->keys[i])
			op_hash_add(&counts->index,
				    op_hash_mix(counts->index.seed,
						counts->keys[i]),
				    (uint32_t)i + 1);
	return err;
}

size_t optop_counts_row(const struct optop_counts *counts, uint64_t key)
{
	uint64_t hash = op_hash_mix(counts->index.seed, key);
	uint32_t number;

	op_hash_each(&counts->index, hash, number) {
		if (counts->keys[number - 1] == key)
			return number - 1;
	}
	return OPTOP_NONE;
}

size_t optop_counts_event(const struct optop_counts *counts, const char *name)
{
	for (size_t i = 0; name && i < counts->nr_events; i++)
		if (!strcmp(counts->events[i], name))
			return i;
	return OPTOP_NONE;
}

uint64_t optop_key(uint64_t key, const char *text)
{
	uint64_t hash = op_hash_text(key, text);

	return hash ? hash : 1;
}
