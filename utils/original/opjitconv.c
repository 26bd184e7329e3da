// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * opjitconv: the original profiler's converter of what its agents wrote about
 * code made at run time. The daemon names such code while it profiles, so
 * there is nothing left to convert; scripts that call this program are told
 * so, and go on. The command lines of 0.9.9 and 1.4 are both taken.
 */

#include <errno.h>
#include <popt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "libop/files/op_config.h"
#include "libop/base/op_diag.h"

#define EXIT_USAGE 2

static int check_times(const char *start, const char *end, struct op_diag *diag)
{
	uint64_t from, to;

	if (op_parse_u64(start, &from) || op_parse_u64(end, &to))
		return op_diag_set(diag, -EINVAL,
				   "%s %s: not two times in seconds since 1970",
				   start, end);
	if (from > to)
		return op_diag_set(diag, -EINVAL,
				   "%s %s: the start is after the end", start,
				   end);
	return 0;
}

/* [SESSION-FOLDER] START END: 1.4 has an option for the folder. */
static int check_words(const char *const *words, bool has_folder,
		       struct op_diag *diag)
{
	int nr = 0;

	while (words && words[nr])
		nr++;
	if (nr == 2 || (nr == 3 && !has_folder))
		return check_times(words[nr - 2], words[nr - 1], diag);
	return op_diag_set(diag, -EINVAL,
			   "give a session folder, and start and end in "
			   "seconds since 1970");
}

static int parse_jitconv_options(poptContext context, const char *folder,
				 struct op_diag *diag)
{
	int value = poptGetNextOpt(context);

	if (value == 'h') {
		poptPrintHelp(context, stdout, 0);
		return 1;
	}
	if (value < -1)
		return op_diag_set(diag, -EINVAL,
				   "%s: %s; see opjitconv --help",
				   poptBadOption(context, 0),
				   poptStrerror(value));
	return check_words((const char *const *)poptGetArgs(context), folder,
			   diag);
}

int main(int argc, const char **argv)
{
	char *folder = NULL;
	const struct poptOption table[] = {
		{ "session-dir", 's', POPT_ARG_STRING, &folder, 0,
		  "folder of the session", "DIR" },
		{ "debug", 'd', POPT_ARG_NONE, NULL, 0, "accepted", NULL },
		{ "delete-jitdumps", 'j', POPT_ARG_NONE, NULL, 0, "accepted",
		  NULL },
		{ "non-root", 'n', POPT_ARG_NONE, NULL, 0, "accepted", NULL },
		{ "help", 'h', POPT_ARG_NONE, NULL, 'h', "show this help",
		  NULL },
		POPT_TABLEEND
	};
	poptContext context = poptGetContext("opjitconv", argc, argv, table, 0);
	struct op_diag diag = { "" };
	int err;

	poptSetOtherOptionHelp(context, "[OPTION...] [DIR] START END");
	err = parse_jitconv_options(context, folder, &diag);
	if (err < 0)
		fprintf(stderr, "opjitconv: %s\n", diag.text);
	else if (!err)
		fputs("opjitconv: nothing is left to convert: oprofiled and "
		      "operf name code made at run time while they profile; "
		      "opimport takes what the original's opjitconv made\n",
		      stderr);
	poptFreeContext(context);
	return err < 0 ? EXIT_USAGE : 0;
}
