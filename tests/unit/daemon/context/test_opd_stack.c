// SPDX-License-Identifier: GPL-2.0-or-later
/* Stacks in the stream: the sample, its call tree, and what is told of them. */

#include "tests/unit/daemon/opd_rows.h"

#define EVENT "TIMER.0.0.all.all.all"
#define BEGIN "stream 1 8; cookie 1 0 0 0 0 - /bin/app;"
#define START                                                                  \
	BEGIN "cookie 2 0 0 0 0 - /lib/lib.so;"                                \
	      "kernel-range first 0xffffffff81000000 0xffffffff81100000 -"     \
	      " vmlinux; cpu 0; ctx 12 1; tgid 12;"

/*
 * The kernel, called by the library, called by the program, by itself. A
 * caller's counter says nothing.
 */
#define DEEP                                                                   \
	"kernel; trace; sample 0xffffffff81000500 0;"                          \
	"sample 0xffffffff81000401 77;"                                        \
	"user; image 2; sample 0x301 0; image 1; sample 0x201 0;"              \
	"sample 0x101 0; trace-end 0;"

/* One call, ended in one of several ways. */
#define TWO "user; image 1; trace; sample 0x100 0; sample 0x201 0;"

#define ENDED(root, how)                                                       \
	"{root}/bin/app 0x100:1\n"                                             \
	"{root}/bin/app/{tree} 1: " root "+0 /bin/app+200 /bin/app+100\n"      \
	"taken 1 stored 1\n" how " 1 frames 2\ncallers 1"

/* The program, with a build of a library that it calls. */
#define BUILD(id)                                                              \
	BEGIN                                                                  \
	"cookie 5 0 0 0 0 " id " /lib/a.so; cpu 0; ctx 12 1; tgid 12;"         \
	"user; image 5; trace; sample 0x100 0; image 1; sample 0x201 0;"       \
	"trace-end 0;"

/*
 * Pieces of user stacks, whose code tells nothing of its frames: they are
 * walked by frame pointers, from @fp on. The stack is at 0x10000, its frames at
 * 0x10010 and 0x10030, and the callers are 0x1201 and 0x5301.
 */
#define MAPS " 0x1000 0x2000 0 1 0x5000 0x6000 0x300 2 0x7000 0x8000 0x40 0"
#define MEMORY " 0 0 0x10030 0x1201 0 0 0 0x5301"
#define X86(rcx, fp, pc) " 0 0 " rcx " 0 0 0 " fp " 0x10000 0 0 0 0 0 0 0 0 " pc
#define ARM(fp, pc)                                                            \
	" 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 " fp       \
	" 0 0x10000 " pc
#define ON_X86(rcx, fp, pc)                                                    \
	"user-stack 1 17 3 64" X86(rcx, fp, pc) MAPS MEMORY ";"
#define IN_KERNEL "kernel; trace; sample 0xffffffff81000500 0;"

