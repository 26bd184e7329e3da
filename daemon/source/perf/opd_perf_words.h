/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_WORDS_H
#define DAEMON_SOURCE_PERF_OPD_PERF_WORDS_H

/*
 * Writes samples as a stream (module/uapi/oprofile.h), each with as much
 * context before it as the last one did not have.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "module/uapi/oprofile.h"

/* Words that one sample takes at most, with all its context. */
#define OPD_PERF_SAMPLE_WORDS 128

/* Words that a trace takes besides, and words of each caller in it. */
#define OPD_PERF_TRACE_WORDS 8
#define OPD_PERF_CALLER_WORDS 32

/* Bytes of the name of anonymous memory, with the zero byte. */
#define OPD_PERF_ANON_MAX 128

/* Where a sample was taken. */
struct opd_perf_place {
	uint32_t cpu;
	uint32_t tgid;
	uint32_t tid;
	uint64_t app; /* cookie, OP_NO_COOKIE */
	uint64_t owner; /* a user, OP_NO_OWNER */
	bool kernel;
	/* user only: an image, or OP_NO_COOKIE and anonymous memory */
	uint64_t cookie;
	const char *anon;
	uint64_t start; /* of the anonymous memory */
	uint64_t end;
	uint64_t weight; /* of the sample, 0: none */
	uint64_t times; /* that it was taken, or stands for; 0 and 1: once */
	bool lowered; /* it stands for them: see OP_TIMES_LOWERED */
};

struct opd_perf_words {
	uint64_t *at; /* the next word goes here */
	uint64_t *end;
	size_t most; /* words that a sample with its callers may take */
	size_t records; /* words that may come before it */
	struct opd_perf_place last; /* what the reader knows by now ... */
	bool has_cpu; /* ... if these are set */
	bool has_task;
	bool has_mode;
	bool has_image;
};

/* Write to @nr words at @words from now on; the context goes on. */
void opd_perf_words_into(struct opd_perf_words *w, uint64_t *words, size_t nr);

/* Samples come with up to @nr frames, 0 without traces. */
void opd_perf_words_set_depth(struct opd_perf_words *w, size_t nr);

/* Before a sample may come up to @nr words of opd_perf_words_records(). */
void opd_perf_words_set_records(struct opd_perf_words *w, size_t nr);

/* Whether another sample is certain to fit. */
bool opd_perf_words_fit(const struct opd_perf_words *w);

/* A sample: @pc is an address in the kernel, an offset in the image, or one
 * from the start of the anonymous memory. It must fit. */
void opd_perf_words_sample(struct opd_perf_words *w,
			   const struct opd_perf_place *place, uint64_t pc,
			   uint32_t counter);

/*
 * The same as the innermost frame of a trace, of which no more than the number
 * of callers follow that was said before, and its end.
 */
void opd_perf_words_trace(struct opd_perf_words *w,
			  const struct opd_perf_place *place, uint64_t pc,
			  uint32_t counter);
/* Only what tells the image counts of @place. */
void opd_perf_words_caller(struct opd_perf_words *w,
			   const struct opd_perf_place *place, uint64_t pc);
void opd_perf_words_trace_end(struct opd_perf_words *w,
			      enum op_trace_ending ending);

/* Code of the kernel that was made at run time, one function. It must fit;
 * what is too long of @name is cut. */
void opd_perf_words_code(struct opd_perf_words *w, const char *name,
			 uint64_t start, uint64_t end);

/* Whole records that change no context: @nr words, which were said to come. */
void opd_perf_words_records(struct opd_perf_words *w, const uint64_t *words,
			    size_t nr);

/* The kernel's address ranges have changed. It must fit. */
void opd_perf_words_kernel_changed(struct opd_perf_words *w);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_WORDS_H */
