// SPDX-License-Identifier: GPL-2.0-or-later
/* What files of perf record and its pipes tell beside samples, and what is said
 * of those that cannot be. */

#include "perfdata_fixture.h"

/* ---- what is refused --------------------------------------------------------
 */

TEST(files_that_are_cut)
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

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_data_file(&f, 2);
		f.len = rows[i].len;
		is_refused(&f, rows[i].err, rows[i].text);
	}
}

TEST(headers_that_cannot_be)
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
		{ ATTRS_AT, INT64_MAX / 2, -EBADMSG,
		  "is cut short: it ends before the table of its events" },
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

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_data_file(&f, 2);
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
TEST(short_attributes)
{
	struct perf_event_attr attr = attr_of(5, SAMPLE_TYPE);
	struct opd_perfdata data;
	struct file f;

	make_data_file(&f, 0);
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

TEST(numbers_of_events)
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

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_data_file(&f, 1);
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

/* @nr events in the shortest form; the numbers of the first one are @nr_ids
 * zeros, those of the second @nr_more. */
static void make_large_file(struct file *f, unsigned int nr, size_t nr_ids,
			    size_t nr_more)
{
	struct perf_event_attr attr = attr_of(0, SAMPLE_TYPE);
	size_t len = PERF_ATTR_SIZE_VER0 + 16, end;

	make_data_file(f, 0);
	set64(f, ATTR_SIZE, len);
	set64(f, ATTRS_AT, f->len);
	set64(f, ATTRS_LEN, nr * len);
	end = f->len + nr * len;
	for (unsigned int i = 0; i < nr; i++) {
		put(f, &attr, PERF_ATTR_SIZE_VER0);
		put64(f, end);
		put64(f, 8 * (i == 0 ? nr_ids : i == 1 ? nr_more : 1));
	}
	f->hole = 8 * (nr_ids + nr_more + 1);
}

TEST(how_many_events)
{
	static const struct {
		unsigned int nr;
		size_t nr_ids, nr_more;
		const char *text; /* NULL: it can */
	} rows[] = {
		{ OPD_PERFDATA_MAX_EVENTS, 1, 1, NULL },
		{ OPD_PERFDATA_MAX_EVENTS + 1, 1, 1, BAD_EVENT },
		{ 2, 1 << 17, 0, NULL },
		{ 1, 1 << 20, 0, NULL },
		{ 2, 1 << 20, 0, NULL },
		{ 1, (1 << 20) + 1, 0,
		  "is damaged: the number of events cannot be" AGAIN },
		{ 2, 1 << 20, 1,
		  "is damaged: the number of events cannot be" AGAIN },
	};
	static struct file f;
	struct opd_perfdata data;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_large_file(&f, rows[i].nr, rows[i].nr_ids,
				rows[i].nr_more);
		if (rows[i].text) {
			is_refused(&f, -EBADMSG, rows[i].text);
			continue;
		}
		must_open(&data, &f);
		assert_int_equal(data.nr_events, rows[i].nr);
		opd_perfdata_close(&data);
	}
}

TEST(paths_that_are_no_files)
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

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct opd_perfdata data;
		struct op_diag diag = { "" };

		assert_int_equal(opd_perfdata_open(&data, rows[i].path, &pool,
						   &diag),
				 rows[i].err);
		assert_string_equal(diag.text, rows[i].text);
		opd_perfdata_close(&data);
	}
}

/* ---- features ---------------------------------------------------------------
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

TEST(machine)
{
	char longest[65], one_more[66], too_long[80];
	const struct {
		const char *told, *known;
		uint32_t more; /* zeros behind it */
	} rows[] = {
		{ "", "", 9 },
		{ "", "", 0 },
		{ "host", "host", 9 },
		{ "host", "host", 0 },
		{ longest, longest, 9 },
		{ longest, longest, 0 },
		{ one_more, longest, 0 },
		{ too_long, longest, 9 },
	};
	struct opd_perfdata data;
	struct file f;

	memset(longest, 'x', sizeof(longest));
	longest[64] = '\0';
	memset(one_more, 'x', sizeof(one_more));
	one_more[65] = '\0';
	memset(too_long, 'x', sizeof(too_long));
	too_long[sizeof(too_long) - 1] = '\0';
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t places, at;

		make_data_file(&f, 1);
		/* One that means nothing here has its place, too. */
		places = put_places(&f, 1u << HOSTNAME | 1u << OSRELEASE |
						1u << 5 | 1u << ARCH);
		at = f.len;
		put_padded(&f, rows[i].told,
			   (uint32_t)strlen(rows[i].told) + rows[i].more);
		set_place(&f, places, 0, at);
		at = f.len;
		put_padded(&f, "6.1.0", 64);
		set_place(&f, places, 1, at);
		set_place(&f, places, 2, at);
		at = f.len;
		put_padded(&f, "x86_64", 7);
		/* These are no names of events. */
		put_told_events(&f, 1, &(struct told_event){ 0, "a" }, 1);
		set_place(&f, places, 3, at);
		must_open(&data, &f);
		assert_string_equal(data.events[0].name, "");
		assert_string_equal(data.hostname, rows[i].known);
		assert_string_equal(data.release, "6.1.0");
		assert_string_equal(data.arch, "x86_64");
		opd_perfdata_close(&data);
	}
}

