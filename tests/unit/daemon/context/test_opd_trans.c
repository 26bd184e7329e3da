// SPDX-License-Identifier: GPL-2.0-or-later
/* From words of a stream to sample files. */

#include "tests/unit/daemon/opd_rows.h"

/* A shell that is in libc, one kernel, two modules. */
static const char world[] =
	"stream 1 8;"
	"cookie 1 0 0 0 0 - /bin/sh;"
	"cookie 2 0 0 0 0 - /lib/libc.so.6;"
	"kernel-range first 0xffffffff81000000 0xffffffff81001000 - vmlinux;"
	"kernel-range 0xffffffffc0000000 0xffffffffc0004000 - ext4;"
	"kernel-range 0xffffffffc0002000 0xffffffffc0003000 - vfat;"
	"cpu 1; ctx 7424 1; tgid 7423;";

/* Samples of each kind, the last one of a kernel thread. */
#define TOUR                                                                   \
	"cookie 3 2 0 0 0 - [vdso];"                                           \
	"user; image 1; sample 0x1000 0 x3; image 2; sample 0x1234 0;"         \
	"image 3; sample 0x9 0;"                                               \
	"anon 0x7f0000000000 0x7f0000001000 anon; sample 0x10 0;"              \
	"kernel; sample 0xffffffff81000020 0; sample 0xffffffffc0000030 0;"    \
	"sample 0xffffffffa0000040 0;"                                         \
	"ctx 12 0; tgid 12; sample 0xffffffffc0000034 0; sample 0xffffffff81000001 0;"

/* Threads of two processes that take turns, on one CPU and on another one. */
#define TURN(ctx)                                                              \
	ctx "user; image 2; sample 0x10 0;"                                    \
	    "kernel; sample 0xffffffff81000020 0; sample 0xffffffffc0000030 0;"
#define TURNS                                                                  \
	TURN("ctx 7424 1; tgid 7423;")                                         \
	TURN("ctx 7425 1; tgid 7423;") TURN("ctx 12 2; tgid 12;")
#define TURNS_ON_CPUS "cpu 1;" TURNS TURNS "cpu 2;" TURNS

/* Process 50 was run by a link, 51 by the file's own name; the link of 52 was
 * of the program that it ran before, and it has another one later. */
#define LINKS "task-run-as 50 1 /bin/dash; task-run-as 52 2 /bin/other;"
#define LINKED_TURNS                                                           \
	TURN("ctx 50 1; tgid 50;")                                             \
	TURN("ctx 51 1; tgid 51;")                                             \
	TURN("ctx 50 1; tgid 50;") TURN("ctx 52 1; tgid 52;")
#define LATER_LINK                                                             \
	"task-run-as 52 1 /bin/dash; user; image 1; sample 0x11 0;"            \
	"task-run-as 52 1 bin; task-run-as 52 1 /"

/* The head of a record of 70000 words. */
#define IMPOSSIBLE "raw 0xffffffffffffffff 0x1117000000005;"

