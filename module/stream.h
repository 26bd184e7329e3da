/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_STREAM_H
#define MODULE_STREAM_H

/*
 * Words of the stream, put together in memory of the caller, who sees to it
 * that there is room.
 */

#include <linux/types.h>

#include "uapi/oprofile.h"

struct op_sample;

/* The most words that stream_image() writes. */
#define STREAM_IMAGE_WORDS 6

struct stream {
	u64 *words;
	unsigned int nr;
};

static inline void stream_word(struct stream *stream, u64 word)
{
	stream->words[stream->nr++] = word;
}

/* The head of a record; its @nr_words words are to follow. */
static inline void stream_code(struct stream *stream, enum op_code code,
			       u32 nr_words)
{
	stream_word(stream, OP_ESCAPE);
	stream_word(stream, OP_CODE_WORD(code, 0, nr_words));
}

/* The image, or anonymous memory, that the user sample @place is in. */
void stream_image(struct stream *stream, const struct op_sample *place);

/* Whether two user samples are in the same. */
bool stream_same_image(const struct op_sample *a, const struct op_sample *b);

#endif /* MODULE_STREAM_H */
