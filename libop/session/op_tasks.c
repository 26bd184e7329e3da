// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of threads: an array in the order in which they came, with a hash table
 * of the places in it. A process and its first thread have the same numbers and
 * share an entry, which has the mount namespace as well.
 *
 * Any program may choose the name of its threads, so names are written with
 * escapes, and the number of them is bounded. What found no room is counted in
 * the file, so that a report can tell why a name is missing.
 */

#include "libop/session/op_tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/files/op_config.h"
#include "libop/base/op_escape.h"

#define NAME "name."
#define MOUNTS "mounts."
#define UNNAMED "unnamed"
#define RUN "run."
#define PATH_MAX_BYTES 4096

void op_tasks_release(struct op_tasks *tasks)
{
	for (size_t i = 0; i < tasks->nr_links; i++) {
		free(tasks->links[i].link);
		free(tasks->links[i].file);
	}
	free(tasks->links);
	free(tasks->list);
	op_hash_release(&tasks->index);
	memset(tasks, 0, sizeof(*tasks));
}

void op_tasks_take_names(struct op_tasks *tasks, struct op_tasks *out)
{
	*out = *tasks;
	out->links = NULL;
	out->nr_links = 0;
	*tasks = (struct op_tasks){ .links = tasks->links,
				    .nr_links = tasks->nr_links,
				    .changed = true };
}

static uint64_t hash_task(const struct op_tasks *tasks, uint32_t tgid,
			  uint32_t tid)
{
	return op_hash_mix(tasks->index.seed, (uint64_t)tgid << 32 | tid);
}

static struct op_task *find_task(const struct op_tasks *tasks, uint32_t tgid,
				 uint32_t tid)
{
	uint64_t hash = hash_task(tasks, tgid, tid);
	uint32_t number;

	op_hash_each(&tasks->index, hash, number) {
		struct op_task *task = &tasks->list[number - 1];

		if (task->tgid == tgid && task->tid == tid)
			return task;
	}
	return NULL;
}

/* *@out = the entry of a thread, made where there is none. */
static int get_task(struct op_tasks *tasks, uint32_t tgid, uint32_t tid,
		    struct op_task **out)
{
	*out = find_task(tasks, tgid, tid);
	if (*out)
		return 0;
	if (tasks->nr == OP_TASKS_MAX) {
		tasks->nr_unnamed++;
		tasks->changed = true;
		return -ENOSPC;
	}
	if (op_hash_reserve(&tasks->index, tasks->nr + 1) ||
	    op_array_reserve(&tasks->list, tasks->nr, 1))
		return -ENOMEM;
	*out = &tasks->list[tasks->nr++];
	**out = (struct op_task){ .tgid = tgid, .tid = tid };
	op_hash_add(&tasks->index, hash_task(tasks, tgid, tid),
		    (uint32_t)tasks->nr);
	return 0;
}

int op_tasks_name(struct op_tasks *tasks, uint32_t tgid, uint32_t tid,
		  const char *name)
{
	struct op_task *task;
	int err = get_task(tasks, tgid, tid, &task);

	if (err || !strncmp(task->name, name, sizeof(task->name) - 1))
		return err;
	snprintf(task->name, sizeof(task->name), "%s", name);
	tasks->changed = true;
	return 0;
}

int op_tasks_mounts(struct op_tasks *tasks, uint32_t tgid, uint64_t mounts)
{
	struct op_task *task;
	int err = get_task(tasks, tgid, tgid, &task);

	if (err || task->mounts == mounts)
		return err;
	task->mounts = mounts;
	tasks->changed = true;
	return 0;
}

