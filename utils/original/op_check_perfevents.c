// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * op-check-perfevents: whether hardware events can be had, for scripts. As with
 * the original profiler the exit status is 0 if so, else the errno of
 * perf_event_open(2); so a mistake of the caller needs one that is none.
 */

#include <errno.h>
#include <popt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libop/kernel/op_perf.h"

#define NAME "op-check-perfevents"
#define EXIT_USAGE 255

static int parse_check_options(int *verbose, int argc, const char **argv)
{
	const struct poptOption table[] = {
		{ "verbose", 'v', POPT_ARG_NONE, verbose, 0,
		  "print why there are none, and what to do", NULL },
		{ "help", 'h', POPT_ARG_NONE, NULL, 'h', "show this help",
		  NULL },
		POPT_TABLEEND
	};
	poptContext context = poptGetContext(NAME, argc, argv, table, 0);
	int value = poptGetNextOpt(context), status = 0;

	if (value == 'h') {
		poptPrintHelp(context, stdout, 0);
		status = -1;
	} else if (value < -1) {
		fprintf(stderr, NAME ": %s: %s; see " NAME " --help\n",
			poptBadOption(context, 0), poptStrerror(value));
		status = EXIT_USAGE;
	} else if (poptPeekArg(context)) {
		fprintf(stderr,
			NAME ": %s: only options are known; see " NAME
			     " --help\n",
			poptPeekArg(context));
		status = EXIT_USAGE;
	}
	poptFreeContext(context);
	return status;
}

int main(int argc, const char **argv)
{
	struct perf_event_attr attr;
	struct op_diag diag = { "" };
	int verbose = 0, status = parse_check_options(&verbose, argc, argv);
	int fd;

	if (status)
		return status > 0 ? status : 0;
	op_perf_cycles(&attr);
	fd = op_perf_open(&attr, 0, -1, -1);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (verbose) {
		op_perf_explain(&diag, fd, &attr, 0, -1, "cpu-cycles");
		fprintf(stderr, NAME ": %s (errno %d, %s)\n", diag.text, -fd,
			strerror(-fd));
	}
	return -fd;
}
