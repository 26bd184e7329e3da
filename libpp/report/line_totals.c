// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Totals of lines and addresses. The frames of call trees and the places with
 * samples are numbered alike by what they pass: an address, the line that it is
 * of, and for each function that is inlined there the line where that is. The
 * walk over the trees counts a number where it is on the way to the root for
 * the first time.
 *
 * The end of a stack is known as its function alone; the samples there are in
 * the flat files, by address, but without their stacks. So these are added as
 * wholes. Where a line is on the stack of samples at its own line, as where a
 * function calls itself, they would count twice; the part that does is taken to
 * be the same share of the samples as of all in that function.
 */

#include "libpp/report/line_totals.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_search.h"
#include "libop/base/op_strings.h"
#include "libpp/report/populate_symbols.h"

/* A line of a function, or an address in it. */
struct passed {
	uint32_t symbol;
	bool is_address;
	bool is_called_from; /* it is on stacks, and not only at their ends */
	uint64_t vma; /* of an address */
	struct pp_place place; /* the line, also of an address */
	struct pp_place inlined_at; /* of an address */
};

/* Samples at the ends of stacks in @function that are at number @passed. */
struct line_share {
	uint32_t function, passed;
	unsigned int class_nr;
	uint64_t count;
};

struct pp_line_totals {
	struct pp_side *side;
	struct op_arena *arena; /* of the report */
	size_t nr_classes;
	struct op_strings files;
	struct passed *list;
	size_t nr;
	struct op_hash index; /* of places in the list, from 1 */
	uint32_t *numbers; /* those that each frame passes, from 0 */
	size_t nr_numbers;
	size_t *first; /* of these, for each frame, and behind the last */
	struct line_share *shares; /* by function */
	size_t nr_shares;
	uint32_t *on_path; /* for each number: frames on the way to the root */
	uint64_t *own, *below; /* nr_classes for each number: samples there,
				  and on whose stacks it is as a caller */
	double *twice; /* likewise: of these, how many are in both */
};

/* ---- numbers ------------------------------------------------------------- */

static bool is_same_passed(const struct passed *a, const struct passed *b)
{
	if (a->symbol != b->symbol || a->is_address != b->is_address)
		return false;
	return a->is_address ? a->vma == b->vma
			     : a->place.file == b->place.file &&
				       a->place.line == b->place.line;
}

/* Give the frame at work the number of @passed, which it may have already. */
static int add_passed(struct pp_line_totals *t, size_t frame,
		      const struct passed *passed)
{
	uint32_t number;
	uint64_t hash;
	int err = op_hash_reserve(&t->index, t->nr + 1)
			  ?: op_array_reserve(&t->list, t->nr, 1)
			  ?: op_array_reserve(&t->numbers, t->nr_numbers, 1);

	if (err)
		return -ENOMEM;
	hash = op_hash_mix(t->index.seed,
			   (uint64_t)passed->symbol << 1 | passed->is_address);
	hash = op_hash_mix(hash, passed->is_address
					 ? passed->vma
					 : (uintptr_t)passed->place.file);
	hash = op_hash_mix(hash, passed->is_address ? 0 : passed->place.line);
	op_hash_each(&t->index, hash, number)
		if (is_same_passed(&t->list[number - 1], passed))
			break;
	if (!number) {
		t->list[t->nr++] = *passed;
		number = (uint32_t)t->nr;
		op_hash_add(&t->index, hash, number);
	}
	for (size_t i = t->first[frame]; i < t->nr_numbers; i++)
		if (t->numbers[i] == number - 1)
			return 0;
	t->numbers[t->nr_numbers++] = number - 1;
	return 0;
}

static int number_frame(struct pp_line_totals *t, size_t nr)
{
	const struct pp_frame_symbols *frame = &t->side->frame_symbols[nr];
	int err = 0;

	t->first[nr] = t->nr_numbers;
	/* The end of a stack, or without the place of its call. */
	if (frame->is_function || !frame->places)
		return 0;
	for (uint32_t i = 0; i < frame->nr && !err; i++) {
		struct passed passed = {
			.symbol = frame->symbols[i],
			.place = frame->places[i],
		};
		const char **file = &passed.place.file;

		if (passed.symbol == PP_NO_SYMBOL)
			continue;
		if (*file) {
			*file = op_strings_add(&t->files, *file);
			err = *file ? add_passed(t, nr, &passed) : -ENOMEM;
		}
		if (i || err)
			continue;
		passed.is_address = true;
		passed.vma = frame->vma;
		if (frame->nr > 1)
			passed.inlined_at = frame->places[1];
		err = add_passed(t, nr, &passed);
	}
	return err;
}

/* ---- samples without their stacks ---------------------------------------- */

