// SPDX-License-Identifier: GPL-2.0-or-later
/* What /proc tells of processes, and when it is asked. */

#include <inttypes.h>

#include "tests/unit/daemon/source/perf_rig.h"

#define PROG_MAPS                                                              \
	"00400000-00401000 r--p 00000000 08:01 50 /bin/prog\n"                 \
	"00401000-00403000 r-xp 00001000 08:01 50 /bin/prog\n"                 \
	"00403000-00404000 rw-p 00003000 08:01 50 /bin/prog\n"                 \
	"00500000-00510000 rwxp 00000000 00:00 0 \n"                           \
	"00600000-00610000 rwxp 00000000 00:00 0 [heap]\n"                     \
	"7f0000000000-7f0000001000 r-xp 00026000 08:01 51 "                    \
	"                  /lib/libc.so.6\n"                                   \
	"7fff00000000-7fff00001000 r-xp 00000000 00:00 0 [vdso]\n"             \
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n"

static void expect_prog(struct rig *rig)
{
	do_sample(rig, 7, 0x401234);
	do_sample(rig, 7, 0x500010);
	do_sample(rig, 7, 0x600010);
	do_sample(rig, 7, 0x7f0000000001);
	do_sample(rig, 7, 0x7fff00000002);
	do_sample(rig, 7, 0xffffffffff600003);
	do_sample(rig, 7, 0x400000);
	do_sample(rig, 7, 0x403000);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0x1234);
	expect_anon(rig, 7, "anon", 0x500000, 0x510000, 0x10);
	expect_anon(rig, 7, "[heap]", 0x600000, 0x610000, 0x10);
	expect(rig, 7, "/bin/prog", "/lib/libc.so.6", 0x26001);
	expect(rig, 7, "/bin/prog", "[vdso]", 2);
	expect_anon(rig, 7, "[vsyscall]", 0xffffffffff600000,
		    0xffffffffff601000, 3);
	expect_none(rig);
	/* Code may have been moved to the last two: both are looked for. */
	assert_int_equal(stat_of(rig, OPD_PERF_NO_MAPPING), 2);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 3);
}

/* It ran before anyone looked: its first sample is reason to look. */
TEST(older_processes_are_read)
{
	struct rig *rig = new_rig();
	struct op_cookie_query q;

	proc_add(rig, 7, "/bin/prog", PROG_MAPS);
	expect_prog(rig);
	query(rig, opd_maps_find(&rig->table.maps, 7)->app, &q);
	assert_int_equal(q.ino, 50);
	assert_int_equal(q.dev, 0x801);
	free_rig(rig);
}

TEST(all_processes_are_read)
{
	struct rig *rig = new_rig();

	proc_add(rig, 7, "/bin/prog", PROG_MAPS);
	proc_add(rig, 2, NULL, "");
	proc_add(rig, 2147483647, "/bin/last", "1000-2000 r-xp 0 0:0 1 /x\n");
	proc_add(rig, 2147483648u, "/bin/not", "1000-2000 r-xp 0 0:0 1 /x\n");
	proc_add(rig, 0, "/bin/not", "1000-2000 r-xp 0 0:0 1 /x\n");
	proc_set(rig, 0, "../uptime", "1 2\n");
	rig->table.now = rig->now;
	assert_int_equal(opd_perf_proc_read_all(&rig->table), 0);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 3);
	assert_non_null(opd_maps_find(&rig->table.maps, 2));
	assert_non_null(opd_maps_find(&rig->table.maps, 2147483647));
	assert_null(opd_maps_find(&rig->table.maps, 2147483648u));
	assert_null(opd_maps_find(&rig->table.maps, 0));
	rig->table.stats[OPD_PERF_PROC_READ] = 1;
	expect_prog(rig);
	rig->table.proc = "/nonexistent";
	assert_int_equal(opd_perf_proc_read_all(&rig->table), -ENOENT);
	free_rig(rig);
}

TEST(parents_are_read)
{
	struct rig *rig = new_rig();

	proc_add(rig, 7, "/bin/prog", PROG_MAPS);
	do_fork(rig, 7, 8);
	do_sample(rig, 8, 0x401234);
	expect(rig, 8, "/bin/prog", "/bin/prog", 0x1234);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 1);
	free_rig(rig);
}

