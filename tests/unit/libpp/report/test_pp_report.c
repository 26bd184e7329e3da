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
		  { SYMBOLS }, "", EXPECTED_ROW },
		{ "the last address of all",
		  { "current k k E ffffffffffffffff=1 150=2" }, { SYMBOLS }, "", EXPECTED_ROW },
		{ "addresses",
		  { "current k k E 110=1 108=2 204=3" }, { DETAILS }, "", EXPECTED_ROW },
		{ "several applications, one address",
		  { "current x k E 110=1 111=5", "current y k E 110=2", "current k k E 110=4" }, { DETAILS }, "",
		  EXPECTED_ROW },
		{ "merged applications",
		  { "current x k E 110=1", "current y k E 110=2" }, { DETAILS, .select.merge = PP_MERGE_LIB }, "",
		  EXPECTED_ROW },
		{ "two events at one address",
		  { "current x k E 110=1", "current x k F 110=2 111=3" }, { DETAILS }, "",
		  EXPECTED_ROW },
		{ "anonymous memory",
		  { "current x a E 10=1 20=2" }, { DETAILS }, "", EXPECTED_ROW },
		{ "no binary", { "current x x E 10=1 20=2" }, { DETAILS }, "", EXPECTED_ROW },
		{ "the largest counts",
		  { "current k k E 110=18446744073709551615 120=5" }, { SYMBOLS }, "", "1,symbol,E:100,/vmlinux,/vmlinux,do_work,0x100,,,18446744073709551615,100\n" },
		{ "applications",
		  { "current x x E 1=1", "current y y E 1=2", "current y k E 1=3", "current a a E 1=5", "current x k E 1=4" },
		  { 0 }, "", EXPECTED_ROW },
		{ "applications, reversed",
		  { "current x x E 1=1", "current y y E 1=2", "current y k E 1=3", "current x k E 1=4" },
		  { .symbols.sort.reverse = true }, "", EXPECTED_ROW },
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
		  EXPECTED_AS("at the threshold, 1") },
		{ "above it", { "current k k E 0=90 100=9 200=1" }, { SYMBOLS, .threshold = 9.1 }, "", "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,90,90\n" },
		{ "in one of two columns", { "current k k E 0=99 100=1", "current k k F 0=1 100=99" }, { SYMBOLS, .threshold = 50 }, "",
		  EXPECTED_ROW },
		{ "applications at the threshold", { "current x x E 0=90", "current y y E 0=10" }, { .threshold = 10 }, "",
		  EXPECTED_ROW },
		{ "applications below it", { "current x x E 0=90", "current y y E 0=10" }, { .threshold = 10.5 }, "", "1,image,E:100,/bin/x,/bin/x,,,,,90,90\n" },
		{ "include", { "current k k E 0=90 100=9 200=1" }, { SYMBOLS, .names.include = LIST("wait", "_stext") }, "",
		  EXPECTED_ROW },
		{ "exclude", { "current k k E 0=90 100=9 200=1" }, { SYMBOLS, .names.exclude = LIST("wait", "x") }, "",
		  EXPECTED_ROW },
		{ "include and exclude", { "current k k E 0=90 100=9 200=1" }, { SYMBOLS, .names.include = LIST("wait", "_stext"), .names.exclude = LIST("wait") }, "", "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,90,100\n" },
		{ "none", { "current k k E 0=90" }, { SYMBOLS, .names.include = LIST("none") }, "",
		  "--include-symbols=none: no symbol of this name has samples; there are _stext\n" },
		{ "sessions", { "current k k E 0=90", "old k k E 0=5" }, { 0 }, "session:old", "1,image,E:100,/vmlinux,/vmlinux,,,,,5,100\n" },
		{ "two sessions", { "current k k E 0=90", "old k k E 0=5 100=1" }, { SYMBOLS, .select.merge = PP_MERGE_SESSION }, "session:old,current",
		  EXPECTED_ROW },
		{ "a column for each", { "current k k E 0=90", "old k k E 0=5 100=1" }, { SYMBOLS }, "session:old,current",
		  EXPECTED_ROW },
		{ "no such session", { "current k k E 0=90", "old k k E 0=5" }, { 0 }, "session:odl", "odl: no such session in $/samples; its sessions: old, current\n" },
		{ "all but one", { "current k k E 0=90", "old k k E 0=5" }, { 0 }, "session:old,current session-exclude:old", "1,image,E:100,/vmlinux,/vmlinux,,,,,90,100\n" },
		{ "none left", { "current k k E 0=90" }, { 0 }, "session-exclude:current", "session-exclude:current: no session is left; exclude fewer\n" },
		{ "one image", { "current x k E 0=90", "current x x E 1=5", "current k k E 0=1" }, { .select.only_image = "/vmlinux" }, "",
		  EXPECTED_ROW },
		{ "one image without samples", { "current x k E 0=90" }, { .select.only_image = "/bin/x" }, "",
		  "/bin/x: there are no samples in it\n" },
		/* Kernel, library and program are one row, whatever is in them. */
		{ "the profiler itself", { "current o k E 1=1", "current o x E 1=2", "current o y E 1=4", "current x x E 1=8", "current x k E 1=16" }, { .symbols.wanted = true }, "",
		  EXPECTED_ROW },
		{ "its images", { "current o k E 1=1", "current o x E 1=2", "current x x E 1=8" }, { 0 }, "", EXPECTED_ROW },
		{ "without the profiler itself", { "current o k E 1=1", "current o x E 1=2", "current x x E 1=8" }, { .symbols.wanted = true, .select.hide_own = true }, "",
		  EXPECTED_ROW },
		{ "nothing but the profiler itself", { "current o k E 1=1" }, { .select.hide_own = true }, "", "all samples are of OProfile itself, which is hidden\n" },
		{ "calls of applications themselves", { "current x x E 1=1", "current x x>x E 1>2=5", "current x x>k E 1>0=6", "current x k E 0=7", "current x k>x E 0>1=8" }, { CALLS, .select.exclude_dependent = true }, "",
		  EXPECTED_ROW },
		{ "times without a history", { "current k k E 0=90" }, { .select.over_time = true }, "",
		  "$/samples/current: it has no times to show; leave out --over-time, and profile with operf, or opcontrol --setup --history=SIZE\n" },
		{ "reversed", { "current k k E 0=1 100=9 200=5 300=5" }, { SYMBOLS, .symbols.sort.reverse = true }, "",
		  EXPECTED_ROW },
		{ "by path", { "current k k E 0=90", "old k k E 0=5" }, { 0 }, "session:./samples/old", "1,image,E:100,/vmlinux,/vmlinux,,,,,5,100\n" },
	};
	/* clang-format on */

	write_rows(rows, NR(rows));
}

