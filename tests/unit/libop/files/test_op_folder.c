// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folders above a file are made as far as they are missing.
 */

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "libop/files/op_folder.h"
#include "libop/files/op_remove.h"

static int enter(void **state)
{
	char root[] = "/tmp/test_op_folder.XXXXXX";

	if (!mkdtemp(root) || chdir(root))
		return -1;
	*state = strdup(root);
	return 0;
}

static int leave(void **state)
{
	int err = chdir("/") || op_remove_tree(*state);

	free(*state);
	return err;
}

/* A folder that others may not enter. */
static void assert_closed_folder(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(st.st_mode & 027, 0);
}

TEST(makes_one)
{
	assert_int_equal(op_make_folder("one", 0750), 0);
	assert_closed_folder("one");
	assert_int_equal(op_make_folder("one", 0755), 0);
	assert_int_equal(symlink("one", "other"), 0);
	assert_int_equal(op_make_folder("other", 0755), 0);
	assert_int_equal(op_make_folder("none/one", 0755), -ENOENT);
}

TEST(makes_what_is_missing)
{
	char path[PATH_MAX];

	assert_int_equal(op_make_parents("a/b/c/file", 0750), 0);
	assert_closed_folder("a/b/c");
	assert_int_equal(access("a/b/c/file", F_OK), -1);
	assert_int_equal(op_make_parents("a/b/c/file", 0750), 0);
	assert_non_null(getcwd(path, sizeof(path) - 8));
	strcat(path, "/x/y/z");
	assert_int_equal(op_make_parents(path, 0750), 0);
	assert_int_equal(access("x/y", F_OK), 0);
	assert_int_equal(access("x/y/z", F_OK), -1);
}

TEST(needs_none)
{
	assert_int_equal(op_make_parents("file", 0755), 0);
	assert_int_equal(op_make_parents("/file", 0755), 0);
}

TEST(says_why_not)
{
	char path[PATH_MAX + 16];

	assert_int_equal(symlink("nowhere", "link"), 0);
	assert_int_equal(op_make_parents("link/a/file", 0755), -ENOENT);
	assert_int_equal(op_make_folder("link", 0755), -ENOENT);
	assert_int_equal(op_make_folder("/proc/version", 0755), -ENOTDIR);
	assert_int_equal(op_make_parents("/proc/version/file", 0755), -ENOTDIR);
	assert_int_equal(op_make_parents("/proc/version/a/file", 0755),
			 -ENOTDIR);
	memset(path, 'x', sizeof(path));
	memcpy(path + PATH_MAX, "/file", sizeof("/file"));
	assert_int_equal(op_make_parents(path, 0755), -ENAMETOOLONG);
	memcpy(path + NAME_MAX + 1, "/file", sizeof("/file"));
	assert_int_equal(op_make_parents(path, 0755), -ENAMETOOLONG);
}

TEST_GROUP(enter, leave)
