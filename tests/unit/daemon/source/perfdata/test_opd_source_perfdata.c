// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files of perf record, built byte by byte here: what the stream of one tells,
 * whichever form it has, and that no byte in it can do harm: whatever is cut or
 * changed, each sample that was taken is in the stream or in the account.
 */

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "tests/unit/test.h"
#include "daemon/source/opd_events.h"
#include "daemon/source/perfdata/opd_perfdata_reader.h"
#include "daemon/source/opd_source.h"
#include "daemon/source/opd_stream.h"
#include "libop/base/op_log.h"
#include "perfdata_bytes.h"

#define KERNEL UINT64_C(0xffffffff81000000)
#define APP UINT64_C(0x400000)
#define SAMPLE_TYPE                                                            \
	(OPD_PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |           \
	 PERF_SAMPLE_CALLCHAIN)

/* Of the next file: fields of its samples, and how many equal ones it has. */
static uint64_t sample_type = SAMPLE_TYPE;
static unsigned int nr_equal;
static uint64_t period = 1; /* of all samples */
static uint64_t unit = 1; /* of times, ns */
static bool has_more; /* one sample before all others, and one without a time */

enum form { PLAIN, PIPE, PACKED, PACKED2, UNFINISHED, NR_FORMS };

/* ---- the records ------------------------------------------------------------
 */

/* What ends records but samples here, of time @time. */
static void end_record(struct file *f, struct record *r, uint64_t time)
{
	record_u32(r, 7);
	record_u32(r, 8);
	record_u64(r, time * unit);
	record_u64(r, 0); /* cpu */
	record_u64(r, time ? 11 : 0);
	put_record(f, r);
}

static void put_mapping(struct file *f, uint64_t time, uint16_t misc,
			uint64_t start, uint64_t len, const char *name)
{
	struct record r;

	record_begin(&r, PERF_RECORD_MMAP, misc);
	record_u32(&r, misc == PERF_RECORD_MISC_KERNEL ? UINT32_MAX : 7);
	record_u32(&r, 7);
	record_u64(&r, start);
	record_u64(&r, len);
	record_u64(&r, 0x1000);
	record_text(&r, name);
	end_record(f, &r, time);
}

static void put_sample(struct file *f, uint64_t time, uint64_t id,
		       uint16_t misc, uint64_t ip)
{
	struct record r;

	record_begin(&r, PERF_RECORD_SAMPLE, misc);
	record_u64(&r, id);
	record_u64(&r, ip);
	record_u32(&r, 7);
	record_u32(&r, 8);
	record_u64(&r, time * unit);
	record_u64(&r, 1); /* cpu */
	record_u64(&r, period);
	if (sample_type & PERF_SAMPLE_CALLCHAIN) {
		record_u64(&r, 4);
		record_u64(&r, PERF_CONTEXT_USER);
		record_u64(&r, ip);
		record_u64(&r, APP + 0x30);
		record_u64(&r, APP + 0x40);
	}
	put_record(f, &r);
}

static void put_lost(struct file *f, uint64_t time, uint32_t type, uint64_t nr)
{
	struct record r;

	record_begin(&r, type, 0);
	if (type == PERF_RECORD_LOST)
		record_u64(&r, 11);
	record_u64(&r, nr);
	end_record(f, &r, time);
}

static void put_round_end(struct file *f)
{
	struct record r;

	record_begin(&r, OPD_PERFDATA_FINISHED_ROUND, 0);
	put_record(f, &r);
}

