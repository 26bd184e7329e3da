// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading a time line, of which nothing is believed. */
#include "libdb/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "libdb/table/db_file.h"
#include "libdb/timeline/timeline_format.h"
#include "libop/base/op_array.h"
#include "libop/base/op_cursor.h"
#include "libop/base/op_search.h"
#include "libop/files/op_file.h"
#include "libop/session/op_session.h"

#define FILE_MAX ((size_t)1 << 31)

static const uint64_t no_id; /* 0, which none is */

struct reading {
	struct timeline *timeline;
	struct op_cursor at; /* behind what was read */
};

static int check_timeline_header(const struct timeline_header *header)
{
	if (memcmp(header->magic, TIMELINE_MAGIC, TIMELINE_MAGIC_LEN))
		return -EBADMSG;
	if (header->byte_order == TIMELINE_BYTE_ORDER_SWAPPED)
		return -EPROTO;
	if (header->byte_order != TIMELINE_BYTE_ORDER)
		return -EBADMSG;
	if (header->version != TIMELINE_VERSION)
		return -EPROTO;
	if (header->crc != crc32_z(0, (const uint8_t *)header,
				   offsetof(struct timeline_header, crc)) ||
	    !odb_is_zero(header->reserved, sizeof(header->reserved)) ||
	    header->state & ~(TIMELINE_OPEN | TIMELINE_DIRTY) ||
	    header->most < OP_SLICES_MIN || header->most > OP_SLICES_MAX ||
	    header->begin > INT64_MAX || header->len < TIMELINE_LEN_MIN ||
	    header->len > INT64_MAX)
		return -EBADMSG;
	return 0;
}

/* The record at the cursor, which goes behind it, and its payload. */
static bool next_record(struct reading *r, struct timeline_record *record,
			struct op_cursor *payload)
{
	const uint8_t *at = op_cursor_take(&r->at, sizeof(*record));
	const size_t skipped = offsetof(struct timeline_record, slice);

	if (!at)
		return false;
	memcpy(record, at, sizeof(*record));
	*payload = op_cursor(at + sizeof(*record), record->len);
	return record->mark == TIMELINE_MARK &&
	       record->len <= TIMELINE_RECORD_MAX && !record->reserved &&
	       op_cursor_take(&r->at, record->len) &&
	       record->crc == crc32_z(0, at + skipped,
				      sizeof(*record) - skipped + record->len);
}

/* Counts of @nr_new ids that come for the first time, then those of others. */
static int read_slice_counts(struct timeline *t, struct op_cursor *payload,
			     struct timeline_slice *slice, size_t nr_new)
{
	size_t nr_old = t->nr_ids;

	if (nr_new > slice->nr_counts)
		return -EBADMSG;
	if (op_array_reserve(&t->ids, t->nr_ids, nr_new))
		return -ENOMEM;
	for (size_t i = 0; i < slice->nr_counts; i++) {
		struct timeline_count *count = &slice->counts[i];

		if (i < nr_new) {
			memcpy(&count->id,
			       op_cursor_take(payload, sizeof(count->id))
				       ?: (const uint8_t *)&no_id,
			       sizeof(count->id));
			t->ids[t->nr_ids++] = count->id;
		} else {
			uint64_t number = op_cursor_uleb(payload);

			count->id = number < nr_old ? t->ids[number] : 0;
		}
		count->count = op_cursor_uleb(payload) + 1;
		if (!count->id || !count->count || payload->failed)
			return -EBADMSG;
	}
	return op_cursor_left(payload) ? -EBADMSG : 0;
}

/* Returns 0, -EBADMSG if the record is not sound, or -ENOMEM. */
static int read_timeline_record(struct reading *r)
{
	struct timeline *timeline = r->timeline;
	struct timeline_record record;
	struct timeline_slice slice;
	struct op_cursor payload;
	size_t nr_ids = timeline->nr_ids;
	int err;

	if (!next_record(r, &record, &payload))
		return -EBADMSG;
	/* The end of the slice is a time that there may be. */
	if (record.slice >= ((uint64_t)INT64_MAX - timeline->head.begin) /
				    timeline->head.len ||
	    record.nr_counts > record.len / 2 || !record.nr_counts)
		return -EBADMSG;
	if (op_array_reserve(&timeline->slices, timeline->nr_slices, 1))
		return -ENOMEM;
	slice = (struct timeline_slice){
		.nr = record.slice,
		.nr_counts = record.nr_counts,
		.counts = malloc(record.nr_counts * sizeof(*slice.counts)),
	};
	if (!slice.counts)
		return -ENOMEM;
	err = read_slice_counts(timeline, &payload, &slice, record.nr_new);
	if (err) {
		free(slice.counts);
		timeline->nr_ids = nr_ids;
		return err;
	}
	timeline->slices[timeline->nr_slices++] = slice;
	return 0;
}

static int compare_slices(const void *a, const void *b)
{
	const struct timeline_slice *x = a, *y = b;

	return op_compare(x->nr, y->nr);
}

static int read_timeline_bytes(struct timeline *timeline, const char *text,
			       size_t len)
{
	struct reading r = { .timeline = timeline };
	struct timeline_header header;
	int err;

	if (len < sizeof(header))
		return -EBADMSG;
	memcpy(&header, text, sizeof(header));
	err = check_timeline_header(&header);
	if (err)
		return err;
	timeline->head = (struct timeline_head){
		.begin = header.begin,
		.len = header.len,
		.seed = header.seed,
		.most = header.most,
		.is_open = header.state & TIMELINE_OPEN,
		.is_dirty = header.state & TIMELINE_DIRTY,
	};
	r.at = op_cursor((const uint8_t *)text, len);
	op_cursor_skip(&r.at, sizeof(header));
	do {
		timeline->end = len - op_cursor_left(&r.at);
		if (timeline->end == len)
			break;
		err = read_timeline_record(&r);
	} while (!err);
	timeline->is_cut = err == -EBADMSG;
	if (timeline->nr_slices)
		qsort(timeline->slices, timeline->nr_slices,
		      sizeof(*timeline->slices), compare_slices);
	return err == -EBADMSG ? 0 : err;
}

int timeline_read(struct timeline *timeline, const char *path)
{
	struct op_diag ignored = { 0 };
	char *text;
	size_t len;
	int err = op_file_read(path, FILE_MAX, &text, &len, &ignored);

	*timeline = (struct timeline){ 0 };
	if (err)
		return err;
	err = read_timeline_bytes(timeline, text, len);
	free(text);
	if (err)
		timeline_release(timeline);
	return err;
}

void timeline_release(struct timeline *timeline)
{
	for (size_t i = 0; i < timeline->nr_slices; i++)
		free(timeline->slices[i].counts);
	free(timeline->slices);
	free(timeline->ids);
	*timeline = (struct timeline){ 0 };
}