/* Of each the options follow those that separate libraries. */
static const struct row rows[] = {
	{ "stacks", NULL, START DEEP DEEP, EXPECTED_ROW },
	{ "libraries_are_not_told_apart", "--separate-lib=0", START DEEP,
	  EXPECTED_ROW },
	{ "the_kernel_is_told_apart", "--separate-kernel=1", START DEEP,
	  EXPECTED_ROW },
	/* Each way to end, at the end of the stream or before more of it. */
	{ "ends_too_deep", NULL, START TWO "trace-end 1",
	  ENDED("[truncated]", "truncated") "\n" },
	{ "ends_without_unwind_data", NULL, START TWO "trace-end 2; cpu 1",
	  ENDED("[no unwind data]", "no_unwind_data") "\n" },
	{ "ends_with_a_short_stack", NULL, START TWO "trace-end 3",
	  ENDED("[truncated]", "truncated") "\n" },
	{ "ends_with_a_bad_stack", NULL, START TWO "trace-end 4; cpu 1",
	  ENDED("[broken stack]", "broken") "\n" },
	{ "ends_with_the_stream", NULL, START TWO,
	  ENDED("[truncated]", "truncated") "\n" },
	{ "ends_with_the_cpu", NULL, START TWO "cpu 1",
	  ENDED("[truncated]", "truncated") "\n" },
	{ "ends_with_a_trace", NULL, START TWO "trace",
	  ENDED("[truncated]", "truncated") "\n" },
	{ "ends_for_lack_of_memory", NULL, START TWO "trace-end 7; cpu 1",
	  ENDED("[no memory]", "no_memory") "\n" },
	{ "ends_with_no_reason", NULL, START TWO "trace-end 8",
	  ENDED("[truncated]", "truncated") " bad_records 1\n" },
	{ "offsets_beyond_32_bits", NULL,
	  START "user; image 1; trace; sample 0x100 0; sample 0x100000001 0;"
		"sample 0x100000000 0; sample 0x200 0; trace-end 0",
	  EXPECTED_ROW },
	{ "an_offset_may_be_0", NULL,
	  START "user; image 1; trace; sample 0x0 0; sample 0x0 0;"
		"sample 0x1 0; trace-end 0",
	  EXPECTED_ROW },
	{ "calls_without_stacks", NULL,
	  START "user; image 1; times 9; sample 0x100 0;"
		"call 0 7 2 0x200 1 0x100; call 0 2 2 0x200 1 0x100",
	  EXPECTED_ROW },
	{ "calls_of_images_that_nobody_named", NULL,
	  START "user; image 1; sample 0x100 0; call 0 3 9 0x200 1 0x100;"
		"call 0 1 1 0x100000000 1 0x100",
	  EXPECTED_ROW },
	{ "calls_that_make_no_sense", NULL,
	  START "call 0 0 2 0x200 1 0x100; call 9 1 2 0x200 1 0x100;"
		"cpu 0; ctx 12 1; tgid 12;" TWO "call 0 1 2 0x200 1 0x100",
	  ENDED("[truncated]", "truncated") " bad_records 3\n" },
	/* A caller that nobody has named takes the others along. */
	{ "unknown_callers", NULL,
	  START "user; image 1; trace; sample 0x100 0; image 9;"
		"sample 0x201 0; image 1; sample 0x301 0; sample 0x401 0;"
		"trace-end 0",
	  EXPECTED_ROW },
	{ "callers_in_no_image", NULL,
	  START "user; image 1; trace; sample 0x100 0; image 0;"
		"sample 0x201 0; image 1; sample 0x301 0; trace-end 0",
	  EXPECTED_ROW },
	/* Names that come later bring sample and stack, each once. */
	{ "names_that_come_later", NULL,
	  START "user; image 7; trace; sample 0x100 0; image 8;"
		"sample 0x201 0; trace-end 0; show;"
		"cookie 7 0 0 0 0 - /bin/late; show;"
		"cookie 8 0 0 0 0 - /lib/later.so",
	  EXPECTED("names-that-come-later") },
	{ "an_application_that_comes_later", NULL,
	  START "ctx 12 9; tgid 12;" TWO "trace-end 0; show;"
		"cookie 9 0 0 0 0 - /bin/late",
	  EXPECTED_ROW },
	/* A stack goes where its sample goes. */
	{ "lost_samples_have_no_stacks", NULL,
	  START "user; image 1; trace; sample 0x100 5; sample 0x201 0;"
		"trace-end 0; image 2; sample 0x1 0",
	  EXPECTED_ROW },
	/* Trees of two builds do not mix. */
	{ "another_build_of_the_callee", NULL, BUILD("01") "show;" BUILD("02"),
	  EXPECTED("another-build-of-the-callee") },
	{ "another_build_of_the_application", NULL,
	  "stream 1 8; cookie 5 0 0 0 0 01 /bin/app; cpu 0; ctx 12 5; tgid 12;"
	  "user; image 5; trace; sample 0x100 0; sample 0x201 0; trace-end 0;"
	  "stream 1 8; cookie 6 0 0 0 0 02 /bin/app; cpu 0; ctx 12 6; tgid 12;"
	  "user; image 6; trace; sample 0x100 0; sample 0x201 0; trace-end 0",
	  EXPECTED_ROW },
	/* Beside what an earlier daemon stored. */
	{ "another_build_after_a_restart", NULL,
	  "stream 1 8; cookie 5 0 0 0 0 01 /bin/app; cpu 0; ctx 12 5; tgid 12;"
	  "user; image 5; trace; sample 0x100 0; sample 0x201 0; trace-end 4;"
	  "restart;"
	  "stream 1 8; cookie 6 0 0 0 0 02 /bin/app; cpu 0; ctx 12 6; tgid 12;"
	  "user; image 6; trace; sample 0x100 0; sample 0x201 0; trace-end 0",
	  EXPECTED_ROW },
	/* A kernel thread has no application, also in a module. */
	{ "kernel_threads", NULL,
	  START "kernel-range 0xffffffff81200000 0xffffffff81300000 - ext4;"
		"ctx 7 0; tgid 7; kernel; trace; sample 0xffffffff81200010 0;"
		"sample 0xffffffff81000021 0; sample 0xffffffff80fffffb 0;"
		"trace-end 0",
	  EXPECTED_ROW },
	{ "code_that_a_module_runs_once", NULL,
	  START
	  "kernel-range init 0xffffffff81200000 0xffffffff81300000 - ext4;"
	  "ctx 7 0; tgid 7; kernel; trace; sample 0xffffffff81000021 0;"
	  "sample 0xffffffff81200010 0; trace-end 0",
	  EXPECTED_ROW },
	/* Memory of no file is as much apart as in flat files. */
	{ "anonymous_memory", "--separate-thread=1 --separate-cpu=1",
	  START "user; anon 0x7000 0x9000 jit; trace; sample 0x100 0;"
		"anon 0x17000 0x19000 glue; sample 0x201 0;"
		"sample 0x5000 0;" /* is not in there */
		"image 1; sample 0x301 0; trace-end 0",
	  EXPECTED_ROW },
	{ "anonymous_memory_to_its_ends", NULL,
	  START "user; anon 0x7000 0x9000 jit; trace; sample 0x1fff 0;"
		"sample 0x0 0; sample 0x2000 0; sample 0x2001 0; trace-end 0",
	  EXPECTED_ROW },
	/* A stack is as often there as its sample; callers use nothing up. */
	{ "stacks_taken_often", NULL,
	  START "times 20;" TWO "trace-end 0;" TWO "trace-end 0;"
		"times 300; trace; image 7; sample 0x1 0; sample 0x2 0;"
		"trace-end 0; show; cookie 7 0 0 0 0 - /lib/l.so",
	  EXPECTED("stacks-taken-often") },
	/* The trees tell what a ledger that was not written does not. */
	{ "a_killed_daemon", NULL,
	  START DEEP DEEP "user; image 1; trace; sample 0x100 0; trace-end 4;"
			  "restart; show;" START DEEP TWO "trace-end 4",
	  EXPECTED("a-killed-daemon") },
	{ "sessions", NULL,
	  START DEEP "save one; show;" DEEP "show; reset; show;" DEEP,
	  EXPECTED_ROW },
	/* The same name in two places, and in two processes. */
	{ "anonymous_memory_is_told_apart", NULL,
	  START "user; anon 0x7000 0x9000 jit; trace; sample 0x100 0;"
		"anon 0x17000 0x19000 jit; sample 0x201 0;"
		"anon 0x17000 0x1a000 jit; sample 0x301 0; trace-end 0;"
		"ctx 13 1; tgid 13; anon 0x7000 0x9000 jit; trace;"
		"sample 0x100 0; trace-end 0",
	  EXPECTED_ROW },
	/* What failed is tried again from time to time, not at each stack. */
	/* ---- user stacks that are unwound here ---- */
	{ "a_user_stack", NULL,
	  START "user; image 1; trace; sample 0x100 0;" ON_X86(
		  "0", "0x10010", "0x1100") "trace-end 0",
	  EXPECTED_ROW },
	{ "a_user_stack_of_arm64", NULL,
	  START
	  "user; image 1; trace; sample 0x100 0; user-stack 2 33 3 64" ARM(
		  "0x10010", "0x1100") MAPS MEMORY "; trace-end 0",
	  EXPECTED_ROW },
	/* An interrupt: the instruction is under way. */
	{ "a_user_stack_below_the_kernel", NULL,
	  START IN_KERNEL ON_X86("0", "0x10010", "0x1100") "trace-end 0",
	  EXPECTED_ROW },
	/* A system call: what is there is a return address. */
	{ "a_user_stack_below_a_system_call", NULL,
	  START IN_KERNEL ON_X86("0x1100", "0x10010", "0x1100") "trace-end 0",
	  EXPECTED_ROW },
	/* As register x2 of arm64 says nothing of the kind. */
	{ "a_user_stack_below_the_kernel_of_arm64", NULL,
	  START IN_KERNEL
	  "user-stack 2 33 3 64 0 0 0x1100"
	  " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0x10010 0 0x10000 0x1100" MAPS
		  MEMORY "; trace-end 0",
	  EXPECTED_ROW },
	{ "a_user_stack_in_anonymous_memory", NULL,
	  START IN_KERNEL ON_X86("0", "0x10010", "0x7100") "trace-end 0",
	  EXPECTED_ROW },
	{ "a_user_stack_at_the_ends_of_a_mapping", NULL,
	  START IN_KERNEL ON_X86("0", "0", "0x1000") "trace-end 0;" IN_KERNEL
		  ON_X86("0", "0", "0x1fff") "trace-end 0",
	  EXPECTED_ROW },
	{ "a_user_stack_in_no_mapping", NULL,
	  START IN_KERNEL ON_X86("0", "0x10010",
				 "0x2000") "trace-end 0;" IN_KERNEL
		  ON_X86("0", "0x10010", "0xfff") "trace-end 0",
	  EXPECTED_ROW },
	{ "a_user_stack_without_mappings", NULL,
	  START IN_KERNEL "user-stack 1 17 0 64" X86("0", "0x10010", "0x1100")
		  MEMORY "; trace-end 0",
	  EXPECTED_ROW },
	/* The unwinder asks for a file once only. */
	{ "a_user_stack_of_an_image_without_a_name", NULL,
	  START IN_KERNEL "user-stack 1 17 3 64" X86(
		  "0", "0x10010",
		  "0x1100") " 0x1000 0x2000 0 1 0x5000 0x6000 0 9 0x7000 0x8000 0 0" MEMORY
			    "; trace-end 0",
	  EXPECTED_ROW },
	/* Mappings may touch. */
	{ "mappings_side_by_side", NULL,
	  START IN_KERNEL "user-stack 1 17 3 64" X86(
		  "0", "0",
		  "0x2000") " 0x1000 0x2000 0 1 0x2000 0x3000 0x300 2 0x3000 0x4000 0 0" MEMORY
			    "; trace-end 0",
	  EXPECTED_ROW },
	{ "mappings_that_overlap", NULL,
	  START
	  "user; image 1; trace; sample 0x100 0; user-stack 1 17 2 64" X86(
		  "0", "0",
		  "0x1100") " 0x1000 0x2000 0 1 0x1fff 0x3000 0x300 2" MEMORY
			    "; trace-end 0",
	  EXPECTED_ROW },
	{ "registers_of_another_machine", NULL,
	  START
	  "user; image 1; trace; sample 0x100 0; user-stack 2 17 3 64" X86(
		  "0", "0", "0x1100") MAPS MEMORY
	  "; trace-end 0;"
	  "user; image 1; trace; sample 0x100 0; user-stack 1 33 3 64" ARM(
		  "0x10010", "0x1100") MAPS MEMORY "; trace-end 0",
	  EXPECTED_ROW },
	/* Code that a program made is its own, whatever is separated. */
	{ "anonymous_memory_without_libraries", "--separate-lib=0",
	  START "user; anon 0x7000 0x9000 jit; trace; sample 0x100 0;"
		"image 1; sample 0x201 0; trace-end 0; image 2; trace;"
		"sample 0x300 0; anon 0x7000 0x9000 jit; sample 0x101 0;"
		"trace-end 0;",
	  EXPECTED_ROW },
	/* ---- only some images are wanted ---- */
	{ "the_innermost_image_is_wanted", "--image=/lib/lib.so",
	  START "user; image 2; trace; sample 0x301 0; image 1; sample 0x101 0;"
		"trace-end 0; image 1; trace; sample 0x100 0; image 2;"
		"sample 0x201 0; trace-end 0;",
	  EXPECTED_ROW },
	{ "the_application_is_wanted", "--image=/bin/app",
	  START
	  "user; image 2; trace; sample 0x301 0; image 1; sample 0x101 0;"
	  "trace-end 0; ctx 13 2; tgid 13; trace; image 2; sample 0x100 0;"
	  "image 1; sample 0x201 0; trace-end 0;",
	  EXPECTED_ROW },
	{ "the_application_is_wanted_without_libraries",
	  "--image=/bin/app --separate-lib=0",
	  START "user; image 2; trace; sample 0x301 0; image 1; sample 0x101 0;"
		"trace-end 0; image 1; trace; sample 0x100 0; image 2;"
		"sample 0x201 0; trace-end 0;",
	  EXPECTED_ROW },
	/* ---- what is separated has to be known ---- */
	{ "a_thread_that_is_not_known", "--separate-thread=1",
	  BEGIN "cpu 0; ctx 12 1; user; image 1; trace; sample 0x100 0;"
		"sample 0x201 0; trace-end 0; tgid 11; image 1; trace;"
		"sample 0x100 0; sample 0x201 0; trace-end 0;",
	  EXPECTED_ROW },
	{ "a_cpu_that_is_not_known", "--separate-cpu=1",
	  BEGIN "ctx 12 1; tgid 12; user; image 1; trace; sample 0x100 0;"
		"sample 0x201 0; trace-end 0;",
	  EXPECTED_ROW },
	{ "a_thread_and_a_cpu", "--separate-thread=1 --separate-cpu=1",
	  BEGIN "cpu 3; ctx 12 1; tgid 11; user; image 1; trace;"
		"sample 0x100 0; sample 0x201 0; trace-end 0;",
	  EXPECTED_ROW },
	/* Of code that the kernel generated an address says nothing later. */
	{ "generated_code", NULL,
	  START "kernel-range code 0xffffffffa0000000 0xffffffffa0001000 -"
		" bpf_prog; kernel; trace; sample 0xffffffffa0000100 0;"
		"sample 0xffffffff81000201 0; trace-end 0; trace;"
		"sample 0xffffffff81000100 0; sample 0xffffffffa0000201 0;"
		"trace-end 0;",
	  EXPECTED_ROW },
	{ "kernel_code_in_no_range", NULL,
	  START "kernel; trace; sample 0xffffffff81000100 0;"
		"sample 0xffffffffb0000201 0; trace-end 0;",
	  EXPECTED_ROW },
	{ "a_tree_that_cannot_be_opened", NULL,
	  START "mkdir {root}/bin/app/{tree}/" EVENT ";" DEEP
		"show; rmdir {root}/bin/app/{tree}/" EVENT ";" DEEP
		"show; sync;" DEEP "sync;" DEEP,
	  EXPECTED("a-tree-that-cannot-be-opened") },
};

