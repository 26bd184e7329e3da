// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From records of perf_events to samples: which process, which program, which
 * image, which offset; and on to sample files.
 */

#include "tests/unit/perf_rig.h"

/* ---- images and offsets -----------------------------------------------------
 */

static void offsets_are_those_in_the_file(void **state)
{
	struct rig *rig = new_rig();

	(void)state;
	do_exec(rig, 7);
	do_map(rig, 7, 0x400000, 0x2000, 0x1000, "/bin/prog");
	do_map(rig, 7, 0x7f0000000000, 0x1000, 0x26000, "/lib/libc.so.6");
	do_sample(rig, 7, 0x400000);
	do_sample(rig, 7, 0x401fff);
	do_sample(rig, 7, 0x7f0000000123);
	do_sample(rig, 7, 0x402000);
	do_sample(rig, 7, 0x3fffff);
	do_sample(rig, 7, 0);
	do_sample(rig, 7, UINT64_MAX - 1);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0x1000);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0x2fff);
	expect(rig, 7, "/bin/prog", "/lib/libc.so.6", 0x26123);
	assert_int_equal(stat_of(rig, OPD_PERF_NO_MAPPING), 4);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 0);
	free_rig(rig);
}

static void data_is_no_code(void **state)
{
	struct rig *rig = new_rig();
	struct opd_perf_rec rec;

	(void)state;
	do_exec(rig, 7);
	rec = map_rec(rig, 7, 0x1000, 0x1000, 0, "/bin/data");
	rec.mmap.is_code = false;
	opd_perf_world_side(&rig->world, &rec);
	do_map(rig, 7, 0x4000, 0x1000, 0, "/bin/prog");
	do_sample(rig, 7, 0x1000);
	do_sample(rig, 7, 0x4000);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0);
	assert_int_equal(stat_of(rig, OPD_PERF_NO_MAPPING), 1);
	free_rig(rig);
}

/* One library goes, another comes where it was. */
static void an_address_belongs_to_the_one_of_that_time(void **state)
{
	struct rig *rig = new_rig();

	(void)state;
	do_exec(rig, 7);
	do_map(rig, 7, 0x400000, 0x1000, 0, "/bin/prog");
	do_map(rig, 7, 0x10000, 0x4000, 0, "/lib/a.so");
	do_sample(rig, 7, 0x11000);
	do_map(rig, 7, 0x10000, 0x2000, 0x1000, "/lib/b.so");
	do_sample(rig, 7, 0x11000);
	do_sample(rig, 7, 0x13000);
	do_map(rig, 7, 0x10000, 0x4000, 0, "/lib/a.so");
	do_sample(rig, 7, 0x11000);
	expect(rig, 7, "/bin/prog", "/lib/a.so", 0x1000);
	expect(rig, 7, "/bin/prog", "/lib/b.so", 0x2000);
	expect(rig, 7, "/bin/prog", "/lib/a.so", 0x3000);
	expect(rig, 7, "/bin/prog", "/lib/a.so", 0x1000);
	assert_int_equal(rig->world.images.nr, 3);
	free_rig(rig);
}

static void memory_without_a_file_has_a_name(void **state)
{
	struct rig *rig = new_rig();
	static char too_long[200];

	(void)state;
	memset(too_long, 'x', sizeof(too_long) - 1);
	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x1000, 0x10000, "//anon");
	do_map(rig, 7, 0x20000, 0x1000, 0, "[heap]");
	do_map(rig, 7, 0x30000, 0x1000, 0, "[stack]");
	do_map(rig, 7, 0x40000, 0x1000, 0, "");
	do_map(rig, 7, 0x50000, 0x1000, 0, "/");
	do_map(rig, 7, 0x60000, 0x1000, 0, too_long);
	do_map(rig, 7, 0x70000, 0x1000, 0, "//toolong");
	for (uint64_t at = 0x10000; at <= 0x70000; at += 0x10000)
		do_sample(rig, 7, at + 0x123);
	too_long[127] = '\0';
	expect_anon(rig, 7, "anon", 0x10000, 0x11000, 0x123);
	expect_anon(rig, 7, "[heap]", 0x20000, 0x21000, 0x123);
	expect_anon(rig, 7, "[stack]", 0x30000, 0x31000, 0x123);
	expect_anon(rig, 7, "anon", 0x40000, 0x41000, 0x123);
	expect_anon(rig, 7, "anon", 0x50000, 0x51000, 0x123);
	expect_anon(rig, 7, too_long, 0x60000, 0x61000, 0x123);
	expect_anon(rig, 7, "anon", 0x70000, 0x71000, 0x123);
	assert_int_equal(rig->world.images.nr, 0);
	free_rig(rig);
}