/* The second CPU's are behind the first one's, as perf empties rings. */
static void put_records(struct file *f)
{
	struct record r;

	put_mapping(f, 0, PERF_RECORD_MISC_KERNEL, KERNEL, 0x100000,
		    "[kernel.kallsyms]_text");
	record_begin(&r, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC);
	record_u32(&r, 7);
	record_u32(&r, 1);
	record_u32(&r, 7);
	record_u32(&r, 1);
	record_u64(&r, 0);
	end_record(f, &r, 0);
	put_mapping(f, 0, PERF_RECORD_MISC_USER, APP, 0x1000, "/no/app");
	put_sample(f, 100, 11, PERF_RECORD_MISC_USER, APP + 0x10);
	put_sample(f, 300, 11, PERF_RECORD_MISC_USER, 0x7000);
	put_mapping(f, 200, PERF_RECORD_MISC_USER, 0x7000, 0x1000, "/no/lib");
	put_round_end(f);
	if (has_more)
		put_sample(f, 50, 22, PERF_RECORD_MISC_USER, APP + 0x10);
	put_sample(f, 150, 22, PERF_RECORD_MISC_USER, 0x7000);
	put_sample(f, 400, 22, PERF_RECORD_MISC_KERNEL, KERNEL + 0x10);
	put_lost(f, 500, PERF_RECORD_LOST, 9);
	put_round_end(f);
	if (has_more)
		put_sample(f, 0, 11, PERF_RECORD_MISC_USER, APP + 0x10);
	put_sample(f, 600, 99, PERF_RECORD_MISC_USER, APP + 0x10);
	for (unsigned int i = 0; i < nr_equal; i++)
		put_sample(f, 610 + i, 11, PERF_RECORD_MISC_USER, APP + 0x20);
	put_lost(f, 0, PERF_RECORD_LOST_SAMPLES, 5);
}

/* ---- the forms --------------------------------------------------------------
 */

static const struct {
	uint64_t config, id;
	const char *name;
} events[] = {
	{ PERF_COUNT_SW_CPU_CLOCK, 11, "cpu-clock:u" },
	{ PERF_COUNT_SW_PAGE_FAULTS, 22, "some/event=0x3c/" },
};

#define NR_EVENTS 2

static void put_names(struct file *f)
{
	put32(f, NR_EVENTS);
	put32(f, sizeof(struct perf_event_attr));
	for (unsigned int i = 0; i < NR_EVENTS; i++) {
		struct perf_event_attr attr =
			attr_of(events[i].config, sample_type);

		put(f, &attr, sizeof(attr));
		put32(f, 1);
		put_told(f, events[i].name);
		put64(f, events[i].id);
	}
}

static void put_build(struct file *f)
{
	static const unsigned char id[24] = { 0xab, 0xcd };
	struct record r;

	record_begin(&r, OPD_PERFDATA_BUILD_ID, PERF_RECORD_MISC_USER);
	record_u32(&r, 7);
	record_put(&r, id, sizeof(id));
	record_text(&r, "/no/app");
	put_record(f, &r);
}

static void make_pipe(struct file *f)
{
	struct file names = { .len = 0 };
	struct record r;

	put(f, "PERFILE2", 8);
	put64(f, 16);
	for (unsigned int i = 0; i < NR_EVENTS; i++) {
		struct perf_event_attr attr =
			attr_of(events[i].config, sample_type);

		record_begin(&r, OPD_PERFDATA_ATTR, 0);
		record_put(&r, &attr, sizeof(attr));
		record_u64(&r, events[i].id);
		put_record(f, &r);
	}
	put_names(&names);
	record_begin(&r, OPD_PERFDATA_FEATURE, 0);
	record_u64(&r, 12);
	record_put(&r, names.bytes, names.len);
	put_record(f, &r);
	put_build(f);
	put_records(f);
}

/* All records in packed ones, which end anywhere. */
static void put_packed(struct file *f, bool newer)
{
	struct file plain = { .len = 0 };
	ZSTD_CStream *stream = ZSTD_createCStream();
	unsigned char packed[4096];
	struct record r;

	put_records(&plain);
	for (size_t at = 0; at < plain.len; at += 333) {
		size_t left = plain.len - at;
		ZSTD_inBuffer in = { plain.bytes + at, left < 333 ? left : 333,
				     0 };
		ZSTD_outBuffer out = { packed, sizeof(packed), 0 };

		assert_int_equal(ZSTD_compressStream2(stream, &out, &in,
						      ZSTD_e_flush),
				 0);
		record_begin(&r,
			     newer ? OPD_PERFDATA_COMPRESSED2
				   : OPD_PERFDATA_COMPRESSED,
			     0);
		if (newer)
			record_u64(&r, out.pos);
		record_put(&r, packed, out.pos);
		if (newer)
			record_text(&r, ""); /* bytes of no meaning */
		put_record(f, &r);
	}
	ZSTD_freeCStream(stream);
}

