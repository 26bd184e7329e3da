/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_SMALL_DISK_H
#define TESTS_UNIT_SMALL_DISK_H

/* A disk that is soon full: a file system in memory, in a mount namespace of
 * the test's own. */

#include <sched.h>
#include <stdbool.h>
#include <sys/mount.h>

/* Mount one of 128 KiB on @dir, for this process alone. False where an ordinary
 * user may not. */
static inline bool mount_small_disk(const char *dir)
{
	if (unshare(CLONE_NEWNS) && unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return false;
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return false;
	return !mount("none", dir, "tmpfs", 0, "size=128k");
}

#endif /* TESTS_UNIT_SMALL_DISK_H */
