/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PP_OPTOP_OPTOP_GRID_H
#define PP_OPTOP_OPTOP_GRID_H

/*
 * A screen in memory, of cells of one column each. All text goes through
 * optop_grid_put(), so nothing reaches a terminal but characters that the
 * locale can print: a name may hold any bytes.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

enum optop_attr {
	OPTOP_PLAIN,
	OPTOP_BOLD,
	OPTOP_FAINT,
	OPTOP_BAR, /* the heads of columns */
	OPTOP_COOL, /* few samples */
	OPTOP_WARM,
	OPTOP_HOT, /* many of them */
	OPTOP_ALERT,
	OPTOP_NR_ATTRS,
	OPTOP_CHOSEN = 1 << 6, /* with one of the others */
};

struct optop_cell {
	wchar_t c; /* 0: the right half of a wide character */
	uint8_t attr; /* enum optop_attr */
};

struct optop_grid {
	struct optop_cell *cells; /* row by row */
	size_t nr_rows, nr_columns;
};

/* Blanks. Returns 0 or -ENOMEM; to be released either way. */
int optop_grid_init(struct optop_grid *grid, size_t nr_rows, size_t nr_columns);
void optop_grid_release(struct optop_grid *grid);

/*
 * Put @text from @column on, at most @width columns of it; what does not fit
 * is cut off. Bytes that are no UTF-8, and characters that the locale cannot
 * print or that take no column, become '?'. Returns how many columns it took.
 */
size_t optop_grid_put(struct optop_grid *grid, size_t row, size_t column,
		      size_t width, enum optop_attr attr, const char *text);

/* Let the whole of @row have @attr; or add it, if it is OPTOP_CHOSEN. */
void optop_grid_paint(struct optop_grid *grid, size_t row,
		      enum optop_attr attr);

/* Write it as text, without blanks at the ends of rows, or rows at the end. */
void optop_grid_write(const struct optop_grid *grid, FILE *out);

/* The columns that @text takes. */
size_t optop_text_columns(const char *text);

/*
 * @name, shortened to @width columns where it is longer: what is in brackets
 * becomes "...", then the middle does (libpp/format/text/text_fit.h), then its
 * end is cut off. To be freed; NULL when memory is short.
 */
char *optop_fit_name(const char *name, size_t width);

#endif /* PP_OPTOP_OPTOP_GRID_H */
