// SPDX-License-Identifier: GPL-2.0-or-later
/* Where a session's things lie, and what may name a saved one. */

#include "tests/unit/op_fixture.h"

#include <limits.h>

#include "libop/image/op_build_id.h"
#include "libop/session/op_session.h"

static struct op_session s;

static const char *dir_of(const char *dir)
{
	struct op_diag diag = { "" };

	memset(&s, 0xff, sizeof(s));
	if (op_session_init(&s, dir, &diag))
		fail_msg("%s", diag.text);
	return s.dir;
}

/* Whether the folder of @dir is @tail below the test's folder. */
static void is_below(void **state, const char *dir, const char *tail)
{
	char wanted[PATH_MAX];

	snprintf(wanted, sizeof(wanted), "%s%s", (char *)*state, tail);
	assert_string_equal(dir_of(dir), wanted);
}

FOLDER_TEST(test_all_paths)
{
	assert_string_equal(dir_of("/nowhere/s"), "/nowhere/s");
	assert_string_equal(s.samples, "/nowhere/s/samples");
	assert_string_equal(s.current, "/nowhere/s/samples/current");
	assert_string_equal(s.log, "/nowhere/s/samples/oprofiled.log");
	assert_string_equal(s.symbols, "/nowhere/s/symbols");
	assert_string_equal(s.run, "/nowhere/s/run");
	assert_string_equal(s.lock, "/nowhere/s/run/lock");
	assert_string_equal(s.socket, "/nowhere/s/run/control");
}

FOLDER_TEST(test_default_runs_in_run)
{
	dir_of(OP_SESSION_DIR_DEFAULT "//");
	assert_string_equal(s.run, "/run/oprofile");
	assert_string_equal(s.socket, "/run/oprofile/control");
	dir_of(NULL);
	assert_string_equal(s.run, "/run/oprofile");
	dir_of(OP_SESSION_DIR_DEFAULT "/x");
	assert_string_equal(s.run, OP_SESSION_DIR_DEFAULT "/x/run");
}

FOLDER_TEST(test_local_folder_is_taken)
{
	write_text("oprofile_data", "a file is not meant");
	dir_of(NULL);
	assert_string_equal(s.run, "/run/oprofile");
	assert_int_equal(unlink("oprofile_data"), 0);
	assert_int_equal(mkdir("oprofile_data", 0700), 0);
	is_below(state, NULL, "/oprofile_data");
	assert_true(strstr(s.run, "/oprofile_data/run") != NULL);
}

static void refuse_local(void)
{
	struct op_diag diag = { "" };

	assert_int_equal(op_session_init(&s, NULL, &diag), -EPERM);
	assert_reason(&diag, "belongs to another user");
	assert_reason(&diag, "--session-dir=./oprofile_data");
}

FOLDER_TEST(test_local_folder_of_another)
{
	if (geteuid())
		skip(); /* only root can make one */
	assert_int_equal(mkdir("oprofile_data", 0755), 0);
	assert_int_equal(chown("oprofile_data", 12345, 12345), 0);
	refuse_local();
	is_below(state, "oprofile_data", "/oprofile_data");
	assert_int_equal(rmdir("oprofile_data"), 0);
	/* A link of another's to a folder of root's. */
	assert_int_equal(symlink("/", "oprofile_data"), 0);
	assert_int_equal(lchown("oprofile_data", 12345, 12345), 0);
	refuse_local();
}

FOLDER_TEST(test_relative_folders)
{
	assert_int_equal(mkdir("real", 0700), 0);
	assert_int_equal(symlink("real", "link"), 0);
	assert_int_equal(symlink("gone", "dangling"), 0);
	is_below(state, "new", "/new");
	is_below(state, "./a/./b//c/", "/a/b/c");
	is_below(state, "link", "/real");
	is_below(state, "link/x/y", "/real/x/y");
	is_below(state, "link/../z", "/z");
	is_below(state, "gone/../z", "/z");
	is_below(state, "dangling/x", "/dangling/x");
	is_below(state, ".", "");
	assert_string_equal(dir_of("/nowhere/../../../x"), "/x");
}

FOLDER_TEST(test_link_to_the_top)
{
	assert_int_equal(symlink("/", "top"), 0);
	assert_string_equal(dir_of("top/nowhere/s"), "/nowhere/s");
}

FOLDER_TEST(test_refused_folders)
{
	struct op_diag diag = { "" };
	char *path = calloc(1, PATH_MAX + 10);

	assert_int_equal(op_session_init(&s, "", &diag), -ENOENT);
	diag.text[0] = '\0';
	assert_int_equal(op_session_init(&s, "/", &diag), -EINVAL);
	assert_reason(&diag, "the root folder");
	diag.text[0] = '\0';
	assert_int_equal(op_session_init(&s, "//../.", NULL), -EINVAL);
	assert_int_equal(symlink("loop", "loop"), 0);
	assert_int_equal(op_session_init(&s, "loop/x", &diag), -ELOOP);
	assert_reason(&diag, "loop/x: cannot be the session folder: ");
	write_text("file", "");
	assert_int_equal(op_session_init(&s, "file/x", NULL), -ENOTDIR);
	for (int i = 0; i < PATH_MAX; i++)
		path[i] = i % 100 ? 'x' : '/';
	assert_int_equal(op_session_init(&s, path, NULL), -ENAMETOOLONG);
	path[PATH_MAX - 1] = '\0';
	assert_string_equal(dir_of(path), path);
	assert_int_equal(strlen(s.socket), PATH_MAX - 1 + 12);
	free(path);
}

