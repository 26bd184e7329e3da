/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_FILES_H
#define DAEMON_SOURCE_PERF_OPD_PERF_FILES_H

/*
 * Files of images that were seen just now, held open because a file may be
 * deleted before its first sample is looked at. Each is held until the reader
 * of the stream takes it, or for a second or two, and no more than
 * OPD_PERF_FILES_MAX of them; fewer, or none, where few files may be open.
 */

#include <stddef.h>
#include <stdint.h>

#include "libop/image/op_build_id.h"

#define OPD_PERF_FILES_MAX 128

struct opd_perf_file {
	int fd;
	uint64_t dev;
	uint64_t ino;
	struct op_build_id build_id; /* .len 0: it has none */
	unsigned int age; /* calls of opd_perf_files_expire() */
};

struct opd_untrusted;

struct opd_perf_files {
	struct opd_perf_file file[OPD_PERF_FILES_MAX]; /* oldest first */
	size_t nr;
	size_t max; /* so many are held at once */
	struct opd_untrusted *untrusted; /* reads them; NULL: we do. Borrowed */
};

/* Hold none; by the limit of open files it is known how many there may be. */
void opd_perf_files_init(struct opd_perf_files *files);
void opd_perf_files_release(struct opd_perf_files *files);

/* Hold @fd, which is taken over, of which the build-id @id is known, or NULL:
 * it is read. Where as many are held as may be the oldest is closed. */
void opd_perf_files_add(struct opd_perf_files *files, int fd,
			const struct op_build_id *id);

/*
 * The file with @build_id or, where its length is 0, with inode @ino; of
 * several with one build-id the one that has the path @name or had it until it
 * was deleted, or any if that is NULL. The first function returns a descriptor
 * of the caller's own and holds the file on, the second one ends that. -1 when
 * there is none.
 */
int opd_perf_files_open(const struct opd_perf_files *files,
			const struct op_build_id *build_id, uint64_t ino,
			const char *name);
int opd_perf_files_take(struct opd_perf_files *files,
			const struct op_build_id *build_id, uint64_t ino);

/* A second has passed. */
void opd_perf_files_expire(struct opd_perf_files *files);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_FILES_H */
