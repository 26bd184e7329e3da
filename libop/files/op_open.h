/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_OPEN_H
#define LIBOP_FILES_OP_OPEN_H

/*
 * Files that others named: a path may lead anywhere, to a device that does
 * something when it is opened, too.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Let the process have as many open files as it may: events of each CPU and
 * thread need some, and so do the sessions of an archive.
 */
void op_open_raise_limit(void);

/* Close all descriptors but @nr of them, which get into ascending order; -1
 * among them is none. For a child. */
void op_close_others(int *kept, size_t nr);

/* Open @path to read if it is a regular file. A descriptor, or -1 with errno:
 * EINVAL when it is none. */
int op_open_regular(const char *path);

/*
 * The same of @name below the folder @root, where nothing may be a symbolic
 * link, or lead upwards: for names that the kernel tells of files which are
 * mapped. These have no links, and whoever may write to the folder may have put
 * one in the place of the file.
 */
int op_open_without_links(const char *root, const char *name);

/*
 * Find @name, which begins with a slash or not, below the folder @root. Links
 * are followed as far as they stay below @root; where the kernel has no
 * openat2(2), or forbids it, none is followed. A descriptor of O_PATH, or -1
 * with errno: EXDEV when a link leads out.
 */
int op_find_beneath(const char *root, const char *name);

/* The same, and open it to read if it is a regular file; else EINVAL. */
int op_open_beneath(const char *root, const char *name);

/*
 * The same as op_open_without_links() in the root of process @tgid, which may
 * be another. A process may mount what it likes there, and give its file any
 * time; so root finds nothing there unless it @has_build_id to know the file
 * by, which the caller compares.
 */
int op_open_in_root(uint32_t tgid, const char *name, bool has_build_id);

/*
 * Open the file @at, of which O_PATH is enough, to read if it is a regular one.
 * A new descriptor, or -1 as above; @at stays the caller's.
 */
int op_reopen_regular(int at);

/*
 * Open the file that process @tgid has mapped from @start to @end, which may
 * have no path any more. A descriptor or -1; only root may.
 */
int op_open_mapped(uint32_t tgid, uint64_t start, uint64_t end);

/* The party that answers requests for a file. */
enum op_holder {
	OP_KERNEL_HAS,
	OP_PROGRAM_HAS, /* FUSE: any user's, which may never answer */
	OP_NETWORK_HAS, /* a server, which may be gone */
};

/* The holder of the open file @fd; OP_KERNEL_HAS if it cannot be found out. */
enum op_holder op_who_has(int fd);

#endif /* LIBOP_FILES_OP_OPEN_H */
