// SPDX-License-Identifier: GPL-2.0-or-later
/* How the records of several CPUs come in order, and nothing gets lost. */

#include "daemon/source/perf/opd_perf_merge.h"
#include "tests/unit/daemon/source/perf_records.h"
#include "tests/unit/daemon/source/perf_words.h"
#include "tests/unit/daemon/source/perf_writer.h"
#include "tests/unit/rows.h"

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
	struct opd_process_table table;
	struct opd_perf_cpu cpus[NR_CPUS];
	struct opd_perf_merge merge;
	struct perf_writer writer;
	struct walk walk;
	unsigned char bounce[OPD_PERF_RECORD_MAX];
	struct record record;
	uint64_t sample_type;
};

static struct rig *new_rig(uint64_t sample_type)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	assert_non_null(rig);
	perf_writer_begin(&rig->writer, &rig->table);
	rig->table.proc = "/nonexistent";
	rig->table.lowered = true;
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
	opd_perf_stacks_release(&rig->table.stacks);
	opd_process_table_release(&rig->table);
	perf_writer_end(&rig->writer);
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

/* Go on until there are @limit words. */
static bool run_into(struct rig *rig, uint64_t horizon, size_t limit)
{
	struct opd_writer *w = rig->table.writer;
	bool all;

	w->words.nr = 0;
	w->limit = limit;
	all = opd_perf_merge_run(&rig->merge, &rig->table, horizon);
	walk_into(&rig->walk, w->words.words, w->words.nr);
	return all;
}

