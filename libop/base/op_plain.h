/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_PLAIN_H
#define LIBOP_BASE_OP_PLAIN_H

/*
 * Anybody may call a file, a symbol or a task what he likes, also by what makes
 * a terminal do something, or by what turns the rest of a line around. Control
 * characters are those of ASCII, those of ECMA-48 as UTF-8 has them (0xc2 0x80
 * to 0xc2 0x9f), and of Unicode (chapter 23.2) those that end a line or give
 * text a direction; each of their bytes becomes '?'. So does a byte from 0x80
 * to 0x9f that is no part of a character of UTF-8: a terminal of eight bits
 * takes it for a control character of ECMA-48.
 */

#include <stdio.h>

/* Replace all control characters of @text, line ends included. */
void op_plain_text(char *text);

/*
 * A stream that writes to @out without control characters, but for line ends,
 * tabs, form feeds, and the colours that programs of ours give to text. To be
 * closed with fclose(3), which leaves @out open; errors are those of @out, too.
 * Returns NULL when memory is short.
 */
FILE *op_plain_open(FILE *out);

#endif /* LIBOP_BASE_OP_PLAIN_H */
