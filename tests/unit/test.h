/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

/*
 * Unit tests that register themselves with cmocka. A file of tests has no list
 * of them and no main(), which is in main.c:
 *
 *	TEST(counts_add_up)
 *	{
 *		assert_int_equal(1 + 1, 2);
 *	}
 *
 * The tests of a file run in the order in which they stand there. A test has
 * the parameter `state` of cmocka, whether it needs it or not.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* As cmocka's, but main.c knows that not all tests have run. */
#undef skip
#define skip() (test_note_skip(), _skip(__FILE__, __LINE__))

void test_note_skip(void);
void test_add(const struct CMUnitTest *test);
void test_set_group(CMFixtureFunction setup, CMFixtureFunction teardown);
void test_set_start(void (*start)(int argc, char **argv));

#define TEST_AT_START(id)                                                      \
	__attribute__((constructor)) static void register_##id(void)

#define TEST_UNUSED __attribute__((unused))

/* Register the function @test under the name @id, with fixtures of cmocka. */
#define TEST_ADD(id, test, setup, teardown)                                    \
	TEST_AT_START(id)                                                      \
	{                                                                      \
		test_add(&(struct CMUnitTest){ #id, test, setup, teardown,     \
					       NULL });                        \
	}

/* A test that begins with @setup and ends with @teardown; NULL: with nothing.
 */
#define TEST_WITH(name, setup, teardown)                                       \
	static void name(void **state);                                        \
	TEST_ADD(name, name, setup, teardown)                                  \
	static void name(TEST_UNUSED void **state)

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Fixtures of the whole file: before its first test and after its last. */
#define TEST_GROUP(setup, teardown)                                            \
	TEST_AT_START(group)                                                   \
	{                                                                      \
		test_set_group(setup, teardown);                               \
	}

/*
 * Code that runs before cmocka does, with the argc and argv of main(), to set
 * the environment of all tests, or to be another program and exit.
 */
#define BEFORE_TESTS()                                                         \
	static void before_tests(int argc, char **argv);                       \
	TEST_AT_START(before_tests)                                            \
	{                                                                      \
		test_set_start(before_tests);                                  \
	}                                                                      \
	static void before_tests(TEST_UNUSED int argc, TEST_UNUSED char **argv)

#endif /* TESTS_UNIT_TEST_H */
