/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_NAMES_H
#define DAEMON_SOURCE_OPD_NAMES_H

/*
 * Facts that a source has about tasks beside their numbers: the names of
 * threads, the cgroup and mount namespace of each process, the link that a
 * program was run by, and which processes are the profiler's own. Each is in a
 * record of the stream, before the first sample that needs it and again when it
 * has changed.
 *
 * It comes from what the source is told of tasks (opd_names_named(),
 * opd_names_forked()), as it happens, and from /proc, where a task may have
 * ended before anybody looks. A child has the name and cgroup of its parent
 * until something else is known. What nobody can tell any more is told as not
 * known (a cgroup) or not at all (a name).
 *
 * The memory for tasks is bounded: those that were not used for longest make
 * room. They are read from /proc, and told, once more if they come again.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libop/session/op_stream_words.h"

/* The facts that are wanted, as a set. */
#define OPD_TELL_NAMES 1u
#define OPD_TELL_CGROUPS 2u /* and mount namespaces */
#define OPD_TELL_OWNERS 8u /* of processes; not by this part */
#define OPD_TELL_RUNS 4u /* links that programs were run by; own processes */

/* The processes of the profiler. A daemon that only replays a recording has
 * none: the recording says whose they were. */
struct opd_own_processes {
	pid_t daemon; /* and the processes that it makes; 0: none */
	pid_t starter; /* operf; 0: none */
};

#define OPD_NAMES_SETS 1024 /* a power of two */
#define OPD_NAMES_WAYS 8 /* tasks in each */
#define OPD_NAMES_LINKS 256 /* looked up, a power of two */

struct opd_named_task;
struct opd_named_link;

struct opd_names {
	const char *proc; /* the folder, "/proc"; borrowed; NULL: there is none,
			   * and only what is told is known */
	unsigned int tells; /* OPD_TELL_* */
	struct opd_own_processes own; /* set after opd_names_init() */
	bool anywhere; /* links are looked for in the folder of any program, not
			  only in those of the system, where no file system of
			  an ordinary user is mounted */
	struct opd_named_task *tasks; /* sets of ways; NULL: none yet */
	struct opd_named_link *links;
	uint64_t uses; /* of tasks; some 32 bits are used up in days */
	uint64_t own_mounts; /* our mount namespace; 0: not known yet */
	/* the last that opd_names_put() was asked for; valid if is_last */
	bool is_last;
	uint32_t last_tgid, last_tid;
	uint64_t last_app;
};

/* Nothing is known. */
void opd_names_init(struct opd_names *names, const char *proc,
		    unsigned int tells, bool anywhere);
void opd_names_release(struct opd_names *names);

/* Thread @tid of process @tgid is called @name now, after an exec if @by_exec.
 */
void opd_names_named(struct opd_names *names, uint32_t tgid, uint32_t tid,
		     const char *name, bool by_exec);

/* Thread @parent_tid of process @parent began @tid of @tgid, which may be the
 * same process. */
void opd_names_forked(struct opd_names *names, uint32_t tgid, uint32_t tid,
		      uint32_t parent, uint32_t parent_tid);

/* True if opd_names_put() was called for that task last, and nothing has
 * changed since. */
static inline bool opd_names_is_last(const struct opd_names *names,
				     uint32_t tgid, uint32_t tid, uint64_t app)
{
	return names->is_last && names->last_tid == tid &&
	       names->last_tgid == tgid && names->last_app == app;
}

/*
 * A sample of the task is next: add to @w what its reader does not know yet.
 * The process runs the program of the cookie @app, whose file is @path; NULL:
 * /proc is asked for it. Where a process has another @app than before, all is
 * looked up again.
 */
void opd_names_put(struct opd_names *names, uint32_t tgid, uint32_t tid,
		   uint64_t app, const char *path, struct op_stream_words *w);

/* The reader has forgotten names: tell all again before their next sample. */
void opd_names_repeat(struct opd_names *names);

/* Look in /proc whether known tasks have another name by now, and write the
 * new names to @w: for sources that get no records of names. */
void opd_names_reread(struct opd_names *names, struct op_stream_words *w);

/*
 * The path of the cgroup in @text, which is a file like /proc/PID/cgroup: that
 * of the unified hierarchy, or where it has nothing in it, that of systemd's or
 * the first of another controller. Returns it in @path of OP_PATH_MAX bytes;
 * false if there is none.
 */
bool opd_names_parse_cgroup(const char *text, char *path);

#endif /* DAEMON_SOURCE_OPD_NAMES_H */