static const struct {
	uint32_t nr; /* of words, as the feature says */
	const char *words[4];
	const char *command;
} command_lines[] = {
	{ 0, { NULL }, "" },
	{ 1, { "perf" }, "perf" },
	{ 3, { "perf", "record", "a b" }, "perf record 'a b'" },
	{ 2, { "/usr/bin/perf", "it's", "left" }, "/usr/bin/perf 'it'\\''s'" },
	/* The feature ends before its last word. */
	{ 4, { "perf", "record" }, "perf record" },
	{ UINT32_MAX, { "perf", "\033[31m" }, "perf '?[31m'" },
	{ 1, { "" }, "''" },
};

TEST(command_line)
{
	struct opd_perfdata data;
	size_t places, at;
	struct file f;

	for (size_t i = 0; i < sizeof(command_lines) / sizeof(*command_lines);
	     i++) {
		make_data_file(&f, 1);
		places = put_places(&f, 1u << HOSTNAME | 1u << OSRELEASE |
						1u << CMDLINE);
		at = f.len;
		put_told(&f, "ho\nst");
		set_place(&f, places, 0, at);
		at = f.len;
		put_told(&f, "6.1.0");
		set_place(&f, places, 1, at);
		at = f.len;
		put32(&f, command_lines[i].nr);
		for (size_t k = 0; k < 4 && command_lines[i].words[k]; k++)
			put_told(&f, command_lines[i].words[k]);
		set_place(&f, places, 2, at);
		must_open(&data, &f);
		assert_string_equal(data.run.command, command_lines[i].command);
		assert_string_equal(data.run.host, "ho?st");
		assert_string_equal(data.run.kernel, "6.1.0");
		opd_perfdata_close(&data);
	}
}

TEST(dates)
{
	static const struct {
		uint64_t version, date, time;
		size_t cut; /* bytes that are missing */
		bool has_dates;
		int64_t ahead;
	} rows[] = {
		{ 1, 1774965500000000000, 5000000000, 0, true,
		  1774965495000000000 },
		{ 1, 7, 9, 0, true, -2 },
		{ 1, 7, 7, 0, true, 0 },
		{ 1, INT64_MAX, 0, 0, true, INT64_MAX },
		{ 1, UINT64_C(1) << 63, 7, 0, false, 0 },
		{ 1, 7, UINT64_C(1) << 63, 0, false, 0 },
		{ 2, 9, 7, 0, false, 0 },
		{ 1, 9, 7, 1, false, 0 },
	};
	struct opd_perfdata data;
	struct file f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t places, at;

		make_data_file(&f, 1);
		places = put_places(&f, 1u << CLOCK_DATA);
		at = f.len;
		put32(&f, (uint32_t)rows[i].version);
		put32(&f, 1); /* the clock */
		put64(&f, rows[i].date);
		put64(&f, rows[i].time);
		f.len -= rows[i].cut;
		set_place(&f, places, 0, at);
		must_open(&data, &f);
		assert_int_equal(data.has_dates, rows[i].has_dates);
		assert_int_equal(data.date_ahead, rows[i].ahead);
		opd_perfdata_close(&data);
	}
}

/* What follows the text of a feature is none of another one. */
TEST(one_text_each)
{
	static const unsigned int features[] = { HOSTNAME, OSRELEASE, ARCH };
	struct opd_perfdata data;
	size_t places, at;
	struct file f;

	for (size_t i = 0; i < 3; i++) {
		make_data_file(&f, 1);
		places = put_places(&f, 1u << features[i]);
		at = f.len;
		put_told(&f, "this");
		put_told(&f, "other");
		set_place(&f, places, 0, at);
		must_open(&data, &f);
		assert_string_equal(data.hostname, i == 0 ? "this" : "");
		assert_string_equal(data.release, i == 1 ? "this" : "");
		assert_string_equal(data.arch, i == 2 ? "this" : "");
		opd_perfdata_close(&data);
	}
}

