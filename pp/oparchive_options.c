// SPDX-License-Identifier: GPL-2.0-or-later

#include "pp/oparchive_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_USAGE 2

poptContext oparchive_parse(struct oparchive_args *a, int argc,
			    const char **argv)
{
	/* clang-format off */
	const struct poptOption table[] = {
		{ "output-directory", 'o', POPT_ARG_STRING, &a->output, 0, "the archive to make", "DIR" },
		{ "symbols-only", '\0', POPT_ARG_NONE, &a->symbols_only, 0, "take symbols and lines of binaries, not their code", NULL },
		{ "with-sources", '\0', POPT_ARG_NONE, &a->sources, 0, "take the source files, too", NULL },
		{ "force", '\0', POPT_ARG_NONE, &a->force, 0, "replace an archive that is there", NULL },
		{ "list-files", 'l', POPT_ARG_NONE, &a->list_files, 0, "only list the files that are needed", NULL },
		{ "exclude-dependent", 'x', POPT_ARG_NONE, &a->exclude_dependent, 0, "leave out libraries and kernel of applications", NULL },
		{ "session-dir", '\0', POPT_ARG_STRING, &a->session_dir, 0, "where the session is", "DIR" },
		{ "image-path", 'p', POPT_ARG_STRING, &a->image_path, 0, "look for binaries there, too", "DIRS" },
		{ "root", 'R', POPT_ARG_STRING, &a->root, 0, "binaries lie below this folder", "DIR" },
		{ "verbose", 'V', POPT_ARG_STRING | POPT_ARGFLAG_OPTIONAL, &a->verbose, 'V', "say what is used: all, sfile, bfd, stats", "LIST" },
		{ "version", 'v', POPT_ARG_NONE, &a->version, 0, "show the version", NULL },
		POPT_AUTOHELP
		POPT_TABLEEND
	};
	/* clang-format on */
	poptContext context = poptGetContext(NULL, argc, argv, table, 0);
	int rc;

	poptSetOtherOptionHelp(context, "[OPTION...] [PROFILE SPECIFICATION]");
	while ((rc = poptGetNextOpt(context)) == 'V')
		a->is_verbose = 1;
	if (rc < -1) {
		fprintf(stderr, "oparchive: %s: %s; see oparchive --help\n",
			poptBadOption(context, POPT_BADOPTION_NOALIAS),
			poptStrerror(rc));
		exit(EXIT_USAGE);
	}
	return context;
}

static int check_output(const struct oparchive_args *a, struct op_diag *diag)
{
	if (a->list_files)
		return 0;
	if (!a->output)
		return op_diag_set(
			diag, -EINVAL,
			"nowhere to write to; name a folder with --output-directory, or use --list-files");
	if (!*a->output || strspn(a->output, "/") == strlen(a->output))
		return op_diag_set(
			diag, -EINVAL,
			"--output-directory=%s: cannot be the archive; name a folder that is not there yet",
			a->output);
	return 0;
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

/* What --verbose may name; the original's other categories say nothing. */
static int take_verbose(struct oparchive_options *o, struct op_diag *diag)
{
	static const struct word {
		const char *name;
		unsigned int bits;
	} words[] = {
		{ "all", ~0u },
		{ "sfile", 1u << PP_REMARK_SFILE },
		{ "bfd", 1u << PP_REMARK_BFD },
		{ "stats", 1u << PP_REMARK_STATS },
		{ "debug", 0 },
		{ "level1", 0 },
		{ "xml", 0 },
	};
	const size_t nr_words = sizeof(words) / sizeof(words[0]);
	const char *const *list = NULL;
	int err = take_list(&o->spec.arena, o->args.verbose, &list);

	if (o->args.is_verbose && !list)
		o->verbose = ~0u;
	for (; list && *list && !err; list++) {
		size_t i = 0;

		while (i < nr_words && strcmp(*list, words[i].name))
			i++;
		if (i < nr_words)
			o->verbose |= words[i].bits;
		else
			err = op_diag_set(
				diag, -EINVAL,
				"--verbose=%s: unknown; use all, debug, bfd, level1, sfile, stats or xml",
				*list);
	}
	return err;
}

int oparchive_take_options(struct oparchive_options *o, struct op_diag *diag)
{
	int err = check_output(&o->args, diag);

	o->request.exclude_dependent = o->args.exclude_dependent;
	o->request.sources = o->args.sources;
	o->request.root = o->args.root;
	if (!err)
		err = take_list(&o->spec.arena, o->args.image_path,
				&o->request.image_path);
	return err ? err : take_verbose(o, diag);
}

int oparchive_take_words(struct oparchive_options *o, const char *const *words,
			 struct op_diag *diag)
{
	struct pp_spec_pair pair;
	int err = pp_spec_pair_init(&pair, words, diag);
	bool is_diff = pair.is_diff;

	pp_spec_pair_release(&pair);
	if (!err && is_diff)
		err = op_diag_set(
			diag, -EINVAL,
			"an archive holds one profile; leave out the braces and name all sessions with session:");
	return err ? err : pp_spec_init(&o->spec, words, diag);
}
