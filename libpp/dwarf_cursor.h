/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_DWARF_CURSOR_H
#define LIBPP_DWARF_CURSOR_H

/*
 * Reading DWARF sections, which may hold anything: a read beyond the end
 * gives 0, moves the cursor to the end and leaves `failed` set, so that
 * several reads can share one check.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct pp_bytes {
	const uint8_t *data; /* borrowed */
	size_t len;
};

struct pp_cursor {
	const uint8_t *at, *end;
	bool big_endian;
	bool failed;
};

static inline size_t pp_cursor_left(const struct pp_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline bool pp_cursor_fail(struct pp_cursor *c)
{
	c->at = c->end;
	c->failed = true;
	return false;
}

static inline void pp_cursor_skip(struct pp_cursor *c, uint64_t nr)
{
	if (nr > pp_cursor_left(c))
		pp_cursor_fail(c);
	else
		c->at += nr;
}

/* A number of @size bytes, at most 8. */
static inline uint64_t pp_cursor_number(struct pp_cursor *c, size_t size)
{
	uint64_t value = 0;

	if (size > pp_cursor_left(c))
		return pp_cursor_fail(c);
	for (size_t i = 0; i < size; i++)
		value = value << 8 | c->at[c->big_endian ? i : size - 1 - i];
	c->at += size;
	return value;
}

static inline uint8_t pp_cursor_u8(struct pp_cursor *c)
{
	return c->at < c->end ? *c->at++ : pp_cursor_fail(c);
}

static inline uint64_t pp_cursor_uleb(struct pp_cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = pp_cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	return value;
}

static inline int64_t pp_cursor_sleb(struct pp_cursor *c)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = pp_cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= ~(uint64_t)0 << shift;
	return (int64_t)value;
}

/* A string with its end; NULL if it has none. */
static inline const char *pp_cursor_string(struct pp_cursor *c)
{
	size_t left = pp_cursor_left(c);
	const uint8_t *zero = left ? memchr(c->at, 0, left) : NULL;
	const char *text = (const char *)c->at;

	if (!zero) {
		pp_cursor_fail(c);
		return NULL;
	}
	c->at = zero + 1;
	return text;
}

/* The string at @offset of a section of strings; NULL if there is none. */
static inline const char *pp_bytes_string(const struct pp_bytes *b,
					  uint64_t offset)
{
	if (offset >= b->len || !memchr(b->data + offset, 0, b->len - offset))
		return NULL;
	return (const char *)b->data + offset;
}

/*
 * What stands before each unit: its length, behind an escape if it is of the
 * 64-bit format. Returns the cursor of the unit's bytes; @c goes behind it.
 */
static inline struct pp_cursor pp_cursor_unit(struct pp_cursor *c, bool *is_64)
{
	uint64_t len = pp_cursor_number(c, 4);
	struct pp_cursor unit;

	*is_64 = len == 0xffffffff;
	if (*is_64)
		len = pp_cursor_number(c, 8);
	unit = *c;
	pp_cursor_skip(c, len);
	unit.failed = c->failed;
	if (!unit.failed)
		unit.end = c->at;
	else
		unit.at = unit.end;
	return unit;
}

#endif /* LIBPP_DWARF_CURSOR_H */
