// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bytes of records are in one array, in the order in which they were put;
 * plain samples have none. At the end of a round what was taken is dropped, and
 * the entries are put in order: first the side band by time, which is little;
 * then each sample is counted to the gap of the side band that it belongs to,
 * and the entries of a gap stay as they came, those of each CPU together. Both
 * go from one array to another, and the old one is there for the next time.
 *
 * Then equal plain samples become one. A table has the last few thousand that
 * were first, each with how much side band there was by then about its process,
 * or about others with the same last bits of their number, or about all: if
 * there is more by the next one, that is another sample.
 */

#include "daemon/source/opd_perfdata_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/op_array.h"
#include "libop/op_hash.h"
#include "libop/op_search.h"

#define NR_FIRSTS 8192 /* a power of 2 */
#define NR_PIDS 1024 /* likewise */

struct opd_perfdata_entry {
	struct opd_perfdata_record record; /* its bytes are elsewhere: */
	size_t at;
	uint64_t order; /* of putting */
	uint32_t gap; /* of a ready sample: so much side band is before */
};

/* A plain sample that others may be equal to. */
struct opd_perfdata_first {
	uint32_t entry; /* its number from 1; 0: none */
	uint32_t nr_sides; /* that matter to it were before */
};

void opd_perfdata_queue_release(struct opd_perfdata_queue *queue)
{
	free(queue->entries);
	free(queue->bytes);
	free(queue->spare);
	free(queue->spare_bytes);
	free(queue->sides);
	free(queue->starts);
	free(queue->firsts);
	memset(queue, 0, sizeof(*queue));
}

#define swap_arrays(a, b)                                                      \
	do {                                                                   \
		void *swapped = *(a);                                          \
		*(a) = *(b);                                                   \
		*(b) = swapped;                                                \
	} while (0)

static size_t nr_bytes_of(const struct opd_perfdata_entry *entry)
{
	return entry->record.kind == OPD_PERFDATA_PLAIN ? 0 : entry->record.len;
}

int opd_perfdata_queue_put(struct opd_perfdata_queue *queue,
			   const struct opd_perfdata_record *record)
{
	struct opd_perfdata_entry entry = {
		.record = *record,
		.at = queue->len,
		.order = queue->nr_put,
	};
	size_t nr_bytes = nr_bytes_of(&entry);
	int err = op_array_reserve(&queue->entries, queue->nr, 1)
			  ?: op_array_reserve(&queue->bytes, queue->len,
					      nr_bytes);

	if (err)
		return err;
	if (nr_bytes)
		memcpy(queue->bytes + queue->len, record->bytes, nr_bytes);
	queue->entries[queue->nr++] = entry;
	queue->len += nr_bytes;
	queue->nr_put++;
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
		len += nr_bytes_of(&queue->entries[i]);
	err = op_array_reserve(&queue->spare_bytes, 0, len);
	if (err)
		return err;
	memmove(queue->entries, queue->entries + queue->taken,
		left * sizeof(*queue->entries));
	queue->nr = left;
	queue->nr_ready = queue->taken = queue->len = 0;
	for (size_t i = 0; i < left; i++) {
		struct opd_perfdata_entry *entry = &queue->entries[i];
		size_t nr_bytes = nr_bytes_of(entry);

		if (nr_bytes)
			memcpy(queue->spare_bytes + queue->len,
			       queue->bytes + entry->at, nr_bytes);
		entry->at = queue->len;
		queue->len += nr_bytes;
	}
	swap_arrays(&queue->bytes, &queue->spare_bytes);
	return 0;
}

/* ---- order ------------------------------------------------------------------
 */

static int compare_queued(const void *left, const void *right)
{
	const struct opd_perfdata_entry *a = left, *b = right;

	return op_compare(a->record.time, b->record.time)
		       ?: op_compare(a->order, b->order);
}

/* The side band up to time @until, in order, becomes queue->sides. */
static int sort_sides(struct opd_perfdata_queue *queue, uint64_t until)
{
	size_t nr = 0;

	for (size_t i = 0; i < queue->nr; i++)
		nr += queue->entries[i].record.kind == OPD_PERFDATA_SIDE;
	if (op_array_reserve(&queue->sides, 0, nr))
		return -ENOMEM;
	queue->nr_sides = 0;
	for (size_t i = 0; nr && i < queue->nr; i++)
		if (queue->entries[i].record.kind == OPD_PERFDATA_SIDE &&
		    queue->entries[i].record.time <= until)
			queue->sides[queue->nr_sides++] = queue->entries[i];
	if (queue->nr_sides)
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
	queue->nr_ready = queue->nr_sides;
	for (size_t i = 0; i < queue->nr; i++) {
		struct opd_perfdata_entry *entry = &queue->entries[i];

		if (entry->record.kind == OPD_PERFDATA_SIDE ||
		    entry->record.time > until)
			continue;
		gap = gap_of_sample(queue, entry, gap);
		entry->gap = (uint32_t)gap;
		queue->starts[gap]++;
		queue->nr_ready++;
	}
	for (gap = 0; gap < nr; gap++) {
		size_t nr_samples = queue->starts[gap];

		queue->starts[gap] = start;
		start += nr_samples + 1;
	}
	return 0;
}

