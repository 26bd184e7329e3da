// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * optop shows where samples are taken, while they are taken: a table on the
 * terminal that is read anew every few seconds. main() turns the command line
 * into a request that all readings have in common; optop_live.c does the rest.
 */

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "libop/files/op_config.h"
#include "libpp/images/kept_symbols.h"
#include "pp/options.h"
#include "pp/optop/optop_live.h"

#define INTERVAL_DEFAULT 2 /* seconds */
#define INTERVAL_MAX 86400

struct optop_options {
	struct pp_common_args common;
	struct pp_source_args sources;
	char *interval, *view, *sort, *filter, *rows, *demangle;
	int once, no_inlines;
	struct op_arena arena;
	struct op_session session;
	struct pp_spec_pair spec;
	struct pp_request request;
	unsigned int verbose;
	unsigned int seconds;
	size_t nr_rows;
	enum optop_kind kind;
	bool by_total;
};

static poptContext parse_optop(struct optop_options *o, int argc,
			       const char **argv)
{
	/* clang-format off */
	const struct poptOption table[] = {
		{ "interval", '\0', POPT_ARG_STRING, &o->interval, 0, "refresh every SECONDS (default 2; 0: only on request)", "SECONDS" },
		{ "view", '\0', POPT_ARG_STRING, &o->view, 0, "begin with image, symbol (default), line, process, thread or cgroup", "VIEW" },
		{ "sort", 's', POPT_ARG_STRING, &o->sort, 0, "sort by self (default) or total", "KEY" },
		{ "filter", '\0', POPT_ARG_STRING, &o->filter, 0, "show only rows that contain TEXT", "TEXT" },
		{ "once", '\0', POPT_ARG_NONE, &o->once, 0, "print the table once, as text", NULL },
		{ "rows", '\0', POPT_ARG_STRING, &o->rows, 0, "with --once: print NUMBER rows (default 20; 0: all)", "NUMBER" },
		{ "no-inlines", '\0', POPT_ARG_NONE, &o->no_inlines, 0, "count inlined functions as part of their callers", NULL },
		{ "demangle", 'D', POPT_ARG_STRING, &o->demangle, 0, "how to show names of C++: smart (default), normal or none", "HOW" },
		PP_SOURCE_OPTIONS(&o->sources, '\0', '\0'),
		PP_COMMON_OPTIONS(&o->common)
	};
	/* clang-format on */

	return pp_parse_options("optop", "[OPTION...] [PROFILE SPECIFICATION]",
				table, &o->common, argc, argv);
}

/* ---- values -------------------------------------------------------------- */

static int parse_optop_number(const char *option, const char *text,
			      uint64_t most, uint64_t *out,
			      struct op_diag *diag)
{
	uint64_t number;

	if (!text)
		return 0;
	if (op_parse_u64(text, &number) || number > most)
		return op_diag_set(
			diag, -EINVAL,
			"--%s=%s: not a number in range; give one from 0 to %llu",
			option, text, (unsigned long long)most);
	*out = number;
	return 0;
}

static int parse_optop_view(struct optop_options *o, struct op_diag *diag)
{
	o->kind = o->view ? optop_view_find(o->view) : OPTOP_SYMBOLS;
	return o->kind < OPTOP_NR_VIEWS
		       ? 0
		       : op_diag_set(
				 diag, -EINVAL,
				 "--view=%s: unknown; use image, symbol, line, process, thread or cgroup",
				 o->view);
}

static int parse_optop_sort(struct optop_options *o, struct op_diag *diag)
{
	if (o->sort && strcmp(o->sort, "self") != 0 &&
	    strcmp(o->sort, "total") != 0)
		return op_diag_set(diag, -EINVAL,
				   "--sort=%s: unknown; use self or total",
				   o->sort);
	o->by_total = o->sort && !strcmp(o->sort, "total");
	return 0;
}

static int parse_optop_filter(struct optop_options *o, struct op_diag *diag)
{
	if (o->filter && strlen(o->filter) >= OPTOP_FILTER_MAX)
		return op_diag_set(diag, -EINVAL,
				   "--filter: too long; give at most %d bytes",
				   OPTOP_FILTER_MAX - 1);
	return 0;
}

