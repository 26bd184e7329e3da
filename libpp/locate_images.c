// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The trees of the image path are listed once, when the first image is not
 * at its place, and then searched by base name.
 */

#include "libpp/locate_images.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
	size_t nr = 0;

	if (locator->root) {
		locator->debug_dirs[nr] = pp_arena_printf(
			locator->arena, "%s%s", locator->root, DEBUG_DIR);
		if (!locator->debug_dirs[nr++])
			return -ENOMEM;
	}
	locator->debug_dirs[nr] = DEBUG_DIR;
	return 0;
}

int pp_locator_init(struct pp_locator *locator, struct pp_arena *arena,
		    const char *root, const char *const *image_path,
		    struct op_diag *diag)
{
	int ret = 0;

	*locator = (struct pp_locator){
		.arena = arena,
		.root = root,
		.image_path = image_path,
	};
	if (root)
		ret = check_folder(root, "root", diag);
	for (; !ret && image_path && *image_path; image_path++)
		ret = check_folder(*image_path, "image-path", diag);
	return ret ? ret : set_debug_dirs(locator);
}

static int by_base(const void *pa, const void *pb)
{
	const struct pp_found *a = pa, *b = pb;

	return strcmp(a->base, b->base);
}

static int add_found(struct pp_locator *locator, const char *path)
{
	struct pp_found *found;
	const char *copy;

	found = pp_arena_grow(locator->arena, locator->found, locator->nr_found,
			      sizeof(*found));
	copy = pp_arena_strdup(locator->arena, path);
	if (!found || !copy)
		return -ENOMEM;
	locator->found = found;
	found[locator->nr_found++] =
		(struct pp_found){ strrchr(copy, '/') + 1, copy };
	return 0;
}

/* What cannot be read in there is as if it were not there. */
static int list_tree(struct pp_locator *locator, const char *folder)
{
	char *copy = pp_arena_printf(locator->arena, "%s/", folder);
	char *roots[] = { copy, NULL };
	FTSENT *entry;
	int ret = 0;
	FTS *fts;

	if (!copy)
		return -ENOMEM;
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!fts)
		return -errno;
	while (!ret && (entry = fts_read(fts)) != NULL)
		if (entry->fts_info == FTS_F)
			ret = add_found(locator, entry->fts_path);
	fts_close(fts);
	return ret;
}

static int list_image_path(struct pp_locator *locator)
{
	const char *const *folder = locator->image_path;
	int ret = 0;

	if (locator->listed || !folder)
		return 0;
	locator->listed = true;
	for (; *folder && !ret; folder++)
		ret = list_tree(locator, *folder);
	if (locator->nr_found)
		qsort(locator->found, locator->nr_found,
		      sizeof(*locator->found), by_base);
	return ret;
}

static int search_image_path(struct pp_locator *locator, const char *name,
			     const char **path)
{
	struct pp_found wanted = { .base = strrchr(name, '/') };
	const struct pp_found *hit;
	size_t at;
	int ret = list_image_path(locator);

	if (ret)
		return ret;
	if (!wanted.base++ || !locator->nr_found)
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

int pp_locate(struct pp_locator *locator, const char *name, const char **path)
{
	const char *at;
	struct stat st;

	at = pp_arena_printf(locator->arena, "%s%s",
			     locator->root ? locator->root : "", name);
	if (!at)
		return -ENOMEM;
	if (!stat(at, &st)) {
		*path = at;
		return 0;
	}
	if (errno != ENOENT && errno != ENOTDIR)
		return -errno;
	return search_image_path(locator, name, path);
}
