// SPDX-License-Identifier: GPL-2.0-or-later
/* What the options of opreport, opannotate, oparchive, opgprof and opmerge ask
 * for: each row is a command line and the request that is made of it, or why it
 * is refused. */

#include "tests/unit/pp_fixture.h"

#include <limits.h>
#include <sys/ioctl.h>

#include "libpp/symbols/debuginfod.h"
#include "pp/opannotate/opannotate_options.h"
#include "pp/oparchive/oparchive_options.h"
#include "pp/opgprof/opgprof_options.h"
#include "pp/opmerge/opmerge_options.h"
#include "pp/opreport/opreport_options.h"
#include "pp/options.h"

/* ---- values -------------------------------------------------------------- */

struct value {
	const char *text, *outcome;
};

TEST(percentages_are_taken)
{
#define NO_PERCENT(text)                                                       \
	"--x=" text ": not a percentage; give a number from 0 to 100"
	static const struct value rows[] = {
		{ NULL, "-1" },
		{ "0", "0" },
		{ "100", "100" },
		{ "0.5", "0.5" },
		{ "1e1", "10" },
		{ "-0", "-0" },
		{ "100.01", NO_PERCENT("100.01") },
		{ "-1", NO_PERCENT("-1") },
		{ "nan", NO_PERCENT("nan") },
		{ "inf", NO_PERCENT("inf") },
		{ "", NO_PERCENT("") },
		{ "5%", NO_PERCENT("5%") },
		{ "x", NO_PERCENT("x") },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct op_diag diag = { "" };
		double percent = -1;
		struct text t;
		FILE *out = text_begin(&t);

		if (pp_take_percent("x", rows[i].text, &percent, &diag))
			fputs(diag.text, out);
		else
			fprintf(out, "%g", percent);
		text_must_be(&t, rows[i].outcome, rows[i].outcome);
	}
}

TEST(words_of_lists_are_bits)
{
	static const struct value merges[] = {
		{ NULL, "0x20" },	    { "cpu", "0x21" },
		{ "tid", "0x22" },	    { "tgid", "0x26" },
		{ "unitmask", "0x28" },	    { "lib", "0x30" },
		{ "library", "0x30" },	    { "all", "0x7f" },
		{ "cpu,unitmask", "0x29" }, { "tid,tid", "0x22" },
		{ "cpu,", EXPECTED_ROW },   { "cp", EXPECTED_ROW },
	};
	static const struct value verboses[] = {
		{ NULL, "0xffffffff" },	 { "all", "0xffffffff" },
		{ "sfile", "0x2" },	 { "bfd", "0x4" },
		{ "stats", "0x8" },	 { "debug", "0" },
		{ "level1,xml", "0" },	 { "bfd,stats", "0xc" },
		{ "BFD", EXPECTED_ROW },
	};
	struct op_arena arena;

	op_arena_init(&arena);
	for (size_t i = 0; i < NR(merges) + NR(verboses); i++) {
		const struct value *row =
			i < NR(merges) ? &merges[i] : &verboses[i - NR(merges)];
		unsigned int bits = i < NR(merges) ? PP_MERGE_SESSION : 0;
		struct op_diag diag = { "" };
		struct text t;
		FILE *out = text_begin(&t);
		int err =
			i < NR(merges)
				? pp_take_merge(&arena, row->text, &bits, &diag)
				: pp_take_verbose(&arena, true, row->text,
						  &bits, &diag);

		if (err)
			fputs(diag.text, out);
		else
			fprintf(out, "%#x", bits);
		text_must_be(&t, row->text ? row->text : "NULL", row->outcome);
	}
	op_arena_release(&arena);
}

TEST(lists_are_split_at_commas)
{
	static const struct {
		const char *text;
		const char *words[4];
	} rows[] = {
		{ "a", { "a" } },
		{ "a,b", { "a", "b" } },
		{ "a,b,c", { "a", "b", "c" } },
	};
	const char *const *list = NULL;
	struct op_arena arena;

	op_arena_init(&arena);
	assert_int_equal(pp_take_list(&arena, NULL, &list), 0);
	assert_null(list);
	for (size_t i = 0; i < NR(rows); i++) {
		size_t nr = 0;

		assert_int_equal(pp_take_list(&arena, rows[i].text, &list), 0);
		for (; rows[i].words[nr]; nr++)
			assert_string_equal(list[nr], rows[i].words[nr]);
		assert_null(list[nr]);
	}
	op_arena_release(&arena);
}

TEST(words_are_joined)
{
	static const char *const words[] = { "a", "b c", "", "d", NULL };
	struct op_arena arena;

	op_arena_init(&arena);
	assert_string_equal(pp_join_words(&arena, words, "-", "."),
			    "a-b c--d.");
	assert_string_equal(pp_join_words(&arena, words + 3, "-", ""), "d");
	assert_string_equal(pp_join_words(&arena, words + 4, "-", "."), ".");
	assert_string_equal(pp_join_words(&arena, NULL, "-", "."), ".");
	op_arena_release(&arena);
}

/* ---- messages ------------------------------------------------------------ */

TEST(warnings_of_one_cause_are_one_line)
{
	static const struct {
		const char *messages; /* one letter each, see below */
		unsigned int verbose;
		const char *text;
	} rows[] = {
		{ "", 0, "" },
		{ "a", 0, "p: warning: f0: gone\n" },
		{ "aa", 0, EXPECTED_ROW },
		{ "aaa", 0, EXPECTED_AS("aaa, 1") },
		{ "aabaa", 0, EXPECTED_ROW },
		{ "baaabb", 0, EXPECTED_ROW },
		{ "aaa", 1u << PP_REMARK_BFD, EXPECTED_AS("aaa, 2") },
		{ "nn", 0, "p: warning: nothing\np: warning: nothing\n" },
		{ "nnn", 0, EXPECTED_ROW },
		/* Remarks are no warnings, and shown if asked for. */
		{ "ss", 0, "" },
		{ "aass", 0, "p: warning: f0: gone\np: warning: f1: gone\n" },
		{ "st", 1u << PP_REMARK_SFILE, "p: f0: gone\n" },
		{ "st", 1u << PP_REMARK_STATS, "p: f1: gone\n" },
		{ "st", ~0u, "p: f0: gone\np: f1: gone\n" },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct op_arena arena;
		struct pp_messages messages = { .arena = &arena };
		struct text t;
		FILE *out = text_begin(&t);

		op_arena_init(&arena);
		for (size_t k = 0; rows[i].messages[k]; k++) {
			char c = rows[i].messages[k];

			if (c == 'n')
				pp_message(&messages, PP_WARNING, "nothing");
			else
				pp_message(&messages,
					   c == 's'   ? PP_REMARK_SFILE
					   : c == 't' ? PP_REMARK_STATS
						      : PP_WARNING,
					   "f%zu: %s", k,
					   c == 'b' ? "broken" : "gone");
		}
		pp_print_messages(out, "p", &messages, rows[i].verbose);
		text_must_be(&t, rows[i].messages, rows[i].text);
		op_arena_release(&arena);
	}
}

/* ---- requests ------------------------------------------------------------ */

static void write_flag(FILE *out, const char *name, bool set)
{
	if (set)
		fprintf(out, " %s", name);
}

static void write_string(FILE *out, const char *name, const char *text)
{
	if (text)
		fprintf(out, " %s=%s", name, text);
}

static void write_strings(FILE *out, const char *name, const char *const *list)
{
	for (; list && *list; list++)
		fprintf(out, " %s=%s", name, *list);
}

/* The merged axes, and what else is not as without any option. */
static void write_request(FILE *out, const struct pp_request *r,
			  enum pp_demangle demangle)
{
	static const char keys[] = "STIAYDVC"; /* of enum pp_sort_key */

