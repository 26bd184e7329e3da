// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From opreport's command line to a request for libpp and options for the
 * output format. popt fills opreport_args; choose_format() finds the format,
 * whose flags say what it can show; options that the format, or another option,
 * makes pointless are refused rather than ignored, because a user who gave them
 * expects a difference.
 */

#include "pp/opreport/opreport_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "libop/options/op_bad_option.h"
#include "libop/options/op_perf_habits.h"
#include "pp/options.h"

#define TREE_THRESHOLD 0.5 /* percent; a tree as text is read by people */
#define TIME_THRESHOLD 0.5 /* likewise */

/* Characters of a terminal: of names, and of a column of samples, their share
 * and the share with what was called. */
#define NAMES_WIDTH 40
#define COLUMN_WIDTH 27

poptContext opreport_parse(struct opreport_args *a, int argc, const char **argv)
{
	char names[PP_FORMAT_NAMES_LEN], help[PP_FORMAT_NAMES_LEN + 8];
	/* clang-format off */
	const struct poptOption what[] = {
		{ "symbols", 'l', POPT_ARG_NONE, &a->symbols, 0, "show symbols", NULL },
		{ "tree", '\0', POPT_ARG_STRING, &a->tree, 0, "show the call tree; =callers puts callers below callees", "callers" },
		{ "callgraph", 'c', POPT_ARG_NONE, &a->call_graph, 0, "show callers and callees of each symbol", NULL },
		{ "lines", '\0', POPT_ARG_NONE, &a->by_line, 0, "show source lines", NULL },
		{ "native", '\0', POPT_ARG_NONE, &a->native, 0, "show the frames of Python's interpreter, too", NULL },
		{ "debug-info", 'g', POPT_ARG_NONE, &a->lines, 0, "show source files and lines", NULL },
		{ "threads", '\0', POPT_ARG_STRING, &a->threads, 0, "show how long each thread ran and waited; =all shows the threads of pools, too", "all" },
		{ "details", 'd', POPT_ARG_NONE, &a->details, 0, "show the addresses in each symbol", NULL },
		{ "over-time", '\0', POPT_ARG_NONE, &a->over_time, 0, "show the hottest symbols over the times of the history", NULL },
		POPT_TABLEEND
	};
	const struct poptOption which[] = {
		PP_SESSION_OPTION(&a->common),
		{ "threshold", 't', POPT_ARG_STRING, &a->threshold, 0, "hide entries below PERCENT", "PERCENT" },
		{ "include-symbols", 'i', POPT_ARG_STRING, &a->include, 0, "show only these symbols", "NAMES" },
		{ "exclude-symbols", 'e', POPT_ARG_STRING, &a->exclude, 0, "hide these symbols", "NAMES" },
		{ "exclude-dependent", 'x', POPT_ARG_NONE, &a->exclude_dependent, 0, "leave out samples in libraries and the kernel", NULL },
		{ "hide-self", '\0', POPT_ARG_NONE, &a->hide_self, 0, "leave out samples of OProfile itself", NULL },
		{ "merge", 'm', POPT_ARG_STRING, &a->merge, 0, "merge samples that differ in cgroup, cpu, lib, tid, tgid, unitmask or all", "LIST" },
		{ "by-session", '\0', POPT_ARG_NONE, &a->by_session, 0, "show a column for each session", NULL },
		{ "by-label", '\0', POPT_ARG_STRING, &a->by_label, 0, "show a column for each value of that label of sessions, such as host", "KEY" },
		{ "by-build", '\0', POPT_ARG_NONE, &a->by_build, 0, "show builds of one path separately", NULL },
		POPT_TABLEEND
	};
	const struct poptOption how[] = {
		{ "sort", 's', POPT_ARG_STRING, &a->sort, 0, "sort by sample, total, image, app-name, symbol, debug, vma, diff", "KEYS" },
		{ "reverse-sort", 'r', POPT_ARG_NONE, &a->reverse, 0, "reverse the order", NULL },
		{ "demangle", 'D', POPT_ARG_STRING, &a->demangle, 0, "how to show names of C++: smart (default where people read them), normal or none", "HOW" },
		{ "intervals", '\0', POPT_ARG_NONE, &a->intervals, 0, "show 95% intervals of shares and changes", NULL },
		{ "long-filenames", 'f', POPT_ARG_NONE, &a->long_names, 0, "show whole paths", NULL },
		{ "wide", '\0', POPT_ARG_NONE, &a->wide, 0, "never shorten names on a terminal", NULL },
		{ "layout", '\0', POPT_ARG_STRING, &a->layout, 0, "show threads, processes and cgroups in rows or columns", "rows|columns" },
		{ "accumulated", 'a', POPT_ARG_NONE, &a->accumulated, 0, "show running sums", NULL },
		{ "global-percent", '%', POPT_ARG_NONE, &a->global_percent, 0, "show percentages of all samples", NULL },
		{ "no-inlines", '\0', POPT_ARG_NONE, &a->no_inlines, 0, "count inlined functions as part of their callers", NULL },
		{ "show-address", 'w', POPT_ARG_NONE, &a->show_address, 0, "show addresses of symbols", NULL },
		{ "no-header", 'n', POPT_ARG_NONE, &a->no_header, 0, "show rows without headers", NULL },
		{ "no-pager", '\0', POPT_ARG_NONE, &a->no_pager, 0, "use no pager on a terminal", NULL },
		POPT_TABLEEND
	};
	const struct poptOption where[] = {
		{ "html", '\0', POPT_ARG_STRING, &a->html, 0, "write a page for browsers to FILE: symbols, stacks and code", "FILE" },
		{ "open", '\0', POPT_ARG_NONE, &a->open, 0, "write a page and open it in a browser", NULL },
		{ "json", '\0', POPT_ARG_VAL | POPT_ARGFLAG_OR, &a->aliases, 1 << 1, "write JSON", NULL },
		{ "csv", '\0', POPT_ARG_VAL | POPT_ARGFLAG_OR, &a->aliases, 1 << 2, "write comma-separated values", NULL },
		{ "xml", 'X', POPT_ARG_VAL | POPT_ARGFLAG_OR, &a->aliases, 1 << 0, "write XML; with =classic, what the original's schema has", "classic" },
		{ "format", '\0', POPT_ARG_STRING, &a->format, 0, help, "FORMAT" },
		{ "output-file", 'o', POPT_ARG_STRING, &a->output, 0, "write to FILE", "FILE" },
		POPT_TABLEEND
	};
	const struct poptOption checks[] = {
		{ "gate", '\0', POPT_ARG_STRING, &a->gate, 0, "fail if the later of two profiles is slower by more than PERCENT (default 5), beyond chance", "PERCENT" },
		{ "max-loss", '\0', POPT_ARG_STRING, &a->max_loss, 0, "fail if more than PERCENT of the samples were lost", "PERCENT" },
		{ "check", '\0', POPT_ARG_NONE, &a->check, 0, "verify each file of --session-dir; make no report", NULL },
		{ "repair", '\0', POPT_ARG_NONE, &a->repair, 0, "like --check, and repair if possible", NULL },
		POPT_TABLEEND
	};
	const struct poptOption binaries[] = {
		PP_BINARY_OPTIONS(&a->common),
		PP_SOURCE_OPTIONS(&a->sources, '\0', '\0'),
		POPT_TABLEEND
	};
	const struct poptOption others[] = {
		PP_OTHER_OPTIONS(&a->common),
		POPT_TABLEEND
	};
	const struct poptOption table[] = {
		OP_OPTION_GROUP("What to show:", what),
		OP_OPTION_GROUP("Which samples:", which),
		OP_OPTION_GROUP("How to show them:", how),
		OP_OPTION_GROUP("Formats and files:", where),
		OP_OPTION_GROUP("Limits and checks:", checks),
		OP_OPTION_GROUP("Binaries and sources:", binaries),
		OP_OPTION_GROUP("Others:", others),
		POPT_AUTOHELP
		POPT_TABLEEND
	};
	/* clang-format on */

	/* popt would take the next word for a value that is left out. */
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--tree"))
			argv[i] = "--tree=callees";
		if (!strcmp(argv[i], "--threads"))
			argv[i] = "--threads=pools";
		if (!strcmp(argv[i], "--gate"))
			argv[i] = "--gate=5";
		if (strncmp(argv[i], "--xml=", 6) != 0)
			continue;
		a->xml = argv[i] + 6;
		argv[i] = "--xml";
	}
	snprintf(help, sizeof(help), "write %s", pp_format_names(names));
	return pp_parse_options("opreport",
				"[OPTION...] [PROFILE SPECIFICATION]", table,
				&a->common, argc, argv);
}

