/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_CONTEXT_OPD_USER_STACK_H
#define DAEMON_CONTEXT_OPD_USER_STACK_H

/*
 * OP_USER_STACK, what the module knows of the callers of code without frame
 * pointers: unwound at once, by the mappings in the record and the files of
 * their images, and never kept.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/context/opd_stack.h"
#include "daemon/source/untrusted/opd_untrusted.h"
#include "daemon/source/untrusted/opd_returns.h"
#include "libcfi/unwinder.h"

/* The name of the kernel's code that each process has mapped. */
#define OPD_VDSO "[vdso]"

struct opd_anon;
struct opd_cookies;
struct opd_deleted_images;
struct opd_rec;
struct opd_trace;

struct opd_user_stacks {
	const struct opd_cookies *cookies; /* borrowed, like the next four */
	struct opd_anon *anon;
	const struct opd_deleted_images *images;
	const struct opd_context *context; /* the present one */
	struct opd_trace *trace; /* that callers are added to */
	bool vdso_is_ours; /* that of the stream is this kernel's */
	struct unwinder *unwinder;
	struct opd_untrusted untrusted; /* reads its tables */
	struct opd_returns returns; /* of code without such tables */
	/* the record in hand: 4 words for each mapping */
	const uint64_t *maps;
	size_t nr_maps;
	struct unwinder_frame frames[OPD_STACK_MAX];
};

/* @proc is where the memory of the stream's processes is, "/proc"; NULL if that
 * is not to be read. Returns 0 or -ENOMEM. */
int opd_user_stacks_init(struct opd_user_stacks *stacks,
			 const struct opd_cookies *cookies,
			 struct opd_anon *anon,
			 const struct opd_deleted_images *images,
			 const struct opd_context *context,
			 struct opd_trace *trace, const char *proc);
void opd_user_stacks_release(struct opd_user_stacks *stacks);

/* The source has image @name on this machine. May come before the init. */
void opd_user_stacks_see(struct opd_user_stacks *stacks, const char *name);

/* The stream comes from a kernel of this build, which may be the one that runs
 * here: then each process has our [vdso]. */
void opd_user_stacks_see_kernel(struct opd_user_stacks *stacks,
				const struct op_build_id *build_id);

/* Cookies start anew. */
void opd_user_stacks_forget(struct opd_user_stacks *stacks);

/*
 * Add the callers that @rec leads to to the open trace, if there is one.
 * Returns 0 or -EINVAL when it contradicts itself.
 */
int opd_user_stack_add(struct opd_user_stacks *stacks,
		       const struct opd_rec *rec);

#endif /* DAEMON_CONTEXT_OPD_USER_STACK_H */
