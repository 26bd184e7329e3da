// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening files by names that others gave.
 *
 * A file is opened with O_PATH first, which does nothing to a device or a
 * FIFO, and again through /proc/self/fd once it is known to be a regular one:
 * between the two nobody can put another file in its place.
 */

#include "libop/files/op_open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "libop/base/op_search.h"

void op_open_raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int compare_descriptors(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return op_compare(*x, *y);
}

void op_close_others(int *kept, size_t nr)
{
	int from = 0;

	if (nr)
		qsort(kept, nr, sizeof(*kept), compare_descriptors);
	for (size_t i = 0; i < nr; i++) {
		if (kept[i] > from)
			close_range((unsigned int)from,
				    (unsigned int)kept[i] - 1, 0);
		if (kept[i] >= from)
			from = kept[i] + 1;
	}
	close_range((unsigned int)from, ~0U, 0);
}

int op_reopen_regular(int at)
{
	char path[64];
	struct stat st;

	if (fstat(at, &st))
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

int op_open_regular(const char *path)
{
	int at = open(path, O_PATH | O_CLOEXEC), fd;

	if (at < 0)
		return -1;
	fd = op_reopen_regular(at);
	close(at);
	return fd;
}

/* ---- without links ------------------------------------------------------- */

/* Open the first @len bytes of @name in @folder, which is closed. */
static int open_part(int folder, const char *name, size_t len)
{
	int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
	char part[NAME_MAX + 1];
	int at = -1, err = ENAMETOOLONG;

	if (len < sizeof(part)) {
		memcpy(part, name, len);
		part[len] = '\0';
		if (name[len])
			flags |= O_DIRECTORY;
		err = EXDEV;
		if (strcmp(part, "..")) {
			at = openat(folder, part, flags);
			err = errno;
		}
	}
	close(folder);
	errno = err;
	return at;
}

/* Open one component of the path after the other: old kernels have no
 * openat2(2), and a filter of system calls cannot see its flags. The last
 * component may be a link. */
static int find_without_links(const char *root, const char *name)
{
	int at = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);

	for (size_t len; at >= 0 && *name; name += len) {
		name += strspn(name, "/");
		len = strcspn(name, "/");
		if (len)
			at = open_part(at, name, len);
	}
	return at;
}

/* Open what @at, which is closed, leads to. */
static int open_found(int at)
{
	int fd = at < 0 ? -1 : op_reopen_regular(at), err = errno;

	if (at >= 0)
		close(at);
	errno = err;
	return fd;
}

int op_open_without_links(const char *root, const char *name)
{
	return open_found(find_without_links(root, name));
}

/* ---- below a folder ------------------------------------------------------ */

/* A folder that is no folder is a link here. */
static int find_beneath_by_parts(const char *root, const char *name)
{
	int at = find_without_links(root, name);
	struct stat st;

	if (at < 0) {
		if (errno == ENOTDIR)
			errno = EXDEV;
		return -1;
	}
	if (fstat(at, &st) || !S_ISLNK(st.st_mode))
		return at;
	close(at);
	errno = EXDEV;
	return -1;
}

int op_find_beneath(const char *root, const char *name)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH |
					   RESOLVE_NO_MAGICLINKS };
	int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int at, err;

	if (folder < 0)
		return -1;
	name += strspn(name, "/");
	at = (int)syscall(SYS_openat2, folder, *name ? name : ".", &how,
			  sizeof(how));
	err = errno;
	close(folder);
	if (at < 0 && (err == ENOSYS || err == EPERM))
		return find_beneath_by_parts(root, name);
	errno = err == ELOOP ? EXDEV : err;
	return at;
}

int op_open_beneath(const char *root, const char *name)
{
	return open_found(op_find_beneath(root, name));
}

/* ---- of processes -------------------------------------------------------- */

int op_open_in_root(uint32_t tgid, const char *name, bool has_build_id)
{
	char root[64];

	if (!has_build_id && !geteuid())
		return -1;
	snprintf(root, sizeof(root), "/proc/%" PRIu32 "/root", tgid);
	return op_open_without_links(root, name);
}

int op_open_mapped(uint32_t tgid, uint64_t start, uint64_t end)
{
	char path[96];

	snprintf(path, sizeof(path),
		 "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, tgid,
		 start, end);
	return op_open_regular(path);
}

enum op_holder op_who_has(int fd)
{
	static const uint32_t network[] = { NFS_SUPER_MAGIC, SMB_SUPER_MAGIC,
					    CIFS_SUPER_MAGIC, SMB2_SUPER_MAGIC,
					    CEPH_SUPER_MAGIC };
	struct statfs st;

	if (fstatfs(fd, &st))
		return OP_KERNEL_HAS;
	for (size_t i = 0; i < sizeof(network) / sizeof(network[0]); i++)
		if ((uint32_t)st.f_type == network[i])
			return OP_NETWORK_HAS;
	return (uint32_t)st.f_type == FUSE_SUPER_MAGIC ? OP_PROGRAM_HAS
						       : OP_KERNEL_HAS;
}
