// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The name of an image is asked for once. Where the source has none yet, the
 * stream goes on without it and the name follows as soon as there is one; a
 * cookie that never gets a name has a record that says so, so that nobody waits
 * for ever. The table of the kernel's ranges comes before the first sample in
 * the kernel, and again when it has changed.
 */

#include "daemon/source/opd_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/jit/opd_jit_ranges.h"
#include "daemon/source/opd_code_watch.h"
#include "daemon/source/opd_events.h"
#include "daemon/source/opd_proc.h"
#include "daemon/source/opd_source.h"
#include "libop/base/op_array.h"
#include "libop/base/op_log.h"

/* A new image has its name within moments; more asking is for later. */
#define TRIES_AT_ONCE 3
/* Reads of the source, four a second or more, that a name may take. */
#define MAX_TRIES 64

void opd_writer_init(struct opd_writer *w, struct opd_source *source)
{
	memset(w, 0, sizeof(*w));
	w->source = source;
	w->kernel_stale = true;
}

void opd_writer_release(struct opd_writer *w)
{
	op_stream_words_release(&w->words);
	free(w->told);
	op_hash_release(&w->told_index);
	opd_live_kernel_release(&w->kernel);
}

/* ---- names ------------------------------------------------------------------
 */

/* Whether @cookie is new; from now on it is not. Without memory for that it
 * would be told more often, which does no harm. */
static bool is_new_cookie(struct opd_writer *w, uint64_t cookie)
{
	uint64_t hash;
	uint32_t number;

	if (cookie == OP_NO_COOKIE)
		return false;
	if (op_hash_reserve(&w->told_index, w->nr_told + 1) ||
	    op_array_reserve(&w->told, w->nr_told, 1))
		return true;
	hash = op_hash_mix(w->told_index.seed, cookie);
	op_hash_each(&w->told_index, hash, number)
		if (w->told[number - 1] == cookie)
			return false;
	w->told[w->nr_told++] = cookie;
	op_hash_add(&w->told_index, hash, (uint32_t)w->nr_told);
	return true;
}

/*
 * Ask the source for a name. A path is the name when there is no time to wait
 * for the build-id: @last, or the account is wanted. Its file has not answered
 * then, and is not to be opened.
 */
static int ask_name(struct opd_writer *w, struct op_cookie_query *query,
		    uint64_t cookie, bool last)
{
	int err = -EAGAIN;

	for (int i = 0; i < TRIES_AT_ONCE && err == -EAGAIN; i++) {
		memset(query, 0, sizeof(*query));
		query->cookie = cookie;
		if (w->jit_ranges && cookie & OPD_JIT_RANGES_COOKIE)
			return opd_jit_ranges_query(w->jit_ranges, query);
		err = w->source->ops->cookie(w->source, query);
	}
	if (err == -EAGAIN && query->path[0] && (last || w->account_wanted)) {
		query->flags |= OP_IMAGE_MAY_HANG;
		op_log(w->source->client->log,
		       "%s: the file has not responded yet: its build-id is not read",
		       query->path);
		err = 0;
	}
	return err;
}

static int dup_image_file(const struct opd_writer *w, uint64_t cookie)
{
	const struct opd_source_ops *ops = w->source->ops;

	if (w->jit_ranges && cookie & OPD_JIT_RANGES_COOKIE)
		return opd_jit_ranges_open(w->jit_ranges, cookie);
	return ops->detach_file ? ops->detach_file(w->source, cookie) : -1;
}

/* Ask for a name, and write its record. False if it may still come. */
static bool put_name(struct opd_writer *w, uint64_t cookie, uint32_t tgid,
		     bool last)
{
	const struct opd_source_client *client = w->source->client;
	struct op_cookie_query query;
	int err = ask_name(w, &query, cookie, last);

	if (err == -EAGAIN && !last)
		return false;
	if (!err && (query.build_id_len > OP_BUILD_ID_MAX || !query.path[0] ||
		     !memchr(query.path, '\0', sizeof(query.path))))
		err = -EINVAL;
	if (err) {
		op_log(client->log, "cookie %" PRIu64 ": no image name: %s",
		       cookie, strerror(-err));
		memset(&query, 0, sizeof(query));
	}
	query.cookie = cookie;
	op_stream_put_cookie(&w->words, &query);
	if (!err && client->see_image)
		client->see_image(client->ctx, &query, tgid,
				  dup_image_file(w, cookie));
	return true;
}

void opd_writer_need_name(struct opd_writer *w, uint64_t cookie, uint32_t tgid)
{
	bool full = w->nr_pending == OPD_WRITER_MAX_PENDING;

	if (!is_new_cookie(w, cookie) || put_name(w, cookie, tgid, full))
		return;
	w->pending[w->nr_pending++] =
		(struct opd_pending_name){ cookie, tgid, 1 };
}

