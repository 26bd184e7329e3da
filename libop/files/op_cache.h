/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_CACHE_H
#define LIBOP_FILES_OP_CACHE_H

/*
 * Files that are the same for many sessions and are kept once: in the folder
 * $OPROFILE_CACHE_DIR, else /var/cache/oprofile for root, else
 * $XDG_CACHE_HOME/oprofile, else ~/.cache/oprofile. It may be removed at any
 * time: a session has files of the cache by links or as copies.
 *
 * What is wrong with the cache only makes it useless, so nothing is told of it.
 */

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The bounds of files in the cache that no session refers to. */
struct op_cache_bounds {
	time_t seconds; /* since the last one had it */
	uint64_t bytes; /* on the disk, of all of them */
};

/* 30 days and 256 MiB. */
extern const struct op_cache_bounds op_cache_bounds;

/* The folder's path. 0, -ENAMETOOLONG, or -ENOENT where no user has a folder.
 */
int op_cache_folder(char *buf, size_t len);

/*
 * A descriptor of the folder, which is made if it is missing, for the caller to
 * close. -errno without one; -EPERM if the folder is not this user's alone to
 * write to.
 */
int op_cache_open(void);

/*
 * Have the file @name of the cache @cache as @path, instead of what is there.
 * 0 or -errno; -ENOENT if the cache has none.
 */
int op_cache_get(int cache, const char *name, const char *path);

/*
 * Have the file @path, which is never written to again, in the cache @cache as
 * @name, instead of what is there. Files that are in the cache alone are
 * removed if they are beyond @bounds, those that were left first before others.
 * 0 or -errno.
 */
int op_cache_put(int cache, const char *name, const char *path,
		 const struct op_cache_bounds *bounds);

/*
 * Have the @len bytes at @bytes in the cache as @name, for this user alone, as
 * op_cache_put() does. 0 or -errno.
 */
int op_cache_write(int cache, const char *name, const void *bytes, size_t len,
		   const struct op_cache_bounds *bounds);

/*
 * *@bytes = what that has put there, @max bytes at most, for the caller to
 * free; it counts as used now. 0 or -errno, -EFBIG for more bytes.
 */
int op_cache_read(int cache, const char *name, size_t max, uint8_t **bytes,
		  size_t *len);

#endif /* LIBOP_FILES_OP_CACHE_H */
