// SPDX-License-Identifier: GPL-2.0-or-later
/* What a policy file lets whom have, and which files are refused. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/session/op_policy.h"
#include "tests/unit/op_fixture.h"
#include "tests/unit/rows.h"

#define FILE_NAME "policy"

static void write_policy(const char *text, mode_t mode)
{
	int fd = open(FILE_NAME, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* user 7 is in the groups 70 and 71 */
static const struct policy_row {
	const char *name, *text;
	int err;
	bool lets, kernel;
} policy_rows[] = {
	{ "empty", "", 0, false, false },
	{ "nobody", "mine = none\n", 0, false, false },
	{ "everybody", "# who\n\nmine=all\n", 0, true, false },
	{ "with the kernel", "mine = all\nkernel = yes\n", 0, true, true },
	{ "without", "kernel = no\nmine = all\n", 0, true, false },
	{ "a group", "mine = group:71\n", 0, true, false },
	{ "another", "mine = group:72\n", 0, false, false },
	{ "a user", "mine = users 7\n", 0, true, false },
	{ "several", "mine = users root, 8,7\n", 0, true, false },
	{ "others", "mine = users 8,9\n", 0, false, false },
	{ "no such group", "mine = group:no-such-group\n", -EINVAL, 0, 0 },
	{ "no such user", "mine = users 7,no-such-user\n", -EINVAL, 0, 0 },
	{ "no user", "mine = users \n", -EINVAL, 0, 0 },
	{ "an empty one", "mine = users 7,,8\n", -EINVAL, 0, 0 },
	{ "nobody's number", "mine = users 4294967295\n", -EINVAL, 0, 0 },
	{ "a larger one", "mine = users 4294967303\n", -EINVAL, 0, 0 },
	{ "a word that is none", "mine = some\n", -EINVAL, 0, 0 },
	{ "a value that is none", "kernel = 1\n", -EINVAL, 0, 0 },
	{ "another key", "mine = all\nyours = all\n", -EINVAL, 0, 0 },
	{ "twice", "mine = all\nmine = none\n", -EINVAL, 0, 0 },
	{ "no line", "all\n", -EINVAL, 0, 0 },
};

static void check_policy(const struct policy_row *r)
{
	static const gid_t groups[] = { 70, 71 };
	struct op_diag diag = { "" };
	struct op_policy policy;

	write_policy(r->text, 0644);
	assert_int_equal(op_policy_read(&policy, FILE_NAME, &diag), r->err);
	assert_int_equal(*diag.text != '\0', r->err != 0);
	if (r->err)
		assert_non_null(strstr(diag.text, FILE_NAME));
	assert_int_equal(op_policy_lets(&policy, 7, groups, 2), r->lets);
	assert_int_equal(policy.kernel, r->kernel);
	op_policy_release(&policy);
	unlink(FILE_NAME);
}

TEST(what_it_says)
{
	for (size_t i = 0; i < NR(policy_rows); i++) {
		print_message("# %s\n", policy_rows[i].name);
		check_policy(&policy_rows[i]);
	}
}

TEST(refused_files)
{
	struct op_diag diag = { "" };
	struct op_policy policy;

	assert_int_equal(op_policy_read(&policy, "none", &diag), -ENOENT);
	assert_string_equal(diag.text, "");
	write_policy("mine = all\n", 0664);
	assert_int_equal(op_policy_read(&policy, FILE_NAME, &diag), -EPERM);
	assert_int_equal(policy.mine, OP_MINE_NONE);
	assert_int_equal(chmod(FILE_NAME, 0646), 0);
	assert_int_equal(op_policy_read(&policy, FILE_NAME, NULL), -EPERM);
	assert_int_equal(chmod(FILE_NAME, 0644), 0);
	assert_int_equal(symlink(FILE_NAME, "link"), 0);
	assert_int_equal(op_policy_read(&policy, "link", NULL), -ELOOP);
	if (!geteuid()) {
		assert_int_equal(chown(FILE_NAME, 7, 7), 0);
		assert_int_equal(op_policy_read(&policy, FILE_NAME, NULL),
				 -EPERM);
	}
	unlink(FILE_NAME);
	/* Which is not waited for. */
	assert_int_equal(mkfifo(FILE_NAME, 0600), 0);
	assert_int_equal(op_policy_read(&policy, FILE_NAME, NULL), -EPERM);
	unlink(FILE_NAME);
	unlink("link");
}

TEST_GROUP(enter_folder, leave_folder)
