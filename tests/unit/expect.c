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

/*
 * "\fFOLDER/test_x.c\fname" is of FOLDER/test_x/name.txt in tests/expect. If
 * the name is empty, or begins with "\f", the text is a section of the file
 * FOLDER/test_x.txt: that of *@row, or of the rest of the name, then *@row.
 * False if it is no section.
 */
static bool path_of_text(const char *wanted, const char **row, char *path,
			 size_t size)
{
	const char *file = wanted + strlen(EXPECT_MARK "tests/");
	const char *end = strpbrk(file, "." EXPECT_MARK);
	const char *name = strchr(end, *EXPECT_MARK) + 1;
	bool is_section = !*name || *name == *EXPECT_MARK;

	assert_int_equal(strncmp(wanted, EXPECT_MARK "tests/unit/", 12), 0);
	assert_in_range(snprintf(path, size, "%s/tests/expect/%.*s%s%s.txt",
				 top, (int)(end - file), file,
				 is_section ? "" : "/", is_section ? "" : name),
			1, size - 1);
	if (*name == *EXPECT_MARK)
		*row = name + 1;
	return is_section;
}

/* The contents of the file @path, to be freed; empty if there is none. */
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

/* ---- sections ------------------------------------------------------------ */

#define HEAD "=== "
#define NO_NEWLINE "\n\\ no newline\n"

/* The section of @row in @all, from its head to the empty line before the next
 * one; NULL if there is none. */
static char *find_section(char *all, const char *row, size_t *len)
{
	size_t row_len = strlen(row);
	char *next;

	for (char *at = all; at && *at; at = next) {
		next = strstr(at, "\n" HEAD);
		*len = next ? (size_t)(next - at) : strlen(at);
		if (!strncmp(at + strlen(HEAD), row, row_len) &&
		    at[strlen(HEAD) + row_len] == '\n')
			return at;
		if (next)
			next++;
	}
	return NULL;
}

/* Replace the contents @all of a file by the text of @row in it. */
static void keep_section(char *all, const char *row)
{
	size_t len, head = strlen(HEAD) + strlen(row) + 1;
	char *at = find_section(all, row, &len), *no_newline;

	if (!at) {
		*all = '\0';
		return;
	}
	memmove(all, at + head, len - head);
	all[len - head] = '\0';
	no_newline = strstr(all, NO_NEWLINE);
	if (no_newline)
		*no_newline = '\0';
}

/* Write @all with @text as the section of @row: in its place, or at the end. */
static void write_section(FILE *out, char *all, const char *row,
			  const char *text)
{
	size_t len = 0, text_len = strlen(text);
	char *at = find_section(all, row, &len);
	const char *rest = at ? at + len : "";

	assert_false(strchr(row, '\n') || strstr(text, "\n" HEAD) ||
		     !strncmp(text, HEAD, strlen(HEAD)));
	if (at)
		*at = '\0';
	fprintf(out, "%s%s" HEAD "%s\n%s%s%s", all, *all && !at ? "\n" : "",
		row, text,
		text_len && text[text_len - 1] != '\n' ? NO_NEWLINE : "", rest);
}

/* The sections that were compared, as "PATH\nROW". */
static char **compared;
static size_t nr_compared;

static void note_compared(const char *path, const char *row)
{
	char **more =
		reallocarray(compared, nr_compared + 1, sizeof(*compared));

	assert_non_null(more);
	compared = more;
	assert_true(asprintf(&compared[nr_compared++], "%s\n%s", path, row) >
		    0);
}

static bool was_compared(const char *path, const char *row, size_t row_len)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < nr_compared; i++)
		if (!strncmp(compared[i], path, len) &&
		    !strncmp(compared[i] + len + 1, row, row_len) &&
		    !compared[i][len + 1 + row_len])
			return true;
	return false;
}

/* Print the heads of sections of the file @path that no test compared. */
static size_t print_leftovers(const char *path)
{
	char *all = read_expected(path);
	size_t nr = 0;

	for (char *at = all; at && *at; at = strstr(at, "\n" HEAD)) {
		const char *row;
		size_t len;

		at += *at == '\n';
		row = at + strlen(HEAD);
		len = strcspn(row, "\n");
		if (was_compared(path, row, len))
			continue;
		fprintf(stderr, "%s: no row is called \"%.*s\"; delete it\n",
			path, (int)len, row);
		nr++;
	}
	free(all);
	return nr;
}

size_t expect_leftovers(void)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_compared; i++) {
		char *end = strchr(compared[i], '\n');
		bool is_new = true;

		for (size_t k = 0; k < i && is_new; k++)
			is_new = strncmp(compared[k], compared[i],
					 (size_t)(end - compared[i]) + 1) != 0;
		if (is_new) {
			char *path = strndup(compared[i],
					     (size_t)(end - compared[i]));

			nr += print_leftovers(path);
			free(path);
		}
	}
	while (nr_compared)
		free(compared[--nr_compared]);
	free(compared);
	return nr;
}

/* ---- files --------------------------------------------------------------- */

/* Write @text into the file @path; @row is that of its section, or NULL. */
static void write_expected(const char *path, const char *row, const char *text)
{
	char *all = read_expected(path);
	FILE *out, *list = fopen(getenv(ACCEPT), "a");

	assert_int_equal(op_make_parents(path, 0755), 0);
	out = fopen(path, "w");
	assert_true(out && list);
	if (row)
		write_section(out, all, row, text);
	else
		fputs(text, out);
	free(all);
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
	bool is_file = *wanted == *EXPECT_MARK, is_section = false;
	char path[PATH_MAX + 512] = "", *text;

	if (is_file)
		is_section = path_of_text(wanted, &row, path, sizeof(path));
	text = is_file ? read_expected(path) : strdup(wanted);
	assert_non_null(text);
	if (is_section) {
		note_compared(path, row);
		keep_section(text, row);
	}
	if (strcmp(got, text)) {
		if (is_file && getenv(ACCEPT)) {
			write_expected(path, is_section ? row : NULL, got);
		} else {
			fprintf(stderr, "%s: %s\n", row, path);
			print_diff(text, got);
			fail_msg("%s: printed another text, see the diff", row);
		}
	}
	free(text);
}
