// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The upkeep of spans does the following, in this order:
 *
 *	sweep	What does not count is removed: spans that others contain, sums
 *		that were not completed. What cannot be removed is left out of
 *		sums and accounts, but its bytes are within the bound.
 *	pack	The sample files of spans that have loose ones are packed.
 *	sum	Spans of a grain that have reached its age, and are in
 *		one of the next grain that is all that old, are written
 *		as one: as .making-BEGIN-END, which a single rename
 *		makes a span that counts. It contains the others, so
 *		they do not count from that instant. Spans in one grain
 *		of the finest level are put together as soon as they
 *		end: a daemon that starts and stops makes shorter ones.
 *	drop	The oldest spans go while they are older than the last grain is
 *		kept, or there are more bytes than allowed. Their
 *		account is added to that of all that went before, in a
 *		new folder .dropped-BEGIN-END: one rename makes that
 *		the account, and takes the spans out of the count.
 *
 * A span is removed by renaming it to .making-BEGIN-END first, so that a part
 * of one never counts. Renames are made with the lock of the folder alone
 * (opd_packer.c): a reader finds all spans as they were when it began.
 *
 * The bound holds at every instant: spans take OPD_HISTORY_RESERVE parts less
 * than allowed when this is done. One part is for what is counted meanwhile,
 * one for the span that comes next, one for its pack, or for the sum of spans,
 * which is no larger than they are.
 *
 * Of spans that are damaged no sum is made: they stay as they are, reports say
 * what is wrong with them, and they are removed in their time.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/store/opd_history.h"
#include "daemon/store/opd_packer.h"
#include "daemon/store/opd_store.h"
#include "libop/base/op_clock.h"
#include "libop/session/op_ledger.h"
#include "libop/base/op_log.h"
#include "libop/files/op_remove.h"
#include "libop/session/op_session.h"
#include "libop/session/op_span.h"
#include "libop/session/op_tasks.h"
#include "libop/files/op_walk.h"

/* Spans that are put together at once: each is an open folder. */
#define MAX_PARTS 64
/* Bytes of the account of dropped spans, with its folder. */
#define DROPPED_BYTES 16384

struct tending {
	struct opd_store *store;
	const char *dir; /* the session folder */
	unsigned int wait_ms;
	struct op_diag *diag; /* of the first error */
	int err;
	uint64_t bytes; /* of all spans, if they were measured */
};

/* Parts of a span that is their sum. */
struct parts {
	const struct op_span *spans; /* consecutive */
	size_t nr;
	char paths[MAX_PARTS][PATH_MAX];
	const char *from[MAX_PARTS];
};

static void tending_failed(struct tending *t, int err, const char *what,
			   const struct op_diag *why)
{
	if (t->err)
		return;
	t->err = err;
	if (why && why->text[0])
		*t->diag = *why;
	else
		op_diag_set(t->diag, err, "%s: %s", what, strerror(-err));
}

static int span_path(const struct tending *t, const struct op_span *span,
		     char *path)
{
	char name[OP_SPAN_NAME_MAX];
	int len;

	op_span_name(span, name);
	len = snprintf(path, PATH_MAX, "%s/%s", t->dir, name);
	return len < 0 || len >= PATH_MAX ? -ENAMETOOLONG : 0;
}

/* Rename @span to what it is with state @to. */
static int rename_span(const struct tending *t, const struct op_span *span,
		       enum op_span_state to)
{
	struct op_span renamed = *span;
	char old[PATH_MAX], new[PATH_MAX];
	int err, lock;

	renamed.state = to;
	err = span_path(t, span, old) ?: span_path(t, &renamed, new);
	if (err)
		return err;
	lock = opd_packer_lock(t->dir, t->wait_ms);
	if (lock < 0)
		return lock;
	/* On the disk before what follows from it. */
	err = rename(old, new) || fsync(lock) ? -errno : 0;
	close(lock);
	return err;
}

static int remove_made(const struct tending *t, const struct op_span *span)
{
	struct op_span made = *span;
	char path[PATH_MAX];
	int err;

	made.state = OP_SPAN_MAKING;
	err = span_path(t, &made, path) ?: op_remove_tree(path);
	return err == -ENOENT ? 0 : err;
}

static int remove_span(const struct tending *t, const struct op_span *span)
{
	int err = remove_made(t, span);

	if (!err && span->state != OP_SPAN_MAKING)
		err = rename_span(t, span, OP_SPAN_MAKING)
			      ?: remove_made(t, span);
	return err;
}

/* ---- sweep, pack ------------------------------------------------------------
 */

