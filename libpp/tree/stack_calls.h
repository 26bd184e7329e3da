/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_TREE_STACK_CALLS_H
#define LIBPP_TREE_STACK_CALLS_H

/*
 * The calls that totals are of, while a report is made, for libpp alone: who
 * called whom where, and the samples below. They are counted where totals are:
 * populate_totals.c walks the trees, total_points.c knows what was inlined
 * at flat samples.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_hash.h"
#include "libpp/report/report.h"

struct pp_population;
struct pp_side;

struct pp_stack_call_key {
	uint32_t caller, callee; /* numbers of symbols */
	struct pp_place place; /* equal names of files are one string */
	uint64_t vma; /* if it was inlined no part of the key: the first */
	bool is_inlined;
};

/* All zeros but for nr_classes is empty. */
struct pp_stack_calls {
	struct pp_stack_call_key *list;
	size_t nr;
	uint64_t *counts; /* nr_classes for each */
	size_t nr_classes;
	struct op_hash index; /* of places in the list, from 1 */
	int err; /* of an earlier call of pp_stack_calls_add() */
};

/* Add @count samples in column @class_nr to a call. Want of memory is told by
 * pp_stack_calls_take(). */
void pp_stack_calls_add(struct pp_stack_calls *calls,
			const struct pp_stack_call_key *key, size_t class_nr,
			uint64_t count);

/*
 * Fill stack_calls of @side's symbols, whose totals are known, and outer_calls
 * of the report. Symbols must stay where they are from now on. Returns 0 or
 * -ENOMEM.
 */
int pp_stack_calls_take(struct pp_population *p, struct pp_side *side);
void pp_stack_calls_release(struct pp_stack_calls *calls);

#endif /* LIBPP_TREE_STACK_CALLS_H */
