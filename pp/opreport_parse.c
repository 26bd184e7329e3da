// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of opreport's options. */

#include <stdio.h>
#include <stdlib.h>

#include "pp/opreport_options.h"

poptContext opreport_parse(struct opreport_args *a, int argc, const char **argv)
{
	/* clang-format off */
	const struct poptOption table[] = {
		{ "symbols", 'l', POPT_ARG_NONE, &a->symbols, 0, "show symbols", NULL },
		{ "callgraph", 'c', POPT_ARG_NONE, &a->call_graph, 0, "show who calls each symbol and whom it calls", NULL },
		{ "details", 'd', POPT_ARG_NONE, &a->details, 0, "show the addresses in each symbol", NULL },
		{ "debug-info", 'g', POPT_ARG_NONE, &a->lines, 0, "show source files and lines", NULL },
		{ "show-address", 'w', POPT_ARG_NONE, &a->show_address, 0, "show addresses of symbols", NULL },
		{ "accumulated", 'a', POPT_ARG_NONE, &a->accumulated, 0, "show running sums", NULL },
		{ "intervals", '\0', POPT_ARG_NONE, &a->intervals, 0, "show 95% intervals of shares and changes", NULL },
		{ "threshold", 't', POPT_ARG_STRING, &a->threshold, 0, "leave out what has less", "PERCENT" },
		{ "sort", 's', POPT_ARG_STRING, &a->sort, 0, "sort by sample, image, app-name, symbol, debug, vma", "KEYS" },
		{ "reverse-sort", 'r', POPT_ARG_NONE, &a->reverse, 0, "turn the order round", NULL },
		{ "merge", 'm', POPT_ARG_STRING, &a->merge, 0, "do not separate by cpu, lib, tid, tgid, unitmask, all", "LIST" },
		{ "by-session", '\0', POPT_ARG_NONE, &a->by_session, 0, "a column for each session", NULL },
		{ "exclude-dependent", 'x', POPT_ARG_NONE, &a->exclude_dependent, 0, "leave out libraries and kernel of applications", NULL },
		{ "include-symbols", 'i', POPT_ARG_STRING, &a->include, 0, "show these symbols only", "NAMES" },
		{ "exclude-symbols", 'e', POPT_ARG_STRING, &a->exclude, 0, "leave out these symbols", "NAMES" },
		{ "demangle", 'D', POPT_ARG_STRING, &a->demangle, 0, "none, normal or smart", "HOW" },
		{ "global-percent", '%', POPT_ARG_NONE, &a->global_percent, 0, "percentages of all samples", NULL },
		{ "long-filenames", 'f', POPT_ARG_NONE, &a->long_names, 0, "show whole paths", NULL },
		{ "no-header", 'n', POPT_ARG_NONE, &a->no_header, 0, "rows alone", NULL },
		{ "format", '\0', POPT_ARG_STRING, &a->format, 0, "write " PP_FORMAT_NAMES, "FORMAT" },
		{ "xml", 'X', POPT_ARG_NONE, &a->xml, 0, "write XML", NULL },
		{ "json", '\0', POPT_ARG_NONE, &a->json, 0, "write JSON", NULL },
		{ "csv", '\0', POPT_ARG_NONE, &a->csv, 0, "write comma-separated values", NULL },
		{ "output-file", 'o', POPT_ARG_STRING, &a->output, 0, "write there", "FILE" },
		{ "max-loss", '\0', POPT_ARG_STRING, &a->max_loss, 0, "fail if more of the samples were lost", "PERCENT" },
		PP_COMMON_OPTIONS(&a->common)
	};
	/* clang-format on */

	return pp_parse_options("opreport",
				"[OPTION...] [PROFILE SPECIFICATION]", table,
				&a->common, argc, argv);
}
