// SPDX-License-Identifier: GPL-2.0-or-later
/* How the records of several CPUs come in order, and nothing gets lost. */

#include "daemon/opd_perf_merge.h"
#include "tests/unit/perf_records.h"
#include "tests/unit/perf_words.h"

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) +
		 UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

#define NR_CPUS 3
#define START UINT64_C(0x10000)
#define LEN UINT64_C(0x1000)
#define MANY 4096 /* words, room for all samples of a small test */

struct rig {
	struct opd_perf_world world;
	struct opd_perf_cpu cpus[NR_CPUS];
	struct opd_perf_merge merge;
	uint64_t words[MANY];
	struct walk walk;
	unsigned char bounce[OPD_PERF_RECORD_MAX];
	struct record record;
	uint64_t sample_type;
};

static struct rig *new_rig(uint64_t sample_type)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	assert_int_equal(opd_perf_world_init(&rig->world), 0);
	rig->world.proc = "/nonexistent";
	rig->sample_type = sample_type;
	for (uint32_t i = 0; i < NR_CPUS; i++) {
		rig->cpus[i].cpu = i * 10;
		ring_make(&rig->cpus[i].samples, 4096, sample_type, i * 1024);
		ring_make(&rig->cpus[i].side, 2048, OPD_PERF_SIDE, i * 1024);
	}
	rig->merge.cpus = rig->cpus;
	rig->merge.nr_cpus = NR_CPUS;
	rig->merge.bounce = rig->bounce;
	return rig;
}

static void free_rig(struct rig *rig)
{
	for (int i = 0; i < NR_CPUS; i++) {
		ring_free(&rig->cpus[i].samples);
		ring_free(&rig->cpus[i].side);
	}
	opd_perf_world_release(&rig->world);
	free(rig);
}

static struct record_who who_in(const struct rig *rig, uint32_t pid,
				uint32_t tid, uint64_t time)
{
	return (struct record_who){ pid, tid, time, rig->sample_type, 0 };
}

/* Process @pid runs another program, nothing is mapped. */
static void put_exec(struct rig *rig, int cpu, uint64_t time, uint32_t pid)
{
	struct record_who who = { pid, pid, time, OPD_PERF_SIDE, 0 };

	record_comm(&rig->record, &who, true, "program");
	ring_write_record(&rig->cpus[cpu].side, &rig->record);
}

/* It maps part number @part of its file, always at START. */
static void put_map(struct rig *rig, int cpu, uint64_t time, uint32_t pid,
		    uint64_t part)
{
	struct record_who who = { pid, pid, time, OPD_PERF_SIDE, 0 };
	struct record_mmap map = {
		.start = START,
		.len = LEN,
		.offset = part * LEN,
		.prot = PROT_EXEC,
		.name = "/nonexistent/program",
	};

	record_mmap2(&rig->record, &who, &map);
	ring_write_record(&rig->cpus[cpu].side, &rig->record);
}

/* A sample at START + @offset; @tid tells it from all others. */
static void put_sample(struct rig *rig, int cpu, uint64_t time, uint32_t pid,
		       uint32_t tid, uint64_t offset)
{
	struct record_who who = who_in(rig, pid, tid, time);

	record_sample(&rig->record, &who, PERF_RECORD_MISC_USER,
		      START + offset);
	ring_write_record(&rig->cpus[cpu].samples, &rig->record);
}

static bool run_into(struct rig *rig, uint64_t horizon, size_t nr_words)
{
	bool all;

	opd_perf_words_into(&rig->world.words, rig->words, nr_words);
	all = opd_perf_merge_run(&rig->merge, &rig->world, horizon);
	assert_true(rig->world.words.at <= rig->words + nr_words);
	walk_into(&rig->walk, rig->words,
		  (size_t)(rig->world.words.at - rig->words));
	return all;
}

/* Handle all up to @horizon. */
static void run(struct rig *rig, uint64_t horizon)
{
	opd_perf_merge_look(&rig->merge);
	assert_true(run_into(rig, horizon, MANY));
}

/* The next sample is @tid's, from part @part of the file. */
static void expect(struct rig *rig, uint64_t cpu, uint64_t tid, uint64_t part)
{
	struct seen seen;

	assert_true(walk_next(&rig->walk, &seen));
	assert_int_equal(seen.tid, tid);
	assert_int_equal(seen.cpu, cpu);
	assert_false(seen.kernel);
	assert_int_equal(seen.cookie, 1);
	assert_int_equal(seen.pc / LEN, part);
}

