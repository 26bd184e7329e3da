// SPDX-License-Identifier: GPL-2.0-or-later

#include "libdb/pack/pack_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"

#define NUMBER_MAX 10 /* bytes of a 64-bit number */

void *pack_bytes_reserve(struct pack_bytes *to, size_t len)
{
	/* Never NULL without an error, also where there are no bytes. */
	if (!to->err)
		to->err = op_array_reserve(&to->bytes, to->len, len ? len : 1);
	return to->err ? NULL : to->bytes + to->len;
}

void *pack_bytes_add(struct pack_bytes *to, size_t len)
{
	void *at = pack_bytes_reserve(to, len);

	if (at)
		to->len += len;
	return at;
}

void pack_bytes_put(struct pack_bytes *to, const void *bytes, size_t len)
{
	void *at = pack_bytes_add(to, len);

	if (at && len)
		memcpy(at, bytes, len);
}

void pack_bytes_number(struct pack_bytes *to, uint64_t number)
{
	uint8_t *at = pack_bytes_reserve(to, NUMBER_MAX);

	if (!at)
		return;
	for (; number >= 0x80; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	to->len = (size_t)(at - to->bytes);
}

void pack_bytes_release(struct pack_bytes *bytes)
{
	free(bytes->bytes);
	*bytes = (struct pack_bytes){ 0 };
}
