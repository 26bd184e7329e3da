// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts of files: all of them are read and written, or it is said. */

#include "tests/unit/op_fixture.h"

#include <stdbool.h>

#include "libop/files/op_file.h"

FOLDER_TEST(test_what_is_written_is_read)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	char buf[8] = "";

	assert_int_equal(op_file_write_at(fd, "world", 5, 6), 0);
	assert_int_equal(op_file_write_at(fd, "hello", 5, 0), 0);
	assert_int_equal(op_file_read_at(fd, buf, 7, 4), 0);
	assert_memory_equal(buf, "o\0world", 7);
	/* They are of no place of their own. */
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
	close(fd);
}

FOLDER_TEST(test_less_than_was_asked_for_is_none)
{
	char buf[8];
	int fd;

	write_text("f", "abc");
	fd = open("f", O_RDONLY);
	assert_int_equal(op_file_read_at(fd, buf, 3, 0), 0);
	assert_int_equal(op_file_read_at(fd, buf, 0, 3), 0);
	assert_int_equal(op_file_read_at(fd, buf, 4, 0), -EBADMSG);
	assert_int_equal(op_file_read_at(fd, buf, 1, 3), -EBADMSG);
	assert_int_equal(op_file_read_at(fd, buf, 1, INT64_MAX), -EBADMSG);
	assert_int_equal(op_file_read_at(fd, buf, 1, UINT64_MAX), -EBADMSG);
	assert_int_equal(op_file_write_at(fd, "x", 1, 0), -EBADF);
	close(fd);
	assert_int_equal(op_file_read_at(-1, buf, 1, 0), -EBADF);
}

FOLDER_TEST(test_a_full_disk_is_told)
{
	int fd = open("/dev/full", O_WRONLY);

	assert_int_equal(op_file_write_at(fd, "x", 1, 0), -ENOSPC);
	close(fd);
}

/* They have no size: what is too much is seen while it is read. */
FOLDER_TEST(test_files_of_proc_are_bounded)
{
	static const char name[] = "/proc/self/comm";
	char *text;
	size_t len, again;

	assert_int_equal(op_file_read(name, 4096, &text, &len, NULL), 0);
	assert_int_equal(strlen(text), len);
	free(text);
	assert_int_equal(op_file_read(name, len, &text, &again, NULL), 0);
	assert_int_equal(again, len);
	free(text);
	assert_int_equal(op_file_read(name, len - 1, &text, &again, NULL),
			 -EFBIG);
	assert_null(text);
}

/* Replace "f", which holds "old", by "new", and look at the folder. */
static void replace_file(bool is_kept, const char *wanted)
{
	struct op_replace replace;
	struct stat st;
	size_t len;
	char *text;

	write_text("f", "old");
	assert_int_equal(op_replace_open(&replace, "f", 0640, NULL), 0);
	fputs("new", replace.file);
	if (is_kept)
		assert_int_equal(op_replace_commit(&replace, NULL), 0);
	else
		op_replace_abort(&replace);
	assert_int_equal(op_file_read("f", 10, &text, &len, NULL), 0);
	assert_string_equal(text, wanted);
	free(text);
	assert_int_equal(stat("f", &st), 0);
	assert_int_equal((st.st_mode & 0777) == 0640, is_kept);
	assert_int_equal(access(replace.tmp, F_OK), -1);
}

FOLDER_TEST(test_files_are_replaced_whole_or_not)
{
	struct op_replace replace;

	replace_file(false, "old");
	replace_file(true, "new");
	/* What cannot be replaced leaves nothing behind. */
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(op_replace_open(&replace, "folder", 0600, NULL), 0);
	assert_int_equal(op_replace_commit(&replace, NULL), -EISDIR);
	assert_int_equal(access(replace.tmp, F_OK), -1);
	assert_int_equal(op_replace_open(&replace, "none/f", 0600, NULL),
			 -ENOENT);
}

/* The status alone tells, not who may read. */
FOLDER_TEST(test_others_may_have_written)
{
	const struct {
		uid_t owner;
		mode_t mode;
		bool is_own;
	} rows[] = {
		{ 0, 0755, true },
		{ geteuid(), 04755, true },
		{ geteuid() + 1, 0755, false },
		{ 0, 0775, false },
		{ 0, 0757, false },
		{ geteuid(), 0666, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct stat st = { .st_uid = rows[i].owner,
					 .st_mode = S_IFREG | rows[i].mode };

		assert_int_equal(op_is_own_file(&st), rows[i].is_own);
	}
}