/* Handle all up to @horizon. */
static void run(struct rig *rig, uint64_t horizon)
{
	opd_perf_merge_poll(&rig->merge);
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

/* ---- what is in the rings, in words -----------------------------------------
 */

static void put_counted(struct rig *rig, int cpu, uint64_t time, uint64_t id)
{
	struct record_who who = who_in(rig, 7, 7, time);

	who.id = id;
	record_sample(&rig->record, &who, PERF_RECORD_MISC_KERNEL, 0x1234);
	ring_write_record(&rig->cpus[cpu].samples, &rig->record);
}

static void put_lost(struct rig *rig, int cpu, uint32_t type, uint64_t time,
		     uint64_t nr)
{
	struct record_who who = who_in(rig, 7, 7, time);

	record_lost(&rig->record, type, &who, nr);
	ring_write_record(&rig->cpus[cpu].samples, &rig->record);
}

static void put_throttle(struct rig *rig, int cpu, bool on, uint64_t time)
{
	struct record_who who = who_in(rig, 7, 7, time);

	record_throttle(&rig->record,
			on ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE,
			&who);
	ring_write_record(&rig->cpus[cpu].samples, &rig->record);
}

/* A record of side band, or of samples, that makes no sense. */
static void put_bad(struct rig *rig, int cpu, uint64_t time, bool side)
{
	struct record_who who = { 7, 7, time, OPD_PERF_SIDE, 0 };
	struct record_mmap wraps = {
		.start = UINT64_MAX,
		.len = 1,
		.prot = PROT_EXEC,
		.name = "/bad",
	};

	if (side) {
		record_mmap2(&rig->record, &who, &wraps);
		ring_write_record(&rig->cpus[cpu].side, &rig->record);
		return;
	}
	record_begin(&rig->record, PERF_RECORD_LOST, 0); /* says no number */
	record_end(&rig->record, &who);
	ring_write_record(&rig->cpus[cpu].samples, &rig->record);
}

static void put_side_lost(struct rig *rig, int cpu, uint64_t time, uint64_t nr)
{
	struct record_who who = { 7, 7, time, OPD_PERF_SIDE, 0 };

	record_lost(&rig->record, PERF_RECORD_LOST, &who, nr);
	ring_write_record(&rig->cpus[cpu].side, &rig->record);
}

/*
 * exec CPU TIME, map CPU TIME PART, user CPU TIME TID, kernel CPU TIME ID,
 * lost CPU TIME NR, lost-samples CPU TIME NR, side-lost CPU TIME NR,
 * throttle CPU TIME, unthrottle CPU TIME, bad CPU TIME, bad-side CPU TIME
 */
static bool put_line(struct rig *rig, const char *verb, int cpu, uint64_t time,
		     uint64_t nr)
{
	if (!strcmp(verb, "exec"))
		put_exec(rig, cpu, time, 7);
	else if (!strcmp(verb, "map"))
		put_map(rig, cpu, time, 7, nr);
	else if (!strcmp(verb, "user"))
		put_sample(rig, cpu, time, 7, (uint32_t)nr, 0);
	else if (!strcmp(verb, "kernel"))
		put_counted(rig, cpu, time, nr);
	else if (!strcmp(verb, "lost"))
		put_lost(rig, cpu, PERF_RECORD_LOST, time, nr);
	else if (!strcmp(verb, "lost-samples"))
		put_lost(rig, cpu, PERF_RECORD_LOST_SAMPLES, time, nr);
	else if (!strcmp(verb, "side-lost"))
		put_side_lost(rig, cpu, time, nr);
	else if (!strcmp(verb, "throttle"))
		put_throttle(rig, cpu, true, time);
	else if (!strcmp(verb, "unthrottle"))
		put_throttle(rig, cpu, false, time);
	else if (!strcmp(verb, "bad"))
		put_bad(rig, cpu, time, false);
	else if (!strcmp(verb, "bad-side"))
		put_bad(rig, cpu, time, true);
	else
		return false;
	return true;
}

/* ---- what comes of it, in words ---------------------------------------------
 */

/* Of user code "TID@CPU:PART", of the kernel "#COUNTER@CPU". */
static void show_samples(struct rig *rig, FILE *out)
{
	struct seen seen;

	while (walk_next(&rig->walk, &seen)) {
		if (seen.kernel) {
			assert_int_equal(seen.pc, 0x1234);
			fprintf(out, " #%d@%lu", (int)seen.counter, seen.cpu);
			continue;
		}
		assert_int_equal(seen.cookie, 1);
		fprintf(out, " %lu@%lu:%lu", seen.tid, seen.cpu, seen.pc / LEN);
		if (seen.times)
			fprintf(out, "*%lu", seen.times);
	}
}

static void show_stats(const struct rig *rig, FILE *out)
{
	static const char *const names[] = {
#define X(constant, name) [OPD_PERF_##constant] = #name,
		OPD_PERF_STATS(X)
#undef X
	};

	for (size_t i = 0; i < OPD_PERF_NR_STATS; i++)
		if (rig->table.stats[i] && i != OPD_PERF_PROC_READ)
			fprintf(out, "%s %lu\n", names[i], rig->table.stats[i]);
	if (rig->table.gap_at)
		fprintf(out, "gap at %lu\n", rig->table.gap_at);
	for (int i = 0; i < NR_CPUS; i++) {
		uint64_t samples = 4096 - ring_room(&rig->cpus[i].samples);
		uint64_t side = 2048 - ring_room(&rig->cpus[i].side);

		if (samples || side)
			fprintf(out, "CPU %d has %lu and %lu bytes left\n", i,
				samples, side);
	}
}

static void show_ahead(struct rig *rig, FILE *out)
{
	bool filling;
	size_t nr =
		opd_perf_merge_look_ahead(&rig->merge, &rig->table, &filling);

	fprintf(out, "ahead: %zu records, %zu images%s\n", nr,
		rig->table.images.nr, filling ? ", filling" : "");
}

/*
 * run HORIZON [one]: handle what is there, with room for one sample only;
 * ahead: look at side band before its turn;
 * lowered CPU TIME SHIFT: the rate of its samples from then on;
 * throttled TIME: what has been lost by then; stop TIME: no clock from then on;
 * show: statistics and what is left in the rings, as at the end
 */
static void do_line(struct rig *rig, const char *line, FILE *out)
{
	unsigned long v[3] = { 0 };
	char verb[16];
	bool all;
	int nr;

	nr = sscanf(line, "%15s %lu %lu %lu", verb, &v[0], &v[1], &v[2]);
	if (nr > 2 && put_line(rig, verb, (int)v[0], v[1], v[2]))
		return;
	if (!strcmp(verb, "run")) {
		opd_perf_merge_poll(&rig->merge);
		all = run_into(rig, v[0], strstr(line, " one") ? 1 : MANY);
		fputs(all ? "all:" : "not all:", out);
		show_samples(rig, out);
		fputc('\n', out);
	} else if (!strcmp(verb, "ahead")) {
		show_ahead(rig, out);
	} else if (!strcmp(verb, "lowered")) {
		opd_perf_rates_change(&rig->cpus[v[0]].rates, v[1],
				      (unsigned int)v[2]);
	} else if (!strcmp(verb, "throttled")) {
		fprintf(out, "throttled: %lu\n",
			opd_perf_merge_throttled(&rig->merge, v[0]));
	} else if (!strcmp(verb, "stop")) {
		opd_perf_merge_stop(&rig->merge, &rig->table, v[0]);
	} else if (!strcmp(verb, "show")) {
		show_stats(rig, out);
	} else {
		fail_msg("%s: no such verb", line);
	}
}

/* @row->given is how many ids are known, or "clock" of a period of 100 ns. */
static void run_merge(const struct row *row, FILE *out)
{
	static const struct opd_perf_id ids[] = {
		{ 5, 2 }, { 8, 0 }, { 1000, 1 }, { UINT64_MAX, 31 }
	};
	size_t nr_ids = row->given ? strtoul(row->given, NULL, 10) : 0;
	struct rig *rig =
		new_rig(nr_ids ? OPD_PERF_SAMPLE_ID : OPD_PERF_SAMPLE);
	const char *at = row->script;
	char line[64];

	rig->merge.ids = ids;
	rig->merge.nr_ids = nr_ids;
	if (row->given && !nr_ids)
		rig->merge.period_ns = 100;
	while (next_line(&at, line, sizeof(line)))
		do_line(rig, line, out);
	show_stats(rig, out);
	free_rig(rig);
}

#define IDS                                                                    \
	"kernel 0 1 5; kernel 0 2 8; kernel 0 3 1000;"                         \
	"kernel 0 4 18446744073709551615; kernel 0 10 0; kernel 0 11 4;"       \
	"kernel 0 12 6; kernel 0 13 9; kernel 0 14 999; kernel 0 15 1001;"     \
	"run 100"

static const struct row rows[] = {
	/* Images are named at once, and nothing else changes. */
	{ "images_are_looked_at_ahead", NULL,
	  "exec 0 1 7; bad-side 0 2 0; ahead; map 1 3 7; ahead; ahead;"
	  "user 0 4 7; run 9; ahead; map 0 10 7; map 0 11 7; map 0 12 7; ahead",
	  EXPECTED_ROW },
	/* The drawing in opd_perf_merge.h. */
	{ "changes_come_between_the_samples", NULL,
	  "exec 2 1; map 2 2 1; map 1 100 2; map 0 200 3;"
	  "user 0 90 10; user 0 95 11; user 0 150 12; user 0 250 13;"
	  "user 1 91 14; user 1 101 15; user 1 199 16; user 1 201 17; run 300",
	  EXPECTED_ROW },
	/* At one time: the change was before the sample. */
	{ "a_change_comes_before_samples_of_its_time", NULL,
	  "exec 0 100; map 0 100 1; map 0 100 2; map 1 101 3;"
	  "user 0 100 10; user 2 100 11; user 2 101 12; run 101",
	  EXPECTED_ROW },
	/* Of two changes at one time that of the lower CPU comes first. */
	{ "changes_of_one_time_go_by_cpu", NULL,
	  "exec 2 1; map 2 1 1; map 1 10 2; map 0 10 3; user 0 10 10; run 11",
	  EXPECTED_ROW },
	{ "what_is_behind_the_horizon_waits", NULL,
	  "exec 0 1; map 0 1 1; user 0 100 10; user 0 101 11; map 1 101 2;"
	  "user 1 102 12; run 100; show; run 100; run 101; run 102",
	  EXPECTED_ROW },
	/*
	 * What comes after its time was handled is handled as the table is
	 * then; a record behind a later one waits for that.
	 */
	{ "late_samples_are_handled_when_found", NULL,
	  "exec 0 1; map 0 1 1; map 0 50 2; run 100; user 1 40 10;"
	  "user 2 150 11; user 2 45 12; run 120; run 160",
	  EXPECTED_ROW },
	{ "late_changes_are_handled_when_found", NULL,
	  "exec 0 1; map 0 50 2; map 0 170 3; map 0 165 4; user 1 166 13;"
	  "user 1 171 14; run 180",
	  EXPECTED_ROW },
	/* What a sample stands for is told by its time, on each CPU. */
	{ "a_lowered_rate_counts_from_its_time", NULL,
	  "exec 0 1; map 0 1 1; lowered 0 100 2; lowered 1 103 2;"
	  "lowered 0 200 0; user 0 99 10; user 0 100 11; user 0 199 12;"
	  "user 0 200 13; user 1 102 14; user 1 103 15; user 2 500 16; run 600",
	  EXPECTED_ROW },
	/* The last eight changes are known. */
	{ "old_changes_are_forgotten", NULL,
	  "exec 0 1; map 0 1 1; lowered 0 10 7; lowered 0 20 1; lowered 0 30 2;"
	  "lowered 0 40 3; lowered 0 50 4; lowered 0 60 5; lowered 0 70 6;"
	  "lowered 0 80 7; lowered 0 90 1; lowered 0 100 0; user 0 5 10;"
	  "user 0 29 11; user 0 30 12; user 0 85 13; user 0 100 14; run 200",
	  EXPECTED_ROW },
	/* Room is given back as far as things were handled. */
	{ "the_tail_says_what_was_handled", NULL,
	  "exec 0 1; map 0 1 1; map 0 30 2; user 1 10 0; user 1 20 1;"
	  "user 1 30 2; user 1 40 3; show; run 100 one; show; run 100",
	  EXPECTED_ROW },
	/* ---- counters ---- */
	{ "one_id_is_known", "1", IDS, EXPECTED_ROW },
	{ "two_ids_are_known", "2", IDS, EXPECTED_ROW },
	{ "three_ids_are_known", "3", IDS, EXPECTED_ROW },
	{ "four_ids_are_known", "4", IDS, EXPECTED_ROW },
	{ "without_ids_there_is_one_counter", NULL,
	  "kernel 0 1 99; kernel 2 2 0; run 100", EXPECTED_ROW },
	/* ---- what is not there ---- */
	/* The last one is behind the horizon. */
	{ "lost_samples_are_counted", "1",
	  "lost 0 10 100; lost-samples 1 20 20; lost 1 21 3;"
	  "side-lost 1 30 7000; lost 2 101 5000; run 100",
	  EXPECTED_ROW },
	/* Each CPU has its own times; the clock would have gone on. */
	{ "throttling_costs_samples", "clock",
	  "throttle 0 1000; throttle 1 1500; unthrottle 0 2050; run 9000; show;"
	  "unthrottle 1 2500; run 9000; show;"
	  "unthrottle 1 9999;" /* it was not */
	  "throttle 2 3000; unthrottle 2 3000;" /* for no time */
	  "throttle 2 4000; unthrottle 2 3900;" /* for less than none */
	  "run 10000; show;"
	  "throttle 2 5000; unthrottle 2 5099; run 10000; show;"
	  "throttle 2 6000; unthrottle 2 6100; run 10000",
	  EXPECTED("throttling-costs-samples") },
	/* A CPU that is throttled at the end loses up to then. */
	{ "throttling_may_have_no_end", "clock",
	  "throttle 0 1000; throttle 1 1500; throttle 2 1000;"
	  "unthrottle 2 1200; run 9000; show; throttled 900; throttled 1500;"
	  "throttled 2000; show; stop 2000; show; throttled 9000;"
	  "unthrottle 0 9000; run 9000",
	  EXPECTED("throttling-may-have-no-end") },
	{ "other_events_than_the_clock_lose_nothing", NULL,
	  "throttle 0 1000; unthrottle 0 2000; run 9000", EXPECTED_ROW },
	{ "records_that_make_no_sense_are_counted", NULL,
	  "exec 0 1; map 0 2 1; bad-side 0 5; map 0 6 2; user 0 3 10;"
	  "bad 0 5; user 0 10 11; run 100",
	  EXPECTED_ROW },
};

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_merge);
}

