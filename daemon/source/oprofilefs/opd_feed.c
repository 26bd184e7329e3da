// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Words come from the source in chunks of whole records and go out in the same
 * order. Before each record or sample the feed looks whether its reader lacks
 * something to understand it, and has the writer (opd_writer.h) put the records
 * of that into its words:
 *
 * - the name of an image cookie;
 * - the names of tasks, their cgroups, and by which names they were run, as far
 *   as that is asked for and the source does not write it: before the first
 *   sample of a task, and names again with the account;
 * - the table of the kernel's ranges; and code outside of them, BPF programs
 * and the like, as the source reports it, or when a sample is in some that is
 * not known;
 * - a sample in anonymous memory where the program has made code or copied it
 *   from a file (opd_jit_ranges.h) becomes a sample in an image of that code,
 * or in the file.
 *
 * The writer's words go out where they are needed: what was looked at before
 * them goes out first, and what needs them is looked at again. The account
 * comes in between, when the reader asks.
 *
 * Records that only the writer may make (OP_STREAM_BEGIN, OP_LOST ...) are
 * taken out of what a source hands out.
 */

#include "daemon/source/oprofilefs/opd_feed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/jit/opd_jit_ranges.h"
#include "daemon/source/opd_names.h"
#include "libop/session/op_stream_words.h"
#include "daemon/source/opd_source.h"
#include "daemon/source/opd_stream.h"
#include "daemon/source/opd_writer.h"
#include "libop/base/op_array.h"
#include "libop/base/op_log.h"

#define CHUNK_WORDS 65536 /* 512 KiB */

/* Bytes that may wait in a source that does not say how many. */
#define MAX_WAITING (UINT64_C(1) << 30)

struct opd_feed {
	struct opd_source *source;
	uint64_t *raw; /* what the source said, CHUNK_WORDS */
	size_t raw_at; /* before it all has gone out */
	size_t raw_ok; /* before it nothing is missing to the reader */
	size_t raw_nr;
	struct opd_writer writer; /* its words go out before the next of raw */
	size_t queue_at; /* words of the writer before it have gone out */
	bool begun;
	bool ended;
	/* what the records said */
	bool in_kernel;
	uint32_t tgid; /* 0: not known */
	uint64_t app; /* cookie of its program, OP_NO_COOKIE: not known */
	uint64_t anon_start; /* 0: the image is no anonymous memory */
	uint64_t *anon_record; /* that said so, whole; owned */
	size_t anon_words;
	struct opd_jit_ranges
		*jit_ranges; /* NULL: the source knows such code */
	struct opd_names names; /* of tasks; unless the source tells them */
	uint64_t waiting; /* bytes to read that were there when it was asked for
			   */
	bool pauses; /* -EAGAIN is next, even if the source has more */
	uint64_t nr_foreign; /* records that a source may not make */
};

int opd_feed_new(struct opd_feed **out, struct opd_source *source)
{
	struct opd_feed *feed = calloc(1, sizeof(*feed));
	int err;

	*out = feed;
	if (!feed)
		return -ENOMEM;
	feed->source = source;
	opd_writer_init(&feed->writer, source);
	opd_names_init(&feed->names, source->proc,
		       source->ops->tells_names ? 0 : source->client->tells,
		       false);
	feed->raw = malloc(CHUNK_WORDS * sizeof(feed->raw[0]));
	err = feed->raw ? 0 : -ENOMEM;
	if (!err && !source->ops->tells_user_code)
		err = opd_jit_ranges_new(&feed->jit_ranges, source->client,
					 source->proc);
	feed->writer.jit_ranges = feed->jit_ranges;
	return err;
}

void opd_feed_free(struct opd_feed *feed)
{
	if (!feed)
		return;
	opd_writer_release(&feed->writer);
	opd_names_release(&feed->names);
	opd_jit_ranges_free(feed->jit_ranges);
	free(feed->anon_record);
	free(feed->raw);
	free(feed);
}

void opd_feed_repeat_names(struct opd_feed *feed)
{
	opd_names_repeat(&feed->names);
}

void opd_feed_kernel_changed(struct opd_feed *feed)
{
	feed->writer.kernel_stale = true;
}

void opd_feed_ask_account(struct opd_feed *feed)
{
	struct opd_source *source = feed->source;

	if (!source->ops->waiting ||
	    source->ops->waiting(source, &feed->waiting))
		feed->waiting = MAX_WAITING;
	feed->writer.account_wanted = true;
	feed->pauses = false;
}

