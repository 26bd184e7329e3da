/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_CONFINE_H
#define DAEMON_SOURCE_OPD_CONFINE_H

#include <sys/types.h>

/*
 * The first thing that a child does, which process @daemon has forked: it ends
 * with the daemon, and has no descriptor but @fd, as 0.
 */
void opd_confine_child(int fd, pid_t daemon);

/*
 * The last thing that it does, and does not return from. It is not declared so:
 * before a call that does not return, AddressSanitizer asks the kernel for the
 * stack of signals, which a confined process may not do.
 */
void opd_confine_end(void);

enum opd_confine_to {
	OPD_CONFINE_TO_READING, /* of any file: it keeps that capability */
	OPD_CONFINE_TO_DESCRIPTORS, /* that it has: it opens none */
};

/*
 * Let this process, which has one thread, do no more than read files, those
 * that it may open or those that it is handed, and talk over the sockets that
 * it has: for a child that parses what any user may have written. All other
 * system calls fail with EPERM, and it has no other capability. Returns 0 or
 * -errno, where it is confined in part.
 */
int opd_confine(enum opd_confine_to to);

#endif /* DAEMON_SOURCE_OPD_CONFINE_H */
