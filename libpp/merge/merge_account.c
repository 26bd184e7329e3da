// SPDX-License-Identifier: GPL-2.0-or-later
/* The account of several sessions, and the links that their programs were run
 * by. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libop/session/op_ledger.h"
#include "libop/session/op_tasks.h"
#include "libpp/merge/merge_run.h"
#include "libpp/messages.h"

static int finish_text(struct run *run, FILE *file, const char *path, int err)
{
	if (!err && ferror(file))
		err = -EIO;
	if (fclose(file) && !err)
		err = -errno;
	return err ? op_diag_set(run->why, err, "%s: cannot be written: %s",
				 path, strerror(-err))
		   : 0;
}

/* The account was written when the last of them was. */
static int write_account(struct run *run, const char *to, struct op_ledger *sum,
			 const struct timespec *last)
{
	const struct timespec times[2] = { *last, *last };
	char *path = op_arena_printf(&run->arena, "%s/ledger", to);
	FILE *file = path ? fopen(path, "wxe") : NULL;
	int err;

	if (!file)
		return op_diag_set(run->why, path ? -errno : -ENOMEM,
				   "%s/ledger: cannot be written: %s", to,
				   strerror(path ? errno : ENOMEM));
	op_ledger_sort(sum);
	err = finish_text(run, file, path, op_ledger_print(sum, file));
	if (!err && utimensat(AT_FDCWD, path, times, 0))
		err = -errno;
	return err;
}

/* A sum that has no label of the machine does not name it otherwise. */
static void drop_machine(const struct pp_merge_request *request,
			 struct op_run *run)
{
	if (!merge_keeps(request, OP_LABEL_HOST))
		*run->host = *run->user = '\0';
	if (!merge_keeps(request, OP_LABEL_KERNEL))
		*run->kernel = '\0';
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec ||
	       (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

/* Without the account of one of them nobody knows that of all. */
int merge_sum_accounts(struct run *run, const char *to)
{
	struct op_ledger *sum = op_arena_alloc(&run->arena, 2, sizeof(*sum));
	struct timespec last = { 0 };
	struct op_diag why = { 0 };
	int err = sum ? 0 : -ENOMEM;

	for (size_t i = 0; i < run->nr_sources && !err; i++) {
		const struct merge_item *item = run->sources[i].item;
		char *path =
			op_arena_printf(&run->arena, "%s/ledger", item->path);
		struct stat st;

		if (!path)
			return -ENOMEM;
		err = op_ledger_read(&sum[1], path, &why)
			      ?: op_ledger_sum(sum, &sum[1]);
		if (err == -ENOENT || err == -ENOSPC)
			return 0;
		if (err)
			return merge_is_damaged(
				run, &run->sources[i],
				pp_is_fault(err) ? err : -EBADMSG, path);
		if (stat(path, &st))
			return merge_is_damaged(run, &run->sources[i], -errno,
						path);
		if (is_later(&st.st_mtim, &last))
			last = st.st_mtim;
	}
	drop_machine(run->work->request, &sum->run);
	return err ? err : write_account(run, to, sum, &last);
}

static int compare_links(const void *a, const void *b)
{
	const struct op_task_link *x = a, *y = b;

	return strcmp(x->link, y->link) ?: strcmp(x->file, y->file);
}

/* Write the links by which programs were started. A link that leads to another
 * program on each machine is written once, with the first target by name. */
static int write_links(struct run *run, const char *to, struct op_tasks *tasks)
{
	char *path = op_arena_printf(&run->arena, "%s/tasks", to);
	struct op_tasks links = { 0 };
	FILE *file;
	int err = path ? 0 : -ENOMEM;

	qsort(tasks->links, tasks->nr_links, sizeof(*tasks->links),
	      compare_links);
	for (size_t i = 0; i < tasks->nr_links && !err; i++)
		if (!i ||
		    strcmp(tasks->links[i].link, tasks->links[i - 1].link))
			err = op_tasks_link(&links, tasks->links[i].link,
					    tasks->links[i].file);
	file = err ? NULL : fopen(path, "wxe");
	if (file) {
		err = finish_text(run, file, path,
				  op_tasks_print(&links, file));
	} else {
		err = err ?: -errno;
		op_diag_set(run->why, err, "%s/tasks: cannot be written: %s",
			    to, strerror(-err));
	}
	op_tasks_release(&links);
	return err;
}

int merge_sum_links(struct run *run, const char *to)
{
	struct op_tasks sum = { 0 }, one;
	struct op_diag why = { 0 };
	int err = 0;

	for (size_t i = 0; i < run->nr_sources && !err; i++) {
		struct run_source *source = &run->sources[i];
		char *path = op_arena_printf(&run->arena, "%s/tasks",
					     source->item->path);

		one = (struct op_tasks){ 0 };
		err = path ? op_tasks_read(&one, path, &why) : -ENOMEM;
		if (err == -ENOENT)
			err = 0;
		else if (err)
			err = merge_is_damaged(run, source, err, path);
		for (size_t k = 0; k < one.nr_links && !err; k++)
			err = op_tasks_link(&sum, one.links[k].link,
					    one.links[k].file);
		/* As many as one session may have are enough. */
		if (err == -ENOSPC)
			err = 0;
		op_tasks_release(&one);
	}
	if (!err && sum.nr_links)
		err = write_links(run, to, &sum);
	op_tasks_release(&sum);
	return err;
}
