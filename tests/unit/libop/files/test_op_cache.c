// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that sessions share: where they are kept, how they come and go. */

#include "tests/unit/op_fixture.h"

#include <stdbool.h>

#include "libop/files/op_cache.h"

static char here[256]; /* this test's folder */

static int open_cache(void)
{
	int cache;

	if (!getcwd(here, sizeof(here)))
		fail();
	assert_true(strlen(here) < sizeof(here) - 8);
	strcat(here, "/a/cache");
	setenv("OPROFILE_CACHE_DIR", here, 1);
	cache = op_cache_open();
	assert_true(cache >= 0);
	return cache;
}

static struct stat stat_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st;
}

/* Root has one folder for all its sessions; this test may run as anybody. */
FOLDER_TEST(folders)
{
	static const struct {
		const char *own, *xdg, *home, *folder;
		bool for_root; /* the same for root */
	} rows[] = {
		{ "/own", "/xdg", "/home", "/own", true },
		{ NULL, "/xdg", "/home", "/xdg/oprofile", false },
		{ NULL, NULL, "/home", "/home/.cache/oprofile", false },
		{ NULL, NULL, NULL, NULL, false },
		/* A folder that depends on where one is, is none. */
		{ "own", "/xdg", "/home", NULL, true },
		{ "", "/xdg", "/home", NULL, true },
		{ NULL, "xdg", "/home", NULL, false },
	};
	char path[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *want = rows[i].folder;
		const char *values[] = { rows[i].own, rows[i].xdg,
					 rows[i].home };
		static const char *const names[] = { "OPROFILE_CACHE_DIR",
						     "XDG_CACHE_HOME", "HOME" };

		for (size_t j = 0; j < 3; j++)
			if (values[j])
				setenv(names[j], values[j], 1);
			else
				unsetenv(names[j]);
		if (!geteuid() && !rows[i].for_root)
			want = "/var/cache/oprofile";
		if (!want) {
			assert_int_equal(op_cache_folder(path, sizeof(path)),
					 -ENOENT);
			continue;
		}
		assert_int_equal(op_cache_folder(path, sizeof(path)), 0);
		assert_string_equal(path, want);
		assert_int_equal(op_cache_folder(path, strlen(want)),
				 -ENAMETOOLONG);
	}
}

/* What others may write to is not believed. */
FOLDER_TEST(foreign_folders)
{
	int cache = open_cache();

	assert_int_equal(stat_of("a/cache").st_mode & 07777, 0700);
	close(cache);
	assert_int_equal(chmod("a/cache", 0720), 0);
	assert_int_equal(op_cache_open(), -EPERM);
	assert_int_equal(chmod("a/cache", 0702), 0);
	assert_int_equal(op_cache_open(), -EPERM);
	assert_int_equal(chmod("a/cache", 0755), 0);
	if (!geteuid()) {
		assert_int_equal(chown("a/cache", 1, (gid_t)-1), 0);
		assert_int_equal(op_cache_open(), -EPERM);
		assert_int_equal(chown("a/cache", 0, (gid_t)-1), 0);
	}
	cache = op_cache_open();
	assert_true(cache >= 0);
	close(cache);
	assert_int_equal(rename("a/cache", "a/real"), 0);
	assert_int_equal(symlink("real", "a/cache"), 0);
	assert_int_equal(op_cache_open(), -ENOTDIR);
	assert_int_equal(unlink("a/cache"), 0);
	write_text("a/cache", "");
	assert_int_equal(op_cache_open(), -ENOTDIR);
	setenv("OPROFILE_CACHE_DIR", "/dev/null/x", 1);
	assert_int_equal(op_cache_open(), -ENOTDIR);
}

FOLDER_TEST(files_are_links)
{
	int cache = open_cache();

	assert_int_equal(op_cache_get(cache, "f", "s"), -ENOENT);
	write_text("s", "one");
	assert_int_equal(op_cache_put(cache, "f", "s", &op_cache_bounds), 0);
	assert_int_equal(stat_of("a/cache/f").st_ino, stat_of("s").st_ino);
	write_text("t", "in the way");
	assert_int_equal(op_cache_get(cache, "f", "t"), 0);
	assert_int_equal(stat_of("t").st_ino, stat_of("s").st_ino);
	assert_int_equal(stat_of("t").st_nlink, 3);
	/* The same once more, and another one instead. */
	assert_int_equal(op_cache_put(cache, "f", "s", &op_cache_bounds), 0);
	assert_int_equal(stat_of("s").st_nlink, 3);
	write_text("u", "two");
	assert_int_equal(op_cache_put(cache, "f", "u", &op_cache_bounds), 0);
	assert_string_equal(text_of("a/cache/f"), "two");
	assert_string_equal(text_of("t"), "one");
	assert_int_equal(op_cache_put(cache, "f", "absent", &op_cache_bounds),
			 -ENOENT);
	assert_string_equal(text_of("a/cache/f"), "two");
	/* Without the cache a session is as it was. */
	assert_int_equal(unlink("a/cache/f"), 0);
	assert_string_equal(text_of("u"), "two");
	assert_int_equal(nr_files(), 4);
	close(cache);
}

