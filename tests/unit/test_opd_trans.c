// SPDX-License-Identifier: GPL-2.0-or-later
/* From words of a stream to sample files. */

#include "tests/unit/opd_fixture.h"

#define ALL "/TIMER.0.0.all.all.all"
#define KSTART U(0xffffffff81000000)

/* A shell (cookie 1) that is in libc (2), one kernel, two modules. */
static void put_world(struct words *w)
{
	put_begin(w);
	put_cookie(w, 1, "/bin/sh");
	put_cookie(w, 2, "/lib/libc.so.6");
	put_range(w, true, KSTART, KSTART + 0x1000, "vmlinux");
	put_range(w, false, U(0xffffffffc0000000), U(0xffffffffc0004000),
		  "ext4");
	put_range(w, false, U(0xffffffffc0002000), U(0xffffffffc0003000),
		  "vfat");
	put_cpu(w, 1);
	put_task(w, 7424, 7423, 1);
}

static struct words *new_world(void)
{
	struct words *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	put_world(w);
	return w;
}

/* One sample of each kind. */
static struct words *new_tour(void)
{
	struct words *w = new_world();

	put_user(w);
	put_image(w, 2);
	put_sample(w, 0x1234, 0);
	put_anon(w, 0x7f0000000000, 0x7f0000001000, "anon");
	put_sample(w, 0x10, 0);
	put_kernel(w);
	put_sample(w, KSTART + 0x20, 0);
	put_sample(w, 0xffffffffc0000030, 0);
	put_sample(w, 0xffffffffa0000040, 0);
	return w;
}

static void expect_one(struct fixture *f, const char *name, uint64_t key)
{
	if (count_at(f, name, key) != 1)
		fail_msg("no sample at 0x%llx of %s", (unsigned long long)key,
			 name);
}

static void finish_tour(struct fixture *f, uint64_t stored)
{
	struct op_ledger l = ledger_of(f);

	assert_int_equal(l.taken, stored);
	assert_int_equal(l.stored, stored);
	free_fixture(f);
}

static void nothing_separated(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_tour();

	(void)state;
	run_words(f, w);
	expect_one(f, "{root}/lib/libc.so.6/{dep}/{root}/lib/libc.so.6" ALL,
		   0x1234);
	expect_one(
		f,
		"{root}/bin/sh/{dep}/{anon:anon}/7423.0x7f0000000000.0x7f0000001000" ALL,
		0x10);
	expect_one(f, "{kern}/vmlinux/{dep}/{kern}/vmlinux" ALL, 0x20);
	expect_one(f, "{kern}/ext4/{dep}/{kern}/ext4" ALL, 0x30);
	expect_one(f, "{kern}/[kernel-other]/{dep}/{kern}/[kernel-other]" ALL,
		   0);
	finish_tour(f, 5);
	free(w);
}

static void libraries_separated(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_tour();

	(void)state;
	f->opd.options.separate_lib = true;
	run_words(f, w);
	expect_one(f, "{root}/bin/sh/{dep}/{root}/lib/libc.so.6" ALL, 0x1234);
	expect_one(f, "{kern}/ext4/{dep}/{kern}/ext4" ALL, 0x30);
	finish_tour(f, 5);
	free(w);
}

static void kernel_separated(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_tour();

	(void)state;
	f->opd.options.separate_lib = f->opd.options.separate_kernel = true;
	run_words(f, w);
	expect_one(f, "{root}/bin/sh/{dep}/{root}/lib/libc.so.6" ALL, 0x1234);
	expect_one(f, "{root}/bin/sh/{dep}/{kern}/vmlinux" ALL, 0x20);
	expect_one(f, "{root}/bin/sh/{dep}/{kern}/ext4" ALL, 0x30);
	expect_one(f, "{root}/bin/sh/{dep}/{kern}/[kernel-other]" ALL, 0);
	finish_tour(f, 5);
	free(w);
}

static void threads_and_cpus_separated(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_tour();

	(void)state;
	f->opd.options.separate_thread = true;
	f->opd.options.separate_cpu = true;
	run_words(f, w);
	expect_one(
		f,
		"{root}/lib/libc.so.6/{dep}/{root}/lib/libc.so.6/TIMER.0.0.7423.7424.1",
		0x1234);
	expect_one(f, "{kern}/ext4/{dep}/{kern}/ext4/TIMER.0.0.7423.7424.1",
		   0x30);
	finish_tour(f, 5);
	free(w);
}

