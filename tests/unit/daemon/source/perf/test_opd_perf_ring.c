// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rings of perf_events in ordinary memory, written as the kernel would and as
 * it never should.
 */

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/daemon/source/perf_records.h"

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) +
		 UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

struct one {
	struct opd_perf_ring ring;
	unsigned char bounce[OPD_PERF_RECORD_MAX];
};

static struct one *new_one(size_t size, uint64_t at)
{
	struct one *one = calloc(1, sizeof(*one));

	assert_non_null(one);
	ring_make(&one->ring, size, OPD_PERF_SIDE, at);
	return one;
}

static void free_one(struct one *one)
{
	ring_free(&one->ring);
	free(one);
}

/* A record of @len bytes that are all different from its neighbours'. */
static void make_record(struct record *r, size_t len, uint64_t time)
{
	struct record_who who = { 1, 1, time, OPD_PERF_SIDE, 0 };

	record_begin(r, 1000, 0);
	while (r->len + 16 < len)
		record_u64(r, time * 1000 + r->len);
	record_end(r, &who);
	assert_int_equal(r->len, len);
}

static void expect_record(struct one *one, const struct record *r,
			  uint64_t time)
{
	struct opd_perf_ring *ring = &one->ring;
	const unsigned char *bytes;

	assert_int_equal(ring->len, r->len);
	assert_int_equal(ring->type, 1000);
	assert_int_equal(ring->time, time);
	bytes = opd_perf_ring_record(ring, one->bounce);
	assert_memory_equal(bytes, r->at, r->len);
	if (bytes == one->bounce)
		return;
	assert_true(bytes >= ring->data);
	assert_true(bytes + r->len <= ring->data + ring->size);
}

/* Two records, the first of which starts at any place of the ring. */
TEST(records_are_cut_anywhere)
{
	unsigned int nr_cut = 0;
	struct record a, b;

	for (uint64_t at = 0; at < 256; at += 8) {
		for (size_t len = 24; len <= 256; len += 8) {
			struct one *one = new_one(256, 1024 + at);
			bool two = len + 24 <= 256;

			make_record(&a, len, 5);
			make_record(&b, 24, 6);
			ring_write_record(&one->ring, &a);
			if (two)
				ring_write_record(&one->ring, &b);
			opd_perf_ring_poll(&one->ring);
			expect_record(one, &a, 5);
			nr_cut +=
				opd_perf_ring_record(&one->ring, one->bounce) ==
				one->bounce;
			opd_perf_ring_next(&one->ring);
			if (two) {
				expect_record(one, &b, 6);
				opd_perf_ring_next(&one->ring);
			}
			assert_int_equal(one->ring.len, 0);
			assert_int_equal(one->ring.nr_bad, 0);
			free_one(one);
		}
	}
	assert_true(nr_cut > 100);
}

/* Each is looked at once, also when the first one has had its turn meanwhile.
 */
TEST(records_are_looked_at_ahead)
{
	struct record r[3];

	for (uint64_t at = 0; at < 256; at += 8) {
		struct one *one = new_one(256, at - 64);
		const void *bytes;
		uint32_t len;

		one->ring.ahead = one->ring.tail;
		for (int i = 0; i < 3; i++)
			make_record(&r[i], 64, 5 + (uint64_t)i);
		ring_write_record(&one->ring, &r[0]);
		ring_write_record(&one->ring, &r[1]);
		opd_perf_ring_poll(&one->ring);
		for (int i = 0; i < 2; i++) {
			bytes = opd_perf_ring_ahead(&one->ring, one->bounce,
						    &len);
			assert_non_null(bytes);
			assert_int_equal(len, 64);
			assert_memory_equal(bytes, r[i].at, len);
		}
		assert_null(opd_perf_ring_ahead(&one->ring, one->bounce, &len));
		expect_record(one, &r[0], 5);
		opd_perf_ring_next(&one->ring);
		assert_null(opd_perf_ring_ahead(&one->ring, one->bounce, &len));
		ring_write_record(&one->ring, &r[2]);
		opd_perf_ring_poll(&one->ring);
		opd_perf_ring_next(&one->ring);
		expect_record(one, &r[2], 7);
		opd_perf_ring_next(&one->ring);
		opd_perf_ring_done(&one->ring);
		/* It has had its turn. */
		assert_null(opd_perf_ring_ahead(&one->ring, one->bounce, &len));
		free_one(one);
	}
}

TEST(bad_lengths_end_a_look_ahead)
{
	static const uint16_t lengths[] = { 0, 7, 12, 72, 65528 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct one *one = new_one(256, 0);
		struct record r;
		uint32_t len;

		make_record(&r, 64, 5);
		memcpy(r.at + 6, &lengths[i], sizeof(lengths[i]));
		ring_write_record(&one->ring, &r);
		one->ring.head = one->ring.meta->data_head;
		assert_null(opd_perf_ring_ahead(&one->ring, one->bounce, &len));
		assert_null(opd_perf_ring_ahead(&one->ring, one->bounce, &len));
		free_one(one);
	}
}

