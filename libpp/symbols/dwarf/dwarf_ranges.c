// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The addresses of an entry: one range, or a list in a section of its own,
 * whose ranges count from a base. Until version 4 a list has pairs of numbers,
 * in .debug_ranges; from version 5 on, entries of several kinds, in
 * .debug_rnglists. Both may hold anything: what makes no sense ends the list.
 */

#include "libpp/symbols/dwarf/dwarf_die.h"

enum {
	DW_RLE_end_of_list = 0x00,
	DW_RLE_base_addressx = 0x01,
	DW_RLE_startx_endx = 0x02,
	DW_RLE_startx_length = 0x03,
	DW_RLE_offset_pair = 0x04,
	DW_RLE_base_address = 0x05,
	DW_RLE_start_end = 0x06,
	DW_RLE_start_length = 0x07,
};

void pp_die_ranges_init(struct pp_die_ranges *ranges,
			const struct pp_dwarf *dwarf,
			const struct pp_dwarf_unit *unit,
			const struct pp_die *die)
{
	*ranges = (struct pp_die_ranges){
		.dwarf = dwarf,
		.unit = unit,
		.die = die,
		.base = unit->low,
		.is_list = die->has_ranges,
	};
	if (die->has_ranges)
		ranges->c = pp_dwarf_cursor(dwarf,
					    unit->form.version >= 5
						    ? &dwarf->rnglists
						    : &dwarf->ranges,
					    die->ranges);
}

/* Pairs of offsets from the base, or a new base (DWARF 4, section 2.17.3). */
static bool next_pair(struct pp_die_ranges *r, uint64_t *low, uint64_t *high)
{
	size_t size = r->unit->form.address_size;
	uint64_t largest = UINT64_MAX >> (64 - 8 * size);

	for (;;) {
		*low = op_cursor_number(&r->c, size);
		*high = op_cursor_number(&r->c, size);
		if (r->c.failed || (!*low && !*high))
			return false;
		if (*low != largest)
			break;
		r->base = *high;
	}
	*low += r->base;
	*high += r->base;
	return true;
}

/* An entry of a list of version 5 (section 2.17.3); false at the end. An entry
 * that is no range is empty. */
static bool next_list_entry(struct pp_die_ranges *r, uint64_t *low,
			    uint64_t *high)
{
	size_t size = r->unit->form.address_size;
	struct op_cursor *c = &r->c;
	bool ok = true, end_ok = true;

	*low = *high = 0;
	switch (op_cursor_u8(c)) {
	case DW_RLE_base_addressx:
		r->base = pp_dwarf_indexed_address(r->dwarf, r->unit,
						   op_cursor_uleb(c), &ok);
		break;
	case DW_RLE_startx_endx:
		*low = pp_dwarf_indexed_address(r->dwarf, r->unit,
						op_cursor_uleb(c), &ok);
		*high = pp_dwarf_indexed_address(r->dwarf, r->unit,
						 op_cursor_uleb(c), &end_ok);
		break;
	case DW_RLE_startx_length:
		*low = pp_dwarf_indexed_address(r->dwarf, r->unit,
						op_cursor_uleb(c), &ok);
		*high = *low + op_cursor_uleb(c);
		break;
	case DW_RLE_offset_pair:
		*low = r->base + op_cursor_uleb(c);
		*high = r->base + op_cursor_uleb(c);
		break;
	case DW_RLE_base_address:
		r->base = op_cursor_number(c, size);
		break;
	case DW_RLE_start_end:
		*low = op_cursor_number(c, size);
		*high = op_cursor_number(c, size);
		break;
	case DW_RLE_start_length:
		*low = op_cursor_number(c, size);
		*high = *low + op_cursor_uleb(c);
		break;
	default:
		return false;
	}
	return !c->failed && ok && end_ok;
}

bool pp_die_ranges_next(struct pp_die_ranges *r, uint64_t *low, uint64_t *high)
{
	if (!r->is_list) {
		*low = r->die->low;
		*high = r->die->high;
		if (r->is_done || !r->die->has_low || !r->die->has_high ||
		    *low >= *high)
			return false;
		return r->is_done = true;
	}
	while (r->unit->form.version >= 5 ? next_list_entry(r, low, high)
					  : next_pair(r, low, high))
		if (*low < *high)
			return true;
	return false;
}
