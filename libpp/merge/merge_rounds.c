// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rounds of adding up. In each, neighbours of one set of labels are taken
 * together, as many as the memory allows, and become one. The set of which all
 * can be taken together is done, and its sum is put where it belongs.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "libop/base/op_array.h"
#include "libop/files/op_remove.h"
#include "libpp/merge/merge_work.h"

/* Each takes two open files. */
#define ITEMS_MAX 64
#define FILES_OF_OTHERS 64

/* Items that are added up together. */
struct merge_batch {
	size_t first, nr;
	const char *to;
	bool is_last; /* all of their set */
	bool is_empty; /* none was left */
	uint64_t memory;
};

struct round {
	struct merge_work *work;
	struct merge_batch *batches; /* op_array.h */
	size_t nr_batches;
	size_t items_max;
	uint64_t memory; /* for one batch */
	bool is_first;
};

static int compare_item_sets(const void *a, const void *b)
{
	const struct merge_item *x = a, *y = b;

	return (x->set > y->set) - (x->set < y->set)
		       ?: strcmp(x->path, y->path);
}

/* ---- what to take together ----------------------------------------------- */

/* Threads share the descriptors and the memory. */
static void set_limits(struct round *round)
{
	unsigned int threads = round->work->request->threads;
	struct rlimit files = { .rlim_cur = 1024 };
	size_t nr;

	getrlimit(RLIMIT_NOFILE, &files);
	nr = files.rlim_cur > FILES_OF_OTHERS
		     ? (size_t)((files.rlim_cur - FILES_OF_OTHERS) / 2 /
				threads)
		     : 0;
	round->items_max = nr > ITEMS_MAX ? ITEMS_MAX : nr < 2 ? 2 : nr;
	round->memory = round->work->request->memory / threads;
}

/* How many items from @first on are one batch. Two of them are always: else
 * there would be no end. */
static size_t size_of_batch(const struct round *round, size_t first)
{
	const struct merge_item *items = round->work->items + first;
	size_t left = round->work->nr_items - first, nr = 1;
	uint64_t memory = items->memory;

	while (nr < left && nr < round->items_max &&
	       items[nr].set == items->set) {
		memory += items[nr].memory;
		if (memory > round->memory && (nr >= 2 || round->is_first))
			break;
		nr++;
	}
	return nr;
}

static const char *place_of_set(struct merge_work *work, uint32_t set)
{
	return op_arena_printf(&work->merge->arena,
			       "%s/" MERGE_SESSION "/samples/%s",
			       work->folder.path, work->sets[set].name);
}

static const char *place_of_run(struct merge_work *work)
{
	return op_arena_printf(&work->merge->arena, "%s/run-%zu", work->scratch,
			       ++work->nr_runs);
}

static int plan_batches(struct round *round)
{
	struct merge_work *work = round->work;
	size_t next, nr;

	for (size_t i = 0; i < work->nr_items; i = next) {
		struct merge_batch *batch;
		bool is_begin =
			!i || work->items[i - 1].set != work->items[i].set;

		nr = size_of_batch(round, i);
		next = i + nr;
		if (op_array_reserve(&round->batches, round->nr_batches, 1))
			return -ENOMEM;
		batch = &round->batches[round->nr_batches++];
		*batch = (struct merge_batch){ .first = i, .nr = nr };
		batch->is_last = is_begin &&
				 (next == work->nr_items ||
				  work->items[next].set != work->items[i].set);
		batch->to = batch->is_last
				    ? place_of_set(work, work->items[i].set)
				    : place_of_run(work);
		if (!batch->to)
			return -ENOMEM;
	}
	return 0;
}

/* ---- a round ------------------------------------------------------------- */

static int write_labels_of_set(struct merge_work *work,
			       const struct merge_batch *batch,
			       struct op_diag *why)
{
	const struct merge_set *set =
		&work->sets[work->items[batch->first].set];
	char *path;
	int err;

	pthread_mutex_lock(&work->lock);
	path = op_arena_printf(&work->merge->arena, "%s/" OP_LABELS_FILE,
			       batch->to);
	pthread_mutex_unlock(&work->lock);
	err = path ? 0 : -ENOMEM;
	if (!err && set->labels.nr)
		err = op_labels_write(&set->labels, path, why);
	return err;
}

/* Remove the sums of an earlier round among @items, which are not needed any
 * more. */
static void remove_runs(struct merge_item *items, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!items[i].archive)
			op_remove_tree(items[i].path);
}

static int add_up_batch(struct merge_work *work, size_t i, unsigned int thread)
{
	struct round *round = work->round;
	struct merge_batch *batch = &round->batches[i];
	struct merge_item *items = work->items + batch->first;
	struct op_diag why = { 0 };
	int err;

	/* A sum that stands alone in this round waits for the next. */
	if (batch->nr == 1 && !items->archive) {
		batch->to = items->path;
		batch->memory = items->memory;
		return 0;
	}
	err = merge_run(work, items, batch->nr, batch->to, thread,
			batch->is_last ? NULL : &batch->memory, &why);
	batch->is_empty = err == -ENODATA;
	if (batch->is_empty)
		return 0;
	if (!err && batch->is_last)
		err = write_labels_of_set(work, batch, &why);
	if (err)
		return merge_fail(work, err, &why);
	remove_runs(items, batch->nr);
	return 0;
}

/* The sums that are not the last of their set are the items of the next round.
 */
static void take_sums(struct round *round)
{
	struct merge_work *work = round->work;
	size_t kept = 0;

	for (size_t i = 0; i < round->nr_batches; i++) {
		const struct merge_batch *batch = &round->batches[i];
		struct merge_item sum = {
			.path = batch->to,
			.set = work->items[batch->first].set,
			.memory = batch->memory,
		};

		work->merge->nr_sessions += batch->is_last && !batch->is_empty;
		if (!batch->is_last && !batch->is_empty)
			work->items[kept++] = sum;
	}
	work->nr_items = kept;
}

static int add_up_round(struct round *round)
{
	struct merge_work *work = round->work;
	int err;

	qsort(work->items, work->nr_items, sizeof(*work->items),
	      compare_item_sets);
	err = plan_batches(round)
		      ?: merge_each(work, round->is_first ? "sessions" : "sums",
				    round->nr_batches, add_up_batch);
	if (!err)
		take_sums(round);
	free(round->batches);
	round->batches = NULL;
	round->nr_batches = 0;
	return err;
}

int merge_add_up(struct merge_work *work)
{
	struct round round = { .work = work, .is_first = true };
	int err = 0;

	set_limits(&round);
	work->round = &round;
	while (work->nr_items && !err) {
		err = add_up_round(&round);
		round.is_first = false;
	}
	work->round = NULL;
	return err;
}