/* ---- what goes together -------------------------------------------------- */

static const char *needs_symbols(const struct opreport_options *o)
{
	const struct opreport_args *a = &o->args;
	const char *by_total = a->sort ? strstr(a->sort, "total") : NULL;
	bool by_vma = a->sort && strstr(a->sort, "vma") &&
		      !(o->format->flags & PP_NEEDS_SYMBOLS);

	return a->show_address	? "--show-address"
	       : by_vma		? "--sort=vma"
	       : by_total	? "--sort=total"
	       : a->accumulated ? "--accumulated"
	       : a->lines	? "--debug-info"
	       : a->include	? "--include-symbols"
	       : a->exclude	? "--exclude-symbols"
				: NULL;
}

/* Options that perf has, too, for something else. */
static int check_perf_options(const struct opreport_args *a,
			      const char *const *words, struct op_diag *diag)
{
	char style[16] = "";

	if (a->lines && words && *words)
		snprintf(style, sizeof(style), "%.*s",
			 (int)strcspn(*words, ","), *words);
	return op_perf_habit(diag, "opreport", style, NULL)
		       ?: (a->include && !access(a->include, F_OK)
				   ? op_perf_habit(diag, "opreport", "--input",
						   a->include)
				   : 0);
}

static int check_symbols(const struct opreport_options *o, struct op_diag *diag)
{
	const struct opreport_args *a = &o->args;
	const char *option = needs_symbols(o);
	bool parts = a->details || a->call_graph;
	const char *beside = a->details	     ? "--details"
			     : a->call_graph ? "--callgraph"
			     : a->lines	     ? "--debug-info"
					     : NULL;

	if (a->by_line && beside)
		return op_diag_set(
			diag, -EINVAL,
			"--lines makes a table of its own; leave %s out",
			beside);
	if ((a->sources.search_dirs || a->sources.base_dirs) && !a->by_line &&
	    !(o->format->flags & PP_SHOWS_ALL))
		return op_diag_set(
			diag, -EINVAL,
			"--%s is about the text of source lines; add --lines or --html=FILE",
			a->sources.search_dirs ? "search-dirs" : "base-dirs");
	if (a->call_graph && a->details)
		return op_diag_set(
			diag, -EINVAL,
			"--callgraph does not show the addresses in a symbol; leave --details out");
	if (option && !a->symbols && !a->by_line && !parts &&
	    o->format->flags & PP_SHOWS_SYMBOLS &&
	    !(o->format->flags & PP_NEEDS_LINES))
		return op_diag_set(diag, -EINVAL,
				   "%s is about symbols; add --symbols",
				   option);
	if (a->sort && strstr(a->sort, "total") && parts)
		return op_diag_set(
			diag, -EINVAL,
			"--sort=total: a call graph and addresses have no totals; leave --callgraph and --details out");
	if (a->global_percent && (a->symbols || a->by_line) && !parts)
		return op_diag_set(
			diag, -EINVAL,
			"--global-percent has no effect on a symbol table; leave it out or add --details or --callgraph");
	return 0;
}

