/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_READER_H
#define DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_READER_H

/*
 * Takes the bytes of perf's data, a section of a file or a pipe, apart into
 * records, and unpacks those that perf packed (perf record -z). What stands
 * behind a record without being one is passed over.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/perfdata/opd_perfdata_block.h"

/* Types of records that perf itself writes, beside the kernel's. */
enum {
	OPD_PERFDATA_ATTR = 64,
	OPD_PERFDATA_TRACING_DATA = 66,
	OPD_PERFDATA_BUILD_ID = 67,
	OPD_PERFDATA_FINISHED_ROUND = 68,
	OPD_PERFDATA_AUXTRACE = 71,
	OPD_PERFDATA_EVENT_UPDATE = 78,
	OPD_PERFDATA_FEATURE = 80,
	OPD_PERFDATA_COMPRESSED = 81,
	OPD_PERFDATA_COMPRESSED2 = 83,
	OPD_PERFDATA_FIRST = 64, /* of its types */
};

/* Why a reader stops. */
enum opd_perfdata_end {
	OPD_PERFDATA_WHOLE, /* there are no more records */
	OPD_PERFDATA_CUT, /* the bytes end in a record, or too early */
	OPD_PERFDATA_DAMAGED, /* what is there cannot be a record */
	OPD_PERFDATA_UNREADABLE, /* errno tells why */
};

struct opd_perfdata_bytes {
	struct opd_perfdata_block *block; /* NULL: none yet */
	size_t at; /* before it all has been taken */
	size_t len;
};

struct opd_perfdata_reader {
	int fd;
	uint64_t left; /* bytes of the section that were not read yet;
			* UINT64_MAX: up to the end of the file */
	uint64_t offset; /* in the file, of what is read next */
	struct opd_perfdata_pool *pool;
	struct opd_perfdata_bytes raw; /* as in the file */
	struct opd_perfdata_bytes plain; /* unpacked */
	void *unpacker; /* ZSTD_DStream; NULL: not needed yet */
	const unsigned char *packed; /* the record that is being unpacked */
	size_t packed_len, packed_at;
	size_t nr_unpacked; /* bytes of it */
	bool has_more; /* of them than there was room for */
};

/* Read from @fd, which stays the caller's, from where it stands, into blocks of
 * @pool, which is the caller's, too. Returns 0 or -ENOMEM. */
int opd_perfdata_reader_init(struct opd_perfdata_reader *reader, int fd,
			     struct opd_perfdata_pool *pool, uint64_t left,
			     uint64_t offset);
void opd_perfdata_reader_release(struct opd_perfdata_reader *reader);

/*
 * The next record, with its header, and its length of sizeof(struct
 * perf_event_header) at least, in a block of the pool; it stays as long as
 * somebody holds that, and until the next call. NULL at the end: *@end says
 * which one.
 */
const void *opd_perfdata_reader_next(struct opd_perfdata_reader *reader,
				     size_t *len, enum opd_perfdata_end *end);

#endif /* DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_READER_H */
