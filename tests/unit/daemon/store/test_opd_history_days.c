// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A history of some days: short ones in which spans of all ages and too many
 * bytes come soon. test_opd_history_month.c has the long ones.
 */
#include "opd_history_days.h"

static void days_by_age(void **state)
{
	(void)state;
	run_days("64M,minute:2h,hour:1d,day:2d", 3, 1, 37);
}

static void days_in_little_room(void **state)
{
	(void)state;
	/* Only so much is kept, as there is no room for more. */
	assert_true(run_days("8M,minute:30d", 2, 7500, 37) > 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(days_by_age),
		cmocka_unit_test(days_in_little_room),
	};

	setenv("TZ", "UTC0", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
