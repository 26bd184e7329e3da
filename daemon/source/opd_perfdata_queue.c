// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bytes of all records are in one array, in the order in which they were
 * put. At the end of a round what was taken is dropped, and the entries are
 * put in order: first the side band by time, which is little; then each sample
 * is counted to the gap of the side band that it belongs to, and the entries of
 * a gap stay as they came, those of each CPU together. Both go from one array
 * to another, and the old one is there for the next time.
 */

#include "daemon/source/opd_perfdata_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_array.h"
#include "libop/op_search.h"

struct opd_perfdata_entry {
	uint64_t time;
	size_t at; /* in the bytes */
	uint32_t len;
	uint32_t tag;
	size_t gap; /* of a ready sample: so many of the side band are before */
	bool is_sample;
};

void opd_perfdata_queue_release(struct opd_perfdata_queue *queue)
{
	free(queue->entries);
	free(queue->bytes);
	free(queue->spare);
	free(queue->spare_bytes);
	free(queue->sides);
	free(queue->starts);
	memset(queue, 0, sizeof(*queue));
}

#define swap_arrays(a, b)                                                      \
	do {                                                                   \
		void *swapped = *(a);                                          \
		*(a) = *(b);                                                   \
		*(b) = swapped;                                                \
	} while (0)

int opd_perfdata_queue_put(struct opd_perfdata_queue *queue,
			   const struct opd_perfdata_record *record)
{
	int err = op_array_reserve(&queue->entries, queue->nr, 1)
			  ?: op_array_reserve(&queue->bytes, queue->len,
					      record->len);

	if (err)
		return err;
	memcpy(queue->bytes + queue->len, record->bytes, record->len);
	queue->entries[queue->nr++] = (struct opd_perfdata_entry){
		.time = record->time,
		.at = queue->len,
		.len = record->len,
		.tag = record->tag,
		.is_sample = record->is_sample,
	};
	queue->len += record->len;
	if (record->time > queue->latest)
		queue->latest = record->time;
	return 0;
}

/* Move what was not taken, with its bytes, to the start of new arrays. */
static int drop_taken(struct opd_perfdata_queue *queue)
{
	size_t left = queue->nr - queue->taken, len = 0;
	int err;

	if (!queue->taken)
		return 0;
	for (size_t i = queue->taken; i < queue->nr; i++)
		len += queue->entries[i].len;
	err = op_array_reserve(&queue->spare_bytes, 0, len);
	if (err)
		return err;
	memmove(queue->entries, queue->entries + queue->taken,
		left * sizeof(*queue->entries));
	queue->nr = left;
	queue->nr_ready = queue->taken = queue->len = 0;
	for (size_t i = 0; i < left; i++) {
		struct opd_perfdata_entry *entry = &queue->entries[i];

		memcpy(queue->spare_bytes + queue->len,
		       queue->bytes + entry->at, entry->len);
		entry->at = queue->len;
		queue->len += entry->len;
	}
	swap_arrays(&queue->bytes, &queue->spare_bytes);
	return 0;
}

/* ---- order ------------------------------------------------------------------
 */

static int compare_queued(const void *left, const void *right)
{
	const struct opd_perfdata_entry *a = left, *b = right;

	return op_compare(a->time, b->time) ?: op_compare(a->at, b->at);
}

/* The side band up to time @until, in order, becomes queue->sides. */
static int sort_sides(struct opd_perfdata_queue *queue, uint64_t until)
{
	size_t nr = 0;

	for (size_t i = 0; i < queue->nr; i++)
		nr += !queue->entries[i].is_sample;
	if (op_array_reserve(&queue->sides, 0, nr))
		return -ENOMEM;
	queue->nr_sides = 0;
	for (size_t i = 0; i < queue->nr; i++)
		if (!queue->entries[i].is_sample &&
		    queue->entries[i].time <= until)
			queue->sides[queue->nr_sides++] = queue->entries[i];
	qsort(queue->sides, queue->nr_sides, sizeof(*queue->sides),
	      compare_queued);
	return 0;
}

/* How much of the side band comes before a sample. @hint: before another one,
 * which is mostly the last one of the same CPU. */
static size_t gap_of_sample(const struct opd_perfdata_queue *queue,
			    const struct opd_perfdata_entry *entry, size_t hint)
{
	const struct opd_perfdata_entry *sides = queue->sides;
	size_t nr = queue->nr_sides;

	if ((!hint || compare_queued(&sides[hint - 1], entry) < 0) &&
	    (hint == nr || compare_queued(entry, &sides[hint]) < 0))
		return hint;
	return OP_BISECT(i, nr, compare_queued(&sides[i], entry) < 0);
}

/* Find the gap of each sample up to time @until, and where each gap starts
 * among all that is ready, with what is before it of the side band. */
static int find_gaps(struct opd_perfdata_queue *queue, uint64_t until)
{
	size_t gap = 0, nr = queue->nr_sides + 1, start = 0;

	if (op_array_reserve(&queue->starts, 0, nr))
		return -ENOMEM;
	memset(queue->starts, 0, nr * sizeof(*queue->starts));
	for (size_t i = 0; i < queue->nr; i++) {
		struct opd_perfdata_entry *entry = &queue->entries[i];

		if (!entry->is_sample || entry->time > until)
			continue;
		entry->gap = gap = gap_of_sample(queue, entry, gap);
		queue->starts[gap]++;
	}
	for (gap = 0; gap < nr; gap++) {
		size_t nr_samples = queue->starts[gap];

		queue->starts[gap] = start;
		start += nr_samples + 1;
	}
	return 0;
}

static int make_ready(struct opd_perfdata_queue *queue, uint64_t until)
{
	size_t nr_left = 0;
	int err = drop_taken(queue) ?: op_array_reserve(&queue->spare, 0,
							queue->nr)
				    ?: sort_sides(queue, until)
				    ?: find_gaps(queue, until);

	if (err)
		return err;
	for (size_t i = 0; i < queue->nr; i++)
		nr_left += queue->entries[i].time > until;
	queue->nr_ready = queue->nr - nr_left;
	nr_left = queue->nr_ready;
	for (size_t i = 0; i < queue->nr; i++) {
		const struct opd_perfdata_entry *entry = &queue->entries[i];

		if (entry->time > until)
			queue->spare[nr_left++] = *entry;
		else if (entry->is_sample)
			queue->spare[queue->starts[entry->gap]++] = *entry;
	}
	/* A gap ends where that which is behind it of the side band stands. */
	for (size_t i = 0; i < queue->nr_sides; i++)
		queue->spare[queue->starts[i]] = queue->sides[i];
	swap_arrays(&queue->entries, &queue->spare);
	return 0;
}

int opd_perfdata_queue_end_round(struct opd_perfdata_queue *queue)
{
	int err = make_ready(queue, queue->before);

	queue->before = queue->latest;
	return err;
}

int opd_perfdata_queue_end(struct opd_perfdata_queue *queue)
{
	queue->latest = queue->before = 0;
	return make_ready(queue, UINT64_MAX);
}

bool opd_perfdata_queue_first(const struct opd_perfdata_queue *queue,
			      struct opd_perfdata_record *record)
{
	const struct opd_perfdata_entry *entry;

	if (queue->taken == queue->nr_ready)
		return false;
	entry = &queue->entries[queue->taken];
	*record = (struct opd_perfdata_record){
		.time = entry->time,
		.bytes = queue->bytes + entry->at,
		.len = entry->len,
		.tag = entry->tag,
		.is_sample = entry->is_sample,
	};
	return true;
}

void opd_perfdata_queue_next(struct opd_perfdata_queue *queue)
{
	queue->taken++;
}