/* As long as records can be; and the counts wrap around. */
TEST(the_longest_record_is_cut)
{
	struct record *r = malloc(sizeof(*r));

	assert_non_null(r);
	make_record(r, 65528, 7);
	for (uint64_t at = 0; at < 24; at += 8) {
		struct one *one = new_one(65536, UINT64_MAX - 15 + at);

		ring_write_record(&one->ring, r);
		opd_perf_ring_poll(&one->ring);
		expect_record(one, r, 7);
		opd_perf_ring_next(&one->ring);
		opd_perf_ring_done(&one->ring);
		assert_int_equal(one->ring.meta->data_tail,
				 one->ring.meta->data_head);
		free_one(one);
	}
	free(r);
}

TEST(what_was_not_looked_at_is_not_there)
{
	struct one *one = new_one(256, 0);
	struct opd_perf_ring *ring = &one->ring;
	struct record r;

	opd_perf_ring_poll(ring);
	assert_int_equal(ring->len, 0);
	make_record(&r, 48, 1);
	ring_write_record(ring, &r);
	assert_int_equal(ring->len, 0);
	opd_perf_ring_poll(ring);
	expect_record(one, &r, 1);
	ring_write_record(ring, &r);
	opd_perf_ring_next(ring);
	assert_int_equal(ring->len, 0);
	/* Looking while there is a record changes nothing of it. */
	opd_perf_ring_poll(ring);
	ring_write_record(ring, &r);
	opd_perf_ring_poll(ring);
	expect_record(one, &r, 1);
	opd_perf_ring_next(ring);
	expect_record(one, &r, 1);
	opd_perf_ring_next(ring);
	assert_int_equal(ring->len, 0);
	free_one(one);
}

/* The kernel may write where we say that we are done, so not before. */
TEST(only_done_gives_room)
{
	struct one *one = new_one(256, 0);
	struct opd_perf_ring *ring = &one->ring;
	struct record r;

	make_record(&r, 48, 1);
	for (int i = 0; i < 3; i++)
		ring_write_record(ring, &r);
	opd_perf_ring_poll(ring);
	opd_perf_ring_done(ring);
	assert_int_equal(ring->meta->data_tail, 0);
	opd_perf_ring_next(ring);
	opd_perf_ring_next(ring);
	assert_int_equal(ring->meta->data_tail, 0);
	opd_perf_ring_done(ring);
	assert_int_equal(ring->meta->data_tail, 96);
	assert_int_equal(ring->len, 48);
	opd_perf_ring_next(ring);
	opd_perf_ring_done(ring);
	assert_int_equal(ring->meta->data_tail, 144);
	assert_int_equal(ring_room(ring), 256);
	free_one(one);
}

/* Nobody knows where the next record starts: all that is there is dropped. */
static void bad_length(uint16_t len)
{
	struct one *one = new_one(256, 200);
	struct opd_perf_ring *ring = &one->ring;
	struct record good, bad;

	make_record(&good, 48, 1);
	make_record(&bad, 48, 2);
	memcpy(bad.at + 6, &len, sizeof(len));
	ring_write_record(ring, &good);
	ring_write_record(ring, &bad);
	ring_write_record(ring, &good);
	opd_perf_ring_poll(ring);
	expect_record(one, &good, 1);
	opd_perf_ring_next(ring);
	assert_int_equal(ring->len, 0);
	assert_int_equal(ring->nr_bad, 1);
	opd_perf_ring_done(ring);
	assert_int_equal(ring_room(ring), 256);
	/* What is written then is read. */
	ring_write_record(ring, &good);
	opd_perf_ring_poll(ring);
	expect_record(one, &good, 1);
	free_one(one);
}

TEST(bad_lengths_are_noticed)
{
	bad_length(0);
	bad_length(1);
	bad_length(7);
	bad_length(44);
	bad_length(52);
	bad_length(104); /* beyond the head */
	bad_length(256);
	bad_length(264);
	bad_length(65528);
	bad_length(65535);
}

TEST(records_without_a_time_are_skipped)
{
	struct one *one = new_one(256, 0);
	struct opd_perf_ring *ring = &one->ring;
	struct record good, bad;

	record_begin(&bad, 1000, 0);
	record_u64(&bad, 1);
	record_close(&bad);
	make_record(&good, 24, 1);
	ring_write_record(ring, &bad);
	ring_write_record(ring, &bad);
	ring_write_record(ring, &good);
	ring_write_record(ring, &bad);
	opd_perf_ring_poll(ring);
	assert_int_equal(ring->nr_bad, 2);
	expect_record(one, &good, 1);
	opd_perf_ring_next(ring);
	assert_int_equal(ring->len, 0);
	assert_int_equal(ring->nr_bad, 3);
	opd_perf_ring_done(ring);
	assert_int_equal(ring_room(ring), 256);
	/* Samples are longer at the least. */
	ring->sample_type = OPD_PERF_SAMPLE_ID;
	record_begin(&bad, PERF_RECORD_SAMPLE, 0);
	record_u64(&bad, 1);
	record_u64(&bad, 1);
	record_u64(&bad, 1);
	record_close(&bad);
	ring_write_record(ring, &bad);
	opd_perf_ring_poll(ring);
	assert_int_equal(ring->len, 0);
	assert_int_equal(ring->nr_bad, 4);
	free_one(one);
}