/* ---- stacks -----------------------------------------------------------------
 */

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

	if (!feed->jit_ranges || !feed->tgid || map[3] != OP_NO_COOKIE ||
	    !opd_jit_ranges_find_text(feed->jit_ranges, feed->tgid, feed->app,
				      map[0], &text) ||
	    text.end < map[1])
		return;
	map[2] = text.offset + (map[0] - text.start);
	map[3] = text.cookie;
}

static void handle_stack_maps(struct opd_feed *feed, const struct opd_rec *rec)
{
	uint64_t nr = 0, *maps = find_stack_maps(feed, rec, &nr);

	for (uint64_t i = 0; i < nr; i++) {
		uint64_t *map = maps + i * OP_STACK_MAP_WORDS;

		place_copied_map(feed, map);
		opd_writer_need_name(&feed->writer, map[3], feed->tgid);
	}
}

/* ---- the kernel's ranges ----------------------------------------------------
 */

/* Note the code of a module that comes, works, or goes, by @rec. */
static void record_module(struct opd_feed *feed, const struct opd_rec *rec)
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
	opd_live_kernel_add_module(&feed->writer.kernel, &module);
}

/* ---- from the source to the reader ------------------------------------------
 */

/* Whether only the writer may make @rec. Records of code that was made at run
 * time are the source's. */
static bool is_for_writer(const struct opd_rec *rec)
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
	if (!feed->jit_ranges ||
	    opd_stream_string(rec, 2, name, sizeof(name)) ||
	    (*name == '[' && strncmp(name, "[anon", 5)) ||
	    op_array_reserve(&feed->anon_record, 0, nr))
		return;
	feed->anon_start = rec->payload[0];
	memcpy(feed->anon_record, words, nr * sizeof(*words));
	feed->anon_words = nr;
}

/*
 * Put in place of the sample or frame at @words one in the image of its code,
 * if that has a name. Behind it the image is what it was.
 */
static bool place_made_code(struct opd_feed *feed, const uint64_t words[2])
{
	uint64_t cookie, key;

	if (!opd_jit_ranges_find(feed->jit_ranges, feed->tgid, feed->app,
				 feed->anon_start + words[0], &cookie, &key))
		return false;
	opd_writer_need_name(&feed->writer, cookie, feed->tgid);
	return op_stream_put_sample(&feed->writer.words, cookie, key, words[1],
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

/* Have the writer put the records that the reader needs before @rec, which is
 * at @at. */
static void handle_raw_record(struct opd_feed *feed, const uint64_t *at,
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
			opd_writer_need_name(&feed->writer, rec->payload[1],
					     feed->tgid);
		if (rec->nr_words >= 2 && rec->payload[0] <= OPD_MAX_PID &&
		    feed->tgid)
			opd_names_put(&feed->names, feed->tgid,
				      (uint32_t)rec->payload[0],
				      rec->payload[1], NULL,
				      &feed->writer.words);
		break;
	case OP_ANON_SWITCH:
		enter_anon(feed, rec, at, (size_t)(behind->at - at));
		break;
	case OP_COOKIE_SWITCH:
		feed->anon_start = 0;
		if (rec->nr_words)
			opd_writer_need_name(&feed->writer, rec->payload[0],
					     feed->tgid);
		break;
	case OP_TASK_RUN_AS:
		if (rec->nr_words >= 2)
			opd_writer_need_name(&feed->writer, rec->payload[1],
					     feed->tgid);
		break;
	case OP_USER_STACK:
		handle_stack_maps(feed, rec);
		break;
	case OP_KERNEL_ENTER:
		feed->in_kernel = true;
		break;
	case OP_USER_ENTER:
		feed->in_kernel = false;
		break;
	case OP_MODULE_LOADED:
		feed->writer.kernel_stale = true;
		record_module(feed, rec);
		break;
	case OP_IBS_FETCH:
	case OP_IBS_OP:
		if (rec->nr_words && feed->in_kernel)
			opd_writer_need_place(&feed->writer, rec->payload[0]);
		break;
	case OP_KERNEL_RANGE: /* code, as it is not foreign */
		if (rec->nr_words >= 2)
			opd_live_kernel_add_code(&feed->writer.kernel,
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
static size_t scan_raw(struct opd_feed *feed, size_t *drop)
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

			if (feed->in_kernel)
				opd_writer_need_place(&feed->writer, *at);
			if (feed->writer.words.nr)
				return (size_t)(at - start);
			if (words == 2 && feed->anon_start &&
			    !feed->in_kernel && feed->tgid) {
				/* The words before the sample go out first. */
				if (at > start)
					return (size_t)(at - start);
				*drop = place_made_code(feed, at) ? 2 : 0;
				if (*drop)
					return 0;
			}
			stream.at += words;
			continue;
		}
		/* Words that are no record are their reader's to judge. */
		if (opd_stream_record(&stream, &rec) != OPD_UNIT_RECORD) {
			stream.at++;
			continue;
		}
		if (is_for_writer(&rec)) {
			*drop = (size_t)(stream.at - at);
			return (size_t)(at - start);
		}
		handle_raw_record(feed, at, &stream, &rec);
		if (feed->writer.words.nr)
			return (size_t)(at - start);
	}
	return (size_t)(stream.at - start);
}

static size_t pop_queue(struct opd_feed *feed, uint64_t *words, size_t nr)
{
	size_t left = feed->writer.words.nr - feed->queue_at;

	if (nr > left)
		nr = left;
	memcpy(words, feed->writer.words.words + feed->queue_at,
	       nr * sizeof(*words));
	feed->queue_at += nr;
	if (feed->queue_at == feed->writer.words.nr)
		feed->queue_at = feed->writer.words.nr = 0;
	return nr;
}

/* Copy words of the source that the reader understands. */
static size_t pop_raw(struct opd_feed *feed, uint64_t *words, size_t nr)
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

	feed->raw_ok = feed->raw_at + scan_raw(feed, &drop);
	if (drop == 0 || feed->raw_ok > feed->raw_at)
		return;
	feed->raw_at += drop;
	feed->raw_ok += drop;
	if (!feed->writer.words.nr && feed->nr_foreign++ == 0)
		op_log(feed->source->client->log,
		       "%s: left out: records of a kind that this source cannot make",
		       feed->source->name);
}

