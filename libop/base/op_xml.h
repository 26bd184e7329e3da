/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_XML_H
#define LIBOP_BASE_OP_XML_H

/* Writes attributes of XML (1.0) elements. Errors are left to the stream's
 * flag. */

#include <stdint.h>
#include <stdio.h>

/* Write a blank and @name="@text", escaped; nothing if @text is NULL. Bytes
 * that are not UTF-8 and characters that XML does not have become '?'. */
void op_xml_attr(FILE *out, const char *name, const char *text);
void op_xml_number(FILE *out, const char *name, uint64_t number);

#endif /* LIBOP_BASE_OP_XML_H */
