/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_LOG_H
#define DAEMON_OPD_LOG_H

/*
 * The daemon's log, samples/oprofiled.log: lines that are appended, each with
 * its time. What a stream says can fill no disk: OPD_LOG_BUDGET lines may be
 * written until opd_log_refill(), the rest is counted.
 */

#include <stdint.h>

#include "libop/op_diag.h"

#define OPD_LOG_BUDGET 2000

/* What --verbose may ask for. */
enum opd_verbose {
	OPD_V_SFILE = 1 << 0,
	OPD_V_ARCS = 1 << 1,
	OPD_V_SAMPLES = 1 << 2,
	OPD_V_MODULE = 1 << 3,
	OPD_V_MISC = 1 << 4,
	OPD_V_EXT = 1 << 5,
	OPD_V_ALL = (1 << 6) - 1,
};

struct opd_log {
	int fd; /* -1: no log */
	unsigned int verbose; /* enum opd_verbose */
	unsigned int budget; /* lines that may be written */
	uint64_t dropped; /* lines that were not */
};

/* A log that goes nowhere. */
void opd_log_init(struct opd_log *log);

/*
 * Write to @path from now on; also reopens it when it was moved away. On
 * failure the log stays what it was. Returns 0 or -errno with the reason.
 */
int opd_log_open(struct opd_log *log, const char *path, struct op_diag *diag);
void opd_log_close(struct opd_log *log);

/* Allow OPD_LOG_BUDGET more lines, and say how many were dropped. */
void opd_log_refill(struct opd_log *log);

/* One line with its time; control characters become '?'. */
void opd_log(struct opd_log *log, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* One line as it is, outside the budget: the statistics block. */
void opd_log_plain(struct opd_log *log, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A line only for those who asked for @what. */
#define opd_verbose(log, what, ...)                                            \
	do {                                                                   \
		if ((log)->verbose & (what))                                   \
			opd_log((log), __VA_ARGS__);                           \
	} while (0)

#endif /* DAEMON_OPD_LOG_H */