	fprintf(out, "%u ", r->select.merge);
	for (size_t i = 0; i < PP_NR_SORT_KEYS; i++)
		fputc(keys[r->symbols.sort.keys[i]], out);
	write_flag(out, "reverse", r->symbols.sort.reverse);
	write_flag(out, "sort-long", r->symbols.sort.long_names);
	write_flag(out, "any-axes", r->select.any_axes);
	write_flag(out, "no-dependent", r->select.exclude_dependent);
	write_flag(out, "hide-own", r->select.hide_own);
	write_flag(out, "symbols", r->symbols.wanted);
	write_flag(out, "totals", r->totals.wanted);
	write_flag(out, "stack-calls", r->totals.stack_calls);
	write_flag(out, "code-frames", r->lines.frames);
	write_flag(out, "inlines", r->names.inlines);
	write_flag(out, "declarations", r->lines.declarations);
	write_flag(out, "call-sites", r->lines.call_sites);
	write_flag(out, "line-totals", r->lines.totals);
	write_flag(out, "details", r->symbols.details);
	write_flag(out, "calls", r->calls.wanted);
	write_flag(out, "addresses", r->calls.addresses);
	write_flag(out, "lines", r->lines.wanted);
	write_flag(out, "by-line", r->lines.split);
	write_strings(out, "search", r->lines.source_dirs.search);
	write_strings(out, "base", r->lines.source_dirs.bases);
	write_flag(out, "code", r->symbols.code);
	write_flag(out, "intervals", r->intervals);
	write_flag(out, "tree", r->tree.wanted);
	write_flag(out, "callers", r->tree.callers);
	write_flag(out, "by-name", r->tree.by_name);
	write_flag(out, "all", r->tree.all);
	write_flag(out, "origins", r->tree.origins);
	write_flag(out, "one-class", r->select.one_class);
	write_string(out, "by-label", r->select.by_label);
	write_flag(out, "by-build", r->select.by_build);
	write_flag(out, "rows", r->select.layout == PP_LAYOUT_ROWS);
	if (r->tree.max_nodes)
		fprintf(out, " max-nodes=%u", r->tree.max_nodes);
	write_string(out, "root", r->images.root);
	write_strings(out, "path", r->images.path);
	if (r->names.demangle != demangle)
		fprintf(out, " demangle=%d", r->names.demangle);
	write_strings(out, "include", r->names.include);
	write_strings(out, "exclude", r->names.exclude);
	if (r->threshold != 0)
		fprintf(out, " threshold=%g", r->threshold);
}

struct command {
	const char *line, *outcome;
};

/* Make @fd standard output. Returns what was, to be given back. */
static int swap_stdout(int fd)
{
	int was = dup(STDOUT_FILENO);

	fflush(stdout);
	assert_true(dup2(fd, STDOUT_FILENO) >= 0);
	close(fd);
	return was;
}

static int open_terminal(void)
{
	static int master = -1;

	if (master < 0)
		master = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(!grantpt(master) && !unlockpt(master));
	return open(ptsname(master), O_RDWR | O_NOCTTY);
}

/* The words of @line; the count is that of main(). What popt makes of them
 * stays in memory, as it does in the programs. The last one shows that options
 * before it do not end the others. */
#define LAST " --session-dir=LAST"
static int take_line(const char *line, char *copy, const char **argv,
		     size_t room)
{
	int argc = 0;

	split_words(line, copy, argv, room);
	while (argv[argc])
		argc++;
	return argc;
}

static void write_opreport(FILE *out, const struct opreport_options *o)
{
	const struct pp_format_options *f = &o->format_options;

	fprintf(out, "%s ", o->format->name);
	write_request(out, &o->request,
		      o->format->flags & PP_SHORTENS_NAMES
			      ? PP_DEMANGLE_SMART
			      : PP_DEMANGLE_NORMAL);
	fputs(" |", out);
	write_flag(out, "bare", f->no_header);
	write_flag(out, "long", f->long_names);
	write_flag(out, "vma", f->show_address);
	write_flag(out, "sums", f->accumulated);
	write_flag(out, "global", f->global_percent);
	write_flag(out, "no-dependent", f->exclude_dependent);
	write_string(out, "words", f->words);
	write_string(out, "exclude", f->exclude_symbols);
	write_string(out, "include", f->include_symbols);
	write_string(out, "path", f->image_path);
	write_string(out, "merge", f->merge);
	write_string(out, "output", o->args.output);
	if (o->verbose)
		fprintf(out, " verbose=%x", o->verbose);
	if (o->max_loss != -1)
		fprintf(out, " max-loss=%g", o->max_loss);
	write_flag(out, "native",
		   (o->request.symbols.wanted || o->request.tree.wanted) &&
			   !o->request.names.fold_interpreters);
	write_flag(out, "sort-ignored", o->sort_ignored);
	write_flag(out, "diff", o->request.compare.spec != NULL);
	if (o->request.select.spec->lists[PP_SPEC_CPU].nr)
		fprintf(out, " cpus=%zu",
			o->request.select.spec->lists[PP_SPEC_CPU].nr);
}

/* Take what is in o->args and the words; standard output is @fd meanwhile. */
static int take_opreport(struct opreport_options *o, const char *const *words,
			 const char *const *argv, int fd, struct op_diag *diag)
{
	int was = swap_stdout(fd);
	int err = opreport_take_options(o, words, argv, diag);

	swap_stdout(was);
	return err ? err : opreport_take_words(o, words, diag);
}