/* Each to its place, and behind them what is not ready. */
static void put_in_places(struct opd_perfdata_queue *queue, uint64_t until)
{
	size_t nr_left = queue->nr_ready;

	for (size_t i = 0; i < queue->nr; i++) {
		const struct opd_perfdata_entry *entry = &queue->entries[i];

		if (entry->record.time > until)
			queue->spare[nr_left++] = *entry;
		else if (entry->record.kind != OPD_PERFDATA_SIDE)
			queue->spare[queue->starts[entry->gap]++] = *entry;
	}
	/* A gap ends where that which is behind it of the side band stands. */
	for (size_t i = 0; i < queue->nr_sides; i++)
		queue->spare[queue->starts[i]] = queue->sides[i];
	swap_arrays(&queue->entries, &queue->spare);
}

/* ---- equal samples ----------------------------------------------------------
 */

static bool is_equal(const struct opd_perfdata_record *a,
		     const struct opd_perfdata_record *b)
{
	return a->ip == b->ip && a->cpu == b->cpu && a->tag == b->tag &&
	       a->pid == b->pid && a->tid == b->tid && a->misc == b->misc;
}

static size_t slot_of_plain(const struct opd_perfdata_record *record)
{
	uint64_t hash = op_hash_mix(record->ip,
				    (uint64_t)record->tid << 32 | record->cpu);

	return op_hash_home(hash) & (NR_FIRSTS - 1);
}

/* Count @entry, which is to be @nr, with the first of its kind, or note that it
 * is that. @nr_sides matter to it. Returns whether it was counted. */
static bool count_with_first(struct opd_perfdata_queue *queue, size_t nr,
			     const struct opd_perfdata_record *record,
			     uint32_t nr_sides)
{
	struct opd_perfdata_first *first =
		&queue->firsts[slot_of_plain(record)];
	struct opd_perfdata_entry *entry = &queue->entries[first->entry - 1];

	if (first->entry && first->nr_sides == nr_sides &&
	    is_equal(&entry->record, record)) {
		entry->record.times += record->times;
		return true;
	}
	*first = (struct opd_perfdata_first){ (uint32_t)nr + 1, nr_sides };
	return false;
}

static int join_equals(struct opd_perfdata_queue *queue)
{
	uint32_t nr_of_all = 0, nr_of_pid[NR_PIDS] = { 0 };
	size_t nr = 0;

	if (!queue->nr_ready)
		return 0;
	if (op_array_reserve(&queue->firsts, 0, NR_FIRSTS))
		return -ENOMEM;
	memset(queue->firsts, 0, NR_FIRSTS * sizeof(*queue->firsts));
	for (size_t i = 0; i < queue->nr_ready; i++) {
		const struct opd_perfdata_entry *entry = &queue->entries[i];
		const struct opd_perfdata_record *record = &entry->record;
		uint32_t *nr_of = &nr_of_pid[record->pid & (NR_PIDS - 1)];

		if (record->kind == OPD_PERFDATA_SIDE)
			++*(record->pid == OPD_PERFDATA_ALL ? &nr_of_all
							    : nr_of);
		if (record->kind != OPD_PERFDATA_PLAIN ||
		    !count_with_first(queue, nr, record, nr_of_all + *nr_of))
			queue->entries[nr++] = *entry;
	}
	memmove(&queue->entries[nr], &queue->entries[queue->nr_ready],
		(queue->nr - queue->nr_ready) * sizeof(*queue->entries));
	queue->nr -= queue->nr_ready - nr;
	queue->nr_ready = nr;
	return 0;
}

/* ---- rounds -----------------------------------------------------------------
 */

static int make_ready(struct opd_perfdata_queue *queue, uint64_t until)
{
	int err = drop_taken(queue) ?: op_array_reserve(&queue->spare, 0,
							queue->nr)
				    ?: sort_sides(queue, until)
				    ?: find_gaps(queue, until);

	if (err)
		return err;
	put_in_places(queue, until);
	return join_equals(queue);
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
	*record = entry->record;
	if (record->kind != OPD_PERFDATA_PLAIN)
		record->bytes = queue->bytes + entry->at;
	return true;
}

void opd_perfdata_queue_next(struct opd_perfdata_queue *queue)
{
	queue->taken++;
}
