// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports from sample files that are cut short or have a byte changed. */

#include "tests/unit/pp_fixture.h"

#include "libdb/odb.h"
#include "libop/files/op_folder.h"
#include "libpp/format/format.h"
#include "libpp/report/report.h"

#define NR_KEYS 100
#define TOTAL (NR_KEYS * (NR_KEYS + 1) / 2)

struct fixture {
	char dir[64];
	char path[512]; /* the sample file */
	struct op_session session;
	struct pp_spec spec;
	unsigned char *good; /* what the file should hold */
	size_t len;
};

static void fill(const char *path)
{
	struct op_sample_header header = {
		.magic = OP_SAMPLE_MAGIC,
		.version = OP_SAMPLE_VERSION,
		.timer_hz = 1000,
		.cpu_type = "timer",
	};
	struct odb *odb;

	assert_int_equal(odb_open(&odb, path, ODB_RDWR), 0);
	memcpy(odb_user(odb), &header, sizeof(header));
	for (uint64_t i = 1; i <= NR_KEYS; i++)
		assert_int_equal(odb_add(odb, 0x1000 + 4 * i, i), 0);
	odb_close(odb);
}

static void put(const struct fixture *f, const unsigned char *bytes, size_t len)
{
	int fd = open(f->path, O_WRONLY);

	/* Not O_TRUNC: file systems then write to the disk at once. */
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	assert_int_equal(ftruncate(fd, (off_t)len), 0);
	close(fd);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct stat st;
	int fd;

	assert_non_null(f);
	strcpy(f->dir, "/tmp/oprofile-pp.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(
		f->path, sizeof(f->path),
		"%s/samples/current/{root}/no/such/prog/{dep}/{root}/no/such/prog/TIMER.0.0.all.all.all",
		f->dir);
	assert_int_equal(op_make_parents(f->path, 0755), 0);
	fill(f->path);
	fd = open(f->path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	f->len = (size_t)st.st_size;
	f->good = malloc(f->len);
	assert_int_equal(read(fd, f->good, f->len), (ssize_t)f->len);
	close(fd);
	assert_int_equal(op_session_init(&f->session, f->dir, NULL), 0);
	assert_int_equal(pp_spec_init(&f->spec, NULL, NULL), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	pp_spec_release(&f->spec);
	free(f->good);
	free(f);
	return 0;
}

/* Samples in the report, or 0 when there is none but a reason. */
static uint64_t report(const struct fixture *f)
{
	static const struct pp_format_options options;
	struct pp_request request = {
		.select.session = &f->session,
		.select.spec = &f->spec,
		.symbols.wanted = true,
		.symbols.details = true,
	};
	struct op_diag diag = { "" };
	struct pp_report *report;
	uint64_t total = 0;
	FILE *out = fopen("/dev/null", "we");

	assert_int_equal(pp_sort_init(&request.symbols.sort, NULL, NULL), 0);
	if (!pp_report_new(&report, &request, &diag)) {
		total = report->totals[0];
		assert_int_equal(total, report->symbols.totals[0]);
		pp_format_text(out, report, &options);
	} else {
		assert_true(diag.text[0]);
		assert_null(strchr(diag.text, '\n'));
	}
	pp_report_free(report);
	fclose(out);
	return total;
}

TEST_WITH(the_whole_file_is_reported, set_up, tear_down)
{
	assert_int_equal(report(*state), TOTAL);
}

TEST_WITH(every_cut_ends_in_a_reason, set_up, tear_down)
{
	struct fixture *f = *state;

	size_t step = rounds_of(23, 1);

	for (size_t len = 0; len < f->len;
	     len += len < 256 || f->len - len < 64 ? 1 : step) {
		put(f, f->good, len);
		assert_int_equal(report(f), 0);
	}
	put(f, f->good, f->len);
	assert_int_equal(report(f), TOTAL);
}

/* Either a reason, or a report of something: the sum need not be right. */
TEST_WITH(every_changed_byte_ends_well, set_up, tear_down)
{
	struct fixture *f = *state;
	unsigned int nr_refused = 0, rounds = rounds_of(700, 10000);

	srand(20);
	for (unsigned int i = 0; i < rounds; i++) {
		size_t at = (size_t)rand() % f->len;
		unsigned char was = f->good[at];

		f->good[at] ^= (unsigned char)(1 + rand() % 255);
		put(f, f->good, f->len);
		nr_refused += report(f) == 0;
		f->good[at] = was;
	}
	assert_true(nr_refused > rounds / 100);
}
