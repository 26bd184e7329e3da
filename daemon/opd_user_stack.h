/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_USER_STACK_H
#define DAEMON_OPD_USER_STACK_H

/*
 * OP_USER_STACK, what the module knows of the callers of code without frame
 * pointers: unwound at once, by the mappings in the record and the files of
 * their images, and never kept.
 */

#include <stddef.h>
#include <stdint.h>

#include "daemon/opd_stack.h"
#include "libcfi/unwinder.h"

/* The name of the kernel's code that each process has mapped. */
#define OPD_VDSO "[vdso]"

struct opd;
struct opd_rec;

struct opd_user_stacks {
	struct unwinder *unwinder;
	/* the record in hand: 4 words for each mapping */
	const uint64_t *maps;
	size_t nr_maps;
	struct unwinder_frame frames[OPD_STACK_MAX];
};

/* Returns 0 or -ENOMEM. */
int opd_user_stacks_init(struct opd *opd);
void opd_user_stacks_release(struct opd *opd);

/* Cookies start anew. */
void opd_user_stacks_forget(struct opd *opd);

/*
 * Add the callers that @rec leads to to the open trace, if there is one.
 * Returns 0 or -EINVAL when it contradicts itself.
 */
int opd_user_stack_take(struct opd *opd, const struct opd_rec *rec);

#endif /* DAEMON_OPD_USER_STACK_H */
