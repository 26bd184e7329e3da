/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_WAIT_H
#define UTILS_OPERF_OPERF_WAIT_H

/*
 * Waiting while samples are taken: for the end of what is profiled, for
 * signals (operf_signals.h), and for a daemon that dies.
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
