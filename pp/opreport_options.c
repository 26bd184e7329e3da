// SPDX-License-Identifier: GPL-2.0-or-later
/* From opreport's command line to a request. */

#include "pp/opreport_options.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "pp/options.h"

/* ---- what goes together -------------------------------------------------- */

static const char *needs_symbols(const struct opreport_args *a)
{
	bool by_vma = a->sort && strstr(a->sort, "vma");

	return a->show_address	? "--show-address"
	       : by_vma		? "--sort=vma"
	       : a->accumulated ? "--accumulated"
	       : a->lines	? "--debug-info"
	       : a->include	? "--include-symbols"
	       : a->exclude	? "--exclude-symbols"
				: NULL;
}

static int check_symbols(const struct opreport_options *o, struct op_diag *diag)
{
	const struct opreport_args *a = &o->args;
	const char *option = needs_symbols(a);
	bool parts = a->details || a->call_graph;

	if (a->call_graph && a->details)
		return op_diag_set(
			diag, -EINVAL,
			"--callgraph shows symbols as wholes; leave --details out");
	if (option && !a->symbols && !parts && !o->format->tree)
		return op_diag_set(diag, -EINVAL,
				   "%s is about symbols; add --symbols",
				   option);
	if (a->global_percent && a->symbols && !parts)
		return op_diag_set(
			diag, -EINVAL,
			"--global-percent changes nothing in a symbol table; leave it out or add --details or --callgraph");
	return 0;
}

