// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples in a symbol and in all that it called, what was inlined, and symbols
 * of several builds that are added up: small sessions with call trees, and a
 * binary whose DWARF the assembler makes.
 */

#include "tests/unit/pp_session.h"

#include "libpp/report/report.h"
#include "libpp/images/store_image.h"
#include "libop/image/op_runtime.h"

#define MAX_FILES 6

struct row {
	const char *name;
	const char *files[MAX_FILES];
	struct pp_request request;
	const char *sort, *words;
	const char *text;
};

static void write_stack_call(FILE *out, const char *word,
			     const struct pp_stack_call *call, size_t nr)
{
	fprintf(out, "  %s %s", word, call->callee->name);
	for (size_t c = 0; c < nr; c++)
		fprintf(out, " %llu", (unsigned long long)call->counts[c]);
	fprintf(out, " at %llx", (unsigned long long)call->vma);
	if (call->place.file)
		fprintf(out, " %s:%u", call->place.file, call->place.line);
	fputc('\n', out);
}

/* Functions are "NAME DECLARED+LINE", and ".DISCRIMINATOR" where there is one;
 * the outermost first. */
static void write_detail(FILE *out, const struct pp_detail *detail)
{
	fprintf(out, "  %llx %llu", (unsigned long long)detail->vma,
		(unsigned long long)detail->counts[0]);
	for (size_t i = 0; i < detail->nr_frames; i++) {
		const struct pp_code_frame *frame = &detail->frames[i];

		fprintf(out, "%s %s %u+%u", i ? " >" : "", frame->name,
			frame->declared, frame->line);
		if (frame->discriminator)
			fprintf(out, ".%u", frame->discriminator);
	}
	if (detail->inlined_at.file)
		fprintf(out, " in %s:%u", detail->inlined_at.file,
			detail->inlined_at.line);
	fputc('\n', out);
}

/* "NAME COUNT/ALL<OLD..." for each symbol, with what may be known beside it. */
static void write_symbols(FILE *out, const struct pp_report *report,
			  bool places)
{
	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];

		fprintf(out, "%s %s", pp_base_name(entry->app), entry->name);
		for (size_t c = 0; c < report->classes.nr; c++) {
			fprintf(out, " %llu",
				(unsigned long long)entry->counts[c]);
			if (entry->all_counts)
				fprintf(out, "/%llu",
					(unsigned long long)
						entry->all_counts[c]);
			if (entry->old_counts)
				fprintf(out, "<%llu",
					(unsigned long long)
						entry->old_counts[c]);
		}
		if (places)
			fprintf(out, " %s %llx", entry->image->name,
				(unsigned long long)entry->vma);
		if (entry->is_inlined)
			fputs(" inlined", out);
		if (entry->brief && strcmp(entry->brief, entry->name) != 0)
			fprintf(out, " or %s", entry->brief);
		if (entry->place.file)
			fprintf(out, " %s:%u", entry->place.file,
				entry->place.line);
		fputc('\n', out);
		for (size_t d = 0; d < entry->nr_stack_calls; d++)
			write_stack_call(out, "to", &entry->stack_calls[d],
					 report->classes.nr);
		for (size_t d = 0; d < entry->nr_details; d++)
			write_detail(out, &entry->details[d]);
		if (!entry->neighbours)
			continue;
		for (size_t k = 0; k < entry->neighbours->nr_callers; k++)
			fprintf(out, "  from %s %llu\n",
				entry->neighbours->callers[k].other->name,
				(unsigned long long)entry->neighbours
					->callers[k]
					.counts[0]);
	}
}

static void write_origin(FILE *out, const struct pp_frame *frame)
{
	if (frame->source)
		fprintf(out, " %s:%u", frame->source, frame->line);
	fputc('\n', out);
}

/* "DEPTH NAME SELF/ALL" for each node, and where it is declared. */
static void write_nodes(FILE *out, const struct pp_tree *tree)
{
	for (uint32_t i = 0; i < tree->nr_nodes; i++) {
		unsigned int depth = 0;

		for (uint32_t n = i; n; n = tree->nodes[n].parent)
			depth++;
		fprintf(out, "%u %s", depth,
			tree->frames[tree->nodes[i].frame].name);
		for (size_t c = 0; c < tree->nr_columns; c++)
			fprintf(out, " %llu/%llu",
				(unsigned long long)pp_tree_self(tree, i)[c],
				(unsigned long long)pp_tree_all(tree, i)[c]);
		write_origin(out, &tree->frames[tree->nodes[i].frame]);
	}
}

static void add_stack_calls(const struct pp_report *report,
			    const struct pp_symbol_entry *caller,
			    const struct pp_stack_call *calls, size_t nr,
			    uint64_t *sums)
{
	for (size_t i = 0; i < nr; i++) {
		assert_true(calls[i].callee != caller);
		pp_add_all_counts(
			&sums[calls[i].callee->nr * report->classes.nr],
			calls[i].counts, report->classes.nr);
	}
}

/* The calls of each symbol, wherever they are from, are its total. */
static void check_stack_calls(const struct pp_report *report)
{
	size_t nr = report->classes.nr;
	uint64_t *sums =
		calloc(report->symbols.nr_known * nr + 1, sizeof(*sums));

	assert_non_null(sums);
	add_stack_calls(report, NULL, report->stack_totals.outer,
			report->stack_totals.nr_outer, sums);
	for (size_t i = 0; i < report->symbols.nr_known; i++)
		add_stack_calls(report, &report->symbols.known[i],
				report->symbols.known[i].stack_calls,
				report->symbols.known[i].nr_stack_calls, sums);
	for (size_t i = 0;
	     i < report->symbols.nr_known && report->stack_totals.made; i++)
		assert_memory_equal(report->symbols.known[i].all_counts,
				    &sums[report->symbols.known[i].nr * nr],
				    nr * sizeof(*sums));
	free(sums);
}

/* The request may be about something else than calls. */
static void check_calls_of(const struct pp_request *asked)
{
	struct pp_request request = *asked;
	struct op_diag diag = { "" };
	struct pp_report *report;

	request.totals.stack_calls = request.totals.wanted;
	if (!pp_report_new(&report, &request, &diag) &&
	    request.totals.stack_calls)
		check_stack_calls(report);
	pp_report_free(report);
}