/* An option that is about tables of images or of symbols. */
static const char *needs_tables(const struct opreport_args *a)
{
	return a->details	   ? "--details"
	       : a->by_line	   ? "--lines"
	       : a->lines	   ? "--debug-info"
	       : a->show_address   ? "--show-address"
	       : a->accumulated	   ? "--accumulated"
	       : a->global_percent ? "--global-percent"
	       : a->intervals	   ? "--intervals"
	       : a->sort	   ? "--sort"
	       : a->reverse	   ? "--reverse-sort"
	       : a->long_names	   ? "--long-filenames"
	       : a->no_header	   ? "--no-header"
				   : NULL;
}

/* An option that is about other tables than that of symbols with lines. */
static const char *needs_other_tables(const struct opreport_args *a,
				      const struct pp_format *f)
{
	bool details = f->flags & PP_SHOWS_DETAILS;

	return a->call_graph		     ? "--callgraph"
	       : a->by_line		     ? "--lines"
	       : a->long_names		     ? "--long-filenames"
	       : a->no_header		     ? "--no-header"
	       : a->details && !details	     ? "--details"
	       : a->show_address && !details ? "--show-address"
					     : NULL;
}

/* Find the format, whichever option named it. */
static int choose_format(struct opreport_options *o, struct op_diag *diag)
{
	static const char *const aliases[] = { "xml", "json", "csv" };
	const struct opreport_args *a = &o->args;
	const char *name = a->html	? "html"
			   : a->format	? a->format
			   : a->aliases ? aliases[ffs(a->aliases) - 1]
					: "text";
	char names[PP_FORMAT_NAMES_LEN];

	if (a->aliases & (a->aliases - 1) ||
	    !!a->aliases + !!a->format + !!a->html > 1)
		return op_diag_set(
			diag, -EINVAL,
			"--xml, --json, --csv, --html and --format name a format; choose one");
	if (a->xml && strcmp(a->xml, "classic") != 0)
		return op_diag_set(
			diag, -EINVAL,
			"--xml=%s: unknown; use --xml or --xml=classic",
			a->xml);
	if (a->html && a->output)
		return op_diag_set(
			diag, -EINVAL,
			"--html and --output-file both say where to write; leave --output-file out");
	if (a->html)
		o->args.output = o->args.html;
	o->format = pp_format_find(name);
	if (o->format)
		return 0;
	return op_diag_set(diag, -EINVAL, "--format=%s: unknown; use %s", name,
			   pp_format_names(names));
}

