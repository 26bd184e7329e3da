/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_WRITER_H
#define DAEMON_SOURCE_OPD_WRITER_H

/*
 * The stream of a source that samples, or that reads another profiler's file.
 * Samples name images by cookies, tasks by numbers and kernel code by
 * addresses. The writer adds the beginning of the stream, names of images and
 * tasks, the ranges of the kernel, and the account. The writer keeps the tables
 * of what the stream has, so each name comes once, before the first record that
 * needs it.
 *
 *	source			writer				reader
 *	opd_writer_need_*()  ->  names, ranges   ---.
 *	words of samples     ->  words  <-----------'  ->  opd_writer_read()
 *
 * The source appends words to @words, and says before each what the reader has
 * to know. The ops call write() has the source append all that has come by now.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/source/opd_live_kernel.h"
#include "daemon/source/opd_names.h"
#include "libop/base/op_hash.h"
#include "libop/session/op_ledger.h"
#include "libop/session/op_stream_words.h"
#include "module/uapi/oprofile.h"

struct opd_new_code;
struct opd_source;

#define OPD_WRITER_MAX_PENDING 4096

/* Words after which a source goes on with the next call. */
#define OPD_WRITER_CHUNK_WORDS 65536 /* 512 KiB */

struct opd_writer {
	struct opd_source *source; /* borrowed */
	struct op_stream_words words; /* to be read next */
	size_t at; /* words before it have been read */
	size_t limit; /* words after which the buffer is full */
	bool begun; /* the stream has its beginning */
	bool ended; /* the source has nothing more */
	bool pauses; /* -EAGAIN is next, even if the source has more */
	struct opd_names names; /* of tasks; the source says whose are wanted */
	/* cookies that have a record or are pending, and where each is */
	uint64_t *told;
	size_t nr_told;
	struct op_hash told_index;
	struct opd_pending_name {
		uint64_t cookie;
		uint32_t tgid;
		unsigned int tries;
	} pending[OPD_WRITER_MAX_PENDING];
	size_t nr_pending;
	struct opd_live_kernel kernel;
	bool kernel_stale; /* the table in the stream is */
	bool account_wanted; /* names that are late are not waited for */
	uint64_t waiting; /* bytes to be written before the account */
	struct op_ledger accounted;
	struct op_event_time timed[OP_MAX_COUNTERS]; /* what the stream has */
};

/* For @source, which outlives it and is open when the stream is read. NULL
 * where memory is short. */
struct opd_writer *opd_writer_new(struct opd_source *source);
void opd_writer_free(struct opd_writer *w); /* NULL is fine */

/* ---- for the reader ---------------------------------------------------------
 */

/*
 * Read at most @nr words to @words; a record may be cut there, and goes on with
 * the next call. Returns the number of words, 0 at the end, -EAGAIN or -errno.
 */
ssize_t opd_writer_read(struct opd_writer *w, uint64_t *words, size_t nr);

/*
 * Once all that is there has been read, say what was taken and lost until then,
 * before -EAGAIN.
 */
void opd_writer_ask_account(struct opd_writer *w);

/* ---- for the source ---------------------------------------------------------
 */

/* The source may write one more sample: the buffer is not full, and words.spare
 * more words fit. */
static inline bool opd_writer_goes_on(struct opd_writer *w)
{
	return w->words.nr < w->limit && op_stream_words_reserve(&w->words, 0);
}

/* The source is about to write @bytes more. Where that is more than waited when
 * the account was asked for, the account comes first, and -EAGAIN is next. */
void opd_writer_count(struct opd_writer *w, uint64_t bytes);

/* The stream is about to name image @cookie, which process @tgid has; 0: not
 * known. */
void opd_writer_need_name(struct opd_writer *w, uint64_t cookie, uint32_t tgid);

/* A sample of a task is next, whose process runs the program @app, a file of
 * the name @path; NULL: /proc is asked for it. */
void opd_writer_need_task(struct opd_writer *w, uint32_t tgid, uint32_t tid,
			  uint64_t app, const char *path);

/* Ask again for the names that had not come; @last: for the last time. */
void opd_writer_retry_names(struct opd_writer *w, bool last);

/* The stream is about to have a sample at @pc in the kernel. */
void opd_writer_need_place(struct opd_writer *w, uint64_t pc);

/* The kernel has made @code. */
void opd_writer_put_code(struct opd_writer *w, const struct opd_new_code *code);

/* The kernel has made the code that the ops call next_code() reports. */
void opd_writer_put_new_code(struct opd_writer *w);

#endif /* DAEMON_SOURCE_OPD_WRITER_H */
