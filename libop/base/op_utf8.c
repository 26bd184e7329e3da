// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/base/op_utf8.h"

#include <stdbool.h>
#include <stdint.h>

unsigned int op_utf8_len(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int len = *s < 0x80   ? 1
			   : *s < 0xc0 ? 0
			   : *s < 0xe0 ? 2
			   : *s < 0xf0 ? 3
			   : *s < 0xf8 ? 4
				       : 0;
	uint32_t c = *s & (0xff >> (len + 1));

	for (unsigned int i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (len < 2)
		return len;
	return c >= least[len] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff)
		       ? len
		       : 0;
}

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<' &&
	       c != '>' && c != '&';
}

size_t op_unescaped_len(const char *text)
{
	size_t len = 0;

	while (is_plain((unsigned char)text[len]))
		len++;
	return len;
}
