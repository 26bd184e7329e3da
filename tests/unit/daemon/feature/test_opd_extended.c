// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Features that derive counts of their own: IBS and weights. What IBS derives
 * from registers is compared with a model in tests/t/daemon/70-ibs.sh.
 */

#include "daemon/feature/opd_ibs_log.h"
#include "tests/unit/daemon/opd_rows.h"

#define TASK "cpu 3; ctx 12 1; tgid 11; image 1; user;"
#define WORLD "stream 1 8; cookie 1 0 0 0 0 - /bin/busy;" TASK
#define LOADS                                                                  \
	"stream 1 8; event 0 0xcd 1000 0x1 1 1 LOADS;"                         \
	"event 1 0x3c 5000 0x0 1 1 CYCLES;"

/* A load at @pc, 0x40 cycles to the data, 3 and 2 to retire. */
#define LOAD(pc)                                                               \
	"ibs-op " pc " 0x1000000007 0x1 0x2 0x2000000003 0x0 0x4000020001"     \
	" 0x7f0000001234 0x99;"
/* An op of family 15h, with a branch target behind 7 registers. */
#define OP(caps, data) "ibs-op 0x10 0x15000000" caps " 0x1 0x2 " data
/* A taken, mispredicted branch; one that is neither. */
#define BRANCH "0x3800000000"
#define QUIET "0x2000000000"

#define X17 "xxxxxxxxxxxxxxxxx"
#define X119 X17 X17 X17 X17 X17 X17 X17

#define ALL_OPS "--ext-feature=ibs:op:IBS_OP_ALL:64:1"