static void expect_no_more(struct rig *rig)
{
	struct seen seen;

	assert_false(walk_next(&rig->walk, &seen));
}

/* The drawing in opd_perf_merge.h. */
static void changes_come_between_the_samples(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);

	(void)state;
	put_exec(rig, 2, 1, 7);
	put_map(rig, 2, 2, 7, 1);
	put_map(rig, 1, 100, 7, 2);
	put_map(rig, 0, 200, 7, 3);
	put_sample(rig, 0, 90, 7, 10, 0);
	put_sample(rig, 0, 95, 7, 11, 0);
	put_sample(rig, 0, 150, 7, 12, 0);
	put_sample(rig, 0, 250, 7, 13, 0);
	put_sample(rig, 1, 91, 7, 14, 0);
	put_sample(rig, 1, 101, 7, 15, 0);
	put_sample(rig, 1, 199, 7, 16, 0);
	put_sample(rig, 1, 201, 7, 17, 0);
	run(rig, 300);
	expect(rig, 0, 10, 1);
	expect(rig, 0, 11, 1);
	expect(rig, 10, 14, 1);
	expect(rig, 0, 12, 2);
	expect(rig, 10, 15, 2);
	expect(rig, 10, 16, 2);
	expect(rig, 0, 13, 3);
	expect(rig, 10, 17, 3);
	expect_no_more(rig);
	assert_int_equal(rig->world.stats[OPD_PERF_RECEIVED], 8);
	free_rig(rig);
}

/* At one time: the change was before the sample. */
static void a_change_comes_before_samples_of_its_time(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);

	(void)state;
	put_exec(rig, 0, 100, 7);
	put_map(rig, 0, 100, 7, 1);
	put_map(rig, 0, 100, 7, 2);
	put_map(rig, 1, 101, 7, 3);
	put_sample(rig, 0, 100, 7, 10, 0);
	put_sample(rig, 2, 100, 7, 11, 0);
	put_sample(rig, 2, 101, 7, 12, 0);
	run(rig, 101);
	expect(rig, 0, 10, 2);
	expect(rig, 20, 11, 2);
	expect(rig, 20, 12, 3);
	expect_no_more(rig);
	free_rig(rig);
}

static void what_is_behind_the_horizon_waits(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);

	(void)state;
	put_exec(rig, 0, 1, 7);
	put_map(rig, 0, 1, 7, 1);
	put_sample(rig, 0, 100, 7, 10, 0);
	put_sample(rig, 0, 101, 7, 11, 0);
	put_map(rig, 1, 101, 7, 2);
	put_sample(rig, 1, 102, 7, 12, 0);
	run(rig, 100);
	expect(rig, 0, 10, 1);
	expect_no_more(rig);
	assert_int_equal(rig->cpus[0].samples.meta->data_tail, 32);
	assert_int_equal(ring_room(&rig->cpus[0].side), 2048);
	assert_int_equal(rig->cpus[1].samples.meta->data_tail, 1024);
	assert_int_equal(rig->cpus[1].side.meta->data_tail, 1024);
	run(rig, 100);
	expect_no_more(rig);
	run(rig, 101);
	expect(rig, 0, 11, 2);
	expect_no_more(rig);
	run(rig, 102);
	expect(rig, 10, 12, 2);
	expect_no_more(rig);
	for (int i = 0; i < NR_CPUS; i++) {
		assert_int_equal(ring_room(&rig->cpus[i].samples), 4096);
		assert_int_equal(ring_room(&rig->cpus[i].side), 2048);
	}
	free_rig(rig);
}

/* What comes after the time was handled is handled as the world is then; a
 * record behind a later one waits for that. */
