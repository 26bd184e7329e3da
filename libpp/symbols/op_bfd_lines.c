// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Source lines and inlined functions of a binary. libbfd fetches the sections,
 * unpacked and relocated; its own look-up reads all entries of a unit before it
 * tells the first line, so the line table is read by
 * libpp/symbols/dwarf/line_index.c, and the entries of functions by
 * libpp/symbols/dwarf/inline_index.c.
 */

#include "libpp/symbols/op_bfd_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpp/symbols/dwarf/inline_index.h"
#include "libpp/symbols/dwarf/line_index.h"

enum {
	LINE,
	LINE_STR,
	STR,
	INFO,
	ABBREV,
	RANGES,
	RNGLISTS,
	ADDR,
	STR_OFFSETS,
	SHARED_STR,
	NR_SECTIONS
};

static const char *const section_names[NR_SECTIONS] = {
	[LINE] = ".debug_line",
	[LINE_STR] = ".debug_line_str",
	[STR] = ".debug_str",
	[INFO] = ".debug_info",
	[ABBREV] = ".debug_abbrev",
	[RANGES] = ".debug_ranges",
	[RNGLISTS] = ".debug_rnglists",
	[ADDR] = ".debug_addr",
	[STR_OFFSETS] = ".debug_str_offsets",
	[SHARED_STR] = ".debug_str",
};

struct line_table {
	struct pp_line_index *index; /* NULL if there are no lines */
	bfd_byte *bytes[NR_SECTIONS];
	size_t nr_damaged; /* sections that cannot be read */
	struct object *object; /* with the sections; NULL if there are none */
	struct pp_inline_index *inlines; /* NULL until it is needed */
	bool inlines_tried;
};

/* ---- sections ------------------------------------------------------------ */

/* Older compilers call compressed sections .zdebug_NAME. */
static asection *find_debug_section(const struct object *object, int which)
{
	asection *section =
		bfd_get_section_by_name(object->abfd, section_names[which]);
	char packed[32];

	if (section)
		return section;
	snprintf(packed, sizeof(packed), ".z%s", section_names[which] + 1);
	return bfd_get_section_by_name(object->abfd, packed);
}

static bfd_byte *read_relocated_section(struct object *object,
					asection *section)
{
	op_bfd_read_syms(object);
	return bfd_simple_get_relocated_section_contents(object->abfd, section,
							 NULL, object->syms);
}

static struct pp_bytes read_section(struct op_bfd *bfd, struct object *object,
				    int which)
{
	asection *section = find_debug_section(object, which);
	bfd_byte **bytes = &bfd->lines->bytes[which];

	if (!section || !section->size)
		return (struct pp_bytes){ 0 };
	if (*bytes)
		return (struct pp_bytes){ *bytes, section->size };
	if (section->flags & SEC_RELOC && object->is_relocatable)
		*bytes = read_relocated_section(object, section);
	else
		op_bfd_read_section(object, section, bytes);
	bfd->lines->nr_damaged += !*bytes;
	return (struct pp_bytes){ *bytes, *bytes ? section->size : 0 };
}

/* ---- the index ----------------------------------------------------------- */

static bool is_in_code(void *ctx, uint64_t address)
{
	return op_bfd_find_section(ctx, address);
}

static bool has_line_section(const struct object *object)
{
	return object->abfd && find_debug_section(object, LINE);
}

/* The binary if it has a line table, else its debug file if that has one, else
 * NULL. */
static struct object *object_with_lines(struct op_bfd *bfd)
{
	if (has_line_section(&bfd->main))
		return &bfd->main;
	op_bfd_open_debug_file(bfd);
	return has_line_section(&bfd->debug) ? &bfd->debug : NULL;
}

/*
 * Read the strings that all look-ups need, also those of a shared debug file.
 */
static struct pp_dwarf read_strings(struct op_bfd *bfd, struct object *object)
{
	struct pp_dwarf dwarf = {
		.line_str = read_section(bfd, object, LINE_STR),
		.str = read_section(bfd, object, STR),
		.big_endian = bfd_big_endian(object->abfd),
	};

	if (op_bfd_open_shared_file(bfd, object))
		dwarf.shared_str = read_section(bfd, &bfd->shared, SHARED_STR);
	return dwarf;
}

static void make_line_index(struct op_bfd *bfd, struct object *object)
{
	struct line_table *lines = bfd->lines;
	struct pp_dwarf dwarf = read_strings(bfd, object);

	dwarf.line = read_section(bfd, object, LINE);
	if (pp_line_index_new(&lines->index, &dwarf, is_in_code, bfd))
		return;
	if (pp_line_index_wants_info(lines->index)) {
		dwarf.info = read_section(bfd, object, INFO);
		dwarf.abbrev = read_section(bfd, object, ABBREV);
		pp_line_index_give_info(lines->index, &dwarf.info,
					&dwarf.abbrev);
	}
}

static struct line_table *get_lines(struct op_bfd *bfd)
{
	struct object *object;

	if (bfd->lines)
		return bfd->lines;
	bfd->lines = calloc(1, sizeof(*bfd->lines));
	object = bfd->lines ? object_with_lines(bfd) : NULL;
	if (object) {
		bfd->lines->object = object;
		make_line_index(bfd, object);
	}
	return bfd->lines;
}

