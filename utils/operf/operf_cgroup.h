/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPERF_OPERF_CGROUP_H
#define UTILS_OPERF_OPERF_CGROUP_H

/*
 * A cgroup for the command alone, below the one that operf is in, so that the
 * kernel samples it and all that it starts, however short that lives, and
 * nothing else. What limits operf limits the cgroup, too.
 */

#include <limits.h>
#include <sys/types.h>

struct operf_cgroup {
	char parent[PATH_MAX]; /* folder; "": there is no cgroup of ours */
	char folder[PATH_MAX + 32]; /* below it */
};

/*
 * Make one of the hierarchy that perf_events sees, and move process @pid there.
 * Returns 0, or -errno where that is not possible or not allowed; then nothing
 * has changed.
 */
int operf_cgroup_make(struct operf_cgroup *cgroup, pid_t pid);

/* Remove it; what still runs in it goes where operf is. */
void operf_cgroup_remove(struct operf_cgroup *cgroup);

#endif /* UTILS_OPERF_OPERF_CGROUP_H */
