/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_DEFLATE_H
#define LIBOP_FILES_OP_DEFLATE_H

/*
 * Whole buffers in zlib's format (RFC 1950), with its checksum. libdeflate
 * unpacks two to three times as fast as zlib, which is for streams.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* deflate (RFC 1951) cannot make fewer bytes of this many. */
#define OP_DEFLATE_RATIO 1040

/* Whether so few packed bytes can be @len: else the header that says so lies,
 * and is worth no memory. */
static inline bool op_may_inflate(size_t packed_len, uint64_t len)
{
	return len / OP_DEFLATE_RATIO <= packed_len;
}

/*
 * Unpack the @packed_len bytes at @packed to exactly @len bytes at @bytes.
 * *@used bytes of them were needed; @used may be NULL. Returns 0, -EBADMSG for
 * damaged bytes or another length, or -ENOMEM.
 */
int op_inflate(const void *packed, size_t packed_len, void *bytes, size_t len,
	       size_t *used);

/*
 * Pack the @len bytes at @bytes. Returns *@packed_len bytes, the caller's to
 * free; NULL without memory.
 */
void *op_deflate(const void *bytes, size_t len, size_t *packed_len);

#endif /* LIBOP_FILES_OP_DEFLATE_H */