TEST(opreport_takes_options)
{
	/* clang-format off */
	static const struct command rows[] = {
		{ "", "text 32 STIAYDVC |" },
		{ "-l", "text 32 STIAYDVC symbols totals inlines |" },
		{ "--symbols", "text 32 STIAYDVC symbols totals inlines |" },
		{ "-c", "text 32 STIAYDVC symbols inlines calls |" },
		{ "--callgraph -l", "text 32 STIAYDVC symbols inlines calls |" },
		{ "-d", "text 32 STIAYDVC symbols inlines details | vma" },
		{ "--details -l", "text 32 STIAYDVC symbols inlines details | vma" },
		{ "-l -g", "text 32 STIAYDVC symbols totals inlines declarations lines |" },
		{ "-d --debug-info", "text 32 STIAYDVC symbols inlines declarations details lines | vma" },
		{ "--lines", "text 32 STIAYDVC symbols totals inlines declarations line-totals details lines by-line |" },
		{ "--lines --search-dirs=a,b --base-dirs=c", "text 32 STIAYDVC symbols totals inlines declarations line-totals details lines by-line search=a search=b base=c |" },
		{ "--lines -s debug -i f", "text 32 DSTIAYVC symbols totals inlines declarations line-totals details lines by-line include=f | include=f" },
		{ "-l -w", "text 32 STIAYDVC symbols totals inlines | vma" },
		{ "-c --show-address", "text 32 STIAYDVC symbols inlines calls | vma" },
		{ "-l -a", "text 32 STIAYDVC symbols totals inlines | sums" },
		{ "-c --accumulated", "text 32 STIAYDVC symbols inlines calls | sums" },
		{ "--intervals", "text 32 STIAYDVC intervals |" },
		{ "-t 5", "text 32 STIAYDVC threshold=5 |" },
		{ "--threshold=x", "--threshold=x: not a percentage; give a number from 0 to 100" },
		{ "-l -s vma,sample", "text 32 VSTIAYDC symbols totals inlines |" },
		{ "--sort=symbol", "text 32 YSTIADVC |" },
		{ "--sort=x", "--sort=x: unknown key; use sample, total, image, app-name, symbol, debug, vma or diff" },
		{ "-s sample,x,vma -l", "--sort=x: unknown key; use sample, total, image, app-name, symbol, debug, vma or diff" },
		{ "-r", "text 32 STIAYDVC reverse |" },
		{ "-m cpu", "text 33 STIAYDVC | merge=cpu" },
		{ "--merge=x", "--merge=x: unknown; use cgroup, cpu, lib, tid, tgid, unitmask or all" },
		{ "--by-session", "text 0 STIAYDVC |" },
		{ "--by-label=host", "text 0 STIAYDVC by-label=host |" },
		{ "--by-build -m cgroup", "text 96 STIAYDVC by-build | merge=cgroup" },
		{ "--layout=rows", "text 32 STIAYDVC rows |" },
		{ "-l --layout=rows", "text 32 STIAYDVC symbols totals inlines rows |" },
		{ "-l --layout=rows { cpu:1 } {}", "text 32 STIAYDVC symbols inlines | words={,cpu:1,},{} diff" },
		{ "--layout=columns", "text 32 STIAYDVC |" },
		{ "-x", "text 32 STIAYDVC no-dependent | no-dependent" },
		{ "-l -i a,b", "text 32 STIAYDVC symbols totals inlines include=a include=b | include=a,b" },
		{ "-l --exclude-symbols=a\\,b", "text 32 STIAYDVC symbols totals inlines exclude=a,b | exclude=a\\,b" },
		{ "-D none", "text 32 STIAYDVC demangle=1 |" },
		{ "--demangle=smart", "text 32 STIAYDVC |" },
		{ "--demangle=normal", "text 32 STIAYDVC demangle=0 |" },
		{ "--demangle=Smart", "--demangle=Smart: unknown; use none, normal or smart" },
		{ "-%", "text 32 STIAYDVC | global" },
		{ "-d -%", "text 32 STIAYDVC symbols inlines details | vma global" },
		{ "-c --global-percent -l", "text 32 STIAYDVC symbols inlines calls | global" },
		{ "-f", "text 32 STIAYDVC sort-long | long" },
		{ "-n", "text 32 STIAYDVC | bare" },
		{ "-X", "xml 32 AISTYDVC any-axes symbols |" },
		{ "-X -d", "xml 32 AISTYDVC any-axes symbols details code | vma" },
		{ "-X -s image", "xml 32 AISTYDVC any-axes symbols | sort-ignored" },
		{ "-X -s x", "--sort=x: unknown key; use sample, total, image, app-name, symbol, debug, vma or diff" },
		{ "--json", "json 32 STIAYDVC any-axes |" },
		{ "--csv", "csv 32 STIAYDVC any-axes |" },
		{ "--format=text", "text 32 STIAYDVC |" },
		{ "--format=xml", "xml 32 AISTYDVC any-axes symbols |" },
		{ "-l --hide-self", "text 32 STIAYDVC hide-own symbols totals inlines |" },
		{ "-l --no-inlines", "text 32 STIAYDVC symbols totals |" },
		{ "-l --native", "text 32 STIAYDVC symbols totals inlines | native" },
		{ "--tree --native", "text 32 STIAYDVC inlines tree threshold=0.5 | native" },
		{ "--native", "--native is about symbols and stacks; add --symbols or --tree" },
		{ "--native --format=autofdo", "--native has no effect on --format=autofdo; leave it out" },
		{ "--tree", "text 32 STIAYDVC inlines tree threshold=0.5 |" },
		{ "--over-time", "text 103 STIAYDVC symbols inlines threshold=0.5 |" },
		{ "--threads -l", "--threads is a table of its own; leave --symbols out" },
		{ "--threads -g", "--threads is a table of its own; leave --debug-info out" },
		{ "--threads --tree", "--threads is a table of its own; leave --tree out" },
		{ "--threads --layout=rows", "--threads is a table of its own; leave --layout out" },
		{ "--threads=some", "--threads=some: unknown; use --threads or --threads=all" },
		{ "--threads --xml", "--threads: XML has no table of threads; use text, json or csv" },
		{ "--threads { cpu:1 } {}", "--threads shows no comparisons; give one profile" },
		{ "--over-time -t 0", "text 103 STIAYDVC symbols inlines |" },
		{ "--over-time --format=csv", "csv 32 STIAYDVC any-axes symbols totals inlines |" },
		{ "--tree=callers -t 0 -n", "text 32 STIAYDVC inlines tree callers | bare" },
		{ "--tree=callers --format=folded", "folded 32 STIAYDVC any-axes inlines tree callers by-name one-class |" },
		{ "--tree=calls", "--tree=calls: unknown; use --tree or --tree=callers" },
		{ "--tree --json", "--tree: JSON has no call tree; use --format=folded" },
		{ "--tree -l", "--symbols has no effect on --tree; leave it out" },
		{ "--tree -c", "--callgraph has no effect on --tree; leave it out" },
		{ "--tree -d", "--details has no effect on --tree; leave it out" },
		{ "--tree -g", "--debug-info has no effect on --tree; leave it out" },
		{ "--tree -w", "--show-address has no effect on --tree; leave it out" },
		{ "--tree -a", "--accumulated has no effect on --tree; leave it out" },
		{ "--tree -%", "--global-percent has no effect on --tree; leave it out" },
		{ "--tree -s total", "--sort has no effect on --tree; leave it out" },
		{ "--tree -r", "--reverse-sort has no effect on --tree; leave it out" },
		{ "--tree { cpu:1 } {}", "--tree does not show comparisons; use --format=flamegraph" },
		{ "-l -s total", "text 32 TSIAYDVC symbols totals inlines |" },
		{ "-c -s total", "--sort=total: a call graph and addresses have no totals; leave --callgraph and --details out" },
		{ "-d -s total", "--sort=total: a call graph and addresses have no totals; leave --callgraph and --details out" },
		{ "--lines -d", "--lines makes a table of its own; leave --details out" },
		{ "--lines -c", "--lines makes a table of its own; leave --callgraph out" },
		{ "--lines -g", "--lines makes a table of its own; leave --debug-info out" },
		{ "--lines --tree", "--lines has no effect on --tree; leave it out" },
		{ "--lines --format=folded", "--lines has no effect on --format=folded; leave it out" },
		{ "--lines -%", "--global-percent has no effect on a symbol table; leave it out or add --details or --callgraph" },
		{ "-l --search-dirs=x", "--search-dirs is about the text of source lines; add --lines or --html=FILE" },
		{ "-l --base-dirs=x", "--base-dirs is about the text of source lines; add --lines or --html=FILE" },
		{ "--lines --base-dirs=x", "--base-dirs changes where to look in --search-dirs; add that" },
		{ "-l -s total { cpu:1 } {}", "--sort=total: comparisons have no totals; leave it out" },
		{ "--format=folded", "folded 32 STIAYDVC any-axes inlines tree by-name one-class |" },
		{ "--format=flamegraph", "flamegraph 32 STIAYDVC any-axes hide-own inlines tree max-nodes=500000 |" },
		{ "--html=FILE", "html 32 STIAYDVC any-axes hide-own symbols totals inlines intervals max-nodes=500000 | output=FILE" },
		{ "--format=html -l -t 5", "html 32 STIAYDVC any-axes hide-own symbols totals inlines intervals max-nodes=500000 threshold=5 |" },
		{ "--html=FILE --no-inlines", "html 32 STIAYDVC any-axes hide-own symbols totals intervals max-nodes=500000 | output=FILE" },
		{ "--html=FILE { cpu:1 } {}", "html 103 STIAYDVC any-axes hide-own symbols inlines intervals max-nodes=500000 | words={,cpu:1,},{} output=FILE diff" },
		{ "--html=FILE --json", "--xml, --json, --csv, --html and --format name a format; choose one" },
		{ "--html=FILE --format=html", "--xml, --json, --csv, --html and --format name a format; choose one" },
		{ "--html=FILE -o FILE", "--html and --output-file both say where to write; leave --output-file out" },
		{ "--html=FILE -d", "--details has no effect on --format=html; leave it out" },
		{ "--html=FILE --intervals", "--intervals has no effect on --format=html; leave it out" },
		{ "--html=FILE --tree", "--tree has no effect on --format=html, which always shows stacks; leave it out" },
		{ "--html=FILE -c", "--callgraph has no effect on --format=html, which always shows stacks; leave it out" },
		{ "--search-dirs=a", "--search-dirs is about the text of source lines; add --lines or --html=FILE" },
		{ "--base-dirs=a", "--base-dirs is about the text of source lines; add --lines or --html=FILE" },
		{ "--html=FILE --base-dirs=a", "--base-dirs changes where to look in --search-dirs; add that" },
		{ "--format=pprof -o FILE", "pprof 32 STIAYDVC any-axes inlines declarations tree all origins | output=FILE" },
		{ "--format=speedscope", "speedscope 32 STIAYDVC any-axes inlines tree all |" },
		{ "--format=speedscope --tree -t 1", "speedscope 32 STIAYDVC any-axes inlines tree all threshold=1 |" },
		{ "--format=speedscope --tree=callers", "--tree=callers has no effect on --format=speedscope, whose readers show callers themselves; leave it out" },
		{ "--format=speedscope -l { cpu:1 } {}", "--format=speedscope does not show comparisons; write each profile by itself, or use another format" },
		{ "--format=speedscope -w", "--show-address has no effect on --format=speedscope; leave it out" },
		{ "--format=folded -l -c -i a", "folded 32 STIAYDVC any-axes inlines tree by-name one-class include=a | include=a" },
		{ "--format=svg", "--format=svg: unknown; use text, xml, json, csv, folded, flamegraph, pprof, speedscope, html, callgrind, firefox or autofdo" },
		{ "--format=callgrind", "callgrind 32 AISTYDVC any-axes symbols totals stack-calls inlines declarations details lines |" },
		{ "--format=callgrind -d -i f --no-inlines", "callgrind 32 AISTYDVC any-axes symbols totals stack-calls details lines include=f | vma include=f" },
		{ "--format=firefox", "firefox 32 STIAYDVC any-axes inlines tree all |" },
		{ "--format=firefox --tree=callers", "--tree=callers has no effect on --format=firefox, whose readers show callers themselves; leave it out" },
		{ "--format=autofdo", "autofdo 103 AISTYDVC any-axes symbols code-frames details lines one-class | native" },
		{ "--format=autofdo -d", "--details has no effect on --format=autofdo; leave it out" },
		{ "--format=autofdo -w", "--show-address has no effect on --format=autofdo; leave it out" },
		{ "--format=autofdo --intervals", "--intervals: AutoFDO contains only counts; use --json or --csv" },
		{ "--format=autofdo { cpu:1 } {}", "--format=autofdo does not show comparisons; write each profile by itself, or use another format" },
		{ "--format=firefox -d", "--details has no effect on --format=firefox; leave it out" },
		{ "--format=firefox { cpu:1 } {}", "--format=firefox does not show comparisons; write each profile by itself, or use another format" },
		{ "--format=callgrind -c", "--callgraph has no effect on --format=callgrind; leave it out" },
		{ "--format=callgrind --lines", "--lines has no effect on --format=callgrind; leave it out" },
		{ "--format=callgrind -f", "--long-filenames has no effect on --format=callgrind; leave it out" },
		{ "--format=callgrind -n", "--no-header has no effect on --format=callgrind; leave it out" },
		{ "--format=callgrind { cpu:1 } {}", "--format=callgrind does not show comparisons; write each profile by itself, or use another format" },
		{ "-o FILE", "text 32 STIAYDVC | output=FILE" },
		{ "--max-loss=1.5", "text 32 STIAYDVC | max-loss=1.5" },
		{ "--max-loss=-1", "--max-loss=-1: not a percentage; give a number from 0 to 100" },
		{ "-p a,b -R ROOT", "text 32 STIAYDVC root=ROOT path=a path=b | path=a,b" },
		{ "-V", "text 32 STIAYDVC | verbose=ffffffff" },
		{ "--verbose=bfd", "text 32 STIAYDVC | verbose=4" },
		{ "--verbose=x", "--verbose=x: unknown; use all, debug, bfd, level1, sfile, stats or xml" },
		{ "cpu:1,2 tid:all -l", "text 32 STIAYDVC symbols totals inlines | words=cpu:1,2,tid:all cpus=2" },
		{ "cpu:x", "cpu:x: 'x' is not a number; give whole numbers, separated by commas" },
		{ "-l { cpu:1 } { cpu:2 }", "text 32 STIAYDVC symbols inlines | words={,cpu:1,},{,cpu:2,} diff cpus=1" },
		{ "--format=folded { cpu:1 } {}", "folded 32 STIAYDVC any-axes inlines tree by-name one-class | words={,cpu:1,},{} diff" },
		/* What does not go together. */
		{ "-c -d", "--callgraph does not show the addresses in a symbol; leave --details out" },
		{ "-w", "--show-address is about symbols; add --symbols" },
		{ "--sort=sample,vma", "--sort=vma is about symbols; add --symbols" },
		{ "-a", "--accumulated is about symbols; add --symbols" },
		{ "-g", "--debug-info is about symbols; add --symbols" },
		{ "-i x", "--include-symbols is about symbols; add --symbols" },
		{ "-e x", "--exclude-symbols is about symbols; add --symbols" },
		{ "-w -s vma -a -g -i x -e x", "--show-address is about symbols; add --symbols" },
		{ "-s vma -a", "--sort=vma is about symbols; add --symbols" },
		{ "-a -g", "--accumulated is about symbols; add --symbols" },
		{ "-g -i x", "--debug-info is about symbols; add --symbols" },
		{ "-i x -e x", "--include-symbols is about symbols; add --symbols" },
		{ "-l -%", "--global-percent has no effect on a symbol table; leave it out or add --details or --callgraph" },
		{ "--xml --json", "--xml, --json, --csv, --html and --format name a format; choose one" },
		{ "--csv --format=text", "--xml, --json, --csv, --html and --format name a format; choose one" },
		{ "--json --csv", "--xml, --json, --csv, --html and --format name a format; choose one" },
		{ "--format=folded -d", "--details has no effect on --format=folded; leave it out" },
		{ "--format=folded -g", "--debug-info has no effect on --format=folded; leave it out" },
		{ "--format=folded -w", "--show-address has no effect on --format=folded; leave it out" },
		{ "--format=folded -a", "--accumulated has no effect on --format=folded; leave it out" },
		{ "--format=folded -%", "--global-percent has no effect on --format=folded; leave it out" },
		{ "--format=folded --intervals", "--intervals has no effect on --format=folded; leave it out" },
		{ "--format=folded -s image", "--sort has no effect on --format=folded; leave it out" },
		{ "--format=folded -r", "--reverse-sort has no effect on --format=folded; leave it out" },
		{ "--format=folded -f", "--long-filenames has no effect on --format=folded; leave it out" },
		{ "--format=folded -n", "--no-header has no effect on --format=folded; leave it out" },
		{ "-X -a", "--accumulated has no effect on XML, which contains only counts; leave it out" },
		{ "-X -%", "--global-percent has no effect on XML, which contains only counts; leave it out" },
		{ "--format=xml --intervals", "--intervals: XML contains only counts; use --json or --csv" },
		{ "--json -l -a -%", "--global-percent has no effect on a symbol table; leave it out or add --details or --callgraph" },
		{ "-x -m lib", "--merge=lib makes every image an application, so --exclude-dependent excludes nothing; use one of them only" },
		{ "-x -m all", "text 127 STIAYDVC no-dependent | no-dependent merge=all" },
		{ "-x -m lib --by-session", "--merge=lib makes every image an application, so --exclude-dependent excludes nothing; use one of them only" },
		{ "-x -m cpu", "text 33 STIAYDVC no-dependent | no-dependent merge=cpu" },
		{ "-d { cpu:1 } {}", "--details does not show comparisons; leave it out" },
		{ "-l --over-time { cpu:1 } {}", "--over-time shows no comparisons; give one profile" },
		{ "-c { cpu:1 } {}", "--callgraph does not show comparisons; leave it out" },
		{ "-l --over-time -c", "--over-time is a table of symbols; leave --callgraph out" },
		{ "--over-time --tree", "--over-time is a table of symbols; leave --tree out" },
		{ "-l --over-time -d", "--over-time is a table of symbols; leave --details out" },
		{ "--over-time --lines", "--over-time is a table of symbols; leave --lines out" },
		{ "-l --over-time --by-session", "--over-time is a table of symbols; leave --by-session out" },
		{ "-l --over-time -g", "--over-time is a table of symbols; leave --debug-info out" },
		{ "-l --over-time -w", "--over-time is a table of symbols; leave --show-address out" },
		{ "-l --over-time -a", "--over-time is a table of symbols; leave --accumulated out" },
		{ "-l --over-time --intervals", "--over-time is a table of symbols; leave --intervals out" },
		{ "-l --over-time --layout=rows", "--over-time is a table of symbols; leave --layout out" },
		{ "-l --over-time --xml=classic", "--over-time: there are no columns of times in classic XML; use text, xml, json or csv" },
		{ "--over-time --format=pprof", "--over-time: there are no columns of times in pprof; use text, xml, json or csv" },
		{ "--sort=diff -l", "--sort=diff orders a comparison; give two profiles, \"{ OLD... } { NEW... }\"" },
		{ "--xml=old", "--xml=old: unknown; use --xml or --xml=classic" },
		{ "--xml=", "--xml=: unknown; use --xml or --xml=classic" },
		{ "--layout=row", "--layout=row: unknown; use rows or columns" },
		{ "--json --layout=rows", "--layout has no effect on JSON; leave it out" },
		{ "--json --layout=columns", "--layout has no effect on JSON; leave it out" },
		{ "-c --layout=rows", "--layout=rows: call graphs, addresses and trees can only have columns; leave it out" },
		{ "-l -d --layout=rows", "--layout=rows: call graphs, addresses and trees can only have columns; leave it out" },
		{ "--tree --layout=rows", "--layout=rows: call graphs, addresses and trees can only have columns; leave it out" },
		{ "-X { cpu:1 } {}", "--xml does not show comparisons; write each profile by itself, or use another format" },
		{ "{ cpu:1 } {}", "a comparison is about symbols; add --symbols" },
	};
	/* clang-format on */
	static struct opreport_options all[NR(rows)];

	for (size_t i = 0; i < NR(rows); i++) {
		struct opreport_options *o = &all[i];
		struct op_diag diag = { "" };
		const char *argv[16], *const *words;
		char copy[256], line[256];
		poptContext context;
		struct text t;
		FILE *out = text_begin(&t);
		int argc, err;

		snprintf(line, sizeof(line), "opreport %s" LAST, rows[i].line);
		argc = take_line(line, copy, argv, NR(argv));
		context = opreport_parse(&o->args, argc, argv);
		assert_string_equal(o->args.common.session_dir, "LAST");
		words = poptGetArgs(context);
		err = take_opreport(o, words, argv, open("/dev/null", O_WRONLY),
				    &diag);
		assert_int_equal(err, diag.text[0] ? -EINVAL : 0);
		if (err)
			fputs(diag.text, out);
		else
			write_opreport(out, o);
		text_must_be(&t, line, rows[i].outcome);
		opreport_release_options(o);
		poptFreeContext(context);
	}
}

