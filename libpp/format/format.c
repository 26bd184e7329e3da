// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of formats, made of PP_FORMATS. */

#include "libpp/format/format.h"

#include <string.h>

#define FORMAT_ROW(name, title, max_nodes, flags)                              \
	{ #name, title, max_nodes, flags, pp_format_##name },
static const struct pp_format formats[] = { PP_FORMATS(FORMAT_ROW) };
static const size_t nr_formats = sizeof(formats) / sizeof(formats[0]);

const struct pp_format *pp_format_find(const char *name)
{
	for (size_t i = 0; i < nr_formats; i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

const char *pp_format_names(char buf[PP_FORMAT_NAMES_LEN])
{
	size_t len = 0;

	for (size_t i = 0; i < nr_formats && len < PP_FORMAT_NAMES_LEN; i++)
		len += (size_t)snprintf(buf + len, PP_FORMAT_NAMES_LEN - len,
					"%s%s",
					!i		      ? ""
					: i + 1 == nr_formats ? " or "
							      : ", ",
					formats[i].name);
	return buf;
}
