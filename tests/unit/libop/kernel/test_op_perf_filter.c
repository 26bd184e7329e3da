// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel drops samples of this process, and of no other one, as it is told.
 */

#include <stdlib.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "libop/kernel/op_perf.h"
#include "libop/kernel/op_perf_filter.h"

#define PERIOD_NS 200000

/* Samples of this process, in a ring that holds all of a test. */
struct sampled {
	int fd;
	volatile struct perf_event_mmap_page *ring;
	size_t len;
};

static void sampled_open(struct sampled *s)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP,
		.exclude_hv = 1,
	};
	void *ring;

	s->fd = op_perf_open(&attr, 0, -1, -1);
	assert_true(s->fd >= 0);
	s->len = 17 * (size_t)sysconf(_SC_PAGESIZE);
	ring = mmap(NULL, s->len, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	assert_ptr_not_equal(ring, MAP_FAILED);
	s->ring = ring;
}

static void sampled_close(struct sampled *s)
{
	munmap((void *)s->ring, s->len);
	close(s->fd);
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Whether a sample comes in a second of this process's CPU time. */
static bool comes(const struct sampled *s)
{
	uint64_t head = s->ring->data_head, end = cpu_ns() + 1000000000;

	while (s->ring->data_head == head && cpu_ns() < end)
		;
	return s->ring->data_head != head;
}

/* Whether one comes in the time of a hundred. */
static bool comes_soon(const struct sampled *s)
{
	uint64_t head = s->ring->data_head, end = cpu_ns() + 100 * PERIOD_NS;

	while (s->ring->data_head == head && cpu_ns() < end)
		;
	return s->ring->data_head != head;
}

TEST(samples_are_dropped)
{
	uint32_t self = (uint32_t)getpid();
	struct op_perf_filter filter;
	struct sampled s;
	int err = op_perf_filter_open(&filter);

	if (err) {
		printf("no filter here: %s\n", strerror(-err));
		assert_null(filter.words);
		assert_false(op_perf_filter_works());
		skip();
	}
	assert_true(op_perf_filter_works());
	sampled_open(&s);
	assert_true(comes(&s));
	assert_int_equal(op_perf_filter_attach(&filter, s.fd), 0);
	assert_true(comes(&s));
	/* The same word, and others' first and last bits. */
	op_perf_filter_drop(&filter, self ^ 1, true);
	op_perf_filter_drop(&filter, self ^ 63, true);
	op_perf_filter_drop(&filter, self ^ 64, true);
	op_perf_filter_drop(&filter, 0, true);
	op_perf_filter_drop(&filter, OP_PERF_FILTER_PIDS - 1, true);
	assert_true(comes(&s));
	op_perf_filter_drop(&filter, self, true);
	assert_false(comes_soon(&s));
	op_perf_filter_drop(&filter, self, false);
	assert_true(comes(&s));
	op_perf_filter_drop(&filter, self, true);
	/* It goes on where nobody can change it any more. */
	op_perf_filter_close(&filter);
	assert_false(comes_soon(&s));
	sampled_close(&s);
}

TEST(the_set_has_all_numbers)
{
	struct op_perf_filter filter = { .program_fd = -1 };
	static const uint32_t ins[] = { 0, 63, 64, OP_PERF_FILTER_PIDS - 1 };
	static const uint32_t outs[] = { 1, 62, 65, OP_PERF_FILTER_PIDS,
					 UINT32_MAX };

	filter.words = calloc(OP_PERF_FILTER_WORDS, sizeof(filter.words[0]));
	assert_non_null(filter.words);
	for (size_t i = 0; i < sizeof(ins) / sizeof(ins[0]); i++)
		op_perf_filter_drop(&filter, ins[i], true);
	op_perf_filter_drop(&filter, OP_PERF_FILTER_PIDS, true);
	for (size_t i = 0; i < sizeof(ins) / sizeof(ins[0]); i++)
		assert_true(op_perf_filter_drops(&filter, ins[i]));
	for (size_t i = 0; i < sizeof(outs) / sizeof(outs[0]); i++)
		assert_false(op_perf_filter_drops(&filter, outs[i]));
	op_perf_filter_drop(&filter, 63, false);
	assert_false(op_perf_filter_drops(&filter, 63));
	assert_true(op_perf_filter_drops(&filter, 64));
	free(filter.words);
}