/* What is left of it starts elsewhere. */
static void anonymous_memory_is_cut(void **state)
{
	struct rig *rig = new_rig();

	(void)state;
	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x3000, 0, "//anon");
	do_sample(rig, 7, 0x12fff);
	do_map(rig, 7, 0x11000, 0x1000, 0, "/lib/x.so");
	do_sample(rig, 7, 0x12fff); /* but this: only its start differs */
	do_map(rig, 7, 0x12800, 0x800, 0, "/lib/y.so");
	do_sample(rig, 7, 0x12000); /* only its end */
	expect_anon(rig, 7, "anon", 0x10000, 0x13000, 0x2fff);
	expect_anon(rig, 7, "anon", 0x12000, 0x13000, 0xfff);
	expect_anon(rig, 7, "anon", 0x12000, 0x12800, 0);
	do_map(rig, 7, 0x12800, 0x800, 0, "//anon");
	do_sample(rig, 7, 0x10fff);
	do_sample(rig, 7, 0x11000);
	do_sample(rig, 7, 0x12fff);
	expect_anon(rig, 7, "anon", 0x10000, 0x11000, 0xfff);
	expect(rig, 7, "/lib/x.so", "/lib/x.so", 0);
	expect_anon(rig, 7, "anon", 0x12800, 0x13000, 0x7ff);
	free_rig(rig);
}

static void files_on_no_disk(void **state)
{
	static const struct {
		const char *name, *path;
		uint32_t flags;
	} maps[] = {
		{ "/bin/prog", "/bin/prog", 0 },
		{ "[vdso]", "[vdso]", OP_IMAGE_NO_FILE },
		{ "/memfd:jit (deleted)", "/memfd:jit",
		  OP_IMAGE_NO_FILE | OP_IMAGE_DELETED },
		{ "/SYSV00000000 (deleted)", "/SYSV00000000",
		  OP_IMAGE_NO_FILE | OP_IMAGE_DELETED },
		{ "/dev/zero (deleted)", "/dev/zero",
		  OP_IMAGE_NO_FILE | OP_IMAGE_DELETED },
		{ "/memfd:not", "/memfd:not", 0 },
		{ "/nonexistent/x.so (deleted)", "/nonexistent/x.so",
		  OP_IMAGE_DELETED },
		{ "/x (deleted) ", "/x (deleted) ", 0 },
		{ "/ (deleted)", "/", OP_IMAGE_DELETED },
	};
	const size_t nr = sizeof(maps) / sizeof(maps[0]);
	struct rig *rig = new_rig();
	struct op_cookie_query q;

	(void)state;
	do_exec(rig, 7);
	for (size_t i = 0; i < nr; i++) {
		do_map(rig, 7, i * 0x1000, 0x1000, 0, maps[i].name);
		do_sample(rig, 7, i * 0x1000 + 1);
	}
	for (size_t i = 0; i < nr; i++) {
		struct seen seen = expect_of(rig, 7, "/bin/prog");

		assert_int_equal(seen.pc, 1);
		query(rig, seen.cookie, &q);
		assert_string_equal(q.path, maps[i].path);
		assert_int_equal(q.flags, maps[i].flags);
	}
	free_rig(rig);
}

/* In the stream such an offset would be something else. */
static void no_offset_is_an_escape(void **state)
{
	struct rig *rig = new_rig();

	(void)state;
	do_exec(rig, 7);
	do_map(rig, 7, 0x1000, 0x1000, UINT64_MAX - 0xff, "/bin/prog");
	do_sample(rig, 7, 0x10fe);
	do_sample(rig, 7, 0x10ff);
	do_sample(rig, 7, 0x1100);
	expect(rig, 7, "/bin/prog", "/bin/prog", UINT64_MAX - 1);
	assert_int_equal(stat_of(rig, OPD_PERF_INVALID_EIP), 1);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0);
	free_rig(rig);
}

