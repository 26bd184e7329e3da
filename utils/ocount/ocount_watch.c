// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waiting for the end of counting.
 *
 * Signals, the interval and the ends of tasks are descriptors that one poll(2)
 * waits for. A thread has a handle since Linux 6.9 only; on older kernels
 * threads are looked for ten times a second. Several things may have happened
 * at once: the end of all tasks goes before a signal, a signal before an
 * interval.
 */

#include "utils/ocount/ocount_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* pidfd_open(2), since Linux 6.9: a handle of a thread */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

#define LOOK_MS 100 /* how often tasks without a handle are looked for */

enum { SIGNALS, TIMER, TASKS };

/* ---- signals ------------------------------------------------------------- */

/*
 * SIGINT is how counting ends, also for what a script has started in the
 * background, where shells ignore it. An ignored SIGHUP is nohup's.
 */
static void our_signals(sigset_t *set)
{
	struct sigaction hup;

	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGQUIT);
	sigaddset(set, SIGTERM);
	if (sigaction(SIGHUP, NULL, &hup) || hup.sa_handler != SIG_IGN)
		sigaddset(set, SIGHUP);
}

int ocount_watch_block(struct op_diag *diag)
{
	sigset_t set;

	our_signals(&set);
	/* A reader that has gone is an error of the write. */
	signal(SIGPIPE, SIG_IGN);
	if (!sigprocmask(SIG_BLOCK, &set, NULL))
		return 0;
	return op_diag_set(diag, -errno, "cannot block signals: %s",
			   strerror(errno));
}

/* ---- setting up ---------------------------------------------------------- */

static int open_task_handle(struct ocount_watch *watch, size_t i, pid_t pid,
			    struct op_diag *diag)
{
	int *fd = &watch->fds[TASKS + i].fd;

	watch->pids[i] = pid;
	*fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (*fd < 0 && (errno == EINVAL || errno == ENOENT))
		*fd = (int)syscall(SYS_pidfd_open, pid, PIDFD_THREAD);
	if (*fd >= 0)
		return 0;
	if (errno == EINVAL) {
		watch->must_look = true; /* a thread, and an older kernel */
		return 0;
	}
	return op_diag_set(diag, -errno, "process %d: cannot watch it: %s%s",
			   (int)pid, strerror(errno),
			   errno == EMFILE ? "; raise the limit (ulimit -n)"
					   : "");
}

static int open_signals(struct ocount_watch *watch, struct op_diag *diag)
{
	sigset_t set;

	our_signals(&set);
	watch->fds[SIGNALS].fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (watch->fds[SIGNALS].fd >= 0)
		return 0;
	return op_diag_set(
		diag, -errno, "cannot wait for signals: %s%s", strerror(errno),
		errno == EMFILE ? "; raise the limit (ulimit -n)" : "");
}

static int open_timer(struct ocount_watch *watch, uint64_t ms,
		      struct op_diag *diag)
{
	const struct timespec period = {
		.tv_sec = (time_t)(ms / 1000),
		.tv_nsec = (long)(ms % 1000) * 1000000,
	};
	const struct itimerspec timer = { period, period };
	int fd;

	if (!ms)
		return 0;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	watch->fds[TIMER].fd = fd;
	if (fd >= 0 && !timerfd_settime(fd, 0, &timer, NULL))
		return 0;
	return op_diag_set(diag, -errno, "cannot wait for an interval: %s%s",
			   strerror(errno),
			   errno == EMFILE ? "; raise the limit (ulimit -n)"
					   : "");
}

int ocount_watch_init(struct ocount_watch *watch, const pid_t *pids, size_t nr,
		      uint64_t interval_ms, struct op_diag *diag)
{
	int err;

	*watch = (struct ocount_watch){ .has_tasks = nr != 0 };
	watch->fds = calloc(TASKS + nr, sizeof(*watch->fds));
	watch->pids = calloc(nr + 1, sizeof(*watch->pids));
	if (!watch->fds || !watch->pids)
		return op_out_of_memory(diag);
	watch->nr_fds = TASKS + nr;
	for (size_t i = 0; i < watch->nr_fds; i++)
		watch->fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	err = open_signals(watch, diag);
	if (!err)
		err = open_timer(watch, interval_ms, diag);
	for (size_t i = 0; !err && i < nr; i++)
		err = open_task_handle(watch, i, pids[i], diag);
	return err;
}

static void close_polled_fd(struct pollfd *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

void ocount_watch_release(struct ocount_watch *watch)
{
	for (size_t i = 0; i < watch->nr_fds; i++)
		close_polled_fd(&watch->fds[i]);
	free(watch->fds);
	free(watch->pids);
	*watch = (struct ocount_watch){ .fds = NULL };
}

void ocount_watch_stop_timer(struct ocount_watch *watch)
{
	close_polled_fd(&watch->fds[TIMER]);
}

/* ---- waiting ------------------------------------------------------------- */

/* Forget tasks that have ended. Returns whether none is left. A task without a
 * handle is looked for in /proc. */
static bool have_ended(struct ocount_watch *watch)
{
	bool any = false;

	if (!watch->has_tasks)
		return false;
	for (size_t i = TASKS; i < watch->nr_fds; i++) {
		struct pollfd *p = &watch->fds[i];
		pid_t *pid = &watch->pids[i - TASKS];
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d", (int)*pid);
		if (*pid &&
		    (p->fd >= 0 ? p->revents != 0 : access(path, F_OK) != 0)) {
			close_polled_fd(p);
			*pid = 0;
		}
		any |= *pid != 0;
	}
	return !any;
}

enum ocount_news ocount_watch_wait(struct ocount_watch *watch)
{
	struct signalfd_siginfo info;
	uint64_t expired;

	for (;;) {
		int nr = poll(watch->fds, watch->nr_fds,
			      watch->must_look ? LOOK_MS : -1);

		if (nr < 0 && errno == EINTR)
			continue; /* it was stopped for a while */
		if (nr < 0)
			return OCOUNT_FAILED;
		if (have_ended(watch))
			return OCOUNT_ENDED;
		if (read(watch->fds[SIGNALS].fd, &info, sizeof(info)) ==
		    sizeof(info)) {
			watch->sig = (int)info.ssi_signo;
			watch->sent = info.ssi_code != SI_KERNEL;
			return OCOUNT_SIGNAL;
		}
		if (watch->fds[TIMER].fd >= 0 &&
		    read(watch->fds[TIMER].fd, &expired, sizeof(expired)) ==
			    sizeof(expired))
			return OCOUNT_INTERVAL;
	}
}
