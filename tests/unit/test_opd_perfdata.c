// SPDX-License-Identifier: GPL-2.0-or-later
/* What files of perf record and its pipes tell beside samples, and what is said
 * of those that cannot be. */

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/source/opd_perfdata.h"
#include "tests/unit/perfdata_bytes.h"

#define HEADER 104
#define ATTR sizeof(struct perf_event_attr)
#define SAMPLE_TYPE (OPD_PERF_SAMPLE_ID | PERF_SAMPLE_TIME)

/* Features, by their bit in the header. */
enum { BUILD_ID = 2, HOSTNAME = 3, OSRELEASE = 4, ARCH = 6, EVENT_DESC = 12 };

/* Where in the header it says so. */
enum {
	ATTR_SIZE = 16,
	ATTRS_AT = 24,
	ATTRS_LEN = 32,
	RECORDS_AT = 40,
	RECORDS_LEN = 48,
	FEATURES = 72,
};

static int open_data(struct opd_perfdata *data, const struct file *f,
		     struct op_diag *diag)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC), err;
	static char path[64];

	assert_true(fd >= 0);
	assert_int_equal(write(fd, f->bytes, f->len), f->len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	diag->text[0] = '\0';
	err = opd_perfdata_open(data, path, diag);
	close(fd);
	return err;
}

static void must_open(struct opd_perfdata *data, const struct file *f)
{
	struct op_diag diag;

	if (open_data(data, f, &diag))
		fail_msg("%s", diag.text);
}

/* What is said of @f ends with @text, after its name. */
static void is_refused(const struct file *f, int err, const char *text)
{
	struct opd_perfdata data;
	struct op_diag diag;
	const char *said;

	assert_int_equal(open_data(&data, f, &diag), err);
	said = strstr(diag.text, ": ");
	assert_non_null(said);
	assert_string_equal(said + 2, text);
	opd_perfdata_close(&data);
}

/* ---- files ------------------------------------------------------------------
 */

static void put_mapping(struct file *f, uint64_t id, const char *name)
{
	struct record r;

	record_begin(&r, PERF_RECORD_MMAP, PERF_RECORD_MISC_USER);
	record_u32(&r, 7);
	record_u32(&r, 7);
	record_u64(&r, 0x1000);
	record_u64(&r, 0x1000);
	record_u64(&r, 0);
	record_text(&r, name);
	record_u32(&r, 7);
	record_u32(&r, 7);
	record_u64(&r, 100);
	record_u64(&r, id);
	put_record(f, &r);
}

/* @nr events, each with one number: 100 and so on; one mapping of the first. */
static void make_file(struct file *f, unsigned int nr)
{
	size_t attrs, records;

	memset(f, 0, sizeof(*f));
	put(f, "PERFILE2", 8);
	put64(f, HEADER);
	put64(f, ATTR + 16);
	f->len = HEADER;
	for (unsigned int i = 0; i < nr; i++)
		put64(f, 100 + i);
	attrs = f->len;
	for (unsigned int i = 0; i < nr; i++) {
		struct perf_event_attr attr = attr_of(i, SAMPLE_TYPE);

		put(f, &attr, sizeof(attr));
		put64(f, HEADER + 8 * i);
		put64(f, 8);
	}
	set64(f, ATTRS_AT, attrs);
	set64(f, ATTRS_LEN, f->len - attrs);
	records = f->len;
	put_mapping(f, 100, "/no/app");
	set64(f, RECORDS_AT, records);
	set64(f, RECORDS_LEN, f->len - records);
}

/* The places of as many features, which follow the records. */
static size_t put_places(struct file *f, uint64_t bits)
{
	size_t at = f->len;

	set64(f, FEATURES, bits);
	f->len += 16 * (size_t)__builtin_popcountll(bits);
	return at;
}

/* Feature @nr of those whose places are at @places is all from @at on. */
static void set_place(struct file *f, size_t places, unsigned int nr, size_t at)
{
	set64(f, places + 16 * nr, at);
	set64(f, places + 16 * nr + 8, f->len - at);
}

/* ---- what is refused --------------------------------------------------------
 */

#define AGAIN "; record it again"
#define CUT_IN_HEADER "is cut short: it ends in its header" AGAIN
#define BAD_TABLE "is damaged: the table of its events cannot be" AGAIN
#define BAD_EVENT "is damaged: what is told of an event cannot be" AGAIN