static void kernel_threads_have_no_application(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();

	(void)state;
	f->opd.options.separate_lib = f->opd.options.separate_kernel = true;
	put_task(w, 12, 12, 0);
	put_kernel(w);
	put_sample(w, KSTART + 1, 0);
	put_sample(w, 0xffffffffc0000030, 0);
	run_words(f, w);
	expect_one(f, "{kern}/vmlinux/{dep}/{kern}/vmlinux" ALL, 1);
	expect_one(f, "{kern}/ext4/{dep}/{kern}/ext4" ALL, 0x30);
	finish_tour(f, 2);
	free(w);
}

static void ranges_that_overlap_are_cut(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();

	(void)state;
	put_kernel(w);
	put_sample(w, 0xffffffffc0001fff, 0);
	put_sample(w, 0xffffffffc0002000, 0);
	put_sample(w, 0xffffffffc0003000, 0);
	put_sample(w, KSTART - 1, 0);
	put_sample(w, KSTART + 0x1000, 0);
	run_words(f, w);
	expect_one(f, "{kern}/ext4/{dep}/{kern}/ext4" ALL, 0x1fff);
	expect_one(f, "{kern}/vfat/{dep}/{kern}/vfat" ALL, 0);
	assert_int_equal(
		count_at(
			f,
			"{kern}/[kernel-other]/{dep}/{kern}/[kernel-other]" ALL,
			0),
		3);
	finish_tour(f, 5);
	free(w);
}

static void a_new_table_forgets_the_old_one(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();

	(void)state;
	put_kernel(w);
	put_sample(w, 0xffffffffc0000030, 0);
	put_range(w, true, U(0xffffffffc0000000), U(0xffffffffc0001000), "xfs");
	put_sample(w, 0xffffffffc0000030, 0);
	run_words(f, w);
	expect_one(f, "{kern}/ext4/{dep}/{kern}/ext4" ALL, 0x30);
	expect_one(f, "{kern}/xfs/{dep}/{kern}/xfs" ALL, 0x30);
	finish_tour(f, 2);
	free(w);
}

static void vmlinux_by_path(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();

	(void)state;
	f->opd.options.vmlinux = strdup("/boot/vmlinux");
	put_kernel(w);
	put_sample(w, KSTART + 9, 0);
	run_words(f, w);
	expect_one(f, "{root}/boot/vmlinux/{dep}/{root}/boot/vmlinux" ALL, 9);
	free(f->opd.options.vmlinux);
	f->opd.options.vmlinux = NULL;
	finish_tour(f, 1);
	free(w);
}

static void images_without_a_file(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();

	(void)state;
	put_cookie(w, 3, "[vdso]");
	put_user(w);
	put_image(w, 3);
	put_sample(w, 5, 0);
	run_words(f, w);
	expect_one(f, "{kern}/[vdso]/{dep}/{kern}/[vdso]" ALL, 5);
	finish_tour(f, 1);
	free(w);
}

static void expect_lost(const struct op_ledger *l, const char *cause,
			uint64_t nr)
{
	if (lost(l, cause) != nr)
		fail_msg("%s: %llu", cause, (unsigned long long)lost(l, cause));
}

static void samples_without_context_are_lost(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();
	struct op_ledger l;

	(void)state;
	f->opd.options.separate_lib = true;
	put_sample(w, 1, 0); /* neither kernel nor user */
	put_user(w);
	put_sample(w, 2, 0); /* no image */
	put_image(w, 0);
	put_sample(w, 3, 0); /* in no image */
	put_image(w, 99);
	put_sample(w, 4, 0); /* a cookie that is never named */
	put_image(w, 2);
	put_sample(w, 5, 0);
	put_cpu(w, 0);
	put_user(w);
	put_image(w, 2);
	put_sample(w, 6, 0); /* a library of no application */
	put_anon(w, 0x1000, 0x2000, "anon");
	put_task(w, 1, 1, 1);
	put_sample(w, 0x1000, 0); /* beyond its end */
	put_sample(w, 0xfff, 0);
	put_sample(w, 0xfff, 1); /* no such event */
	put_sample(w, 0xfff, 1000);
	run_words(f, w);
	l = ledger_of(f);
	assert_int_equal(l.taken, 10);
	assert_int_equal(l.stored, 2);
	expect_lost(&l, "lost_no_context", 3);
	expect_lost(&l, "lost_no_image", 1);
	expect_lost(&l, "lost_no_image_name", 1);
	expect_lost(&l, "lost_bad_record", 1);
	expect_lost(&l, "lost_bad_counter", 2);
	free_fixture(f);
	free(w);
}

