// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples and side band wait in arrays of their own, in the order in which they
 * were put; their bytes stay where they were read. At the end of a round what
 * was taken is dropped, and the side band, which is little, is sorted by time.
 * Then one pass over the samples finds the gap of the side band that each
 * belongs to. A sample that is equal to one before it is only counted there;
 * the others are sorted by their gaps, those of each gap as they came, which
 * leaves those of each CPU together.
 *
 * A table has the last few thousand plain samples that were first, each with
 * how much side band is before it about its process, or about others with the
 * same last bits of their number, or about all: where that differs, it is
 * another sample.
 */

#include "daemon/source/perfdata/opd_perfdata_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/perf/opd_perf_words.h"
#include "daemon/source/perfdata/opd_perfdata_block.h"
#include "libop/base/op_array.h"
#include "libop/base/op_hash.h"
#include "libop/base/op_search.h"
#include "module/uapi/oprofile.h"

#define NR_FIRSTS 8192 /* a power of 2 */
#define NR_PIDS 1024 /* likewise */

/* Lists of the side band: of processes by the last bits of their number, of
 * all, and where the last one ends. */
#define LIST_OF_ALL NR_PIDS
#define NR_LISTS (NR_PIDS + 1)

struct opd_perfdata_entry {
	struct opd_perfdata_record record;
	uint32_t order; /* of putting */
	uint32_t gap; /* of a ready sample: so much side band is before */
};

/* A plain sample that others may be equal to. */
struct opd_perfdata_first {
	uint32_t entry; /* its number from 1; 0: none */
	uint32_t nr_sides; /* that matter to it were before */
};

static void drop_entries(struct opd_perfdata_entries *entries)
{
	for (size_t i = 0; i < entries->nr; i++) {
		const struct opd_perfdata_record *record =
			&entries->all[i].record;

		if (record->kind != OPD_PERFDATA_PLAIN)
			opd_perfdata_block_drop(
				opd_perfdata_block_of(record->bytes));
	}
	entries->nr = entries->taken = 0;
}

void opd_perfdata_queue_release(struct opd_perfdata_queue *queue)
{
	drop_entries(&queue->samples);
	drop_entries(&queue->sides);
	drop_entries(&queue->ready);
	drop_entries(&queue->ready_sides);
	free(queue->samples.all);
	free(queue->sides.all);
	free(queue->ready.all);
	free(queue->ready_sides.all);
	free(queue->ends);
	free(queue->spare);
	free(queue->sides_of);
	free(queue->firsts);
	memset(queue, 0, sizeof(*queue));
}

int opd_perfdata_queue_put(struct opd_perfdata_queue *queue,
			   const struct opd_perfdata_record *record)
{
	struct opd_perfdata_entries *to = record->kind == OPD_PERFDATA_SIDE
						  ? &queue->sides
						  : &queue->samples;
	struct opd_perfdata_entry *entry;

	if (op_array_reserve(&to->all, to->nr, 1))
		return -ENOMEM;
	entry = &to->all[to->nr];
	entry->record = *record;
	entry->order = queue->nr_put;
	if (record->kind != OPD_PERFDATA_PLAIN)
		opd_perfdata_block_hold(opd_perfdata_block_of(record->bytes));
	to->nr++;
	queue->nr_put++;
	if (record->kind != OPD_PERFDATA_SIDE &&
	    (!queue->earliest || record->time < queue->earliest))
		queue->earliest = record->time;
	if (record->time > queue->latest)
		queue->latest = record->time;
	return 0;
}

/* ---- side band --------------------------------------------------------------
 */

/* Far fewer than 2^31 are in the queue at once. */
static int compare_queued(const void *left, const void *right)
{
	const struct opd_perfdata_entry *a = left, *b = right;

	return op_compare(a->record.time, b->record.time)
		       ?: (int32_t)(a->order - b->order);
}

/* Make all side band that is not later than @until ready, in order. */
static int sort_sides(struct opd_perfdata_queue *queue, uint64_t until)
{
	struct opd_perfdata_entries *sides = &queue->sides;
	size_t nr;

	if (!sides->nr)
		return 0;
	qsort(sides->all, sides->nr, sizeof(*sides->all), compare_queued);
	nr = OP_BISECT(i, sides->nr, sides->all[i].record.time <= until);
	if (op_array_reserve(&queue->ready_sides.all, 0, nr))
		return -ENOMEM;
	if (nr)
		memcpy(queue->ready_sides.all, sides->all,
		       nr * sizeof(*sides->all));
	memmove(sides->all, sides->all + nr,
		(sides->nr - nr) * sizeof(*sides->all));
	queue->ready_sides.nr = nr;
	sides->nr -= nr;
	return 0;
}