/* ---- processes --------------------------------------------------------------
 */

static void the_program_is_the_first_file_after_an_exec(void **state)
{
	struct rig *rig = new_rig();

	(void)state;
	do_exec(rig, 7);
	do_map(rig, 7, 0x90000, 0x1000, 0, "[stack]");
	do_sample(rig, 7, 0x90000);
	expect_anon(rig, 7, "[stack]", 0x90000, 0x91000, 0);
	assert_int_equal(rig->walk.seen.app, OP_NO_COOKIE);
	do_map(rig, 7, 0x10000, 0x1000, 0, "/bin/prog");
	do_map(rig, 7, 0x20000, 0x1000, 0, "/lib/ld.so");
	do_sample(rig, 7, 0x20000);
	expect(rig, 7, "/bin/prog", "/lib/ld.so", 0);
	/* What was mapped is gone with the next one. */
	do_exec(rig, 7);
	do_sample(rig, 7, 0x20000);
	expect_none(rig);
	do_map(rig, 7, 0x50000, 0x1000, 0, "/bin/other");
	do_map(rig, 7, 0x20000, 0x1000, 0, "/lib/ld.so");
	do_sample(rig, 7, 0x20000);
	do_sample(rig, 7, 0x10000);
	expect(rig, 7, "/bin/other", "/lib/ld.so", 0);
	assert_int_equal(stat_of(rig, OPD_PERF_NO_MAPPING), 2);
	free_rig(rig);
}

/* A new name alone is no exec. */
static void a_name_changes_nothing(void **state)
{
	struct rig *rig = new_rig();
	struct opd_perf_rec rec;

	(void)state;
	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x1000, 0, "/bin/prog");
	rec = rec_of(rig, PERF_RECORD_COMM, 7);
	opd_perf_world_side(&rig->world, &rec);
	rec = rec_of(rig, PERF_RECORD_SWITCH, 7);
	opd_perf_world_side(&rig->world, &rec);
	do_sample(rig, 7, 0x10001);
	expect(rig, 7, "/bin/prog", "/bin/prog", 1);
	free_rig(rig);
}

static void forks_and_execs(void **state)
{
	struct rig *rig = new_rig();

	(void)state;
	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x1000, 0, "/bin/sh");
	do_fork(rig, 7, 8);
	do_sample(rig, 8, 0x10000);
	expect(rig, 8, "/bin/sh", "/bin/sh", 0);
	do_map(rig, 8, 0x20000, 0x1000, 0, "/lib/child.so");
	do_map(rig, 7, 0x20000, 0x1000, 0, "/lib/parent.so");
	do_sample(rig, 7, 0x20000);
	do_sample(rig, 8, 0x20000);
	expect(rig, 7, "/bin/sh", "/lib/parent.so", 0);
	expect(rig, 8, "/bin/sh", "/lib/child.so", 0);
	do_exec(rig, 8);
	do_map(rig, 8, 0x10000, 0x1000, 0, "/bin/ls");
	do_sample(rig, 8, 0x10000);
	do_sample(rig, 7, 0x10000);
	do_sample(rig, 8, 0x20000);
	expect(rig, 8, "/bin/ls", "/bin/ls", 0);
	expect(rig, 7, "/bin/sh", "/bin/sh", 0);
	assert_int_equal(stat_of(rig, OPD_PERF_NO_MAPPING), 1);
	do_exit(rig, 8);
	do_fork(rig, 7, 8); /* the number again */
	do_sample(rig, 8, 0x20000);
	expect(rig, 8, "/bin/sh", "/lib/parent.so", 0);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 0);
	free_rig(rig);
}

