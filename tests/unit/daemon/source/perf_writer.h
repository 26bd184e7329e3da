/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PERF_WRITER_H
#define TESTS_UNIT_PERF_WRITER_H

/*
 * A writer (daemon/source/opd_writer.h) for a table of processes without a
 * source: images have the names of the table, and the kernel has no ranges.
 */

#include <stdlib.h>
#include <unistd.h>

#include "daemon/source/opd_source.h"
#include "daemon/source/perf/opd_process_table.h"
#include "libop/base/op_log.h"
#include "tests/unit/test.h"

struct perf_writer {
	struct opd_source source; /* first: the calls below get this one */
	struct opd_source_client client;
	struct op_log log;
	struct opd_process_table *table;
};

static int perf_writer_cookie(struct opd_source *source,
			      struct op_cookie_query *q)
{
	const struct perf_writer *pw = (const struct perf_writer *)source;

	return opd_perf_image_query(&pw->table->images, q);
}

static void perf_writer_kernel(struct opd_source *source,
			       struct op_stream_words *words)
{
	(void)source;
	(void)words;
}

static const struct opd_source_ops perf_writer_ops = {
	.name = "test",
	.cookie = perf_writer_cookie,
	.tell_kernel = perf_writer_kernel,
};

__attribute__((unused)) static void
perf_writer_begin(struct perf_writer *pw, struct opd_process_table *table)
{
	op_log_init(&pw->log);
	pw->client.log = &pw->log;
	pw->table = table;
	pw->source.ops = &perf_writer_ops;
	pw->source.client = &pw->client;
	pw->source.writer = opd_writer_new(&pw->source);
	assert_non_null(pw->source.writer);
	opd_process_table_init(table, "/proc", pw->source.writer);
}

__attribute__((unused)) static void perf_writer_end(struct perf_writer *pw)
{
	opd_writer_free(pw->source.writer);
	op_log_close(&pw->log);
}

#endif /* TESTS_UNIT_PERF_WRITER_H */
