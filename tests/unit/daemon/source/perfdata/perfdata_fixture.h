/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PERFDATA_FIXTURE_H
#define TESTS_UNIT_PERFDATA_FIXTURE_H

/* Files of perf record and its pipes as a whole, and what is said of those that
 * cannot be. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/source/perfdata/opd_perfdata.h"
#include "perfdata_bytes.h"
#include "tests/unit/test.h"

#define HEADER 104
#define ATTR sizeof(struct perf_event_attr)
#define SAMPLE_TYPE (OPD_PERF_SAMPLE_ID | PERF_SAMPLE_TIME)

#define AGAIN "; record it again"
#define CUT_IN_HEADER "is cut short: it ends in its header" AGAIN
#define BAD_TABLE "is damaged: the table of its events cannot be" AGAIN
#define BAD_EVENT "is damaged: the description of an event cannot be" AGAIN

/* Features, by their bit in the header. */
enum {
	BUILD_ID = 2,
	HOSTNAME = 3,
	OSRELEASE = 4,
	ARCH = 6,
	CMDLINE = 11,
	EVENT_DESC = 12,
	CLOCK_DATA = 29
};

/* Where in the header it says so. */
enum {
	ATTR_SIZE = 16,
	ATTRS_AT = 24,
	ATTRS_LEN = 32,
	RECORDS_AT = 40,
	RECORDS_LEN = 48,
	FEATURES = 72,
};

static struct opd_perfdata_pool pool;

__attribute__((unused)) static int
open_data(struct opd_perfdata *data, const struct file *f, struct op_diag *diag)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC), err;
	static char path[64];

	assert_true(fd >= 0);
	assert_int_equal(write(fd, f->bytes, f->len), f->len);
	assert_int_equal(ftruncate(fd, (off_t)(f->len + f->hole)), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	diag->text[0] = '\0';
	err = opd_perfdata_open(data, path, &pool, diag);
	close(fd);
	return err;
}

__attribute__((unused)) static void must_open(struct opd_perfdata *data,
					      const struct file *f)
{
	struct op_diag diag;

	if (open_data(data, f, &diag))
		fail_msg("%s", diag.text);
}

/* What is said of @f ends with @text, after its name. */
__attribute__((unused)) static void is_refused(const struct file *f, int err,
					       const char *text)
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

__attribute__((unused)) static void put_mapping(struct file *f, uint64_t id,
						const char *name)
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
__attribute__((unused)) static void make_data_file(struct file *f,
						   unsigned int nr)
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
__attribute__((unused)) static size_t put_places(struct file *f, uint64_t bits)
{
	size_t at = f->len;

	set64(f, FEATURES, bits);
	f->len += 16 * (size_t)__builtin_popcountll(bits);
	return at;
}

/* Feature @nr of those whose places are at @places is all from @at on. */
__attribute__((unused)) static void set_place(struct file *f, size_t places,
					      unsigned int nr, size_t at)
{
	set64(f, places + 16 * nr, at);
	set64(f, places + 16 * nr + 8, f->len - at);
}

#define HAS_LENGTH 0x8000

__attribute__((unused)) static void put_build(struct file *f, uint16_t misc,
					      unsigned char first,
					      unsigned char len,
					      const char *name)
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

/* It knows all of @builds that make sense, and @more. */
__attribute__((unused)) static void
knows_builds(const struct opd_perfdata *data, size_t more)
{
	assert_int_equal(data->nr_builds, NR_BUILDS - 1 + more);
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

__attribute__((unused)) static void put_padded(struct file *f, const char *text,
					       uint32_t len)
{
	put32(f, len);
	put(f, text, strlen(text));
	for (size_t i = strlen(text); i < len; i++)
		put(f, "", 1);
}

/* ---- pipes ------------------------------------------------------------------
 */

__attribute__((unused)) static void begin_pipe(struct file *f)
{
	memset(f, 0, sizeof(*f));
	put(f, "PERFILE2", 8);
	put64(f, 16);
}

__attribute__((unused)) static void put_attr(struct file *f, uint32_t size,
					     uint64_t id)
{
	struct perf_event_attr attr = attr_of(id, SAMPLE_TYPE);
	struct record r;

	attr.size = size;
	record_begin(&r, OPD_PERFDATA_ATTR, 0);
	record_put(&r, &attr, sizeof(attr));
	record_u64(&r, id);
	put_record(f, &r);
}

#endif /* TESTS_UNIT_PERFDATA_FIXTURE_H */