static void samples_of_the_dead_come_late(void **state)
{
	struct rig *rig = new_rig();

	(void)state;
	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x1000, 0, "/bin/prog");
	do_exit(rig, 7);
	do_sample(rig, 7, 0x10005);
	do_sample_as(rig, 7, 0xffffffff81000000, PERF_RECORD_MISC_KERNEL);
	expect(rig, 7, "/bin/prog", "/bin/prog", 5);
	assert_true(expect_of(rig, 7, "/bin/prog").kernel);
	for (uint32_t pid = 1000; pid < 1000 + OPD_MAPS_DEAD; pid++) {
		do_exec(rig, pid);
		do_exit(rig, pid);
	}
	do_sample(rig, 7, 0x10005);
	assert_int_equal(stat_of(rig, OPD_PERF_NO_MM), 1);
	free_rig(rig);
}

static void threads_are_no_processes(void **state)
{
	struct rig *rig = new_rig();
	struct opd_perf_rec rec;

	(void)state;
	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x1000, 0, "/bin/prog");
	do_fork(rig, 7, 7);
	do_fork(rig, 7, 7);
	do_sample(rig, 7, 0x10000);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0);
	assert_int_equal(opd_maps_find(&rig->world.maps, 7)->nr_threads, 3);
	/* A thread's own samples and mappings are its process's. */
	rec = map_rec(rig, 7, 0x20000, 0x1000, 0, "/lib/x.so");
	rec.tid = 9;
	opd_perf_world_side(&rig->world, &rec);
	rec = rec_of(rig, PERF_RECORD_SAMPLE, 7);
	rec.tid = 9;
	rec.misc = PERF_RECORD_MISC_USER;
	rec.sample.ip = 0x20002;
	opd_perf_world_sample(&rig->world, &rec, 0, 5);
	assert_true(next_sample(rig, &(struct seen){ .cpu = 0 }));
	assert_int_equal(rig->walk.seen.cpu, 0);
	assert_int_equal(rig->walk.seen.tgid, 7);
	assert_int_equal(rig->walk.seen.tid, 9);
	assert_int_equal(rig->walk.seen.counter, 5);
	assert_int_equal(rig->walk.seen.pc, 2);
	assert_null(opd_maps_find(&rig->world.maps, 9));
	do_exit(rig, 7);
	do_exit(rig, 7);
	assert_int_equal(rig->world.maps.nr_dead, 0);
	do_exit(rig, 7);
	assert_int_equal(rig->world.maps.nr_dead, 1);
	free_rig(rig);
}

/* Nothing is known of it, and /proc does not know it either. */
static void unknown_processes(void **state)
{
	struct rig *rig = new_rig();

	(void)state;
	do_sample(rig, 99, 0x1000);
	assert_int_equal(stat_of(rig, OPD_PERF_NO_MM), 1);
	do_map(rig, 99, 0x1000, 0x1000, 0, "/bin/prog");
	do_sample(rig, 99, 0x1000);
	assert_int_equal(stat_of(rig, OPD_PERF_NO_MM), 2);
	do_exit(rig, 99);
	do_fork(rig, 99, 100);
	do_map(rig, 100, 0x1000, 0x1000, 0, "/bin/child");
	do_sample(rig, 100, 0x1000);
	expect(rig, 100, NULL, "/bin/child", 0);
	do_fork(rig, 98, 98); /* a thread of nobody */
	assert_null(opd_maps_find(&rig->world.maps, 98));
	free_rig(rig);
}

/* ---- the kernel, and what is not ours ---------------------------------------
 */

static void samples_in_the_kernel(void **state)
{
	const uint64_t pc = 0xffffffff81001234;
	struct rig *rig = new_rig();
	struct seen seen;

	(void)state;
	do_exec(rig, 7);
	do_sample_as(rig, 7, pc, PERF_RECORD_MISC_KERNEL);
	assert_true(expect_of(rig, 7, NULL).kernel);
	do_map(rig, 7, 0x10000, 0x1000, 0, "/bin/prog");
	do_sample_as(rig, 7, pc, PERF_RECORD_MISC_KERNEL);
	seen = expect_of(rig, 7, "/bin/prog");
	assert_true(seen.kernel);
	assert_int_equal(seen.pc, pc);
	do_sample(rig, 7, 0x10000);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0);
	/* Who is not known has no program; nobody has to look. */
	do_sample_as(rig, 99, pc, PERF_RECORD_MISC_KERNEL);
	assert_true(expect_of(rig, 99, NULL).kernel);
	do_sample_as(rig, 0, pc, PERF_RECORD_MISC_KERNEL);
	assert_true(expect_of(rig, 0, NULL).kernel);
	assert_int_equal(stat_of(rig, OPD_PERF_PROC_READ), 0);
	free_rig(rig);
}

