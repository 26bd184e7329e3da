// SPDX-License-Identifier: GPL-2.0-or-later
/* The times of a profile specification. */

#include "tests/unit/op_fixture.h"

#include "libpp/select/time_range.h"

/* Sunday 2026-03-29 16:30:20 in a zone that went to summer time that night:
 * 2026-03-29 00:00 is 1774738800, and the day has 23 hours. */
#define ZONE "CET-1CEST,M3.5.0,M10.5.0/3"
#define NOW ((time_t)1774794620)
#define TODAY ((time_t)1774738800)
#define YESTERDAY (TODAY - 86400)
#define TOMORROW (TODAY + 82800)

TEST(test_ranges)
{
	static const struct {
		const char *text;
		time_t from, to;
	} rows[] = {
		{ "-10min", NOW - 600, NOW },
		{ "-10m", NOW - 600, NOW },
		{ "-90s", NOW - 90, NOW },
		{ "-1h30min", NOW - 5400, NOW },
		{ "-2h--1h", NOW - 7200, NOW - 3600 },
		{ "-2w-now", NOW - 14 * 86400, NOW },
		{ "-1d", NOW - 86400, NOW },
		{ "@1000-@2000", 1000, 2000 },
		{ "@1000", 1000, NOW },
		{ "today", TODAY, TOMORROW },
		{ "yesterday", YESTERDAY, TODAY },
		{ "yesterday-today", YESTERDAY, TOMORROW },
		{ "yesterday-now", YESTERDAY, NOW },
		{ "yesterday 14:00-15:00", YESTERDAY + 14 * 3600,
		  YESTERDAY + 15 * 3600 },
		{ "yesterday 14:00:05-15:00:10", YESTERDAY + 14 * 3600 + 5,
		  YESTERDAY + 15 * 3600 + 10 },
		{ "yesterday 23:00-24:00", YESTERDAY + 23 * 3600, TODAY },
		{ "yesterday 23:00-today 01:00", YESTERDAY + 23 * 3600,
		  TODAY + 3600 },
		/* After the hour that there was not. */
		{ "today 04:00-05:00", TODAY + 3 * 3600, TODAY + 4 * 3600 },
		{ "04:00", TODAY + 3 * 3600, NOW },
		{ "04:00-05:30", TODAY + 3 * 3600, TODAY + 4 * 3600 + 1800 },
		{ "2026-03-28", YESTERDAY, TODAY },
		{ "2026-03-28-2026-03-29", YESTERDAY, TOMORROW },
		{ "2026-03-28 14:00-15:00", YESTERDAY + 14 * 3600,
		  YESTERDAY + 15 * 3600 },
		{ "2026-03-28T14:00-2026-03-29T04:00", YESTERDAY + 14 * 3600,
		  TODAY + 3 * 3600 },
		{ "2026-03-28 14:00", YESTERDAY + 14 * 3600, NOW },
		{ "1970-01-02", 82800, 169200 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_diag diag = { "" };
		struct pp_time_range range;

		if (pp_time_range_parse(&range, rows[i].text, NOW, &diag))
			fail_msg("%s", diag.text);
		if (range.from_base == PP_TIME_BEGIN ||
		    range.to_base == PP_TIME_BEGIN ||
		    range.from != rows[i].from * PP_TIME_NS ||
		    range.to != rows[i].to * PP_TIME_NS)
			fail_msg("%s: %lld to %lld", rows[i].text,
				 (long long)(range.from / PP_TIME_NS),
				 (long long)(range.to / PP_TIME_NS));
	}
}

/* The session began at 1000 s and ended at 2000 s. */
TEST(test_ranges_of_a_session)
{
	static const struct {
		const char *text;
		int64_t from_ms, to_ms;
	} rows[] = {
		{ "2s-3s", 1002000, 1003000 },
		{ "2.5s-3250ms", 1002500, 1003250 },
		{ "1min30s-now", 1090000, 2000000 },
		{ "0s", 1000000, 2000000 },
		{ "-10s", 1990000, 2000000 },
		{ "-10s--0.5s", 1990000, 1999500 },
		{ "2s--10s", 1002000, 1990000 },
		{ "@1500-@1600", 1500000, 1600000 },
		{ "@1500-600s", 1500000, 1600000 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_diag diag = { "" };
		struct pp_time_range range;

		if (pp_time_range_parse(&range, rows[i].text, NOW, &diag))
			fail_msg("%s", diag.text);
		pp_time_range_resolve(&range, 1000 * PP_TIME_NS,
				      2000 * PP_TIME_NS, NOW * PP_TIME_NS);
		if (range.from != rows[i].from_ms * 1000000 ||
		    range.to != rows[i].to_ms * 1000000)
			fail_msg("%s: %lld to %lld ns", rows[i].text,
				 (long long)range.from, (long long)range.to);
	}
}

TEST(test_refused)
{
	static const struct {
		const char *text, *reason;
	} rows[] = {
		{ "", "not a time" },
		{ "10", "not a time" },
		{ "1.min", "not a time" },
		{ "3s-2s", "ends before it begins" },
		{ "-10", "not a time" },
		{ "-10x", "not a time" },
		{ "-10min5", "not a time" },
		{ "-999999999999w", "not a time" },
		{ "@", "not a time" },
		{ "@999999999999", "not a time" },
		{ "tomorrow", "not a time" },
		{ "today 14", "not a time" },
		{ "today 14:00 ", "not a time" },
		{ "today 25:00", "not a time" },
		{ "today 14:60", "not a time" },
		{ "today 14:00:60", "not a time" },
		{ "2026-02-30", "not a time" },
		{ "2026-13-01", "not a time" },
		{ "2026-00-01", "not a time" },
		{ "2026-01-00", "not a time" },
		{ "1969-01-01", "not a time" },
		{ "26-01-01", "not a time" },
		{ "now", "ends before it begins" },
		{ "23:00", "in the future" },
		{ "16:31-16:32", "in the future" },
		{ "2026-03-30", "in the future" },
		{ "15:00-14:00", "ends before it begins" },
		{ "-1h--2h", "ends before it begins" },
		{ "14:00-", "not a time" },
		{ "14:00-15:00-16:00", "not a time" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_diag diag = { "" };
		struct pp_time_range range;

		if (pp_time_range_parse(&range, rows[i].text, NOW, &diag) !=
		    -EINVAL)
			fail_msg("%s is taken", rows[i].text);
		if (!strstr(diag.text, rows[i].reason))
			fail_msg("%s: %s", rows[i].text, diag.text);
	}
}

TEST(test_texts)
{
	char text[PP_TIME_TEXT_LEN];

	assert_string_equal(pp_time_text(text, NOW), "2026-03-29 16:30:20");
	assert_string_equal(pp_time_text(text, YESTERDAY),
			    "2026-03-28 00:00:00");
}

BEFORE_TESTS()
{
	setenv("TZ", ZONE, 1);
	tzset();
}