static int check_format(const struct opreport_options *o, struct op_diag *diag)
{
	const struct opreport_args *a = &o->args;
	const struct pp_format *f = o->format;

	if (!(f->flags & PP_SHOWS_SYMBOLS) && needs_tables(a))
		return op_diag_set(
			diag, -EINVAL,
			"%s has no effect on --format=%s; leave it out",
			needs_tables(a), f->name);
	if (f->flags & PP_NEEDS_FILE && !a->output && isatty(STDOUT_FILENO))
		return op_diag_set(
			diag, -EINVAL,
			"--format=%s writes a file for another program; say where with --output-file=FILE",
			f->name);
	if (f->flags & PP_NEEDS_LINES && needs_other_tables(a, f))
		return op_diag_set(
			diag, -EINVAL,
			"%s has no effect on --format=%s; leave it out",
			needs_other_tables(a, f), f->name);
	if (f->flags & PP_SHOWS_SHARES || !(f->flags & PP_SHOWS_SYMBOLS))
		return 0;
	if (a->accumulated || a->global_percent)
		return op_diag_set(
			diag, -EINVAL,
			"%s has no effect on %s, which contains only counts; leave it out",
			a->accumulated ? "--accumulated" : "--global-percent",
			f->title);
	if (a->intervals)
		return op_diag_set(
			diag, -EINVAL,
			"--intervals: %s contains only counts; use --json or --csv",
			f->title);
	return 0;
}

/* How the call tree is drawn; and what is about tables says nothing of it. */
static int check_tree(const struct opreport_options *o, struct op_diag *diag)
{
	const struct opreport_args *a = &o->args;
	const char *tables = a->symbols		 ? "--symbols"
			     : a->by_line	 ? "--lines"
			     : a->call_graph	 ? "--callgraph"
			     : a->details	 ? "--details"
			     : a->lines		 ? "--debug-info"
			     : a->show_address	 ? "--show-address"
			     : a->accumulated	 ? "--accumulated"
			     : a->global_percent ? "--global-percent"
			     : a->sort		 ? "--sort"
			     : a->reverse	 ? "--reverse-sort"
						 : NULL;

	if (o->format->flags & PP_SHOWS_ALL && (a->tree || a->call_graph))
		return op_diag_set(
			diag, -EINVAL,
			"--%s has no effect on --format=%s, which always shows stacks; leave it out",
			a->tree ? "tree" : "callgraph", o->format->name);
	if (!a->tree)
		return 0;
	if (strcmp(a->tree, "callees") != 0 && strcmp(a->tree, "callers") != 0)
		return op_diag_set(
			diag, -EINVAL,
			"--tree=%s: unknown; use --tree or --tree=callers",
			a->tree);
	if (o->format->flags & PP_SHOWS_FLAT && !strcmp(a->tree, "callers"))
		return op_diag_set(
			diag, -EINVAL,
			"--tree=callers has no effect on --format=%s, whose readers show callers themselves; leave it out",
			o->format->name);
	if (!(o->format->flags & (PP_SHOWS_TREE | PP_DRAWS_TREE)))
		return op_diag_set(
			diag, -EINVAL,
			"--tree: %s has no call tree; use --format=folded",
			o->format->title);
	if (tables && !(o->format->flags & PP_SHOWS_TREE))
		return op_diag_set(diag, -EINVAL,
				   "%s has no effect on --tree; leave it out",
				   tables);
	return 0;
}

