/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OCOUNT_OCOUNT_WATCH_H
#define UTILS_OCOUNT_OCOUNT_WATCH_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"

/*
 * Waiting for what ends or interrupts counting: signals, the end of an
 * interval, the end of all tasks that are watched.
 */

enum ocount_news {
	OCOUNT_INTERVAL,
	OCOUNT_SIGNAL,
	OCOUNT_ENDED, /* all tasks have */
	OCOUNT_FAILED, /* poll(2), with errno */
};

struct ocount_watch {
	struct pollfd *fds; /* signals, timer, then a handle of each task */
	size_t nr_fds;
	pid_t *pids; /* of the handles; 0: ended */
	bool has_tasks;
	bool must_look; /* a task has no handle, so it must be looked for */
	int sig; /* the last signal */
	bool sent; /* by a process, not by a key of the terminal */
};

/* Keep SIGINT and the like from ending this process. Before the next. */
int ocount_watch_block(struct op_diag *diag);

/*
 * Watch @nr tasks; @interval_ms is 0 for no intervals. Returns 0 or -errno
 * with the reason in @diag; ocount_watch_release() must follow in any case.
 */
int ocount_watch_init(struct ocount_watch *watch, const pid_t *pids, size_t nr,
		      uint64_t interval_ms, struct op_diag *diag);
void ocount_watch_release(struct ocount_watch *watch);

/* The next of these. */
enum ocount_news ocount_watch_wait(struct ocount_watch *watch);

/* No more intervals. */
void ocount_watch_stop_timer(struct ocount_watch *watch);

#endif /* UTILS_OCOUNT_OCOUNT_WATCH_H */
