/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBDB_PACK_PACK_FORMAT_H
#define LIBDB_PACK_PACK_FORMAT_H

/*
 * The bytes of a pack, private to libdb; described for people in
 * doc/sample-files.md.
 *
 *	| header 64 | contents | group | contents | group | ... | index |
 *
 * Behind each PACK_GROUP_NR contents, and behind the last one, a group tells of
 * those since the group before what the index tells of all: a pack whose header
 * or index is damaged, or that was cut short, is read by its groups
 * (pack_recover.c). Version 1 had no groups.
 *
 * Contents, the index and what is behind the head of a group are packed columns
 * (pack_column.h). pack_content.h has those of entries; the index is
 *
 *	names		of each entry, with a zero byte behind it
 *	users		ODB_USER_SIZE bytes of each
 *	figures		kind, nr, total, bytes of content of each, and since
 *			version 2 how many bytes there are between it and the
 *			content before
 *	checksums	CRC-32 of the content of each: 4 bytes, the lowest first
 *
 * The header's numbers and what the user's bytes mean are in the byte order of
 * the machine that wrote them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACK_MAGIC "\211OPK\r\n\032\n"
#define PACK_MAGIC_LEN 8
#define PACK_VERSION 2
#define PACK_VERSION_WITHOUT_GROUPS 1
#define PACK_BYTE_ORDER 0x01020304u
#define PACK_BYTE_ORDER_SWAPPED 0x04030201u

struct pack_header {
	uint8_t magic[PACK_MAGIC_LEN];
	uint32_t byte_order;
	uint32_t version;
	uint64_t generation;
	uint64_t nr; /* entries */
	uint64_t index_at; /* bytes from the start of the file */
	uint64_t index_len; /* bytes; it ends with the file */
	uint8_t reserved[8]; /* zero */
	uint32_t index_crc; /* CRC-32 of the index, packed */
	uint32_t crc; /* CRC-32 of the header before this */
};

_Static_assert(sizeof(struct pack_header) == 64, "on disk since version 1");
_Static_assert(offsetof(struct pack_header, crc) == 60, "on disk");

#define PACK_GROUP_MAGIC "\211OPG\r\n\032\n"
#define PACK_GROUP_NR 64

/* The head of a group. */
struct pack_group {
	uint8_t magic[PACK_MAGIC_LEN];
	uint64_t generation; /* that of the header */
	uint64_t at; /* of this group: bytes from the start of the file */
	uint64_t contents_at; /* likewise, of its first content */
	uint64_t first; /* the number of its first entry */
	uint64_t len; /* bytes of the columns behind this */
	uint32_t nr; /* entries */
	uint32_t is_last; /* 1: no entries follow; else 0 */
	uint32_t columns_crc; /* CRC-32 of the columns, packed */
	uint32_t crc; /* CRC-32 of the head before this */
};

_Static_assert(sizeof(struct pack_group) == 64, "on disk since version 2");
_Static_assert(offsetof(struct pack_group, crc) == 60, "on disk");

enum pack_index_column {
	PACK_NAMES,
	PACK_USERS,
	PACK_FIGURES,
	PACK_CHECKSUMS,
	PACK_INDEX_COLUMNS
};

/* Whether @name can be one: no way out of a folder, and one way to write it. */
bool pack_name_is_sound(const char *name);

/* CRC-32 as zlib's crc32(), of any length. */
uint32_t pack_crc(const void *bytes, size_t len);

#endif /* LIBDB_PACK_PACK_FORMAT_H */
