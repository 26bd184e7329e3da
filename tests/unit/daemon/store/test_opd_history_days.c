// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A history of some days: short ones in which spans of all ages and too many
 * bytes come soon. test_opd_history_month.c has the long ones.
 */
#include "opd_history_days.h"

TEST(days_by_age)
{
	run_days("64M,minute:2h,hour:1d,day:2d", 3, 1, 37);
}

TEST(days_in_little_room)
{
	/* Only so much is kept, as there is no room for more. */
	assert_true(run_days("8M,minute:30d", 2, 7500, 37) > 60);
}

BEFORE_TESTS()
{
	setenv("TZ", "UTC0", 1);
}
