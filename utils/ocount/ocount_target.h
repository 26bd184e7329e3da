/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OCOUNT_OCOUNT_TARGET_H
#define UTILS_OCOUNT_OCOUNT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"
#include "utils/ocount/ocount_options.h"

/*
 * Targets of counting: CPUs or tasks, each in the kernel's terms. A process
 * stands for the threads that it has when the list is made.
 */

struct ocount_target {
	pid_t pid; /* a thread; -1: a CPU */
	int cpu; /* -1: a thread, wherever it runs */
	bool gone; /* it ended before it could be counted */
	char comm[16]; /* of a thread, "" if unknown */
};

struct ocount_targets {
	struct ocount_target *list;
	size_t nr;
	/* those whose end is the end of counting: the list as it was given */
	pid_t *watched;
	size_t nr_watched;
	bool inherit; /* what they start is counted as well */
};

/*
 * The targets that @text lists for @mode; @text is NULL for the whole system.
 * Returns 0, or -errno with the reason in @diag; ocount_targets_release()
 * must follow in any case.
 */
int ocount_targets_init(struct ocount_targets *targets, enum ocount_mode mode,
			const char *text, struct op_diag *diag);

/* The one thread @pid, just forked, and what it starts. */
int ocount_targets_init_child(struct ocount_targets *targets, pid_t pid,
			      struct op_diag *diag);
void ocount_targets_release(struct ocount_targets *targets);

#endif /* UTILS_OCOUNT_OCOUNT_TARGET_H */
