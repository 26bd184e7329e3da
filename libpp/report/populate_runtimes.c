// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runtimes whose functions have no names, by the programs and libraries that an
 * application has mapped, since programs of many names embed one.
 */

#include <string.h>

#include "libop/image/op_runtime.h"
#include "libop/session/op_code_image.h"
#include "libpp/report/populate_symbols.h"
#include "libpp/select/sample_list.h"

/* Code whose maker has named it is an image of its own. */
static bool has_named_code(const char *app, const struct pp_use *uses,
			   size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(uses[i].app, app) &&
		    op_code_image_is_of_process(uses[i].image->name))
			return true;
	return false;
}

static uint64_t samples_of_run(const struct pp_use *uses, size_t nr)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < nr; i++)
		if (!uses[i].is_of_user)
			samples = pp_add_counts(samples, uses[i].file->total);
	return samples;
}

static void note_interpreter(struct pp_missing *missing,
			     const struct op_runtime *runtime, const char *app,
			     uint64_t samples)
{
	if (samples <= missing->interpreted_samples)
		return;
	missing->interpreter = runtime;
	missing->interpreted_app = app;
	missing->interpreted_samples = samples;
}

void pp_note_runtimes(struct pp_report *report, const struct pp_use *uses,
		      size_t nr)
{
	struct pp_missing *missing = &report->missing;

	/* An application that names code has the agent already, which cannot
	 * name the rest. */
	if (missing->nameless_maker &&
	    has_named_code(missing->nameless_maker, uses, nr))
		missing->nameless_maker = NULL;
	/* They are sorted by images, and then by applications. */
	for (size_t i = 0, end; i < nr; i = end) {
		const char *app = uses[i].app;
		const struct op_runtime *runtime =
			op_runtime_of_file(uses[i].image->name);

		for (end = i + 1; end < nr &&
				  uses[end].image == uses[i].image &&
				  (!runtime || !strcmp(uses[end].app, app));)
			end++;
		if (!runtime)
			continue;
		if (missing->nameless_maker &&
		    !strcmp(missing->nameless_maker, app))
			missing->maker = runtime;
		if (runtime->interprets && !has_named_code(app, uses, nr))
			note_interpreter(missing, runtime, app,
					 samples_of_run(uses + i, end - i));
	}
}
