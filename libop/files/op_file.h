/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_FILE_H
#define LIBOP_FILES_OP_FILE_H

/*
 * Small files: read whole with a limit, replaced in one step so that a reader
 * sees the old text or the new one and nothing between. And parts of files that
 * are open, all of them or none.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "libop/base/op_diag.h"

/*
 * Read the regular file @path of at most @max bytes. *@text is the caller's
 * to free; a zero byte follows its *@len bytes. Returns 0; -ENOENT, which
 * leaves @diag alone; -EFBIG above @max, -EINVAL for what is no regular file,
 * or -errno, with the reason in @diag.
 */
int op_file_read(const char *path, size_t max, char **text, size_t *len,
		 struct op_diag *diag);

/* Whether nobody but root and this user may write to a file with the status
 * @st, or give others that right. */
bool op_is_own_file(const struct stat *st);

/* Whether both paths lead to one file, which is there. */
bool op_is_same_file(const char *a, const char *b);

/* The bits of @mode that a new file of this process gets, as open(2) and
 * mkdir(2) have it: for those that are made in another way. */
mode_t op_file_mode(mode_t mode);

/* Read @len bytes from where @fd is, or what there is before its end: a pipe
 * gives parts. Returns how many, or -errno. */
ssize_t op_file_read_next(int fd, void *buf, size_t len);

/* Read @len bytes at @offset. Returns 0 or -errno; -EBADMSG if there are fewer.
 */
int op_file_read_at(int fd, void *buf, size_t len, uint64_t offset);

/* Write @len bytes at @offset. Returns 0 or -errno. */
int op_file_write_at(int fd, const void *buf, size_t len, uint64_t offset);

/* A file that is being replaced. */
struct op_replace {
	const char *path; /* borrowed from the caller */
	FILE *file; /* write here; errors are found by op_replace_commit() */
	bool is_spare; /* @tmp stays whatever happens */
	char tmp[PATH_MAX];
};

/*
 * Start to replace @path by a new file of mode @mode, which lies under a
 * hidden name in the same folder until it is whole. Returns 0 or -errno with
 * the reason in @diag; only after 0 one of the next two must follow.
 */
int op_replace_open(struct op_replace *replace, const char *path,
		    unsigned int mode, struct op_diag *diag);

/*
 * The same by way of @spare, a file of the same file system and of this user
 * alone: what fits into its blocks needs no room on the disk. @spare is the
 * old file then, where there was one, and is there still if @path could not be
 * replaced.
 */
int op_replace_open_spare(struct op_replace *replace, const char *path,
			  const char *spare, unsigned int mode,
			  struct op_diag *diag);

/* Put the new file in place, on the disk. Returns 0, or -errno with the
 * reason in @diag: then @path is as it was. */
int op_replace_commit(struct op_replace *replace, struct op_diag *diag);

/* Leave @path as it was. */
void op_replace_abort(struct op_replace *replace);

#endif /* LIBOP_FILES_OP_FILE_H */
