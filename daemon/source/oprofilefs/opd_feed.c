// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Words come from the source in chunks of whole records and go out in the same
 * order. Before each record or sample the feed looks whether its reader lacks
 * something to understand it:
 *
 * - the name of an image cookie. It is asked for once. Where the kernel has no
 *   name yet, the record goes on without it and the name follows as soon as
 *   there is one; a cookie that never gets one is told to have none, so that
 *   nobody waits for ever.
 * - the names of tasks, their cgroups, and by which names they were run, as far
 *   as that is asked for and the source does not tell it: before the first
 *   sample of a task, and names again with the account.
 * - the table of the kernel's address ranges, before the first sample in the
 *   kernel and again when it has changed since; and code outside of them, BPF
 *   programs and the like, as the source tells of it, or when a sample is in
 *   some that is not known.
 *
 * - where a sample in anonymous memory is in code that the program has told of
 *   or has copied from a file (opd_made.h): it becomes a sample in an image of
 *   that code, or in the file.
 *
 * Such records are put into a queue, which goes out where they are needed: what
 * was looked at before them goes out first, and what needs them is looked at
 * again. What the source lost and took is told in between, when its reader
 * asks.
 *
 * Records that are the feed's alone (OP_STREAM_BEGIN, OP_LOST ...) are taken
 * out of what a source says.
 */

#include "daemon/source/oprofilefs/opd_feed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/opd_code_watch.h"
#include "daemon/source/opd_events.h"
#include "daemon/source/opd_live_kernel.h"
#include "daemon/source/jit/opd_made.h"
#include "daemon/source/opd_names.h"
#include "daemon/source/opd_proc.h"
#include "libop/session/op_stream_words.h"
#include "daemon/source/opd_source.h"
#include "daemon/source/opd_stream.h"
#include "libop/base/op_array.h"
#include "libop/base/op_hash.h"
#include "libop/base/op_log.h"

#define CHUNK_WORDS 65536 /* 512 KiB */

/* A new image has its name within moments; more asking is for later. */
#define TRIES_AT_ONCE 3
/* Reads of the source, four a second or more, that a name may take. */
#define MAX_TRIES 64
#define MAX_PENDING 4096
/* Bytes that may wait in a source that does not say how many. */
#define MAX_WAITING (UINT64_C(1) << 30)

struct pending_name {
	uint64_t cookie;
	uint32_t tgid;
	unsigned int tries;
};

struct opd_feed {
	struct opd_source *source;
	uint64_t *raw; /* what the source said, CHUNK_WORDS */
	size_t raw_at; /* before it all has gone out */
	size_t raw_ok; /* before it nothing is missing to the reader */
	size_t raw_nr;
	struct op_stream_words queue;
	size_t queue_at;
	bool begun;
	bool ended;
	/* what the records said */
	bool in_kernel;
	uint32_t tgid; /* 0: not known */
	uint64_t app; /* cookie of its program, OP_NO_COOKIE: not known */
	uint64_t anon_start; /* 0: the image is no anonymous memory */
	uint64_t *anon_record; /* that said so, whole; owned */
	size_t anon_words;
	struct opd_made *made; /* NULL: the source knows such code */
	/* cookies that have been told or are pending, and where each is */
	uint64_t *told;
	size_t nr_told;
	struct op_hash told_index;
	struct pending_name pending[MAX_PENDING];
	size_t nr_pending;
	struct opd_names names; /* of tasks; unless the source tells them */
	struct opd_live_kernel kernel;
	bool kernel_stale; /* the reader's table is */
	bool account_wanted;
	uint64_t waiting; /* bytes to read that were there when it was asked for
			   */
	bool pauses; /* -EAGAIN is next, even if the source has more */
	struct op_ledger accounted;
	struct op_event_time timed[OP_MAX_COUNTERS]; /* what was told of it */
	uint64_t nr_foreign; /* records that a source may not make */
};

int opd_feed_new(struct opd_feed **out, struct opd_source *source)
{
	struct opd_feed *feed = calloc(1, sizeof(*feed));

	*out = feed;
	if (!feed)
		return -ENOMEM;
	feed->source = source;
	feed->kernel_stale = true;
	opd_names_init(&feed->names, source->proc,
		       source->ops->tells_names ? 0 : source->client->tells,
		       false);
	feed->raw = malloc(CHUNK_WORDS * sizeof(feed->raw[0]));
	if (feed->raw && !source->ops->tells_user_code)
		return opd_made_new(&feed->made, source->client, source->proc);
	return feed->raw ? 0 : -ENOMEM;
}