/* Times are columns of symbols; what else columns are of is added up where they
 * are drawn. */
static int check_over_time(const struct opreport_options *o,
			   struct op_diag *diag)
{
	const struct opreport_args *a = &o->args;
	unsigned int flags = o->format->flags;
	bool draws = flags & PP_DRAWS_TREE;
	const char *other = a->call_graph     ? "--callgraph"
			    : a->tree	      ? "--tree"
			    : a->details      ? "--details"
			    : a->by_line      ? "--lines"
			    : a->by_session   ? "--by-session"
			    : !draws	      ? NULL
			    : a->lines	      ? "--debug-info"
			    : a->show_address ? "--show-address"
			    : a->accumulated  ? "--accumulated"
			    : a->intervals    ? "--intervals"
			    : a->layout	      ? "--layout"
					      : NULL;

	if (!a->over_time)
		return 0;
	if (a->xml || !(flags & PP_SHOWS_SYMBOLS) ||
	    !(flags & (PP_SHOWS_SHARES | PP_SHOWS_CODE)))
		return op_diag_set(
			diag, -EINVAL,
			"--over-time: there are no columns of times in %s; use text, xml, json or csv",
			a->xml ? "classic XML" : o->format->title);
	if (other)
		return op_diag_set(
			diag, -EINVAL,
			"--over-time is a table of symbols; leave %s out",
			other);
	return 0;
}

/* Threads make a table of their own, whatever columns there are. */
static int check_threads(const struct opreport_options *o, struct op_diag *diag)
{
	const struct opreport_args *a = &o->args;
	const char *other = a->symbols	    ? "--symbols"
			    : a->call_graph ? "--callgraph"
			    : a->tree	    ? "--tree"
			    : a->over_time  ? "--over-time"
			    : a->layout	    ? "--layout"
			    : a->by_session ? "--by-session"
			    : a->by_label   ? "--by-label"
			    : a->include    ? "--include-symbols"
			    : a->exclude    ? "--exclude-symbols"
			    : needs_tables(a) && !a->no_header ? needs_tables(a)
							       : NULL;

	if (!a->threads)
		return 0;
	if (strcmp(a->threads, "pools") != 0 && strcmp(a->threads, "all") != 0)
		return op_diag_set(
			diag, -EINVAL,
			"--threads=%s: unknown; use --threads or --threads=all",
			a->threads);
	if (!(o->format->flags & PP_SHOWS_THREADS))
		return op_diag_set(
			diag, -EINVAL,
			"--threads: %s has no table of threads; use text, json or csv",
			o->format->title);
	if (other)
		return op_diag_set(
			diag, -EINVAL,
			"--threads is a table of its own; leave %s out", other);
	return 0;
}

static int check_diff(const struct opreport_options *o, struct op_diag *diag)
{
	const struct opreport_args *a = &o->args;

	if (!o->spec.is_diff && o->request.symbols.sort.wants_diff)
		return op_diag_set(
			diag, -EINVAL,
			"--sort=diff orders a comparison; give two profiles, \"{ OLD... } { NEW... }\"");
	if (!o->spec.is_diff && a->gate)
		return op_diag_set(
			diag, -EINVAL,
			"--gate compares two profiles; give both, \"{ OLD... } { NEW... }\"");
	if (!o->spec.is_diff)
		return 0;
	if (o->args.threads)
		return op_diag_set(
			diag, -EINVAL,
			"--threads shows no comparisons; give one profile");
	if (o->request.tree.wanted && o->format->flags & PP_DRAWS_TREE)
		return op_diag_set(
			diag, -EINVAL,
			"--tree does not show comparisons; use --format=flamegraph");
	if (!(o->format->flags & PP_SHOWS_DIFF))
		return op_diag_set(
			diag, -EINVAL,
			"--%s%s does not show comparisons; write each profile by itself, or use another format",
			a->format ? "format=" : "", o->format->name);
	if (a->details || a->call_graph)
		return op_diag_set(
			diag, -EINVAL,
			"--%s does not show comparisons; leave it out",
			a->details ? "details" : "callgraph");
	if (o->request.symbols.sort.wants_total)
		return op_diag_set(
			diag, -EINVAL,
			"--sort=total: comparisons have no totals; leave it out");
	if (!a->symbols && !a->by_line && o->format->flags & PP_SHOWS_SYMBOLS)
		return op_diag_set(
			diag, -EINVAL,
			"a comparison is about symbols; add --symbols");
	return 0;
}