static size_t list_of_side(const struct opd_perfdata_entry *side)
{
	uint32_t pid = side->record.pid;

	return pid == OPD_PERFDATA_ALL ? LIST_OF_ALL : pid & (NR_PIDS - 1);
}

/* The lists one behind the other, each ascending; queue->sides_of begins with
 * where each ends. */
static int list_sides(struct opd_perfdata_queue *queue)
{
	const struct opd_perfdata_entries *sides = &queue->ready_sides;
	uint32_t *ends, at = NR_LISTS;

	if (op_array_reserve(&queue->sides_of, 0, NR_LISTS + sides->nr))
		return -ENOMEM;
	ends = queue->sides_of;
	memset(ends, 0, NR_LISTS * sizeof(*ends));
	for (size_t i = 0; i < sides->nr; i++)
		ends[list_of_side(&sides->all[i])]++;
	for (size_t i = 0; i < NR_LISTS; i++) {
		uint32_t nr = ends[i];

		ends[i] = at;
		at += nr;
	}
	for (size_t i = 0; i < sides->nr; i++)
		queue->sides_of[ends[list_of_side(&sides->all[i])]++] =
			(uint32_t)i;
	return 0;
}

/* How much of a list, which is mostly empty, is before @gap. */
static inline uint32_t nr_listed_before(const struct opd_perfdata_queue *queue,
					size_t list, size_t gap)
{
	const uint32_t *ends = queue->sides_of;
	uint32_t start = list ? ends[list - 1] : NR_LISTS;
	const uint32_t *first = &ends[start];

	return start == ends[list] ? 0
				   : (uint32_t)OP_BISECT(i, ends[list] - start,
							 first[i] < gap);
}

/* How much of what is before @gap matters to a plain sample of @pid. */
static inline uint32_t nr_sides_of(const struct opd_perfdata_queue *queue,
				   uint32_t pid, size_t gap)
{
	return gap ? nr_listed_before(queue, pid & (NR_PIDS - 1), gap) +
			       nr_listed_before(queue, LIST_OF_ALL, gap)
		   : 0;
}

/* ---- samples ----------------------------------------------------------------
 */

/* How much of the side band comes before a sample. @hint: before another one,
 * which is mostly the last one of the same CPU. */
static size_t gap_of_sample(const struct opd_perfdata_queue *queue,
			    const struct opd_perfdata_entry *entry, size_t hint)
{
	const struct opd_perfdata_entry *sides = queue->ready_sides.all;
	uint64_t time = entry->record.time;
	size_t nr = queue->ready_sides.nr;

	if ((!hint || sides[hint - 1].record.time < time) &&
	    (hint == nr || time < sides[hint].record.time))
		return hint;
	return OP_BISECT(i, nr, compare_queued(&sides[i], entry) < 0);
}

static bool is_equal(const struct opd_perfdata_record *a,
		     const struct opd_perfdata_record *b)
{
	return a->ip == b->ip && a->cpu == b->cpu && a->tag == b->tag &&
	       a->pid == b->pid && a->tid == b->tid && a->misc == b->misc &&
	       a->time / OPD_PERF_TICK == b->time / OPD_PERF_TICK;
}

static size_t slot_of_plain(const struct opd_perfdata_record *record)
{
	uint64_t hash = op_hash_mix(record->ip,
				    (uint64_t)record->tid << 32 | record->cpu);

	return op_hash_home(hash) & (NR_FIRSTS - 1);
}

/* Count a plain sample of @gap with the first of its kind, or note that it is
 * that, the next that is ready. Returns whether it was counted. */
static bool count_with_first(struct opd_perfdata_queue *queue,
			     const struct opd_perfdata_record *record,
			     size_t gap)
{
	struct opd_perfdata_first *first =
		&queue->firsts[slot_of_plain(record)];
	struct opd_perfdata_record *same =
		first->entry ? &queue->ready.all[first->entry - 1].record
			     : NULL;
	uint32_t nr_sides = nr_sides_of(queue, record->pid, gap);

	if (same && first->nr_sides == nr_sides && is_equal(same, record) &&
	    same->times <= OP_MAX_TIMES - record->times) {
		same->times += record->times;
		return true;
	}
	*first = (struct opd_perfdata_first){ (uint32_t)queue->ready.nr + 1,
					      nr_sides };
	return false;
}