static int parse_optop_options(struct optop_options *o, struct op_diag *diag)
{
	struct pp_request *r = &o->request;
	uint64_t seconds = INTERVAL_DEFAULT, rows = 20;
	int err;

	r->select.as_taken = true;
	r->names.demangle = PP_DEMANGLE_SMART;
	if (o->rows && !o->once)
		return op_diag_set(
			diag, -EINVAL,
			"--rows needs --once; add that, or leave it out");
	if (o->interval && o->once)
		return op_diag_set(
			diag, -EINVAL,
			"--interval changes nothing with --once; leave it out");
	err = parse_optop_number("interval", o->interval, INTERVAL_MAX, &seconds,
			  diag) ?:
	      parse_optop_number("rows", o->rows, 1000000, &rows, diag) ?:
	      parse_optop_view(o, diag) ?:
	      parse_optop_sort(o, diag) ?:
	      parse_optop_filter(o, diag) ?:
	      pp_take_common(&o->arena, &o->common, &o->verbose,
			     &r->images.path, &r->images.debuginfod, diag) ?:
	      pp_take_source_dirs(&o->arena, &o->sources, &r->lines.source_dirs, diag) ?:
	      pp_take_demangle(o->demangle, &r->names.demangle, diag) ?:
	      pp_sort_init(&r->symbols.sort, NULL, diag);
	o->seconds = (unsigned int)seconds;
	o->nr_rows = (size_t)rows;
	r->names.inlines = !o->no_inlines;
	r->images.root = o->common.root;
	return err;
}

static int parse_optop_words(struct optop_options *o, const char *const *words,
			     struct op_diag *diag)
{
	struct pp_request *r = &o->request;
	int err = op_session_init(&o->session, o->common.session_dir, diag)
			  ?: pp_spec_pair_init(&o->spec, words, diag);

	if (!err && o->spec.is_diff)
		return op_diag_set(
			diag, -EINVAL,
			"two profiles cannot be compared here; leave out the braces, or use opreport");
	r->select.session = &o->session;
	r->select.spec = &o->spec.spec;
	if (!err)
		r->images.kept_symbols = pp_kept_symbols_new();
	return err || r->images.kept_symbols ? err : -ENOMEM;
}

static void release_optop_options(struct optop_options *o)
{
	pp_kept_symbols_free(o->request.images.kept_symbols);
	pp_debuginfod_free(o->request.images.debuginfod);
	pp_spec_pair_release(&o->spec);
	op_arena_release(&o->arena);
}

/* ---- all of it ----------------------------------------------------------- */

/* "DIR session:NAME", as the user named it. */
static const char *name_of_session(struct optop_options *o,
				   const char *const *words)
{
	const char *of = words && *words
				 ? pp_join_words(&o->arena, words, " ", "")
				 : NULL;

	return of ? op_arena_printf(&o->arena, "%s %s", o->session.dir, of)
		  : o->session.dir;
}

static int run_optop(struct optop_options *o, const char *const *words,
		     struct op_diag *diag)
{
	struct optop_state state;
	int err = optop_state_init(&state, name_of_session(o, words), o->kind);

	state.interval = o->once ? 0 : o->seconds;
	state.is_once = o->once;
	state.verbose = o->verbose;
	state.by_total = o->by_total;
	if (!err && !state.session)
		err = -ENOMEM;
	if (!err && o->filter)
		strcpy(optop_page(&state)->filter, o->filter);
	if (!err)
		err = o->once ? optop_print_once(&state, &o->request,
						 o->nr_rows, diag)
			      : optop_show_live(&state, &o->request, diag);
	optop_state_release(&state);
	return err;
}

int main(int argc, char **argv)
{
	static struct optop_options options;
	struct op_diag diag = { 0 };
	const char *const *words;
	poptContext context;
	int status = 0;

	setlocale(LC_CTYPE, "");
	context = parse_optop(&options, argc, (const char **)argv);
	words = poptGetArgs(context);
	op_arena_init(&options.arena);
	if (parse_optop_options(&options, &diag))
		status = EXIT_USAGE;
	else if (parse_optop_words(&options, words, &diag) ||
		 run_optop(&options, words, &diag))
		status = 1;
	if (status)
		fprintf(stderr, "optop: %s\n", op_diag_text(&diag, -ENOMEM));
	release_optop_options(&options);
	poptFreeContext(context);
	return status;
}