/* An option that has nothing to say about a call tree. */
static const char *not_for_trees(const struct opreport_args *a)
{
	return a->details	   ? "--details"
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

/* Find the format, whichever option named it. */
static int choose_format(struct opreport_options *o, struct op_diag *diag)
{
	struct opreport_args *a = &o->args;
	const char *name = a->format ? a->format
			   : a->xml  ? "xml"
			   : a->json ? "json"
			   : a->csv  ? "csv"
				     : "text";

	if (a->xml + a->json + a->csv + (a->format != NULL) > 1)
		return op_diag_set(
			diag, -EINVAL,
			"--xml, --json, --csv and --format name a format; choose one");
	o->format = pp_format_find(name);
	if (!o->format)
		return op_diag_set(diag, -EINVAL,
				   "--format=%s: unknown; use " PP_FORMAT_NAMES,
				   name);
	a->xml = !strcmp(name, "xml");
	return 0;
}

static int check_formats(const struct opreport_options *o, struct op_diag *diag)
{
	const struct opreport_args *a = &o->args;
	const char *option =
		a->accumulated ? "--accumulated" : "--global-percent";

	if (o->format->tree && not_for_trees(a))
		return op_diag_set(
			diag, -EINVAL,
			"%s changes nothing in --format=%s; leave it out",
			not_for_trees(a), o->format->name);
	if (o->format->is_page && !a->output && isatty(STDOUT_FILENO))
		return op_diag_set(
			diag, -EINVAL,
			"--format=%s writes a page for a browser; say where with --output-file=FILE",
			o->format->name);
	if (a->xml && (a->accumulated || a->global_percent))
		return op_diag_set(
			diag, -EINVAL,
			"%s changes nothing in XML, which has counts alone; leave it out",
			option);
	if (a->xml && a->intervals)
		return op_diag_set(
			diag, -EINVAL,
			"--intervals: XML has counts alone; use --json or --csv");
	return 0;
}

static int check_diff(const struct opreport_options *o, struct op_diag *diag)
{
	const struct opreport_args *a = &o->args;

	if (!o->spec.is_diff)
		return 0;
	if (a->details || a->call_graph || a->xml)
		return op_diag_set(diag, -EINVAL,
				   "%s does not show comparisons; leave it out",
				   a->details	   ? "--details"
				   : a->call_graph ? "--callgraph"
						   : "--xml");
	if (!a->symbols && !o->format->tree)
		return op_diag_set(
			diag, -EINVAL,
			"a comparison is about symbols; add --symbols");
	return 0;
}

static int check_merge(const struct opreport_options *o, struct op_diag *diag)
{
	unsigned int merge = o->request.merge;

	if (o->args.exclude_dependent && merge & PP_MERGE_LIB &&
	    (merge & PP_MERGE_ALL) != PP_MERGE_ALL)
		return op_diag_set(
			diag, -EINVAL,
			"--merge=lib makes every image an application, so --exclude-dependent has nothing to leave out; drop one of them");
	return 0;
}

/* ---- all of it ----------------------------------------------------------- */

static void take_flags(struct opreport_options *o)
{
	const struct opreport_args *a = &o->args;

	o->request.tree = o->format->tree;
	o->request.tree_by_name = o->format->tree_by_name;
	o->request.tree_max_nodes = o->format->tree_max_nodes;
	o->request.one_class = o->format->one_class;
	o->request.symbols =
		(a->symbols || a->call_graph || a->details || a->xml) &&
		!o->request.tree;
	o->request.call_graph = a->call_graph && !o->request.tree;
	o->request.details = a->details;
	o->request.lines = a->lines;
	o->request.code = a->xml && a->details;
	o->request.intervals = a->intervals;
	o->request.exclude_dependent = a->exclude_dependent;
	o->request.root = a->common.root;
	o->request.any_axes = o->format->any_axes;
}

static int take_format(struct opreport_options *o, const char *const *words,
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
		.exclude_symbols = a->exclude,
		.include_symbols = a->include,
		.image_path = a->common.image_path,
		.merge = a->merge,
		.exclude_dependent = a->exclude_dependent,
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
	int err = pp_sort_init(&o->request.sort, keys, diag);

	if (!err && o->format->by_image) {
		o->sort_ignored = keys;
		err = pp_sort_init(&o->request.sort, "app-name,image", diag);
	}
	o->request.sort.reverse = o->args.reverse;
	o->request.sort.long_names = o->args.long_names;
	return err;
}

static int take_report_values(struct opreport_options *o, struct op_diag *diag)
{
	const struct opreport_args *a = &o->args;
	struct pp_request *request = &o->request;
	struct op_arena *arena = &o->arena;
	int err = pp_take_percent("threshold", a->threshold,
				  &request->threshold, diag);

	o->max_loss = -1;
	if (!a->by_session)
		request->merge = PP_MERGE_SESSION;
	if (!err)
		err = pp_take_percent("max-loss", a->max_loss, &o->max_loss,
				      diag);
	if (!err)
		err = pp_take_merge(arena, a->merge, &request->merge, diag);
	if (!err)
		err = pp_take_verbose(arena, a->common.is_verbose,
				      a->common.verbose, &o->verbose, diag);
	if (!err)
		err = pp_take_demangle(a->demangle, &request->demangle, diag);
	if (!err)
		err = take_sort(o, diag);
	if (!err)
		err = pp_take_list(arena, a->include,
				   &request->include_symbols);
	if (!err)
		err = pp_take_list(arena, a->exclude,
				   &request->exclude_symbols);
	if (!err)
		err = pp_take_list(arena, a->common.image_path,
				   &request->image_path);
	return err;
}

int opreport_take_options(struct opreport_options *o, const char *const *words,
			  const char *const *argv, struct op_diag *diag)
{
	int err;

	op_arena_init(&o->arena);
	err = choose_format(o, diag);
	if (!err)
		err = check_formats(o, diag);
	if (!err)
		err = check_symbols(o, diag);
	if (err)
		return err;
	take_flags(o);
	err = take_report_values(o, diag);
	if (!err)
		err = check_merge(o, diag);
	if (!err)
		err = take_format(o, words, argv);
	return err;
}

int opreport_take_words(struct opreport_options *o, const char *const *words,
			struct op_diag *diag)
{
	int err = pp_spec_pair_init(&o->spec, words, diag);

	o->request.spec = &o->spec.spec;
	o->request.old_spec = o->spec.is_diff ? &o->spec.old : NULL;
	return err ? err : check_diff(o, diag);
}

void opreport_release_options(struct opreport_options *o)
{
	pp_spec_pair_release(&o->spec);
	op_arena_release(&o->arena);
}
