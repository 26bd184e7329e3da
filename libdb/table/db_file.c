// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files of tables, call trees and packs: making, opening and mapping them.
 *
 * A file is made under the name .NAME.grow and renamed by the caller when it is
 * complete. A .NAME.grow that a killed writer left is removed when the next one
 * is made. All blocks of a file are reserved before it is mapped: a store to a
 * mapped page that has no block on a full disk kills the process (SIGBUS). Here
 * a full disk is an error that the caller can handle.
 */

#include "libdb/table/db_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* O_NONBLOCK: opening a FIFO must not wait for its other end. */
int odb_file_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

int odb_file_stat(int fd, struct stat *st)
{
	if (fstat(fd, st))
		return -errno;
	if (S_ISDIR(st->st_mode))
		return -EISDIR;
	return S_ISREG(st->st_mode) ? 0 : -EBADMSG;
}

/*
 * Growing may replace a name, so it has to be the name of the file, not of a
 * symbolic link to it.
 */
int odb_file_path(char **out, const char *path)
{
	struct stat st;
	char *cwd;
	int n;

	if (!lstat(path, &st) && S_ISLNK(st.st_mode)) {
		*out = realpath(path, NULL);
		return *out ? 0 : -errno;
	}
	if (path[0] == '/') {
		*out = strdup(path);
		return *out ? 0 : -ENOMEM;
	}
	cwd = getcwd(NULL, 0);
	if (!cwd)
		return -errno;
	n = asprintf(out, "%s/%s", cwd, path);
	free(cwd);
	if (n >= 0)
		return 0;
	*out = NULL;
	return -ENOMEM;
}

int odb_file_reserve(int fd, size_t len)
{
	int err;

	do {
		err = posix_fallocate(fd, 0, (off_t)len);
	} while (err == EINTR);
	return -err;
}

int odb_file_fill(int fd, const struct stat *st)
{
	if (st->st_blocks >= st->st_size / 512)
		return 0;
	return odb_file_reserve(fd, (size_t)st->st_size);
}

char *odb_file_tmp_path(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	char *tmp;

	if (asprintf(&tmp, "%.*s.%s.grow", (int)(name - path), path, name) < 0)
		return NULL;
	return tmp;
}

/* Best effort: only root can give files away, and no count depends on it. */
static void copy_owner_and_mode(int fd, const struct stat *like)
{
	struct stat st;

	if (!fstat(fd, &st) &&
	    (st.st_uid != like->st_uid || st.st_gid != like->st_gid) &&
	    fchown(fd, like->st_uid, like->st_gid))
		return;
	(void)fchmod(fd, like->st_mode & 0777);
}

int odb_file_create(const char *tmp, size_t len, const struct stat *like)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	mode_t mode = like ? like->st_mode & 0777 : 0644;
	int fd = open(tmp, flags, mode);
	int err;

	if (fd < 0 && errno == EEXIST && !unlink(tmp))
		fd = open(tmp, flags, mode);
	if (fd < 0)
		return -errno;
	err = odb_file_reserve(fd, len);
	if (err) {
		close(fd);
		unlink(tmp);
		return err;
	}
	if (like)
		copy_owner_and_mode(fd, like);
	return fd;
}

void *odb_file_map(int fd, size_t len, int flags)
{
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | flags,
			 fd, 0);

	if (map != MAP_FAILED)
		(void)madvise(map, len, MADV_DONTFORK);
	return map;
}
