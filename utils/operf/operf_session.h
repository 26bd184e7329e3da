/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_SESSION_H
#define UTILS_OPERF_OPERF_SESSION_H

/*
 * The session folder before and after a run. The samples of the run before
 * become samples/previous, and earlier ones get higher numbers; what is not to
 * be kept has a hidden name until it is sure that the new run has begun: all
 * can be undone until then.
 * One operf at a time works in a folder.
 */

#include <stdbool.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_session.h"
#include "libop/session/op_session_folder.h"

#define OPERF_DEFAULT_DIR "oprofile_data" /* in the working folder */

struct operf_folder {
	struct op_session
		*session; /* whose paths are filled when it is opened */
	bool verbose; /* say each step on stderr */
	bool is_default; /* the reports look there by themselves */
	bool made; /* was not there before */
	struct op_session_room room; /* made for the samples of this run */
	int lock_fd; /* -1: none */
};

void operf_session_init(struct operf_folder *folder,
			struct op_session *session);

/*
 * Find or make the folder and lock it: @dir, or OPERF_DEFAULT_DIR if that is
 * NULL; for the group @readers to read, too, if that is not NULL. Returns 0 or
 * -errno with the reason, like below.
 */
int operf_session_open(struct operf_folder *folder, const char *dir,
		       const gid_t *readers, struct op_diag *diag);

/* Make room for new samples, and keep @keep earlier sessions; with @append they
 * go to those that are there. */
int operf_session_rotate(struct operf_folder *folder, bool append,
			 unsigned int keep, struct op_diag *diag);

/* The new run has begun: what was moved aside is not needed any more. Unless
 * @quiet, say which sessions have other names and which are removed. */
void operf_session_commit(struct operf_folder *folder, bool quiet);

/*
 * The new run has not begun: leave the folder as it was. No daemon of ours
 * runs.
 */
void operf_session_undo(struct operf_folder *folder);

/* Give the lock back. */
void operf_session_close(struct operf_folder *folder);

#endif /* UTILS_OPERF_OPERF_SESSION_H */
