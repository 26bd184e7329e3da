// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of processes and threads, which the names of sample files do not have:
 * each session has a file of them (libop/session/op_tasks.h). A session without
 * one separated no threads, was imported, or was made by an earlier release;
 * its processes are called by the application that has most of their samples.
 */

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "libop/session/op_tasks.h"
#include "libpp/report/population.h"

static int read_session_tasks(struct pp_population *p,
			      const struct pp_side *side, const char *folder,
			      struct op_tasks *tasks)
{
	struct op_arena *arena = &p->report->arena;
	const char *path = op_arena_printf(arena, "%s/tasks", folder);
	struct op_diag why = { 0 };
	int err;

	if (!path)
		return -ENOMEM;
	err = pp_archive_check(side->archive, path);
	if (pp_archive_refusal(err))
		op_diag_set(&why, err, "%s: %s", path, pp_archive_refusal(err));
	err = err ?: op_tasks_read(tasks, path, &why);
	if (err == -ENOMEM)
		return err;
	if (err && err != -ENOENT)
		pp_message_of_error(&p->report->messages, err,
				    "%s; names of threads are missing",
				    *why.text ? why.text : path);
	return 0;
}

/* A copy without control bytes, which a terminal would obey; @fallback where
 * @name is NULL. */
static int copy_name(struct op_arena *arena, const char *name, const char **out)
{
	char *copy = name ? op_arena_strdup(arena, name) : NULL;

	*out = copy;
	if (name && !copy)
		return -ENOMEM;
	for (; copy && *copy; copy++)
		if (iscntrl((unsigned char)*copy))
			*copy = '?';
	return 0;
}

static int name_class(struct op_arena *arena, const struct op_tasks *tasks,
		      struct pp_class *class)
{
	const struct op_task *process;
	uint32_t tgid = (uint32_t) class->tgid, tid = (uint32_t) class->tid;
	int err = 0;

	if (class->tgid == OP_MANGLE_ALL)
		return 0;
	process = op_tasks_find(tasks, tgid, tgid);
	if (process) {
		class->mounts = process->mounts;
		err = copy_name(arena, *process->name ? process->name : NULL,
				&class->process);
	}
	if (!err && class->tid != OP_MANGLE_ALL)
		err = copy_name(arena, op_tasks_name_of(tasks, tgid, tid),
				&class->thread);
	return err;
}

/* The application with most of the samples of each class. */
static int find_owners(struct pp_population *p, struct pp_side *side)
{
	uint64_t *most = pp_new_counts(p, side);

	if (!most)
		return -ENOMEM;
	for (size_t i = 0; i < side->list.nr; i++) {
		const struct pp_sample_file *file = &side->list.files[i];
		struct pp_class *class = &side->classes.classes[file->class_nr];

		if (pp_is_call_graph(file) ||
		    (class->owner && file->total <= most[file->class_nr]))
			continue;
		most[file->class_nr] = file->total;
		class->owner = pp_base_name(file->app);
	}
	return 0;
}

static int read_tasks(struct pp_population *p, const struct pp_side *side,
		      struct op_tasks *tasks)
{
	int err = 0;

	for (size_t i = 0; i < side->list.sessions.nr && !err; i++)
		err = read_session_tasks(
			p, side, side->list.sessions.list[i].path, tasks);
	return err;
}

static int set_app_files(struct op_arena *arena, const struct op_tasks *tasks,
			 struct pp_sample_file *files, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const char *path = op_tasks_file_of(tasks, files[i].app);

		if (!path)
			continue;
		files[i].app_file = op_arena_strdup(arena, path);
		if (!files[i].app_file)
			return -ENOMEM;
	}
	return 0;
}

int pp_side_find_app_files(struct pp_population *p, struct pp_side *side)
{
	struct pp_sample_list *list = &side->list;
	struct op_arena *arena = &p->report->arena;
	struct op_tasks tasks = { 0 };
	int err = read_tasks(p, side, &tasks)
			  ?: set_app_files(arena, &tasks, list->files, list->nr) ?:
			     set_app_files(arena, &tasks, list->trees,
					   list->nr_trees);

	op_tasks_release(&tasks);
	return err;
}

int pp_side_name_roots(struct pp_population *p, struct pp_side *side,
		       struct pp_tree *tree)
{
	struct op_tasks tasks = { 0 };
	int err = read_tasks(p, side, &tasks);

	for (uint32_t i = 0; i < tree->nr_frames && !err; i++) {
		struct pp_frame *frame = &tree->frames[i];
		struct pp_class task = { .tgid = frame->tgid,
					 .tid = frame->tid };

		if (!frame->is_apart)
			continue;
		err = name_class(&p->report->arena, &tasks, &task);
		frame->process = task.process;
		frame->thread = task.thread;
	}
	op_tasks_release(&tasks);
	return err;
}

int pp_side_name_tasks(struct pp_population *p, struct pp_side *side)
{
	struct op_tasks tasks = { 0 };
	int err = find_owners(p, side) ?: read_tasks(p, side, &tasks);

	for (size_t i = 0; i < side->classes.nr && !err; i++)
		err = name_class(&p->report->arena, &tasks,
				 &side->classes.classes[i]);
	if (!err && tasks.nr_unnamed)
		pp_message(
			&p->report->messages, PP_WARNING,
			"%llu names of threads did not fit into the session; these threads are shown by number",
			(unsigned long long)tasks.nr_unnamed);
	op_tasks_release(&tasks);
	return err;
}
