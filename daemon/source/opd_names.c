// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tasks are in sets of OPD_NAMES_WAYS by their number; in a full set the one
 * that was not used for longest makes room. What is known of a process is in
 * the entry of its first thread.
 *
 * /proc is read when a sample needs it and not before, since most tasks have
 * none. Only those files of it are read that the kernel makes of its own memory
 * (comm, cgroup, the link exe): cmdline and environ are in the memory of the
 * process, where a page may never come.
 *
 * A program knows by which name it was run only in its own memory, too. But the
 * kernel calls it by the last part of that name. If that differs from the last
 * part of the file's, and there is a link of that name to the file, in the
 * folder of the file or in one where shells look, then that is it. A script is
 * called by its own name, which is no link to its interpreter.
 */

#include "daemon/source/opd_names.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libop/files/op_deleted.h"
#include "libop/files/op_file.h"
#include "libop/base/op_hash.h"
#include "libop/session/op_sample_file.h"
#include "libop/session/op_tasks.h"

#define COMM_LEN 15 /* that the kernel keeps of the name of a program */
#define CGROUP_FILE_MAX 65536
#define MAX_LINKS 8 /* one behind the other */

struct opd_named_task {
	uint32_t tgid, tid;
	uint64_t used; /* the last time; 0: free */
	bool has_name, is_told; /* its name */
	bool is_forked_of_own; /* the daemon, or a child of it, made it */
	char name[OP_TASK_NAME_MAX];
	/* of a process, in its first thread */
	bool knows_process; /* what follows was told for app */
	uint64_t app;
	char exec_name[COMM_LEN + 1]; /* empty: not seen */
	char *cgroup; /* NULL: not known */
	uint64_t mounts; /* 0: not known */
};

struct opd_named_link {
	char *name; /* and a newline, and the path of the file */
	char *link; /* NULL: there is none */
};

void opd_names_init(struct opd_names *names, const char *proc,
		    unsigned int tells, bool anywhere)
{
	memset(names, 0, sizeof(*names));
	names->proc = proc;
	names->tells = tells;
	names->anywhere = anywhere;
}

void opd_names_release(struct opd_names *names)
{
	for (size_t i = 0; names->tasks && i < OPD_NAMES_SETS * OPD_NAMES_WAYS;
	     i++)
		free(names->tasks[i].cgroup);
	for (size_t i = 0; names->links && i < OPD_NAMES_LINKS; i++) {
		free(names->links[i].name);
		free(names->links[i].link);
	}
	free(names->tasks);
	free(names->links);
	names->tasks = NULL;
	names->links = NULL;
	names->is_last = false;
}

/* ---- tasks -----------------------------------------------------------------
 */

static struct opd_named_task *set_of(struct opd_names *names, uint32_t tid)
{
	if (!names->tasks)
		names->tasks = calloc((size_t)OPD_NAMES_SETS * OPD_NAMES_WAYS,
				      sizeof(names->tasks[0]));
	if (!names->tasks)
		return NULL;
	return names->tasks + (size_t)(tid % OPD_NAMES_SETS) * OPD_NAMES_WAYS;
}

static struct opd_named_task *find_named(struct opd_names *names, uint32_t tgid,
					 uint32_t tid)
{
	struct opd_named_task *task = set_of(names, tid);

	for (int i = 0; task && i < OPD_NAMES_WAYS; i++, task++) {
		if (!task->used || task->tgid != tgid || task->tid != tid)
			continue;
		task->used = ++names->uses;
		return task;
	}
	return NULL;
}

/* A new entry, in place of the oldest of its set. */
static struct opd_named_task *make_named(struct opd_names *names, uint32_t tgid,
					 uint32_t tid)
{
	struct opd_named_task *set = set_of(names, tid), *oldest = set;

	if (!set)
		return NULL;
	for (int i = 1; i < OPD_NAMES_WAYS; i++)
		if (set[i].used < oldest->used)
			oldest = &set[i];
	free(oldest->cgroup);
	*oldest = (struct opd_named_task){ .tgid = tgid,
					   .tid = tid,
					   .used = ++names->uses };
	return oldest;
}

static struct opd_named_task *get_named(struct opd_names *names, uint32_t tgid,
					uint32_t tid)
{
	return find_named(names, tgid, tid) ?: make_named(names, tgid, tid);
}

static void set_task_name(struct opd_named_task *task, const char *name)
{
	bool same = task->has_name &&
		    !strncmp(task->name, name, sizeof(task->name) - 1);

	task->has_name = *name != '\0';
	task->is_told &= same;
	if (!same)
		snprintf(task->name, sizeof(task->name), "%s", name);
}

/* ---- /proc -----------------------------------------------------------------
 */

