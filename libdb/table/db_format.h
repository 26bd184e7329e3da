/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_TABLE_DB_FORMAT_H
#define LIBDB_TABLE_DB_FORMAT_H

/*
 * The bytes of a database file and where a key belongs in them; described
 * for people in doc/sample-files.md.
 *
 *	| header 64 | user 192 | slot 0 | slot 1 | ...	| slot nr_slots - 1 |
 *
 * Slots come in lines of four, each a cache line of the mapped file, numbered
 * from zero. The hash of a key picks its home line. When that is full, the
 * next in the key's row of lines is tried, 1, 3, 6, 10 ... lines further, round
 * the end; close to home at first, then far from other keys that were as
 * unlucky. The key is in the first slot that was free in its row when it came.
 *
 * Invariants, which db_check.c verifies before a file is used:
 *  - a slot with a count of zero is free and was never taken;
 *  - no slot is free that comes before the key's own in its row;
 *  - a key is in the first ODB_ROW_LINES of its row, and is there once.
 *
 * All numbers are in the byte order of the machine that wrote them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libdb/odb.h"

#define ODB_MAGIC "\211ODB\r\n\032\n" /* odd bytes show a mangled transfer */
#define ODB_MAGIC_LEN 8
#define ODB_VERSION 1
#define ODB_BYTE_ORDER 0x01020304u
#define ODB_BYTE_ORDER_SWAPPED 0x04030201u

#define ODB_PAGE 4096 /* files are whole pages of this many bytes */
#define ODB_LINE_SLOTS 4
#define ODB_ROW_LINES 64 /* where a search ends */

struct odb_header {
	uint8_t magic[ODB_MAGIC_LEN];
	uint32_t byte_order;
	uint32_t version;
	uint32_t header_len; /* bytes before slot 0 */
	uint32_t slot_len; /* bytes */
	uint64_t nr_slots;
	uint64_t nr_used; /* may lag by one behind the slots after a kill */
	uint64_t seed; /* of the hash; random in each new file */
	uint8_t reserved[16]; /* zero */
	uint8_t user[ODB_USER_SIZE];
};

struct odb_slot {
	uint64_t key;
	uint64_t count;
};

_Static_assert(sizeof(struct odb_header) == 256, "on disk since version 1");
_Static_assert(offsetof(struct odb_header, user) == 64, "on disk");
_Static_assert(sizeof(struct odb_slot) == 16, "on disk since version 1");

#define ODB_SLOTS_MIN                                                          \
	((ODB_PAGE - sizeof(struct odb_header)) / sizeof(struct odb_slot))
#define ODB_SLOTS_MAX (UINT64_C(1) << 28) /* 4 GiB */

/* @nr_slots is at most ODB_SLOTS_MAX in all of the following. */

static inline size_t odb_file_len(uint64_t nr_slots)
{
	return sizeof(struct odb_header) + nr_slots * sizeof(struct odb_slot);
}

static inline uint64_t odb_lines(uint64_t nr_slots)
{
	return nr_slots / ODB_LINE_SLOTS;
}

/*
 * The more keys, the less space for each and the longer the searches. At
 * three quarters seven in eight keys are in their home line.
 */
static inline uint64_t odb_used_max(uint64_t nr_slots)
{
	return nr_slots / 4 * 3;
}

/*
 * Code addresses, page numbers and pairs of them are regular in any bits, so
 * each bit of @key must change the upper half of the hash: a multiplication
 * carries upwards only, hence the fold between two of them. @seed keeps a
 * profiled program from choosing addresses that meet in one line.
 */
static inline uint32_t odb_hash(uint64_t seed, uint64_t key)
{
	uint64_t x = (key ^ seed) * UINT64_C(0x9e3779b97f4a7c15);

	x ^= x >> 32;
	x *= UINT64_C(0xd1b54a32d192ed03);
	return x >> 32;
}

/*
 * The home line of @key in a table of @nr_lines. Grows with the hash, so that
 * growing a table copies from front to back.
 */
static inline size_t odb_home(uint64_t seed, uint64_t nr_lines, uint64_t key)
{
	return odb_hash(seed, key) * nr_lines >> 32;
}

/*
 * The line after @line, which is number @step of its row, counted from 0:
 *	size_t line = odb_home(seed, nr_lines, key);
 *	for (size_t step = 0; step < ODB_ROW_LINES;
 *	     line = odb_next_line(nr_lines, line, step++))
 */
static inline size_t odb_next_line(uint64_t nr_lines, size_t line, size_t step)
{
	line += step + 1;
	while (line >= nr_lines)
		line -= nr_lines;
	return line;
}

#endif /* LIBDB_TABLE_DB_FORMAT_H */
