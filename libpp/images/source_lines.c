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

static int compare_lines(const void *pa, const void *pb)
{
	const struct pp_source_line *a = pa, *b = pb;

	return compare_places(&a->place, &b->place);
}

int pp_source_lines(struct op_arena *arena,
		    const struct pp_symbol_entry *symbol, size_t nr_classes,
		    const struct pp_source_line **out, size_t *nr)
{
	size_t nr_parts = 0, kept = 0;
	struct pp_source_line *lines =
		op_arena_alloc(arena,
			       symbol->nr_details + symbol->nr_line_totals,
			       sizeof(*lines));

	*nr = 0;
	*out = lines;
	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < symbol->nr_details; i++)
		lines[nr_parts++] = (struct pp_source_line){
			.place = symbol->details[i].place,
			.counts = symbol->details[i].counts,
		};
	for (size_t i = 0; i < symbol->nr_line_totals; i++)
		lines[nr_parts++] = (struct pp_source_line){
			.place = symbol->line_totals[i].place,
			.all_counts = symbol->line_totals[i].counts,
		};
	if (nr_parts)
		qsort(lines, nr_parts, sizeof(*lines), compare_lines);
	for (size_t i = 0, end; i < nr_parts; i = end) {
		uint64_t *counts =
			op_arena_alloc(arena, nr_classes, sizeof(*counts));
		const uint64_t *all_counts = NULL;

		if (!counts)
			return -ENOMEM;
		for (end = i;
		     end < nr_parts && !compare_lines(&lines[end], &lines[i]);
		     end++) {
			if (lines[end].counts)
				pp_add_all_counts(counts, lines[end].counts,
						  nr_classes);
			if (lines[end].all_counts)
				all_counts = lines[end].all_counts;
		}
		lines[kept] = (struct pp_source_line){
			.place = lines[i].place,
			.counts = counts,
			.all_counts = all_counts,
		};
		kept++;
	}
	*nr = kept;
	return 0;
}
