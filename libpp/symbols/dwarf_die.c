// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entries of .debug_info. The abbreviations of a unit are read once into an
 * array, since each entry needs one; of an entry all attributes are gone over,
 * as that is the only way to its end, and those that functions need are kept.
 *
 * Values of some forms are indices into tables of the unit, whose places only
 * the unit's first entry tells. That entry may itself have such values before
 * it told the places, so it is read twice.
 */

#include "libpp/symbols/dwarf_die.h"

#include <errno.h>
#include <stdlib.h>

#include "libop/op_array.h"
#include "libop/op_search.h"

enum {
	DW_AT_sibling = 0x01,
	DW_AT_name = 0x03,
	DW_AT_low_pc = 0x11,
	DW_AT_high_pc = 0x12,
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
	DW_AT_MIPS_linkage_name = 0x2007,

	DW_UT_compile = 0x01,
	DW_UT_partial = 0x03,
	DW_UT_skeleton = 0x04,
	DW_UT_split_compile = 0x05,

	DW_RLE_end_of_list = 0x00,
	DW_RLE_base_addressx = 0x01,
	DW_RLE_startx_endx = 0x02,
	DW_RLE_startx_length = 0x03,
	DW_RLE_offset_pair = 0x04,
	DW_RLE_base_address = 0x05,
	DW_RLE_start_end = 0x06,
	DW_RLE_start_length = 0x07,
};

#define MAX_ABBREVS (1u << 20) /* of a unit */

/* ---- units --------------------------------------------------------------- */

bool pp_dwarf_unit_header(const struct pp_dwarf *dwarf, struct op_cursor *all,
			  struct pp_dwarf_unit *unit)
{
	struct op_cursor c;
	size_t offset_size;
	uint8_t type = DW_UT_compile;

	*unit = (struct pp_dwarf_unit){
		.start = (uint64_t)(all->at - dwarf->info.data),
		.line_table = UINT64_MAX,
	};
	c = op_cursor_unit(all, &unit->form.is_64);
	offset_size = unit->form.is_64 ? 8 : 4;
	unit->form.version = (uint8_t)op_cursor_number(&c, 2);
	if (unit->form.version < 5) {
		unit->abbrevs = op_cursor_number(&c, offset_size);
		unit->form.address_size = op_cursor_u8(&c);
	} else {
		type = op_cursor_u8(&c);
		unit->form.address_size = op_cursor_u8(&c);
		unit->abbrevs = op_cursor_number(&c, offset_size);
	}
	if (type == DW_UT_skeleton || type == DW_UT_split_compile)
		op_cursor_skip(&c, 8);
	else if (type != DW_UT_compile && type != DW_UT_partial)
		op_cursor_fail(&c);
	if (c.failed || unit->form.version < 2 || unit->form.version > 5 ||
	    !unit->form.address_size || unit->form.address_size > 8)
		return false;
	unit->first = (uint64_t)(c.at - dwarf->info.data);
	unit->end = (uint64_t)(c.end - dwarf->info.data);
	return true;
}

bool pp_dwarf_next_attribute(struct op_cursor *abbrev, uint64_t *name,
			     uint64_t *form, int64_t *constant)
{
	*name = op_cursor_uleb(abbrev);
	*form = op_cursor_uleb(abbrev);
	*constant =
		*form == DW_FORM_implicit_const ? op_cursor_sleb(abbrev) : 0;
	return !abbrev->failed && (*name || *form);
}

static int compare_abbrev_codes(const void *a, const void *b)
{
	const struct pp_abbrev *x = a, *y = b;

	return op_compare(x->code, y->code);
}

static int read_abbrevs(const struct pp_dwarf *dwarf,
			struct pp_dwarf_unit *unit)
{
	struct op_cursor c =
		pp_dwarf_cursor(dwarf, &dwarf->abbrev, unit->abbrevs);
	uint64_t code, name, form;
	int64_t constant;

	while ((code = op_cursor_uleb(&c)) && unit->nr < MAX_ABBREVS) {
		struct pp_abbrev *abbrev;

		if (op_array_reserve(&unit->list, unit->nr, 1))
			return -ENOMEM;
		abbrev = &unit->list[unit->nr];
		abbrev->code = code;
		abbrev->tag = op_cursor_uleb(&c);
		abbrev->has_children = op_cursor_u8(&c);
		abbrev->at = (uint64_t)(c.at - dwarf->abbrev.data);
		while (pp_dwarf_next_attribute(&c, &name, &form, &constant))
			;
		if (c.failed)
			break;
		unit->nr++;
	}
	if (unit->nr)
		qsort(unit->list, unit->nr, sizeof(*unit->list),
		      compare_abbrev_codes);
	return 0;
}

