/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_SIGNALS_H
#define UTILS_OPERF_OPERF_SIGNALS_H

/*
 * The signals that end a run. From operf_signals_block() on they are read from
 * operf->signal_fd instead of ending operf.
 */

struct operf;

/*
 * Handle signals from now on. Children that are made later inherit that, so
 * the command's is made before. Returns 0 or -errno with the reason.
 */
int operf_signals_block(struct operf *operf);

/* Returns the number of the next signal, 0 if there is none. */
int operf_signal_read(const struct operf *operf);

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

#endif /* UTILS_OPERF_OPERF_SIGNALS_H */
