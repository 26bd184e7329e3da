/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_PROGRESS_H
#define UTILS_OPERF_OPERF_PROGRESS_H

/*
 * A line on a terminal, updated each second of a run: the time so far, and the
 * number of samples taken and lost. There is none if stderr is no terminal, if
 * the command writes to it, too, and with --quiet.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct operf;

struct operf_progress {
	const struct operf *operf;
	uint64_t start; /* ms of the monotonic clock */
	uint64_t next; /* when to show it, 0: never */
	bool shown;
};

void operf_progress_begin(struct operf_progress *progress,
			  const struct operf *operf, uint64_t start);

/* When to call operf_progress_show(), ms; 0: never. */
uint64_t operf_progress_next(const struct operf_progress *progress);

/* Ask the daemon and show its answer, if it is time at @now. */
void operf_progress_show(struct operf_progress *progress, uint64_t now);

/* Wipe it out. */
void operf_progress_end(struct operf_progress *progress);

/* Put the line into @buf; @reply is the daemon's answer to "status". */
void operf_progress_text(char *buf, size_t len, const char *reply,
			 uint64_t seconds);

#endif /* UTILS_OPERF_OPERF_PROGRESS_H */