static void files_that_are_cut(void **state)
{
	static const struct {
		size_t len;
		int err;
		const char *text;
	} rows[] = {
		{ 0, -EPROTO,
		  "is no file of perf; give one that perf record wrote" },
		{ 15, -EPROTO,
		  "is no file of perf; give one that perf record wrote" },
		{ 16, -EBADMSG, CUT_IN_HEADER },
		{ HEADER - 1, -EBADMSG, CUT_IN_HEADER },
		{ HEADER, -EBADMSG,
		  "is cut short: it ends before the table of its events" },
		{ HEADER + 16 + ATTR + 16 - 1, -EBADMSG,
		  "is cut short: it ends before the table of its events" },
	};
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_file(&f, 2);
		f.len = rows[i].len;
		is_refused(&f, rows[i].err, rows[i].text);
	}
}

static void headers_that_cannot_be(void **state)
{
	static const struct {
		size_t at;
		uint64_t value;
		int err; /* 0: it can */
		const char *text;
	} rows[] = {
		{ 0, UINT64_C(0x5045524646494c45), -EPROTO,
		  "is no file of perf; give one that perf record wrote" },
		{ 0, UINT64_C(0x50455246494c4532), -EPROTO,
		  "was recorded on a machine of the other byte order; import it on such a machine" },
		{ ATTR_SIZE, PERF_ATTR_SIZE_VER0 + 15, -EBADMSG, BAD_TABLE },
		{ ATTR_SIZE, 2 * (ATTR + 16) + 1, -EBADMSG, BAD_TABLE },
		{ ATTRS_LEN, 0, -EBADMSG, BAD_TABLE },
		{ ATTRS_LEN, 1, -EBADMSG, BAD_TABLE },
		{ ATTRS_LEN, ATTR + 16, 0, NULL },
		{ ATTRS_LEN, 64 << 20, -EBADMSG,
		  "is cut short: it ends before the table of its events" },
		{ ATTRS_LEN, (64 << 20) + 1, -EBADMSG, BAD_TABLE },
		{ ATTRS_AT, INT64_MAX / 2 + 1, -EBADMSG, BAD_TABLE },
		{ RECORDS_AT, INT64_MAX / 2 + 1, -EBADMSG,
		  "is damaged: where its records are cannot be" AGAIN },
		{ RECORDS_LEN, INT64_MAX / 2 + 1, -EBADMSG,
		  "is damaged: where its records are cannot be" AGAIN },
		{ RECORDS_AT, INT64_MAX / 2, 0, NULL },
		{ RECORDS_LEN, INT64_MAX / 2, 0, NULL },
	};
	struct opd_perfdata data;
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_file(&f, 2);
		set64(&f, rows[i].at, rows[i].value);
		if (rows[i].err) {
			is_refused(&f, rows[i].err, rows[i].text);
			continue;
		}
		must_open(&data, &f);
		assert_int_equal(data.nr_events,
				 rows[i].at == ATTRS_LEN ? 1 : 2);
		opd_perfdata_close(&data);
	}
}

/* Attributes of the first version are shorter; fields that are not there are
 * zero. */
static void short_attributes(void **state)
{
	struct perf_event_attr attr = attr_of(5, SAMPLE_TYPE);
	struct opd_perfdata data;
	struct file f;

	(void)state;
	make_file(&f, 0);
	attr.sample_regs_user = 77;
	set64(&f, ATTR_SIZE, PERF_ATTR_SIZE_VER0 + 16);
	set64(&f, ATTRS_AT, f.len);
	set64(&f, ATTRS_LEN, PERF_ATTR_SIZE_VER0 + 16);
	put(&f, &attr, PERF_ATTR_SIZE_VER0);
	put64(&f, 0);
	put64(&f, 0);
	must_open(&data, &f);
	assert_int_equal(data.nr_events, 1);
	assert_int_equal(data.nr_ids, 0);
	assert_int_equal(data.events[0].attr.config, 5);
	assert_int_equal(data.events[0].attr.sample_regs_user, 0);
	assert_int_equal(data.events[0].format.sample_type, SAMPLE_TYPE);
	assert_false(data.events[0].format.is_bare);
	assert_int_equal(data.events[0].counter, UINT32_MAX);
	opd_perfdata_close(&data);
}

