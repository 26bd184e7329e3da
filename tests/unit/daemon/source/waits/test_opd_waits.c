// SPDX-License-Identifier: GPL-2.0-or-later
/* From switches of threads, and the stacks of some of them, to samples. */

#include <stdlib.h>

#include "daemon/source/perf/opd_perf_handle.h"
#include "daemon/source/waits/opd_waits.h"
#include "tests/unit/daemon/source/perf_words.h"
#include "tests/unit/daemon/source/perf_writer.h"

#define PID 7u
#define KERNEL_THREAD 9u
#define STRANGER 11u
#define INTERVAL 10u /* ns */
#define READY_INTERVAL 5u
#define ALL "THREAD_WAIT:0:1:10:7:1:1"
#define READY "THREAD_WAIT:0:2:5:4:1:1"

struct rig {
	struct opd_process_table table;
	struct perf_writer writer;
	struct opd_waits waits;
	struct walk walk;
	struct {
		uint64_t pc; /* 0: no stack */
		uint64_t tid;
		uint64_t counter;
		uint64_t times;
	} seen[64];
	unsigned int nr_seen;
};

/* Event 1 is all waits, event 2 those for a CPU. */
static struct rig *new_rig(void)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct opd_events events;
	struct op_diag diag;

	assert_non_null(rig);
	assert_int_equal(opd_events_parse(&events,
					  "TIMER:0:0:0:0:1:1," ALL "," READY,
					  &diag),
			 0);
	perf_writer_begin(&rig->writer, &rig->table);
	rig->table.proc = "/nonexistent";
	opd_maps_new(&rig->table.maps, PID)->app = 1;
	opd_maps_find(&rig->table.maps, PID)->chosen = true;
	opd_maps_new(&rig->table.maps, KERNEL_THREAD);
	opd_maps_new(&rig->table.maps, STRANGER)->app = 1;
	opd_waits_init(&rig->waits, &events);
	assert_int_equal(rig->waits.nr_events, 2);
	opd_waits_begin(&rig->waits, &rig->table, NULL, 0, 1000);
	return rig;
}

static void free_rig(struct rig *rig)
{
	opd_waits_release(&rig->waits);
	assert_int_equal(rig->waits.bytes, 0);
	opd_process_table_release(&rig->table);
	perf_writer_end(&rig->writer);
	free(rig);
}

/* ---- what happens -----------------------------------------------------------
 */

static struct opd_perf_rec record(uint32_t type, uint64_t time, uint32_t tid)
{
	return (struct opd_perf_rec){
		.type = type,
		.time = time,
		.pid = tid < 100 ? tid : PID,
		.tid = tid,
	};
}

/* @tid loses its CPU, with a stack that begins at @pc if that is not 0. */
static void leave(struct rig *rig, uint64_t time, uint32_t tid, bool preempted,
		  uint64_t pc)
{
	struct opd_perf_rec rec = record(PERF_RECORD_SAMPLE, time, tid);

	rec.sample.ip = pc;
	if (pc)
		opd_waits_handle(&rig->waits, &rig->table, &rec, 0);
	rec = record(PERF_RECORD_SWITCH_CPU_WIDE, time, tid);
	rec.misc = PERF_RECORD_MISC_SWITCH_OUT;
	if (preempted)
		rec.misc |= PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	opd_waits_handle(&rig->waits, &rig->table, &rec, 0);
}

static void come_back(struct rig *rig, uint64_t time, uint32_t tid)
{
	struct opd_perf_rec rec = record(PERF_RECORD_SWITCH, time, tid);

	opd_waits_handle(&rig->waits, &rig->table, &rec, 0);
}

/* @tid waits from @from to @to, and is otherwise as in leave(). */
static void wait_once(struct rig *rig, uint64_t from, uint64_t to, uint32_t tid,
		      bool preempted, uint64_t pc)
{
	leave(rig, from, tid, preempted, pc);
	come_back(rig, to, tid);
}