static void sweep_spans(struct tending *t, const struct op_span *spans,
			size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		int err = 0;

		if (spans[i].is_replaced || spans[i].state == OP_SPAN_MAKING)
			err = remove_span(t, &spans[i]);
		if (err)
			tending_failed(t, err, t->dir, NULL);
	}
}

static void pack_span(struct tending *t, const struct op_span *span)
{
	struct opd_packer_size size;
	struct op_diag why = { "" };
	struct opd_packer packer;
	char path[PATH_MAX];
	int err = span_path(t, span, path) ?: opd_packer_size(path, &size);

	if (!err && !size.loose)
		return;
	if (!err)
		err = opd_packer_begin(&packer, path, false, t->wait_ms, &why);
	if (!err) {
		err = opd_packer_write(t->store, &packer, &why)
			      ?: opd_packer_commit(&packer, t->wait_ms, &why)
			      ?: opd_packer_tidy(path, &why);
		opd_packer_cancel(&packer);
	}
	/* All is packed, but a packer that was killed has left its folder. */
	if (err == -ENODATA)
		err = opd_packer_tidy(path, &why);
	if (err)
		tending_failed(t, err, path, &why);
}

static void pack_spans(struct tending *t, const struct op_span *spans,
		       size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (op_span_counts(&spans[i]))
			pack_span(t, &spans[i]);
}

/* ---- sum --------------------------------------------------------------------
 */

static int write_ledger_of_sum(const struct parts *parts, const char *to,
			       struct op_diag *why)
{
	struct op_ledger *sum = calloc(2, sizeof(*sum));
	struct op_ledger *one = sum ? sum + 1 : NULL;
	char path[PATH_MAX + 16];
	int err = sum ? 0 : -ENOMEM;

	for (size_t i = 0; i < parts->nr && !err; i++) {
		snprintf(path, sizeof(path), "%s/ledger", parts->from[i]);
		err = op_ledger_read(one, path, why)
			      ?: op_ledger_merge(sum, one);
	}
	snprintf(path, sizeof(path), "%s/ledger", to);
	if (!err)
		err = op_ledger_write(sum, path, NULL, why);
	free(sum);
	return err;
}

static int write_tasks_of_sum(const struct parts *parts, const char *to,
			      struct op_diag *why)
{
	struct op_tasks tasks = { 0 };
	char path[PATH_MAX + 16];
	bool found = false;
	int err = 0;

	for (size_t i = 0; i < parts->nr && !err; i++) {
		snprintf(path, sizeof(path), "%s/tasks", parts->from[i]);
		err = op_tasks_read(&tasks, path, why);
		found |= !err;
		if (err == -ENOENT)
			err = 0;
	}
	snprintf(path, sizeof(path), "%s/tasks", to);
	if (!err && found)
		err = op_tasks_write(&tasks, path, why);
	op_tasks_release(&tasks);
	return err;
}

static int write_sum(struct tending *t, const struct parts *parts,
		     const char *to, struct op_diag *why)
{
	struct opd_packer packer = { .dir = to,
				     .from = parts->from,
				     .nr_from = parts->nr,
				     .generation = 1 };
	int err = opd_packer_write(t->store, &packer, why)
			  ?: opd_packer_commit(&packer, t->wait_ms, why);

	opd_packer_cancel(&packer);
	return err ?: write_ledger_of_sum(parts, to, why)
		   ?: write_tasks_of_sum(parts, to, why);
}

static int set_parts(const struct tending *t, struct parts *parts,
		     const struct op_span *spans, size_t nr)
{
	int err = 0;

	parts->spans = spans;
	parts->nr = nr;
	for (size_t i = 0; i < nr && !err; i++) {
		err = span_path(t, &spans[i], parts->paths[i]);
		parts->from[i] = parts->paths[i];
	}
	return err;
}

/* Make one span of @nr consecutive ones, at most MAX_PARTS. */
static int sum_spans(struct tending *t, const struct op_span *spans, size_t nr,
		     struct op_diag *why)
{
	const struct op_span sum = { .begin = spans[0].begin,
				     .end = spans[nr - 1].end,
				     .state = OP_SPAN_MAKING };
	struct parts *parts = malloc(sizeof(*parts));
	char path[PATH_MAX];
	int err = parts ? set_parts(t, parts, spans, nr) : -ENOMEM;