static void late_records_are_handled_when_found(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);

	(void)state;
	put_exec(rig, 0, 1, 7);
	put_map(rig, 0, 1, 7, 1);
	put_map(rig, 0, 50, 7, 2);
	run(rig, 100);
	put_sample(rig, 1, 40, 7, 10, 0);
	put_sample(rig, 2, 150, 7, 11, 0);
	put_sample(rig, 2, 45, 7, 12, 0);
	run(rig, 120);
	expect(rig, 10, 10, 2);
	expect_no_more(rig);
	run(rig, 160);
	expect(rig, 20, 11, 2);
	expect(rig, 20, 12, 2);
	expect_no_more(rig);
	/* Of side band, too: the one in front of it is at 170. */
	put_map(rig, 0, 170, 7, 3);
	put_map(rig, 0, 165, 7, 4);
	put_sample(rig, 1, 166, 7, 13, 0);
	put_sample(rig, 1, 171, 7, 14, 0);
	run(rig, 180);
	expect(rig, 10, 13, 2);
	expect(rig, 10, 14, 4);
	expect_no_more(rig);
	free_rig(rig);
}

static void without_room_nothing_is_lost(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);
	const size_t one = OPD_PERF_SAMPLE_WORDS;
	uint32_t tid = 0;
	bool all = false;

	(void)state;
	put_exec(rig, 0, 1, 7);
	for (uint32_t i = 0; i < 15; i++) {
		put_map(rig, 1, 10 + i * 10, 7, i);
		put_sample(rig, 0, 11 + i * 10, 7, 2 * i, 0);
		put_sample(rig, 2, 12 + i * 10, 7, 2 * i + 1, 0);
	}
	opd_perf_merge_look(&rig->merge);
	assert_false(run_into(rig, 1000, one - 1));
	expect_no_more(rig);
	assert_int_equal(rig->world.stats[OPD_PERF_RECEIVED], 0);
	while (!all) {
		all = run_into(rig, 1000, one + tid % 3);
		if (tid == 30)
			break;
		/* With all of its context there is room for one only. */
		expect(rig, tid % 2 * 20, tid, tid / 2);
		expect_no_more(rig);
		tid++;
	}
	assert_int_equal(tid, 30);
	run(rig, 1000);
	expect_no_more(rig);
	assert_int_equal(rig->world.stats[OPD_PERF_RECEIVED], 30);
	assert_int_equal(ring_room(&rig->cpus[0].samples), 4096);
	assert_int_equal(ring_room(&rig->cpus[1].side), 2048);
	free_rig(rig);
}

/* Room is given back as far as things were handled. */
static void the_tail_says_what_was_handled(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);
	size_t last;

	(void)state;
	put_exec(rig, 0, 1, 7);
	put_map(rig, 0, 1, 7, 1);
	put_map(rig, 0, 30, 7, 2);
	last = rig->record.len;
	for (uint32_t i = 0; i < 4; i++)
		put_sample(rig, 1, 10 + 10 * i, 7, i, 0);
	opd_perf_merge_look(&rig->merge);
	assert_int_equal(rig->cpus[0].side.meta->data_tail, 0);
	assert_false(run_into(rig, 100, OPD_PERF_SAMPLE_WORDS));
	expect(rig, 10, 0, 1);
	expect_no_more(rig);
	assert_int_equal(rig->cpus[1].samples.meta->data_tail, 1024 + 32);
	assert_int_equal(rig->cpus[0].side.meta->data_tail,
			 rig->cpus[0].side.meta->data_head - last);
	run(rig, 100);
	expect(rig, 10, 1, 1);
	expect(rig, 10, 2, 2);
	expect(rig, 10, 3, 2);
	expect_no_more(rig);
	free_rig(rig);
}

/* ---- counters ---------------------------------------------------------------
 */

static void put_counted(struct rig *rig, int cpu, uint64_t time, uint64_t id)
{
	struct record_who who = who_in(rig, 7, 7, time);

	who.id = id;
	record_sample(&rig->record, &who, PERF_RECORD_MISC_KERNEL, 0x1234);
	ring_write_record(&rig->cpus[cpu].samples, &rig->record);
}

static void expect_counter(struct rig *rig, uint64_t counter)
{
	struct seen seen;

	assert_true(walk_next(&rig->walk, &seen));
	assert_int_equal(seen.counter, counter);
	assert_true(seen.kernel);
	assert_int_equal(seen.pc, 0x1234);
}

