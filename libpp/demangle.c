// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/demangle.h"

#include <stdlib.h>

#include <libiberty/demangle.h>

const char *pp_demangle(struct pp_arena *arena, const char *name,
			enum pp_demangle how)
{
	const char *copy;
	char *text;

	if (how == PP_DEMANGLE_NONE)
		return name;
	text = cplus_demangle(name, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
	if (!text)
		return name;
	copy = pp_arena_strdup(arena, text);
	free(text);
	return copy ? copy : name;
}