/* A file of process @tgid as text without its last newline, the caller's to
 * free; NULL if it cannot be read. */
static char *read_of_process(const struct opd_names *names, uint32_t tgid,
			     const char *name)
{
	char path[128], *text = NULL;
	size_t len = 0;

	if (!names->proc)
		return NULL;
	snprintf(path, sizeof(path), "%s/%" PRIu32 "/%s", names->proc, tgid,
		 name);
	if (op_file_read(path, CGROUP_FILE_MAX, &text, &len, NULL))
		return NULL;
	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	return text;
}

/* The file of its program in @path, of OP_PATH_MAX bytes; false if it cannot be
 * told. */
static bool read_program(const struct opd_names *names, uint32_t tgid,
			 char *path)
{
	char link[128];
	ssize_t len;

	if (!names->proc)
		return false;
	snprintf(link, sizeof(link), "%s/%" PRIu32 "/exe", names->proc, tgid);
	len = readlink(link, path, OP_PATH_MAX - 1);
	path[len > 0 ? len : 0] = '\0';
	return len > 0;
}

static void read_comm(const struct opd_names *names,
		      struct opd_named_task *task)
{
	char file[64], *text;

	snprintf(file, sizeof(file), "task/%" PRIu32 "/comm", task->tid);
	text = read_of_process(names, task->tgid, file);
	if (text)
		set_task_name(task, text);
	free(text);
}

/* The inode of a mount namespace, 0 if it cannot be told. */
static uint64_t read_mounts(const struct opd_names *names, const char *process)
{
	struct stat st;
	char path[128];

	if (!names->proc)
		return 0;
	snprintf(path, sizeof(path), "%s/%s/ns/mnt", names->proc, process);
	return stat(path, &st) ? 0 : (uint64_t)st.st_ino;
}

/* The path in a line "NUMBER:CONTROLLERS:PATH", of which @len bytes; NULL for
 * what is none. */
static const char *cgroup_path_in(const char *line, size_t len,
				  size_t *path_len)
{
	const char *first = memchr(line, ':', len), *second;

	second =
		first ? memchr(first + 1, ':', len - (size_t)(first + 1 - line))
		      : NULL;
	if (!second || second[1] != '/')
		return NULL;
	second++;
	*path_len = op_deleted_at(second, len - (size_t)(second - line));
	return *path_len < OP_PATH_MAX ? second : NULL;
}

/* How much the hierarchy of a line tells of where a process is. */
static int rank_of_hierarchy(const char *line, size_t path_len)
{
	if (path_len == 1)
		return 1; /* nothing was put into it */
	if (!strncmp(line, "0::", 3))
		return 4;
	return strstr(line, ":name=systemd:/") == strchr(line, ':') ? 3 : 2;
}

bool opd_names_parse_cgroup(const char *text, char *path)
{
	int best = 0;

	while (*text) {
		size_t len = strcspn(text, "\n"), path_len;
		const char *found = cgroup_path_in(text, len, &path_len);
		int rank = found ? rank_of_hierarchy(text, path_len) : 0;

		if (rank > best) {
			best = rank;
			memcpy(path, found, path_len);
			path[path_len] = '\0';
		}
		text += len + (text[len] == '\n');
	}
	return best > 0;
}

/* Read the cgroup of a process. If /proc cannot be read, the cgroup that was
 * inherited stays. */
static void read_cgroup(const struct opd_names *names,
			struct opd_named_task *process)
{
	char *text = read_of_process(names, process->tgid, "cgroup");
	char path[OP_PATH_MAX], number[16];
	char *copy;
	uint64_t mounts;

	if (text && opd_names_parse_cgroup(text, path)) {
		copy = strdup(path);
		if (copy) {
			free(process->cgroup);
			process->cgroup = copy;
		}
	}
	free(text);
	snprintf(number, sizeof(number), "%" PRIu32, process->tgid);
	mounts = read_mounts(names, number);
	if (mounts)
		process->mounts = mounts;
}

/* ---- links -----------------------------------------------------------------
 */

static const char *const system_folders[] = {
	"/usr/local/sbin", "/usr/local/bin", "/usr/sbin",
	"/usr/bin",	   "/sbin",	     "/bin"
};

#define NR_FOLDERS (sizeof(system_folders) / sizeof(system_folders[0]))

/* The file that the link @path leads to is in place of the link; false if it is
 * none. Only names are looked at, and ".." is not resolved. */
static bool follow_link(char *path)
{
	char target[OP_PATH_MAX];
	ssize_t len = readlink(path, target, sizeof(target) - 1);
	size_t folder = (size_t)(strrchr(path, '/') + 1 - path);

	if (len <= 0)
		return false;
	target[len] = '\0';
	if (*target == '/')
		folder = 0;
	if (folder + (size_t)len >= OP_PATH_MAX)
		return false;
	memcpy(path + folder, target, (size_t)len + 1);
	return true;
}

