/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_EXPECT_H
#define TESTS_UNIT_EXPECT_H

/*
 * Expected texts. A short one is a string; EXPECTED("name") stands for a long
 * one, which is in the file tests/expect/unit/FOLDER/test_PROGRAM/name.txt. It
 * may be in a table beside strings, as expect_text() compares both.
 *
 * `tests/run --accept FILE...` writes what a test printed into these files.
 * The test fails all the same: what is written has to be read by a person.
 */

#define EXPECT_MARK "\f"

/* The text in a file, for whoever calls expect_text() with it. */
#define EXPECTED(name) EXPECT_MARK __FILE__ EXPECT_MARK name

/* Fail the test and print a diff unless @got is @wanted; @row names the row of
 * a table that it is of. */
void expect_text(const char *got, const char *wanted, const char *row);

#endif /* TESTS_UNIT_EXPECT_H */
