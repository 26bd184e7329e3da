// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From opannotate's command line to a request. Options that change nothing
 * together are refused, with what to do instead.
 */

#include "pp/opannotate/opannotate_options.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/options/op_pager.h"
#include "pp/opannotate/opannotate_objdump.h"
#include "libop/options/op_bad_option.h"
#include "pp/options.h"

#define HOT_THRESHOLD 1.0 /* percent; nobody reads everything */

poptContext opannotate_parse(struct opannotate_args *a, int argc,
			     const char **argv)
{
	/* clang-format off */
	const struct poptOption what[] = {
		{ "source", 's', POPT_ARG_NONE, &a->source, 0, "show source files with samples", NULL },
		{ "assembly", 'a', POPT_ARG_NONE, &a->assembly, 0, "show instructions with samples; with --source the source, too", NULL },
		{ "source-with-assembly", '\0', POPT_ARG_NONE, &a->both, 0, "show instructions with their source lines", NULL },
		{ "all", '\0', POPT_ARG_NONE, &a->all, 0, "show whole files and all functions, as the original profiler did", NULL },
		POPT_TABLEEND
	};
	const struct poptOption which[] = {
		PP_SESSION_OPTION(&a->common),
		{ "include-symbols", 'i', POPT_ARG_STRING, &a->include, 0, "count only samples in these symbols", "NAMES" },
		{ "exclude-symbols", 'e', POPT_ARG_STRING, &a->exclude, 0, "leave out samples in these symbols", "NAMES" },
		{ "include-file", '\0', POPT_ARG_STRING, &a->include_file, 0, "show only source files that match", "PATTERNS" },
		{ "exclude-file", '\0', POPT_ARG_STRING, &a->exclude_file, 0, "hide source files that match", "PATTERNS" },
		{ "threshold", 't', POPT_ARG_STRING, &a->threshold, 0, "hide functions (with --all: files) below PERCENT (default 1)", "PERCENT" },
		{ "exclude-dependent", 'x', POPT_ARG_NONE, &a->exclude_dependent, 0, "leave out samples in libraries and the kernel", NULL },
		{ "merge", 'm', POPT_ARG_STRING, &a->merge, 0, "merge samples that differ in cgroup, cpu, tid, tgid, unitmask or all", "LIST" },
		POPT_TABLEEND
	};
	const struct poptOption how[] = {
		{ "demangle", 'D', POPT_ARG_STRING, &a->demangle, 0, "how to show names of C++: smart (default), normal or none", "HOW" },
		{ "color", '\0', POPT_ARG_STRING, &a->color, 0, "colour counts: auto, always or never", "WHEN" },
		{ "no-header", 'n', POPT_ARG_NONE, &a->no_header, 0, "leave out the header", NULL },
		{ "no-pager", '\0', POPT_ARG_NONE, &a->no_pager, 0, "use no pager on a terminal", NULL },
		{ "output-dir", 'o', POPT_ARG_STRING, &a->output_dir, 0, "write each annotated source file to DIR", "DIR" },
		{ "objdump-params", '\0', POPT_ARG_STRING, &a->objdump_params, 0, "how to print instructions, in options of objdump", "PARAMS" },
		POPT_TABLEEND
	};
	const struct poptOption binaries[] = {
		PP_SOURCE_OPTIONS(&a->sources, 'd', 'b'),
		PP_BINARY_OPTIONS(&a->common),
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
		OP_OPTION_GROUP("Binaries and sources:", binaries),
		OP_OPTION_GROUP("Others:", others),
		POPT_AUTOHELP
		POPT_TABLEEND
	};
	/* clang-format on */

	return pp_parse_options(
		"opannotate",
		"--source|--assembly [OPTION...] [PROFILE SPECIFICATION]",
		table, &a->common, argc, argv);
}

/* ---- what goes together -------------------------------------------------- */

static int refuse_options(struct op_diag *diag, const char *why)
{
	return op_diag_set(diag, -EINVAL, "%s", why);
}

static int check_opannotate_args(const struct opannotate_args *a,
				 struct op_diag *diag)
{
	if (!a->source && !a->assembly)
		return refuse_options(
			diag, "nothing to show; add --source or --assembly");
	if (a->assembly && a->output_dir)
		return refuse_options(
			diag,
			"--output-dir is for source files; leave out --assembly");
	if (!a->assembly && a->objdump_params)
		return refuse_options(
			diag,
			"--objdump-params is about instructions; add --assembly");
	return 0;
}

/* ---- all of it ----------------------------------------------------------- */

