// SPDX-License-Identifier: GPL-2.0-or-later
/* What a source says, and the whole stream that the feed makes of it. */

#include "feed_rig.h"

#define VMLINUX                                                                \
	"kernel-range first 0xffffffff81000000 0xffffffff82000000 - \"vmlinux\"\n"
#define NOSUCH                                                                 \
	"kernel-range 0xffffffffc0010000 0xffffffffc0012000 - \"nosuch\"\n"
#define KERNEL                                                                 \
	VMLINUX "kernel-range 0xffffffffc0000000 0xffffffffc0001000 - \"ext4\"\n" NOSUCH
#define CODE(from, to, name)                                                   \
	"kernel-range code 0xffffffffc0" #from " 0xffffffffc0" #to             \
	" - \"" name "\"\n"
#define ANON "anon 0x7000 0x8000 \"anon\"\n"
#define MADE_NAME "cookie 9223372036854775809 2 0x0 0 0 - \"/77.jo\"\n"
#define MADE(key, counter)                                                     \
	"image 9223372036854775809\nsample " #key " " #counter "\n"
#define NAME(n) "cookie " #n " 0 0x0 0 10" #n " - \"/bin/p" #n "\"\n"
/* Without waiting for its file, which may hang. */
#define SLOW_NAME(n) "cookie " #n " 4 0x0 0 10" #n " - \"/bin/p" #n "\"\n"
#define NO_NAME(n) "cookie " #n " 0 0x0 0 0 - \"\"\n"