static void happens(struct rig *rig, uint32_t type, uint64_t time, uint32_t tid)
{
	struct opd_perf_rec rec = record(type, time, tid);

	if (type == PERF_RECORD_COMM)
		rec.misc = PERF_RECORD_MISC_COMM_EXEC;
	opd_waits_handle_side(&rig->waits, &rig->table, &rec);
}

/* ---- what comes of it -------------------------------------------------------
 */

/* Write as many words as have room. True if that is all. */
static bool write_words(struct rig *rig)
{
	struct op_stream_words *words = &rig->table.writer->words;
	bool is_all;

	words->nr = 0;
	is_all = opd_waits_write(&rig->waits, &rig->table);
	walk_into(&rig->walk, words->nr ? words->words : NULL, words->nr);
	return is_all;
}

static void look(struct rig *rig)
{
	struct seen seen;

	assert_true(write_words(rig));
	rig->nr_seen = 0;
	while (walk_next(&rig->walk, &seen)) {
		assert_true(rig->nr_seen < 64);
		rig->seen[rig->nr_seen].pc = seen.kernel ? seen.pc : 0;
		rig->seen[rig->nr_seen].tid = seen.tid;
		rig->seen[rig->nr_seen].counter = seen.counter;
		rig->seen[rig->nr_seen++].times = seen.times ? seen.times : 1;
	}
}

/* The samples of event @counter at @pc stand for @ns, but for one. */
static void expect(const struct rig *rig, uint64_t counter, uint64_t pc,
		   uint64_t ns)
{
	uint64_t interval = counter == 1 ? INTERVAL : READY_INTERVAL, sum = 0;

	for (unsigned int i = 0; i < rig->nr_seen; i++)
		if (rig->seen[i].counter == counter && rig->seen[i].pc == pc)
			sum += rig->seen[i].times;
	if (sum * interval > ns + interval || (sum + 1) * interval < ns)
		fail_msg("%lu samples of counter %lu at 0x%lx for %lu ns",
			 (unsigned long)sum, (unsigned long)counter,
			 (unsigned long)pc, (unsigned long)ns);
}

static void expect_lost(const struct rig *rig, uint64_t least, uint64_t most)
{
	uint64_t lost = rig->table.stats[OPD_PERF_OVERFLOW];

	assert_in_range(lost, least, most);
}

TEST(a_wait_counts_by_its_length_where_it_began)
{
	struct rig *rig = new_rig();

	wait_once(rig, 2000, 3000, 100, false, 0xa0);
	wait_once(rig, 3100, 3600, 100, true, 0xb0);
	look(rig);
	expect(rig, 1, 0xa0, 1000);
	expect(rig, 1, 0xb0, 500);
	expect(rig, 2, 0xa0, 0);
	expect(rig, 2, 0xb0, 500);
	expect_lost(rig, 0, 0);
	free_rig(rig);
}

TEST(short_waits_add_up)
{
	struct rig *rig = new_rig();
	uint64_t sum = 0;

	for (uint64_t i = 0; i < 10000; i++) {
		leave(rig, 2000 + 10 * i, 100, false, 0xa0 + i % 2);
		come_back(rig, 2000 + 10 * i + 3, 100);
		if (i % 30 < 29)
			continue;
		look(rig);
		for (unsigned int k = 0; k < rig->nr_seen; k++)
			sum += rig->seen[k].times;
	}
	assert_in_range(sum, 2999 - 10, 3001);
	free_rig(rig);
}

TEST(waits_in_step_with_the_interval_are_sampled_alike)
{
	struct rig *rig = new_rig();
	uint64_t sums[2] = { 0 };

	for (uint64_t i = 0; i < 20000; i++) {
		leave(rig, 2000 + 10 * i, 100, false, 0xa0 + i % 2);
		come_back(rig, 2000 + 10 * i + INTERVAL / 2, 100);
		if (i % 50 < 49)
			continue;
		look(rig);
		for (unsigned int k = 0; k < rig->nr_seen; k++)
			sums[rig->seen[k].pc & 1] += rig->seen[k].times;
	}
	/* 5000 each; the deviation is 50. */
	assert_in_range(sums[0], 4600, 5400);
	assert_in_range(sums[1], 4600, 5400);
	free_rig(rig);
}

