// SPDX-License-Identifier: GPL-2.0-or-later

#include "tests/unit/opd_fixture.h"

TEST(nothing_is_the_timer)
{
	struct opd_events e;

	for (int i = 0; i < 2; i++) {
		memset(&e, 0xff, sizeof(e));
		assert_int_equal(opd_events_parse(&e, i ? "" : NULL, NULL), 0);
		assert_int_equal(e.nr, 1);
		assert_true(e.counter[0].set);
		assert_false(e.counter[1].set);
		assert_string_equal(e.counter[0].name, "TIMER");
		assert_true(opd_event_is_timer(&e.counter[0]));
	}
}

TEST(two_events)
{
	struct opd_events e;

	assert_int_equal(
		opd_events_parse(
			&e,
			"CPU_CLK_UNHALTED:118:3:100000:0:1:1,MISSES:0x41:1:5000:3:0:1,",
			NULL),
		0);
	assert_int_equal(e.nr, 4);
	assert_false(e.counter[0].set);
	assert_false(e.counter[2].set);
	assert_string_equal(e.counter[3].name, "CPU_CLK_UNHALTED");
	assert_int_equal(e.counter[3].value, 118);
	assert_int_equal(e.counter[3].count, 100000);
	assert_int_equal(e.counter[1].value, 0x41);
	assert_int_equal(e.counter[1].um, 3);
	assert_false(e.counter[1].kernel);
	assert_true(e.counter[1].user);
}

TEST(config_is_told_or_made)
{
	struct op_diag diag = { "" };
	struct opd_events e;

	assert_int_equal(opd_events_parse(&e,
					  "A:0x76:0:5:3:1:1,"
					  "B:0x1e9:1:5:0:1:1:0x1000000e9",
					  &diag),
			 0);
	assert_int_equal(e.counter[0].config, 0x376);
	assert_int_equal(e.counter[1].config, 0x1000000e9);
	assert_int_equal(e.counter[1].value, 0x1e9);
}

TEST(errors_name_the_place)
{
	static const struct {
		const char *text;
		const char *why;
	} cases[] = {
		{ "A", "name:value:counter" },
		{ "A:1:0:5:0:1", "name:value:counter" },
		{ "A:1:0:5:0:1:1:1:1", "name:value:counter" },
		{ "A:1:0:5:0:1:1:y", "config 'y' is not a number" },
		{ "A:x:0:5:0:1:1", "value 'x' is not a number" },
		{ "A:1::5:0:1:1", "counter '' is not a number" },
		{ "A:1:0:-5:0:1:1", "count '-5' is not a number" },
		{ "A:1:0:5:0:2:1", "kernel is 0 or 1, not 2" },
		{ "A:1:0:5:0:1:9", "user is 0 or 1, not 9" },
		{ "A:1:32:5:0:1:1", "counter 32 of event A" },
		{ "A/B:1:0:5:0:1:1", "event name 'A/B'" },
		{ ":1:0:5:0:1:1", "event name ''" },
		{ "A:1:0:5:0:1:1,B:1:0:5:0:1:1", "same counter 0" },
		{ "A:1:0:5:0:1:1,A:1:1:5:0:1:1", "A is given twice" },
		{ "A:4294967296:0:5:0:1:1", "32 bits" },
		{ ",", "name:value:counter" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct op_diag diag = { "" };
		struct opd_events e;

		assert_int_equal(opd_events_parse(&e, cases[i].text, &diag),
				 -EINVAL);
		if (!strstr(diag.text, cases[i].why))
			fail_msg("%s: %s", cases[i].text, diag.text);
	}
}
