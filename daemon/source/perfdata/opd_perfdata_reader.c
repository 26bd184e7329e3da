// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * There are the bytes of the file, and those that were unpacked, each in a
 * block. A record that is not whole goes on in the same block, at its start if
 * nobody holds records in it, else behind them or in another block.
 *
 * A packed record holds a part of a stream of records, which may begin and end
 * anywhere in one. So unpacked bytes are added behind those of the record that
 * is not whole yet, as many as there is room for, and no record is looked for
 * in the file as long as there is a whole one among them, or more to unpack.
 */

#include "daemon/source/perfdata/opd_perfdata_reader.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define HEADER sizeof(struct perf_event_header)
#define RECORD_MAX 65535u /* bytes */
#define MAX_PLAIN (64u << 20) /* bytes from one packed record */

static void drop_block(struct opd_perfdata_bytes *of)
{
	if (of->block)
		opd_perfdata_block_drop(of->block);
}

int opd_perfdata_reader_init(struct opd_perfdata_reader *reader, int fd,
			     struct opd_perfdata_pool *pool, uint64_t left,
			     uint64_t offset)
{
	memset(reader, 0, sizeof(*reader));
	reader->fd = fd;
	reader->pool = pool;
	reader->left = left;
	reader->offset = offset;
	reader->raw.block = opd_perfdata_block_new(pool);
	return reader->raw.block ? 0 : -ENOMEM;
}

void opd_perfdata_reader_release(struct opd_perfdata_reader *reader)
{
	if (reader->unpacker)
		ZSTD_freeDStream(reader->unpacker);
	drop_block(&reader->raw);
	drop_block(&reader->plain);
	memset(reader, 0, sizeof(*reader));
}

/* ---- bytes ------------------------------------------------------------------
 */

static unsigned char *bytes_at(const struct opd_perfdata_bytes *of, size_t at)
{
	return (unsigned char *)of->block->bytes + at;
}

static size_t nr_left(const struct opd_perfdata_bytes *of)
{
	return of->len - of->at;
}

/* Make room for a whole record that begins with what is left. */
static int make_room(struct opd_perfdata_reader *reader,
		     struct opd_perfdata_bytes *of)
{
	struct opd_perfdata_block *block = of->block;
	bool is_held = block && block->nr_holders > 1;
	size_t left = nr_left(of);

	if (is_held && OPD_PERFDATA_ROOM - of->len >= RECORD_MAX)
		return 0;
	if (!block || is_held)
		block = opd_perfdata_block_new(reader->pool);
	if (!block)
		return -ENOMEM;
	if (left)
		memmove(block->bytes, bytes_at(of, of->at), left);
	if (block != of->block)
		drop_block(of);
	*of = (struct opd_perfdata_bytes){ block, 0, left };
	return 0;
}

/* Read on until there are @wanted bytes. Returns 1, 0 at the end, -errno with
 * errno set, as without memory. */
static int fill_raw(struct opd_perfdata_reader *reader, size_t wanted)
{
	struct opd_perfdata_bytes *raw = &reader->raw;

	if (nr_left(raw) >= wanted)
		return 1;
	if (make_room(reader, raw))
		return -ENOMEM;
	while (nr_left(raw) < wanted) {
		uint64_t room = OPD_PERFDATA_ROOM - raw->len;
		ssize_t got;

		if (room > reader->left)
			room = reader->left;
		got = room ? read(reader->fd, bytes_at(raw, raw->len), room)
			   : 0;
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		raw->len += (size_t)got;
		reader->offset += (uint64_t)got;
		if (reader->left != UINT64_MAX)
			reader->left -= (uint64_t)got;
	}
	return 1;
}

static void copy_header(const struct opd_perfdata_bytes *from,
			struct perf_event_header *header)
{
	memcpy(header, bytes_at(from, from->at), sizeof(*header));
}

/* The bytes end here: where a record ends, and all that was promised is there,
 * or not. */
static enum opd_perfdata_end end_of(const struct opd_perfdata_reader *reader)
{
	bool is_short = reader->left && reader->left != UINT64_MAX;

	return is_short || nr_left(&reader->raw) || nr_left(&reader->plain)
		       ? OPD_PERFDATA_CUT
		       : OPD_PERFDATA_WHOLE;
}

/* Have a whole record among the bytes of the file. */
static bool find_raw(struct opd_perfdata_reader *reader,
		     struct perf_event_header *header,
		     enum opd_perfdata_end *end)
{
	int got = fill_raw(reader, HEADER);

	if (got > 0) {
		copy_header(&reader->raw, header);
		if (header->size < HEADER) {
			*end = OPD_PERFDATA_DAMAGED;
			return false;
		}
		got = fill_raw(reader, header->size);
	}
	*end = got < 0 ? OPD_PERFDATA_UNREADABLE : end_of(reader);
	return got > 0;
}

/* Pass over @len bytes that are no record. */
static bool skip_raw(struct opd_perfdata_reader *reader, uint64_t len,
		     enum opd_perfdata_end *end)
{
	struct opd_perfdata_bytes *raw = &reader->raw;

	while (len) {
		size_t here = nr_left(raw);
		int got = here ? 1 : fill_raw(reader, 1);

		if (got <= 0) {
			*end = got ? OPD_PERFDATA_UNREADABLE : OPD_PERFDATA_CUT;
			return false;
		}
		here = nr_left(raw);
		if (here > len)
			here = len;
		raw->at += here;
		len -= here;
	}
	return true;
}

/* How many bytes follow a record that are no record: traces of hardware, and
 * the description of tracepoints. */
