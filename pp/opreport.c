// SPDX-License-Identifier: GPL-2.0-or-later
/* opreport: where the time went, as text. */

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <popt.h>

#include "config.h"
#include "libop/op_diag.h"
#include "libop/op_session.h"
#include "libpp/format_text.h"
#include "libpp/report.h"

#define EXIT_USAGE 2

/* The command line, as popt leaves it. */
struct options {
	char *session_dir, *output, *threshold, *sort, *merge, *demangle;
	char *include, *exclude, *image_path, *root;
	int symbols, details, reverse, exclude_dependent, verbose, version;
	int no_header, long_names, show_address, accumulated, global_percent;
};

/* All that a run owns. */
struct run {
	struct options options;
	struct op_session session;
	struct pp_spec spec;
	struct pp_arena arena;
	struct pp_request request;
	struct pp_text_options text;
	struct pp_report *report;
};

static poptContext parse_options(struct options *o, int argc, const char **argv)
{
	/* clang-format off */
	const struct poptOption table[] = {
		{ "symbols", 'l', POPT_ARG_NONE, &o->symbols, 0, "show symbols", NULL },
		{ "details", 'd', POPT_ARG_NONE, &o->details, 0, "show the addresses in each symbol", NULL },
		{ "threshold", 't', POPT_ARG_STRING, &o->threshold, 0, "leave out what has less", "PERCENT" },
		{ "sort", 's', POPT_ARG_STRING, &o->sort, 0, "sort by sample, image, app-name, symbol, debug, vma", "KEYS" },
		{ "reverse-sort", 'r', POPT_ARG_NONE, &o->reverse, 0, "turn the order round", NULL },
		{ "merge", 'm', POPT_ARG_STRING, &o->merge, 0, "do not separate by cpu, lib, tid, tgid, unitmask, all", "LIST" },
		{ "exclude-dependent", 'x', POPT_ARG_NONE, &o->exclude_dependent, 0, "leave out libraries and kernel of applications", NULL },
		{ "include-symbols", 'i', POPT_ARG_STRING, &o->include, 0, "show these symbols only", "NAMES" },
		{ "exclude-symbols", 'e', POPT_ARG_STRING, &o->exclude, 0, "leave out these symbols", "NAMES" },
		{ "demangle", 'D', POPT_ARG_STRING, &o->demangle, 0, "none or normal", "HOW" },
		{ "show-address", 'w', POPT_ARG_NONE, &o->show_address, 0, "show addresses of symbols", NULL },
		{ "accumulated", 'a', POPT_ARG_NONE, &o->accumulated, 0, "show running sums", NULL },
		{ "global-percent", '%', POPT_ARG_NONE, &o->global_percent, 0, "percentages of all samples", NULL },
		{ "long-filenames", 'f', POPT_ARG_NONE, &o->long_names, 0, "show whole paths", NULL },
		{ "no-header", 'n', POPT_ARG_NONE, &o->no_header, 0, "rows alone", NULL },
		{ "output-file", 'o', POPT_ARG_STRING, &o->output, 0, "write there", "FILE" },
		{ "session-dir", '\0', POPT_ARG_STRING, &o->session_dir, 0, "where the session is", "DIR" },
		{ "image-path", 'p', POPT_ARG_STRING, &o->image_path, 0, "look for binaries there, too", "DIRS" },
		{ "root", 'R', POPT_ARG_STRING, &o->root, 0, "binaries lie below this folder", "DIR" },
		{ "verbose", 'V', POPT_ARG_NONE, &o->verbose, 0, "say which files are used", NULL },
		{ "version", 'v', POPT_ARG_NONE, &o->version, 0, "show the version", NULL },
		POPT_AUTOHELP
		POPT_TABLEEND
	};
	/* clang-format on */
	poptContext context = poptGetContext(NULL, argc, argv, table, 0);
	int rc;

	poptSetOtherOptionHelp(context, "[OPTION...] [PROFILE SPECIFICATION]");
	rc = poptGetNextOpt(context);
	if (rc < -1) {
		fprintf(stderr, "opreport: %s: %s; see opreport --help\n",
			poptBadOption(context, POPT_BADOPTION_NOALIAS),
			poptStrerror(rc));
		exit(EXIT_USAGE);
	}
	return context;
}

/* ---- from options to a request ------------------------------------------- */

static int take_threshold(struct run *run, struct op_diag *diag)
{
	const char *text = run->options.threshold;
	char *end;

	if (!text)
		return 0;
	run->request.threshold = strtod(text, &end);
	if (end == text || *end || !(run->request.threshold >= 0) ||
	    run->request.threshold > 100)
		return op_diag_set(
			diag, -EINVAL,
			"--threshold=%s: not a percentage; give a number from 0 to 100",
			text);
	return 0;
}

static int take_merge(struct run *run, struct op_diag *diag)
{
	static const struct {
		const char *name;
		unsigned int bits;
	} words[] = {
		{ "cpu", PP_MERGE_CPU },
		{ "lib", PP_MERGE_LIB },
		{ "library", PP_MERGE_LIB },
		{ "tid", PP_MERGE_TID },
		{ "tgid", PP_MERGE_TGID | PP_MERGE_TID },
		{ "unitmask", PP_MERGE_UNIT_MASK },
		{ "all", PP_MERGE_ALL },
	};
	const char **list = NULL;
	int nr = 0;

	if (run->options.merge)
		nr = pp_split_commas(&run->arena, run->options.merge, &list);
	for (int i = 0; i < nr; i++) {
		size_t at = 0;

		while (at < sizeof(words) / sizeof(words[0]) &&
		       strcmp(words[at].name, list[i]))
			at++;
		if (at == sizeof(words) / sizeof(words[0]))
			return op_diag_set(
				diag, -EINVAL,
				"--merge=%s: unknown; use cpu, lib, tid, tgid, unitmask or all",
				list[i]);
		run->request.merge |= words[at].bits;
	}
	return nr < 0 ? nr : 0;
}

