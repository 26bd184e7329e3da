// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packs and compresses a message piece by piece. protobuf-c packs a message
 * into memory as a whole, and a profile may have millions of samples; so each
 * piece is a Profile with one element, which is what one element in a large
 * Profile looks like.
 */

#include "libpp/format/pprof_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_utf8.h"

#define GZIP (MAX_WBITS + 16) /* for deflateInit2() */
#define MEM_LEVEL 8 /* zlib's default */
#define REPLACEMENT "\xef\xbf\xbd"

/* ---- bytes --------------------------------------------------------------- */

static void pprof_compress(struct pprof_stream *s, const uint8_t *bytes,
			   size_t len, int flush)
{
	uint8_t out[8192];

	s->z.next_in = (uint8_t *)bytes;
	s->z.avail_in = (unsigned int)len;
	do {
		s->z.next_out = out;
		s->z.avail_out = sizeof(out);
		deflate(&s->z, flush);
		fwrite(out, 1, sizeof(out) - s->z.avail_out, s->out);
	} while (!s->z.avail_out);
}

void pprof_stream_put(struct pprof_stream *s, const Pprof__Profile *piece)
{
	size_t len = pprof__profile__get_packed_size(piece);

	if (!s->err && len > UINT32_MAX)
		s->err = -EFBIG;
	s->err = s->err ?: op_array_reserve(&s->piece, 0, len);
	if (s->err)
		return;
	pprof__profile__pack(piece, s->piece);
	pprof_compress(s, s->piece, len, Z_NO_FLUSH);
}

/* ---- strings ------------------------------------------------------------- */

static const char *utf8_of(struct op_arena *arena, const char *text)
{
	char *clean, *to;

	for (const char *at = text;; at += op_utf8_len(at)) {
		if (!*at)
			return text;
		if (!op_utf8_len(at))
			break;
	}
	to = clean =
		op_arena_alloc(arena, strlen(text) + 1, strlen(REPLACEMENT));
	while (clean && *text) {
		unsigned int len = op_utf8_len(text);

		to = len ? mempcpy(to, text, len)
			 : mempcpy(to, REPLACEMENT, strlen(REPLACEMENT));
		text += len ?: 1;
	}
	return clean;
}

static int add_string(struct pprof_stream *s, const char *text, uint64_t hash)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;
	char *clean = (char *)utf8_of(&s->arena, text);

	if (!clean || op_array_reserve(&s->strings, s->nr_strings, 1))
		return -ENOMEM;
	s->strings[s->nr_strings++] = text;
	op_hash_add(&s->index, hash, s->nr_strings);
	piece.n_string_table = 1;
	piece.string_table = &clean;
	pprof_stream_put(s, &piece);
	return s->err;
}

int64_t pprof_stream_string(struct pprof_stream *s, const char *text)
{
	uint32_t number;
	uint64_t hash;

	text = text ?: "";
	s->err = s->err ?: op_hash_reserve(&s->index, s->nr_strings + 1);
	if (s->err)
		return 0;
	hash = op_hash_text(s->index.seed, text);
	op_hash_each(&s->index, hash, number)
		if (!strcmp(s->strings[number - 1], text))
			return number - 1;
	s->err = add_string(s, text, hash);
	return s->err ? 0 : s->nr_strings - 1;
}

/* ---- all of it ----------------------------------------------------------- */

void pprof_stream_begin(struct pprof_stream *s, FILE *out)
{
	*s = (struct pprof_stream){ .out = out };
	op_arena_init(&s->arena);
	if (deflateInit2(&s->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP,
			 MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
		s->err = -ENOMEM;
	pprof_stream_string(s, ""); /* which is number 0 */
}

int pprof_stream_end(struct pprof_stream *s)
{
	if (!s->err)
		pprof_compress(s, NULL, 0, Z_FINISH);
	deflateEnd(&s->z);
	free(s->piece);
	free(s->strings);
	op_hash_release(&s->index);
	op_arena_release(&s->arena);
	return s->err;
}
