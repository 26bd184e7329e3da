// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Words come from the module in chunks of whole records and go to the writer in
 * the same order. Before each record or sample the feed has the writer
 * (opd_writer.h) put what the reader lacks to understand it:
 *
 * - the name of an image cookie;
 * - the names of tasks, their cgroups, and by which names they were run, as far
 *   as that is asked for: before the first sample of a task, and names again
 *   with the account;
 * - the table of the kernel's ranges; and code outside of them, BPF programs
 *   and the like, as the source reports it, or when a sample is in some that is
 *   not known;
 * - a sample in anonymous memory where the program has made code or copied it
 *   from a file (opd_jit_ranges.h) becomes a sample in an image of that code,
 *   or in the file.
 *
 * Words that need nothing are copied in runs. Where the writer had to put
 * something for a unit, the run of those before it is inserted in front: so
 * each word is looked at once.
 *
 * Records that only the writer may make (OP_STREAM_BEGIN, OP_LOST ...) are
 * taken out of what the module hands out.
 */

#include "daemon/source/oprofilefs/opd_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/jit/opd_jit_ranges.h"
#include "daemon/source/opd_names.h"
#include "daemon/source/opd_source.h"
#include "daemon/source/opd_stream.h"
#include "daemon/source/opd_writer.h"
#include "libop/base/op_array.h"
#include "libop/base/op_log.h"
#include "libop/session/op_stream_words.h"

struct opd_feed {
	struct opd_writer *writer; /* borrowed */
	uint64_t *raw; /* what the module said, OPD_WRITER_CHUNK_WORDS */
	/* what the records said */
	bool in_kernel;
	uint32_t tgid; /* 0: not known */
	uint64_t app; /* cookie of its program, OP_NO_COOKIE: not known */
	uint64_t anon_start; /* 0: the image is no anonymous memory */
	uint64_t *anon_record; /* that said so, whole; owned */
	size_t anon_words;
	struct opd_jit_ranges *jit_ranges;
	uint64_t nr_foreign; /* records that a source may not make */
};

int opd_feed_new(struct opd_feed **out, struct opd_source *source)
{
	struct opd_feed *feed = calloc(1, sizeof(*feed));
	struct opd_writer *writer = source->writer;
	int err;

	*out = feed;
	if (!feed)
		return -ENOMEM;
	feed->writer = writer;
	opd_names_init(&writer->names, source->proc, source->client->tells,
		       false);
	writer->names.own = source->client->own;
	writer->words.spare = OPD_WRITER_CHUNK_WORDS;
	feed->raw = malloc(OPD_WRITER_CHUNK_WORDS * sizeof(feed->raw[0]));
	err = feed->raw ? opd_jit_ranges_new(&feed->jit_ranges, source->client,
					     source->proc)
			: -ENOMEM;
	return err;
}

void opd_feed_free(struct opd_feed *feed)
{
	if (!feed)
		return;
	opd_jit_ranges_free(feed->jit_ranges);
	free(feed->anon_record);
	free(feed->raw);
	free(feed);
}

int opd_feed_cookie(const struct opd_feed *feed, struct op_cookie_query *query)
{
	return opd_jit_ranges_query(feed->jit_ranges, query);
}

