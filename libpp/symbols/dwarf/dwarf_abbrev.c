// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Abbreviations. All attributes of all abbreviations are one array: the table
 * of a large unit is read in the time of a few thousand entries, and two
 * allocations for each abbreviation would double that.
 */

#include "libpp/symbols/dwarf/dwarf_abbrev.h"

#include <errno.h>
#include <stdlib.h>

#include "libop/base/op_array.h"
#include "libop/base/op_search.h"

#define MAX_LENGTH (1u << 30) /* bytes that are jumped over at once */

bool pp_dwarf_next_attribute(struct op_cursor *abbrev, uint64_t *name,
			     uint64_t *form, int64_t *constant)
{
	*name = op_cursor_uleb(abbrev);
	*form = op_cursor_uleb(abbrev);
	*constant =
		*form == DW_FORM_implicit_const ? op_cursor_sleb(abbrev) : 0;
	return !abbrev->failed && (*name || *form);
}

/* Whether entries and units are asked for the attribute. */
static bool is_wanted_attribute(uint64_t name)
{
	switch (name) {
	case DW_AT_sibling:
	case DW_AT_name:
	case DW_AT_stmt_list:
	case DW_AT_low_pc:
	case DW_AT_high_pc:
	case DW_AT_abstract_origin:
	case DW_AT_decl_file:
	case DW_AT_decl_line:
	case DW_AT_specification:
	case DW_AT_ranges:
	case DW_AT_call_file:
	case DW_AT_call_line:
	case DW_AT_GNU_discriminator:
	case DW_AT_linkage_name:
	case DW_AT_str_offsets_base:
	case DW_AT_addr_base:
	case DW_AT_rnglists_base:
	case DW_AT_dwo_name:
	case DW_AT_MIPS_linkage_name:
	case DW_AT_GNU_dwo_name:
	case DW_AT_GNU_dwo_id:
	case DW_AT_GNU_ranges_base:
	case DW_AT_GNU_addr_base:
	case DW_AT_comp_dir:
		return true;
	default:
		return false;
	}
}

/* Values of the other forms with a known length refer to a text, or are in the
 * abbreviation. */
static bool is_number_form(uint64_t form, uint32_t len)
{
	return len && len <= sizeof(uint64_t) && form != DW_FORM_strp &&
	       form != DW_FORM_line_strp && form != DW_FORM_strp_sup &&
	       form != DW_FORM_GNU_strp_alt;
}

static uint32_t add_lengths(uint32_t a, uint32_t b)
{
	return a > MAX_LENGTH || b > MAX_LENGTH ? PP_ANY_LENGTH : a + b;
}

/* Note what one attribute says about all entries of the abbreviation. */
static void describe_abbrev(struct pp_abbrev *abbrev, uint64_t name,
			    const struct pp_abbrev_value *value)
{
	const struct pp_abbrev_place place = {
		.at = abbrev->len,
		.len = value->len,
		.form = value->form,
		.constant = value->constant,
	};

	abbrev->has_code |= name == DW_AT_low_pc || name == DW_AT_ranges;
	if (name == DW_AT_sibling)
		abbrev->sibling = place;
	else if (name == DW_AT_low_pc)
		abbrev->low = place;
	else if (name == DW_AT_high_pc)
		abbrev->high = place;
	else if (name == DW_AT_ranges)
		abbrev->ranges = place;
	abbrev->len = add_lengths(abbrev->len, value->len);
}

static int add_abbrev_value(struct pp_abbrevs *table, struct pp_abbrev *abbrev,
			    const struct pp_abbrev_value *value)
{
	struct pp_abbrev_value *last =
		abbrev->nr ? &table->values[table->nr_values - 1] : NULL;

	if (last && !last->name && !value->name &&
	    add_lengths(last->len, value->len) != PP_ANY_LENGTH) {
		last->len += value->len;
		return 0;
	}
	if (op_array_reserve(&table->values, table->nr_values, 1))
		return -ENOMEM;
	table->values[table->nr_values++] = *value;
	abbrev->nr++;
	return 0;
}

/* Forms and names beyond 16 bits are not known to anybody. */
static int read_abbrev_values(struct pp_abbrevs *table,
			      struct pp_abbrev *abbrev, struct op_cursor *c,
			      const struct pp_dwarf_form *of_unit)
{
	uint64_t name, form;
	int64_t constant;
	int err = 0;

	while (!err && pp_dwarf_next_attribute(c, &name, &form, &constant)) {
		struct pp_dwarf_form sized = *of_unit;
		struct pp_abbrev_value value = {
			.name = is_wanted_attribute(name) ? (uint16_t)name : 0,
			.form = form < UINT16_MAX ? (uint16_t)form : UINT16_MAX,
			.constant = constant,
		};

		sized.form = form;
		value.len = pp_dwarf_length(&sized, PP_ANY_LENGTH);
		value.is_number = is_number_form(form, value.len);
		describe_abbrev(abbrev, name, &value);
		err = add_abbrev_value(table, abbrev, &value);
	}
	return err;
}

