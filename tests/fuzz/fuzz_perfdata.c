// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a file of perf record: its stream is well-formed, and what was
 * taken is in it or in the account.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/source/opd_events.h"
#include "daemon/source/opd_source.h"
#include "daemon/source/opd_stream.h"
#include "libop/base/op_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROOM (1u << 22)

struct sums {
	uint64_t taken, lost, samples;
};

static void add_up(struct sums *sums, const uint64_t *words, size_t nr)
{
	struct opd_stream stream = { words, words + nr };
	bool in_trace = false, is_sample = true;
	struct opd_rec rec = { .code = 0 };
	uint64_t times = 1; /* the next sample counts */

	while (stream.at < stream.end) {
		if (*stream.at != OP_ESCAPE) {
			if (stream.end - stream.at < 2)
				abort();
			if (is_sample) {
				sums->samples += times;
				times = 1;
			}
			is_sample = !in_trace;
			stream.at += 2;
			continue;
		}
		if (opd_stream_record(&stream, &rec) != OPD_UNIT_RECORD)
			abort();
		if (rec.code == OP_TRACE_BEGIN || rec.code == OP_TRACE_END) {
			in_trace = rec.code == OP_TRACE_BEGIN;
			is_sample = true;
		}
		if (rec.code == OP_TIMES)
			times = rec.payload[0];
		else if (rec.code == OP_CPU_SWITCH)
			times = 1;
		else if (rec.code == OP_TAKEN)
			sums->taken = rec.payload[0];
		else if (rec.code == OP_LOST)
			sums->lost += rec.payload[0];
	}
}

static void read_all(struct opd_source *source)
{
	static uint64_t words[ROOM];
	struct sums sums = { 0 };
	size_t nr = 0;
	ssize_t got;

	do {
		if (ROOM - nr < 65536)
			return; /* unpacked it is too much for here */
		got = opd_source_read(source, words + nr, (ROOM - nr) * 8);
		nr += got > 0 ? (size_t)got / 8 : 0;
	} while (got > 0);
	if (got)
		abort();
	add_up(&sums, words, nr);
	/* What is told as lost may be any number, and sums wrap. */
	if (sums.taken - sums.lost != sums.samples && sums.lost < INT64_MAX)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct op_log log;
	const struct opd_source_client client = { .log = &log, .tells = 7 };
	struct op_diag diag = { "" };
	struct opd_events events;
	struct opd_source source;
	char spec[64];

	op_log_init(&log);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(spec, sizeof(spec), "perfdata:/proc/self/fd/%d", fd);
	if (!opd_source_open(&source, spec, &events, &client, &diag))
		read_all(&source);
	else if (!*diag.text)
		abort();
	opd_source_close(&source);
	close(fd);
	return 0;
}
