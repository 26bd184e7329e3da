// SPDX-License-Identifier: GPL-2.0-or-later
/* Who may read the folders of a session: their modes, and their group. */

#include "tests/unit/op_fixture.h"

#include "libop/session/op_session_readers.h"

/* What a session's samples have where no group is named. */
static mode_t usual_mode(void)
{
	return geteuid() ? 0755 : 0700;
}

static struct op_session session;

static int enter_session(void **state)
{
	umask(022);
	return enter_folder(state) || op_session_init(&session, *state, NULL);
}

#define SESSION_TEST(name) TEST_WITH(name, enter_session, leave_folder)

static void assert_mode(const char *path, mode_t mode)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	if ((st.st_mode & 07777) != mode)
		fail_msg("%s has mode %o", path, st.st_mode & 07777);
	assert_int_equal(st.st_gid, getegid());
}

TEST(test_groups)
{
	static const struct {
		const char *name;
		gid_t group;
	} good[] = {
		{ "root", 0 },
		{ "0", 0 },
		{ "77777", 77777 },
		{ "4294967294", 4294967294 },
	};
	static const char *const bad[] = {
		"no-such-group", "", "-1", "4294967295", "4294967296", "1x"
	};
	struct op_diag diag;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		gid_t group = 12345;

		assert_int_equal(op_session_group(&group, good[i].name, &diag),
				 0);
		assert_int_equal(group, good[i].group);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		gid_t group = 12345;

		diag.text[0] = '\0';
		assert_int_equal(op_session_group(&group, bad[i], &diag),
				 -EINVAL);
		assert_int_equal(group, 12345);
		assert_reason(&diag, "no such group; getent group lists them");
	}
}

SESSION_TEST(test_samples_are_for_their_owner)
{
	assert_int_equal(op_session_make_samples(&session, NULL, NULL), 0);
	assert_mode("samples", usual_mode());
	/* What is there stays as it is. */
	assert_int_equal(chmod("samples", 0711), 0);
	assert_int_equal(op_session_make_samples(&session, NULL, NULL), 0);
	assert_mode("samples", 0711);
}

SESSION_TEST(test_folders_above_are_made)
{
	char dir[4000];

	snprintf(dir, sizeof(dir), "%s/a/b", (char *)*state);
	assert_int_equal(op_session_init(&session, dir, NULL), 0);
	assert_int_equal(op_session_make_samples(&session, NULL, NULL), 0);
	assert_mode("a", 0755);
	assert_mode("a/b", 0755);
	assert_mode("a/b/samples", usual_mode());
}

SESSION_TEST(test_samples_are_for_a_group)
{
	static const char *const folders[] = { "samples", "symbols", "images",
					       "store" };
	gid_t group = getegid();

	/* As far as they are there. */
	assert_int_equal(op_session_make_samples(&session, &group, NULL), 0);
	assert_mode("samples", 0750);
	assert_int_equal(access("symbols", F_OK), -1);
	for (size_t i = 0; i < 4; i++) {
		mkdir(folders[i], 0700);
		assert_int_equal(chmod(folders[i], 0700), 0);
	}
	assert_int_equal(mkdir("run", 0700), 0);
	assert_int_equal(op_session_make_samples(&session, &group, NULL), 0);
	for (size_t i = 0; i < 4; i++)
		assert_mode(folders[i], 0750);
	assert_mode("run", 0700);
}

/* A link may lead to a folder of somebody else. */
SESSION_TEST(test_links_are_not_followed)
{
	struct op_diag diag = { "" };
	gid_t group = getegid();

	assert_int_equal(mkdir("other", 0700), 0);
	assert_int_equal(symlink("other", "images"), 0);
	assert_int_equal(op_session_make_samples(&session, &group, &diag),
			 -ENOTDIR);
	assert_reason(&diag,
		      "images: cannot be given to the group: Not a directory");
	assert_mode("other", 0700);
}

SESSION_TEST(test_samples_that_cannot_be_made)
{
	struct op_diag diag = { "" };
	char dir[4000];

	snprintf(dir, sizeof(dir), "%s/file/dir", (char *)*state);
	assert_int_equal(op_session_init(&session, dir, NULL), 0);
	write_text("file", "");
	assert_int_equal(op_session_make_samples(&session, NULL, &diag),
			 -ENOTDIR);
	assert_reason(&diag, "samples: cannot make it: Not a directory; give "
			     "--session-dir a folder");
	assert_int_equal(op_session_init(&session, *state, NULL), 0);
	write_text("samples", "");
	assert_int_equal(op_session_make_samples(&session, NULL, &diag),
			 -ENOTDIR);
	assert_reason(&diag, "samples: cannot make it: Not a directory; give "
			     "--session-dir a folder");
}

/* As open as the samples are. */
SESSION_TEST(test_folders_beside_the_samples)
{
	assert_int_equal(op_session_make_folder(session.symbols), 0);
	assert_mode("symbols", 0700);
	assert_int_equal(mkdir("samples", 0700), 0);
	assert_int_equal(chmod("samples", 0751), 0);
	assert_int_equal(op_session_make_folder(session.images), 0);
	assert_mode("images", 0751);
	/* One that is there keeps its own. */
	assert_int_equal(op_session_make_folder(session.symbols), 0);
	assert_mode("symbols", 0700);
	assert_int_equal(op_session_make_folder("none/images"), -ENOENT);
	write_text("file", "");
	assert_int_equal(op_session_make_folder("file"), -ENOTDIR);
}