/* A task that is being freed has no number any more. */
static void tasks_without_a_number(void **state)
{
	struct rig *rig = new_rig();

	(void)state;
	do_sample_as(rig, UINT32_MAX, 0xffffffff81000000,
		     PERF_RECORD_MISC_KERNEL);
	assert_true(expect_of(rig, 0, NULL).kernel);
	do_sample(rig, UINT32_MAX, 0x1000);
	do_sample(rig, 0, 0x1000);
	assert_int_equal(stat_of(rig, OPD_PERF_NO_MM), 2);
	free_rig(rig);
}

/* Another process, CPU or thread is said, however little differs. */
static void every_part_of_the_context_counts(void **state)
{
	static const uint32_t places[][3] = {
		{ 7, 9, 0 },  { 8, 9, 0 },  { 8, 10, 0 },
		{ 8, 10, 1 }, { 8, 10, 1 }, { 7, 9, 0 },
	};
	struct rig *rig = new_rig();
	struct opd_perf_rec rec;
	struct seen seen;

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		rec = rec_of(rig, PERF_RECORD_SAMPLE, places[i][0]);
		rec.tid = places[i][1];
		rec.misc = PERF_RECORD_MISC_KERNEL;
		rec.sample.ip = 0x1000 + i;
		opd_perf_world_sample(&rig->world, &rec, places[i][2], 0);
	}
	for (size_t i = 0; i < 6; i++) {
		assert_true(next_sample(rig, &seen));
		assert_int_equal(seen.tgid, places[i][0]);
		assert_int_equal(seen.tid, places[i][1]);
		assert_int_equal(seen.cpu, places[i][2]);
		assert_int_equal(seen.pc, 0x1000 + i);
	}
	free_rig(rig);
}

static void addresses_that_are_not_ours(void **state)
{
	static const uint16_t misc[] = {
		PERF_RECORD_MISC_CPUMODE_UNKNOWN,
		PERF_RECORD_MISC_HYPERVISOR,
		PERF_RECORD_MISC_GUEST_KERNEL,
		PERF_RECORD_MISC_GUEST_USER,
		7,
	};
	struct rig *rig = new_rig();

	(void)state;
	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x1000, 0, "/bin/prog");
	for (size_t i = 0; i < 5; i++)
		do_sample_as(rig, 7, 0x10000, misc[i]);
	assert_int_equal(stat_of(rig, OPD_PERF_INVALID_EIP), 5);
	do_sample_as(rig, 7, OP_ESCAPE, PERF_RECORD_MISC_KERNEL);
	do_sample_as(rig, 7, OP_ESCAPE, PERF_RECORD_MISC_USER);
	assert_int_equal(stat_of(rig, OPD_PERF_INVALID_EIP), 7);
	expect_none(rig);
	/* Other bits say other things. */
	do_sample_as(rig, 7, 0x10000,
		     PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);
	expect(rig, 7, "/bin/prog", "/bin/prog", 0);
	free_rig(rig);
}

static void do_ksymbol(struct rig *rig, uint64_t addr, uint32_t len, bool gone,
		       const char *name)
{
	struct opd_perf_rec rec = rec_of(rig, PERF_RECORD_KSYMBOL, 0);

	rec.ksymbol.addr = addr;
	rec.ksymbol.len = len;
	rec.ksymbol.gone = gone;
	rec.ksymbol.name = name;
	opd_perf_world_side(&rig->world, &rec);
}

