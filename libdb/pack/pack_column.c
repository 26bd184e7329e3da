// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Packing columns with zlib, and reading them piece by piece.
 *
 * Each column is a raw deflate stream: the pack has checksums of its own, so
 * zlib's header and checksum would be 6 bytes for nothing. A column that would
 * not get shorter is stored as it is, and read where it lies.
 *
 * A reader trusts neither the lengths nor the content. It inflates at most
 * PIECE bytes at a time, so a column that claims gigabytes takes memory only
 * for what is there. A column has to end where its length says:
 * pack_columns_close() refuses a longer one, pack_column_more() a shorter one.
 * A number has one form only, the shortest, so that equal content is equal
 * bytes.
 */

#include "libdb/pack/pack_column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 16384 /* bytes that are inflated at a time */
#define RAW_DEFLATE (-15) /* neither header nor checksum: the pack has them */
#define MEMORY 9

/* ---- writing ------------------------------------------------------------- */

static int deflate_all(z_stream *z, struct pack_bytes *to,
		       const struct pack_bytes *column)
{
	size_t bound = deflateBound(z, column->len);

	if (bound > UINT32_MAX)
		return -EFBIG;
	z->next_out = pack_bytes_reserve(to, bound);
	if (!z->next_out)
		return to->err;
	z->avail_out = (uInt)bound;
	z->next_in = column->bytes;
	z->avail_in = (uInt)column->len;
	return deflate(z, Z_FINISH) == Z_STREAM_END ? 0 : -ENOMEM;
}

/* Add the column to @to, deflated if that is shorter. */
static int put_column(struct pack_bytes *to, const struct pack_bytes *column)
{
	z_stream z = { 0 };
	int err;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, RAW_DEFLATE,
			 MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	err = deflate_all(&z, to, column);
	if (!err && z.total_out < column->len)
		to->len += z.total_out;
	else if (!err)
		pack_bytes_put(to, column->bytes, column->len);
	deflateEnd(&z);
	return err ? err : to->err;
}

int pack_columns_put(struct pack_bytes *to, const struct pack_bytes *columns,
		     size_t nr)
{
	struct pack_bytes packed = { 0 };
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		size_t before = packed.len;

		err = columns[i].err;
		if (!err)
			err = put_column(&packed, &columns[i]);
		pack_bytes_number(to, columns[i].len);
		pack_bytes_number(to, packed.len - before);
	}
	if (!err)
		pack_bytes_put(to, packed.bytes, packed.len);
	pack_bytes_release(&packed);
	return err ? err : to->err;
}

/* ---- reading ------------------------------------------------------------- */

static int open_column(struct pack_column *column, const uint8_t *bytes,
		       uint64_t len, uint64_t packed_len)
{
	if (len == packed_len) {
		column->at = bytes;
		column->end = bytes + len;
		return 0;
	}
	if (packed_len > len || packed_len > UINT32_MAX)
		return -EBADMSG;
	column->room = malloc(PIECE);
	if (!column->room)
		return -ENOMEM;
	column->z.next_in = bytes;
	column->z.avail_in = (uInt)packed_len;
	column->to_come = len;
	if (inflateInit2(&column->z, RAW_DEFLATE) == Z_OK)
		return 0;
	free(column->room);
	column->room = NULL;
	return -ENOMEM;
}

int pack_columns_open(struct pack_column *columns, size_t nr,
		      const uint8_t *bytes, size_t len)
{
	struct pack_column head = { .at = bytes, .end = bytes + len };
	uint64_t lens[PACK_COLUMNS_MAX][2];
	size_t left;
	int err = 0;

	memset(columns, 0, nr * sizeof(*columns));
	for (size_t i = 0; !err && i < nr; i++) {
		err = pack_column_number(&head, &lens[i][0]);
		if (!err)
			err = pack_column_number(&head, &lens[i][1]);
	}
	for (size_t i = 0; !err && i < nr; i++) {
		left = (size_t)(head.end - head.at);
		if (lens[i][1] > left)
			return -EBADMSG;
		err = open_column(&columns[i], head.at, lens[i][0], lens[i][1]);
		head.at += lens[i][1];
	}
	return err || head.at == head.end ? err : -EBADMSG;
}

int pack_columns_close(struct pack_column *columns, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr; i++) {
		if (columns[i].at != columns[i].end || columns[i].to_come)
			err = -EBADMSG;
		if (columns[i].room)
			inflateEnd(&columns[i].z);
		free(columns[i].room);
	}
	return err;
}

int pack_column_more(struct pack_column *column)
{
	size_t piece = column->to_come < PIECE ? column->to_come : PIECE;
	int ret;

	if (!piece)
		return -EBADMSG;
	column->z.next_out = column->room;
	column->z.avail_out = (uInt)piece;
	ret = inflate(&column->z, Z_SYNC_FLUSH);
	if (ret == Z_MEM_ERROR)
		return -ENOMEM;
	piece -= column->z.avail_out;
	if ((ret != Z_OK && ret != Z_STREAM_END) || !piece)
		return -EBADMSG;
	column->at = column->room;
	column->end = column->room + piece;
	column->to_come -= piece;
	return 0;
}

int pack_column_bytes(struct pack_column *column, void *bytes, size_t len)
{
	uint8_t *to = bytes;

	while (len) {
		int err =
			column->at < column->end ? 0 : pack_column_more(column);
		size_t n = (size_t)(column->end - column->at);

		if (err)
			return err;
		if (n > len)
			n = len;
		memcpy(to, column->at, n);
		column->at += n;
		to += n;
		len -= n;
	}
	return 0;
}

int pack_column_number_slow(struct pack_column *column, uint64_t *number)
{
	uint64_t value = 0;
	uint8_t byte = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		int err = pack_column_byte(column, &byte);

		if (err)
			return err;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		/* The tenth byte has room for one bit. */
		if ((shift && !byte) || (shift == 63 && byte > 1))
			return -EBADMSG;
		*number = value;
		return 0;
	}
	return -EBADMSG;
}