/* A mapping is told of a process that nothing else was told of. */
TEST(owners_of_mappings_are_read)
{
	struct rig *rig = new_rig();

	proc_add(rig, 7, "/bin/prog", PROG_MAPS);
	do_map(rig, 7, 0x20000, 0x1000, 0, "/lib/new.so");
	do_sample(rig, 7, 0x401234);
	do_sample(rig, 7, 0x20000);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0x1234);
	expect(rig, 7, "/bin/prog", "/lib/new.so", 0);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 1);
	free_rig(rig);
}

TEST(threads_are_counted)
{
	struct rig *rig = new_rig();

	proc_add(rig, 7, "/bin/prog", PROG_MAPS);
	proc_add_thread(rig, 7, 8);
	proc_add_thread(rig, 7, 9);
	do_sample(rig, 7, 0x401234);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0x1234);
	assert_int_equal(opd_maps_find(&rig->table.maps, 7)->nr_threads, 3);
	for (int i = 0; i < 3; i++)
		do_exit(rig, 7);
	assert_int_equal(rig->table.maps.nr_dead, 1);
	free_rig(rig);
}

/* /proc shows the thread whose birth is reason to look there. */
TEST(a_new_thread_is_counted_once)
{
	struct rig *rig = new_rig();

	proc_add(rig, 7, "/bin/prog", PROG_MAPS);
	proc_add_thread(rig, 7, 8);
	do_fork(rig, 7, 7);
	assert_int_equal(opd_maps_find(&rig->table.maps, 7)->nr_threads, 2);
	do_fork(rig, 7, 7);
	assert_int_equal(opd_maps_find(&rig->table.maps, 7)->nr_threads, 3);
	free_rig(rig);
}

static uint64_t time_of_look;

static uint64_t read_time_of_look(void)
{
	return time_of_look;
}

/* /proc is read later than the record was written that is the reason to. What
 * happened to threads in between is in what was read. */
TEST(threads_before_a_look_are_not_counted)
{
	struct rig *rig = new_rig();
	const struct opd_process *process;

	rig->table.clock = read_time_of_look;
	time_of_look = rig->now + SECOND / 10;
	proc_add(rig, 7, "/bin/prog", PROG_MAPS);
	proc_add_thread(rig, 7, 8);
	do_sample(rig, 7, 0x401234);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0x1234);
	process = opd_maps_find(&rig->table.maps, 7);
	do_fork(rig, 7, 7);
	assert_int_equal(process->nr_threads, 2);
	do_exit(rig, 7);
	do_exit(rig, 7);
	assert_int_equal(process->nr_threads, 2);
	rig->now = time_of_look - 1000;
	do_fork(rig, 7, 7);
	do_exit(rig, 7);
	assert_int_equal(process->nr_threads, 1);
	do_fork(rig, 7, 7);
	assert_int_equal(process->nr_threads, 2);
	/* An exec that was before the look has one thread, to which others are
	 * added from then on. */
	time_of_look = rig->now + SECOND;
	do_lose(rig, 1);
	do_sample(rig, 7, 0x401234);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0x1234);
	do_exec(rig, 7);
	assert_int_equal(process->nr_threads, 1);
	do_fork(rig, 7, 7);
	assert_int_equal(process->nr_threads, 2);
	do_exit(rig, 7);
	do_exit(rig, 7);
	assert_int_equal(process->nr_threads, 0);
	free_rig(rig);
}

/* As in recordings that have no times of side band. */
TEST(threads_without_times_are_counted)
{
	struct rig *rig = new_rig();
	struct opd_perf_rec rec;

	do_exec(rig, 7);
	rec = rec_of(rig, PERF_RECORD_FORK, 7);
	rec.task.parent = 7;
	rec.time = 0;
	opd_perf_handle_side(&rig->table, &rec);
	assert_int_equal(opd_maps_find(&rig->table.maps, 7)->nr_threads, 2);
	rec.type = PERF_RECORD_EXIT;
	opd_perf_handle_side(&rig->table, &rec);
	opd_perf_handle_side(&rig->table, &rec);
	assert_int_equal(rig->table.maps.nr_dead, 1);
	free_rig(rig);
}

static void look_for_all(struct rig *rig)
{
	for (unsigned int i = 0; i < OPD_PERF_PROC_PARTS; i++)
		opd_perf_proc_find_ended(&rig->table, i);
}

/* All of these have one place in the table. */
#define NR_LOST_ENDS (OPD_MAPS_DEAD + 10)

static uint32_t lost_end(unsigned int i)
{
	return 7 + i * OPD_MAPS_BUCKETS;
}