static void ids_are_counters(void **state)
{
	static const struct opd_perf_id ids[] = {
		{ 5, 2 }, { 8, 0 }, { 1000, 1 }, { UINT64_MAX, 31 }
	};
	static const uint64_t order[] = { 0, 4, 6, 9, 999, 1001 };

	(void)state;
	for (size_t nr = 1; nr <= 4; nr++) {
		struct rig *rig = new_rig(OPD_PERF_SAMPLE_ID);

		rig->merge.ids = ids;
		rig->merge.nr_ids = nr;
		for (size_t i = 0; i < 4; i++)
			put_counted(rig, 0, i, ids[i].id);
		for (size_t i = 0; i < 6; i++)
			put_counted(rig, 0, 10 + i, order[i]);
		run(rig, 100);
		for (size_t i = 0; i < 4; i++)
			expect_counter(rig,
				       i < nr ? ids[i].counter : UINT32_MAX);
		for (size_t i = 0; i < 6; i++)
			expect_counter(rig, UINT32_MAX);
		expect_no_more(rig);
		free_rig(rig);
	}
}

static void without_ids_there_is_one_counter(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);

	(void)state;
	put_counted(rig, 0, 1, 99);
	put_counted(rig, 2, 2, 0);
	run(rig, 100);
	expect_counter(rig, 0);
	expect_counter(rig, 0);
	expect_no_more(rig);
	free_rig(rig);
}

/* ---- what is not there ------------------------------------------------------
 */

static void put_lost(struct rig *rig, int cpu, uint32_t type, uint64_t time,
		     uint64_t nr)
{
	struct record_who who = who_in(rig, 7, 7, time);

	record_lost(&rig->record, type, &who, nr);
	ring_write_record(&rig->cpus[cpu].samples, &rig->record);
}

static void lost_samples_are_counted(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE_ID);
	struct record_who who = { 7, 7, 30, OPD_PERF_SIDE, 0 };

	(void)state;
	put_lost(rig, 0, PERF_RECORD_LOST, 10, 100);
	put_lost(rig, 1, PERF_RECORD_LOST_SAMPLES, 20, 20);
	put_lost(rig, 1, PERF_RECORD_LOST, 21, 3);
	record_lost(&rig->record, PERF_RECORD_LOST, &who, 7000);
	ring_write_record(&rig->cpus[1].side, &rig->record);
	put_lost(rig, 2, PERF_RECORD_LOST, 101, 5000); /* not yet */
	run(rig, 100);
	assert_int_equal(rig->world.stats[OPD_PERF_OVERFLOW], 123);
	assert_int_equal(rig->world.stats[OPD_PERF_SIDE_LOST], 7000);
	assert_int_equal(rig->world.stats[OPD_PERF_RECEIVED], 0);
	assert_int_equal(rig->world.gap_at, 30);
	free_rig(rig);
}

static void put_throttle(struct rig *rig, int cpu, bool on, uint64_t time)
{
	struct record_who who = who_in(rig, 7, 7, time);

	record_throttle(&rig->record,
			on ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE,
			&who);
	ring_write_record(&rig->cpus[cpu].samples, &rig->record);
}

static void check_throttled(struct rig *rig, uint64_t times, uint64_t samples)
{
	run(rig, 1000000);
	assert_int_equal(rig->world.stats[OPD_PERF_THROTTLE], times);
	assert_int_equal(rig->world.stats[OPD_PERF_THROTTLED], samples);
}

/* Each CPU has its own times; the clock would have gone on. */
static void throttling_costs_samples(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);

	(void)state;
	rig->merge.period_ns = 100;
	put_throttle(rig, 0, true, 1000);
	put_throttle(rig, 1, true, 1500);
	put_throttle(rig, 0, false, 2050);
	check_throttled(rig, 2, 10);
	put_throttle(rig, 1, false, 2500);
	check_throttled(rig, 2, 20);
	put_throttle(rig, 1, false, 9999); /* it was not */
	put_throttle(rig, 2, true, 3000);
	put_throttle(rig, 2, false, 3000); /* for no time */
	put_throttle(rig, 2, true, 4000);
	put_throttle(rig, 2, false, 3900); /* for less than none */
	check_throttled(rig, 4, 20);
	put_throttle(rig, 2, true, 5000);
	put_throttle(rig, 2, false, 5099);
	check_throttled(rig, 5, 20);
	free_rig(rig);
}

