/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_DWARF_DWARF_DIE_H
#define LIBPP_SYMBOLS_DWARF_DWARF_DIE_H

/*
 * The entries of .debug_info (DWARF 5, chapter 7.5), as far as they tell which
 * function some code was written in: units, and entries with the attributes
 * that functions and their inlined copies have. Offsets are those in
 * .debug_info. All entries may hold anything; what makes no sense reads as the
 * end of the unit.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpp/symbols/dwarf/dwarf_abbrev.h"

/* A unit and what its entries are read with. */
struct pp_dwarf_unit {
	struct pp_dwarf_form form; /* all but the form */
	uint64_t start; /* of its header, from where references count */
	uint64_t first, end; /* of its entries */
	uint64_t abbrevs; /* offset in .debug_abbrev */

	/* From its first entry, for pp_dwarf_unit_open() alone. */
	uint64_t low; /* what ranges are counted from */
	uint64_t line_table; /* offset in .debug_line; UINT64_MAX without */
	uint64_t str_offsets, addr, rnglists; /* where its parts start */
	uint64_t ranges; /* what offsets in .debug_ranges are counted from */
	/* Where its other entries are in a file of their own, what that is
	 * called; NULL where they are not. Then its split_id is that of the
	 * unit there. */
	const char *split_name;
	const char *folder; /* that it was compiled in; NULL: not known */
	uint64_t split_id, split_ranges; /* the latter is ranges there */
	struct pp_abbrevs table;
};

/*
 * Read the header of the unit at @all, a cursor in .debug_info that goes
 * behind the unit. Returns false for what is no unit of code, such as one of
 * types.
 */
bool pp_dwarf_unit_header(const struct pp_dwarf *dwarf, struct op_cursor *all,
			  struct pp_dwarf_unit *unit);

/*
 * Make a unit that has its header ready for the functions below. Returns 0 or
 * -ENOMEM; to be closed either way.
 */
int pp_dwarf_unit_open(const struct pp_dwarf *dwarf,
		       struct pp_dwarf_unit *unit);
/* The same for the first entry alone, which needs one abbreviation. */
int pp_dwarf_unit_open_first(const struct pp_dwarf *dwarf,
			     struct pp_dwarf_unit *unit);
void pp_dwarf_unit_close(struct pp_dwarf_unit *unit);

#define PP_NO_DIE UINT64_MAX

struct pp_die {
	uint64_t next; /* offset behind its attributes */
	uint64_t tag; /* 0 for the end of a list of children */
	bool has_children;
	uint64_t sibling; /* behind its children; PP_NO_DIE if not given */
	uint64_t origin; /* that it is a copy of, or that it completes; or
			    PP_NO_DIE */
	const char *name, *linkage_name; /* in a section; NULL for none */
	bool has_decl_file;
	uint64_t decl_file, decl_line; /* numbers of the unit's line table */
	uint64_t call_file, call_line, call_discriminator;
	bool has_low, has_high, has_ranges;
	uint64_t low, high, ranges; /* the last as an offset */
};

/* Read the entry at @offset of a unit that is open. Returns false when it makes
 * no sense, or is not in the unit. */
bool pp_die_read(const struct pp_dwarf *dwarf, const struct pp_dwarf_unit *unit,
		 uint64_t offset, struct pp_die *die);

/* An entry that a walk over entries jumps over. */
struct pp_skimmed {
	const struct pp_abbrev *abbrev; /* tag 0 for the end of a list of
					   children */
	uint64_t values; /* offset of its attributes */
	uint64_t next, sibling; /* as in struct pp_die */
};

/* Whether the entry @entry at @offset tells where its children end. */
static inline bool pp_die_tells_end(const struct pp_skimmed *entry,
				    uint64_t offset)
{
	return entry->abbrev->has_children && entry->sibling != PP_NO_DIE &&
	       entry->sibling > offset;
}

/* The same as pp_die_read(), but most values are not looked at: some ten times
 * as fast. */
bool pp_die_skim(const struct pp_dwarf *dwarf, const struct pp_dwarf_unit *unit,
		 uint64_t offset, struct pp_skimmed *out);

/* The first entry from @offset on that may have code, or have entries with code
 * in it; other entries may be returned, too. */
uint64_t pp_die_skip_plain(const struct pp_dwarf *dwarf,
			   const struct pp_dwarf_unit *unit, uint64_t offset);

/* The offset behind the end of the list of children that begins at @offset, or
 * PP_NO_DIE if that makes no sense. */
uint64_t pp_die_skip_children(const struct pp_dwarf *dwarf,
			      const struct pp_dwarf_unit *unit,
			      uint64_t offset);

/* Read nothing but the addresses of @entry, which is at @offset: several times
 * as fast as pp_die_read(). What else @die has need not be there. */
bool pp_die_read_code(const struct pp_dwarf *dwarf,
		      const struct pp_dwarf_unit *unit, uint64_t offset,
		      const struct pp_skimmed *entry, struct pp_die *die);

/* Number @index of the unit's addresses in .debug_addr; *@ok tells whether
 * there is one. */
uint64_t pp_dwarf_indexed_address(const struct pp_dwarf *dwarf,
				  const struct pp_dwarf_unit *unit,
				  uint64_t index, bool *ok);

/* Ranges of addresses, one after the other. */
struct pp_die_ranges {
	const struct pp_dwarf *dwarf;
	const struct pp_dwarf_unit *unit;
	const struct pp_die *die;
	struct op_cursor c;
	uint64_t base;
	bool is_list, is_done;
};

void pp_die_ranges_init(struct pp_die_ranges *ranges,
			const struct pp_dwarf *dwarf,
			const struct pp_dwarf_unit *unit,
			const struct pp_die *die);

/* The next range that is not empty; false behind the last. */
bool pp_die_ranges_next(struct pp_die_ranges *ranges, uint64_t *low,
			uint64_t *high);

#endif /* LIBPP_SYMBOLS_DWARF_DWARF_DIE_H */