static void numbers_of_events(void **state)
{
	static const struct {
		uint64_t at, len;
		size_t nr;
		const char *text;
	} rows[] = {
		{ HEADER, 8, 1, NULL },
		{ HEADER, 15, 1, NULL },
		{ HEADER, 16, 2, NULL },
		{ HEADER, 0, 0, NULL },
		{ 1 << 20, 8, 0,
		  "is cut short: it ends before the numbers of its events" },
		{ HEADER, (64 << 20) + 8, 0,
		  "is damaged: the numbers of its events cannot be" AGAIN },
	};
	struct opd_perfdata data;
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_file(&f, 1);
		set64(&f, HEADER + 8 + ATTR, rows[i].at);
		set64(&f, HEADER + 8 + ATTR + 8, rows[i].len);
		if (rows[i].text) {
			is_refused(&f, -EBADMSG, rows[i].text);
			continue;
		}
		must_open(&data, &f);
		assert_int_equal(data.nr_ids, rows[i].nr);
		opd_perfdata_close(&data);
	}
}

static void paths_that_are_no_files(void **state)
{
	static const struct {
		const char *path;
		int err;
		const char *text;
	} rows[] = {
		{ "/no/file", -ENOENT,
		  "/no/file: No such file or directory; give a file that perf record wrote" },
		{ "/proc", -EISDIR,
		  "/proc: is a folder; give a file that perf record wrote, without --threads and --kcore" },
		/* Memory at 0 cannot be read. */
		{ "/proc/self/mem", -EIO,
		  "/proc/self/mem: Input/output error" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct opd_perfdata data;
		struct op_diag diag = { "" };

		assert_int_equal(opd_perfdata_open(&data, rows[i].path, &diag),
				 rows[i].err);
		assert_string_equal(diag.text, rows[i].text);
		opd_perfdata_close(&data);
	}
}

/* ---- features ---------------------------------------------------------------
 */

static void put_padded(struct file *f, const char *text, uint32_t len)
{
	put32(f, len);
	put(f, text, strlen(text));
	for (size_t i = strlen(text); i < len; i++)
		put(f, "", 1);
}

static void machine(void **state)
{
	char longest[65], too_long[80];
	const struct {
		const char *told, *known;
	} rows[] = {
		{ "", "" },
		{ "host", "host" },
		{ longest, longest },
		{ too_long, longest },
	};
	struct opd_perfdata data;
	struct file f;

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[64] = '\0';
	memset(too_long, 'x', sizeof(too_long));
	too_long[sizeof(too_long) - 1] = '\0';
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t places, at;

		make_file(&f, 1);
		/* One that means nothing here has its place, too. */
		places = put_places(&f, 1u << HOSTNAME | 1u << OSRELEASE |
						1u << 5 | 1u << ARCH);
		at = f.len;
		put_padded(&f, rows[i].told,
			   (uint32_t)strlen(rows[i].told) + 9);
		set_place(&f, places, 0, at);
		at = f.len;
		put_padded(&f, "6.1.0", 64);
		set_place(&f, places, 1, at);
		set_place(&f, places, 2, at);
		at = f.len;
		put_padded(&f, "x86_64", 7);
		set_place(&f, places, 3, at);
		must_open(&data, &f);
		assert_string_equal(data.hostname, rows[i].known);
		assert_string_equal(data.release, "6.1.0");
		assert_string_equal(data.arch, "x86_64");
		opd_perfdata_close(&data);
	}
}

/* Each is as if it was not there; the others are. */
static void features_that_cannot_be_read(void **state)
{
	struct opd_perfdata data;
	struct file f;
	size_t places, at;

	(void)state;
	make_file(&f, 1);
	places = put_places(&f, 1u << HOSTNAME | 1u << OSRELEASE | 1u << ARCH);
	set64(&f, places, 1 << 20);
	set64(&f, places + 8, 10);
	at = f.len;
	put32(&f, 100); /* of more bytes than are there */
	put(&f, "6.1.0", 6);
	set_place(&f, places, 1, at);
	at = f.len;
	put_padded(&f, "x86_64", 7);
	set_place(&f, places, 2, at);
	must_open(&data, &f);
	assert_string_equal(data.hostname, "");
	assert_string_equal(data.release, "");
	assert_string_equal(data.arch, "x86_64");
	opd_perfdata_close(&data);
	/* Their places are not there either. */
	f.len = places + 16;
	must_open(&data, &f);
	assert_string_equal(data.arch, "");
	opd_perfdata_close(&data);
}

#define HAS_LENGTH 0x8000

