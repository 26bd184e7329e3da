// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of threads: what is kept, the file that they are in, and what a broken
 * one may not do. */

#include "tests/unit/expect.h"
#include "tests/unit/op_fixture.h"

#include "libop/session/op_tasks.h"

TEST(test_last_name_counts)
{
	struct op_tasks tasks = { 0 };

	assert_null(op_tasks_name_of(&tasks, 7, 7));
	assert_int_equal(op_tasks_name(&tasks, 7, 7, "redis-server"), 0);
	assert_int_equal(op_tasks_name(&tasks, 7, 8, "redis-server"), 0);
	assert_true(tasks.changed);
	tasks.changed = false;
	assert_int_equal(op_tasks_name(&tasks, 7, 8, "redis-server"), 0);
	assert_false(tasks.changed);
	assert_int_equal(op_tasks_name(&tasks, 7, 8, "bio_aof"), 0);
	assert_true(tasks.changed);
	assert_int_equal(tasks.nr, 2);
	assert_string_equal(op_tasks_name_of(&tasks, 7, 7), "redis-server");
	assert_string_equal(op_tasks_name_of(&tasks, 7, 8), "bio_aof");
	assert_null(op_tasks_name_of(&tasks, 8, 7));
	op_tasks_release(&tasks);
}

TEST(test_mounts_are_no_name)
{
	struct op_tasks tasks = { 0 };

	assert_int_equal(op_tasks_mounts(&tasks, 7, 4026531841), 0);
	assert_null(op_tasks_name_of(&tasks, 7, 7));
	assert_int_equal(op_tasks_find(&tasks, 7, 7)->mounts, 4026531841);
	assert_true(tasks.changed);
	tasks.changed = false;
	assert_int_equal(op_tasks_mounts(&tasks, 7, 4026531841), 0);
	assert_false(tasks.changed);
	assert_int_equal(op_tasks_mounts(&tasks, 7, 4026531842), 0);
	assert_true(tasks.changed);
	op_tasks_release(&tasks);
}

/* Links stay, and what is new has a name again. */
TEST(test_names_are_taken_away)
{
	struct op_tasks tasks = { 0 }, old;

	assert_int_equal(op_tasks_name(&tasks, 7, 8, "bio_aof"), 0);
	assert_int_equal(op_tasks_link(&tasks, "/bin/sh", "/bin/dash"), 0);
	tasks.nr_unnamed = 3;
	tasks.changed = false;
	op_tasks_take_names(&tasks, &old);
	assert_string_equal(op_tasks_name_of(&old, 7, 8), "bio_aof");
	assert_null(op_tasks_file_of(&old, "/bin/sh"));
	assert_null(op_tasks_name_of(&tasks, 7, 8));
	assert_string_equal(op_tasks_file_of(&tasks, "/bin/sh"), "/bin/dash");
	assert_int_equal(tasks.nr_unnamed, 0);
	assert_true(tasks.changed);
	op_tasks_release(&old);
	assert_int_equal(op_tasks_name(&tasks, 7, 8, "other"), 0);
	assert_string_equal(op_tasks_name_of(&tasks, 7, 8), "other");
	op_tasks_release(&tasks);
}

FOLDER_TEST(test_file_has_all)
{
	static const char *const names[] = {
		"a",  "two words", " blanks ", "100%",	 "a = b", "#",
		"\n", "\x1b[31m",  "\xc3\xa4", "{root}", "../..", "=",
	};
	struct op_tasks tasks = { 0 }, back = { 0 };
	struct op_diag diag = { "" };
	char longest[100];

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(op_tasks_name(&tasks, 1, i + 1, names[i]), 0);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	op_tasks_name(&tasks, 2, 2, longest);
	op_tasks_mounts(&tasks, 2, 5);
	op_tasks_mounts(&tasks, 3, 6);
	tasks.nr_unnamed = 4;
	assert_int_equal(op_tasks_write(&tasks, "tasks", &diag), 0);
	assert_false(tasks.changed);
	assert_int_equal(op_tasks_read(&back, "tasks", &diag), 0);
	assert_false(back.changed);
	assert_int_equal(back.nr, tasks.nr);
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(op_tasks_name_of(&back, 1, i + 1),
				    names[i]);
	longest[OP_TASK_NAME_MAX - 1] = '\0';
	assert_string_equal(op_tasks_name_of(&back, 2, 2), longest);
	assert_int_equal(op_tasks_find(&back, 2, 2)->mounts, 5);
	assert_int_equal(op_tasks_find(&back, 3, 3)->mounts, 6);
	assert_int_equal(back.nr_unnamed, 4);
	op_tasks_release(&tasks);
	op_tasks_release(&back);
}

