// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text is decoded here character by character, because the functions of the
 * locale give up at the first byte that is not theirs. Which characters can be
 * printed, the locale says (wcwidth(3)): in that of C only those of ASCII.
 * A character of no width would join the one before, and may turn the direction
 * of a whole line, so it is not let through.
 */

#include "pp/optop/optop_grid.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_utf8.h"
#include "libpp/format/text/text_fit.h"

#define UNPRINTABLE L'?'

int optop_grid_init(struct optop_grid *grid, size_t nr_rows, size_t nr_columns)
{
	*grid = (struct optop_grid){ .nr_rows = nr_rows,
				     .nr_columns = nr_columns };
	grid->cells = calloc(nr_rows * nr_columns + 1, sizeof(*grid->cells));
	if (!grid->cells) {
		grid->nr_rows = grid->nr_columns = 0;
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr_rows * nr_columns; i++)
		grid->cells[i].c = L' ';
	return 0;
}

void optop_grid_release(struct optop_grid *grid)
{
	free(grid->cells);
	memset(grid, 0, sizeof(*grid));
}

/* ---- characters ---------------------------------------------------------- */

/* The character that *@text begins with, which moves behind it, and the columns
 * that it takes, 1 or 2. */
static wchar_t next_character(const char **text, size_t *columns)
{
	static const unsigned char masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	unsigned int len = op_utf8_len(*text);
	unsigned char first = (unsigned char)**text;
	wchar_t c = (wchar_t)(first & masks[len]);
	int width;

	for (unsigned int i = 1; i < len; i++)
		c = (wchar_t)(c << 6 | ((unsigned char)(*text)[i] & 0x3f));
	*text += len ? len : 1;
	width = len ? wcwidth(c) : -1;
	*columns = width == 2 ? 2 : 1;
	return width < 1 ? UNPRINTABLE : c;
}

size_t optop_text_columns(const char *text)
{
	size_t nr = 0, columns;

	while (*text) {
		next_character(&text, &columns);
		nr += columns;
	}
	return nr;
}

/* ---- cells --------------------------------------------------------------- */

size_t optop_grid_put(struct optop_grid *grid, size_t row, size_t column,
		      size_t width, enum optop_attr attr, const char *text)
{
	size_t at = column, end, columns;

	if (row >= grid->nr_rows || column >= grid->nr_columns)
		return 0;
	end = width < grid->nr_columns - column ? column + width
						: grid->nr_columns;
	while (*text) {
		wchar_t c = next_character(&text, &columns);
		struct optop_cell *cell =
			&grid->cells[row * grid->nr_columns + at];

		if (at + columns > end)
			break;
		*cell = (struct optop_cell){ c, (uint8_t)attr };
		if (columns == 2)
			cell[1] = (struct optop_cell){ 0, (uint8_t)attr };
		at += columns;
	}
	return at - column;
}

void optop_grid_paint(struct optop_grid *grid, size_t row, enum optop_attr attr)
{
	for (size_t i = 0; row < grid->nr_rows && i < grid->nr_columns; i++) {
		struct optop_cell *cell =
			&grid->cells[row * grid->nr_columns + i];

		if (attr == OPTOP_CHOSEN)
			cell->attr |= OPTOP_CHOSEN;
		else
			cell->attr = (uint8_t)attr;
	}
}

/* The columns of @row without blanks at its end. */
static size_t len_of_row(const struct optop_grid *grid, size_t row)
{
	const struct optop_cell *cells = &grid->cells[row * grid->nr_columns];
	size_t len = grid->nr_columns;

	while (len && cells[len - 1].c == L' ')
		len--;
	return len;
}

void optop_grid_write(const struct optop_grid *grid, FILE *out)
{
	size_t nr = grid->nr_rows;

	while (nr && !len_of_row(grid, nr - 1))
		nr--;
	for (size_t row = 0; row < nr; row++) {
		const struct optop_cell *cells =
			&grid->cells[row * grid->nr_columns];
		size_t len = len_of_row(grid, row);

		for (size_t i = 0; i < len; i++)
			if (cells[i].c)
				fprintf(out, "%lc", (wint_t)cells[i].c);
		fputc('\n', out);
	}
}

/* ---- names --------------------------------------------------------------- */

/* A name is cut at its end if the column is too narrow for dots, or if the name
 * has wide characters. */
static void cut_end(char *name, size_t width)
{
	const char *at = name, *next = name;
	size_t nr = 0, columns;

	while (*next) {
		at = next;
		next_character(&next, &columns);
		nr += columns;
		if (nr > width) {
			name[at - name] = '\0';
			return;
		}
	}
}

char *optop_fit_name(const char *name, size_t width)
{
	char *copy = strdup(name);
	size_t len;

	if (!copy || optop_text_columns(copy) <= width)
		return copy;
	/* A text with two blanks looks like several columns, and only the last
	 * would be cut. */
	for (char *at = copy; *at; at++)
		if (*at == ' ' && at[1] == ' ')
			*at = '?';
	len = pp_fit_line(copy, strlen(copy), width);
	copy[len] = '\0';
	cut_end(copy, width);
	return copy;
}
