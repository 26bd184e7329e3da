// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file may have several parts, each with counts of the same ids. So what a
 * part takes of the counts of a slice is no longer there for the next part, and
 * all parts together have what the slice has.
 */

#include "libpp/select/slices.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libop/base/op_sort.h"
#include "libpp/select/sessions.h"

int pp_slices_open(struct pp_slices **out, const char *path)
{
	struct pp_slices *slices = calloc(1, sizeof(*slices));
	char file[PATH_MAX];
	int err = slices ? 0 : -ENOMEM;

	snprintf(file, sizeof(file), "%.4000s/" TIMELINE_FILE, path);
	err = err ?: timeline_read(&slices->timeline, file);
	if (!err && !slices->timeline.nr_slices)
		err = -ENOENT;
	if (!err) {
		slices->column_of = malloc(slices->timeline.nr_slices *
					   sizeof(*slices->column_of));
		err = slices->column_of ? 0 : -ENOMEM;
	}
	if (err) {
		pp_slices_close(slices);
		return err;
	}
	for (size_t i = 0; i < slices->timeline.nr_slices; i++)
		slices->column_of[i] = PP_NO_COLUMN;
	*out = slices;
	return 0;
}

void pp_slices_close(struct pp_slices *slices)
{
	if (!slices)
		return;
	timeline_release(&slices->timeline);
	free(slices->column_of);
	free(slices->counts);
	free(slices);
}

uint64_t pp_slice_begin(const struct pp_slices *slices, size_t i)
{
	const struct timeline *t = &slices->timeline;

	return t->head.begin + t->slices[i].nr * t->head.len;
}

uint64_t pp_slice_end(const struct pp_slices *slices, size_t i)
{
	return pp_slice_begin(slices, i) + slices->timeline.head.len;
}

int pp_slices_put(struct pp_slices *slices, struct op_arena *arena,
		  const struct pp_session *session, size_t i, uint64_t begin,
		  uint64_t end)
{
	struct pp_session *column;

	if (!slices->columns)
		slices->columns =
			op_arena_alloc(arena, slices->timeline.nr_slices,
				       sizeof(*slices->columns));
	if (!slices->columns)
		return -ENOMEM;
	column = &slices->columns[slices->nr_columns];
	if (!slices->nr_columns || column[-1].column_begin != begin ||
	    column[-1].column_end != end) {
		*column = *session;
		column->column_begin = begin;
		column->column_end = end;
		column->slice_column = slices->nr_columns++;
	}
	slices->column_of[i] = slices->nr_columns - 1;
	return 0;
}

/* ---- splitting ----------------------------------------------------------- */

static int index_slice_counts(struct pp_slices *slices)
{
	const struct timeline *t = &slices->timeline;
	struct pp_slice_count *counts;
	size_t nr = 0;

	for (size_t i = 0; i < t->nr_slices; i++)
		nr += t->slices[i].nr_counts;
	counts = calloc(nr + 1, sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	nr = 0;
	for (size_t i = 0; i < t->nr_slices; i++)
		for (size_t j = 0; j < t->slices[i].nr_counts; j++)
			counts[nr++] = (struct pp_slice_count){
				.id = t->slices[i].counts[j].id,
				.count = t->slices[i].counts[j].count,
				.column = slices->column_of[i],
			};
	op_sort_by(counts, nr, id);
	slices->counts = counts;
	slices->nr_counts = nr;
	return 0;
}

int pp_slices_begin_round(struct pp_slices *slices)
{
	slices->round++;
	slices->unknown = 0;
	return slices->counts ? 0 : index_slice_counts(slices);
}

void pp_slices_split(struct pp_slices *slices, uint64_t id, uint64_t count,
		     uint64_t *out)
{
	const struct timeline *t = &slices->timeline;
	struct pp_slice_count *all = slices->counts;
	size_t column = slices->column_of[t->nr_slices - 1];

	memset(out, 0, slices->nr_columns * sizeof(*out));
	for (size_t i = OP_BISECT(at, slices->nr_counts, all[at].id < id);
	     count && i < slices->nr_counts && all[i].id == id; i++) {
		uint64_t part;

		if (all[i].round != slices->round)
			all[i].left = all[i].count;
		all[i].round = slices->round;
		part = count < all[i].left ? count : all[i].left;
		all[i].left -= part;
		count -= part;
		if (all[i].column != PP_NO_COLUMN)
			out[all[i].column] += part;
	}
	if (!t->head.is_open || t->head.is_dirty)
		slices->unknown += count;
	else if (column != PP_NO_COLUMN)
		out[column] += count;
}
