// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A point is taken from the beginning of the text, as far as it goes. So the
 * dash between two points is told from the dashes of a date by where it stands.
 */

#include "libpp/select/time_range.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DAY (24 * 3600)
#define AGE_MAX ((uint64_t)200 * 366 * DAY)
#define EPOCH_MAX UINT64_C(253402300799) /* the end of the year 9999 */

#define SECONDS_MAX INT64_C(9000000000) /* of dates; ns fit 64 bits */

struct point {
	int64_t at; /* ns */
	enum pp_time_base base;
	struct tm day; /* that it is of */
	bool is_day; /* all of that */
};

static const struct {
	const char *name;
	uint64_t ms;
} units[] = { { "ms", 1 },
	      { "min", 60000 },
	      { "s", 1000 },
	      { "m", 60000 },
	      { "h", 3600000 },
	      { "d", DAY * 1000 },
	      { "w", 7 * DAY * 1000 } };

/* Up to @most digits; NULL if there is none. */
static const char *parse_digits(const char *text, unsigned int most,
				uint64_t *out)
{
	const char *start = text;

	*out = 0;
	while (*text >= '0' && *text <= '9' && text - start < (int)most)
		*out = *out * 10 + (uint64_t)(*text++ - '0');
	return text == start ? NULL : text;
}

/* Exactly @len digits with a value up to @most, then @end unless that is 0. */
static const char *parse_field(const char *text, int len, int most, char end,
			       int *out)
{
	uint64_t number;
	const char *behind = parse_digits(text, (unsigned int)len, &number);

	if (!behind || behind - text != len || number > (uint64_t)most ||
	    (end && *behind != end))
		return NULL;
	*out = (int)number;
	return behind + (end != 0);
}

static const char *parse_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	return strncmp(text, word, len) ? NULL : text + len;
}

static int64_t ns_of_date(time_t at)
{
	return (at < SECONDS_MAX ? at : SECONDS_MAX) * PP_TIME_NS;
}

/* Digits behind a point, in millionths: "5" is 500,000. */
static const char *parse_fraction(const char *text, uint64_t *millionths)
{
	uint64_t unit = 100000;

	*millionths = 0;
	for (; *text >= '0' && *text <= '9' && unit; unit /= 10)
		*millionths += (uint64_t)(*text++ - '0') * unit;
	return unit == 100000 ? NULL : text;
}

/* "1h30min": *@ns are so long. */
static const char *parse_age(const char *text, int64_t *ns)
{
	uint64_t age = 0, limit = AGE_MAX * 1000000;
	bool found;

	do {
		uint64_t number, millionths = 0;
		const char *end = parse_digits(text, 12, &number);

		if (end && *end == '.')
			end = parse_fraction(end + 1, &millionths);
		found = false;
		for (size_t i = 0;
		     end && !found && i < sizeof(units) / sizeof(units[0]);
		     i++) {
			const char *behind = parse_word(end, units[i].name);

			if (!behind)
				continue;
			if (number > AGE_MAX * 1000 / units[i].ms)
				return NULL;
			age += number * units[i].ms * 1000 +
			       millionths * units[i].ms / 1000;
			text = behind;
			found = true;
		}
		if (!found)
			return NULL;
	} while (*text >= '0' && *text <= '9' && age <= limit);
	*ns = (int64_t)age * 1000;
	return age > limit ? NULL : text;
}

/* "14:00" or "14:00:30" of @tm's day. */
static const char *parse_clock(const char *text, struct tm *tm)
{
	const char *seconds;

	text = parse_field(text, 2, 24, ':', &tm->tm_hour);
	if (text)
		text = parse_field(text, 2, 59, 0, &tm->tm_min);
	if (!text || *text != ':')
		return text;
	seconds = parse_field(text + 1, 2, 59, 0, &tm->tm_sec);
	return seconds;
}

static const char *parse_date(const char *text, struct tm *tm)
{
	int year = 0, month = 0;

	text = parse_field(text, 4, 9999, '-', &year);
	if (text)
		text = parse_field(text, 2, 12, '-', &month);
	if (text)
		text = parse_field(text, 2, 31, 0, &tm->tm_mday);
	if (!text || year < 1970 || !month || !tm->tm_mday)
		return NULL;
	tm->tm_year = year - 1900;
	tm->tm_mon = month - 1;
	return text;
}

/* Set @point to the time in @tm. mktime(3) shifts fields that are too large, so
 * 30 February is refused. */
static int set_point(struct point *point, struct tm tm)
{
	int day = tm.tm_mday, hour = tm.tm_hour;
	time_t at;

	tm.tm_isdst = -1;
	point->day = tm;
	at = mktime(&tm);
	point->at = ns_of_date(at);
	return at == -1 || (tm.tm_mday != day && hour < 24) ? -EINVAL : 0;
}

