/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_MERGE_MERGE_H
#define LIBPP_MERGE_MERGE_H

/*
 * Merging archives (libpp/archive/archive.h), thousands of them, into one that
 * reports read as any other. Sessions with equal labels
 * (libop/session/op_labels.h) are added up: counts, call trees and accounts. A
 * binary is kept once for each build.
 *
 * Numbers of processes, threads and CPUs are those of one machine at one time:
 * they are not kept, so the sum is as large as the code that ran, for each set
 * of labels, however many archives there are. The same archives make the same
 * sum, in whatever order and in how many steps they are merged.
 *
 * An archive that is damaged is left out as a whole, which is said.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_diag.h"
#include "libpp/messages.h"

struct pp_merge_request {
	const char *const *archives; /* their folders */
	size_t nr;
	const char *folder; /* the archive to be */
	bool replace; /* an archive that is there already */
	/* Keys of labels, and "cgroup", ended by NULL: those to keep, NULL for
	 * all, and those not to keep even so, or NULL. */
	const char *const *keep;
	const char *const *drop;
	unsigned int threads; /* at least 1 */
	uint64_t memory; /* bytes that what is in work at a time should take */
	/* Called now and then by the calling thread: @done of @nr steps of
	 * @what are done. What is not 0 ends the merge. */
	int (*progress)(void *data, const char *what, size_t done, size_t nr);
	void *data;
};

struct pp_merge {
	struct op_arena arena;
	struct pp_messages messages;
	size_t nr_merged; /* archives */
	size_t nr_left_out; /* archives: damaged */
	size_t nr_lost; /* files of others that are damaged or missing */
	size_t nr_sessions; /* of the sum */
};

/*
 * Merge what @request asks for. *@out is set even on failure, so that its
 * messages can be shown; it is the caller's to free. Returns 0, also when
 * archives were left out; or -errno with the reason in @diag, then there is no
 * sum: -ENOENT when no archive is left, -EEXIST when the folder is there and
 * not empty, -EINTR when progress() said so.
 */
int pp_merge_new(struct pp_merge **out, const struct pp_merge_request *request,
		 struct op_diag *diag);
void pp_merge_free(struct pp_merge *merge);

#endif /* LIBPP_MERGE_MERGE_H */
