/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_SESSION_FOLDER_H
#define LIBOP_SESSION_OP_SESSION_FOLDER_H

/*
 * The folders of a session (op_session.h) as a whole: emptying them, and giving
 * them other names, while no daemon works in them.
 */

#include <stdbool.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_session.h"

/*
 * Remove the samples of the current session and their account. Its folder is a
 * new one then, unless somebody has put something of his own there. Returns 0,
 * also when there are none, or -errno with the reason.
 */
int op_session_reset(const struct op_session *session, struct op_diag *diag);

/*
 * Make the current session the saved session @name, which is sound
 * (op_session_name_check()). Returns 0; -EEXIST, -ENOENT without a current
 * session, or another -errno, with the reason.
 */
int op_session_save(const struct op_session *session, const char *name,
		    struct op_diag *diag);

/* Whether samples/current has any, or may have, as it cannot be looked into. */
bool op_session_has_samples(const struct op_session *session);

#define OP_SESSION_PREVIOUS_MAX 32 /* bytes of a name, with the zero byte */
#define OP_SESSION_KEEP_DEFAULT 5
#define OP_SESSION_KEEP_MAX 1000

/* The steps that made room for a new run, so that they can be undone. */
struct op_session_room {
	const struct op_session *session;
	unsigned int keep; /* sessions of earlier runs, 1 or more */
	void (*say)(const char *fmt, ...); /* told each step, or NULL */
	bool made_current; /* samples/current was not, or was moved away */
	bool moved_current; /* to samples/previous */
	unsigned int nr_renamed; /* earlier sessions, by one number each */
	char aside[OP_SESSION_PREVIOUS_MAX]; /* the session that is now under a
						hidden name; "" if none is */
};

/*
 * The name of the session of the run before the last @nr runs: "previous",
 * "previous-2" and so on.
 */
void op_session_previous(char name[OP_SESSION_PREVIOUS_MAX], unsigned int nr);

/*
 * Make the current session samples/previous, the one that was called so
 * samples/previous-2, and so on up to room->keep; keep the one that would have
 * a higher number under a hidden name. A current session without samples is
 * only moved aside. With @append all stays. Sets the results in @room. Returns
 * 0 or -errno with the reason.
 */
int op_session_rotate(struct op_session_room *room, bool append,
		      struct op_diag *diag);

/*
 * The new run has begun: remove what was moved aside, and sessions that are
 * beyond room->keep; set *@nr_removed to how many of them had samples. Returns
 * 0, or -errno with the reason; nothing depends on it.
 */
int op_session_rotated(struct op_session_room *room, unsigned int *nr_removed,
		       struct op_diag *diag);

/* The new run has not begun: give all folders the names that they had. */
int op_session_undo_rotate(struct op_session_room *room, struct op_diag *diag);

#endif /* LIBOP_SESSION_OP_SESSION_FOLDER_H */