static void filtered_samples_are_a_cause(void **state)
{
	char *images[] = { (char *)"/bin/sh" };
	struct fixture *f = new_fixture();
	struct words *w = new_tour();
	struct op_ledger l;

	(void)state;
	f->opd.options.images = images;
	f->opd.options.nr_images = 1;
	start_daemon(f, &test_replay);
	put_user(w);
	put_image(w, 1);
	put_sample(w, 77, 0);
	run_words(f, w);
	l = ledger_of(f);
	/* The shell's own code and its anonymous memory. */
	assert_int_equal(l.stored, 2);
	expect_lost(&l, "lost_image_filter", 4);
	free_fixture(f);
	free(w);
}

static void bad_records_make_the_context_unknown(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();
	struct op_ledger l;

	(void)state;
	put_user(w);
	put_image(w, 1);
	put_sample(w, 1, 0);
	put_record(w, OP_COOKIE_SWITCH, 0); /* too short */
	put_sample(w, 2, 0);
	put_user(w);
	put_image(w, 1);
	put_record(w, OP_CTX_SWITCH, 2, ~U(0) - 1, U(1)); /* no such tid */
	put_sample(w, 3, 0);
	put_record(w, OP_CPU_SWITCH, 1, U(1) << 40);
	put_record(w, 999, 2, U(7), U(8)); /* unknown: harmless */
	put_user(w);
	put_image(w, 1);
	put_record(w, 998, 0);
	put_sample(w, 1, 0);
	run_words(f, w);
	l = ledger_of(f);
	assert_int_equal(l.taken, 4);
	expect_lost(&l, "lost_no_context", 2);
	assert_int_equal(f->opd.stats.bad_records, 3);
	assert_int_equal(f->opd.stats.unknown_codes, 2);
	free_fixture(f);
	free(w);
}

static void records_may_grow(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();

	(void)state;
	put_record(w, OP_USER_ENTER, 2, U(1), U(2));
	put_record(w, OP_COOKIE_SWITCH, 3, U(1), U(5), U(6));
	put_sample(w, 1, 0);
	run_words(f, w);
	assert_int_equal(ledger_of(f).stored, 1);
	assert_int_equal(f->opd.stats.bad_records, 0);
	free_fixture(f);
	free(w);
}

static void impossible_lengths_are_skipped(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();

	(void)state;
	put(w, OP_ESCAPE);
	put(w, OP_CODE_WORD(5, 0, 70000));
	put_user(w);
	put_sample(w, 5, 0); /* skipped: taken by nobody */
	put_cpu(w, 1);
	put_user(w);
	put_image(w, 1);
	put_sample(w, 6, 0);
	run_words(f, w);
	assert_int_equal(ledger_of(f).taken, 1);
	assert_int_equal(ledger_of(f).stored, 1);
	assert_int_equal(f->opd.stats.bad_lengths, 1);
	assert_int_equal(f->opd.stats.skipped_words, 6);
	free_fixture(f);
	free(w);
}

static void cut_samples(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();
	struct op_ledger l;

	(void)state;
	put_user(w);
	put_image(w, 1);
	put_sample(w, 1, 0);
	put(w, 2); /* its counter is missing */
	put_user(w);
	put_sample(w, 3, 0);
	put(w, 4);
	run_words(f, w);
	l = ledger_of(f);
	assert_int_equal(l.taken, 3);
	expect_lost(&l, "lost_bad_record", 1);
	assert_int_equal(f->opd.stats.incomplete, 1);
	free_fixture(f);
	free(w);
}