/* Of files that are read into the same names the last counts; threads without
 * room for a name add up. */
FOLDER_TEST(test_files_add_up)
{
	struct op_tasks tasks = { 0 }, back = { 0 };
	struct op_diag diag = { "" };
	FILE *file = fopen("printed", "w");

	assert_non_null(file);
	op_tasks_name(&tasks, 1, 2, "worker");
	op_tasks_mounts(&tasks, 1, 5);
	op_tasks_link(&tasks, "/bin/sh", "/bin/dash");
	tasks.nr_unnamed = 4;
	assert_int_equal(op_tasks_print(&tasks, file), 0);
	assert_int_equal(fclose(file), 0);
	expect_text(text_of("printed"), EXPECTED_ROW, "tasks");
	assert_int_equal(op_tasks_read(&back, "printed", &diag), 0);
	assert_false(back.changed);
	write_text("printed", "name.1.2 = other\n"
			      "unnamed = 3\n");
	assert_int_equal(op_tasks_read(&back, "printed", &diag), 0);
	assert_true(back.changed);
	assert_int_equal(back.nr, 2);
	assert_int_equal(back.nr_links, 1);
	assert_string_equal(op_tasks_name_of(&back, 1, 2), "other");
	assert_int_equal(op_tasks_find(&back, 1, 1)->mounts, 5);
	assert_int_equal(back.nr_unnamed, 7);
	write_text("printed", "unnamed = 18446744073709551610\n");
	assert_int_equal(op_tasks_read(&back, "printed", &diag), 0);
	assert_true(back.nr_unnamed == UINT64_MAX);
	op_tasks_release(&tasks);
	op_tasks_release(&back);
}

FOLDER_TEST(test_links)
{
	static const char *const paths[][2] = {
		{ "/usr/bin/redis-server", "/usr/bin/redis-check-rdb" },
		{ "/a b", "/c = d" },
		{ "/x=y ", "/\n" },
	};
	struct op_tasks tasks = { 0 }, back = { 0 };
	struct op_diag diag = { "" };
	char path[5000];

	assert_null(op_tasks_file_of(&tasks, "/a b"));
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(
			op_tasks_link(&tasks, paths[i][0], paths[i][1]), 0);
	/* The last counts, and the same once more is no news. */
	assert_int_equal(op_tasks_link(&tasks, "/l", "/old"), 0);
	assert_int_equal(op_tasks_link(&tasks, "/l", "/new"), 0);
	assert_int_equal(op_tasks_write(&tasks, "tasks", &diag), 0);
	assert_int_equal(op_tasks_link(&tasks, "/l", "/new"), 0);
	assert_false(tasks.changed);
	assert_int_equal(op_tasks_read(&back, "tasks", &diag), 0);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(op_tasks_file_of(&back, paths[i][0]),
				    paths[i][1]);
	assert_string_equal(op_tasks_file_of(&back, "/l"), "/new");
	op_tasks_release(&back);
	for (int i = 0; i < OP_TASK_LINKS_MAX; i++) {
		snprintf(path, sizeof(path), "/%d", i);
		op_tasks_link(&tasks, path, "/x");
	}
	assert_int_equal(tasks.nr_links, OP_TASK_LINKS_MAX);
	assert_int_equal(op_tasks_link(&tasks, "/more", "/x"), -ENOSPC);
	op_tasks_release(&tasks);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(op_tasks_link(&tasks, path, "/x"), 0);
	assert_int_equal(op_tasks_write(&tasks, "tasks", &diag), -ENAMETOOLONG);
	op_tasks_release(&tasks);
}

