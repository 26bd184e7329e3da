// SPDX-License-Identifier: GPL-2.0-or-later
/* Events whose names are like a mistyped one. */

#include "libop/op_parse_event.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MAX_NAME 128
#define SHOWN 3

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

/* Letters to insert, remove or change to make @a of @b; case is no change. */
static unsigned int edit_distance(const char *a, const char *b)
{
	unsigned int row[MAX_NAME + 1], left, above;
	size_t len = strlen(b);

	for (size_t j = 0; j <= len; j++)
		row[j] = (unsigned int)j;
	for (; *a; a++) {
		left = row[0]++;
		for (size_t j = 1; j <= len; j++) {
			above = row[j];
			row[j] =
				min3(row[j - 1] + 1, above + 1,
				     left + (toupper((unsigned char)*a) !=
					     toupper((unsigned char)b[j - 1])));
			left = above;
		}
	}
	return row[len];
}

/* How unlike @name is; UINT_MAX: too much to be meant. */
static unsigned int unlikeness(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);
	unsigned int distance;

	if (len < 2 || len > MAX_NAME || strlen(name) > MAX_NAME)
		return UINT_MAX;
	distance = edit_distance(name, wanted);
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