TEST(without_room_nothing_is_lost)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);
	uint32_t tid = 0;
	bool all = false;

	put_exec(rig, 0, 1, 7);
	for (uint32_t i = 0; i < 15; i++) {
		put_map(rig, 1, 10 + i * 10, 7, i);
		put_sample(rig, 0, 11 + i * 10, 7, 2 * i, 0);
		put_sample(rig, 2, 12 + i * 10, 7, 2 * i + 1, 0);
	}
	opd_perf_merge_poll(&rig->merge);
	assert_false(run_into(rig, 1000, 0));
	expect_no_more(rig);
	assert_int_equal(rig->table.stats[OPD_PERF_RECEIVED], 0);
	while (!all) {
		all = run_into(rig, 1000, 1 + tid % 3);
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
	assert_int_equal(rig->table.stats[OPD_PERF_RECEIVED], 30);
	assert_int_equal(ring_room(&rig->cpus[0].samples), 4096);
	assert_int_equal(ring_room(&rig->cpus[1].side), 2048);
	free_rig(rig);
}

/* Of a CPU that was not there when the events were opened. */
TEST(a_cpu_may_have_no_rings)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);

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

/* ---- elapsed time
 * ------------------------------------------------------------
 */

#define NR_TICKS 20u
#define LATENCY "CPU_LATENCY:0:1:10:0:1:1"
#define TICK 10u /* ns, which is also what a sample of latency stands for */

