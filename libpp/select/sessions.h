/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SELECT_SESSIONS_H
#define LIBPP_SELECT_SESSIONS_H

/*
 * The session folders that a profile specification names, open to be read.
 * While they are, nothing moves in them from one file to another
 * (libdb/db_folder.h).
 *
 * All but what is open belongs to an arena.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libdb/db_folder.h"
#include "libop/base/op_diag.h"
#include "libop/session/op_labels.h"
#include "libop/session/op_session.h"
#include "libpp/archive/archive.h"
#include "libop/base/op_arena.h"
#include "libpp/select/profile_spec.h"

/* A session folder, or a span of its history. */
struct pp_session {
	const char *path;
	const char *name; /* of the session, whose spans share it; or its label
			     that is asked for */
	struct op_labels labels; /* until it is closed; of a span none */
	/* The time of its samples, ns since the epoch; of a session with
	 * spans that of what is beside them; end 0: not known. */
	uint64_t begin, end;
	/* That of the column it is in, where times are columns; else 0. */
	uint64_t column_begin, column_end;
	bool is_span;
	const char *dropped; /* folder of the account of what was dropped; or
				NULL */
	bool has_spans; /* its history, which comes behind it in the list */
	bool is_left_out; /* by time:, but locked, as its spans are in it */
	/* What its time line has of the times that are asked for; NULL: all of
	 * its samples are, and are in its one column. */
	struct pp_slices *slices; /* until it is closed */
	bool is_sliced; /* it has, or had, these */
	size_t slice_column; /* that it is, of these */
	struct db_folder *folder; /* NULL once it is closed */
	int pack_errno; /* a negative errno: what is packed is left out */
	const char *pack_error; /* "PATH: CAUSE": why; or NULL */
};

/* The times of all that is in use, and of what is not there any more. */
struct pp_history {
	uint64_t begin, end; /* ns since the epoch; end 0: no history */
	size_t nr_spans; /* with what is beside them */
	size_t nr_slices; /* of time lines, that were chosen */
	uint64_t origin; /* begin of the time line, ns; 0: there is none;
			    UINT64_MAX: there are several */
	bool is_part; /* time: chose some */
	uint64_t asked_begin, asked_end; /* first and last, if it did */
	bool is_coarse; /* some span is longer than what was asked for */
	uint64_t dropped_end; /* seconds since the epoch; 0: nothing was dropped
				 of that time */
	uint64_t dropped_samples; /* of all time */
};

/* The begin of the one time line that times can be told from, or 0. */
static inline uint64_t pp_history_origin(const struct pp_history *history)
{
	return history->nr_slices && history->origin != UINT64_MAX
		       ? history->origin
		       : 0;
}

struct pp_sessions {
	struct pp_session *list;
	size_t nr;
	struct pp_history history;
};

/*
 * Open what @spec asks for, with the history or the times of it, of @session's,
 * or of @archive's if that is not NULL: without names of sessions the current
 * one, or all of an archive that several were merged into, and of these those
 * with the labels that are asked for. Their time lines are read if @over_time,
 * or if there are times in @spec. To be closed either way. Returns 0;
 * -ENOENT and the like with the reason in @diag when a session is not there;
 * -ENOMEM.
 */
int pp_sessions_open(struct pp_sessions *sessions, struct op_arena *arena,
		     const struct op_session *session,
		     const struct pp_archive *archive,
		     const struct pp_spec *spec, bool over_time,
		     struct op_diag *diag);

/*
 * Give all that are in use a column: each its own or, unless @most is 0, no
 * more than @most columns of equal length. A session is in that of its middle,
 * so a column may reach further than its length. Returns 0 or -ENOMEM.
 */
int pp_sessions_make_columns(struct pp_sessions *sessions,
			     struct op_arena *arena, size_t most);

/* Let the title of each be its label @key, or "unknown"; before any is closed.
 * Returns 0 or -ENOMEM. */
int pp_sessions_label(struct pp_sessions *sessions, struct op_arena *arena,
		      const char *key);

/* Let go of the folders, once or more often; the list stays. */
void pp_sessions_close(struct pp_sessions *sessions);

#endif /* LIBPP_SELECT_SESSIONS_H */
