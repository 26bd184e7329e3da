// SPDX-License-Identifier: GPL-2.0-or-later
/* The daemon's log: its lines, and how many of them. */

#include <limits.h>

#include "libop/base/op_log.h"
#include "tests/unit/opd_fixture.h"

/* A log in a folder of its own. */
static struct fixture *new_log(struct op_log *log, char *path, size_t size)
{
	struct fixture *f = new_fixture();
	struct op_diag diag = { "" };

	snprintf(path, size, "%s/log", f->dir);
	op_log_init(log);
	assert_int_equal(op_log_open(log, path, &diag), 0);
	return f;
}

/* Its lines; the last is left in @line. */
static unsigned int count_lines(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "r");
	unsigned int nr = 0;

	assert_non_null(file);
	*line = '\0';
	while (fgets(line, (int)size, file)) {
		assert_int_equal(line[strlen(line) - 1], '\n');
		nr++;
	}
	fclose(file);
	return nr;
}

TEST(test_lines)
{
	char path[128], line[4096], text[3000];
	struct op_log log;
	struct fixture *f = new_log(&log, path, sizeof(path));

	op_log_plain(&log, "%s %d", "one", 1);
	assert_int_equal(count_lines(path, line, sizeof(line)), 1);
	assert_string_equal(line, "one 1\n");
	op_log_plain(&log, "a\tb\nc\x1f d~\x7f\x80");
	count_lines(path, line, sizeof(line));
	assert_string_equal(line, "a?b?c? d~?\x80\n");
	op_log(&log, "two\n");
	assert_int_equal(count_lines(path, line, sizeof(line)), 3);
	assert_int_equal(strspn(line, "0123456789-: "), 20);
	assert_string_equal(line + 20, "two?\n");
	/* 2048 bytes with the time and the newline. */
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	op_log_plain(&log, "%s", text);
	assert_int_equal(count_lines(path, line, sizeof(line)), 4);
	assert_int_equal(strlen(line), 2047);
	assert_int_equal(strspn(line, "x"), 2046);
	op_log(&log, "%s", text);
	count_lines(path, line, sizeof(line));
	assert_int_equal(strlen(line), 2047);
	op_log_plain(&log, "%.2046s", text);
	count_lines(path, line, sizeof(line));
	assert_int_equal(strlen(line), 2047);
	op_log_plain(&log, "%.2045s", text);
	count_lines(path, line, sizeof(line));
	assert_int_equal(strlen(line), 2046);
	op_log_close(&log);
	free_fixture(f);
}

/* What says nothing new is left out, and how much of it is told. */
TEST(test_budget)
{
	char path[128], line[4096];
	struct op_log log;
	struct fixture *f = new_log(&log, path, sizeof(path));

	op_log_refill(&log);
	assert_int_equal(count_lines(path, line, sizeof(line)), 0);
	for (unsigned int i = 0; i < OP_LOG_BUDGET; i++)
		op_log(&log, "%u", i);
	assert_int_equal(count_lines(path, line, sizeof(line)), OP_LOG_BUDGET);
	for (unsigned int i = 0; i < 7; i++)
		op_log(&log, "%u", i);
	assert_int_equal(count_lines(path, line, sizeof(line)), OP_LOG_BUDGET);
	op_log_plain(&log, "plain");
	assert_int_equal(count_lines(path, line, sizeof(line)),
			 OP_LOG_BUDGET + 1);
	op_log_refill(&log);
	assert_int_equal(count_lines(path, line, sizeof(line)),
			 OP_LOG_BUDGET + 2);
	assert_string_equal(line + 20, "7 lines were left out here\n");
	op_log_refill(&log);
	for (unsigned int i = 0; i < OP_LOG_BUDGET + 1; i++)
		op_log(&log, "%u", i);
	assert_int_equal(count_lines(path, line, sizeof(line)),
			 2 * OP_LOG_BUDGET + 2);
	op_log_close(&log);
	free_fixture(f);
}

/* A full log becomes the old one, once each time. */
TEST(test_full)
{
	char path[128], old[160], line[4096];
	struct op_log log;
	struct fixture *f = new_log(&log, path, sizeof(path));
	struct stat st;

	snprintf(old, sizeof(old), "%s.old", path);
	assert_int_equal(truncate(path, OP_LOG_MAX), 0);
	op_log_refill(&log);
	assert_int_equal(stat(old, &st), -1);
	for (unsigned int i = 1; i <= 2; i++) {
		assert_int_equal(truncate(path, OP_LOG_MAX), 0);
		op_log_plain(&log, "the last of %u", i);
		op_log_refill(&log);
		op_log_plain(&log, "the first behind %u", i);
		assert_int_equal(stat(old, &st), 0);
		assert_int_equal(st.st_size, OP_LOG_MAX + 14);
		assert_int_equal(count_lines(path, line, sizeof(line)), 1);
		snprintf(line + 100, 100, "the first behind %u\n", i);
		assert_string_equal(line, line + 100);
	}
	/* Where none can be made the full one goes on. */
	assert_int_equal(truncate(path, OP_LOG_MAX), 0);
	op_log_plain(&log, "x");
	assert_int_equal(unlink(old), 0);
	assert_int_equal(mkdir(old, 0755), 0);
	op_log_refill(&log);
	op_log_plain(&log, "y");
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, OP_LOG_MAX + 4);
	assert_int_equal(rmdir(old), 0);
	op_log_close(&log);
	free_fixture(f);
}

/* However many lines there are until the next refill, both logs are bounded. */
TEST(test_small)
{
	char path[128], old[160];
	struct op_log log;
	struct fixture *f = new_log(&log, path, sizeof(path));
	struct stat st;

	snprintf(old, sizeof(old), "%s.old", path);
	log.max = 5000;
	for (unsigned int i = 0; i < 1000; i++) {
		op_log(&log, "line %u", i);
		assert_int_equal(stat(path, &st), 0);
		assert_true(st.st_size <= 5000 + 40);
		assert_true(stat(old, &st) || st.st_size <= 5000 + 40);
	}
	assert_int_equal(stat(old, &st), 0);
	op_log_close(&log);
	free_fixture(f);
}

/* A log that was moved away is opened again; if that fails it goes on. */
TEST(test_reopened)
{
	char path[128], moved[160], line[4096];
	struct op_diag diag = { "" };
	struct op_log log;
	struct fixture *f = new_log(&log, path, sizeof(path));
	int fd;

	op_log_plain(&log, "first");
	snprintf(moved, sizeof(moved), "%s.old", path);
	assert_int_equal(rename(path, moved), 0);
	assert_int_equal(op_log_open(&log, "/none/log", &diag), -ENOENT);
	assert_string_equal(diag.text, "/none/log: No such file or directory");
	op_log_plain(&log, "second");
	assert_int_equal(count_lines(moved, line, sizeof(line)), 2);
	fd = log.fd;
	assert_int_equal(op_log_open(&log, path, &diag), 0);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_true(fcntl(log.fd, F_GETFD) & FD_CLOEXEC);
	op_log_plain(&log, "third");
	assert_int_equal(count_lines(path, line, sizeof(line)), 1);
	assert_int_equal(count_lines(moved, line, sizeof(line)), 2);
	op_log_close(&log);
	op_log_close(&log);
	op_log_plain(&log, "nowhere");
	op_log(&log, "nowhere");
	assert_int_equal(count_lines(path, line, sizeof(line)), 1);
	free_fixture(f);
}