/* A day, maybe with a clock, or a clock of @point's day. */
static const char *parse_day(const char *text, time_t now, struct point *point)
{
	struct tm tm = point->day;
	const char *end = parse_word(text, "today"), *clock;

	tm.tm_sec = tm.tm_min = tm.tm_hour = 0;
	if (end || (end = parse_word(text, "yesterday"))) {
		localtime_r(&now, &tm);
		tm.tm_sec = tm.tm_min = tm.tm_hour = 0;
		if (*text == 'y') {
			tm.tm_mday--;
			tm.tm_isdst = -1;
			mktime(&tm);
		}
	} else {
		end = parse_date(text, &tm);
	}
	point->is_day = end != NULL;
	clock = end && (*end == ' ' || *end == 'T') ? end + 1 : text;
	if (!end || clock == end + 1) {
		end = parse_clock(clock, &tm);
		point->is_day = false;
	}
	return end && !set_point(point, tm) ? end : NULL;
}

/* @point has the day of a clock without one. */
static const char *parse_point(const char *text, time_t now,
			       struct point *point)
{
	const char *end = parse_word(text, "now");
	uint64_t seconds;

	point->is_day = false;
	point->base = PP_TIME_AGE;
	if (end) {
		point->at = now * PP_TIME_NS;
		return end;
	}
	if (*text == '-') {
		end = parse_age(text + 1, &point->at);
		point->at = now * PP_TIME_NS - point->at;
		return end;
	}
	point->base = PP_TIME_BEGIN;
	end = parse_age(text, &point->at);
	if (end)
		return end;
	point->base = PP_TIME_DATE;
	if (*text != '@')
		return parse_day(text, now, point);
	end = parse_digits(text + 1, 12, &seconds);
	if (!end || seconds > EPOCH_MAX)
		return NULL;
	point->at = ns_of_date((time_t)seconds);
	return end;
}

/* The end of the day that @point is. */
static int64_t end_of_day(const struct point *point)
{
	struct tm tm = point->day;

	tm.tm_mday++;
	tm.tm_isdst = -1;
	return ns_of_date(mktime(&tm));
}

static int parse_range(struct pp_time_range *out, const char *text, time_t now)
{
	struct point point = { 0 };

	if (!localtime_r(&now, &point.day))
		return -EINVAL;
	text = parse_point(text, now, &point);
	if (!text)
		return -EINVAL;
	out->from = point.at;
	out->from_base = point.base;
	out->to = point.is_day ? end_of_day(&point) : now * PP_TIME_NS;
	out->to_base = point.is_day ? PP_TIME_DATE : PP_TIME_AGE;
	if (*text == '-') {
		text = parse_point(text + 1, now, &point);
		if (!text)
			return -EINVAL;
		out->to = point.is_day ? end_of_day(&point) : point.at;
		out->to_base = point.base;
	}
	return *text ? -EINVAL : 0;
}

const char *pp_time_text(char text[PP_TIME_TEXT_LEN], time_t at)
{
	struct tm tm;

	if (!localtime_r(&at, &tm) ||
	    !strftime(text, PP_TIME_TEXT_LEN, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(text, PP_TIME_TEXT_LEN, "@%lld", (long long)at);
	return text;
}

const char *pp_time_seconds(char text[PP_TIME_TEXT_LEN], uint64_t ns)
{
	char *end;

	snprintf(text, PP_TIME_TEXT_LEN, "%llu.%09llu",
		 (unsigned long long)(ns / PP_TIME_NS),
		 (unsigned long long)(ns % PP_TIME_NS));
	for (end = text + strlen(text); end[-1] == '0'; end--)
		;
	end[end[-1] == '.' ? -1 : 0] = '\0';
	return text;
}

const char *pp_time_since(char text[PP_TIME_TEXT_LEN], uint64_t ns)
{
	pp_time_seconds(text, ns);
	strcat(text, "s");
	return text;
}

static int64_t resolve_time(int64_t at, enum pp_time_base base, int64_t begin,
			    int64_t shift)
{
	return base == PP_TIME_BEGIN ? begin + at
	       : base == PP_TIME_AGE ? at - shift
				     : at;
}

void pp_time_range_resolve(struct pp_time_range *range, int64_t begin,
			   int64_t end, int64_t now)
{
	int64_t shift = now - end;

	range->from = resolve_time(range->from, range->from_base, begin, shift);
	range->to = resolve_time(range->to, range->to_base, begin, shift);
	range->from_base = range->to_base = PP_TIME_DATE;
}

int pp_time_range_parse(struct pp_time_range *out, const char *text, time_t now,
			struct op_diag *diag)
{
	if (parse_range(out, text, now))
		return op_diag_set(
			diag, -EINVAL,
			"time:%s: not a time; give one such as time:-10min, \"time:yesterday 14:00-15:00\" or time:2026-03-31",
			text);
	if (out->from_base != PP_TIME_BEGIN && out->from > now * PP_TIME_NS)
		return op_diag_set(
			diag, -EINVAL,
			"time:%s: this is in the future; give a time that is past, such as time:-10min",
			text);
	if ((out->from_base == PP_TIME_BEGIN) ==
		    (out->to_base == PP_TIME_BEGIN) &&
	    out->from >= out->to)
		return op_diag_set(
			diag, -EINVAL,
			"time:%s: this ends before it begins; give the earlier time first",
			text);
	return 0;
}
