/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_CURSOR_H
#define LIBOP_BASE_OP_CURSOR_H

/*
 * Reads the bytes of a file, which may hold anything, in the way that DWARF
 * and its kin are written. What would be beyond the end reads as 0, moves the
 * cursor to the end and leaves `failed` set, so that several reads can share
 * one check. The bytes are the caller's.
 */

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct op_cursor {
	const uint8_t *at, *end;
	bool big_endian;
	bool failed;
};

/*
 * A cursor at the first of @len bytes, which are in little-endian order unless
 * big_endian is set. @bytes may
 * be NULL if @len is 0.
 */
static inline struct op_cursor op_cursor(const uint8_t *bytes, size_t len)
{
	return (struct op_cursor){
		.at = bytes,
		.end = len ? bytes + len : bytes,
	};
}

static inline size_t op_cursor_left(const struct op_cursor *c)
{
	return (size_t)(c->end - c->at);
}

static inline bool op_cursor_fail(struct op_cursor *c)
{
	c->at = c->end;
	c->failed = true;
	return false;
}

/* The next @len bytes, or NULL. */
static inline const uint8_t *op_cursor_take(struct op_cursor *c, uint64_t len)
{
	const uint8_t *bytes = c->at;

	if (len > op_cursor_left(c)) {
		op_cursor_fail(c);
		return NULL;
	}
	c->at += len;
	return bytes;
}

static inline void op_cursor_skip(struct op_cursor *c, uint64_t len)
{
	op_cursor_take(c, len);
}

/* An unsigned number of @size bytes, at most 8. */
static inline uint64_t op_cursor_number(struct op_cursor *c, size_t size)
{
	const uint8_t *bytes = op_cursor_take(c, size);
	uint64_t value = 0;

	if (!bytes)
		return 0;
	/* Lengths that the compiler knows need no call. */
	switch (size) {
	case 1:
		memcpy(&value, bytes, 1);
		break;
	case 2:
		memcpy(&value, bytes, 2);
		break;
	case 4:
		memcpy(&value, bytes, 4);
		break;
	case 8:
		memcpy(&value, bytes, 8);
		break;
	default:
		memcpy(&value, bytes, size);
	}
	return c->big_endian ? be64toh(value) >> (64 - 8 * size) % 64
			     : le64toh(value);
}

/* A signed one, of 1 byte at least. */
static inline int64_t op_cursor_signed(struct op_cursor *c, size_t size)
{
	size_t unused = 64 - 8 * size;

	return (int64_t)(op_cursor_number(c, size) << unused) >> unused;
}

static inline uint8_t op_cursor_u8(struct op_cursor *c)
{
	return c->at < c->end ? *c->at++ : op_cursor_fail(c);
}

/*
 * LEB128: seven bits a byte, the lowest first; the last byte's highest may be
 * a sign. Bits beyond the 64th are dropped.
 */
static inline uint64_t op_cursor_leb(struct op_cursor *c, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = op_cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += shift < 64 ? 7 : 0;
	} while (byte & 0x80);
	if (is_signed && shift < 64 && (byte & 0x40))
		value |= ~(uint64_t)0 << shift;
	return value;
}

static inline uint64_t op_cursor_uleb(struct op_cursor *c)
{
	return op_cursor_leb(c, false);
}

static inline int64_t op_cursor_sleb(struct op_cursor *c)
{
	return (int64_t)op_cursor_leb(c, true);
}

/* A string with its end; NULL if it has none. */
const char *op_cursor_string(struct op_cursor *c);

/* The next @len bytes as a cursor of their own; @c goes behind them. */
static inline struct op_cursor op_cursor_part(struct op_cursor *c, uint64_t len)
{
	struct op_cursor part = *c;

	if (!op_cursor_take(c, len))
		return *c;
	part.end = c->at;
	return part;
}

/*
 * A unit: its length stands before it, behind an escape if it is of the 64-bit
 * format. Returns the cursor of the unit's bytes; @c goes behind it.
 */
struct op_cursor op_cursor_unit(struct op_cursor *c, bool *is_64);

#endif /* LIBOP_BASE_OP_CURSOR_H */
