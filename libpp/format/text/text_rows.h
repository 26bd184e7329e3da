/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_FORMAT_TEXT_TEXT_ROWS_H
#define LIBPP_FORMAT_TEXT_TEXT_ROWS_H

/*
 * Tasks as rows of a table, where they are not its columns
 * (libpp/select/arrange_profiles.h): which class is in which row and column,
 * and how a row tells its task.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_arena.h"
#include "libpp/report/report.h"

#define PP_NO_CLASS SIZE_MAX

struct pp_task_row {
	const struct pp_class *class; /* one of its classes */
	const char *ids; /* "TGID/TID", "TGID" or empty */
	const char *name; /* "process/thread", "process" or empty */
	const char *cgroup; /* empty where all have the same */
	uint64_t *counts; /* of the row, one per column */
};

struct pp_task_rows {
	struct op_arena arena;
	const struct pp_report *report;
	struct pp_task_row *rows; /* by samples, descending */
	size_t nr;
	size_t *columns; /* a class of each */
	size_t nr_columns;
	size_t *classes; /* rows times columns: the class, or PP_NO_CLASS */
	uint64_t *totals; /* per column, of all samples */
	uint64_t *symbol_totals; /* likewise, of symbols, if there are any */
	size_t ids_width, name_width, cgroup_width; /* 0: nothing to tell */
};

/* "TGID/TID", "TGID" where threads are added up, or empty; NULL when memory is
 * short. */
const char *pp_task_ids(struct op_arena *arena, const struct pp_class *class);

/* The rows of @report. Returns 0 or -ENOMEM; to be released either way. */
int pp_task_rows_init(struct pp_task_rows *rows,
		      const struct pp_report *report);
void pp_task_rows_release(struct pp_task_rows *rows);

/* Fill @counts, one per column, with what @of, one per class, has in row @row.
 * Whether there is any. */
bool pp_task_row_counts(const struct pp_task_rows *rows, size_t row,
			const uint64_t *of, uint64_t *counts);

#endif /* LIBPP_FORMAT_TEXT_TEXT_ROWS_H */
