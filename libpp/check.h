/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_CHECK_H
#define LIBPP_CHECK_H

/*
 * Whether the files of a session folder are sound: all of samples/, the
 * symbols of kernels, and the store of symbols. Each file is read to its end
 * and checked as those who use it do.
 */

#include <stdbool.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libop/session/op_session.h"

struct pp_check {
	/* Called for each thing that is wrong: a line without its end. */
	void (*say)(void *ctx, const char *line);
	void *ctx;
	bool repair; /* do what costs nothing that can be read */
	/* what came of it */
	uint64_t nr_files;
	uint64_t nr_samples; /* in flat files */
	uint64_t nr_damaged; /* things that are wrong */
	uint64_t nr_repaired; /* of these */
};

/*
 * Check @session. A daemon that runs may go on meanwhile, but nothing is
 * repaired then. Returns 0, also where something is wrong; -EBUSY where a
 * daemon keeps it from being repaired, -ENOENT without samples, or another
 * -errno of what could not be looked at, with the reason in @diag.
 */
int pp_check_session(struct pp_check *check, const struct op_session *session,
		     struct op_diag *diag);

#endif /* LIBPP_CHECK_H */
