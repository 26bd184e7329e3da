// SPDX-License-Identifier: GPL-2.0-or-later
/* What a source says, and the whole stream that the feed makes of it. */

#include "feed_rig.h"

/* What is said before the first read comes behind the beginning. */
static const struct row rows[] = {
	{ "it_begins", NULL, "read; read", EXPECTED_ROW },
	{ "a_sampled_kernel_is_told_at_once", "yes", "read", EXPECTED_ROW },
	{ "tasks_are_told_before_their_first_use", "tasks",
	  "comm 6 6 boss; comm 6 7 worker; in 6 0::/a; cpu 0; ctx 7 11; tgid 6;"
	  "image 11; user; sample 0x5 0; ctx 6 11; tgid 6; sample 0x6 0;"
	  "ctx 7 11; tgid 6; sample 0x7 0; read; comm 6 7 idle; ask; read",
	  EXPECTED_ROW },
	{ "another_program_has_another_name", "tasks",
	  "comm 6 6 sh; cpu 0; ctx 6 11; tgid 6; read; comm 6 6 make;"
	  "ctx 6 12; tgid 6; read; ctx 9 11; tgid 9; read",
	  EXPECTED_ROW },
	{ "tasks_are_told_again", "tasks",
	  "comm 6 6 sh; in 6 0::/a; cpu 0; ctx 6 11; tgid 6; read; cpu 0;"
	  "ctx 6 11; tgid 6; read; again; cpu 0; ctx 6 11; tgid 6; read",
	  EXPECTED_ROW },
	{ "a_link_that_is_told_has_the_name_of_its_file", NULL,
	  "task-run-as 6 11 /bin/link; read", EXPECTED_ROW },
	{ "names_come_before_their_first_use", NULL,
	  "cpu 0; ctx 7 11; tgid 6; user; image 12; sample 0x5 0;"
	  "image 11; sample 0x6 0; image 12; sample 0x7 0; read; asked;"
	  "cpu 1; ctx 7 11; image 12; read; asked",
	  EXPECTED_ROW },
	{ "a_file_comes_with_its_name", NULL, "ctx 7 0; tgid 6; image 19; read",
	  EXPECTED_ROW },
	{ "no_cookie_has_no_name", NULL, "ctx 7 0; image 0; read; asked",
	  EXPECTED_ROW },
	{ "who_has_no_name_is_told_to_have_none", NULL,
	  "image 100; image 100; read; asked", EXPECTED_ROW },
	{ "a_name_may_be_late", NULL,
	  "busy 3; image 11; sample 0x5 0; read; cpu 1; read", EXPECTED_ROW },
	{ "and_comes_with_the_account_when_nothing_else_does", NULL,
	  "busy 3; image 11; read; ask; read", EXPECTED_ROW },
	{ "or_at_the_end", NULL, "busy 3; image 11; end; read; read",
	  EXPECTED_ROW },
	{ "at_the_end_no_name_comes_any_more", NULL,
	  "busy 99; image 11; end; read", EXPECTED_ROW },
	{ "a_name_waits_for_its_build_id", NULL,
	  "slow 3; image 11; sample 0x5 0; read; cpu 1; read", EXPECTED_ROW },
	/* The name has the flag 4: nobody waits for the file, which may hang.
	 */
	{ "but_not_when_the_account_is_wanted", NULL,
	  "slow 99; image 11; read; log; ask; read; log", EXPECTED_ROW },
	{ "nor_at_the_end", NULL, "slow 99; image 11; end; read",
	  EXPECTED_ROW },
	{ "the_images_of_a_stack_are_named", NULL,
	  "record 15 0 1 1 2 0 0x33 0x1000 0x2000 0 11 0x3000 0x4000 0 12; read",
	  EXPECTED_ROW },
	{ "of_a_stack_that_is_cut_none_is", NULL,
	  "record 15 0 1 1 2 0 0x33 0x1000 0x2000 0 11 0x3000 0x4000 0; read; asked",
	  EXPECTED_ROW },
	{ "the_kernel_is_told_before_its_first_sample", NULL,
	  "cpu 0; kernel; user; sample 0x5 0; kernel; sample 0x6 0;"
	  "sample 0x7 0; cpu 1; sample 0x8 0; read",
	  EXPECTED_ROW },
	{ "and_again_once_it_has_changed", NULL,
	  "kernel; sample 0x6 0; module-loaded; sample 0x7 0; sample 0x8 0;"
	  "read; changed; sample 0x9 0; user; read",
	  EXPECTED_ROW },
	/* In each table up to the notice that it has gone, or until other such
	 * code or a module is in its place; the account is not told of it. */
	{ "with_what_a_module_runs_once", NULL,
	  "kernel; sample 0x6 0; module-loaded 0x100 0x200 ext4; sample 0x110 0;"
	  "sample 0x1ff 0; module-loaded 0x300 0x400 nosuch; sample 0x110 0;"
	  "module-loaded 0x0 0x0 ext4; sample 0x110 0; read",
	  EXPECTED_ROW },
	{ "unless_something_else_is_there", NULL,
	  "kernel; module-loaded 0x100 0x200 a; module-loaded 0x1ff 0x300 b;"
	  "sample 0x110 0;"
	  "module-loaded 0xffffffffbffff000 0xffffffffc0000001 c; sample 0x6 0;"
	  "module-loaded 0xffffffffc0000001 0xffffffffc0000009 d; sample 0x6 0;"
	  "read",
	  EXPECTED_ROW },
	/* /proc/modules, read late, has it no more: up to the notice that it
	 * has gone, or that another one is there. */
	{ "with_the_code_of_a_module_that_has_gone_meanwhile", NULL,
	  "kernel; module-loaded 0x100 0x200 gone 0x1000 0x2000; sample 0x110 0;"
	  "module-loaded 0x0 0x0 gone 0x1000 0x2000; sample 0x1010 0;"
	  "sample 0x1fff 0; module-loaded 0x0 0x0 gone 0x0 0x0; sample 0x1010 0;"
	  "module-loaded 0x0 0x0 a 0x1000 0x2000;"
	  "module-loaded 0x0 0x0 b 0x1fff 0x2001; sample 0x1fff 0; read",
	  EXPECTED_ROW },
	{ "instead_of_one_that_is_still_to_come", NULL,
	  "kernel;"
	  "module-loaded 0x0 0x0 gone 0xffffffffbffff000 0xffffffffc0000001;"
	  "sample 0xffffffffc0000000 0;"
	  "module-loaded 0x0 0x0 ext4 0xffffffffc0000000 0xffffffffc0000010;"
	  "sample 0xffffffffc0000000 0; read",
	  EXPECTED_ROW },
	{ "and_not_what_cannot_be", NULL,
	  "kernel; module-loaded 0x200 0x100 a; record 6 0 0x1 0x2;"
	  "record 6 0 0x1 0x2 99; sample 0x6 0; read",
	  EXPECTED_ROW },
	{ "with_code_that_was_made_before", NULL,
	  "kallsyms 100200 bpf_b bpf; kallsyms 100100 bpf_a bpf;"
	  "kallsyms 100300 twice bpf; kallsyms 100300 twice bpf;"
	  "kallsyms 300000 ftrace_trampoline __builtin__ftrace;"
	  "kallsyms 20 bpf_in_ext4 bpf; kallsyms 400000 x bpfilter;"
	  "kernel; sample 0xffffffffc0100180 0; read",
	  EXPECTED_ROW },
	{ "and_since_with_some_patience", NULL,
	  "kernel; sample 0xffffffff81000010 0; read;"
	  "kallsyms 100100 bpf_a bpf; sample 0xffffffffc0100110 0; read;"
	  "later 1; sample 0xffffffffc0000110 0; sample 0xffffffff81000010 0;"
	  "sample 0xffffffffc0100110 0; read;"
	  "later 1; sample 0xffffffffc0100110 0; read;"
	  "kallsyms 100200 bpf_b bpf; later 1; sample 0xffffffffc0100210 0; read;"
	  "later 1; sample 0xffffffffc0100210 0; read",
	  EXPECTED_ROW },
	{ "what_the_source_tells_is_right", NULL,
	  "watched; kallsyms 100100 bpf_a bpf; kernel;"
	  "sample 0xffffffffc0100110 0; read; later 99; kallsyms 100100 old bpf;"
	  "sample 0xffffffffc0100110 0; read;"
	  "kernel-range code 0xffffffffc0100100 0xffffffffc0100200 - \"new\";"
	  "sample 0xffffffffc0100110 0; kallsyms 100180 inside bpf;"
	  "later 99; sample 0xffffffffc0100300 0; read",
	  EXPECTED_ROW },
	{ "new_code_comes_before_samples_in_it", NULL,
	  "watched; kallsyms 100100 old bpf; kernel;"
	  "sample 0xffffffffc0100110 0; read; made 100100 80 new;"
	  "sample 0xffffffffc0100110 0; later 99; sample 0xffffffffc0100170 0;"
	  "read",
	  EXPECTED_ROW },
	{ "where_some_was_missed_all_is_looked_for_again", NULL,
	  "watched; kernel; sample 0xffffffff81000010 0; read;"
	  "made 100100 80 a; sample 0xffffffffc0100110 0; read;"
	  "kallsyms 100100 b bpf; missed; later 1;"
	  "sample 0xffffffffc0100110 0; read",
	  EXPECTED_ROW },
	{ "a_sample_of_a_feature_is_one_too", NULL,
	  "kernel; ibs-fetch 1 2 3 4 5; ibs-op 1 2 3 4 5 6 7 8 9; read",
	  EXPECTED_ROW },
	{ "what_was_lost_is_told_once", NULL,
	  "read; account 10 3; ask; read; ask; read; account 20 5; ask; read;"
	  "account 21 5; read; ask; read",
	  EXPECTED_ROW },
	{ "behind_what_there_is", NULL, "ask; account 2 0; sample 0x5 0; read",
	  EXPECTED_ROW },
	{ "once_what_waited_then_has_been_read", NULL,
	  "waits 32; flood; account 9 1; ask; read; ask; read", EXPECTED_ROW },
	{ "and_at_the_end_unasked", NULL, "account 7 0; end; read; read",
	  EXPECTED_ROW },
	{ "no_source_tells_what_is_not_its_own", NULL,
	  "stream 1 8; cpu 0; source 0 \"x\"; event 0 0x1 2 0x0 1 1 \"E\";"
	  "cookie 11 0 0x0 0 5 - \"/x\"; lost 5 \"cause\"; taken 9;"
	  "kernel-range first 0x1000 0x2000 - \"vmlinux\";"
	  "kernel-range 0x1000 0x2000 - \"ext4\";"
	  "kernel-range code 0x1000 0x2000 - \"bpf\"; cpu 1; read",
	  EXPECTED_ROW },
	{ "what_is_unknown_goes_through", NULL,
	  "record 700 1 5; weight 6; sample 0x5 0; raw 0xffffffffffffffff; read",
	  EXPECTED_ROW },
	{ "code_that_a_program_made_has_an_image", NULL,
	  "map 7100 20 a; map 7200 20 b; cpu 0; ctx 77 11; tgid 77; user;"
	  "anon 0x7000 0x8000 \"anon\"; sample 0x101 0; sample 0x300 0;"
	  "sample 0x202 1; sample 0x102 0; image 12; sample 0x101 0; read",
	  EXPECTED_ROW },
	{ "but_not_of_a_process_that_is_not_told_or_in_the_kernel", NULL,
	  "map 7100 20 a; cpu 0; anon 0x7000 0x8000 \"anon\"; user;"
	  "sample 0x101 0; ctx 77 0; tgid 77; cpu 1; ctx 77 0; tgid 77; user;"
	  "sample 0x101 0; ctx 78 0; tgid 78; anon 0x7000 0x8000 \"anon\";"
	  "sample 0x101 0; read",
	  EXPECTED_ROW },
	/* What runs on another CPU is not told yet. */
	{ "nor_of_the_process_of_another_cpu", NULL,
	  "map 7100 20 a; cpu 0; ctx 77 0; tgid 77; cpu 1; user;"
	  "anon 0x7000 0x8000 \"anon\"; sample 0x101 0; read",
	  EXPECTED_ROW },
	{ "a_program_that_is_another_has_other_code", NULL,
	  "map 7100 20 a; ctx 77 0; tgid 77; user;"
	  "anon 0x7000 0x8000 \"anon\"; sample 0x101 0; ctx 77 12; tgid 77;"
	  "sample 0x101 0; read",
	  EXPECTED_ROW },
	{ "reads_may_be_short", NULL,
	  "room 1; cpu 0; ctx 7 11; tgid 6; kernel; sample 0x5 0; sample 0x6 0;"
	  "image 12; account 5 1; end; read",
	  EXPECTED_ROW },
};

TEST_ROWS(test_row, rows)
{
	check_row(*state, run_feed);
}

/* Whoever is asked for and asked for has no name in the end. */
TEST(test_names_that_never_come)
{
	char script[32 + 100 * 12] = "busy 9999; image 11; read;", *wanted;
	struct row row = { "never", NULL, script, NULL };
	size_t len;
	FILE *out = open_memstream(&wanted, &len);

	fputs("stream\n"
	      "source 0x0 \"play/timer\"\n"
	      "event 0 0xfa 0 0x0 0 1 \"TIMER\"\n"
	      "image 11\n",
	      out);
	for (int i = 1; i <= 100; i++) {
		strcat(script, "cpu 1;read;");
		fprintf(out, "%scpu 1\n",
			i == MAX_TRIES ? "cookie 11 0 0x0 0 0 - \"\"\n" : "");
	}
	fclose(out);
	row.wanted = wanted;
	check_row(&row, run_feed);
	free(wanted);
}
