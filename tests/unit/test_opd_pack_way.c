// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts of another build of an image make way, packed or not.
 */
#include "tests/unit/opd_pack_fixture.h"

#include "tests/unit/kill_at.h"

static void another_build_comes_out_of_the_pack(void **state)
{
	struct fixture *f = new_replay();
	struct op_ledger l;
	char dir[8192];

	(void)state;
	take_at(f, "/bin/sh", 1, 0x10, 3);
	take_at(f, "/bin/ls", 2, 0x10, 5);
	pack(f);
	take_at(f, "/bin/sh", 9, 0x20, 2);
	l = ledger_of(f);
	assert_int_equal(l.taken, 10);
	assert_int_equal(l.stored, 7);
	assert_int_equal(op_ledger_lost_by(&l, "lost_set_aside"), 3);
	assert_int_equal(at(f, SH, 0x10), 0);
	assert_int_equal(at(f, SH, 0x20), 2);
	assert_int_equal(packed(f), 5);
	snprintf(dir, sizeof(dir), "%s/aside", f->opd.session.samples);
	assert_int_equal(sum_of(dir, SH, 0x10).loose, 3);
	pack(f);
	assert_int_equal(packed(f), 7);
	assert_int_equal(ledger_of(f).stored, 7);
	/* And the last one. */
	take_at(f, "/bin/sh", 10, 0x20, 1);
	take_at(f, "/bin/ls", 11, 0x20, 1);
	assert_false(exists(f, "current/packed"));
	assert_int_equal(ledger_of(f).stored, 2);
	goes_on(f, 2);
	free_fixture(f);
}

static void another_build_comes_from_under_a_packer(void **state)
{
	struct fixture *f = new_replay();
	struct op_ledger l;

	(void)state;
	f->opd.options.pack_at = 1;
	take_many(f, 1);
	take_at(f, "/bin/sh", 1, 0x10, 3);
	pack(f);
	take_many(f, 1);
	take_at(f, "/bin/sh", 1, 0x10, 4);
	opd_pack_check(&f->opd);
	assert_int_not_equal(f->opd.pack.child, 0);
	take_at(f, "/bin/sh", 9, 0x20, 2);
	assert_int_equal(f->opd.pack.child, 0);
	l = ledger_of(f);
	assert_int_equal(l.stored, 2 * MANY + 2);
	assert_int_equal(op_ledger_lost_by(&l, "lost_set_aside"), 7);
	assert_int_equal(at(f, SH, 0x10), 0);
	f->opd.options.pack_at = 0;
	goes_on(f, 2 * MANY + 2);
	free_fixture(f);
}

/* All samples, those that were set aside, too. */
static uint64_t everywhere(struct fixture *f)
{
	uint64_t sum = total(f);
	char name[32], dir[8192];

	for (int i = 1;; i++) {
		if (i == 1)
			snprintf(name, sizeof(name), "aside");
		else
			snprintf(name, sizeof(name), "aside-%d", i);
		if (!exists(f, name))
			return sum;
		snprintf(dir, sizeof(dir), "%s/%s", f->opd.session.samples,
			 name);
		sum += sum_of(dir, NULL, 0).loose;
	}
}

/*
 * What has been counted of one build makes way for another one, and the daemon
 * is killed after its system call @nr. Returns whether it came so far.
 */
static bool die_on_the_way(unsigned long nr)
{
	struct fixture *f = new_replay();
	unsigned long done;
	int gate[2];
	pid_t pid;
	char c;

	take_at(f, "/bin/sh", 1, 0x10, 3);
	take(f, "/bin/ls", 2);
	pack(f);
	assert_int_equal(pipe(gate), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], &c, 1) == 0)
			take_at(f, "/bin/sh", 2, 0x20, 1);
		_exit(0);
	}
	close(gate[0]);
	done = kill_at(pid, gate[1], nr);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	restart_daemon(f);
	ledger_of(f);
	assert_in_range(everywhere(f), 5, 6);
	free_fixture(f);
	return done == nr;
}

static void a_daemon_may_die_while_it_makes_way(void **state)
{
	unsigned long nr = 0;

	(void)state;
	while (die_on_the_way(nr))
		nr++;
	/* It opens, writes and renames files on its way. */
	assert_true(nr > 20);
}

static bool any(const struct pack_entry *entry, const void *ctx)
{
	(void)entry;
	(void)ctx;
	return true;
}

static bool is_sh(const struct pack_entry *entry, const void *ctx)
{
	(void)ctx;
	return !strcmp(entry->name, SH);
}

/* One that has a generation below which there is none. */
static void write_first_pack(const char *from, const char *path)
{
	struct pack_writer *writer;
	struct pack *pack;

	assert_int_equal(pack_open(&pack, from), 0);
	assert_int_equal(pack_writer_new(&writer, path, 1), 0);
	for (size_t i = 0; i < pack_nr(pack); i++)
		assert_int_equal(
			pack_writer_copy(writer, pack, pack_entry(pack, i)), 0);
	assert_int_equal(pack_writer_finish(writer), 0);
	pack_close(pack);
}

static void entries_are_taken_out(void **state)
{
	struct fixture *f = new_replay();
	const char *dir = f->opd.session.current;
	struct op_diag diag = { "" };
	struct pack *pack_of;
	char path[8192];

	(void)state;
	snprintf(path, sizeof(path), "%s/packed", dir);
	for (int i = 0; i < 3; i++) {
		take(f, "/bin/sh", 3);
		take(f, "/bin/ls", 2);
		pack(f);
		if (i == 2)
			write_first_pack(path, path);
		assert_int_equal(pack_open(&pack_of, path), 0);
		assert_int_equal(opd_packer_take_out(&f->opd, dir, pack_of,
						     i ? is_sh : any, NULL,
						     &diag),
				 0);
		pack_close(pack_of);
		assert_int_equal(total(f), 5 * (i + 1));
		assert_int_equal(packed(f), i == 1 ? 4 : 0);
		restart_daemon(f);
		ledger_of(f);
	}
	goes_on(f, 15);
	free_fixture(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_build_comes_out_of_the_pack),
		cmocka_unit_test(another_build_comes_from_under_a_packer),
		cmocka_unit_test(a_daemon_may_die_while_it_makes_way),
		cmocka_unit_test(entries_are_taken_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
