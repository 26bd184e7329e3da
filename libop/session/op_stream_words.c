// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * start_record() makes room for the longest record that there is, so that
 * writing a field never has to grow the buffer. Where memory is short, no word
 * of the record is written, so the stream never holds a part of a record.
 */

#include "libop/session/op_stream_words.h"

#include <stdlib.h>
#include <string.h>

/* The longest string is a path. */
#define MAX_WORDS (OP_PATH_MAX / 8 + 32)

void op_stream_words_release(struct op_stream_words *w)
{
	free(w->words);
	memset(w, 0, sizeof(*w));
}

bool op_stream_words_grow(struct op_stream_words *w, size_t more)
{
	size_t room = w->nr + more + w->spare;
	uint64_t *words;

	if (room < 2 * w->room)
		room = 2 * w->room;
	words = reallocarray(w->words, room, sizeof(*words));
	if (!words)
		return false;
	w->words = words;
	w->room = room;
	return true;
}

void op_stream_words_insert(struct op_stream_words *w, size_t at,
			    const uint64_t *words, size_t nr)
{
	memmove(w->words + at + nr, w->words + at,
		(w->nr - at) * sizeof(*words));
	memcpy(w->words + at, words, nr * sizeof(*words));
	w->nr += nr;
}

/* A record that is being made: its words are those from @start on. */
struct record {
	struct op_stream_words *to;
	size_t start;
	bool has_room; /* for MAX_WORDS */
};

/* Nothing is put where there was no memory. */
static void put_word(struct record *r, uint64_t word)
{
	if (r->has_room)
		r->to->words[r->to->nr++] = word;
}

static struct record start_record(struct op_stream_words *w)
{
	struct record r = { w, w->nr, false };

	r.has_room = op_stream_words_reserve(w, MAX_WORDS);
	w->short_of_memory |= !r.has_room;
	put_word(&r, OP_ESCAPE);
	put_word(&r, 0);
	return r;
}

static void end_record(const struct record *r, uint32_t code, uint32_t flags)
{
	struct op_stream_words *w = r->to;

	if (r->has_room)
		w->words[r->start + 1] =
			OP_CODE_WORD(code, flags, w->nr - r->start - 2);
}

static void put_string_words(struct record *r, const char *text)
{
	struct op_stream_words *w = r->to;
	size_t len = strnlen(text, OP_PATH_MAX);
	size_t nr = (len + 7) / 8;

	put_word(r, len);
	if (!r->has_room)
		return;
	memset(w->words + w->nr, 0, nr * 8);
	memcpy(w->words + w->nr, text, len);
	w->nr += nr;
}

/* All of the room @room: with the fingerprint. */
static void put_build_id_words(struct record *r, const uint8_t *room,
			       unsigned int len)
{
	const struct op_build_id id = op_build_id_of_room(room, len);
	uint64_t words[OP_BUILD_ID_MAX / 8];

	memcpy(words, id.bytes, sizeof(words));
	put_word(r, len);
	for (size_t i = 0; i < OP_BUILD_ID_MAX / 8; i++)
		put_word(r, words[i]);
}

bool op_stream_put_sample(struct op_stream_words *w, uint64_t cookie,
			  uint64_t offset, uint64_t counter,
			  const uint64_t *then, size_t nr)
{
	const uint64_t words[] = { OP_ESCAPE,
				   OP_CODE_WORD(OP_COOKIE_SWITCH, 0, 1), cookie,
				   offset, counter };
	const size_t nr_words = sizeof(words) / sizeof(words[0]);

	if (!op_stream_words_reserve(w, nr_words + nr))
		return false;
	memcpy(w->words + w->nr, words, sizeof(words));
	memcpy(w->words + w->nr + nr_words, then, nr * sizeof(*then));
	w->nr += nr_words + nr;
	return true;
}

