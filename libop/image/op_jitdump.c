// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/image/op_jitdump.h"

/* Instead of a name: the file of the line before. */
#define SAME_FILE "\377"

bool op_jitdump_next_line(struct op_cursor *c, struct op_jitdump_line *line)
{
	const char *last = line->file, *file;

	c->big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	line->addr = op_cursor_number(c, 8);
	line->line = (uint32_t)op_cursor_number(c, 4);
	line->discriminator = (uint32_t)op_cursor_number(c, 4);
	file = op_cursor_string(c);
	if (c->failed || !file)
		return false;
	line->file = last && !strcmp(file, SAME_FILE) ? last : file;
	return true;
}
