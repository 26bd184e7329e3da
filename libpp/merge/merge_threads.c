// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps that do not depend on each other, done by several threads. The calling
 * thread is one of them, and the one that tells of progress. After an error no
 * step begins.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/merge/merge_work.h"

struct steps {
	struct merge_work *work;
	const char *what;
	size_t nr;
	size_t next; /* with the lock */
	size_t done; /* likewise */
	merge_step step;
};

struct stepping {
	struct steps *steps;
	unsigned int thread;
	pthread_t id;
};

int merge_fail(struct merge_work *work, int err, const struct op_diag *why)
{
	pthread_mutex_lock(&work->lock);
	if (!work->err) {
		work->err = err;
		work->why = *why;
	}
	pthread_mutex_unlock(&work->lock);
	return err;
}

void merge_leave_out(struct merge_work *work, struct merge_archive *archive,
		     int err, const struct op_diag *why)
{
	pthread_mutex_lock(&work->lock);
	work->merge->nr_left_out += !archive->is_left_out;
	archive->is_left_out = true;
	pp_message(&work->merge->messages, PP_WARNING, "%s: left out: %s",
		   archive->path, op_diag_text(why, err));
	pthread_mutex_unlock(&work->lock);
}

/* Whether there is a step to do, *@i. */
static bool take_step(struct steps *steps, size_t *i)
{
	bool is_left;

	pthread_mutex_lock(&steps->work->lock);
	*i = steps->next;
	is_left = steps->next < steps->nr && !steps->work->err;
	steps->next += is_left;
	pthread_mutex_unlock(&steps->work->lock);
	return is_left;
}

static void tell_of_steps(struct steps *steps)
{
	const struct pp_merge_request *request = steps->work->request;
	struct op_diag why = { 0 };
	size_t done;

	pthread_mutex_lock(&steps->work->lock);
	done = steps->done;
	pthread_mutex_unlock(&steps->work->lock);
	if (!request->progress ||
	    !request->progress(request->data, steps->what, done, steps->nr))
		return;
	op_diag_set(&why, -EINTR, "%s: ended early; nothing is kept",
		    request->folder);
	merge_fail(steps->work, -EINTR, &why);
}

static void *do_steps(void *arg)
{
	const struct stepping *stepping = arg;
	struct steps *steps = stepping->steps;
	struct op_diag why = { 0 };
	size_t i;
	int err;

	while (take_step(steps, &i)) {
		err = steps->step(steps->work, i, stepping->thread);
		if (err)
			merge_fail(steps->work, err, &why);
		pthread_mutex_lock(&steps->work->lock);
		steps->done++;
		pthread_mutex_unlock(&steps->work->lock);
		if (!stepping->thread)
			tell_of_steps(steps);
	}
	return NULL;
}

int merge_each(struct merge_work *work, const char *what, size_t nr,
	       merge_step step)
{
	struct steps steps = {
		.work = work, .what = what, .nr = nr, .step = step
	};
	unsigned int nr_threads = work->request->threads, started = 1;
	struct stepping *all = calloc(nr_threads, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (unsigned int i = 0; i < nr_threads; i++)
		all[i] = (struct stepping){ .steps = &steps, .thread = i };
	/* With fewer threads it takes longer. */
	while (started < nr_threads && started < nr &&
	       !pthread_create(&all[started].id, NULL, do_steps, &all[started]))
		started++;
	do_steps(&all[0]);
	for (unsigned int i = 1; i < started; i++)
		pthread_join(all[i].id, NULL);
	free(all);
	return work->err;
}