/* Make all samples that are not later than @until ready, with their gaps;
 * queue->ends counts them. */
static int find_ready_samples(struct opd_perfdata_queue *queue, uint64_t until)
{
	struct opd_perfdata_entries *samples = &queue->samples;
	struct opd_perfdata_entries *ready = &queue->ready;
	size_t nr_gaps = queue->ready_sides.nr + 1, gap = 0, nr_left = 0;
	bool has_plain = false;

	if (op_array_reserve(&ready->all, 0, samples->nr) ||
	    op_array_reserve(&queue->ends, 0, nr_gaps) ||
	    op_array_reserve(&queue->firsts, 0, NR_FIRSTS))
		return -ENOMEM;
	memset(queue->ends, 0, nr_gaps * sizeof(*queue->ends));
	for (size_t i = 0; i < samples->nr; i++) {
		struct opd_perfdata_entry *entry = &samples->all[i];
		bool is_plain = entry->record.kind == OPD_PERFDATA_PLAIN;

		if (entry->record.time > until) {
			samples->all[nr_left++] = *entry;
			continue;
		}
		gap = gap_of_sample(queue, entry, gap);
		/* To clear it costs more than a round of a few stacks. */
		if (is_plain && !has_plain)
			memset(queue->firsts, 0,
			       NR_FIRSTS * sizeof(*queue->firsts));
		has_plain |= is_plain;
		if (is_plain && count_with_first(queue, &entry->record, gap))
			continue;
		entry->gap = (uint32_t)gap;
		queue->ends[gap]++;
		ready->all[ready->nr++] = *entry;
	}
	samples->nr = nr_left;
	return 0;
}

/* From where each gap starts queue->ends goes to where it ends. */
static int sort_by_gaps(struct opd_perfdata_queue *queue)
{
	struct opd_perfdata_entry *unsorted = queue->ready.all;
	size_t nr_gaps = queue->ready_sides.nr + 1, start = 0;

	if (nr_gaps == 1)
		return 0;
	if (op_array_reserve(&queue->spare, 0, queue->ready.nr))
		return -ENOMEM;
	for (size_t gap = 0; gap < nr_gaps; gap++) {
		size_t nr = queue->ends[gap];

		queue->ends[gap] = start;
		start += nr;
	}
	for (size_t i = 0; i < queue->ready.nr; i++)
		queue->spare[queue->ends[unsorted[i].gap]++] = unsorted[i];
	queue->ready.all = queue->spare;
	queue->spare = unsorted;
	return 0;
}

/* ---- rounds -----------------------------------------------------------------
 */

static int make_ready(struct opd_perfdata_queue *queue, uint64_t until)
{
	drop_entries(&queue->ready);
	drop_entries(&queue->ready_sides);
	return sort_sides(queue, until)
		       ?: list_sides(queue)
		       ?: find_ready_samples(queue, until)
		       ?: sort_by_gaps(queue);
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

/* The list that the next record is taken of, NULL if there is none. */
static const struct opd_perfdata_entries *
next_of_ready(const struct opd_perfdata_queue *queue)
{
	const struct opd_perfdata_entries *samples = &queue->ready;
	const struct opd_perfdata_entries *sides = &queue->ready_sides;

	if (samples->taken < samples->nr &&
	    samples->taken < queue->ends[sides->taken])
		return samples;
	return sides->taken < sides->nr ? sides : NULL;
}

bool opd_perfdata_queue_is_ready(const struct opd_perfdata_queue *queue)
{
	return next_of_ready(queue);
}

bool opd_perfdata_queue_first(const struct opd_perfdata_queue *queue,
			      struct opd_perfdata_record *record)
{
	const struct opd_perfdata_entries *of = next_of_ready(queue);

	if (!of)
		return false;
	*record = of->all[of->taken].record;
	return true;
}

void opd_perfdata_queue_next(struct opd_perfdata_queue *queue)
{
	if (next_of_ready(queue) == &queue->ready)
		queue->ready.taken++;
	else
		queue->ready_sides.taken++;
}
