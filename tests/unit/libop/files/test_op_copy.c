// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies of whole files: all of them or nothing. */

#include <sys/mman.h>

#include "tests/unit/op_fixture.h"

#include "libop/files/op_copy.h"

/* A text whose pieces of 64 KiB are all different. */
#define LEN 150001

static char *content(void)
{
	char *text = malloc(LEN);

	assert_non_null(text);
	for (size_t i = 0; i < LEN; i++)
		text[i] = (char)('a' + i % 23 + i / 65536);
	return text;
}

/* The file @path must hold content(), have @mode and the times of @st. */
static void must_be_copy(const char *path, const struct stat *st, mode_t mode)
{
	char *want = content(), *is = malloc(LEN + 1);
	FILE *file = fopen(path, "r");
	struct stat now;

	assert_non_null(is);
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &now), 0);
	assert_int_equal(fread(is, 1, LEN + 1, file), LEN);
	assert_memory_equal(is, want, LEN);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(now.st_mode & 07777, mode);
	assert_int_equal(now.st_mtim.tv_sec, st->st_mtim.tv_sec);
	assert_int_equal(now.st_mtim.tv_nsec, st->st_mtim.tv_nsec);
	free(want);
	free(is);
}

/* Give the file of @fd its content and times of long ago; tell what it is. */
static struct stat fill(int fd)
{
	const struct timespec times[2] = { { 1000, 7 }, { 2000, 123456789 } };
	char *text = content();
	struct stat st;

	assert_int_equal(pwrite(fd, text, LEN, 0), LEN);
	free(text);
	assert_int_equal(futimens(fd, times), 0);
	assert_int_equal(fstat(fd, &st), 0);
	return st;
}

FOLDER_TEST(copies_have_content_times_and_rights)
{
	static const mode_t modes[][2] = {
		{ 0644, 0444 }, { 0755, 0444 }, { 0700, 0400 }, { 0640, 0440 }
	};
	struct stat st;
	int fd;

	fd = open("from", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	fill(fd);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		assert_int_equal(fchmod(fd, modes[i][0]), 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(op_copy_file(fd, &st, "to"), 0);
		must_be_copy("to", &st, modes[i][1]);
		/* Nothing else is left; the next round replaces the copy. */
		assert_int_equal(nr_files(), 2);
	}
	close(fd);
}

/* What a copy leaves that was killed, and a copy whose name is a link. */
FOLDER_TEST(what_is_in_the_way_is_replaced)
{
	struct stat st;
	int fd;

	fd = open("from", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	st = fill(fd);
	write_text("victim", "precious");
	assert_int_equal(symlink("victim", "to.new"), 0);
	assert_int_equal(symlink("victim", "to"), 0);
	assert_int_equal(op_copy_file(fd, &st, "to"), 0);
	must_be_copy("to", &st, st.st_mode & 0444);
	assert_string_equal(text_of("victim"), "precious");
	assert_int_equal(nr_files(), 3);
	close(fd);
}

/* copy_file_range(2) does not reach across file systems. */
FOLDER_TEST(copies_from_another_file_system)
{
	int fd = memfd_create("from", MFD_CLOEXEC);
	struct stat st;

	assert_true(fd >= 0);
	st = fill(fd);
	assert_int_equal(op_copy_file(fd, &st, "to"), 0);
	must_be_copy("to", &st, st.st_mode & 0444);
	assert_int_equal(nr_files(), 1);
	/* cut since it was looked at */
	st.st_size++;
	assert_int_equal(op_copy_file(fd, &st, "cut"), -EIO);
	assert_int_equal(nr_files(), 1);
	close(fd);
}

FOLDER_TEST(what_fails_leaves_nothing)
{
	struct stat st;
	int fd, unreadable;

	fd = open("from", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	st = fill(fd);
	st.st_size++;
	assert_int_equal(op_copy_file(fd, &st, "to"), -EIO);
	st.st_size--;
	assert_int_equal(op_copy_file(fd, &st, "no/to"), -ENOENT);
	unreadable = open("from", O_WRONLY | O_CLOEXEC);
	assert_true(unreadable >= 0);
	assert_int_equal(op_copy_file(unreadable, &st, "to"), -EBADF);
	assert_int_equal(nr_files(), 1);
	/* a folder in the place of the copy, found when all is copied */
	assert_int_equal(mkdir("to", 0700), 0);
	assert_int_equal(op_copy_file(fd, &st, "to"), -EISDIR);
	assert_int_equal(nr_files(), 2);
	close(unreadable);
	close(fd);
}

FOLDER_TEST(empty_files_are_copied)
{
	struct stat st;
	int fd;

	fd = open("from", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(op_copy_file(fd, &st, "to"), 0);
	assert_string_equal(text_of("to"), "");
	assert_int_equal(nr_files(), 2);
	close(fd);
}