FOLDER_TEST(calls_are_of_symbols)
{
	/* clang-format off */
	const struct row rows[] = {
		{ "none", { "current k k E 0=1" }, { CALLS }, "", EXPECTED_AS("none, 1") },
		{ "none asked for", { "current k k E 0=1" }, { CALLS, .calls.addresses = true }, "", "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,1,100,1,,,,\n" },
		{ "between symbols",
		  { "current k k E 10=1 110=5", "current k k>k E 110>0=3 120>0=4 10>100=2 100>100=9 200>3ff=1" }, { CALLS }, "",
		  EXPECTED("between-symbols") },
		{ "addresses",
		  { "current k k E 10=1 110=5", "current k k>k E 110>0=3 120>0=4 fff>100=2 110>1=6" }, { CALLS, .calls.addresses = true }, "",
		  EXPECTED("addresses") },
		{ "addresses of two columns",
		  { "current k k E 10=1", "current k k F 10=1", "current k k>k E 110>0=5 120>0=8", "current k k>k F 110>0=4" }, { CALLS, .calls.addresses = true, .threshold = 60 }, "",
		  EXPECTED_ROW },
		{ "addresses of two applications",
		  { "current x k E 10=1", "current y k E 10=2", "current x k>k E 110>0=9", "current y k>k E 110>0=4", "old x k E 10=1", "old x k>k E 110>0=1" }, { CALLS, .calls.addresses = true, .threshold = 70, .select.merge = PP_MERGE_SESSION }, "session:old,current",
		  EXPECTED_ROW },
		{ "addresses of sessions that are added up",
		  { "current k k E 10=1", "current k k>k E 110>0=3 110>100=1", "old k k E 10=1", "old k k>k E 110>0=4 10>0=1" }, { CALLS, .calls.addresses = true, .threshold = 100, .select.merge = PP_MERGE_SESSION }, "session:old,current",
		  EXPECTED_ROW },
		{ "addresses of an image without symbols",
		  { "current k k E 10=1", "current k k>m E 110>0=3", "current k m>k E 1>0=4", "current k k>k E 10>0=5" }, { CALLS, .calls.addresses = true, .threshold = 100 }, "",
		  EXPECTED_ROW },
		{ "addresses in stacks",
		  { "current k k E 100=9", "tree current k E 2:k+110>k+100 3:k+118>k+100 4:k+10>k+118>k+200" }, { CALLS, .calls.addresses = true, .threshold = 100 }, "",
		  EXPECTED_ROW },
		{ "stacks in place of arcs",
		  { "current k k E 100=5", "current k k F 100=5", "current k k>k E 10>100=7", "current k k>k F 10>100=8", "tree current k E 5:k+210>k+100" }, { CALLS, .threshold = 0.1 }, "",
		  EXPECTED_ROW },
		{ "stacks of two events in place of arcs",
		  { "current k k E 100=5", "current k k F 100=5", "current k k>k E 10>100=7", "current k k>k F 10>100=8", "tree current k E 5:k+210>k+100", "tree current k F 4:k+310>k+100" }, { CALLS, .threshold = 0.1 }, "",
		  EXPECTED_ROW },
		{ "arcs of another session than the stacks",
		  { "current k k E 100=5", "current k k>k E 10>100=7", "tree current k E 5:k+210>k+100", "old k k E 100=5", "old k k>k E 310>100=9" }, { CALLS, .threshold = 0.1, .select.merge = PP_MERGE_SESSION }, "session:old,current",
		  EXPECTED_ROW },
		{ "into an image without samples",
		  { "current k k E 10=1", "current k k>m E 110>0=3" }, { CALLS }, "",
		  EXPECTED_ROW },
		{ "into an image that is not asked for",
		  { "current x k E 10=1", "current x x E 10=1", "current x k>x E 110>0=3" }, { CALLS }, "lib-image:/vmlinux",
		  EXPECTED_ROW },
		{ "of two columns",
		  { "current k k E 10=1", "current k k F 10=1", "current k k>k E 110>0=3", "current k k>k F 110>0=4 111>1=5" }, { CALLS }, "",
		  EXPECTED_ROW },
		{ "of two applications",
		  { "current x k E 10=1", "current y k E 10=2", "current x k>k E 110>0=3", "current y k>k E 110>0=4" }, { CALLS }, "",
		  EXPECTED_ROW },
		{ "from another application's image",
		  { "current y k E 10=2", "current x x E 10=1", "current x x>k E 110>0=3" }, { CALLS }, "",
		  EXPECTED_ROW },
		{ "below the threshold",
		  { "current k k E 10=80 110=20", "current k k>k E 110>0=79 200>0=21 10>100=1" }, { CALLS, .threshold = 20 }, "",
		  EXPECTED_ROW },
		{ "shown by name",
		  { "current k k E 10=80 110=20", "current k k>k E 110>0=79 10>200=1" }, { CALLS, .names.include = LIST("_stext") }, "",
		  EXPECTED_ROW },
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
		  EXPECTED_ROW },
		{ "of one name", { "current k k E 200=10 300=20 0=70", "old k k E 300=40 0=60" }, { SYMBOLS }, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "of one name, fewer now", { "current k k E 200=10 0=70", "old k k E 200=5 300=40 0=60" }, { SYMBOLS }, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "two of one name on both sides", { "current k k E 200=10 300=20", "old k k E 200=40 300=10" }, { SYMBOLS }, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "two columns", { "current k k E 0=60 100=40", "current k k F 0=5 200=15", "old k k E 0=30 200=20", "old k k F 0=10 100=30" }, { SYMBOLS }, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "two columns with intervals", { "current k k E 0=600 100=400", "current k k F 0=500 100=500", "old k k E 0=500 100=500", "old k k F 0=500 100=500" }, { SYMBOLS, .intervals = true }, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "at the threshold", { "current k k E 0=50 100=50", "old k k E 0=40 100=60" }, { SYMBOLS, .threshold = 25 }, "{ session:old } {}",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,50,50,40,40,25\n" },
		{ "below it", { "current k k E 0=50 100=50", "old k k E 0=40 100=60" }, { SYMBOLS, .threshold = 25.1 }, "{ session:old } {}", "" },
		{ "new above any threshold", { "current k k E 0=100 100=1", "old k k E 0=100 200=1" }, { SYMBOLS, .threshold = 50 }, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "intervals", { "current k k E 0=600 100=400", "old k k E 0=500 100=500 200=1" }, { SYMBOLS, .intervals = true }, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "by application", { "current x k E 0=6", "current y k E 0=4", "old x k E 0=5", "old z k E 0=5" }, { SYMBOLS }, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "by application of one side alone", { "current x k E 0=6", "current y k E 0=4", "old x k E 0=5", "old z k E 0=3", "old w k E 0=2" }, { SYMBOLS }, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "new before one that is not", { "current k k E 0=60 100=40", "old k k E 100=50 200=50" }, { SYMBOLS }, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "other symbols in an application of one side alone", { "current x k E 300=6 400=2", "old z k E 0=5 300=2 400=1" }, { SYMBOLS }, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "other events", { "current k k E 0=60", "old k k F 0=30" }, { SYMBOLS }, "{ session:old } {}", "the two profiles counted different events: F:100 and E:100; profile both with the same event and count, or choose one that both have with event: and count:\n" },
		{ "two kinds of CPU time", { "current k k TIMER 0=60", "old k k cpu-clock 0=25 100=25" }, { SYMBOLS }, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "time and something else", { "current k k TIMER 0=60", "old k k page-faults 0=25" }, { SYMBOLS }, "{ session:old } {}",
		  "the two profiles counted different events: page-faults:100 and TIMER:100; profile both with the same event and count, or choose one that both have with event: and count:\n" },
		{ "other unit masks", { "current k k E/1 0=60", "old k k E/2 0=30" }, { SYMBOLS }, "{ session:old } {}", "the two profiles counted E with different unit masks: 0x02 and 0x01; choose with unit-mask: or merge with --merge=unitmask\n" },
		{ "merged unit masks", { "current k k E/1 0=60", "old k k E/2 0=30" }, { SYMBOLS, .select.merge = PP_MERGE_UNIT_MASK }, "{ session:old } {}",
		  "1,symbol,E:100,/vmlinux,/vmlinux,_stext,0x0,,,60,100,30,100,0\n" },
		{ "columns of other CPUs", { "current k k E.all.all.0 0=6", "current k k E.all.all.2 0=3", "old k k E.all.all.0 0=6", "old k k E.all.all.1 0=3" }, { SYMBOLS }, "{ session:old } {}", "the two profiles have different columns (cpu:1 and cpu:2); choose the same for both or merge with --merge\n" },
		{ "columns of the same CPUs", { "current k k E.all.all.0 0=6", "current k k E.all.all.2 0=3", "old k k E.all.all.0 0=6", "old k k E.all.all.2 0=3" }, { SYMBOLS }, "{ session:old } {}",
		  EXPECTED_ROW },
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
		  EXPECTED_ROW },
		{ "processes", { .select.any_axes = true, .select.merge = PP_MERGE_TID },
		  "name.7.7 = program\nname.7.8 = a worker\nname.9.9 = other\n", EXPECTED_ROW },
		{ "neither", { .select.merge = PP_MERGE_TGID | PP_MERGE_TID },
		  "name.7.7 = program\nname.7.8 = a worker\n", EXPECTED_ROW },
		{ "a thread of a process without a name", { .select.any_axes = true },
		  "name.7.8 = a worker\nmounts.7 = 5\n", EXPECTED_ROW },
		{ "control bytes", { .select.any_axes = true },
		  "name.7.7 = a%1b[1mb%7f\nname.7.8 = %0a\n", EXPECTED_ROW },
		{ "names that found no room", { .select.any_axes = true },
		  "name.7.7 = program\nunnamed = 12\n", EXPECTED_ROW },
		{ "a line that makes no sense", { .select.any_axes = true },
		  "name.7.7 = program\nname.x.8 = y\n", EXPECTED_ROW },
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
		{ ":", EXPECTED_ROW },
		{ "echo >" K "/E.100.0.all.all.all", EXPECTED_ROW },
		{ "rm " K "/E*; echo >" K "/F.100.0.all.all.all", "no usable sample file is left; the first: $/samples/current/{kern}/vmlinux/{dep}/{kern}/vmlinux/F.100.0.all.all.all: it is damaged\n" },
		{ "mv " K "/E.100.0.all.all.all " K "/x", EXPECTED_ROW },
		{ "mv " K "/E.100.0.all.all.all " K "/E.100.0.all.all.all.bad", EXPECTED_ROW },
		{ "mv " K "/E.100.0.all.all.all " K "/E.100.0.all.all.all.bad-2", EXPECTED_ROW },
		{ "mv " K "/E.100.0.all.all.all " K "/E.100.0.all.all.all.stale.12", EXPECTED_ROW },
		{ "mv " K "/E.100.0.all.all.all " K "/E.100.0.all.all.all.stale.", EXPECTED_ROW },
		{ "mv " K "/E.100.0.all.all.all " K "/E.100.0.all.all.all.good", EXPECTED_ROW },
		{ "rm -r samples/current/*", "$/samples/current: there are no sample files; profile first (operf, or opcontrol --start), then write out the buffers with opcontrol --dump\n" },
		{ "rm -r samples", "$/samples: there are no samples; profile first, or name another session folder with --session-dir\n" },
		{ "rm symbols/*", EXPECTED_ROW },
		{ "echo >symbols/vmlinux-01", EXPECTED_ROW },
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
		{ "packed", "current k k E 0=1 100=2 104=4", NULL, ":", EXPECTED_ROW },
		{ "packed, and more since", "current k k E 0=1 100=2 104=4", "current k k E 104=10 200=3 0=5", ":",
		  EXPECTED_ROW },
		{ "what came since is damaged", "current k k E 0=1", "current k k E 0=5", "echo >samples/current/" NAME,
		  EXPECTED_ROW },
		{ "the pack is damaged", "current k k E 0=1", "current k k E 0=5", "echo >samples/current/packed",
		  EXPECTED_ROW },
		{ "an entry is damaged", "current k k E 0=1", "current k k E 0=5", "printf '\\377' | dd of=samples/current/packed bs=1 seek=65 conv=notrunc 2>/dev/null",
		  EXPECTED_ROW },
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
