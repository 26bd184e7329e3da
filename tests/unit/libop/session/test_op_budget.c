// SPDX-License-Identifier: GPL-2.0-or-later
/* What --cpu-budget may say. */

#include "tests/unit/rows.h"

#include <errno.h>

#include "libop/session/op_budget.h"

TEST(budgets_are_percent)
{
	static const struct {
		const char *text;
		uint32_t budget; /* millionths */
	} rows[] = {
		{ NULL, 10000 },    { "1", 10000 },	{ "0", 0 },
		{ "none", 0 },	    { "0.5", 5000 },	{ "2.5", 25000 },
		{ "100", 1000000 }, { "0.0000001", 1 }, { "1e1", 100000 },
		{ ".25", 2500 },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct op_diag diag = { "" };
		uint32_t budget = 77;

		assert_int_equal(op_budget_parse(&budget, rows[i].text, &diag),
				 0);
		assert_int_equal(budget, rows[i].budget);
		assert_string_equal(diag.text, "");
	}
}

TEST(other_words_are_refused)
{
	static const char *const words[] = {
		"", "x", "-1", "100.1", "1%", "nan", "None", "1 ", "inf", "1,5"
	};

	for (size_t i = 0; i < NR(words); i++) {
		struct op_diag diag = { "" };
		char start[64];
		uint32_t budget;

		assert_int_equal(op_budget_parse(&budget, words[i], &diag),
				 -EINVAL);
		snprintf(start, sizeof(start), "--cpu-budget=%s: not ",
			 words[i]);
		assert_memory_equal(diag.text, start, strlen(start));
	}
}
