/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_INLINE_ANSWERS_H
#define LIBPP_SYMBOLS_INLINE_ANSWERS_H

/*
 * Which functions were inlined at the sampled addresses of one build of a
 * binary, kept in a file beside its digest in the symbol store. Finding that
 * out means reading most of the debug information; looking it up in the file
 * means reading a few kilobytes.
 *
 * The file has a head, the addresses in ascending order, the frames, each
 * address's one behind the other, and the texts, each ended by a zero byte,
 * the first of them empty. An address with PP_INLINE_FUNCTION is that of a
 * function of the symbol table, and its frame, if it has one, is this function
 * itself: its name, and where it is declared. Numbers are in the byte order of
 * the machine. A file of another version, order or build, or with another
 * checksum than its head says, is as good as none.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libop/base/op_hash.h"
#include "libpp/symbols/op_bfd.h"

#define PP_INLINES_SUFFIX ".inlines"

#define PP_INLINE_FUNCTION ((uint64_t)1 << 63)

struct pp_inline_address {
	uint64_t key; /* offset in the binary's file */
	uint32_t first, nr; /* frames, the innermost first */
};

/* Texts are offsets; 0 is none. */
struct pp_inline_frame {
	uint32_t name, file, line, call_file, call_line, call_discriminator;
};

/* All zeros when empty. */
struct pp_inline_answers {
	struct pp_inline_address *addresses;
	size_t nr_addresses, nr_sorted; /* those of the file come first */
	struct pp_inline_frame *frames;
	size_t nr_frames;
	char *texts;
	size_t texts_len;
	struct op_hash by_text; /* of offsets in the texts, plus 1 */
};

/* Read the file @path of the build @id. Returns 0; or -errno with @answers
 * empty: -ENOENT without a file, -EBADMSG for one that is of no use,
 * -ESTALE for one of an earlier version, which the next session replaces. */
int pp_inline_answers_read(struct pp_inline_answers *answers, const char *path,
			   const uint8_t *id, size_t id_len);

/* Whether the answer for @key was read; then *@nr frames are in @out, which
 * live as long as @answers. */
bool pp_inline_answers_find(const struct pp_inline_answers *answers,
			    uint64_t key,
			    struct op_bfd_inlined out[OP_BFD_MAX_INLINED],
			    size_t *nr);

/* Add an answer for the next file; what was found in @answers may move. Returns
 * 0, -EFBIG when there are too many, or -ENOMEM. */
int pp_inline_answers_add(struct pp_inline_answers *answers, uint64_t key,
			  const struct op_bfd_inlined *frames, size_t nr);

/* Add all answers that @from read; returns the same. */
int pp_inline_answers_add_all(struct pp_inline_answers *answers,
			      const struct pp_inline_answers *from);

/* Write all answers to the empty file @to, as those of the build @id. Returns 0
 * or -errno. */
int pp_inline_answers_write(struct pp_inline_answers *answers, FILE *to,
			    const uint8_t *id, size_t id_len);

void pp_inline_answers_release(struct pp_inline_answers *answers);

#endif /* LIBPP_SYMBOLS_INLINE_ANSWERS_H */
