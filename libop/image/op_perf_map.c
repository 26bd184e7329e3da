// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/image/op_perf_map.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "libop/files/op_config.h"

/* A number that a blank ends; *@at moves behind the blanks. */
static bool parse_hex_field(const char **at, const char *end, uint64_t *value)
{
	const char *c = *at;
	int nr = 0, digit;

	if (end - c > 2 && c[0] == '0' && (c[1] == 'x' || c[1] == 'X'))
		c += 2;
	for (*value = 0; c < end && (digit = op_hex_digit(*c)) >= 0; c++) {
		if (*value >> 60)
			return false;
		*value = *value << 4 | (unsigned int)digit;
		nr++;
	}
	if (!nr || c == end || *c != ' ')
		return false;
	while (c < end && *c == ' ')
		c++;
	*at = c;
	return true;
}

bool op_perf_map_parse(struct op_perf_map_line *line, const char *text,
		       size_t len)
{
	const char *at = text, *end = text + len;
	uint64_t size;

	if (!parse_hex_field(&at, end, &line->start) ||
	    !parse_hex_field(&at, end, &size) || at == end)
		return false;
	if (size == 0 || size > UINT32_MAX || line->start > UINT64_MAX - size)
		return false;
	line->size = (uint32_t)size;
	line->name = at;
	line->name_len = (size_t)(end - at);
	return true;
}

int op_perf_map_path(char *buf, size_t len, const char *folder, int64_t tgid)
{
	int n = snprintf(buf, len, "%s/perf-%" PRId64 ".map", folder, tgid);

	return n < 0 || (size_t)n >= len ? -ENAMETOOLONG : 0;
}

void op_perf_map_copy_name(char *to, size_t size, const char *name, size_t len)
{
	if (len >= size)
		len = size - 1;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)name[i];

		to[i] = c < 0x20 || c == 0x7f ? '?' : name[i];
	}
	to[len] = '\0';
}