static void write_totals(FILE *out, const struct row *row)
{
	char *folder = getcwd(NULL, 0), copy[128];
	struct pp_request request = row->request;
	struct pp_spec_pair pair;
	struct op_session session;
	struct op_diag diag = { "" };
	struct pp_report *report;
	const char *words[8] = { NULL };
	const char *sort[2] = { row->sort, NULL };
	struct text t;
	int err;

	text_begin(&t);
	split_words(row->words ? row->words : "", copy, words, NR(words));
	assert_int_equal(pp_spec_pair_init(&pair, words, NULL), 0);
	assert_int_equal(op_session_init(&session, ".", NULL), 0);
	request.select.session = &session;
	request.select.spec = &pair.spec;
	request.compare.spec = pair.is_diff ? &pair.old : NULL;
	request.symbols.wanted = !request.tree.wanted;
	request.select.merge |= PP_MERGE_SESSION;
	request.images.root = ".";
	assert_int_equal(pp_sort_init(&request.symbols.sort, sort[0], NULL), 0);
	check_calls_of(&request);
	err = pp_report_new(&report, &request, &diag);
	assert_true(err <= 0);
	if (!err && request.tree.wanted)
		write_nodes(t.out, report->tree);
	else if (!err)
		write_symbols(t.out, report,
			      row->words &&
				      !strncmp(row->words, "session:", 8));
	else
		fprintf(t.out, "%s\n", diag.text);
	for (size_t i = 0; i < report->stack_totals.nr_outer; i++)
		write_stack_call(t.out, "outer", &report->stack_totals.outer[i],
				 report->classes.nr);
	if (report->missing.nameless)
		fprintf(t.out, "nameless %s %llu\n", report->missing.nameless,
			(unsigned long long)report->missing.nameless_samples);
	if (report->missing.nameless_maker)
		fprintf(t.out, "nameless code of %s %llu\n",
			report->missing.nameless_maker,
			(unsigned long long)
				report->missing.nameless_made_samples);
	if (report->missing.maker)
		fprintf(t.out, "made by %s\n", report->missing.maker->name);
	if (report->missing.interpreter)
		fprintf(t.out, "functions of %s in %s %llu\n",
			report->missing.interpreter->name,
			report->missing.interpreted_app,
			(unsigned long long)
				report->missing.interpreted_samples);
	for (size_t i = 0; i < report->builds.nr_sums; i++)
		fprintf(t.out, "%s: %zu builds\n", report->builds.sums[i].name,
			report->builds.sums[i].nr_builds);
	for (size_t i = 0; i < report->messages.nr; i++)
		if (strstr(report->messages.list[i].text, "is shown") ||
		    strstr(report->messages.list[i].text, "samples have no"))
			fprintf(t.out, "%s\n", report->messages.list[i].text);
	fclose(t.out);
	write_without(out, t.all, folder);
	free(folder);
	pp_report_free(report);
	pp_spec_pair_release(&pair);
}

/* "build ID LEN MTIME": of the files of the lines below, until another one. */
static void set_build(const char *line)
{
	unsigned long long mtime = 0;
	unsigned int id;

	memset(made_header.build_id, 0, sizeof(made_header.build_id));
	assert_int_equal(sscanf(line, "%x %u %llu", &id,
				&made_header.build_id_len, &mtime),
			 3);
	made_header.build_id[0] = (uint8_t)id;
	made_header.mtime = mtime;
}

static void write_builds(const char *const *lines)
{
	write_session(lines, 0);
	write_text("symbols/vmlinux-02", "oprofile symbols 1 vmlinux 02\n"
					 "0 T _stext\n"
					 "40 t wait\n"
					 "80 T more\n"
					 "140 T do_work\n"
					 "180 t wait\n"
					 "1c0 t wait\n");
	set_build("1 1 0");
	for (size_t i = 0; i < MAX_FILES && lines[i]; i++)
		if (!strncmp(lines[i], "build ", 6))
			set_build(lines[i] + 6);
		else if (!strncmp(lines[i], "tree ", 5))
			write_tree(lines[i] + 5);
		else
			write_samples(lines[i]);
	set_build("1 1 0");
}

static void write_rows(const struct row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct text t;

		write_builds(rows[i].files);
		write_totals(text_begin(&t), &rows[i]);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}

#define TOTALS .totals.wanted = true
#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