static const struct row rows[] = {
	/* ---- IBS: as any other sample, at any place ---- */
	{ "samples_anywhere",
	  "--separate-thread=1 --separate-cpu=1"
	  " --ext-feature=ibs:op:IBS_OP_LOAD,IBS_OP_TAG_TO_RETIRE,IBS_OP_COMP_TO_RET,:64:2",
	  "stream 1 8;"
	  "kernel-range first 0xffffffff81000000 0xffffffff82000000 - vmlinux;" TASK
		  LOAD("0x10") "show; cookie 1 0 0 0 0 - /bin/busy;"
			       "anon 0x7f0000000000 0x7f0000021000 anon;" LOAD(
				       "0x10") "kernel;" LOAD("0xffffffff81000040") "cat ibs_memaccess.log",
	  EXPECTED("samples-anywhere") },
	/* The last has no place for a target, the third did not retire. */
	{ "branches_are_logged", "--ext-feature=ibs:op:IBS_OP_ALL:64:4",
	  WORLD OP("27", BRANCH) " 0x0 0x0 0x0 0x0 0xcafe;" OP("27", QUIET) " 0x0 0x0 0x0 0x0 0xbeef;" OP(
		  "27",
		  "0x1800000000") " 0x0 0x0 0x0 0x0 0xdead;" OP("07",
								BRANCH) " 0x0 0x0 0x0 0x0; cat ibs_bta.log",
	  EXPECTED_ROW },
	/* A store to a place that has two addresses; none is linear. */
	{ "accesses_are_logged", "--ext-feature=ibs:op:IBS_OP_ALL:64:6",
	  WORLD OP("27", "0x0") " 0x0 0x2000060002 0x1234 0x5678 0x9;" OP("27", "0x0") " 0x0 0x2000040003 0x1234 0x5678 0x9;" OP(
		  "27",
		  "0x0") " 0x0 0x2000060003 0x4321 0x8765 0x9;" OP("27",
								   "0x0") " 0x0 0x2000060000 0x4321 0x8765 0x9;"
									  "cat ibs_memaccess.log; cat ibs_bta.log",
	  EXPECTED_ROW },
	/* Names may hold anything; the columns stay columns. */
	{ "names_in_logs", "--ext-feature=ibs:op:IBS_OP_ALL:64:2",
	  "stream 1 8; cookie 1 0 0 0 0 - \"/bin/a b\\x01\\x7fc\";" TASK LOAD(
		  "0x10") "cat ibs_memaccess.log",
	  EXPECTED_ROW },
	/* Registers that the capabilities promise must be there. */
	{ "whole_records",
	  "--ext-feature=ibs:fetch:IBS_FETCH_ALL:64:0|op:IBS_OP_ALL:64:1",
	  WORLD
	  "ibs-fetch 0x10 0x1000000007 0x0 0x0 0x0;"
	  "ibs-fetch 0x11 0x1500000207 0x0 0x0 0x0 0x0;" OP("07", "0x0") " 0x0 0x0 0x0 0x0;" OP(
		  "27",
		  "0x0") " 0x0 0x0 0x0 0x0 0x0;" OP("07",
						    "0x0") " 0x0 0x0 0x0 0x0 0x0;" /* one too many */
							   "ibs-op 0x12 0x1500000427 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0",
	  EXPECTED_ROW },
	{ "a_fetch_cut_short", "--ext-feature=ibs:fetch:IBS_FETCH_ALL:64:0",
	  WORLD "ibs-fetch 0x11 0x1500000207 0x0 0x0 0x0; image 1;"
		"ibs-fetch 0x10 0x1000000007 0x0 0x0 0x0;"
		"stats Nr. IBS records",
	  EXPECTED_ROW },
	{ "an_op_cut_short", ALL_OPS,
	  WORLD OP("27", "0x0") " 0x0 0x0 0x0 0x0;" TASK OP(
		  "427", "0x0") " 0x0 0x0 0x0 0x0 0x0;"
				"stats Nr. IBS records",
	  EXPECTED_ROW },
	/* Where the capability is, bit 38 says so, but for family 10h. */
	{ "ops_without_an_address", ALL_OPS,
	  WORLD OP("87", "0x4000000000") " 0x0 0x0 0x0 0x0;" OP("07", "0x4000000000") " 0x0 0x0 0x0 0x0;" OP(
		  "87",
		  "0x8000000000") " 0x0 0x0 0x0 0x0;"
				  "ibs-op 0x11 0x1000000087 0x1 0x2 0x4000000000 0x0 0x0 0x0 0x0;"
				  "stats Nr. IBS ops without",
	  EXPECTED_ROW },
	/* Bits 4 and 5 of DATA2 mean nothing there; others do. */
	{ "reserved_bits_of_family_12h",
	  "--ext-feature=ibs:op:IBS_OP_NB_REMOTE_ONLY,IBS_OP_NB_LOCAL_ONLY,IBS_OP_LOCKED:64:1",
	  WORLD "ibs-op 0x10 0x1200000007 0x0 0x0 0x0 0x31 0x8081 0x0 0x0;"
		"ibs-op 0x11 0x1400000007 0x0 0x0 0x0 0x31 0x8081 0x0 0x0;"
		"ibs-op 0x12 0x1500000007 0x0 0x0 0x0 0x31 0x8081 0x0 0x0",
	  EXPECTED_ROW },
	{ "reserved_bits_of_family_14h",
	  "--ext-feature=ibs:op:IBS_OP_L1_L2_DTLB_MISS,IBS_OP_MISALIGNED_DATA_ACC,IBS_OP_BANK_CONF_LOAD:64:1",
	  WORLD "ibs-op 0x10 0x1200000007 0x0 0x0 0x0 0x0 0x2030d 0x0 0x0;"
		"ibs-op 0x11 0x1400000007 0x0 0x0 0x0 0x0 0x2030d 0x0 0x0",
	  EXPECTED_ROW },
	{ "without_the_feature", NULL,
	  WORLD LOAD("0x10") "ibs-fetch 0x10 0x1000000007 0x0 0x0 0x0",
	  "taken 2 stored 0 lost_no_ibs_event 2\n" },
	{ "ibs_taken_often", ALL_OPS,
	  WORLD "times 50;" LOAD("0x10") LOAD("0x11"), EXPECTED_ROW },
	{ "ibs_taken_often_without_the_feature", NULL,
	  WORLD "times 50;" LOAD("0x10") LOAD("0x11"),
	  "taken 51 stored 0 lost_no_ibs_event 51\n" },
	/* Of the timer nothing is left: the hardware samples by itself. */
	{ "ibs_needs_no_timer", ALL_OPS, WORLD "sample 0x10 0",
	  "taken 1 stored 0 lost_bad_counter 1\n" },
	{ "weights_leave_the_timer", "--ext-feature=weight",
	  WORLD "weight 5; sample 0x10 0", EXPECTED_ROW },
	{ "statistics_of_ibs",
	  "--ext-feature=ibs:op:IBS_OP_DC_LOAD_LAT,IBS_OP_ALL:64:7|fetch:IBS_FETCH_COMPLETED:64:0",
	  WORLD LOAD("0x10") LOAD(
		  "0x10") "ibs-fetch 0x10 0x1000000007 0x500000000 0x0 0x0;"
			  "ibs-fetch 0x10 0x1000000007 0x4000500000000 0x0 0x0;"
			  "ibs-fetch 0x10 0x1000000007 0x8000500000000 0x0 0x0;"
			  "stats -- IBS",
	  EXPECTED("statistics-of-ibs") },
	{ "another_daemon_goes_on", ALL_OPS,
	  WORLD LOAD("0x10") "show; restart;" WORLD LOAD("0x10"),
	  EXPECTED_ROW },
	/* ---- weights ---- */
	{ "weights_are_passed_over", NULL,
	  LOADS "cookie 1 0 0 0 0 - /bin/busy;" TASK
		"weight 5; sample 0x10 0; weight 6; sample 0x10 1",
	  EXPECTED_ROW },
	{ "each_place_has_the_sum_of_its_weights", "--ext-feature=weight",
	  LOADS "cookie 1 0 0 0 0 - /bin/busy;" TASK
		"weight 5; sample 0x10 0; weight 6; sample 0x10 1;"
		"weight 7; sample 0x10 0; weight 8; sample 0x20 0;"
		"sample 0x20 0 x3; stats -- Weight",
	  EXPECTED("each-place-has-the-sum-of-its-weights") },
	{ "weights_of_samples_taken_often", "--ext-feature=weight",
	  LOADS "cookie 1 0 0 0 0 - /bin/busy;" TASK
		"weight 5; times 100; sample 0x10 0; times 2; weight 7;"
		"sample 0x10 0; weight 1; sample 0x20 0",
	  EXPECTED_ROW },
	/* One is for one sample, even if that waits for its name. */
	{ "only_the_next_sample", "--ext-feature=weight",
	  LOADS TASK "weight 5; sample 0x10 0; sample 0x10 0 x3;"
		     "weight 7; sample 0x10 9; sample 0x10 0;"
		     "weight 8;" TASK "sample 0x10 0; trace; weight 100;"
		     "sample 0x20 0; sample 0x30 0; trace-end 0;"
		     "sample 0x30 0; cookie 1 0 0 0 0 - /bin/busy;"
		     "weight 0; sample 0x30 0; stats -- Weight",
	  EXPECTED("only-the-next-sample") },
	/* The second name cannot be made longer. */
	{ "names_too_long_for_a_weight", "--ext-feature=weight",
	  "stream 1 8; cookie 1 0 0 0 0 - /bin/busy;"
	  "event 0 0xcd 1000 0x1 1 1 " X119 ";" TASK
	  "weight 5; sample 0x10 0; event 0 0xcd 1000 0x1 1 1 " X119 "x;" TASK
	  "weight 5; sample 0x10 0; stats -- Weight",
	  EXPECTED_ROW },
	{ "features_at_once", "--ext-feature=weight " ALL_OPS,
	  LOADS "cookie 1 0 0 0 0 - /bin/busy;" TASK
		"weight 5; sample 0x10 0;" LOAD("0x10") "sample 0x10 0;"
							"stats -- Weight",
	  EXPECTED("features-at-once") },
	/* The other way round, and with events that come later. */
	{ "features_the_other_way_round", ALL_OPS " --ext-feature=weight",
	  LOADS
	  "cookie 1 0 0 0 0 - /bin/busy;" TASK
	  "weight 5; sample 0x10 0;" LOAD("0x10") "sample 0x10 0; stats -- IBS",
	  EXPECTED("features-the-other-way-round") },
	/* ---- what files say of themselves ---- */
	{ "headers", ALL_OPS " --ext-feature=weight --separate-lib=1",
	  "stream 1 8 2400000 i386/core;"
	  "event 0 0xcd 1000 0x1 1 1 LOADS; event 1 250 0 0x0 1 1 TIMER;"
	  "cookie 1 0 0 0 1234 0102 /bin/busy; cookie 2 0 0 0 99 - /lib/x;"
	  "kernel-range first 0xffffffff81000000 0xffffffff82000000 0a vmlinux;" TASK
	  "weight 5; trace; sample 0x10 0; image 2; sample 0x21 0;"
	  "trace-end 0; image 1; sample 0x10 1;" LOAD(
		  "0x10") "anon 0x5000 0x6000 jit; sample 0x10 0; kernel;"
			  "sample 0xffffffff81000010 1; headers",
	  EXPECTED("headers") },
};

