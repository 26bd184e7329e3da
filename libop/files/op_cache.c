// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The folder is opened once and looked at then: whoever may write to a folder
 * above it can put another one in its place, but not what this user would
 * believe. Files in it are reached by way of the descriptor.
 *
 * The time of the last change of an inode's state (ctime) is when a file was
 * put, got or last left by a session.
 */

#include "libop/files/op_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "libop/files/op_copy.h"
#include "libop/files/op_folder.h"
#include "libop/base/op_search.h"

const struct op_cache_bounds op_cache_bounds = {
	.seconds = (time_t)30 * 24 * 60 * 60,
	.bytes = UINT64_C(256) << 20,
};

int op_cache_folder(char *buf, size_t len)
{
	const char *dir = getenv("OPROFILE_CACHE_DIR"), *below = "";

	if (!dir && !geteuid()) {
		dir = "/var/cache/oprofile";
	} else if (!dir) {
		below = "/oprofile";
		dir = getenv("XDG_CACHE_HOME");
	}
	if (!dir) {
		below = "/.cache/oprofile";
		dir = getenv("HOME");
	}
	if (!dir || *dir != '/')
		return -ENOENT;
	return snprintf(buf, len, "%s%s", dir, below) < (int)len
		       ? 0
		       : -ENAMETOOLONG;
}

static int open_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 022))
		return fd;
	close(fd);
	return -EPERM;
}

int op_cache_open(void)
{
	char path[PATH_MAX];
	int err = op_cache_folder(path, sizeof(path));

	err = err ?: op_make_parents(path, 0755) ?: op_make_folder(path, 0700);
	return err ?: open_folder(path);
}

/* ---- files --------------------------------------------------------------- */

static int path_in_cache(char *buf, size_t len, int cache, const char *name)
{
	return snprintf(buf, len, "/proc/self/fd/%d/%s", cache, name) < (int)len
		       ? 0
		       : -ENAMETOOLONG;
}

/* The file @from, of this user, as @to, which is not there. */
static int link_or_copy(const char *from, const char *to)
{
	int fd = open(from, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		err = -EPERM;
	/* Another file system, or no links on this one. */
	else if (link(from, to))
		err = op_copy_file(fd, &st, to);
	close(fd);
	return err;
}

int op_cache_get(int cache, const char *name, const char *path)
{
	char from[PATH_MAX];
	int err = path_in_cache(from, sizeof(from), cache, name);

	if (err)
		return err;
	if (faccessat(cache, name, F_OK, AT_SYMLINK_NOFOLLOW) ||
	    (unlink(path) && errno != ENOENT))
		return -errno;
	return link_or_copy(from, path);
}

/* A file that no session has. */
struct unused {
	char name[NAME_MAX + 1];
	time_t left; /* when the last session left it */
	uint64_t bytes;
};

static int compare_unused(const void *a, const void *b)
{
	const struct unused *x = a, *y = b;

	return op_compare((uint64_t)x->left, (uint64_t)y->left)
		       ?: strcmp(x->name, y->name);
}

/* Set *@list to the *@nr unused files of @folder; the caller frees it. What
 * there is no memory for is looked at the next time. */
static void list_unused(DIR *folder, struct unused **list, size_t *nr)
{
	struct dirent *entry;
	struct stat st;

	while ((entry = readdir(folder))) {
		if (fstatat(dirfd(folder), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode) || st.st_nlink > 1)
			continue;
		if (op_array_reserve(list, *nr, 1))
			return;
		snprintf((*list)[*nr].name, sizeof((*list)[*nr].name), "%s",
			 entry->d_name);
		(*list)[*nr].left = st.st_ctime;
		(*list)[*nr].bytes = (uint64_t)st.st_blocks * 512;
		++*nr;
	}
}

static void remove_unused(int cache, time_t now,
			  const struct op_cache_bounds *bounds)
{
	int fd = openat(cache, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct unused *list = NULL;
	uint64_t bytes = 0;
	size_t nr = 0;

	if (!folder) {
		if (fd >= 0)
			close(fd);
		return;
	}
	list_unused(folder, &list, &nr);
	for (size_t i = 0; i < nr; i++)
		bytes += list[i].bytes;
	if (nr)
		qsort(list, nr, sizeof(*list), compare_unused);
	for (size_t i = 0; i < nr; i++) {
		if (now - list[i].left <= bounds->seconds &&
		    bytes <= bounds->bytes)
			break;
		if (!unlinkat(fd, list[i].name, 0))
			bytes -= list[i].bytes;
	}
	free(list);
	closedir(folder);
}

int op_cache_put(int cache, const char *name, const char *path,
		 const struct op_cache_bounds *bounds)
{
	char new[64], tmp[PATH_MAX];
	struct stat st;
	int err;

	snprintf(new, sizeof(new), ".new-%ld", (long)getpid());
	err = path_in_cache(tmp, sizeof(tmp), cache, new);
	if (err)
		return err;
	unlink(tmp);
	err = link_or_copy(path, tmp);
	/* The time of the file system: that of its files' changes. */
	if (!err && (fstatat(cache, new, &st, AT_SYMLINK_NOFOLLOW) ||
		     renameat(cache, new, cache, name)))
		err = -errno;
	unlink(tmp);
	if (!err)
		remove_unused(cache, st.st_ctime, bounds);
	return err;
}

/* ---- bytes --------------------------------------------------------------- */

static int write_new_file(int cache, const char *name, const uint8_t *bytes,
			  size_t len)
{
	int fd = openat(cache, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			0600);
	int err = fd < 0 ? -errno : 0;

	while (!err && len) {
		ssize_t done = write(fd, bytes, len);

		if (done < 0) {
			err = -errno;
		} else {
			bytes += done;
			len -= (size_t)done;
		}
	}
	if (fd >= 0)
		close(fd);
	return err;
}

int op_cache_write(int cache, const char *name, const void *bytes, size_t len,
		   const struct op_cache_bounds *bounds)
{
	char new[64], path[PATH_MAX];
	int err;

	snprintf(new, sizeof(new), ".bytes-%ld", (long)getpid());
	err = path_in_cache(path, sizeof(path), cache, new);
	if (err)
		return err;
	unlinkat(cache, new, 0);
	err = write_new_file(cache, new, bytes, len)
		      ?: op_cache_put(cache, name, path, bounds);
	unlinkat(cache, new, 0);
	return err;
}

int op_cache_read(int cache, const char *name, size_t max, uint8_t **bytes,
		  size_t *len)
{
	int fd = openat(cache, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int err = 0;

	*bytes = NULL;
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		err = -EPERM;
	else if ((uint64_t)st.st_size > max)
		err = -EFBIG;
	if (!err) {
		*len = (size_t)st.st_size;
		*bytes = malloc(*len + 1);
		if (!*bytes)
			err = -ENOMEM;
		else if (pread(fd, *bytes, *len, 0) != st.st_size)
			err = -EIO;
	}
	if (!err)
		(void)futimens(fd, NULL);
	close(fd);
	if (err) {
		free(*bytes);
		*bytes = NULL;
	}
	return err;
}
