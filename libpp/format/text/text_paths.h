/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_FORMAT_TEXT_TEXT_PATHS_H
#define LIBPP_FORMAT_TEXT_TEXT_PATHS_H

/*
 * Short names of paths that a report shows: the last component or, where others
 * end with the same one, as many components as it takes to tell them apart:
 * "gcc-12/cc1" and "kernel/cc1". Only paths with a slash at their start have
 * components.
 */

#include <stddef.h>

#include "libop/base/op_arena.h"

struct pp_short_path {
	const char *path;
	const char *shown; /* the end of @path */
};

/* Paths that have more than one component; all zeros has none. */
struct pp_short_paths {
	const struct pp_short_path *list; /* by their ends */
	size_t nr;
};

/*
 * Fill @shorts for the @nr @paths, all different, whose order changes. Both
 * live as long as @arena. Returns 0 or -ENOMEM.
 */
int pp_short_paths_init(struct pp_short_paths *shorts, struct op_arena *arena,
			const char **paths, size_t nr);

/* The text to show for @path; it need not be one of those. */
const char *pp_short_path(const struct pp_short_paths *shorts,
			  const char *path);

#endif /* LIBPP_FORMAT_TEXT_TEXT_PATHS_H */
