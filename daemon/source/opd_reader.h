/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_READER_H
#define DAEMON_SOURCE_OPD_READER_H

/*
 * Reads the build-ids of files that anybody may have made, in processes of its
 * own: a file system that never answers may keep one of these for ever, but
 * neither the daemon nor the files that come after. A file that does not answer
 * in time is given up. For one thread.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libop/image/op_build_id.h"

/* How many files may keep a process busy at a time. */
#define OPD_READERS 8

struct opd_reader_child {
	pid_t pid; /* 0: none */
	int sock; /* -1: given up, and not ended yet */
	uint64_t key; /* what it reads for, 0: nothing */
	uint64_t since; /* milliseconds, when that was given to it */
};

struct opd_reader {
	struct opd_reader_child children[OPD_READERS];
	unsigned int patience; /* milliseconds: an answer is waited for */
	unsigned int limit; /* ... until a file is given up */
};

/* The result of reading a file. */
struct opd_read_file {
	struct op_build_id build_id; /* its length is 0: it has none */
	uint64_t mtime; /* seconds */
	int fd; /* the file, opened to read; the caller's. -1: none */
};

/* There are no processes before the first file. */
void opd_reader_init(struct opd_reader *reader, unsigned int patience,
		     unsigned int limit);

/* Does not wait for a process that is busy. */
void opd_reader_release(struct opd_reader *reader);

/* Whether the file of @key, which is not 0, has been given and not answered. */
bool opd_reader_has(const struct opd_reader *reader, uint64_t key);

/*
 * Have file @fd (O_PATH will do), or @path where that is -1, read for @key,
 * which is asked for with opd_reader_ask(). The caller closes @fd. Returns 0,
 * -EBUSY when all are busy, or -errno.
 */
int opd_reader_give(struct opd_reader *reader, uint64_t key, int fd,
		    const char *path);

/*
 * The answer for @key. Waits for it, but not longer than patience after it was
 * given. Returns 0, -EAGAIN when there is none yet, -ETIMEDOUT when it was
 * given up, or -ENOENT when @key was not given.
 */
int opd_reader_ask(struct opd_reader *reader, uint64_t key,
		   struct opd_read_file *out);

#endif /* DAEMON_SOURCE_OPD_READER_H */