/* What is said before the first read comes behind the beginning. */
static const struct row rows[] = {
	{ "it_begins", NULL, "read; read", BEGIN },
	{ "a_sampled_kernel_is_told_at_once", "yes", "read", EXPECTED_ROW },
	{ "tasks_are_told_before_their_first_use", "tasks",
	  "comm 6 6 boss; comm 6 7 worker; in 6 0::/a; cpu 0; ctx 7 11; tgid 6;"
	  "image 11; user; sample 0x5 0; ctx 6 11; tgid 6; sample 0x6 0;"
	  "ctx 7 11; tgid 6; sample 0x7 0; read; comm 6 7 idle; ask; read",
	  "sees /bin/p11 of 6\n" BEGIN
	  "cpu 0\n" NAME(11) "task-cgroup 6 0 \"/a\"\n"
			     "task-name 6 6 \"boss\"\n"
			     "task-name 6 7 \"worker\"\n"
			     "ctx 7 11\n"
			     "tgid 6\n"
			     "image 11\n"
			     "user\n"
			     "sample 0x5 0\n"
			     "ctx 6 11\n"
			     "tgid 6\n"
			     "sample 0x6 0\n"
			     "ctx 7 11\n"
			     "tgid 6\n"
			     "sample 0x7 0\n"
			     "task-name 6 7 \"idle\"\n" },
	{ "another_program_has_another_name", "tasks",
	  "comm 6 6 sh; cpu 0; ctx 6 11; tgid 6; read; comm 6 6 make;"
	  "ctx 6 12; tgid 6; read; ctx 9 11; tgid 9; read",
	  "sees /bin/p11 of 6\n" BEGIN "cpu 0\n" NAME(
		  11) "task-cgroup 6 0 \"\"\n"
		      "task-name 6 6 \"sh\"\n"
		      "ctx 6 11\n"
		      "tgid 6\n"
		      "sees /bin/p12 of 6\n" NAME(12) "task-cgroup 6 0 \"\"\n"
						      "task-name 6 6 \"make\"\n"
						      "ctx 6 12\n"
						      "tgid 6\n"
						      "task-cgroup 9 0 \"\"\n"
						      "ctx 9 11\n"
						      "tgid 9\n" },
	{ "tasks_are_told_again", "tasks",
	  "comm 6 6 sh; in 6 0::/a; cpu 0; ctx 6 11; tgid 6; read; cpu 0;"
	  "ctx 6 11; tgid 6; read; again; cpu 0; ctx 6 11; tgid 6; read",
	  "sees /bin/p11 of 6\n" BEGIN
	  "cpu 0\n" NAME(11) "task-cgroup 6 0 \"/a\"\n"
			     "task-name 6 6 \"sh\"\n"
			     "ctx 6 11\n"
			     "tgid 6\n"
			     "cpu 0\n"
			     "ctx 6 11\n"
			     "tgid 6\n"
			     "cpu 0\n"
			     "task-cgroup 6 0 \"/a\"\n"
			     "task-name 6 6 \"sh\"\n"
			     "ctx 6 11\n"
			     "tgid 6\n" },
	{ "a_link_that_is_told_has_the_name_of_its_file", NULL,
	  "task-run-as 6 11 /bin/link; read",
	  "sees /bin/p11 of 0\n" BEGIN NAME(
		  11) "task-run-as 6 11 \"/bin/link\"\n" },
	{ "names_come_before_their_first_use", NULL,
	  "cpu 0; ctx 7 11; tgid 6; user; image 12; sample 0x5 0;"
	  "image 11; sample 0x6 0; image 12; sample 0x7 0; read; asked;"
	  "cpu 1; ctx 7 11; image 12; read; asked",
	  "sees /bin/p11 of 6\n"
	  "sees /bin/p12 of 6\n" BEGIN
	  "cpu 0\n" NAME(11) "ctx 7 11\n"
			     "tgid 6\n"
			     "user\n" NAME(12) "image 12\n"
					       "sample 0x5 0\n"
					       "image 11\n"
					       "sample 0x6 0\n"
					       "image 12\n"
					       "sample 0x7 0\n"
					       "asked 2 times\n"
					       "cpu 1\n"
					       "ctx 7 11\n"
					       "image 12\n"
					       "asked 2 times\n" },
	{ "a_file_comes_with_its_name", NULL, "ctx 7 0; tgid 6; image 19; read",
	  "sees /bin/p19 of 6 and its file\n" BEGIN "ctx 7 0\n"
	  "tgid 6\n" NAME(19) "image 19\n" },
	{ "no_cookie_has_no_name", NULL, "ctx 7 0; image 0; read; asked",
	  BEGIN "ctx 7 0\nimage 0\nasked 0 times\n" },
	{ "who_has_no_name_is_told_to_have_none", NULL,
	  "image 100; image 100; read; asked",
	  BEGIN NO_NAME(100) "image 100\nimage 100\nasked 1 times\n" },
	{ "a_name_may_be_late", NULL,
	  "busy 3; image 11; sample 0x5 0; read; cpu 1; read",
	  BEGIN "image 11\n"
		"sample 0x5 0\n"
		"sees /bin/p11 of 0\n" NAME(11) "cpu 1\n" },
	{ "and_comes_with_the_account_when_nothing_else_does", NULL,
	  "busy 3; image 11; read; ask; read",
	  BEGIN "image 11\nsees /bin/p11 of 0\n" NAME(11) },
	{ "or_at_the_end", NULL, "busy 3; image 11; end; read; read",
	  "sees /bin/p11 of 0\n" BEGIN "image 11\n" NAME(11) "the end\n"
							     "the end\n" },
	{ "at_the_end_no_name_comes_any_more", NULL,
	  "busy 99; image 11; end; read",
	  BEGIN "image 11\n" NO_NAME(11) "the end\n" },
	{ "a_name_waits_for_its_build_id", NULL,
	  "slow 3; image 11; sample 0x5 0; read; cpu 1; read",
	  BEGIN "image 11\n"
		"sample 0x5 0\n"
		"sees /bin/p11 of 0\n" NAME(11) "cpu 1\n" },
	{ "but_not_when_the_account_is_wanted", NULL,
	  "slow 99; image 11; read; log; ask; read; log",
	  BEGIN "image 11\nsees /bin/p11 of 0\n" SLOW_NAME(
		  11) "log: /bin/p11: the file has not responded yet: its build-id is not read\n" },
	{ "nor_at_the_end", NULL, "slow 99; image 11; end; read",
	  "sees /bin/p11 of 0\n" BEGIN "image 11\n" SLOW_NAME(11) "the end\n" },
	{ "the_images_of_a_stack_are_named", NULL,
	  "record 15 0 1 1 2 0 0x33 0x1000 0x2000 0 11 0x3000 0x4000 0 12; read",
	  "sees /bin/p11 of 0\n"
	  "sees /bin/p12 of 0\n" BEGIN NAME(11) NAME(
		  12) "user-stack 0x1 0x1 0x2 0x0 0x33 0x1000 0x2000 0x0 0xb 0x3000 0x4000 0x0 0xc\n" },
	{ "of_a_stack_that_is_cut_none_is", NULL,
	  "record 15 0 1 1 2 0 0x33 0x1000 0x2000 0 11 0x3000 0x4000 0; read; asked",
	  BEGIN
	  "user-stack 0x1 0x1 0x2 0x0 0x33 0x1000 0x2000 0x0 0xb 0x3000 0x4000 0x0\n"
	  "asked 0 times\n" },
	{ "the_kernel_is_told_before_its_first_sample", NULL,
	  "cpu 0; kernel; user; sample 0x5 0; kernel; sample 0x6 0;"
	  "sample 0x7 0; cpu 1; sample 0x8 0; read",
	  BEGIN "cpu 0\nkernel\nuser\nsample 0x5 0\nkernel\n" KERNEL ""
		"sample 0x6 0\nsample 0x7 0\ncpu 1\nsample 0x8 0\n" },
	{ "and_again_once_it_has_changed", NULL,
	  "kernel; sample 0x6 0; module-loaded; sample 0x7 0; sample 0x8 0;"
	  "read; changed; sample 0x9 0; user; read",
	  BEGIN "kernel\n" KERNEL "sample 0x6 0\nmodule-loaded\n"
		"" KERNEL "sample 0x7 0\nsample 0x8 0\n"
		"" KERNEL "sample 0x9 0\nuser\n" },
	/* In each table up to the notice that it has gone, or until other such
	 * code or a module is in its place; the account is not told of it. */
	{ "with_what_a_module_runs_once", NULL,
	  "kernel; sample 0x6 0; module-loaded 0x100 0x200 ext4; sample 0x110 0;"
	  "sample 0x1ff 0; module-loaded 0x300 0x400 nosuch; sample 0x110 0;"
	  "module-loaded 0x0 0x0 ext4; sample 0x110 0; read",
	  BEGIN "kernel\n" KERNEL "sample 0x6 0\n"
		"module-loaded 0x100 0x200 \"ext4\"\n" KERNEL
		"kernel-range init 0x100 0x200 - \"ext4\"\n"
		"sample 0x110 0\nsample 0x1ff 0\n"
		"module-loaded 0x300 0x400 \"nosuch\"\n" KERNEL
		"kernel-range init 0x100 0x200 - \"ext4\"\n"
		"kernel-range init 0x300 0x400 - \"nosuch\"\n"
		"sample 0x110 0\nmodule-loaded 0x0 0x0 \"ext4\"\n" KERNEL
		"kernel-range init 0x300 0x400 - \"nosuch\"\n"
		"sample 0x110 0\n" },
	{ "unless_something_else_is_there", NULL,
	  "kernel; module-loaded 0x100 0x200 a; module-loaded 0x1ff 0x300 b;"
	  "sample 0x110 0;"
	  "module-loaded 0xffffffffbffff000 0xffffffffc0000001 c; sample 0x6 0;"
	  "module-loaded 0xffffffffc0000001 0xffffffffc0000009 d; sample 0x6 0;"
	  "read",
	  BEGIN
	  "kernel\nmodule-loaded 0x100 0x200 \"a\"\n"
	  "module-loaded 0x1ff 0x300 \"b\"\n" KERNEL
	  "kernel-range init 0x1ff 0x300 - \"b\"\nsample 0x110 0\n"
	  "module-loaded 0xffffffffbffff000 0xffffffffc0000001 \"c\"\n" KERNEL
	  "kernel-range init 0x1ff 0x300 - \"b\"\nsample 0x6 0\n"
	  "module-loaded 0xffffffffc0000001 0xffffffffc0000009 \"d\"\n" KERNEL
	  "kernel-range init 0x1ff 0x300 - \"b\"\n"
	  "kernel-range init 0xffffffffc0000001 0xffffffffc0000009 - \"d\"\n"
	  "sample 0x6 0\n" },
	/* /proc/modules, read late, has it no more: up to the notice that it
	 * has gone, or that another one is there. */
	{ "with_the_code_of_a_module_that_has_gone_meanwhile", NULL,
	  "kernel; module-loaded 0x100 0x200 gone 0x1000 0x2000; sample 0x110 0;"
	  "module-loaded 0x0 0x0 gone 0x1000 0x2000; sample 0x1010 0;"
	  "sample 0x1fff 0; module-loaded 0x0 0x0 gone 0x0 0x0; sample 0x1010 0;"
	  "module-loaded 0x0 0x0 a 0x1000 0x2000;"
	  "module-loaded 0x0 0x0 b 0x1fff 0x2001; sample 0x1fff 0; read",
	  BEGIN "kernel\n"
		"module-loaded 0x100 0x200 \"gone\" 0x1000 0x2000\n" KERNEL
		"kernel-range 0x1000 0x2000 - \"gone\"\n"
		"kernel-range init 0x100 0x200 - \"gone\"\n"
		"sample 0x110 0\n"
		"module-loaded 0x0 0x0 \"gone\" 0x1000 0x2000\n" KERNEL
		"kernel-range 0x1000 0x2000 - \"gone\"\n"
		"sample 0x1010 0\nsample 0x1fff 0\n"
		"module-loaded 0x0 0x0 \"gone\" 0x0 0x0\n" KERNEL
		"sample 0x1010 0\n"
		"module-loaded 0x0 0x0 \"a\" 0x1000 0x2000\n"
		"module-loaded 0x0 0x0 \"b\" 0x1fff 0x2001\n" KERNEL
		"kernel-range 0x1fff 0x2001 - \"b\"\n"
		"sample 0x1fff 0\n" },
	{ "instead_of_one_that_is_still_to_come", NULL,
	  "kernel;"
	  "module-loaded 0x0 0x0 gone 0xffffffffbffff000 0xffffffffc0000001;"
	  "sample 0xffffffffc0000000 0;"
	  "module-loaded 0x0 0x0 ext4 0xffffffffc0000000 0xffffffffc0000010;"
	  "sample 0xffffffffc0000000 0; read",
	  BEGIN
	  "kernel\nmodule-loaded 0x0 0x0 \"gone\" 0xffffffffbffff000 "
	  "0xffffffffc0000001\n" VMLINUX NOSUCH
	  "kernel-range 0xffffffffbffff000 0xffffffffc0000001 - \"gone\"\n"
	  "sample 0xffffffffc0000000 0\nmodule-loaded 0x0 0x0 \"ext4\" "
	  "0xffffffffc0000000 0xffffffffc0000010\n" KERNEL
	  "sample 0xffffffffc0000000 0\n" },
	{ "and_not_what_cannot_be", NULL,
	  "kernel; module-loaded 0x200 0x100 a; record 6 0 0x1 0x2;"
	  "record 6 0 0x1 0x2 99; sample 0x6 0; read",
	  BEGIN "kernel\nmodule-loaded 0x200 0x100 \"a\"\n"
		"record 6 0 0x1 0x2\nrecord 6 0 0x1 0x2 0x63\n" KERNEL
		"sample 0x6 0\n" },
	{ "with_code_that_was_made_before", NULL,
	  "kallsyms 100200 bpf_b bpf; kallsyms 100100 bpf_a bpf;"
	  "kallsyms 100300 twice bpf; kallsyms 100300 twice bpf;"
	  "kallsyms 300000 ftrace_trampoline __builtin__ftrace;"
	  "kallsyms 20 bpf_in_ext4 bpf; kallsyms 400000 x bpfilter;"
	  "kernel; sample 0xffffffffc0100180 0; read",
	  BEGIN "kernel\n" KERNEL CODE(100100, 100200, "bpf_a") CODE(
		  100200, 100300, "bpf_b") CODE(100300, 200300, "twice")
		  CODE(300000, 400000,
		       "ftrace_trampoline") "sample 0xffffffffc0100180 0\n" },
	{ "and_since_with_some_patience", NULL,
	  "kernel; sample 0xffffffff81000010 0; read;"
	  "kallsyms 100100 bpf_a bpf; sample 0xffffffffc0100110 0; read;"
	  "later 1; sample 0xffffffffc0000110 0; sample 0xffffffff81000010 0;"
	  "sample 0xffffffffc0100110 0; read;"
	  "later 1; sample 0xffffffffc0100110 0; read;"
	  "kallsyms 100200 bpf_b bpf; later 1; sample 0xffffffffc0100210 0; read;"
	  "later 1; sample 0xffffffffc0100210 0; read",
	  BEGIN
	  "kernel\n" KERNEL "sample 0xffffffff81000010 0\n"
	  "sample 0xffffffffc0100110 0\n"
	  "sample 0xffffffffc0000110 0\nsample 0xffffffff81000010 0\n" CODE(
		  100100, 200100,
		  "bpf_a") "sample 0xffffffffc0100110 0\n"
			   "sample 0xffffffffc0100110 0\n"
			   "sample 0xffffffffc0100210 0\n" CODE(
				   100200, 200200,
				   "bpf_b") "sample 0xffffffffc0100210 0\n" },
	{ "what_the_source_tells_is_right", NULL,
	  "watched; kallsyms 100100 bpf_a bpf; kernel;"
	  "sample 0xffffffffc0100110 0; read; later 99; kallsyms 100100 old bpf;"
	  "sample 0xffffffffc0100110 0; read;"
	  "kernel-range code 0xffffffffc0100100 0xffffffffc0100200 - \"new\";"
	  "sample 0xffffffffc0100110 0; kallsyms 100180 inside bpf;"
	  "later 99; sample 0xffffffffc0100300 0; read",
	  BEGIN "kernel\n" KERNEL CODE(
		  100100, 200100,
		  "bpf_a") "sample 0xffffffffc0100110 0\n"
			   "sample 0xffffffffc0100110 0\n" CODE(
				   100100, 100200,
				   "new") "sample 0xffffffffc0100110 0\n"
					  "sample 0xffffffffc0100300 0\n" },
	{ "new_code_comes_before_samples_in_it", NULL,
	  "watched; kallsyms 100100 old bpf; kernel;"
	  "sample 0xffffffffc0100110 0; read; made 100100 80 new;"
	  "sample 0xffffffffc0100110 0; later 99; sample 0xffffffffc0100170 0;"
	  "read",
	  BEGIN "kernel\n" KERNEL
		  CODE(100100, 200100, "old") "sample 0xffffffffc0100110 0\n" CODE(
			  100100, 100180,
			  "new") "sample 0xffffffffc0100110 0\n"
				 "sample 0xffffffffc0100170 0\n" },
	{ "where_some_was_missed_all_is_looked_for_again", NULL,
	  "watched; kernel; sample 0xffffffff81000010 0; read;"
	  "made 100100 80 a; sample 0xffffffffc0100110 0; read;"
	  "kallsyms 100100 b bpf; missed; later 1;"
	  "sample 0xffffffffc0100110 0; read",
	  BEGIN "kernel\n" KERNEL "sample 0xffffffff81000010 0\n" CODE(
		  100100, 100180,
		  "a") "sample 0xffffffffc0100110 0\n" CODE(100100, 200100,
							    "b") "sample 0xffffffffc0100110 0\n" },
	{ "a_sample_of_a_feature_is_one_too", NULL,
	  "kernel; ibs-fetch 1 2 3 4 5; ibs-op 1 2 3 4 5 6 7 8 9; read",
	  BEGIN "kernel\n" KERNEL "ibs-fetch 0x1 0x2 0x3 0x4 0x5\n"
		"ibs-op 0x1 0x2 0x3 0x4 0x5 0x6 0x7 0x8 0x9\n" },
	{ "what_was_lost_is_told_once", NULL,
	  "read; account 10 3; ask; read; ask; read; account 20 5; ask; read;"
	  "account 21 5; read; ask; read",
	  BEGIN "lost 3 \"overflow\"\ntaken 10\n"
		"lost 2 \"overflow\"\ntaken 20\n"
		"taken 21\n" },
	{ "behind_what_there_is", NULL, "ask; account 2 0; sample 0x5 0; read",
	  BEGIN "sample 0x5 0\ntaken 2\n" },
	{ "once_what_waited_then_has_been_read", NULL,
	  "waits 32; flood; account 9 1; ask; read; ask; read",
	  BEGIN "sample 0x1 0\nsample 0x1 0\nlost 1 \"overflow\"\ntaken 9\n"
		"sample 0x1 0\n"
		"sample 0x1 0\nsample 0x1 0\nsample 0x1 0\n" },
	{ "and_at_the_end_unasked", NULL, "account 7 0; end; read; read",
	  BEGIN "taken 7\nthe end\nthe end\n" },
	{ "no_source_tells_what_is_not_its_own", NULL,
	  "stream 1 8; cpu 0; source 0 \"x\"; event 0 0x1 2 0x0 1 1 \"E\";"
	  "cookie 11 0 0x0 0 5 - \"/x\"; lost 5 \"cause\"; taken 9;"
	  "kernel-range first 0x1000 0x2000 - \"vmlinux\";"
	  "kernel-range 0x1000 0x2000 - \"ext4\";"
	  "kernel-range code 0x1000 0x2000 - \"bpf\"; cpu 1; read",
	  BEGIN "cpu 0\nkernel-range code 0x1000 0x2000 - \"bpf\"\ncpu 1\n" },
	{ "what_is_unknown_goes_through", NULL,
	  "record 700 1 5; weight 6; sample 0x5 0; raw 0xffffffffffffffff; read",
	  BEGIN "record 700 1 0x5\nweight 6\nsample 0x5 0\n"
		"raw 0xffffffffffffffff\n" },
	{ "code_that_a_program_made_has_an_image", NULL,
	  "map 7100 20 a; map 7200 20 b; cpu 0; ctx 77 11; tgid 77; user;"
	  "anon 0x7000 0x8000 \"anon\"; sample 0x101 0; sample 0x300 0;"
	  "sample 0x202 1; sample 0x102 0; image 12; sample 0x101 0; read",
	  "sees /bin/p11 of 77\n"
	  "sees /77.jo of 77\n"
	  "sees /bin/p12 of 77\n" BEGIN
	  "cpu 0\n" NAME(11) "ctx 77 11\ntgid 77\nuser\n" ANON MADE_NAME MADE(
		  0x1001, 0) ANON "sample 0x300 0\n" MADE(0x1032, 1)
		  ANON MADE(0x1002, 0)
			  ANON NAME(12) "image 12\nsample 0x101 0\n" },
	{ "but_not_of_a_process_that_is_not_told_or_in_the_kernel", NULL,
	  "map 7100 20 a; cpu 0; anon 0x7000 0x8000 \"anon\"; user;"
	  "sample 0x101 0; ctx 77 0; tgid 77; cpu 1; ctx 77 0; tgid 77; user;"
	  "sample 0x101 0; ctx 78 0; tgid 78; anon 0x7000 0x8000 \"anon\";"
	  "sample 0x101 0; read",
	  BEGIN "cpu 0\n" ANON "user\nsample 0x101 0\nctx 77 0\ntgid 77\n"
		"cpu 1\nctx 77 0\ntgid 77\nuser\nsample 0x101 0\n"
		"ctx 78 0\ntgid 78\n" ANON "sample 0x101 0\n" },
	/* What runs on another CPU is not told yet. */
	{ "nor_of_the_process_of_another_cpu", NULL,
	  "map 7100 20 a; cpu 0; ctx 77 0; tgid 77; cpu 1; user;"
	  "anon 0x7000 0x8000 \"anon\"; sample 0x101 0; read",
	  BEGIN "cpu 0\nctx 77 0\ntgid 77\ncpu 1\nuser\n" ANON
		"sample 0x101 0\n" },
	{ "a_program_that_is_another_has_other_code", NULL,
	  "map 7100 20 a; ctx 77 0; tgid 77; user;"
	  "anon 0x7000 0x8000 \"anon\"; sample 0x101 0; ctx 77 12; tgid 77;"
	  "sample 0x101 0; read",
	  "sees /77.jo of 77\nsees /bin/p12 of 77\n"
	  "sees /77.2.jo of 77\n" BEGIN
	  "ctx 77 0\ntgid 77\nuser\n" ANON MADE_NAME MADE(0x1001, 0) ANON NAME(
		  12) "ctx 77 12\ntgid 77\n"
		      "cookie 9223372036854775810 2 0x0 0 0 - \"/77.2.jo\"\n"
		      "image 9223372036854775810\nsample 0x1001 0\n" ANON },
	{ "reads_may_be_short", NULL,
	  "room 1; cpu 0; ctx 7 11; tgid 6; kernel; sample 0x5 0; sample 0x6 0;"
	  "image 12; account 5 1; end; read",
	  "sees /bin/p11 of 6\n"
	  "sees /bin/p12 of 6\n" BEGIN "cpu 0\n" NAME(
		  11) "ctx 7 11\n"
		      "tgid 6\nkernel\n" KERNEL
		      "sample 0x5 0\nsample 0x6 0\n" NAME(
			      12) "image 12\nlost 1 \"overflow\"\ntaken 5\nthe end\n" },
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

	fputs(BEGIN "image 11\n", out);
	for (int i = 1; i <= 100; i++) {
		strcat(script, "cpu 1;read;");
		fprintf(out, "%scpu 1\n", i == MAX_TRIES ? NO_NAME(11) : "");
	}
	fclose(out);
	row.wanted = wanted;
	check_row(&row, run_feed);
	free(wanted);
}