/* Tables of images, and what is for compilers, show all frames anyway. */
static int check_native(const struct opreport_options *o, struct op_diag *diag)
{
	const struct pp_request *r = &o->request;

	if (!o->args.native)
		return 0;
	if (r->lines.frames)
		return op_diag_set(
			diag, -EINVAL,
			"--native has no effect on --format=%s; leave it out",
			o->format->name);
	return r->symbols.wanted || r->tree.wanted
		       ? 0
		       : op_diag_set(
				 diag, -EINVAL,
				 "--native is about symbols and stacks; add --symbols or --tree");
}

static int check_merge(const struct opreport_options *o, struct op_diag *diag)
{
	unsigned int merge = o->request.select.merge;

	if (o->args.exclude_dependent && merge & PP_MERGE_LIB &&
	    (merge & PP_MERGE_ALL) != PP_MERGE_ALL)
		return op_diag_set(
			diag, -EINVAL,
			"--merge=lib makes every image an application, so --exclude-dependent excludes nothing; use one of them only");
	return 0;
}

/* How many columns of tasks a terminal has room for beside names, which need
 * NAMES_WIDTH; 0 where any number of characters can be written. */
static size_t max_task_columns(const struct opreport_args *a)
{
	size_t width = a->wide || a->output ? 0 : pp_terminal_width();
	size_t column = a->intervals ? 2 * COLUMN_WIDTH : COLUMN_WIDTH;
	size_t nr = width > NAMES_WIDTH ? (width - NAMES_WIDTH) / column : 0;

	if (!width)
		return 0;
	return nr < 1 ? 1 : nr > PP_MANY_COLUMNS ? PP_MANY_COLUMNS : nr;
}

/* Tasks are in rows of the summary or of the table of symbols, as text. */
static int take_layout(struct opreport_options *o, struct op_diag *diag)
{
	const struct opreport_args *a = &o->args;
	bool rows = a->layout && !strcmp(a->layout, "rows");
	bool columns = a->layout && !strcmp(a->layout, "columns");
	bool can = !(o->format->flags & PP_SHOWS_AXES) &&
		   !o->request.tree.wanted && !a->call_graph && !a->details;

	if (a->layout && !rows && !columns)
		return op_diag_set(diag, -EINVAL,
				   "--layout=%s: unknown; use rows or columns",
				   a->layout);
	if (a->layout && o->format->flags & PP_SHOWS_AXES)
		return op_diag_set(diag, -EINVAL,
				   "--layout has no effect on %s; leave it out",
				   o->format->title);
	if (rows && !can)
		return op_diag_set(
			diag, -EINVAL,
			"--layout=rows: call graphs, addresses and trees can only have columns; leave it out");
	o->request.select.max_columns = max_task_columns(a);
	o->request.select.layout = rows || a->threads ? PP_LAYOUT_ROWS
				   : columns || !can  ? PP_LAYOUT_COLUMNS
						      : PP_LAYOUT_AUTO;
	return 0;
}

/* ---- all of it ----------------------------------------------------------- */