/* A CPU that is throttled at the end loses up to then. */
static void throttling_may_have_no_end(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);

	(void)state;
	rig->merge.period_ns = 100;
	put_throttle(rig, 0, true, 1000);
	put_throttle(rig, 1, true, 1500);
	put_throttle(rig, 2, true, 1000);
	put_throttle(rig, 2, false, 1200);
	check_throttled(rig, 3, 2);
	assert_int_equal(opd_perf_merge_throttled(&rig->merge, 900), 0);
	assert_int_equal(opd_perf_merge_throttled(&rig->merge, 1500), 5);
	assert_int_equal(opd_perf_merge_throttled(&rig->merge, 2000), 15);
	check_throttled(rig, 3, 2);
	opd_perf_merge_stop(&rig->merge, &rig->world, 2000);
	check_throttled(rig, 3, 17);
	assert_int_equal(opd_perf_merge_throttled(&rig->merge, 9000), 0);
	/* An end that comes late ends nothing. */
	put_throttle(rig, 0, false, 9000);
	check_throttled(rig, 3, 17);
	free_rig(rig);
}

static void other_events_than_the_clock_lose_nothing(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);

	(void)state;
	put_throttle(rig, 0, true, 1000);
	put_throttle(rig, 0, false, 2000);
	check_throttled(rig, 1, 0);
	free_rig(rig);
}

static void records_that_make_no_sense_are_counted(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);
	struct record_who who = { 7, 7, 5, OPD_PERF_SIDE, 0 };
	struct record_mmap wraps = {
		.start = UINT64_MAX,
		.len = 1,
		.prot = PROT_EXEC,
		.name = "/bad",
	};

	(void)state;
	put_exec(rig, 0, 1, 7);
	put_map(rig, 0, 2, 7, 1);
	record_mmap2(&rig->record, &who, &wraps);
	ring_write_record(&rig->cpus[0].side, &rig->record);
	put_map(rig, 0, 6, 7, 2);
	put_sample(rig, 0, 3, 7, 10, 0);
	record_begin(&rig->record, PERF_RECORD_LOST, 0); /* says no number */
	record_end(&rig->record, &who);
	ring_write_record(&rig->cpus[0].samples, &rig->record);
	put_sample(rig, 0, 10, 7, 11, 0);
	run(rig, 100);
	expect(rig, 0, 10, 1);
	expect(rig, 0, 11, 2);
	expect_no_more(rig);
	assert_int_equal(rig->world.stats[OPD_PERF_BAD_RECORD], 2);
	free_rig(rig);
}

/* Of a CPU that was not there when the events were opened. */
static void a_cpu_may_have_no_rings(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);

	(void)state;
	ring_free(&rig->cpus[1].samples);
	ring_free(&rig->cpus[1].side);
	memset(&rig->cpus[1], 0, sizeof(rig->cpus[1]));
	put_exec(rig, 0, 1, 7);
	put_map(rig, 0, 2, 7, 1);
	put_sample(rig, 2, 3, 7, 10, 0);
	run(rig, 100);
	expect(rig, 20, 10, 1);
	expect_no_more(rig);
	free_rig(rig);
}

/* ---- all together -----------------------------------------------------------
 */

#define NR_SAMPLES 20000
#define NR_PIDS 3

/* What was written, and what is to come of it. */
struct script {
	uint64_t random;
	uint64_t now;
	struct change {
		uint64_t time;
		uint32_t pid;
	} changes[NR_SAMPLES]; /* by part */
	uint32_t nr_changes;
	struct {
		uint64_t time;
		uint32_t pid;
		int cpu;
		bool seen;
	} samples[NR_SAMPLES]; /* by tid */
	uint32_t nr_samples;
	uint32_t last_seen[NR_CPUS]; /* tid + 1 */
	uint32_t nr_seen;
};

/* The part that its process had mapped. */
static uint32_t part_of(const struct script *s, uint32_t tid)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t i = s->nr_changes; i-- > 0 && found == UINT32_MAX;)
		if (s->changes[i].pid == s->samples[tid].pid &&
		    s->changes[i].time <= s->samples[tid].time)
			found = i;
	return found;
}

static void check_seen(struct script *s, const struct seen *seen)
{
	uint32_t tid = (uint32_t)seen->tid;
	int cpu = (int)(seen->cpu / 10);

	assert_true(seen->tid < s->nr_samples);
	assert_false(s->samples[tid].seen);
	s->samples[tid].seen = true;
	assert_int_equal(s->samples[tid].cpu, cpu);
	assert_int_equal(s->samples[tid].pid, seen->tgid);
	assert_int_equal(seen->pc % LEN, tid % LEN);
	assert_int_equal(seen->pc / LEN, part_of(s, tid));
	/* Those of one CPU stay in order. */
	assert_true(tid + 1 > s->last_seen[cpu]);
	s->last_seen[cpu] = tid + 1;
	s->nr_seen++;
}

