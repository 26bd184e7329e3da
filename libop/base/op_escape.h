/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_ESCAPE_H
#define LIBOP_BASE_OP_ESCAPE_H

/*
 * Bytes that may not stand in a file name of ours, written as %XX with two
 * lower-case hex digits; for libop's own use.
 */

#include <stdbool.h>
#include <stddef.h>

/* Longest escape of one byte. */
#define OP_ESCAPE_LEN 3

/* Control bytes, '%' and bytes over 0x7e are always escaped. */
bool op_escape_needed(unsigned char c);

/*
 * Write @c to @out (OP_ESCAPE_LEN bytes, no zero byte), as %XX if @escape.
 * Returns the number of bytes written.
 */
size_t op_escape_byte(char *out, unsigned char c, bool escape);

/*
 * The byte that the text from *@at to before @end starts with, escaped or
 * not; *@at moves behind it. Returns it, or -EINVAL for a '%' without two hex
 * digits, or with two zeros.
 */
int op_unescape_byte(const char **at, const char *end);

#endif /* LIBOP_BASE_OP_ESCAPE_H */
