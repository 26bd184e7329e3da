/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_RECORD_H
#define DAEMON_OPD_RECORD_H

/*
 * --record: write the stream to a file that can be replayed anywhere. All
 * words are written as they came; in between go the records that make the
 * stream complete: its beginning and events, the name of each image cookie
 * before its first use, the kernel's address ranges, and what was lost before
 * it came to the stream. The copy of a replayed stream has all that already.
 *
 * All functions do nothing when nothing is recorded. A file that cannot be
 * written ends the recording, not the daemon.
 */

#include <stddef.h>
#include <stdint.h>

#include "libop/op_diag.h"
#include "libop/op_ledger.h"
#include "module/uapi/oprofile.h"

struct opd;
struct opd_record;

/* Start to record to @path. Returns 0 or -errno with the reason. */
int opd_record_open(struct opd *opd, const char *path, struct op_diag *diag);

/* Write what is left and close. */
void opd_record_close(struct opd *opd);

/* A new chunk of the stream is going to be handled. */
void opd_record_chunk(struct opd *opd, const uint64_t *words);

/* All words of the chunk before @at have been handled. */
void opd_record_upto(struct opd *opd, const uint64_t *at);

/* The last bytes of a stream, which are no whole record. */
void opd_record_rest(struct opd *opd, const void *bytes, size_t len);

/* The records that tell the reader what is behind the numbers. */
void opd_record_cookie(struct opd *opd, const struct op_cookie_query *query);
void opd_record_ranges(struct opd *opd);

/* What the source lost is now @lost: write what was added. */
void opd_record_lost(struct opd *opd, const struct op_ledger *lost);

#endif /* DAEMON_OPD_RECORD_H */
