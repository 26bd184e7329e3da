// SPDX-License-Identifier: GPL-2.0-or-later
/* When the daemon runs before others, and when after them. */

#include "tests/unit/rows.h"

#include "daemon/opd_priority.h"

#define MS UINT64_C(1000000)

/* One row after the other, with the same daemon. */
static void priority_follows_need(void **state)
{
	static const struct {
		uint64_t passed, needed; /* ms, since the row before */
		bool raised;
	} rows[] = {
		{ 100, 100, true }, /* a second is not over */
		{ 900, 350, true }, /* 450 of 1000 */
		{ 1000, 499, true },   { 1000, 500, false }, { 500, 0, false },
		{ 500, 300, false }, /* less than half, but not a quarter */
		{ 1000, 250, false },  { 4000, 999, true }, /* it slept for long
							     */
		{ 4000, 2000, false }, { 1000, 0, true },
	};
	struct opd_priority p = { .is_wanted = true, .is_raised = true };
	uint64_t wall = 0, cpu = 0;

	(void)state;
	for (size_t i = 0; i < NR(rows); i++) {
		wall += rows[i].passed * MS;
		cpu += rows[i].needed * MS;
		p.is_raised = opd_priority_decide(&p, wall, cpu);
		if (p.is_raised != rows[i].raised)
			fail_msg("row %zu", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(priority_follows_need),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