/* However the words are cut into reads, the result is the same. */
static void chunks_do_not_matter(void **state)
{
	struct words *w = new_tour();

	(void)state;
	put(w, OP_ESCAPE);
	put(w, OP_CODE_WORD(5, 0, 70000));
	put(w, 1);
	put_cpu(w, 1);
	put_user(w);
	put_image(w, 1);
	put_sample(w, 6, 0);
	for (size_t step = 1; step < 40; step++) {
		struct fixture *f = new_replay();
		size_t at = 0, end = 0;

		while (end < w->nr) {
			end = end + step < w->nr ? end + step : w->nr;
			at += opd_trans_run(&f->opd, w->word + at, end - at);
		}
		assert_int_equal(at, w->nr);
		assert_int_equal(ledger_of(f).stored, 6);
		assert_int_equal(f->opd.stats.skipped_words, 3);
		free_fixture(f);
	}
	free(w);
}

static void callers_are_no_samples(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();

	(void)state;
	put_user(w);
	put_image(w, 1);
	put_record(w, OP_TRACE_BEGIN, 0);
	put_sample(w, 1, 0);
	put_sample(w, 2, 0);
	put_image(w, 2);
	put_sample(w, 3, 0);
	put_record(w, OP_TRACE_BEGIN, 0);
	put_sample(w, 4, 0);
	put_cpu(w, 0);
	put_user(w);
	put_image(w, 1);
	put_sample(w, 5, 0);
	run_words(f, w);
	assert_int_equal(ledger_of(f).stored, 3);
	assert_int_equal(f->opd.stats.frames, 2);
	free_fixture(f);
	free(w);
}

static void ibs_records_are_samples(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();
	struct op_ledger l;

	(void)state;
	put_record(w, OP_IBS_FETCH, 5, U(1), U(2), U(3), U(4), U(5));
	put_record(w, OP_IBS_OP, 9, U(1), U(2), U(3), U(4), U(5), U(6), U(7),
		   U(8), U(9));
	run_words(f, w);
	l = ledger_of(f);
	assert_int_equal(l.taken, 2);
	expect_lost(&l, "lost_no_ibs_event", 2);
	free_fixture(f);
	free(w);
}

static void losses_of_the_stream(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();
	struct op_ledger l;

	(void)state;
	put_lost(w, 5, "event_lost_overflow");
	put_lost(w, 2, "event_lost_overflow");
	put_lost(w, ~U(0) - 1, "event_lost_overflow"); /* cannot be */
	put_lost(w, 1, "Bad Name");
	run_words(f, w);
	l = ledger_of(f);
	assert_int_equal(l.taken, 7);
	expect_lost(&l, "event_lost_overflow", 7);
	assert_int_equal(f->opd.stats.bad_records, 2);
	free_fixture(f);
	free(w);
}

static void causes_without_end(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();

	(void)state;
	for (int i = 0; i < 500; i++) {
		char name[16];

		snprintf(name, sizeof(name), "cause_%d", i);
		put_lost(w, 1, name);
	}
	put_sample(w, 1, 0);
	run_words(f, w);
	assert_int_equal(ledger_of(f).taken, 501);
	free_fixture(f);
	free(w);
}

static void events_of_the_stream(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();
	struct op_ledger l;

	(void)state;
	put_event(w, 0, "CLK", 1000);
	put_event(w, 3, "MISS", 500);
	put_event(w, 2, "CLK", 1000); /* would share a file */
	put_event(w, 32, "FAR", 1000);
	put_event(w, 4, "a/b", 1000);
	put_cpu(w, 0);
	put_user(w);
	put_image(w, 1);
	put_sample(w, 1, 0);
	put_sample(w, 1, 3);
	put_sample(w, 1, 2);
	run_words(f, w);
	expect_one(f,
		   "{root}/bin/sh/{dep}/{root}/bin/sh/CLK.1000.0.all.all.all",
		   1);
	expect_one(f,
		   "{root}/bin/sh/{dep}/{root}/bin/sh/MISS.500.0.all.all.all",
		   1);
	l = ledger_of(f);
	expect_lost(&l, "lost_bad_counter", 1);
	assert_int_equal(f->opd.stats.bad_records, 3);
	free_fixture(f);
	free(w);
}

