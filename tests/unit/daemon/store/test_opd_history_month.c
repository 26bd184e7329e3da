// SPDX-License-Identifier: GPL-2.0-or-later
// tier: all
/*
 * Thirty days of a history: spans as fine as they were asked for, none lost but
 * those that were dropped for age or for the bytes, which are never exceeded.
 */
#include "opd_history_days.h"

static void thirty_days_by_age(void **state)
{
	(void)state;
	run_days("64M,minute:2h,hour:3d,day:20d", 30, 1, 5);
}

static void thirty_days_in_little_room(void **state)
{
	(void)state;
	assert_true(run_days("8M,minute:1d,hour:25d,day:90d", 30, 7500, 5) >
		    50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thirty_days_by_age),
		cmocka_unit_test(thirty_days_in_little_room),
	};

	setenv("TZ", "UTC0", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