FOLDER_TEST(symbols_have_what_they_called)
{
	/* clang-format off */
	const struct row rows[] = {
		{ "a chain",
		  { "current k k E 100=1 200=2 400=4", "tree current k E 1:k+100 2:k+110>k+200 4:k+110>k+210>k+400" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls with what is below them",
		  { "current k k E 100=1 200=2 400=4", "tree current k E 1:k+100 2:k+110>k+200 4:k+110>k+210>k+400" }, { TOTALS, .totals.stack_calls = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls by several places",
		  { "current k k E 200=9", "tree current k E 2:k+110>k+200 3:k+118>k+200 4:k+200" }, { TOTALS, .totals.stack_calls = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls of two columns",
		  { "current k k E 200=9", "current k k F 200=3 100=1", "tree current k E 2:k+110>k+200 3:k+118>k+200 4:k+200", "tree current k F 3:k+118>k+200 1:k+100" }, { TOTALS, .totals.stack_calls = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls from where samples are, too",
		  { "current k k E 200=5 100=5", "tree current k E 2:k+110 3:k+118 4:k+110>k+200 1:k+118>k+200" }, { TOTALS, .totals.stack_calls = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "outer calls of two applications",
		  { "current y k E 200=9 100=1", "current x k E 200=3 100=2", "tree current y E 9:k+110>k+200", "tree current x E 3:k+110>k+200" }, { TOTALS, .totals.stack_calls = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "outer calls by application",
		  { "current y y E 1=3", "current x k E 100=2", "tree current y E 3:y+1", "tree current x E 2:k+100" }, { TOTALS, .totals.stack_calls = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls in the order of addresses",
		  { "current k k E 200=3 400=4", "tree current k E 1:k+110>k+400 2:k+118>k+200 3:k+11c>k+400 1:k+118>k+210>k+200" }, { TOTALS, .totals.stack_calls = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "the first call of each, in a cycle",
		  { "current k k E 100=5", "tree current k E 5:k+10>k+120>k+130>k+20>k+100" }, { TOTALS, .totals.stack_calls = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "by total",
		  { "current k k E 100=1 200=2 400=4", "tree current k E 1:k+100 2:k+110>k+200 4:k+110>k+210>k+400" }, { TOTALS }, "total", NULL,
		  EXPECTED_ROW },
		{ "without being asked",
		  { "current k k E 100=1", "tree current k E 1:k+10>k+100" }, { 0 }, NULL, NULL,
		  "vmlinux do_work 1\n" },
		{ "without samples of its own",
		  { "current k k E 100=1", "tree current k E 1:k+10>k+100" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "recursion counts once",
		  { "current k k E 100=5", "tree current k E 5:k+110>k+10>k+120>k+20>k+100" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "side by side it counts each time",
		  { "current k k E 100=5 200=1", "tree current k E 2:k+10>k+100 3:k+20>k+100 1:k+30>k+200" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "below a branch that ended",
		  { "current k k E 100=1 200=2 300=4 400=8",
		    "tree current k E 1:k+10>k+210>k+100 2:k+10>k+200 4:k+300 8:k+310>k+20>k+400" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "samples without a stack",
		  { "current k k E 100=10 200=2", "tree current k E 1:k+10>k+100" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "more stacks than samples",
		  { "current k k E 100=1", "tree current k E 3:k+10>k+100" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "no symbol of the last one",
		  { "current x x E 1=3", "current x k E 100=5", "tree current x E 3:x+1 5:x+2>k+100" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "through a gap",
		  { "current k k E 100=3", "tree current k E 3:k+10>[truncated]>k+100" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "two columns",
		  { "current k k E 100=3", "current k k F 100=4 200=1", "tree current k E 3:k+10>k+100", "tree current k F 4:k+210>k+100 1:k+200" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "two columns, one without stacks",
		  { "current k k E 100=3", "current k k F 100=4", "tree current k E 2:k+10>k+100" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "of each application",
		  { "current x k E 100=3", "current y k E 100=4", "tree current x E 3:k+10>k+100", "tree current y E 4:k+20>k+100" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "of images that were not kept apart",
		  { "current k k E 100=7", "tree current x E 3:k+10>k+100", "tree current y E 4:k+20>k+100" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "callers without samples, not kept apart",
		  { "current k k E 100=7", "tree current x E 7:x+1>k+100" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "callers without samples, kept apart",
		  { "current x k E 100=7", "tree current x E 7:y+1>k+100" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "an image that is not asked for",
		  { "current x k E 100=3", "current x x E 1=4", "tree current x E 3:x+1>k+100 4:x+1" }, { TOTALS }, NULL, "lib-image:/vmlinux",
		  "x do_work 3/3\n" },
		{ "stacks of another application",
		  { "current x k E 100=3", "tree current x E 3:k+10>k+100", "tree current y E 9:k+20>k+100" }, { TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "symbols by name",
		  { "current k k E 100=3 200=1", "tree current k E 3:k+210>k+100 1:k+200" }, { TOTALS, .names.include = LIST("do_work") }, NULL, NULL,
		  "vmlinux do_work 3/3\n" },
		{ "symbols but one",
		  { "current k k E 100=3 200=1", "tree current k E 3:k+210>k+100 1:k+200" }, { TOTALS, .names.exclude = LIST("do_work") }, NULL, NULL,
		  "vmlinux wait 1/4\n" },
		{ "no stacks", { "current k k E 100=3" }, { TOTALS }, NULL, NULL,
		  "vmlinux do_work 3\n" },
		{ "no stacks to sort by", { "current k k E 100=3" }, { TOTALS }, "total", NULL,
		  "--sort=total: the samples have no stacks, so there are no totals; profile with --callgraph\n" },
		{ "a threshold", { "current k k E 100=99 200=1", "tree current k E 99:k+10>k+100 1:k+310>k+200" }, { TOTALS, .threshold = 50 }, NULL, NULL,
		  "vmlinux do_work 99/99\n" },
		{ "a threshold for totals", { "current k k E 100=99 200=1", "tree current k E 99:k+10>k+100 1:k+310>k+200" }, { TOTALS, .threshold = 50 }, "total", NULL,
		  EXPECTED_ROW },
	};
	/* clang-format on */

	write_rows(rows, NR(rows));
}

/* ---- their order ---------------------------------------------------------
 */

/* Keys that were not named follow in their usual order. */
FOLDER_TEST(symbols_are_sorted)
{
#define MADE                                                                   \
	{                                                                      \
		"current x k E 100=5 0=5 200=1", "current y k E 100=6 300=9",  \
			"current x m E 0=2", "current /a/z k E 400=2"          \
	}
#define CHANGED                                                                \
	{                                                                      \
		"current k k E 0=60 100=20 200=20",                            \
			"old k k E 0=20 100=20 200=40 300=20"                  \
	}
	/* clang-format off */
	const struct row rows[] = {
		{ "by image", MADE, { 0 }, "image", NULL, EXPECTED_ROW },
		{ "by application", MADE, { 0 }, "app-name", NULL, EXPECTED_ROW },
		{ "by the path of the application", MADE, { .symbols.sort.long_names = true }, "app-name", NULL,
		  EXPECTED_ROW },
		{ "by name", MADE, { 0 }, "symbol", NULL, EXPECTED_ROW },
		{ "by address", MADE, { 0 }, "vma", NULL, EXPECTED_ROW },
		{ "by two keys", MADE, { 0 }, "vma,app-name", NULL, EXPECTED_ROW },
		{ "by name, reversed", MADE, { .symbols.sort.reverse = true }, "symbol,app-name", NULL,
		  EXPECTED_ROW },
		{ "by change", CHANGED, { 0 }, "diff", "{ session:old } {}", EXPECTED_ROW },
		{ "by change, reversed", CHANGED, { .symbols.sort.reverse = true }, "diff", "{ session:old } {}",
		  EXPECTED_ROW },
		{ "by change without a comparison", MADE, { 0 }, "diff", NULL, EXPECTED_ROW },
	};
	/* clang-format on */

	write_rows(rows, NR(rows));
}

/* ---- what was inlined ---------------------------------------------------- */

/*
 * Functions main, helper and other, of 16 bytes each. In main is a copy of
 * helper from 4 to 12, and in that one of leaf from 6 to 8, which has no
 * symbol; in other a copy of main from 8 on, and in that of helper from 12 on.
 * In both copies of "twin", from 0 to 2 of main and of helper, are functions
 * of one name from different lines. Functions step, same, alias and user
 * follow: in user are copies of a step of another file, from 0 to 2, of same,
 * from 2 to 4, and of an alias of another line, from 4 to 6; at the address of
 * alias a function of another name is known.
 */
#define INLINED                                                                    \
	".file 1 \"/src/a.c\"\n.file 2 \"/src/b.c\"\n.text\n"                      \
	".globl main\n.type main,@function\nmain:\n.loc 1 1\nnop\n.skip 15,0x90\n" \
	".size main,16\n.globl helper\n.type helper,@function\nhelper:\n"          \
	".loc 1 2\nnop\n.skip 15,0x90\n.size helper,16\n"                          \
	".globl other\n.type other,@function\nother:\n.loc 1 3\n"                  \
	"nop\n.skip 15,0x90\n.size other,16\n"                                     \
	".globl step\n.type step,@function\nstep:.skip 16,0x90\n.size step,16\n"   \
	".globl same\n.type same,@function\nsame:.skip 16,0x90\n.size same,16\n"   \
	".globl alias\n.type alias,@function\nalias:.skip 16,0x90\n"               \
	".size alias,16\n"                                                         \
	".globl user\n.type user,@function\nuser:.skip 16,0x90\n.size user,16\n"   \
	".section .debug_abbrev\nabbrevs:\n"                                       \
	".byte 1,0x11,1,0x11,1,0x12,0xb,0x10,0x17,0,0\n"                           \
	".byte 2,0x2e,0,3,8,0x3b,0xb,0x3a,0xb,0,0\n" /* abstract */                \
	".byte 3,0x2e,1,0x11,1,0x12,0xb,0,0\n"                                     \
	".byte 4,0x1d,1,0x31,0x13,0x11,1,0x12,0xb,0x58,0xb,0x59,0xb,0,0\n"         \
	".byte 5,0x1d,0,0x31,0x13,0x11,1,0x12,0xb,0x58,0xb,0x59,0xb,0,0\n"         \
	".byte 6,0x2e,0,3,8,0x3b,0xb,0x3a,0xb,0x11,1,0x12,0xb,0,0\n"               \
	".byte 0\n"                                                                \
	".section .debug_info\nunit:.long end-start\nstart:.value 4\n"             \
	".long abbrevs\n.byte 8\n"                                                 \
	".byte 1\n.quad main\n.byte 112\n.long 0\n"                                \
	"Dmain:.byte 2\n.asciz \"main\"\n.byte 1,1\n"                              \
	"Dhelper:.byte 2\n.asciz \"helper\"\n.byte 2,1\n"                          \
	"Dleaf:.byte 2\n.asciz \"leaf\"\n.byte 30,1\n"                             \
	"Dtwin1:.byte 2\n.asciz \"twin\"\n.byte 40,1\n"                            \
	"Dtwin2:.byte 2\n.asciz \"twin\"\n.byte 41,1\n"                            \
	"Dcpp1:.byte 2\n.asciz \"_Z3cppv\"\n.byte 50,1\n"                          \
	"Dcpp2:.byte 2\n.asciz \"_Z3cppv\"\n.byte 51,1\n"                          \
	"Dother:.byte 2\n.asciz \"other\"\n.byte 3,1\n"                            \
	".byte 3\n.quad main\n.byte 16\n"                                          \
	".byte 5\n.long Dtwin1-unit\n.quad main\n.byte 2,1,9\n"                    \
	".byte 5\n.long Dcpp1-unit\n.quad main+2\n.byte 2,1,9\n"                   \
	".byte 4\n.long Dhelper-unit\n.quad main+4\n.byte 8,1,10\n"                \
	".byte 5\n.long Dleaf-unit\n.quad main+6\n.byte 2,1,11\n"                  \
	".byte 0\n.byte 0\n"                                                       \
	".byte 3\n.quad helper\n.byte 16\n"                                        \
	".byte 5\n.long Dtwin2-unit\n.quad helper\n.byte 2,1,9\n"                  \
	".byte 5\n.long Dcpp2-unit\n.quad helper+2\n.byte 2,1,9\n.byte 0\n"        \
	".byte 3\n.quad other\n.byte 16\n"                                         \
	".byte 5\n.long Dother-unit\n.quad other+2\n.byte 2,1,12\n"                \
	".byte 4\n.long Dmain-unit\n.quad other+8\n.byte 8,1,12\n"                 \
	".byte 5\n.long Dhelper-unit\n.quad other+12\n.byte 4,1,13\n"              \
	".byte 0\n.byte 0\n"                                                       \
	"Dstep:.byte 2\n.asciz \"step\"\n.byte 60,2\n"                             \
	"Dsame:.byte 2\n.asciz \"same\"\n.byte 70,1\n"                             \
	"Dalias:.byte 2\n.asciz \"alias\"\n.byte 80,1\n"                           \
	".byte 6\n.asciz \"step\"\n.byte 60,1\n.quad step\n.byte 16\n"             \
	".byte 6\n.asciz \"same\"\n.byte 70,1\n.quad same\n.byte 16\n"             \
	".byte 6\n.asciz \"folded\"\n.byte 81,1\n.quad alias\n.byte 16\n"          \
	".byte 3\n.quad user\n.byte 16\n"                                          \
	".byte 5\n.long Dstep-unit\n.quad user\n.byte 2,1,14\n"                    \
	".byte 5\n.long Dsame-unit\n.quad user+2\n.byte 2,1,15\n"                  \
	".byte 5\n.long Dalias-unit\n.quad user+4\n.byte 2,1,16\n"                 \
	".byte 0\n.byte 0\nend:\n"

#ifdef __x86_64__
static void build_inlined_with_id(const char *id)
{
	setenv("ID", id, 1);
	assert_int_equal(system("mkdir -p bin"), 0);
	write_text("b.s", INLINED);
	assert_int_equal(
		system("${CC:-cc} -nostdlib -static -Wl,-e,0 "
		       "-Wl,-Ttext=0x401000 -Wl,--build-id=$ID -o bin/x b.s"),
		0);
}

static void build_inlined(void)
{
	build_inlined_with_id("0x01");
}

FOLDER_TEST(inlined_functions_are_symbols)
{
#define INLINES .names.inlines = true
	/* clang-format off */
	const struct row rows[] = {
		{ "not asked for",
		  { "current x x E 1003=1 1004=2 1006=4 1010=8" }, { 0 }, NULL, NULL,
		  EXPECTED_ROW },
		{ "the innermost has the samples",
		  { "current x x E 1003=1 1004=2 1006=4 1008=16 100c=64 1014=8" }, { INLINES }, NULL, NULL,
		  EXPECTED_ROW },
		{ "with lines",
		  { "current x x E 1004=2 1006=4" }, { INLINES, .lines.wanted = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "with addresses",
		  { "current x x E 1004=2 1005=1 1014=3" }, { INLINES, .symbols.details = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "one name, two functions",
		  { "current x x E 1000=2 1001=1 1010=4" }, { INLINES }, NULL, NULL,
		  EXPECTED_ROW },
		{ "one name, two functions, compared",
		  { "current x x E 1000=100 1010=300", "old x x E 1000=100 1010=300" }, { INLINES }, NULL, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "one name, of which one has old samples",
		  { "current x x E 1000=100 1010=300", "old x x E 1010=30" }, { INLINES }, NULL, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "the name of a symbol of another file",
		  { "current x x E 1030=1 1060=4" }, { INLINES }, NULL, NULL,
		  EXPECTED_ROW },
		{ "the name of a symbol of the same declaration",
		  { "current x x E 1040=1 1062=4" }, { INLINES }, NULL, NULL,
		  "x same 5\n" },
		{ "the name of a symbol of which the declaration is not known",
		  { "current x x E 1050=1 1064=4" }, { INLINES }, NULL, NULL,
		  "x alias 5\n" },
		{ "one mangled name, one function",
		  { "current x x E 1002=2 1012=4" }, { INLINES }, NULL, NULL,
		  "x cpp() 6 inlined\n" },
		{ "beside all of it",
		  { "current x x E 100c=1 1004=2 1006=4 101c=8", "tree current x E 7:x+1000 8:x+1004>x+1010" }, { INLINES, TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "a function that is above itself, inlined",
		  { "current x x E 100c=1 1004=2 1006=4", "tree current x E 7:x+1004>x+1000" }, { INLINES, TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "partly above itself",
		  { "current x x E 100c=2 1004=6", "tree current x E 4:x+1004>x+1000 4:x+1000" }, { INLINES, TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "callers before these were addresses",
		  { "current x x E 101c=1", "tree current x E 1:x+1000>x+1010" }, { INLINES, TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "two in one",
		  { "current x x E 102c=1 1028=2 1020=4", "tree current x E 7:x+1020" }, { INLINES, TOTALS }, NULL, NULL,
		  EXPECTED_ROW },
		{ "a function that is inlined in itself",
		  { "current x x E 1020=1 1022=5", "tree current x E 6:x+1020" }, { INLINES, TOTALS }, NULL, NULL,
		  "x other 6/6\n" },
		{ "and called by another one",
		  { "current x x E 1022=5", "tree current x E 5:x+1008>x+1020" }, { INLINES, TOTALS, .totals.stack_calls = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls of inlined code, with lines",
		  { "current x x E 100c=1 1004=2 1006=4", "current x x F 1006=5", "tree current x E 7:x+1000", "tree current x F 5:x+1000" }, { INLINES, TOTALS, .totals.stack_calls = true, .lines.wanted = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls from inlined code, with lines",
		  { "current x x E 1020=5", "tree current x E 3:x+1006>x+1020 2:x+1007>x+1020" }, { INLINES, TOTALS, .totals.stack_calls = true, .lines.wanted = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls of inlined code that is not asked for",
		  { "current x x E 100c=1 1004=2 1006=4", "tree current x E 7:x+1000" }, { INLINES, TOTALS, .totals.stack_calls = true, .names.exclude = LIST("leaf") }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls in inlined code that is not asked for",
		  { "current x x E 100c=1 1004=2 1006=4", "tree current x E 7:x+1000" }, { INLINES, TOTALS, .totals.stack_calls = true, .names.exclude = LIST("helper") }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls of inlined code that nobody asked for",
		  { "current x x E 100c=1 1004=2 1006=4", "tree current x E 7:x+1000" }, { INLINES, TOTALS, .totals.stack_calls = true, .names.include = LIST("leaf") }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls in a function that is inlined in itself",
		  { "current x x E 1020=1 1022=5 102c=2", "tree current x E 8:x+1020" }, { INLINES, TOTALS, .totals.stack_calls = true, .lines.wanted = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls of a function that is above itself, inlined",
		  { "current x x E 100c=1 1004=2 1006=4", "tree current x E 7:x+1004>x+1000" }, { INLINES, TOTALS, .totals.stack_calls = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls of a function that is partly above itself",
		  { "current x x E 100c=2 1004=6", "tree current x E 4:x+1004>x+1000 4:x+1000" }, { INLINES, TOTALS, .totals.stack_calls = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls of a function that is above itself, and called",
		  { "current x x E 100c=2 1004=6 1014=3", "tree current x E 4:x+1004>x+1000 4:x+1000 3:x+1021>x+1010" }, { INLINES, TOTALS, .totals.stack_calls = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls of a function that is inlined in two others, above itself",
		  { "current x x E 1004=6 102c=4", "tree current x E 6:x+1004>x+102c>x+1000 4:x+1020" }, { INLINES, TOTALS, .totals.stack_calls = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "where code was inlined",
		  { "current x x E 1003=1 1004=2 1006=4 102c=3" }, { INLINES, .symbols.details = true, .lines.wanted = true, .lines.call_sites = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "what functions code is of",
		  { "current x x E 1003=1 1004=2 1006=4 100e=9 102c=3 1022=5 1050=1" }, { .symbols.details = true, .lines.wanted = true, .lines.frames = true }, NULL, NULL,
		  EXPECTED("what-functions-code-is-of") },
		{ "calls of inlined code in stacks",
		  { "current x x E 1014=5", "tree current x E 5:x+1006>x+1010 2:x+1004>x+1020" }, { INLINES, .calls.wanted = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "by line",
		  { "current x x E 1030=8 1000=1 1020=4 1010=2" }, { .lines.wanted = true }, "debug", NULL,
		  EXPECTED_ROW },
		{ "lines of inlined code, with short names",
		  { "current x x E 1002=2 1006=4 1012=1" }, { INLINES, .symbols.details = true, .lines.wanted = true, .lines.split = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "lines with names as they are",
		  { "current x x E 1002=2" }, { INLINES, .symbols.details = true, .lines.wanted = true, .lines.split = true, .names.demangle = PP_DEMANGLE_NONE }, NULL, NULL,
		  "x _Z3cppv 2 inlined /src/a.c:1\n" },
		{ "lines, compared",
		  { "current x x E 1000=1 1010=4", "old x x E 1010=3 1020=4" }, { .symbols.details = true, .lines.wanted = true, .lines.split = true }, NULL, "{ session:old } {}",
		  EXPECTED_ROW },
		{ "calls of it",
		  { "current x x E 1004=2 1006=4", "current x x>x E 100f>1020=8" }, { INLINES, .calls.wanted = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls from it",
		  { "current x x E 1020=1", "current x x>x E 1006>1020=8" }, { INLINES, .calls.wanted = true }, NULL, NULL,
		  EXPECTED_ROW },
	};
	/* clang-format on */

	build_inlined();
	write_rows(rows, NR(rows));
}

/* As opsymbols does, for these four places. */
static void store_inlined(void)
{
	struct op_arena arena;
	struct pp_messages messages = { .arena = &arena };
	struct op_diag diag = { 0 };
	struct pp_locator locator;
	struct op_session session;
	struct pp_point points[] = {
		{ .key = 0x1006 },
		{ .key = 0x1030 },
		{ .key = 0x1060 },
		{ .key = 0x1062 },
	};
	const struct pp_image image = { .name = "/bin/x",
					.path = "/bin/x",
					.kind = OP_IMAGE_FILE,
					.build_id = { 2, { 1 } } };
	struct pp_storing s = { .session = &session,
				.locator = &locator,
				.messages = &messages,
				.max = 1 << 20,
				.cache = -1 };

	op_arena_init(&arena);
	assert_int_equal(op_session_init(&session, ".", &diag), 0);
	assert_int_equal(
		pp_locator_init(&locator, &arena, NULL, ".", NULL, &diag), 0);
	assert_int_equal(pp_store_image(&s, &image, points, NR(points)), 0);
	assert_int_equal(access("store/.build-id/01/00", R_OK), 0);
	assert_int_equal(access("store/.build-id/01/00.inlines", R_OK), 0);
	op_arena_release(&arena);
}

/* What a session keeps of inlined functions is all that a report needs. */
FOLDER_TEST(kept_answers_are_enough)
{
	static const struct row row = {
		"without debug information",
		{ "build 1 2 0", "current x x E 1030=1 1060=4 1062=2 1006=8" },
		{ INLINES },
		NULL,
		NULL,
		EXPECTED_ROW
	};

	build_inlined_with_id("0x0100");
	write_rows(&row, 1);
	store_inlined();
	assert_int_equal(system("objcopy --strip-debug bin/x"), 0);
	write_rows(&row, 1);
}

/* The binary, and the maker of code, that lack most names are told. */
FOLDER_TEST(nameless_code_is_told)
{
	/* clang-format off */
	static const struct row rows[] = {
		{ "a binary with names", { "current x x E 1000=3" }, { 0 }, NULL, NULL, "x main 3\n" },
		{ "a stripped one", { "current s s E 1000=3 1001=4", "current x x E 1000=9" }, { 0 }, NULL, NULL,
		  EXPECTED_ROW },
		{ "two stripped ones", { "current s s E 1000=3", "current r r E 1000=4" }, { 0 }, NULL, NULL,
		  EXPECTED_ROW },
		{ "in the other order", { "current s s E 1000=4", "current r r E 1000=3" }, { 0 }, NULL, NULL,
		  EXPECTED_ROW },
		{ "two with as many samples", { "current s s E 1000=4", "current r r E 1000=4" }, { 0 }, NULL, NULL,
		  EXPECTED_ROW },
		{ "of two applications", { "current x s E 1000=3", "current y s E 1000=4", "current r r E 1000=6" }, { 0 }, NULL, NULL,
		  EXPECTED_ROW },
		{ "calls are no samples", { "current s s E 1000=3", "current r r>r E 1000>1000=9", "current r r E 1000=2" }, { .calls.wanted = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "made code", { "current x a E 1=4" }, { 0 }, NULL, NULL,
		  EXPECTED_ROW },
		{ "made code of a program that embeds a runtime", { "current x a E 1=4", "current x libjvm.so E 1=1", "current y libnode.so E 1=9" }, { 0 }, NULL, NULL, EXPECTED_ROW },
		{ "some of which has names", { "current x a E 1=4", "current x 7.jo E 1=1", "current y 7.jo E 1=1" }, { 0 }, NULL, NULL, EXPECTED_ROW },
		{ "an interpreter", { "current python3.11 python3.11 E 1=4", "current x x E 1000=9" }, { 0 }, NULL, NULL, EXPECTED_ROW },
		{ "of two, the one with most samples", { "current x libpython3.9.so.1 E 1=4", "current y libruby-3.1.so E 1=5", "current z libruby-3.1.so E 1=3" }, { 0 }, NULL, NULL, EXPECTED_ROW },
		{ "one that names functions", { "current x libpython3.9.so.1 E 1=4", "current x 7.jo E 1=1", "current y 7.jox E 1=1", "current y perl E 1=2" }, { 0 }, NULL, NULL, EXPECTED_ROW },
	};
	/* clang-format on */

	build_inlined();
	assert_int_equal(system("strip -o bin/s bin/x; strip -o bin/r bin/x"),
			 0);
	write_rows(rows, NR(rows));
}

/* Stacks end in functions; which of their samples are in what was inlined
 * there, the flat files tell. */
FOLDER_TEST(stacks_end_in_inlined_functions)
{
#define TREE INLINES, .tree.wanted = true
	/* clang-format off */
	const struct row rows[] = {
		{ "all parts of a function",
		  { "current x x E 100c=1 1004=2 1006=4", "tree current x E 7:x+1000" }, { TREE }, NULL, NULL,
		  EXPECTED_ROW },
		{ "where functions are declared",
		  { "current x x E 100c=1 1004=2 1006=4 1024=5", "tree current x E 7:x+1000 5:x+1006>x+1020" }, { TREE, .lines.wanted = true, .tree.origins = true, .lines.declarations = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "parts in pieces",
		  { "current x x E 1004=1 1006=4 1008=1 100c=1", "tree current x E 7:x+1000" }, { TREE }, NULL, NULL,
		  EXPECTED_ROW },
		{ "not asked for",
		  { "current x x E 100c=1 1004=2 1006=4", "tree current x E 7:x+1000" }, { .tree.wanted = true }, NULL, NULL,
		  EXPECTED_AS("not asked for, 2") },
		{ "nothing is inlined where samples are",
		  { "current x x E 100c=1 1008=0", "tree current x E 7:x+1000" }, { TREE }, NULL, NULL,
		  EXPECTED_ROW },
		{ "all is inlined",
		  { "current x x E 1004=7", "tree current x E 7:x+1000" }, { TREE }, NULL, NULL,
		  EXPECTED_ROW },
		{ "no flat samples",
		  { "current x x E 1010=7", "tree current x E 7:x+1000" }, { TREE }, NULL, NULL,
		  EXPECTED_ROW },
		{ "what rounding takes is owed to the next stack",
		  { "current x x E 100c=1 1004=2 1006=4", "tree current x E 3:x+1024>x+1000 4:x+1000" }, { TREE }, NULL, NULL,
		  EXPECTED_ROW },
		{ "outwards",
		  { "current x x E 100c=1 1004=2 1006=4", "tree current x E 3:x+1024>x+1000 4:x+1000" }, { TREE, .tree.callers = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "outwards, all applications",
		  { "current x x E 100c=1 1004=2 1006=4", "tree current x E 3:x+1024>x+1000 4:x+1000" }, { TREE, .tree.callers = true, .select.merge = PP_MERGE_LIB }, NULL, NULL,
		  EXPECTED_ROW },
		{ "callers are inlined functions",
		  { "current x x E 1014=5", "tree current x E 5:x+1006>x+1010" }, { TREE }, NULL, NULL,
		  EXPECTED_ROW },
		{ "callers, outwards",
		  { "current x x E 1014=5", "tree current x E 5:x+1006>x+1010" }, { TREE, .tree.callers = true }, NULL, NULL,
		  EXPECTED_ROW },
		{ "some by name",
		  { "current x x E 100c=1 1004=2 1006=4", "tree current x E 7:x+1000" }, { TREE, .names.include = LIST("leaf", "main") }, NULL, NULL,
		  EXPECTED_ROW },
		{ "some by name, outwards",
		  { "current x x E 100c=1 1004=2 1006=4", "tree current x E 7:x+1000" }, { TREE, .tree.callers = true, .names.exclude = LIST("leaf", "main") }, NULL, NULL,
		  EXPECTED_ROW },
		{ "each column its own",
		  { "current x x E 100c=7", "current x x F 1004=5", "tree current x E 7:x+1000", "tree current x F 5:x+1000" }, { TREE }, NULL, NULL,
		  EXPECTED_ROW },
		{ "applications that are not kept apart",
		  { "current x x E 100c=4 1004=8", "tree current x E 6:x+1000", "tree current y E 6:x+1000" }, { TREE }, NULL, NULL,
		  EXPECTED_ROW },
		{ "each application its own",
		  { "current x x E 100c=7", "current y x E 1004=5", "tree current x E 7:x+1000", "tree current y E 5:x+1000" }, { TREE }, NULL, NULL,
		  EXPECTED_ROW },
	};
	/* clang-format on */

	build_inlined();
	write_rows(rows, NR(rows));
}

/* ---- interpreters -------------------------------------------------------- */

/* The binary above with functions of other names at its first places. */
static void build_named(const char *name, const char *main, const char *helper,
			const char *other)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "objcopy --redefine-sym main=%s --redefine-sym helper=%s "
		 "--redefine-sym other=%s bin/x bin/%s",
		 main, helper, other, name);
	assert_int_equal(system(command), 0);
}

static const struct pp_symbol_entry *
find_same_symbol(const struct pp_report *report,
		 const struct pp_symbol_entry *entry)
{
	for (size_t i = 0; i < report->symbols.nr; i++) {
		const struct pp_symbol_entry *other = &report->symbols.list[i];

		if (!strcmp(other->app, entry->app) &&
		    !strcmp(other->image->path, entry->image->path) &&
		    !strcmp(other->raw_name, entry->raw_name))
			return other;
	}
	return NULL;
}

/* @folded has all samples of @native, and all functions outside interpreters
 * have the totals that they have there. */
static void check_folded(const struct pp_report *folded,
			 const struct pp_report *native)
{
	size_t nr = folded->classes.nr;

	assert_int_equal(nr, native->classes.nr);
	assert_memory_equal(folded->totals, native->totals,
			    nr * sizeof(uint64_t));
	assert_memory_equal(folded->symbols.totals, native->symbols.totals,
			    nr * sizeof(uint64_t));
	for (size_t i = 0; i < folded->symbols.nr; i++) {
		const struct pp_symbol_entry *entry = &folded->symbols.list[i];
		const struct pp_symbol_entry *other =
			find_same_symbol(native, entry);

		if (op_runtime_of_file(entry->image->path))
			continue;
		assert_non_null(other);
		assert_memory_equal(entry->all_counts, other->all_counts,
				    nr * sizeof(uint64_t));
	}
}

/* What holds for the table of symbols of any session. */
static void check_folding(const char *words_of_row)
{
	struct pp_request request = { TOTALS, INLINES, .symbols.wanted = true };
	struct pp_report *folded, *native;
	const char *words[8] = { NULL };
	struct op_session session;
	struct pp_spec spec;
	char copy[128];

	split_words(words_of_row, copy, words, NR(words));
	assert_int_equal(pp_spec_init(&spec, words, NULL), 0);
	assert_int_equal(op_session_init(&session, ".", NULL), 0);
	assert_int_equal(pp_sort_init(&request.symbols.sort, NULL, NULL), 0);
	request.select.session = &session;
	request.select.spec = &spec;
	request.images.root = ".";
	assert_int_equal(pp_report_new(&native, &request, NULL), 0);
	request.names.fold_interpreters = true;
	assert_int_equal(pp_report_new(&folded, &request, NULL), 0);
	if (native->symbols.nr && native->symbols.list[0].all_counts)
		check_folded(folded, native);
	pp_report_free(folded);
	pp_report_free(native);
	pp_spec_release(&spec);
}

FOLDER_TEST(interpreters_are_part_of_functions)
{
#define FOLDED INLINES, .names.fold_interpreters = true
#define ONE                                                                    \
	"current python3 python3 E 1000=3 1020=4",                             \
		"tree current python3 E 3:python3+1019>7.jo+100e>python3+1000 4:python3+1019>7.jo+100e>python3+100d>python3+1020"
	/* clang-format off */
	const struct row rows[] = {
		{ "folded: all frames", { ONE }, { INLINES, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: a function", { ONE }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: a function, its tree", { ONE }, { FOLDED, .tree.wanted = true }, NULL, NULL, EXPECTED_ROW },
		{ "folded: a function, its tree outwards", { ONE }, { FOLDED, .tree.wanted = true, .tree.callers = true }, NULL, NULL, EXPECTED_ROW },
		{ "folded: a function, its tree by name", { ONE }, { FOLDED, .tree.wanted = true, .tree.by_name = true, .tree.all = true }, NULL, NULL, EXPECTED_ROW },
		{ "folded: without totals", { ONE }, { FOLDED }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: by address", { ONE }, { FOLDED, .symbols.details = true }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: calls", { ONE }, { FOLDED, .calls.wanted = true }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: calls with what is below them", { ONE }, { FOLDED, TOTALS, .totals.stack_calls = true }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: samples of its own", { ONE, "current python3 7.jo E 1010=2 1004=1", }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: recursion",
		  { "current python3 python3 E 1000=7 1020=4", "tree current python3 E 7:7.jo+1018>python3+1000>7.jo+1018>python3+100d>7.jo+1018>python3+1000 4:7.jo+1018>python3+100d>7.jo+1024>python3+1020" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: recursion, its tree",
		  { "current python3 python3 E 1000=7 1020=4", "tree current python3 E 7:7.jo+1018>python3+1000>7.jo+1018>python3+100d>7.jo+1018>python3+1000 4:7.jo+1018>python3+100d>7.jo+1024>python3+1020" }, { FOLDED, .tree.wanted = true }, NULL, NULL, EXPECTED_ROW },
		{ "folded: the interpreter outside of functions",
		  { "current python3 python3 E 1000=7 1020=4", "tree current python3 E 2:python3+1000 5:python3+1019>7.jo+100e>python3+1000 3:python3+1030>python3+1020 1:python3+1019>7.jo+100e>python3+1020" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: other code below functions, and what it calls",
		  { "current python3 python3 E 1000=1 1020=4", "current python3 libz.so E 1010=8 1020=2", "tree current python3 E 1:7.jo+100e>python3+1000 8:7.jo+100e>python3+100d>libz.so+1000>libz.so+1010 4:7.jo+100e>python3+100d>libz.so+1000>python3+1020 2:7.jo+100e>python3+100d>libz.so+100d>python3+1019>7.jo+1018>python3+1019>libz.so+1020" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: other code below functions, the tree",
		  { "current python3 python3 E 1000=1 1020=4", "current python3 libz.so E 1010=8 1020=2", "tree current python3 E 1:7.jo+100e>python3+1000 8:7.jo+100e>python3+100d>libz.so+1000>libz.so+1010 4:7.jo+100e>python3+100d>libz.so+1000>python3+1020 2:7.jo+100e>python3+100d>libz.so+100d>python3+1019>7.jo+1018>python3+1019>libz.so+1020" }, { FOLDED, .tree.wanted = true }, NULL, NULL, EXPECTED_ROW },
		{ "folded: two languages",
		  { "current python3 python3 E 1000=1 1020=7", "current python3 libjvm.so E 1010=8", "tree current python3 E 1:python3+100d>7.jo+100e>python3+1000 8:python3+100d>7.jo+100e>python3+100d>libjvm.so+1000>7.jo+1018>libjvm.so+1010 4:python3+100d>7.jo+100e>python3+100d>libjvm.so+1000>7.jo+1018>python3+1020 2:python3+100d>7.jo+100e>python3+100d>libjvm.so+1000>7.jo+1018>7.jo+1028>python3+1020 1:python3+100d>7.jo+100e>python3+100d>libjvm.so+1000>7.jo+1018>libjvm.so+1000>python3+1020" }, { FOLDED, .tree.wanted = true }, NULL, NULL, EXPECTED_ROW },
		{ "folded: two languages in the table",
		  { "current python3 python3 E 1000=1 1020=7", "current python3 libjvm.so E 1010=8", "tree current python3 E 1:python3+100d>7.jo+100e>python3+1000 8:python3+100d>7.jo+100e>python3+100d>libjvm.so+1000>7.jo+1018>libjvm.so+1010 4:python3+100d>7.jo+100e>python3+100d>libjvm.so+1000>7.jo+1018>python3+1020 2:python3+100d>7.jo+100e>python3+100d>libjvm.so+1000>7.jo+1018>7.jo+1028>python3+1020 1:python3+100d>7.jo+100e>python3+100d>libjvm.so+1000>7.jo+1018>libjvm.so+1000>python3+1020" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: a runtime that names some functions",
		  { "current x libruby.so E 1000=3", "tree current x E 3:libruby.so+1019>7.jo+100e>libruby.so+1000" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: below what is missing of a stack",
		  { "current python3 python3 E 1000=3", "tree current python3 E 3:[truncated]>7.jo+1018>python3+100d>python3+1000" }, { FOLDED, .tree.wanted = true }, NULL, NULL, EXPECTED_ROW },
		{ "folded: code of its own name",
		  { "current python3 python3 E 1000=3", "tree current python3 E 3:python3+1019>7.jox+1018>python3+1000" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: samples in inlined code of the interpreter, of which a part moves",
		  { "current python3 python3 E 100c=10 1004=20 1006=40", "tree current python3 E 35:python3+1019>7.jo+1018>python3+1000 35:python3+1000" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: samples in inlined code of the interpreter, the tree",
		  { "current python3 python3 E 100c=10 1004=20 1006=40", "tree current python3 E 35:python3+1019>7.jo+1018>python3+1000 35:python3+1000" }, { FOLDED, .tree.wanted = true }, NULL, NULL, EXPECTED_ROW },
		{ "folded: a function that has others inlined",
		  { "current python3 python3 E 1000=7", "tree current python3 E 7:python3+1019>7.jo+1006>python3+1000" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: a function that has others inlined, the tree",
		  { "current python3 python3 E 1000=7", "tree current python3 E 7:python3+1019>7.jo+1006>python3+1000" }, { FOLDED, .tree.wanted = true }, NULL, NULL, EXPECTED_ROW },
		{ "folded: a program that embeds it",
		  { "current x libpython3.11.so.1 E 1000=3", "current x x E 1020=1", "tree current x E 3:x+1000>libpython3.11.so.1+1019>7.jo+100e>libpython3.11.so.1+1000 1:x+1020" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: applications that are not kept apart",
		  { "current libpython3.11.so.1 libpython3.11.so.1 E 1000=7", "tree current x E 3:x+1000>libpython3.11.so.1+1019>7.jo+100e>libpython3.11.so.1+1000", "tree current y E 4:libpython3.11.so.1+1019>7.jo+100e>libpython3.11.so.1+1000" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: applications that are not kept apart, the tree with all samples",
		  { "current libpython3.11.so.1 libpython3.11.so.1 E 1000=9", "tree current x E 3:x+1000>libpython3.11.so.1+1019>7.jo+100e>libpython3.11.so.1+1000", "tree current y E 4:libpython3.11.so.1+1019>7.jo+100e>libpython3.11.so.1+1000" }, { FOLDED, .tree.wanted = true, .tree.all = true }, NULL, NULL, EXPECTED_ROW },
		{ "folded: threads, and samples without a stack",
		  { "current python3 python3 E.7.7 1000=5 1020=1", "current python3 python3 E.7.8 1000=4", "tree current python3 E.7.7 3:7.jo+100e>python3+1000", "tree current python3 E.7.8 4:7.jo+1018>python3+1000" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: threads, and samples without a stack, the tree with all samples",
		  { "current python3 python3 E.7.7 1000=5 1020=1", "current python3 python3 E.7.8 1000=4", "tree current python3 E.7.7 3:7.jo+100e>python3+1000", "tree current python3 E.7.8 4:7.jo+1018>python3+1000" }, { FOLDED, .tree.wanted = true, .tree.all = true }, NULL, NULL, EXPECTED_ROW },
		{ "folded: images merged",
		  { "current python3 python3 E 1000=5", "tree current python3 E 3:7.jo+100e>python3+1000" }, { FOLDED, TOTALS, .select.merge = PP_MERGE_LIB }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: the interpreter asked for",
		  { ONE }, { FOLDED, TOTALS }, NULL, "session:current lib-image:/bin/python3", EXPECTED_ROW },
		{ "folded: the interpreter asked for, its tree",
		  { ONE }, { FOLDED, .tree.wanted = true }, NULL, "lib-image:/bin/python3", EXPECTED_ROW },
		{ "folded: functions asked for",
		  { ONE }, { FOLDED, TOTALS, .names.include = LIST("f") }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: more stacks than samples",
		  { "current python3 python3 E 1000=2 1020=1", "tree current python3 E 3:7.jo+100e>python3+1000" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: a great number",
		  { "current python3 python3 E 1000=18446744073709551615 1001=9007199254740993", "tree current python3 E 9223372036854775807:7.jo+100e>python3+1000" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: no stacks",
		  { "current python3 python3 E 1000=2 1020=1", "current python3 7.jo E 1000=3" }, { FOLDED, TOTALS }, NULL, "session:current", EXPECTED_ROW },
		{ "folded: compared",
		  { ONE, "old python3 python3 E 1000=5", "tree old python3 E 3:7.jo+100e>python3+1000 2:7.jo+1018>python3+1000" }, { FOLDED }, NULL, "{ session:old } { session:current }", EXPECTED_ROW },
	};
	/* clang-format on */

	build_inlined();
	build_named("7.jo", "f", "g", "h");
	build_named("python3", "eval", "call", "add");
	for (size_t i = 0; i < NR(rows); i++) {
		write_rows(&rows[i], 1);
		if (rows[i].words && *rows[i].words != '{')
			check_folding(rows[i].words);
	}
}
#endif

/* ---- several builds ------------------------------------------------------ */

FOLDER_TEST(builds_are_added_up)
{
#define BOTH NULL, "session:current,old"
	/* clang-format off */
	static const struct row rows[] = {
		{ "by name, and of one name by address",
		  { "current k k E 0=1 100=2 200=3 300=4 400=5", "build 2 1 0", "old k k E 0=10 40=20 80=30 140=40 180=50 1c0=60" }, { 0 }, BOTH,
		  EXPECTED_ROW },
		{ "addresses are of the build with most samples",
		  { "current k k E 100=200 200=3", "build 2 1 0", "old k k E 140=40 180=50" }, { 0 }, BOTH,
		  EXPECTED_ROW },
		{ "of several columns",
		  { "current k k E 100=1", "current k k F 100=2 200=5", "build 2 1 0", "old k k E 140=40", "old k k F 180=50" }, { 0 }, BOTH,
		  EXPECTED_ROW },
		{ "of each application",
		  { "current x k E 100=1", "current y k E 100=2", "build 2 1 0", "old x k E 140=40" }, { 0 }, BOTH,
		  EXPECTED_AS("of each application, 2") },
		{ "of one build nothing is said",
		  { "current k k E 100=1", "old k k E 100=40" }, { 0 }, BOTH,
		  "vmlinux do_work 41 /vmlinux 100\n" },
		{ "kept apart",
		  { "current k k E 100=1", "build 2 1 0", "old k k E 140=40" }, { .select.by_build = true }, BOTH,
		  EXPECTED_ROW },
		{ "kept apart, of one build",
		  { "current k k E 100=1", "old k k E 140=40" }, { .select.by_build = true }, BOTH,
		  "vmlinux do_work 41 /vmlinux 100\n" },
		{ "apart where addresses are shown",
		  { "current k k E 100=1", "build 2 1 0", "old k k E 140=40" }, { .symbols.details = true }, BOTH,
		  EXPECTED_ROW },
		{ "long ones, old ones and none",
		  { "build 1 8 0", "current x x E 1=1", "build 0 0 1000000000", "old x x E 1=2", "build 0 0 0", "older x x E 1=4" }, { .select.by_build = true }, NULL, "session:current,old,older",
		  EXPECTED_ROW },
		{ "the one with most samples",
		  { "current k k E 100=1 200=30", "build 2 1 0", "old k k E 140=40" }, { .select.one_build = true }, BOTH,
		  EXPECTED_ROW },
		{ "the first one has most",
		  { "current k k E 100=41", "current m m E 0=1", "build 2 1 0", "old k k E 140=40" }, { .select.one_build = true }, BOTH,
		  EXPECTED_ROW },
		{ "calls",
		  { "current k k E 100=1", "current k k>k E 200>100=3", "build 2 1 0", "old k k E 140=40", "old k k>k E 80>140=5 40>140=7" }, { .calls.wanted = true }, BOTH,
		  EXPECTED_ROW },
		{ "totals",
		  { "current k k E 100=1", "tree current k E 1:k+210>k+100", "build 2 1 0", "old k k E 140=40", "tree old k E 40:k+50>k+140" }, { TOTALS }, BOTH,
		  EXPECTED_ROW },
		{ "totals of recursion",
		  { "current k k E 100=10", "tree current k E 3:k+110>k+100", "build 2 1 0", "old k k E 140=40", "tree old k E 40:k+150>k+140" }, { TOTALS }, BOTH,
		  EXPECTED_ROW },
	};
	/* clang-format on */

	write_rows(rows, NR(rows));
}
