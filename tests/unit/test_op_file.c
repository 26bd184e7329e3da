// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts of files: all of them are read and written, or it is said. */

#include "tests/unit/op_fixture.h"

#include "libop/op_file.h"

static void test_what_is_written_is_read(void **state)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	char buf[8] = "";

	(void)state;
	assert_int_equal(op_file_write_at(fd, "world", 5, 6), 0);
	assert_int_equal(op_file_write_at(fd, "hello", 5, 0), 0);
	assert_int_equal(op_file_read_at(fd, buf, 7, 4), 0);
	assert_memory_equal(buf, "o\0world", 7);
	/* They are of no place of their own. */
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 0);
	close(fd);
}

static void test_less_than_was_asked_for_is_none(void **state)
{
	char buf[8];
	int fd;

	(void)state;
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

static void test_a_full_disk_is_told(void **state)
{
	int fd = open("/dev/full", O_WRONLY);

	(void)state;
	assert_int_equal(op_file_write_at(fd, "x", 1, 0), -ENOSPC);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(test_what_is_written_is_read),
		folder_test(test_less_than_was_asked_for_is_none),
		folder_test(test_a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
