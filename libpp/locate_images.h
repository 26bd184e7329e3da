/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_LOCATE_IMAGES_H
#define LIBPP_LOCATE_IMAGES_H

/*
 * Where the binary of an image lies now: at its recorded path, below another
 * root, or by its base name somewhere in the image path.
 */

#include <stdbool.h>
#include <stddef.h>

#include "libop/op_diag.h"
#include "libpp/arena.h"

struct pp_found; /* a file in the image path */

struct pp_locator {
	struct pp_arena *arena;
	const char *root; /* put before recorded paths; NULL for none */
	const char *const *image_path; /* folders, ended by NULL; or NULL */
	const char *debug_dirs[3]; /* for op_bfd_open() */
	struct pp_found *found; /* what is in the image path, by base name */
	size_t nr_found;
	bool listed; /* the image path has been looked through */
};

/*
 * Prepare for @root (NULL for none) and @image_path (NULL for none), which
 * stay the caller's. Returns 0; -ENOTDIR with the reason in @diag when one of
 * them is no folder; -ENOMEM. Nothing is to be released but the arena.
 */
int pp_locator_init(struct pp_locator *locator, struct pp_arena *arena,
		    const char *root, const char *const *image_path,
		    struct op_diag *diag);

/*
 * *@path = where the image with recorded path @name is, in the arena.
 * Returns 0; -ENOENT when it is nowhere; -ENOTUNIQ when the image path holds
 * several files of that name; -EACCES and the like.
 */
int pp_locate(struct pp_locator *locator, const char *name, const char **path);

#endif /* LIBPP_LOCATE_IMAGES_H */
