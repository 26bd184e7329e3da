// SPDX-License-Identifier: GPL-2.0-or-later
// tier: all
/*
 * Thirty days of a history: spans as fine as they were asked for, none lost but
 * those that were dropped for age or for the bytes, which are never exceeded.
 */
#include "opd_history_days.h"

TEST(thirty_days_by_age)
{
	run_days("64M,minute:2h,hour:3d,day:20d", 30, 1, 5);
}

TEST(thirty_days_in_little_room)
{
	assert_true(run_days("8M,minute:1d,hour:25d,day:90d", 30, 7500, 5) >
		    50);
}

BEFORE_TESTS()
{
	setenv("TZ", "UTC0", 1);
}