static void make_file(struct file *f, enum form form)
{
	size_t attrs, records, table, names;

	put(f, "PERFILE2", 8);
	put64(f, 104);
	put64(f, sizeof(struct perf_event_attr) + 16);
	f->len = 104;
	for (unsigned int i = 0; i < NR_EVENTS; i++)
		put64(f, events[i].id);
	attrs = f->len;
	for (unsigned int i = 0; i < NR_EVENTS; i++) {
		struct perf_event_attr attr =
			attr_of(events[i].config, sample_type);

		put(f, &attr, sizeof(attr));
		put64(f, 104 + 8 * i);
		put64(f, 8);
	}
	set64(f, 24, attrs);
	set64(f, 32, f->len - attrs);
	records = f->len;
	if (form == PLAIN || form == UNFINISHED)
		put_records(f);
	else
		put_packed(f, form == PACKED2);
	set64(f, 40, records);
	if (form == UNFINISHED)
		return;
	set64(f, 48, f->len - records);
	set64(f, 72, 1u << 2 | 1u << 12); /* build-ids, names */
	table = f->len;
	f->len += 32;
	set64(f, table, f->len);
	put_build(f);
	set64(f, table + 8, f->len - table - 32);
	names = f->len;
	set64(f, table + 16, names);
	put_names(f);
	set64(f, table + 24, f->len - names);
}

static void make(struct file *f, enum form form)
{
	memset(f, 0, sizeof(*f));
	if (form == PIPE)
		make_pipe(f);
	else
		make_file(f, form);
}

/* ---- the stream -------------------------------------------------------------
 */

struct result {
	int err; /* of opening */
	struct op_diag why; /* for that, or for an early end */
	uint64_t taken, lost; /* as told */
	uint64_t samples; /* in it */
	uint64_t places; /* likewise: equal ones once */
	uint64_t times; /* that the next one was taken */
	uint64_t first_time, last_time; /* that samples have */
	unsigned int nr_unknown; /* times that are */
	uint64_t of_counter[4];
	uint64_t periods, sum_of_periods; /* of counter 1 */
	unsigned int callers, names, ranges;
	bool knows_build; /* of the program */
	struct opd_events events;
};

static void take_record(struct result *result, const struct opd_rec *rec)
{
	switch (rec->code) {
	case OP_TAKEN:
		result->taken = rec->payload[0];
		break;
	case OP_LOST:
		result->lost += rec->payload[0];
		break;
	case OP_COOKIE_NAME:
		result->names++;
		result->knows_build |= rec->nr_words > 6 &&
				       rec->payload[5] == 20 &&
				       (rec->payload[6] & 0xffff) == 0xcdab;
		break;
	case OP_KERNEL_RANGE:
		result->ranges++;
		break;
	case OP_EVENT_TIME:
		assert_int_equal(rec->nr_words, 8);
		if (rec->payload[0] != 1)
			break;
		result->periods += rec->payload[5];
		result->sum_of_periods += rec->payload[6];
		break;
	case OP_TIME:
		if (!result->first_time)
			result->first_time = rec->payload[0];
		result->last_time = rec->payload[0];
		result->nr_unknown += !rec->payload[0];
		break;
	case OP_TIMES:
		assert_int_equal(rec->flags, 0);
		result->times = rec->payload[0];
		break;
	}
}