static void write_opannotate(FILE *out, const struct opannotate_options *o)
{
	const struct opannotate_listing *l = &o->listing;

	write_request(out, &o->request,
		      o->all ? PP_DEMANGLE_NORMAL : PP_DEMANGLE_SMART);
	fputs(" |", out);
	write_flag(out, "source", o->args.source);
	write_flag(out, "assembly", o->args.assembly);
	write_flag(out, "all", o->all);
	write_flag(out, "bare", o->args.no_header);
	write_flag(out, "with-lines", l->with_lines);
	write_flag(out, "bytes", l->with_bytes);
	write_flag(out, "wide", l->wide);
	write_flag(out, "no-addresses", l->no_addresses);
	write_flag(out, "demangle", l->disasm.demangle);
	write_string(out, "machine", l->disasm.machine);
	if (o->params)
		fprintf(out, " params=<%s>", o->params);
	write_string(out, "output", o->output_dir);
	write_strings(out, "include-file", o->include_files);
	write_strings(out, "exclude-file", o->exclude_files);
	if (o->threshold != 0)
		fprintf(out, " threshold=%g", o->threshold);
	if (o->verbose)
		fprintf(out, " verbose=%x", o->verbose);
	write_flag(out, "color", o->color);
}

static int take_opannotate(struct opannotate_options *o,
			   const char *const *words, const char *const *argv,
			   int fd, struct op_diag *diag)
{
	int was = swap_stdout(fd);
	int err = opannotate_take_options(o, argv, diag);

	swap_stdout(was);
	return err ? err : opannotate_take_words(o, words, diag);
}

