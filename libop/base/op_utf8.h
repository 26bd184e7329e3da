/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_UTF8_H
#define LIBOP_BASE_OP_UTF8_H

/* Names of files and functions are bytes; JSON and XML are UTF-8. */

#include <stddef.h>

/* The length of the UTF-8 sequence that @text starts with, 1 to 4 bytes; 0
 * when it is none (RFC 3629). */
unsigned int op_utf8_len(const char *text);

/* The number of characters at the start of @text that need no escape in JSON
 * and XML: printable ASCII without quotes, backslash, '<', '>' and '&'. */
size_t op_unescaped_len(const char *text);

#endif /* LIBOP_BASE_OP_UTF8_H */
