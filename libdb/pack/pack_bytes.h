/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_PACK_PACK_BYTES_H
#define LIBDB_PACK_PACK_BYTES_H

/*
 * Bytes that get more, private to libdb. What goes wrong is kept: it is enough
 * to look at err when all is added. An all-zero struct is empty.
 */

#include <stddef.h>
#include <stdint.h>

struct pack_bytes {
	uint8_t *bytes;
	size_t len;
	int err; /* -ENOMEM: nothing was added since */
};

/* Room for @len more bytes, which count when len is raised; NULL: none. */
void *pack_bytes_reserve(struct pack_bytes *to, size_t len);

/* The same, and they count. */
void *pack_bytes_add(struct pack_bytes *to, size_t len);

void pack_bytes_put(struct pack_bytes *to, const void *bytes, size_t len);

/* A number as LEB128: 7 bits in each byte, the lowest first, the top bit set
 * in all but the last. */
void pack_bytes_number(struct pack_bytes *to, uint64_t number);

/* Free the bytes; it is empty again. */
void pack_bytes_release(struct pack_bytes *bytes);

#endif /* LIBDB_PACK_PACK_BYTES_H */
