// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Processes are an array with a hash table of the places in it, by tgid. A
 * process whose number is used again takes the place of the one before it,
 * because its records come before its samples. There are two such arrays: when
 * the present one is full it becomes the older one, which is dropped, and what
 * is looked for and found there moves to the present one. Paths of cgroups are
 * kept until the end: sample files that are open, and samples that wait for the
 * name of an image, refer to them.
 *
 * The file of names is written with the ledger. A daemon that is killed leaves
 * the one before, which lacks the newest names and nothing else.
 */

#include "daemon/opd_tasks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_log.h"
#include "libop/session/op_session.h"
#include "module/uapi/oprofile.h"

static const char no_cgroup[] = OPD_NO_CGROUP;

/* ---- the file of names -----------------------------------------------------
 */

static void tasks_path(const struct opd_tasks *tasks, char *path, size_t len)
{
	snprintf(path, len, "%s/tasks", tasks->session->current);
}

void opd_tasks_write(struct opd_tasks *tasks, bool anew)
{
	char path[sizeof(tasks->session->current) + 16];
	struct op_diag diag = { "" };
	int err;

	if (!(tasks->names.nr || tasks->names.nr_links) ||
	    !(anew || tasks->names.changed))
		return;
	tasks->names.changed = true;
	tasks_path(tasks, path, sizeof(path));
	err = op_tasks_write(&tasks->names, path, &diag);
	if (err)
		op_log(tasks->log, "%s: reports will lack names of threads",
		       op_diag_text(&diag, err));
}

/* ---- life ------------------------------------------------------------------
 */

static void generation_release(struct opd_task_generation *generation)
{
	free(generation->list);
	op_hash_release(&generation->index);
	memset(generation, 0, sizeof(*generation));
}

void opd_tasks_forget(struct opd_tasks *tasks)
{
	generation_release(&tasks->processes);
	generation_release(&tasks->older);
}

void opd_tasks_release(struct opd_tasks *tasks)
{
	opd_tasks_forget(tasks);
	for (size_t i = 0; i < tasks->nr_cgroups; i++)
		free(tasks->cgroups[i]);
	free(tasks->cgroups);
	op_hash_release(&tasks->cgroup_index);
	op_tasks_release(&tasks->names);
	memset(tasks, 0, sizeof(*tasks));
}

static void say_full(struct opd_tasks *tasks, const char *what)
{
	if (!tasks->full)
		op_log(tasks->log, "too many %s: further ones are not recorded",
		       what);
	tasks->full = true;
}

/* ---- names -----------------------------------------------------------------
 */

void opd_tasks_learn_name(struct opd_tasks *tasks, uint32_t tgid, uint32_t tid,
			  const char *name)
{
	if (tasks->keeps_names &&
	    op_tasks_name(&tasks->names, tgid, tid, name) == -ENOSPC)
		say_full(tasks, "names of threads");
}

void opd_tasks_learn_mounts(struct opd_tasks *tasks, uint32_t tgid,
			    uint64_t mounts)
{
	if (tasks->keeps_names && mounts)
		(void)op_tasks_mounts(&tasks->names, tgid, mounts);
}

void opd_tasks_begin_anew(struct opd_tasks *tasks, struct op_tasks *old)
{
	op_tasks_take_names(&tasks->names, old);
}

static void learn_old_name(struct opd_tasks *tasks, const struct op_task *task)
{
	if (task && *task->name)
		opd_tasks_learn_name(tasks, task->tgid, task->tid, task->name);
}

void opd_tasks_learn_old(struct opd_tasks *tasks, const struct op_tasks *old,
			 int64_t tgid, int64_t tid)
{
	const struct op_task *process;

	/* An unknown id, which is negative, is no number of a task. */
	process = op_tasks_find(old, (uint32_t)tgid, (uint32_t)tgid);
	if (process)
		opd_tasks_learn_mounts(tasks, process->tgid, process->mounts);
	learn_old_name(tasks, process);
	learn_old_name(tasks,
		       op_tasks_find(old, (uint32_t)tgid, (uint32_t)tid));
}

void opd_tasks_learn_link(struct opd_tasks *tasks, const char *link,
			  const char *file)
{
	if (op_tasks_link(&tasks->names, link, file) == -ENOSPC)
		say_full(tasks, "links to programs");
}

/* ---- processes -------------------------------------------------------------
 */

static struct opd_task_process *
generation_find(const struct opd_task_generation *generation, int64_t tgid)
{
	uint64_t hash;
	uint32_t number;

	if (!generation->nr) /* as without separate cgroups */
		return NULL;
	hash = op_hash_mix(generation->index.seed, (uint64_t)tgid);
	op_hash_each(&generation->index, hash, number)
		if (generation->list[number - 1].tgid == tgid)
			return &generation->list[number - 1];
	return NULL;
}

