/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_BASE_OP_LOG_H
#define LIBOP_BASE_OP_LOG_H

/*
 * The daemon's log, samples/oprofiled.log: lines that are appended, each with
 * its time. What a stream says can fill no disk: OP_LOG_BUDGET lines may be
 * written until op_log_refill(), the rest is counted; and a log that has as
 * many bytes as it may, OP_LOG_MAX or less, becomes PATH.old, in place of the
 * one before.
 */

#include <stdint.h>

#include "libop/base/op_diag.h"

#define OP_LOG_BUDGET 2000
#define OP_LOG_MAX (8 << 20)

/* The kinds of messages that --verbose may ask for. */
enum op_verbose {
	OP_V_SFILE = 1 << 0,
	OP_V_ARCS = 1 << 1,
	OP_V_SAMPLES = 1 << 2,
	OP_V_MODULE = 1 << 3,
	OP_V_MISC = 1 << 4,
	OP_V_EXT = 1 << 5,
	OP_V_ALL = (1 << 6) - 1,
};

struct op_log {
	int fd; /* -1: no log */
	const char *path; /* borrowed */
	unsigned int verbose; /* enum op_verbose */
	uint64_t max; /* bytes, and a line */
	unsigned int budget; /* lines that may be written */
	uint64_t dropped; /* lines that were not */
};

/* A log that goes nowhere. */
void op_log_init(struct op_log *log);

/*
 * Write to @path, which is the caller's and stays, from now on; also reopens it
 * when it was moved away. On failure the log stays what it was. Returns 0 or
 * -errno with the reason.
 */
int op_log_open(struct op_log *log, const char *path, struct op_diag *diag);
void op_log_close(struct op_log *log);

/* Allow OP_LOG_BUDGET more lines, in a new file if the log is full, and say how
 * many were dropped. */
void op_log_refill(struct op_log *log);

/* Write a line with its time; control characters become '?'. */
void op_log(struct op_log *log, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Write a line as it is, outside the budget: the statistics block. */
void op_log_plain(struct op_log *log, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A line only for those who asked for @what. */
#define op_verbose(log, what, ...)                                             \
	do {                                                                   \
		if ((log)->verbose & (what))                                   \
			op_log((log), __VA_ARGS__);                            \
	} while (0)

#endif /* LIBOP_BASE_OP_LOG_H */