/* Handle what is before now, in pieces of any size. */
static void run_script(struct rig *rig, struct script *s)
{
	uint64_t horizon = s->now - 1;
	struct seen seen;
	bool all;

	opd_perf_merge_look(&rig->merge);
	do {
		all = run_into(rig, horizon,
			       OPD_PERF_SAMPLE_WORDS +
				       next_random(&s->random) % 500);
		while (walk_next(&rig->walk, &seen))
			check_seen(s, &seen);
	} while (!all);
}

static bool has_room(const struct rig *rig)
{
	bool room = true;

	for (int i = 0; i < NR_CPUS; i++)
		room &= ring_room(&rig->cpus[i].samples) >= 512 &&
			ring_room(&rig->cpus[i].side) >= 512;
	return room;
}

static void write_change(struct rig *rig, struct script *s, uint32_t pid)
{
	put_map(rig, (int)(next_random(&s->random) % NR_CPUS), ++s->now, pid,
		s->nr_changes);
	s->changes[s->nr_changes].time = s->now;
	s->changes[s->nr_changes++].pid = pid;
}

static void write_sample(struct rig *rig, struct script *s, uint32_t pid)
{
	int cpu = (int)(next_random(&s->random) % NR_CPUS);
	uint32_t tid = s->nr_samples++;

	s->now += next_random(&s->random) % 3;
	s->samples[tid].time = s->now;
	s->samples[tid].pid = pid;
	s->samples[tid].cpu = cpu;
	put_sample(rig, cpu, s->now, pid, tid, tid % LEN);
}

/* Changes have times of their own; samples may share any. */
static void write_script(struct rig *rig, struct script *s)
{
	while (s->nr_samples < NR_SAMPLES) {
		uint32_t pid = 1 + next_random(&s->random) % NR_PIDS;

		if (!has_room(rig) || next_random(&s->random) % 200 == 0)
			run_script(rig, s);
		if (next_random(&s->random) % 10 == 0)
			write_change(rig, s, pid);
		else
			write_sample(rig, s, pid);
	}
}

static void every_sample_is_where_it_was(void **state)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE_ID);
	struct script *s = calloc(1, sizeof(*s));

	(void)state;
	assert_non_null(s);
	s->random = 1;
	s->now = 10;
	for (uint32_t pid = 1; pid <= NR_PIDS; pid++) {
		put_exec(rig, 0, 1, pid);
		write_change(rig, s, pid);
	}
	write_script(rig, s);
	s->now++;
	run_script(rig, s);
	assert_int_equal(s->nr_seen, NR_SAMPLES);
	assert_int_equal(rig->world.stats[OPD_PERF_RECEIVED], NR_SAMPLES);
	assert_true(s->nr_changes > 1000);
	for (int i = 0; i < NR_CPUS; i++) {
		assert_int_equal(ring_room(&rig->cpus[i].samples), 4096);
		assert_int_equal(ring_room(&rig->cpus[i].side), 2048);
		assert_int_equal(rig->cpus[i].samples.nr_bad, 0);
	}
	free(s);
	free_rig(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_come_between_the_samples),
		cmocka_unit_test(a_change_comes_before_samples_of_its_time),
		cmocka_unit_test(what_is_behind_the_horizon_waits),
		cmocka_unit_test(late_records_are_handled_when_found),
		cmocka_unit_test(without_room_nothing_is_lost),
		cmocka_unit_test(the_tail_says_what_was_handled),
		cmocka_unit_test(ids_are_counters),
		cmocka_unit_test(without_ids_there_is_one_counter),
		cmocka_unit_test(lost_samples_are_counted),
		cmocka_unit_test(throttling_costs_samples),
		cmocka_unit_test(throttling_may_have_no_end),
		cmocka_unit_test(other_events_than_the_clock_lose_nothing),
		cmocka_unit_test(records_that_make_no_sense_are_counted),
		cmocka_unit_test(a_cpu_may_have_no_rings),
		cmocka_unit_test(every_sample_is_where_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
