// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Snapshots in the cache of sessions, under the names that they have in
 * sessions. Without a build-id a snapshot may be of anything.
 */

#include "libop/kernel/op_ksyms.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "libop/files/op_cache.h"

/* The path of the snapshot in @dir, and the cache for the caller to close. */
static int open_snapshot_cache(char path[PATH_MAX], const char *dir,
			       const char *name,
			       const struct op_build_id *build_id)
{
	int err = op_ksyms_path(path, PATH_MAX, dir, name, build_id);

	if (!err && !build_id->len)
		err = -ENOENT;
	return err ?: op_cache_open();
}

int op_ksyms_get(const char *dir, const char *name,
		 const struct op_build_id *build_id)
{
	char path[PATH_MAX];
	int cache = open_snapshot_cache(path, dir, name, build_id), err;

	if (cache < 0)
		return cache;
	err = op_cache_get(cache, strrchr(path, '/') + 1, path);
	close(cache);
	return err;
}

int op_ksyms_keep(const char *dir, const char *name,
		  const struct op_build_id *build_id)
{
	char path[PATH_MAX];
	int cache = open_snapshot_cache(path, dir, name, build_id), err;

	if (cache < 0)
		return cache;
	err = op_cache_put(cache, strrchr(path, '/') + 1, path,
			   &op_cache_bounds);
	close(cache);
	return err;
}
