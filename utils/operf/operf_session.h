/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_SESSION_H
#define UTILS_OPERF_OPERF_SESSION_H

/*
 * The session folder before and after a run. The samples of the run before
 * become samples/previous, and the previous ones are kept under a hidden name
 * until it is sure that the new run has begun: all can be undone until then.
 * One operf at a time works in a folder.
 */

#include <stdbool.h>

struct operf;

struct operf_folder {
	bool is_default; /* the reports look there by themselves */
	bool made; /* was not there before */
	bool made_current; /* samples/current was not, or was moved away */
	bool moved_current; /* to samples/previous */
	const char *aside; /* what is now under the hidden name, or NULL */
	int lock_fd; /* -1: none */
};

void operf_session_init(struct operf_folder *folder);

/* Find or make the folder and lock it. Returns 0 or -errno. */
int operf_session_open(struct operf *operf);

/* Make room for new samples. Returns 0 or -errno. */
int operf_session_rotate(struct operf *operf);

/* The new run has begun: what was moved aside is not needed any more. */
void operf_session_commit(struct operf *operf);

/*
 * The new run has not begun: leave the folder as it was. No daemon of ours
 * runs.
 */
void operf_session_undo(struct operf *operf);

/* Give the lock back. */
void operf_session_close(struct operf_folder *folder);

#endif /* UTILS_OPERF_OPERF_SESSION_H */
