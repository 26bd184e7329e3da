// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Debug information in files of its own (split DWARF), which compilers leave
 * beside object files: NAME.dwo for each unit, or all of a program together in
 * PROGRAM.dwp (DWARF 5, sections 7.3.2 and 7.3.5; before version 5, the
 * extensions of GNU, where a package has version 2). A unit and its file have
 * the same number, so that a file of another build is not taken for it.
 */

#include "libpp/symbols/op_bfd_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/symbols/dwarf/dwarf_die.h"
#include "libpp/symbols/source_path.h"

enum {
	SPLIT_INFO,
	SPLIT_ABBREV,
	SPLIT_STR_OFFSETS,
	SPLIT_RNGLISTS,
	SPLIT_STR,
	SPLIT_INDEX,
	NR_SPLIT
};

static const char *const split_names[NR_SPLIT] = {
	[SPLIT_INFO] = ".debug_info.dwo",
	[SPLIT_ABBREV] = ".debug_abbrev.dwo",
	[SPLIT_STR_OFFSETS] = ".debug_str_offsets.dwo",
	[SPLIT_RNGLISTS] = ".debug_rnglists.dwo",
	[SPLIT_STR] = ".debug_str.dwo",
	[SPLIT_INDEX] = ".debug_cu_index",
};

/* The numbers that the index of a package has for sections, of which each unit
 * has a part. Number 8 was another section's before version 5. */
static const uint32_t split_numbers[] = {
	[SPLIT_INFO] = 1,
	[SPLIT_ABBREV] = 3,
	[SPLIT_STR_OFFSETS] = 6,
	[SPLIT_RNGLISTS] = 8,
};

struct split_file {
	struct split_file *next;
	char *path;
	struct pp_bytes sections[NR_SPLIT];
	bool is_sound; /* it was there */
};

void op_bfd_split_free(struct split_file *split)
{
	while (split) {
		struct split_file *next = split->next;

		for (size_t i = 0; i < NR_SPLIT; i++)
			free((void *)split->sections[i].data);
		free(split->path);
		free(split);
		split = next;
	}
}

/* ---- files --------------------------------------------------------------- */

static void read_split_sections(struct split_file *split, struct object *object)
{
	for (size_t i = 0; i < NR_SPLIT; i++) {
		asection *section =
			bfd_get_section_by_name(object->abfd, split_names[i]);
		bfd_byte *bytes = NULL;

		if (section && section->size)
			op_bfd_read_section(object, section, &bytes);
		if (bytes)
			split->sections[i] =
				(struct pp_bytes){ bytes, section->size };
	}
}

/* The file @path, which becomes ours; NULL if it is not there. A file is read
 * once, and whether it is there is asked once. */
static const struct split_file *split_file_at(struct op_bfd *bfd, char *path)
{
	struct object object = { .fault = &bfd->fault,
				 .places = bfd->places,
				 .fd = -1 };
	struct split_file *split = bfd->split;

	while (path && split && strcmp(split->path, path) != 0)
		split = split->next;
	if (!path || split) {
		free(path);
		return split && split->is_sound ? split : NULL;
	}
	split = calloc(1, sizeof(*split));
	if (!split) {
		free(path);
		return NULL;
	}
	split->path = path;
	split->next = bfd->split;
	bfd->split = split;
	split->is_sound = !op_bfd_object_open(&object, path);
	if (split->is_sound)
		read_split_sections(split, &object);
	op_bfd_object_close(&object);
	return split->is_sound ? split : NULL;
}

/* @path as the binary names it, in the archive if there is one; NULL when
 * memory is short. */
static char *path_in_root(const struct op_bfd *bfd, const char *dir,
			  const char *path)
{
	const char *root = bfd->places ? bfd->places->root : NULL;
	char *joined = pp_source_path_join(NULL, dir, path), *whole;

	if (!root || !joined)
		return joined;
	if (asprintf(&whole, "%s/%s", root, joined) < 0)
		whole = NULL;
	free(joined);
	return whole;
}

/* The name of @path in the folder of the binary. */
static char *path_beside(const struct op_bfd *bfd, const char *path)
{
	const char *of_binary = bfd->main.path, *name = strrchr(path, '/');
	const char *slash = strrchr(of_binary, '/');
	char *whole;

	if (asprintf(&whole, "%.*s%s", slash ? (int)(slash + 1 - of_binary) : 0,
		     of_binary, name ? name + 1 : path) < 0)
		return NULL;
	return whole;
}

/* ---- packages ------------------------------------------------------------ */

/* The index of a package, all numbers of which but signatures have 4 bytes. */
struct package {
	const struct split_file *file;
	struct pp_dwarf dwarf; /* for its byte order alone */
	uint32_t version, nr_columns, nr_units, nr_slots;
};

static uint64_t package_number(const struct package *p, uint64_t at,
			       size_t size)
{
	struct op_cursor c =
		pp_dwarf_cursor(&p->dwarf, &p->file->sections[SPLIT_INDEX], at);

	return op_cursor_number(&c, size);
}

/* False for what is no index. Until version 5 the version has 4 bytes, and 2
 * and padding since. */
