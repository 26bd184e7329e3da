/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_SYMTAB_H
#define LIBPP_SYMBOLS_SYMTAB_H

/*
 * From the symbols that a binary lists, which may share addresses, overlap or
 * lack a size, to a table that tells for each key the one symbol it is in.
 */

#include <stddef.h>
#include <stdint.h>

/* Properties by which one of several symbols at one address is preferred. */
#define PP_SYM_FUNCTION 1u /* typed as a function */
#define PP_SYM_GLOBAL 2u
#define PP_SYM_WEAK 4u

/* A symbol as it was found. */
struct pp_raw_symbol {
	const char *name;
	uint64_t key; /* as the keys of the image's samples */
	uint64_t vma; /* address to show */
	uint64_t size; /* bytes; 0 when it is not known */
	uint64_t limit; /* the key where its section ends */
	unsigned int flags; /* PP_SYM_ */
	size_t order; /* in a perf map, where later ones replace others */
};

struct pp_symbol {
	const char *name;
	uint64_t key; /* the first that it covers */
	uint64_t end; /* the first behind it */
	uint64_t vma;
};

/*
 * Choose from @raw (which is sorted in place) and write the table to @out,
 * which has room for @nr. Returns its length: ascending keys, no two symbols
 * overlap, none is empty. A symbol of unknown size reaches to the next one or
 * to its section's end; a known size ends it earlier, unless that would cut
 * out of an enclosing symbol.
 */
size_t pp_symtab_build(struct pp_symbol *out, struct pp_raw_symbol *raw,
		       size_t nr);

#endif /* LIBPP_SYMBOLS_SYMTAB_H */
