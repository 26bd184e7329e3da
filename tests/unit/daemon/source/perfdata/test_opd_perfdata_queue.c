// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The queue that orders perf's records: which of them are ready at the end of
 * each round, in which order, and that they are still what was put.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "daemon/source/perf/opd_perf_words.h"
#include "daemon/source/perfdata/opd_perfdata_block.h"
#include "daemon/source/perfdata/opd_perfdata_queue.h"

static struct opd_perfdata_pool pool;

/* Put @record with a copy of its bytes that nobody but the queue holds. */
static void put_copy(struct opd_perfdata_queue *queue,
		     struct opd_perfdata_record record)
{
	struct opd_perfdata_block *block = opd_perfdata_block_new(&pool);

	assert_non_null(block);
	memset(block->bytes, 0xff, OPD_PERFDATA_ROOM);
	memcpy(block->bytes, record.bytes, record.len);
	record.bytes = block->bytes;
	assert_int_equal(opd_perfdata_queue_put(queue, &record), 0);
	opd_perfdata_block_drop(block);
}

/* Nobody holds a block. */
static void end_pool(void)
{
	opd_perfdata_pool_release(&pool);
	assert_int_equal(pool.nr, 0);
}

/*
 * @steps are words: 5a puts the record "a" with time 5, | ends a round, . the
 * file; after each of these two all that is ready is taken. What was taken
 * stands in @taken in the same words, with the same ends. Capitals are samples.
 */
static const struct queue_case {
	const char *what, *steps, *taken;
} cases[] = {
	{ "nothing", "| .", "| ." },
	{ "a first round is not ready", "1a 2b |", "|" },
	{ "the end makes all ready", "2b 1a .", ". 1a 2b" },
	{ "what is as old as the round before", "1a 3b | 3c 4d |",
	  "| | 1a 3b 3c" },
	{ "what is later waits", "1a 3b | 4d |  9e | .",
	  "| | 1a 3b | 4d . 9e" },
	{ "CPUs one after the other", "1a 4b 7c 2d 5e 8f 3g 6h 9i .",
	  ". 1a 2d 3g 4b 5e 6h 7c 8f 9i" },
	{ "backwards", "5a 4b 3c 2d 1e .", ". 1e 2d 3c 4b 5a" },
	{ "the same time keeps its order", "2a 1b 2c 1d 2e 1f .",
	  ". 1b 1d 1f 2a 2c 2e" },
	{ "a round of one CPU waits for another's", "1a 6b | 2c 7d | 8e |",
	  "| | 1a 2c 6b | 7d" },
	{ "an empty round lets go all before it", "2a 1b | | |",
	  "| | 1b 2a |" },
	{ "lengths of all kinds, across a drop",
	  "1aaaa 3bb | 2c 4ddddddddd | 5eee 6f | .",
	  "| | 1aaaa 2c 3bb | 4ddddddddd . 5eee 6f" },
	{ "another file begins with times of its own", "90a | 95b . 1c | 2d |",
	  "| . 90a 95b | | 1c" },
	{ "time 0 is ready at the end of a round", "0a 1b |", "| 0a" },
	{ "samples keep the order of CPUs", "1A 4B 7C 2D 5E 8F .",
	  ". 1A 4B 7C 2D 5E 8F" },
	{ "but not across side band", "1A 4B 7C 2D 5e 8F 3g 6H .",
	  ". 1A 2D 3g 4B 5e 7C 8F 6H" },
	{ "nor where it has the same time", "2A 2b 2C 2d 1E 2F 3G .",
	  ". 2A 1E 2b 2C 2d 2F 3G" },
	{ "samples before, between and behind", "1A 2B 5c 6D 7E 3F 4G 8H 5i .",
	  ". 1A 2B 3F 4G 5c 5i 6D 7E 8H" },
	{ "samples that wait, across rounds",
	  "1A 9B 4c | 2D 8e 3F | 5G 7H | 9i 9J .",
	  "| | 1A 2D 3F 4c 8e 9B | 5G 7H . 9i 9J" },
	{ "samples alone, round by round", "5A 6B | 1C 7D | 8E | .",
	  "| | 5A 6B 1C | 7D . 8E" },
};

static void take_all(struct opd_perfdata_queue *queue, FILE *out)
{
	struct opd_perfdata_record record, again;

	while (opd_perfdata_queue_first(queue, &record)) {
		/* It holds, and is no other one, until it is taken away. */
		assert_true(opd_perfdata_queue_first(queue, &again));
		assert_ptr_equal(record.bytes, again.bytes);
		assert_int_equal(record.tag, record.time + 7);
		fprintf(out, " %ju%.*s", (uintmax_t)record.time,
			(int)record.len, (const char *)record.bytes);
		opd_perfdata_queue_next(queue);
	}
}

