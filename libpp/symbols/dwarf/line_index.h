/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_DWARF_LINE_INDEX_H
#define LIBPP_SYMBOLS_DWARF_LINE_INDEX_H

/*
 * Which source line an address is from. Making the index reads headers alone;
 * the first question is answered after one pass over .debug_line, which keeps
 * only where each sequence lies; the rows of a sequence
 * are made when an address in it is asked for, and kept until one in another
 * is. So ascending addresses cost one further pass at most, and the memory is
 * that of the longest sequence, however large the binary.
 *
 * Of several rows for one address the last counts, as in gdb and binutils.
 * Code that was inlined is of the line that it was written on.
 */

#include "libpp/symbols/dwarf/dwarf.h"

struct pp_line_index;

struct pp_line {
	const char *file; /* its path, without "//", "/./" and "/../"; lives
			     as long as the index, one string per path */
	unsigned int line; /* 0: made by the compiler, of no line */
	unsigned int discriminator; /* of several blocks of code on the line */
};

/*
 * Index @dwarf, whose bytes must outlive the index. A sequence is taken if
 * @is_code, which must outlive the index with @ctx, says that its first address
 * is one of code: linkers leave sequences of what they threw away. Returns 0 or
 * -ENOMEM.
 */
int pp_line_index_new(struct pp_line_index **out, const struct pp_dwarf *dwarf,
		      bool (*is_code)(void *ctx, uint64_t address), void *ctx);
void pp_line_index_free(struct pp_line_index *index);

/*
 * Whether some line program is of a version before 5: then names of files
 * need .debug_info and .debug_abbrev, which are large and may be left out of
 * @dwarf until they are given here.
 */
bool pp_line_index_wants_info(const struct pp_line_index *index);
void pp_line_index_give_info(struct pp_line_index *index,
			     const struct pp_bytes *info,
			     const struct pp_bytes *abbrev);

/* Line programs that make no sense, wholly or in part. */
size_t pp_line_index_damaged(struct pp_line_index *index);

/* Returns false where no line is known; so does want of memory. */
bool pp_line_index_find(struct pp_line_index *index, uint64_t address,
			struct pp_line *line);

/* The path of file @nr of the line table at offset @table, as in struct
 * pp_line; NULL when there is none. */
const char *pp_line_index_file(struct pp_line_index *index, uint64_t table,
			       uint64_t nr);

#endif /* LIBPP_SYMBOLS_DWARF_LINE_INDEX_H */