static struct opd_task_process *add_process(struct opd_tasks *tasks,
					    const struct opd_task_process *from)
{
	struct opd_task_generation *now = &tasks->processes;

	if (now->nr == OPD_TASK_GENERATION) {
		generation_release(&tasks->older);
		tasks->older = *now;
		memset(now, 0, sizeof(*now));
	}
	if (op_hash_reserve(&now->index, now->nr + 1) ||
	    op_array_reserve(&now->list, now->nr, 1))
		return NULL;
	now->list[now->nr++] = *from;
	op_hash_add(&now->index, op_hash_mix(now->index.seed, from->tgid),
		    (uint32_t)now->nr);
	return &now->list[now->nr - 1];
}

static struct opd_task_process *find_older_process(struct opd_tasks *tasks,
						   int64_t tgid)
{
	const struct opd_task_process *process =
		generation_find(&tasks->older, tgid);
	struct opd_task_process copy;

	if (!process)
		return NULL;
	copy = *process; /* to add one may drop those */
	return add_process(tasks, &copy);
}

static struct opd_task_process *find_process(struct opd_tasks *tasks,
					     int64_t tgid)
{
	struct opd_task_process *process =
		generation_find(&tasks->processes, tgid);

	if (process || !tasks->older.nr)
		return process;
	return find_older_process(tasks, tgid);
}

static struct opd_task_process *get_process(struct opd_tasks *tasks,
					    uint32_t tgid)
{
	const struct opd_task_process none = { .tgid = tgid };

	return find_process(tasks, tgid) ?: add_process(tasks, &none);
}

/* The kept copy of @path; that of no cgroup where there is no room. */
static const char *keep_cgroup(struct opd_tasks *tasks, const char *path)
{
	uint64_t hash;
	uint32_t number;

	if (!*path)
		return no_cgroup;
	if (op_hash_reserve(&tasks->cgroup_index, tasks->nr_cgroups + 1) ||
	    op_array_reserve(&tasks->cgroups, tasks->nr_cgroups, 1))
		return no_cgroup;
	hash = op_hash_text(tasks->cgroup_index.seed, path);
	op_hash_each(&tasks->cgroup_index, hash, number)
		if (!strcmp(tasks->cgroups[number - 1], path))
			return tasks->cgroups[number - 1];
	if (tasks->nr_cgroups == OPD_MAX_CGROUPS) {
		say_full(tasks, "cgroups");
		return no_cgroup;
	}
	tasks->cgroups[tasks->nr_cgroups] = strdup(path);
	if (!tasks->cgroups[tasks->nr_cgroups])
		return no_cgroup;
	op_hash_add(&tasks->cgroup_index, hash, (uint32_t)++tasks->nr_cgroups);
	return tasks->cgroups[tasks->nr_cgroups - 1];
}

void opd_tasks_init(struct opd_tasks *tasks, const struct op_session *session,
		    struct op_log *log, bool keeps_names)
{
	char path[sizeof(session->current) + 16];
	struct op_diag diag = { "" };
	int err;

	memset(tasks, 0, sizeof(*tasks));
	tasks->session = session;
	tasks->log = log;
	tasks->keeps_names = keeps_names;
	tasks->root = keep_cgroup(tasks, "/");
	tasks_path(tasks, path, sizeof(path));
	err = op_tasks_read(&tasks->names, path, &diag);
	if (err && err != -ENOENT)
		op_log(log, "%s; it is replaced", op_diag_text(&diag, err));
}

void opd_tasks_learn_cgroup(struct opd_tasks *tasks, uint32_t tgid,
			    const char *path)
{
	struct opd_task_process *process = get_process(tasks, tgid);

	if (process)
		process->cgroup = keep_cgroup(tasks, path);
}

void opd_tasks_learn_run(struct opd_tasks *tasks, uint32_t tgid,
			 uint64_t cookie, struct opd_image *run_as)
{
	struct opd_task_process *process = get_process(tasks, tgid);

	if (!process)
		return;
	process->cookie = cookie;
	process->run_as = run_as;
}

const char *opd_tasks_cgroup(struct opd_tasks *tasks, int64_t tgid)
{
	const struct opd_task_process *process = find_process(tasks, tgid);

	if (tgid == 0 && !process)
		return tasks->root;
	return process && process->cgroup ? process->cgroup : no_cgroup;
}

struct opd_image *opd_tasks_run_as(struct opd_tasks *tasks, int64_t tgid,
				   uint64_t cookie)
{
	const struct opd_task_process *process = find_process(tasks, tgid);

	if (!process || cookie == OP_NO_COOKIE || process->cookie != cookie)
		return NULL;
	return process->run_as;
}
