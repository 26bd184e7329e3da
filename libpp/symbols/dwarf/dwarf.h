/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_SYMBOLS_DWARF_DWARF_H
#define LIBPP_SYMBOLS_DWARF_DWARF_H

/*
 * The sections of DWARF, versions 2 to 5, that tell source lines and inlined
 * functions. Each may be empty; their bytes stay the owner's and must outlive
 * what is made of them.
 */

#include "libop/base/op_cursor.h"

struct pp_bytes {
	const uint8_t *data; /* borrowed */
	size_t len;
};

struct pp_dwarf {
	struct pp_bytes line; /* .debug_line */
	struct pp_bytes line_str; /* .debug_line_str */
	struct pp_bytes str; /* .debug_str */
	struct pp_bytes shared_str; /* .debug_str of the file that dwz made */
	struct pp_bytes info; /* .debug_info */
	struct pp_bytes abbrev; /* .debug_abbrev */

	/* For inlined functions. */
	struct pp_bytes ranges; /* .debug_ranges */
	struct pp_bytes rnglists; /* .debug_rnglists */
	struct pp_bytes addr; /* .debug_addr */
	struct pp_bytes str_offsets; /* .debug_str_offsets */
	bool big_endian;
};

/* From byte @offset of @bytes on. */
static inline struct op_cursor pp_dwarf_cursor(const struct pp_dwarf *dwarf,
					       const struct pp_bytes *bytes,
					       uint64_t offset)
{
	struct op_cursor c = op_cursor(bytes->data, bytes->len);

	c.big_endian = dwarf->big_endian;
	if (offset)
		op_cursor_skip(&c, offset);
	return c;
}

/* Numbers from the DWARF standard, section 7. */
enum {
	DW_FORM_addr = 0x01,
	DW_FORM_block2 = 0x03,
	DW_FORM_block4 = 0x04,
	DW_FORM_data2 = 0x05,
	DW_FORM_data4 = 0x06,
	DW_FORM_data8 = 0x07,
	DW_FORM_string = 0x08,
	DW_FORM_block = 0x09,
	DW_FORM_block1 = 0x0a,
	DW_FORM_data1 = 0x0b,
	DW_FORM_flag = 0x0c,
	DW_FORM_sdata = 0x0d,
	DW_FORM_strp = 0x0e,
	DW_FORM_udata = 0x0f,
	DW_FORM_ref_addr = 0x10,
	DW_FORM_ref1 = 0x11,
	DW_FORM_ref2 = 0x12,
	DW_FORM_ref4 = 0x13,
	DW_FORM_ref8 = 0x14,
	DW_FORM_ref_udata = 0x15,
	DW_FORM_indirect = 0x16,
	DW_FORM_sec_offset = 0x17,
	DW_FORM_exprloc = 0x18,
	DW_FORM_flag_present = 0x19,
	DW_FORM_strx = 0x1a,
	DW_FORM_addrx = 0x1b,
	DW_FORM_ref_sup4 = 0x1c,
	DW_FORM_strp_sup = 0x1d,
	DW_FORM_data16 = 0x1e,
	DW_FORM_line_strp = 0x1f,
	DW_FORM_ref_sig8 = 0x20,
	DW_FORM_implicit_const = 0x21,
	DW_FORM_loclistx = 0x22,
	DW_FORM_rnglistx = 0x23,
	DW_FORM_ref_sup8 = 0x24,
	DW_FORM_strx1 = 0x25,
	DW_FORM_strx2 = 0x26,
	DW_FORM_strx3 = 0x27,
	DW_FORM_strx4 = 0x28,
	DW_FORM_addrx1 = 0x29,
	DW_FORM_addrx2 = 0x2a,
	DW_FORM_addrx3 = 0x2b,
	DW_FORM_addrx4 = 0x2c,
	DW_FORM_GNU_addr_index = 0x1f01,
	DW_FORM_GNU_str_index = 0x1f02,
	DW_FORM_GNU_ref_alt = 0x1f20,
	DW_FORM_GNU_strp_alt = 0x1f21,
};

/*
 * A form, with the facts of the unit that the length of its values depends on.
 */
struct pp_dwarf_form {
	uint64_t form;
	uint8_t version; /* of the unit */
	uint8_t address_size; /* bytes */
	bool is_64; /* offsets have 8 bytes */
};

/* How many bytes each value of a form takes; @any where that depends on the
 * value, and for a form that is not known. */
uint32_t pp_dwarf_length(const struct pp_dwarf_form *form, uint32_t any);

struct pp_dwarf_value {
	uint64_t number; /* 0 for what is none */
	const char *text; /* NULL likewise, or when it is elsewhere */
};

/* Read one value and go behind it; the cursor fails on an unknown form. */
struct pp_dwarf_value pp_dwarf_read(const struct pp_dwarf *dwarf,
				    struct op_cursor *c,
				    const struct pp_dwarf_form *form);

#endif /* LIBPP_SYMBOLS_DWARF_DWARF_H */
