/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_TIMELINE_TIMELINE_FORMAT_H
#define LIBDB_TIMELINE_TIMELINE_FORMAT_H

/* The bytes of a time line, as doc/sample-files.md describes them. */

#include <stddef.h>
#include <stdint.h>

#define TIMELINE_MAGIC "\211OTL\r\n\032\n"
#define TIMELINE_MAGIC_LEN 8
#define TIMELINE_BYTE_ORDER 0x01020304u
#define TIMELINE_BYTE_ORDER_SWAPPED 0x04030201u
#define TIMELINE_VERSION 1u

#define TIMELINE_OPEN 1u
#define TIMELINE_DIRTY 2u

struct timeline_header {
	uint8_t magic[TIMELINE_MAGIC_LEN];
	uint32_t byte_order;
	uint32_t version;
	uint64_t begin;
	uint64_t len;
	uint64_t seed;
	uint32_t most;
	uint32_t crc; /* CRC-32 of the header before this */
	uint32_t state; /* TIMELINE_OPEN, TIMELINE_DIRTY: changes in place */
	uint8_t reserved[12];
};

_Static_assert(sizeof(struct timeline_header) == 64, "on disk");
_Static_assert(offsetof(struct timeline_header, crc) == 44, "on disk");

#define TIMELINE_MARK 0x43494c53u /* "SLIC" on a little-endian machine */
#define TIMELINE_RECORD_MAX (UINT32_C(1) << 30) /* bytes of payload */

/* Behind it are counts, as doc/sample-files.md says: those of @nr_new ids that
 * come for the first time, then those of others. */
struct timeline_record {
	uint32_t mark;
	uint32_t crc; /* CRC-32 of all behind this, payload included */
	uint64_t slice;
	uint32_t nr_new; /* ids */
	uint32_t nr_counts;
	uint32_t len; /* bytes of payload */
	uint32_t reserved;
};

_Static_assert(sizeof(struct timeline_record) == 32, "on disk");

#endif /* LIBDB_TIMELINE_TIMELINE_FORMAT_H */
