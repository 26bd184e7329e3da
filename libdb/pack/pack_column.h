/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_PACK_PACK_COLUMN_H
#define LIBDB_PACK_PACK_COLUMN_H

/*
 * Columns, private to libdb: what is packed is cut into columns of numbers and
 * bytes of one kind, because like goes well with like, and each is deflated on
 * its own. Packed columns are
 *
 *	| length, packed length | ... of each | packed bytes | ... of each |
 *
 * where lengths are numbers as of pack_bytes_number(). A column whose packed
 * length is not less than its length is stored as it is.
 *
 * Reading believes nothing: a column is inflated a piece at a time, so that
 * whoever reads numbers from it can stop as soon as one is wrong.
 */

#define ZLIB_CONST
#include <zlib.h>

#include "libdb/pack/pack_bytes.h"

#define PACK_COLUMNS_MAX 8

/* Add @nr columns, packed, to @to. Returns 0, -ENOMEM, or -EFBIG. */
int pack_columns_put(struct pack_bytes *to, const struct pack_bytes *columns,
		     size_t nr);

/* A column that is read. */
struct pack_column {
	const uint8_t *at; /* bytes at hand: from here */
	const uint8_t *end; /* to before here */
	uint64_t to_come; /* bytes to inflate when these are at an end */
	uint8_t *room; /* for them; NULL for a column that was stored */
	z_stream z;
};

/*
 * Begin to read the @nr columns of @len packed @bytes, which must outlive them.
 * Returns 0, or -EBADMSG or -ENOMEM; pack_columns_close() in any case.
 */
int pack_columns_open(struct pack_column *columns, size_t nr,
		      const uint8_t *bytes, size_t len);

/* Returns 0, or -EBADMSG when a column was not read to its end. */
int pack_columns_close(struct pack_column *columns, size_t nr);

/* Make more bytes be at hand. Returns 0, -EBADMSG at the end, -ENOMEM. */
int pack_column_more(struct pack_column *column);

static inline int pack_column_byte(struct pack_column *column, uint8_t *byte)
{
	int err = column->at < column->end ? 0 : pack_column_more(column);

	if (!err)
		*byte = *column->at++;
	return err;
}

/* Read @len bytes. Returns 0, -EBADMSG or -ENOMEM. */
int pack_column_bytes(struct pack_column *column, void *bytes, size_t len);

/* Read a number, likewise. There is one way to write it. */
int pack_column_number_slow(struct pack_column *column, uint64_t *number);

static inline int pack_column_number(struct pack_column *column,
				     uint64_t *number)
{
	if (column->at == column->end || *column->at >= 0x80)
		return pack_column_number_slow(column, number);
	*number = *column->at++;
	return 0;
}

#endif /* LIBDB_PACK_PACK_COLUMN_H */
