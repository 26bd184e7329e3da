// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ophelp's command line. What is shown is one mode; the table of modes has the
 * option of each and how many words it takes. All else are flags; those of
 * lists are refused with another mode.
 */

#include "utils/ophelp/ophelp_options.h"

#include <errno.h>
#include <popt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libop/options/op_arguments.h"
#include "libop/options/op_bad_option.h"

/* The modes, and what else makes sense with each. */
/* clang-format off */
static const struct {
	const char *option;
	char letter;
	const char *help;
	int min_args;
	int max_args;	/* -1: any number */
} modes[] = {
	[OPHELP_LIST] = { NULL, 0, NULL, 0, 1 },
	[OPHELP_CHECK_EVENTS] = { "check-events", 'e',
		"check that these events can be counted together; show "
		"the counter of each", 1, -1 },
	[OPHELP_EVENTS] = { "events", 'n',
		"show these events as numbers, in the form that oprofiled reads",
		1, -1 },
	[OPHELP_UNIT_MASK] = { "unit-mask", 'u',
		"show the unit mask of an event, the given one or the default",
		1, 1 },
	[OPHELP_EXTRA_MASK] = { "extra-mask", 'E',
		"show the extra bits of a named unit mask", 1, 1 },
	[OPHELP_MIN_COUNT] = { "min-count", 'm',
		"show the smallest count of an event", 1, 1 },
	[OPHELP_GET_CPU_TYPE] = { "get-cpu-type", 'r',
		"show the type of this CPU", 0, 0 },
	[OPHELP_GET_DEFAULT_EVENT] = { "get-default-event", 'd',
		"show the event that is used when none is chosen", 0, 0 },
	[OPHELP_LIST_CPUS] = { "list-cpus", 'l',
		"list the CPU types for --cpu-type", 0, 0 },
	[OPHELP_CHECK] = { "check", 0,
		"check the event files of all CPU types, or of one", 0, 0 },
	[OPHELP_VERSION] = { "version", 'v', "show the version", 0, 0 },
};
/* clang-format on */

#define NR_MODES (sizeof(modes) / sizeof(modes[0]))
#define NR_OTHERS 7
#define MODE_VALUE 1000 /* popt's val of mode 0 */

struct options {
	struct poptOption mode[NR_MODES];
	struct poptOption other[NR_OTHERS + 1];
	struct poptOption all[4];
};

static void build_ophelp_options(struct options *o, struct ophelp_request *r)
{
	const struct poptOption other[NR_OTHERS] = {
		{ "cpu-type", 'c', POPT_ARG_STRING, &r->cpu, 0,
		  "answer for CPUs of this type", "TYPE" },
		{ "search", 's', POPT_ARG_STRING, &r->search, 0,
		  "list only events that contain TEXT", "TEXT" },
		{ "xml", 'X', POPT_ARG_NONE, &r->xml, 0, "list as XML", NULL },
		{ "json", 'J', POPT_ARG_NONE, &r->json, 0, "list as JSON",
		  NULL },
		{ "ignore-count", 'i', POPT_ARG_NONE, &r->ignore_count, 0,
		  "events are given without counts: NAME:UNITMASK", NULL },
		{ "callgraph", 0, POPT_ARG_INT, &r->callgraph, 0,
		  "assume call graphs of this depth for the smallest counts",
		  "DEPTH" },
		{ "no-pager", 0, POPT_ARG_NONE, &r->no_pager, 0,
		  "use no pager on a terminal", NULL },
	};
	const struct poptOption all[] = { { NULL, 0, POPT_ARG_INCLUDE_TABLE,
					    o->mode, 0, "What to show:", NULL },
					  { NULL, 0, POPT_ARG_INCLUDE_TABLE,
					    o->other, 0, "How:", NULL },
					  POPT_AUTOHELP POPT_TABLEEND };

	for (unsigned int i = 1; i < NR_MODES; i++)
		o->mode[i - 1] = (struct poptOption){
			.longName = modes[i].option,
			.shortName = modes[i].letter,
			.val = MODE_VALUE + (int)i,
			.descrip = modes[i].help,
		};
	memcpy(o->other, other, sizeof(other));
	memcpy(o->all, all, sizeof(all));
}

static int parse_ophelp_args(struct ophelp_request *r, poptContext context)
{
	const char **args = poptGetArgs(context);

	while (args && args[r->nr_args])
		r->nr_args++;
	r->args = calloc((size_t)r->nr_args + 1, sizeof(*r->args));
	for (int i = 0; r->args && i < r->nr_args; i++) {
		r->args[i] = strdup(args[i]);
		if (!r->args[i])
			return -ENOMEM;
	}
	return r->args ? 0 : -ENOMEM;
}

static int parse_ophelp_options(struct ophelp_request *r, poptContext context,
				const struct poptOption *table,
				const char **argv, struct op_diag *diag)
{
	int val;

	while ((val = poptGetNextOpt(context)) >= MODE_VALUE) {
		enum ophelp_mode mode = val - MODE_VALUE;

		if (r->mode != OPHELP_LIST && r->mode != mode)
			return op_diag_set(diag, -EINVAL,
					   "--%s and --%s: give one at a time",
					   modes[r->mode].option,
					   modes[mode].option);
		r->mode = mode;
	}
	if (val < -1)
		return op_bad_option(diag, "ophelp", table, argv,
				     poptBadOption(context, 0), val);
	return parse_ophelp_args(r, context);
}

static int check_ophelp_request(const struct ophelp_request *r,
				struct op_diag *diag)
{
	const char *option = modes[r->mode].option;
	int max = modes[r->mode].max_args;

	if (r->nr_args < modes[r->mode].min_args)
		return op_diag_set(diag, -EINVAL,
				   "--%s: no event is given; give one, as "
				   "NAME:COUNT",
				   option);
	if (max >= 0 && r->nr_args > max)
		return op_diag_set(diag, -EINVAL,
				   "%s: too many words%s%s; see ophelp --help",
				   r->args[max], option ? " for --" : "",
				   option ? option : "");
	if (r->xml && r->json)
		return op_diag_set(diag, -EINVAL,
				   "--xml and --json: give one of them");
	if ((r->xml || r->json || r->search) &&
	    (r->mode != OPHELP_LIST || r->nr_args))
		return op_diag_set(diag, -EINVAL,
				   "--%s: only for the list of events",
				   r->xml    ? "xml"
				   : r->json ? "json"
					     : "search");
	if (r->callgraph < 0)
		return op_diag_set(
			diag, -EINVAL,
			"--callgraph=%d: not a depth; give 0 or more",
			r->callgraph);
	return 0;
}

int ophelp_request_parse(struct ophelp_request *request, int argc,
			 const char **argv, struct op_diag *diag)
{
	struct options options;
	poptContext context;
	int err;

	memset(request, 0, sizeof(*request));
	memset(&options, 0, sizeof(options));
	build_ophelp_options(&options, request);
	op_arguments_take_help(argc, argv);
	context = poptGetContext("ophelp", argc, argv, options.all, 0);
	if (!context)
		return op_out_of_memory(diag);
	poptSetOtherOptionHelp(context, "[OPTION...] [EVENT...]");
	err = parse_ophelp_options(request, context, options.all, argv, diag);
	poptFreeContext(context);
	if (!err)
		err = check_ophelp_request(request, diag);
	return err ? op_diag_set(diag, err, "%s", strerror(-err)) : 0;
}

void ophelp_request_release(struct ophelp_request *request)
{
	for (int i = 0; request->args && i < request->nr_args; i++)
		free(request->args[i]);
	free(request->args);
	free(request->cpu);
	free(request->search);
}
