// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Abbreviations. All attributes of all abbreviations are one array: the table
 * of a large unit is read in the time of a few thousand entries, and two
 * allocations for each abbreviation would double that.
 */

#include "libpp/symbols/dwarf_abbrev.h"

#include <errno.h>
#include <stdlib.h>

#include "libop/op_array.h"
#include "libop/op_search.h"

#define MAX_ABBREVS (1u << 20) /* of a unit */
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
	case DW_AT_MIPS_linkage_name:
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
			    uint64_t form, uint32_t len)
{
	abbrev->has_code |= name == DW_AT_low_pc || name == DW_AT_ranges;
	if (name == DW_AT_sibling) {
		abbrev->sibling = abbrev->len;
		abbrev->sibling_form = (uint16_t)form;
	}
	abbrev->len = add_lengths(abbrev->len, len);
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
		describe_abbrev(abbrev, name, value.form, value.len);
		err = add_abbrev_value(table, abbrev, &value);
	}
	return err;
}

static int compare_abbrev_codes(const void *a, const void *b)
{
	const struct pp_abbrev *x = a, *y = b;

	return op_compare(x->code, y->code);
}

/* What an abbreviation has that nobody asks for. */
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
		.sibling = PP_ANY_LENGTH,
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
	uint64_t code;
	int err = 0;

	for (uint32_t nr = 0; nr < MAX_ABBREVS && !err; nr++) {
		code = op_cursor_uleb(&c);
		if (!code || c.failed)
			break;
		if (!only || code == only)
			err = read_abbrev(table, &c, form, code);
		else
			skip_abbrev(&c);
		if (code == only)
			break;
	}
	if (table->nr)
		qsort(table->list, table->nr, sizeof(*table->list),
		      compare_abbrev_codes);
	return err;
}

void pp_abbrevs_release(struct pp_abbrevs *table)
{
	free(table->list);
	free(table->values);
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