static void take_flags(struct opreport_options *o)
{
	const struct opreport_args *a = &o->args;
	unsigned int flags = o->format->flags;
	bool symbols = a->symbols || a->call_graph || a->details ||
		       a->by_line || a->over_time || flags & PP_NEEDS_SYMBOLS;

	o->request.tree.wanted = flags & PP_SHOWS_TREE || a->tree;
	o->request.tree.callers = a->tree && !strcmp(a->tree, "callers");
	o->request.tree.by_name = flags & PP_NEEDS_NAMES;
	o->request.tree.all = flags & PP_SHOWS_FLAT;
	o->request.tree.max_nodes = o->format->tree_max_nodes;
	o->request.select.one_class = flags & PP_NEEDS_ONE_CLASS;
	o->request.select.any_axes = flags & PP_SHOWS_AXES;
	o->request.select.threads = a->threads;
	o->request.select.pools = a->threads && strcmp(a->threads, "all") != 0;
	o->request.symbols.wanted =
		(symbols && flags & PP_SHOWS_SYMBOLS) || flags & PP_SHOWS_ALL;
	o->request.calls.wanted = a->call_graph && flags & PP_SHOWS_CALLS;
	o->request.lines.split = a->by_line;
	o->request.totals.stack_calls = flags & PP_NEEDS_CALLS;
	o->request.lines.frames = flags & PP_NEEDS_FRAMES;
	o->request.totals.wanted =
		(o->request.symbols.wanted && !a->details && !a->call_graph &&
		 flags & (PP_SHOWS_TOTALS | PP_SHOWS_ALL)) ||
		o->request.totals.stack_calls;
	o->request.lines.totals = a->by_line && o->request.totals.wanted;
	o->request.symbols.details =
		a->details || a->by_line || flags & PP_NEEDS_LINES;
	o->request.symbols.code = a->details && flags & PP_SHOWS_CODE;
	o->request.lines.wanted =
		a->lines || a->by_line || flags & PP_NEEDS_LINES;
	o->request.names.inlines =
		(o->request.symbols.wanted || o->request.tree.wanted) &&
		!a->no_inlines && flags & PP_SHOWS_INLINES;
	/* A compiler wants to know of code as it is. */
	o->request.names.fold_interpreters =
		(o->request.symbols.wanted || o->request.tree.wanted) &&
		!a->native && !(flags & PP_NEEDS_FRAMES);
	o->request.tree.origins = flags & PP_SHOWS_ORIGINS;
	/* With --no-inlines lines are those of the original profiler. */
	o->request.lines.declarations =
		(o->request.names.inlines && o->request.lines.wanted) ||
		o->request.tree.origins;
	o->request.intervals = a->intervals || flags & PP_SHOWS_ALL;
	o->request.select.exclude_dependent = a->exclude_dependent;
	o->request.select.hide_own = a->hide_self || flags & PP_IS_PICTURE;
	o->request.select.by_build = a->by_build;
	o->request.select.over_time = a->over_time;
	if (a->over_time && flags & PP_DRAWS_TREE) {
		o->request.totals.wanted = false;
		o->request.select.time_columns = pp_text_drawing_len(
			a->wide || a->output ? 0 : pp_terminal_width());
	}
	o->request.images.root = a->common.root;
}

static int take_format_options(struct opreport_options *o,
			       const char *const *words,
			       const char *const *argv)
{
	const struct opreport_args *a = &o->args;
	const char *command = pp_join_words(&o->arena, argv + 1, " ", " ");

	o->format_options = (struct pp_format_options){
		.no_header = a->no_header,
		.long_names = a->long_names,
		.show_address = a->show_address || a->details,
		.accumulated = a->accumulated,
		.global_percent = a->global_percent,
		.width = a->wide || a->output ? 0 : pp_terminal_width(),
		.exclude_symbols = a->exclude,
		.include_symbols = a->include,
		.image_path = a->common.image_path,
		.merge = a->merge,
		.exclude_dependent = a->exclude_dependent,
		.over_time = a->over_time,
		.unicode = pp_terminal_has_unicode(),
		.xml_classic = a->xml,
	};
	if (words && *words)
		o->format_options.words =
			pp_join_words(&o->arena, words, ",", "");
	if (command)
		o->format_options.command =
			op_arena_printf(&o->arena, "opreport %s", command);
	return o->format_options.command ? 0 : -ENOMEM;
}

static int take_sort(struct opreport_options *o, struct op_diag *diag)
{
	const char *keys = o->args.sort;
	int err = pp_sort_init(&o->request.symbols.sort, keys, diag);

	if (!err && o->format->flags & PP_NEEDS_SYMBOLS) {
		o->sort_ignored = keys;
		err = pp_sort_init(&o->request.symbols.sort, "app-name,image",
				   diag);
	}
	o->request.symbols.sort.reverse = o->args.reverse;
	o->request.symbols.sort.long_names = o->args.long_names;
	return err;
}

