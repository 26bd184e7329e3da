// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writing a time line. An id is written once, before its first use; then it is
 * known by its number. So a count takes two or three bytes in most slices.
 *
 * When there are too many slices, the file is read, neighbours are added up,
 * and the result is written as a new file that takes the place of the old one
 * by a rename. That is done once while a session becomes twice as long, so in
 * all it costs as much as the file is long, a few times.
 *
 * After an error nothing more is written, since a later record may refer to ids
 * of one that is missing. The header then says that counts are of an unknown
 * time.
 */
#include "libdb/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "libdb/pack/pack_bytes.h"
#include "libdb/table/db_file.h"
#include "libdb/timeline/timeline_format.h"
#include "libop/base/op_array.h"
#include "libop/base/op_search.h"
#include "libop/base/op_sort.h"
#include "libop/files/op_file.h"

#define FLUSH_AT ((size_t)256 << 10) /* bytes in memory */
#define NO_ID SIZE_MAX
#define NUMBER_MAX 10 /* bytes of a 64-bit number */

struct timeline_writer {
	struct timeline_head head;
	char *path;
	int fd;
	uint64_t *room;
	uint64_t end; /* bytes of the file */
	struct pack_bytes bytes; /* to be written behind them */
	struct pack_bytes
		others; /* of a record: counts of ids that came before */
	struct op_hash index; /* of the ids, by number + 1 */
	uint64_t *ids;
	size_t nr_ids;
	uint64_t *stored; /* numbers of slices that there are, ascending */
	size_t nr_stored;
	int err; /* nothing is written any more */
};

const struct timeline_head *timeline_head_of(const struct timeline_writer *w)
{
	return &w->head;
}

static void free_timeline_writer(struct timeline_writer *w)
{
	if (!w)
		return;
	if (w->fd >= 0)
		close(w->fd);
	free(w->path);
	free(w->ids);
	free(w->stored);
	op_hash_release(&w->index);
	pack_bytes_release(&w->bytes);
	pack_bytes_release(&w->others);
	free(w);
}

/* ---- ids and slices ------------------------------------------------------ */

/* Ids are hashes already. */
static size_t number_of_id(const struct timeline_writer *w, uint64_t id)
{
	uint32_t number;

	op_hash_each(&w->index, id, number)
		if (w->ids[number - 1] == id)
			return number - 1;
	return NO_ID;
}

static int add_timeline_id(struct timeline_writer *w, uint64_t id)
{
	int err = op_hash_reserve(&w->index, w->nr_ids + 1)
			  ?: op_array_reserve(&w->ids, w->nr_ids, 1);

	if (err)
		return err;
	w->ids[w->nr_ids++] = id;
	op_hash_add(&w->index, id, (uint32_t)w->nr_ids);
	return 0;
}

static int note_slice(struct timeline_writer *w, uint64_t nr)
{
	size_t at = OP_BISECT(i, w->nr_stored, w->stored[i] < nr);

	if (at < w->nr_stored && w->stored[at] == nr)
		return 0;
	if (op_array_reserve(&w->stored, w->nr_stored, 1))
		return -ENOMEM;
	memmove(w->stored + at + 1, w->stored + at,
		(w->nr_stored - at) * sizeof(*w->stored));
	w->stored[at] = nr;
	w->nr_stored++;
	return 0;
}

/* ---- records ------------------------------------------------------------- */

static void put_timeline_header(struct pack_bytes *to,
				const struct timeline_head *head)
{
	struct timeline_header header = {
		.magic = TIMELINE_MAGIC,
		.byte_order = TIMELINE_BYTE_ORDER,
		.version = TIMELINE_VERSION,
		.begin = head->begin,
		.len = head->len,
		.seed = head->seed,
		.most = head->most,
		.state = (head->is_open ? TIMELINE_OPEN : 0) |
			 (head->is_dirty ? TIMELINE_DIRTY : 0),
	};

	header.crc = (uint32_t)crc32_z(0, (const uint8_t *)&header,
				       offsetof(struct timeline_header, crc));
	pack_bytes_put(to, &header, sizeof(header));
}

/* The record begins at @at of the bytes; its payload is there. */
static void end_record(struct pack_bytes *to, size_t at,
		       struct timeline_record record)
{
	const size_t skipped = offsetof(struct timeline_record, slice);

	record.mark = TIMELINE_MARK;
	record.len = (uint32_t)(to->len - at - sizeof(record));
	memcpy(to->bytes + at, &record, sizeof(record));
	record.crc = (uint32_t)crc32_z(0, to->bytes + at + skipped,
				       to->len - at - skipped);
	memcpy(to->bytes + at, &record, sizeof(record));
}