static int take_demangle(struct run *run, struct op_diag *diag)
{
	const char *how = run->options.demangle;

	if (how && !strcmp(how, "none"))
		run->request.demangle = PP_DEMANGLE_NONE;
	else if (how && strcmp(how, "normal"))
		return op_diag_set(diag, -EINVAL,
				   "--demangle=%s: unknown; use none or normal",
				   how);
	return 0;
}

/* A comma list as an array ended by NULL; NULL for no list. */
static int take_list(struct run *run, const char *text, const char *const **out)
{
	const char **parts, **list;
	int nr;

	if (!text)
		return 0;
	nr = pp_split_commas(&run->arena, text, &parts);
	if (nr < 0)
		return nr;
	list = pp_arena_alloc(&run->arena, (size_t)nr + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	memcpy(list, parts, (size_t)nr * sizeof(*list));
	*out = list;
	return 0;
}

/* Options that say nothing without others. */
static int check_options(const struct options *o, struct op_diag *diag)
{
	const char *needs_symbols = o->show_address  ? "--show-address"
				    : o->accumulated ? "--accumulated"
				    : o->include     ? "--include-symbols"
				    : o->exclude     ? "--exclude-symbols"
						     : NULL;

	if (needs_symbols && !o->symbols && !o->details)
		return op_diag_set(diag, -EINVAL,
				   "%s is about symbols; add --symbols",
				   needs_symbols);
	if (o->global_percent && o->symbols && !o->details)
		return op_diag_set(
			diag, -EINVAL,
			"--global-percent changes nothing in a symbol table; leave it out or add --details");
	return 0;
}

static int take_options(struct run *run, struct op_diag *diag)
{
	const struct options *o = &run->options;
	struct pp_request *request = &run->request;
	int err = check_options(o, diag);

	request->symbols = o->symbols || o->details;
	request->details = o->details;
	request->exclude_dependent = o->exclude_dependent;
	request->root = o->root;
	run->text = (struct pp_text_options){
		.no_header = o->no_header,
		.long_names = o->long_names,
		.show_address = o->show_address || o->details,
		.accumulated = o->accumulated,
		.global_percent = o->global_percent,
	};
	if (!err)
		err = take_threshold(run, diag);
	if (!err)
		err = take_merge(run, diag);
	if (!err)
		err = take_demangle(run, diag);
	if (!err)
		err = pp_sort_init(&request->sort, o->sort, diag);
	request->sort.reverse = o->reverse;
	request->sort.long_names = o->long_names;
	if (!err)
		err = take_list(run, o->include, &request->include_symbols);
	if (!err)
		err = take_list(run, o->exclude, &request->exclude_symbols);
	if (!err)
		err = take_list(run, o->image_path, &request->image_path);
	return err;
}

/* ---- output -------------------------------------------------------------- */

static void print_messages(const struct run *run)
{
	const struct pp_messages *messages = &run->report->messages;

	for (size_t i = 0; i < messages->nr; i++)
		if (messages->list[i].kind == PP_WARNING ||
		    run->options.verbose)
			fprintf(stderr, "opreport: %s%s\n",
				messages->list[i].kind == PP_WARNING
					? "warning: "
					: "",
				messages->list[i].text);
}

static int write_report(const struct run *run, struct op_diag *diag)
{
	const char *path = run->options.output;
	FILE *out = path ? fopen(path, "we") : stdout;
	bool failed;

	if (!out)
		return op_diag_set(diag, -errno, "%s: cannot be written: %s",
				   path, strerror(errno));
	pp_format_text(out, run->report, &run->text);
	failed = fflush(out) || ferror(out);
	if (path)
		failed |= fclose(out) != 0;
	if (failed)
		return op_diag_set(diag, -EIO, "%s: cannot be written: %s",
				   path ? path : "standard output",
				   strerror(errno));
	return 0;
}

static int report(struct run *run, const char *const *words,
		  struct op_diag *diag)
{
	int err;

	err = op_session_init(&run->session, run->options.session_dir, diag);
	if (!err)
		err = pp_spec_init(&run->spec, words, diag);
	run->request.session = &run->session;
	run->request.spec = &run->spec;
	if (err)
		return err;
	err = pp_report_new(&run->report, &run->request, diag);
	if (run->report)
		print_messages(run);
	if (!err)
		err = write_report(run, diag);
	pp_report_free(run->report);
	return err;
}

int main(int argc, char **argv)
{
	static struct run run;
	struct op_diag diag = { 0 };
	poptContext context;
	int status = 0;

	context = parse_options(&run.options, argc, (const char **)argv);
	if (run.options.version) {
		puts("opreport: oprofile " PACKAGE_VERSION);
		poptFreeContext(context);
		return 0;
	}
	pp_arena_init(&run.arena);
	if (take_options(&run, &diag))
		status = EXIT_USAGE;
	else if (report(&run, poptGetArgs(context), &diag))
		status = 1;
	if (status)
		fprintf(stderr, "opreport: %s\n",
			*diag.text ? diag.text : "out of memory");
	pp_spec_release(&run.spec);
	pp_arena_release(&run.arena);
	poptFreeContext(context);
	return status;
}