void opd_feed_free(struct opd_feed *feed)
{
	if (!feed)
		return;
	op_stream_words_release(&feed->queue);
	free(feed->told);
	op_hash_release(&feed->told_index);
	opd_live_kernel_release(&feed->kernel);
	opd_names_release(&feed->names);
	opd_made_free(feed->made);
	free(feed->anon_record);
	free(feed->raw);
	free(feed);
}

void opd_feed_tell_names_again(struct opd_feed *feed)
{
	opd_names_tell_again(&feed->names);
}

void opd_feed_kernel_changed(struct opd_feed *feed)
{
	feed->kernel_stale = true;
}

void opd_feed_ask_account(struct opd_feed *feed)
{
	struct opd_source *source = feed->source;

	if (!source->ops->waiting ||
	    source->ops->waiting(source, &feed->waiting))
		feed->waiting = MAX_WAITING;
	feed->account_wanted = true;
	feed->pauses = false;
}

/* ---- names ------------------------------------------------------------------
 */

/* Whether @cookie is new; from now on it is not. Without memory for that it
 * would be told more often, which does no harm. */
static bool is_new_cookie(struct opd_feed *feed, uint64_t cookie)
{
	uint64_t hash;
	uint32_t number;

	if (cookie == OP_NO_COOKIE)
		return false;
	if (op_hash_reserve(&feed->told_index, feed->nr_told + 1) ||
	    op_array_reserve(&feed->told, feed->nr_told, 1))
		return true;
	hash = op_hash_mix(feed->told_index.seed, cookie);
	op_hash_each(&feed->told_index, hash, number)
		if (feed->told[number - 1] == cookie)
			return false;
	feed->told[feed->nr_told++] = cookie;
	op_hash_add(&feed->told_index, hash, (uint32_t)feed->nr_told);
	return true;
}

/*
 * Ask the source for a name. A path is the name when there is no time to wait
 * for the build-id: @last, or the account is wanted. Its file has not answered
 * then, and is not to be opened.
 */
static int ask_name(struct opd_feed *feed, struct op_cookie_query *query,
		    uint64_t cookie, bool last)
{
	int err = -EAGAIN;

	for (int i = 0; i < TRIES_AT_ONCE && err == -EAGAIN; i++) {
		memset(query, 0, sizeof(*query));
		query->cookie = cookie;
		if (feed->made && cookie & OPD_MADE_COOKIE)
			return opd_made_query(feed->made, query);
		err = feed->source->ops->cookie(feed->source, query);
	}
	if (err == -EAGAIN && query->path[0] &&
	    (last || feed->account_wanted)) {
		query->flags |= OP_IMAGE_MAY_HANG;
		op_log(feed->source->client->log,
		       "%s: the file has not responded yet: its build-id is not read",
		       query->path);
		err = 0;
	}
	return err;
}

static int take_image_file(const struct opd_feed *feed, uint64_t cookie)
{
	const struct opd_source_ops *ops = feed->source->ops;

	if (feed->made && cookie & OPD_MADE_COOKIE)
		return opd_made_open(feed->made, cookie);
	return ops->take_file ? ops->take_file(feed->source, cookie) : -1;
}

/* Ask for a name, and tell it. False if it may still come. */
static bool tell_name(struct opd_feed *feed, uint64_t cookie, uint32_t tgid,
		      bool last)
{
	const struct opd_source_client *client = feed->source->client;
	struct op_cookie_query query;
	int err = ask_name(feed, &query, cookie, last);

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
	op_stream_put_cookie(&feed->queue, &query);
	if (!err && client->see_image)
		client->see_image(client->ctx, &query, tgid,
				  take_image_file(feed, cookie));
	return true;
}

static void need_name(struct opd_feed *feed, uint64_t cookie, uint32_t tgid)
{
	bool full = feed->nr_pending == MAX_PENDING;

	if (!is_new_cookie(feed, cookie) || tell_name(feed, cookie, tgid, full))
		return;
	feed->pending[feed->nr_pending++] =
		(struct pending_name){ cookie, tgid, 1 };
}

