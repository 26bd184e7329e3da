/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_CONFINE_H
#define DAEMON_SOURCE_OPD_CONFINE_H

/*
 * Let this process, which has one thread, do no more than open files for
 * reading, read them, and talk over the sockets that it has: for a child that
 * parses what any user may have written. All other system calls fail with
 * EPERM. Of its capabilities it keeps the one to read any file. Returns 0 or
 * -errno, where it is confined in part.
 */
int opd_confine(void);

#endif /* DAEMON_SOURCE_OPD_CONFINE_H */
