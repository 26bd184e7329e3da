// SPDX-License-Identifier: GPL-2.0-or-later

#include <stdlib.h>
#include <zlib.h>

#include "libcfi/cfi_image.h"

/* deflate cannot do better: a header that says so lies. */
#define MAX_RATIO 1040

uint8_t *cfi_inflate(const uint8_t *packed, size_t packed_len, uint64_t len)
{
	uint8_t *bytes;
	uLongf got = len;

	if (!len || len / MAX_RATIO > packed_len)
		return NULL;
	bytes = malloc(len);
	if (!bytes)
		return NULL;
	if (uncompress(bytes, &got, packed, packed_len) == Z_OK && got == len)
		return bytes;
	free(bytes);
	return NULL;
}
