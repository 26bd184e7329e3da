/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_FOLDERS_H
#define DAEMON_SOURCE_PERF_OPD_PERF_FOLDERS_H

/*
 * The programs in the folders where an ordinary user keeps programs of their
 * own, such as those that a build makes, runs and deletes. They are opened
 * before they run, because opening them takes longer than some of them live.
 *
 * A folder is looked at from the first program on that is run from it and for
 * OPD_PERF_FOLDERS_IDLE seconds after the last one. Until then its programs
 * stay open, so a file system that it is on cannot be unmounted.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPD_PERF_FOLDERS_MAX 32
#define OPD_PERF_FOLDERS_IDLE 10 /* calls of opd_perf_folders_expire() */

struct opd_perf_folder {
	char *path; /* NULL: this place is free */
	int watch; /* of inotify */
	uint64_t dev;
	uint64_t ino;
	unsigned int idle; /* seconds since a program was run from it */
};

struct opd_perf_program {
	int fd;
	unsigned int folder; /* its number */
	char *name; /* in that folder; it may have another one by now */
	uint64_t dev;
	uint64_t ino;
	unsigned int gone; /* seconds since it was seen deleted */
};

struct opd_perf_folders {
	int fd; /* of inotify; -1: no folder is looked at */
	struct opd_perf_folder folder[OPD_PERF_FOLDERS_MAX];
	struct opd_perf_program *program; /* op_array.h; oldest first */
	size_t nr;
	size_t max; /* so many are held at once */
};

/* Look at no folder, and never do. */
void opd_perf_folders_init(struct opd_perf_folders *folders);

/*
 * From now on look at those that are named. Returns 0, or -errno when none will
 * be: where too few files may be open, or inotify has no instance left.
 */
int opd_perf_folders_open(struct opd_perf_folders *folders);
void opd_perf_folders_close(struct opd_perf_folders *folders);

/*
 * A program was run by @path, which is absolute. If this user may write into
 * its folder, the user's own programs there are opened.
 */
void opd_perf_folders_add(struct opd_perf_folders *folders, const char *path);

/* Take in what has changed. Returns whether there are new programs. */
bool opd_perf_folders_read(struct opd_perf_folders *folders);

/*
 * A new descriptor of a program that had @path, which may be of another build
 * than the one that is looked for; -1 when there are no more. Begin with *@at
 * 0, which leads on to the next one. The newest come first.
 */
int opd_perf_folders_find(const struct opd_perf_folders *folders,
			  const char *path, size_t *at);

/* A second has passed. */
void opd_perf_folders_expire(struct opd_perf_folders *folders);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_FOLDERS_H */