	err = err ?: remove_made(t, &sum) ?: span_path(t, &sum, path);
	if (!err && mkdir(path, 0755))
		err = -errno;
	if (!err) {
		err = write_sum(t, parts, path, why)
			      ?: rename_span(t, &sum, OP_SPAN_CLOSED);
		if (err)
			remove_made(t, &sum);
	}
	for (size_t i = 0; i < nr && !err; i++)
		err = remove_span(t, &spans[i]);
	free(parts);
	return err;
}

static int add_blocks_of_span(const struct op_walk_entry *entry, void *ctx)
{
	if (entry->kind == OP_WALK_FILE || entry->kind == OP_WALK_FOLDER)
		*(uint64_t *)ctx += (uint64_t)entry->st->st_blocks * 512;
	return 0;
}

/* Bytes on the disk; what cannot be looked at is too little to matter. */
static uint64_t size_of_spans(const struct tending *t,
			      const struct op_span *spans, size_t nr)
{
	char path[PATH_MAX];
	uint64_t bytes = 0;

	for (size_t i = 0; i < nr; i++)
		if (!span_path(t, &spans[i], path))
			(void)op_walk(path, add_blocks_of_span, &bytes);
	return bytes;
}

/*
 * The spans that make sums and accounts: without what could not be removed,
 * which is behind the others or within one of them. Adds what that takes to
 * *@left_out. The caller frees *@spans, also after an error.
 */
static int list_real_spans(const struct tending *t, struct op_span **spans,
			   size_t *nr, uint64_t *left_out)
{
	size_t nr_all, kept = 0;
	int err = op_spans_list(t->dir, spans, &nr_all);

	for (size_t i = 0; i < nr_all && !err; i++) {
		const struct op_span *span = &(*spans)[i];

		if (span->is_replaced || span->state == OP_SPAN_MAKING)
			*left_out += size_of_spans(t, span, 1);
		else
			(*spans)[kept++] = *span;
	}
	*nr = kept;
	return err;
}

/* How many of the spans at @spans are to be one of grain @grain, which begin
 * before @before: those that are in one such grain. */
static size_t nr_in_grain(const struct op_span *spans, size_t nr,
			  enum op_grain grain, time_t before)
{
	time_t end = op_grain_end(grain, (time_t)spans[0].begin);
	size_t n = 0;

	if (end > before)
		return 0;
	while (n < nr && n < MAX_PARTS && (time_t)spans[n].begin < end &&
	       spans[n].state == OP_SPAN_CLOSED)
		n++;
	return n;
}

/* The number of parts that there is room for: their sum beside them must be
 * within the bound. */
static size_t nr_with_room(const struct tending *t, const struct op_span *spans,
			   size_t nr)
{
	uint64_t room = op_history_part(&t->store->history.limits);

	while (nr > 1 && size_of_spans(t, spans, nr) > room)
		nr /= 2;
	return nr;
}

/* How old spans are before they are put together to those of @level. */
static time_t age_of_level(const struct op_history *limits, unsigned int level)
{
	return level ? (time_t)limits->levels[level - 1].keep : 0;
}

/*
 * Make a sum of one grain from spans that are finer. Returns whether there was
 * one, so that the list of spans is another one now.
 */
static bool sum_grain(struct tending *t, const struct op_span *spans, size_t nr,
		      unsigned int level)
{
	const struct op_history *limits = &t->store->history.limits;
	time_t before = t->store->clock->date() - age_of_level(limits, level);
	struct op_diag why = { "" };
	size_t n;

	for (size_t i = 0; i < nr; i += n ? n : 1) {
		int err;

		n = nr_in_grain(spans + i, nr - i, limits->levels[level].grain,
				before);
		n = nr_with_room(t, spans + i, n);
		if (n < 2)
			continue;
		err = sum_spans(t, spans + i, n, &why);
		if (!err)
			return true;
		tending_failed(t, err, t->dir, &why);
	}
	return false;
}

static void sum_all(struct tending *t)
{
	const struct op_history *limits = &t->store->history.limits;

	for (unsigned int level = 0; level < limits->nr; level++) {
		bool again = true;

		while (again) {
			struct op_span *spans;
			size_t nr;
			uint64_t left_out = 0;
			int err = list_real_spans(t, &spans, &nr, &left_out);

			if (err)
				tending_failed(t, err, t->dir, NULL);
			again = !err && sum_grain(t, spans, nr, level);
			free(spans);
		}
	}
}

/* ---- drop -------------------------------------------------------------------
 */

/* The sum of the ledgers of @spans. That of a span which was closed in part is
 * beside the spans; one that is damaged tells nothing, but keeps nothing here.
 */
