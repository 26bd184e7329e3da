// SPDX-License-Identifier: GPL-2.0-or-later
/* How much of a disk is kept for the ledger when little of it is free. */

#include "tests/unit/rows.h"
#include "tests/unit/small_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/store/opd_reserve.h"
#include "libop/session/op_ledger.h"
#include "libop/session/op_session.h"

#define PAGE 4096

/* Fill the disk but for @pages, which are free again after it was full. */
static void leave_free(int pages)
{
	static const char page[PAGE];
	int fd = open("filler", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	off_t len = 0;

	assert_true(fd >= 0);
	while (write(fd, page, PAGE) == PAGE)
		len += PAGE;
	assert_int_equal(ftruncate(fd, len - pages * PAGE), 0);
	close(fd);
}

static long pages_of_reserve(void)
{
	struct stat st;

	return stat(".reserve", &st) ? 0 : st.st_blocks * 512 / PAGE;
}

static const struct op_session session = { .samples = "." };

/* Go to a small disk of its own. False where that cannot be. */
static bool enter_small_disk(char *dir)
{
	bool mounted;

	assert_non_null(mkdtemp(dir));
	mounted = mount_small_disk(dir);
	if (!mounted)
		rmdir(dir);
	return mounted && !chdir(dir);
}

static void leave_small_disk(const char *dir)
{
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(umount(dir), 0);
	assert_int_equal(rmdir(dir), 0);
}

TEST(reserve_is_what_is_free)
{
	static const struct {
		int free;
		long kept;
	} rows[] = {
		{ 6, 4 }, { 4, 4 }, { 3, 2 }, { 2, 2 }, { 1, 1 }, { 0, 0 }
	};
	char dir[] = "/tmp/test_opd_reserve.XXXXXX";

	if (!enter_small_disk(dir))
		skip();
	for (size_t i = 0; i < NR(rows); i++) {
		leave_free(rows[i].free);
		opd_reserve_make(&session);
		assert_int_equal(pages_of_reserve(), rows[i].kept);
		opd_reserve_free(&session);
		assert_int_equal(pages_of_reserve(), 0);
	}
	leave_small_disk(dir);
}

static ino_t file_number(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : st.st_ino;
}

static void check_ledger(uint64_t taken)
{
	struct op_ledger ledger;

	assert_int_equal(op_ledger_read(&ledger, "ledger", NULL), 0);
	assert_int_equal(ledger.taken, taken);
}

/* More text than a page holds. */
static void lose_by_all_causes(struct op_ledger *ledger)
{
	char name[OP_LEDGER_CAUSE_MAX];

	for (int i = 0; i < OP_LEDGER_MAX_CAUSES; i++) {
		memset(name, 'x', sizeof(name) - 1);
		snprintf(name + sizeof(name) - 3, 3, "%02d", i);
		assert_int_equal(op_ledger_lose(ledger, name, 1), 0);
	}
}

/* The disk is full all the time, and no block of the reserve becomes free. */
TEST(ledger_and_reserve_change_places)
{
	char dir[] = "/tmp/test_opd_reserve.XXXXXX";
	struct op_ledger ledger = { .source = "test", .taken = 1 };

	if (!enter_small_disk(dir))
		skip();
	assert_int_equal(op_ledger_write(&ledger, "ledger", NULL, NULL), 0);
	leave_free(1);
	opd_reserve_make(&session);
	assert_int_equal(pages_of_reserve(), 1);
	while (ledger.taken++ < 4) {
		ino_t reserve = file_number(".reserve");
		ino_t old = file_number("ledger");

		assert_int_equal(op_ledger_write(&ledger, "ledger", NULL, NULL),
				 -ENOSPC);
		assert_int_equal(opd_reserve_write(&session, &ledger, "ledger"),
				 0);
		assert_int_equal(file_number("ledger"), reserve);
		assert_int_equal(file_number(".reserve"), old);
		assert_int_equal(pages_of_reserve(), 1);
		check_ledger(ledger.taken);
	}
	/* What does not fit changes nothing. */
	lose_by_all_causes(&ledger);
	assert_int_equal(opd_reserve_write(&session, &ledger, "ledger"),
			 -ENOSPC);
	assert_int_equal(pages_of_reserve(), 1);
	check_ledger(4);
	leave_small_disk(dir);
}

/* Without a ledger the reserve becomes the first, and there is a new one. */
TEST(reserve_becomes_the_first_ledger)
{
	char dir[] = "/tmp/test_opd_reserve.XXXXXX";
	const struct op_ledger ledger = { .source = "test", .taken = 7 };
	ino_t reserve;

	if (!enter_small_disk(dir))
		skip();
	assert_int_equal(opd_reserve_write(&session, &ledger, "ledger"),
			 -ENOENT);
	opd_reserve_free(&session);
	leave_free(4);
	opd_reserve_make(&session);
	reserve = file_number(".reserve");
	assert_int_equal(opd_reserve_write(&session, &ledger, "ledger"), 0);
	assert_int_equal(file_number("ledger"), reserve);
	assert_int_equal(pages_of_reserve(), 2);
	check_ledger(7);
	/* A folder is not exchanged. */
	assert_int_equal(mkdir("folder", 0700), 0);
	assert_int_equal(opd_reserve_write(&session, &ledger, "folder"),
			 -EISDIR);
	leave_small_disk(dir);
}
