// SPDX-License-Identifier: GPL-2.0-or-later

#include <byteswap.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/source/opd_stream.h"

#define BEGIN_WORDS 5 /* an OP_STREAM_BEGIN as this version writes it */

/* Whether the words at @at could start a CPU switch as far as they go. */
static bool may_be_cpu_switch(const uint64_t *at, const uint64_t *end)
{
	if (at[0] != OP_ESCAPE)
		return false;
	if (end - at > 1 && at[1] != OP_CODE_WORD(OP_CPU_SWITCH, 0, 1))
		return false;
	return end - at <= 2 || at[2] <= OPD_MAX_CPU;
}

bool opd_stream_resync(struct opd_stream *stream)
{
	for (; stream->at < stream->end; stream->at++)
		if (may_be_cpu_switch(stream->at, stream->end))
			return stream->end - stream->at > OPD_HEAD_WORDS;
	return false;
}

int opd_stream_string(const struct opd_rec *rec, size_t at, char *buf,
		      size_t size)
{
	uint64_t len;

	if (at >= rec->nr_words)
		return -EINVAL;
	len = rec->payload[at];
	if (len == 0 || len >= size)
		return -EINVAL;
	if (len > (rec->nr_words - at - 1) * sizeof(uint64_t))
		return -EINVAL;
	memcpy(buf, rec->payload + at + 1, len);
	buf[len] = '\0';
	return memchr(buf, '\0', len) ? -EINVAL : 0;
}

static bool is_begin(uint64_t code_word, uint64_t magic)
{
	return OP_CODE_OF(code_word) == OP_STREAM_BEGIN &&
	       magic == OP_STREAM_MAGIC;
}

int opd_stream_begins(const uint64_t *words, size_t nr, struct op_diag *diag)
{
	if (nr < BEGIN_WORDS)
		return -EAGAIN;
	if (words[0] == OP_ESCAPE &&
	    is_begin(bswap_64(words[1]), bswap_64(words[2])))
		return op_diag_set(
			diag, -EPROTO,
			"was recorded on a machine of the other byte order; replay it on one of that byte order");
	if (words[0] != OP_ESCAPE || !is_begin(words[1], words[2]) ||
	    OP_WORDS_OF(words[1]) < BEGIN_WORDS - OPD_HEAD_WORDS)
		return op_diag_set(
			diag, -EPROTO,
			"is not a recorded stream; give a file written by oprofiled --record");
	if (words[3] != OP_ABI_VERSION)
		return op_diag_set(
			diag, -EPROTO,
			"has version %" PRIu64
			" of the stream, this program reads only %d; use the oprofiled that recorded it",
			words[3], OP_ABI_VERSION);
	if (words[4] != 4 && words[4] != 8)
		return op_diag_set(diag, -EPROTO,
				   "has a pointer size of %" PRIu64
				   " bytes; the file is damaged",
				   words[4]);
	return 0;
}
