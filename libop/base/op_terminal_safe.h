/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_TERMINAL_SAFE_H
#define LIBOP_BASE_OP_TERMINAL_SAFE_H

/*
 * Text that is safe on a terminal. The name of a file, a symbol or a task is
 * chosen by its user, and may hold bytes that make a terminal act or that
 * reverse the rest of a line. Each byte of a control character becomes '?':
 * those of ASCII, those of ECMA-48 as UTF-8 has them (0xc2 0x80 to 0xc2 0x9f),
 * and the characters of Unicode (chapter 23.2) that end a line or give text a
 * direction. So does a byte from 0x80 to 0x9f that is no part of a character of
 * UTF-8: a terminal of eight bits takes it for a control character of ECMA-48.
 */

#include <stdio.h>

/* Replace all control characters of @text, line ends included. */
void op_terminal_safe(char *text);

/*
 * Open a stream that writes to @out without control characters, except line
 * ends, tabs, form feeds, and the colours that programs of OProfile use. The
 * caller closes it with fclose(3), which leaves @out open; errors are those of
 * @out, too. Returns NULL when memory is short.
 */
FILE *op_terminal_safe_open(FILE *out);

#endif /* LIBOP_BASE_OP_TERMINAL_SAFE_H */
