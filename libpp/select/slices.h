/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SELECT_SLICES_H
#define LIBPP_SELECT_SLICES_H

/*
 * The time line of a session (libdb/timeline.h), of which some slices are asked
 * for. Slices are put into columns, each of which looks like a session of its
 * own to a report; where times are no columns there is one.
 *
 * Counts that no slice has came after the last one, if the daemon is at work,
 * and are of that; else nobody knows when they came, and no column has them.
 */

#include <stddef.h>
#include <stdint.h>

#include "libdb/timeline.h"
#include "libop/base/op_arena.h"

struct pp_session;

#define PP_NO_COLUMN SIZE_MAX

/* A count of an id in a slice. */
struct pp_slice_count {
	uint64_t id;
	uint64_t count;
	uint64_t left; /* of it, in the round that it was used in last */
	size_t column;
	size_t round;
};

struct pp_slices {
	struct timeline timeline;
	size_t *column_of; /* by slice of the time line */
	struct pp_session *columns; /* of the arena */
	size_t nr_columns;
	struct pp_slice_count *counts; /* by id, then by time; of all slices */
	size_t nr_counts;
	size_t round; /* that is under way */
	uint64_t unknown; /* counts of the last rounds without a time */
};

/* The time line in the session folder @path. Returns 0, -ENOENT if there is
 * none or nothing in it, or -errno as timeline_read(). */
int pp_slices_open(struct pp_slices **out, const char *path);
void pp_slices_close(struct pp_slices *slices); /* NULL is allowed */

/* The times of slice @i of the time line, ns since the epoch. */
uint64_t pp_slice_begin(const struct pp_slices *slices, size_t i);
uint64_t pp_slice_end(const struct pp_slices *slices, size_t i);

/*
 * Let slice @i be in the column of the time from @begin to @end; slices of one
 * column follow on each other. Columns are like @session. Returns 0 or -ENOMEM.
 */
int pp_slices_put(struct pp_slices *slices, struct op_arena *arena,
		  const struct pp_session *session, size_t i, uint64_t begin,
		  uint64_t end);

/*
 * All sample files are read from the beginning. Returns 0 or -ENOMEM. Then
 * pp_slices_split() has in @out, by column, how much of @count, which is all
 * that one part of a file has of @id, came in it.
 */
int pp_slices_begin_round(struct pp_slices *slices);
void pp_slices_split(struct pp_slices *slices, uint64_t id, uint64_t count,
		     uint64_t *out);

#endif /* LIBPP_SELECT_SLICES_H */
