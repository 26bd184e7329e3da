// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Grains are those of the local clock, as people ask for "yesterday": a day has
 * 23 to 25 hours. Hours begin where the clock says so, in zones that are half
 * an hour off, too.
 */

#include "libop/session/op_history.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 16
#define PART_MIN ((uint64_t)1 << 20)
#define MINUTE 60
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)
#define SIZE_MAX_MIB (UINT64_C(1) << 30)
#define KEEP_MAX (UINT64_C(100) * 366 * DAY)

static const char *const grain_names[OP_NR_GRAINS] = { "minute", "hour",
						       "day" };

struct unit {
	char letter;
	uint64_t factor;
};

static const struct unit size_units[] = {
	{ 'K', 1 << 10 }, { 'M', 1 << 20 }, { 'G', 1 << 30 }, { '\0', 1 << 20 }
};

static const struct unit age_units[] = { { 'm', MINUTE },
					 { 'h', HOUR },
					 { 'd', DAY } };

/* A number and its unit up to a comma or the end; NULL if there is none. */
static const char *parse_amount(const char *text, const struct unit *units,
				size_t nr, uint64_t most, uint64_t *out)
{
	char *end;
	uint64_t number;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	number = strtoull(text, &end, 10);
	for (size_t i = 0; i < nr && !errno; i++) {
		bool none = !units[i].letter;

		if (!none && *end != units[i].letter)
			continue;
		end += !none;
		if ((*end && *end != ',') || number > most / units[i].factor)
			return NULL;
		*out = number * units[i].factor;
		return end;
	}
	return NULL;
}

static int parse_level(struct op_history *out, const char **text)
{
	struct op_history_level *level = &out->levels[out->nr];
	int next = out->nr ? (int)level[-1].grain + 1 : 0;

	for (int grain = next; grain < OP_NR_GRAINS; grain++) {
		size_t len = strlen(grain_names[grain]);
		const char *end;

		if (strncmp(*text, grain_names[grain], len) != 0 ||
		    (*text)[len] != ':')
			continue;
		end = parse_amount(*text + len + 1, age_units,
				   sizeof(age_units) / sizeof(age_units[0]),
				   KEEP_MAX, &level->keep);
		if (!end || !level->keep ||
		    (out->nr && level->keep <= level[-1].keep))
			return -EINVAL;
		level->grain = (enum op_grain)grain;
		out->nr++;
		*text = end;
		return 0;
	}
	return -EINVAL;
}

static int parse_history(struct op_history *out, const char *text)
{
	int err = 0;

	if (!strcmp(text, "none"))
		return 0;
	text = parse_amount(text, size_units,
			    sizeof(size_units) / sizeof(size_units[0]),
			    SIZE_MAX_MIB << 20, &out->bytes);
	if (!text || out->bytes < OP_HISTORY_MIN)
		return -EINVAL;
	if (!*text)
		text = "," OP_HISTORY_DEFAULT;
	while (*text == ',' && !err) {
		text++;
		err = parse_level(out, &text);
	}
	return err || *text ? -EINVAL : 0;
}

int op_history_parse(struct op_history *out, const char *text,
		     struct op_diag *diag)
{
	memset(out, 0, sizeof(*out));
	if (!parse_history(out, text))
		return 0;
	memset(out, 0, sizeof(*out));
	return op_diag_set(
		diag, -EINVAL,
		"--history=%s: give a size, at least 8M, and how long to keep which spans, such as --history=500M," OP_HISTORY_DEFAULT
		" (fine spans first, each kept longer than those before), or none",
		text);
}

uint64_t op_history_part(const struct op_history *history)
{
	uint64_t part = history->bytes / PARTS;

	return part > PART_MIN ? part : PART_MIN;
}

/* ---- the local clock --------------------------------------------------------
 */

static time_t start_of_grain(enum op_grain grain, struct tm *tm)
{
	tm->tm_sec = 0;
	if (grain >= OP_GRAIN_HOUR)
		tm->tm_min = 0;
	if (grain >= OP_GRAIN_DAY) {
		tm->tm_hour = 0;
		tm->tm_isdst = -1;
	}
	return mktime(tm);
}

time_t op_grain_begin(enum op_grain grain, time_t at)
{
	struct tm tm;
	time_t begin = -1;

	if (localtime_r(&at, &tm))
		begin = start_of_grain(grain, &tm);
	/* No such time on the local clock. */
	return begin < 0 || begin > at ? at : begin;
}

time_t op_grain_end(enum op_grain grain, time_t at)
{
	/* More than one grain and less than two, on any day. */
	static const time_t steps[OP_NR_GRAINS] = { 90, HOUR * 3 / 2,
						    DAY * 3 / 2 };
	time_t begin = op_grain_begin(grain, at);
	time_t end = op_grain_begin(grain, begin + steps[grain]);

	return end > at ? end : at + 1;
}
