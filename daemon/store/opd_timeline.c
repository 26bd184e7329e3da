// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A slice in memory is a hash table of ids, which are hashes themselves. Slice
 * N is at place N % OPD_TIMELINE_SLICES: the one that was there is put down
 * first. So a slice may be put down in several parts, which readers add up, and
 * no time is too late or too early for its own slice.
 *
 * Counts saturate in sample files and not here, which would take 2^64 samples
 * in a slice.
 */

#include "daemon/store/opd_timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/base/op_log.h"
#include "libop/session/op_session.h"

#define FIRST_SLOTS 256
#define FLUSH_NS UINT64_C(1000000000)
/* The first samples of other CPUs may be so much before those of the first. */
#define EARLY_NS UINT64_C(1000000000)

static void timeline_path(const struct opd_timeline *timeline, char *path,
			  size_t len)
{
	snprintf(path, len, "%.4000s/" TIMELINE_FILE, timeline->folder);
}

/* ---- beginning ----------------------------------------------------------- */

/* A session that has samples and no time line had none before. */
static bool has_samples(const struct opd_timeline *timeline)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.4000s/ledger", timeline->folder);
	return !access(path, F_OK);
}

/* A daemon without time line adds to the counts of one that had it. */
static void soil_old_timeline(const char *path)
{
	const struct timeline_head none = { .most = OP_SLICES_MIN };
	struct timeline_writer *writer;

	if (access(path, F_OK) || timeline_open(&writer, path, &none, NULL))
		return;
	timeline_soil(writer);
	timeline_close(writer, true);
}

void opd_timeline_init(struct opd_timeline *timeline, const char *folder,
		       uint32_t most, uint64_t *room, struct op_log *log)
{
	struct timeline old;
	char path[PATH_MAX];
	int err;

	*timeline = (struct opd_timeline){ .folder = folder,
					   .room = room,
					   .log = log,
					   .seed = op_hash_new_seed() };
	timeline_path(timeline, path, sizeof(path));
	if (!most) {
		soil_old_timeline(path);
		return;
	}
	timeline->most = most;
	err = timeline_read(&old, path);
	timeline->missed = err && has_samples(timeline);
	if (err)
		return;
	timeline->seed = old.head.seed;
	timeline_release(&old);
}

/* Counts that follow are of no slice. */
static void leave_slice(struct opd_timeline *timeline)
{
	timeline->now = NULL;
	timeline->from = timeline->to = 0;
}

/* ---- the end ------------------------------------------------------------- */

static void forget_slices(struct opd_timeline *timeline)
{
	for (size_t i = 0; i < OPD_TIMELINE_SLICES; i++) {
		free(timeline->slices[i].counts);
		timeline->slices[i] = (struct opd_slice){ 0 };
	}
	leave_slice(timeline);
}

static void end_by_error(struct opd_timeline *timeline, int err)
{
	if (timeline->is_over)
		return;
	timeline->is_over = true;
	op_log(timeline->log,
	       "%s: the time line ends here: %s; samples are counted as before",
	       timeline->folder, strerror(-err));
	if (timeline->writer)
		timeline_soil(timeline->writer);
	timeline_close(timeline->writer, false);
	timeline->writer = NULL;
	forget_slices(timeline);
}

/* ---- putting down -------------------------------------------------------- */

static int put_down(struct opd_timeline *timeline, struct opd_slice *slice)
{
	size_t nr = 0;
	int err;

	if (!slice->nr_counts)
		return 0;
	for (size_t i = 0; i < slice->nr_slots; i++) {
		if (!slice->counts[i].id)
			continue;
		slice->counts[nr] = slice->counts[i];
		if (nr++ < i)
			slice->counts[i].id = 0;
	}
	err = timeline_put(timeline->writer, slice->nr, slice->counts, nr);
	memset(slice->counts, 0, nr * sizeof(*slice->counts));
	slice->nr_counts = 0;
	return err;
}

static int put_all_down(struct opd_timeline *timeline)
{
	int err = 0;

	for (size_t i = 0; i < OPD_TIMELINE_SLICES && !err; i++)
		err = put_down(timeline, &timeline->slices[i]);
	return err;
}

/* Slices are longer from now on, all that were counted in are put down. */
static int flush_slices(struct opd_timeline *timeline)
{
	unsigned int halved = 0;
	int err = timeline_flush(timeline->writer, &halved);

	if (err || !halved)
		return err;
	for (size_t i = 0; i < OPD_TIMELINE_SLICES && !err; i++) {
		timeline->slices[i].nr >>= halved;
		err = put_down(timeline, &timeline->slices[i]);
	}
	leave_slice(timeline);
	return err;
}