static void run_stacks(const struct row *row, FILE *out)
{
	struct row with = *row;
	char given[128];

	snprintf(given, sizeof(given), "--separate-lib=1 %s",
		 row->given ? row->given : "");
	with.given = given;
	run_stream(&with, "", out);
}

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_stacks);
}

/* The callers are samples of nothing, wherever the trace is cut. */
TEST(test_cut_anywhere)
{
	struct words *w = calloc(1, sizeof(*w));
	size_t start;

	assert_non_null(w);
	put_text(w, START);
	start = w->nr;
	put_text(w, DEEP);
	for (size_t nr = start; nr <= w->nr; nr++) {
		struct fixture *f = new_with("--separate-lib=1");
		struct op_ledger ledger;
		size_t used = opd_trans_run(&f->opd, w->word, nr);
		bool began = used >= start + 6;

		opd_trans_end(&f->opd, nr - used);
		ledger = ledger_of(f);
		assert_int_equal(ledger.stored, began);
		assert_int_equal(op_ledger_stacks_stored(&ledger), began);
		free_with(f);
	}
	free(w);
}

/* @nr frames of the image @cookie. */
static void put_frames(struct words *w, uint64_t cookie, uint64_t nr)
{
	put_user(w);
	put_image(w, cookie);
	put_text(w, "trace");
	for (uint64_t i = 0; i < nr; i++)
		put_sample(w, 0x1000 + i, 0);
	put_text(w, "trace-end 0");
}

