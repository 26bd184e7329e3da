// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code comes in bursts, up to 100,000 functions at a time, and in any order of
 * addresses; look-ups come between the bursts, and a program that means harm
 * makes one come between each two. So new code is put behind the sorted list
 * first, where look-ups search it from the newest on. When it is more than a
 * part of the list, a look-up sorts it and merges both lists in one go, which
 * takes time in proportion to both whatever they hold: a fixed time for each
 * new code.
 *
 * While the lists are merged in the order of addresses, the end of what has
 * been taken is a stack: newer code drops the older code that it overlaps from
 * the end of it, and is dropped itself if it overlaps newer code there.
 */

#include "daemon/source/jit/opd_jit_codes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_search.h"

/* New code is merged when it is more than this, and this part of the list. */
#define FEW 64
#define PART 64

void opd_jit_codes_release(struct opd_jit_codes *codes)
{
	free(codes->list);
	free(codes->more);
	memset(codes, 0, sizeof(*codes));
}

/* ---- merging ----------------------------------------------------------------
 */

/* New code with its place in the order of coming; older code has age 0. */
struct aged_code {
	struct opd_jit_code code;
	size_t age;
};

struct merge {
	struct aged_code *taken;
	size_t nr;
};

static int compare_code_starts(const void *a, const void *b)
{
	const struct aged_code *x = a, *y = b;

	return op_compare(x->code.start, y->code.start)
		       ?: op_compare(x->age, y->age);
}

static void merge_jit_code(struct merge *merge, const struct aged_code *next)
{
	while (merge->nr) {
		const struct aged_code *last = &merge->taken[merge->nr - 1];

		if (last->code.start + last->code.size <= next->code.start)
			break;
		if (last->age > next->age)
			return;
		merge->nr--;
	}
	merge->taken[merge->nr++] = *next;
}

static struct aged_code *sort_new_codes(const struct opd_jit_codes *codes)
{
	struct aged_code *sorted = calloc(codes->nr_more, sizeof(*sorted));

	for (size_t i = 0; sorted && i < codes->nr_more; i++)
		sorted[i] = (struct aged_code){ codes->more[i], i + 1 };
	if (sorted)
		qsort(sorted, codes->nr_more, sizeof(*sorted),
		      compare_code_starts);
	return sorted;
}

static void merge_sorted(struct merge *merge, const struct opd_jit_codes *codes,
			 const struct aged_code *sorted)
{
	size_t old = 0, new = 0;

	while (old < codes->nr || new < codes->nr_more) {
		bool is_old =
			new == codes->nr_more ||
			(old < codes->nr &&
			 codes->list[old].start <= sorted[new].code.start);
		struct aged_code aged = { 0 };

		if (is_old)
			aged.code = codes->list[old++];
		else
			aged = sorted[new ++];
		merge_jit_code(merge, &aged);
	}
}

/* Without memory for it the new code stays unknown until the next time. */
static void merge_new_codes(struct opd_jit_codes *codes)
{
	struct aged_code *sorted = sort_new_codes(codes);
	struct merge merge = {
		.taken = calloc(codes->nr + codes->nr_more,
				sizeof(*merge.taken)),
	};

	if (sorted && merge.taken &&
	    !op_array_reserve(&codes->list, codes->nr, codes->nr_more)) {
		merge_sorted(&merge, codes, sorted);
		for (size_t i = 0; i < merge.nr; i++)
			codes->list[i] = merge.taken[i].code;
		codes->nr = merge.nr;
		codes->nr_more = 0;
	}
	free(merge.taken);
	free(sorted);
}

/* Whether there is so much new code that it is worth the time of a merge. */
static bool is_much_new(const struct opd_jit_codes *codes)
{
	return codes->nr_more > FEW + codes->nr / PART;
}

/* ---- adding and looking up --------------------------------------------------
 */

static bool contains(const struct opd_jit_code *code, uint64_t addr)
{
	return addr - code->start < code->size;
}

int opd_jit_codes_add(struct opd_jit_codes *codes,
		      const struct opd_jit_code *code, size_t max)
{
	/* Code that was replaced makes room. */
	if (codes->nr + codes->nr_more >= max && is_much_new(codes))
		merge_new_codes(codes);
	if (codes->nr + codes->nr_more >= max)
		return -ENOSPC;
	if (op_array_reserve(&codes->more, codes->nr_more, 1))
		return -ENOMEM;
	codes->more[codes->nr_more++] = *code;
	return 0;
}

/* Whether new code from number @from on is where @code is. */
static bool is_replaced(const struct opd_jit_codes *codes, size_t from,
			const struct opd_jit_code *code)
{
	for (size_t i = from; i < codes->nr_more; i++) {
		const struct opd_jit_code *new = &codes->more[i];

		if (new->start < code->start + code->size &&
		    code->start < new->start + new->size)
			return true;
	}
	return false;
}

struct opd_jit_code *opd_jit_codes_find(struct opd_jit_codes *codes,
					uint64_t addr)
{
	struct opd_jit_code *code;
	size_t end;

	if (is_much_new(codes))
		merge_new_codes(codes);
	/* Code that the newest code at the address has replaced stays replaced.
	 */
	for (size_t i = codes->nr_more; i-- > 0;) {
		code = &codes->more[i];
		if (contains(code, addr))
			return is_replaced(codes, i + 1, code) ? NULL : code;
	}
	end = OP_BISECT(i, codes->nr, codes->list[i].start <= addr);
	if (!end)
		return NULL;
	code = &codes->list[end - 1];
	return contains(code, addr) && !is_replaced(codes, 0, code) ? code
								    : NULL;
}
