// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Headers of line programs (DWARF 5, section 6.2.4). Version 5 describes the
 * columns of its tables of folders and files; earlier versions have two lists
 * of strings. The tables are read again for each name that is asked for: a
 * program names hundreds of files, and samples are in few of them.
 */

#include "libpp/symbols/dwarf/line_program.h"

enum {
	DW_LNCT_path = 1,
	DW_LNCT_directory_index = 2,
};

/* More columns than a table of DWARF 5 can have a use for. */
#define MAX_COLUMNS 16

static void read_numbers(struct op_cursor *c, struct pp_line_header *header)
{
	header->min_length = op_cursor_u8(c);
	header->max_ops = header->form.version >= 4 ? op_cursor_u8(c) : 1;
	op_cursor_u8(c); /* whether a row is a statement at first */
	header->line_base = (int8_t)op_cursor_u8(c);
	header->line_range = op_cursor_u8(c);
	header->opcode_base = op_cursor_u8(c);
	if (!header->line_range || !header->opcode_base)
		op_cursor_fail(c);
	header->opcode_args = c->at;
	if (header->opcode_base)
		op_cursor_skip(c, header->opcode_base - 1u);
	if (!header->max_ops)
		header->max_ops = 1;
}

bool pp_line_header_read(const struct pp_dwarf *dwarf, struct op_cursor *c,
			 struct pp_line_header *header)
{
	struct op_cursor unit;
	const uint8_t *tables;
	uint64_t len;

	*header = (struct pp_line_header){ 0 };
	header->offset = (uint64_t)(c->at - dwarf->line.data);
	unit = op_cursor_unit(c, &header->form.is_64);
	header->form.version = (uint8_t)op_cursor_number(&unit, 2);
	if (header->form.version < 2 || header->form.version > 5)
		return false;
	if (header->form.version == 5) {
		header->form.address_size = op_cursor_u8(&unit);
		op_cursor_u8(&unit); /* bytes of a segment selector */
	}
	len = op_cursor_number(&unit, header->form.is_64 ? 8 : 4);
	if (unit.failed || len > op_cursor_left(&unit))
		return false;
	header->program.data = unit.at + len;
	header->program.len = op_cursor_left(&unit) - len;
	unit.end = header->program.data;
	read_numbers(&unit, header);
	tables = unit.at;
	header->files = (struct pp_bytes){ tables, op_cursor_left(&unit) };
	return !unit.failed && header->form.address_size <= 8;
}

/* ---- up to version 4 ----------------------------------------------------- */

/* String @nr, counted from 1, of a list that an empty one ends. */
static const char *old_string(struct op_cursor *c, uint64_t nr)
{
	const char *found = NULL, *text;

	for (uint64_t i = 1; (text = op_cursor_string(c)) && *text; i++)
		if (i == nr)
			found = text;
	return found;
}

static bool find_old_file(struct op_cursor *c, uint64_t nr,
			  struct pp_line_file *file, uint64_t *dir)
{
	const char *name;

	for (uint64_t i = 1; (name = op_cursor_string(c)) && *name; i++) {
		*dir = op_cursor_uleb(c);
		op_cursor_uleb(c); /* time */
		op_cursor_uleb(c); /* length */
		if (i == nr && !c->failed) {
			file->name = name;
			return true;
		}
	}
	return false;
}

static bool file_of_version_4(const struct op_cursor *tables, uint64_t nr,
			      struct pp_line_file *file)
{
	struct op_cursor c = *tables;
	uint64_t dir;

	old_string(&c, 0);
	if (!find_old_file(&c, nr, file, &dir))
		return false;
	c = *tables;
	file->dir = dir ? old_string(&c, dir) : NULL;
	return true;
}

/* ---- version 5 ----------------------------------------------------------- */

struct column {
	uint64_t what, form;
};

struct table {
	struct column columns[MAX_COLUMNS];
	size_t nr_columns;
	uint64_t nr_rows;
};

static void read_table_columns(struct op_cursor *c, struct table *table)
{
	table->nr_columns = op_cursor_u8(c);
	if (table->nr_columns > MAX_COLUMNS) {
		op_cursor_fail(c);
		table->nr_columns = 0;
	}
	for (size_t i = 0; i < table->nr_columns; i++) {
		table->columns[i].what = op_cursor_uleb(c);
		table->columns[i].form = op_cursor_uleb(c);
	}
	table->nr_rows = op_cursor_uleb(c);
	/* Each row takes up room, or the count is nonsense. */
	if (table->nr_rows > op_cursor_left(c)) {
		op_cursor_fail(c);
		table->nr_rows = 0;
	}
}