static void put_build(struct file *f, uint16_t misc, unsigned char first,
		      unsigned char len, const char *name)
{
	unsigned char id[24] = { first };
	struct record r;

	id[19] = 0xff;
	id[20] = len;
	record_begin(&r, OPD_PERFDATA_BUILD_ID, misc);
	record_u32(&r, 7);
	record_put(&r, id, sizeof(id));
	record_text(&r, name);
	put_record(f, &r);
}

static const struct {
	uint16_t misc;
	unsigned char first, len;
	const char *name;
	unsigned int known_len; /* 0: it is not known */
} builds[] = {
	{ 0, 3, 8, "/lib/c", 20 },
	{ HAS_LENGTH, 1, 8, "/lib/a", 8 },
	{ HAS_LENGTH, 4, 20, "/lib/d", 20 },
	{ HAS_LENGTH, 2, 21, "/lib/b", 20 },
	{ HAS_LENGTH, 9, 20, "", 0 },
};

#define NR_BUILDS (sizeof(builds) / sizeof(builds[0]))

static void knows_builds(const struct opd_perfdata *data)
{
	assert_int_equal(data->nr_builds, NR_BUILDS - 1);
	for (size_t i = 0; i < NR_BUILDS; i++) {
		const struct op_build_id *id =
			opd_perfdata_build_of(data, builds[i].name);

		if (!builds[i].known_len) {
			assert_null(id);
			continue;
		}
		assert_non_null(id);
		assert_int_equal(id->len, builds[i].known_len);
		assert_int_equal(id->bytes[0], builds[i].first);
		assert_int_equal(id->bytes[19],
				 builds[i].known_len == 20 ? 0xff : 0);
	}
	assert_null(opd_perfdata_build_of(data, "/lib/bb"));
	assert_null(opd_perfdata_build_of(data, "/lib/e"));
}

static void build_ids(void **state)
{
	struct opd_perfdata data;
	size_t places, at;
	struct file f;

	(void)state;
	make_file(&f, 1);
	places = put_places(&f, 1u << BUILD_ID | 1u << HOSTNAME);
	at = f.len;
	for (size_t i = 0; i < NR_BUILDS; i++)
		put_build(&f, builds[i].misc, builds[i].first, builds[i].len,
			  builds[i].name);
	/* A length that cannot be ends them. */
	put32(&f, OPD_PERFDATA_BUILD_ID);
	put32(&f, 7 << 16);
	put_build(&f, 0, 8, 20, "/lib/e");
	set_place(&f, places, 0, at);
	at = f.len;
	put_padded(&f, "host", 5);
	set_place(&f, places, 1, at);
	must_open(&data, &f);
	knows_builds(&data);
	assert_string_equal(data.hostname, "host");
	opd_perfdata_close(&data);
}

/* ---- names of events --------------------------------------------------------
 */

struct told_event {
	uint64_t id; /* 0: none */
	const char *name;
};

static void put_told_events(struct file *f, uint32_t nr,
			    const struct told_event *told, size_t nr_told)
{
	static const unsigned char attr[ATTR + 8];

	put32(f, nr);
	put32(f, sizeof(attr));
	for (size_t i = 0; i < nr_told; i++) {
		put(f, attr, sizeof(attr));
		put32(f, told[i].id ? 2 : 0);
		put_told(f, told[i].name);
		if (told[i].id) {
			put64(f, told[i].id);
			put64(f, 100); /* only the first one counts */
		}
	}
}

static void names_of_events(void **state)
{
	static char long_name[OPD_EVENT_NAME_MAX + 10];
	static const struct {
		uint32_t nr;
		struct told_event told[3];
		const char *names[3];
	} rows[] = {
		{ 3,
		  { { 100, "a" }, { 101, "b" }, { 102, "c" } },
		  { "a", "b", "c" } },
		{ 3,
		  { { 102, "c" }, { 100, "a" }, { 101, "b" } },
		  { "a", "b", "c" } },
		/* Without numbers, or with unknown ones, by their order. */
		{ 3,
		  { { 0, "a" }, { 99, "b" }, { 103, "c" } },
		  { "a", "b", "c" } },
		{ 2,
		  { { 100, "a" }, { 101, "b" }, { 102, "c" } },
		  { "a", "b", "" } },
		{ 4,
		  { { 100, "a" }, { 101, "b" }, { 102, long_name } },
		  { "a", "b", long_name } },
	};
	struct opd_perfdata data;
	struct file f;

	(void)state;
	memset(long_name, 'n', sizeof(long_name) - 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t places, at;

		make_file(&f, 3);
		places = put_places(&f, 1u << EVENT_DESC);
		at = f.len;
		put_told_events(&f, rows[i].nr, rows[i].told, 3);
		set_place(&f, places, 0, at);
		must_open(&data, &f);
		for (size_t k = 0; k < 3; k++) {
			char name[OPD_EVENT_NAME_MAX];

			snprintf(name, sizeof(name), "%s", rows[i].names[k]);
			assert_string_equal(data.events[k].name, name);
			assert_int_equal(data.events[k].attr.config, k);
		}
		opd_perfdata_close(&data);
	}
}

