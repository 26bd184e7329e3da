/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_SESSION_OP_STREAM_WORDS_H
#define LIBOP_SESSION_OP_STREAM_WORDS_H

/*
 * Makes the records of a stream (module/uapi/oprofile.h), one behind the other,
 * in a buffer that grows. Words that are no whole record, as of samples, may be
 * written to the buffer itself, as far as op_stream_words_reserve() made room.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/image/op_build_id.h"
#include "module/uapi/oprofile.h"

/* The event of a counter. */
struct op_stream_event {
	const char *name;
	uint64_t value; /* event code; samples per second of the timer */
	uint64_t count; /* from one sample to the next; 0 of the timer */
	uint64_t um;
	bool kernel;
	bool user;
};

/* How long an event was to be counted and had a hardware counter, ns; the
 * samples that it took then, and how often it got a counter, 0 if unknown.
 * Where each sample counts for its period the rest is as in struct
 * op_ledger_event. */
struct op_event_time {
	uint64_t enabled;
	uint64_t running;
	uint64_t samples;
	uint64_t turns;
	uint64_t periods;
	uint64_t sum_of_periods;
	uint64_t squares_of_periods;
};

struct op_stream_words {
	uint64_t *words;
	size_t nr;
	size_t room; /* words that fit before the buffer has to grow */
	size_t spare; /* words that have room behind each record */
	bool short_of_memory; /* some record is missing */
};

void op_stream_words_release(struct op_stream_words *w);

/* Make room for @more words and the spare ones behind them. False when memory
 * is short: then nothing has changed. */
bool op_stream_words_grow(struct op_stream_words *w, size_t more);

static inline bool op_stream_words_reserve(struct op_stream_words *w,
					   size_t more)
{
	return w->room - w->nr >= more + w->spare ||
	       op_stream_words_grow(w, more);
}

/* Put @nr words, for which there is room, before the word at @at. */
void op_stream_words_insert(struct op_stream_words *w, size_t at,
			    const uint64_t *words, size_t nr);

/* @cpu_type of the machine; its CPUs run at @cpu_khz, 0 if not known. */
void op_stream_put_begin(struct op_stream_words *w, uint32_t cpu_khz,
			 const char *cpu_type);
/* @flags: OP_SOURCE_*. */
void op_stream_put_source(struct op_stream_words *w, uint64_t flags,
			  const char *name);
void op_stream_put_event(struct op_stream_words *w, unsigned int counter,
			 const struct op_stream_event *event);
/* Put the file of the cookie in @query, which has been answered. An empty path
 * says that the cookie has no name. */
void op_stream_put_cookie(struct op_stream_words *w,
			  const struct op_cookie_query *query);
/*
 * A sample at @offset of the image @cookie, and behind it the @nr words at
 * @then, whole records. False where memory is short: then nothing is added.
 */
bool op_stream_put_sample(struct op_stream_words *w, uint64_t cookie,
			  uint64_t offset, uint64_t counter,
			  const uint64_t *then, size_t nr);
/* @flags: OP_KERNEL_*. */
void op_stream_put_range(struct op_stream_words *w, uint32_t flags,
			 uint64_t start, uint64_t end,
			 const struct op_build_id *build_id, const char *name);
void op_stream_put_lost(struct op_stream_words *w, uint64_t nr,
			const char *cause);
void op_stream_put_taken(struct op_stream_words *w, uint64_t nr);
/* Put the new times of the event of @counter. */
void op_stream_put_event_time(struct op_stream_words *w, unsigned int counter,
			      const struct op_event_time *time);
/* A thread of process @tgid is called @name, which is not empty. */
void op_stream_put_task_name(struct op_stream_words *w, uint32_t tgid,
			     uint32_t tid, const char *name);
/* The cgroup of a process, empty if not known, and its mount namespace. */
void op_stream_put_task_cgroup(struct op_stream_words *w, uint32_t tgid,
			       uint64_t mounts, const char *path);
/* Process @tgid runs the file of the cookie @app by the link @path. */
void op_stream_put_task_run_as(struct op_stream_words *w, uint32_t tgid,
			       uint64_t app, const char *path);

#endif /* LIBOP_SESSION_OP_STREAM_WORDS_H */