/* Samples of event 1 that were written by now. */
static uint64_t sum_latency(struct rig *rig)
{
	uint64_t sum = 0;
	struct seen seen;

	run(rig, 1000);
	while (walk_next(&rig->walk, &seen))
		if (seen.counter == 1)
			sum += seen.times ? seen.times : 1;
	return sum;
}

/* A thread gets CPU 1 in the middle of the samples of CPU 0. */
TEST(samples_know_who_ran_at_their_time)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE);
	struct record_who other = { 7, 2, 100 + NR_TICKS / 2 * TICK,
				    OPD_PERF_SAMPLE, 0 };
	struct opd_events events;
	struct opd_latency latency;
	struct opd_waits waits;
	struct op_diag diag;

	assert_int_equal(opd_events_parse(&events, "TIMER:0:0:0:0:1:1," LATENCY,
					  &diag),
			 0);
	opd_waits_init(&waits, &events);
	opd_latency_init(&latency, &events);
	rig->merge.waits = &waits;
	rig->merge.latency = &latency;
	rig->merge.period_ns = TICK;
	for (int i = 0; i < NR_CPUS; i++)
		ring_make(&rig->cpus[i].switches, 2048, OPD_PERF_SAMPLE, 0);
	put_exec(rig, 0, 1, 7);
	put_map(rig, 0, 2, 7, 1);
	for (uint32_t i = 0; i < NR_TICKS; i++)
		put_sample(rig, 0, 101 + i * TICK, 7, 1, 0);
	record_begin(&rig->record, PERF_RECORD_SWITCH, 0);
	record_end(&rig->record, &other);
	ring_write_record(&rig->cpus[1].switches, &rig->record);
	assert_in_range(sum_latency(rig), NR_TICKS * 3 / 4 - 1,
			NR_TICKS * 3 / 4 + 1);
	for (int i = 0; i < NR_CPUS; i++)
		ring_free(&rig->cpus[i].switches);
	opd_latency_release(&latency);
	opd_waits_release(&waits);
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

	opd_perf_merge_poll(&rig->merge);
	do {
		all = run_into(rig, horizon, 1 + next_random(&s->random) % 500);
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

TEST(every_sample_is_where_it_was)
{
	struct rig *rig = new_rig(OPD_PERF_SAMPLE_ID);
	struct script *s = calloc(1, sizeof(*s));

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
	assert_int_equal(rig->table.stats[OPD_PERF_RECEIVED], NR_SAMPLES);
	assert_true(s->nr_changes > 1000);
	for (int i = 0; i < NR_CPUS; i++) {
		assert_int_equal(ring_room(&rig->cpus[i].samples), 4096);
		assert_int_equal(ring_room(&rig->cpus[i].side), 2048);
		assert_int_equal(rig->cpus[i].samples.nr_bad, 0);
	}
	free(s);
	free_rig(rig);
}
