// SPDX-License-Identifier: GPL-2.0-or-later

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/context/opd_anon.h"

static const char default_name[] = OPD_ANON_DEFAULT;

const char *opd_anon_name(struct opd_anon *anon, const char *name)
{
	uint32_t hash = 2166136261u;
	unsigned int i;

	if (!strcmp(name, default_name))
		return default_name;
	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	for (i = hash % OPD_ANON_NAMES; anon->names[i];
	     i = (i + 1) % OPD_ANON_NAMES)
		if (!strcmp(anon->names[i], name))
			return anon->names[i];
	if (anon->nr >= OPD_ANON_NAMES / 2)
		return default_name;
	anon->names[i] = strdup(name);
	if (!anon->names[i])
		return default_name;
	anon->nr++;
	return anon->names[i];
}

void opd_anon_release(struct opd_anon *anon)
{
	for (unsigned int i = 0; i < OPD_ANON_NAMES; i++)
		free(anon->names[i]);
	memset(anon, 0, sizeof(*anon));
}
