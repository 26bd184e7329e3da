/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_UTF8_H
#define LIBPP_UTF8_H

/* Names of files and functions are bytes; JSON and XML are UTF-8. */

/* The length of the UTF-8 sequence that @text starts with, 1 to 4 bytes; 0
 * when it is none (RFC 3629). */
unsigned int pp_utf8_len(const char *text);

#endif /* LIBPP_UTF8_H */
