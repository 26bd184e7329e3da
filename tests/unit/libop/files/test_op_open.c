// SPDX-License-Identifier: GPL-2.0-or-later
/* Paths that others chose lead to regular files, or nowhere. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "libop/files/op_open.h"
#include "libop/files/op_remove.h"

static void make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

/* In a folder of its own there are a/b/file, b/file, and links to all. */
static int enter(void **state)
{
	char root[] = "/tmp/test_op_open.XXXXXX";

	if (!mkdtemp(root) || chdir(root) || mkdir("a", 0700) ||
	    mkdir("a/b", 0700) || mkdir("b", 0700) ||
	    symlink("file", "a/b/link") || symlink("b", "a/link") ||
	    symlink("/b/file", "a/up") || mkfifo("a/fifo", 0600))
		return -1;
	make("a/b/file");
	make("b/file");
	*state = strdup(root);
	return 0;
}

static int leave(void **state)
{
	int err = chdir("/") || op_remove_tree(*state);

	free(*state);
	return err;
}

TEST_WITH(without_links, enter, leave)
{
	static const struct {
		const char *root, *name, *found; /* NULL: nothing is opened */
	} rows[] = {
		{ ".", "a/b/file", "a/b/file" },
		{ ".", "/a/b/file", "a/b/file" },
		{ ".", "//a//b//file", "a/b/file" },
		{ ".", "./a/./b/file", "a/b/file" },
		/* Below a link, which /proc/PID/root is, but not by one. */
		{ "a/link", "/file", "a/b/file" },
		{ "a", "/b/file", "a/b/file" },
		{ "a", "/b/link", NULL },
		{ "a", "/link/file", NULL },
		{ "a", "/up", NULL },
		{ ".", "/a/link/link", NULL },
		/* Upwards. */
		{ "a", "/../b/file", NULL },
		{ ".", "a/b/../../b/file", NULL },
		/* Nothing that could wait, or is a folder. */
		{ "a", "/fifo", NULL },
		{ "a", "/b", NULL },
		{ "a", "/", NULL },
		{ "a", "", NULL },
		{ "a", "/b/file/", NULL },
		{ "a", "/b/file/x", NULL },
		{ "a", "/none", NULL },
		{ "none", "/file", NULL },
		{ "b/file", "/file", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = op_open_without_links(rows[i].root, rows[i].name);
		struct stat st, want;

		if (!rows[i].found) {
			if (fd >= 0)
				fail_msg("%s below %s", rows[i].name,
					 rows[i].root);
			continue;
		}
		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(stat(rows[i].found, &want), 0);
		assert_int_equal(st.st_ino, want.st_ino);
		assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
		assert_int_equal(fcntl(fd, F_GETFL) & O_PATH, 0);
		close(fd);
	}
}

/* Root's folder for this is "a". */
static void find_beneath(bool follows)
{
	static const struct {
		const char *name;
		const char *found; /* NULL: nothing */
		int err; /* where links are followed; then where none is */
		int err_by_parts;
	} rows[] = {
		{ "b/file", "a/b/file", 0, 0 },
		{ "//b//file", "a/b/file", 0, 0 },
		{ "b/link", "a/b/file", 0, EXDEV },
		{ "link/file", "a/b/file", 0, EXDEV },
		{ "link/link", "a/b/file", 0, EXDEV },
		{ "up", NULL, EXDEV, EXDEV },
		{ "out", NULL, EXDEV, EXDEV },
		{ "out/file", NULL, EXDEV, EXDEV },
		{ "round", NULL, EXDEV, EXDEV },
		{ "../b/file", NULL, EXDEV, EXDEV },
		{ "fifo", NULL, EINVAL, EINVAL },
		{ "b", NULL, EINVAL, EINVAL },
		{ "", NULL, EINVAL, EINVAL },
		{ "none", NULL, ENOENT, ENOENT },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int wanted = follows ? rows[i].err : rows[i].err_by_parts;
		int fd = op_open_beneath("a", rows[i].name);
		struct stat st, want;

		if (wanted) {
			if (fd >= 0 || errno != wanted)
				fail_msg("%s: %d %m", rows[i].name, fd);
			continue;
		}
		assert_true(fd >= 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(stat(rows[i].found, &want), 0);
		assert_int_equal(st.st_ino, want.st_ino);
		assert_int_equal(fcntl(fd, F_GETFL) & O_PATH, 0);
		close(fd);
	}
}

/* From now on openat2(2) ends with @err. */
static bool forbid_openat2(unsigned int err)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 4, .filter = filter };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

TEST_WITH(beneath_a_folder, enter, leave)
{
	static const unsigned int errors[] = { ENOSYS, EPERM };

	assert_int_equal(symlink("../b", "a/out") | symlink("round", "a/round"),
			 0);
	find_beneath(true);
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		int status, pid = fork();

		if (!pid) {
			if (!forbid_openat2(errors[i]))
				_exit(2);
			find_beneath(false);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

TEST_WITH(names_that_are_too_long, enter, leave)
{
	char name[NAME_MAX + 2] = "";

	memset(name, 'x', NAME_MAX);
	make(name);
	assert_int_equal(close(op_open_without_links(".", name)), 0);
	name[NAME_MAX] = 'x';
	assert_int_equal(op_open_without_links(".", name), -1);
}

/* No descriptor stays open. */
TEST_WITH(nothing_is_left_open, enter, leave)
{
	int next = dup(0);

	close(next);
	without_links(state);
	assert_int_equal(dup(0), next);
	close(next);
}

/* Which of the descriptors 50 to 59 a child has open that keeps some of them:
 * its status is the number of the first one that is not as it should be. */
static int keep_in_child(int *kept, size_t nr, const char *wanted)
{
	int status, pid = fork();

	if (!pid) {
		for (int i = 50; i < 60; i++)
			dup2(0, i);
		op_close_others(kept, nr);
		for (int i = 0; i < 10; i++)
			if ((fcntl(50 + i, F_GETFD) >= 0) != (wanted[i] == 'x'))
				_exit(50 + i);
		_exit(fcntl(0, F_GETFD) >= 0 ? 1 : 0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

TEST(others_are_closed)
{
	int some[] = { 57, -1, 50, 51, 57, 59 }, first[] = { 52, 0 };

	assert_int_equal(keep_in_child(NULL, 0, "----------"), 0);
	assert_int_equal(keep_in_child(some, 6, "xx-----x-x"), 0);
	assert_int_equal(keep_in_child(first, 2, "--x-------"), 1);
}
