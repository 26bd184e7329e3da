// SPDX-License-Identifier: GPL-2.0-or-later
/* How much of a room each user may take, and which user a process has. */

#include "tests/unit/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_shares.h"

#define SIZE 36000
#define FIRST 4000001 /* no user of this machine runs tests as that */

/* What @user gets, one by one. */
static uint64_t take_all(struct op_shares *shares, uint32_t user)
{
	uint64_t nr = 0;

	while (nr <= SIZE && op_shares_take(shares, user, 1))
		nr++;
	return nr;
}

TEST(a_user_gets_a_quarter)
{
	struct op_shares shares;

	op_shares_init(&shares, SIZE);
	assert_int_equal(take_all(&shares, FIRST), SIZE / 4);
	/* The next ones get half of what is left, which they leave more of. */
	assert_int_equal(take_all(&shares, FIRST + 1), SIZE / 6);
	assert_int_equal(take_all(&shares, OP_USER_UNKNOWN), SIZE / 9);
	/* Root and who profiles have what the room has. */
	assert_true(op_shares_take(&shares, 0, SIZE));
	assert_true(op_shares_take(&shares, geteuid(), SIZE));
	op_shares_release(&shares);
}

/* Somebody who has thousands of numbers gets no more than three quarters. */
TEST(many_users_leave_a_quarter)
{
	struct op_shares shares;
	uint64_t nr = 0;

	op_shares_init(&shares, SIZE);
	for (uint32_t user = FIRST; user < FIRST + 5000; user++)
		nr += take_all(&shares, user);
	assert_true(nr <= SIZE * 3 / 4);
	assert_int_equal(nr, shares.taken);
	op_shares_release(&shares);
}

TEST(what_is_given_back_is_free)
{
	struct op_shares shares;

	op_shares_init(&shares, SIZE);
	for (uint32_t user = FIRST; user < FIRST + 100; user++) {
		assert_false(op_shares_take(&shares, user, SIZE / 4 + SIZE));
		assert_true(op_shares_take(&shares, user, SIZE / 4));
		assert_false(op_shares_take(&shares, user, SIZE / 4));
		op_shares_give_back(&shares, user, SIZE / 4);
	}
	assert_int_equal(shares.taken, 0);
	/* One who has no share gives nothing back. */
	op_shares_give_back(&shares, 0, 1);
	assert_int_equal(shares.taken, 0);
	/* Amounts beyond all. */
	assert_false(op_shares_take(&shares, FIRST, UINT64_MAX));
	assert_true(op_shares_take(&shares, FIRST, SIZE / 8));
	assert_false(op_shares_take(&shares, FIRST, UINT64_MAX));
	op_shares_release(&shares);
}

TEST(the_real_user_counts)
{
	char proc[] = "/tmp/op-shares-XXXXXX", path[64];
	FILE *file;

	assert_non_null(mkdtemp(proc));
	snprintf(path, sizeof(path), "%s/77", proc);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/77/status", proc);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("Name:\tUid: 5\nUmask:\t0022\nUid:\t1000\t0\t0\t0\n", file);
	fclose(file);
	assert_int_equal(op_user_of_process(proc, 77), 1000);
	assert_int_equal(op_user_of_process(proc, 78), OP_USER_UNKNOWN);
	assert_int_equal(op_user_of_process(proc, 0), OP_USER_UNKNOWN);
	assert_int_equal(truncate(path, 5), 0);
	assert_int_equal(op_user_of_process(proc, 77), OP_USER_UNKNOWN);
	assert_int_equal(op_user_of_process("/proc", (uint32_t)getpid()),
			 getuid());
	unlink(path);
	snprintf(path, sizeof(path), "%s/77", proc);
	rmdir(path);
	rmdir(proc);
}