static int add_up_ledgers(struct tending *t, const struct op_span *spans,
			  size_t nr, struct op_ledger *sum)
{
	struct op_ledger *one = malloc(sizeof(*one));
	char path[PATH_MAX], file[PATH_MAX + 16];
	int err = one ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && !err; i++) {
		struct op_diag why = { "" };
		int bad;

		err = span_path(t, &spans[i], path);
		if (err)
			break;
		snprintf(file, sizeof(file), "%s/ledger", path);
		bad = op_ledger_read(one, file, &why)
			      ?: op_ledger_merge(sum, one);
		if (bad && bad != -ENOENT)
			tending_failed(t, bad, file, &why);
	}
	free(one);
	if (!err && !sum->source[0])
		strcpy(sum->source, "none");
	return err;
}

/* Make the account of the first @nr spans the account of what was dropped. */
static int write_dropped(struct tending *t, const struct op_span *spans,
			 size_t nr, struct op_diag *why)
{
	const struct op_span dropped = { .begin = spans[0].begin,
					 .end = spans[nr - 1].end,
					 .state = OP_SPAN_MAKING };
	struct op_ledger *sum = calloc(1, sizeof(*sum));
	char path[PATH_MAX], file[PATH_MAX + 16];
	int err = sum ? add_up_ledgers(t, spans, nr, sum) : -ENOMEM;

	err = err ?: remove_made(t, &dropped) ?: span_path(t, &dropped, path);
	if (!err && mkdir(path, 0755))
		err = -errno;
	if (!err) {
		snprintf(file, sizeof(file), "%s/ledger", path);
		err = op_ledger_write(sum, file, NULL, why)
			      ?: rename_span(t, &dropped, OP_SPAN_DROPPED);
		if (err)
			remove_made(t, &dropped);
	}
	free(sum);
	return err;
}

static void drop_spans(struct tending *t, const struct op_span *spans,
		       size_t nr)
{
	struct op_diag why = { "" };
	int err = write_dropped(t, spans, nr, &why);

	for (size_t i = 0; i < nr && !err; i++)
		err = remove_span(t, &spans[i]);
	if (err)
		tending_failed(t, err, t->dir, &why);
}

uint64_t opd_history_most(const struct op_history *limits)
{
	uint64_t reserve = OPD_HISTORY_RESERVE * op_history_part(limits);

	return limits->bytes > reserve ? limits->bytes - reserve : 0;
}

static void drop_oldest_spans(struct tending *t)
{
	const struct op_history *limits = &t->store->history.limits;
	uint64_t most = opd_history_most(limits), kept = DROPPED_BYTES;
	time_t before = t->store->clock->date() -
			(time_t)limits->levels[limits->nr - 1].keep;
	struct op_span *spans;
	bool any = false;
	size_t nr, first;
	int err = list_real_spans(t, &spans, &nr, &kept);

	if (err)
		tending_failed(t, err, t->dir, NULL);
	/* From the youngest, as many as there is room for. */
	first = nr;
	while (first && (time_t)spans[first - 1].end > before) {
		kept += size_of_spans(t, &spans[first - 1], 1);
		if (kept > most)
			break;
		first--;
	}
	for (size_t i = 0; i < first; i++)
		any |= op_span_counts(&spans[i]);
	if (any)
		drop_spans(t, spans, first);
	free(spans);
}

/* ---- all of it --------------------------------------------------------------
 */

static void with_spans(struct tending *t,
		       void (*step)(struct tending *t,
				    const struct op_span *spans, size_t nr))
{
	struct op_span *spans;
	size_t nr;
	int err = op_spans_list(t->dir, &spans, &nr);

	if (err)
		tending_failed(t, err, t->dir, NULL);
	else
		step(t, spans, nr);
	free(spans);
}

static void measure_spans(struct tending *t, const struct op_span *spans,
			  size_t nr)
{
	t->bytes = size_of_spans(t, spans, nr);
}

bool opd_history_is_over(struct opd_store *store)
{
	struct op_diag diag = { "" };
	struct tending t = { .store = store,
			     .dir = store->session->current,
			     .diag = &diag };

	with_spans(&t, measure_spans);
	return !t.err && t.bytes > opd_history_most(&store->history.limits);
}

int opd_history_tend(struct opd_store *store, const char *dir,
		     unsigned int wait_ms, struct op_diag *diag)
{
	struct tending t = {
		.store = store, .dir = dir, .wait_ms = wait_ms, .diag = diag
	};

	with_spans(&t, sweep_spans);
	with_spans(&t, pack_spans);
	if (store->clock->date() >= store->history.sums_after)
		sum_all(&t);
	drop_oldest_spans(&t);
	return t.err;
}