int op_tasks_link(struct op_tasks *tasks, const char *link, const char *file)
{
	const char *known = op_tasks_file_of(tasks, link);
	struct op_task_link new;

	if (known && !strcmp(known, file))
		return 0;
	if (tasks->nr_links == OP_TASK_LINKS_MAX)
		return -ENOSPC;
	if (op_array_reserve(&tasks->links, tasks->nr_links, 1))
		return -ENOMEM;
	new = (struct op_task_link){ strdup(link), strdup(file) };
	if (!new.link || !new.file) {
		free(new.link);
		free(new.file);
		return -ENOMEM;
	}
	tasks->links[tasks->nr_links++] = new;
	tasks->changed = true;
	return 0;
}

/* The last that was told: a link may lead elsewhere later. */
const char *op_tasks_file_of(const struct op_tasks *tasks, const char *link)
{
	for (size_t i = tasks->nr_links; i-- > 0;)
		if (!strcmp(tasks->links[i].link, link))
			return tasks->links[i].file;
	return NULL;
}

const struct op_task *op_tasks_find(const struct op_tasks *tasks, uint32_t tgid,
				    uint32_t tid)
{
	return find_task(tasks, tgid, tid);
}

const char *op_tasks_name_of(const struct op_tasks *tasks, uint32_t tgid,
			     uint32_t tid)
{
	const struct op_task *task = find_task(tasks, tgid, tid);

	return task && *task->name ? task->name : NULL;
}

/* ---- the file ------------------------------------------------------------ */

static bool parse_task_id(const char *text, size_t len, uint32_t *out)
{
	char copy[16];
	uint64_t number;

	if (!len || len >= sizeof(copy))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	if (op_parse_u64(copy, &number) || number > INT32_MAX)
		return false;
	*out = (uint32_t)number;
	return true;
}

/* False for what is empty, not escaped right, or has no room in @size bytes. */
static bool unescape_task_text(const char *text, char *name, size_t size)
{
	const char *end = text + strlen(text);
	size_t len = 0;

	while (text < end) {
		int c = op_unescape_byte(&text, end);

		if (c < 0 || len == size - 1)
			return false;
		name[len++] = (char)c;
	}
	name[len] = '\0';
	return len > 0;
}

/* Returns 0, -EINVAL, -ENOMEM; what finds no room is counted. */
static int read_task_name(struct op_tasks *tasks, const char *ids,
			  const char *value)
{
	size_t len = strcspn(ids, ".");
	char name[OP_TASK_NAME_MAX];
	uint32_t tgid, tid;
	int err;

	if (ids[len] != '.' || !parse_task_id(ids, len, &tgid) ||
	    !parse_task_id(ids + len + 1, strlen(ids + len + 1), &tid) ||
	    !unescape_task_text(value, name, sizeof(name)))
		return -EINVAL;
	err = op_tasks_name(tasks, tgid, tid, name);
	return err == -ENOSPC ? 0 : err;
}

static int read_task_mounts(struct op_tasks *tasks, const char *id,
			    const char *value)
{
	uint64_t mounts;
	uint32_t tgid;
	int err;

	if (!parse_task_id(id, strlen(id), &tgid) ||
	    op_parse_u64(value, &mounts) || !mounts)
		return -EINVAL;
	err = op_tasks_mounts(tasks, tgid, mounts);
	return err == -ENOSPC ? 0 : err;
}

static int read_task_link(struct op_tasks *tasks, const char *key,
			  const char *value)
{
	char link[PATH_MAX_BYTES], file[PATH_MAX_BYTES];
	int err;

	if (!unescape_task_text(key, link, sizeof(link)) ||
	    !unescape_task_text(value, file, sizeof(file)))
		return -EINVAL;
	err = op_tasks_link(tasks, link, file);
	return err == -ENOSPC ? 0 : err;
}

static int read_task_line(struct op_tasks *tasks, const char *key,
			  const char *value)
{
	uint64_t nr;

	if (!strncmp(key, NAME, strlen(NAME)))
		return read_task_name(tasks, key + strlen(NAME), value);
	if (!strncmp(key, MOUNTS, strlen(MOUNTS)))
		return read_task_mounts(tasks, key + strlen(MOUNTS), value);
	if (!strncmp(key, RUN, strlen(RUN)))
		return read_task_link(tasks, key + strlen(RUN), value);
	if (strcmp(key, UNNAMED) != 0)
		return 0;
	if (op_parse_u64(value, &nr))
		return -EINVAL;
	if (__builtin_add_overflow(tasks->nr_unnamed, nr, &tasks->nr_unnamed))
		tasks->nr_unnamed = UINT64_MAX;
	return 0;
}

