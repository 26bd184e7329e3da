/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_FORMAT_PPROF_STREAM_H
#define LIBPP_FORMAT_PPROF_STREAM_H

/*
 * A pprof file in the making: pieces of one Profile message (profile.proto),
 * packed one after the other and compressed as they come. Messages that stand
 * behind each other are one, whose repeated fields have the elements of all; so
 * nothing but the present piece is kept, and the strings, which have numbers.
 */

#include <stdint.h>
#include <stdio.h>
#include <zlib.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_hash.h"
#include "libpp/format/profile.pb-c.h" /* made from profile.proto */

struct pprof_stream {
	FILE *out;
	z_stream z;
	uint8_t *piece; /* an op_array */
	const char **strings; /* that have a number; likewise */
	uint32_t nr_strings;
	struct op_hash index; /* of strings, their numbers plus 1 */
	struct op_arena arena; /* of what is written of them */
	int err; /* the first one: 0 or -errno; then nothing is written */
};

/* Begin on @out. To be ended whatever the error is. */
void pprof_stream_begin(struct pprof_stream *s, FILE *out);

/* Write what is set in @piece. */
void pprof_stream_put(struct pprof_stream *s, const Pprof__Profile *piece);

/*
 * The number of @text, which stays until the end; NULL is the empty string, 0.
 * A new one is written at once, with U+FFFD for bytes that are no UTF-8.
 */
int64_t pprof_stream_string(struct pprof_stream *s, const char *text);

/* Returns the stream's error; errors of @out are left in its flag. */
int pprof_stream_end(struct pprof_stream *s);

#endif /* LIBPP_FORMAT_PPROF_STREAM_H */