static int take_report_values(struct opreport_options *o, struct op_diag *diag)
{
	const struct opreport_args *a = &o->args;
	struct pp_request *r = &o->request;
	struct op_arena *arena = &o->arena;

	o->max_loss = -1;
	o->gate.percent = -1;
	o->gate.has_names = a->include;
	if (o->format->flags & PP_SHORTENS_NAMES)
		r->names.demangle = PP_DEMANGLE_SMART;
	r->select.by_label = a->by_label;
	if (!a->by_session && !a->by_label)
		r->select.merge = PP_MERGE_SESSION;
	if (r->lines.frames)
		r->select.merge |= PP_MERGE_CPU | PP_MERGE_TGID | PP_MERGE_TID |
				   PP_MERGE_CGROUP;
	if (r->tree.wanted && o->format->flags & PP_DRAWS_TREE)
		r->threshold = TREE_THRESHOLD;
	if (r->select.over_time && o->format->flags & PP_DRAWS_TREE) {
		r->threshold = TIME_THRESHOLD;
		r->select.merge |= PP_MERGE_CPU | PP_MERGE_TGID | PP_MERGE_TID |
				   PP_MERGE_CGROUP;
	}
	return pp_take_percent("threshold", a->threshold, &r->threshold, diag) ?:
	       pp_take_percent("max-loss", a->max_loss, &o->max_loss, diag) ?:
	       pp_take_percent("gate", a->gate, &o->gate.percent, diag) ?:
	       pp_take_merge(arena, a->merge, &r->select.merge, diag) ?:
	       pp_take_common(arena, &a->common, &o->verbose, &r->images.path, &r->images.debuginfod,
			      diag) ?:
	       pp_take_demangle(a->demangle, &r->names.demangle, diag) ?:
	       take_sort(o, diag) ?:
	       pp_take_source_dirs(arena, &a->sources, &r->lines.source_dirs, diag) ?:
	       pp_take_names(arena, a->include, &r->names.include, diag) ?:
	       pp_take_names(arena, a->exclude, &r->names.exclude, diag);
}

int opreport_take_options(struct opreport_options *o, const char *const *words,
			  const char *const *argv, struct op_diag *diag)
{
	int err;

	op_arena_init(&o->arena);
	o->args.symbols |= o->args.gate && !o->args.by_line;
	err = check_perf_options(&o->args, words, diag) ?:
	      choose_format(o, diag) ?: check_format(o, diag) ?:
	      check_tree(o, diag) ?: check_over_time(o, diag) ?: check_threads(o, diag) ?:
	      check_symbols(o, diag);
	if (err)
		return err;
	take_flags(o);
	return take_layout(o, diag) ?: take_report_values(o, diag) ?:
	       check_native(o, diag) ?: check_merge(o, diag) ?:
	       take_format_options(o, words, argv);
}

int opreport_take_words(struct opreport_options *o, const char *const *words,
			struct op_diag *diag)
{
	int err = pp_spec_pair_init(&o->spec, words, diag);

	o->request.select.spec = &o->spec.spec;
	o->request.compare.spec = o->spec.is_diff ? &o->spec.old : NULL;
	o->request.totals.wanted &= !o->spec.is_diff;
	if (o->spec.is_diff)
		o->request.select.layout = PP_LAYOUT_COLUMNS;
	/* Changes are of columns as they are, not of sums of them. */
	if (o->format->flags & PP_SHOWS_ALL && o->spec.is_diff)
		o->request.select.merge |= PP_MERGE_CPU | PP_MERGE_TGID |
					   PP_MERGE_TID | PP_MERGE_CGROUP;
	if (!err && o->spec.is_diff && o->args.over_time)
		return op_diag_set(
			diag, -EINVAL,
			"--over-time shows no comparisons; give one profile");
	return err ? err : check_diff(o, diag);
}

void opreport_release_options(struct opreport_options *o)
{
	pp_debuginfod_free(o->request.images.debuginfod);
	pp_spec_pair_release(&o->spec);
	op_arena_release(&o->arena);
}
