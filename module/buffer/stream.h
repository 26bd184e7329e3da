/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_STREAM_H
#define MODULE_STREAM_H

/*
 * Words of the stream, put together in memory of the caller, who sees to it
 * that there is room.
 */

#include <linux/string.h>
#include <linux/types.h>
#include <asm/local.h>

#include "buffer/op_ring.h"
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

/* A sample of @counter, or a caller, which is of counter 0. */
static inline void stream_sample(struct stream *stream, u64 offset, u64 counter)
{
	u64 *to = stream->words + stream->nr;

	to[0] = offset;
	to[1] = counter;
	stream->nr += 2;
}

/* The head of a record; its @nr_words words are to follow. */
static inline void stream_code(struct stream *stream, enum op_code code,
			       u32 nr_words)
{
	stream_word(stream, OP_ESCAPE);
	stream_word(stream, OP_CODE_WORD(code, 0, nr_words));
}

/* Copy @nr words. Those of a slot of op_ring.h are copied without a loop, as
 * long records are moved in such pieces. */
static __always_inline void stream_copy(u64 *to, const u64 *from,
					unsigned int nr)
{
	unsigned int i;

	if (nr == OP_RING_SLOT_WORDS) {
		memcpy(to, from, OP_RING_SLOT_WORDS * sizeof(*to));
		return;
	}
	for (i = 0; i < nr; i++)
		to[i] = from[i];
}

/* The image, or anonymous memory, that the user sample @place is in. */
void stream_image(struct stream *stream, const struct op_sample *place);

/* Whether two user samples are in the same. */
bool stream_same_image(const struct op_sample *a, const struct op_sample *b);

#endif /* MODULE_STREAM_H */
