// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trees of any depth and with any names are removed, and nothing beside them.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "libop/files/op_remove.h"

#define DEPTH 3000 /* folders, more than a path has bytes */

static int mkdirat_error; /* 0: as usual */

int mkdirat(int fd, const char *path, mode_t mode)
{
	if (!mkdirat_error)
		return (int)syscall(SYS_mkdirat, fd, path, mode);
	errno = mkdirat_error;
	return -1;
}

static void make_file(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fclose(file);
}

static int enter(void **state)
{
	char root[] = "/tmp/test_op_remove.XXXXXX";

	if (!mkdtemp(root) || chdir(root))
		return -1;
	*state = strdup(root);
	return 0;
}

static int leave(void **state)
{
	int err = chdir("/") || rmdir(*state);

	free(*state);
	return err;
}

TEST_WITH(removes_a_deep_tree, enter, leave)
{
	int home = open(".", O_RDONLY | O_DIRECTORY);

	assert_int_equal(mkdir("tree", 0700), 0);
	assert_int_equal(chdir("tree"), 0);
	for (int i = 0; i < DEPTH; i++) {
		make_file("file");
		/* The name of the trash itself is nothing special in there. */
		assert_int_equal(mkdir(i % 2 ? ".reset" : "folder", 0700), 0);
		assert_int_equal(chdir(i % 2 ? ".reset" : "folder"), 0);
	}
	assert_int_equal(fchdir(home), 0);
	close(home);
	assert_int_equal(op_remove_tree("tree"), 0);
	assert_int_equal(access("tree", F_OK), -1);
}

TEST_WITH(follows_no_link, enter, leave)
{
	assert_int_equal(mkdir("tree", 0700), 0);
	assert_int_equal(mkdir("tree/sub", 0700), 0);
	assert_int_equal(mkdir("kept", 0700), 0);
	make_file("kept/file");
	assert_int_equal(symlink("../../kept", "tree/sub/link"), 0);
	assert_int_equal(symlink("../kept", "tree/link"), 0);
	assert_int_equal(symlink("kept", "itself"), 0);
	assert_int_equal(op_remove_tree("tree"), 0);
	assert_int_not_equal(op_remove_tree("itself"), 0);
	assert_int_equal(unlink("kept/file"), 0);
	assert_int_equal(rmdir("kept"), 0);
	assert_int_equal(unlink("itself"), 0);
}

static bool starts_with_x(const char *name)
{
	return name[0] == 'x';
}

TEST_WITH(removes_what_is_wanted, enter, leave)
{
	assert_int_equal(mkdir("parent", 0700), 0);
	assert_int_equal(mkdir("parent/.reset", 0700), 0);
	make_file("parent/.reset/0"); /* left by one that was cut off */
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(mkdir("folder/x1", 0700), 0);
	make_file("folder/x1/inner");
	make_file("folder/x2");
	make_file("folder/y");
	assert_int_equal(op_remove_entries("folder", "parent", starts_with_x),
			 0);
	assert_int_equal(access("folder/y", F_OK), 0);
	assert_int_equal(unlink("folder/y"), 0);
	assert_int_equal(rmdir("folder"), 0);
	assert_int_equal(rmdir("parent"), 0);
}

static bool is_a_folder(const char *name)
{
	return !strcmp(name, "folder");
}

static bool is_a_file(const char *name)
{
	return !strcmp(name, "file");
}

/* An earlier removal that was cut off has left names that are taken. */
TEST_WITH(goes_on_where_one_was_cut_off, enter, leave)
{
	static bool (*const wanted[])(const char *) = { is_a_folder,
							is_a_file };

	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(mkdir("parent", 0700), 0);
		assert_int_equal(mkdir("parent/.reset", 0700), 0);
		assert_int_equal(mkdir("parent/.reset/0", 0700), 0);
		make_file("parent/.reset/0/inner");
		make_file("parent/.reset/1");
		assert_int_equal(mkdir("from", 0700), 0);
		assert_int_equal(mkdir("from/folder", 0700), 0);
		make_file("from/folder/inner");
		make_file("from/file");
		assert_int_equal(op_remove_entries("from", "parent", wanted[i]),
				 0);
		assert_int_equal(access("from/folder", F_OK), i ? 0 : -1);
		assert_int_equal(access("from/file", F_OK), i ? -1 : 0);
		assert_int_equal(op_remove_tree("from"), 0);
		/* Nothing but itself is left. */
		assert_int_equal(rmdir("parent"), 0);
	}
}

static bool is_x_or_y(const char *name)
{
	return name[0] == 'x' || name[0] == 'y';
}

/* There is no room for the trash folder. */
TEST_WITH(needs_no_room, enter, leave)
{
	static const struct {
		const char *parent;
		int error, wanted;
	} rows[] = {
		{ "parent", ENOSPC, 0 },       { "folder", ENOSPC, 0 },
		{ "parent", EDQUOT, 0 },       { "parent", EROFS, -EROFS },
		{ "folder", EACCES, -EACCES },
	};

	assert_int_equal(mkdir("parent", 0700), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(mkdir("folder", 0700), 0);
		make_file("folder/x1");
		assert_int_equal(mkdir("folder/x2", 0700), 0);
		assert_int_equal(mkdir("folder/x2/0", 0700), 0);
		make_file("folder/x2/0/inner");
		make_file("folder/x2/1");
		assert_int_equal(mkdir("folder/x3", 0700), 0);
		make_file("folder/x3/inner");
		assert_int_equal(mkdir("folder/y1", 0700), 0);
		assert_int_equal(mkdir("folder/y1/inner", 0700), 0);
		make_file("folder/y1/inner/file");
		make_file("folder/z");
		mkdirat_error = rows[i].error;
		assert_int_equal(op_remove_entries("folder", rows[i].parent,
						   is_x_or_y),
				 rows[i].wanted);
		mkdirat_error = 0;
		assert_int_equal(access("folder/x1", F_OK),
				 rows[i].wanted ? 0 : -1);
		/* Nothing but this is left. */
		assert_int_equal(unlink("folder/z"), 0);
		if (rows[i].wanted)
			assert_int_equal(op_remove_tree("folder"), 0);
		else
			assert_int_equal(rmdir("folder"), 0);
	}
	assert_int_equal(rmdir("parent"), 0);
}

TEST_WITH(needs_no_room_for_files, enter, leave)
{
	assert_int_equal(mkdir("folder", 0700), 0);
	make_file("folder/file");
	mkdirat_error = ENOSPC;
	assert_int_equal(op_remove_tree("folder"), 0);
	mkdirat_error = 0;
	assert_int_equal(access("folder", F_OK), -1);
}

TEST_WITH(needs_no_room_for_a_deep_tree, enter, leave)
{
	mkdirat_error = ENOSPC;
	removes_a_deep_tree(state);
	mkdirat_error = 0;
}

TEST_WITH(tells_what_is_missing, enter, leave)
{
	assert_int_equal(op_remove_tree("none"), -ENOENT);
	make_file("file");
	assert_int_equal(op_remove_tree("file"), -ENOTDIR);
	assert_int_equal(access("file", F_OK), 0);
	assert_int_equal(unlink("file"), 0);
	assert_int_equal(op_remove_entries(".", "none", starts_with_x),
			 -ENOENT);
}
