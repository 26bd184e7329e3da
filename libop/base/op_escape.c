// SPDX-License-Identifier: GPL-2.0-or-later
/* See op_escape.h. No locale has a say here: a name means the same bytes on
 * every machine. */

#include "libop/base/op_escape.h"

#include <errno.h>

static const char digits[] = "0123456789abcdef";

static int escape_digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -EINVAL;
}

bool op_escape_needed(unsigned char c)
{
	return c < 0x20 || c > 0x7e || c == '%';
}

size_t op_escape_byte(char *out, unsigned char c, bool escape)
{
	if (!escape) {
		out[0] = (char)c;
		return 1;
	}
	out[0] = '%';
	out[1] = digits[c >> 4];
	out[2] = digits[c & 15];
	return OP_ESCAPE_LEN;
}

int op_unescape_byte(const char **at, const char *end)
{
	const char *p = *at;
	int high, low;

	if (*p != '%') {
		*at = p + 1;
		return (unsigned char)*p;
	}
	if (end - p < OP_ESCAPE_LEN)
		return -EINVAL;
	high = escape_digit_value(p[1]);
	low = escape_digit_value(p[2]);
	if (high < 0 || low < 0 || (high | low) == 0)
		return -EINVAL;
	*at = p + OP_ESCAPE_LEN;
	return high << 4 | low;
}
