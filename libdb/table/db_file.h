/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_TABLE_DB_FILE_H
#define LIBDB_TABLE_DB_FILE_H

/*
 * Files as databases need them, private to libdb: opened without waiting,
 * made complete under another name, with blocks for all of their length; and
 * what all of them ask of bytes.
 *
 * int results are 0 or -errno, or a descriptor where that is said.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Whether all @len @bytes are zero. */
static inline bool odb_is_zero(const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	while (len && !*at) {
		at++;
		len--;
	}
	return !len;
}

/* Open @path with O_ @flags, whatever kind of file it is. A descriptor. */
int odb_file_open(const char *path, int flags);

/*
 * The status of a file that may be a database, by its type and length:
 * -EISDIR for a folder, -EBADMSG for what else is no regular file.
 */
int odb_file_stat(int fd, struct stat *st);

/*
 * *@out is @path as it holds through changes of the working folder, its last
 * part not a link; free() it.
 */
int odb_file_path(char **out, const char *path);

/*
 * Reserve blocks for @len bytes: a write to the map must not meet a full disk
 * later, that would be a SIGBUS.
 */
int odb_file_reserve(int fd, size_t len);

/* The same for a file that was copied and may have holes. */
int odb_file_fill(int fd, const struct stat *st);

/*
 * Map the file @fd of @len bytes to be read and written, with more @flags of
 * mmap(2), but not in children: these read files of others, and nothing that
 * takes one of them over must reach what was counted. MAP_FAILED on errors.
 */
void *odb_file_map(int fd, size_t len, int flags);

/* The name to build a file under before it becomes @path; free() it. */
char *odb_file_tmp_path(const char *path);

/*
 * Create the file @tmp of @len bytes in place of one that a killed writer
 * left. It gets owner and mode of @like if that is not NULL. A descriptor.
 */
int odb_file_create(const char *tmp, size_t len, const struct stat *like);

#endif /* LIBDB_TABLE_DB_FILE_H */
