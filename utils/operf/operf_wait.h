/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_WAIT_H
#define UTILS_OPERF_OPERF_WAIT_H

/*
 * Waiting while samples are taken: for the end of what is profiled, for
 * signals, and for a daemon that dies. From operf_signals_block() on signals
 * are read from operf->signal_fd instead of ending operf.
 */

struct operf;

/* Why the waiting is over. */
enum operf_end {
	OPERF_ENDED, /* what was profiled has ended */
	OPERF_SIGNALLED, /* we were asked to end */
	OPERF_TIMED_OUT, /* the time of --duration is over */
	OPERF_DAEMON_ENDED, /* somebody told the daemon to end */
	OPERF_DAEMON_DIED,
};

/*
 * Handle signals from now on. Children that are made later inherit that, so
 * the command's is made before. Returns 0 or -errno with the reason.
 */
int operf_signals_block(struct operf *operf);

/*
 * A signal waits while sampling has not begun: that ends all. Returns -EINTR
 * with the reason, or 0 if there is no signal.
 */
int operf_signal_interrupts(struct operf *operf);

/*
 * While the daemon ends, a first Ctrl-C says what another would do: kill the
 * daemon. Where SIGINT is ignored it stays so. End each begin; operf->child is
 * to stay as it is between them.
 */
void operf_hurry_begin(struct operf *operf);
void operf_hurry_end(void);

/* The handles operf->target_fds. Returns 0 or -errno; close in any case. */
int operf_target_open(struct operf *operf);
void operf_target_close(struct operf *operf);

/*
 * Wait. With a command that is for the command's end, in any case:
 * OPERF_DAEMON_* then say that the daemon ended before it. What was the matter
 * has been said. After OPERF_TIMED_OUT, and with the daemon ended, another call
 * waits for the end of a command.
 */
enum operf_end operf_wait(struct operf *operf);

#endif /* UTILS_OPERF_OPERF_WAIT_H */
