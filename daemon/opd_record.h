/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_RECORD_H
#define DAEMON_OPD_RECORD_H

/*
 * --record: a copy of the stream in a file that can be replayed anywhere. All
 * functions do nothing when nothing is recorded. A file that cannot be written
 * ends the recording, not the daemon.
 */

#include <stddef.h>
#include <stdio.h>

#include "libop/base/op_diag.h"

struct op_log;

struct opd_record {
	FILE *file; /* NULL: nothing is recorded */
	struct op_log *log; /* borrowed */
};

/* Start to record to @path. Returns 0 or -errno with the reason. */
int opd_record_open(struct opd_record *record, const char *path,
		    struct op_log *log, struct op_diag *diag);

/* Bytes that have been read. */
void opd_record_write(struct opd_record *record, const void *bytes, size_t len);

/* After this the file has all words that were written until now. */
void opd_record_flush(struct opd_record *record);

/* Write what is left and close. */
void opd_record_close(struct opd_record *record);

#endif /* DAEMON_OPD_RECORD_H */
