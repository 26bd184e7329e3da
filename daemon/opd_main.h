/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_MAIN_H
#define DAEMON_OPD_MAIN_H

struct opd;

/*
 * Run oprofiled with the command line @argv; @opd is overwritten. In the
 * background the parent ends in here as soon as the daemon is ready. Returns
 * the exit status: 0, 1 for a failure, 2 for a command line that is wrong.
 */
int opd_main(struct opd *opd, int argc, const char **argv);

#endif /* DAEMON_OPD_MAIN_H */