/* ---- whose a record is ------------------------------------------------------
 */

static void events_of_records(void **state)
{
	static const struct {
		unsigned int nr_events;
		uint32_t type;
		uint64_t id;
		int event; /* -1: none */
	} rows[] = {
		{ 1, PERF_RECORD_SAMPLE, 99, 0 },
		{ 3, PERF_RECORD_SAMPLE, 100, 0 },
		{ 3, PERF_RECORD_SAMPLE, 101, 1 },
		{ 3, PERF_RECORD_SAMPLE, 102, 2 },
		{ 3, PERF_RECORD_SAMPLE, 103, -1 },
		{ 3, PERF_RECORD_SAMPLE, 0, -1 },
		{ 3, PERF_RECORD_COMM, 102, 2 },
		{ 3, PERF_RECORD_COMM, 103, -1 },
		{ 3, PERF_RECORD_COMM, 0, 0 },
	};
	struct opd_perfdata data;
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct opd_perfdata_event *event;
		struct record r;

		make_file(&f, rows[i].nr_events);
		must_open(&data, &f);
		record_begin(&r, rows[i].type, 0);
		/* The number is the first in a sample, else the last. */
		record_u64(&r,
			   rows[i].type == PERF_RECORD_SAMPLE ? rows[i].id : 1);
		record_u64(&r, 1);
		record_u64(&r, 1);
		record_u64(&r, rows[i].id);
		record_close(&r);
		event = opd_perfdata_event_of(&data, r.at, r.len);
		if (rows[i].event < 0)
			assert_null(event);
		else
			assert_ptr_equal(event, &data.events[rows[i].event]);
		/* One that is too short for a number. */
		assert_ptr_equal(opd_perfdata_event_of(&data, r.at, 8),
				 data.events);
		opd_perfdata_close(&data);
	}
}

/* ---- pipes ------------------------------------------------------------------
 */

static void begin_pipe(struct file *f)
{
	memset(f, 0, sizeof(*f));
	put(f, "PERFILE2", 8);
	put64(f, 16);
}

static void put_attr(struct file *f, uint32_t size, uint64_t id)
{
	struct perf_event_attr attr = attr_of(id, SAMPLE_TYPE);
	struct record r;

	attr.size = size;
	record_begin(&r, OPD_PERFDATA_ATTR, 0);
	record_put(&r, &attr, sizeof(attr));
	record_u64(&r, id);
	put_record(f, &r);
}

static void put_new_name(struct file *f, uint64_t what, uint64_t id,
			 const char *name)
{
	struct record r;

	record_begin(&r, OPD_PERFDATA_EVENT_UPDATE, 0);
	record_u64(&r, what);
	record_u64(&r, id);
	record_text(&r, name);
	put_record(f, &r);
}