static int compare_line_shares(const void *a, const void *b)
{
	const struct line_share *x = a, *y = b;

	return op_compare(x->function, y->function);
}

/* Add up the samples at each number, and note which of those in a function are
 * at a number that may be above them on their stacks, too. */
static int count_flat_places(struct pp_line_totals *t)
{
	const struct pp_side *side = t->side;
	bool *is_flat = calloc((size_t)side->nr_frame_symbols + 1, 1);

	if (!is_flat)
		return -ENOMEM;
	for (size_t i = 0; i < side->nr_flat_places; i++)
		is_flat[side->flat_places[i].frame] = true;
	for (size_t f = 0; f < side->nr_frame_symbols; f++)
		for (size_t i = t->first[f]; i < t->first[f + 1]; i++)
			t->list[t->numbers[i]].is_called_from |= !is_flat[f];
	free(is_flat);
	for (size_t i = 0; i < side->nr_flat_places; i++) {
		const struct pp_flat_place *flat = &side->flat_places[i];
		const struct pp_frame_symbols *frame =
			&side->frame_symbols[flat->frame];
		uint32_t function = frame->symbols[frame->nr - 1];

		for (size_t n = t->first[flat->frame];
		     n < t->first[flat->frame + 1]; n++) {
			uint32_t number = t->numbers[n];
			uint64_t *own = &t->own[number * t->nr_classes +
						flat->class_nr];

			*own = pp_add_counts(*own, flat->count);
			if (!t->list[number].is_called_from ||
			    function == PP_NO_SYMBOL)
				continue;
			if (op_array_reserve(&t->shares, t->nr_shares, 1))
				return -ENOMEM;
			t->shares[t->nr_shares++] = (struct line_share){
				.function = function,
				.passed = number,
				.class_nr = flat->class_nr,
				.count = flat->count,
			};
		}
	}
	if (t->nr_shares)
		qsort(t->shares, t->nr_shares, sizeof(*t->shares),
		      compare_line_shares);
	return 0;
}

int pp_line_totals_new(struct pp_line_totals **out, struct pp_side *side,
		       struct op_arena *arena)
{
	struct pp_line_totals *t = calloc(1, sizeof(*t));
	size_t nr_frames = side->nr_frame_symbols, nr;
	int err = 0;

	*out = t;
	if (!t)
		return -ENOMEM;
	t->side = side;
	t->arena = arena;
	t->nr_classes = side->classes.nr;
	op_strings_init(&t->files, arena);
	t->first = calloc(nr_frames + 1, sizeof(*t->first));
	if (!t->first)
		return -ENOMEM;
	for (size_t i = 0; i < nr_frames && !err; i++)
		err = number_frame(t, i);
	t->first[nr_frames] = t->nr_numbers;
	nr = t->nr * t->nr_classes + 1;
	t->on_path = calloc(t->nr + 1, sizeof(*t->on_path));
	t->own = calloc(nr, sizeof(*t->own));
	t->below = calloc(nr, sizeof(*t->below));
	t->twice = calloc(nr, sizeof(*t->twice));
	if (!t->on_path || !t->own || !t->below || !t->twice)
		return -ENOMEM;
	return err ?: count_flat_places(t);
}

void pp_line_totals_free(struct pp_line_totals *t)
{
	if (!t)
		return;
	op_strings_release(&t->files);
	op_hash_release(&t->index);
	free(t->list);
	free(t->numbers);
	free(t->first);
	free(t->shares);
	free(t->on_path);
	free(t->own);
	free(t->below);
	free(t->twice);
	free(t);
}

/* ---- the walk ------------------------------------------------------------ */

/* The place of @frame in the numbers; what has no symbols passes nothing. */
static size_t number_of_frame(const struct pp_line_totals *t,
			      const struct pp_frame_symbols *frame)
{
	return frame->nr ? (size_t)(frame - t->side->frame_symbols)
			 : t->side->nr_frame_symbols;
}

void pp_line_totals_enter(struct pp_line_totals *t,
			  const struct pp_frame_symbols *frame, size_t class_nr,
			  uint64_t samples)
{
	size_t nr = number_of_frame(t, frame);

	if (!frame->nr)
		return;
	for (size_t i = t->first[nr]; i < t->first[nr + 1]; i++) {
		uint32_t number = t->numbers[i];
		uint64_t *sum = &t->below[number * t->nr_classes + class_nr];

		if (!t->on_path[number]++)
			*sum = pp_add_counts(*sum, samples);
	}
}

void pp_line_totals_leave(struct pp_line_totals *t,
			  const struct pp_frame_symbols *frame)
{
	size_t nr = number_of_frame(t, frame);

	if (!frame->nr)
		return;
	for (size_t i = t->first[nr]; i < t->first[nr + 1]; i++)
		t->on_path[t->numbers[i]]--;
}

