/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_NOTIFY_H
#define DAEMON_OPD_NOTIFY_H

/*
 * The service manager is told when the daemon is ready and when it ends. The
 * manager names a datagram socket in $NOTIFY_SOCKET: a path, or behind a '@'
 * the name of an abstract socket (sd_notify(3)). Without that variable there is
 * no manager, and nothing is told.
 */

/*
 * Send @state, lines of the form NAME=VALUE. Never blocks. Returns 0 or -errno;
 * -EINVAL if $NOTIFY_SOCKET names no socket.
 */
int opd_notify(const char *state);

/* Say that this process is the service, and that it is ready. */
int opd_notify_ready(void);

#endif