static int compare_abbrev_codes(const void *a, const void *b)
{
	const struct pp_abbrev *x = a, *y = b;

	return op_compare(x->code, y->code);
}

/* Entries of these kinds may have entries with code among their children. */
static bool may_hold_code(const struct pp_abbrev *abbrev)
{
	return abbrev->tag == DW_TAG_compile_unit ||
	       abbrev->tag == DW_TAG_module ||
	       abbrev->tag == DW_TAG_namespace ||
	       abbrev->tag == DW_TAG_lexical_block;
}

/* Where the abbreviation is not simple the shape stays all zeros. */
static void set_shape(struct pp_shape *shape, const struct pp_abbrev *abbrev)
{
	bool tells_end = abbrev->sibling.at != PP_ANY_LENGTH;

	if (abbrev->len == PP_ANY_LENGTH ||
	    (tells_end && abbrev->sibling.form != DW_FORM_ref4))
		return;
	*shape = (struct pp_shape){
		.abbrev = abbrev,
		.len = 1 + abbrev->len,
		.sibling = tells_end ? 1 + abbrev->sibling.at : 0,
		.has_children = abbrev->has_children,
		.is_plain = !abbrev->has_code &&
			    (!abbrev->has_children ||
			     (tells_end && !may_hold_code(abbrev))),
	};
}

/* Most codes have one byte. */
static int note_shapes(struct pp_abbrevs *table)
{
	table->shapes = calloc(256, sizeof(*table->shapes));
	if (!table->shapes)
		return -ENOMEM;
	for (size_t i = 0; i < table->nr && table->list[i].code < 0x80; i++)
		set_shape(&table->shapes[table->list[i].code], &table->list[i]);
	return 0;
}

/* Skip an abbreviation: its tag, its flag of children, its attributes. */
static void skip_abbrev(struct op_cursor *c)
{
	uint64_t name, form;
	int64_t constant;

	op_cursor_uleb(c); /* tag */
	op_cursor_u8(c); /* whether it has children */
	while (pp_dwarf_next_attribute(c, &name, &form, &constant))
		;
}

static int read_abbrev(struct pp_abbrevs *table, struct op_cursor *c,
		       const struct pp_dwarf_form *form, uint64_t code)
{
	struct pp_abbrev abbrev = {
		.code = code,
		.sibling = PP_NO_PLACE,
		.low = PP_NO_PLACE,
		.high = PP_NO_PLACE,
		.ranges = PP_NO_PLACE,
		.first = table->nr_values,
	};

	abbrev.tag = op_cursor_uleb(c);
	abbrev.has_children = op_cursor_u8(c);
	if (op_array_reserve(&table->list, table->nr, 1) ||
	    read_abbrev_values(table, &abbrev, c, form))
		return -ENOMEM;
	if (!c->failed)
		table->list[table->nr++] = abbrev;
	return 0;
}

int pp_abbrevs_read(struct pp_abbrevs *table, const struct pp_dwarf *dwarf,
		    uint64_t offset, const struct pp_dwarf_form *form,
		    uint64_t only)
{
	struct op_cursor c = pp_dwarf_cursor(dwarf, &dwarf->abbrev, offset);
	bool is_in_order = true;
	uint64_t code, last = 0;
	int err = 0;

	for (uint32_t nr = 0; nr < PP_MAX_ABBREVS && !err; nr++) {
		code = op_cursor_uleb(&c);
		if (!code || c.failed)
			break;
		is_in_order &= code > last;
		last = code;
		if (!only || code == only)
			err = read_abbrev(table, &c, form, code);
		else
			skip_abbrev(&c);
		if (code == only)
			break;
	}
	if (table->nr && !is_in_order)
		qsort(table->list, table->nr, sizeof(*table->list),
		      compare_abbrev_codes);
	return err || only ? err : note_shapes(table);
}

void pp_abbrevs_release(struct pp_abbrevs *table)
{
	free(table->list);
	free(table->values);
	free(table->shapes);
	*table = (struct pp_abbrevs){ 0 };
}

/* Codes mostly count from 1 on. */
const struct pp_abbrev *pp_abbrevs_find(const struct pp_abbrevs *table,
					uint64_t code)
{
	const struct pp_abbrev wanted = { .code = code };

	if (code <= table->nr && code && table->list[code - 1].code == code)
		return &table->list[code - 1];
	return table->nr ? bsearch(&wanted, table->list, table->nr,
				   sizeof(wanted), compare_abbrev_codes)
			 : NULL;
}
