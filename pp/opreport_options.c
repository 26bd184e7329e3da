// SPDX-License-Identifier: GPL-2.0-or-later
/* From opreport's command line to a request. */

#include "pp/opreport_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- single values ------------------------------------------------------- */

/* A number from 0 to 100. */
static int take_percent(const char *option, const char *text, double *out,
			struct op_diag *diag)
{
	char *end;

	if (!text)
		return 0;
	*out = strtod(text, &end);
	if (end == text || *end || !(*out >= 0) || *out > 100)
		return op_diag_set(
			diag, -EINVAL,
			"--%s=%s: not a percentage; give a number from 0 to 100",
			option, text);
	return 0;
}

/* A word of a list and the bits that it stands for. */
struct word {
	const char *name;
	unsigned int bits;
};

/* Set *@bits to what the comma list @text says, in words of @words (ended by
 * one without name). */
static int take_words(struct pp_arena *arena, const char *option,
		      const char *text, const struct word *words,
		      const char *known, unsigned int *bits,
		      struct op_diag *diag)
{
	const char **list = NULL;
	int nr = text ? pp_split_commas(arena, text, &list) : 0;

	for (int i = 0; i < nr; i++) {
		const struct word *word = words;

		while (word->name && strcmp(word->name, list[i]))
			word++;
		if (!word->name)
			return op_diag_set(diag, -EINVAL,
					   "--%s=%s: unknown; use %s", option,
					   list[i], known);
		*bits |= word->bits;
	}
	return nr < 0 ? nr : 0;
}

static int take_merge(struct opreport_options *o, struct op_diag *diag)
{
	static const struct word words[] = {
		{ "cpu", PP_MERGE_CPU },
		{ "lib", PP_MERGE_LIB },
		{ "library", PP_MERGE_LIB },
		{ "tid", PP_MERGE_TID },
		{ "tgid", PP_MERGE_TGID | PP_MERGE_TID },
		{ "unitmask", PP_MERGE_UNIT_MASK },
		{ "all", PP_MERGE_ALL },
		{ NULL, 0 },
	};

	if (!o->args.by_session)
		o->request.merge = PP_MERGE_SESSION;
	return take_words(&o->arena, "merge", o->args.merge, words,
			  "cpu, lib, tid, tgid, unitmask or all",
			  &o->request.merge, diag);
}

/* The original's other categories have nothing to say here. */
static int take_verbose(struct opreport_options *o, struct op_diag *diag)
{
	static const struct word words[] = {
		{ "all", ~0u },
		{ "sfile", 1u << PP_REMARK_SFILE },
		{ "bfd", 1u << PP_REMARK_BFD },
		{ "stats", 1u << PP_REMARK_STATS },
		{ "debug", 0 },
		{ "level1", 0 },
		{ "xml", 0 },
		{ NULL, 0 },
	};

	if (o->args.is_verbose && !o->args.verbose)
		o->verbose = ~0u;
	return take_words(&o->arena, "verbose", o->args.verbose, words,
			  "all, debug, bfd, level1, sfile, stats or xml",
			  &o->verbose, diag);
}

static int take_demangle(struct opreport_options *o, struct op_diag *diag)
{
	static const char *const names[] = {
		[PP_DEMANGLE_NORMAL] = "normal",
		[PP_DEMANGLE_NONE] = "none",
		[PP_DEMANGLE_SMART] = "smart",
	};
	const char *how = o->args.demangle;

	for (size_t i = 0; how && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(how, names[i])) {
			o->request.demangle = i;
			return 0;
		}
	if (!how)
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "--demangle=%s: unknown; use none, normal or smart",
			   how);
}

