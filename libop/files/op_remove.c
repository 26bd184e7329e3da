// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Removing trees of folders of any depth.
 *
 * The tree below samples/current is as deep as the paths of what was profiled,
 * so a recursion could run out of stack or files. Instead the tops of the tree
 * are moved to a trash folder on the same file system, and each folder that is
 * emptied there has its own subfolders moved up beside it first: three open
 * folders are enough for any depth, and what was moved is gone from its place
 * at once. No symbolic link is followed. What is left in the trash when this is
 * cut off, the next removal with the same trash removes.
 *
 * A full disk may have no room for a trash folder. Then the first folder that
 * is to be removed becomes the trash: a rename needs no room of its own.
 */

#include "libop/files/op_remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRASH ".reset" /* a name that readers of sessions pass over */

/* More than a tree has levels: the names of three paths. */
#define MAX_PASSES 16384

struct trash {
	int parent; /* the folder that it is in */
	int fd; /* -1: there is none yet */
	uint64_t nr; /* names given so far */
};

static bool is_any_entry(const char *name)
{
	return strcmp(name, ".") && strcmp(name, "..");
}

static bool is_not_trash(const char *name)
{
	return is_any_entry(name) && strcmp(name, TRASH);
}

static int open_real_folder(int at, const char *name)
{
	int fd = openat(at, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Open the trash folder, which is there now. */
static int open_trash(struct trash *trash)
{
	int fd = open_real_folder(trash->parent, TRASH);

	if (fd < 0)
		return fd;
	trash->fd = fd;
	return 0;
}

/* Make the folder @name in @from the trash. */
static int turn_into_trash(struct trash *trash, int from, const char *name)
{
	if (renameat(from, name, trash->parent, TRASH))
		return -errno;
	return open_trash(trash);
}

/* Move @name in @from to a name in the trash that is free. */
static int move_to_trash(struct trash *trash, int from, const char *name)
{
	char to[32];

	if (trash->fd < 0)
		return turn_into_trash(trash, from, name);
	do {
		snprintf(to, sizeof(to), "%" PRIu64, trash->nr++);
		if (!renameat(from, name, trash->fd, to))
			return 0;
		/* An earlier removal that was cut off has left this name: try
		 * the next. */
	} while (errno == ENOTEMPTY || errno == EEXIST || errno == EISDIR ||
		 errno == ENOTDIR);
	return -errno;
}

static int remove_or_trash(struct trash *trash, int from, const char *name)
{
	if (!unlinkat(from, name, 0) || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	/* An empty one need not be moved first. */
	if (!unlinkat(from, name, AT_REMOVEDIR))
		return 0;
	return move_to_trash(trash, from, name);
}

/* Do @handle to each entry of @fd, which is closed, that @is_wanted. */
static int for_entries(int fd, bool (*is_wanted)(const char *name),
		       int (*handle)(struct trash *trash, int from,
				     const char *name),
		       struct trash *trash)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int err = 0;

	if (!dir) {
		err = -errno;
		close(fd);
		return err;
	}
	while (!err) {
		errno = 0;
		entry = readdir(dir);
		if (!entry) {
			err = -errno;
			break;
		}
		if (is_wanted(entry->d_name))
			err = handle(trash, fd, entry->d_name);
	}
	closedir(dir);
	return err;
}

/* Empty a folder of the trash, or remove a file of it. */
static int empty_trash_entry(struct trash *trash, int at, const char *name)
{
	int fd = open_real_folder(at, name);
	int err;

	if (fd == -ENOTDIR || fd == -ELOOP)
		return unlinkat(at, name, 0) ? -errno : 0;
	if (fd < 0)
		return fd;
	err = for_entries(fd, is_any_entry, remove_or_trash, trash);
	if (!err && unlinkat(at, name, AT_REMOVEDIR))
		err = -errno;
	/* ENOTEMPTY: the file system showed not all; it is seen again. */
	return err == -ENOTEMPTY || err == -EEXIST ? 0 : err;
}

static int empty_trash(struct trash *trash)
{
	int err = 0;

	/* Every pass takes a level off the deepest tree. */
	for (int pass = 0; !err && pass < MAX_PASSES; pass++) {
		int fd;

		if (!unlinkat(trash->parent, TRASH, AT_REMOVEDIR))
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			return -errno;
		fd = open_real_folder(trash->parent, TRASH);
		err = fd < 0 ? fd
			     : for_entries(fd, is_any_entry, empty_trash_entry,
					   trash);
	}
	return err ? err : -EBUSY;
}

/* Make the trash, unless the disk has no room for it, which is no error. */
static int begin_trash(struct trash *trash)
{
	if (!mkdirat(trash->parent, TRASH, 0700) || errno == EEXIST)
		return open_trash(trash);
	return errno == ENOSPC || errno == EDQUOT ? 0 : -errno;
}

int op_remove_entries(const char *folder, const char *parent,
		      bool (*is_wanted)(const char *name))
{
	int from = open_real_folder(AT_FDCWD, folder);
	int to = open_real_folder(AT_FDCWD, parent);
	struct trash trash = { .parent = to, .fd = -1 };
	int err = from < 0 ? from : to < 0 ? to : begin_trash(&trash);

	if (!err) {
		err = for_entries(
			from, is_wanted,
			trash.fd < 0 ? remove_or_trash : move_to_trash, &trash);
		from = -1; /* closed there */
	}
	if (!err && trash.fd >= 0)
		err = empty_trash(&trash);
	if (trash.fd >= 0)
		close(trash.fd);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return err;
}

int op_remove_tree(const char *path)
{
	int err = op_remove_entries(path, path, is_not_trash);

	return !err && rmdir(path) ? -errno : err;
}