void pp_line_totals_end_stacks(struct pp_line_totals *t, uint32_t function,
			       size_t class_nr, uint64_t samples)
{
	uint64_t all = t->side->in_table[function * t->nr_classes + class_nr];
	size_t at =
		OP_BISECT(i, t->nr_shares, t->shares[i].function < function);

	for (; at < t->nr_shares && all; at++) {
		const struct line_share *share = &t->shares[at];

		if (share->function != function)
			break;
		if (share->class_nr == class_nr && t->on_path[share->passed])
			t->twice[share->passed * t->nr_classes + class_nr] +=
				(double)samples * (double)share->count /
				(double)all;
	}
}

/* ---- results ------------------------------------------------------------- */

static int compare_passed(const void *a, const void *b, void *arg)
{
	const struct passed *list = arg;
	const struct passed *x = &list[*(const uint32_t *)a];
	const struct passed *y = &list[*(const uint32_t *)b];

	return op_compare(x->symbol, y->symbol) ?:
	       op_compare(x->is_address, y->is_address) ?:
	       op_compare(x->vma, y->vma) ?:
	       strcmp(x->place.file ?: "", y->place.file ?: "") ?:
	       op_compare(x->place.line, y->place.line);
}

/* Give the addresses of @entry, and those that it calls from, their totals. The
 * @nr numbers @order are those of its addresses, ascending. */
static int fill_addresses(const struct pp_line_totals *t,
			  struct pp_symbol_entry *entry, const uint32_t *order,
			  size_t nr, const uint64_t *totals)
{
	const struct pp_detail *old = entry->details;
	size_t nr_old = entry->nr_details, at = 0, nr_all = 0;
	struct pp_detail *all =
		op_arena_alloc(t->arena, nr_old + nr, sizeof(*all));
	uint64_t *none = op_arena_alloc(t->arena, t->nr_classes, sizeof(*none));

	if (!all || !none)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		const struct passed *passed = &t->list[order[i]];
		struct pp_detail *detail;

		while (at < nr_old && old[at].vma < passed->vma)
			all[nr_all++] = old[at++];
		detail = &all[nr_all++];
		*detail = (struct pp_detail){
			.vma = passed->vma,
			.counts = none,
			.place = passed->place,
			.inlined_at = passed->inlined_at,
		};
		if (at < nr_old && old[at].vma == passed->vma)
			*detail = old[at++];
		detail->all_counts = &totals[order[i] * t->nr_classes];
	}
	while (at < nr_old)
		all[nr_all++] = old[at++];
	entry->details = all;
	entry->nr_details = nr_all;
	return 0;
}

/* The @nr numbers @order are those of the lines of @entry. */
static int fill_lines(const struct pp_line_totals *t,
		      struct pp_symbol_entry *entry, const uint32_t *order,
		      size_t nr, const uint64_t *totals)
{
	struct pp_line_total *lines =
		op_arena_alloc(t->arena, nr, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		lines[i] = (struct pp_line_total){
			.place = t->list[order[i]].place,
			.counts = &totals[order[i] * t->nr_classes],
		};
	entry->line_totals = lines;
	entry->nr_line_totals = nr;
	return 0;
}

int pp_line_totals_fill(struct pp_line_totals *t)
{
	size_t nr_counts = t->nr * t->nr_classes, kept = 0;
	uint64_t *totals = op_arena_alloc(t->arena, nr_counts, sizeof(*totals));
	uint32_t *order = calloc(t->nr + 1, sizeof(*order));
	int err = totals && order ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr_counts && !err; i++) {
		double twice =
			fmin(nearbyint(t->twice[i]), (double)t->below[i]);

		totals[i] =
			pp_add_counts(t->own[i], t->below[i] - (uint64_t)twice);
	}
	for (size_t i = 0; i < t->nr && !err; i++)
		if (pp_has_counts(&totals[i * t->nr_classes], t->nr_classes))
			order[kept++] = (uint32_t)i;
	if (kept)
		qsort_r(order, kept, sizeof(*order), compare_passed, t->list);
	for (size_t i = 0, end; i < kept && !err; i = end) {
		const struct passed *first = &t->list[order[i]];
		struct pp_symbol_entry *entry =
			&t->side->symbols[first->symbol];

		for (end = i + 1; end < kept; end++) {
			const struct passed *next = &t->list[order[end]];

			if (next->symbol != first->symbol ||
			    next->is_address != first->is_address)
				break;
		}
		if (!first->is_address)
			err = fill_lines(t, entry, &order[i], end - i, totals);
		else if (entry->size || entry->is_inlined)
			/* Those of code without a symbol are in no order. */
			err = fill_addresses(t, entry, &order[i], end - i,
					     totals);
	}
	free(order);
	return err;
}