static void take_sample(struct result *result, uint64_t counter)
{
	result->samples += result->times;
	result->places++;
	if (counter < 4)
		result->of_counter[counter] += result->times;
	result->times = 1;
}

static void take_words(struct result *result, const uint64_t *words, size_t nr)
{
	struct opd_stream stream = { words, words + nr };
	bool in_trace = false, is_first = false;
	struct opd_rec rec = { .code = 0 };

	while (stream.at < stream.end) {
		if (*stream.at == OP_ESCAPE) {
			assert_int_equal(opd_stream_record(&stream, &rec),
					 OPD_UNIT_RECORD);
			if (rec.code == OP_TRACE_BEGIN)
				in_trace = is_first = true;
			if (rec.code == OP_TRACE_END)
				in_trace = false;
			take_record(result, &rec);
			continue;
		}
		assert_true(stream.end - stream.at >= 2);
		if (in_trace && !is_first)
			result->callers++;
		else
			take_sample(result, stream.at[1]);
		is_first = false;
		stream.at += 2;
	}
}

static void read_all(struct opd_source *source, struct result *result)
{
	static uint64_t words[1 << 20];
	size_t nr = 0;
	ssize_t got;

	while ((got = opd_source_read(source, words + nr,
				      sizeof(words) - 8 * nr)) > 0)
		nr += (size_t)got / 8;
	assert_int_equal(got, 0);
	take_words(result, words, nr);
	result->why = source->why;
}

/* What comes of the file, given @times. */
static void run(const struct file *f, unsigned int times, struct result *result)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	struct op_log log;
	const struct opd_source_client client = { .log = &log };
	struct opd_source source;
	char spec[64];

	memset(result, 0, sizeof(*result));
	result->times = 1;
	op_log_init(&log);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, f->bytes, f->len), f->len);
	snprintf(spec, sizeof(spec),
		 times == 1 ? "perfdata:/proc/self/fd/%d"
			    : "perfdata:/proc/self/fd/%1$d,/proc/self/fd/%1$d",
		 fd);
	result->err = opd_source_open(&source, spec, &result->events, &client,
				      &result->why);
	if (!result->err)
		read_all(&source, result);
	opd_source_close(&source);
	op_log_close(&log);
	close(fd);
}

static void is_whole(const struct result *result, unsigned int files)
{
	assert_int_equal(result->err, 0);
	/* One has no mapping yet, one is of an unknown event. */
	assert_int_equal(result->taken, 10 * files);
	assert_int_equal(result->samples, 4 * files);
	assert_int_equal(result->of_counter[0], 2 * files);
	assert_int_equal(result->of_counter[1], files);
	assert_int_equal(result->names, 2);
	assert_int_equal(result->ranges, 1);
	assert_int_equal(result->events.nr, 2);
	assert_string_equal(result->events.counter[0].name, "cpu-clock");
	assert_int_equal(result->events.counter[0].count, 250000);
}

/* The earliest is the first, whichever CPU's it is; the last one that has a
 * time comes when the file ends. */
TEST(times_of_samples)
{
	/* Times of the second are past all dates, but for the first ones. */
	static const uint64_t units[] = { 10000000, 40000000000000000 };
	struct result result;
	struct file f;

	has_more = true;
	for (size_t i = 0; i < 2; i++) {
		unit = units[i];
		make(&f, PLAIN);
		run(&f, 1, &result);
		assert_int_equal(result.err, 0);
		assert_int_equal(result.samples, 6);
		assert_int_equal(result.first_time, 50 * unit);
		assert_int_equal(result.last_time, i ? 0 : 600 * unit);
		assert_true(i || result.nr_unknown == 1);
	}
	has_more = false;
	unit = 1;
}

