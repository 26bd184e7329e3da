// SPDX-License-Identifier: GPL-2.0-or-later
/* What comes from perf record through a pipe, and how the records end. */

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "perfdata_fixture.h"

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

static void put_told_host(struct file *f, const char *name)
{
	struct record r;

	record_begin(&r, OPD_PERFDATA_FEATURE, 0);
	record_u64(&r, HOSTNAME);
	record_u32(&r, (uint32_t)strlen(name) + 1);
	record_text(&r, name);
	put_record(f, &r);
}

/* What is told twice is what was told last. */
TEST(what_pipes_tell)
{
	struct opd_perfdata data;
	struct op_diag diag = { "" };
	const void *record;
	struct file f;
	size_t len;

	begin_pipe(&f);
	put_attr(&f, ATTR, 101);
	put_attr(&f, ATTR, 100);
	put_new_name(&f, 2, 100, "not the last name");
	put_new_name(&f, 2, 100, "second");
	put_new_name(&f, 2, 7, "nobody's");
	put_new_name(&f, 1, 101, "no name");
	for (size_t i = 0; i < NR_BUILDS; i++)
		put_build(&f, builds[i].misc, builds[i].first, builds[i].len,
			  builds[i].name);
	put_told_host(&f, "a host");
	put_told_host(&f, "host");
	put_mapping(&f, 100, "/no/app");
	put_build(&f, 0, 7, 20, "/lib/later");
	must_open(&data, &f);
	assert_int_equal(data.nr_events, 2);
	assert_int_equal(data.events[0].attr.config, 101);
	assert_string_equal(data.events[0].name, "");
	assert_string_equal(data.events[1].name, "second");
	assert_string_equal(data.hostname, "host");
	knows_builds(&data, 0);
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

TEST(pipes_that_cannot_be)
{
	char text[128];
	struct file f;
	struct record r;

	begin_pipe(&f);
	is_refused(&f, -EBADMSG, "describes no event" AGAIN);
	put_mapping(&f, 100, "/no/app");
	is_refused(&f, -EBADMSG, "describes no event" AGAIN);
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

TEST(ends)
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

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct op_diag diag = { "" };
		char text[128] = "";
		const void *record;
		const char *said;
		uint64_t at, len;
		size_t got;
		int err;

		make_data_file(&f, 1);
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

/* ---- files that come through a pipe -----------------------------------------
 */

/* A pipe that has all of @f and its hole; nothing more comes. */
static int fill_pipe(const struct file *f)
{
	static const unsigned char zeros[4096];
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, 1 << 18) >= 1 << 18);
	assert_int_equal(write(ends[1], f->bytes, f->len), f->len);
	for (size_t left = f->hole; left;) {
		size_t nr = left < sizeof(zeros) ? left : sizeof(zeros);

		assert_int_equal(write(ends[1], zeros, nr), nr);
		left -= nr;
	}
	close(ends[1]);
	return ends[0];
}

/* Open what is at the descriptor @fd, which is closed. */
static int open_descriptor(struct opd_perfdata *data, int fd,
			   struct op_diag *diag)
{
	static char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	diag->text[0] = '\0';
	err = opd_perfdata_open(data, path, &pool, diag);
	close(fd);
	return err;
}

/* Two events, a mapping, a hole in the middle of more records, a feature. */
static void make_piped_file(struct file *f, size_t hole)
{
	uint64_t at, len;
	size_t places;

	make_data_file(f, 2);
	memcpy(&at, f->bytes + RECORDS_AT, sizeof(at));
	f->len += hole;
	len = f->len - at;
	set64(f, RECORDS_LEN, len);
	places = put_places(f, 1u << HOSTNAME);
	at = f->len;
	put_padded(f, "host", 5);
	set_place(f, places, 0, at);
}

static void has_mapping(struct opd_perfdata *data)
{
	struct op_diag diag = { "" };
	struct perf_event_header header;
	const void *record;
	size_t len;

	assert_int_equal(opd_perfdata_next(data, &record, &len, &diag), 0);
	assert_non_null(record);
	memcpy(&header, record, sizeof(header));
	assert_int_equal(header.type, PERF_RECORD_MMAP);
	assert_int_equal(header.size, len);
	assert_ptr_equal(opd_perfdata_event_of(data, record, len),
			 data->events);
}

/* All of a file is there, as if it was none, however much a pipe hands out at
 * once. */
