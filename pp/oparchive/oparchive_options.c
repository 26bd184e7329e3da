// SPDX-License-Identifier: GPL-2.0-or-later

#include "pp/oparchive/oparchive_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pp/options.h"

poptContext oparchive_parse(struct oparchive_args *a, int argc,
			    const char **argv)
{
	/* clang-format off */
	const struct poptOption table[] = {
		{ "output-directory", 'o', POPT_ARG_STRING, &a->output, 0, "the archive to make", "DIR" },
		{ "symbols-only", '\0', POPT_ARG_NONE, &a->symbols_only, 0, "archive symbols and lines of binaries, not their code", NULL },
		{ "samples-only", '\0', POPT_ARG_NONE, &a->samples_only, 0, "archive no binaries, for opmerge, which takes them from other archives", NULL },
		{ "with-sources", '\0', POPT_ARG_NONE, &a->sources, 0, "also archive the source files", NULL },
		{ "force", '\0', POPT_ARG_NONE, &a->force, 0, "replace an existing archive", NULL },
		{ "list-files", 'l', POPT_ARG_NONE, &a->list_files, 0, "only list the files that are needed", NULL },
		{ "label", '\0', POPT_ARG_ARGV, &a->labels, 0, "label the profile, such as version=1.2; may be given several times", "KEY=VALUE" },
		{ "exclude-dependent", 'x', POPT_ARG_NONE, &a->exclude_dependent, 0, "leave out samples in libraries and the kernel", NULL },
		PP_COMMON_OPTIONS(&a->common)
	};
	/* clang-format on */

	return pp_parse_options("oparchive",
				"[OPTION...] [PROFILE SPECIFICATION]", table,
				&a->common, argc, argv);
}

static int check_parts(const struct oparchive_args *a, struct op_diag *diag)
{
	if (a->samples_only && (a->symbols_only || a->sources))
		return op_diag_set(
			diag, -EINVAL,
			"--samples-only leaves out what --symbols-only and --with-sources are about; drop one of them");
	return 0;
}

int oparchive_take_options(struct oparchive_options *o, struct op_diag *diag)
{
	int err =
		o->args.list_files
			? 0
			: pp_check_archive_place(o->args.output,
						 ", or use --list-files", diag);

	err = err ?: check_parts(&o->args, diag);
	char **label = o->args.labels;

	for (; label && *label && !err; label++)
		err = op_labels_parse(&o->labels, *label, diag);
	o->request.labels = &o->labels;
	o->request.exclude_dependent = o->args.exclude_dependent;
	o->request.sources = o->args.sources;
	o->request.samples_only = o->args.samples_only;
	o->request.root = o->args.common.root;
	if (!err)
		err = pp_take_common(&o->spec.arena, &o->args.common,
				     &o->verbose, &o->request.image_path,
				     &o->request.debuginfod, diag);
	return err;
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
