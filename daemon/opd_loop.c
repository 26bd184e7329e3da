// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signals come through a descriptor like everything else, so nothing interrupts
 * a handler and no handler needs locks.
 */

#include "daemon/opd_loop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define TICK_SECONDS 10

static void signal_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
}

void opd_loop_block_signals(void)
{
	sigset_t set;

	signal_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int opd_loop_add(struct opd_loop *loop, int fd, unsigned int waiter)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = waiter };

	return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno
								    : 0;
}

static int open_loop(struct opd_loop *loop, int source_fd)
{
	const struct itimerspec every = {
		.it_interval.tv_sec = TICK_SECONDS,
		.it_value.tv_sec = TICK_SECONDS,
	};
	sigset_t set;
	int err;

	loop->signal_fd = loop->timer_fd = -1;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		return -errno;
	loop->words = malloc(OPD_CHUNK_WORDS * sizeof(uint64_t));
	if (!loop->words)
		return -ENOMEM;

	signal_set(&set);
	loop->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (loop->signal_fd < 0)
		return -errno;
	err = opd_loop_add(loop, loop->signal_fd, OPD_WAIT_SIGNAL);
	if (err)
		return err;

	loop->timer_fd =
		timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (loop->timer_fd < 0 ||
	    timerfd_settime(loop->timer_fd, 0, &every, NULL))
		return -errno;
	err = opd_loop_add(loop, loop->timer_fd, OPD_WAIT_TIMER);
	if (err)
		return err;

	err = opd_loop_add(loop, source_fd, OPD_WAIT_SOURCE);
	/* epoll does not take regular files: they are always ready. */
	loop->always_ready = err == -EPERM;
	return loop->always_ready ? 0 : err;
}

int opd_loop_init(struct opd_loop *loop, int source_fd, struct op_diag *diag)
{
	int err = open_loop(loop, source_fd);

	return err ? op_diag_set(diag, err, "event loop: %s", strerror(-err))
		   : 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void opd_loop_release(struct opd_loop *loop)
{
	close_fd(&loop->signal_fd);
	close_fd(&loop->timer_fd);
	close_fd(&loop->epoll_fd);
	free(loop->words);
	loop->words = NULL;
}
