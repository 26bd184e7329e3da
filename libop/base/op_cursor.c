// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/base/op_cursor.h"

const char *op_cursor_string(struct op_cursor *c)
{
	const char *text = (const char *)c->at;
	size_t left = op_cursor_left(c);
	const uint8_t *zero = left ? memchr(c->at, 0, left) : NULL;

	if (zero) {
		c->at = zero + 1;
		return text;
	}
	op_cursor_fail(c);
	return NULL;
}

struct op_cursor op_cursor_unit(struct op_cursor *c, bool *is_64)
{
	uint64_t len = op_cursor_number(c, 4);

	*is_64 = len == 0xffffffff;
	if (*is_64)
		len = op_cursor_number(c, 8);
	return op_cursor_part(c, len);
}
