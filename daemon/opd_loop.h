/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_LOOP_H
#define DAEMON_OPD_LOOP_H

/*
 * The descriptors that the daemon waits for: samples, signals, the timer, and
 * clients of the control socket. There is one thread and one epoll; opd_run.h
 * handles each event to its end before the next.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

/* Words of the stream that are read at once: 512 KiB. */
#define OPD_CHUNK_WORDS 65536

/* The purpose of a descriptor; a client adds its number. */
enum opd_waiter {
	OPD_WAIT_SOURCE,
	OPD_WAIT_SIGNAL,
	OPD_WAIT_TIMER,
	OPD_WAIT_LISTEN,
	OPD_WAIT_USER_SAMPLES,
	OPD_WAIT_CLIENT,
};

struct opd_loop {
	int epoll_fd;
	int signal_fd;
	int timer_fd;
	bool always_ready; /* the source is a file: nothing to wait for */
	unsigned int ticks; /* of the timer */
	bool quit;
	int error; /* why reading ended, 0 or -errno */
	uint64_t *words;
	size_t len; /* bytes in words that are not used up */
};

/* Block the signals that opd_loop_init() will read. Before any thread. */
void opd_loop_block_signals(void);

/* Wait for @source_fd, signals and the timer. Returns 0 or -errno with the
 * reason. */
int opd_loop_init(struct opd_loop *loop, int source_fd, struct op_diag *diag);
void opd_loop_release(struct opd_loop *loop);

/* Wait for @fd on behalf of @waiter; -errno. Closing @fd ends it. */
int opd_loop_add(struct opd_loop *loop, int fd, unsigned int waiter);

#endif /* DAEMON_OPD_LOOP_H */