int op_tasks_read(struct op_tasks *tasks, const char *path,
		  struct op_diag *diag)
{
	const char *key, *value;
	struct op_config *config;
	bool changed = tasks->changed || tasks->nr || tasks->nr_links;
	int err = op_config_read(&config, path, diag);

	if (err)
		return err;
	for (unsigned int i = 0; !err && !op_config_at(config, i, &key, &value);
	     i++) {
		err = read_task_line(tasks, key, value);
		if (err == -EINVAL)
			op_diag_set(diag, err, "%s: %s = %s: is invalid", path,
				    key, value);
		else if (err)
			op_diag_set(diag, err, "%s: %s", path, strerror(-err));
	}
	op_config_free(config);
	tasks->changed = changed;
	return err;
}

static void escape_task_text(const char *name, char *out)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];
		bool at_end = i == 0 || i == len - 1;

		out += op_escape_byte(out, c,
				      op_escape_needed(c) || c == '=' ||
					      (at_end && c == ' '));
	}
	*out = '\0';
}

static int write_task(struct op_config *config, const struct op_task *task)
{
	char key[64], value[OP_TASK_NAME_MAX * OP_ESCAPE_LEN];
	int err = 0;

	if (*task->name) {
		snprintf(key, sizeof(key), NAME "%" PRIu32 ".%" PRIu32,
			 task->tgid, task->tid);
		escape_task_text(task->name, value);
		err = op_config_add(config, key, value);
	}
	if (err || !task->mounts)
		return err;
	snprintf(key, sizeof(key), MOUNTS "%" PRIu32, task->tgid);
	snprintf(value, sizeof(value), "%" PRIu64, task->mounts);
	return op_config_add(config, key, value);
}

static int write_task_link(struct op_config *config,
			   const struct op_task_link *link)
{
	char key[sizeof(RUN) + PATH_MAX_BYTES * OP_ESCAPE_LEN] = RUN;
	char value[PATH_MAX_BYTES * OP_ESCAPE_LEN];

	if (strlen(link->link) >= PATH_MAX_BYTES ||
	    strlen(link->file) >= PATH_MAX_BYTES)
		return -ENAMETOOLONG;
	escape_task_text(link->link, key + strlen(RUN));
	escape_task_text(link->file, value);
	return op_config_add(config, key, value);
}

static int fill_tasks(const struct op_tasks *tasks, struct op_config *config)
{
	int err = 0;

	for (size_t i = 0; !err && i < tasks->nr; i++)
		err = write_task(config, &tasks->list[i]);
	for (size_t i = 0; !err && i < tasks->nr_links; i++)
		err = write_task_link(config, &tasks->links[i]);
	if (!err && tasks->nr_unnamed)
		err = op_config_set_u64(config, UNNAMED, tasks->nr_unnamed);
	return err;
}

int op_tasks_print(const struct op_tasks *tasks, FILE *file)
{
	struct op_config *config = op_config_new();
	int err = config ? fill_tasks(tasks, config) : -ENOMEM;

	if (!err)
		op_config_print(config, file);
	op_config_free(config);
	return err;
}

int op_tasks_write(struct op_tasks *tasks, const char *path,
		   struct op_diag *diag)
{
	struct op_config *config = op_config_new();
	int err = config ? fill_tasks(tasks, config) : -ENOMEM;

	if (err)
		op_diag_set(diag, err, "%s: cannot write: %s", path,
			    strerror(-err));
	else
		err = op_config_write(config, path, 0644, diag);
	op_config_free(config);
	if (!err)
		tasks->changed = false;
	return err;
}
