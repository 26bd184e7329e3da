// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the files of images are: at their path, below --root, in an archive,
 * or anywhere in the folders of --image-path. The trees of the image path are
 * listed once, when the first image is not at its place, and then searched by
 * base name; a name that is there twice is not used, because one of the two
 * would be wrong. Which kernel binary is the right one is for the caller to
 * say, who tries one after the other by its build-id.
 */

#include "libpp/images/locate_images.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libop/image/op_build_id.h"
#include "libop/files/op_walk.h"

#include "libpp/symbols/unpack.h"

#define DEBUG_DIR "/usr/lib/debug"

struct pp_found {
	const char *base;
	const char *path;
};

static int check_folder(const char *path, const char *option,
			struct op_diag *diag)
{
	struct stat st;

	if (stat(path, &st))
		return op_diag_set(diag, -ENOTDIR,
				   "%s: %s; give --%s a folder that exists",
				   path, strerror(errno), option);
	if (!S_ISDIR(st.st_mode))
		return op_diag_set(diag, -ENOTDIR,
				   "%s: not a folder; give --%s a folder", path,
				   option);
	return 0;
}

static int set_debug_dirs(struct pp_locator *locator)
{
	const char *const roots[] = { locator->archive ? locator->archive->root
						       : NULL,
				      locator->root };
	size_t nr = 0;

	for (size_t i = 0; i < 2; i++) {
		if (!roots[i])
			continue;
		locator->debug.dirs[nr] = op_arena_printf(
			locator->arena, "%s%s", roots[i], DEBUG_DIR);
		if (!locator->debug.dirs[nr++])
			return -ENOMEM;
	}
	locator->debug.root = roots[0];
	/* What is installed here says nothing about an archive's binaries. */
	if (!locator->archive)
		locator->debug.dirs[nr] = DEBUG_DIR;
	return 0;
}

/* The folders that were asked for, then those that the archive was made
 * with. */
static int set_image_path(struct pp_locator *locator, const char *const *asked)
{
	const char *const *lists[] = {
		asked, locator->archive ? locator->archive->image_path : NULL
	};
	const char **all = NULL;
	size_t nr = 0;

	locator->image_path = asked;
	for (size_t i = 0; lists[1] && i < 2; i++)
		for (const char *const *at = lists[i]; at && *at; at++) {
			all = op_arena_grow(locator->arena, all, nr,
					    sizeof(*all));
			if (!all)
				return -ENOMEM;
			all[nr++] = *at;
		}
	if (all)
		all = op_arena_grow(locator->arena, all, nr, sizeof(*all));
	if (all) {
		all[nr] = NULL;
		locator->image_path = all;
	}
	return nr && !all ? -ENOMEM : 0;
}

int pp_locator_init(struct pp_locator *locator, struct op_arena *arena,
		    const struct pp_archive *archive, const char *root,
		    const char *const *image_path, struct op_diag *diag)
{
	int ret;

	*locator = (struct pp_locator){
		.arena = arena,
		.list_arena = arena,
		.archive = archive,
		.root = root,
	};
	ret = set_image_path(locator, image_path);
	if (!ret && root)
		ret = check_folder(root, "root", diag);
	for (; !ret && image_path && *image_path; image_path++)
		ret = check_folder(*image_path, "image-path", diag);
	return ret ? ret : set_debug_dirs(locator);
}

int pp_locator_add_debug_folder(struct pp_locator *locator, const char *folder)
{
	size_t nr = 0;

	while (locator->debug.dirs[nr])
		nr++;
	locator->debug.dirs[nr] = op_arena_strdup(locator->arena, folder);
	return locator->debug.dirs[nr] ? 0 : -ENOMEM;
}

static int by_base(const void *pa, const void *pb)
{
	const struct pp_found *a = pa, *b = pb;

	return strcmp(a->base, b->base);
}