TEST(files_through_pipes)
{
	static const size_t holes[] = { 0, 65536, 100000 };
	static struct file f;
	struct opd_perfdata data;
	struct op_diag diag;

	for (size_t i = 0; i < sizeof(holes) / sizeof(holes[0]); i++) {
		make_piped_file(&f, holes[i]);
		if (open_descriptor(&data, fill_pipe(&f), &diag))
			fail_msg("%s", diag.text);
		assert_int_equal(data.nr_events, 2);
		assert_int_equal(data.nr_ids, 2);
		assert_string_equal(data.hostname, "host");
		assert_int_equal(lseek(data.fd, 0, SEEK_END), f.len);
		assert_true(fcntl(data.fd, F_GETFD) & FD_CLOEXEC);
		assert_true(lseek(data.fd, (off_t)data.reader.offset,
				  SEEK_SET) >= 0);
		has_mapping(&data);
		opd_perfdata_close(&data);
	}
}

TEST(cut_files_through_pipes)
{
	static const struct {
		size_t len;
		int err;
		const char *text;
	} rows[] = {
		{ 15, -EPROTO,
		  "is no file of perf; give one that perf record wrote" },
		{ 16, -EBADMSG, CUT_IN_HEADER },
		{ HEADER - 1, -EBADMSG, CUT_IN_HEADER },
		{ HEADER, -EBADMSG,
		  "is cut short: it ends before the table of its events" },
	};
	struct opd_perfdata data;
	struct op_diag diag;
	struct file f;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_data_file(&f, 2);
		f.len = rows[i].len;
		assert_int_equal(open_descriptor(&data, fill_pipe(&f), &diag),
				 rows[i].err);
		assert_string_equal(strstr(diag.text, ": ") + 2, rows[i].text);
		opd_perfdata_close(&data);
	}
}

/* "-" is standard input, which stays open. */
TEST(standard_input)
{
	const int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	struct opd_perfdata data;
	struct op_diag diag;
	struct file f;

	for (int is_pipe = 0; is_pipe < 2; is_pipe++) {
		int fd = -1;

		make_data_file(&f, 2);
		if (is_pipe) {
			fd = fill_pipe(&f);
		} else {
			fd = memfd_create("perf.data", MFD_CLOEXEC);
			assert_int_equal(write(fd, f.bytes, f.len), f.len);
			assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		}
		assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
		close(fd);
		assert_int_equal(opd_perfdata_open(&data, "-", &pool, &diag),
				 0);
		assert_int_equal(data.nr_events, 2);
		assert_int_not_equal(data.fd, STDIN_FILENO);
		assert_true(fcntl(data.fd, F_GETFD) & FD_CLOEXEC);
		has_mapping(&data);
		opd_perfdata_close(&data);
		assert_int_equal(data.fd, -1);
		assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
	}
	close(STDIN_FILENO);
	diag.text[0] = '\0';
	assert_int_equal(opd_perfdata_open(&data, "-", &pool, &diag), -EBADF);
	assert_string_equal(
		diag.text,
		"-: Bad file descriptor; give a file that perf record wrote");
	opd_perfdata_close(&data);
	if (kept >= 0) {
		assert_int_equal(dup2(kept, STDIN_FILENO), STDIN_FILENO);
		close(kept);
	}
}

/* Lower a limit of this process; the one before is put back with @old. */
static void lower_limit(__rlimit_resource_t what, rlim_t to, struct rlimit *old)
{
	struct rlimit new;

	assert_int_equal(getrlimit(what, old), 0);
	new = *old;
	new.rlim_cur = to;
	assert_int_equal(setrlimit(what, &new), 0);
}

/* A pipe's file is held in memory, if there is room. */
TEST(pipes_that_cannot_be_held)
{
	static const char too_large[] =
		"cannot be held in memory: File too large; give a file instead of a pipe";
	static const char too_many[] =
		"cannot be held in memory: Too many open files; give a file instead of a pipe; raise ulimit -n";
	struct opd_perfdata data;
	struct op_diag diag;
	struct rlimit old;
	struct file f;
	int err, fd;

	signal(SIGXFSZ, SIG_IGN);
	make_data_file(&f, 2);
	for (rlim_t most = 0; most <= 64; most += 64) {
		fd = fill_pipe(&f);
		lower_limit(RLIMIT_FSIZE, most, &old);
		err = open_descriptor(&data, fd, &diag);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		assert_int_equal(err, -EFBIG);
		assert_string_equal(strstr(diag.text, ": ") + 2, too_large);
		opd_perfdata_close(&data);
	}
	signal(SIGXFSZ, SIG_DFL);

	/* There is one descriptor for the pipe, and none for its copy. */
	fd = fill_pipe(&f);
	err = dup(fd);
	close(err);
	lower_limit(RLIMIT_NOFILE, (rlim_t)err + 1, &old);
	err = open_descriptor(&data, fd, &diag);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(err, -EMFILE);
	assert_string_equal(strstr(diag.text, ": ") + 2, too_many);
	opd_perfdata_close(&data);
}

