// SPDX-License-Identifier: GPL-2.0-or-later
/* Reasons: the first one stays, one line, nothing a terminal would act on. */

#include "tests/unit/op_fixture.h"

static void test_returns_the_error(void **state)
{
	struct op_diag diag = { "" };

	(void)state;
	assert_int_equal(op_diag_set(NULL, -EIO, "x"), -EIO);
	assert_int_equal(op_diag_set(&diag, -EPERM, "%s: %d", "a", 7), -EPERM);
	assert_string_equal(diag.text, "a: 7");
}

static void test_first_reason_stays(void **state)
{
	struct op_diag diag = { "" };

	(void)state;
	op_diag_set(&diag, -EIO, "first");
	assert_int_equal(op_diag_set(&diag, -EPERM, "second"), -EPERM);
	assert_string_equal(diag.text, "first");
}

static void test_control_characters(void **state)
{
	struct op_diag diag = { "" };

	(void)state;
	op_diag_set(&diag, -EIO, "%s", "a\nb\033[31m\x7f\tc \xc3\xa4");
	assert_string_equal(diag.text, "a?b?[31m??c \xc3\xa4");
}

static void test_long_reason_loses_its_middle(void **state)
{
	struct op_diag diag = { "" };
	char text[3 * OP_DIAG_MAX];

	(void)state;
	for (size_t len = 0; len < sizeof(text); len++) {
		memset(text, 'x', len);
		text[len] = '\0';
		diag.text[0] = '\0';
		op_diag_set(&diag, -EIO, "start %s: end", text);
		assert_int_equal(strlen(diag.text), len + 11 < OP_DIAG_MAX
							    ? len + 11
							    : OP_DIAG_MAX - 1);
		assert_memory_equal(diag.text, "start ", 6);
		assert_string_equal(diag.text + strlen(diag.text) - 5, ": end");
		assert_int_equal(strstr(diag.text, " ... ") != NULL,
				 len + 11 >= OP_DIAG_MAX);
	}
}

static void test_without_reason_the_error_is_one(void **state)
{
	struct op_diag diag = { "" };

	(void)state;
	assert_string_equal(op_diag_text(&diag, -EPERM), strerror(EPERM));
	assert_string_equal(op_diag_text(&diag, -ENOMEM), "out of memory");
	op_diag_set(&diag, -EIO, "first");
	assert_string_equal(op_diag_text(&diag, -EPERM), "first");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_returns_the_error),
		cmocka_unit_test(test_first_reason_stays),
		cmocka_unit_test(test_control_characters),
		cmocka_unit_test(test_long_reason_loses_its_middle),
		cmocka_unit_test(test_without_reason_the_error_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