/* A file or folder in the image path that cannot be read is skipped. */
static int note_file_in_image_path(const struct op_walk_entry *entry, void *ctx)
{
	struct pp_locator *locator = ctx;
	struct pp_found *found;
	const char *path;

	if (entry->kind != OP_WALK_FILE)
		return 0;
	path = op_arena_strdup(locator->list_arena, entry->path);
	found = op_arena_grow(locator->list_arena, locator->found,
			      locator->nr_found, sizeof(*found));
	if (!path || !found)
		return -ENOMEM;
	locator->found = found;
	found[locator->nr_found++] =
		(struct pp_found){ strrchr(path, '/') + 1, path };
	return 0;
}

static int list_image_path(struct pp_locator *locator)
{
	const char *const *folder = locator->image_path;
	int ret = 0;

	if (locator->listed || !folder)
		return 0;
	locator->listed = true;
	for (; *folder && !ret; folder++)
		ret = op_walk(*folder, note_file_in_image_path, locator);
	if (locator->nr_found)
		qsort(locator->found, locator->nr_found,
		      sizeof(*locator->found), by_base);
	return ret;
}

/* The only file of that base name in the image path. */
static int search_image_path(struct pp_locator *locator, const char *base,
			     const char **path)
{
	struct pp_found wanted = { .base = base };
	const struct pp_found *hit;
	size_t at;
	int ret = list_image_path(locator);

	if (ret)
		return ret;
	if (!locator->nr_found)
		return -ENOENT;
	hit = bsearch(&wanted, locator->found, locator->nr_found, sizeof(*hit),
		      by_base);
	if (!hit)
		return -ENOENT;
	at = hit - locator->found;
	if ((at && !by_base(hit - 1, hit)) ||
	    (at + 1 < locator->nr_found && !by_base(hit + 1, hit)))
		return -ENOTUNIQ;
	*path = hit->path;
	return 0;
}

/* Returns -ENOENT where @root has no such file. */
static int look_below(struct pp_locator *locator, const char *root,
		      const char *name, const char **path)
{
	const char *at = op_arena_printf(locator->arena, "%s%s", root, name);
	struct stat st;

	if (!at)
		return -ENOMEM;
	if (!stat(at, &st)) {
		*path = at;
		return 0;
	}
	return errno == ENOTDIR ? -ENOENT : -errno;
}

int pp_locate(struct pp_locator *locator, const char *name, const char **path)
{
	const char *slash = strrchr(name, '/');
	int err = -ENOENT;

	if (locator->archive)
		err = look_below(locator, locator->archive->root, name, path);
	if (err == -ENOENT && locator->root)
		err = look_below(locator, locator->root, name, path);
	else if (err == -ENOENT && !locator->archive)
		err = look_below(locator, "", name, path);
	if (err != -ENOENT || !slash)
		return err;
	return search_image_path(locator, slash + 1, path);
}

int pp_locate_perf_copy(struct pp_locator *locator,
			const struct op_build_id *build_id, const char **path)
{
	const char *home = getenv("HOME");
	char hex[OP_BUILD_TEXT_MAX];

	if (locator->archive || !home || *home != '/' || build_id->len < 2)
		return -ENOENT;
	op_build_id_text(build_id->bytes, build_id->len, hex);
	*path = op_arena_printf(locator->arena,
				"%s/.debug/.build-id/%.2s/%s/elf", home, hex,
				hex + 2);
	return *path ? 0 : -ENOMEM;
}

int pp_locate_source(struct pp_locator *locator, const char *name,
		     const char **path)
{
	int err = -ENOENT;

	if (*name != '/')
		return err;
	if (locator->archive)
		err = look_below(locator, locator->archive->root, name, path);
	if (err == -ENOENT && locator->root)
		err = look_below(locator, locator->root, name, path);
	return err == -ENOENT ? look_below(locator, "", name, path) : err;
}

const char *pp_locate_home(const struct pp_locator *locator, const char *path)
{
	const char *name = locator->archive
				   ? pp_archive_name(locator->archive, path)
				   : NULL;

	/* From the slash that the name begins behind. */
	return name ? name - 1 : path;
}

