// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line.
 *
 * The options for popt are derived from the tables of commands and settings;
 * only those that are neither are written down here. Values are kept as they
 * are given: what they mean is checked by the table of settings, once it is
 * known which settings they change.
 */

#include "utils/opcontrol/opcontrol_options.h"

#include <errno.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libop/options/op_bad_option.h"
#include "libop/options/op_original.h"
#include "utils/say.h"

/* popt's value for an option: its table and the row in it. */
#define COMMAND 0x100
#define SETTING 0x200
#define WITHOUT_EFFECT 0x400
enum { SETUP = 1, VERBOSE, VERSION };

struct options {
	struct poptOption commands[OC_MAX_COMMANDS + 1];
	struct poptOption settings[OC_NR_SETTINGS + 1];
	struct poptOption others[4];
	struct poptOption original[OP_NR_ORIGINAL_OPCONTROL + 1];
	struct poptOption all[6];
};

static struct poptOption popt_option(const char *name, char letter, int value,
				     const char *help, const char *argument)
{
	return (struct poptOption){
		.longName = name,
		.shortName = letter,
		.argInfo = argument ? POPT_ARG_STRING : POPT_ARG_NONE,
		.val = value,
		.descrip = help,
		.argDescrip = argument,
	};
}

static void build_popt_tables(struct options *o,
			      const struct oc_command *commands, int nr)
{
	static const char *const titles[] = {
		"Commands, one at a time:",
		"Settings, kept for the next time:",
		"Other options:",
		"Options of the original profiler without effect here:",
	};
	struct poptOption *const tables[] = { o->commands, o->settings,
					      o->others, o->original };
	const struct poptOption autohelp[] = { POPT_AUTOHELP POPT_TABLEEND };
	int nr_settings = 0;

	for (int i = 0; i < nr; i++)
		o->commands[i] =
			popt_option(commands[i].option, commands[i].letter,
				    COMMAND + i, commands[i].help,
				    commands[i].argument);
	for (int i = 0; i < OC_NR_SETTINGS; i++) {
		const struct oc_setting *row = &oc_settings_table[i];

		if (row->option)
			o->settings[nr_settings++] =
				popt_option(row->option, row->letter,
					    SETTING + i, row->help,
					    row->argument);
	}
	o->others[0] = popt_option("setup", 0, SETUP,
				   "only keep settings (default)", NULL);
	o->others[1] =
		popt_option("verbose", 'V', VERBOSE,
			    "print each step; WORDS are for the daemon's log",
			    "WORDS");
	o->others[1].argInfo |= POPT_ARGFLAG_OPTIONAL;
	o->others[2] =
		popt_option("version", 'v', VERSION, "show the version", NULL);
	for (int i = 0; i < OP_NR_ORIGINAL_OPCONTROL; i++)
		o->original[i] =
			popt_option(op_original_opcontrol[i].name, 0,
				    WITHOUT_EFFECT + i, "ignored; prints why",
				    op_original_opcontrol[i].argument);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		o->all[i] = (struct poptOption){
			.argInfo = POPT_ARG_INCLUDE_TABLE,
			.arg = tables[i],
			.descrip = titles[i],
		};
	o->all[4] = autohelp[0];
}

static int parse_command_option(struct oc_request *request,
				const struct oc_command *command,
				char *argument, struct op_diag *diag)
{
	const char *first = command->option;

	if (request->command)
		first = request->command->option;
	if (request->command == command && !argument)
		return 0;
	if (request->command) {
		op_diag_set(diag, -EINVAL,
			    "--%s and --%s: only one command at a time; run "
			    "opcontrol once for each",
			    first, command->option);
		free(argument);
		return -EINVAL;
	}
	request->command = command;
	request->argument = argument;
	return argument ? command->check(argument, diag) : 0;
}

static int parse_setting_option(struct oc_request *request, int row,
				char *value)
{
	char *before = request->values[row], *list = NULL;

	request->has_settings = true;
	if (!value)
		value = strdup(""); /* of an option that takes none */
	if (!value)
		return -ENOMEM;
	request->values[row] = value;
	if (before && oc_settings_table[row].repeats) {
		if (asprintf(&list, "%s,%s", before, value) < 0)
			list = NULL;
		request->values[row] = list;
		free(value);
	}
	free(before);
	return request->values[row] ? 0 : -ENOMEM;
}

static int parse_original_option(struct oc_request *request, int row,
				 char *argument)
{
	const struct op_original_option *option = &op_original_opcontrol[row];

	say_note("opcontrol", "--%s=%s: ignored: %s", option->name, argument,
		 option->why);
	request->has_settings = true;
	free(argument);
	return 0;
}

static int parse_opcontrol_option(struct oc_request *request,
				  const struct oc_command *commands, int value,
				  char *argument, struct op_diag *diag)
{
	if (value >= WITHOUT_EFFECT)
		return parse_original_option(request, value - WITHOUT_EFFECT,
					     argument);
	if (value >= SETTING && value < SETTING + OC_NR_SETTINGS)
		return parse_setting_option(request, value - SETTING, argument);
	if (value >= COMMAND)
		return parse_command_option(request, &commands[value - COMMAND],
					    argument, diag);
	if (value == SETUP)
		request->setup = true;
	if (value == VERSION)
		request->version = true;
	if (value == VERBOSE) {
		request->verbose = true;
		free(request->daemon_verbose);
		request->daemon_verbose = argument;
	}
	return 0;
}