/* A head that cannot be: with a record at hand, and without. */
static void bad_head(uint64_t head, bool at_hand)
{
	struct one *one = new_one(256, 1024);
	struct opd_perf_ring *ring = &one->ring;
	struct record r;

	make_record(&r, 48, 1);
	if (at_hand) {
		ring_write_record(ring, &r);
		opd_perf_ring_poll(ring);
		expect_record(one, &r, 1);
	}
	ring->meta->data_head = head;
	opd_perf_ring_poll(ring);
	assert_int_equal(ring->len, 0);
	assert_int_equal(ring->nr_bad, 1);
	opd_perf_ring_done(ring);
	assert_int_equal(ring->meta->data_tail, head);
	free_one(one);
}

TEST(bad_heads_are_noticed)
{
	static const uint64_t heads[] = {
		0,    8,    1016, 1023, 1025,	    1028,
		1032, 1064, 1288, 4096, UINT64_MAX, UINT64_MAX - 7,
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		bad_head(heads[i], false);
		bad_head(heads[i], true);
	}
}

/* Where it is at a whole word again, words are read again, but not before. */
TEST(heads_come_back_to_words)
{
	for (uint64_t odd = 1; odd < 8; odd++) {
		struct one *one = new_one(256, 1024 + 240);
		struct opd_perf_ring *ring = &one->ring;
		struct record r;

		ring->meta->data_head += odd;
		opd_perf_ring_poll(ring);
		ring->meta->data_head += 16 - odd;
		opd_perf_ring_poll(ring);
		assert_int_equal(ring->len, 0);
		assert_int_equal(ring->nr_bad, 2);
		opd_perf_ring_done(ring);
		make_record(&r, 48, 1);
		ring_write_record(ring, &r);
		opd_perf_ring_poll(ring);
		expect_record(one, &r, 1);
		free_one(one);
	}
}

/* Any bytes at all: nothing is read that is not in the ring. */
TEST(any_bytes_are_harmless)
{
	uint64_t random = 1;

	for (int i = 0; i < 3000; i++) {
		struct one *one = new_one(512, next_random(&random) & ~7u);
		struct opd_perf_ring *ring = &one->ring;

		for (int n = 0; n < 64; n++) {
			uint64_t word = next_random(&random);

			word |= (uint64_t)(next_random(&random) % 20 * 8) << 48;
			ring_write(ring, &word, sizeof(word));
		}
		opd_perf_ring_poll(ring);
		while (ring->len) {
			opd_perf_ring_record(ring, one->bounce);
			opd_perf_ring_next(ring);
		}
		assert_int_equal(ring->tail, ring->head);
		free_one(one);
	}
}

/* A file serves as well as an event, as far as mapping goes. */
TEST(rings_are_mapped)
{
	long page = sysconf(_SC_PAGESIZE);
	int fd = memfd_create("ring", MFD_CLOEXEC);
	struct opd_perf_ring ring = { .meta = NULL };
	uint64_t head = 24;
	struct record r;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 5 * page), 0);
	make_record(&r, 24, 9);
	assert_int_equal(pwrite(fd, r.at, 24, page), 24);
	assert_int_equal(opd_perf_ring_map(&ring, fd, 4 * page, OPD_PERF_SIDE),
			 0);
	assert_int_equal(ring.size, 4 * page);
	assert_int_equal(ring.sample_type, OPD_PERF_SIDE);
	assert_int_equal(
		pwrite(fd, &head, sizeof(head),
		       offsetof(struct perf_event_mmap_page, data_head)),
		sizeof(head));
	opd_perf_ring_poll(&ring);
	assert_int_equal(ring.len, 24);
	assert_int_equal(ring.time, 9);
	opd_perf_ring_next(&ring);
	opd_perf_ring_done(&ring);
	assert_int_equal(
		pread(fd, &head, sizeof(head),
		      offsetof(struct perf_event_mmap_page, data_tail)),
		sizeof(head));
	assert_int_equal(head, 24);
	/* Unmapped with a record at hand it has none any more. */
	head = 48;
	assert_int_equal(pwrite(fd, r.at, 24, page + 24), 24);
	assert_int_equal(
		pwrite(fd, &head, sizeof(head),
		       offsetof(struct perf_event_mmap_page, data_head)),
		sizeof(head));
	opd_perf_ring_poll(&ring);
	assert_int_equal(ring.len, 24);
	opd_perf_ring_unmap(&ring);
	assert_null(ring.meta);
	assert_int_equal(ring.len, 0);
	opd_perf_ring_poll(&ring);
	opd_perf_ring_done(&ring);
	opd_perf_ring_unmap(&ring);
	close(fd);
	assert_int_equal(opd_perf_ring_map(&ring, fd, 4 * page, OPD_PERF_SIDE),
			 -EBADF);
	assert_null(ring.meta);
}