/* A comma in a line is a blank of --objdump-params. */
TEST(opannotate_takes_options)
{
	/* clang-format off */
	static const struct command rows[] = {
		{ "--all -s", "48 STIAYDVC symbols details lines | source all" },
		{ "--all --source", "48 STIAYDVC symbols details lines | source all" },
		{ "--all -a", "48 STIAYDVC symbols details | assembly all" },
		{ "--all --assembly -s", "48 STIAYDVC symbols details lines | source assembly all" },
		{ "--all --source-with-assembly", "48 STIAYDVC symbols details lines | source assembly all" },
		{ "-s -o /none/such", "48 STIAYDVC symbols details lines | source all output=/none/such" },
		{ "-s --output-dir=/usr/../usr", "48 STIAYDVC symbols details lines | source all output=/usr" },
		{ "--all -s -d a,b", "48 STIAYDVC symbols details lines search=a search=b | source all" },
		{ "--all -s -d a -b c", "48 STIAYDVC symbols details lines search=a base=c | source all" },
		{ "--all -s --include-file=*.c", "48 STIAYDVC symbols details lines | source all include-file=*.c" },
		{ "--all -s --exclude-file=*.h,x", "48 STIAYDVC symbols details lines | source all exclude-file=*.h exclude-file=x" },
		{ "--all -s -i a,b", "48 STIAYDVC symbols details lines include=a include=b | source all" },
		{ "--all -s -e a", "48 STIAYDVC symbols details lines exclude=a | source all" },
		{ "--all -s -t 5", "48 STIAYDVC symbols details lines | source all threshold=5" },
		{ "--all -a -t 5", "48 STIAYDVC symbols details threshold=5 | assembly all threshold=5" },
		{ "--all -s -m cpu", "49 STIAYDVC symbols details lines | source all" },
		{ "-s -m x", "--merge=x: unknown; use cgroup, cpu, lib, tid, tgid, unitmask or all" },
		{ "--all -s -x", "48 STIAYDVC no-dependent symbols details lines | source all" },
		{ "--all -s -D smart", "48 STIAYDVC symbols details lines demangle=2 | source all" },
		{ "-s -D x", "--demangle=x: unknown; use none, normal or smart" },
		{ "--all -s -n", "48 STIAYDVC symbols details lines | source all bare" },
		{ "--all -s --color=always", "48 STIAYDVC symbols details lines | source all color" },
		{ "--all -s --color=never", "48 STIAYDVC symbols details lines | source all" },
		{ "--all -s --color=auto", "48 STIAYDVC symbols details lines | source all" },
		{ "-s --color=x", "--color=x: unknown; use auto, always or never" },
		{ "--all -s -p a -R b -V", "48 STIAYDVC symbols details lines root=b path=a | source all verbose=ffffffff" },
		{ "-s -t x", "--threshold=x: not a percentage; give a number from 0 to 100" },
		{ "-s --verbose=x", "--verbose=x: unknown; use all, debug, bfd, level1, sfile, stats or xml" },
		{ "--all -s cpu:1", "48 STIAYDVC symbols details lines | source all" },
		{ "-s { cpu:1 } {}", "two profiles cannot be compared here; leave out the braces" },
		{ "-s { cpu:1", "a brace is missing; compare with \"{ OLD... } { NEW... }\"" },
		/* What is worth reading. */
		{ "-s", "48 STIAYDVC symbols totals inlines declarations call-sites line-totals details lines | source demangle threshold=1" },
		{ "-a", "48 STIAYDVC symbols totals declarations line-totals details | assembly demangle threshold=1" },
		{ "-s -a", "48 STIAYDVC symbols totals declarations line-totals details lines | source assembly demangle threshold=1" },
		{ "-s -t 0", "48 STIAYDVC symbols totals inlines declarations call-sites line-totals details lines | source demangle" },
		{ "-a -t 5", "48 STIAYDVC symbols totals declarations line-totals details | assembly demangle threshold=5" },
		{ "-a -D none", "48 STIAYDVC symbols totals declarations line-totals details demangle=1 | assembly threshold=1" },
		/* As objdump has them. */
		{ "--all -a --objdump-params=-M,intel", "48 STIAYDVC symbols details | assembly all machine=intel params=<-M intel >" },
		{ "--all -a --objdump-params=-Mintel", "48 STIAYDVC symbols details | assembly all machine=intel params=<-Mintel >" },
		{ "--all -a --objdump-params=-M=intel", "48 STIAYDVC symbols details | assembly all machine=intel params=<-M=intel >" },
		{ "--all -a --objdump-params=-M", "48 STIAYDVC symbols details | assembly all machine= params=<-M >" },
		{ "--all -a --objdump-params=-M,a,-Mb,-C", "48 STIAYDVC symbols details | assembly all demangle machine=a,b params=<-M a -Mb -C >" },
		{ "--all -a --objdump-params=--disassembler-options=x", "48 STIAYDVC symbols details | assembly all machine=x params=<--disassembler-options=x >" },
		{ "--all -a --objdump-params=--disassembler-options,x,-l", "48 STIAYDVC symbols details lines | assembly all with-lines machine=x params=<--disassembler-options x -l >" },
		{ "--all -a --objdump-params=-l", "48 STIAYDVC symbols details lines | assembly all with-lines params=<-l >" },
		{ "--all -a --objdump-params=--line-numbers", "48 STIAYDVC symbols details lines | assembly all with-lines params=<--line-numbers >" },
		{ "--all -a --objdump-params=-S", "48 STIAYDVC symbols details lines | source assembly all params=<-S >" },
		{ "--all -a --objdump-params=--source", "48 STIAYDVC symbols details lines | source assembly all params=<--source >" },
		{ "--all -a --objdump-params=-C", "48 STIAYDVC symbols details | assembly all demangle params=<-C >" },
		{ "--all -a --objdump-params=--demangle=auto", "48 STIAYDVC symbols details | assembly all demangle params=<--demangle=auto >" },
		{ "--all -a --objdump-params=--show-raw-insn", "48 STIAYDVC symbols details | assembly all bytes params=<--show-raw-insn >" },
		{ "--all -a --objdump-params=-w", "48 STIAYDVC symbols details | assembly all wide params=<-w >" },
		{ "--all -a --objdump-params=--wide", "48 STIAYDVC symbols details | assembly all wide params=<--wide >" },
		{ "--all -a --objdump-params=--no-addresses", "48 STIAYDVC symbols details | assembly all no-addresses params=<--no-addresses >" },
		{ "--all -a --objdump-params=-d,-z,--no-show-raw-insn", "48 STIAYDVC symbols details | assembly all params=<-d -z --no-show-raw-insn >" },
		{ "--all -a --objdump-params=--disassemble", "48 STIAYDVC symbols details | assembly all params=<--disassemble >" },
		{ "--all -a --objdump-params=--disassemble-zeroes", "48 STIAYDVC symbols details | assembly all params=<--disassemble-zeroes >" },
		{ "--all -a --objdump-params=,,", "48 STIAYDVC symbols details | assembly all params=<>" },
		{ "--all -a --objdump-params=-lSCwdz", "48 STIAYDVC symbols details lines | source assembly all with-lines wide demangle params=<-lSCwdz >" },
		{ "-a --objdump-params=-l,-x", "--objdump-params: -x: this is not about code; run objdump for the rest of the file" },
		{ "-a --objdump-params=-j,.text", "--objdump-params: -j: the samples decide which functions are shown; name some by --include-symbols" },
		{ "-a --objdump-params=-j.text", "--objdump-params: -j.text: the samples decide which functions are shown; name some by --include-symbols" },
		{ "-a --objdump-params=--section=.text", "--objdump-params: --section=.text: the samples decide which functions are shown; name some by --include-symbols" },
		{ "-a --objdump-params=--disassemble=main", "--objdump-params: --disassemble=main: the samples decide which functions are shown; name some by --include-symbols" },
		{ "-a --objdump-params=-mi386", "--objdump-params: -mi386: each file says for which machine its code is; leave this out" },
		{ "-a --objdump-params=-I,x", "--objdump-params: -I: sources are looked for in the folders of --search-dirs, and --base-dirs are cut off their names" },
		{ "-a --objdump-params=--prefix=/x", "--objdump-params: --prefix=/x: sources are looked for in the folders of --search-dirs, and --base-dirs are cut off their names" },
		{ "-a --objdump-params=--prefix-addresses", "--objdump-params: --prefix-addresses: instructions are printed in one way here, with address, name and text; run objdump for another" },
		{ "-a --objdump-params=--inlines", "--objdump-params: --inlines: inlined functions are named where their code begins, but not with --all; leave this out" },
		{ "-a --objdump-params=-lj", "--objdump-params: -lj: not known here; use -M OPTIONS, -C, -l, -S, --show-raw-insn or --no-addresses" },
		{ "-a --objdump-params=--sectio", "--objdump-params: --sectio: not known here; use -M OPTIONS, -C, -l, -S, --show-raw-insn or --no-addresses" },
		{ "-a --objdump-params=-", "--objdump-params: -: not known here; use -M OPTIONS, -C, -l, -S, --show-raw-insn or --no-addresses" },
		{ "-a --objdump-params=-demangle", "--objdump-params: -demangle: not known here; use -M OPTIONS, -C, -l, -S, --show-raw-insn or --no-addresses" },
		/* What does not go together. */
		{ "-n", "nothing to show; add --source or --assembly" },
		{ "-a -o x", "--output-dir is for source files; leave out --assembly" },
		{ "-s --objdump-params=-l", "--objdump-params is about instructions; add --assembly" },
		{ "-s -b x", "--base-dirs changes where to look in --search-dirs; add that" },
		{ "-s -o /", "--output-dir=/: that would write over the source files; choose another folder" },
		{ "-s -o /etc/passwd/x", "--output-dir=/etc/passwd/x: Not a directory" },
	};
	/* clang-format on */
	static struct opannotate_options all[NR(rows)];

	for (size_t i = 0; i < NR(rows); i++) {
		struct opannotate_options *o = &all[i];
		struct op_diag diag = { "" };
		const char *argv[16];
		char copy[256], line[256], *params;
		poptContext context;
		struct text t;
		FILE *out = text_begin(&t);
		int argc, err;

		snprintf(line, sizeof(line), "opannotate %s" LAST,
			 rows[i].line);
		argc = take_line(line, copy, argv, NR(argv));
		for (params = strchr(argv[argc - 2], ','); params;
		     params = strchr(params, ','))
			if (strstr(argv[argc - 2], "--objdump"))
				*params = ' ';
			else
				params++;
		context = opannotate_parse(&o->args, argc, argv);
		assert_string_equal(o->args.common.session_dir, "LAST");
		err = take_opannotate(o, poptGetArgs(context), argv,
				      open("/dev/null", O_WRONLY), &diag);
		assert_int_equal(err, diag.text[0] ? -EINVAL : 0);
		if (err)
			fputs(diag.text, out);
		else
			write_opannotate(out, o);
		text_must_be(&t, line, rows[i].outcome);
		opannotate_release_options(o);
		poptFreeContext(context);
	}
}