void opd_timeline_flush(struct opd_timeline *timeline)
{
	int err;

	if (!timeline->writer)
		return;
	err = put_all_down(timeline) ?: flush_slices(timeline);
	if (err)
		end_by_error(timeline, err);
}

void opd_timeline_end(struct opd_timeline *timeline)
{
	opd_timeline_flush(timeline);
	if (timeline->missed && timeline->writer)
		timeline_soil(timeline->writer);
	timeline_close(timeline->writer, true);
	timeline->writer = NULL;
	timeline->is_over = false;
	timeline->missed = false;
	forget_slices(timeline);
}

void opd_timeline_release(struct opd_timeline *timeline)
{
	timeline_close(timeline->writer, false);
	timeline->writer = NULL;
	forget_slices(timeline);
}

/* ---- counting ------------------------------------------------------------ */

static struct timeline_count *free_slot(const struct opd_slice *slice,
					uint64_t id)
{
	size_t mask = slice->nr_slots - 1;
	size_t at = id & mask;

	while (slice->counts[at].id)
		at = (at + 1) & mask;
	return &slice->counts[at];
}

static int grow_slice(struct opd_slice *slice)
{
	struct opd_slice more = *slice;

	more.nr_slots = slice->nr_slots ? 2 * slice->nr_slots : FIRST_SLOTS;
	more.counts = calloc(more.nr_slots, sizeof(*more.counts));
	if (!more.counts)
		return -ENOMEM;
	for (size_t i = 0; i < slice->nr_slots; i++)
		if (slice->counts[i].id)
			*free_slot(&more, slice->counts[i].id) =
				slice->counts[i];
	free(slice->counts);
	*slice = more;
	return 0;
}

void opd_timeline_grow(struct opd_timeline *timeline, uint64_t id, uint64_t nr)
{
	struct opd_slice *slice = timeline->now;

	if (slice->nr_counts >= slice->nr_slots / 2 && grow_slice(slice)) {
		timeline->missed = true;
		return;
	}
	*free_slot(slice, id) = (struct timeline_count){ id, nr };
	slice->nr_counts++;
}

void opd_timeline_miss(struct opd_timeline *timeline)
{
	timeline->missed = true;
}

/* ---- time ---------------------------------------------------------------- */

static int open_timeline(struct opd_timeline *timeline, uint64_t time)
{
	const struct timeline_head head = { .begin = time,
					    .len = TIMELINE_LEN_MIN,
					    .seed = timeline->seed,
					    .most = timeline->most };
	char path[PATH_MAX];
	int err;

	timeline_path(timeline, path, sizeof(path));
	err = timeline_open(&timeline->writer, path, &head, timeline->room);
	if (err)
		return err;
	/* Ids of another seed would be of no use. */
	if (timeline_head_of(timeline->writer)->seed != timeline->seed)
		return -ESTALE;
	timeline->flush_at = time + FLUSH_NS;
	return 0;
}

/* Let counts go to the slice of @time. */
static int enter_slice(struct opd_timeline *timeline, uint64_t time)
{
	const struct timeline_head *head = timeline_head_of(timeline->writer);
	uint64_t earliest = head->begin > EARLY_NS ? head->begin - EARLY_NS : 1;
	uint64_t nr = time > head->begin ? (time - head->begin) / head->len : 0;
	struct opd_slice *slice = &timeline->slices[nr % OPD_TIMELINE_SLICES];
	int err;

	if (time < earliest) {
		leave_slice(timeline);
		return 0;
	}
	err = slice->nr == nr ? 0 : put_down(timeline, slice);
	if (!err && !slice->nr_slots)
		err = grow_slice(slice);
	if (err)
		return err;
	slice->nr = nr;
	timeline->now = slice;
	timeline->from = nr ? head->begin + nr * head->len : earliest;
	timeline->to = head->begin + (nr + 1) * head->len;
	return 0;
}

void opd_timeline_set(struct opd_timeline *timeline, uint64_t time)
{
	int err = 0;

	if (!opd_timeline_is_kept(timeline) ||
	    (time >= timeline->from && time < timeline->to))
		return;
	if (!time) {
		leave_slice(timeline);
		return;
	}
	if (!timeline->writer)
		err = open_timeline(timeline, time);
	if (!err && time >= timeline->flush_at) {
		timeline->flush_at = time + FLUSH_NS;
		err = flush_slices(timeline);
	}
	err = err ?: enter_slice(timeline, time);
	if (err)
		end_by_error(timeline, err);
}
