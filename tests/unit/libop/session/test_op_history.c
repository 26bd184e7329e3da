// SPDX-License-Identifier: GPL-2.0-or-later
/* The value of --history, and the grains of the local clock. */

#include "tests/unit/op_fixture.h"

#include "libop/session/op_history.h"

#define H UINT64_C(3600)

TEST(test_values)
{
	static const struct {
		const char *text;
		struct op_history history;
	} rows[] = {
		{ "none", { 0 } },
		{ "500M",
		  { 500 << 20,
		    3,
		    { { OP_GRAIN_MINUTE, 2 * H },
		      { OP_GRAIN_HOUR, 7 * 24 * H },
		      { OP_GRAIN_DAY, 90 * 24 * H } } } },
		{ "8,day:1d", { 8 << 20, 1, { { OP_GRAIN_DAY, 24 * H } } } },
		{ "8193K,hour:90m",
		  { 8193 << 10, 1, { { OP_GRAIN_HOUR, 90 * 60 } } } },
		{ "2G,minute:1h,day:2h",
		  { UINT64_C(2) << 30,
		    2,
		    { { OP_GRAIN_MINUTE, H }, { OP_GRAIN_DAY, 2 * H } } } },
	};
	struct op_diag diag = { "" };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct op_history *want = &rows[i].history;
		struct op_history got;

		if (op_history_parse(&got, rows[i].text, &diag))
			fail_msg("%s", diag.text);
		assert_int_equal(got.bytes, want->bytes);
		assert_int_equal(got.nr, want->nr);
		for (unsigned int k = 0; k < got.nr; k++) {
			assert_int_equal(got.levels[k].grain,
					 want->levels[k].grain);
			assert_int_equal(got.levels[k].keep,
					 want->levels[k].keep);
		}
	}
}

TEST(test_refused)
{
	static const char *const texts[] = {
		"",
		"0",
		"7M",
		"8191K",
		"-1",
		"all",
		"50T",
		"50M ",
		"50M,",
		"50M,,day:1d",
		"50M,week:1d",
		"50M,day",
		"50M,day:",
		"50M,day:0d",
		"50M,day:1",
		"50M,day:1dd",
		"50M,day:1d,",
		"50M,hour:1d,minute:2d",
		"50M,hour:1d,hour:2d",
		"50M,minute:2h,hour:2h",
		"50M,day:99999999d",
		"99999999999999999999M",
		"2000000000M",
		"none,day:1d",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct op_history history;
		struct op_diag diag = { "" };

		if (op_history_parse(&history, texts[i], &diag) != -EINVAL)
			fail_msg("%s is taken", texts[i]);
		assert_int_equal(history.bytes, 0);
		assert_reason(&diag, "--history=500M,minute:2h");
	}
}

TEST(test_grains)
{
	/* From date(1): TZ=Europe/Berlin, around the night of 2026-10-25, which
	 * has 25 hours, and TZ=Asia/Kolkata, 5:30 ahead. */
	static const struct {
		const char *zone;
		enum op_grain grain;
		time_t at, begin, end;
	} rows[] = {
		{ "UTC0", OP_GRAIN_MINUTE, 119, 60, 120 },
		{ "UTC0", OP_GRAIN_MINUTE, 120, 120, 180 },
		{ "UTC0", OP_GRAIN_HOUR, 3599, 0, 3600 },
		{ "UTC0", OP_GRAIN_DAY, 86400, 86400, 172800 },
		{ "Europe/Berlin", OP_GRAIN_DAY, 1792900000, 1792879200,
		  1792969200 },
		{ "CET-1CEST,M3.5.0,M10.5.0/3", OP_GRAIN_DAY, 1792900000,
		  1792879200, 1792969200 },
		{ "IST-5:30", OP_GRAIN_HOUR, 1792900000, 1792899000,
		  1792902600 },
		{ "IST-5:30", OP_GRAIN_DAY, 1792900000, 1792866600,
		  1792953000 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		/* Where there are no files of zones. */
		if (rows[i].zone[0] == 'E' &&
		    access("/usr/share/zoneinfo/Europe/Berlin", R_OK))
			continue;
		setenv("TZ", rows[i].zone, 1);
		tzset();
		assert_int_equal(op_grain_begin(rows[i].grain, rows[i].at),
				 rows[i].begin);
		assert_int_equal(op_grain_end(rows[i].grain, rows[i].at),
				 rows[i].end);
	}
}