/* 3, 1, 4 and 2 us, the second and the last without a stack. */
TEST(waits_without_a_stack_are_divided_among_those_with_one)
{
	struct rig *rig = new_rig();

	wait_once(rig, 10000, 11000, 100, false, 0);
	wait_once(rig, 20000, 23000, 100, false, 0xa0);
	wait_once(rig, 30000, 34000, 100, false, 0xb0);
	wait_once(rig, 40000, 42000, 100, false, 0);
	look(rig);
	assert_int_equal(rig->nr_seen, 0);
	happens(rig, PERF_RECORD_EXIT, 50000, 100);
	look(rig);
	expect(rig, 1, 0xa0, 4286);
	expect(rig, 1, 0xb0, 5714);
	expect(rig, 1, 0, 0);
	free_rig(rig);
}

TEST(parts_of_waits_are_divided_each_for_itself)
{
	struct rig *rig = new_rig();

	wait_once(rig, 10000, 11000, 100, true, 0);
	wait_once(rig, 20000, 23000, 100, false, 0xa0);
	wait_once(rig, 30000, 34000, 100, true, 0xb0);
	happens(rig, PERF_RECORD_EXIT, 50000, 100);
	look(rig);
	expect(rig, 1, 0xa0, 3000);
	expect(rig, 2, 0xb0, 5000);
	free_rig(rig);
}

TEST(where_no_switch_of_a_thread_has_a_stack_its_time_counts)
{
	struct rig *rig = new_rig();

	wait_once(rig, 10000, 11000, 100, false, 0);
	happens(rig, PERF_RECORD_EXIT, 50000, 100);
	look(rig);
	expect(rig, 1, 0, 1000);
	assert_int_equal(rig->seen[0].tid, 100);
	free_rig(rig);
}

TEST(later_waits_without_a_stack_are_like_the_last_one_that_had_one)
{
	struct rig *rig = new_rig();

	wait_once(rig, 10000, 11000, 100, false, 0xa0);
	wait_once(rig, 12000, 12700, 100, true, 0);
	wait_once(rig, 20000, 22000, 100, false, 0);
	happens(rig, PERF_RECORD_EXIT, 50000, 100);
	look(rig);
	expect(rig, 1, 0xa0, 3000);
	expect(rig, 1, 0, 700);
	free_rig(rig);
}

TEST(many_stacks_are_not_kept_to_the_end)
{
	struct rig *rig = new_rig();

	wait_once(rig, 10000, 11000, 100, false, 0);
	for (uint64_t i = 0; i < 63; i++) {
		wait_once(rig, 20000 + 100 * i, 20010 + 100 * i, 100, false,
			  0xa0);
	}
	look(rig);
	assert_int_equal(rig->nr_seen, 0);
	wait_once(rig, 30000, 30010, 100, false, 0xa0);
	look(rig);
	expect(rig, 1, 0xa0, 1640);
	free_rig(rig);
}

TEST(a_wait_that_goes_on_counts_so_far)
{
	struct rig *rig = new_rig();

	leave(rig, 2000, 100, false, 0xa0);
	opd_waits_charge(&rig->waits, &rig->table, 3000);
	look(rig);
	expect(rig, 1, 0xa0, 1000);
	come_back(rig, 3500, 100);
	look(rig);
	expect(rig, 1, 0xa0, 500);
	free_rig(rig);
}

TEST(a_thread_waits_from_its_fork_and_an_unknown_one_from_the_beginning)
{
	struct rig *rig = new_rig();

	happens(rig, PERF_RECORD_FORK, 5000, 100);
	come_back(rig, 5400, 100);
	look(rig);
	expect(rig, 2, 0, 400);
	come_back(rig, 2000, 101);
	look(rig);
	expect(rig, 1, 0, 1000);
	expect(rig, 2, 0, 0);
	free_rig(rig);
}

TEST(the_first_exec_of_a_program_is_no_wait)
{
	struct rig *rig = new_rig();

	happens(rig, PERF_RECORD_COMM, 9000, PID);
	wait_once(rig, 9100, 9200, PID, false, 0xa0);
	look(rig);
	expect(rig, 1, 0xa0, 100);
	expect(rig, 1, 0, 0);
	free_rig(rig);
}

