/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_UNTRUSTED_OPD_KNOWN_FILES_H
#define DAEMON_SOURCE_UNTRUSTED_OPD_KNOWN_FILES_H

/*
 * The build-ids, with fingerprints, of files that were read before. A file is
 * known by its inode and the times of its last changes, so one that changes is
 * another file. The kernel sets these times by a clock with ticks of up to 10
 * ms: a file that changed just now may change again within the same tick, and
 * is not known yet. Nor is a file of FUSE or of a server, whose times are those
 * of somebody else.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_hash.h"

#define OPD_KNOWN_FILES_MAX 16384 /* beyond that all are forgotten */

struct op_build_id;

struct opd_file_key {
	uint64_t dev, ino, size; /* bytes */
	uint64_t mtime, ctime; /* ns */
};

struct opd_known_files {
	struct op_hash index;
	struct opd_known_file *files;
	size_t nr;
	uint64_t (*now)(void); /* CLOCK_REALTIME in ns but for tests */
};

void opd_known_files_init(struct opd_known_files *known);
void opd_known_files_release(struct opd_known_files *known);

/* *@key = that of the file @fd, to be taken before the file is read. False if
 * the file cannot be known. */
bool opd_known_files_key(const struct opd_known_files *known, int fd,
			 struct opd_file_key *key);

/* Whether the file of @key is known; then *@id is its build-id. */
bool opd_known_files_find(const struct opd_known_files *known,
			  const struct opd_file_key *key,
			  struct op_build_id *id);

/* Without memory it stays unknown. */
void opd_known_files_add(struct opd_known_files *known,
			 const struct opd_file_key *key,
			 const struct op_build_id *id);

#endif /* DAEMON_SOURCE_UNTRUSTED_OPD_KNOWN_FILES_H */