/* Whether a file called @base is the module @name. */
static bool is_module(const char *base, const char *name)
{
	const char *end = base + pp_unpacked_name_len(base);

	for (; *name && base < end; name++, base++)
		if (*name != *base &&
		    !(*name == '_' && (*base == '-' || *base == ',')))
			return false;
	return !*name && end - base == 3 && !memcmp(base, ".ko", 3);
}

static bool is_second_module(const struct pp_locator *locator, size_t first,
			     const char *name)
{
	for (size_t i = first + 1; i < locator->nr_found; i++)
		if (is_module(locator->found[i].base, name))
			return true;
	return false;
}

int pp_locate_module(struct pp_locator *locator, const char *name,
		     bool is_unique, int (*try)(void *data, const char *path),
		     void *data)
{
	int err = list_image_path(locator), ret = -ENOENT;

	name += *name == '/';
	for (size_t i = 0; i < locator->nr_found && !err; i++) {
		if (!is_module(locator->found[i].base, name))
			continue;
		if (is_unique && is_second_module(locator, i, name))
			return -ENOTUNIQ;
		ret = try(data, locator->found[i].path);
		if (!ret || ret == -ENOMEM)
			return ret;
	}
	return err ? err : ret;
}

bool pp_locate_was_asked(const struct pp_locator *locator, const char *path)
{
	const char *const *folder = locator->image_path;

	for (; folder && *folder; folder++) {
		size_t len = strlen(*folder);

		if (!strncmp(path, *folder, len) && path[len] == '/')
			return true;
	}
	return false;
}

/* ---- the kernel ---------------------------------------------------------- */

struct kernel_search {
	int (*try)(void *data, const char *path);
	void *data;
};

/* Returns -ENOENT to go on with the next file. */
static int try_file(const struct kernel_search *search, const char *path)
{
	int err = search->try(search->data, path);

	return err && err != -ENOMEM ? -ENOENT : err;
}

/* Returns -ENOENT to go on with the next file. */
static int try_image_path(struct pp_locator *locator,
			  const struct kernel_search *search)
{
	int err = list_image_path(locator) ?: -ENOENT;

	for (size_t i = 0; i < locator->nr_found && err == -ENOENT; i++) {
		const char *base = locator->found[i].base;

		if (!strcmp(base, "vmlinux") || !strncmp(base, "vmlinux-", 8))
			err = try_file(search, locator->found[i].path);
	}
	return err;
}

static int try_pattern(const struct kernel_search *search, const char *pattern)
{
	int err = -ENOENT;
	glob_t found;

	if (!pattern)
		return -ENOMEM;
	if (glob(pattern, GLOB_NOSORT, NULL, &found))
		return err;
	for (size_t i = 0; i < found.gl_pathc && err == -ENOENT; i++)
		err = try_file(search, found.gl_pathv[i]);
	globfree(&found);
	return err;
}

static int try_build_id(struct pp_locator *locator,
			const struct kernel_search *search, const char *dir,
			const struct op_build_id *id)
{
	char hex[OP_BUILD_TEXT_MAX];

	if (id->len < 2)
		return -ENOENT;
	op_build_id_text(id->bytes, id->len, hex);
	return try_pattern(search, op_arena_printf(locator->arena,
						   "%s/.build-id/%.2s/%s.debug",
						   dir, hex, hex + 2));
}

int pp_locate_kernel(struct pp_locator *locator,
		     const struct op_build_id *build_id,
		     int (*try)(void *data, const char *path), void *data)
{
	const struct kernel_search search = { try, data };
	const char *const *dir = locator->debug.dirs;
	int err = try_image_path(locator, &search);

	for (; *dir && err == -ENOENT && build_id->len; dir++) {
		err = try_build_id(locator, &search, *dir, build_id);
		if (err == -ENOENT)
			err = try_pattern(&search,
					  op_arena_printf(locator->arena,
							  "%s/boot/vmlinux-*",
							  *dir));
		if (err == -ENOENT)
			err = try_pattern(
				&search,
				op_arena_printf(locator->arena,
						"%s/lib/modules/*/vmlinux",
						*dir));
	}
	return err;
}
