// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call trees of small sessions: which frames are one, how they are called,
 * which samples are theirs, what is said of those without a stack.
 */

#include "tests/unit/pp_session.h"

#include "libpp/report/report.h"

#define MAX_FILES 6

struct row {
	const char *name;
	const char *files[MAX_FILES];
	struct pp_request request;
	const char *words;
	const char *text;
};

/* A line for each node: "DEPTH NAME KIND IMAGE SELF/ALL..."; then the sums. */
static void write_nodes(FILE *out, const struct pp_tree *tree)
{
	static const char kinds[] = "RALKNGC";

	for (uint32_t i = 0; i < tree->nr_nodes; i++) {
		const struct pp_frame *frame =
			&tree->frames[tree->nodes[i].frame];
		unsigned int depth = 0;

		for (uint32_t n = i; n; n = tree->nodes[n].parent)
			depth++;
		fprintf(out, "%u %s %c %s", depth, frame->name,
			kinds[frame->kind], frame->image ? frame->image : "-");
		for (size_t c = 0; c < tree->nr_columns; c++)
			fprintf(out, " %llu/%llu",
				(unsigned long long)pp_tree_self(tree, i)[c],
				(unsigned long long)pp_tree_all(tree, i)[c]);
		if (frame->process || frame->thread)
			fprintf(out, " of %s, %s", frame->process ?: "-",
				frame->thread ?: "-");
		fputc('\n', out);
	}
	for (size_t c = 0; c < tree->nr_columns; c++)
		if (tree->broken[c] || tree->cut[c])
			fprintf(out, "column %zu: %llu broken, %llu cut\n", c,
				(unsigned long long)tree->broken[c],
				(unsigned long long)tree->cut[c]);
	if (tree->nr_cut)
		fprintf(out, "%u nodes with less than %.6g %%\n", tree->nr_cut,
			tree->threshold);
}

static void write_trees(FILE *out, const struct row *row)
{
	char *folder = getcwd(NULL, 0), copy[128];
	struct pp_request request = row->request;
	struct pp_spec_pair pair;
	struct op_session session;
	struct op_diag diag = { "" };
	struct pp_report *report;
	int err;
	const char *words[8] = { NULL };
	struct text t;

	text_begin(&t);
	split_words(row->words, copy, words, NR(words));
	assert_int_equal(pp_spec_pair_init(&pair, words, NULL), 0);
	assert_int_equal(op_session_init(&session, ".", NULL), 0);
	request.select.session = &session;
	request.select.spec = &pair.spec;
	request.compare.spec = pair.is_diff ? &pair.old : NULL;
	request.tree.wanted = true;
	err = pp_report_new(&report, &request, &diag);
	assert_true(err <= 0);
	if (!err)
		write_nodes(t.out, report->tree);
	else
		fprintf(t.out, "%s\n", diag.text);
	for (size_t i = 0; i < report->messages.nr; i++)
		if (report->messages.list[i].kind == PP_WARNING ||
		    report->messages.list[i].kind == PP_REMARK_STATS)
			fprintf(t.out, "%s\n", report->messages.list[i].text);
	fclose(t.out);
	write_without(out, t.all, folder);
	free(folder);
	pp_report_free(report);
	pp_spec_pair_release(&pair);
}

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define FLAT "current k k E 100=9 200=1"
#define STACKS                                                                 \
	"tree current x E 2:x+1>k+100 3:x+2>k+1ff>k+300 1:x+3>k+1fe 4:k+400"

