// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Entries of .debug_info. The abbreviations of a unit are read once, since each
 * entry needs one. The values of an entry are gone over up to its end unless
 * the abbreviation tells their length, and those that functions need are kept.
 *
 * Values of some forms are indices into tables of the unit, whose places only
 * the unit's first entry tells. That entry may itself have such values before
 * it told the places, so it is read twice.
 */

#include "libpp/symbols/dwarf/dwarf_die.h"

#include <errno.h>
#include <stdlib.h>

#include "libop/base/op_array.h"
#include "libop/base/op_search.h"

enum {
	DW_UT_compile = 0x01,
	DW_UT_partial = 0x03,
	DW_UT_skeleton = 0x04,
	DW_UT_split_compile = 0x05,
};

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
		unit->split_id = op_cursor_number(&c, 8);
	else if (type != DW_UT_compile && type != DW_UT_partial)
		op_cursor_fail(&c);
	if (c.failed || unit->form.version < 2 || unit->form.version > 5 ||
	    !unit->form.address_size || unit->form.address_size > 8)
		return false;
	/* The tables of its file have one header each, which these are behind
	 * (sections 7.26 and 7.28). */
	if (type == DW_UT_split_compile) {
		unit->str_offsets = unit->form.is_64 ? 16 : 8;
		unit->rnglists = unit->form.is_64 ? 20 : 12;
	}
	unit->first = (uint64_t)(c.at - dwarf->info.data);
	unit->end = (uint64_t)(c.end - dwarf->info.data);
	return true;
}

void pp_dwarf_unit_close(struct pp_dwarf_unit *unit)
{
	pp_abbrevs_release(&unit->table);
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

	if (form != DW_FORM_strx && form != DW_FORM_GNU_str_index &&
	    (form < DW_FORM_strx1 || form > DW_FORM_strx4))
		return value->text;
	at = indexed_number(dwarf, &dwarf->str_offsets, unit->str_offsets,
			    value->number, size, &ok);
	c = pp_dwarf_cursor(dwarf, &dwarf->str, ok ? at : UINT64_MAX);
	return op_cursor_string(&c);
}