/* The bytes are those of pack_bytes_number(); there is room for them. */
static uint8_t *put_number(uint8_t *at, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

/* Counts of new ids stand first, each behind its id, then those of others,
 * behind the numbers of these. */
static int put_slice_record(struct timeline_writer *w, uint64_t slice,
			    const struct timeline_count *counts, size_t nr)
{
	struct timeline_record record = { .slice = slice,
					  .nr_counts = (uint32_t)nr };
	size_t at = w->bytes.len;
	uint8_t *new, *other;
	int err = note_slice(w, slice);

	w->others.len = 0;
	other = pack_bytes_reserve(&w->others, nr * 2 * NUMBER_MAX);
	pack_bytes_add(&w->bytes, sizeof(record));
	new = pack_bytes_reserve(&w->bytes,
				 nr * (sizeof(counts->id) + NUMBER_MAX));
	err = err ?: w->others.err ?: w->bytes.err;
	for (size_t i = 0; i < nr && !err; i++) {
		size_t number = number_of_id(w, counts[i].id);

		if (number == NO_ID) {
			err = add_timeline_id(w, counts[i].id);
			record.nr_new++;
			memcpy(new, &counts[i].id, sizeof(counts[i].id));
			new = put_number(new + sizeof(counts[i].id),
					 counts[i].count - 1);
		} else {
			other = put_number(put_number(other, number),
					   counts[i].count - 1);
		}
	}
	if (err)
		return err;
	w->bytes.len = (size_t)(new - w->bytes.bytes);
	pack_bytes_put(&w->bytes, w->others.bytes,
		       (size_t)(other - w->others.bytes));
	if (!w->bytes.err)
		end_record(&w->bytes, at, record);
	return w->bytes.err;
}

/* ---- files --------------------------------------------------------------- */

static void set_state(struct timeline_writer *w)
{
	uint32_t state = (w->head.is_open ? TIMELINE_OPEN : 0) |
			 (w->head.is_dirty ? TIMELINE_DIRTY : 0);

	/* A state that cannot be written stays the safer one. */
	(void)op_file_write_at(w->fd, &state, sizeof(state),
			       offsetof(struct timeline_header, state));
}

static int fail_timeline(struct timeline_writer *w, int err)
{
	if (err && !w->err) {
		w->err = err;
		pack_bytes_release(&w->bytes);
		w->head.is_dirty = true;
		if (w->fd >= 0)
			set_state(w);
	}
	return w->err;
}

static int write_timeline_bytes(struct timeline_writer *w)
{
	int err;

	if (w->room && w->bytes.len > *w->room)
		return -EDQUOT;
	err = op_file_write_at(w->fd, w->bytes.bytes, w->bytes.len, w->end);
	if (err)
		return err;
	if (w->room)
		*w->room -= w->bytes.len;
	w->end += w->bytes.len;
	w->bytes.len = 0;
	return 0;
}

/* A writer of a new file for @path, with nothing but the header in memory. */
static struct timeline_writer *
new_timeline_writer(const char *path, const struct timeline_head *head,
		    uint64_t *room)
{
	struct timeline_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->fd = -1;
	w->head = *head;
	w->head.is_open = true;
	w->room = room;
	w->path = strdup(path);
	put_timeline_header(&w->bytes, &w->head);
	if (w->path && !w->bytes.err)
		return w;
	free_timeline_writer(w);
	return NULL;
}

/* Write all that is in memory as a new file, and put that in its place. */
static int put_in_place(struct timeline_writer *w)
{
	char *tmp = odb_file_tmp_path(w->path);
	int err = tmp ? 0 : -ENOMEM;

	if (!err) {
		w->fd = odb_file_create(tmp, w->bytes.len, NULL);
		err = w->fd < 0 ? w->fd : write_timeline_bytes(w);
	}
	if (!err && rename(tmp, w->path))
		err = -errno;
	if (err && tmp)
		unlink(tmp);
	free(tmp);
	return err;
}

/* ---- slices that are twice as long --------------------------------------- */

/* How often lengths are to be doubled, so that there is room for as many slices
 * again, or nearly. */
static unsigned int how_often(const struct timeline_writer *w)
{
	unsigned int shift = 0;
	size_t nr;

	do {
		nr = 1;
		shift++;
		for (size_t i = 1; i < w->nr_stored; i++)
			nr += w->stored[i] >> shift !=
			      w->stored[i - 1] >> shift;
	} while (nr > w->head.most * 3 / 4);
	return shift;
}

/* Add up counts of one id; @counts are sorted by this then. */
static size_t add_up_counts(struct timeline_count *counts, size_t nr)
{
	size_t kept = 0;

	op_sort_by(counts, nr, id);
	for (size_t i = 0; i < nr; i++) {
		if (!kept || counts[kept - 1].id != counts[i].id)
			counts[kept++] = counts[i];
		else if (__builtin_add_overflow(counts[kept - 1].count,
						counts[i].count,
						&counts[kept - 1].count))
			counts[kept - 1].count = UINT64_MAX;
	}
	return kept;
}

/* Put the slices of @t from @from to before @to into @w as one. */
static int put_as_one(struct timeline_writer *w, const struct timeline *t,
		      size_t from, size_t to, uint64_t nr)
{
	struct timeline_count *counts;
	size_t nr_counts = 0;
	int err;

	for (size_t i = from; i < to; i++)
		nr_counts += t->slices[i].nr_counts;
	counts = malloc(nr_counts * sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	nr_counts = 0;
	for (size_t i = from; i < to; i++) {
		memcpy(counts + nr_counts, t->slices[i].counts,
		       t->slices[i].nr_counts * sizeof(*counts));
		nr_counts += t->slices[i].nr_counts;
	}
	nr_counts = add_up_counts(counts, nr_counts);
	err = put_slice_record(w, nr, counts, nr_counts);
	free(counts);
	return err;
}

static int put_halved(struct timeline_writer *w, const struct timeline *t,
		      unsigned int shift)
{
	int err = 0;

	for (size_t i = 0, next; i < t->nr_slices && !err; i = next) {
		uint64_t nr = t->slices[i].nr >> shift;

		for (next = i + 1;
		     next < t->nr_slices && t->slices[next].nr >> shift == nr;)
			next++;
		err = put_as_one(w, t, i, next, nr);
	}
	return err;
}

/* Nothing is in memory that is not in the file. */
static int halve_slices(struct timeline_writer *w, unsigned int shift)
{
	struct timeline_head head = w->head;
	struct timeline_writer *more, old;
	struct timeline timeline;
	int err = timeline_read(&timeline, w->path);

	if (err)
		return err;
	head.len <<= shift;
	more = new_timeline_writer(w->path, &head, NULL);
	err = more ? put_halved(more, &timeline, shift) : -ENOMEM;
	timeline_release(&timeline);
	if (!err)
		err = put_in_place(more);
	if (!err) {
		old = *w;
		*w = *more;
		*more = old;
		w->room = old.room;
	}
	free_timeline_writer(more);
	return err;
}

/* ---- the interface ------------------------------------------------------- */

int timeline_flush(struct timeline_writer *w, unsigned int *halved)
{
	unsigned int shift = 0;
	int err = w->err;

	if (!err && w->bytes.len)
		err = write_timeline_bytes(w);
	if (!err && w->nr_stored > w->head.most) {
		shift = how_often(w);
		err = halve_slices(w, shift);
	}
	if (halved)
		*halved = err ? 0 : shift;
	return fail_timeline(w, err);
}

int timeline_put(struct timeline_writer *w, uint64_t slice,
		 const struct timeline_count *counts, size_t nr)
{
	int err = w->err;

	if (!err && nr > UINT32_MAX / 32)
		err = -EFBIG;
	if (!err && nr)
		err = put_slice_record(w, slice, counts, nr);
	if (!err && w->bytes.len > FLUSH_AT)
		err = write_timeline_bytes(w);
	return fail_timeline(w, err);
}

void timeline_soil(struct timeline_writer *w)
{
	if (w->head.is_dirty)
		return;
	w->head.is_dirty = true;
	set_state(w);
}

int timeline_close(struct timeline_writer *w, bool is_whole)
{
	int err = w ? timeline_flush(w, NULL) : 0;

	if (w && !err && is_whole) {
		w->head.is_open = false;
		set_state(w);
	}
	free_timeline_writer(w);
	return err;
}

/* Go on with the file behind what is sound of it. */
static int go_on_with(struct timeline_writer **out, const char *path,
		      const struct timeline *t, uint64_t *room)
{
	struct timeline_writer *w = new_timeline_writer(path, &t->head, room);
	int err = w ? 0 : -ENOMEM;

	if (!err) {
		w->bytes.len = 0;
		w->end = t->end;
		w->head.is_dirty |= t->head.is_open || t->is_cut;
		w->fd = odb_file_open(path, O_RDWR | O_NOFOLLOW);
		err = w->fd < 0 ? w->fd : 0;
	}
	if (!err && ftruncate(w->fd, (off_t)t->end))
		err = -errno;
	for (size_t i = 0; i < t->nr_ids && !err; i++)
		err = add_timeline_id(w, t->ids[i]);
	for (size_t i = 0; i < t->nr_slices && !err; i++)
		err = note_slice(w, t->slices[i].nr);
	if (err) {
		free_timeline_writer(w);
		return err;
	}
	set_state(w);
	*out = w;
	return 0;
}

int timeline_open(struct timeline_writer **out, const char *path,
		  const struct timeline_head *head, uint64_t *room)
{
	struct timeline_writer *w;
	struct timeline t;
	int err = timeline_read(&t, path);

	if (!err) {
		err = go_on_with(out, path, &t, room);
		timeline_release(&t);
		return err;
	}
	if (err != -ENOENT && err != -EBADMSG && err != -EPROTO)
		return err;
	w = new_timeline_writer(path, head, room);
	if (w)
		w->head.is_dirty |= err != -ENOENT;
	err = w ? put_in_place(w) : -ENOMEM;
	if (!err && w->head.is_dirty)
		set_state(w);
	if (err)
		free_timeline_writer(w);
	else
		*out = w;
	return err;
}