static void run_features(const struct row *row, FILE *out)
{
	run_stream(row, "", out);
}

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_features);
}

/* ---- logs that are full, or their disk is -----------------------------------
 */

#define LOG_LINE                                                               \
	"load 0x7f0000001234 - 64 0x10 all all all /bin/busy /bin/busy\n"
#define LOG_END "# records after 256 MiB are left out\n"

struct log_test {
	const char *name;
	size_t begins; /* bytes that are there before; 0: a full disk */
	size_t ends;
	const char *tail; /* of the file */
	const char *stats;
	unsigned int nr_told; /* lines in the daemon's log */
};

static const struct log_test log_tests[] = {
	/* Where the first line ends is the bound. */
	{ "nearly full", OPD_IBS_LOG_MAX - sizeof(LOG_LINE) + 1,
	  OPD_IBS_LOG_MAX + sizeof(LOG_END) - 1, LOG_END, "2\n", 1 },
	{ "full but for a byte", OPD_IBS_LOG_MAX - 1,
	  OPD_IBS_LOG_MAX - 2 + sizeof(LOG_LINE) + sizeof(LOG_END) - 1, LOG_END,
	  "2\n", 1 },
	{ "not quite full", OPD_IBS_LOG_MAX - 3 * sizeof(LOG_LINE) + 2,
	  OPD_IBS_LOG_MAX - 1, LOG_LINE, "0\n", 0 },
	{ "full", OPD_IBS_LOG_MAX, OPD_IBS_LOG_MAX, "", "3\n", 1 },
	{ "on a full disk", 0, 0, "", "3\n", 1 },
};

