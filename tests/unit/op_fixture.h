/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OP_FIXTURE_H
#define TESTS_UNIT_OP_FIXTURE_H

/*
 * What the tests of libop share: a fresh folder that each test runs in as its
 * working folder, files written in one call, and reasons compared.
 */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/base/op_diag.h"
#include "tests/unit/test.h"

/* cmocka setup: the new folder is the state and the working folder. */
static inline int enter_folder(void **state)
{
	char name[] = "/tmp/test_op.XXXXXX";

	if (!mkdtemp(name) || chdir(name))
		return -1;
	*state = realpath(name, NULL);
	return *state ? 0 : -1;
}

static inline int remove_one(const char *path, const struct stat *st, int type,
			     struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* cmocka teardown. */
static inline int leave_folder(void **state)
{
	int err = chdir("/");

	err |= nftw(*state, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(*state);
	return err;
}

#define FOLDER_TEST(name) TEST_WITH(name, enter_folder, leave_folder)

static inline void write_bytes(const char *path, const void *bytes, size_t len)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *path, const char *text)
{
	write_bytes(path, text, strlen(text));
}

/* The whole text of a small file; the next call overwrites it. */
static inline const char *text_of(const char *path)
{
	static char text[65536];
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	assert_int_equal(fclose(file), 0);
	return text;
}

/* Entries of the working folder, hidden ones too. */
static inline int nr_files(void)
{
	FILE *pipe = popen("ls -A | wc -l", "r");
	int nr = -1;

	assert_non_null(pipe);
	assert_int_equal(fscanf(pipe, "%d", &nr), 1);
	assert_int_equal(pclose(pipe), 0);
	return nr;
}

#define assert_reason(diag, part)                                              \
	do {                                                                   \
		if (!strstr((diag)->text, part))                               \
			fail_msg("\"%s\" lacks \"%s\"", (diag)->text, part);   \
		assert_null(strchr((diag)->text, '\n'));                       \
	} while (0)

#endif /* TESTS_UNIT_OP_FIXTURE_H */
