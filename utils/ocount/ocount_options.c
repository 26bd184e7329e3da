// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line of ocount. Options end where the command begins, so that
 * its own options are left to it. What is to be counted is a mode, and a mode
 * that is given again only makes its list longer; two different ones are an
 * error.
 */

#include "utils/ocount/ocount_options.h"

#include <errno.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/options/op_bad_option.h"

#include "utils/ocount/ocount_number.h"

#define INTERVAL_MIN 10 /* ms */
#define INTERVAL_MAX 86400000
#define NR_INTERVALS_MAX 1000000000

#define MODE 'M' /* + enum ocount_mode: what popt returns for an option */

/* Options that need no more than to be kept where they belong. */
static int set_ocount_flag(struct ocount_request *request, int letter)
{
	switch (letter) {
	case 'c':
		request->separate_cpu = true;
		return 1;
	case 't':
		request->separate_thread = true;
		return 1;
	case 'b':
		request->brief = true;
		return 1;
	case 'V':
		request->verbose = true;
		return 1;
	case 'v':
		request->version = true;
		return 1;
	default:
		return 0;
	}
}

static const char *mode_name(enum ocount_mode mode)
{
	static const char *const names[] = {
		[OCOUNT_NONE] = "nothing",
		[OCOUNT_COMMAND] = "a command",
		[OCOUNT_SYSTEM] = "--system-wide",
		[OCOUNT_CPUS] = "--cpu-list",
		[OCOUNT_PROCESSES] = "--process-list",
		[OCOUNT_THREADS] = "--thread-list",
	};

	return names[mode];
}

/* A list that is given twice is one list. */
static int join_lists(char **list, char *more)
{
	char *joined;
	int n;

	if (!*list) {
		*list = more;
		return 0;
	}
	n = asprintf(&joined, "%s,%s", *list, more);
	free(more);
	if (n < 0)
		return -ENOMEM;
	free(*list);
	*list = joined;
	return 0;
}

static int set_ocount_mode(struct ocount_request *request,
			   enum ocount_mode mode, char *list,
			   struct op_diag *diag)
{
	enum ocount_mode before = request->mode;

	if (before != OCOUNT_NONE && before != mode) {
		free(list);
		return op_diag_set(
			diag, -EINVAL,
			"%s and %s: only one of them can be counted; run ocount once for each",
			mode_name(before), mode_name(mode));
	}
	request->mode = mode;
	return list ? join_lists(&request->list, list) : 0;
}

static int parse_ocount_option(struct ocount_request *request, int letter,
			       char *argument, struct op_diag *diag)
{
	char **text = letter == 'i' ? &request->interval : &request->output;

	if (set_ocount_flag(request, letter))
		return 0;
	if (letter >= MODE + OCOUNT_COMMAND && letter <= MODE + OCOUNT_THREADS)
		return set_ocount_mode(request,
				       (enum ocount_mode)(letter - MODE),
				       argument, diag);
	if (letter == 'e')
		return join_lists(&request->events, argument);
	free(*text);
	*text = argument;
	return 0;
}

static const struct poptOption ocount_options[] = {
	{ "events", 'e', POPT_ARG_STRING, NULL, 'e',
	  "what to count (default: cycles, or cpu-clock where the machine has no hardware counters)",
	  "NAME[:UM[:KERNEL[:USER]]],..." },
	{ "system-wide", 's', POPT_ARG_NONE, NULL, MODE + OCOUNT_SYSTEM,
	  "count on all CPUs", NULL },
	{ "cpu-list", 'C', POPT_ARG_STRING, NULL, MODE + OCOUNT_CPUS,
	  "count on these CPUs", "LIST" },
	{ "process-list", 'p', POPT_ARG_STRING, NULL, MODE + OCOUNT_PROCESSES,
	  "count these processes and their children", "PIDS" },
	{ "thread-list", 'r', POPT_ARG_STRING, NULL, MODE + OCOUNT_THREADS,
	  "count these threads", "TIDS" },
	{ "separate-cpu", 'c', POPT_ARG_NONE, NULL, 'c',
	  "show counts for each CPU", NULL },
	{ "separate-thread", 't', POPT_ARG_NONE, NULL, 't',
	  "show counts for each thread", NULL },
	{ "time-interval", 'i', POPT_ARG_STRING, NULL, 'i',
	  "show counts every MS milliseconds, NR times", "MS[:NR]" },
	{ "brief-format", 'b', POPT_ARG_NONE, NULL, 'b',
	  "print values separated by commas", NULL },
	{ "output-file", 'f', POPT_ARG_STRING, NULL, 'f',
	  "write counts to FILE", "FILE" },
	{ "verbose", 'V', POPT_ARG_NONE, NULL, 'V', "print each step", NULL },
	{ "version", 'v', POPT_ARG_NONE, NULL, 'v', "show the version", NULL },
	{ NULL, 'h', POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, NULL, 'h', NULL,
	  NULL },
	{ NULL, 'u', POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, NULL, 'u', NULL,
	  NULL },
	POPT_AUTOHELP POPT_TABLEEND
};