/* The records of their ends were lost. */
TEST(what_is_missing_has_ended)
{
	struct rig *rig = new_rig();
	struct opd_maps *maps = &rig->table.maps;

	for (unsigned int i = 0; i < NR_LOST_ENDS; i++)
		do_exec(rig, lost_end(i));
	do_exec(rig, 2);
	proc_add(rig, 2, NULL, "");
	/* Nothing of others can be seen. */
	for (int i = 0; i < 3; i++)
		look_for_all(rig);
	assert_int_equal(maps->nr_dead, 0);
	proc_add(rig, 1, NULL, "");
	look_for_all(rig);
	assert_int_equal(maps->nr_dead, 0);
	/* The record of its fork came ahead of it in /proc. */
	proc_add(rig, 7, NULL, "");
	look_for_all(rig);
	assert_int_equal(maps->nr_dead, NR_LOST_ENDS - 1);
	proc_remove(rig, 7);
	look_for_all(rig);
	assert_int_equal(maps->nr_dead, NR_LOST_ENDS - 1);
	look_for_all(rig);
	assert_int_equal(maps->nr_dead, NR_LOST_ENDS);
	look_for_all(rig);
	assert_int_equal(maps->nr_dead, NR_LOST_ENDS);
	assert_int_equal(opd_maps_find(maps, 7)->nr_threads, 0);
	assert_int_equal(opd_maps_find(maps, 2)->nr_threads, 1);
	assert_null(opd_maps_find(maps, lost_end(NR_LOST_ENDS - 1)));
	free_rig(rig);
}

TEST(lost_records_make_it_be_read_again)
{
	struct rig *rig = new_rig();

	do_exec(rig, 7);
	do_map(rig, 7, 0x400000, 0x10000, 0, "/bin/old");
	do_exec(rig, 8);
	do_map(rig, 8, 0x400000, 0x10000, 0, "/bin/gone");
	do_sample(rig, 7, 0x401234);
	expect(rig, 7, "/bin/old", "/bin/old", 0x1234);
	proc_add(rig, 7, "/bin/prog", PROG_MAPS);
	do_sample(rig, 7, 0x401234);
	expect(rig, 7, "/bin/old", "/bin/old", 0x1234);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 0);
	do_lose(rig, 3);
	assert_int_equal(stat_of(rig, OPD_PERF_SIDE_LOST), 3);
	expect_prog(rig);
	/* Of who is gone the old must do; asking twice is of no use. */
	do_sample(rig, 8, 0x400001);
	do_sample(rig, 8, 0x400002);
	expect(rig, 8, "/bin/gone", "/bin/gone", 1);
	expect(rig, 8, "/bin/gone", "/bin/gone", 2);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 4);
	/* What is told from now on is true. */
	do_map(rig, 7, 0x401000, 0x1000, 0, "/lib/new.so");
	do_sample(rig, 7, 0x401234);
	expect(rig, 7, "/bin/prog", "/lib/new.so", 0x234);
	do_lose(rig, 1);
	do_sample(rig, 7, 0x401234);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0x1234);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 5);
	assert_int_equal(stat_of(rig, OPD_PERF_SIDE_LOST), 4);
	free_rig(rig);
}

/* What began after the loss is known from its beginning. */
TEST(after_a_loss_execs_are_whole)
{
	struct rig *rig = new_rig();

	do_exec(rig, 6);
	do_map(rig, 6, 0x10000, 0x1000, 0, "/bin/sh");
	do_lose(rig, 1);
	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x1000, 0, "/bin/prog");
	do_sample(rig, 7, 0x10000);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 0);
	/* But a child of one that may be incomplete may be, too. */
	do_fork(rig, 6, 8);
	do_sample(rig, 8, 0x10000);
	expect(rig, 8, "/bin/sh", "/bin/sh", 0);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 1);
	free_rig(rig);
}

static uint64_t read_slow_clock(void)
{
	return time_of_look += SECOND;
}

/* Code was moved, which no record tells: no sample is lost, even if the daemon
 * waits for a CPU in each look. */