/* Codes mostly count from 1 on. */
static const struct pp_abbrev *find_abbrev(const struct pp_dwarf_unit *unit,
					   uint64_t code)
{
	const struct pp_abbrev wanted = { .code = code };

	if (code <= unit->nr && unit->list[code - 1].code == code)
		return &unit->list[code - 1];
	return unit->nr ? bsearch(&wanted, unit->list, unit->nr, sizeof(wanted),
				  compare_abbrev_codes)
			: NULL;
}

void pp_dwarf_unit_close(struct pp_dwarf_unit *unit)
{
	free(unit->list);
	unit->list = NULL;
	unit->nr = 0;
}

/* ---- values -------------------------------------------------------------- */

/* Number @index of a table of @size bytes each, from @base of @bytes on. */
static uint64_t indexed_number(const struct pp_dwarf *dwarf,
			       const struct pp_bytes *bytes, uint64_t base,
			       uint64_t index, size_t size, bool *ok)
{
	struct op_cursor c;
	uint64_t at, number;

	if (__builtin_mul_overflow(index, size, &at) ||
	    __builtin_add_overflow(at, base, &at)) {
		*ok = false;
		return 0;
	}
	c = pp_dwarf_cursor(dwarf, bytes, at);
	number = op_cursor_number(&c, size);
	*ok = !c.failed;
	return number;
}

static const char *text_of(const struct pp_dwarf *dwarf,
			   const struct pp_dwarf_unit *unit, uint64_t form,
			   const struct pp_dwarf_value *value)
{
	size_t size = unit->form.is_64 ? 8 : 4;
	struct op_cursor c;
	uint64_t at;
	bool ok;

	if (form != DW_FORM_strx &&
	    (form < DW_FORM_strx1 || form > DW_FORM_strx4))
		return value->text;
	at = indexed_number(dwarf, &dwarf->str_offsets, unit->str_offsets,
			    value->number, size, &ok);
	c = pp_dwarf_cursor(dwarf, &dwarf->str, ok ? at : UINT64_MAX);
	return op_cursor_string(&c);
}

