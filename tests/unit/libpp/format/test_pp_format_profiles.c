// SPDX-License-Identifier: GPL-2.0-or-later
/* What formats for other programs write of a report that is made by hand: names
 * that must be changed, lines that are not known, trees of odd shapes. That
 * these programs read them is for the scripts. */

#include "tests/unit/pp_report.h"

#include "libpp/tree/tree.h"

static const struct pp_format_options plain;

/* ---- callgrind ----------------------------------------------------------- */

TEST(callgrind_names_and_files)
{
	static const struct pp_format_options with_addresses = { .show_address =
									 true };
	static const uint64_t counts[][2] = { { 100, 3 }, { 0, 0 }, { 7, 0 } };
	static const struct pp_detail details[] = {
		{ .vma = 0x10, .counts = counts[0], .place = { "a.c", 5 } },
		{ .vma = 0x12, .counts = counts[1], .place = { "a.c", 6 } },
		{ .vma = 0x14, .counts = counts[2], .place = { "b\nh", 2 } },
		{ .vma = 0x16, .counts = counts[2], .place = { NULL, 0 } },
	};
	struct pp_stack_call calls[2], outer;
	struct made_report m;

	make_report(&m, SYMBOLS | TWO | ACCOUNT);
	m.classes[0].name = "E:1";
	m.classes[1].name = "E:1";
	m.symbols[0].details = details;
	m.symbols[0].nr_details = NR(details);
	m.symbols[0].name = "f\tg(a)";
	m.symbols[0].place = (struct pp_place){ "a.c", 4 };
	calls[0] = (struct pp_stack_call){ .callee = &m.symbols[1],
					   .place = { "b\nh", 3 },
					   .vma = 0x13,
					   .counts = counts[2] };
	calls[1] = (struct pp_stack_call){ .callee = &m.symbols[1],
					   .counts = counts[0] };
	m.symbols[0].stack_calls = calls;
	m.symbols[0].nr_stack_calls = NR(calls);
	outer = (struct pp_stack_call){ .callee = &m.symbols[0],
					.counts = counts[0] };
	m.report.stack_totals.outer = &outer;
	m.report.stack_totals.nr_outer = 1;
	m.report.symbols.known = m.symbols;
	m.report.symbols.nr_known = 3;
	written_must_be("head", "callgrind", &m.report, &plain, "desc: Samples",
			"\nob=", EXPECTED_ROW);
	written_must_be("lines", "callgrind", &m.report, &plain,
			"\nob=", "\nob=(2)\nfl=(1)\nfn=(2)\n",
			EXPECTED("callgrind-names-and-files"));
	written_must_be("addresses", "callgrind", &m.report, &with_addresses,
			"\nfl=(2)\nfn=(1)", "cob=", EXPECTED_ROW);
}

/* ---- Firefox ------------------------------------------------------------- */

static struct pp_frame frames[] = {
	{ .name = "all" },
	{ .name = "prog-7/8",
	  .image = "/bin/prog",
	  .is_apart = true,
	  .tgid = 7,
	  .tid = 8 },
	{ .name = "main", .image = "/bin/prog", .kind = PP_FRAME_APP },
	{ .name = "(below the threshold)", .kind = PP_FRAME_CUT },
	{ .name = "k", .image = "/vmlinux", .kind = PP_FRAME_KERNEL },
	{ .name = "other", .image = "/bin/other" },
};
static struct pp_tree_node nodes[] = {
	{ 0, 0, 0 }, { 0, 1, 0 }, { 1, 2, 0 }, { 2, 4, 0 },
	{ 1, 3, 0 }, { 0, 3, 0 }, { 0, 5, 0 },
};
static uint64_t self[] = { 0, 0, 5, 0, 30, 2, 4, 0, 1, 0, 6, 0, 9, 0 };
static uint64_t all[] = { 55, 2, 40, 2, 35, 2, 4, 0, 1, 0, 6, 0, 9, 0 };

TEST(firefox_threads)
{
	static const struct pp_tree tree = {
		.frames = frames,
		.nr_frames = NR(frames),
		.nodes = nodes,
		.nr_nodes = NR(nodes),
		.nr_columns = 2,
		.self = self,
		.all = all,
	};
	struct made_report m;

	make_report(&m, TWO);
	m.report.tree = &tree;
	m.report.cpu.timer_hz = 250;
	written_must_be("the root has samples of its own", "firefox", &m.report,
			&plain, "\"name\": \"prog-7/8 (cpu:0)\"",
			", \"frameTable\"", EXPECTED_ROW);
	written_must_be("what has no samples in the column is not there",
			"firefox", &m.report, &plain,
			"\"name\": \"prog-7/8 (cpu:12 and a long name)\"",
			", \"innerWindowID\"", EXPECTED("firefox-threads"));
	written_must_be("an application that is not kept apart", "firefox",
			&m.report, &plain, "\"processName\": \"other\"",
			", \"isMainThread\"", EXPECTED_ROW);
	written_must_be("strings are shared", "firefox", &m.report, &plain,
			"\"stringArray\"", "\n }", EXPECTED_ROW);
}

