/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_ROWS_H
#define TESTS_UNIT_ROWS_H

/*
 * Tests as a table: each row has a script, in words, and the text that comes
 * of it. A row is a test of its own, and its whole text is compared, so that
 * nothing comes of the script that the row does not say.
 */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/expect.h"
#include "tests/unit/test.h"

struct row {
	const char *name;
	const char *given; /* what holds before; NULL: nothing special */
	const char *script; /* lines, each ended by ';', '\n' or the end */
	const char *wanted; /* NULL: nothing is printed */
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* Copy the next line of *@at to @line. False at the end. */
__attribute__((unused)) static bool next_line(const char **at, char *line,
					      size_t size)
{
	size_t len;

	*at += strspn(*at, " ;\n");
	len = strcspn(*at, ";\n");
	if (!len)
		return false;
	assert_true(len < size);
	memcpy(line, *at, len);
	line[len] = '\0';
	*at += len;
	return true;
}

/* Run @row and compare what it prints. */
__attribute__((unused)) static void
check_row(const struct row *row, void (*run)(const struct row *, FILE *))
{
	const char *wanted = row->wanted ? row->wanted : "";
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	run(row, out);
	assert_int_equal(fclose(out), 0);
	expect_text(text, wanted, row->name);
	free(text);
}

/* A test for each of @rows, an array of struct row, which is its state. */
#define TEST_ROWS(test, rows)                                                  \
	static void test(void **state);                                        \
	TEST_AT_START(test)                                                    \
	{                                                                      \
		for (size_t i = 0; i < NR(rows); i++)                          \
			test_add(&(struct CMUnitTest){ (rows)[i].name, test,   \
						       NULL, NULL,             \
						       (void *)&(rows)[i] });  \
	}                                                                      \
	static void test(TEST_UNUSED void **state)

#endif /* TESTS_UNIT_ROWS_H */