/* ---- what is no record ------------------------------------------------------
 */

/* A record of @type, whose first number is @value, of @len bytes. */
static void put_announcement(struct file *f, uint32_t type, uint64_t value,
			     size_t len)
{
	struct record r;

	record_begin(&r, type, 0);
	record_put(&r, &value, len);
	put_record(f, &r);
}

/* Bytes follow some records that are none themselves. */
TEST(bytes_behind_records)
{
	static const struct {
		uint32_t type;
		uint64_t value;
		size_t len; /* of the value */
		size_t behind;
		const char *text; /* NULL: the mapping is found */
	} rows[] = {
		{ OPD_PERFDATA_AUXTRACE, 0, 8, 0, NULL },
		{ OPD_PERFDATA_AUXTRACE, 1, 8, 1, NULL },
		{ OPD_PERFDATA_AUXTRACE, 4096, 8, 4096, NULL },
		{ OPD_PERFDATA_AUXTRACE, 70001, 8, 70001, NULL },
		/* Without its length. */
		{ OPD_PERFDATA_AUXTRACE, 64, 4, 0, NULL },
		{ OPD_PERFDATA_TRACING_DATA, 0, 4, 0, NULL },
		{ OPD_PERFDATA_TRACING_DATA, 1, 4, 8, NULL },
		{ OPD_PERFDATA_TRACING_DATA, 8, 4, 8, NULL },
		{ OPD_PERFDATA_TRACING_DATA, 9, 4, 16, NULL },
		{ OPD_PERFDATA_TRACING_DATA, 64, 2, 0, NULL },
		{ PERF_RECORD_COMM, 64, 8, 0, NULL },
		{ OPD_PERFDATA_AUXTRACE, 4096, 8, 4000, "is cut short" },
		{ OPD_PERFDATA_AUXTRACE, UINT64_MAX, 8, 64, "is cut short" },
	};
	static struct file f;
	struct opd_perfdata data;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perf_event_header header = { .type = 0 };
		struct op_diag diag = { "" };
		const void *record = NULL;
		uint64_t at;
		size_t len;
		int err;

		make_data_file(&f, 1);
		memcpy(&at, f.bytes + RECORDS_AT, sizeof(at));
		f.len = at;
		put_announcement(&f, rows[i].type, rows[i].value, rows[i].len);
		f.len += rows[i].behind;
		if (!rows[i].text)
			put_mapping(&f, 100, "/no/app");
		set64(&f, RECORDS_LEN, f.len - at);
		must_open(&data, &f);
		do {
			err = opd_perfdata_next(&data, &record, &len, &diag);
			if (record)
				memcpy(&header, record, sizeof(header));
		} while (!err && record && header.type != PERF_RECORD_MMAP);
		if (err != (rows[i].text ? -EBADMSG : 0) ||
		    (header.type == PERF_RECORD_MMAP) == (rows[i].text != NULL))
			fail_msg("row %zu: %s", i, diag.text);
		if (rows[i].text)
			assert_non_null(strstr(diag.text, rows[i].text));
		opd_perfdata_close(&data);
	}
}

/* The file can be read no more. */
TEST(records_that_cannot_be_read)
{
	struct opd_perfdata data;
	struct op_diag diag = { "" };
	const void *record;
	char text[128];
	struct file f;
	uint64_t at;
	size_t len;
	int fd;

	make_data_file(&f, 1);
	memcpy(&at, f.bytes + RECORDS_AT, sizeof(at));
	must_open(&data, &f);
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	assert_int_equal(dup2(fd, data.fd), data.fd);
	close(fd);
	assert_int_equal(opd_perfdata_next(&data, &record, &len, &diag), -EIO);
	assert_null(record);
	snprintf(text, sizeof(text),
		 "cannot be read at byte %zu: Bad file descriptor", (size_t)at);
	assert_string_equal(strstr(diag.text, ": ") + 2, text);
	opd_perfdata_close(&data);
}