static void put_account(struct opd_feed *feed)
{
	opd_names_reread(&feed->names, &feed->writer.words);
	if (feed->jit_ranges)
		opd_jit_ranges_save(feed->jit_ranges);
	opd_writer_put_account(&feed->writer);
}

/* @got bytes were read. If these are more than waited when the account was
 * asked for, the account comes before them, and -EAGAIN after it. */
static void count_waiting(struct opd_feed *feed, size_t got)
{
	if (!feed->writer.account_wanted)
		return;
	if (got <= feed->waiting) {
		feed->waiting -= got;
		return;
	}
	put_account(feed);
	feed->pauses = true;
}

/* More of the raw stream or something in the queue. Returns 1, or what
 * opd_feed_read() returns when there is neither. */
static ssize_t refill(struct opd_feed *feed)
{
	struct opd_source *source = feed->source;
	ssize_t got = 0;

	if (!feed->begun) {
		feed->begun = true;
		opd_writer_begin(&feed->writer);
		return 1;
	}
	if (feed->pauses) {
		feed->pauses = false;
		return -EAGAIN;
	}
	if (!feed->ended)
		got = source->ops->read(source, feed->raw,
					CHUNK_WORDS * sizeof(feed->raw[0]));
	if (feed->jit_ranges && got)
		opd_jit_ranges_end_round(feed->jit_ranges);
	if (got > 0) {
		feed->raw_at = feed->raw_ok = 0;
		feed->raw_nr = (size_t)got / sizeof(feed->raw[0]);
		opd_writer_put_new_code(&feed->writer);
		opd_writer_retry_names(&feed->writer, false);
		count_waiting(feed, (size_t)got);
		return 1;
	}
	if (got == 0 && !feed->ended) {
		feed->ended = feed->writer.account_wanted = true;
		opd_writer_retry_names(&feed->writer, true);
	}
	if (feed->writer.account_wanted && (got == 0 || got == -EAGAIN)) {
		opd_writer_retry_names(&feed->writer, false);
		put_account(feed);
		feed->pauses = got && feed->writer.words.nr;
	}
	return feed->writer.words.nr ? 1 : got;
}

ssize_t opd_feed_read(struct opd_feed *feed, uint64_t *words, size_t nr)
{
	size_t done = 0;
	ssize_t got;

	while (done < nr) {
		if (feed->raw_at < feed->raw_ok) {
			done += pop_raw(feed, words + done, nr - done);
		} else if (feed->writer.words.nr) {
			done += pop_queue(feed, words + done, nr - done);
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
	if (feed->writer.words.short_of_memory) {
		op_log(feed->source->client->log,
		       "out of memory: names of images are missing");
		feed->writer.words.short_of_memory = false;
	}
	return (ssize_t)done;
}
