// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports on small sessions: which samples are of which symbols, thresholds,
 * choices by name, calls, comparisons, what cannot be used. A row is a
 * session, a request and the report as comma-separated values.
 */

#include "tests/unit/pp_session.h"

#include "libdb/pack.h"
#include "libpp/format/format.h"
#include "libpp/images/kept_symbols.h"
#include "libpp/report/report.h"
#include "libpp/select/sample_list.h"

/* ---- reports ------------------------------------------------------------- */

#define MAX_FILES 8

struct row {
	const char *name;
	const char *files[MAX_FILES];
	struct pp_request request;
	const char *words;
	const char *text; /* the rows, then what was said */
};

static void write_report(FILE *out, const struct row *row,
			 struct pp_kept_symbols *kept)
{
	char *folder = getcwd(NULL, 0);
	struct text t;
	static const struct pp_format_options options = { .no_header = true };
	struct pp_request request = row->request;
	struct pp_spec_pair pair;
	struct op_session session;
	struct op_diag diag = { "" };
	struct pp_report *report;
	int err;
	const char *words[8] = { NULL };
	char copy[128];

	text_begin(&t);
	split_words(row->words, copy, words, NR(words));
	assert_int_equal(pp_spec_pair_init(&pair, words, NULL), 0);
	assert_int_equal(op_session_init(&session, ".", NULL), 0);
	request.select.session = &session;
	request.images.kept_symbols = kept;
	request.select.spec = &pair.spec;
	request.compare.spec = pair.is_diff ? &pair.old : NULL;
	assert_int_equal(pp_sort_init(&request.symbols.sort, NULL, NULL), 0);
	err = pp_report_new(&report, &request, &diag);
	assert_true(err <= 0);
	if (!err)
		pp_format_csv(t.out, report, &options);
	else
		fprintf(t.out, "%s\n", diag.text);
	/* Symbols, and what calls them, are known by number. */
	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];

		assert_true(entry->nr < report->symbols.nr_known);
		assert_string_equal(report->symbols.known[entry->nr].name,
				    entry->name);
		assert_int_equal(report->symbols.known[entry->nr].vma,
				 entry->vma);
	}
	for (size_t i = 0; i < report->classes.nr; i++)
		if (report->classes.classes[i].mounts)
			fprintf(t.out, "mounts of %s: %llu\n",
				report->classes.classes[i].name,
				(unsigned long long)report->classes.classes[i]
					.mounts);
	for (size_t i = 0; i < report->calls.nr; i++) {
		const struct pp_address_call *call = &report->calls.list[i];

		fprintf(t.out, "call 0x%llx>0x%llx %llu",
			(unsigned long long)call->caller_vma,
			(unsigned long long)call->callee_vma,
			(unsigned long long)call->count);
		if (report->classes.nr > 1)
			fprintf(t.out, " of %s",
				report->classes.classes[call->class_nr].name);
		if (report->symbols.many_apps)
			fprintf(t.out, " in %s and %s", call->caller->app,
				call->callee->app);
		fputc('\n', t.out);
	}
	for (size_t i = 0; i < report->messages.nr; i++)
		if (report->messages.list[i].kind == PP_WARNING)
			fprintf(t.out, "%s\n", report->messages.list[i].text);
	fclose(t.out);
	write_without(out, t.all, folder);
	free(folder);
	pp_report_free(report);
	pp_spec_pair_release(&pair);
}

/* Symbols that are kept for a second report change nothing in either. */
static void write_rows(const struct row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct pp_kept_symbols *kept = pp_kept_symbols_new();
		struct pp_kept_symbols *const each[] = { NULL, kept, kept };

		assert_non_null(kept);
		write_session(rows[i].files, MAX_FILES);
		for (size_t j = 0; j < NR(each); j++) {
			struct text t;

			write_report(text_begin(&t), &rows[i], each[j]);
			text_must_be(&t, rows[i].name, rows[i].text);
		}
		pp_kept_symbols_free(kept);
	}
}

/* What is not kept leaves nothing in the memory of what is: two pieces of it
 * are neighbours though a report was made in between. */
FOLDER_TEST(what_is_not_kept_is_forgotten)
{
	static const struct row row = {
		.files = { "current k k E 0=1", "current x x E 0=2",
			   "current x a E 0=4", "current x m E 0=8" },
		.request = { .symbols.wanted = true, .lines.wanted = true },
		.words = "",
	};
	static const struct pp_image_symbols any;
	struct pp_kept_symbols *kept = pp_kept_symbols_new();
	struct op_arena *arena;
	const char *before, *after;

	assert_non_null(kept);
	arena = pp_kept_symbols_arena(kept, &any);
	write_session(row.files, MAX_FILES);
	for (int round = 0; round < 5; round++) {
		struct text t;

		before = op_arena_alloc(arena, 1, 1);
		write_report(text_begin(&t), &row, kept);
		fclose(t.out);
		assert_non_null(strstr(t.all, "/bin/x: no symbols"));
		free(t.all);
		after = op_arena_alloc(arena, 1, 1);
		if (round)
			assert_int_equal(after - before, _Alignof(max_align_t));
	}
	pp_kept_symbols_free(kept);
}

#define SYMBOLS .symbols.wanted = true
#define DETAILS SYMBOLS, .symbols.details = true
#define CALLS SYMBOLS, .calls.wanted = true
#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

