// SPDX-License-Identifier: GPL-2.0-or-later
/* Time lines: what is put down comes back, in few slices, whatever happens. */
#include "libdb/timeline.h"
#include "libop/session/op_session.h"
#include "tests/unit/libdb/odb_fixture.h"

#define BEGIN UINT64_C(1774965500000000000)
#define NR_IDS 7

static const struct timeline_head head = { .begin = BEGIN,
					   .len = TIMELINE_LEN_MIN,
					   .seed = FIXED_SEED,
					   .most = OP_SLICES_MIN };

static struct timeline_writer *must_open_timeline(const char *path,
						  uint64_t *room)
{
	struct timeline_writer *w = NULL;

	assert_int_equal(timeline_open(&w, path, &head, room), 0);
	return w;
}

/* Put @count of id @id into the slice of the time @at. */
static void must_put(struct timeline_writer *w, uint64_t at, uint64_t id,
		     uint64_t count)
{
	const struct timeline_count one = { id, count };

	assert_int_equal(
		timeline_put(w, at / timeline_head_of(w)->len, &one, 1), 0);
}

static void must_read_timeline(struct timeline *t, const char *path)
{
	assert_int_equal(timeline_read(t, path), 0);
}

/* The counts of @id in slices that begin before @end, from the begin on. */
static uint64_t count_until(const struct timeline *t, uint64_t id, uint64_t end)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->nr_slices; i++)
		for (size_t j = 0; j < t->slices[i].nr_counts; j++)
			if (t->slices[i].counts[j].id == id &&
			    t->slices[i].nr * t->head.len < end)
				sum += t->slices[i].counts[j].count;
	return sum;
}

static size_t nr_different(const struct timeline *t)
{
	size_t nr = t->nr_slices != 0;

	for (size_t i = 1; i < t->nr_slices; i++)
		nr += t->slices[i].nr != t->slices[i - 1].nr;
	return nr;
}

ODB_TEST(what_is_put_down_comes_back)
{
	struct fixture *f = *state;
	struct timeline_writer *w = must_open_timeline(f->path, NULL);
	const struct timeline_count both[] = { { 5, 1 }, { 9, 1000 } };
	struct timeline t;

	assert_int_equal(timeline_put(w, 3, both, 2), 0);
	assert_int_equal(timeline_put(w, 1, both, 1), 0);
	assert_int_equal(timeline_put(w, 3, both, 2), 0);
	assert_int_equal(timeline_close(w, true), 0);
	must_read_timeline(&t, f->path);
	assert_int_equal(t.nr_slices, 3);
	assert_int_equal(t.slices[0].nr, 1);
	assert_int_equal(nr_different(&t), 2);
	assert_int_equal(count_until(&t, 5, UINT64_MAX), 3);
	assert_int_equal(count_until(&t, 9, UINT64_MAX), 2000);
	assert_int_equal(count_until(&t, 9, 3 * t.head.len), 0);
	assert_false(t.head.is_open || t.head.is_dirty || t.is_cut);
	timeline_release(&t);
}

/* There are counts each second, for half an hour and for a day. */
ODB_TEST(slices_are_few_however_long_it_takes)
{
	static const uint64_t lengths[] = { 1, 1800, 86400 };
	const uint64_t second = UINT64_C(1000000000);
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct timeline_writer *w = must_open_timeline(f->path, NULL);
		struct timeline t;

		for (uint64_t s = 0; s < lengths[i]; s++) {
			must_put(w, s * second, 1 + s % NR_IDS, 1 + s % 3);
			assert_int_equal(timeline_flush(w, NULL), 0);
		}
		assert_int_equal(timeline_close(w, true), 0);
		must_read_timeline(&t, f->path);
		assert_in_range(nr_different(&t), lengths[i] > 9 ? 8 : 1,
				OP_SLICES_MIN);
		/* A slice is a power of two of the shortest. */
		assert_int_equal((t.head.len / head.len) &
					 (t.head.len / head.len - 1),
				 0);
		for (uint64_t id = 1; id <= NR_IDS; id++) {
			uint64_t all = 0, half = 0, middle;

			middle = lengths[i] * second / 2 / t.head.len *
				 t.head.len;
			for (uint64_t s = id - 1; s < lengths[i]; s += NR_IDS) {
				all += 1 + s % 3;
				half += s * second < middle ? 1 + s % 3 : 0;
			}
			assert_int_equal(count_until(&t, id, UINT64_MAX), all);
			assert_int_equal(count_until(&t, id, middle), half);
		}
		timeline_release(&t);
		assert_int_equal(unlink(f->path), 0);
	}
}

