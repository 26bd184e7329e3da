// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Debts are paid in two rounds: by stacks with the same labels, which are those
 * of the same application and thread, and what is left by any.
 */

#include "pp/oppush/oppush_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "pp/oppush/oppush_tables.h"

/* ---- the difference ---------------------------------------------------------
 */

/* Pay @debt with what @value has. */
static void push_pay(int64_t *value, int64_t *debt)
{
	int64_t part = *value < *debt ? *value : *debt;

	if (part <= 0)
		return;
	*value -= part;
	*debt -= part;
}

/* @debts: room for one of each set of labels. */
static void push_balance(const struct push_sums *sums, size_t type,
			 int64_t *debts)
{
	size_t nr = sums->stacks.nr;
	int64_t left = 0;

	memset(debts, 0, sums->label_sets.nr * sizeof(*debts));
	for (size_t i = 0; i < nr; i++) {
		size_t at = i * sums->nr_types + type;

		sums->more[at] = sums->now[at] - sums->old[at];
		if (sums->more[at] >= 0)
			continue;
		debts[sums->stack[i].label_set] -= sums->more[at];
		sums->more[at] = 0;
	}
	for (size_t i = 0; i < nr; i++)
		push_pay(&sums->more[i * sums->nr_types + type],
			 &debts[sums->stack[i].label_set]);
	for (size_t i = 0; i < sums->label_sets.nr; i++)
		left += debts[i];
	for (size_t i = 0; left && i < nr; i++)
		push_pay(&sums->more[i * sums->nr_types + type], &left);
}

static int push_compare(struct push_sums *sums)
{
	int64_t *debts = calloc(sums->label_sets.nr + 1, sizeof(*debts));

	sums->more =
		op_arena_alloc(&sums->arena, sums->stacks.nr + 1,
			       (sums->nr_types ?: 1) * sizeof(*sums->more));
	if (!debts || !sums->more) {
		free(debts);
		return -ENOMEM;
	}
	for (size_t t = 0; t < sums->nr_types; t++)
		push_balance(sums, t, debts);
	free(debts);
	return 0;
}

/* ---- all of it --------------------------------------------------------------
 */

int push_sums_init(struct push_sums *sums, const Pprof__Profile *old,
		   const Pprof__Profile *now)
{
	struct push_reader earlier = { .sums = sums,
				       .p = old,
				       .values = &sums->old };
	struct push_reader later = { .sums = sums,
				     .p = now,
				     .values = &sums->now };
	int err = 0;

	memset(sums, 0, sizeof(*sums));
	op_arena_init(&sums->arena);
	op_strings_init(&sums->functions, &sums->arena);
	op_strings_init(&sums->mappings, &sums->arena);
	op_strings_init(&sums->locations, &sums->arena);
	op_strings_init(&sums->label_sets, &sums->arena);
	op_strings_init(&sums->stacks, &sums->arena);
	/* The order of the later file is that of who reads the result. */
	err = push_take_types(&later);
	if (!err && old)
		err = push_take_types(&earlier);
	if (!err)
		err = push_take_period(&later) ?: push_take_file(&later);
	if (!err && old)
		err = push_take_file(&earlier);
	return err ?: push_compare(sums);
}

void push_sums_release(struct push_sums *sums)
{
	op_strings_release(&sums->functions);
	op_strings_release(&sums->mappings);
	op_strings_release(&sums->locations);
	op_strings_release(&sums->label_sets);
	op_strings_release(&sums->stacks);
	free(sums->function);
	free(sums->mapping);
	free(sums->location);
	free(sums->label_set);
	free(sums->stack);
	free(sums->old);
	free(sums->now);
	op_arena_release(&sums->arena);
}

uint64_t push_sums_more(const struct push_sums *sums)
{
	uint64_t sum = 0;

	for (size_t t = 0; t < sums->nr_types; t++) {
		const char *type = sums->types[t].type;

		if (strcmp(type, "samples") != 0 &&
		    strncmp(type, "samples:", 8) != 0)
			continue;
		for (size_t i = 0; i < sums->stacks.nr; i++)
			sum += (uint64_t)sums->more[i * sums->nr_types + t];
	}
	return sum;
}
