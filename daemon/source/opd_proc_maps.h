/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_PROC_MAPS_H
#define DAEMON_SOURCE_OPD_PROC_MAPS_H

/*
 * The mappings of a process, from /proc/PID/maps, and its memory. All of these
 * may be gone or change at any moment; a line that makes no sense is skipped.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "daemon/source/perf/opd_perf_image.h"
#include "libcfi/unwinder.h"

/* A line of maps, "START-END PERMS OFFSET MAJOR:MINOR INODE   NAME". */
struct opd_proc_line {
	struct unwinder_map map; /* without cookie and name */
	struct opd_perf_image_id id; /* its name holds until the next line */
	bool is_code;
	bool is_written; /* or may be */
};

/*
 * The maps of a process. A process that has called chroot(2) is told of in
 * names from the root of who reads; the kernel's records name the same files
 * from the root of the process, and so do the lines here.
 */
struct opd_proc_maps {
	FILE *file; /* or NULL */
	char root[OP_PATH_MAX];
	char *text;
	size_t room;
};

/* Open those of process @tgid in the folder @proc; where they cannot be read
 * there are no lines. */
void opd_proc_maps_open(struct opd_proc_maps *maps, const char *proc,
			uint32_t tgid);
void opd_proc_maps_close(struct opd_proc_maps *maps);

/* The next line, and the next one with code. Return false at the end. */
bool opd_proc_maps_next(struct opd_proc_maps *maps, struct opd_proc_line *line);
bool opd_proc_maps_next_code(struct opd_proc_maps *maps,
			     struct opd_proc_line *line);

/* @name as the process sees it. */
const char *opd_proc_in_root(const struct opd_proc_maps *maps,
			     const char *name);

/* Whether @name is that of memory without a file, "[heap]" or "//anon". */
bool opd_proc_is_anon(const char *name);

/* Where link @name of process @tgid leads; "" unknown. */
void opd_proc_read_link(const char *proc, uint32_t tgid, const char *name,
			char to[OP_PATH_MAX]);

/* A mapping of a file, next to memory without one. */
struct opd_proc_side {
	struct unwinder_map map; /* .end 0: there is none */
	struct opd_perf_image_id id; /* its name is the next member */
	char name[OP_PATH_MAX];
};

/*
 * Find the anonymous memory of process @tgid that holds @addr, and the mappings
 * of files, of code or not, that come before and after it. Returns false if a
 * file is mapped there, or nothing.
 */
bool opd_proc_find_sides(const char *proc, uint32_t tgid, uint64_t addr,
			 struct unwinder_map *memory,
			 struct opd_proc_side sides[2]);

/* Open the memory of process @tgid: a descriptor or -errno. */
int opd_proc_open_memory(const char *proc, uint32_t tgid);

#endif /* DAEMON_SOURCE_OPD_PROC_MAPS_H */