TEST(opgprof_takes_options)
{
	/* clang-format off */
	static const struct command rows[] = {
		{ "", "119 VSTIAYDC any-axes symbols details calls addresses" },
		{ "-o FILE", "119 VSTIAYDC any-axes symbols details calls addresses output=FILE" },
		{ "--output-filename=FILE", "119 VSTIAYDC any-axes symbols details calls addresses output=FILE" },
		{ "-t 5", "119 VSTIAYDC any-axes symbols details calls addresses threshold=5" },
		{ "--threshold=x", "--threshold=x: not a percentage; give a number from 0 to 100" },
		{ "-p a,b -R ROOT", "119 VSTIAYDC any-axes symbols details calls addresses root=ROOT path=a path=b" },
		{ "-V", "119 VSTIAYDC any-axes symbols details calls addresses verbose=ffffffff" },
		{ "--verbose=x", "--verbose=x: unknown; use all, debug, bfd, level1, sfile, stats or xml" },
		{ "cpu:1", "119 VSTIAYDC any-axes symbols details calls addresses cpus" },
		{ "cpu:x", "cpu:x: 'x' is not a number; give whole numbers, separated by commas" },
		{ "{ cpu:1", "{: gprof cannot compare profiles; name one" },
		{ "cpu:1 }", "}: gprof cannot compare profiles; name one" },
		{ "cpu:1 {}", "{}: gprof cannot compare profiles; name one" },
	};
	/* clang-format on */
	static struct opgprof_options all[NR(rows)];

	for (size_t i = 0; i < NR(rows); i++) {
		struct opgprof_options *o = &all[i];
		struct op_diag diag = { "" };
		const char *argv[16];
		char copy[256], line[256];
		poptContext context;
		struct text t;
		FILE *out = text_begin(&t);
		int argc, err;

		snprintf(line, sizeof(line), "opgprof %s" LAST, rows[i].line);
		argc = take_line(line, copy, argv, NR(argv));
		context = opgprof_parse(&o->args, argc, argv);
		assert_string_equal(o->args.common.session_dir, "LAST");
		err = opgprof_take_options(o, &diag);
		if (!err)
			err = opgprof_take_words(o, poptGetArgs(context),
						 &diag);
		assert_int_equal(err, diag.text[0] ? -EINVAL : 0);
		if (err) {
			fputs(diag.text, out);
		} else {
			write_request(out, &o->request, PP_DEMANGLE_NORMAL);
			write_string(out, "output", o->args.output);
			if (o->verbose)
				fprintf(out, " verbose=%x", o->verbose);
			if (o->request.select.spec->lists[PP_SPEC_CPU].nr)
				fputs(" cpus", out);
		}
		text_must_be(&t, line, rows[i].outcome);
		opgprof_release_options(o);
		poptFreeContext(context);
	}
}

