/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_DELETED_H
#define LIBOP_FILES_OP_DELETED_H

#include <stddef.h>
#include <string.h>

/*
 * The kernel writes " (deleted)" behind the path of a file that has been
 * deleted: in maps, exe, fd/ and cgroup of /proc, and in perf's records
 * (d_path() in fs/d_path.c). How many of the @len bytes of @path are before it;
 * @len where it is not there, or nothing else is.
 */
static inline size_t op_deleted_at(const char *path, size_t len)
{
	static const char mark[] = " (deleted)";
	const size_t tail = sizeof(mark) - 1;

	return len > tail && !memcmp(path + len - tail, mark, tail) ? len - tail
								    : len;
}

#endif /* LIBOP_FILES_OP_DELETED_H */
