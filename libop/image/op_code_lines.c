// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The line number program of a function is made when the function is added:
 * programs follow one another in the section as they are. Only the table of
 * files before them has to wait until the section is written.
 */

#include "libop/image/op_code_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"
#include "libop/base/op_search.h"

/* Numbers from the DWARF standard, section 7. */
enum {
	DW_LNS_copy = 1,
	DW_LNS_advance_pc = 2,
	DW_LNS_advance_line = 3,
	DW_LNS_set_file = 4,
	DW_LNE_end_sequence = 1,
	DW_LNE_set_address = 2,
};

#define MAX_FILES 4096
#define MOST_BYTES 64 /* of a row with the frame of a sequence */

void op_code_lines_release(struct op_code_lines *lines)
{
	if (lines->files.arena) {
		op_strings_release(&lines->files);
		op_arena_release(&lines->arena);
	}
	free(lines->program);
	memset(lines, 0, sizeof(*lines));
}

/* ---- the program of a function ----------------------------------------------
 */

static uint8_t *put_uleb(uint8_t *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)value;
	return to;
}

static uint8_t *put_sleb(uint8_t *to, int64_t value)
{
	for (;; value >>= 7) {
		bool is_last = value >= -64 && value < 64;

		*to++ = (uint8_t)((value & 0x7f) | (is_last ? 0 : 0x80));
		if (is_last)
			return to;
	}
}

/* The number of @file in the table, from 1; 0 when there are too many or memory
 * is short. */
static size_t number_of_file(struct op_code_lines *lines, const char *file)
{
	const char *kept;

	if (!lines->files.arena) {
		op_arena_init(&lines->arena);
		op_strings_init(&lines->files, &lines->arena);
	}
	kept = op_strings_add(&lines->files, file);
	if (lines->files.nr > MAX_FILES)
		return 0;
	for (size_t i = lines->files.nr; kept && i > 0; i--)
		if (lines->files.list[i - 1] == kept)
			return i;
	return 0;
}

static int compare_line_offsets(const void *a, const void *b)
{
	const struct op_code_line *const *pa = a, *const *pb = b;
	const struct op_code_line *x = *pa, *y = *pb;

	return op_compare(x->offset, y->offset)
		       ?: op_compare((uintptr_t)x, (uintptr_t)y);
}

static uint8_t *put_start(uint8_t *to, uint64_t start)
{
	*to++ = 0;
	to = put_uleb(to, 1 + sizeof(start));
	*to++ = DW_LNE_set_address;
	return mempcpy(to, &start, sizeof(start));
}

static uint8_t *put_end(uint8_t *to, uint32_t advance)
{
	*to++ = DW_LNS_advance_pc;
	to = put_uleb(to, advance);
	*to++ = 0;
	*to++ = 1;
	*to++ = DW_LNE_end_sequence;
	return to;
}

/* Where a row differs from the one before, @last. */
static uint8_t *put_line_row(uint8_t *to, const struct op_code_line *row,
			     const struct op_code_line *last, size_t file)
{
	*to++ = DW_LNS_set_file;
	to = put_uleb(to, file);
	*to++ = DW_LNS_advance_pc;
	to = put_uleb(to, row->offset - last->offset);
	*to++ = DW_LNS_advance_line;
	to = put_sleb(to, (int64_t)row->line - last->line);
	*to++ = DW_LNS_copy;
	return to;
}

/* A sequence ends where the code has no line, and another begins where it has
 * one again. */
static int add_sequences(struct op_code_lines *lines, uint64_t start,
			 uint32_t size,
			 const struct op_code_line *const *sorted, size_t nr)
{
	struct op_code_line last = { .line = 0 };
	uint8_t *to;

	if (op_array_reserve(&lines->program, lines->program_len,
			     (nr + 1) * MOST_BYTES))
		return -ENOMEM;
	to = lines->program + lines->program_len;
	for (size_t i = 0; i < nr; i++) {
		struct op_code_line row = *sorted[i];

		/* Code before the first line is the way into the function. */
		if (i == 0)
			row.offset = 0;
		if (row.line) {
			size_t file = number_of_file(lines, row.file);

			if (!file)
				return -ENOMEM;
			if (!last.line) {
				to = put_start(to, start + row.offset);
				last = (struct op_code_line){ row.offset, 1,
							      NULL };
			}
			to = put_line_row(to, &row, &last, file);
		} else if (last.line) {
			to = put_end(to, row.offset - last.offset);
		}
		last = row;
	}
	if (last.line)
		to = put_end(to, size - last.offset);
	lines->program_len = (size_t)(to - lines->program);
	return 0;
}

int op_code_lines_add(struct op_code_lines *lines, uint64_t start,
		      uint32_t size, const struct op_code_line *list, size_t nr)
{
	const struct op_code_line **sorted;
	int err;

	if (!nr)
		return 0;
	sorted = calloc(nr, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		sorted[i] = &list[i];
	qsort((void *)sorted, nr, sizeof(*sorted), compare_line_offsets);
	err = add_sequences(lines, start, size, sorted, nr);
	free((void *)sorted);
	return err;
}

/* ---- the section ------------------------------------------------------------
 */

/* The part of the header after its own length. All opcodes above 9 would be
 * special ones, of which none is used. */
static const uint8_t machine[] = {
	1, /* bytes of the shortest instruction */
	1, /* each row is a statement */
	(uint8_t)-5, /* line_base, */
	14, /* line_range */
	10, /* and opcode_base of special opcodes */
	0,	     1, 1, 1, 1, 0, 0, 0, 1, /* operands of standard opcodes */
	0, /* no folders */
};

void op_code_lines_write(const struct op_code_lines *lines, FILE *file)
{
	uint32_t header_len = sizeof(machine) + 1, unit_len;
	const uint16_t version = 2;

	if (!lines->program_len)
		return;
	for (size_t i = 0; i < lines->files.nr; i++)
		header_len += (uint32_t)strlen(lines->files.list[i]) + 1 + 3;
	unit_len = (uint32_t)(sizeof(version) + sizeof(header_len) +
			      header_len + lines->program_len);
	fwrite(&unit_len, sizeof(unit_len), 1, file);
	fwrite(&version, sizeof(version), 1, file);
	fwrite(&header_len, sizeof(header_len), 1, file);
	fwrite(machine, sizeof(machine), 1, file);
	for (size_t i = 0; i < lines->files.nr; i++) {
		const char *name = lines->files.list[i];

		fwrite(name, 1, strlen(name) + 1, file);
		/* Folder, time and length are not known. */
		fwrite("\0\0", 1, 3, file);
	}
	putc_unlocked(0, file);
	fwrite(lines->program, 1, lines->program_len, file);
}