TEST(moved_code_is_found_immediately)
{
	struct rig *rig = new_rig();

	rig->now = time_of_look = 100 * SECOND;
	rig->table.clock = read_slow_clock;
	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x1000, 0, "/bin/prog");
	do_sample(rig, 7, 0x10234);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0x234);
	proc_add(rig, 7, "/bin/prog", "");
	for (uint64_t at = 0x20000; at < 0x28000; at += 0x1000) {
		char maps[128];

		snprintf(maps, sizeof(maps),
			 "%" PRIx64 "-%" PRIx64 " r-xp 0 08:01 50 /bin/prog\n",
			 at, at + 0x1000);
		proc_set(rig, 7, "maps", maps);
		do_sample(rig, 7, at + 0x234);
		expect(rig, 7, "/bin/prog", "/bin/prog", 0x234);
	}
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 8);
	assert_int_equal(stat_of(rig, OPD_PERF_NO_MAPPING), 0);
	free_rig(rig);
}

/* An address that nobody mapped: /proc is asked ten times, and then once a
 * second at most. */
TEST(unmapped_addresses_do_not_cost_much)
{
	struct rig *rig = new_rig();

	rig->now = 100 * SECOND;
	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x1000, 0, "/bin/prog");
	for (int i = 0; i < 100; i++)
		do_sample(rig, 7, 0x401234);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 11);
	rig->table.stats[OPD_PERF_PROC_READ] = 0;
	rig->now += SECOND;
	for (int i = 0; i < 100; i++)
		do_sample(rig, 7, 0x401234);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 1);
	assert_int_equal(stat_of(rig, OPD_PERF_NO_MAPPING), 200);
	/* It moved a mapping, which no record tells. */
	proc_add(rig, 7, "/bin/prog", PROG_MAPS);
	rig->now += SECOND;
	do_sample(rig, 7, 0x401234);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0x1234);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 2);
	free_rig(rig);
}

static uint64_t cost_so_far;

static uint64_t read_high_cost(const struct opd_untrusted *untrusted)
{
	(void)untrusted;
	return cost_so_far += SECOND / 10;
}

/* Reading them costs a tenth of a second, so it is done less often. */
TEST(long_maps_are_read_less_often)
{
	struct rig *rig = new_rig();

	rig->now = 100 * SECOND;
	rig->table.cost = read_high_cost;
	proc_add(rig, 7, "/bin/prog", PROG_MAPS);
	do_sample(rig, 7, 0x401234);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0x1234);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 1);
	for (int i = 0; i < 100; i++)
		do_sample(rig, 7, 0x10000);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 5);
	rig->now += 3 * SECOND;
	for (int i = 0; i < 100; i++)
		do_sample(rig, 7, 0x10000);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 6);
	/* So are those of a child, which are the same. */
	do_fork(rig, 7, 8);
	proc_add(rig, 8, "/bin/prog", PROG_MAPS);
	do_sample(rig, 8, 0x10000);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 6);
	/* What side band was lost for is read at once. */
	do_lose(rig, 1);
	do_sample(rig, 7, 0x401234);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0x1234);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 7);
	free_rig(rig);
}

/* A process that is ending has no maps any more; what was, is kept. */
TEST(maps_of_the_dying_are_empty)
{
	struct rig *rig = new_rig();

	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x1000, 0, "/bin/prog");
	proc_add(rig, 7, NULL, "");
	do_lose(rig, 1);
	do_sample(rig, 7, 0x10000);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0);
	proc_set(rig, 7, "maps", "00400000-00401000 rw-p 0 08:01 50 /data\n");
	do_lose(rig, 1);
	do_sample(rig, 7, 0x10000);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 2);
	free_rig(rig);
}

/* One that was not waited for is in /proc still, but does not live. */
TEST(the_dead_do_not_live_again)
{
	struct rig *rig = new_rig();

	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x1000, 0, "/bin/prog");
	do_exit(rig, 7);
	proc_add(rig, 7, NULL, "");
	do_lose(rig, 1);
	do_sample(rig, 7, 0x10000);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0);
	assert_int_equal(opd_maps_find(&rig->table.maps, 7)->nr_threads, 0);
	proc_remove(rig, 7);
	for (uint32_t pid = 1000; pid < 1000 + OPD_MAPS_DEAD; pid++) {
		do_exec(rig, pid);
		do_exit(rig, pid);
	}
	assert_null(opd_maps_find(&rig->table.maps, 7));
	free_rig(rig);
}

