// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The folders that units were compiled in, by the line table of the unit. Up
 * to DWARF 4 a line table has relative names and does not tell what they are
 * relative to; only the first entry of the unit in .debug_info does. So of
 * each unit the first entry is read, as far as its two attributes, and nothing
 * else.
 */

#include "libpp/symbols/dwarf_dirs.h"

#include <errno.h>
#include <stdlib.h>

#include "libop/op_array.h"
#include "libop/op_search.h"

enum {
	DW_AT_stmt_list = 0x10,
	DW_AT_comp_dir = 0x1b,

	DW_UT_compile = 0x01,
	DW_UT_partial = 0x03,
	DW_UT_skeleton = 0x04,
	DW_UT_split_compile = 0x05,
};

/* The first entry's is one of the first; a damaged file may have none. */
#define MAX_ABBREVS 256

struct unit {
	struct pp_dwarf_form form;
	uint64_t abbrevs; /* offset of its abbreviations */
};

/* Read what stands before the entries of a unit; @c is then at the first. */
static void read_unit(struct op_cursor *c, struct unit *unit)
{
	size_t offset_size = unit->form.is_64 ? 8 : 4;
	uint8_t type;

	unit->form.version = (uint8_t)op_cursor_number(c, 2);
	if (unit->form.version < 2 || unit->form.version > 5)
		op_cursor_fail(c);
	if (unit->form.version < 5) {
		unit->abbrevs = op_cursor_number(c, offset_size);
		unit->form.address_size = op_cursor_u8(c);
	} else {
		type = op_cursor_u8(c);
		unit->form.address_size = op_cursor_u8(c);
		unit->abbrevs = op_cursor_number(c, offset_size);
		if (type == DW_UT_skeleton || type == DW_UT_split_compile)
			op_cursor_skip(c, 8);
		else if (type != DW_UT_compile && type != DW_UT_partial)
			op_cursor_fail(c);
	}
	if (unit->form.address_size > 8)
		op_cursor_fail(c);
}

/* One pair of an abbreviation; false behind the last. */
static bool next_attribute(struct op_cursor *abbrev, uint64_t *name,
			   uint64_t *form)
{
	*name = op_cursor_uleb(abbrev);
	*form = op_cursor_uleb(abbrev);
	if (*form == DW_FORM_implicit_const)
		op_cursor_sleb(abbrev);
	return !abbrev->failed && (*name || *form);
}

/* Go to the attributes of abbreviation @code. */
static bool find_abbrev(struct op_cursor *abbrev, uint64_t code)
{
	uint64_t this, name, form;

	for (unsigned int nr = 0; nr < MAX_ABBREVS; nr++) {
		this = op_cursor_uleb(abbrev);
		if (!this || abbrev->failed)
			return false;
		op_cursor_uleb(abbrev); /* tag */
		op_cursor_u8(abbrev); /* whether it has children */
		if (this == code)
			return !abbrev->failed;
		while (next_attribute(abbrev, &name, &form))
			;
	}
	return false;
}

static bool read_dir(const struct pp_dwarf *dwarf, struct op_cursor *c,
		     struct unit *unit, struct pp_dwarf_dir *dir)
{
	bool has_table = false;
	struct op_cursor abbrev;
	uint64_t name;

	read_unit(c, unit);
	abbrev = pp_dwarf_cursor(dwarf, &dwarf->abbrev, unit->abbrevs);
	if (c->failed || !find_abbrev(&abbrev, op_cursor_uleb(c)))
		return false;
	dir->dir = NULL;
	while (!(has_table && dir->dir) && !c->failed &&
	       next_attribute(&abbrev, &name, &unit->form.form)) {
		struct pp_dwarf_value value =
			pp_dwarf_read(dwarf, c, &unit->form);

		if (name == DW_AT_stmt_list) {
			dir->table = value.number;
			has_table = true;
		} else if (name == DW_AT_comp_dir) {
			dir->dir = value.text;
		}
	}
	return !c->failed && has_table && dir->dir;
}

static int add_compile_dir(struct pp_dwarf_dirs *dirs,
			   const struct pp_dwarf_dir *dir)
{
	int err = op_array_reserve(&dirs->list, dirs->nr, 1);

	if (!err)
		dirs->list[dirs->nr++] = *dir;
	return err;
}

static int compare_line_tables(const void *a, const void *b)
{
	const struct pp_dwarf_dir *x = a, *y = b;

	return op_compare(x->table, y->table);
}

int pp_dwarf_dirs_init(struct pp_dwarf_dirs *dirs, const struct pp_dwarf *dwarf)
{
	struct op_cursor all = pp_dwarf_cursor(dwarf, &dwarf->info, 0);
	int err = 0;

	*dirs = (struct pp_dwarf_dirs){ 0 };
	while (!err && op_cursor_left(&all)) {
		struct pp_dwarf_dir dir;
		struct unit unit = { 0 };
		struct op_cursor c = op_cursor_unit(&all, &unit.form.is_64);

		if (!c.failed && read_dir(dwarf, &c, &unit, &dir))
			err = add_compile_dir(dirs, &dir);
	}
	if (dirs->nr)
		qsort(dirs->list, dirs->nr, sizeof(*dirs->list),
		      compare_line_tables);
	return err;
}

void pp_dwarf_dirs_release(struct pp_dwarf_dirs *dirs)
{
	free(dirs->list);
	*dirs = (struct pp_dwarf_dirs){ 0 };
}

const char *pp_dwarf_dirs_find(const struct pp_dwarf_dirs *dirs, uint64_t table)
{
	struct pp_dwarf_dir wanted = { .table = table };
	const struct pp_dwarf_dir *found =
		dirs->nr ? bsearch(&wanted, dirs->list, dirs->nr,
				   sizeof(wanted), compare_line_tables)
			 : NULL;

	return found ? found->dir : NULL;
}