struct row {
	const char *path;
	uint64_t dir;
	bool is_nameless; /* the path should be in this file, and is not */
};

static struct row read_table_row(const struct pp_dwarf *dwarf,
				 struct op_cursor *c, const struct table *table,
				 const struct pp_line_header *header)
{
	struct pp_dwarf_form form = header->form;
	struct row row = { 0 };

	for (size_t i = 0; i < table->nr_columns; i++) {
		struct pp_dwarf_value value;

		form.form = table->columns[i].form;
		value = pp_dwarf_read(dwarf, c, &form);
		if (table->columns[i].what == DW_LNCT_path) {
			row.path = value.text;
			/* Not a string of another file, or by way of an index
			 * that no line table has. */
			row.is_nameless =
				!value.text && (form.form == DW_FORM_string ||
						form.form == DW_FORM_strp ||
						form.form == DW_FORM_line_strp);
		} else if (table->columns[i].what == DW_LNCT_directory_index) {
			row.dir = value.number;
		}
	}
	return row;
}

/* Bytes of a row where all have as many, else UINT32_MAX. */
static uint32_t table_row_length(const struct table *table,
				 const struct pp_line_header *header)
{
	struct pp_dwarf_form form = header->form;
	uint32_t len = 0;

	for (size_t i = 0; i < table->nr_columns; i++) {
		uint32_t of_column;

		form.form = table->columns[i].form;
		of_column = pp_dwarf_length(&form, UINT32_MAX);
		if (of_column == UINT32_MAX)
			return UINT32_MAX;
		len += of_column;
	}
	return len;
}

static void skip_table_rows(const struct pp_dwarf *dwarf, struct op_cursor *c,
			    const struct table *table,
			    const struct pp_line_header *header, uint64_t nr)
{
	uint32_t len = table_row_length(table, header);

	if (len != UINT32_MAX)
		op_cursor_skip(c, nr * len);
	else
		while (nr-- && !c->failed)
			read_table_row(dwarf, c, table, header);
}

/* Go through a table; *@found is row @nr. Returns whether there is one. */
static bool find_table_row(const struct pp_dwarf *dwarf, struct op_cursor *c,
			   const struct pp_line_header *header, uint64_t nr,
			   struct row *found)
{
	struct table table;
	struct row row;
	bool is_there;

	read_table_columns(c, &table);
	is_there = nr < table.nr_rows;
	skip_table_rows(dwarf, c, &table, header,
			is_there ? nr : table.nr_rows);
	if (!is_there || c->failed)
		return false;
	row = read_table_row(dwarf, c, &table, header);
	is_there = !c->failed;
	if (is_there)
		*found = row;
	skip_table_rows(dwarf, c, &table, header, table.nr_rows - nr - 1);
	return is_there;
}

static bool file_of_version_5(const struct pp_dwarf *dwarf,
			      const struct pp_line_header *header,
			      const struct op_cursor *tables, uint64_t nr,
			      struct pp_line_file *file)
{
	struct row found = { 0 }, dir = { 0 }, first = { 0 };
	struct op_cursor c = *tables;

	find_table_row(dwarf, &c, header, 0, &first);
	if (!find_table_row(dwarf, &c, header, nr, &found) || !found.path)
		return false;
	c = *tables;
	find_table_row(dwarf, &c, header, found.dir, &dir);
	*file = (struct pp_line_file){ found.path, dir.path, first.path };
	return true;
}

bool pp_line_header_file(const struct pp_dwarf *dwarf,
			 const struct pp_line_header *header, uint64_t nr,
			 struct pp_line_file *file)
{
	struct op_cursor tables = pp_dwarf_cursor(dwarf, &header->files, 0);

	*file = (struct pp_line_file){ 0 };
	return header->form.version < 5
		       ? file_of_version_4(&tables, nr, file)
		       : file_of_version_5(dwarf, header, &tables, nr, file);
}

/* Go through a table of names. */
static bool has_names(const struct pp_dwarf *dwarf, struct op_cursor *c,
		      const struct pp_line_header *header)
{
	struct table table;

	read_table_columns(c, &table);
	for (uint64_t i = 0; i < table.nr_rows && !c->failed; i++)
		if (read_table_row(dwarf, c, &table, header).is_nameless)
			return false;
	return !c->failed;
}

bool pp_line_header_has_names(const struct pp_dwarf *dwarf,
			      const struct pp_line_header *header)
{
	struct op_cursor tables = pp_dwarf_cursor(dwarf, &header->files, 0);
	bool folders;

	if (header->form.version < 5)
		return true;
	folders = has_names(dwarf, &tables, header);
	return folders && has_names(dwarf, &tables, header);
}