/* Samples of numbers alone, the equal ones together. */
TEST(plain_samples)
{
	struct result result;
	struct file f;

	sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
	for (nr_equal = 0; nr_equal < 3; nr_equal++) {
		for (enum form form = 0; form < NR_FORMS; form++) {
			make(&f, form);
			run(&f, 1, &result);
			assert_int_equal(result.err, 0);
			assert_int_equal(result.taken, 10 + nr_equal);
			assert_int_equal(result.samples, 4 + nr_equal);
			assert_int_equal(result.places, 4 + !!nr_equal);
			assert_int_equal(result.of_counter[0], 2 + nr_equal);
			assert_int_equal(result.of_counter[1], 1);
			assert_int_equal(result.callers, 0);
			assert_int_equal(result.taken,
					 result.samples + result.lost);
		}
	}
	sample_type = SAMPLE_TYPE;
	nr_equal = 0;
}

/*
 * A frequency was asked for, so each sample of the second event counts for its
 * period; those of the clock do not. Lost ones are such as the others.
 */
TEST(samples_with_periods)
{
	struct result result;
	struct file f;

	period = 1000000;
	nr_equal = 2;
	for (int stacks = 0; stacks < 2; stacks++) {
		sample_type = SAMPLE_TYPE;
		if (!stacks)
			sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
		for (enum form form = 0; form < NR_FORMS; form++) {
			make(&f, form);
			run(&f, 1, &result);
			assert_int_equal(result.err, 0);
			assert_int_equal(result.events.counter[0].count,
					 250000);
			assert_int_equal(result.events.counter[1].count, 1);
			assert_int_equal(result.of_counter[0], 4);
			assert_int_equal(result.of_counter[1], 1000000);
			assert_int_equal(result.periods, 2);
			assert_int_equal(result.sum_of_periods, 2000000);
			assert_int_equal(result.taken,
					 result.samples + result.lost);
			/* One without a mapping, and five as the mean is. */
			assert_in_range(result.lost, 2000000, 3500000);
		}
	}
	sample_type = SAMPLE_TYPE;
	period = 1;
	nr_equal = 0;
}

TEST(all_forms)
{
	struct result result;
	struct file f;

	for (enum form form = 0; form < NR_FORMS; form++) {
		make(&f, form);
		run(&f, 1, &result);
		is_whole(&result, 1);
		assert_int_equal(result.callers, 6);
		if (form == UNFINISHED) {
			assert_non_null(strstr(result.why.text, "killed"));
			continue;
		}
		assert_string_equal(result.why.text, "");
		assert_string_equal(result.events.counter[1].name,
				    "some_event_0x3c");
		assert_true(result.knows_build);
	}
}

/* What was mapped in the first is there in the second. */
TEST(several_files)
{
	struct result result;
	struct file f;

	make(&f, PLAIN);
	run(&f, 2, &result);
	is_whole(&result, 2);
}

/* ---- damage -----------------------------------------------------------------
 */

static void is_sound(const struct result *result)
{
	assert_true(!result->err == !*result->why.text || !result->err);
	if (!result->err)
		assert_true(result->taken == result->samples + result->lost);
}

TEST(cut_files)
{
	struct result result;
	struct file f;

	for (enum form form = 0; form < NR_FORMS; form++) {
		size_t whole;

		make(&f, form);
		whole = f.len;
		for (f.len = 0; f.len < whole; f.len += 7) {
			run(&f, 1, &result);
			is_sound(&result);
			if (f.len < 300)
				assert_true(result.err || *result.why.text);
		}
	}
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *state >> 33;
}

/* Numbers that are large enough to overflow sums are not told as lost here. */
TEST(changed_files)
{
	static const unsigned char values[] = {
		0, 1, 2, 7, 8, 0x40, 0x7f, 0xff
	};
	uint64_t seed = 4711;
	struct result result;
	struct file f;

	for (unsigned int i = 0; i < 1500; i++) {
		make(&f, i % NR_FORMS);
		for (uint64_t n = 1 + next_random(&seed) % 6; n; n--)
			f.bytes[next_random(&seed) % f.len] =
				values[next_random(&seed) % sizeof(values)];
		run(&f, 1, &result);
		is_sound(&result);
	}
}