static poptContext make_ocount_context(int argc, const char **argv)
{
	poptContext context =
		poptGetContext("ocount", argc, argv, ocount_options,
			       POPT_CONTEXT_POSIXMEHARDER);

	if (context)
		poptSetOtherOptionHelp(context,
				       "[OPTION...] [COMMAND [ARGUMENT...]]");
	return context;
}

static void print_ocount_help(struct ocount_request *request, int letter)
{
	if (letter == 'h')
		poptPrintHelp(request->context, stdout, 0);
	else
		poptPrintUsage(request->context, stdout, 0);
	ocount_request_release(request);
	exit(EXIT_SUCCESS);
}

static int parse_ocount_options(struct ocount_request *request,
				const char **argv, struct op_diag *diag)
{
	poptContext context = request->context;
	int letter, err;

	while ((letter = poptGetNextOpt(context)) > 0) {
		if (letter == 'h' || letter == 'u')
			print_ocount_help(request, letter);
		err = parse_ocount_option(request, letter,
					  poptGetOptArg(context), diag);
		if (err)
			return err;
	}
	if (letter < -1)
		return op_bad_option(diag, "ocount", ocount_options, argv,
				     poptBadOption(context, 0), letter);
	request->command = poptGetArgs(context);
	return request->command
		       ? set_ocount_mode(request, OCOUNT_COMMAND, NULL, diag)
		       : 0;
}

static int parse_interval(struct ocount_request *request, struct op_diag *diag)
{
	const char *text = request->interval;
	int err;

	if (!text)
		return 0;
	err = ocount_number_parse(text, &text, 10, INTERVAL_MAX,
				  &request->interval_ms);
	if (!err && *text == ':')
		err = ocount_number_parse(text + 1, &text, 10, NR_INTERVALS_MAX,
					  &request->nr_intervals) ||
		      !request->nr_intervals;
	if (err || *text || request->interval_ms < INTERVAL_MIN)
		return op_diag_set(
			diag, -EINVAL,
			"--time-interval=%s: not MILLISECONDS[:NUMBER]; give %d to %d milliseconds and how many times, 1 or more",
			request->interval, INTERVAL_MIN, INTERVAL_MAX);
	return 0;
}

static int check_ocount_request(const struct ocount_request *request,
				struct op_diag *diag)
{
	enum ocount_mode mode = request->mode;

	if (mode == OCOUNT_NONE)
		return op_diag_set(
			diag, -EINVAL,
			"nothing to count: give a command, --process-list, --thread-list, --cpu-list or --system-wide; see ocount --help");
	if (request->separate_cpu && mode != OCOUNT_SYSTEM &&
	    mode != OCOUNT_CPUS)
		return op_diag_set(
			diag, -EINVAL,
			"--separate-cpu with %s: CPUs are separated with --system-wide and --cpu-list only",
			mode_name(mode));
	if (request->separate_thread && mode != OCOUNT_PROCESSES &&
	    mode != OCOUNT_THREADS)
		return op_diag_set(
			diag, -EINVAL,
			"--separate-thread with %s: threads are separated with --process-list and --thread-list only",
			mode_name(mode));
	return 0;
}

int ocount_request_parse(struct ocount_request *request, int argc,
			 const char **argv, struct op_diag *diag)
{
	int err;

	*request = (struct ocount_request){
		.context = make_ocount_context(argc, argv),
	};
	if (!request->context)
		return op_out_of_memory(diag);
	err = parse_ocount_options(request, argv, diag);
	if (err || request->version)
		return err;
	err = parse_interval(request, diag);
	return err ? err : check_ocount_request(request, diag);
}

void ocount_request_release(struct ocount_request *request)
{
	free(request->list);
	free(request->events);
	free(request->interval);
	free(request->output);
	poptFreeContext(request->context);
	*request = (struct ocount_request){ .mode = OCOUNT_NONE };
}
