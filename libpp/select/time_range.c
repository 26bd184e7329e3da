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
#define AGE_MAX ((uint64_t)1000 * 366 * DAY)
#define EPOCH_MAX UINT64_C(253402300799) /* the end of the year 9999 */

struct point {
	time_t at;
	struct tm day; /* that it is of */
	bool is_day; /* all of that */
};

static const struct {
	const char *name;
	uint64_t seconds;
} units[] = { { "min", 60 }, { "s", 1 },   { "m", 60 },
	      { "h", 3600 }, { "d", DAY }, { "w", 7 * DAY } };

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

/* "-1h30min": behind the dash. */
static const char *parse_age(const char *text, time_t now, time_t *at)
{
	uint64_t age = 0;
	bool found;

	do {
		uint64_t number;
		const char *end = parse_digits(text, 12, &number);

		found = false;
		for (size_t i = 0;
		     end && !found && i < sizeof(units) / sizeof(units[0]);
		     i++) {
			const char *behind = parse_word(end, units[i].name);

			if (!behind)
				continue;
			if (number > AGE_MAX / units[i].seconds)
				return NULL;
			age += number * units[i].seconds;
			text = behind;
			found = true;
		}
		if (!found)
			return NULL;
	} while (*text >= '0' && *text <= '9' && age <= AGE_MAX);
	*at = now - (time_t)age;
	return age > AGE_MAX ? NULL : text;
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

	tm.tm_isdst = -1;
	point->day = tm;
	point->at = mktime(&tm);
	return point->at == -1 || (tm.tm_mday != day && hour < 24) ? -EINVAL
								   : 0;
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
	if (end) {
		point->at = now;
		return end;
	}
	if (*text == '-')
		return parse_age(text + 1, now, &point->at);
	if (*text != '@')
		return parse_day(text, now, point);
	end = parse_digits(text + 1, 12, &seconds);
	if (!end || seconds > EPOCH_MAX)
		return NULL;
	point->at = (time_t)seconds;
	return end;
}

/* The end of the day that @point is. */
static time_t end_of_day(const struct point *point)
{
	struct tm tm = point->day;

	tm.tm_mday++;
	tm.tm_isdst = -1;
	return mktime(&tm);
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
	out->to = point.is_day ? end_of_day(&point) : now;
	if (*text == '-') {
		text = parse_point(text + 1, now, &point);
		if (!text)
			return -EINVAL;
		out->to = point.is_day ? end_of_day(&point) : point.at;
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

int pp_time_range_parse(struct pp_time_range *out, const char *text, time_t now,
			struct op_diag *diag)
{
	if (parse_range(out, text, now))
		return op_diag_set(
			diag, -EINVAL,
			"time:%s: not a time; give one such as time:-10min, \"time:yesterday 14:00-15:00\" or time:2026-03-31",
			text);
	if (out->from > now)
		return op_diag_set(
			diag, -EINVAL,
			"time:%s: this is in the future; give a time that is past, such as time:-10min",
			text);
	if (out->from >= out->to)
		return op_diag_set(
			diag, -EINVAL,
			"time:%s: this ends before it begins; give the earlier time first",
			text);
	return 0;
}
