// SPDX-License-Identifier: GPL-2.0-or-later
/* How much of a disk is kept for the ledger when little of it is free. */

#include "tests/unit/rows.h"
#include "tests/unit/small_disk.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/store/opd_reserve.h"
#include "libop/op_session.h"

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

static void reserve_is_what_is_free(void **state)
{
	static const struct {
		int free;
		long kept;
	} rows[] = {
		{ 6, 4 }, { 4, 4 }, { 3, 2 }, { 2, 2 }, { 1, 1 }, { 0, 0 }
	};
	struct op_session session = { .samples = "." };
	char dir[] = "/tmp/test_opd_reserve.XXXXXX";
	bool mounted;

	(void)state;
	assert_non_null(mkdtemp(dir));
	mounted = mount_small_disk(dir);
	if (!mounted)
		rmdir(dir);
	if (!mounted || chdir(dir))
		skip();
	for (size_t i = 0; i < NR(rows); i++) {
		leave_free(rows[i].free);
		opd_reserve_make(&session);
		assert_int_equal(pages_of_reserve(), rows[i].kept);
		assert_int_equal(opd_reserve_use(&session), rows[i].kept != 0);
		assert_int_equal(pages_of_reserve(), 0);
	}
	assert_false(opd_reserve_use(&session));
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(umount(dir), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reserve_is_what_is_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