/* Times far apart take as many slices as there are times. */
ODB_TEST(a_pause_takes_no_slices)
{
	struct fixture *f = *state;
	struct timeline_writer *w = must_open_timeline(f->path, NULL);
	struct timeline t;

	for (uint64_t i = 0; i < OP_SLICES_MIN; i++)
		must_put(w, i << 52, 1, 1);
	assert_int_equal(timeline_close(w, true), 0);
	must_read_timeline(&t, f->path);
	assert_int_equal(t.head.len, head.len);
	assert_int_equal(nr_different(&t), OP_SLICES_MIN);
	timeline_release(&t);
}

ODB_TEST(a_writer_that_was_killed_leaves_a_mark)
{
	struct fixture *f = *state;
	struct timeline_writer *w = must_open_timeline(f->path, NULL);
	struct timeline t;

	must_put(w, 0, 1, 1);
	assert_int_equal(timeline_close(w, false), 0);
	must_read_timeline(&t, f->path);
	assert_true(t.head.is_open && !t.head.is_dirty);
	timeline_release(&t);
	w = must_open_timeline(f->path, NULL);
	must_put(w, 0, 1, 2);
	must_put(w, 0, 2, 4);
	assert_int_equal(timeline_close(w, true), 0);
	must_read_timeline(&t, f->path);
	assert_true(!t.head.is_open && t.head.is_dirty);
	assert_int_equal(count_until(&t, 1, UINT64_MAX), 3);
	assert_int_equal(count_until(&t, 2, UINT64_MAX), 4);
	timeline_release(&t);
}

/* Counts before the damage are there, and none is made up. */
ODB_TEST(any_byte_and_any_length_may_be_wrong)
{
	struct fixture *f = *state;
	struct timeline_writer *w = must_open_timeline(f->path, NULL);
	struct timeline t;
	uint8_t *bytes;
	size_t len;

	for (uint64_t i = 0; i < 5; i++)
		must_put(w, i * head.len, 1 + i % 3, 1);
	assert_int_equal(timeline_close(w, true), 0);
	bytes = read_file(f->path, &len);
	for (size_t i = 0; i < 2 * len; i++) {
		bool is_cut = i >= len;

		bytes[i % len] ^= !is_cut;
		write_file(f->path, bytes, is_cut ? i - len : len);
		bytes[i % len] ^= !is_cut;
		if (timeline_read(&t, f->path))
			continue;
		assert_true(t.nr_slices <= 5);
		assert_true(t.nr_slices < 5 || t.head.is_open ||
			    t.head.is_dirty);
		for (size_t j = 0; j < t.nr_slices; j++)
			assert_int_equal(t.slices[j].counts[0].count, 1);
		timeline_release(&t);
	}
	free(bytes);
}

ODB_TEST(without_room_it_ends)
{
	struct fixture *f = *state;
	uint64_t room = 64 + 45;
	struct timeline_writer *w = must_open_timeline(f->path, &room);
	struct timeline t;

	must_put(w, 0, 1, 1);
	assert_int_equal(timeline_flush(w, NULL), 0);
	must_put(w, 0, 1, 1);
	assert_int_equal(timeline_flush(w, NULL), -EDQUOT);
	assert_int_equal(timeline_close(w, true), -EDQUOT);
	must_read_timeline(&t, f->path);
	assert_true(t.head.is_dirty);
	assert_int_equal(count_until(&t, 1, UINT64_MAX), 1);
	timeline_release(&t);
}

/* Ids are on disks. */
ODB_TEST(ids_stay_what_they_are)
{
	uint64_t file = timeline_file(FIXED_SEED, "{root}/bin/ls/TIMER.0.0");

	(void)state;
	assert_int_equal(timeline_key(file, 0x1000),
			 UINT64_C(0x7c6f7dd221e20e76));
	assert_int_equal(timeline_node(file, timeline_image(1, "abc", 3), 16),
			 UINT64_C(0x43eb2413046a3cb2));
}