/* The last bytes of the file @path are @tail. */
static void check_tail(const char *path, size_t size, const char *tail)
{
	size_t len = strlen(tail);
	char text[256] = "";
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, size);
	assert_int_equal(pread(fd, text, len, (off_t)(size - len)), len);
	assert_string_equal(text, tail);
	close(fd);
}

static void check_log(const struct log_test *t)
{
	struct fixture *f = new_with("--ext-feature=ibs:op:IBS_OP_LOAD:64:2");
	struct words *w = calloc(1, sizeof(*w));
	char path[8192], *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(w);
	assert_non_null(out);
	snprintf(path, sizeof(path), "%s/ibs_memaccess.log",
		 f->opd.session.samples);
	/* It is opened at the start. */
	assert_int_equal(unlink(path), 0);
	if (t->begins) {
		close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		assert_int_equal(truncate(path, (off_t)t->begins), 0);
	} else {
		assert_int_equal(symlink("/dev/full", path), 0);
	}
	restart_with(f);
	put_text(w, WORLD LOAD("0x10") LOAD("0x10") LOAD("0x10"));
	run_words(f, w);
	opd_sfiles_sync(&f->opd.store);
	if (t->begins)
		check_tail(path, t->ends, t->tail);
	show_lines(f->opd.session.log, "20", out);
	show_statistics(f, "Nr. IBS memory accesses not logged: ", out);
	fclose(out);
	assert_non_null(strstr(text, "Nr. IBS memory accesses not logged: "));
	assert_int_equal(strncmp(strstr(text, "logged: ") + 8, t->stats, 2), 0);
	assert_int_equal(!!strstr(text,
				  "ibs_memaccess.log has 256 MiB and takes"),
			 t->begins && t->nr_told);
	assert_int_equal(
		!!strstr(
			text,
			"ibs_memaccess.log: cannot write, so the log ends here: No space left"),
		!t->begins);
	assert_int_equal(ledger_of(f).stored, 3);
	free(text);
	free(w);
	free_with(f);
}

TEST(test_full_logs)
{
	for (size_t i = 0; i < NR(log_tests); i++) {
		print_message("# %s\n", log_tests[i].name);
		check_log(&log_tests[i]);
	}
}

/* A file that was deleted is made again as soon as it has to grow; where it
 * cannot be, its counts are lost and those of other files are not. */
TEST(test_deleted_files)
{
	static const char name[] =
		"{root}/bin/busy/{dep}/{root}/bin/busy/IBS_OP_LOAD.64.2.all.all.all";
	static const char other[] =
		"{root}/bin/busy/{dep}/{root}/bin/busy/IBS_OP_ALL.64.2.all.all.all";
	struct words *w = calloc(1, sizeof(*w));
	char path[8192], line[512];

	assert_non_null(w);
	for (int has_folder = 0; has_folder < 2; has_folder++) {
		struct fixture *f = new_with(
			"--ext-feature=ibs:op:IBS_OP_LOAD,IBS_OP_ALL:64:2");
		uint64_t nr = 0;

		w->nr = 0;
		put_text(w, WORLD LOAD("0x10"));
		run_whole(f, w);
		assert_int_equal(count_at(f, name, 0x10), 1);
		sample_path(f, name, path, sizeof(path));
		assert_int_equal(unlink(path), 0);
		if (has_folder)
			assert_int_equal(mkdir(path, 0755), 0);
		for (int i = 0; i < 1000; i++) {
			snprintf(line, sizeof(line), LOAD("0x%x"), i);
			put_text(w, line);
		}
		run_words(f, w);
		for (uint64_t key = 0; key < 1000; key++) {
			nr += count_at(f, name, key);
			assert_int_equal(count_at(f, other, key),
					 1 + (key == 0x10));
		}
		if (has_folder)
			assert_int_equal(nr, 0);
		else
			assert_in_range(nr, 1, 999);
		assert_int_equal(count_at(f, name, 999), !has_folder);
		free_with(f);
	}
	free(w);
}