static bool is_indexed_address(uint64_t form)
{
	return form == DW_FORM_addrx || form == DW_FORM_GNU_addr_index ||
	       (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}

static bool is_address(uint64_t form)
{
	return form == DW_FORM_addr || is_indexed_address(form);
}

uint64_t pp_dwarf_indexed_address(const struct pp_dwarf *dwarf,
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
		       ? pp_dwarf_indexed_address(dwarf, unit, value, ok)
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

static void set_die_ranges(const struct pp_dwarf *dwarf,
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
	} else {
		die->has_ranges =
			!__builtin_add_overflow(offset, unit->ranges, &offset);
	}
	die->ranges = offset;
}

/* The size of the code, or its end. */
static void set_die_high(const struct pp_dwarf *dwarf,
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

static void set_die_attribute(const struct pp_dwarf *dwarf,
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
		set_die_high(dwarf, unit, form, number, die);
		break;
	case DW_AT_ranges:
		set_die_ranges(dwarf, unit, form, number, die);
		break;
	case DW_AT_decl_file:
		die->decl_file = number;
		die->has_decl_file = true;
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
	case DW_AT_GNU_discriminator:
		die->call_discriminator = number;
		break;
	default:
		break;
	}
}

/* Store an attribute of the unit's first entry that is about the whole unit. */
static void set_unit_attribute(const struct pp_dwarf *dwarf,
			       struct pp_dwarf_unit *unit, uint64_t name,
			       uint64_t form, const struct pp_dwarf_value *of)
{
	uint64_t value = of->number;

	switch (name) {
	case DW_AT_stmt_list:
		unit->line_table = value;
		break;
	case DW_AT_str_offsets_base:
		unit->str_offsets = value;
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		unit->addr = value;
		break;
	case DW_AT_rnglists_base:
		unit->rnglists = value;
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		unit->split_name = text_of(dwarf, unit, form, of);
		break;
	case DW_AT_comp_dir:
		unit->folder = text_of(dwarf, unit, form, of);
		break;
	case DW_AT_GNU_ranges_base:
		unit->split_ranges = value;
		break;
	case DW_AT_GNU_dwo_id:
		unit->split_id = value;
		break;
	default:
		break;
	}
}

/* The end of a list of children. */
static const struct pp_abbrev no_entry = { .sibling = { .at = PP_ANY_LENGTH },
					   .low = { .at = PP_ANY_LENGTH },
					   .high = { .at = PP_ANY_LENGTH },
					   .ranges = { .at = PP_ANY_LENGTH } };

/* Where the values of the entry at @offset are, and how they look. Returns
 * false for what is no entry; *@abbrev is NULL for the end of a list. */
static inline bool find_values(const struct pp_dwarf *dwarf,
			       const struct pp_dwarf_unit *unit,
			       uint64_t offset, struct op_cursor *c,
			       const struct pp_abbrev **abbrev)
{
	struct pp_bytes info = { dwarf->info.data, unit->end };
	uint64_t code;

	if (offset < unit->first || offset >= unit->end)
		return false;
	*c = pp_dwarf_cursor(dwarf, &info, offset);
	/* Most codes have one byte. */
	code = *c->at < 0x80 ? *c->at++ : op_cursor_uleb(c);
	*abbrev = code ? pp_abbrevs_find(&unit->table, code) : NULL;
	return !c->failed && (!code || *abbrev);
}

static void begin_die(struct pp_die *die, const struct pp_abbrev *abbrev)
{
	*die = (struct pp_die){ .sibling = PP_NO_DIE, .origin = PP_NO_DIE };
	if (!abbrev)
		return;
	die->tag = abbrev->tag;
	die->has_children = abbrev->has_children;
}

/* @of_unit: where to put what a unit's first entry tells; or NULL. */
static bool read_die(const struct pp_dwarf *dwarf,
		     const struct pp_dwarf_unit *unit, uint64_t offset,
		     struct pp_die *die, struct pp_dwarf_unit *of_unit)
{
	struct pp_dwarf_form form = unit->form;
	const struct pp_abbrev *abbrev;
	const struct pp_abbrev_value *v;
	struct op_cursor c;

	if (!find_values(dwarf, unit, offset, &c, &abbrev))
		return false;
	begin_die(die, abbrev);
	for (size_t i = 0; abbrev && i < abbrev->nr; i++) {
		struct pp_dwarf_value value;

		v = &unit->table.values[abbrev->first + i];
		if (!v->name && v->len != PP_ANY_LENGTH) {
			op_cursor_skip(&c, v->len);
			continue;
		}
		form.form = v->form;
		if (form.form == DW_FORM_indirect)
			form.form = op_cursor_uleb(&c);
		if (v->is_number)
			value = (struct pp_dwarf_value){
				.number = op_cursor_number(&c, v->len),
			};
		else
			value = pp_dwarf_read(dwarf, &c, &form);
		if (form.form == DW_FORM_implicit_const)
			value.number = (uint64_t)v->constant;
		set_die_attribute(dwarf, unit, v->name, form.form, &value, die);
		if (of_unit)
			set_unit_attribute(dwarf, of_unit, v->name, form.form,
					   &value);
	}
	die->next = (uint64_t)(c.at - dwarf->info.data);
	return !c.failed;
}

bool pp_die_read(const struct pp_dwarf *dwarf, const struct pp_dwarf_unit *unit,
		 uint64_t offset, struct pp_die *die)
{
	return read_die(dwarf, unit, offset, die, NULL);
}

/* The value at @place of an entry whose values begin at @values. */
static uint64_t number_at_place(const struct pp_dwarf *dwarf,
				const struct pp_dwarf_unit *unit,
				const struct op_cursor *values,
				const struct pp_abbrev_place *place)
{
	struct op_cursor c = *values;
	struct pp_dwarf_form form = unit->form;

	op_cursor_skip(&c, place->at);
	if (place->len == 4 || place->len == 8)
		return op_cursor_number(&c, place->len);
	if (place->form == DW_FORM_implicit_const)
		return (uint64_t)place->constant;
	form.form = place->form;
	return pp_dwarf_read(dwarf, &c, &form).number;
}

/* The values have a known length: nothing is read but the sibling. */
static bool skim_values(const struct pp_dwarf *dwarf,
			const struct pp_dwarf_unit *unit,
			const struct pp_abbrev *abbrev, struct op_cursor *c,
			struct pp_skimmed *out)
{
	const struct op_cursor values = *c;

	op_cursor_skip(c, abbrev->len);
	out->next = (uint64_t)(c->at - dwarf->info.data);
	if (abbrev->sibling.at != PP_ANY_LENGTH)
		out->sibling =
			reference_of(abbrev->sibling.form, unit->start,
				     number_at_place(dwarf, unit, &values,
						     &abbrev->sibling));
	return !c->failed;
}

/* The offset after the children of the entry at @offset, which has @shape;
 * PP_NO_DIE if the entry does not give it. */
static inline uint64_t sibling_of_shape(const struct pp_dwarf *dwarf,
					const struct pp_dwarf_unit *unit,
					uint64_t offset,
					const struct pp_shape *shape)
{
	uint32_t value;

	if (!shape->sibling)
		return PP_NO_DIE;
	memcpy(&value, dwarf->info.data + offset + shape->sibling, 4);
	return unit->start +
	       (dwarf->big_endian ? be32toh(value) : le32toh(value));
}

/* An entry whose abbreviation has a shape. */
static bool skim_shape(const struct pp_dwarf *dwarf,
		       const struct pp_dwarf_unit *unit, uint64_t offset,
		       struct pp_skimmed *out)
{
	const struct pp_shape *shape;

	if (offset < unit->first || offset >= unit->end)
		return false;
	shape = &unit->table.shapes[dwarf->info.data[offset]];
	if (!shape->len || shape->len > unit->end - offset)
		return false;
	*out = (struct pp_skimmed){
		.abbrev = shape->abbrev,
		.values = offset + 1,
		.next = offset + shape->len,
		.sibling = sibling_of_shape(dwarf, unit, offset, shape),
	};
	return true;
}

bool pp_die_skim(const struct pp_dwarf *dwarf, const struct pp_dwarf_unit *unit,
		 uint64_t offset, struct pp_skimmed *out)
{
	const struct pp_abbrev *abbrev;
	struct op_cursor c;
	struct pp_die die;

	if (skim_shape(dwarf, unit, offset, out))
		return true;
	if (!find_values(dwarf, unit, offset, &c, &abbrev))
		return false;
	out->abbrev = abbrev ? abbrev : &no_entry;
	out->sibling = PP_NO_DIE;
	out->values = out->next = (uint64_t)(c.at - dwarf->info.data);
	if (out->abbrev->len != PP_ANY_LENGTH)
		return skim_values(dwarf, unit, out->abbrev, &c, out);
	if (!read_die(dwarf, unit, offset, &die, NULL))
		return false;
	out->next = die.next;
	out->sibling = die.sibling;
	return true;
}

uint64_t pp_die_skip_plain(const struct pp_dwarf *dwarf,
			   const struct pp_dwarf_unit *unit, uint64_t offset)
{
	while (offset < unit->end) {
		const struct pp_shape *shape =
			&unit->table.shapes[dwarf->info.data[offset]];
		uint64_t next = offset + shape->len;

		if (!shape->is_plain || next > unit->end)
			break;
		if (shape->has_children)
			next = sibling_of_shape(dwarf, unit, offset, shape);
		if (next <= offset)
			break;
		offset = next;
	}
	return offset;
}

/* Where to go on behind the entry at @offset and its children: behind the entry
 * alone if these are to be walked through. 0 for an entry without a shape. */
static inline uint64_t end_of_shape(const struct pp_dwarf *dwarf,
				    const struct pp_dwarf_unit *unit,
				    uint64_t offset, bool *opens_list)
{
	const struct pp_shape *shape =
		&unit->table.shapes[dwarf->info.data[offset]];
	uint64_t sibling;

	if (!shape->len || shape->len > unit->end - offset)
		return 0;
	*opens_list = false;
	if (!shape->has_children)
		return offset + shape->len;
	sibling = sibling_of_shape(dwarf, unit, offset, shape);
	*opens_list = sibling == PP_NO_DIE || sibling <= offset;
	return *opens_list ? offset + shape->len : sibling;
}

uint64_t pp_die_skip_children(const struct pp_dwarf *dwarf,
			      const struct pp_dwarf_unit *unit, uint64_t offset)
{
	size_t depth = 1;

	while (depth && offset < unit->end) {
		bool opens_list;
		uint64_t next = end_of_shape(dwarf, unit, offset, &opens_list);

		if (!dwarf->info.data[offset]) {
			depth--;
			offset++;
			continue;
		}
		if (!next) {
			struct pp_skimmed entry;

			if (!pp_die_skim(dwarf, unit, offset, &entry))
				break;
			opens_list = entry.abbrev->has_children &&
				     !pp_die_tells_end(&entry, offset);
			next = entry.abbrev->has_children && !opens_list
				       ? entry.sibling
				       : entry.next;
		}
		depth += opens_list;
		offset = next;
	}
	return depth ? PP_NO_DIE : offset;
}

bool pp_die_read_code(const struct pp_dwarf *dwarf,
		      const struct pp_dwarf_unit *unit, uint64_t offset,
		      const struct pp_skimmed *entry, struct pp_die *die)
{
	const struct pp_abbrev *abbrev = entry->abbrev;
	struct pp_bytes info = { dwarf->info.data, unit->end };
	struct op_cursor values;

	if (abbrev->len == PP_ANY_LENGTH)
		return pp_die_read(dwarf, unit, offset, die);
	values = pp_dwarf_cursor(dwarf, &info, entry->values);
	begin_die(die, abbrev);
	die->next = entry->next;
	die->sibling = entry->sibling;
	if (abbrev->low.at != PP_ANY_LENGTH)
		die->low = address_of(dwarf, unit, abbrev->low.form,
				      number_at_place(dwarf, unit, &values,
						      &abbrev->low),
				      &die->has_low);
	if (abbrev->high.at != PP_ANY_LENGTH)
		set_die_high(dwarf, unit, abbrev->high.form,
			     number_at_place(dwarf, unit, &values,
					     &abbrev->high),
			     die);
	if (abbrev->ranges.at != PP_ANY_LENGTH)
		set_die_ranges(dwarf, unit, abbrev->ranges.form,
			       number_at_place(dwarf, unit, &values,
					       &abbrev->ranges),
			       die);
	return true;
}

/* @only: the code of the abbreviation that is needed; 0 for all. */
static int open_unit_with(const struct pp_dwarf *dwarf,
			  struct pp_dwarf_unit *unit, uint64_t only)
{
	struct pp_die die;
	int err = pp_abbrevs_read(&unit->table, dwarf, unit->abbrevs,
				  &unit->form, only);

	if (!err && read_die(dwarf, unit, unit->first, &die, unit) &&
	    read_die(dwarf, unit, unit->first, &die, unit) && die.has_low)
		unit->low = die.low;
	return err;
}

int pp_dwarf_unit_open(const struct pp_dwarf *dwarf, struct pp_dwarf_unit *unit)
{
	return open_unit_with(dwarf, unit, 0);
}

int pp_dwarf_unit_open_first(const struct pp_dwarf *dwarf,
			     struct pp_dwarf_unit *unit)
{
	struct pp_bytes info = { dwarf->info.data, unit->end };
	struct op_cursor c = pp_dwarf_cursor(dwarf, &info, unit->first);

	return open_unit_with(dwarf, unit, op_cursor_uleb(&c));
}
