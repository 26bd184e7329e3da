// SPDX-License-Identifier: GPL-2.0-or-later
/* Classes of waits, by the file of the tree and by files that are wrong. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/events/op_wait_classes.h"
#include "tests/unit/test.h"

TEST(functions_have_the_class_of_what_is_waited_for)
{
	static const struct {
		const char *function, *class;
	} rows[] = {
		{ "futex_do_wait", "lock" },
		{ "futex_wait_queue_me", "lock" },
		{ "folio_wait_bit_common", "disk" },
		{ "filemap_fault", "page-fault" },
		{ "tcp_recvmsg_locked", "network" },
		{ "anon_pipe_read", "pipe" },
		{ "do_epoll_wait", "poll" },
		{ "do_wait", "process" },
		{ "hrtimer_nanosleep", "sleep" },
		{ "irqentry_exit_to_user_mode", "cpu" },
		{ "vfs_read", NULL },
		{ "do_waiting", NULL },
	};
	struct op_wait_classes classes;
	struct op_diag diag = { "" };

	assert_int_equal(op_wait_classes_read(&classes, "events", &diag), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *class =
			op_wait_class_of(&classes, rows[i].function);

		if (!rows[i].class)
			assert_null(class);
		else
			assert_string_equal(class, rows[i].class);
	}
	op_wait_classes_release(&classes);
}

/* Whoever chooses a class gets all its functions, and no function of another
 * class. */
TEST(no_function_has_two_classes)
{
	struct op_wait_classes classes;
	struct op_diag diag = { "" };

	assert_int_equal(op_wait_classes_read(&classes, "events", &diag), 0);
	assert_true(classes.nr > 100);
	for (size_t i = 0; i < classes.nr; i++) {
		char name[128];

		snprintf(name, sizeof(name), "%s", classes.patterns[i].pattern);
		name[strcspn(name, "*")] = '\0';
		assert_string_equal(op_wait_class_of(&classes, name),
				    classes.patterns[i].class);
	}
	op_wait_classes_release(&classes);
}

static void write_classes(const char *dir, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/linux", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/linux/waits", dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/linux/waits/classes", dir);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void remove_classes(const char *dir)
{
	static const char *const names[] = { "/linux/waits/classes",
					     "/linux/waits", "/linux", "" };
	char path[256];

	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s", dir, names[i]);
		remove(path);
	}
}

TEST(a_file_may_have_comments_and_several_lines_for_a_class)
{
	char dir[] = "/tmp/op-waits-XXXXXX";
	struct op_wait_classes classes;
	struct op_diag diag = { "" };

	assert_non_null(mkdtemp(dir));
	assert_int_equal(op_wait_classes_read(&classes, dir, &diag), -ENOENT);
	write_classes(dir, "# of what\n\na\tx  y* # z\nb z\na q");
	assert_int_equal(op_wait_classes_read(&classes, dir, &diag), 0);
	assert_int_equal(classes.nr, 4);
	assert_string_equal(op_wait_class_of(&classes, "yes"), "a");
	assert_string_equal(op_wait_class_of(&classes, "z"), "b");
	assert_string_equal(op_wait_class_of(&classes, "q"), "a");
	op_wait_classes_release(&classes);
	write_classes(dir, "a x\nb # y\n");
	assert_int_equal(op_wait_classes_read(&classes, dir, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "classes:2: b has no functions"));
	op_wait_classes_release(&classes);
	remove_classes(dir);
}