FOLDER_TEST(test_bad_lines)
{
	static const struct {
		const char *text;
		int err;
	} rows[] = {
		{ "", 0 },
		{ "some.thing = else\n", 0 },
		{ "name.1.2 = x\nname.1.2 = y\n", 0 },
		{ "name.1.2 =\n", -EINVAL },
		{ "name.1 = x\n", -EINVAL },
		{ "name.1.2.3 = x\n", -EINVAL },
		{ "name..2 = x\n", -EINVAL },
		{ "name.1. = x\n", -EINVAL },
		{ "name.-1.2 = x\n", -EINVAL },
		{ "name.1.2147483647 = x\n", 0 },
		{ "name.1.2147483648 = x\n", -EINVAL },
		{ "name.1.99999999999999999999 = x\n", -EINVAL },
		{ "name.1.2 = %\n", -EINVAL },
		{ "name.1.2 = %0\n", -EINVAL },
		{ "name.1.2 = %00\n", -EINVAL },
		{ "name.1.2 = %zz\n", -EINVAL },
		{ "mounts.1 = 0\n", -EINVAL },
		{ "mounts.1 = x\n", -EINVAL },
		{ "mounts.x = 1\n", -EINVAL },
		{ "mounts. = 1\n", -EINVAL },
		{ "unnamed = -1\n", -EINVAL },
		{ "run. = x\n", -EINVAL },
		{ "run.x =\n", -EINVAL },
		{ "run.%4 = x\n", -EINVAL },
		{ "run.x = %\n", -EINVAL },
		{ "name\n", -EINVAL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_tasks tasks = { 0 };
		struct op_diag diag = { "" };
		int err;

		write_bytes("tasks", rows[i].text, strlen(rows[i].text));
		err = op_tasks_read(&tasks, "tasks", &diag);
		if (err != rows[i].err || !err != !diag.text[0])
			fail_msg("%s: %d, %s", rows[i].text, err, diag.text);
		op_tasks_release(&tasks);
	}
}

FOLDER_TEST(test_name_too_long_in_file)
{
	struct op_tasks tasks = { 0 };
	struct op_diag diag = { "" };
	char line[128] = "name.1.2 = ";

	memset(line + strlen(line), 'x', OP_TASK_NAME_MAX);
	write_bytes("tasks", line, strlen(line));
	assert_int_equal(op_tasks_read(&tasks, "tasks", &diag), -EINVAL);
	op_tasks_release(&tasks);
}

FOLDER_TEST(test_no_file)
{
	struct op_tasks tasks = { 0 };
	struct op_diag diag = { "" };

	assert_int_equal(op_tasks_read(&tasks, "tasks", &diag), -ENOENT);
	assert_string_equal(diag.text, "");
	assert_int_equal(op_tasks_write(&tasks, "none/tasks", &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "none"));
}

/* What finds no room is counted, and what is there may still change. */
TEST(test_bound)
{
	struct op_tasks tasks = { 0 };

	for (uint32_t i = 0; i < OP_TASKS_MAX; i++)
		assert_int_equal(op_tasks_name(&tasks, i, i, "x"), 0);
	tasks.changed = false;
	assert_int_equal(op_tasks_name(&tasks, OP_TASKS_MAX, 1, "y"), -ENOSPC);
	assert_true(tasks.changed);
	assert_int_equal(op_tasks_name(&tasks, 3, 3, "y"), 0);
	assert_string_equal(op_tasks_name_of(&tasks, 3, 3), "y");
	assert_null(op_tasks_name_of(&tasks, OP_TASKS_MAX, 1));
	assert_int_equal(tasks.nr_unnamed, 1);
	op_tasks_release(&tasks);
}
