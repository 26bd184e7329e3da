/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_TASKS_H
#define DAEMON_OPD_TASKS_H

/*
 * Facts about processes and threads in the stream beside their numbers: names,
 * which go to the session's file of them (libop/session/op_tasks.h), the
 * cgroup, and the name that a program was run as. All of it is bounded: a
 * stream may make up processes without end, and what finds no room is not
 * known. Of processes those that had no samples for longest make room; a source
 * tells of them again.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_hash.h"
#include "libop/session/op_tasks.h"

struct op_log;
struct op_session;
struct opd_image;

#define OPD_MAX_PROCESSES 262144 /* in two generations */
#define OPD_TASK_GENERATION (OPD_MAX_PROCESSES / 2)
#define OPD_MAX_CGROUPS 65536
#define OPD_CGROUP_MAX 4096 /* bytes of a path with the zero byte */

/* The cgroup that nobody could tell. */
#define OPD_NO_CGROUP ""

/* The facts about one process. */
struct opd_task_process {
	uint32_t tgid;
	const char *cgroup; /* kept; NULL: unknown */
	uint64_t cookie; /* of the file that runs; OP_NO_COOKIE: unknown */
	struct opd_image *run_as; /* an image of that name */
};

struct opd_task_generation {
	struct opd_task_process *list;
	size_t nr;
	struct op_hash index; /* of the list, by tgid */
};

struct opd_tasks {
	const struct op_session *session; /* borrowed, like the log */
	struct op_log *log;
	bool keeps_names; /* of threads, in the file of names */
	struct op_tasks names;
	struct opd_task_generation processes;
	struct opd_task_generation older; /* and not looked for since */
	char **cgroups; /* each path once */
	const char *root; /* the first of them, "/" */
	size_t nr_cgroups;
	struct op_hash cgroup_index; /* of cgroups, by their text */
	bool full; /* it was said that there is no room */
};

/*
 * Nothing is known but what the session's file of names has already, where new
 * names of threads go if @keeps_names, and links always. A file of names that
 * cannot be read is said in the log, and replaced by the next one.
 */
void opd_tasks_init(struct opd_tasks *tasks, const struct op_session *session,
		    struct op_log *log, bool keeps_names);
void opd_tasks_release(struct opd_tasks *tasks);

/* Another stream begins: its processes are others. Names stay. */
void opd_tasks_forget(struct opd_tasks *tasks);

/* A thread has a name; a process is in a mount namespace, 0: not known. */
void opd_tasks_learn_name(struct opd_tasks *tasks, uint32_t tgid, uint32_t tid,
			  const char *name);
void opd_tasks_learn_mounts(struct opd_tasks *tasks, uint32_t tgid,
			    uint64_t mounts);

/*
 * Another span or session begins: move the names of threads and the mount
 * namespaces, of which the source will tell those that are needed again, to the
 * empty @old, which the caller releases with op_tasks_release(). Links stay.
 */
void opd_tasks_begin_anew(struct opd_tasks *tasks, struct op_tasks *old);

/* Thread @tid of process @tgid, and the process, are called as in @old. */
void opd_tasks_learn_old(struct opd_tasks *tasks, const struct op_tasks *old,
			 int64_t tgid, int64_t tid);

/* Process @tgid is in the cgroup @path, empty if nobody could tell. */
void opd_tasks_learn_cgroup(struct opd_tasks *tasks, uint32_t tgid,
			    const char *path);

/* A program that is the file @file was run by the link @link, in any process.
 */
void opd_tasks_learn_link(struct opd_tasks *tasks, const char *link,
			  const char *file);

/* Process @tgid runs the file of @cookie, by the name of the image @run_as. */
void opd_tasks_learn_run(struct opd_tasks *tasks, uint32_t tgid,
			 uint64_t cookie, struct opd_image *run_as);

/*
 * The cgroup of process @tgid, OPD_NO_CGROUP if it is not known; that of idle
 * CPUs (0) is the root. Each path is
 * there once, until opd_tasks_release(), so the same cgroup has the same
 * address.
 */
const char *opd_tasks_cgroup(struct opd_tasks *tasks, int64_t tgid);

/* By which name process @tgid runs the file of @cookie; NULL: its own. */
struct opd_image *opd_tasks_run_as(struct opd_tasks *tasks, int64_t tgid,
				   uint64_t cookie);

/*
 * Write the file of names into samples/current if there is something new, or if
 * @anew, which it is where that folder is another one now. What fails is said
 * in the log and tried again with the next call.
 */
void opd_tasks_write(struct opd_tasks *tasks, bool anew);

#endif /* DAEMON_OPD_TASKS_H */
