// SPDX-License-Identifier: GPL-2.0

#include <linux/kernel.h>
#include <linux/string.h>

#include "buffer/cpu_buffer.h"
#include "buffer/stream.h"

/* The one word of a name of up to eight bytes. */
static u64 word_of(const char *name)
{
	u64 word = 0;

	memcpy(&word, name, strlen(name));
	return word;
}

void stream_image(struct stream *stream, const struct op_sample *place)
{
	static const char *const names[] = {
		[SAMPLE_ANON] = "anon",
		[SAMPLE_HEAP] = "[heap]",
		[SAMPLE_STACK] = "[stack]",
	};

	if (place->space == SAMPLE_IMAGE) {
		stream_code(stream, OP_COOKIE_SWITCH, 1);
		stream_word(stream, place->cookie);
		return;
	}
	stream_code(stream, OP_ANON_SWITCH, 4);
	stream_word(stream, place->anon_start);
	stream_word(stream, place->anon_end);
	stream_word(stream, strlen(names[place->space]));
	stream_word(stream, word_of(names[place->space]));
}

bool stream_same_image(const struct op_sample *a, const struct op_sample *b)
{
	return a->space == b->space && a->cookie == b->cookie &&
	       a->anon_end == b->anon_end;
}