static int parse_opcontrol_options(struct oc_request *request,
				   const struct oc_command *commands, int nr,
				   poptContext context,
				   const struct poptOption *table,
				   const char **argv, struct op_diag *diag)
{
	const char *rest;
	int value, err;

	while ((value = poptGetNextOpt(context)) > 0) {
		err = parse_opcontrol_option(request, commands, value,
					     poptGetOptArg(context), diag);
		if (err)
			return err;
	}
	if (value < -1)
		return op_bad_option(diag, "opcontrol", table, argv,
				     poptBadOption(context, 0), value);
	rest = poptGetArg(context);
	if (!rest)
		return 0;
	for (int i = 0; i < nr; i++)
		if (!strcmp(commands[i].option, rest))
			return op_diag_set(diag, -EINVAL,
					   "%s: not an option; write --%s",
					   rest, rest);
	return op_diag_set(diag, -EINVAL,
			   "%s: not an option; see opcontrol --help", rest);
}

/* Returns the first of the settings that were given, for a message, and their
 * number in *@nr. */
static const char *first_setting(const struct oc_request *request, int *nr)
{
	const char *first = "setup";

	*nr = 0;
	for (int i = 0; i < OC_NR_SETTINGS; i++)
		if (request->values[i] && !(*nr)++)
			first = oc_settings_table[i].option;
	return first;
}

static int check_daemon_words(const struct oc_request *request,
			      struct op_diag *diag)
{
	static const char words[] = ",sfile,arcs,samples,module,misc,ext,all,";
	const struct oc_command *command = request->command;
	const char *word = request->daemon_verbose;

	if (!word)
		return 0;
	if (!command || !(command->flags & OC_TAKES_SETTINGS))
		return op_diag_set(diag, -EINVAL,
				   "--verbose=%s: words are for the daemon; "
				   "use them with --start or --start-daemon",
				   word);
	while (*word) {
		char wanted[16];
		size_t len = strcspn(word, ",");

		snprintf(wanted, sizeof(wanted), ",%.*s,",
			 len < 12 ? (int)len : 12, word);
		if (!len || !strstr(words, wanted))
			return op_diag_set(diag, -EINVAL,
					   "--verbose=%s: not a list of sfile, "
					   "arcs, samples, module, misc, ext "
					   "and all",
					   request->daemon_verbose);
		word += len + (word[len] == ',');
	}
	return 0;
}

static int check_combination(const struct oc_request *request,
			     struct op_diag *diag)
{
	const struct oc_command *command = request->command;
	bool has_marks = request->has_settings || request->setup;
	int nr_settings;
	const char *first = first_setting(request, &nr_settings);

	if (command && command->flags & OC_NAMES_SESSION)
		has_marks &= request->setup || strcmp(first, "session-dir") ||
			     nr_settings > 1;
	if (request->version)
		return 0;
	if (command && has_marks && !(command->flags & OC_TAKES_SETTINGS))
		return op_diag_set(diag, -EINVAL,
				   "--%s and --%s: settings go with --setup, "
				   "--start or --start-daemon; run opcontrol "
				   "twice",
				   command->option, first);
	if (request->setup && !request->has_settings)
		return op_diag_set(diag, -EINVAL,
				   "--setup: no settings are given; give some, "
				   "such as --separate=lib, see opcontrol "
				   "--help");
	if (!command && !has_marks)
		return op_diag_set(diag, -EINVAL,
				   "no command; give one, such as --start, see "
				   "opcontrol --help");
	return check_daemon_words(request, diag);
}

int oc_request_parse(struct oc_request *request,
		     const struct oc_command *commands, int nr, int argc,
		     const char **argv, struct op_diag *diag)
{
	struct options options = { 0 };
	poptContext context;
	int err;

	build_popt_tables(&options, commands, nr);
	context = poptGetContext("opcontrol", argc, argv, options.all, 0);
	if (!context)
		return op_out_of_memory(diag);
	poptSetOtherOptionHelp(context, "[COMMAND] [SETTING...]");
	err = parse_opcontrol_options(request, commands, nr, context,
				      options.all, argv, diag);
	poptFreeContext(context);
	if (!err && request->values[OC_VMLINUX] &&
	    request->values[OC_NO_VMLINUX])
		return op_diag_set(diag, -EINVAL,
				   "--vmlinux and --no-vmlinux: they "
				   "contradict each other; give one of them");
	if (!err)
		err = check_combination(request, diag);
	return err ? op_diag_set(diag, err, "%s", strerror(-err)) : 0;
}

void oc_request_release(struct oc_request *request)
{
	for (int i = 0; i < OC_NR_SETTINGS; i++)
		free(request->values[i]);
	free(request->argument);
	free(request->daemon_verbose);
	memset(request, 0, sizeof(*request));
}