/* Frames of all kinds; libraries stand once, and what has no image has none. */
TEST(firefox_profile_is_whole)
{
	static struct pp_frame kinds[] = {
		{ .name = "all" },
		{ .name = "prog", .image = "/bin/prog" },
		{ .name = "main", .image = "/bin/prog", .kind = PP_FRAME_APP },
		{ .name = "f", .image = "/lib/x.so", .kind = PP_FRAME_LIBRARY },
		{ .name = "[anon]", .image = "anon", .kind = PP_FRAME_ANON },
		{ .name = "[truncated]", .kind = PP_FRAME_GAP },
		{ .name = "k", .image = "/vmlinux", .kind = PP_FRAME_KERNEL },
		{ .name = "other", .image = "/bin/other" },
		{ .name = "f", .image = "/lib/y.so", .kind = PP_FRAME_LIBRARY },
	};
	static struct pp_tree_node kind_nodes[] = {
		{ 0, 0, 0 }, { 0, 1, 0 }, { 1, 2, 0 }, { 2, 3, 0 },
		{ 3, 6, 0 }, { 1, 5, 0 }, { 5, 4, 0 }, { 0, 7, 0 },
		{ 7, 3, 0 }, { 7, 8, 0 }, { 7, 6, 0 },
	};
	static uint64_t kind_self[] = { 0, 0, 1, 2, 3, 0, 4, 0, 5, 0, 6 };
	static uint64_t kind_all[] = { 21, 10, 6, 5, 3, 4, 4, 11, 5, 0, 6 };
	static const struct pp_tree tree = {
		.frames = kinds,
		.nr_frames = NR(kinds),
		.nodes = kind_nodes,
		.nr_nodes = NR(kind_nodes),
		.nr_columns = 1,
		.self = kind_self,
		.all = kind_all,
	};
	struct op_ledger account = made_account();
	struct made_report m;

	account.stacks[OP_STACKS_WHOLE] = 90;
	account.stacks[OP_STACKS_BROKEN] = 3;
	account.nr_events = 4;
	account.events[0] = (struct op_ledger_event){
		.name = "A", .count = 500, .enabled = 1000, .running = 250
	};
	account.events[1] = (struct op_ledger_event){
		.name = "WHOLE", .count = 1, .enabled = 7, .running = 7
	};
	account.events[2] =
		(struct op_ledger_event){ .name = "NEVER", .count = 1 };
	account.events[3] = (struct op_ledger_event){
		.name = "B", .count = 70, .enabled = 1000, .running = 999
	};
	make_report(&m, 0);
	m.report.tree = &tree;
	m.report.account = &account;
	m.report.account_written = 1000;
	written_must_be("all of it", "firefox", &m.report, &plain, "{", "END",
			EXPECTED("firefox-profile-is-whole"));
	account.costs[OP_COST_TIME] = 60000000000;
	account.costs[OP_COST_CPUS] = 120000000000;
	account.costs[OP_COST_DAEMON] = 600000000;
	account.costs[OP_COST_LOWERED] = 12000000000;
	account.costs[OP_COST_BUDGET] = 10000;
	account.costs[OP_COST_DIVISOR] = 4;
	account.costs[OP_COST_RATE] = 1000;
	account.nr_events = 0;
	account.stacks[OP_STACKS_WHOLE] = account.stacks[OP_STACKS_BROKEN] = 0;
	written_must_be(
		"the rate was lowered", "firefox", &m.report, &plain,
		"\"extra\"", "\n }",
		"\"extra\": [{\"label\": \"Samples\", \"entries\": [{\"label\": \"Samples\", \"format\": \"string\", \"value\": \"1010 = 1000 + 10 (8 buffer_full, 2 no_mm); rate lowered to 250/s for 12 s of 60 s to stay within 1 % of each CPU; cost 0.50 %: each sample stands for several, intervals are wider\"}]}]");
}

/* Without applications the root is the only thread. */
TEST(firefox_without_applications)
{
	static struct pp_frame some[] = {
		{ .name = "all" },
		{ .name = "main", .image = "/bin/prog", .kind = PP_FRAME_APP },
		{ .name = "(below the threshold)", .kind = PP_FRAME_CUT },
	};
	static struct pp_tree_node some_nodes[] = { { 0, 0, 0 },
						    { 0, 1, 0 },
						    { 0, 2, 0 } };
	static uint64_t some_self[] = { 0, 3, 1 }, some_all[] = { 4, 3, 1 };
	static const struct pp_tree tree = {
		.frames = some,
		.nr_frames = NR(some),
		.nodes = some_nodes,
		.nr_nodes = NR(some_nodes),
		.nr_columns = 1,
		.self = some_self,
		.all = some_all,
	};
	struct made_report m;

	make_report(&m, 0);
	m.report.tree = &tree;
	written_must_be("one thread", "firefox", &m.report, &plain,
			"\"threads\"", ", \"nativeSymbols\"", EXPECTED_ROW);
}