/* The deepest stack that is whole, and those that are not. */
TEST(test_too_deep)
{
	for (uint64_t more = 0; more < 3; more++) {
		struct fixture *f = new_with("--separate-lib=1");
		struct words *w = calloc(1, sizeof(*w));
		struct op_ledger l;

		assert_non_null(w);
		put_text(w, START);
		put_frames(w, 1, OPD_STACK_MAX + more);
		run_words(f, w);
		l = ledger_of(f);
		assert_int_equal(l.stacks[OP_STACKS_WHOLE], !more);
		assert_int_equal(l.stacks[OP_STACKS_TRUNCATED], more > 0);
		assert_int_equal(l.stacks[OP_STACKS_FRAMES], OPD_STACK_MAX);
		assert_int_equal(f->opd.stats.frames, OPD_STACK_MAX + more - 1);
		free(w);
		free_with(f);
	}
}

/* What waits is bounded, and what does not fit is counted. */
TEST(test_deferred_frames_are_bounded)
{
	const unsigned int fit = OPD_MAX_DEFERRED_FRAMES / OPD_STACK_MAX;
	struct fixture *f = new_with("--separate-lib=1");
	struct words *w = calloc(1, sizeof(*w));
	struct op_ledger l;

	assert_non_null(w);
	put_text(w, START);
	opd_trans_run(&f->opd, w->word, w->nr);
	w->nr = 0;
	put_frames(w, 7, OPD_STACK_MAX);
	for (unsigned int i = 0; i < fit + 3; i++)
		opd_trans_run(&f->opd, w->word, w->nr);
	assert_int_equal(f->opd.defer.nr_stacks, fit);
	assert_int_equal(ledger_of(f).stacks[OP_STACKS_NOT_STORED], 3);
	w->nr = 0;
	put_text(w, "cookie 7 0 0 0 0 - /bin/late");
	run_words(f, w);
	l = ledger_of(f);
	assert_int_equal(l.stored, fit + 3);
	assert_int_equal(l.stacks[OP_STACKS_WHOLE], fit);
	assert_int_equal(f->opd.defer.nr_stacks, 0);
	assert_int_equal(f->opd.defer.nr_frames, 0);
	free(w);
	free_with(f);
}

