/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_EXECS_H
#define DAEMON_SOURCE_PERF_OPD_PERF_EXECS_H

/*
 * The files of programs that are executed anywhere on this machine, as
 * fanotify(7) hands them over: also those that were deleted before anybody
 * could open their path. Only root gets any.
 */

#include <stdint.h>

struct opd_perf_files;

struct opd_perf_execs {
	int fd; /* of fanotify, -1: not to be had */
	int mounts_fd; /* tells that mounts have changed */
	uint64_t nr_files; /* that were handed over */
	uint64_t nr_overflows; /* of the kernel's queue */
};

/* Begin, if this user may. Returns 0, or -errno when there will be no files. */
int opd_perf_execs_open(struct opd_perf_execs *execs);
void opd_perf_execs_close(struct opd_perf_execs *execs);

/* Put what has come since the last call into @files. */
void opd_perf_execs_read(struct opd_perf_execs *execs,
			 struct opd_perf_files *files);

/* Take in file systems that were mounted since the last call. */
void opd_perf_execs_read_mounts(struct opd_perf_execs *execs);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_EXECS_H */
