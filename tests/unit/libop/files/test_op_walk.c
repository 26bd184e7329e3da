// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks over folders: order, kinds, what may be skipped, and that nothing which
 * cannot be looked at is passed over in silence.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/expect.h"
#include "tests/unit/test.h"
#include "libop/files/op_walk.h"

static char dir[] = "/tmp/test_op_walk.XXXXXX";

/* In place of libc's: it fails once, at entry @fail_at. */
static unsigned int fail_at;
/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
struct dirent *readdir(DIR *folder)
{
	static struct dirent *(*real)(DIR * folder);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "readdir");
	if (fail_at && !--fail_at) {
		errno = EIO;
		return NULL;
	}
	return real(folder);
}

struct log {
	char text[4096];
	const char *skip;
	int end_with;
	const char *remove; /* at the first file */
};

static int note(const struct op_walk_entry *entry, void *ctx)
{
	static const char *const kinds[] = {
		[OP_WALK_FILE] = "file",     [OP_WALK_FOLDER] = "folder",
		[OP_WALK_LEFT] = "left",     [OP_WALK_OTHER] = "other",
		[OP_WALK_UNREAD] = "unread",
	};
	struct log *log = ctx;
	size_t len = strlen(log->text);
	const char *slash = strrchr(entry->path, '/');

	assert_string_equal(entry->name, slash + 1);
	assert_ptr_equal(entry->path + strlen(dir) + (entry->depth > 0),
			 entry->below);
	assert_int_equal(entry->kind == OP_WALK_UNREAD, entry->err != 0);
	assert_int_equal(entry->kind == OP_WALK_UNREAD, entry->st == NULL);
	snprintf(log->text + len, sizeof(log->text) - len, "%u %s %s%s%s\n",
		 entry->depth, kinds[entry->kind], entry->below,
		 entry->err ? " " : "",
		 entry->err ? strerrorname_np(-entry->err) : "");
	if (log->remove && entry->kind == OP_WALK_FILE) {
		assert_int_equal(unlink(log->remove), 0);
		log->remove = NULL;
	}
	if (log->skip && !strcmp(entry->name, log->skip))
		return OP_WALK_SKIP;
	return entry->kind == OP_WALK_FILE ? log->end_with : 0;
}

static int make_files(void **state)
{
	(void)state;
	if (!mkdtemp(dir) || chdir(dir))
		return -1;
	return system("mkdir -p b/c empty && touch b/z b/a 'b/c/x y' A "
		      "&& ln -s b link && mkfifo pipe");
}

static int remove_files(void **state)
{
	(void)state;
	return chdir("/") || system("rm -r /tmp/test_op_walk.*");
}

TEST(all_is_visited_by_name)
{
	struct log log = { .text = "" };
	char slashes[64];

	assert_int_equal(op_walk(dir, note, &log), 0);
	expect_text(log.text, EXPECTED_ROW, "all");
	log.text[0] = '\0';
	snprintf(slashes, sizeof(slashes), "%s//", dir);
	assert_int_equal(op_walk(slashes, note, &log), 0);
	expect_text(log.text, EXPECTED_AS("all"), "with slashes");
}

TEST(folders_may_be_skipped)
{
	struct log log = { .skip = "b" };

	assert_int_equal(op_walk(dir, note, &log), 0);
	expect_text(log.text, EXPECTED_ROW, "a skipped folder");
}

TEST(a_visit_may_end_it)
{
	struct log log = { .end_with = -EXDEV };

	assert_int_equal(op_walk(dir, note, &log), -EXDEV);
	assert_string_equal(log.text, "0 folder \n1 file A\n");
}

TEST(what_is_removed_meanwhile_is_left_out)
{
	struct log log = { .remove = "b/z" };

	assert_int_equal(op_walk(dir, note, &log), 0);
	expect_text(log.text, EXPECTED_ROW, "a removed file");
	assert_int_equal(system("touch b/z"), 0);
}

TEST(a_folder_that_is_not_there)
{
	struct log log = { .text = "" };

	assert_int_equal(rename(dir, "/tmp/test_op_walk.gone"), 0);
	assert_int_equal(op_walk(dir, note, &log), 0);
	assert_string_equal(log.text, "0 unread  ENOENT\n");
	assert_int_equal(rename("/tmp/test_op_walk.gone", dir), 0);
}

/* Of five entries, ".", ".." and three more, and the end. */
TEST(a_listing_that_fails_is_told)
{
	for (unsigned int nr = 1; nr <= 6; nr++) {
		struct log log = { .skip = "b" };

		fail_at = nr;
		assert_int_equal(op_walk(dir, note, &log), 0);
		assert_int_equal(fail_at, 0);
		assert_non_null(strstr(log.text, "0 unread  EIO\n"));
		assert_non_null(strstr(log.text, "0 left \n"));
	}
}

TEST_GROUP(make_files, remove_files)