/* What is in the tree of the application @name, as rows have it. */
static char *text_of_tree(struct fixture *f, const char *name)
{
	char path[8192], tree[256], *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	snprintf(tree, sizeof(tree), "{root}%s/{tree}/TIMER.0.0.all.all.all",
		 name);
	sample_path(f, tree, path, sizeof(path));
	show_file(out, path, name);
	assert_int_equal(fclose(out), 0);
	return text;
}

/* A tree that is damaged costs what was in it and no more. */
TEST(test_tree_that_vanishes)
{
	struct fixture *f = new_with("--separate-lib=1");
	struct words *w = calloc(1, sizeof(*w));
	char path[8192], *text;
	FILE *file;

	assert_non_null(w);
	put_text(w, START DEEP);
	run_words(f, w);
	sample_path(f, "{root}/bin/app/{tree}/TIMER.0.0.all.all.all", path,
		    sizeof(path));
	file = fopen(path, "w");
	assert_non_null(file);
	opd_sfiles_drop_all(&f->opd.store);
	fputs("no tree at all, but long enough to look like one", file);
	fclose(file);
	run_words(f, w);
	assert_true(has_samples(
		f, "{root}/bin/app/{tree}/TIMER.0.0.all.all.all.bad"));
	assert_int_equal(ledger_of(f).stored, 2);
	text = text_of_tree(f, "/bin/app");
	assert_string_equal(text, "/bin/app 1: /bin/app+100 /bin/app+200 "
				  "/lib/lib.so+300 vmlinux+400 vmlinux+500\n");
	free(text);
	free(w);
	free_with(f);
}

