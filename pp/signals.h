/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_SIGNALS_H
#define PP_SIGNALS_H

/*
 * Signals that end a program which writes for minutes: what it has made is
 * removed first. One program has one of these.
 */

/* From now on SIGHUP, SIGINT and SIGTERM are noted. A signal that the caller
 * ignores, as nohup(1) does, stays ignored. */
void pp_catch_signals(void);

/* The signal that came; 0 for none. */
int pp_caught_signal(void);

/* End the program by the signal that came, so that a shell knows; return if
 * none did. */
void pp_end_by_signal(void);

#endif /* PP_SIGNALS_H */