TEST(oparchive_takes_options)
{
	/* clang-format off */
	static const struct command rows[] = {
		{ "-o DIR", " output=DIR" },
		{ "--output-directory=DIR --symbols-only", " symbols-only output=DIR" },
		{ "-o DIR --with-sources", " sources output=DIR" },
		{ "-o DIR --force", " force output=DIR" },
		{ "-l", " list" },
		{ "--list-files -o /", " list output=/" },
		{ "-l -x", " list no-dependent" },
		{ "-l -p a,b -R ROOT -V", " list root=ROOT path=a path=b verbose=ffffffff" },
		{ "-l --verbose=x", "--verbose=x: unknown; use all, debug, bfd, level1, sfile, stats or xml" },
		{ "-l cpu:1", " list cpus" },
		{ "-l cpu:x", "cpu:x: 'x' is not a number; give whole numbers, separated by commas" },
		{ "-l { cpu:1 } {}", "an archive holds one profile; leave out the braces and name all sessions with session:" },
		{ "-l { cpu:1", "a brace is missing; compare with \"{ OLD... } { NEW... }\"" },
		{ "", "nowhere to write to; name a folder with --output-directory, or use --list-files" },
		{ "-o /", "--output-directory=/: cannot be the archive; name a folder that is not there yet" },
		{ "-o ///", "--output-directory=///: cannot be the archive; name a folder that is not there yet" },
		{ "--output-directory=", "--output-directory=: cannot be the archive; name a folder that is not there yet" },
		{ "-o /x", " output=/x" },
	};
	/* clang-format on */
	static struct oparchive_options all[NR(rows)];

	for (size_t i = 0; i < NR(rows); i++) {
		struct oparchive_options *o = &all[i];
		struct op_diag diag = { "" };
		const char *argv[16];
		char copy[256], line[256];
		poptContext context;
		struct text t;
		FILE *out = text_begin(&t);
		int argc, err;

		snprintf(line, sizeof(line), "oparchive %s" LAST, rows[i].line);
		argc = take_line(line, copy, argv, NR(argv));
		context = oparchive_parse(&o->args, argc, argv);
		assert_string_equal(o->args.common.session_dir, "LAST");
		err = oparchive_take_words(o, poptGetArgs(context), &diag);
		if (!err)
			err = oparchive_take_options(o, &diag);
		assert_int_equal(err, diag.text[0] ? -EINVAL : 0);
		if (err) {
			fputs(diag.text, out);
		} else {
			write_flag(out, "symbols-only", o->args.symbols_only);
			write_flag(out, "sources", o->request.sources);
			write_flag(out, "force", o->args.force);
			write_flag(out, "list", o->args.list_files);
			write_flag(out, "no-dependent",
				   o->request.exclude_dependent);
			write_string(out, "output", o->args.output);
			write_string(out, "root", o->request.root);
			write_strings(out, "path", o->request.image_path);
			if (o->verbose)
				fprintf(out, " verbose=%x", o->verbose);
			if (o->spec.lists[PP_SPEC_CPU].nr)
				fputs(" cpus", out);
		}
		text_must_be(&t, line, rows[i].outcome);
		pp_spec_release(&o->spec);
		poptFreeContext(context);
	}
}

/* Without --jobs there are as many threads as CPUs, which no row can say. */
FOLDER_TEST(opmerge_takes_options)
{
	/* clang-format off */
	static const struct command rows[] = {
		{ "-o DIR a", "DIR 'a' 256 MiB" },
		{ "--output-directory=DIR a archive:b c", "DIR 'a' 'b' 'c' 256 MiB" },
		{ "-o DIR --force archive:archive:a", "DIR force 'archive:a' 256 MiB" },
		{ "-o DIR a --keep-labels=host,version", "DIR 'a' keep=host keep=version 256 MiB" },
		{ "-o DIR a --drop-labels=cgroup", "DIR 'a' drop=cgroup 256 MiB" },
		{ "-o DIR a -j 1 --memory=16", "DIR 'a' threads=1 16 MiB" },
		{ "-o DIR a --jobs=256 --memory=1073741824", "DIR 'a' threads=256 1073741824 MiB" },
		{ "-o DIR a --jobs=0", "--jobs=0: not a number from 1 to 256" },
		{ "-o DIR a --jobs=257", "--jobs=257: not a number from 1 to 256" },
		{ "-o DIR a --jobs=1x", "--jobs=1x: not a number from 1 to 256" },
		{ "-o DIR a --memory=15", "--memory=15: not a number from 16 to 1073741824" },
		{ "-o DIR a --memory=1073741825", "--memory=1073741825: not a number from 16 to 1073741824" },
		{ "-o DIR a -V", "DIR 'a' 256 MiB verbose=ffffffff" },
		{ "-o DIR a --verbose=stats", "DIR 'a' 256 MiB verbose=8" },
		{ "-o DIR a --verbose=x", "--verbose=x: unknown; use all, debug, bfd, level1, sfile, stats or xml" },
		{ "-o DIR a --keep-labels=a,b=c", "--keep-labels: 'b=c' is no name of a label; give names, separated by commas" },
		{ "-o DIR a --drop-labels=a,,b", "--drop-labels: '' is no name of a label; give names, separated by commas" },
		{ "-o DIR a archive:", "archive: has no name after it; name the folder of an archive" },
		{ "a", "nowhere to write to; name a folder with --output-directory" },
		{ "-o / a", "--output-directory=/: cannot be the archive; name a folder that is not there yet" },
		{ "-o DIR", "nothing to merge; name archives that oparchive made" },
		{ "-o DIR --files-from=list", "DIR 'b' 'c d' '/e' 256 MiB" },
		{ "-o DIR --files-from=list a", "DIR 'a' 'b' 'c d' '/e' 256 MiB" },
		{ "-o DIR --files-from=empty", "nothing to merge; name archives that oparchive made" },
		{ "-o DIR --files-from=none", "--files-from=none: No such file or directory" },
		{ "-o DIR a --files-from=.", "--files-from=.: cannot be read" },
	};
	/* clang-format on */
	static struct opmerge_options all[NR(rows)];

	write_text("list", "b\n\narchive:c d\n/e");
	write_text("empty", "\n\n");
	for (size_t i = 0; i < NR(rows); i++) {
		struct opmerge_options *o = &all[i];
		const struct pp_merge_request *r = &o->request;
		struct op_diag diag = { "" };
		const char *argv[16];
		char copy[256], line[256];
		poptContext context;
		struct text t;
		FILE *out = text_begin(&t);
		int argc, err;

		op_arena_init(&o->arena);
		snprintf(line, sizeof(line), "opmerge %s", rows[i].line);
		argc = take_line(line, copy, argv, NR(argv));
		context = opmerge_parse(&o->args, argc, argv);
		err = opmerge_take_options(o, poptGetArgs(context), &diag);
		/* But for lists that cannot be read. */
		if (err && !strstr(rows[i].line, "--files-from"))
			assert_int_equal(err, -EINVAL);
		assert_int_equal(!err, !diag.text[0]);
		if (err) {
			fputs(diag.text, out);
		} else {
			fputs(r->folder, out);
			write_flag(out, "force", r->replace);
			for (size_t k = 0; k < r->nr; k++)
				fprintf(out, " '%s'", r->archives[k]);
			write_strings(out, "keep", r->keep);
			write_strings(out, "drop", r->drop);
			assert_in_range(r->threads, 1, 256);
			if (o->args.threads)
				fprintf(out, " threads=%u", r->threads);
			fprintf(out, " %zu MiB", (size_t)(r->memory >> 20));
			if (o->verbose)
				fprintf(out, " verbose=%x", o->verbose);
		}
		text_must_be(&t, rows[i].line, rows[i].outcome);
		op_arena_release(&o->arena);
		poptFreeContext(context);
	}
}

