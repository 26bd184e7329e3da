/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_RUN_H
#define DAEMON_OPD_RUN_H

/*
 * The daemon at work: wait in the loop (opd_loop.h), and have each event
 * handled by the part that it is for.
 */

struct opd;

/* Run until the source ends, a signal, or the command "shutdown". */
void opd_run(struct opd *opd);

#endif /* DAEMON_OPD_RUN_H */
