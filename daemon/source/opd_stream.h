/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_STREAM_H
#define DAEMON_SOURCE_OPD_STREAM_H

/*
 * A cursor over the words of a stream (module/uapi/oprofile.h). It never
 * looks at a word outside of its bounds, and hands out a record only when all
 * of its payload is inside. What the payload means is not its business.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"
#include "module/uapi/oprofile.h"

/* A CPU, thread or process number in a stream may not be larger. */
#define OPD_MAX_CPU 65535
#define OPD_MAX_PID INT32_MAX

#define OPD_HEAD_WORDS 2 /* escape and code word */

struct opd_stream {
	const uint64_t *at;
	const uint64_t *end;
};

/* A whole record; @payload points into the stream. */
struct opd_rec {
	uint32_t code;
	uint32_t flags;
	uint32_t nr_words;
	const uint64_t *payload;
};

enum opd_unit {
	OPD_UNIT_RECORD, /* whole: the cursor is behind it */
	OPD_UNIT_MORE, /* not whole yet: the cursor did not move */
	OPD_UNIT_BAD, /* its length is impossible: the cursor did not move */
};

/* Take the record whose OP_ESCAPE the cursor is on. */
static inline enum opd_unit opd_stream_record(struct opd_stream *stream,
					      struct opd_rec *rec)
{
	size_t left = (size_t)(stream->end - stream->at);
	uint64_t word;

	if (left < OPD_HEAD_WORDS)
		return OPD_UNIT_MORE;
	word = stream->at[1];
	rec->nr_words = OP_WORDS_OF(word);
	if (rec->nr_words > OP_MAX_RECORD_WORDS)
		return OPD_UNIT_BAD;
	if (rec->nr_words > left - OPD_HEAD_WORDS)
		return OPD_UNIT_MORE;
	rec->code = OP_CODE_OF(word);
	rec->flags = OP_FLAGS_OF(word);
	rec->payload = stream->at + OPD_HEAD_WORDS;
	stream->at = rec->payload + rec->nr_words;
	return OPD_UNIT_RECORD;
}

/*
 * Move on to the next OP_ESCAPE that starts a sound OP_CPU_SWITCH, where any
 * reader may start, or to the end; one or two words that could be its start
 * are left there. True when it was found.
 */
bool opd_stream_resync(struct opd_stream *stream);

/*
 * Copy the string that starts at word @at of the payload to @buf, with a zero
 * byte behind it. Returns 0; -EINVAL if it is empty, longer than @size - 1 or
 * than the payload, or holds a zero byte.
 */
int opd_stream_string(const struct opd_rec *rec, size_t at, char *buf,
		      size_t size);

/*
 * Whether @nr words at @words begin with an OP_STREAM_BEGIN that this reader
 * understands. Returns 0, -EAGAIN when there are too few words to tell, or
 * -EPROTO with the reason in @diag.
 */
int opd_stream_begins(const uint64_t *words, size_t nr, struct op_diag *diag);

#endif /* DAEMON_SOURCE_OPD_STREAM_H */