/* NULL where there is none, and in what is not linked. */
static struct pp_inline_index *get_inlines(struct op_bfd *bfd)
{
	struct line_table *lines = get_lines(bfd);
	struct object *object = lines ? lines->object : NULL;
	struct pp_dwarf dwarf;

	if (!object || !lines->index || lines->inlines_tried ||
	    object->is_relocatable)
		return lines ? lines->inlines : NULL;
	lines->inlines_tried = true;
	dwarf = read_strings(bfd, object);
	dwarf.info = read_section(bfd, object, INFO);
	dwarf.abbrev = read_section(bfd, object, ABBREV);
	dwarf.ranges = read_section(bfd, object, RANGES);
	dwarf.rnglists = read_section(bfd, object, RNGLISTS);
	dwarf.addr = read_section(bfd, object, ADDR);
	dwarf.str_offsets = read_section(bfd, object, STR_OFFSETS);
	pp_inline_index_new(&lines->inlines, &dwarf,
			    &(struct pp_split_files){ op_bfd_open_split, bfd });
	return lines->inlines;
}

void op_bfd_lines_free(struct line_table *lines)
{
	if (!lines)
		return;
	pp_line_index_free(lines->index);
	pp_inline_index_free(lines->inlines);
	for (size_t i = 0; i < NR_SECTIONS; i++)
		free(lines->bytes[i]);
	free(lines);
}

/* ---- questions ----------------------------------------------------------- */

size_t op_bfd_lines_damaged(struct op_bfd *bfd)
{
	const struct line_table *lines = get_lines(bfd);

	if (!lines)
		return 0;
	return lines->nr_damaged +
	       (lines->index ? pp_line_index_damaged(lines->index) : 0);
}

bool op_bfd_line(struct op_bfd *bfd, uint64_t vma, const char **file,
		 unsigned int *line)
{
	const struct line_table *lines = get_lines(bfd);
	struct pp_line found;

	if (!lines || !lines->index ||
	    !pp_line_index_find(lines->index, vma, &found))
		return false;
	*file = found.file;
	*line = found.line;
	return true;
}

unsigned int op_bfd_discriminator(struct op_bfd *bfd, uint64_t vma)
{
	const struct line_table *lines = get_lines(bfd);
	struct pp_line found;

	if (!lines || !lines->index ||
	    !pp_line_index_find(lines->index, vma, &found))
		return 0;
	return found.discriminator;
}

bool op_bfd_function(struct op_bfd *bfd, uint64_t vma,
		     struct op_bfd_inlined *out)
{
	struct pp_inline_index *inlines = get_inlines(bfd);
	struct pp_inlined found;

	if (!inlines || !pp_inline_index_function(inlines, vma, &found))
		return false;
	*out = (struct op_bfd_inlined){
		.name = found.name,
		.file = pp_line_index_file(bfd->lines->index, found.line_table,
					   found.decl_file),
		.line = (unsigned int)found.decl_line,
	};
	return true;
}

bool op_bfd_declared(struct op_bfd *bfd, uint64_t vma, const char **file,
		     unsigned int *line)
{
	struct op_bfd_inlined found;

	if (!op_bfd_function(bfd, vma, &found) || !found.file)
		return false;
	*file = found.file;
	*line = found.line;
	return true;
}

bool op_bfd_has_inlines(struct op_bfd *bfd)
{
	return get_inlines(bfd) != NULL;
}

bool op_bfd_lacks_split(const struct op_bfd *bfd)
{
	return bfd->lines && bfd->lines->inlines &&
	       pp_inline_index_lacks_file(bfd->lines->inlines);
}

size_t op_bfd_inlined(struct op_bfd *bfd, uint64_t vma,
		      struct op_bfd_inlined *out, size_t max)
{
	struct pp_inlined found[OP_BFD_MAX_INLINED];
	struct pp_inline_index *inlines = get_inlines(bfd);
	struct pp_line_index *index = bfd->lines ? bfd->lines->index : NULL;
	size_t nr;

	if (!inlines)
		return 0;
	nr = pp_inline_index_find(
		inlines, vma, found,
		max < OP_BFD_MAX_INLINED ? max : OP_BFD_MAX_INLINED);
	for (size_t i = 0; i < nr; i++) {
		const struct pp_inlined *f = &found[i];

		out[i] = (struct op_bfd_inlined){
			.name = f->name,
			.code = f->code,
			.file = pp_line_index_file(index, f->line_table,
						   f->decl_file),
			.line = (unsigned int)f->decl_line,
			.call_file = pp_line_index_file(
				index, f->call_line_table, f->call_file),
			.call_line = (unsigned int)f->call_line,
			.call_discriminator =
				(unsigned int)f->call_discriminator,
		};
	}
	return nr;
}

const char *op_bfd_shared_path(struct op_bfd *bfd, const uint8_t **build_id,
			       size_t *len)
{
	const struct object *shared =
		op_bfd_open_shared_file(bfd, object_with_lines(bfd));

	if (!shared)
		return NULL;
	*build_id = shared->abfd->build_id->data;
	*len = shared->abfd->build_id->size;
	return shared->path;
}
