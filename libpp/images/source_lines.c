// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/images/source_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/select/sample_list.h"

static int compare_places(const struct pp_place *a, const struct pp_place *b)
{
	int order =
		a->file == b->file ? 0 : strcmp(a->file ?: "", b->file ?: "");

	return order ?: op_compare(a->line, b->line);
}

static int compare_details(const void *pa, const void *pb)
{
	const struct pp_detail *a = *(const void *const *)pa,
			       *b = *(const void *const *)pb;

	return compare_places(&a->place, &b->place);
}

int pp_source_lines(struct op_arena *arena,
		    const struct pp_symbol_entry *symbol, size_t nr_classes,
		    const struct pp_source_line **out, size_t *nr)
{
	size_t nr_details = symbol->nr_details;
	const struct pp_detail **order = calloc(nr_details + 1, sizeof(*order));
	struct pp_source_line *lines =
		op_arena_alloc(arena, nr_details, sizeof(*lines));
	int err = order && lines ? 0 : -ENOMEM;

	*nr = 0;
	*out = lines;
	for (size_t i = 0; !err && i < nr_details; i++)
		order[i] = &symbol->details[i];
	if (!err && nr_details)
		qsort(order, nr_details, sizeof(*order), compare_details);
	for (size_t i = 0, end; !err && i < nr_details; i = end) {
		uint64_t *counts =
			op_arena_alloc(arena, nr_classes, sizeof(*counts));

		lines[(*nr)++] =
			(struct pp_source_line){ .place = order[i]->place,
						 .counts = counts };
		err = counts ? 0 : -ENOMEM;
		for (end = i; !err && end < nr_details &&
			      !compare_details(&order[end], &order[i]);
		     end++)
			pp_add_all_counts(counts, order[end]->counts,
					  nr_classes);
	}
	free(order);
	return err;
}