/* No link goes from one file system to another. */
FOLDER_TEST(files_are_copies)
{
	char far[] = "/dev/shm/op-cache-XXXXXX", path[64];
	int cache = open_cache();
	bool is_far;

	if (!mkdtemp(far))
		skip();
	snprintf(path, sizeof(path), "%s/s", far);
	is_far = stat_of(far).st_dev != stat_of(".").st_dev;
	write_text(path, "one");
	assert_int_equal(op_cache_put(cache, "f", path, &op_cache_bounds), 0);
	assert_int_equal(stat_of("a/cache/f").st_nlink, is_far ? 1 : 2);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(op_cache_get(cache, "f", path), 0);
	assert_string_equal(text_of(path), "one");
	assert_int_equal(stat_of(path).st_nlink, is_far ? 1 : 2);
	assert_int_equal(op_cache_get(cache, "f", "no/such"), -ENOENT);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(far), 0);
	close(cache);
}

/* In the place of a file. */
FOLDER_TEST(other_things)
{
	int cache = open_cache();

	write_text("secret", "");
	assert_int_equal(symlink("../../secret", "a/cache/link"), 0);
	assert_int_equal(op_cache_get(cache, "link", "s"), -ELOOP);
	assert_int_equal(mkfifo("a/cache/pipe", 0600), 0);
	assert_int_equal(op_cache_get(cache, "pipe", "s"), -EPERM);
	assert_int_equal(mkdir("a/cache/folder", 0700), 0);
	assert_int_equal(op_cache_get(cache, "folder", "s"), -EPERM);
	if (!geteuid()) {
		write_text("a/cache/theirs", "");
		assert_int_equal(chown("a/cache/theirs", 1, (gid_t)-1), 0);
		assert_int_equal(op_cache_get(cache, "theirs", "s"), -EPERM);
	}
	assert_int_equal(access("s", F_OK), -1);
	close(cache);
}

/* What no session has goes when another file comes, after its time. */
FOLDER_TEST(unused_files)
{
	const struct op_cache_bounds at_once = { -1, UINT64_MAX };
	const struct op_cache_bounds later = { 1000, UINT64_MAX };
	int cache = open_cache();

	write_text("s", "");
	assert_int_equal(op_cache_put(cache, "used", "s", &at_once), 0);
	write_text("a/cache/unused", "");
	write_text("a/cache/.new-1", "");
	assert_int_equal(mkdir("a/cache/folder", 0700), 0);
	write_text("t", "");
	assert_int_equal(op_cache_put(cache, "f", "t", &later), 0);
	assert_int_equal(access("a/cache/unused", F_OK), 0);
	assert_int_equal(op_cache_put(cache, "f", "t", &at_once), 0);
	assert_int_equal(access("a/cache/unused", F_OK), -1);
	assert_int_equal(access("a/cache/.new-1", F_OK), -1);
	assert_int_equal(access("a/cache/used", F_OK), 0);
	assert_int_equal(access("a/cache/f", F_OK), 0);
	assert_int_equal(access("a/cache/folder", F_OK), 0);
	close(cache);
}

/* @kib of a file that no session has. */
static void put_unused(int cache, const char *name, unsigned int kib,
		       const struct op_cache_bounds *bounds)
{
	int fd = open("s", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	for (unsigned int i = 0; i < kib; i++) {
		char bytes[1024];

		memset(bytes, (int)i, sizeof(bytes));
		assert_int_equal(write(fd, bytes, sizeof(bytes)),
				 sizeof(bytes));
	}
	close(fd);
	assert_int_equal(op_cache_put(cache, name, "s", bounds), 0);
	assert_int_equal(unlink("s"), 0);
}

/* Those that were left last stay. */
FOLDER_TEST(bounded_files)
{
	const struct op_cache_bounds bounds = { 1000, 1 << 20 };
	struct stat last;
	int cache = open_cache();

	write_text("used", "1");
	assert_int_equal(op_cache_put(cache, "used", "used", &bounds), 0);
	put_unused(cache, "one", 600, &bounds);
	put_unused(cache, "two", 300, &bounds);
	assert_int_equal(access("a/cache/one", F_OK), 0);
	/* The times of files have whole seconds here. */
	do {
		put_unused(cache, "two", 300, &bounds);
		last = stat_of("a/cache/two");
	} while (last.st_ctime == stat_of("a/cache/one").st_ctime);
	put_unused(cache, "three", 300, &bounds);
	assert_int_equal(access("a/cache/three", F_OK), 0);
	put_unused(cache, "four", 1, &bounds);
	assert_int_equal(access("a/cache/one", F_OK), -1);
	assert_int_equal(access("a/cache/two", F_OK), 0);
	assert_int_equal(access("a/cache/three", F_OK), 0);
	assert_int_equal(access("a/cache/used", F_OK), 0);
	close(cache);
}
