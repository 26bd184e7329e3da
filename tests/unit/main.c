/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * main() of each program of unit tests. The constructors that the macros of
 * test.h make have called the functions here before main() begins.
 */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/unit/expect.h"
#include "tests/unit/test.h"

static struct CMUnitTest *tests;
static size_t nr_tests;
static CMFixtureFunction group_setup, group_teardown;
static void (*start_tests)(int argc, char **argv);
static bool has_skipped;

void test_note_skip(void)
{
	has_skipped = true;
}

void test_add(const struct CMUnitTest *test)
{
	tests = reallocarray(tests, nr_tests + 1, sizeof(*tests));
	if (!tests)
		abort();
	tests[nr_tests++] = *test;
}

void test_set_group(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	group_setup = setup;
	group_teardown = teardown;
}

void test_set_start(void (*start)(int argc, char **argv))
{
	start_tests = start;
}

int main(int argc, char **argv)
{
	int failed;

	if (start_tests)
		start_tests(argc, argv);
	failed = _cmocka_run_group_tests(program_invocation_short_name, tests,
					 nr_tests, group_setup, group_teardown);
	free(tests);
	/* A test that was skipped or has failed compared no texts. */
	if (expect_leftovers() && !failed && !has_skipped)
		return 1;
	return failed;
}
