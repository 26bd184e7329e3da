/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_IMAGES_LOCATE_IMAGES_H
#define LIBPP_IMAGES_LOCATE_IMAGES_H

/*
 * Where the binary of an image lies now: in an archive, at its recorded path,
 * below another root, or by its base name somewhere in the image path.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "libpp/archive/archive.h"
#include "libop/base/op_arena.h"
#include "libpp/symbols/op_bfd.h"

struct pp_found; /* a file in the image path */

struct pp_locator {
	struct op_arena *arena; /* of the paths that are found */
	struct op_arena *list_arena; /* of @found; mostly the same */
	const struct pp_archive *archive; /* NULL for none */
	const char *root; /* put before recorded paths; NULL for none */
	const char *const *image_path; /* folders, ended by NULL; or NULL;
					  with those of the archive */
	struct op_debug_places debug;
	struct pp_found *found; /* what is in the image path, by base name */
	size_t nr_found;
	bool listed; /* the image path has been looked through */
};

/*
 * Prepare for @archive, @root and @image_path (each may be NULL), which stay
 * the caller's. Returns 0; -ENOTDIR with the reason in @diag when one of
 * them is no folder; -ENOMEM. Nothing is to be released but the arena.
 */
int pp_locator_init(struct pp_locator *locator, struct op_arena *arena,
		    const struct pp_archive *archive, const char *root,
		    const char *const *image_path, struct op_diag *diag);

/* Look for debug files in @folder, too, after all others. Returns 0 or
 * -ENOMEM. */
int pp_locator_add_debug_folder(struct pp_locator *locator, const char *folder);

/*
 * *@path = where the image with recorded path @name is, in the arena.
 * Returns 0; -ENOENT when it is nowhere; -ENOTUNIQ when the image path holds
 * several files of that name; -EACCES and the like.
 */
int pp_locate(struct pp_locator *locator, const char *name, const char **path);

/*
 * *@path = where perf keeps a copy of the binary of that build-id, if it does:
 * in ~/.debug, where perf record and perf buildid-cache put it, and what perf
 * archive packs is unpacked. It may be anybody's. Returns 0, -ENOENT without
 * such a place, as in an archive, or -ENOMEM.
 */
int pp_locate_perf_copy(struct pp_locator *locator,
			const struct op_build_id *build_id, const char **path);

/*
 * The same for the source file @name, as a binary names it. An archive may be
 * without sources: then it is looked for where it was.
 */
int pp_locate_source(struct pp_locator *locator, const char *name,
		     const char **path);

/* The name that @path had when it was archived; @path itself where there is no
 * archive. */
const char *pp_locate_home(const struct pp_locator *locator, const char *path);

/*
 * Call @try with the path of each file in the image path that may be the kernel
 * module called @name ("/ext4"), until it returns 0: NAME.ko, packed or not,
 * where a '_' of the name may also be '-' or ','. Where @try cannot tell builds
 * apart, @is_unique refuses several of them. Returns 0, what @try returned
 * last, -ENOENT, -ENOTUNIQ or -ENOMEM (also from @try).
 */
int pp_locate_module(struct pp_locator *locator, const char *name,
		     bool is_unique, int (*try)(void *data, const char *path),
		     void *data);

/* Whether @path lies in the image path that was asked for. */
bool pp_locate_was_asked(const struct pp_locator *locator, const char *path);

/*
 * Call @try with the path of each file that may be the kernel's binary, until
 * it returns 0: "vmlinux" or "vmlinux-RELEASE" in the image path, what the
 * build-id leads to, and what lies where kernels' debug symbols are installed.
 * Returns 0, -ENOENT, or -ENOMEM (also from @try).
 */
int pp_locate_kernel(struct pp_locator *locator,
		     const struct op_build_id *build_id,
		     int (*try)(void *data, const char *path), void *data);

#endif /* LIBPP_IMAGES_LOCATE_IMAGES_H */
