/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_FORMAT_TEXT_TEXT_FIT_H
#define LIBPP_FORMAT_TEXT_TEXT_FIT_H

/*
 * Rows that fit a terminal. A name of C++ may have a thousand characters, which
 * pushes the hottest rows off the screen.
 */

#include <stddef.h>
#include <stdio.h>

/* No name is cut to less, however narrow the terminal is. */
#define PP_FIT_NAME_MIN 16

/*
 * Shorten @line of @len bytes, which ends with a name, in place until it takes
 * no more than @width columns: template arguments become "..." from the
 * innermost out, then parameters do, then the middle of the name is left out,
 * but not the method, unless that alone is wider. Returns the new length.
 */
size_t pp_fit_line(char *line, size_t len, size_t width);

/* How many bytes of @text take @columns columns at most. */
size_t pp_fit_text(const char *text, size_t columns);

/*
 * A stream whose lines are shortened so and written to @out, which stays the
 * caller's. To be closed with fclose(3), which writes what has no newline yet.
 * NULL with errno set when memory is short.
 */
FILE *pp_fit_open(FILE *out, size_t width);

#endif /* LIBPP_FORMAT_TEXT_TEXT_FIT_H */
