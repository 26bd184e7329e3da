// SPDX-License-Identifier: GPL-2.0-or-later
/* What formats for other programs write of a report that is made by hand: names
 * that must be changed, lines that are not known, trees of odd shapes. That
 * these programs read them is for the scripts. */

#include "tests/unit/pp_report.h"

#include "libpp/tree.h"

static const struct pp_format_options plain;

/* ---- callgrind ----------------------------------------------------------- */

static void callgrind_names_and_files(void **state)
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

	(void)state;
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
	m.report.outer_calls = &outer;
	m.report.nr_outer_calls = 1;
	m.report.known = m.symbols;
	m.report.nr_known = 3;
	written_must_be(
		"head", "callgrind", &m.report, &plain, "desc: Samples",
		"\nob=",
		"desc: Samples: 1010 taken = 1000 stored + 10 lost (8 buffer_full, 2 no_mm)\n"
		"positions: line\n"
		"event: E_1 : E:1\n"
		"event: E_1_2 : E:1\n"
		"events: E_1 E_1_2\n"
		"summary: 1000 8\n");
	written_must_be("lines", "callgrind", &m.report, &plain,
			"\nob=", "\nob=(2)\nfl=(1)\nfn=(2)\n",
			"\nob=(1) /usr/bin/prog\nfl=(1) ?"
			"?"
			"?\nfn=(4) prog\n"
			"cfi=(2) a.c\ncfn=(1) f?g(a)\ncalls=103 4\n0 100 3\n"
			"\nob=(1)\nfl=(2)\nfn=(1)\n0 7 0\n5 100 3\n"
			"fi=(3) b?h\n2 7 0\n"
			"cob=(2) /lib/libc.so\ncfi=(1)\ncfn=(2) f<a&, \"b\">\n"
			"calls=7 0\n3 7 0\n"
			"fe=(2)\n"
			"cob=(2)\ncfi=(1)\ncfn=(2)\ncalls=103 0\n0 100 3\n");
	written_must_be("addresses", "callgrind", &m.report, &with_addresses,
			"\nfl=(2)\nfn=(1)", "cob=",
			"\nfl=(2)\nfn=(1)\n0x10 5 100 3\n"
			"fi=(3) b?h\n0x14 2 7 0\nfe=(2)\n0x16 0 7 0\n"
			"fi=(3)\n");
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

static void firefox_threads(void **state)
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

	(void)state;
	make_report(&m, TWO);
	m.report.tree = &tree;
	m.report.timer_hz = 250;
	written_must_be(
		"the root has samples of its own", "firefox", &m.report, &plain,
		"\"name\": \"prog-7/8 (cpu:0)\"", ", \"frameTable\"",
		"\"name\": \"prog-7/8 (cpu:0)\", \"pid\": \"7\", \"tid\": 8, "
		"\"isMainThread\": false, \"processStartupTime\": 0, "
		"\"processShutdownTime\": null, \"registerTime\": 0, "
		"\"unregisterTime\": null, \"pausedRanges\": [], "
		"\"samples\": {\"length\": 4, \"weightType\": \"samples\", "
		"\"stack\": [0, 1, 2, 3], \"weight\": [5, 30, 4, 1], "
		"\"timeDeltas\": [20, 120, 16, 4]}, "
		"\"stackTable\": {\"length\": 4, \"frame\": [0, 1, 2, 3], "
		"\"prefix\": [null, null, 1, null]}");
	written_must_be(
		"what has no samples in the column is not there", "firefox",
		&m.report, &plain,
		"\"name\": \"prog-7/8 (cpu:12 and a long name)\"",
		", \"innerWindowID\"",
		"\"name\": \"prog-7/8 (cpu:12 and a long name)\", "
		"\"pid\": \"7\", \"tid\": 8, "
		"\"isMainThread\": false, \"processStartupTime\": 0, "
		"\"processShutdownTime\": null, \"registerTime\": 0, "
		"\"unregisterTime\": null, \"pausedRanges\": [], "
		"\"samples\": {\"length\": 1, \"weightType\": \"samples\", "
		"\"stack\": [0], \"weight\": [2], \"timeDeltas\": [8]}, "
		"\"stackTable\": {\"length\": 1, \"frame\": [0], "
		"\"prefix\": [null]}, "
		"\"frameTable\": {\"length\": 1, \"func\": [0], "
		"\"category\": [1], \"subcategory\": [1], "
		"\"address\": [-1], \"inlineDepth\": [0], "
		"\"nativeSymbol\": [null]");
	written_must_be(
		"an application that is not kept apart", "firefox", &m.report,
		&plain, "\"processName\": \"other\"", ", \"isMainThread\"",
		"\"processName\": \"other\", \"name\": \"other (cpu:0)\", "
		"\"pid\": \"oprofile-6\", \"tid\": 3");
	written_must_be("strings are shared", "firefox", &m.report, &plain,
			"\"stringArray\"", "\n }",
			"\"stringArray\": [\"prog-7/8\", \"main\", \"k\", "
			"\"(below the threshold)\", \"prog\", \"vmlinux\", "
			"\"other\"]");
}

/* ---- AutoFDO ------------------------------------------------------------- */

static void autofdo_lines(void **state)
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

	(void)state;
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
			"f:255:1\n"
			" 2: 9\n"
			" 2.3: 2\n"
			" 2.3: g:192\n"
			"  0: 64\n"
			"  1: h:128\n"
			" 2.35: 16\n"
			" 65534.3: 4\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callgrind_names_and_files),
		cmocka_unit_test(firefox_threads),
		cmocka_unit_test(autofdo_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
