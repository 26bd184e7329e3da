// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Snapshots of version 1, which are text: cut into names in place.
 */

#include "libop/kernel/op_ksyms_form.h"

#include <stdlib.h>
#include <string.h>

bool op_ksyms_is_fit(char type, const char *name, size_t *len)
{
	const char *p = name;

	while ((unsigned char)*p > 0x20 && *p != 0x7f)
		p++;
	*len = (size_t)(p - name);
	return *len && !*p &&
	       ((type >= 'A' && type <= 'Z') || (type >= 'a' && type <= 'z'));
}

/* A line "OFFSET TYPE NAME"; the name stays where it is. */
static bool parse_symbol(char *line, struct op_ksym *sym)
{
	size_t digits = strspn(line, "0123456789abcdef");
	const char *rest = line + digits;
	size_t len;

	if (!digits || digits > 16)
		return false;
	if (rest[0] != ' ' || !rest[1] || rest[2] != ' ')
		return false;
	sym->offset = strtoull(line, NULL, 16);
	sym->type = rest[1];
	sym->name = rest + 3;
	return op_ksyms_is_fit(sym->type, sym->name, &len);
}

const char *op_ksyms_from_text(struct op_ksyms *ksyms, char *text, size_t len,
			       size_t *line)
{
	uint64_t last = 0;

	if (memchr(text, '\0', len))
		return "a zero byte in the file";
	for (; *text; ++*line) {
		struct op_ksym *sym = &ksyms->syms[ksyms->nr];
		char *newline = strchr(text, '\n');

		if (!newline)
			return "the file is truncated here";
		*newline = '\0';
		if (!parse_symbol(text, sym))
			return "no \"OFFSET TYPE NAME\"";
		if (sym->offset < last)
			return "the offsets do not ascend";
		last = sym->offset;
		ksyms->nr++;
		text = newline + 1;
	}
	return NULL;
}
