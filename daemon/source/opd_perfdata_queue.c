// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bytes of all records are in one array, in the order in which they were
 * put, and the entries are sorted by time at the end of a round. What was taken
 * is dropped then: entries that are left are brought back to the order of their
 * bytes, which move to the start.
 */

#include "daemon/source/opd_perfdata_queue.h"

#include <stdlib.h>
#include <string.h>

#include "libop/op_array.h"
#include "libop/op_search.h"

struct opd_perfdata_entry {
	uint64_t time;
	size_t at; /* in the bytes; tells which came first, too */
	size_t len;
};

void opd_perfdata_queue_release(struct opd_perfdata_queue *queue)
{
	free(queue->entries);
	free(queue->bytes);
	memset(queue, 0, sizeof(*queue));
}

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

static int compare_at(const void *a, const void *b)
{
	const struct opd_perfdata_entry *x = a, *y = b;

	return op_compare(x->at, y->at);
}

/* Move the bytes of those that were not taken to the start. */
static void drop_taken(struct opd_perfdata_queue *queue)
{
	size_t left = queue->nr - queue->taken;

	if (!queue->taken)
		return;
	memmove(queue->entries, queue->entries + queue->taken,
		left * sizeof(*queue->entries));
	if (left)
		qsort(queue->entries, left, sizeof(*queue->entries),
		      compare_at);
	queue->nr = left;
	queue->nr_ready = queue->taken = 0;
	queue->len = 0;
	for (size_t i = 0; i < left; i++) {
		struct opd_perfdata_entry *entry = &queue->entries[i];

		memmove(queue->bytes + queue->len, queue->bytes + entry->at,
			entry->len);
		entry->at = queue->len;
		queue->len += entry->len;
	}
}

static int compare_time(const void *a, const void *b)
{
	const struct opd_perfdata_entry *x = a, *y = b;

	return op_compare(x->time, y->time) ?: op_compare(x->at, y->at);
}

static void make_ready(struct opd_perfdata_queue *queue, uint64_t until)
{
	const struct opd_perfdata_entry *entries;

	drop_taken(queue);
	if (queue->nr)
		qsort(queue->entries, queue->nr, sizeof(*queue->entries),
		      compare_time);
	entries = queue->entries;
	queue->nr_ready = OP_BISECT(i, queue->nr, entries[i].time <= until);
}

void opd_perfdata_queue_end_round(struct opd_perfdata_queue *queue)
{
	make_ready(queue, queue->before);
	queue->before = queue->latest;
}

void opd_perfdata_queue_end(struct opd_perfdata_queue *queue)
{
	make_ready(queue, UINT64_MAX);
	queue->latest = queue->before = 0;
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