static void code_that_the_kernel_makes(void **state)
{
	struct rig *rig = new_rig();
	static char long_name[300];
	char name[256];
	struct opd_stream stream;
	struct opd_rec rec;

	(void)state;
	memset(long_name, 'f', sizeof(long_name) - 1);
	do_ksymbol(rig, 0xffffffffc0001000, 0x80, false, "bpf_prog_x");
	do_ksymbol(rig, 0xffffffffc0001000, 0x80, true, "bpf_prog_x");
	do_ksymbol(rig, 0xffffffffc0002000, 0, false, "empty");
	do_ksymbol(rig, 0xffffffffc0002000, 8, false, "");
	do_ksymbol(rig, 0xffffffffc0003000, 8, false, long_name);
	stream.at = rig->words;
	stream.end = rig->world.words.at;
	assert_int_equal(opd_stream_record(&stream, &rec), OPD_UNIT_RECORD);
	assert_int_equal(rec.code, OP_KERNEL_RANGE);
	assert_int_equal(rec.flags, OP_KERNEL_CODE);
	assert_int_equal(rec.payload[0], 0xffffffffc0001000);
	assert_int_equal(rec.payload[1], 0xffffffffc0001080);
	assert_int_equal(opd_stream_string(&rec, 7, name, sizeof(name)), 0);
	assert_string_equal(name, "bpf_prog_x");
	assert_int_equal(opd_stream_record(&stream, &rec), OPD_UNIT_RECORD);
	assert_int_equal(opd_stream_string(&rec, 7, name, sizeof(name)), 0);
	assert_int_equal(strspn(name, "f"), strlen(name));
	assert_ptr_equal(stream.at, stream.end);
	free_rig(rig);
}

/* ---- all the way ------------------------------------------------------------
 */

/* What the daemon asks; its source is this program. */
static struct rig *asked;

static int answer_cookie(struct opd_source *source, struct op_cookie_query *q)
{
	(void)source;
	return opd_perf_image_query(&asked->world.images, q);
}

static int answer_account(struct opd_source *source, struct op_ledger *ledger)
{
	(void)source;
	ledger->taken = stat_of(asked, OPD_PERF_RECEIVED);
	return op_ledger_lose(ledger, "sample_lost_no_mapping",
			      stat_of(asked, OPD_PERF_NO_MAPPING));
}

static const struct opd_source_ops this_program = {
	.name = "test",
	.cookie = answer_cookie,
	.account = answer_account,
};

static void expect_count(struct fixture *f, const char *name, uint64_t key,
			 uint64_t count)
{
	if (count_at(f, name, key) != count)
		fail_msg("not %llu samples at 0x%llx of %s",
			 (unsigned long long)count, (unsigned long long)key,
			 name);
}

static void do_tour(struct rig *rig)
{
	do_exec(rig, 7);
	do_map(rig, 7, 0x10000, 0x1000, 0x1000, "/bin/sh");
	do_map(rig, 7, 0x20000, 0x1000, 0, "/lib/x.so");
	do_map(rig, 7, 0x30000, 0x1000, 0, "//anon");
	for (int i = 0; i < 3; i++)
		do_sample_as(rig, 7, 0x10010, PERF_RECORD_MISC_USER);
	do_sample(rig, 7, 0x20020);
	do_sample(rig, 7, 0x30030);
	do_sample(rig, 7, 0x40000);
	do_fork(rig, 7, 8);
	do_sample(rig, 8, 0x20020);
	do_sample_as(rig, 8, 0xffffffffc0000040, PERF_RECORD_MISC_KERNEL);
	do_exec(rig, 8);
	do_map(rig, 8, 0x10000, 0x1000, 0, "/bin/ls (deleted)");
	do_sample(rig, 8, 0x10050);
	do_exit(rig, 8);
	do_sample(rig, 8, 0x10050);
}

static void check_tour(struct fixture *f)
{
	expect_count(f, "{root}/bin/sh/{dep}/{root}/bin/sh/E.9.0.7.7.3", 0x1010,
		     3);
	expect_count(f, "{root}/bin/sh/{dep}/{root}/lib/x.so/E.9.0.7.7.3", 0x20,
		     1);
	expect_count(f, "{root}/bin/sh/{dep}/{root}/lib/x.so/E.9.0.8.8.3", 0x20,
		     1);
	expect_count(
		f,
		"{root}/bin/sh/{dep}/{anon:anon}/7.0x30000.0x31000/E.9.0.7.7.3",
		0x30, 1);
	expect_count(f, "{root}/bin/sh/{dep}/{kern}/[kernel-other]/E.9.0.8.8.3",
		     0, 1);
	expect_count(f, "{root}/bin/ls/{dep}/{root}/bin/ls/E.9.0.8.8.3", 0x50,
		     2);
}