/* Whether @folder/@name is a link, or one to another, to the file @path. */
static bool leads_to(const char *folder, size_t folder_len, const char *name,
		     const char *path, char *link)
{
	char at[OP_PATH_MAX];
	int len = snprintf(link, OP_PATH_MAX, "%.*s/%s", (int)folder_len,
			   folder, name);
	char *real;
	bool is_it = false;

	if (len < 0 || len >= OP_PATH_MAX)
		return false;
	memcpy(at, link, (size_t)len + 1);
	for (int i = 0; i < MAX_LINKS && !is_it && follow_link(at); i++)
		is_it = !strcmp(at, path);
	if (is_it || !strcmp(at, link))
		return is_it;
	/* By way of a folder that is a link. */
	real = realpath(link, NULL);
	is_it = real && !strcmp(real, path);
	free(real);
	return is_it;
}

static char *find_link(const struct opd_names *names, const char *name,
		       const char *path)
{
	size_t folder_len = (size_t)(strrchr(path, '/') - path);
	char link[OP_PATH_MAX];

	if (names->anywhere && leads_to(path, folder_len, name, path, link))
		return strdup(link);
	for (size_t i = 0; i < NR_FOLDERS; i++)
		if (leads_to(system_folders[i], strlen(system_folders[i]), name,
			     path, link))
			return strdup(link);
	return NULL;
}

/* The link @name to the file @path, NULL if there is none; looked up once as
 * long as its place is not needed. */
static const char *look_up_link(struct opd_names *names, const char *name,
				const char *path)
{
	struct opd_named_link *link;
	char *key;

	if (!names->links)
		names->links = calloc(OPD_NAMES_LINKS, sizeof(names->links[0]));
	if (!names->links || asprintf(&key, "%s\n%s", name, path) < 0)
		return NULL;
	link = &names->links[op_hash_text(0, key) % OPD_NAMES_LINKS];
	if (link->name && !strcmp(link->name, key)) {
		free(key);
		return link->link;
	}
	free(link->name);
	free(link->link);
	link->name = key;
	link->link = find_link(names, name, path);
	return link->link;
}

/* By which link @process runs the file @path; NULL: by its own name, or nobody
 * can tell. */
static const char *run_as(struct opd_names *names,
			  struct opd_named_task *process, const char *path)
{
	const char *name =
		*process->exec_name ? process->exec_name : process->name;
	const char *slash = path ? strrchr(path, '/') : NULL;
	char number[16];
	uint64_t mounts;

	if (!slash || !*name || strchr(name, '/') ||
	    !strncmp(name, slash + 1, COMM_LEN) || strlen(name) >= COMM_LEN)
		return NULL;
	/* In another mount namespace the same paths are other files. */
	if (!names->own_mounts)
		names->own_mounts = read_mounts(names, "self");
	snprintf(number, sizeof(number), "%" PRIu32, process->tgid);
	mounts = read_mounts(names, number);
	if (!mounts)
		mounts = process->mounts;
	if (mounts && mounts != names->own_mounts)
		return NULL;
	return look_up_link(names, name, path);
}

/* ---- the profiler's own processes -------------------------------------------
 */

/* A child that has ended is the daemon's until the daemon reaps it. Its number
 * cannot be another process's before. */
static bool is_child_of_ours(const struct opd_names *names, uint32_t tgid)
{
	siginfo_t info;

	return names->own.daemon == getpid() && tgid &&
	       !waitid(P_PID, tgid, &info, WEXITED | WNOHANG | WNOWAIT);
}

static bool is_of_daemon(const struct opd_names *names,
			 const struct opd_named_task *process)
{
	return names->own.daemon &&
	       (process->tgid == (uint32_t)names->own.daemon ||
		process->is_forked_of_own);
}

static bool is_own_process(const struct opd_names *names,
			   const struct opd_named_task *process)
{
	return is_of_daemon(names, process) ||
	       (names->own.starter &&
		process->tgid == (uint32_t)names->own.starter) ||
	       is_child_of_ours(names, process->tgid);
}

/* ---- what happens ----------------------------------------------------------
 */

void opd_names_named(struct opd_names *names, uint32_t tgid, uint32_t tid,
		     const char *name, bool by_exec)
{
	struct opd_named_task *task;

	if (!names->tells)
		return;
	task = get_named(names, tgid, tid);
	if (!task)
		return;
	names->is_last = false;
	set_task_name(task, name);
	if (!by_exec)
		return;
	task->knows_process = false;
	snprintf(task->exec_name, sizeof(task->exec_name), "%.*s", COMM_LEN,
		 name);
}