static void retry_names(struct opd_feed *feed, bool last)
{
	size_t kept = 0;

	for (size_t i = 0; i < feed->nr_pending; i++) {
		struct pending_name *name = &feed->pending[i];
		bool give_up = last || ++name->tries > MAX_TRIES;

		if (!tell_name(feed, name->cookie, name->tgid, give_up))
			feed->pending[kept++] = *name;
	}
	feed->nr_pending = kept;
}

/* The mappings in a record of a stack, which is in feed->raw, and their number;
 * NULL if it is none. */
static uint64_t *find_stack_maps(struct opd_feed *feed,
				 const struct opd_rec *rec, uint64_t *nr)
{
	const uint64_t *p = rec->payload;

	if (rec->nr_words < 4 || p[1] > OP_STACK_MAX_REGS ||
	    p[2] > OP_STACK_MAX_MAPS ||
	    rec->nr_words < 4 + p[1] + OP_STACK_MAP_WORDS * p[2])
		return NULL;
	*nr = p[2];
	return feed->raw + (p - feed->raw) + 4 + p[1];
}

/* Have anonymous memory that is a copy of text be a mapping of its file. */
static void place_copied_map(struct opd_feed *feed, uint64_t *map)
{
	struct unwinder_map text;

	if (!feed->made || !feed->tgid || map[3] != OP_NO_COOKIE ||
	    !opd_made_find_text(feed->made, feed->tgid, feed->app, map[0],
				&text) ||
	    text.end < map[1])
		return;
	map[2] = text.offset + (map[0] - text.start);
	map[3] = text.cookie;
}

static void look_at_stack_maps(struct opd_feed *feed, const struct opd_rec *rec)
{
	uint64_t nr = 0, *maps = find_stack_maps(feed, rec, &nr);

	for (uint64_t i = 0; i < nr; i++) {
		uint64_t *map = maps + i * OP_STACK_MAP_WORDS;

		place_copied_map(feed, map);
		need_name(feed, map[3], feed->tgid);
	}
}

/* ---- the kernel's ranges ----------------------------------------------------
 */

static void tell_kernel(struct opd_feed *feed)
{
	feed->kernel_stale = false;
	if (feed->source->ops->tell_kernel)
		feed->source->ops->tell_kernel(feed->source, &feed->queue);
	else
		opd_live_kernel_record(&feed->kernel, feed->source,
				       &feed->queue);
}

/* What @rec tells of the code of a module that comes, works, or goes. */
static void note_module(struct opd_feed *feed, const struct opd_rec *rec)
{
	struct opd_live_module module = { .init_start = 0 };
	size_t at;

	if (rec->nr_words < 3 ||
	    opd_stream_string(rec, 2, module.name, sizeof(module.name)) ||
	    rec->payload[0] > rec->payload[1])
		return;
	module.init_start = rec->payload[0];
	module.init_end = rec->payload[1];
	at = 3 + (strlen(module.name) + 7) / 8;
	if (rec->nr_words >= at + 2 &&
	    rec->payload[at] <= rec->payload[at + 1]) {
		module.text_start = rec->payload[at];
		module.text_end = rec->payload[at + 1];
	}
	opd_live_kernel_note_module(&feed->kernel, &module);
}

/* What the reader needs before a sample at @pc. */
static void need_place(struct opd_feed *feed, uint64_t pc)
{
	if (!feed->in_kernel)
		return;
	if (feed->kernel_stale)
		tell_kernel(feed);
	else if (!feed->source->ops->tell_kernel &&
		 !opd_live_kernel_has(&feed->kernel, pc))
		opd_live_kernel_look_for_code(&feed->kernel, feed->source,
					      &feed->queue);
}

/* What the kernel made up to now, before samples in it. */
static void tell_new_code(struct opd_feed *feed)
{
	struct opd_source *source = feed->source;
	struct opd_new_code code;
	int err = 0;

	if (!source->ops->next_code)
		return;
	while ((err = source->ops->next_code(source, &code)) > 0)
		opd_live_kernel_tell_code(&feed->kernel, &code, &feed->queue);
	if (err < 0)
		opd_live_kernel_doubt_code(&feed->kernel);
}

