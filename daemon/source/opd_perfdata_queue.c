// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bytes of all records are in one array, in the order in which they were
 * put. At the end of a round what was taken is dropped, and the entries are
 * sorted by time: records of each CPU are in order already, so that there are
 * few runs to merge. Both go from one array to another, and the old one is
 * there for the next time.
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
	size_t len;
};

void opd_perfdata_queue_release(struct opd_perfdata_queue *queue)
{
	free(queue->entries);
	free(queue->bytes);
	free(queue->spare);
	free(queue->spare_bytes);
	memset(queue, 0, sizeof(*queue));
}

#define swap_arrays(a, b)                                                      \
	do {                                                                   \
		void *swapped = *(a);                                          \
		*(a) = *(b);                                                   \
		*(b) = swapped;                                                \
	} while (0)

int opd_perfdata_queue_put(struct opd_perfdata_queue *queue, uint64_t time,
			   const void *bytes, size_t len)
{
	int err = op_array_reserve(&queue->entries, queue->nr, 1)
			  ?: op_array_reserve(&queue->bytes, queue->len, len);

	if (err)
		return err;
	memcpy(queue->bytes + queue->len, bytes, len);
	queue->entries[queue->nr++] =
		(struct opd_perfdata_entry){ time, queue->len, len };
	queue->len += len;
	if (time > queue->latest)
		queue->latest = time;
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

/* ---- sorting ----------------------------------------------------------------
 */

/* Where the run of entries in the order of time that begins at @from ends. */
static size_t end_of_run(const struct opd_perfdata_queue *queue, size_t from)
{
	const struct opd_perfdata_entry *entries = queue->entries;

	if (from == queue->nr)
		return from;
	while (++from < queue->nr &&
	       entries[from - 1].time <= entries[from].time)
		;
	return from;
}

/* Two runs, up to @middle and up to @end, become one among the spare ones. */
static void merge_runs(struct opd_perfdata_queue *queue, size_t from,
		       size_t middle, size_t end)
{
	const struct opd_perfdata_entry *entries = queue->entries;
	struct opd_perfdata_entry *out = queue->spare + from;
	size_t a = from, b = middle;

	while (a < middle && b < end)
		*out++ = entries[b].time < entries[a].time ? entries[b++]
							   : entries[a++];
	memcpy(out, entries + a, (middle - a) * sizeof(*out));
	out += middle - a;
	memcpy(out, entries + b, (end - b) * sizeof(*out));
}

static int sort_entries(struct opd_perfdata_queue *queue)
{
	while (end_of_run(queue, 0) < queue->nr) {
		if (op_array_reserve(&queue->spare, 0, queue->nr))
			return -ENOMEM;
		for (size_t from = 0; from < queue->nr;) {
			size_t middle = end_of_run(queue, from);
			size_t end = end_of_run(queue, middle);

			merge_runs(queue, from, middle, end);
			from = end;
		}
		swap_arrays(&queue->entries, &queue->spare);
	}
	return 0;
}

static int make_ready(struct opd_perfdata_queue *queue, uint64_t until)
{
	const struct opd_perfdata_entry *entries;
	int err = drop_taken(queue) ?: sort_entries(queue);

	if (err)
		return err;
	entries = queue->entries;
	queue->nr_ready = OP_BISECT(i, queue->nr, entries[i].time <= until);
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

const void *opd_perfdata_queue_first(const struct opd_perfdata_queue *queue,
				     size_t *len, uint64_t *time)
{
	const struct opd_perfdata_entry *entry;

	if (queue->taken == queue->nr_ready)
		return NULL;
	entry = &queue->entries[queue->taken];
	*len = entry->len;
	*time = entry->time;
	return queue->bytes + entry->at;
}

void opd_perfdata_queue_next(struct opd_perfdata_queue *queue)
{
	queue->taken++;
}