int opd_feed_detach_file(const struct opd_feed *feed, uint64_t cookie)
{
	return opd_jit_ranges_open(feed->jit_ranges, cookie);
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

	if (!feed->tgid || map[3] != OP_NO_COOKIE ||
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
		opd_writer_need_name(feed->writer, map[3], feed->tgid);
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
	opd_live_kernel_add_module(&feed->writer->kernel, &module);
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
	if (opd_stream_string(rec, 2, name, sizeof(name)) ||
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
	opd_writer_need_name(feed->writer, cookie, feed->tgid);
	return op_stream_put_sample(&feed->writer->words, cookie, key, words[1],
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
			opd_writer_need_name(feed->writer, rec->payload[1],
					     feed->tgid);
		if (rec->nr_words >= 2 && rec->payload[0] <= OPD_MAX_PID &&
		    feed->tgid)
			opd_writer_need_task(feed->writer, feed->tgid,
					     (uint32_t)rec->payload[0],
					     rec->payload[1], NULL);
		break;
	case OP_ANON_SWITCH:
		enter_anon(feed, rec, at, (size_t)(behind->at - at));
		break;
	case OP_COOKIE_SWITCH:
		feed->anon_start = 0;
		if (rec->nr_words)
			opd_writer_need_name(feed->writer, rec->payload[0],
					     feed->tgid);
		break;
	case OP_TASK_RUN_AS:
		if (rec->nr_words >= 2)
			opd_writer_need_name(feed->writer, rec->payload[1],
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
		feed->writer->kernel_stale = true;
		record_module(feed, rec);
		break;
	case OP_IBS_FETCH:
	case OP_IBS_OP:
		if (rec->nr_words && feed->in_kernel)
			opd_writer_need_place(feed->writer, rec->payload[0]);
		break;
	case OP_KERNEL_RANGE: /* code, as it is not foreign */
		if (rec->nr_words >= 2)
			opd_live_kernel_add_code(&feed->writer->kernel,
						 rec->payload[0],
						 rec->payload[1]);
		break;
	default:
		break;
	}
}

/* Note a record that only the writer may make, which is left out. */
static void note_foreign(struct opd_feed *feed)
{
	const struct opd_source *source = feed->writer->source;

	if (feed->nr_foreign++ == 0)
		op_log(source->client->log,
		       "%s: left out: records of a kind that this source cannot make",
		       source->name);
}

/* Have the writer put what the sample or frame at @at needs, of @words words.
 * True if the writer has put another one in its place. */
static bool handle_raw_sample(struct opd_feed *feed, const uint64_t *at,
			      size_t words)
{
	if (feed->in_kernel) {
		opd_writer_need_place(feed->writer, *at);
		return false;
	}
	return words == 2 && feed->anon_start && feed->tgid &&
	       place_made_code(feed, at);
}

/* Write the @nr words of the module's stream, and what they need. */
static void write_raw(struct opd_feed *feed, size_t nr)
{
	struct op_stream_words *to = &feed->writer->words;
	const uint64_t *run = feed->raw; /* from here on nothing is written */
	struct opd_stream stream = { run, run + nr };
	size_t mark = to->nr; /* the run goes here */
	struct opd_rec rec;

	while (stream.at < stream.end) {
		const uint64_t *at = stream.at;
		bool drop = false;

		if (*at != OP_ESCAPE) {
			size_t words = stream.end - at > 1 && at[1] != OP_ESCAPE
					       ? 2
					       : 1;

			drop = handle_raw_sample(feed, at, words);
			stream.at += words;
		} else if (opd_stream_record(&stream, &rec) !=
			   OPD_UNIT_RECORD) {
			/* Words that are no record are their reader's to
			 * judge. */
			stream.at++;
		} else if (is_for_writer(&rec)) {
			note_foreign(feed);
			drop = true;
		} else {
			handle_raw_record(feed, at, &stream, &rec);
		}
		if (!drop && to->nr == mark)
			continue;
		op_stream_words_insert(to, mark, run, (size_t)(at - run));
		run = drop ? stream.at : at;
		mark = to->nr;
	}
	op_stream_words_insert(to, mark, run, (size_t)(stream.end - run));
}

void opd_feed_finish(struct opd_source *source)
{
	struct opd_feed *feed = source->feed;

	opd_names_reread(&feed->writer->names, &feed->writer->words);
	opd_jit_ranges_save(feed->jit_ranges);
}

ssize_t opd_feed_write(struct opd_source *source)
{
	struct opd_feed *feed = source->feed;
	ssize_t got;

	if (!opd_writer_goes_on(feed->writer))
		return -ENOMEM;
	got = source->ops->read(source, feed->raw,
				OPD_WRITER_CHUNK_WORDS * sizeof(feed->raw[0]));
	if (got)
		opd_jit_ranges_end_round(feed->jit_ranges);
	if (got <= 0)
		return got;
	opd_writer_put_new_code(feed->writer);
	opd_writer_retry_names(feed->writer, false);
	opd_writer_count(feed->writer, (uint64_t)got);
	write_raw(feed, (size_t)got / sizeof(feed->raw[0]));
	return 1;
}