static void what_pipes_tell(void **state)
{
	struct opd_perfdata data;
	struct op_diag diag = { "" };
	const void *record;
	struct file f;
	struct record r;
	size_t len;

	(void)state;
	begin_pipe(&f);
	put_attr(&f, ATTR, 101);
	put_attr(&f, ATTR, 100);
	put_new_name(&f, 2, 100, "second");
	put_new_name(&f, 2, 7, "nobody's");
	put_new_name(&f, 1, 101, "no name");
	for (size_t i = 0; i < NR_BUILDS; i++)
		put_build(&f, builds[i].misc, builds[i].first, builds[i].len,
			  builds[i].name);
	record_begin(&r, OPD_PERFDATA_FEATURE, 0);
	record_u64(&r, HOSTNAME);
	record_u32(&r, 5);
	record_text(&r, "host");
	put_record(&f, &r);
	put_mapping(&f, 100, "/no/app");
	put_build(&f, 0, 7, 20, "/lib/later");
	must_open(&data, &f);
	assert_int_equal(data.nr_events, 2);
	assert_int_equal(data.events[0].attr.config, 101);
	assert_string_equal(data.events[0].name, "");
	assert_string_equal(data.events[1].name, "second");
	assert_string_equal(data.hostname, "host");
	knows_builds(&data);
	/* The first record of the kernel, and what is told behind it. */
	assert_int_equal(opd_perfdata_next(&data, &record, &len, &diag), 0);
	assert_non_null(record);
	assert_ptr_equal(opd_perfdata_event_of(&data, record, len),
			 &data.events[1]);
	assert_null(opd_perfdata_build_of(&data, "/lib/later"));
	assert_int_equal(opd_perfdata_next(&data, &record, &len, &diag), 0);
	assert_non_null(opd_perfdata_build_of(&data, "/lib/later"));
	assert_int_equal(opd_perfdata_next(&data, &record, &len, &diag), 0);
	assert_null(record);
	opd_perfdata_close(&data);
}

static void pipes_that_cannot_be(void **state)
{
	char text[128];
	struct file f;
	struct record r;

	(void)state;
	begin_pipe(&f);
	is_refused(&f, -EBADMSG, "tells of no event" AGAIN);
	put_mapping(&f, 100, "/no/app");
	is_refused(&f, -EBADMSG, "tells of no event" AGAIN);
	begin_pipe(&f);
	put_attr(&f, PERF_ATTR_SIZE_VER0 - 1, 100);
	is_refused(&f, -EBADMSG, BAD_EVENT);
	begin_pipe(&f);
	put_attr(&f, ATTR + 9, 100);
	is_refused(&f, -EBADMSG, BAD_EVENT);
	begin_pipe(&f);
	record_begin(&r, OPD_PERFDATA_ATTR, 0);
	put_record(&f, &r);
	is_refused(&f, -EBADMSG, BAD_EVENT);
	begin_pipe(&f);
	put_attr(&f, ATTR, 100);
	snprintf(text, sizeof(text),
		 "is damaged at byte %zu; samples before it are there", f.len);
	put32(&f, PERF_RECORD_COMM);
	put32(&f, 7 << 16);
	is_refused(&f, -EBADMSG, text);
}

/* ---- ends -------------------------------------------------------------------
 */

static void ends(void **state)
{
	static const struct {
		int more; /* bytes than there are, of the records; -100: none */
		bool is_read; /* the record is there */
		const char *text; /* before the place, NULL: none */
	} rows[] = {
		{ 0, true, NULL },
		{ -100, true, "was not finished, as perf record was killed" },
		{ 1, true, "is cut short" },
		{ -1, false, "is cut short" },
	};
	struct opd_perfdata data;
	struct file f;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_diag diag = { "" };
		char text[128] = "";
		const void *record;
		const char *said;
		uint64_t at, len;
		size_t got;
		int err;

		make_file(&f, 1);
		memcpy(&at, f.bytes + RECORDS_AT, sizeof(at));
		len = f.len - at;
		set64(&f, RECORDS_LEN,
		      rows[i].more == -100 ? 0 : len + (uint64_t)rows[i].more);
		must_open(&data, &f);
		do
			err = opd_perfdata_next(&data, &record, &got, &diag);
		while (!err && record);
		assert_int_equal(err, rows[i].text ? -EBADMSG : 0);
		if (rows[i].text)
			snprintf(text, sizeof(text),
				 "%s; samples up to byte %u are there",
				 rows[i].text,
				 (unsigned int)(rows[i].is_read ? f.len : at));
		said = strstr(diag.text, ": ");
		assert_string_equal(said ? said + 2 : "", text);
		assert_int_equal(data.is_unfinished, rows[i].more == -100);
		opd_perfdata_close(&data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_that_are_cut),
		cmocka_unit_test(headers_that_cannot_be),
		cmocka_unit_test(short_attributes),
		cmocka_unit_test(numbers_of_events),
		cmocka_unit_test(paths_that_are_no_files),
		cmocka_unit_test(machine),
		cmocka_unit_test(features_that_cannot_be_read),
		cmocka_unit_test(build_ids),
		cmocka_unit_test(names_of_events),
		cmocka_unit_test(events_of_records),
		cmocka_unit_test(what_pipes_tell),
		cmocka_unit_test(pipes_that_cannot_be),
		cmocka_unit_test(ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
