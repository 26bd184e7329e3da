/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_TASKS_H
#define LIBOP_SESSION_OP_TASKS_H

/*
 * The names of the processes and threads of a session. Names of sample files
 * have the numbers alone; the names stand in samples/NAME/tasks, an op_config
 * file with the lines
 *
 *	name.TGID.TID = NAME
 *	mounts.TGID = the mount namespace of the process, its inode
 *	run.LINK = the file that programs ran by this link
 *	unnamed = names that found no room
 *
 * A thread has one name, the last one that was seen. In the file, control
 * bytes, '%', bytes over 0x7e, '=' and blanks at the ends are %XX.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libop/base/op_diag.h"
#include "libop/base/op_hash.h"

#define OP_TASK_NAME_MAX 64 /* bytes with the zero byte */
#define OP_TASKS_MAX 65536 /* threads that have names */

struct op_task {
	uint32_t tgid, tid;
	uint64_t mounts; /* of a process, where tid is tgid; 0 unknown */
	char name[OP_TASK_NAME_MAX]; /* empty: not known */
};

/* A program that was run by a link has the name of the link. */
struct op_task_link {
	char *link, *file; /* paths; owned */
};

#define OP_TASK_LINKS_MAX 4096

/* All zeros is an empty one. */
struct op_tasks {
	struct op_task *list;
	size_t nr;
	struct op_hash index; /* of list, by tgid and tid */
	uint64_t nr_unnamed; /* that found no room */
	struct op_task_link *links;
	size_t nr_links;
	bool changed; /* since all was read or written */
};

void op_tasks_release(struct op_tasks *tasks);

/* Move all but the links to the empty @out, which the caller releases. */
void op_tasks_take_names(struct op_tasks *tasks, struct op_tasks *out);

/*
 * Thread @tid of process @tgid is called @name, of which OP_TASK_NAME_MAX - 1
 * bytes are kept. Returns 0, -ENOMEM, or -ENOSPC when there are OP_TASKS_MAX,
 * which is counted.
 */
int op_tasks_name(struct op_tasks *tasks, uint32_t tgid, uint32_t tid,
		  const char *name);

/* Process @tgid is in the mount namespace @mounts, not 0. Returns as above. */
int op_tasks_mounts(struct op_tasks *tasks, uint32_t tgid, uint64_t mounts);

/* The link @link leads to @file, which has run by its name. Returns 0, -ENOMEM,
 * or -ENOSPC when there are OP_TASK_LINKS_MAX. */
int op_tasks_link(struct op_tasks *tasks, const char *link, const char *file);

/* The file that was run by @link; NULL if none is known. */
const char *op_tasks_file_of(const struct op_tasks *tasks, const char *link);

/* The record of a thread; NULL if there is none. Valid until the next change.
 */
const struct op_task *op_tasks_find(const struct op_tasks *tasks, uint32_t tgid,
				    uint32_t tid);

/* The name of a thread; NULL where none is known. */
const char *op_tasks_name_of(const struct op_tasks *tasks, uint32_t tgid,
			     uint32_t tid);

/*
 * Add what the file @path says. Returns 0; -ENOENT without one (no reason in
 * @diag); -errno with the reason, -EINVAL for a line that makes no sense.
 * Lines with other keys are passed over.
 */
int op_tasks_read(struct op_tasks *tasks, const char *path,
		  struct op_diag *diag);

/* Write all to @file. Returns 0, -ENOMEM, or -EINVAL for what cannot be
 * written; errors of the file are the caller's to find. */
int op_tasks_print(const struct op_tasks *tasks, FILE *file);

/* Replace @path in one step, mode 0644. Returns 0 or -errno with the reason. */
int op_tasks_write(struct op_tasks *tasks, const char *path,
		   struct op_diag *diag);

#endif /* LIBOP_SESSION_OP_TASKS_H */