static void samples_come_to_sample_files(void **state)
{
	struct fixture *f = new_fixture();
	struct rig *rig = new_rig();
	struct op_ledger l;
	struct seen seen;
	size_t nr;

	(void)state;
	asked = rig;
	assert_int_equal(opd_events_parse(&f->opd.options.events,
					  "T:0:0:9:0:1:1,E:0:1:9:0:1:1", NULL),
			 0);
	f->opd.options.separate_lib = f->opd.options.separate_kernel = true;
	f->opd.options.separate_thread = f->opd.options.separate_cpu = true;
	start_daemon(f, &this_program);
	opd_kernel_release(&f->opd.kernel); /* not this machine's */
	do_tour(rig);
	nr = (size_t)(rig->world.words.at - rig->words);
	assert_int_equal(opd_trans_run(&f->opd, rig->words, nr), nr);
	check_tour(f);
	l = ledger_of(f);
	assert_int_equal(l.taken, 10);
	assert_int_equal(l.stored, 9);
	assert_int_equal(lost(&l, "sample_lost_no_mapping"), 1);
	assert_int_equal(l.pending, 0);
	free_fixture(f);
	while (next_sample(rig, &seen))
		;
	free_rig(rig);
}

/* Right before the sample, so that no context comes between. */
static void weights(void **state)
{
	struct opd_perf_place place = {
		.tgid = 7, .tid = 7, .kernel = true, .weight = 99
	};
	uint64_t words[2 * OPD_PERF_SAMPLE_WORDS];
	struct opd_perf_words w = { .at = NULL };

	(void)state;
	opd_perf_words_into(&w, words, sizeof(words) / sizeof(words[0]));
	opd_perf_words_sample(&w, &place, 0x1234, 3);
	assert_int_equal(w.at[-5], OP_ESCAPE);
	assert_int_equal(w.at[-4], OP_CODE_WORD(OP_WEIGHT, 0, 1));
	assert_int_equal(w.at[-3], 99);
	assert_int_equal(w.at[-2], 0x1234);
	assert_int_equal(w.at[-1], 3);
	place.weight = 0;
	opd_perf_words_sample(&w, &place, 0x5678, 3);
	assert_int_equal(w.at[-3], 3);
	assert_int_equal(w.at[-2], 0x5678);
	place.weight = 5;
	opd_perf_words_trace(&w, &place, 0x9abc, 3);
	assert_int_equal(w.at[-6], OP_CODE_WORD(OP_TRACE_BEGIN, 0, 0));
	assert_int_equal(w.at[-3], 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights),
		cmocka_unit_test(offsets_are_those_in_the_file),
		cmocka_unit_test(data_is_no_code),
		cmocka_unit_test(an_address_belongs_to_the_one_of_that_time),
		cmocka_unit_test(memory_without_a_file_has_a_name),
		cmocka_unit_test(anonymous_memory_is_cut),
		cmocka_unit_test(files_on_no_disk),
		cmocka_unit_test(no_offset_is_an_escape),
		cmocka_unit_test(the_program_is_the_first_file_after_an_exec),
		cmocka_unit_test(a_name_changes_nothing),
		cmocka_unit_test(forks_and_execs),
		cmocka_unit_test(samples_of_the_dead_come_late),
		cmocka_unit_test(threads_are_no_processes),
		cmocka_unit_test(unknown_processes),
		cmocka_unit_test(samples_in_the_kernel),
		cmocka_unit_test(tasks_without_a_number),
		cmocka_unit_test(every_part_of_the_context_counts),
		cmocka_unit_test(addresses_that_are_not_ours),
		cmocka_unit_test(code_that_the_kernel_makes),
		cmocka_unit_test(samples_come_to_sample_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
