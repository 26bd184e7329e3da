// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The values of DWARF by their forms (DWARF 5, section 7.5.6). A value is a
 * number or a text; of everything else only the length matters, to get to the
 * next value. A form that is not known makes the rest of its unit unreadable,
 * since nothing tells how long it is.
 */

#include "libpp/symbols/dwarf/dwarf.h"

/* Bytes of a form whose length is always the same, plus one; 0 for others. */
static const uint8_t fixed_sizes[] = {
	[DW_FORM_data1] = 2,	      [DW_FORM_flag] = 2,
	[DW_FORM_ref1] = 2,	      [DW_FORM_strx1] = 2,
	[DW_FORM_addrx1] = 2,	      [DW_FORM_data2] = 3,
	[DW_FORM_ref2] = 3,	      [DW_FORM_strx2] = 3,
	[DW_FORM_addrx2] = 3,	      [DW_FORM_strx3] = 4,
	[DW_FORM_addrx3] = 4,	      [DW_FORM_data4] = 5,
	[DW_FORM_ref4] = 5,	      [DW_FORM_ref_sup4] = 5,
	[DW_FORM_strx4] = 5,	      [DW_FORM_addrx4] = 5,
	[DW_FORM_data8] = 9,	      [DW_FORM_ref8] = 9,
	[DW_FORM_ref_sig8] = 9,	      [DW_FORM_ref_sup8] = 9,
	[DW_FORM_flag_present] = 1,   [DW_FORM_data16] = 17,
	[DW_FORM_implicit_const] = 1,
};

uint32_t pp_dwarf_length(const struct pp_dwarf_form *form, uint32_t any)
{
	uint32_t offset_size = form->is_64 ? 8 : 4;

	if (form->form < sizeof(fixed_sizes) && fixed_sizes[form->form])
		return fixed_sizes[form->form] - 1u;
	switch (form->form) {
	case DW_FORM_strp:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_GNU_ref_alt:
		return offset_size;
	case DW_FORM_addr:
		return form->address_size;
	case DW_FORM_ref_addr:
		/* Version 2 took the size of an address. */
		return form->version < 3 ? form->address_size : offset_size;
	default:
		return any;
	}
}

static void skip_block(struct op_cursor *c, uint64_t form)
{
	switch (form) {
	case DW_FORM_block1:
		op_cursor_skip(c, op_cursor_u8(c));
		break;
	case DW_FORM_block2:
		op_cursor_skip(c, op_cursor_number(c, 2));
		break;
	case DW_FORM_block4:
		op_cursor_skip(c, op_cursor_number(c, 4));
		break;
	default:
		op_cursor_skip(c, op_cursor_uleb(c));
	}
}

static struct pp_dwarf_value dwarf_number(uint64_t value)
{
	return (struct pp_dwarf_value){ .number = value };
}

static struct pp_dwarf_value dwarf_text(const char *value)
{
	return (struct pp_dwarf_value){ .text = value };
}

/* The string at @offset of a section of strings. */
static struct pp_dwarf_value dwarf_text_at(const struct pp_dwarf *dwarf,
					   const struct pp_bytes *strings,
					   uint64_t offset)
{
	struct op_cursor c = pp_dwarf_cursor(dwarf, strings, offset);

	return dwarf_text(op_cursor_string(&c));
}

static struct pp_dwarf_value read_fixed(struct op_cursor *c, size_t size)
{
	if (size <= sizeof(uint64_t))
		return dwarf_number(op_cursor_number(c, size));
	op_cursor_skip(c, size);
	return dwarf_number(0);
}

struct pp_dwarf_value pp_dwarf_read(const struct pp_dwarf *dwarf,
				    struct op_cursor *c,
				    const struct pp_dwarf_form *form)
{
	uint32_t len = pp_dwarf_length(form, UINT32_MAX);
	uint64_t code = form->form;
	struct pp_dwarf_value fixed = { 0 };

	if (len != UINT32_MAX)
		fixed = read_fixed(c, len);
	switch (code) {
	case DW_FORM_string:
		return dwarf_text(op_cursor_string(c));
	case DW_FORM_strp:
		return dwarf_text_at(dwarf, &dwarf->str, fixed.number);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		return dwarf_text_at(dwarf, &dwarf->shared_str, fixed.number);
	case DW_FORM_line_strp:
		return dwarf_text_at(dwarf, &dwarf->line_str, fixed.number);
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
	case DW_FORM_rnglistx:
		return dwarf_number(op_cursor_uleb(c));
	case DW_FORM_sdata:
		return dwarf_number((uint64_t)op_cursor_sleb(c));
	case DW_FORM_block:
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
	case DW_FORM_exprloc:
		skip_block(c, code);
		return dwarf_number(0);
	default:
		if (len == UINT32_MAX)
			op_cursor_fail(c);
		return fixed;
	}
}