static void run_steps(struct opd_perfdata_queue *queue, const char *steps,
		      FILE *out)
{
	char *copy = strdup(steps), *rest, *name;

	for (char *word = strtok_r(copy, " ", &rest); word;
	     word = strtok_r(NULL, " ", &rest)) {
		int err = 0;

		if (*word == '|')
			err = opd_perfdata_queue_end_round(queue);
		else if (*word == '.')
			err = opd_perfdata_queue_end(queue);
		assert_int_equal(err, 0);
		if (*word == '|' || *word == '.') {
			fprintf(out, "%s%c", ftell(out) ? " " : "", *word);
			take_all(queue, out);
		} else {
			uint64_t time = strtoull(word, &name, 10);
			const struct opd_perfdata_record record = {
				.time = time,
				.bytes = name,
				.len = (uint32_t)strlen(name),
				.tag = (uint32_t)time + 7,
				.kind = *name < 'a' ? OPD_PERFDATA_SAMPLE
						    : OPD_PERFDATA_SIDE,
			};

			put_copy(queue, record);
		}
	}
	free(copy);
}

TEST(test_order)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct opd_perfdata_queue queue = { 0 };
		char taken[200];
		FILE *out = fmemopen(taken, sizeof(taken), "w");

		assert_non_null(out);
		run_steps(&queue, cases[i].steps, out);
		fclose(out);
		if (strcmp(taken, cases[i].taken))
			fail_msg("%s: got %s, wanted %s", cases[i].what, taken,
				 cases[i].taken);
		opd_perfdata_queue_release(&queue);
		end_pool();
	}
}

/*
 * Plain samples: 5p7:10 puts one of process 7 at address 10 with time 5, 5s7
 * side band about process 7, 5s* about all; | and . as above. A sample has *N
 * behind it where it counts N times.
 */
static const struct {
	const char *what, *steps, *taken;
} plain_cases[] = {
	{ "equal ones become one", "1p7:10 2p7:10 3p7:10 .", ". 1p7:10*3" },
	{ "their periods add up", "1p7:10*5000000000 2p7:10*7 .",
	  ". 1p7:10*5000000007" },
	{ "as far as the stream has room",
	  "1p7:10*281474976710655 2p7:10 3p7:10*2 .",
	  ". 1p7:10*281474976710656 3p7:10*2" },
	{ "of two CPUs' records", "1p7:10 3p7:10 2p7:10 4p7:11 .",
	  ". 1p7:10*3 4p7:11" },
	{ "other addresses and processes",
	  "1p7:10 2p8:10 3p7:11 4p7:10 5p8:10 .",
	  ". 1p7:10*2 2p8:10*2 3p7:11" },
	{ "not across side band of the process", "1p7:10 2s7 3p7:10 4p7:10 .",
	  ". 1p7:10 2s7 3p7:10*2" },
	{ "but of another one", "1p7:10 2s8 3p7:10 4p8:10 .",
	  ". 1p7:10*2 2s8 4p8:10" },
	{ "not across what is about all", "1p7:10 2s* 3p7:10 .",
	  ". 1p7:10 2s* 3p7:10" },
	{ "nor in the wrong order", "3p7:10 1p7:10 2s7 .",
	  ". 1p7:10 2s7 3p7:10" },
	{ "nor of two rounds", "1p7:10 | 2p7:10 | 3p7:10 | .",
	  "| | 1p7:10 | 2p7:10 . 3p7:10" },
	{ "what waits stays", "1p7:10 2p7:10 9p7:10 | 9p7:10 12p7:10 | .",
	  "| | 1p7:10*4 . 12p7:10" },
};

static void put_plain_step(struct opd_perfdata_queue *queue, const char *word)
{
	struct opd_perfdata_record record = { .times = 1 };
	char *rest;

	record.time = strtoull(word, &rest, 10);
	record.kind = *rest == 'p' ? OPD_PERFDATA_PLAIN : OPD_PERFDATA_SIDE;
	if (rest[1] == '*')
		record.pid = OPD_PERFDATA_ALL;
	else
		record.pid = record.tid =
			(uint32_t)strtoul(rest + 1, &rest, 10);
	if (record.kind == OPD_PERFDATA_PLAIN) {
		record.ip = strtoull(rest + 1, &rest, 10);
		if (*rest == '*')
			record.times = strtoull(rest + 1, NULL, 10);
	} else {
		record.bytes = word;
		record.len = 1;
		put_copy(queue, record);
		return;
	}
	assert_int_equal(opd_perfdata_queue_put(queue, &record), 0);
}

