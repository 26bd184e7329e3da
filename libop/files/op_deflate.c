// SPDX-License-Identifier: GPL-2.0-or-later

#include "libop/files/op_deflate.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdlib.h>

/* A kernel's symbols become an eighth larger than with the best level, in a
 * twentieth of the time. */
#define LEVEL 4

int op_inflate(const void *packed, size_t packed_len, void *bytes, size_t len,
	       size_t *used)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	enum libdeflate_result result;
	size_t ignored;

	if (!d)
		return -ENOMEM;
	result =
		libdeflate_zlib_decompress_ex(d, packed, packed_len, bytes, len,
					      used ? used : &ignored, NULL);
	libdeflate_free_decompressor(d);
	return result == LIBDEFLATE_SUCCESS ? 0 : -EBADMSG;
}

void *op_deflate(const void *bytes, size_t len, size_t *packed_len)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(LEVEL);
	size_t room = libdeflate_zlib_compress_bound(c, len);
	void *packed = c ? malloc(room) : NULL;

	*packed_len =
		packed ? libdeflate_zlib_compress(c, bytes, len, packed, room)
		       : 0;
	libdeflate_free_compressor(c);
	if (*packed_len)
		return packed;
	free(packed);
	return NULL;
}
