/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_WORDS_H
#define DAEMON_SOURCE_PERF_OPD_PERF_WORDS_H

/*
 * Writes samples as a stream (module/uapi/oprofile.h), each with as much
 * context before it as the last one did not have. The writer (opd_writer.h) is
 * asked for the names and ranges that this context needs.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "module/uapi/oprofile.h"

struct opd_writer;

/* Words that one sample takes at most, with all its context but names. */
#define OPD_PERF_SAMPLE_WORDS 128

/* Words that a trace takes besides, and words of each caller in it. */
#define OPD_PERF_TRACE_WORDS 8
#define OPD_PERF_CALLER_WORDS 32

/* A record is a sample of so many events at most: of the clock, and of elapsed
 * time. */
#define OPD_PERF_SAMPLE_EVENTS 2

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
	struct opd_writer *writer; /* borrowed */
	struct opd_perf_place last; /* what the reader knows by now ... */
	bool has_cpu; /* ... if these are set */
	bool has_task;
	bool has_mode;
	bool has_image;
	bool is_timed; /* samples have times */
	int64_t ahead; /* of the clock of records the date is, ns */
	uint64_t told; /* the last OP_TIME, on the clock of records */
};

/* Samples have times that are no more than this off, ns: a quarter of the
 * shortest slice of a time line. */
#define OPD_PERF_TICK UINT64_C(15625000)

/* Write to @writer samples with up to @nr frames, 0 without traces. */
void opd_perf_words_init(struct opd_perf_words *w, struct opd_writer *writer,
			 size_t nr);

/* Samples that follow were taken at @time, on the clock of records; 0: nobody
 * knows when. */
void opd_perf_words_put_time(struct opd_perf_words *w, uint64_t time);

/* The next sample was taken at @time, on the clock of records. */
static inline void opd_perf_words_time(struct opd_perf_words *w, uint64_t time)
{
	if (time - w->told >= OPD_PERF_TICK && w->is_timed)
		opd_perf_words_put_time(w, time);
}

/* A sample: @pc is an address in the kernel, an offset in the image, or one
 * from the start of the anonymous memory. The writer goes on
 * (opd_writer_goes_on()): so there is room for it. */
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

/* The kernel's address ranges have changed. */
void opd_perf_words_kernel_changed(struct opd_perf_words *w);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_WORDS_H */
