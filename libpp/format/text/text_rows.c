// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each class is in one row and one column. Both are found by comparing a class
 * with the first class of each row and column that is there, after the classes
 * have been brought into an order in which those of one row are neighbours.
 * Shares in rows are of the whole column: a row is a part of the same whole as
 * the others, which a column of its own would not be.
 */

#include "libpp/format/text/text_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/select/sample_list.h"

const char *pp_task_ids(struct op_arena *arena, const struct pp_class *class)
{
	if (class->tgid == OP_MANGLE_ALL)
		return "";
	if (class->tid == OP_MANGLE_ALL)
		return op_arena_printf(arena, "%" PRId64, class->tgid);
	return op_arena_printf(arena, "%" PRId64 "/%" PRId64, class->tgid,
			       class->tid);
}

/* ---- which class is where ------------------------------------------------ */

static int compare_task_classes(const void *a, const void *b, void *arg)
{
	const struct pp_class *all = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	const struct pp_class *x = &all[i], *y = &all[j];

	return op_compare((uint64_t)x->tgid, (uint64_t)y->tgid) ?:
	       op_compare((uint64_t)x->tid, (uint64_t)y->tid) ?:
	       strcmp(x->cgroup ?: "", y->cgroup ?: "") ?: op_compare(i, j);
}

static size_t find_task_column(struct pp_task_rows *rows, size_t class_nr)
{
	const struct pp_class *all = rows->report->classes.classes;
	size_t i = 0;

	while (i < rows->nr_columns &&
	       !pp_same_column(&all[rows->columns[i]], &all[class_nr]))
		i++;
	if (i == rows->nr_columns)
		rows->columns[rows->nr_columns++] = class_nr;
	return i;
}

static int place_classes(struct pp_task_rows *rows)
{
	const struct pp_classes *classes = &rows->report->classes;
	struct pp_class *all = classes->classes;
	size_t nr = classes->nr;
	size_t *order = op_arena_alloc(&rows->arena, nr, sizeof(*order));

	rows->rows = op_arena_alloc(&rows->arena, nr, sizeof(*rows->rows));
	rows->columns = op_arena_alloc(&rows->arena, nr, sizeof(size_t));
	if (!order || !rows->rows || !rows->columns)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		order[i] = i;
		find_task_column(rows, i);
	}
	rows->classes = op_arena_alloc(&rows->arena, nr,
				       rows->nr_columns * sizeof(size_t));
	if (!rows->classes)
		return -ENOMEM;
	for (size_t i = 0; i < nr * rows->nr_columns; i++)
		rows->classes[i] = PP_NO_CLASS;
	qsort_r(order, nr, sizeof(*order), compare_task_classes, all);
	for (size_t i = 0; i < nr; i++) {
		const struct pp_class *class = &all[order[i]];

		if (!rows->nr ||
		    !pp_same_task(rows->rows[rows->nr - 1].class, class))
			rows->rows[rows->nr++].class = class;
		rows->classes[(rows->nr - 1) * rows->nr_columns +
			      find_task_column(rows, order[i])] = order[i];
	}
	return 0;
}

/* ---- what rows tell ------------------------------------------------------ */

bool pp_task_row_counts(const struct pp_task_rows *rows, size_t row,
			const uint64_t *of, uint64_t *counts)
{
	const size_t *classes = &rows->classes[row * rows->nr_columns];
	bool any = false;

	for (size_t i = 0; i < rows->nr_columns; i++) {
		counts[i] = classes[i] == PP_NO_CLASS ? 0 : of[classes[i]];
		any |= counts[i] != 0;
	}
	return any;
}

static void widen(size_t *width, const char *text)
{
	size_t len = strlen(text);

	if (len && len + 2 > *width)
		*width = len + 2;
}

static int describe_row(struct pp_task_rows *rows, size_t nr)
{
	struct pp_task_row *row = &rows->rows[nr];
	bool cgroups = rows->report->classes.row_axes[PP_AXIS_CGROUP];

	row->ids = pp_task_ids(&rows->arena, row->class);
	row->name = pp_task_name(&rows->arena, row->class);
	row->cgroup = cgroups ? row->class->cgroup_name : "";
	row->counts = op_arena_alloc(&rows->arena, rows->nr_columns,
				     sizeof(*row->counts));
	if (!row->ids || !row->name || !row->counts)
		return -ENOMEM;
	pp_task_row_counts(rows, nr, rows->report->totals, row->counts);
	widen(&rows->ids_width, row->ids);
	widen(&rows->name_width, row->name);
	widen(&rows->cgroup_width, row->cgroup);
	return 0;
}

/* Sums over rows of @of, which has one per class. */
static uint64_t *sum_columns(struct pp_task_rows *rows, const uint64_t *of)
{
	uint64_t *sums =
		op_arena_alloc(&rows->arena, rows->nr_columns, sizeof(*sums));

	for (size_t i = 0; sums && i < rows->nr * rows->nr_columns; i++)
		if (rows->classes[i] != PP_NO_CLASS)
			sums[i % rows->nr_columns] =
				pp_add_counts(sums[i % rows->nr_columns],
					      of[rows->classes[i]]);
	return sums;
}

static int compare_row_counts(const void *a, const void *b, void *arg)
{
	const struct pp_task_rows *rows = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;

	return op_compare(rows->rows[j].counts[0], rows->rows[i].counts[0])
		       ?: op_compare(i, j);
}

/* By samples in the first column; rows and their classes move together. */
static int sort_task_rows(struct pp_task_rows *rows)
{
	size_t nr = rows->nr, width = rows->nr_columns;
	size_t *order = op_arena_alloc(&rows->arena, nr, sizeof(*order));
	struct pp_task_row *sorted =
		op_arena_alloc(&rows->arena, nr, sizeof(*sorted));
	size_t *classes =
		op_arena_alloc(&rows->arena, nr, width * sizeof(*classes));

	if (!order || !sorted || !classes)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		order[i] = i;
	qsort_r(order, nr, sizeof(*order), compare_row_counts, rows);
	for (size_t i = 0; i < nr; i++) {
		sorted[i] = rows->rows[order[i]];
		memcpy(&classes[i * width], &rows->classes[order[i] * width],
		       width * sizeof(*classes));
	}
	rows->rows = sorted;
	rows->classes = classes;
	return 0;
}

int pp_task_rows_init(struct pp_task_rows *rows, const struct pp_report *report)
{
	int err;

	memset(rows, 0, sizeof(*rows));
	op_arena_init(&rows->arena);
	rows->report = report;
	err = place_classes(rows);
	for (size_t i = 0; i < rows->nr && !err; i++)
		err = describe_row(rows, i);
	if (!err)
		err = sort_task_rows(rows);
	if (err)
		return err;
	rows->totals = sum_columns(rows, report->totals);
	if (report->symbols.made)
		rows->symbol_totals = sum_columns(rows, report->symbols.totals);
	return rows->totals && (rows->symbol_totals || !report->symbols.made)
		       ? 0
		       : -ENOMEM;
}

void pp_task_rows_release(struct pp_task_rows *rows)
{
	op_arena_release(&rows->arena);
}
