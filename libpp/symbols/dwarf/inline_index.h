/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_DWARF_INLINE_INDEX_H
#define LIBPP_SYMBOLS_DWARF_INLINE_INDEX_H

/*
 * Which functions were inlined at an address. Making the index reads the first
 * entry of each unit; the functions of a unit, and what was inlined into one of
 * them, are read when an address there is asked for. So the cost is that of the
 * code that has samples; ascending addresses cost least.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpp/symbols/dwarf/dwarf_die.h"

struct pp_inline_index;

/* A function that was inlined. */
struct pp_inlined {
	const char *name; /* as linkers have it where that is known, else with
			     the classes and so on that it is in; the index's */
	uint64_t code; /* where the function is compiled by itself, in its
			  unit, if linkers' name is not known; 0: nowhere */
	uint64_t line_table; /* offset in .debug_line; UINT64_MAX: none */
	uint64_t decl_file, decl_line; /* numbers there; the line may be 0 */
	uint64_t call_line_table; /* of the unit it was inlined in, and */
	uint64_t call_file, call_line; /* where there */
	uint64_t call_discriminator; /* of several calls on that line */
};

/* Files with the entries of units (split DWARF: DWARF 5, section 7.3.2). */
struct pp_split_files {
	/* Set *@dwarf to what the file of @unit has: .debug_info.dwo and the
	 * like, which must outlive the index. False if it is not there. */
	bool (*open)(void *ctx, const struct pp_dwarf_unit *unit,
		     struct pp_dwarf *dwarf);
	void *ctx;
};

/* Index @dwarf, whose bytes must outlive the index, and @files; NULL where
 * there can be none. Returns 0 or -ENOMEM. */
int pp_inline_index_new(struct pp_inline_index **out,
			const struct pp_dwarf *dwarf,
			const struct pp_split_files *files);
void pp_inline_index_free(struct pp_inline_index *index);

/*
 * Put the functions that were inlined at @address into @out, the innermost
 * first, as many as there are up to @max; the function that they were inlined
 * into is not among them. Returns how many; 0 also when memory is short.
 */
size_t pp_inline_index_find(struct pp_inline_index *index, uint64_t address,
			    struct pp_inlined *out, size_t max);

/*
 * Describe the function that @address is in, which is not inlined there: its
 * name, and where it is declared. Returns false when that is not known.
 */
bool pp_inline_index_function(struct pp_inline_index *index, uint64_t address,
			      struct pp_inlined *out);

/* Whether an address that was asked for is of a unit whose entries are in a
 * file of their own that is not there. */
bool pp_inline_index_lacks_file(const struct pp_inline_index *index);

#endif /* LIBPP_SYMBOLS_DWARF_INLINE_INDEX_H */
