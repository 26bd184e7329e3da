// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of opannotate's options. */

#include <stdio.h>
#include <stdlib.h>

#include "pp/opannotate_options.h"

poptContext opannotate_parse(struct opannotate_args *a, int argc,
			     const char **argv)
{
	/* clang-format off */
	const struct poptOption table[] = {
		{ "source", 's', POPT_ARG_NONE, &a->source, 0, "show source files with samples", NULL },
		{ "assembly", 'a', POPT_ARG_NONE, &a->assembly, 0, "show instructions with samples; with --source the source, too", NULL },
		{ "source-with-assembly", '\0', POPT_ARG_NONE, &a->both, 0, "both of these", NULL },
		{ "output-dir", 'o', POPT_ARG_STRING, &a->output_dir, 0, "write a file for each source file there", "DIR" },
		{ "search-dirs", 'd', POPT_ARG_STRING, &a->search_dirs, 0, "look for source files there first", "DIRS" },
		{ "base-dirs", 'b', POPT_ARG_STRING, &a->base_dirs, 0, "drop these from the names of source files before", "DIRS" },
		{ "include-file", '\0', POPT_ARG_STRING, &a->include_file, 0, "show source files that match only", "PATTERNS" },
		{ "exclude-file", '\0', POPT_ARG_STRING, &a->exclude_file, 0, "leave out source files that match", "PATTERNS" },
		{ "include-symbols", 'i', POPT_ARG_STRING, &a->include, 0, "count samples in these symbols only", "NAMES" },
		{ "exclude-symbols", 'e', POPT_ARG_STRING, &a->exclude, 0, "leave out samples in these symbols", "NAMES" },
		{ "objdump-params", '\0', POPT_ARG_STRING, &a->objdump_params, 0, "how to write instructions, as for objdump", "PARAMS" },
		{ "threshold", 't', POPT_ARG_STRING, &a->threshold, 0, "leave out files or symbols with less", "PERCENT" },
		{ "merge", 'm', POPT_ARG_STRING, &a->merge, 0, "do not separate by cpu, tid, tgid, unitmask, all", "LIST" },
		{ "exclude-dependent", 'x', POPT_ARG_NONE, &a->exclude_dependent, 0, "leave out libraries and kernel of applications", NULL },
		{ "demangle", 'D', POPT_ARG_STRING, &a->demangle, 0, "none, normal or smart", "HOW" },
		{ "no-header", 'n', POPT_ARG_NONE, &a->no_header, 0, "leave out what was asked for and counted", NULL },
		{ "color", '\0', POPT_ARG_STRING, &a->color, 0, "auto, always or never", "WHEN" },
		PP_COMMON_OPTIONS(&a->common)
	};
	/* clang-format on */

	return pp_parse_options(
		"opannotate",
		"--source|--assembly [OPTION...] [PROFILE SPECIFICATION]",
		table, &a->common, argc, argv);
}