TEST(names_with_newlines)
{
	struct rig *rig = new_rig();

	proc_add(rig, 7, "/tmp/a\nb",
		 "1000-2000 r-xp 0 08:01 5 /tmp/a\\012b\n"
		 "3000-4000 r-xp 0 08:01 6 /tmp/\\012\\012 \\01\\0123\\\n"
		 "5000-6000 r-xp 0 08:01 7 /tmp/with  spaces (deleted)");
	do_sample(rig, 7, 0x1001);
	do_sample(rig, 7, 0x3002);
	do_sample(rig, 7, 0x5003);
	expect(rig, 7, "/tmp/a\nb", "/tmp/a\nb", 1);
	expect(rig, 7, "/tmp/a\nb", "/tmp/\n\n \\01\n3\\", 2);
	expect(rig, 7, "/tmp/a\nb", "/tmp/with  spaces", 3);
	free_rig(rig);
}

/* /proc names the files of a process in a root of its own from outside. */
TEST(names_in_a_root_of_its_own)
{
	struct rig *rig = new_rig();
	char path[256];

	proc_add(rig, 7, "/srv/root/bin/prog",
		 "1000-2000 r-xp 0 08:01 5 /srv/root/bin/prog\n"
		 "3000-4000 r-xp 0 08:01 6 /srv/root/lib/x.so (deleted)\n"
		 "5000-6000 r-xp 0 08:01 7 /srv/rooted/lib/y.so\n"
		 "7000-8000 r-xp 0 00:00 0 [vdso]\n");
	snprintf(path, sizeof(path), "%s/7/root", rig->proc);
	assert_int_equal(symlink("/srv/root", path), 0);
	do_sample(rig, 7, 0x1001);
	do_sample(rig, 7, 0x3002);
	do_sample(rig, 7, 0x5003);
	do_sample(rig, 7, 0x7004);
	expect(rig, 7, "/bin/prog", "/bin/prog", 1);
	expect(rig, 7, "/bin/prog", "/lib/x.so", 2);
	expect(rig, 7, "/bin/prog", "/srv/rooted/lib/y.so", 3);
	expect(rig, 7, "/bin/prog", "[vdso]", 4);
	/* What the kernel's records tell of it is the same image. */
	do_exec(rig, 7);
	do_map(rig, 7, 0x1000, 0x1000, 0, "/bin/prog");
	do_sample(rig, 7, 0x1005);
	expect(rig, 7, "/bin/prog", "/bin/prog", 5);
	free_rig(rig);
}

TEST(lines_that_make_no_sense)
{
	static const char garbage[] =
		"\n"
		"garbage\n"
		"100-200\n"
		"200-100 r-xp 00000000 08:01 5 /backwards\n"
		"300-300 r-xp 00000000 08:01 5 /empty\n"
		"x00-400 r-xp 00000000 08:01 5 /no-number\n"
		"400-500 r-xp 00000000 08:01\n"
		"500-600 r-xp zzz 08:01 5 /no-offset\n"
		"600-700 r-xp 00000000 0801 5 /no-device\n"
		"700-800 r-xp 00000000 08:01 /no-inode\n"
		"800-900 r---p 00000000 08:01 5 /long-permissions\n"
		"%n%n%s-%s\n"
		"900\0-a00 r-xp 00000000 08:01 5 /zero\n"
		"1000-2000 r-xp 00000000 08:01 5 /bin/prog\n"
		"b00-c00 r-xp";
	struct rig *rig = new_rig();
	char path[256];

	proc_add(rig, 7, "/bin/prog", "");
	snprintf(path, sizeof(path), "%s/7/maps", rig->proc);
	make_file(path, garbage, sizeof(garbage) - 1);
	for (uint64_t at = 0x100; at < 0x1000; at += 0x80)
		do_sample(rig, 7, at);
	expect_none(rig);
	do_sample(rig, 7, 0x1000);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0);
	assert_int_equal(rig->table.images.nr, 1);
	free_rig(rig);
}

/* Longer than any path; it is not cut, and so has no answer. */
TEST(long_lines)
{
	struct rig *rig = new_rig();
	struct op_cookie_query q = { .cookie = 1 };
	char *maps = malloc(20000);
	int len;

	assert_non_null(maps);
	len = sprintf(maps, "1000-2000 r-xp 0 08:01 5 /");
	memset(maps + len, 'x', 10000);
	strcpy(maps + len + 10000, "\n3000-4000 r-xp 0 08:01 6 /y\n");
	proc_add(rig, 7, "/y", maps);
	do_sample(rig, 7, 0x1000);
	do_sample(rig, 7, 0x3000);
	assert_int_equal(expect_of(rig, 7, "/y").cookie, 1);
	expect(rig, 7, "/y", "/y", 0);
	assert_int_equal(opd_perf_image_query(&rig->table.images, &q), -ENOENT);
	free(maps);
	free_rig(rig);
}
