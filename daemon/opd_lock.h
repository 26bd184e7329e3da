/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_LOCK_H
#define DAEMON_OPD_LOCK_H

struct opd_clock;

/*
 * Lock the file or folder behind @fd alone, flock(2), waiting for those who
 * have it at most @wait_ms milliseconds of @clock. Who is forked has the lock,
 * too, until all have closed @fd. Returns 0, -EBUSY or -errno.
 */
int opd_lock(int fd, unsigned int wait_ms, const struct opd_clock *clock);

#endif /* DAEMON_OPD_LOCK_H */