void op_stream_put_begin(struct op_stream_words *w, uint32_t cpu_khz,
			 const char *cpu_type)
{
	struct record r = start_record(w);

	put_word(&r, OP_STREAM_MAGIC);
	put_word(&r, OP_ABI_VERSION);
	put_word(&r, sizeof(void *));
	put_word(&r, cpu_khz);
	put_string_words(&r, cpu_type);
	end_record(&r, OP_STREAM_BEGIN, 0);
}

void op_stream_put_source(struct op_stream_words *w, uint64_t flags,
			  const char *name)
{
	struct record r = start_record(w);

	put_word(&r, flags);
	put_string_words(&r, name);
	end_record(&r, OP_SOURCE, 0);
}

void op_stream_put_event(struct op_stream_words *w, unsigned int counter,
			 const struct op_stream_event *event)
{
	struct record r = start_record(w);

	put_word(&r, counter);
	put_word(&r, event->value);
	put_word(&r, event->count);
	put_word(&r, event->um);
	put_word(&r, event->kernel);
	put_word(&r, event->user);
	put_string_words(&r, event->name);
	end_record(&r, OP_EVENT, 0);
}

void op_stream_put_cookie(struct op_stream_words *w,
			  const struct op_cookie_query *query)
{
	struct record r = start_record(w);

	put_word(&r, query->cookie);
	put_word(&r, query->flags);
	put_word(&r, query->dev);
	put_word(&r, query->ino);
	put_word(&r, query->mtime);
	put_build_id_words(&r, query->build_id, query->build_id_len);
	put_string_words(&r, query->path);
	end_record(&r, OP_COOKIE_NAME, 0);
}

void op_stream_put_range(struct op_stream_words *w, uint32_t flags,
			 uint64_t start, uint64_t end,
			 const struct op_build_id *build_id, const char *name)
{
	struct record r = start_record(w);

	put_word(&r, start);
	put_word(&r, end);
	put_build_id_words(&r, build_id->bytes, build_id->len);
	put_string_words(&r, name);
	end_record(&r, OP_KERNEL_RANGE, flags);
}

void op_stream_put_lost(struct op_stream_words *w, uint64_t nr,
			const char *cause)
{
	struct record r = start_record(w);

	put_word(&r, nr);
	put_string_words(&r, cause);
	end_record(&r, OP_LOST, 0);
}

void op_stream_put_taken(struct op_stream_words *w, uint64_t nr)
{
	struct record r = start_record(w);

	put_word(&r, nr);
	end_record(&r, OP_TAKEN, 0);
}

void op_stream_put_event_time(struct op_stream_words *w, unsigned int counter,
			      const struct op_event_time *time)
{
	struct record r = start_record(w);

	put_word(&r, counter);
	put_word(&r, time->enabled);
	put_word(&r, time->running);
	put_word(&r, time->samples);
	put_word(&r, time->turns);
	if (time->periods) {
		put_word(&r, time->periods);
		put_word(&r, time->sum_of_periods);
		put_word(&r, time->squares_of_periods);
	}
	end_record(&r, OP_EVENT_TIME, 0);
}

static void put_task_record(struct op_stream_words *w, uint32_t code,
			    uint32_t tgid, uint64_t word, const char *text)
{
	struct record r = start_record(w);

	put_word(&r, tgid);
	put_word(&r, word);
	put_string_words(&r, text);
	end_record(&r, code, 0);
}

void op_stream_put_task_name(struct op_stream_words *w, uint32_t tgid,
			     uint32_t tid, const char *name)
{
	put_task_record(w, OP_TASK_NAME, tgid, tid, name);
}

void op_stream_put_task_cgroup(struct op_stream_words *w, uint32_t tgid,
			       uint64_t mounts, const char *path)
{
	put_task_record(w, OP_TASK_CGROUP, tgid, mounts, path);
}

void op_stream_put_task_run_as(struct op_stream_words *w, uint32_t tgid,
			       uint64_t app, const char *path)
{
	put_task_record(w, OP_TASK_RUN_AS, tgid, app, path);
}