static const struct row rows[] = {
	{ "nothing_separated", NULL, TOUR, EXPECTED_ROW },
	{ "libraries_separated", "--separate-lib=1", TOUR, EXPECTED_ROW },
	{ "kernel_separated", "--separate-kernel=1", TOUR,
	  EXPECTED("kernel-separated") },
	{ "threads_separated", "--separate-thread=1", TOUR,
	  EXPECTED("threads-separated") },
	{ "cpus_separated", "--separate-cpu=1", TOUR, EXPECTED_ROW },
	{ "all_separated",
	  "--separate-kernel=1 --separate-thread=1 --separate-cpu=1", TOUR,
	  EXPECTED("all-separated") },
	{ "vmlinux_by_path", "--vmlinux=/boot/no-vmlinux",
	  "kernel; sample 0xffffffff81000009 0", EXPECTED_ROW },
	/* The shell's own code and its anonymous memory. */
	{ "filtered_samples_are_a_cause", "--image=/bin/sh", TOUR,
	  EXPECTED_ROW },
	{ "modules_are_filtered_by_name", "--image=/bin/sh,ext4", TOUR,
	  EXPECTED_ROW },
	{ "ranges_that_overlap_are_cut", NULL,
	  "kernel; sample 0xffffffffc0001fff 0; sample 0xffffffffc0002000 0;"
	  "sample 0xffffffffc0003000 0; sample 0xffffffff80ffffff 0;"
	  "sample 0xffffffff81001000 0",
	  EXPECTED_ROW },
	{ "a_new_table_forgets_the_old_one", NULL,
	  "kernel; sample 0xffffffffc0000030 0;"
	  "kernel-range first 0xffffffffc0000000 0xffffffffc0001000 - xfs;"
	  "sample 0xffffffffc0000030 0; sample 0xffffffff81000000 0",
	  EXPECTED_ROW },
	{ "turns_of_tasks", NULL, TURNS_ON_CPUS, EXPECTED_ROW },
	{ "turns_of_applications", "--separate-lib=1 --separate-kernel=1",
	  TURNS_ON_CPUS, EXPECTED_ROW },
	{ "turns_of_threads", "--separate-thread=1", TURNS_ON_CPUS,
	  EXPECTED("turns-of-threads") },
	{ "turns_on_cpus", "--separate-cpu=1", TURNS_ON_CPUS, EXPECTED_ROW },
	{ "turns_of_users", "--separate-user=1",
	  TURN("ctx 5 1; tgid 5 1000;") TURN("ctx 6 1; tgid 6 1001;")
		  TURN("ctx 5 1; tgid 5 1000;") TURN("ctx 6 1; tgid 6 1001;")
			  TURN("ctx 7 1; tgid 7;"),
	  EXPECTED("turns-of-users") },
	{ "turns_of_programs_run_by_links",
	  "--separate-lib=1 --separate-kernel=1", LINKS LINKED_TURNS LATER_LINK,
	  EXPECTED_ROW },
	{ "turns_while_names_change", NULL,
	  TURNS "cookie 2 0 0 0 0 - /lib/new.so;"
		"kernel-range first 0xffffffff81000000 0xffffffff81001000 - "
		"vmlinux;"
		"kernel-range 0xffffffffc0000020 0xffffffffc0004000 - "
		"xfs;" TURNS,
	  EXPECTED_ROW },
	{ "samples_without_context_are_lost", "--separate-lib=1",
	  "sample 0x1 0;" /* neither kernel nor user */
	  "user; sample 0x2 0;" /* no image */
	  "image 0; sample 0x3 0;" /* in no image */
	  "image 99; sample 0x4 0;" /* a cookie that is never named */
	  "image 2; sample 0x5 0;"
	  "cpu 0; user; image 2; sample 0x6 0;" /* of no application */
	  "anon 0x1000 0x2000 anon; ctx 1 1; tgid 1;"
	  "sample 0x1000 0;" /* beyond its end */
	  "sample 0xfff 0; sample 0xfff 1; sample 0xfff 1000",
	  EXPECTED_ROW },
	{ "bad_records_make_the_context_unknown", NULL,
	  "user; image 1; sample 0x1 0;"
	  "record 3 0; sample 0x2 0;" /* an image without a cookie */
	  "user; image 1; ctx 18446744073709551614 1; sample 0x3 0;"
	  "cpu 1099511627776;"
	  "record 999 0 7 8; user; image 1; record 998 0; sample 0x1 0",
	  EXPECTED_ROW },
	{ "records_may_grow", NULL,
	  "record 5 0 1 2; record 3 0 1 5 6; sample 0x1 0", EXPECTED_ROW },
	/* The first sample is taken by nobody. */
	{ "impossible_lengths_are_skipped", NULL,
	  IMPOSSIBLE "user; sample 0x5 0; cpu 1; user; image 1; sample 0x6 0",
	  EXPECTED_ROW },
	{ "cut_samples", NULL,
	  "user; image 1; sample 0x1 0; raw 2; user; sample 0x3 0; raw 4",
	  EXPECTED_ROW },
	{ "callers_are_no_samples", NULL,
	  "user; image 1; trace; sample 0x1 0; sample 0x2 0; image 2;"
	  "sample 0x3 0; trace; sample 0x4 0; cpu 0; user; image 1;"
	  "sample 0x5 0",
	  EXPECTED_ROW },
	/* It holds for the next sample alone, whatever becomes of that. */
	{ "samples_taken_often", NULL,
	  "user; image 1; sample 0x10 0; times 1000; sample 0x10 0;"
	  "sample 0x10 0 x2; times 1; sample 0x20 0; times 5; times 7;"
	  "kernel; user; sample 0x20 0; times 0x1000000000000;"
	  "sample 0x30 0; times 30; sample 0x10 9; sample 0x10 0",
	  EXPECTED_ROW },
	{ "samples_taken_often_wait", NULL,
	  "times 3; user; image 7; sample 0x10 0; times 4; sample 0x20 0;"
	  "image 1; sample 0x10 0; show; cookie 7 0 0 0 0 - /bin/late; show;"
	  "times 5; image 9; sample 0x10 0; stream 1 8",
	  EXPECTED_ROW },
	{ "samples_taken_often_are_cut", NULL,
	  "user; image 1; times 6; raw 2; user; sample 0x10 0; times 8;"
	  "cpu 1; ctx 7424 1; tgid 7423; user; image 1; sample 0x10 0",
	  EXPECTED_ROW },
	{ "times_that_cannot_be", NULL,
	  "user; image 1; times 0; sample 0x10 0;"
	  "cpu 1; ctx 7424 1; tgid 7423; user; image 1;"
	  "times 0x1000000000001; sample 0x10 0;"
	  "cpu 1; ctx 7424 1; tgid 7423; user; image 1; sample 0x10 0",
	  EXPECTED_ROW },
	{ "ibs_records_are_samples", NULL,
	  "ibs-fetch 1 2 3 4 5; ibs-op 1 2 3 4 5 6 7 8 9",
	  "taken 2 stored 0 lost_no_ibs_event 2\n" },
	/* The third number cannot be, the last name neither. */
	{ "losses_of_the_stream", NULL,
	  "lost 5 event_lost_overflow; lost 2 event_lost_overflow;"
	  "lost 18446744073709551614 event_lost_overflow; lost 1 \"Bad Name\"",
	  EXPECTED_ROW },
	/* The third would share a file with the first. */
	{ "events_of_the_stream", NULL,
	  "event 0 0x76 1000 0 1 1 CLK; event 3 0x76 500 0 1 1 MISS;"
	  "event 2 0x76 1000 0 1 1 CLK; event 32 0x76 1000 0 1 1 FAR;"
	  "event 4 0x76 1000 0 1 1 a/b;"
	  "cpu 0; user; image 1; sample 0x1 0; sample 0x1 3; sample 0x1 2",
	  EXPECTED_ROW },
	/* The image was named in the first stream only. */
	{ "a_second_stream_begins_anew", NULL,
	  "event 0 0x76 1000 0 1 1 CLK; user; image 1; stream 1 8;"
	  "cpu 0; user; image 1; sample 0x1 0; cookie 1 0 0 0 0 - /bin/cat;"
	  "sample 0x2 0",
	  EXPECTED_ROW },
	{ "names_that_cannot_be", NULL,
	  "cookie 4 0 0 0 0 - /a//b;" /* no kernel says that */
	  "cookie 5 0 0 0 0 - vmlinux;" /* is the kernel's */
	  "cookie 6 0 0 0 0 - /../../etc/passwd; cookie 0 0 0 0 0 - /bin/true;"
	  "user; image 4; sample 0x1 0; image 5; sample 0x1 0;"
	  "image 6; sample 0x1 0",
	  EXPECTED_ROW },
	/* ---- code that the kernel makes ---- */
	{ "generated_code_has_names", NULL,
	  "kernel-range code 0xffffffffa0001000 0xffffffffa0001080 - bpf_a;"
	  "kernel; sample 0xffffffffa0000fff 0; sample 0xffffffffa0001000 0;"
	  "sample 0xffffffffa000107f 0; sample 0xffffffffa0001080 0;"
	  "sample 0xffffffff81000005 0",
	  EXPECTED_ROW },
	/* What starts in the new code has gone, what starts before ends there.
	 */
	{ "generated_code_comes_and_goes", NULL,
	  "kernel-range code 0xffffffffa0001000 0xffffffffa0001080 - bpf_a;"
	  "kernel-range code 0xffffffffa0001080 0xffffffffa0001100 - bpf_b;"
	  "kernel-range code 0xffffffffa0001100 0xffffffffa0001180 - bpf_c;"
	  "kernel; sample 0xffffffffa0001090 0;"
	  "kernel-range code 0xffffffffa0001080 0xffffffffa0001100 - bpf_d;"
	  "sample 0xffffffffa000107f 0; sample 0xffffffffa0001090 0;"
	  "sample 0xffffffffa0001100 0;"
	  "kernel-range code 0xffffffffa000107f 0xffffffffa0001101 - bpf_e;"
	  "sample 0xffffffffa0001000 0; sample 0xffffffffa0001090 0;"
	  "sample 0xffffffffa0001170 0",
	  EXPECTED_ROW },
	/* Keys that no other code of the module has; the runs of samples in
	 * between are those of the rest of the module and of the kernel. */
	{ "code_that_a_module_runs_once", NULL,
	  "kernel-range init 0xffffffffa0001000 0xffffffffa0001080 - ext4;"
	  "kernel; sample 0xffffffffa0001000 0 x2; sample 0xffffffffc0000030 0 x2;"
	  "sample 0xffffffffa000107f 0; sample 0xffffffffa0001080 0;"
	  "sample 0xffffffffa0000fff 0; sample 0xffffffff81000005 0;"
	  "sample 0xffffffffa0001005 0;"
	  "kernel-range first 0xffffffffc0000000 0xffffffffc0001000 - ext4;"
	  "sample 0xffffffffa0001005 0",
	  EXPECTED_ROW },
	/* A range of the kernel at that place stays. */
	{ "generated_code_in_a_module", NULL,
	  "kernel-range code 0xffffffffc0000000 0xffffffffc0000080 - bpf_a;"
	  "kernel; sample 0xffffffffc0000010 0; sample 0xffffffffc0000090 0",
	  EXPECTED_ROW },
	{ "ranges_that_cannot_be", NULL,
	  "kernel-range 0x2000 0x1000 - backwards;"
	  "kernel-range code 0x2000 0x2000 - empty;"
	  "kernel-range 0x1000 0x2000 - \"a/../b\"; kernel; sample 0x1500 0",
	  EXPECTED_ROW },
	/* Ranges are told by both of their ends, also beside the last one. */
	{ "samples_far_from_the_last", NULL,
	  "kernel; sample 0xffffffff81000020 0 x2; sample 0x7f000010 0;"
	  "sample 0xffffffff81000fff 0 x2; sample 0xffffffff81001000 0 x2;"
	  "sample 0xffffffff81000000 0 x2; sample 0xffffffff80ffffff 0;"
	  "user; anon 0x1000 0x3000 anon; sample 0x1fff 0 x2;"
	  "sample 0x2000 0 x2; sample 0x0 0 x2",
	  EXPECTED_ROW },
	/* ---- the log ---- */
	{ "statistics", NULL,
	  TOUR "trace; sample 0x1 0; sample 0x2 0; trace-end 1; sample 0x3 9;"
	       "lost 5 event_lost_overflow; lost 3 sample_lost_no_mm;"
	       "record 3 0; record 99 0; user; image 1; sample 0x7 0;"
	       "sample 0xffffffff81000001 0;" IMPOSSIBLE
	       "cpu 0; user; image 77; sample 0x1 0; stats -- OProfile;"
	       "raw 5",
	  EXPECTED("statistics") },
	{ "a_status", "--separate-thread=1 --source-reason=asked\tfor",
	  "lost 5 event_lost_overflow; user; image 77; sample 0x1 0; status",
	  EXPECTED("a-status") },
	{ "another_status",
	  "--separate-kernel=1 --separate-cpu=1 --vmlinux=/boot/no-vmlinux",
	  "user; image 1; trace; sample 0x1 0; sample 0x2 0; trace-end 1;"
	  "status",
	  EXPECTED("another-status") },
	{ "samples_are_logged", "--verbose=samples",
	  "user; image 2; sample 0x5 0 x2; sample 0x5 7; image 9; sample 0x6 0;"
	  "log; cookie 9 0 0 0 0 - /bin/late; log",
	  EXPECTED_ROW },
	/* Only the first of a kind, as there may be many. */
	{ "what_makes_no_sense_is_logged", NULL,
	  "record 3 0; record 5 0; record 3 0; record 98 0; record 99 0;" IMPOSSIBLE
	  "cpu 1;" IMPOSSIBLE "cpu 1; log",
	  EXPECTED_ROW },
	{ "names_are_logged", "--verbose=misc,sfile",
	  "log; cookie 7 0 0 0 0 - /bin/seven; cookie 8 0 0 0 0 - vmlinux;"
	  "user; image 7; sample 0x5 0; log",
	  EXPECTED_ROW },
};