static bool is_indexed_address(uint64_t form)
{
	return form == DW_FORM_addrx ||
	       (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}

static bool is_address(uint64_t form)
{
	return form == DW_FORM_addr || is_indexed_address(form);
}

static uint64_t indexed_address(const struct pp_dwarf *dwarf,
				const struct pp_dwarf_unit *unit,
				uint64_t index, bool *ok)
{
	return indexed_number(dwarf, &dwarf->addr, unit->addr, index,
			      unit->form.address_size, ok);
}

static uint64_t address_of(const struct pp_dwarf *dwarf,
			   const struct pp_dwarf_unit *unit, uint64_t form,
			   uint64_t value, bool *ok)
{
	*ok = true;
	return is_indexed_address(form)
		       ? indexed_address(dwarf, unit, value, ok)
		       : value;
}

/* The entry that a value refers to; those of other files are not to be had. */
static uint64_t reference_of(uint64_t form, uint64_t unit_start, uint64_t value)
{
	uint64_t offset;

	switch (form) {
	case DW_FORM_ref_addr:
		return value;
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		return __builtin_add_overflow(unit_start, value, &offset)
			       ? PP_NO_DIE
			       : offset;
	default:
		return PP_NO_DIE;
	}
}

/* ---- entries ------------------------------------------------------------- */

static void take_ranges(const struct pp_dwarf *dwarf,
			const struct pp_dwarf_unit *unit, uint64_t form,
			uint64_t value, struct pp_die *die)
{
	uint64_t offset = value;

	die->has_ranges = true;
	if (form == DW_FORM_rnglistx) {
		offset = indexed_number(dwarf, &dwarf->rnglists, unit->rnglists,
					value, unit->form.is_64 ? 8 : 4,
					&die->has_ranges);
		die->has_ranges &= !__builtin_add_overflow(
			offset, unit->rnglists, &offset);
	}
	die->ranges = offset;
}

/* The size of the code, or its end. */
static void take_high(const struct pp_dwarf *dwarf,
		      const struct pp_dwarf_unit *unit, uint64_t form,
		      uint64_t value, struct pp_die *die)
{
	if (is_address(form))
		die->high =
			address_of(dwarf, unit, form, value, &die->has_high);
	else
		die->has_high =
			!__builtin_add_overflow(die->low, value, &die->high);
}

static void take_attribute(const struct pp_dwarf *dwarf,
			   const struct pp_dwarf_unit *unit, uint64_t name,
			   uint64_t form, const struct pp_dwarf_value *value,
			   struct pp_die *die)
{
	uint64_t number = value->number;

	switch (name) {
	case DW_AT_sibling:
		die->sibling = reference_of(form, unit->start, number);
		break;
	case DW_AT_name:
		die->name = text_of(dwarf, unit, form, value);
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		die->linkage_name = text_of(dwarf, unit, form, value);
		break;
	case DW_AT_abstract_origin:
	case DW_AT_specification:
		die->origin = reference_of(form, unit->start, number);
		break;
	case DW_AT_low_pc:
		die->low = address_of(dwarf, unit, form, number, &die->has_low);
		break;
	case DW_AT_high_pc:
		take_high(dwarf, unit, form, number, die);
		break;
	case DW_AT_ranges:
		take_ranges(dwarf, unit, form, number, die);
		break;
	case DW_AT_decl_file:
		die->decl_file = number;
		break;
	case DW_AT_decl_line:
		die->decl_line = number;
		break;
	case DW_AT_call_file:
		die->call_file = number;
		break;
	case DW_AT_call_line:
		die->call_line = number;
		break;
	default:
		break;
	}
}

/* What the first entry says about the unit. */
static void take_unit_attribute(struct pp_dwarf_unit *unit, uint64_t name,
				uint64_t value)
{
	switch (name) {
	case DW_AT_stmt_list:
		unit->line_table = value;
		break;
	case DW_AT_str_offsets_base:
		unit->str_offsets = value;
		break;
	case DW_AT_addr_base:
		unit->addr = value;
		break;
	case DW_AT_rnglists_base:
		unit->rnglists = value;
		break;
	default:
		break;
	}
}

/* @of_unit: where to put what a unit's first entry tells; or NULL. */
static bool read_die(const struct pp_dwarf *dwarf,
		     const struct pp_dwarf_unit *unit, uint64_t offset,
		     struct pp_die *die, struct pp_dwarf_unit *of_unit)
{
	struct pp_bytes info = { dwarf->info.data, unit->end };
	struct pp_dwarf_form form = unit->form;
	const struct pp_abbrev *abbrev;
	struct op_cursor c, attributes;
	uint64_t name, code;
	int64_t constant;

	*die = (struct pp_die){ .sibling = PP_NO_DIE, .origin = PP_NO_DIE };
	if (offset < unit->first)
		return false;
	/* Fails at the unit's end, and behind it. */
	c = pp_dwarf_cursor(dwarf, &info, offset);
	code = op_cursor_uleb(&c);
	abbrev = code ? find_abbrev(unit, code) : NULL;
	if (c.failed || (code && !abbrev))
		return false;
	die->next = (uint64_t)(c.at - info.data);
	if (!code)
		return true;
	die->tag = abbrev->tag;
	die->has_children = abbrev->has_children;
	attributes = pp_dwarf_cursor(dwarf, &dwarf->abbrev, abbrev->at);
	while (pp_dwarf_next_attribute(&attributes, &name, &form.form,
				       &constant)) {
		struct pp_dwarf_value value;

		if (form.form == DW_FORM_indirect)
			form.form = op_cursor_uleb(&c);
		value = pp_dwarf_read(dwarf, &c, &form);
		if (form.form == DW_FORM_implicit_const)
			value.number = (uint64_t)constant;
		take_attribute(dwarf, unit, name, form.form, &value, die);
		if (of_unit)
			take_unit_attribute(of_unit, name, value.number);
	}
	die->next = (uint64_t)(c.at - info.data);
	return !c.failed;
}

bool pp_die_read(const struct pp_dwarf *dwarf, const struct pp_dwarf_unit *unit,
		 uint64_t offset, struct pp_die *die)
{
	return read_die(dwarf, unit, offset, die, NULL);
}

int pp_dwarf_unit_open(const struct pp_dwarf *dwarf, struct pp_dwarf_unit *unit)
{
	struct pp_die die;
	int err = read_abbrevs(dwarf, unit);

	if (!err && read_die(dwarf, unit, unit->first, &die, unit) &&
	    read_die(dwarf, unit, unit->first, &die, NULL))
		unit->low = die.low;
	return err;
}

/* ---- ranges -------------------------------------------------------------- */

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
		r->base = indexed_address(r->dwarf, r->unit, op_cursor_uleb(c),
					  &ok);
		break;
	case DW_RLE_startx_endx:
		*low = indexed_address(r->dwarf, r->unit, op_cursor_uleb(c),
				       &ok);
		*high = indexed_address(r->dwarf, r->unit, op_cursor_uleb(c),
					&end_ok);
		break;
	case DW_RLE_startx_length:
		*low = indexed_address(r->dwarf, r->unit, op_cursor_uleb(c),
				       &ok);
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