static uint64_t bytes_behind(const unsigned char *record,
			     const struct perf_event_header *header)
{
	uint64_t size64;
	uint32_t size32;

	if (header->type == OPD_PERFDATA_AUXTRACE &&
	    header->size >= HEADER + sizeof(size64)) {
		memcpy(&size64, record + HEADER, sizeof(size64));
		return size64;
	}
	if (header->type == OPD_PERFDATA_TRACING_DATA &&
	    header->size >= HEADER + sizeof(size32)) {
		memcpy(&size32, record + HEADER, sizeof(size32));
		return ((uint64_t)size32 + 7) / 8 * 8;
	}
	return 0;
}

/* ---- packed records ---------------------------------------------------------
 */

static bool is_packed(const struct perf_event_header *header)
{
	return header->type == OPD_PERFDATA_COMPRESSED ||
	       header->type == OPD_PERFDATA_COMPRESSED2;
}

/* Begin to unpack. The newer kind tells its length, as it is filled up to a
 * whole word. */
static bool start_unpacking(struct opd_perfdata_reader *reader,
			    const unsigned char *record,
			    const struct perf_event_header *header)
{
	size_t before = HEADER;
	uint64_t len = header->size - HEADER;

	if (header->type == OPD_PERFDATA_COMPRESSED2) {
		if (len < sizeof(len))
			return false;
		before += sizeof(len);
		memcpy(&len, record + HEADER, sizeof(len));
		if (len > header->size - before)
			return false;
	}
	reader->packed = record + before;
	reader->packed_len = len;
	reader->packed_at = 0;
	reader->nr_unpacked = 0;
	return true;
}

static bool is_unpacking(const struct opd_perfdata_reader *reader)
{
	return reader->has_more || reader->packed_at < reader->packed_len;
}

/* Unpack as much as there is room for. Returns 0, -EBADMSG or -ENOMEM. */
static int unpack_some(struct opd_perfdata_reader *reader)
{
	struct opd_perfdata_bytes *plain = &reader->plain;
	ZSTD_inBuffer in = { reader->packed, reader->packed_len,
			     reader->packed_at };
	ZSTD_outBuffer out = { 0 };

	if (!reader->unpacker)
		reader->unpacker = ZSTD_createDStream();
	if (!reader->unpacker || make_room(reader, plain))
		return -ENOMEM;
	out.dst = bytes_at(plain, plain->len);
	out.size = OPD_PERFDATA_ROOM - plain->len;
	if (ZSTD_isError(ZSTD_decompressStream(reader->unpacker, &out, &in)))
		return -EBADMSG;
	reader->packed_at = in.pos;
	reader->has_more = out.pos == out.size;
	reader->nr_unpacked += out.pos;
	plain->len += out.pos;
	return reader->nr_unpacked > MAX_PLAIN ? -EBADMSG : 0;
}

/* Whether there is a whole record among the unpacked bytes. What is packed is
 * not packed once more: -EBADMSG. */
static int has_plain(const struct opd_perfdata_reader *reader,
		     struct perf_event_header *header)
{
	size_t left = nr_left(&reader->plain);

	if (left < HEADER)
		return 0;
	copy_header(&reader->plain, header);
	if (header->size < HEADER || is_packed(header))
		return -EBADMSG;
	return header->size <= left;
}

/* Have such a record. Returns 1, 0 without one, or -errno. */
static int find_plain(struct opd_perfdata_reader *reader,
		      struct perf_event_header *header)
{
	int got = has_plain(reader, header);

	while (!got && is_unpacking(reader))
		got = unpack_some(reader) ?: has_plain(reader, header);
	return got;
}

/* ---- records ----------------------------------------------------------------
 */

static const void *pass_record(struct opd_perfdata_bytes *from,
			       const struct perf_event_header *header,
			       size_t *len)
{
	const unsigned char *record = bytes_at(from, from->at);

	from->at += header->size;
	*len = header->size;
	return record;
}

/* Most records are of the kernel, and whole among the bytes of the file. */
static bool is_simple(const struct opd_perfdata_reader *reader,
		      struct perf_event_header *header)
{
	if (reader->packed_len || nr_left(&reader->raw) < HEADER)
		return false;
	copy_header(&reader->raw, header);
	return header->size >= HEADER &&
	       header->size <= nr_left(&reader->raw) &&
	       header->type < OPD_PERFDATA_FIRST;
}

/* The next record of the file that is a record, or starts to be unpacked. */
static const void *next_raw(struct opd_perfdata_reader *reader,
			    struct perf_event_header *header, size_t *len,
			    enum opd_perfdata_end *end)
{
	const void *record;
	uint64_t behind;

	do {
		if (!find_raw(reader, header, end))
			return NULL;
		record = pass_record(&reader->raw, header, len);
		if (is_packed(header) &&
		    !start_unpacking(reader, record, header)) {
			*end = OPD_PERFDATA_DAMAGED;
			return NULL;
		}
		behind = bytes_behind(record, header);
		if (!skip_raw(reader, behind, end))
			return NULL;
	} while (behind);
	return record;
}

const void *opd_perfdata_reader_next(struct opd_perfdata_reader *reader,
				     size_t *len, enum opd_perfdata_end *end)
{
	struct perf_event_header header;
	const void *record;
	int got;

	if (is_simple(reader, &header))
		return pass_record(&reader->raw, &header, len);
	do {
		got = find_plain(reader, &header);
		if (got > 0)
			return pass_record(&reader->plain, &header, len);
		if (got < 0) {
			*end = got == -ENOMEM ? OPD_PERFDATA_UNREADABLE
					      : OPD_PERFDATA_DAMAGED;
			return NULL;
		}
		record = next_raw(reader, &header, len, end);
	} while (record && is_packed(&header));
	return record;
}