void opd_writer_retry_names(struct opd_writer *w, bool last)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->nr_pending; i++) {
		struct opd_pending_name *name = &w->pending[i];
		bool give_up = last || ++name->tries > MAX_TRIES;

		if (!put_name(w, name->cookie, name->tgid, give_up))
			w->pending[kept++] = *name;
	}
	w->nr_pending = kept;
}

/* ---- the kernel's ranges ----------------------------------------------------
 */

static void put_kernel(struct opd_writer *w)
{
	w->kernel_stale = false;
	if (w->source->ops->tell_kernel)
		w->source->ops->tell_kernel(w->source, &w->words);
	else
		opd_live_kernel_record(&w->kernel, w->source, &w->words);
}

void opd_writer_need_place(struct opd_writer *w, uint64_t pc)
{
	if (w->kernel_stale)
		put_kernel(w);
	else if (!w->source->ops->tell_kernel &&
		 !opd_live_kernel_has(&w->kernel, pc))
		opd_live_kernel_find_code(&w->kernel, w->source, &w->words);
}

void opd_writer_put_new_code(struct opd_writer *w)
{
	struct opd_source *source = w->source;
	struct opd_new_code code;
	int err = 0;

	if (!source->ops->next_code)
		return;
	while ((err = source->ops->next_code(source, &code)) > 0)
		opd_live_kernel_put_code(&w->kernel, &code, &w->words);
	if (err < 0)
		opd_live_kernel_doubt_code(&w->kernel);
}

/* ---- the account ------------------------------------------------------------
 */

/* The time that each event had a counter since the last record of it. A reading
 * may be torn: time running beyond that enabled waits for the next. */
static void put_event_times(struct opd_writer *w)
{
	struct opd_source *source = w->source;

	if (!source->ops->event_time)
		return;
	for (unsigned int i = 0; i < source->events->nr; i++) {
		struct op_event_time now = { 0 }, *told = &w->timed[i];

		if (!source->events->counter[i].set ||
		    source->ops->event_time(source, i, &now) ||
		    (now.enabled <= told->enabled &&
		     now.periods <= told->periods) ||
		    now.running < told->running ||
		    now.samples < told->samples || now.turns < told->turns)
			continue;
		now.enabled -= told->enabled;
		now.running -= told->running;
		now.samples -= told->samples;
		now.turns -= told->turns;
		now.periods -= told->periods;
		now.sum_of_periods -= told->sum_of_periods;
		now.squares_of_periods -= told->squares_of_periods;
		if (now.running > now.enabled)
			now.running = now.enabled;
		op_stream_put_event_time(&w->words, i, &now);
		told->enabled += now.enabled;
		told->running += now.running;
		told->samples += now.samples;
		told->turns += now.turns;
		told->periods += now.periods;
		told->sum_of_periods += now.sum_of_periods;
		told->squares_of_periods += now.squares_of_periods;
	}
}

/* A figure in the stream cannot be taken back: one that is less than before
 * waits until it is more. */
void opd_writer_put_account(struct opd_writer *w)
{
	struct opd_source *source = w->source;
	struct op_ledger now;

	w->account_wanted = false;
	memset(&now, 0, sizeof(now));
	put_event_times(w);
	if (!source->ops->account)
		return;
	if (source->ops->account(source, &now)) {
		op_log(source->client->log,
		       "%s: its statistics cannot be read: its losses are not in the ledger",
		       source->name);
		return;
	}
	for (unsigned int i = 0; i < now.nr_causes; i++) {
		struct op_ledger_cause *cause = &now.causes[i];
		uint64_t before = op_ledger_lost_by(&w->accounted, cause->name);

		if (cause->nr > before)
			op_stream_put_lost(&w->words, cause->nr - before,
					   cause->name);
		else
			cause->nr = before;
	}
	if (now.taken > w->accounted.taken)
		op_stream_put_taken(&w->words, now.taken);
	else
		now.taken = w->accounted.taken;
	w->accounted = now;
}

/* ---- the beginning ----------------------------------------------------------
 */

void opd_writer_begin(struct opd_writer *w)
{
	const struct opd_source *source = w->source;
	struct opd_events *events = source->events;

	op_stream_put_begin(&w->words,
			    source->ops->tell_kernel ? 0 : opd_proc_cpu_khz(),
			    source->cpu_type);
	op_stream_put_source(&w->words, source->stacks ? OP_SOURCE_STACKS : 0,
			     source->name);
	for (unsigned int i = 0; i < events->nr; i++) {
		struct opd_event *event = &events->counter[i];

		if (!event->set)
			continue;
		if (opd_event_is_timer(event))
			event->value = source->timer_hz;
		op_stream_put_event(&w->words, i,
				    &(struct op_stream_event){
					    .name = event->name,
					    .value = event->value,
					    .count = event->count,
					    .um = event->um,
					    .kernel = event->kernel,
					    .user = event->user,
				    });
	}
	if (opd_events_sample_kernel(events))
		put_kernel(w);
}
