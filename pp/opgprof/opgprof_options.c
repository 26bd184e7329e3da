// SPDX-License-Identifier: GPL-2.0-or-later

#include "pp/opgprof/opgprof_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pp/options.h"

poptContext opgprof_parse(struct opgprof_args *a, int argc, const char **argv)
{
	/* clang-format off */
	const struct poptOption table[] = {
		{ "output-filename", 'o', POPT_ARG_STRING, &a->output, 0, "write to FILE (default gmon.out)", "FILE" },
		{ "threshold", 't', POPT_ARG_STRING, &a->threshold, 0, "hide symbols below PERCENT", "PERCENT" },
		PP_COMMON_OPTIONS(&a->common)
	};
	/* clang-format on */

	return pp_parse_options("opgprof",
				"[OPTION...] [PROFILE SPECIFICATION]", table,
				&a->common, argc, argv);
}

int opgprof_take_options(struct opgprof_options *o, struct op_diag *diag)
{
	const struct opgprof_args *a = &o->args;
	struct pp_request *request = &o->request;
	int err;

	op_arena_init(&o->arena);
	*request = (struct pp_request){
		.select = { .spec = &o->spec,
			    .merge = PP_MERGE_ALL & ~PP_MERGE_UNIT_MASK,
			    .any_axes = true },
		.images.root = a->common.root,
		.symbols = { .wanted = true, .details = true },
		.calls = { .wanted = true, .addresses = true },
	};
	err = pp_take_percent("threshold", a->threshold, &request->threshold,
			      diag);
	if (!err)
		err = pp_take_common(&o->arena, &o->args.common, &o->verbose,
				     &o->request.images.path,
				     &o->request.images.debuginfod, diag);
	if (!err)
		err = pp_sort_init(&request->symbols.sort, "vma", diag);
	return err;
}

static int refuse_braces(const char *const *words, struct op_diag *diag)
{
	for (; words && *words; words++)
		if (!strcmp(*words, "{") || !strcmp(*words, "}") ||
		    !strcmp(*words, "{}"))
			return op_diag_set(
				diag, -EINVAL,
				"%s: gprof cannot compare profiles; name one",
				*words);
	return 0;
}

int opgprof_take_words(struct opgprof_options *o, const char *const *words,
		       struct op_diag *diag)
{
	int err = refuse_braces(words, diag);

	return err ? err : pp_spec_init(&o->spec, words, diag);
}

void opgprof_release_options(struct opgprof_options *o)
{
	pp_debuginfod_free(o->request.images.debuginfod);
	pp_spec_release(&o->spec);
	op_arena_release(&o->arena);
}