/* Threads that are kept apart, and their main thread. */
TEST(firefox_threads_are_told_apart)
{
	static struct pp_frame some[] = {
		{ .name = "all" },
		{ .name = "p 7/7", .is_apart = true, .tgid = 7, .tid = 7 },
		{ .name = "p 7/8", .is_apart = true, .tgid = 7, .tid = 8 },
		{ .name = "p 9",
		  .image = "/bin/p",
		  .is_apart = true,
		  .tgid = 9,
		  .tid = OP_MANGLE_ALL },
		{ .name = "cgroup",
		  .is_apart = true,
		  .tgid = OP_MANGLE_ALL,
		  .tid = OP_MANGLE_ALL },
	};
	static struct pp_tree_node some_nodes[] = {
		{ 0, 0, 0 }, { 0, 1, 0 }, { 0, 2, 0 }, { 0, 3, 0 }, { 0, 4, 0 },
	};
	static uint64_t counts[] = { 10, 1, 2, 3, 4 };
	static const struct {
		const char *row, *from, *wanted;
	} rows[] = {
		{ "the main thread", "\"name\": \"p 7/7\"",
		  "\"name\": \"p 7/7\", \"pid\": \"7\", \"tid\": 7, \"isMainThread\": true" },
		{ "another thread", "\"name\": \"p 7/8\"",
		  "\"name\": \"p 7/8\", \"pid\": \"7\", \"tid\": 8, \"isMainThread\": false" },
		{ "a process", "\"processName\": \"p\"",
		  "\"processName\": \"p\", \"name\": \"p 9\", \"pid\": \"9\", \"tid\": 2, \"isMainThread\": true" },
		{ "neither", "\"processName\": \"cgroup\"",
		  "\"processName\": \"cgroup\", \"name\": \"cgroup\", \"pid\": \"oprofile-4\", \"tid\": 3, \"isMainThread\": true" },
	};
	static const struct pp_tree tree = {
		.frames = some,
		.nr_frames = NR(some),
		.nodes = some_nodes,
		.nr_nodes = NR(some_nodes),
		.nr_columns = 1,
		.self = counts,
		.all = counts,
	};
	struct made_report m;

	make_report(&m, 0);
	m.report.tree = &tree;
	for (size_t i = 0; i < NR(rows); i++)
		written_must_be(rows[i].row, "firefox", &m.report, &plain,
				rows[i].from, ", \"processStartupTime\"",
				rows[i].wanted);
}

/* ---- AutoFDO ------------------------------------------------------------- */

TEST(autofdo_lines)
{
	static const uint64_t counts[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256 };
	static const struct pp_code_frame hits[][3] = {
		/* name, declared, line, discriminator */
		{ { "f", 10, 12, 0 } },
		{ { "f", 10, 12, 6 } }, /* block 3 */
		{ { "f", 10, 8, 0x86 } }, /* a copy of block 3, before it */
		{ { "f", 10, 12, 7 } }, /* block 0 */
		{ { "f", 10, 12, 0xc6 } }, /* block 32 * 1 + 3 */
		{ { "f", 10, 0, 0 } }, /* of no line */
		{ { "f", 10, 12, 6 }, { "g", 3, 3, 0 } },
		{ { "f", 10, 12, 6 }, { "g", 3, 4, 0 }, { "h", 0, 4, 0 } },
		{ { "a b", 1, 1, 0 } },
	};
	struct pp_detail details[NR(hits)] = { { 0 } };
	struct made_report m;

	make_report(&m, SYMBOLS);
	for (size_t i = 0; i < NR(hits); i++) {
		details[i].vma = m.symbols[0].vma + i;
		details[i].counts = &counts[i];
		details[i].frames = hits[i];
		for (details[i].nr_frames = 1;
		     details[i].nr_frames < 3 &&
		     hits[i][details[i].nr_frames].name;)
			details[i].nr_frames++;
	}
	m.symbols[0].details = details;
	m.symbols[0].nr_details = 8;
	/* Names with blanks are none of the format. */
	m.symbols[1].raw_name = "a b";
	m.symbols[1].details = details + 8;
	m.symbols[1].nr_details = 1;
	written_must_be("lines", "autofdo", &m.report, &plain, "", "END",
			EXPECTED_ROW);
}
