// SPDX-License-Identifier: GPL-2.0-or-later
/* Events whose names are like a mistyped one. */

#include "libop/events/op_parse_event.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "libop/base/op_near_names.h"

#define SHOWN 3

/* How unlike @name is; UINT_MAX: too much to be meant. */
static unsigned int unlikeness(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);
	unsigned int distance;

	if (len < 2 || len > OP_EDIT_MAX || strlen(name) > OP_EDIT_MAX)
		return UINT_MAX;
	distance = op_edit_distance(name, wanted, true);
	if (distance <= (len + 3) / 4)
		return distance;
	/* Part of the name; the shorter the whole, the more alike. */
	return len > 2 && strcasestr(name, wanted)
		       ? 1000 + (unsigned int)strlen(name)
		       : UINT_MAX;
}

struct best {
	const char *name;
	unsigned int unlike;
};

static void insert_similar(struct best *best, const char *name,
			   unsigned int unlike)
{
	int i = SHOWN;

	for (; i > 0 && unlike < best[i - 1].unlike; i--)
		if (i < SHOWN)
			best[i] = best[i - 1];
	if (i < SHOWN)
		best[i] = (struct best){ name, unlike };
}

void op_events_similar(const struct op_events *events, const char *name,
		       char *buf, size_t len)
{
	struct best best[SHOWN];
	size_t at = 0;

	for (int i = 0; i < SHOWN; i++)
		best[i] = (struct best){ NULL, UINT_MAX };
	for (size_t i = 0; i < events->nr; i++)
		insert_similar(best, events->event[i].name,
			       unlikeness(events->event[i].name, name));
	*buf = '\0';
	for (int i = 0; i < SHOWN && best[i].name && at < len; i++)
		at += (size_t)snprintf(buf + at, len - at, ", %s",
				       best[i].name);
}
