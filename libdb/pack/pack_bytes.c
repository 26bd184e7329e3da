// SPDX-License-Identifier: GPL-2.0-or-later

#include "libdb/pack/pack_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256
#define NUMBER_MAX 10 /* bytes of a 64-bit number */

static void grow(struct pack_bytes *to, size_t len)
{
	size_t room = to->room ? to->room : FIRST_ROOM;
	uint8_t *bytes;

	while (room && room - to->len < len)
		room *= 2;
	bytes = room ? realloc(to->bytes, room) : NULL;
	if (!bytes) {
		to->err = -ENOMEM;
		return;
	}
	to->bytes = bytes;
	to->room = room;
}

void *pack_bytes_reserve(struct pack_bytes *to, size_t len)
{
	if (!to->err && (!to->bytes || to->room - to->len < len))
		grow(to, len);
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
