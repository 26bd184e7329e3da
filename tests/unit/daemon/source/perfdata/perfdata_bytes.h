/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PERFDATA_BYTES_H
#define TESTS_UNIT_PERFDATA_BYTES_H

/*
 * Files of perf record, written byte by byte as
 * tools/perf/Documentation/perf.data-file-format.txt of Linux lays them out.
 */

#include <string.h>

#include "tests/unit/daemon/source/perf_records.h"
#include "tests/unit/test.h"

struct file {
	unsigned char bytes[131072];
	size_t len;
	size_t hole; /* zero bytes behind these */
};

static void put(struct file *f, const void *bytes, size_t len)
{
	assert_true(len <= sizeof(f->bytes) - f->len);
	memcpy(f->bytes + f->len, bytes, len);
	f->len += len;
}

static void put64(struct file *f, uint64_t value)
{
	put(f, &value, sizeof(value));
}

static void put32(struct file *f, uint32_t value)
{
	put(f, &value, sizeof(value));
}

__attribute__((unused)) static void put_told(struct file *f, const char *text)
{
	put32(f, (uint32_t)strlen(text) + 1);
	put(f, text, strlen(text) + 1);
}

static void put_record(struct file *f, struct record *r)
{
	record_close(r);
	put(f, r->at, r->len);
}

static void set64(struct file *f, size_t at, uint64_t value)
{
	memcpy(f->bytes + at, &value, sizeof(value));
}

static struct perf_event_attr attr_of(uint64_t config, uint64_t sample_type)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.sample_freq = 4000,
		.freq = 1,
		.sample_type = sample_type,
		.sample_id_all = 1,
	};
}

#endif /* TESTS_UNIT_PERFDATA_BYTES_H */