FOLDER_TEST(stacks_are_of_symbols)
{
	/* clang-format off */
	const struct row rows[] = {
		{ "one name", { "current k k E 100=1", "tree current k E 1:k+100" }, { 0 }, "",
		  EXPECTED_ROW },
		{ "kinds", { "current x x E 1=21", "tree current x E 1:x+1 2:y+1 3:k+100 4:m+1 5:a+1 6:[truncated]>x+1" }, { 0 }, "",
		  EXPECTED("kinds") },
		{ "the kernel without a file", { "current x x E 1=3", "tree current x E 1:[kernel]>m+1 2:[kernel.modules]" }, { 0 }, "",
		  EXPECTED_ROW },
		{ "kinds by name", { "current x x E 1=21", "tree current x E 1:x+1 2:y+1 3:k+100 4:m+1 5:a+1 6:[truncated]>x+1" }, { .tree.by_name = true }, "",
		  EXPECTED("kinds-by-name") },
		{ "one symbol", { "current x k E 1=10", STACKS }, { 0 }, "", EXPECTED_ROW },
		{ "merged applications", { "current x k E 1=10", STACKS }, { .select.merge = PP_MERGE_LIB }, "",
		  EXPECTED_ROW },
		{ "threads", { "current x k E 1=6", "tree current x E.7.7 1:k+100", "tree current x E.7.8 2:k+100", "tree current x E.9.all 3:k+100" }, { 0 }, "",
		  EXPECTED_ROW },
		{ "threads with names", { "current x k E 1=6", "tree current x E.7.7 1:k+100", "tree current x E.7.8 2:k+100", "tree current x E.9.all 3:k+100" }, { .tree.origins = true }, "",
		  EXPECTED_ROW },
		{ "threads of one process", { "current x k E 1=6", "tree current x E.7.7 1:k+100", "tree current x E.7.8 2:k+100", "tree current x E.9.all 3:k+100" }, { .select.merge = PP_MERGE_TID }, "",
		  EXPECTED_ROW },
		{ "threads of all processes", { "current x k E 1=6", "tree current x E.7.7 1:k+100", "tree current x E.all.8 2:k+100", "tree current x E.9.all 3:k+100" }, { .select.merge = PP_MERGE_TGID }, "",
		  EXPECTED_ROW },
		{ "threads without processes", { "current x k E 1=6", "tree current x E.all.8 2:k+100" }, { 0 }, "",
		  EXPECTED_ROW },
		{ "include", { "current x k E 1=10", STACKS }, { .names.include = LIST("wait") }, "",
		  EXPECTED_ROW },
		{ "exclude", { "current x k E 1=10", STACKS }, { .names.exclude = LIST("do_work") }, "",
		  EXPECTED_ROW },
		{ "none included", { "current x k E 1=10", STACKS }, { .names.include = LIST("none") }, "",
		  EXPECTED_ROW },
		{ "no stacks", { FLAT }, { 0 }, "", EXPECTED_ROW },
		{ "two events", { "current x k E 1=3", "current x k F 1=6", "tree current x E 1:k+100 2:k+200", "tree current x F 5:k+100" }, { 0 }, "",
		  EXPECTED_ROW },
		{ "two events, one asked for", { "current x k E 1=3", "current x k F 1=6", "tree current x E 1:k+100 2:k+200", "tree current x F 5:k+100" }, { 0 }, "event:F",
		  EXPECTED_ROW },
		{ "two events, room for one", { "current x k E 1=3", "current x k F 1=6", "tree current x E 1:k+100" }, { .select.one_class = true }, "", "a folded stack has one count, but there are 2 (E:100, F:100 ...); choose with event:E or the like, or use --format=flamegraph\n" },
		{ "one event, room for one", { "current x k E 1=1", "tree current x E 1:k+100" }, { .select.one_class = true }, "",
		  EXPECTED_ROW },
		{ "an image", { "current x k E 1=10", "current x x E 1=5", "tree current x E 5:x+1 7:x+1>k+100" }, { 0 }, "lib-image:/bin/x",
		  EXPECTED_ROW },
		{ "no dependent images", { "current x k E 1=10", "current x x E 1=5", "tree current x E 5:x+1 7:x+1>k+100" }, { .select.exclude_dependent = true }, "",
		  EXPECTED_ROW },
		{ "cut", { "current x k E 1=10", STACKS }, { .threshold = 41 }, "",
		  EXPECTED("cut") },
		{ "nodes that are few enough", { "current x k E 1=10", STACKS }, { .tree.max_nodes = 3, .threshold = 50 }, "",
		  EXPECTED("nodes-that-are-few-enough") },
		{ "nodes", { "current x k E 1=10", STACKS }, { .tree.max_nodes = 2 }, "",
		  EXPECTED_ROW },
		{ "compared", { "current x k E 1=3", "old x k E 1=7", "tree current x E 1:k+100 2:k+200", "tree old x E 3:k+100 4:k+300" }, { 0 }, "{ session:old } { session:current }",
		  EXPECTED_ROW },
		{ "other events compared", { "current x k E 1=3", "current x k F 1=3", "old x k E 1=7", "old x k F 1=7", "tree current x F 1:k+100", "tree old x E 3:k+300" }, { 0 }, "{ session:old } { session:current }",
		  EXPECTED_ROW },
		{ "one class compared", { "current x k E 1=3", "old x k E 1=7", "tree current x E 3:k+100", "tree old x E 7:k+300" }, { .select.one_class = true }, "{ session:old } { session:current }",
		  EXPECTED_ROW },
		{ "a tree of an application without samples", { "current x k E 1=3", "tree current y E 3:y+1" }, { 0 }, "",
		  EXPECTED_ROW },
		{ "no counts", { "current x k E 1=3", "tree current x E 0:k+100" }, { 0 }, "",
		  EXPECTED_ROW },
		{ "all of a flat profile", { FLAT, "current x y F 1=5" }, { .tree.all = true }, "",
		  EXPECTED_ROW },
		{ "all, outwards and merged", { FLAT, "current x y E 1=5" }, { .tree.all = true, .tree.callers = true, .select.merge = PP_MERGE_LIB }, "",
		  EXPECTED_ROW },
		{ "all, some without a stack", { "current x k E 100=7 110=2 200=1", "current y k E 200=8", "tree current x E 3:x+1>k+100" }, { .tree.all = true }, "",
		  EXPECTED("all-some-without-a-stack") },
		{ "all, libraries by themselves", { "current k k E 100=9", "current x x E 1=2", "tree current x E 3:x+1>k+100", "tree current y E 4:k+100" }, { .tree.all = true }, "",
		  EXPECTED("all-libraries-by-themselves") },
		{ "all, stacks that end in other functions", { "current x k E 100=4 200=3 300=1", "tree current x E 6:k+100" }, { .tree.all = true }, "",
		  EXPECTED_ROW },
		{ "all, more stacks than samples", { "current x k E 100=4 200=3", "tree current x E 9:k+100" }, { .tree.all = true }, "",
		  EXPECTED_ROW },
		{ "all, stacks that were not chosen", { "current x k E 100=4", "tree current y E 9:y+1", "tree current x E 2:y+1 1:k+100" }, { .tree.all = true }, "",
		  EXPECTED_ROW },
		{ "all, applications merged", { "current x k E 100=4 200=1", "current y k E 100=6", "current k k E 200=2", "tree current x E 3:k+100", "tree current y E 6:k+100" }, { .tree.all = true, .select.merge = PP_MERGE_LIB }, "",
		  EXPECTED_ROW },
		{ "all, more than a double holds", { "current x k E 100=9007199254740993 200=18446744073709551615", "tree current x E 2:k+100" }, { .tree.all = true }, "",
		  EXPECTED_ROW },
		{ "all, threads", { "current x k E 100=4", "tree current x E.7.7 3:k+100" }, { .tree.all = true }, "",
		  EXPECTED_ROW },
		{ "all of a symbol", { "current x k E 100=7 200=2", "tree current x E 3:k+100 1:k+200" }, { .tree.all = true, .names.include = LIST("wait") }, "",
		  EXPECTED_ROW },
		{ "all of none", { FLAT }, { .tree.all = true, .names.include = LIST("none") }, "",
		  EXPECTED_ROW },
		{ "edges", { "current k k E 1=15", "tree current k E 1:k+0 2:k+ff 4:k+200 8:k+ffffffff" }, { 0 }, "",
		  EXPECTED_ROW },
	};
	/* clang-format on */

	for (size_t i = 0; i < NR(rows); i++) {
		struct text t;

		write_session(rows[i].files, MAX_FILES);
		write_text("samples/current/tasks", "name.7.7 = program\n"
						    "name.7.8 = worker\n");
		write_trees(text_begin(&t), &rows[i]);
		text_must_be(&t, rows[i].name, rows[i].text);
	}
}
