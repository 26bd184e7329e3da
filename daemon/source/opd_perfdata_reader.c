// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * There are two buffers: the bytes of the file, and those that were unpacked.
 * A packed record holds a part of a stream of records, which may begin and end
 * anywhere in one. So unpacked bytes are added behind those of the record that
 * is not whole yet, and no record is looked for in the file as long as there is
 * a whole one among them.
 */

#include "daemon/source/opd_perfdata_reader.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "libop/op_array.h"

#define HEADER sizeof(struct perf_event_header)
#define RAW_SIZE (1u << 20) /* more than a record takes, 65535 bytes */
#define MAX_PLAIN (64u << 20) /* bytes from one packed record */

int opd_perfdata_reader_init(struct opd_perfdata_reader *reader, int fd,
			     uint64_t left, uint64_t offset)
{
	memset(reader, 0, sizeof(*reader));
	reader->fd = fd;
	reader->left = left;
	reader->offset = offset;
	reader->raw.bytes = malloc(RAW_SIZE);
	return reader->raw.bytes ? 0 : -ENOMEM;
}

void opd_perfdata_reader_release(struct opd_perfdata_reader *reader)
{
	if (reader->unpacker)
		ZSTD_freeDStream(reader->unpacker);
	free(reader->raw.bytes);
	free(reader->plain.bytes);
	memset(reader, 0, sizeof(*reader));
}

/* ---- bytes ------------------------------------------------------------------
 */

/* Read on until there are @wanted bytes. Returns 1, 0 at the end, -errno. */
static int fill_raw(struct opd_perfdata_reader *reader, size_t wanted)
{
	struct opd_perfdata_bytes *raw = &reader->raw;

	if (raw->len - raw->at >= wanted)
		return 1;
	memmove(raw->bytes, raw->bytes + raw->at, raw->len - raw->at);
	raw->len -= raw->at;
	raw->at = 0;
	while (raw->len < wanted) {
		uint64_t room = RAW_SIZE - raw->len;
		ssize_t got;

		if (room > reader->left)
			room = reader->left;
		got = room ? read(reader->fd, raw->bytes + raw->len, room) : 0;
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
	memcpy(header, from->bytes + from->at, sizeof(*header));
}

/* The bytes end here: where a record ends, and all that was promised is there,
 * or not. */
static enum opd_perfdata_end end_of(const struct opd_perfdata_reader *reader)
{
	bool is_short = reader->left && reader->left != UINT64_MAX;

	return is_short || reader->raw.at < reader->raw.len ||
			       reader->plain.at < reader->plain.len
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
		size_t here = raw->len - raw->at;
		int got = here ? 1 : fill_raw(reader, 1);

		if (got <= 0) {
			*end = got ? OPD_PERFDATA_UNREADABLE : OPD_PERFDATA_CUT;
			return false;
		}
		here = raw->len - raw->at;
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

/* The newer kind tells its length, as it is filled up to a whole word. */
static bool find_packed(const unsigned char *record,
			const struct perf_event_header *header,
			ZSTD_inBuffer *in)
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
	*in = (ZSTD_inBuffer){ record + before, len, 0 };
	return true;
}

static int unpack(struct opd_perfdata_reader *reader, ZSTD_inBuffer *in)
{
	struct opd_perfdata_bytes *plain = &reader->plain;
	size_t chunk = ZSTD_DStreamOutSize(), start;
	ZSTD_outBuffer out;

	if (!reader->unpacker)
		reader->unpacker = ZSTD_createDStream();
	if (!reader->unpacker)
		return -ENOMEM;
	if (plain->at)
		memmove(plain->bytes, plain->bytes + plain->at,
			plain->len - plain->at);
	plain->len -= plain->at;
	plain->at = 0;
	start = plain->len;
	do {
		if (op_array_reserve(&plain->bytes, plain->len, chunk))
			return -ENOMEM;
		out = (ZSTD_outBuffer){ plain->bytes + plain->len, chunk, 0 };
		if (ZSTD_isError(
			    ZSTD_decompressStream(reader->unpacker, &out, in)))
			return -EBADMSG;
		plain->len += out.pos;
		if (plain->len - start > MAX_PLAIN)
			return -EBADMSG;
	} while (in->pos < in->size || out.pos == chunk);
	return 0;
}

/* Whether there is a whole record among the unpacked bytes. */
static bool find_plain(const struct opd_perfdata_reader *reader,
		       struct perf_event_header *header, bool *is_damaged)
{
	const struct opd_perfdata_bytes *plain = &reader->plain;

	*is_damaged = false;
	if (plain->len - plain->at < HEADER)
		return false;
	copy_header(plain, header);
	/* What is packed is not packed once more. */
	*is_damaged = header->size < HEADER || is_packed(header);
	return !*is_damaged && header->size <= plain->len - plain->at;
}

/* ---- records ----------------------------------------------------------------
 */

static const void *pass_record(struct opd_perfdata_bytes *from,
			       const struct perf_event_header *header,
			       size_t *len)
{
	const unsigned char *record = from->bytes + from->at;

	from->at += header->size;
	*len = header->size;
	return record;
}

const void *opd_perfdata_reader_next(struct opd_perfdata_reader *reader,
				     size_t *len, enum opd_perfdata_end *end)
{
	struct perf_event_header header;
	const unsigned char *record;
	ZSTD_inBuffer in;
	bool is_damaged;
	uint64_t behind;

	do {
		if (find_plain(reader, &header, &is_damaged))
			return pass_record(&reader->plain, &header, len);
		if (is_damaged) {
			*end = OPD_PERFDATA_DAMAGED;
			return NULL;
		}
		if (!find_raw(reader, &header, end))
			return NULL;
		record = pass_record(&reader->raw, &header, len);
		if (is_packed(&header) && (!find_packed(record, &header, &in) ||
					   unpack(reader, &in))) {
			*end = OPD_PERFDATA_DAMAGED;
			return NULL;
		}
		behind = bytes_behind(record, &header);
		if (!skip_raw(reader, behind, end))
			return NULL;
	} while (is_packed(&header) || behind);
	return record;
}