FOLDER_TEST(samples_are_of_symbols)
{
	/* clang-format off */
	const struct row rows[] = {
		{ "edges of symbols",
		  { "current k k E 0=1 ff=2 100=4 1ff=8 200=16 3ff=32 400=64 ffffffff=128" },
		  { SYMBOLS }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_weak,0x400,,,192,75.2941176\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x300,,,32,12.5490196\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x200,,,16,6.2745098\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,12,4.70588235\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,3,1.17647059\n" },
		{ "the last address of all",
		  { "current k k E ffffffffffffffff=1 150=2" }, { SYMBOLS }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,2,66.6666667\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,(no symbols),,,,1,33.3333333\n" },
		{ "addresses",
		  { "current k k E 110=1 108=2 204=3" }, { DETAILS }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,3,50\n"
		  "1,address,E:100,/vmlinux,/vmlinux,do_work,0x108,,,2,33.3333333\n"
		  "1,address,E:100,/vmlinux,/vmlinux,do_work,0x110,,,1,16.6666667\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x200,,,3,50\n"
		  "1,address,E:100,/vmlinux,/vmlinux,wait,0x204,,,3,50\n" },
		{ "several applications, one address",
		  { "current x k E 110=1 111=5", "current y k E 110=2", "current k k E 110=4" }, { DETAILS }, "",
		  "1,symbol,E:100,/bin/x,/vmlinux,do_work,0x100,,,6,50\n"
		  "1,address,E:100,/bin/x,/vmlinux,do_work,0x110,,,1,8.33333333\n"
		  "1,address,E:100,/bin/x,/vmlinux,do_work,0x111,,,5,41.6666667\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,4,33.3333333\n"
		  "1,address,E:100,/vmlinux,/vmlinux,do_work,0x110,,,4,33.3333333\n"
		  "1,symbol,E:100,/bin/y,/vmlinux,do_work,0x100,,,2,16.6666667\n"
		  "1,address,E:100,/bin/y,/vmlinux,do_work,0x110,,,2,16.6666667\n" },
		{ "merged applications",
		  { "current x k E 110=1", "current y k E 110=2" }, { DETAILS, .select.merge = PP_MERGE_LIB }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,3,100\n"
		  "1,address,E:100,/vmlinux,/vmlinux,do_work,0x110,,,3,100\n" },
		{ "two events at one address",
		  { "current x k E 110=1", "current x k F 110=2 111=3" }, { DETAILS }, "",
		  "1,symbol,E:100,/bin/x,/vmlinux,do_work,0x100,,,1,100\n"
		  "1,symbol,F:100,/bin/x,/vmlinux,do_work,0x100,,,5,100\n"
		  "1,address,E:100,/bin/x,/vmlinux,do_work,0x110,,,1,100\n"
		  "1,address,F:100,/bin/x,/vmlinux,do_work,0x110,,,2,40\n"
		  "1,address,F:100,/bin/x,/vmlinux,do_work,0x111,,,3,60\n" },
		{ "anonymous memory",
		  { "current x a E 10=1 20=2" }, { DETAILS }, "",
		  "1,symbol,E:100,/bin/x,anon (tgid:7 range:0x1000-0x2000),anon (tgid:7 range:0x1000-0x2000),,,,3,100\n"
		  "1,address,E:100,/bin/x,anon (tgid:7 range:0x1000-0x2000),anon (tgid:7 range:0x1000-0x2000),0x1010,,,1,33.3333333\n"
		  "1,address,E:100,/bin/x,anon (tgid:7 range:0x1000-0x2000),anon (tgid:7 range:0x1000-0x2000),0x1020,,,2,66.6666667\n" },
		{ "no binary", { "current x x E 10=1 20=2" }, { DETAILS }, "",
		  "1,symbol,E:100,/bin/x,/bin/x,/bin/x,,,,3,100\n"
		  "1,address,E:100,/bin/x,/bin/x,/bin/x,0x10,,,1,33.3333333\n"
		  "1,address,E:100,/bin/x,/bin/x,/bin/x,0x20,,,2,66.6666667\n"
		  "/bin/x: no symbols: not found; give its folder with --image-path or --root\n" },
		{ "the largest counts",
		  { "current k k E 110=18446744073709551615 120=5" }, { SYMBOLS }, "", "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,18446744073709551615,100\n" },
		{ "applications",
		  { "current x x E 1=1", "current y y E 1=2", "current y k E 1=3", "current a a E 1=5", "current x k E 1=4" },
		  { 0 }, "",
		  "1,image,E:100,/bin/x,/vmlinux,,,,,4,26.6666667\n"
		  "1,image,E:100,/bin/x,/bin/x,,,,,1,6.66666667\n"
		  "1,image,E:100,/bin/y,/vmlinux,,,,,3,20\n"
		  "1,image,E:100,/bin/y,/bin/y,,,,,2,13.3333333\n"
		  "1,image,E:100,anon (tgid:7 range:0x1000-0x2000),anon (tgid:7 range:0x1000-0x2000),,,,,5,33.3333333\n" },
		{ "applications, reversed",
		  { "current x x E 1=1", "current y y E 1=2", "current y k E 1=3", "current x k E 1=4" },
		  { .symbols.sort.reverse = true }, "",
		  "1,image,E:100,/bin/x,/bin/x,,,,,1,10\n"
		  "1,image,E:100,/bin/x,/vmlinux,,,,,4,40\n"
		  "1,image,E:100,/bin/y,/bin/y,,,,,2,20\n"
		  "1,image,E:100,/bin/y,/vmlinux,,,,,3,30\n" },
		{ "applications themselves",
		  { "current x x E 1=1", "current y k E 1=3" }, { .select.exclude_dependent = true }, "", "1,image,E:100,/bin/x,/bin/x,,,,,1,100\n" },
		{ "none of them",
		  { "current y k E 1=3" }, { .select.exclude_dependent = true }, "", "no samples in the applications themselves; leave out --exclude-dependent\n" },
	};
	/* clang-format on */

	write_rows(rows, NR(rows));
}

FOLDER_TEST(some_of_it_is_chosen)
{
	/* clang-format off */
	const struct row rows[] = {
		{ "at the threshold", { "current k k E 0=90 100=9 200=1" }, { SYMBOLS, .threshold = 9 }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,90,90\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,9,9\n" },
		{ "above it", { "current k k E 0=90 100=9 200=1" }, { SYMBOLS, .threshold = 9.1 }, "", "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,90,90\n" },
		{ "in one of two columns", { "current k k E 0=99 100=1", "current k k F 0=1 100=99" }, { SYMBOLS, .threshold = 50 }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,99,99\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,_stext,0x0,,,1,1\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,1,1\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,do_work,0x100,,,99,99\n" },
		{ "applications at the threshold", { "current x x E 0=90", "current y y E 0=10" }, { .threshold = 10 }, "",
		  "1,image,E:100,/bin/x,/bin/x,,,,,90,90\n"
		  "1,image,E:100,/bin/y,/bin/y,,,,,10,10\n" },
		{ "applications below it", { "current x x E 0=90", "current y y E 0=10" }, { .threshold = 10.5 }, "", "1,image,E:100,/bin/x,/bin/x,,,,,90,90\n" },
		{ "include", { "current k k E 0=90 100=9 200=1" }, { SYMBOLS, .names.include = LIST("wait", "_stext") }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,90,98.9010989\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x200,,,1,1.0989011\n" },
		{ "exclude", { "current k k E 0=90 100=9 200=1" }, { SYMBOLS, .names.exclude = LIST("wait", "x") }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,90,90.9090909\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,9,9.09090909\n" },
		{ "include and exclude", { "current k k E 0=90 100=9 200=1" }, { SYMBOLS, .names.include = LIST("wait", "_stext"), .names.exclude = LIST("wait") }, "", "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,90,100\n" },
		{ "none", { "current k k E 0=90" }, { SYMBOLS, .names.include = LIST("none") }, "",
		  "--include-symbols=none: no symbol of this name has samples; there are _stext\n" },
		{ "sessions", { "current k k E 0=90", "old k k E 0=5" }, { 0 }, "session:old", "1,image,E:100,/vmlinux,/vmlinux,,,,,5,100\n" },
		{ "two sessions", { "current k k E 0=90", "old k k E 0=5 100=1" }, { SYMBOLS, .select.merge = PP_MERGE_SESSION }, "session:old,current",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,95,98.9583333\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,1,1.04166667\n" },
		{ "a column for each", { "current k k E 0=90", "old k k E 0=5 100=1" }, { SYMBOLS }, "session:old,current",
		  "1,symbol,session:current,/vmlinux,/vmlinux,_stext,0x0,,,90,100\n"
		  "1,symbol,session:old,/vmlinux,/vmlinux,_stext,0x0,,,5,83.3333333\n"
		  "1,symbol,session:old,/vmlinux,/vmlinux,do_work,0x100,,,1,16.6666667\n" },
		{ "no such session", { "current k k E 0=90", "old k k E 0=5" }, { 0 }, "session:odl", "odl: no such session in $/samples; its sessions: old, current\n" },
		{ "all but one", { "current k k E 0=90", "old k k E 0=5" }, { 0 }, "session:old,current session-exclude:old", "1,image,E:100,/vmlinux,/vmlinux,,,,,90,100\n" },
		{ "none left", { "current k k E 0=90" }, { 0 }, "session-exclude:current", "session-exclude:current: no session is left; exclude fewer\n" },
		{ "one image", { "current x k E 0=90", "current x x E 1=5", "current k k E 0=1" }, { .select.only_image = "/vmlinux" }, "",
		  "1,image,E:100,/bin/x,/vmlinux,,,,,90,98.9010989\n"
		  "1,image,E:100,/vmlinux,/vmlinux,,,,,1,1.0989011\n" },
		{ "one image without samples", { "current x k E 0=90" }, { .select.only_image = "/bin/x" }, "",
		  "/bin/x: there are no samples in it\n" },
		{ "calls of applications themselves", { "current x x E 1=1", "current x x>x E 1>2=5", "current x x>k E 1>0=6", "current x k E 0=7", "current x k>x E 0>1=8" }, { CALLS, .select.exclude_dependent = true }, "",
		  "1,symbol,E:100,/bin/x,/bin/x,/bin/x,,,,1,100,1,,,,\n"
		  "1,caller,E:100,/bin/x,/bin/x,/bin/x,,,,5,100,,/bin/x,/bin/x,/bin/x,\n"
		  "1,callee,E:100,/bin/x,/bin/x,/bin/x,,,,5,83.3333333,,/bin/x,/bin/x,/bin/x,\n"
		  "/bin/x: no symbols: not found; give its folder with --image-path or --root\n" },
		{ "times without a history", { "current k k E 0=90" }, { .select.over_time = true }, "",
		  "$/samples/current: it has no history to show over time; leave out --over-time, and profile with opcontrol --setup --history=SIZE\n" },
		{ "reversed", { "current k k E 0=1 100=9 200=5 300=5" }, { SYMBOLS, .symbols.sort.reverse = true }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,5\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x300,,,5,25\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x200,,,5,25\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,9,45\n" },
		{ "by path", { "current k k E 0=90", "old k k E 0=5" }, { 0 }, "session:./samples/old", "1,image,E:100,/vmlinux,/vmlinux,,,,,5,100\n" },
	};
	/* clang-format on */

	write_rows(rows, NR(rows));
}

FOLDER_TEST(calls_are_of_symbols)
{
	/* clang-format off */
	const struct row rows[] = {
		{ "none", { "current k k E 0=1" }, { CALLS }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,100,1,,,,\n"
		  "the samples have no call graphs; profile with opcontrol --callgraph=DEPTH or operf --callgraph\n" },
		{ "none asked for", { "current k k E 0=1" }, { CALLS, .calls.addresses = true }, "", "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,100,1,,,,\n" },
		{ "between symbols",
		  { "current k k E 10=1 110=5", "current k k>k E 110>0=3 120>0=4 10>100=2 100>100=9 200>3ff=1" }, { CALLS }, "",
		  EXPECTED("between-symbols") },
		{ "addresses",
		  { "current k k E 10=1 110=5", "current k k>k E 110>0=3 120>0=4 fff>100=2 110>1=6" }, { CALLS, .calls.addresses = true }, "",
		  EXPECTED("addresses") },
		{ "addresses of two columns",
		  { "current k k E 10=1", "current k k F 10=1", "current k k>k E 110>0=5 120>0=8", "current k k>k F 110>0=4" }, { CALLS, .calls.addresses = true, .threshold = 60 }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,100,1,,,,\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,_stext,0x0,,,1,100,1,,,,\n"
		  "1,caller,E:100,/vmlinux,/vmlinux,do_work,0x100,,,13,100,,/vmlinux,/vmlinux,_stext,0x0\n"
		  "1,caller,F:100,/vmlinux,/vmlinux,do_work,0x100,,,4,100,,/vmlinux,/vmlinux,_stext,0x0\n"
		  "call 0x110>0x0 5 of E:100\n"
		  "call 0x110>0x0 4 of F:100\n"
		  "call 0x120>0x0 8 of E:100\n" },
		{ "addresses of two applications",
		  { "current x k E 10=1", "current y k E 10=2", "current x k>k E 110>0=9", "current y k>k E 110>0=4", "old x k E 10=1", "old x k>k E 110>0=1" }, { CALLS, .calls.addresses = true, .threshold = 70, .select.merge = PP_MERGE_SESSION }, "session:old,current",
		  "call 0x110>0x0 10 in /bin/x and /bin/x\n"
		  "call 0x110>0x0 4 in /bin/y and /bin/y\n" },
		{ "addresses of sessions that are added up",
		  { "current k k E 10=1", "current k k>k E 110>0=3 110>100=1", "old k k E 10=1", "old k k>k E 110>0=4 10>0=1" }, { CALLS, .calls.addresses = true, .threshold = 100, .select.merge = PP_MERGE_SESSION }, "session:old,current",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,2,100,2,,,,\n"
		  "call 0x10>0x0 1\n"
		  "call 0x110>0x0 7\n"
		  "call 0x110>0x100 1\n" },
		{ "addresses of an image without symbols",
		  { "current k k E 10=1", "current k k>m E 110>0=3", "current k m>k E 1>0=4", "current k k>k E 10>0=5" }, { CALLS, .calls.addresses = true, .threshold = 100 }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,100,1,,,,\n"
		  "call 0x10>0x0 5\n"
		  "mod: no symbols: the session has no copy of them; give the folder of its file with --image-path, or profile as root so that /proc/kallsyms can be read\n" },
		{ "addresses in stacks",
		  { "current k k E 100=9", "tree current k E 2:k+110>k+100 3:k+118>k+100 4:k+10>k+118>k+200" }, { CALLS, .calls.addresses = true, .threshold = 100 }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,9,100,13,,,,\n"
		  "call 0x10>0x100 4\n"
		  "call 0x110>0x100 2\n"
		  "call 0x118>0x100 3\n"
		  "call 0x118>0x200 4\n" },
		{ "stacks in place of arcs",
		  { "current k k E 100=5", "current k k F 100=5", "current k k>k E 10>100=7", "current k k>k F 10>100=8", "tree current k E 5:k+210>k+100" }, { CALLS, .threshold = 0.1 }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,5,100,5,,,,\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,do_work,0x100,,,5,100,5,,,,\n"
		  "1,caller,F:100,/vmlinux,/vmlinux,_stext,0x0,,,8,100,,/vmlinux,/vmlinux,do_work,0x100\n"
		  "1,caller,E:100,/vmlinux,/vmlinux,wait,0x200,,,5,100,,/vmlinux,/vmlinux,do_work,0x100\n" },
		{ "stacks of two events in place of arcs",
		  { "current k k E 100=5", "current k k F 100=5", "current k k>k E 10>100=7", "current k k>k F 10>100=8", "tree current k E 5:k+210>k+100", "tree current k F 4:k+310>k+100" }, { CALLS, .threshold = 0.1 }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,5,100,5,,,,\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,do_work,0x100,,,5,100,5,,,,\n"
		  "1,caller,F:100,/vmlinux,/vmlinux,wait,0x300,,,4,100,,/vmlinux,/vmlinux,do_work,0x100\n"
		  "1,caller,E:100,/vmlinux,/vmlinux,wait,0x200,,,5,100,,/vmlinux,/vmlinux,do_work,0x100\n" },
		{ "arcs of another session than the stacks",
		  { "current k k E 100=5", "current k k>k E 10>100=7", "tree current k E 5:k+210>k+100", "old k k E 100=5", "old k k>k E 310>100=9" }, { CALLS, .threshold = 0.1, .select.merge = PP_MERGE_SESSION }, "session:old,current",
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,10,100,10,,,,\n"
		  "1,caller,E:100,/vmlinux,/vmlinux,wait,0x200,,,5,35.7142857,,/vmlinux,/vmlinux,do_work,0x100\n"
		  "1,caller,E:100,/vmlinux,/vmlinux,wait,0x300,,,9,64.2857143,,/vmlinux,/vmlinux,do_work,0x100\n" },
		{ "into an image without samples",
		  { "current k k E 10=1", "current k k>m E 110>0=3" }, { CALLS }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,100,1,,,,\n"
		  "1,symbol,E:100,/vmlinux,/mod,/mod,,,,0,0,0,,,,\n"
		  "1,caller,E:100,/vmlinux,/vmlinux,do_work,0x100,,,3,100,,/vmlinux,/mod,/mod,\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,0,0,3,,,,\n"
		  "1,callee,E:100,/vmlinux,/mod,/mod,,,,3,100,,/vmlinux,/vmlinux,do_work,0x100\n"
		  "mod: no symbols: the session has no copy of them; give the folder of its file with --image-path, or profile as root so that /proc/kallsyms can be read\n" },
		{ "into an image that is not asked for",
		  { "current x k E 10=1", "current x x E 10=1", "current x k>x E 110>0=3" }, { CALLS }, "lib-image:/vmlinux",
		  "1,symbol,E:100,/bin/x,/vmlinux,_stext,0x0,,,1,100,1,,,,\n"
		  "1,symbol,E:100,/bin/x,/vmlinux,do_work,0x100,,,0,0,3,,,,\n"
		  "1,callee,E:100,/bin/x,/bin/x,/bin/x,,,,3,100,,/bin/x,/vmlinux,do_work,0x100\n"
		  "1,symbol,E:100,/bin/x,/bin/x,/bin/x,,,,0,0,0,,,,\n"
		  "1,caller,E:100,/bin/x,/vmlinux,do_work,0x100,,,3,100,,/bin/x,/bin/x,/bin/x,\n"
		  "/bin/x: no symbols: not found; give its folder with --image-path or --root\n" },
		{ "of two columns",
		  { "current k k E 10=1", "current k k F 10=1", "current k k>k E 110>0=3", "current k k>k F 110>0=4 111>1=5" }, { CALLS }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,100,1,,,,\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,_stext,0x0,,,1,100,1,,,,\n"
		  "1,caller,E:100,/vmlinux,/vmlinux,do_work,0x100,,,3,100,,/vmlinux,/vmlinux,_stext,0x0\n"
		  "1,caller,F:100,/vmlinux,/vmlinux,do_work,0x100,,,9,100,,/vmlinux,/vmlinux,_stext,0x0\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,0,0,3,,,,\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,do_work,0x100,,,0,0,9,,,,\n"
		  "1,callee,E:100,/vmlinux,/vmlinux,_stext,0x0,,,3,100,,/vmlinux,/vmlinux,do_work,0x100\n"
		  "1,callee,F:100,/vmlinux,/vmlinux,_stext,0x0,,,9,100,,/vmlinux,/vmlinux,do_work,0x100\n" },
		{ "of two applications",
		  { "current x k E 10=1", "current y k E 10=2", "current x k>k E 110>0=3", "current y k>k E 110>0=4" }, { CALLS }, "",
		  "1,symbol,E:100,/bin/y,/vmlinux,_stext,0x0,,,2,66.6666667,2,,,,\n"
		  "1,caller,E:100,/bin/y,/vmlinux,do_work,0x100,,,4,100,,/bin/y,/vmlinux,_stext,0x0\n"
		  "1,symbol,E:100,/bin/x,/vmlinux,_stext,0x0,,,1,33.3333333,1,,,,\n"
		  "1,caller,E:100,/bin/x,/vmlinux,do_work,0x100,,,3,100,,/bin/x,/vmlinux,_stext,0x0\n"
		  "1,symbol,E:100,/bin/x,/vmlinux,do_work,0x100,,,0,0,3,,,,\n"
		  "1,callee,E:100,/bin/x,/vmlinux,_stext,0x0,,,3,100,,/bin/x,/vmlinux,do_work,0x100\n"
		  "1,symbol,E:100,/bin/y,/vmlinux,do_work,0x100,,,0,0,4,,,,\n"
		  "1,callee,E:100,/bin/y,/vmlinux,_stext,0x0,,,4,100,,/bin/y,/vmlinux,do_work,0x100\n" },
		{ "from another application's image",
		  { "current y k E 10=2", "current x x E 10=1", "current x x>k E 110>0=3" }, { CALLS }, "",
		  "1,symbol,E:100,/bin/y,/vmlinux,_stext,0x0,,,2,66.6666667,2,,,,\n"
		  "1,symbol,E:100,/bin/x,/bin/x,/bin/x,,,,1,33.3333333,4,,,,\n"
		  "1,callee,E:100,/bin/x,/vmlinux,_stext,0x0,,,3,75,,/bin/x,/bin/x,/bin/x,\n"
		  "1,symbol,E:100,/bin/x,/vmlinux,_stext,0x0,,,0,0,0,,,,\n"
		  "1,caller,E:100,/bin/x,/bin/x,/bin/x,,,,3,100,,/bin/x,/vmlinux,_stext,0x0\n"
		  "/bin/x: no symbols: not found; give its folder with --image-path or --root\n" },
		{ "below the threshold",
		  { "current k k E 10=80 110=20", "current k k>k E 110>0=79 200>0=21 10>100=1" }, { CALLS, .threshold = 20 }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,80,80,81,,,,\n"
		  "1,caller,E:100,/vmlinux,/vmlinux,wait,0x200,,,21,21,,/vmlinux,/vmlinux,_stext,0x0\n"
		  "1,caller,E:100,/vmlinux,/vmlinux,do_work,0x100,,,79,79,,/vmlinux,/vmlinux,_stext,0x0\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,20,20,99,,,,\n"
		  "1,caller,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,100,,/vmlinux,/vmlinux,do_work,0x100\n"
		  "1,callee,E:100,/vmlinux,/vmlinux,_stext,0x0,,,79,79.7979798,,/vmlinux,/vmlinux,do_work,0x100\n" },
		{ "shown by name",
		  { "current k k E 10=80 110=20", "current k k>k E 110>0=79 10>200=1" }, { CALLS, .names.include = LIST("_stext") }, "",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,80,80,81,,,,\n"
		  "1,caller,E:100,/vmlinux,/vmlinux,do_work,0x100,,,79,100,,/vmlinux,/vmlinux,_stext,0x0\n"
		  "1,callee,E:100,/vmlinux,/vmlinux,wait,0x200,,,1,1.2345679,,/vmlinux,/vmlinux,_stext,0x0\n" },
		{ "equal ones",
		  { "current k k E 10=5 110=5", "current k k>k E 0>100=5 0>200=5 0>300=5 200>0=5 300>0=5 100>0=5" }, { CALLS }, "",
		  EXPECTED("equal-ones") },
	};
	/* clang-format on */

	write_rows(rows, NR(rows));
}

FOLDER_TEST(profiles_are_compared)
{
	/* clang-format off */
	const struct row rows[] = {
		{ "both, new and gone", { "current k k E 0=60 100=40", "old k k E 0=30 200=70" }, { SYMBOLS }, "{ session:old } {}",
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x200,,,0,0,70,70,-100\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,60,60,30,30,100\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,40,40,0,0,\n" },
		{ "of one name", { "current k k E 200=10 300=20 0=70", "old k k E 300=40 0=60" }, { SYMBOLS }, "{ session:old } {}",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,70,70,60,60,16.6666667\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x300,,,20,20,40,40,-50\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x200,,,10,10,0,0,\n" },
		{ "of one name, fewer now", { "current k k E 200=10 0=70", "old k k E 200=5 300=40 0=60" }, { SYMBOLS }, "{ session:old } {}",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,70,87.5,60,57.1428571,53.125\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x300,,,0,0,40,38.0952381,-100\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x200,,,10,12.5,5,4.76190476,162.5\n" },
		{ "two of one name on both sides", { "current k k E 200=10 300=20", "old k k E 200=40 300=10" }, { SYMBOLS }, "{ session:old } {}",
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x300,,,20,66.6666667,10,20,233.333333\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x200,,,10,33.3333333,40,80,-58.3333333\n" },
		{ "two columns", { "current k k E 0=60 100=40", "current k k F 0=5 200=15", "old k k E 0=30 200=20", "old k k F 0=10 100=30" }, { SYMBOLS }, "{ session:old } {}",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,60,60,30,60,0\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,_stext,0x0,,,5,25,10,25,0\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,40,40,0,0,\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,do_work,0x100,,,0,0,30,75,-100\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x200,,,0,0,20,40,-100\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,wait,0x200,,,15,75,0,0,\n" },
		{ "two columns with intervals", { "current k k E 0=600 100=400", "current k k F 0=500 100=500", "old k k E 0=500 100=500", "old k k F 0=500 100=500" }, { SYMBOLS, .intervals = true }, "{ session:old } {}",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,600,60,56.930943,62.9925219,500,50,20,10.807295,30.0542973,8.45371967e-06,1\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,_stext,0x0,,,500,50,46.90696,53.09304,500,50,0,-8.39714936,9.16690835,1,0\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,400,40,37.0074781,43.069057,500,50,-20,-27.4977021,-11.7940983,8.45371967e-06,1\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,do_work,0x100,,,500,50,46.90696,53.09304,500,50,0,-8.39714936,9.16690835,1,0\n" },
		{ "at the threshold", { "current k k E 0=50 100=50", "old k k E 0=40 100=60" }, { SYMBOLS, .threshold = 25 }, "{ session:old } {}",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,50,50,40,40,25\n" },
		{ "below it", { "current k k E 0=50 100=50", "old k k E 0=40 100=60" }, { SYMBOLS, .threshold = 25.1 }, "{ session:old } {}", "" },
		{ "new above any threshold", { "current k k E 0=100 100=1", "old k k E 0=100 200=1" }, { SYMBOLS, .threshold = 50 }, "{ session:old } {}",
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,1,0.99009901,0,0,\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x200,,,0,0,1,0.99009901,-100\n" },
		{ "intervals", { "current k k E 0=600 100=400", "old k k E 0=500 100=500 200=1" }, { SYMBOLS, .intervals = true }, "{ session:old } {}",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,600,60,56.930943,62.9925219,500,49.95005,20.12,10.9154345,30.1874219,7.57798453e-06,1\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,400,40,37.0074781,43.069057,500,49.95005,-19.92,-27.426604,-11.7041586,9.32770685e-06,1\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x200,,,0,0,0,0.382675849,1,0.0999000999,-100,-100,284.225114,1,0\n" },
		{ "by application", { "current x k E 0=6", "current y k E 0=4", "old x k E 0=5", "old z k E 0=5" }, { SYMBOLS }, "{ session:old } {}",
		  "1,symbol,E:100,/bin/x,/vmlinux,_stext,0x0,,,6,60,5,50,20\n"
		  "1,symbol,E:100,/bin/y,/vmlinux,_stext,0x0,,,4,40,5,50,-20\n" },
		{ "by application of one side alone", { "current x k E 0=6", "current y k E 0=4", "old x k E 0=5", "old z k E 0=3", "old w k E 0=2" }, { SYMBOLS }, "{ session:old } {}",
		  "1,symbol,E:100,/bin/x,/vmlinux,_stext,0x0,,,6,60,5,50,20\n"
		  "1,symbol,E:100,/bin/y,/vmlinux,_stext,0x0,,,4,40,0,0,\n"
		  "1,symbol,E:100,/bin/z,/vmlinux,_stext,0x0,,,0,0,3,30,-100\n"
		  "1,symbol,E:100,/bin/w,/vmlinux,_stext,0x0,,,0,0,2,20,-100\n" },
		{ "new before one that is not", { "current k k E 0=60 100=40", "old k k E 100=50 200=50" }, { SYMBOLS }, "{ session:old } {}",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,60,60,0,0,\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x200,,,0,0,50,50,-100\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,40,40,50,50,-20\n" },
		{ "other symbols in an application of one side alone", { "current x k E 300=6 400=2", "old z k E 0=5 300=2 400=1" }, { SYMBOLS }, "{ session:old } {}",
		  "1,symbol,E:100,/bin/x,/vmlinux,wait,0x300,,,6,75,2,25,200\n"
		  "1,symbol,E:100,/bin/z,/vmlinux,_stext,0x0,,,0,0,5,62.5,-100\n"
		  "1,symbol,E:100,/bin/x,/vmlinux,_weak,0x400,,,2,25,1,12.5,100\n" },
		{ "other events", { "current k k E 0=60", "old k k F 0=30" }, { SYMBOLS }, "{ session:old } {}", "the two profiles counted different events: F:100 and E:100; profile both with the same event and count, or choose one that both have with event: and count:\n" },
		{ "two kinds of CPU time", { "current k k TIMER 0=60", "old k k cpu-clock 0=25 100=25" }, { SYMBOLS }, "{ session:old } {}",
		  "1,symbol,TIMER:100,/vmlinux,/vmlinux,_stext,0x0,,,60,100,25,50,100\n"
		  "1,symbol,TIMER:100,/vmlinux,/vmlinux,do_work,0x100,,,0,0,25,50,-100\n" },
		{ "time and something else", { "current k k TIMER 0=60", "old k k page-faults 0=25" }, { SYMBOLS }, "{ session:old } {}",
		  "the two profiles counted different events: page-faults:100 and TIMER:100; profile both with the same event and count, or choose one that both have with event: and count:\n" },
		{ "other unit masks", { "current k k E/1 0=60", "old k k E/2 0=30" }, { SYMBOLS }, "{ session:old } {}", "the two profiles counted E with different unit masks: 0x02 and 0x01; choose with unit-mask: or merge with --merge=unitmask\n" },
		{ "merged unit masks", { "current k k E/1 0=60", "old k k E/2 0=30" }, { SYMBOLS, .select.merge = PP_MERGE_UNIT_MASK }, "{ session:old } {}",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,60,100,30,100,0\n" },
		{ "columns of other CPUs", { "current k k E.all.all.0 0=6", "current k k E.all.all.2 0=3", "old k k E.all.all.0 0=6", "old k k E.all.all.1 0=3" }, { SYMBOLS }, "{ session:old } {}", "the two profiles have different columns (cpu:1 and cpu:2); choose the same for both or merge with --merge\n" },
		{ "columns of the same CPUs", { "current k k E.all.all.0 0=6", "current k k E.all.all.2 0=3", "old k k E.all.all.0 0=6", "old k k E.all.all.2 0=3" }, { SYMBOLS }, "{ session:old } {}",
		  "1,symbol,cpu:0,/vmlinux,/vmlinux,_stext,0x0,,,6,100,6,100,0\n"
		  "1,symbol,cpu:2,/vmlinux,/vmlinux,_stext,0x0,,,3,100,3,100,0\n" },
		{ "a CPU that was chosen for each side", { "current k k E.all.all.0 0=6", "current k k E.all.all.2 0=3" }, { SYMBOLS }, "{ cpu:0 } { cpu:2 }",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,3,100,6,100,0\n" },
		{ "columns of other processes", { "current k k E.7.7 0=6", "current k k E.8.8 0=3", "old k k E.7.7 0=6", "old k k E.9.9 0=3" }, { SYMBOLS }, "{ session:old } {}", "the two profiles have different columns (tgid:9 and tgid:8); choose the same for both or merge with --merge\n" },
		{ "rows of other threads", { "current k k E.7.7 0=6", "current k k E.7.8 0=3", "old k k E.7.7 0=6", "old k k E.7.9 0=3" }, { SYMBOLS, .select.layout = PP_LAYOUT_ROWS }, "{ session:old } {}", "the two profiles have different columns (tid:9 and tid:8); choose the same for both or merge with --merge\n" },
		{ "columns of other sessions", { "current k k E 0=6", "old k k E 0=3", "older k k E 0=6" }, { SYMBOLS }, "{ session:old,older } { session:current,old }", "the two profiles have different columns (session:old and session:current); choose the same for both or leave out --by-session\n" },
		{ "more columns", { "current k k E 0=60", "current k k F 0=1", "old k k F 0=30" }, { SYMBOLS }, "{ session:old } {}", "the two profiles have different columns (F:100 and others: 1; E:100 and others: 2); choose with event: or merge with --merge\n" },
		{ "nothing old", { "current k k E 0=60" }, { SYMBOLS }, "{ session:old } {}", "old: no such session in $/samples; its sessions: current\n" },
	};
	/* clang-format on */

	write_rows(rows, NR(rows));
}

/* ---- names of tasks ------------------------------------------------------ */

/* Names are in a file of the session; control bytes are not shown. */
FOLDER_TEST(tasks_have_names)
{
	static const char *const files[] = { "current x k E.7.7 0=1",
					     "current x k E.7.8 0=2",
					     "current y k E.9.9 0=4", NULL };
	/* clang-format off */
	static const struct {
		const char *name;
		struct pp_request request;
		const char *tasks, *text;
	} rows[] = {
		{ "threads", { .select.any_axes = true },
		  "name.7.7 = program\nname.7.8 = a worker\nmounts.7 = 5\nname.9.9 = other\n",
		  "1,image,tgid:7 tid:7,/bin/x,/vmlinux,,,,,1,100,program,program,\n"
		  "1,image,tgid:7 tid:8,/bin/x,/vmlinux,,,,,2,100,program,a worker,\n"
		  "1,image,tgid:9 tid:9,/bin/y,/vmlinux,,,,,4,100,other,other,\n"
		  "mounts of tgid:7 tid:7: 5\n"
		  "mounts of tgid:7 tid:8: 5\n" },
		{ "processes", { .select.any_axes = true, .select.merge = PP_MERGE_TID },
		  "name.7.7 = program\nname.7.8 = a worker\nname.9.9 = other\n",
		  "1,image,tgid:7,/bin/x,/vmlinux,,,,,3,100,program,,\n"
		  "1,image,tgid:9,/bin/y,/vmlinux,,,,,4,100,other,,\n" },
		{ "neither", { .select.merge = PP_MERGE_TGID | PP_MERGE_TID },
		  "name.7.7 = program\nname.7.8 = a worker\n",
		  "1,image,E:100,/bin/y,/vmlinux,,,,,4,57.1428571\n"
		  "1,image,E:100,/bin/x,/vmlinux,,,,,3,42.8571429\n" },
		{ "a thread of a process without a name", { .select.any_axes = true },
		  "name.7.8 = a worker\nmounts.7 = 5\n",
		  "1,image,tgid:7 tid:7,/bin/x,/vmlinux,,,,,1,100,,,\n"
		  "1,image,tgid:7 tid:8,/bin/x,/vmlinux,,,,,2,100,,a worker,\n"
		  "1,image,tgid:9 tid:9,/bin/y,/vmlinux,,,,,4,100,,,\n"
		  "mounts of tgid:7 tid:7: 5\n"
		  "mounts of tgid:7 tid:8: 5\n" },
		{ "control bytes", { .select.any_axes = true },
		  "name.7.7 = a%1b[1mb%7f\nname.7.8 = %0a\n",
		  "1,image,tgid:7 tid:7,/bin/x,/vmlinux,,,,,1,100,a?[1mb?,a?[1mb?,\n"
		  "1,image,tgid:7 tid:8,/bin/x,/vmlinux,,,,,2,100,a?[1mb?,?,\n"
		  "1,image,tgid:9 tid:9,/bin/y,/vmlinux,,,,,4,100,,,\n" },
		{ "names that found no room", { .select.any_axes = true },
		  "name.7.7 = program\nunnamed = 12\n",
		  "1,image,tgid:7 tid:7,/bin/x,/vmlinux,,,,,1,100,program,program,\n"
		  "1,image,tgid:7 tid:8,/bin/x,/vmlinux,,,,,2,100,program,,\n"
		  "1,image,tgid:9 tid:9,/bin/y,/vmlinux,,,,,4,100,,,\n"
		  "12 names of threads did not fit into the session; these threads are shown by number\n" },
		{ "a line that makes no sense", { .select.any_axes = true },
		  "name.7.7 = program\nname.x.8 = y\n",
		  "1,image,tgid:7 tid:7,/bin/x,/vmlinux,,,,,1,100,program,program,\n"
		  "1,image,tgid:7 tid:8,/bin/x,/vmlinux,,,,,2,100,program,,\n"
		  "1,image,tgid:9 tid:9,/bin/y,/vmlinux,,,,,4,100,,,\n"
		  "$/samples/current/tasks: name.x.8 = y: is invalid; names of threads are missing\n" },
		{ "a program that was run by a link", { .select.exclude_dependent = true, .select.merge = PP_MERGE_TGID | PP_MERGE_TID },
		  "run./bin/y = /vmlinux\n",
		  "1,image,E:100,/bin/y,/vmlinux,,,,,4,100\n" },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		const struct row row = { .request = rows[i].request,
					 .words = "" };
		struct text t;

		write_session(files, MAX_FILES);
		write_text("samples/current/tasks", rows[i].tasks);
		write_report(text_begin(&t), &row, NULL);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}

/* ---- files that cannot be used ------------------------------------------- */

/* What @command makes of a session of two files in the kernel. */
FOLDER_TEST(files_are_left_out)
{
#define K "samples/current/{kern}/vmlinux/{dep}/{kern}/vmlinux"
	static const struct {
		const char *command, *text;
	} rows[] = {
		/* clang-format off */
		{ ":",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,100\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,_stext,0x0,,,2,100\n" },
		{ "echo >" K "/E.100.0.all.all.all",
		  "1,symbol,F:100,/vmlinux,/vmlinux,_stext,0x0,,,2,100\n"
		  "$/samples/current/{kern}/vmlinux/{dep}/{kern}/vmlinux/E.100.0.all.all.all: it is damaged; left out\n" },
		{ "rm " K "/E*; echo >" K "/F.100.0.all.all.all", "no usable sample file is left; the first: $/samples/current/{kern}/vmlinux/{dep}/{kern}/vmlinux/F.100.0.all.all.all: it is damaged\n" },
		{ "mv " K "/E.100.0.all.all.all " K "/x",
		  "1,symbol,F:100,/vmlinux,/vmlinux,_stext,0x0,,,2,100\n"
		  "$/samples/current: {kern}/vmlinux/{dep}/{kern}/vmlinux/x: not the name of a sample file: EVENT.COUNT.UM.TGID.TID.CPU is missing; left out\n" },
		{ "mv " K "/E.100.0.all.all.all " K "/E.100.0.all.all.all.bad",
		  "1,symbol,F:100,/vmlinux,/vmlinux,_stext,0x0,,,2,100\n"
		  "$/samples/current: not counted: 1 file set aside as damaged (names ending in .bad or .stale)\n" },
		{ "mv " K "/E.100.0.all.all.all " K "/E.100.0.all.all.all.bad-2",
		  "1,symbol,F:100,/vmlinux,/vmlinux,_stext,0x0,,,2,100\n"
		  "$/samples/current: not counted: 1 file set aside as damaged (names ending in .bad or .stale)\n" },
		{ "mv " K "/E.100.0.all.all.all " K "/E.100.0.all.all.all.stale.12",
		  "1,symbol,F:100,/vmlinux,/vmlinux,_stext,0x0,,,2,100\n"
		  "$/samples/current: not counted: 1 file set aside as damaged (names ending in .bad or .stale)\n" },
		{ "mv " K "/E.100.0.all.all.all " K "/E.100.0.all.all.all.stale.",
		  "1,symbol,F:100,/vmlinux,/vmlinux,_stext,0x0,,,2,100\n"
		  "$/samples/current: {kern}/vmlinux/{dep}/{kern}/vmlinux/E.100.0.all.all.all.stale.: not the name of a sample file: a field is not a number, or is too large; left out\n" },
		{ "mv " K "/E.100.0.all.all.all " K "/E.100.0.all.all.all.good",
		  "1,symbol,F:100,/vmlinux,/vmlinux,_stext,0x0,,,2,100\n"
		  "$/samples/current: {kern}/vmlinux/{dep}/{kern}/vmlinux/E.100.0.all.all.all.good: not the name of a sample file: a field is not a number, or is too large; left out\n" },
		{ "rm -r samples/current/*", "$/samples/current: there are no sample files; profile first (operf, or opcontrol --start), then write out the buffers with opcontrol --dump\n" },
		{ "rm -r samples", "$/samples: there are no samples; profile first, or name another session folder with --session-dir\n" },
		{ "rm symbols/*",
		  "1,symbol,E:100,/vmlinux,/vmlinux,/vmlinux,,,,1,100\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,/vmlinux,,,,2,100\n"
		  "vmlinux: no symbols: the session has no copy of them; give the folder of its file with --image-path, or profile as root so that /proc/kallsyms can be read\n" },
		{ "echo >symbols/vmlinux-01",
		  "1,symbol,E:100,/vmlinux,/vmlinux,/vmlinux,,,,1,100\n"
		  "1,symbol,F:100,/vmlinux,/vmlinux,/vmlinux,,,,2,100\n"
		  "vmlinux: no symbols: $/symbols/vmlinux-01:1: no snapshot of symbols\n" },
		/* clang-format on */
	};

	for (size_t i = 0; i < NR(rows); i++) {
		static const struct row row = {
			.request = { .select.any_axes = true, SYMBOLS },
			.words = ""
		};
		struct text t;

		assert_int_equal(system("rm -rf samples symbols"), 0);
		mkdir("symbols", 0755);
		write_text("symbols/vmlinux-01", SNAPSHOT);
		write_samples("current k k E 0=1");
		write_samples("current k k F 0=2");
		assert_int_equal(system(rows[i].command), 0);
		write_report(text_begin(&t), &row, NULL);
		text_must_be(&t, rows[i].command, rows[i].text);
	}
}

/* ---- packed files -------------------------------------------------------- */

#define NAME "{kern}/vmlinux/{dep}/{kern}/vmlinux/E.100.0.all.all.all"

/* Move the file of samples in the kernel to the session's pack. */
static void pack_samples(void)
{
	struct pack_writer *writer;
	const struct odb *part;
	struct odb *odb;

	assert_int_equal(odb_open(&odb, "samples/current/" NAME, ODB_RDONLY),
			 0);
	part = odb;
	assert_int_equal(pack_writer_new(&writer, "samples/current/packed", 1),
			 0);
	assert_int_equal(pack_writer_table(writer, NAME, &part, 1), 0);
	assert_int_equal(pack_writer_finish(writer), 0);
	odb_close(odb);
	assert_int_equal(unlink("samples/current/" NAME), 0);
}

/* What is packed and what came since are one file; either may be damaged. */
FOLDER_TEST(packed_samples_are_counted)
{
	static const struct row row = {
		.request = { .select.any_axes = true, DETAILS }, .words = ""
	};
	/* clang-format off */
	static const struct {
		const char *name;
		const char *packed, *later; /* files; NULL for none */
		const char *command, *text;
	} rows[] = {
		{ "packed", "current k k E 0=1 100=2 104=4", NULL, ":",
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,6,85.7142857\n"
		  "1,address,E:100,/vmlinux,/vmlinux,do_work,0x100,,,2,28.5714286\n"
		  "1,address,E:100,/vmlinux,/vmlinux,do_work,0x104,,,4,57.1428571\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,14.2857143\n"
		  "1,address,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,14.2857143\n" },
		{ "packed, and more since", "current k k E 0=1 100=2 104=4", "current k k E 104=10 200=3 0=5", ":",
		  "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,16,64\n"
		  "1,address,E:100,/vmlinux,/vmlinux,do_work,0x100,,,2,8\n"
		  "1,address,E:100,/vmlinux,/vmlinux,do_work,0x104,,,14,56\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,6,24\n"
		  "1,address,E:100,/vmlinux,/vmlinux,_stext,0x0,,,6,24\n"
		  "1,symbol,E:100,/vmlinux,/vmlinux,wait,0x200,,,3,12\n"
		  "1,address,E:100,/vmlinux,/vmlinux,wait,0x200,,,3,12\n" },
		{ "what came since is damaged", "current k k E 0=1", "current k k E 0=5", "echo >samples/current/" NAME,
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,100\n"
		  "1,address,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,100\n"
		  "$/samples/current/" NAME ": it is damaged; left out\n" },
		{ "the pack is damaged", "current k k E 0=1", "current k k E 0=5", "echo >samples/current/packed",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,5,100\n"
		  "1,address,E:100,/vmlinux,/vmlinux,_stext,0x0,,,5,100\n"
		  "$/samples/current/packed: it is damaged; its samples are left out\n" },
		{ "an entry is damaged", "current k k E 0=1", "current k k E 0=5", "printf '\\377' | dd of=samples/current/packed bs=1 seek=65 conv=notrunc 2>/dev/null",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,5,100\n"
		  "1,address,E:100,/vmlinux,/vmlinux,_stext,0x0,,,5,100\n"
		  "$/samples/current/packed: " NAME ": it is damaged; left out\n" },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		const char *const files[] = { rows[i].packed, NULL };
		struct text t;

		write_session(files, 1);
		pack_samples();
		if (rows[i].later)
			write_samples(rows[i].later);
		assert_int_equal(system(rows[i].command), 0);
		write_report(text_begin(&t), &row, NULL);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}

/* What CPUs, events and unit masks are called, as far as event files tell. */
FOLDER_TEST(events_have_words)
{
	static const struct {
		const char *cpu_type;
		unsigned int unit_mask; /* in the name of the file */
		const char *sample;
		const char *title, *event, *mask;
	} rows[] = {
		{ "my/cpu", 0, "current k k E 0=1", "My CPU", "An event",
		  NULL },
		{ "my/cpu", 1, "current k k E 0=1", "My CPU", "An event",
		  "One" },
		{ "my/cpu", 2, "current k k E 0=1", "My CPU", "An event",
		  "Two" },
		{ "my/cpu", 3, "current k k E 0=1", "My CPU", "An event",
		  "multiple flags" },
		{ "my/cpu", 4, "current k k F 0=1", "My CPU", "Another event",
		  "Four" },
		{ "my/cpu", 5, "current k k F 0=1", "My CPU", "Another event",
		  NULL },
		{ "my/cpu", 1, "current k k G 0=1", "My CPU", NULL, NULL },
		{ "other/cpu", 1, "current k k E 0=1", "other/cpu", NULL,
		  NULL },
	};
	char dir[4096];

	assert_int_equal(
		system("mkdir -p events/my/cpu; cd events/my/cpu;"
		       "printf 'name = My CPU\ncounters = 1\nencoding = raw\n"
		       "default = E:1\nmanual = A book\n' >cpu;"
		       "printf 'event:0x1 counters:all um:bits minimum:1 "
		       "name:E : An event\n"
		       "event:0x2 counters:all um:one minimum:1 "
		       "name:F : Another event\n' >events;"
		       "printf 'name:bits type:bitmask default:0x1\n"
		       "\t0x01 One\n\t0x02 Two\n"
		       "name:one type:exclusive default:0x4\n"
		       "\t0x04 Four\n\t0x08 Eight\n' >unit_masks"),
		0);
	snprintf(dir, sizeof(dir), "%s/events", (char *)*state);
	setenv("OPROFILE_EVENTS_DIR", dir, 1);
	for (size_t i = 0; i < NR(rows); i++) {
		const char *const files[] = { rows[i].sample, NULL };
		struct pp_request request = { .select.any_axes = true,
					      SYMBOLS };
		const struct pp_event_text *text;
		struct pp_report *report;
		struct pp_spec_pair pair;
		struct op_session session;
		struct op_diag diag = { "" };

		strcpy(made_header.cpu_type, rows[i].cpu_type);
		made_header.cpu_khz = 123;
		write_session(files, 1);
		snprintf(dir, sizeof(dir),
			 "cd samples/current/{kern}/vmlinux/{dep}/{kern}/"
			 "vmlinux; for f in *; do mv $f ${f%%%%.*}.100.%u.all."
			 "all.all; done",
			 rows[i].unit_mask);
		if (rows[i].unit_mask)
			assert_int_equal(system(dir), 0);
		assert_int_equal(
			pp_spec_pair_init(&pair, (const char *const[]){ NULL },
					  NULL),
			0);
		assert_int_equal(op_session_init(&session, ".", NULL), 0);
		request.select.session = &session;
		request.select.spec = &pair.spec;
		assert_int_equal(
			pp_sort_init(&request.symbols.sort, NULL, NULL), 0);
		assert_int_equal(pp_report_new(&report, &request, &diag), 0);
		text = report->cpu.event_texts;
		assert_string_equal(report->cpu.title, rows[i].title);
		assert_string_equal(report->cpu.type, rows[i].cpu_type);
		assert_int_equal(report->cpu.khz, 123);
#define SAME(text, wanted)                                                     \
	assert_string_equal((text) ? (text) : "(none)",                        \
			    (wanted) ? (wanted) : "(none)")
		SAME(text->event, rows[i].event);
		SAME(text->unit_mask, rows[i].mask);
		pp_report_free(report);
		pp_spec_pair_release(&pair);
	}
	strcpy(made_header.cpu_type, "none/such");
	made_header.cpu_khz = 0;
	unsetenv("OPROFILE_EVENTS_DIR");
}

/* Whether applications have to be told apart. */
FOLDER_TEST(applications_are_counted)
{
	static const struct {
		const char *files[4];
		unsigned int merge;
		bool many;
	} rows[] = {
		{ { "current x k E 0=1", "current x x E 0=1" }, 0, false },
		{ { "current x k E 0=1", "current y k E 0=1" }, 0, true },
		{ { "current x k E 0=1", "current x x E 0=1",
		    "current y k E 0=1" },
		  0,
		  true },
		{ { "current x k E 0=1", "current y k F 0=1" }, 0, false },
		{ { "current x k E 0=1", "current y k E 0=1" },
		  PP_MERGE_LIB,
		  false },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct pp_request request = { .select.any_axes = true,
					      .select.merge = rows[i].merge,
					      SYMBOLS };
		struct pp_report *report;
		struct pp_spec_pair pair;
		struct op_session session;
		struct op_diag diag = { "" };

		write_session(rows[i].files, 4);
		assert_int_equal(
			pp_spec_pair_init(&pair, (const char *const[]){ NULL },
					  NULL),
			0);
		assert_int_equal(op_session_init(&session, ".", NULL), 0);
		request.select.session = &session;
		request.select.spec = &pair.spec;
		assert_int_equal(
			pp_sort_init(&request.symbols.sort, NULL, NULL), 0);
		assert_int_equal(pp_report_new(&report, &request, &diag), 0);
		assert_int_equal(report->symbols.many_apps, rows[i].many);
		pp_report_free(report);
		pp_spec_pair_release(&pair);
	}
}

TEST(reasons_have_words)
{
	static const struct {
		int err;
		const char *text;
	} rows[] = {
		{ -EBADMSG, "it is damaged" },
		{ -EPROTO, "it is of another version or byte order" },
		{ -EACCES,
		  "permission denied (run as the user who profiled, or as root)" },
		{ -EPERM,
		  "permission denied (run as the user who profiled, or as root)" },
		{ -EILSEQ, "it is not the archived file" },
		{ -EISDIR, "Is a directory" },
	};

	for (size_t i = 0; i < NR(rows); i++)
		assert_string_equal(pp_why_not_opened(rows[i].err),
				    rows[i].text);
}

/* The accounts of all sessions that are used, if each has one. */
FOLDER_TEST(accounts_are_added_up)
{
	static const struct {
		const char *words;
		uint64_t taken, lost; /* 0: no account */
	} rows[] = {
		{ "session:a", 10, 2 },	   { "session:a,b", 110, 32 },
		{ "session:b", 100, 30 },  { "session:a,none", 0, 0 },
		{ "session:none", 0, 0 },  { "session:bad", 0, 0 },
		{ "session:bad,a", 0, 0 },
	};
	static const char *const files[] = { "a k k E 0=1", "b k k E 0=1",
					     "none k k E 0=1", "bad k k E 0=1",
					     NULL };
	struct op_ledger ledger = { .source = "file",
				    .taken = 10,
				    .stored = 8 };

	write_session(files, MAX_FILES);
	assert_int_equal(op_ledger_lose(&ledger, "no_mm", 2), 0);
	assert_int_equal(
		op_ledger_write(&ledger, "samples/a/ledger", NULL, NULL), 0);
	ledger = (struct op_ledger){ .source = "file",
				     .taken = 100,
				     .stored = 70 };
	assert_int_equal(op_ledger_lose(&ledger, "no_mm", 30), 0);
	assert_int_equal(
		op_ledger_write(&ledger, "samples/b/ledger", NULL, NULL), 0);
	write_text("samples/bad/ledger", "x\n");
	for (size_t i = 0; i < NR(rows); i++) {
		const char *const words[] = { rows[i].words, NULL };
		struct pp_request request = { .select.any_axes = true,
					      SYMBOLS };
		struct pp_report *report;
		struct pp_spec_pair pair;
		struct op_session session;
		struct op_diag diag = { "" };
		bool is_bad = strstr(rows[i].words, "bad");
		size_t nr_warnings = 0;

		assert_int_equal(pp_spec_pair_init(&pair, words, NULL), 0);
		assert_int_equal(op_session_init(&session, ".", NULL), 0);
		request.select.session = &session;
		request.select.spec = &pair.spec;
		assert_int_equal(
			pp_sort_init(&request.symbols.sort, NULL, NULL), 0);
		assert_int_equal(pp_report_new(&report, &request, &diag), 0);
		if (rows[i].taken) {
			assert_non_null(report->account);
			assert_int_equal(report->account->taken, rows[i].taken);
			assert_int_equal(report->account->stored,
					 rows[i].taken - rows[i].lost);
		} else {
			assert_null(report->account);
		}
		for (size_t k = 0; k < report->messages.nr; k++)
			nr_warnings +=
				strstr(report->messages.list[k].text,
				       "how many samples were lost is not known") !=
				NULL;
		assert_int_equal(nr_warnings, is_bad);
		pp_report_free(report);
		pp_spec_pair_release(&pair);
	}
}