/* "/" would write over the sources. */
static int take_output_dir(struct opannotate_options *o, struct op_diag *diag)
{
	char real[PATH_MAX];
	char *dir = o->args.output_dir;

	if (!dir)
		return 0;
	if (realpath(dir, real))
		o->output_dir = op_arena_strdup(&o->arena, real);
	else if (errno != ENOENT)
		return op_diag_set(diag, -EINVAL, "--output-dir=%s: %s", dir,
				   strerror(errno));
	else if (*dir == '/')
		o->output_dir = dir;
	else if (getcwd(real, sizeof(real)))
		o->output_dir = op_arena_printf(&o->arena, "%s/%s", real, dir);
	if (!o->output_dir)
		return -ENOMEM;
	if (!strcmp(o->output_dir, "/"))
		return refuse_options(
			diag,
			"--output-dir=/: that would write over the source files; choose another folder");
	return 0;
}

static int take_color(struct opannotate_options *o, struct op_diag *diag)
{
	const char *when = o->args.color ? o->args.color : "auto";

	if (!strcmp(when, "auto"))
		o->color = !o->output_dir && op_color_wanted(stdout);
	else if (!strcmp(when, "always"))
		o->color = true;
	else if (strcmp(when, "never") != 0)
		return op_diag_set(
			diag, -EINVAL,
			"--color=%s: unknown; use auto, always or never", when);
	return 0;
}

static int take_annotation_values(struct opannotate_options *o,
				  struct op_diag *diag)
{
	const struct opannotate_args *a = &o->args;
	struct pp_request *r = &o->request;
	struct op_arena *arena = &o->arena;

	/* A line is the same line whoever ran it. */
	r->select.merge = PP_MERGE_SESSION | PP_MERGE_LIB;
	r->names.demangle = o->all ? PP_DEMANGLE_NORMAL : PP_DEMANGLE_SMART;
	o->threshold = o->all ? 0 : HOT_THRESHOLD;
	return pp_take_percent("threshold", a->threshold, &o->threshold,
			       diag) ?:
	       pp_take_merge(arena, a->merge, &r->select.merge, diag) ?:
	       pp_take_common(arena, &a->common, &o->verbose, &r->images.path, &r->images.debuginfod,
			      diag) ?:
	       pp_take_demangle(a->demangle, &r->names.demangle, diag) ?:
	       pp_sort_init(&r->symbols.sort, NULL, diag) ?:
	       pp_take_list(arena, a->include, &r->names.include) ?:
	       pp_take_list(arena, a->exclude, &r->names.exclude) ?:
	       pp_take_source_dirs(arena, &a->sources, &r->lines.source_dirs, diag) ?:
	       pp_take_list(arena, a->include_file, &o->include_files) ?:
	       pp_take_list(arena, a->exclude_file, &o->exclude_files);
}

int opannotate_take_options(struct opannotate_options *o,
			    const char *const *argv, struct op_diag *diag)
{
	struct opannotate_args *a = &o->args;
	struct pp_request *request = &o->request;
	const char *words;
	int err;

	op_arena_init(&o->arena);
	a->source |= a->both;
	a->assembly |= a->both;
	/* A file that is written is a whole one. */
	o->all = a->all || a->output_dir;
	o->width = pp_terminal_width();
	err = check_opannotate_args(a, diag) ?: opannotate_take_objdump_params(o, diag) ?:
	      take_output_dir(o, diag) ?: take_color(o, diag) ?:
	      take_annotation_values(o, diag);
	words = pp_join_words(&o->arena, argv + 1, " ", " ");
	if (words)
		o->command = op_arena_printf(&o->arena, "opannotate %s", words);
	request->symbols.wanted = true;
	request->symbols.details = true;
	/* A source file is that of one build, whose lines it has. */
	request->select.one_build = a->source;
	request->lines.wanted = a->source || o->listing.with_lines;
	if (!o->all) {
		request->lines.declarations = true;
		request->names.inlines = !a->assembly;
		request->lines.call_sites = !a->assembly;
		request->lines.totals = true;
		request->totals.wanted = true;
		o->listing.disasm.demangle |=
			request->names.demangle != PP_DEMANGLE_NONE;
		o->listing.disasm.brief = true;
	}
	request->select.exclude_dependent = a->exclude_dependent;
	request->images.root = a->common.root;
	/* What is left out is counted where all symbols are known. */
	request->threshold = a->assembly && o->all ? o->threshold : 0;
	return err || o->command ? err : -ENOMEM;
}

int opannotate_take_words(struct opannotate_options *o,
			  const char *const *words, struct op_diag *diag)
{
	int err = pp_spec_pair_init(&o->spec, words, diag);

	o->request.select.spec = &o->spec.spec;
	if (!err && o->spec.is_diff)
		return refuse_options(
			diag,
			"two profiles cannot be compared here; leave out the braces");
	return err;
}

void opannotate_release_options(struct opannotate_options *o)
{
	pp_debuginfod_free(o->request.images.debuginfod);
	pp_spec_pair_release(&o->spec);
	op_arena_release(&o->arena);
}
