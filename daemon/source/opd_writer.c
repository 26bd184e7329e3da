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

/* Bytes that may wait in a source that does not say how many. */
#define MAX_WAITING (UINT64_C(1) << 30)

struct opd_writer *opd_writer_new(struct opd_source *source)
{
	struct opd_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->source = source;
	w->kernel_stale = true;
	w->limit = OPD_WRITER_CHUNK_WORDS;
	return w;
}

void opd_writer_free(struct opd_writer *w)
{
	if (!w)
		return;
	op_stream_words_release(&w->words);
	opd_names_release(&w->names);
	free(w->told);
	op_hash_release(&w->told_index);
	opd_live_kernel_release(&w->kernel);
	free(w);
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

/* Ask for a name, and write its record. False if it may still come. */
static bool put_name(struct opd_writer *w, uint64_t cookie, uint32_t tgid,
		     bool last)
{
	const struct opd_source_client *client = w->source->client;
	const struct opd_source_ops *ops = w->source->ops;
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
				  ops->detach_file
					  ? ops->detach_file(w->source, cookie)
					  : -1);
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

void opd_writer_need_task(struct opd_writer *w, uint32_t tgid, uint32_t tid,
			  uint64_t app, const char *path)
{
	if (!w->names.tells || opd_names_is_last(&w->names, tgid, tid, app))
		return;
	opd_writer_need_name(w, app, tgid);
	opd_names_put(&w->names, tgid, tid, app, path, &w->words);
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

void opd_writer_put_code(struct opd_writer *w, const struct opd_new_code *code)
{
	opd_live_kernel_put_code(&w->kernel, code, &w->words);
}

void opd_writer_put_new_code(struct opd_writer *w)
{
	struct opd_source *source = w->source;
	struct opd_new_code code;
	int err = 0;

	if (!source->ops->next_code)
		return;
	while ((err = source->ops->next_code(source, &code)) > 0)
		opd_writer_put_code(w, &code);
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
static void put_account(struct opd_writer *w)
{
	struct opd_source *source = w->source;
	struct op_ledger now;

	w->account_wanted = false;
	if (source->ops->finish)
		source->ops->finish(source);
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

void opd_writer_ask_account(struct opd_writer *w)
{
	struct opd_source *source = w->source;

	if (!source->ops->waiting || source->ops->waiting(source, &w->waiting))
		w->waiting = MAX_WAITING;
	w->account_wanted = true;
	w->pauses = false;
}

void opd_writer_count(struct opd_writer *w, uint64_t bytes)
{
	if (!w->account_wanted)
		return;
	if (bytes <= w->waiting) {
		w->waiting -= bytes;
		return;
	}
	put_account(w);
	w->pauses = true;
}

/* ---- to the reader ----------------------------------------------------------
 */

/* The records that a stream begins with. */
static void put_beginning(struct opd_writer *w)
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

/* More words. Returns 1, or what opd_writer_read() returns if there are none.
 */
static ssize_t refill(struct opd_writer *w)
{
	struct opd_source *source = w->source;
	ssize_t got = 0;

	if (!w->begun) {
		w->begun = true;
		put_beginning(w);
		return 1;
	}
	if (w->pauses) {
		w->pauses = false;
		return -EAGAIN;
	}
	if (!w->ended)
		got = source->ops->write(source);
	if (got == 0 && !w->ended) {
		w->ended = w->account_wanted = true;
		opd_writer_retry_names(w, true);
	}
	if (w->account_wanted && (got == 0 || got == -EAGAIN)) {
		opd_writer_retry_names(w, false);
		put_account(w);
		w->pauses = got && w->words.nr;
	}
	return w->words.nr ? 1 : got;
}

ssize_t opd_writer_read(struct opd_writer *w, uint64_t *words, size_t nr)
{
	struct op_stream_words *from = &w->words;
	ssize_t got;

	while (!from->nr) {
		got = refill(w);
		if (got <= 0)
			return got;
	}
	if (nr > from->nr - w->at)
		nr = from->nr - w->at;
	memcpy(words, from->words + w->at, nr * sizeof(*words));
	w->at += nr;
	if (w->at == from->nr)
		w->at = from->nr = 0;
	if (from->short_of_memory) {
		op_log(w->source->client->log,
		       "out of memory: names of images are missing");
		from->short_of_memory = false;
	}
	return (ssize_t)nr;
}
