// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The folders that units were compiled in, by the line table of the unit. Up
 * to DWARF 4 a line table has relative names and does not tell what they are
 * relative to; only the first entry of the unit in .debug_info does. So of
 * each unit the first entry is read, as far as its two attributes, and nothing
 * else.
 */

#include "libpp/symbols/dwarf/dwarf_dirs.h"

#include <errno.h>
#include <stdlib.h>

#include "libop/base/op_array.h"
#include "libop/base/op_search.h"
#include "libpp/symbols/dwarf/dwarf_die.h"

/* Go to the attributes of abbreviation @code, which may be anywhere among those
 * of the unit; a damaged file may have none. */
static bool find_attributes(struct op_cursor *abbrev, uint64_t code)
{
	uint64_t this, name, form;
	int64_t constant;

	for (unsigned int nr = 0; nr < PP_MAX_ABBREVS; nr++) {
		this = op_cursor_uleb(abbrev);
		if (!this || abbrev->failed)
			return false;
		op_cursor_uleb(abbrev); /* tag */
		op_cursor_u8(abbrev); /* whether it has children */
		if (this == code)
			return !abbrev->failed;
		while (pp_dwarf_next_attribute(abbrev, &name, &form, &constant))
			;
	}
	return false;
}

static bool read_dir(const struct pp_dwarf *dwarf, struct pp_dwarf_unit *unit,
		     struct pp_dwarf_dir *dir)
{
	struct pp_bytes info = { dwarf->info.data, unit->end };
	struct op_cursor c = pp_dwarf_cursor(dwarf, &info, unit->first);
	struct op_cursor abbrev =
		pp_dwarf_cursor(dwarf, &dwarf->abbrev, unit->abbrevs);
	bool has_table = false;
	int64_t constant;
	uint64_t name;

	if (!find_attributes(&abbrev, op_cursor_uleb(&c)))
		return false;
	dir->dir = NULL;
	while (!(has_table && dir->dir) && !c.failed &&
	       pp_dwarf_next_attribute(&abbrev, &name, &unit->form.form,
				       &constant)) {
		struct pp_dwarf_value value =
			pp_dwarf_read(dwarf, &c, &unit->form);

		if (name == DW_AT_stmt_list) {
			dir->table = value.number;
			has_table = true;
		} else if (name == DW_AT_comp_dir) {
			dir->dir = value.text;
		}
	}
	return !c.failed && has_table && dir->dir;
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
		struct pp_dwarf_unit unit;

		if (pp_dwarf_unit_header(dwarf, &all, &unit) &&
		    read_dir(dwarf, &unit, &dir))
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
