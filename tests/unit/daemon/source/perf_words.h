/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PERF_WORDS_H
#define TESTS_UNIT_PERF_WORDS_H

/*
 * Reads what opd_perf_words writes: sample by sample, each with the context
 * that a reader has by then. A sample without all of it is a failure.
 */

#include <stdbool.h>
#include <string.h>

#include "daemon/source/opd_stream.h"
#include "tests/unit/test.h"

struct seen {
	uint64_t cpu;
	uint64_t tid;
	uint64_t tgid;
	uint64_t app;
	bool kernel;
	/* user only */
	uint64_t cookie; /* OP_NO_COOKIE: the rest is set */
	char anon[128];
	uint64_t start;
	uint64_t end;

	uint64_t pc;
	uint64_t counter;
	uint64_t times; /* that it stands for, 0: not told */
};

struct walk {
	struct opd_stream stream;
	struct seen seen;
	bool has_cpu, has_task, has_tgid, has_mode, has_image;
	unsigned int nr_records; /* that were no samples */
};

/* Go on with @nr other words. */
__attribute__((unused)) static void walk_into(struct walk *walk,
					      const uint64_t *words, size_t nr)
{
	walk->stream.at = words;
	walk->stream.end = words ? words + nr : NULL;
}

static void walk_record(struct walk *walk, const struct opd_rec *rec)
{
	struct seen *s = &walk->seen;

	switch (rec->code) {
	case OP_CPU_SWITCH:
		assert_int_equal(rec->nr_words, 1);
		s->cpu = rec->payload[0];
		walk->has_cpu = true;
		walk->has_task = walk->has_tgid = false;
		walk->has_mode = walk->has_image = false;
		break;
	case OP_CTX_SWITCH:
		assert_int_equal(rec->nr_words, 2);
		s->tid = rec->payload[0];
		s->app = rec->payload[1];
		walk->has_task = true;
		walk->has_tgid = false;
		break;
	case OP_CTX_TGID:
		assert_int_equal(rec->nr_words, 1);
		s->tgid = rec->payload[0];
		walk->has_tgid = true;
		break;
	case OP_KERNEL_ENTER:
	case OP_USER_ENTER:
		assert_int_equal(rec->nr_words, 0);
		s->kernel = rec->code == OP_KERNEL_ENTER;
		walk->has_mode = true;
		break;
	case OP_COOKIE_SWITCH:
		assert_int_equal(rec->nr_words, 1);
		s->cookie = rec->payload[0];
		assert_int_not_equal(s->cookie, OP_NO_COOKIE);
		walk->has_image = true;
		break;
	case OP_ANON_SWITCH:
		s->cookie = OP_NO_COOKIE;
		s->start = rec->payload[0];
		s->end = rec->payload[1];
		assert_true(s->start < s->end);
		assert_int_equal(
			opd_stream_string(rec, 2, s->anon, sizeof(s->anon)), 0);
		assert_int_equal(rec->nr_words, 3 + (strlen(s->anon) + 7) / 8);
		walk->has_image = true;
		break;
	case OP_TIMES:
		assert_int_equal(rec->flags & ~OP_TIMES_LOWERED, 0);
		assert_int_equal(rec->nr_words, 1);
		assert_true(rec->payload[0] > 1);
		s->times = rec->payload[0];
		break;
	}
}

/* The next sample; false at the end of the words. */
__attribute__((unused)) static bool walk_next(struct walk *walk,
					      struct seen *out)
{
	struct opd_stream *stream = &walk->stream;
	struct opd_rec rec;

	walk->seen.times = 0;
	while (stream->at < stream->end && *stream->at == OP_ESCAPE) {
		assert_int_equal(opd_stream_record(stream, &rec),
				 OPD_UNIT_RECORD);
		walk_record(walk, &rec);
		walk->nr_records++;
	}
	if (stream->at == stream->end)
		return false;
	assert_true(stream->end - stream->at >= 2);
	assert_true(walk->has_cpu && walk->has_task && walk->has_tgid &&
		    walk->has_mode);
	walk->seen.pc = *stream->at++;
	walk->seen.counter = *stream->at++;
	if (!walk->seen.kernel) {
		assert_true(walk->has_image);
		if (walk->seen.cookie == OP_NO_COOKIE)
			assert_true(walk->seen.pc <
				    walk->seen.end - walk->seen.start);
	}
	*out = walk->seen;
	return true;
}

#endif /* TESTS_UNIT_PERF_WORDS_H */