static void a_second_stream_begins_anew(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();
	struct op_ledger l;

	(void)state;
	put_event(w, 0, "CLK", 1000);
	put_user(w);
	put_image(w, 1);
	put_begin(w);
	put_cpu(w, 0);
	put_user(w);
	put_image(w, 1); /* was named in the first stream only */
	put_sample(w, 1, 0);
	put_cookie(w, 1, "/bin/cat");
	put_sample(w, 2, 0);
	run_words(f, w);
	expect_one(f, "{root}/bin/cat/{dep}/{root}/bin/cat" ALL, 1);
	expect_one(f, "{root}/bin/cat/{dep}/{root}/bin/cat" ALL, 2);
	l = ledger_of(f);
	assert_int_equal(l.taken, 2);
	free_fixture(f);
	free(w);
}

static void names_that_cannot_be(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();
	struct op_ledger l;
	char longest[OP_PATH_MAX];

	(void)state;
	memset(longest, 'x', sizeof(longest));
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	put_cookie(w, 3, longest); /* whose sample file has a longer name */
	put_cookie(w, 4, "/a//b"); /* no kernel says that */
	put_cookie(w, 5, "vmlinux"); /* is the kernel's */
	put_cookie(w, 6, "/../../etc/passwd");
	put_cookie(w, 0, "/bin/true");
	put_user(w);
	for (uint64_t cookie = 3; cookie <= 6; cookie++) {
		put_image(w, cookie);
		put_sample(w, 1, 0);
	}
	run_words(f, w);
	l = ledger_of(f);
	expect_lost(&l, "lost_sample_file", 2);
	expect_lost(&l, "lost_no_image_name", 1);
	assert_int_equal(l.stored, 1);
	assert_int_equal(f->opd.stats.bad_records, 1);
	expect_one(
		f,
		"{root}/%2e%2e/%2e%2e/etc/passwd/{dep}/{root}/%2e%2e/%2e%2e/etc/passwd" ALL,
		1);
	free_fixture(f);
	free(w);
}

static void few_files_may_be_open(void **state)
{
	struct fixture *f = new_replay();
	struct words *w = new_world();

	(void)state;
	f->opd.sfiles.max_open = 8;
	f->opd.options.separate_thread = true;
	put_user(w);
	put_image(w, 1);
	for (int round = 0; round < 5; round++) {
		for (uint64_t tid = 100; tid < 150; tid++) {
			put_task(w, tid, tid, 1);
			put_sample(w, tid, 0);
			put_sample(w, tid, 0);
		}
	}
	run_words(f, w);
	assert_true(f->opd.sfiles.nr_open <= 8);
	assert_int_equal(
		count_at(
			f,
			"{root}/bin/sh/{dep}/{root}/bin/sh/TIMER.0.0.120.120.all",
			120),
		10);
	assert_int_equal(ledger_of(f).stored, 500);
	free_fixture(f);
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_separated),
		cmocka_unit_test(libraries_separated),
		cmocka_unit_test(kernel_separated),
		cmocka_unit_test(threads_and_cpus_separated),
		cmocka_unit_test(kernel_threads_have_no_application),
		cmocka_unit_test(ranges_that_overlap_are_cut),
		cmocka_unit_test(a_new_table_forgets_the_old_one),
		cmocka_unit_test(vmlinux_by_path),
		cmocka_unit_test(images_without_a_file),
		cmocka_unit_test(samples_without_context_are_lost),
		cmocka_unit_test(filtered_samples_are_a_cause),
		cmocka_unit_test(bad_records_make_the_context_unknown),
		cmocka_unit_test(records_may_grow),
		cmocka_unit_test(impossible_lengths_are_skipped),
		cmocka_unit_test(cut_samples),
		cmocka_unit_test(chunks_do_not_matter),
		cmocka_unit_test(callers_are_no_samples),
		cmocka_unit_test(ibs_records_are_samples),
		cmocka_unit_test(losses_of_the_stream),
		cmocka_unit_test(causes_without_end),
		cmocka_unit_test(events_of_the_stream),
		cmocka_unit_test(a_second_stream_begins_anew),
		cmocka_unit_test(names_that_cannot_be),
		cmocka_unit_test(few_files_may_be_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
