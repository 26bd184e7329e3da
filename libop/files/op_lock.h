/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_LOCK_H
#define LIBOP_FILES_OP_LOCK_H

#include <stdbool.h>

struct op_clock;

/*
 * Lock the file or folder behind @fd alone, flock(2), waiting for those who
 * have it at most @wait_ms milliseconds of @clock. Who is forked has the lock,
 * too, until all have closed @fd. Returns 0, -EBUSY or -errno.
 */
int op_lock(int fd, unsigned int wait_ms, const struct op_clock *clock);

/*
 * Whether @pid is the number of a process that is not there: for what names its
 * process, as a lock file does, and may be left when that was killed.
 */
bool op_process_is_gone(const char *pid);

#endif /* LIBOP_FILES_OP_LOCK_H */