static void run_trans(const struct row *row, FILE *out)
{
	run_stream(row, world, out);
}

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_trans);
}

/* However the words are cut into reads, the result is the same. */
TEST(chunks_do_not_matter)
{
	struct words *w = calloc(1, sizeof(*w));
	char *texts[40] = { NULL };

	assert_non_null(w);
	put_text(w, world);
	put_text(w, TOUR IMPOSSIBLE "raw 1; cpu 1; user; image 1;"
				    "sample 0x6 0");
	for (size_t step = 0; step < NR(texts); step++) {
		struct fixture *f = new_with(NULL);
		size_t at = 0, end = step ? 0 : w->nr, len;
		FILE *out = open_memstream(&texts[step], &len);

		do {
			end = end + step < w->nr ? end + step : w->nr;
			at += opd_trans_run(&f->opd, w->word + at, end - at);
		} while (end < w->nr);
		assert_int_equal(at, w->nr);
		show_all(f, out);
		fclose(out);
		free_with(f);
		assert_string_equal(texts[step], texts[0]);
		if (step)
			free(texts[step]);
	}
	free(texts[0]);
	free(w);
}

/* A name that just fits is too long for the name of its sample file. */
TEST(a_name_may_be_too_long)
{
	struct fixture *f = new_replay();
	struct words *w = calloc(1, sizeof(*w));
	char longest[OP_PATH_MAX];
	struct op_ledger l;

	assert_non_null(w);
	memset(longest, 'x', sizeof(longest));
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	put_begin(w);
	put_cookie(w, 3, longest);
	put_text(w, "cpu 0; user; image 3; sample 0x1 0");
	run_words(f, w);
	l = ledger_of(f);
	assert_int_equal(op_ledger_lost_by(&l, "lost_sample_file"), 1);
	free_fixture(f);
	free(w);
}