/* Give @child what is known of its parent. */
static void inherit_process(struct opd_names *names,
			    struct opd_named_task *child, uint32_t parent)
{
	struct opd_named_task *from = get_named(names, parent, parent);
	char *cgroup;

	if (!from)
		return;
	if (names->tells & OPD_TELL_CGROUPS && !from->cgroup)
		read_cgroup(names, from);
	cgroup = from->cgroup ? strdup(from->cgroup) : NULL;
	free(child->cgroup);
	child->cgroup = cgroup;
	child->mounts = from->mounts;
	child->is_forked_of_own = is_of_daemon(names, from);
	memcpy(child->exec_name, from->exec_name, sizeof(from->exec_name));
}

void opd_names_forked(struct opd_names *names, uint32_t tgid, uint32_t tid,
		      uint32_t parent, uint32_t parent_tid)
{
	struct opd_named_task *child, *from;
	char name[OP_TASK_NAME_MAX] = "";

	if (!names->tells)
		return;
	names->is_last = false;
	from = get_named(names, parent, parent_tid);
	if (from && !from->has_name)
		read_comm(names, from);
	if (from)
		memcpy(name, from->name, sizeof(name));
	/* A number that is used again is another task. */
	child = find_named(names, tgid, tid);
	if (child)
		child->used = 0;
	child = make_named(names, tgid, tid);
	if (!child)
		return;
	set_task_name(child, name);
	if (tgid != parent)
		inherit_process(names, child, parent);
}

/* ---- telling ---------------------------------------------------------------
 */

static void put_task_name(struct opd_names *names, struct opd_named_task *task,
			  struct op_stream_words *w)
{
	if (task->is_told)
		return;
	if (!task->has_name)
		read_comm(names, task);
	if (task->has_name)
		op_stream_put_task_name(w, task->tgid, task->tid, task->name);
	task->is_told = true;
}

static void put_process(struct opd_names *names, struct opd_named_task *process,
			uint64_t app, const char *path,
			struct op_stream_words *w)
{
	char exe[OP_PATH_MAX];
	const char *by;

	process->knows_process = true;
	process->app = app;
	if (names->tells & OPD_TELL_CGROUPS) {
		read_cgroup(names, process);
		op_stream_put_task_cgroup(w, process->tgid, process->mounts,
					  process->cgroup ? process->cgroup
							  : "");
	}
	if (!(names->tells & OPD_TELL_RUNS) || !app)
		return;
	if (is_own_process(names, process)) {
		op_stream_put_task_run_as(w, process->tgid, app, OP_SELF_NAME);
		return;
	}
	if (!process->has_name)
		read_comm(names, process);
	if (!path && read_program(names, process->tgid, exe))
		path = exe;
	by = run_as(names, process, path);
	if (by)
		op_stream_put_task_run_as(w, process->tgid, app, by);
}

void opd_names_put(struct opd_names *names, uint32_t tgid, uint32_t tid,
		   uint64_t app, const char *path, struct op_stream_words *w)
{
	struct opd_named_task *process, *task;

	if (!names->tells || opd_names_is_last(names, tgid, tid, app))
		return;
	names->is_last = true;
	names->last_tgid = tgid;
	names->last_tid = tid;
	names->last_app = app;
	process = get_named(names, tgid, tgid);
	if (!process)
		return;
	/* Another program: names that were only read may have changed. */
	if (process->knows_process && process->app != app) {
		process->knows_process = false;
		if (!*process->exec_name)
			process->has_name = process->is_told = false;
	}
	if (!process->knows_process)
		put_process(names, process, app, path, w);
	if (!(names->tells & OPD_TELL_NAMES))
		return;
	put_task_name(names, process, w);
	task = tid == tgid ? process : get_named(names, tgid, tid);
	if (task && task != process)
		put_task_name(names, task, w);
}

void opd_names_repeat(struct opd_names *names)
{
	names->is_last = false;
	for (size_t i = 0; names->tasks && i < OPD_NAMES_SETS * OPD_NAMES_WAYS;
	     i++)
		names->tasks[i].is_told = names->tasks[i].knows_process = false;
}

void opd_names_reread(struct opd_names *names, struct op_stream_words *w)
{
	if (!names->tasks || !(names->tells & OPD_TELL_NAMES))
		return;
	for (size_t i = 0; i < OPD_NAMES_SETS * OPD_NAMES_WAYS; i++) {
		struct opd_named_task *task = &names->tasks[i];

		if (!task->used || !task->is_told)
			continue;
		read_comm(names, task);
		if (task->has_name && !task->is_told)
			put_task_name(names, task, w);
	}
}