/* ---- terminals ----------------------------------------------------------- */

TEST(pages_do_not_go_to_terminals)
{
	static const char *const argv[] = { "opreport", NULL };
	static const struct {
		const char *format, *output;
		bool is_refused;
	} rows[] = {
		{ "flamegraph", NULL, true },
		{ "flamegraph", "FILE", false },
		{ "folded", NULL, false },
		{ "text", NULL, false },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct opreport_options o = {
			.args = { .format = (char *)rows[i].format,
				  .output = (char *)rows[i].output }
		};
		struct op_diag diag = { "" };

		take_opreport(&o, NULL, argv, open_terminal(), &diag);
		assert_string_equal(
			diag.text,
			rows[i].is_refused
				? "--format=flamegraph writes a file for another "
				  "program; say where with --output-file=FILE"
				: "");
		opreport_release_options(&o);
	}
}

/* Only a terminal has a width, and only what goes there is fitted to it. */
TEST(lines_fit_the_terminal)
{
	static const char *const argv[] = { "opreport", NULL };
	static const struct {
		bool is_terminal, wide;
		const char *output;
		size_t width;
	} rows[] = {
		{ true, false, NULL, 77 },
		{ true, true, NULL, 0 },
		{ true, false, "FILE", 0 },
		{ false, false, NULL, 0 },
	};
	const struct winsize size = { .ws_row = 24, .ws_col = 77 };

	for (size_t i = 0; i < NR(rows); i++) {
		struct opreport_options o = {
			.args = { .wide = rows[i].wide,
				  .output = (char *)rows[i].output }
		};
		struct op_diag diag = { "" };
		int fd = rows[i].is_terminal ? open_terminal()
					     : open("/dev/null", O_RDWR);

		assert_true(fd >= 0);
		if (rows[i].is_terminal)
			assert_int_equal(ioctl(fd, TIOCSWINSZ, &size), 0);
		assert_int_equal(take_opreport(&o, NULL, argv, fd, &diag), 0);
		assert_int_equal(o.format_options.width, rows[i].width);
		opreport_release_options(&o);
	}
}

TEST(terminals_have_colors)
{
	static const char *const argv[] = { "opannotate", NULL };
	static const struct {
		const char *term, *color, *no_color, *output_dir;
		bool has_color;
	} rows[] = {
		{ "xterm", NULL, NULL, NULL, true },
		{ "xterm", "auto", NULL, NULL, true },
		{ "xterm", "auto", "", NULL, true },
		{ "xterm", "auto", "1", NULL, false },
		{ "xterm", "auto", NULL, "/x", false },
		{ "xterm", "never", NULL, NULL, false },
		{ "dumb", NULL, NULL, NULL, false },
		{ "dumb", "always", "1", "/x", true },
	};

	for (size_t i = 0; i < NR(rows); i++) {
		struct opannotate_options o = {
			.args = { .source = 1,
				  .color = (char *)rows[i].color,
				  .output_dir = (char *)rows[i].output_dir }
		};

		setenv("TERM", rows[i].term, 1);
		unsetenv("NO_COLOR");
		if (rows[i].no_color)
			setenv("NO_COLOR", rows[i].no_color, 1);
		assert_int_equal(take_opannotate(&o, NULL, argv,
						 open_terminal(), NULL),
				 0);
		assert_int_equal(o.color, rows[i].has_color);
		opannotate_release_options(&o);
	}
	unsetenv("NO_COLOR");
}

/* The whole command line is repeated in what is written. */
TEST(command_lines_are_kept)
{
	static const char *const argv[] = { "/usr/bin/x", "-l", "a b", NULL };
	struct opreport_options report = { 0 };
	struct opannotate_options annotate = { .args.source = 1 };

	assert_int_equal(opreport_take_options(&report, NULL, argv, NULL), 0);
	assert_string_equal(report.format_options.command, "opreport -l a b ");
	assert_int_equal(opannotate_take_options(&annotate, argv, NULL), 0);
	assert_string_equal(annotate.command, "opannotate -l a b ");
	opreport_release_options(&report);
	opannotate_release_options(&annotate);
}

/* A relative output folder, which need not be there. */
FOLDER_TEST(output_folders_become_absolute)
{
	static const struct {
		const char *dir, *output; /* below the working folder */
	} rows[] = {
		{ "new", "/new" },
		{ "there", "/there" },
		{ "./there/../new/x", "/./there/../new/x" },
		{ "link", "/there" },
	};
	char wanted[PATH_MAX];

	assert_int_equal(mkdir("there", 0700), 0);
	assert_int_equal(symlink("there", "link"), 0);
	for (size_t i = 0; i < NR(rows); i++) {
		const char *const argv[] = { "opannotate", NULL };
		struct opannotate_options o = {
			.args = { .source = 1,
				  .output_dir = (char *)rows[i].dir }
		};

		assert_int_equal(opannotate_take_options(&o, argv, NULL), 0);
		snprintf(wanted, sizeof(wanted), "%s%s", (char *)*state,
			 rows[i].output);
		assert_string_equal(o.output_dir, wanted);
		opannotate_release_options(&o);
	}
}

/* Servers of debug files: those that are named, else those of the environment,
 * which is how the library gets to know them. */
TEST(servers_are_asked_if_there_are_some)
{
	static const struct {
		const char *urls, *environment;
		bool has_server;
		const char *then; /* in the environment */
	} rows[] = {
		{ NULL, NULL, false, NULL },
		{ NULL, "", false, "" },
		{ NULL, "http://e", true, "http://e" },
		{ "http://a", NULL, true, "http://a" },
		{ "http://a", "http://e", true, "http://a" },
		{ "", "http://e", false, "http://e" },
	};

	if (!pp_debuginfod_is_built())
		skip();
	for (size_t i = 0; i < NR(rows); i++) {
		const struct pp_common_args args = {
			.debuginfod = (char *)rows[i].urls,
			.image_path = (char *)"a,b",
			.is_verbose = 1,
		};
		const char *const *image_path = NULL;
		struct pp_debuginfod *server = NULL;
		struct op_diag diag = { "" };
		unsigned int verbose = 0;
		struct op_arena arena;
		const char *then;

		op_arena_init(&arena);
		unsetenv("DEBUGINFOD_URLS");
		if (rows[i].environment)
			setenv("DEBUGINFOD_URLS", rows[i].environment, 1);
		assert_int_equal(pp_take_common(&arena, &args, &verbose,
						&image_path, &server, &diag),
				 0);
		assert_int_equal(verbose, ~0u);
		assert_string_equal(image_path[1], "b");
		assert_int_equal(server != NULL, rows[i].has_server);
		then = getenv("DEBUGINFOD_URLS");
		assert_string_equal(then ? then : "(none)",
				    rows[i].then ? rows[i].then : "(none)");
		pp_debuginfod_free(server);
		op_arena_release(&arena);
	}
	unsetenv("DEBUGINFOD_URLS");
}
