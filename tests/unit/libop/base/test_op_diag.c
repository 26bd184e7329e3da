// SPDX-License-Identifier: GPL-2.0-or-later
/* Reasons: the first one stays, one line, nothing a terminal would act on. */

#include "tests/unit/op_fixture.h"

TEST(test_returns_the_error)
{
	struct op_diag diag = { "" };

	assert_int_equal(op_diag_set(NULL, -EIO, "x"), -EIO);
	assert_int_equal(op_diag_set(&diag, -EPERM, "%s: %d", "a", 7), -EPERM);
	assert_string_equal(diag.text, "a: 7");
}

TEST(test_first_reason_stays)
{
	struct op_diag diag = { "" };

	op_diag_set(&diag, -EIO, "first");
	assert_int_equal(op_diag_set(&diag, -EPERM, "second"), -EPERM);
	assert_string_equal(diag.text, "first");
}

TEST(test_control_characters)
{
	struct op_diag diag = { "" };

	op_diag_set(&diag, -EIO, "%s", "a\nb\033[31m\x7f\tc \xc3\xa4");
	assert_string_equal(diag.text, "a?b?[31m??c \xc3\xa4");
}

TEST(test_long_reason_loses_its_middle)
{
	struct op_diag diag = { "" };
	char text[3 * OP_DIAG_MAX];

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

TEST(test_without_reason_the_error_is_one)
{
	struct op_diag diag = { "" };

	assert_string_equal(op_diag_text(&diag, -EPERM), strerror(EPERM));
	assert_string_equal(op_diag_text(&diag, -ENOMEM), "out of memory");
	op_diag_set(&diag, -EIO, "first");
	assert_string_equal(op_diag_text(&diag, -EPERM), "first");
}