static bool package_init(struct package *p, const struct split_file *file,
			 bool big_endian)
{
	const uint64_t len = file->sections[SPLIT_INDEX].len;
	uint64_t needed;

	*p = (struct package){ .file = file };
	p->dwarf.big_endian = big_endian;
	p->version = (uint32_t)package_number(p, 0, 4);
	if (p->version != 2)
		p->version = (uint32_t)package_number(p, 0, 2);
	p->nr_columns = (uint32_t)package_number(p, 4, 4);
	p->nr_units = (uint32_t)package_number(p, 8, 4);
	p->nr_slots = (uint32_t)package_number(p, 12, 4);
	needed = 16 + UINT64_C(12) * p->nr_slots;
	return (p->version == 2 || p->version == 5) && p->nr_slots &&
	       !(p->nr_slots & (p->nr_slots - 1)) && needed <= len &&
	       p->nr_columns && p->nr_columns <= 16 &&
	       4 * p->nr_columns * (1 + UINT64_C(2) * p->nr_units) <=
		       len - needed;
}

/* The row of the unit @id, from 1 on; 0 if it is not in the package. */
static uint32_t package_row(const struct package *p, uint64_t id)
{
	const uint32_t mask = p->nr_slots - 1;
	uint32_t at = (uint32_t)id & mask;
	const uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t i = 0; i < p->nr_slots; i++, at = (at + step) & mask) {
		uint32_t row = (uint32_t)package_number(
			p, 16 + UINT64_C(8) * p->nr_slots + UINT64_C(4) * at,
			4);

		if (!row || row > p->nr_units)
			return 0;
		if (package_number(p, 16 + UINT64_C(8) * at, 8) == id)
			return row;
	}
	return 0;
}

/* The part of section @which that belongs to @row; empty if there is none. */
static struct pp_bytes package_part(const struct package *p, uint32_t row,
				    int which)
{
	const struct pp_bytes *all = &p->file->sections[which];
	const uint64_t columns = 16 + UINT64_C(12) * p->nr_slots;
	const uint64_t width = UINT64_C(4) * p->nr_columns;

	for (uint32_t i = 0; i < p->nr_columns; i++) {
		uint64_t at = columns + row * width + UINT64_C(4) * i;
		uint64_t offset, len;

		if (package_number(p, columns + UINT64_C(4) * i, 4) !=
		    split_numbers[which])
			continue;
		offset = package_number(p, at, 4);
		len = package_number(p, at + p->nr_units * width, 4);
		if (offset > all->len || len > all->len - offset)
			break;
		return (struct pp_bytes){ all->data + offset, len };
	}
	return (struct pp_bytes){ 0 };
}

/* Whether the package has all of the unit in @dwarf. One of version 2 has no
 * lists of ranges as version 5 of DWARF has them: dwp(1) leaves them out. */
static bool is_whole_unit(const struct package *p, const struct pp_dwarf *dwarf)
{
	struct op_cursor all = pp_dwarf_cursor(dwarf, &dwarf->info, 0);
	struct pp_dwarf_unit unit;

	return dwarf->info.len && pp_dwarf_unit_header(dwarf, &all, &unit) &&
	       unit.form.version / 5 == p->version / 5;
}

static bool open_in_package(const struct split_file *file, bool big_endian,
			    uint64_t id, struct pp_dwarf *dwarf)
{
	struct pp_dwarf unit = { .big_endian = big_endian };
	struct package p;
	uint32_t row;

	if (!file || !package_init(&p, file, big_endian))
		return false;
	row = package_row(&p, id);
	if (!row)
		return false;
	unit.info = package_part(&p, row, SPLIT_INFO);
	if (!is_whole_unit(&p, &unit))
		return false;
	unit.abbrev = package_part(&p, row, SPLIT_ABBREV);
	unit.str_offsets = package_part(&p, row, SPLIT_STR_OFFSETS);
	if (p.version >= 5)
		unit.rnglists = package_part(&p, row, SPLIT_RNGLISTS);
	unit.str = file->sections[SPLIT_STR];
	*dwarf = unit;
	return true;
}

static const struct split_file *package_of(struct op_bfd *bfd, const char *path)
{
	char *name;

	if (!path || asprintf(&name, "%s.dwp", path) < 0)
		return NULL;
	return split_file_at(bfd, name);
}

/* ---- units --------------------------------------------------------------- */

bool op_bfd_open_split(void *of, const struct pp_dwarf_unit *unit,
		       struct pp_dwarf *dwarf)
{
	struct op_bfd *bfd = of;
	const bool big_endian = bfd_big_endian(bfd->main.abfd);
	const struct split_file *split;

	if (open_in_package(package_of(bfd, bfd->main.path), big_endian,
			    unit->split_id, dwarf) ||
	    open_in_package(package_of(bfd, bfd->debug.path), big_endian,
			    unit->split_id, dwarf))
		return true;
	split = split_file_at(bfd,
			      path_in_root(bfd, unit->folder, unit->split_name))
			?: split_file_at(bfd,
					 path_beside(bfd, unit->split_name));
	if (!split)
		return false;
	dwarf->info = split->sections[SPLIT_INFO];
	dwarf->abbrev = split->sections[SPLIT_ABBREV];
	dwarf->str_offsets = split->sections[SPLIT_STR_OFFSETS];
	dwarf->rnglists = split->sections[SPLIT_RNGLISTS];
	dwarf->str = split->sections[SPLIT_STR];
	return dwarf->info.len;
}