/* A comma list as an array ended by NULL; NULL for no list. */
static int take_list(struct pp_arena *arena, const char *text,
		     const char *const **out)
{
	const char **parts, **list;
	int nr;

	if (!text)
		return 0;
	nr = pp_split_commas(arena, text, &parts);
	if (nr < 0)
		return nr;
	list = pp_arena_alloc(arena, (size_t)nr + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	memcpy(list, parts, (size_t)nr * sizeof(*list));
	*out = list;
	return 0;
}

/* @words joined with @between, and @end behind each or the last. */
static const char *join(struct pp_arena *arena, const char *const *words,
			const char *between, const char *end)
{
	const char *text = "";

	for (size_t i = 0; words && words[i] && text; i++)
		text = pp_arena_printf(arena, "%s%s%s", text, i ? between : "",
				       words[i]);
	return text ? pp_arena_printf(arena, "%s%s", text, end) : NULL;
}

/* ---- what goes together -------------------------------------------------- */

static const char *needs_symbols(const struct opreport_args *a)
{
	return a->show_address	? "--show-address"
	       : a->accumulated ? "--accumulated"
	       : a->lines	? "--debug-info"
	       : a->include	? "--include-symbols"
	       : a->exclude	? "--exclude-symbols"
				: NULL;
}

static int check_symbols(const struct opreport_args *a, struct op_diag *diag)
{
	const char *option = needs_symbols(a);

	if (option && !a->symbols && !a->details)
		return op_diag_set(diag, -EINVAL,
				   "%s is about symbols; add --symbols",
				   option);
	if (a->global_percent && a->symbols && !a->details)
		return op_diag_set(
			diag, -EINVAL,
			"--global-percent changes nothing in a symbol table; leave it out or add --details");
	return 0;
}

static int check_formats(const struct opreport_args *a, struct op_diag *diag)
{
	const char *option =
		a->accumulated ? "--accumulated" : "--global-percent";

	if (a->xml + a->json + a->csv > 1)
		return op_diag_set(
			diag, -EINVAL,
			"--xml, --json and --csv are formats; choose one");
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
	if (a->details || a->xml)
		return op_diag_set(diag, -EINVAL,
				   "%s does not show comparisons; leave it out",
				   a->details ? "--details" : "--xml");
	if (!a->symbols)
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

	o->request.symbols = a->symbols || a->details || a->xml;
	o->request.details = a->details;
	o->request.lines = a->lines;
	o->request.code = a->xml && a->details;
	o->request.intervals = a->intervals;
	o->request.exclude_dependent = a->exclude_dependent;
	o->request.root = a->root;
	o->format = pp_format_find(a->xml    ? "xml"
				   : a->json ? "json"
				   : a->csv  ? "csv"
					     : "text");
	o->request.any_axes = o->format->any_axes;
}

static int take_format(struct opreport_options *o, const char *const *words,
		       const char *const *argv)
{
	const struct opreport_args *a = &o->args;
	const char *command = join(&o->arena, argv + 1, " ", " ");

	o->format_options = (struct pp_format_options){
		.no_header = a->no_header,
		.long_names = a->long_names,
		.show_address = a->show_address || a->details,
		.accumulated = a->accumulated,
		.global_percent = a->global_percent,
		.exclude_symbols = a->exclude,
		.include_symbols = a->include,
		.image_path = a->image_path,
		.merge = a->merge,
		.exclude_dependent = a->exclude_dependent,
	};
	if (words && *words)
		o->format_options.words = join(&o->arena, words, ",", "");
	if (command)
		o->format_options.command =
			pp_arena_printf(&o->arena, "opreport %s", command);
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

static int take_values(struct opreport_options *o, struct op_diag *diag)
{
	const struct opreport_args *a = &o->args;
	struct pp_request *request = &o->request;
	int err = take_percent("threshold", a->threshold, &request->threshold,
			       diag);

	o->max_loss = -1;
	if (!err)
		err = take_percent("max-loss", a->max_loss, &o->max_loss, diag);
	if (!err)
		err = take_merge(o, diag);
	if (!err)
		err = take_verbose(o, diag);
	if (!err)
		err = take_demangle(o, diag);
	if (!err)
		err = take_sort(o, diag);
	if (!err)
		err = take_list(&o->arena, a->include,
				&request->include_symbols);
	if (!err)
		err = take_list(&o->arena, a->exclude,
				&request->exclude_symbols);
	if (!err)
		err = take_list(&o->arena, a->image_path, &request->image_path);
	return err;
}

int opreport_take_options(struct opreport_options *o, const char *const *words,
			  const char *const *argv, struct op_diag *diag)
{
	int err;

	pp_arena_init(&o->arena);
	take_flags(o);
	err = check_symbols(&o->args, diag);
	if (!err)
		err = check_formats(&o->args, diag);
	if (!err)
		err = take_values(o, diag);
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
	pp_arena_release(&o->arena);
}