/* One stack through @nr libraries, at @offset in each. */
static void put_libraries(struct words *w, unsigned int nr, uint64_t offset)
{
	put_text(w, "user; trace");
	for (unsigned int i = 0; i < nr; i++) {
		put_image(w, 100 + i);
		put_sample(w, offset, 0);
	}
	put_text(w, "trace-end 0");
}

/* A tree knows many images, also after its file was deleted. */
TEST(test_many_images)
{
	const unsigned int nr = 150;
	struct fixture *f = new_with("--separate-lib=1");
	struct words *w = calloc(1, sizeof(*w));
	char line[64], path[8192], wanted[8192] = "/bin/app 2:", *text;
	size_t len = strlen(wanted);

	assert_non_null(w);
	put_text(w, START);
	for (unsigned int i = 0; i < nr; i++) {
		snprintf(line, sizeof(line), "cookie %u 0 0 0 0 - /lib/%u",
			 100 + i, i);
		put_text(w, line);
		len += (size_t)snprintf(wanted + len, sizeof(wanted) - len,
					" /lib/%u+%x", nr - 1 - i,
					i < nr - 1 ? 0x300 : 0x301);
	}
	snprintf(wanted + len, sizeof(wanted) - len, "\n");
	opd_trans_run(&f->opd, w->word, w->nr);
	w->nr = 0;
	put_libraries(w, nr, 0x201);
	opd_trans_run(&f->opd, w->word, w->nr);
	sample_path(f, "{root}/bin/app/{tree}/" EVENT, path, sizeof(path));
	assert_int_equal(unlink(path), 0);
	/* It is noticed when the file has to grow. */
	for (uint64_t i = 0; i < 100 && access(path, F_OK); i++) {
		w->nr = 0;
		put_libraries(w, nr, 0x1000 + i);
		opd_trans_run(&f->opd, w->word, w->nr);
	}
	for (int i = 0; i < 2; i++) {
		w->nr = 0;
		put_libraries(w, nr, 0x301);
		opd_trans_run(&f->opd, w->word, w->nr);
	}
	text = text_of_tree(f, "/bin/app");
	if (!strstr(text, wanted))
		fail_msg("not there: %s", wanted);
	free(text);
	free(w);
	free_with(f);
}

