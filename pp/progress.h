/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_PROGRESS_H
#define PP_PROGRESS_H

/*
 * A line on a terminal's standard error output that shows the progress of slow
 * work. Work of less than half a second shows none.
 */

#include <stdbool.h>
#include <stdint.h>

struct pp_progress {
	uint64_t next; /* when to show it, ns; 0: never */
	bool shown;
};

void pp_progress_start(struct pp_progress *progress);

/* Show the line, if it is time. */
void pp_progress_show(struct pp_progress *progress, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Remove the line. */
void pp_progress_end(struct pp_progress *progress);

#endif /* PP_PROGRESS_H */
