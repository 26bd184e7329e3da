/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_CURSOR_H
#define LIBCFI_CFI_CURSOR_H

/*
 * Reads little-endian numbers from bytes of a file. What would be beyond the
 * end reads as 0 and makes the cursor bad for good, so that callers check once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "files of little-endian machines are read on such machines only"
#endif

struct cfi_cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

static inline struct cfi_cursor cfi_cursor(const uint8_t *bytes, size_t len)
{
	return (struct cfi_cursor){ bytes, bytes + len, false };
}

static inline size_t cfi_left(const struct cfi_cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* The next @len bytes, or NULL. */
static inline const uint8_t *cfi_take(struct cfi_cursor *c, uint64_t len)
{
	const uint8_t *bytes = c->at;

	if (len > cfi_left(c)) {
		c->bad = true;
		c->at = c->end;
		return NULL;
	}
	c->at += len;
	return bytes;
}

/* An unsigned number of @size bytes, at most 8. */
static inline uint64_t cfi_get(struct cfi_cursor *c, unsigned int size)
{
	const uint8_t *bytes = cfi_take(c, size);
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, size);
	return value;
}

/* @value of @size bytes as a signed one. */
static inline int64_t cfi_signed(uint64_t value, unsigned int size)
{
	unsigned int unused = 64 - 8 * size;

	return (int64_t)(value << unused) >> unused;
}

/* LEB128; bits beyond the 64th are dropped. */
uint64_t cfi_uleb(struct cfi_cursor *c);
int64_t cfi_sleb(struct cfi_cursor *c);

/* How addresses are written: DW_EH_PE_* of the LSB, chapter 10.5.1. */
enum cfi_encoding {
	CFI_PE_ABSPTR = 0x00,
	CFI_PE_PCREL = 0x10,
	CFI_PE_ALIGNED = 0x50,
	CFI_PE_INDIRECT = 0x80,
	CFI_PE_OMIT = 0xff,
};

/*
 * An address written as @encoding. @base is the address of the byte at
 * @bytes, which the cursor is on or behind. Returns false, with the address
 * skipped, if it is relative to something we don't know or is to be looked up
 * in memory.
 */
bool cfi_address(struct cfi_cursor *c, uint8_t encoding, const uint8_t *bytes,
		 uint64_t base, uint64_t *out);

#endif /* LIBCFI_CFI_CURSOR_H */
