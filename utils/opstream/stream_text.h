/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UTILS_OPSTREAM_STREAM_TEXT_H
#define UTILS_OPSTREAM_STREAM_TEXT_H

/*
 * The text form of a stream (doc/abi.md, opstream(1)): one line per record or
 * sample. Printing and parsing are each other's inverse: a line stands for
 * exactly the words it was printed from, whatever they are, so any file can
 * be turned into text and back byte by byte.
 *
 * Nothing here prints, exits or keeps state.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Growing memory; all zero is empty. The text in it is zero-terminated. */
struct stream_buf {
	char *data;
	size_t len; /* bytes in use */
};

void stream_buf_release(struct stream_buf *buf);

/* Append @len bytes. Returns 0 or -ENOMEM. */
int stream_buf_add(struct stream_buf *buf, const void *data, size_t len);

enum stream_unit_kind {
	STREAM_SAMPLE, /* offset and counter */
	STREAM_RECORD, /* escape, code word, payload */
	STREAM_RAW, /* one word that belongs to nothing */
};

/* The sample, record or stray word at a place of a stream. */
struct stream_unit {
	enum stream_unit_kind kind;
	size_t words; /* all of it */
	uint32_t code; /* STREAM_RECORD only, like those below */
	uint32_t flags;
	uint32_t nr_words; /* of the payload */
	const uint64_t *payload;
};

/*
 * Say what the first of the @nr words at @words starts. False when more words
 * are needed to tell; with @last there are no more, and it is true if @nr > 0.
 */
bool stream_unit_at(struct stream_unit *unit, const uint64_t *words, size_t nr,
		    bool last);

/* The name of a code in the text form; NULL for an unknown one. */
const char *stream_code_name(uint32_t code);

/*
 * Append the line for @unit, which starts at @words, with its newline.
 * Returns 0 or -ENOMEM.
 */
int stream_text_print(struct stream_buf *out, const struct stream_unit *unit,
		      const uint64_t *words);

/* Append the line for the @len bytes (below 8) behind the last whole word. */
int stream_text_print_rest(struct stream_buf *out, const void *data,
			   size_t len);

/*
 * Append the bytes that @line stands for (none for a comment). Returns 0,
 * -ENOMEM, or -EINVAL with the reason in *@why, a constant text.
 */
int stream_text_parse(struct stream_buf *out, const char *line,
		      const char **why);

#endif /* UTILS_OPSTREAM_STREAM_TEXT_H */