static void take_all_plain(struct opd_perfdata_queue *queue, FILE *out)
{
	struct opd_perfdata_record record;

	while (opd_perfdata_queue_first(queue, &record)) {
		fprintf(out, " %ju", (uintmax_t)record.time);
		if (record.kind == OPD_PERFDATA_PLAIN)
			fprintf(out, "p%u:%ju", record.pid,
				(uintmax_t)record.ip);
		else if (record.pid == OPD_PERFDATA_ALL)
			fputs("s*", out);
		else
			fprintf(out, "s%u", record.pid);
		if (record.times > 1)
			fprintf(out, "*%ju", (uintmax_t)record.times);
		opd_perfdata_queue_next(queue);
	}
}

TEST(test_plain_samples)
{
	for (size_t i = 0; i < sizeof(plain_cases) / sizeof(*plain_cases);
	     i++) {
		struct opd_perfdata_queue queue = { 0 };
		char *copy = strdup(plain_cases[i].steps), *rest;
		char taken[200];
		FILE *out = fmemopen(taken, sizeof(taken), "w");

		assert_non_null(out);
		for (char *word = strtok_r(copy, " ", &rest); word;
		     word = strtok_r(NULL, " ", &rest)) {
			if (*word != '|' && *word != '.') {
				put_plain_step(&queue, word);
				continue;
			}
			assert_int_equal(
				*word == '|'
					? opd_perfdata_queue_end_round(&queue)
					: opd_perfdata_queue_end(&queue),
				0);
			fprintf(out, "%s%c", ftell(out) ? " " : "", *word);
			take_all_plain(&queue, out);
		}
		fclose(out);
		free(copy);
		if (strcmp(taken, plain_cases[i].taken))
			fail_msg("%s: got %s, wanted %s", plain_cases[i].what,
				 taken, plain_cases[i].taken);
		opd_perfdata_queue_release(&queue);
		end_pool();
	}
}

/* Each of these makes another sample. */
TEST(test_unequal_samples)
{
	const struct opd_perfdata_record first = {
		.time = 1,
		.ip = 2,
		.cpu = 3,
		.tag = 4,
		.pid = 5,
		.tid = 6,
		.times = 1,
		.misc = 7,
		.kind = OPD_PERFDATA_PLAIN,
	};
	struct opd_perfdata_record others[7], taken;
	struct opd_perfdata_queue queue = { 0 };

	assert_int_equal(opd_perfdata_queue_put(&queue, &first), 0);
	for (int i = 0; i < 7; i++) {
		others[i] = first;
		others[i].time = (uint64_t)i + 2;
	}
	others[0].cpu = others[1].tag = others[2].pid = others[3].tid =
		others[4].misc = 9;
	others[5].ip = 9;
	/* The next tick of a time line. */
	others[6].time = OPD_PERF_TICK;
	for (int i = 0; i < 7; i++)
		assert_int_equal(opd_perfdata_queue_put(&queue, &others[i]), 0);
	assert_int_equal(opd_perfdata_queue_end(&queue), 0);
	for (int i = -1; i < 7; i++) {
		assert_true(opd_perfdata_queue_first(&queue, &taken));
		assert_int_equal(taken.time,
				 i < 6 ? (uint64_t)(i + 2) : OPD_PERF_TICK);
		assert_int_equal(taken.times, 1);
		opd_perfdata_queue_next(&queue);
	}
	assert_false(opd_perfdata_queue_first(&queue, &taken));
	opd_perfdata_queue_release(&queue);
}

/* Rounds without end take no more memory than two of them need. */
TEST(test_many_rounds)
{
	struct opd_perfdata_queue queue = { 0 };
	uint64_t nr = 0, last = 0;
	struct opd_perfdata_record record;

	for (uint64_t round = 1; round <= 1000; round++) {
		for (uint64_t i = 10; i > 0; i--) {
			record = (struct opd_perfdata_record){
				.time = round * 10 + i,
				.bytes = &round,
				.len = sizeof(round),
			};
			put_copy(&queue, record);
		}
		assert_int_equal(opd_perfdata_queue_end_round(&queue), 0);
		for (; opd_perfdata_queue_first(&queue, &record); nr++) {
			assert_true(record.time > last);
			last = record.time;
			opd_perfdata_queue_next(&queue);
		}
		assert_true(queue.sides.nr + queue.ready_sides.nr <= 20);
		/* Two, and what was taken. */
		assert_true(pool.nr <= 31);
	}
	assert_int_equal(nr, 9990);
	opd_perfdata_queue_release(&queue);
	assert_false(opd_perfdata_queue_first(&queue, &record));
	assert_int_equal(queue.sides.nr + queue.before, 0);
	end_pool();
}
