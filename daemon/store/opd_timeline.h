/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_STORE_OPD_TIMELINE_H
#define DAEMON_STORE_OPD_TIMELINE_H

/*
 * The time line of samples/current (libdb/timeline.h): what is counted in
 * sample files is counted once more in the slice of its time, in memory, and
 * put down a second later. The time is that of the stream (OP_TIME), so a
 * recording has the same time line whenever it is replayed.
 *
 * Samples of several CPUs come one CPU after the other, so the time goes back a
 * little again and again: the last slices are kept in memory for that.
 *
 * A session with a history has none: its spans are its times.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libdb/timeline.h"

struct op_log;

/* Slices in memory: two seconds of the shortest ones. */
#define OPD_TIMELINE_SLICES 32

struct opd_slice {
	uint64_t nr;
	struct timeline_count *counts; /* open-addressed by id, 0: free */
	size_t nr_counts;
	size_t nr_slots; /* a power of two, or 0 */
};

struct opd_timeline {
	/* borrowed, like the two below: of the session */
	const char *folder;
	uint64_t *room; /* that sample files may take; NULL: any */
	struct op_log *log;
	struct timeline_writer *writer; /* NULL: no time was said yet */
	struct opd_slice *now; /* that counts go to; NULL: none */
	uint64_t from, to; /* the time of that, ns since the epoch */
	struct opd_slice slices[OPD_TIMELINE_SLICES]; /* by number */
	uint64_t flush_at; /* of the time of the stream, ns */
	uint64_t seed; /* of ids */
	uint32_t most; /* slices; 0: there is no time line */
	bool is_over; /* an error has ended it */
	bool missed; /* counts without a time */
};

/* Keep no more than @most slices in @folder; 0: none. */
void opd_timeline_init(struct opd_timeline *timeline, const char *folder,
		       uint32_t most, uint64_t *room, struct op_log *log);

/* Whether ids are of use. */
static inline bool opd_timeline_is_kept(const struct opd_timeline *timeline)
{
	return timeline->most && !timeline->is_over;
}

/*
 * Samples that are counted from now on are of @time, ns since the epoch; of an
 * unknown time if that is 0, or well before the first one.
 */
void opd_timeline_set(struct opd_timeline *timeline, uint64_t time);

void opd_timeline_grow(struct opd_timeline *timeline, uint64_t id, uint64_t nr);

/* @nr were counted under @id (libdb/timeline.h). */
static inline void opd_timeline_count(struct opd_timeline *timeline,
				      uint64_t id, uint64_t nr)
{
	const struct opd_slice *slice = timeline->now;
	struct timeline_count *count;

	if (!slice) {
		timeline->missed = true;
		return;
	}
	for (uint64_t at = id;; at++) {
		count = &slice->counts[at & (slice->nr_slots - 1)];
		if (count->id == id)
			break;
		if (!count->id) {
			opd_timeline_grow(timeline, id, nr);
			return;
		}
	}
	count->count += nr;
}

/* Some counts cannot have an id: memory is short. */
void opd_timeline_miss(struct opd_timeline *timeline);

/* Write what is in memory: readers have all until now. */
void opd_timeline_flush(struct opd_timeline *timeline);

/* All counts until now have come. Those that follow begin another time line, or
 * goes on with this one if it is still there. */
void opd_timeline_end(struct opd_timeline *timeline);

/* Free all, as if killed. */
void opd_timeline_release(struct opd_timeline *timeline);

#endif /* DAEMON_STORE_OPD_TIMELINE_H */
