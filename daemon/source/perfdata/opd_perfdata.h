/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_H
#define DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_H

/*
 * A file that "perf record" wrote, or what it writes to a pipe: which events
 * its records are of, the description of the machine, and the records
 * themselves.
 *
 *	file	header | attributes, numbers of events | records | features
 *	pipe	magic | records, those of attributes and features among them
 *
 * All that is in it is checked; a number that cannot be ends the reading.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/opd_events.h"
#include "daemon/source/perf/opd_perf_record.h"
#include "daemon/source/perfdata/opd_perfdata_reader.h"
#include "libop/image/op_build_id.h"
#include "libop/base/op_diag.h"
#include "libop/session/op_run.h"

#define OPD_PERFDATA_MAX_EVENTS 1024 /* of a file; samples of fewer */

struct opd_perfdata_event {
	struct perf_event_attr attr; /* what is known of it here */
	struct opd_perf_format format;
	char name[OP_EVENT_NAME_MAX]; /* as perf tells it; "" it does not */
	uint32_t counter; /* for who reads the records */
	bool counts_periods; /* likewise: a sample is so many events */
};

struct opd_perfdata_id {
	uint64_t id;
	size_t event;
};

struct opd_perfdata_build {
	char *name; /* of the image, as its mappings have it */
	struct op_build_id id;
};

struct opd_perfdata {
	const char *path; /* the caller's */
	int fd;
	struct opd_perfdata_pool *pool; /* the caller's, for the reader */
	struct opd_perfdata_reader reader;
	const void *held; /* the record that the next call returns, or NULL */
	size_t held_len;
	struct opd_perfdata_event *events;
	size_t nr_events;
	struct opd_perfdata_id *ids; /* sorted once records are read */
	size_t nr_ids;
	struct opd_perfdata_build *builds; /* sorted by name */
	size_t nr_builds;
	/* of the machine; "": unknown */
	char hostname[65];
	char release[65];
	char arch[65];
	struct op_run run; /* the command line of perf, and the two above */
	/* Dates are so much ahead of times of records, ns, if they are known.
	 */
	int64_t date_ahead;
	bool has_dates;
	bool is_unfinished; /* perf was killed before it wrote the sizes */
};

/*
 * Open @path, "-" for standard input, and read all that comes before the first
 * record of the kernel. Records are in blocks of @pool. Returns 0 or -errno
 * with the reason; opd_perfdata_close() in any case.
 */
int opd_perfdata_open(struct opd_perfdata *data, const char *path,
		      struct opd_perfdata_pool *pool, struct op_diag *diag);
void opd_perfdata_close(struct opd_perfdata *data);

/*
 * The next record, as opd_perfdata_reader_next(). Returns 0 and NULL at the
 * end, or -errno with the reason where that comes too early.
 */
int opd_perfdata_next(struct opd_perfdata *data, const void **record,
		      size_t *len, struct op_diag *diag);

/* The event of a record of the kernel; NULL for an unknown number. */
const struct opd_perfdata_event *
opd_perfdata_event_of(const struct opd_perfdata *data, const void *record,
		      size_t len);

/* The build-id of the image of this name, NULL if it is unknown. */
const struct op_build_id *opd_perfdata_build_of(const struct opd_perfdata *data,
						const char *name);

#endif /* DAEMON_SOURCE_PERFDATA_OPD_PERFDATA_H */