/* More applications than trees may be open: all stacks are there. */
TEST(test_many_trees)
{
	const unsigned int nr = OPD_MAX_TREES + 100;
	struct fixture *f = new_with("--separate-lib=1");
	struct words *w = calloc(1, sizeof(*w));
	char line[256], name[32], *text;

	assert_non_null(w);
	put_begin(w);
	opd_trans_run(&f->opd, w->word, w->nr);
	for (unsigned int i = 0; i < 2 * nr; i++) {
		unsigned int cookie = 1 + i % nr;

		w->nr = 0;
		snprintf(line, sizeof(line),
			 "cookie %u 0 0 0 0 - /bin/%u; cpu 0; ctx 5 %u; tgid 5",
			 cookie, cookie, cookie);
		put_text(w, line);
		put_frames(w, cookie, 2);
		opd_trans_run(&f->opd, w->word, w->nr);
		assert_int_equal(f->opd.store.trees.nr,
				 i < OPD_MAX_TREES ? i + 1 : OPD_MAX_TREES);
		assert_true(f->opd.store.trees.nr_nodes >=
			    2 * f->opd.store.trees.nr);
	}
	assert_int_equal(ledger_of(f).stacks[OP_STACKS_WHOLE], 2 * nr);
	for (unsigned int i = 1; i <= nr; i += 37) {
		snprintf(name, sizeof(name), "/bin/%u", i);
		snprintf(line, sizeof(line), "%s 2: %s+1000 %s+1000\n", name,
			 name, name);
		text = text_of_tree(f, name);
		assert_string_equal(text, line);
		free(text);
	}
	opd_trees_drop_all(&f->opd.store);
	assert_int_equal(f->opd.store.trees.nr, 0);
	assert_int_equal(f->opd.store.trees.nr_nodes, 0);
	free(w);
	free_with(f);
}