/* Each is as if it was not there; the others are. */
TEST(features_that_cannot_be_read)
{
	struct opd_perfdata data;
	struct file f;
	size_t places, at;

	make_data_file(&f, 1);
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
	/* The first bit means nothing, and has its place, too. */
	make_data_file(&f, 1);
	places = put_places(&f, 1u << 0 | 1u << ARCH);
	at = f.len;
	put_padded(&f, "arm64", 6);
	set_place(&f, places, 1, at);
	must_open(&data, &f);
	assert_string_equal(data.arch, "arm64");
	opd_perfdata_close(&data);
}

TEST(build_ids)
{
	static const unsigned char nothing[24];
	struct opd_perfdata data;
	size_t places, at;
	struct record r;
	struct file f;

	make_data_file(&f, 1);
	places = put_places(&f, 1u << BUILD_ID | 1u << HOSTNAME);
	at = f.len;
	for (size_t i = 0; i < NR_BUILDS; i++)
		put_build(&f, builds[i].misc, builds[i].first, builds[i].len,
			  builds[i].name);
	/* These are none: without bytes, without the end of a name. */
	record_begin(&r, OPD_PERFDATA_BUILD_ID, 0);
	put_record(&f, &r);
	record_begin(&r, OPD_PERFDATA_BUILD_ID, 0);
	record_u64(&r, 7);
	put_record(&f, &r);
	record_begin(&r, OPD_PERFDATA_BUILD_ID, 0);
	record_u32(&r, 7);
	record_put(&r, nothing, 24);
	record_put(&r, "/lib/bb", 7);
	put_record(&f, &r);
	put_build(&f, 0, 6, 20, "/lib/last");
	/* A length that cannot be ends them. */
	put32(&f, OPD_PERFDATA_BUILD_ID);
	put32(&f, 7 << 16);
	put_build(&f, 0, 8, 20, "/lib/e");
	set_place(&f, places, 0, at);
	at = f.len;
	put_padded(&f, "host", 5);
	set_place(&f, places, 1, at);
	must_open(&data, &f);
	knows_builds(&data, 1);
	assert_non_null(opd_perfdata_build_of(&data, "/lib/last"));
	assert_string_equal(data.hostname, "host");
	opd_perfdata_close(&data);
}

/* ---- names of events --------------------------------------------------------
 */

TEST(names_of_events)
{
	static char long_name[OP_EVENT_NAME_MAX + 10];
	static char full_name[OP_EVENT_NAME_MAX];
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
		{ 3,
		  { { 100, full_name }, { 101, "b" }, { 102, "c" } },
		  { full_name, "b", "c" } },
	};
	struct opd_perfdata data;
	struct file f;

	memset(long_name, 'n', sizeof(long_name) - 1);
	memset(full_name, 'f', sizeof(full_name) - 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t places, at;

		make_data_file(&f, 3);
		places = put_places(&f, 1u << EVENT_DESC);
		at = f.len;
		put_told_events(&f, rows[i].nr, rows[i].told, 3);
		set_place(&f, places, 0, at);
		must_open(&data, &f);
		for (size_t k = 0; k < 3; k++) {
			char name[OP_EVENT_NAME_MAX];

			snprintf(name, sizeof(name), "%s", rows[i].names[k]);
			assert_string_equal(data.events[k].name, name);
			assert_int_equal(data.events[k].attr.config, k);
			assert_int_equal(data.events[k].counter, UINT32_MAX);
		}
		opd_perfdata_close(&data);
	}
}

/* ---- whose a record is ------------------------------------------------------
 */

TEST(events_of_records)
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

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct opd_perfdata_event *event;
		struct record r;

		make_data_file(&f, rows[i].nr_events);
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

/* Numbers may come in any order. Where they stand in a record is the same for
 * all events, and known of the first one. */
TEST(numbers_in_any_order)
{
	struct opd_perfdata data;
	struct record r;
	struct file f;

	make_data_file(&f, 3);
	for (size_t i = 0; i < 3; i++)
		set64(&f, HEADER + 8 * i, 102 - i);
	/* The second attribute tells of another place. */
	set64(&f,
	      HEADER + 3 * 8 + ATTR + 16 +
		      offsetof(struct perf_event_attr, sample_type),
	      PERF_SAMPLE_TIME);
	must_open(&data, &f);
	assert_int_equal(data.events[1].format.sample_type, PERF_SAMPLE_TIME);
	for (size_t i = 0; i < 3; i++) {
		record_begin(&r, PERF_RECORD_SAMPLE, 0);
		record_u64(&r, 102 - i);
		record_u64(&r, 1);
		record_close(&r);
		assert_ptr_equal(opd_perfdata_event_of(&data, r.at, r.len),
				 &data.events[i]);
	}
	opd_perfdata_close(&data);
}
