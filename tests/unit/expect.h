/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_EXPECT_H
#define TESTS_UNIT_EXPECT_H

/*
 * Expected texts. One of a line is a string. EXPECTED_ROW stands for that of a
 * row of a table: tests/expect/unit/FOLDER/test_PROGRAM.txt has them all, each
 * below a line "=== NAME" with the name of its row. EXPECTED("name") stands for
 * a long text, tests/expect/unit/FOLDER/test_PROGRAM/name.txt. All three may be
 * in one table, as expect_text() compares any of them.
 *
 * `tests/run --accept FILE...` writes what a test printed into these files.
 * The test fails all the same: what is written has to be read by a person.
 */

#include <stddef.h>

#define EXPECT_MARK "\f"

/* The text in a file, for whoever calls expect_text() with it. */
#define EXPECTED(name) EXPECT_MARK __FILE__ EXPECT_MARK name

/* The text below the name of the row that expect_text() is called with. */
#define EXPECTED_ROW EXPECTED("")

/* The text below @name, where the names of several rows are the same. */
#define EXPECTED_AS(name) EXPECTED_ROW EXPECT_MARK name

/* Fail the test and print a diff unless @got is @wanted; @row names the row of
 * a table that it is of, in one line. */
void expect_text(const char *got, const char *wanted, const char *row);

/* The number of sections in the files of this program that no row was compared
 * with, which are printed. To be called after all tests. */
size_t expect_leftovers(void);

#endif /* TESTS_UNIT_EXPECT_H */
