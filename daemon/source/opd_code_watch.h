/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_CODE_WATCH_H
#define DAEMON_SOURCE_OPD_CODE_WATCH_H

/*
 * Code that the kernel makes at run time (BPF programs, trampolines), told by
 * perf_events as it comes, for a source that samples by other means. Needs
 * root, and Linux 5.1.
 */

#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct op_clock;

/* A function that the kernel has made. */
struct opd_new_code {
	uint64_t start;
	uint64_t end; /* first address behind it */
	const char *name; /* until the next call */
};

struct opd_code_watch;

/*
 * See all code that is made from now on. @clock, NULL for the kernel's, says
 * how often to look for CPUs that have come or gone. Returns 0 or -errno; *@out
 * is NULL then.
 */
int opd_code_watch_new(struct opd_code_watch **out,
		       const struct op_clock *clock);
void opd_code_watch_free(struct opd_code_watch *watch); /* NULL is fine */

/*
 * The next code into @code. Returns 1; 0 when there is none by now; or
 * -EOVERFLOW, once, when some came without a record.
 */
int opd_code_watch_next(struct opd_code_watch *watch,
			struct opd_new_code *code);

#endif /* DAEMON_SOURCE_OPD_CODE_WATCH_H */
