/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_ROWS_H
#define TESTS_UNIT_ROWS_H

/*
 * Tests as a table: each row has a script, in words, and the text that comes
 * of it. A row is a test of its own, and its whole text is compared, so that
 * nothing comes of the script that the row does not say.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct row {
	const char *name;
	const char *given; /* what holds before; NULL: nothing special */
	const char *script; /* lines, each ended by ';', '\n' or the end */
	const char *wanted; /* NULL: nothing is printed */
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_ROW_TESTS 100

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
	if (strcmp(text, wanted)) {
		/* cmocka's own messages are cut at 1 KiB. */
		fprintf(stderr, "%s printed:\n%swanted:\n%s", row->name, text,
			wanted);
		fail();
	}
	free(text);
}

/* Run @test with each of the @nr_rows @rows as its state, and @others. */
__attribute__((unused)) static int
run_rows(const struct row *rows, size_t nr_rows, CMUnitTestFunction test,
	 const struct CMUnitTest *others, size_t nr_others)
{
	static struct CMUnitTest tests[MAX_ROW_TESTS];

	if (nr_rows + nr_others > MAX_ROW_TESTS)
		abort();
	for (size_t i = 0; i < nr_rows; i++)
		tests[i] = (struct CMUnitTest){
			.name = rows[i].name,
			.test_func = test,
			.initial_state = (void *)&rows[i],
		};
	if (nr_others)
		memcpy(tests + nr_rows, others, nr_others * sizeof(*others));
	return _cmocka_run_group_tests("rows", tests, nr_rows + nr_others, NULL,
				       NULL);
}

#endif /* TESTS_UNIT_ROWS_H */