FOLDER_TEST(test_working_folder_is_gone)
{
	struct op_diag diag = { "" };

	assert_int_equal(mkdir("x", 0700), 0);
	assert_int_equal(chdir("x"), 0);
	assert_int_equal(rmdir("../x"), 0);
	assert_int_equal(op_session_init(&s, "y", &diag), -ENOENT);
	assert_reason(&diag, "y: cannot be the session folder: ");
	assert_string_equal(dir_of("/nowhere"), "/nowhere");
	assert_int_equal(chdir(*state), 0);
}

FOLDER_TEST(test_names_of_saved_sessions)
{
	static const char *const good[] = { "a",  "before fix", "x.y",
					    "-1", "current2",	"\xc3\xa4",
					    "{x}" };
	static const char *const bad[] = {
		"",	   ".",	   "..",   ".hidden", "a/b",	      "/",
		"current", "a\nb", "\x7f", "a/../b",  "oprofiled.log"
	};
	char long_name[257];

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_int_equal(op_session_name_check(good[i], NULL), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct op_diag diag = { "" };

		assert_int_equal(op_session_name_check(bad[i], &diag), -EINVAL);
		assert_reason(&diag, "cannot name a saved session");
	}
	memset(long_name, 'x', 256);
	long_name[256] = '\0';
	assert_int_equal(op_session_name_check(long_name, NULL), -EINVAL);
	assert_int_equal(op_session_name_check(long_name + 1, NULL), 0);
}

FOLDER_TEST(test_what_holds_samples)
{
	static const char *const yes[] = { "{root}",	    "{kern}",
					   "{anon:[heap]}", "packed",
					   "{x}",	    "packed.bad-2",
					   ".packed.grow",  ".packing-12" };
	static const char *const no[] = { "",  "ledger",     ".ledger.tmp",
					  ".", "pack",	     ".pack",
					  "x", "x.{root}",   ".{root}",
					  "-", "unpacked.x", "root" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(*yes); i++)
		assert_true(op_session_holds_samples(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(*no); i++)
		assert_false(op_session_holds_samples(no[i]));
}

static const struct op_build_id id_of_both = {
	4, { 0xab, 0xcd, 1, 2, [24] = 0xf, [31] = 7 }
};
#define WITH "abcd0102-0f00000000000007"

FOLDER_TEST(test_builds_have_fingerprints)
{
	const struct op_build_id no_id = { .len = 0 };
	struct op_build_id id = id_of_both;
	struct op_session session;
	char path[4096 + 200];

	assert_int_equal(op_session_init(&session, "/s", NULL), 0);
	assert_int_equal(op_session_image(&session, "/bin/x", &id, 5, path,
					  sizeof(path)),
			 0);
	assert_string_equal(path, "/s/images/x-" WITH);
	assert_int_equal(op_session_digest(&session, &id, path, sizeof(path)),
			 0);
	assert_string_equal(path,
			    "/s/store/.build-id/ab/cd0102-0f00000000000007");
	memset(id.bytes + 24, 0, 8);
	assert_int_equal(op_session_image(&session, "/bin/x", &id, 5, path,
					  sizeof(path)),
			 0);
	assert_string_equal(path, "/s/images/x-abcd0102");
	assert_int_equal(op_session_image(&session, "/bin/x", &no_id, 5, path,
					  sizeof(path)),
			 0);
	assert_string_equal(path, "/s/images/x-0000000000000005");
	assert_int_equal(op_session_digest(&session, &id, path, sizeof(path)),
			 0);
	assert_string_equal(path, "/s/store/.build-id/ab/cd0102");
}

/* Where none is known, the only one there is will do. */
FOLDER_TEST(test_any_fingerprint)
{
	static const char *const others[] = {
		"f/x-abcd0102-0f0000000000000", /* a digit less */
		"f/x-abcd0102-0f000000000000071",
		"f/x-abcd0102-0f0000000000000g",
		"f/x-abcd0102-0f00000000000007.debug",
		"f/x-abcd0102_0f00000000000007",
		("f/y-" WITH),
	};
	char path[64] = "f/x-abcd0102";

	assert_int_equal(op_session_any_fingerprint(path, sizeof(path)),
			 -ENOENT);
	assert_int_equal(mkdir("f", 0700), 0);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		write_text(others[i], "");
	assert_int_equal(op_session_any_fingerprint(path, sizeof(path)),
			 -ENOENT);
	assert_string_equal(path, "f/x-abcd0102");
	write_text("f/x-" WITH, "");
	assert_int_equal(op_session_any_fingerprint(path, strlen("f/x-" WITH)),
			 -ENAMETOOLONG);
	assert_int_equal(op_session_any_fingerprint(path, sizeof(path)), 0);
	assert_string_equal(path, "f/x-" WITH);
	strcpy(path, "f/x-abcd0102");
	write_text("f/x-abcd0102-0f00000000000008", "");
	assert_int_equal(op_session_any_fingerprint(path, sizeof(path)),
			 -ENOTUNIQ);
	assert_string_equal(path, "f/x-abcd0102");
}