/* ---- the account ------------------------------------------------------------
 */

/* How long each event had a counter, as far as that has not been told. A
 * reading may be torn: time running beyond that enabled waits for the next. */
static void tell_event_times(struct opd_feed *feed)
{
	struct opd_source *source = feed->source;

	if (!source->ops->event_time)
		return;
	for (unsigned int i = 0; i < source->events->nr; i++) {
		struct op_event_time now = { 0 }, *told = &feed->timed[i];

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
		op_stream_put_event_time(&feed->queue, i, &now);
		told->enabled += now.enabled;
		told->running += now.running;
		told->samples += now.samples;
		told->turns += now.turns;
		told->periods += now.periods;
		told->sum_of_periods += now.sum_of_periods;
		told->squares_of_periods += now.squares_of_periods;
	}
}

/* What has been told cannot be taken back: a figure that is less than before
 * waits until it is more. */
static void tell_account(struct opd_feed *feed)
{
	struct opd_source *source = feed->source;
	struct op_ledger now;

	feed->account_wanted = false;
	opd_names_look_again(&feed->names, &feed->queue);
	memset(&now, 0, sizeof(now));
	if (feed->made)
		opd_made_save(feed->made);
	tell_event_times(feed);
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
		uint64_t before =
			op_ledger_lost_by(&feed->accounted, cause->name);

		if (cause->nr > before)
			op_stream_put_lost(&feed->queue, cause->nr - before,
					   cause->name);
		else
			cause->nr = before;
	}
	if (now.taken > feed->accounted.taken)
		op_stream_put_taken(&feed->queue, now.taken);
	else
		now.taken = feed->accounted.taken;
	feed->accounted = now;
}

/* ---- from the source to the reader ------------------------------------------
 */

