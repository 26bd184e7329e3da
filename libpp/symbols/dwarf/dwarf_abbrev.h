/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_DWARF_DWARF_ABBREV_H
#define LIBPP_SYMBOLS_DWARF_DWARF_ABBREV_H

/*
 * The abbreviations of a unit (DWARF 5, section 7.5.3), made ready for reading
 * entries fast. A unit has hundreds of thousands of entries and a thousand
 * abbreviations. So the length of each value is found out once for each
 * abbreviation, and what nobody asks for is jumped over, all neighbours at
 * once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpp/symbols/dwarf/dwarf.h"

enum {
	DW_TAG_class_type = 0x02,
	DW_TAG_lexical_block = 0x0b,
	DW_TAG_compile_unit = 0x11,
	DW_TAG_structure_type = 0x13,
	DW_TAG_union_type = 0x17,
	DW_TAG_inlined_subroutine = 0x1d,
	DW_TAG_module = 0x1e,
	DW_TAG_subprogram = 0x2e,
	DW_TAG_namespace = 0x39,

	DW_AT_sibling = 0x01,
	DW_AT_name = 0x03,
	DW_AT_stmt_list = 0x10,
	DW_AT_low_pc = 0x11,
	DW_AT_high_pc = 0x12,
	DW_AT_comp_dir = 0x1b,
	DW_AT_abstract_origin = 0x31,
	DW_AT_decl_file = 0x3a,
	DW_AT_decl_line = 0x3b,
	DW_AT_specification = 0x47,
	DW_AT_ranges = 0x55,
	DW_AT_call_file = 0x58,
	DW_AT_call_line = 0x59,
	DW_AT_linkage_name = 0x6e,
	DW_AT_str_offsets_base = 0x72,
	DW_AT_addr_base = 0x73,
	DW_AT_rnglists_base = 0x74,
	DW_AT_dwo_name = 0x76,
	DW_AT_MIPS_linkage_name = 0x2007,
	DW_AT_GNU_dwo_name = 0x2130,
	DW_AT_GNU_dwo_id = 0x2131,
	DW_AT_GNU_ranges_base = 0x2132,
	DW_AT_GNU_addr_base = 0x2133,
	DW_AT_GNU_discriminator = 0x2136,
};

#define PP_MAX_ABBREVS (1u << 20) /* of a unit; more are damage */

#define PP_ANY_LENGTH UINT32_MAX
#define PP_NO_PLACE ((struct pp_abbrev_place){ .at = PP_ANY_LENGTH })

/* A value of an entry, or several neighbours that are jumped over. */
struct pp_abbrev_value {
	uint16_t name; /* of the attribute; 0 for what is jumped over */
	uint16_t form;
	uint32_t len; /* bytes; PP_ANY_LENGTH where only reading tells */
	bool is_number; /* of up to 8 bytes, and nothing more */
	int64_t constant; /* with DW_FORM_implicit_const */
};

/* Where entries have the value of an attribute, if that is the same in all. */
struct pp_abbrev_place {
	uint32_t at; /* bytes before it, or PP_ANY_LENGTH where that is not
			told */
	uint32_t len; /* this and the rest as in struct pp_abbrev_value */
	uint16_t form;
	int64_t constant;
};

/* An abbreviation: the layout of all entries that name its code. */
struct pp_abbrev {
	uint64_t code;
	uint64_t tag;
	bool has_children;
	bool has_code; /* an address, or ranges of addresses */
	uint32_t len; /* bytes of all values, or PP_ANY_LENGTH */
	struct pp_abbrev_place sibling, low, high, ranges;
	size_t first, nr; /* of the values */
};

/* How to pass over an entry fast. */
struct pp_shape {
	const struct pp_abbrev *abbrev;
	uint32_t len; /* bytes, with the code of the abbreviation; 0 where that
			 is not so simple */
	uint32_t sibling; /* bytes before a reference of 4 bytes to what is
			     behind the children; 0 without */
	bool has_children;
	bool is_plain; /* neither the entry nor what is in it has code */
};

struct pp_abbrevs {
	struct pp_abbrev *list; /* by code */
	size_t nr;
	struct pp_abbrev_value *values;
	size_t nr_values;
	struct pp_shape *shapes; /* 256, by the first byte of an entry */
};

/* Read the next attribute of an abbreviation; false after the last. @constant
 * is set for a form that has its value in the abbreviation. */
bool pp_dwarf_next_attribute(struct op_cursor *abbrev, uint64_t *name,
			     uint64_t *form, int64_t *constant);

/*
 * Read the abbreviations at @offset of .debug_abbrev for a unit whose values
 * have @form: all, or the one of code @only if that is not 0. The table is all
 * zeros before. What makes no sense ends the table. Returns 0 or
 * -ENOMEM; to be released either way.
 */
int pp_abbrevs_read(struct pp_abbrevs *table, const struct pp_dwarf *dwarf,
		    uint64_t offset, const struct pp_dwarf_form *form,
		    uint64_t only);
void pp_abbrevs_release(struct pp_abbrevs *table);

/* NULL if there is none. */
const struct pp_abbrev *pp_abbrevs_find(const struct pp_abbrevs *table,
					uint64_t code);

#endif /* LIBPP_SYMBOLS_DWARF_DWARF_ABBREV_H */
