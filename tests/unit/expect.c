/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of expected texts are named from the top of the tree, in which a test
 * program is started; its tests go elsewhere, so the top is kept from before
 * main(). A changed text is written when ACCEPT names a file, to which the name
 * of the text is added: tests/run makes a failure of each.
 */

#include "tests/unit/expect.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_folder.h"
#include "tests/unit/test.h"

#define ACCEPT "OPROFILE_TESTS_ACCEPT"

static char top[PATH_MAX];

__attribute__((constructor)) static void remember_top(void)
{
	if (!getcwd(top, sizeof(top)))
		abort();
}

/* "\fFOLDER/test_x.c\fname" is of FOLDER/test_x/name.txt in tests/expect. */
static void path_of_text(const char *wanted, char *path, size_t size)
{
	const char *file = wanted + strlen(EXPECT_MARK "tests/");
	const char *end = strpbrk(file, "." EXPECT_MARK);
	const char *name = strrchr(wanted, *EXPECT_MARK) + 1;

	assert_int_equal(strncmp(wanted, EXPECT_MARK "tests/unit/", 12), 0);
	assert_in_range(snprintf(path, size, "%s/tests/expect/%.*s/%s.txt", top,
				 (int)(end - file), file, name),
			1, size - 1);
}

/* The text of the file @path, to be freed; an empty one if there is none. */
static char *read_expected(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!in || getdelim(&text, &size, '\0', in) < 0) {
		free(text);
		text = strdup("");
	}
	if (in)
		fclose(in);
	assert_non_null(text);
	return text;
}

static void write_expected(const char *path, const char *text)
{
	FILE *out, *list = fopen(getenv(ACCEPT), "a");

	assert_int_equal(op_make_parents(path, 0755), 0);
	out = fopen(path, "w");
	assert_true(out && list);
	fputs(text, out);
	fprintf(list, "%s\n", path + strlen(top) + 1);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(fclose(list), 0);
}

static int file_of_text(const char *text)
{
	int fd = memfd_create("text", 0);

	return write(fd, text, strlen(text)) < 0 ? -1 : fd;
}

static void print_diff(const char *wanted, const char *got)
{
	char command[128];

	snprintf(
		command, sizeof(command),
		"diff -u --label wanted --label printed /dev/fd/%d /dev/fd/%d >&2",
		file_of_text(wanted), file_of_text(got));
	if (system(command) < 0)
		fprintf(stderr, "printed:\n%swanted:\n%s", got, wanted);
}

void expect_text(const char *got, const char *wanted, const char *row)
{
	bool is_file = *wanted == *EXPECT_MARK;
	char path[PATH_MAX + 512] = "", *text;

	if (is_file)
		path_of_text(wanted, path, sizeof(path));
	text = is_file ? read_expected(path) : strdup(wanted);
	assert_non_null(text);
	if (strcmp(got, text)) {
		if (is_file && getenv(ACCEPT)) {
			write_expected(path, got);
		} else {
			fprintf(stderr, "%s: %s\n", row, path);
			print_diff(text, got);
			fail_msg("%s: printed another text, see the diff", row);
		}
	}
	free(text);
}