static void begin_stream(struct opd_feed *feed)
{
	const struct opd_source *source = feed->source;
	struct opd_events *events = source->events;

	feed->begun = true;
	op_stream_put_begin(&feed->queue,
			    source->ops->tell_kernel ? 0 : opd_proc_cpu_khz(),
			    source->cpu_type);
	op_stream_put_source(&feed->queue,
			     source->stacks ? OP_SOURCE_STACKS : 0,
			     source->name);
	for (unsigned int i = 0; i < events->nr; i++) {
		struct opd_event *event = &events->counter[i];

		if (!event->set)
			continue;
		if (opd_event_is_timer(event))
			event->value = source->timer_hz;
		op_stream_put_event(&feed->queue, i,
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
		tell_kernel(feed);
}

/* What only the feed may say; code that was made at run time is the source's
 * to tell. */
static bool is_foreign(const struct opd_rec *rec)
{
	switch (rec->code) {
	case OP_STREAM_BEGIN:
	case OP_SOURCE:
	case OP_EVENT:
	case OP_COOKIE_NAME:
	case OP_LOST:
	case OP_TAKEN:
	case OP_EVENT_TIME:
	case OP_CALL:
		return true;
	case OP_KERNEL_RANGE:
		return rec->flags != OP_KERNEL_CODE;
	default:
		return false;
	}
}

/* ---- code that programs made
 * -------------------------------------------------
 */

/*
 * The image is anonymous memory from now on, as the record @rec of @nr words at
 * @words says. In the kernel's own ("[vdso]") and in stacks is no such code.
 */
static void enter_anon(struct opd_feed *feed, const struct opd_rec *rec,
		       const uint64_t *words, size_t nr)
{
	char name[OP_PATH_MAX];

	feed->anon_start = 0;
	if (!feed->made || opd_stream_string(rec, 2, name, sizeof(name)) ||
	    (*name == '[' && strncmp(name, "[anon", 5)) ||
	    op_array_reserve(&feed->anon_record, 0, nr))
		return;
	feed->anon_start = rec->payload[0];
	memcpy(feed->anon_record, words, nr * sizeof(*words));
	feed->anon_words = nr;
}

static bool may_be_made(const struct opd_feed *feed)
{
	return feed->anon_start && !feed->in_kernel && feed->tgid;
}

/*
 * Put in place of the sample or frame at @words one in the image of its code,
 * if that has a name. Behind it the image is what it was.
 */
static bool place_made_code(struct opd_feed *feed, const uint64_t words[2])
{
	uint64_t cookie, key;

	if (!opd_made_find(feed->made, feed->tgid, feed->app,
			   feed->anon_start + words[0], &cookie, &key))
		return false;
	need_name(feed, cookie, feed->tgid);
	return op_stream_put_sample(&feed->queue, cookie, key, words[1],
				    feed->anon_record, feed->anon_words);
}

/* The tgid follows the record of its task. */
static uint32_t tgid_behind(const struct opd_stream *stream)
{
	struct opd_stream next = *stream;
	struct opd_rec rec;

	if (next.at < next.end && *next.at == OP_ESCAPE &&
	    opd_stream_record(&next, &rec) == OPD_UNIT_RECORD &&
	    rec.code == OP_CTX_TGID && rec.nr_words &&
	    rec.payload[0] <= OPD_MAX_PID)
		return (uint32_t)rec.payload[0];
	return 0;
}

/* What the reader needs before @rec, which is at @at, goes into the queue. */
static void look_at_record(struct opd_feed *feed, const uint64_t *at,
			   const struct opd_stream *behind,
			   const struct opd_rec *rec)
{
	switch (rec->code) {
	case OP_CPU_SWITCH:
		feed->in_kernel = false;
		feed->tgid = 0;
		feed->anon_start = 0;
		break;
	case OP_CTX_SWITCH:
		feed->tgid = tgid_behind(behind);
		feed->app = rec->nr_words >= 2 ? rec->payload[1] : OP_NO_COOKIE;
		if (rec->nr_words >= 2)
			need_name(feed, rec->payload[1], feed->tgid);
		if (rec->nr_words >= 2 && rec->payload[0] <= OPD_MAX_PID &&
		    feed->tgid)
			opd_names_tell(&feed->names, feed->tgid,
				       (uint32_t)rec->payload[0],
				       rec->payload[1], NULL, &feed->queue);
		break;
	case OP_ANON_SWITCH:
		enter_anon(feed, rec, at, (size_t)(behind->at - at));
		break;
	case OP_COOKIE_SWITCH:
		feed->anon_start = 0;
		if (rec->nr_words)
			need_name(feed, rec->payload[0], feed->tgid);
		break;
	case OP_TASK_RUN_AS:
		if (rec->nr_words >= 2)
			need_name(feed, rec->payload[1], feed->tgid);
		break;
	case OP_USER_STACK:
		look_at_stack_maps(feed, rec);
		break;
	case OP_KERNEL_ENTER:
		feed->in_kernel = true;
		break;
	case OP_USER_ENTER:
		feed->in_kernel = false;
		break;
	case OP_MODULE_LOADED:
		feed->kernel_stale = true;
		note_module(feed, rec);
		break;
	case OP_IBS_FETCH:
	case OP_IBS_OP:
		if (rec->nr_words)
			need_place(feed, rec->payload[0]);
		break;
	case OP_KERNEL_RANGE: /* code, as it is not foreign */
		if (rec->nr_words >= 2)
			opd_live_kernel_note_code(&feed->kernel,
						  rec->payload[0],
						  rec->payload[1]);
		break;
	default:
		break;
	}
}

/*
 * Move on over what the reader understands. Ends behind the last word of the
 * chunk, or at what something was put into the queue for, which has to go out
 * first, or at what is to be dropped: *@drop words, a foreign record, or a
 * sample that something in the queue replaces.
 */
static size_t look_ahead(struct opd_feed *feed, size_t *drop)
{
	const uint64_t *start = feed->raw + feed->raw_at;
	struct opd_stream stream = { start, feed->raw + feed->raw_nr };
	struct opd_rec rec;

	*drop = 0;
	while (stream.at < stream.end) {
		const uint64_t *at = stream.at;

		if (*at != OP_ESCAPE) {
			size_t words = stream.end - at > 1 && at[1] != OP_ESCAPE
					       ? 2
					       : 1;

			need_place(feed, *at);
			if (feed->queue.nr)
				return (size_t)(at - start);
			if (words == 2 && may_be_made(feed)) {
				/* What was before it goes out first. */
				if (at > start)
					return (size_t)(at - start);
				*drop = place_made_code(feed, at) ? 2 : 0;
				if (*drop)
					return 0;
			}
			stream.at += words;
			continue;
		}
		/* What is no record is its reader's to judge. */
		if (opd_stream_record(&stream, &rec) != OPD_UNIT_RECORD) {
			stream.at++;
			continue;
		}
		if (is_foreign(&rec)) {
			*drop = (size_t)(stream.at - at);
			return (size_t)(at - start);
		}
		look_at_record(feed, at, &stream, &rec);
		if (feed->queue.nr)
			return (size_t)(at - start);
	}
	return (size_t)(stream.at - start);
}

static size_t take_queue(struct opd_feed *feed, uint64_t *words, size_t nr)
{
	size_t left = feed->queue.nr - feed->queue_at;

	if (nr > left)
		nr = left;
	memcpy(words, feed->queue.words + feed->queue_at, nr * sizeof(*words));
	feed->queue_at += nr;
	if (feed->queue_at == feed->queue.nr)
		feed->queue_at = feed->queue.nr = 0;
	return nr;
}

/* What has been looked at and is understood. */
static size_t take_raw(struct opd_feed *feed, uint64_t *words, size_t nr)
{
	size_t left = feed->raw_ok - feed->raw_at;

	if (nr > left)
		nr = left;
	memcpy(words, feed->raw + feed->raw_at, nr * sizeof(*words));
	feed->raw_at += nr;
	return nr;
}

static void check_raw(struct opd_feed *feed)
{
	size_t drop;

	feed->raw_ok = feed->raw_at + look_ahead(feed, &drop);
	if (drop == 0 || feed->raw_ok > feed->raw_at)
		return;
	feed->raw_at += drop;
	feed->raw_ok += drop;
	if (!feed->queue.nr && feed->nr_foreign++ == 0)
		op_log(feed->source->client->log,
		       "%s: left out: records of a kind that this source cannot make",
		       feed->source->name);
}

/* Of @got bytes more than waited when the account was asked for, the account
 * comes first and -EAGAIN behind them. */
static void count_waiting(struct opd_feed *feed, size_t got)
{
	if (!feed->account_wanted)
		return;
	if (got <= feed->waiting) {
		feed->waiting -= got;
		return;
	}
	tell_account(feed);
	feed->pauses = true;
}

/* More of the raw stream or something in the queue. Returns 1, or what
 * opd_feed_read() returns when there is neither. */
static ssize_t refill(struct opd_feed *feed)
{
	struct opd_source *source = feed->source;
	ssize_t got = 0;

	if (!feed->begun) {
		begin_stream(feed);
		return 1;
	}
	if (feed->pauses) {
		feed->pauses = false;
		return -EAGAIN;
	}
	if (!feed->ended)
		got = source->ops->read(source, feed->raw,
					CHUNK_WORDS * sizeof(feed->raw[0]));
	if (feed->made && got)
		opd_made_end_round(feed->made);
	if (got > 0) {
		feed->raw_at = feed->raw_ok = 0;
		feed->raw_nr = (size_t)got / sizeof(feed->raw[0]);
		tell_new_code(feed);
		retry_names(feed, false);
		count_waiting(feed, (size_t)got);
		return 1;
	}
	if (got == 0 && !feed->ended) {
		feed->ended = feed->account_wanted = true;
		retry_names(feed, true);
	}
	if (feed->account_wanted && (got == 0 || got == -EAGAIN)) {
		retry_names(feed, false);
		tell_account(feed);
		feed->pauses = got && feed->queue.nr;
	}
	return feed->queue.nr ? 1 : got;
}

ssize_t opd_feed_read(struct opd_feed *feed, uint64_t *words, size_t nr)
{
	size_t done = 0;
	ssize_t got;

	while (done < nr) {
		if (feed->raw_at < feed->raw_ok) {
			done += take_raw(feed, words + done, nr - done);
		} else if (feed->queue.nr) {
			done += take_queue(feed, words + done, nr - done);
		} else if (feed->raw_at < feed->raw_nr) {
			check_raw(feed);
		} else if (done) {
			break;
		} else {
			got = refill(feed);
			if (got <= 0)
				return got;
		}
	}
	if (feed->queue.short_of_memory) {
		op_log(feed->source->client->log,
		       "out of memory: names of images are missing");
		feed->queue.short_of_memory = false;
	}
	return (ssize_t)done;
}