TEST(causes_without_end)
{
	struct fixture *f = new_replay();
	struct words *w = calloc(1, sizeof(*w));
	struct op_ledger l;

	assert_non_null(w);
	for (int i = 0; i < 500; i++) {
		char name[16];

		snprintf(name, sizeof(name), "cause_%d", i);
		put_lost(w, 1, name);
	}
	put_sample(w, 1, 0);
	run_words(f, w);
	l = ledger_of(f);
	assert_int_equal(l.taken, 501);
	assert_int_equal(op_ledger_lost_by(&l, "lost_other"),
			 500 - OP_LEDGER_MAX_CAUSES / 2);
	assert_int_equal(op_ledger_lost_by(&l, "lost_no_context"), 1);
	free_fixture(f);
	free(w);
}

TEST(few_files_may_be_open)
{
	struct fixture *f = new_replay();
	struct words *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	f->opd.store.sfiles.max_open = 8;
	f->opd.options.separate_thread = true;
	put_text(w, world);
	put_text(w, "user; image 1");
	for (int round = 0; round < 5; round++) {
		for (uint64_t tid = 100; tid < 150; tid++) {
			put_task(w, tid, tid, 1);
			put_sample(w, tid, 0);
			put_sample(w, tid, 0);
		}
	}
	run_words(f, w);
	assert_true(f->opd.store.sfiles.nr_open <= 8);
	for (uint64_t tid = 100; tid < 150; tid++) {
		char name[128];

		snprintf(
			name, sizeof(name),
			"{root}/bin/sh/{dep}/{root}/bin/sh/TIMER.0.0.%lu.%lu.all",
			tid, tid);
		assert_int_equal(count_at(f, name, tid), 10);
	}
	assert_int_equal(ledger_of(f).stored, 500);
	free_fixture(f);
	free(w);
}

/* What is no name in the stream is no name in sample files. */
TEST(cpu_types_are_names)
{
	static const char *const bad[] = { "",	    "a b", "a\tb", "\x7f",
					   "a\x80", " ",   "a " };
	struct fixture *f = new_replay();
	char longest[sizeof(f->opd.store.cpu_type) + 1];

	opd_store_set_cpu(&f->opd.store, "!i386/~core", 0);
	assert_string_equal(f->opd.store.cpu_type, "!i386/~core");
	for (size_t i = 0; i < NR(bad); i++) {
		strcpy(f->opd.store.cpu_type, "x");
		opd_store_set_cpu(&f->opd.store, bad[i], 0);
		assert_string_equal(f->opd.store.cpu_type, "unknown");
	}
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	opd_store_set_cpu(&f->opd.store, longest, 0);
	assert_string_equal(f->opd.store.cpu_type, "unknown");
	opd_store_set_cpu(&f->opd.store, longest + 1, 0);
	assert_string_equal(f->opd.store.cpu_type, longest + 1);
	free_fixture(f);
}