/* It is switched until the kernel has freed it. */
TEST(what_a_thread_does_after_its_end_is_no_wait)
{
	struct rig *rig = new_rig();

	come_back(rig, 1000, 100);
	happens(rig, PERF_RECORD_EXIT, 5000, 100);
	wait_once(rig, 5100, 5300, 100, true, 0xa0);
	leave(rig, 5400, 100, false, 0xa0);
	opd_waits_charge(&rig->waits, &rig->table, 90000);
	look(rig);
	assert_int_equal(rig->nr_seen, 0);
	happens(rig, PERF_RECORD_FORK, 90000, 100);
	come_back(rig, 90500, 100);
	look(rig);
	expect(rig, 1, 0, 500);
	free_rig(rig);
}

TEST(threads_that_have_ended_are_forgotten)
{
	struct rig *rig = new_rig();
	const uint64_t ms = 1000000;
	size_t nr = 0;

	for (uint32_t i = 0; i < 100000; i++) {
		happens(rig, PERF_RECORD_FORK, i * ms, 100 + i);
		happens(rig, PERF_RECORD_EXIT, i * ms, 100 + i);
	}
	for (uint32_t i = 0; i < 100000; i++) {
		come_back(rig, 100000 * ms, 100 + i);
		look(rig);
		nr += rig->nr_seen != 0;
	}
	/* Of five seconds, and as many more as are let pass before a look. */
	assert_in_range(100000 - nr, 5000, 12000);
	free_rig(rig);
}

TEST(lost_switches_are_lost_samples)
{
	struct rig *rig = new_rig();
	struct opd_perf_rec rec = record(PERF_RECORD_LOST, 2500, PID);

	rec.lost.nr = 3;
	leave(rig, 2000, 100, false, 0xa0);
	opd_waits_handle(&rig->waits, &rig->table, &rec, 0);
	wait_once(rig, 3000, 3100, 100, false, 0xb0);
	look(rig);
	expect(rig, 1, 0xa0, 0);
	expect(rig, 1, 0xb0, 100);
	/* 1000 ns, of one event or of both. */
	expect_lost(rig, 100, 300);
	come_back(rig, 4100, 100);
	expect_lost(rig, 200, 600);
	look(rig);
	assert_int_equal(rig->nr_seen, 0);
	assert_int_equal(rig->table.stats[OPD_PERF_SWITCH_LOST], 3);
	free_rig(rig);
}

TEST(others_do_not_count)
{
	struct rig *rig = new_rig();

	rig->table.only_chosen = true;
	wait_once(rig, 2000, 3000, KERNEL_THREAD, false, 0xa0);
	wait_once(rig, 2000, 3000, STRANGER, false, 0xa0);
	wait_once(rig, 2000, 3000, 0, false, 0xa0);
	rig->table.only_chosen = false;
	wait_once(rig, 4000, 5000, KERNEL_THREAD, false, 0xa0);
	wait_once(rig, 4000, 5000, UINT32_MAX, false, 0xa0);
	look(rig);
	assert_int_equal(rig->nr_seen, 0);
	wait_once(rig, 4000, 5000, STRANGER, false, 0xa0);
	look(rig);
	expect(rig, 1, 0xa0, 1000);
	free_rig(rig);
}

TEST(samples_wait_for_room)
{
	struct rig *rig = new_rig();
	uint64_t sum = 0;
	unsigned int rounds = 0;

	for (uint64_t i = 0; i < 200; i++) {
		wait_once(rig, 2000 + 100 * i, 2010 + 100 * i, 100, false,
			  0xa0);
	}
	rig->table.writer->limit = 256;
	for (bool all = false; !all; rounds++) {
		struct seen seen;

		all = write_words(rig);
		while (walk_next(&rig->walk, &seen))
			sum += seen.times ? seen.times : 1;
	}
	assert_true(rounds > 1);
	assert_in_range(sum, 199, 201);
	free_rig(rig);
}
