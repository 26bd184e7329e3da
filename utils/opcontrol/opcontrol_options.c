// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command line. The options are those of the two tables of commands and
 * settings and a few more.
 */

#include "utils/opcontrol/opcontrol_options.h"

#include <errno.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utils/opcontrol/opcontrol_commands.h"

/* What popt returns for an option: its table and the row in it. */
#define COMMAND 0x100
#define SETTING 0x200
enum { SETUP = 1, VERBOSE, VERSION };

struct options {
	struct poptOption commands[OC_NR_COMMANDS + 1];
	struct poptOption settings[OC_NR_SETTINGS + 1];
	struct poptOption others[4];
	struct poptOption all[5];
};

static struct poptOption option(const char *name, char letter, int value,
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

static struct poptOption include(struct poptOption *table, const char *title)
{
	return (struct poptOption){
		.argInfo = POPT_ARG_INCLUDE_TABLE,
		.arg = table,
		.descrip = title,
	};
}

static void build_options(struct options *o)
{
	struct poptOption *other = o->others;
	const struct poptOption autohelp[] = { POPT_AUTOHELP POPT_TABLEEND };

	for (int i = 0; i < OC_NR_COMMANDS; i++) {
		const struct oc_command *row = &oc_commands[i];

		o->commands[i] = option(row->option, row->letter, COMMAND + i,
					row->help, row->argument);
	}
	for (int i = 0; i < OC_NR_SETTINGS; i++) {
		const struct oc_setting *row = &oc_settings_table[i];

		o->settings[i] = option(row->option, row->letter, SETTING + i,
					row->help, row->argument);
	}
	*other++ =
		option("setup", 0, SETUP, "only keep settings (default)", NULL);
	*other = option("verbose", 'V', VERBOSE,
			"say each step; WORDS are for the daemon's log",
			"WORDS");
	(other++)->argInfo |= POPT_ARGFLAG_OPTIONAL;
	*other = option("version", 'v', VERSION, "show the version", NULL);
	o->all[0] = include(o->commands, "Commands, one at a time:");
	o->all[1] = include(o->settings, "Settings, kept for the next time:");
	o->all[2] = include(o->others, "Other options:");
	o->all[3] = autohelp[0];
}

static int set_command(struct oc_request *request,
		       const struct oc_command *command, char *argument,
		       struct op_diag *diag)
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

static int join_values(char **value, char *more)
{
	char *list;
	int n = asprintf(&list, "%s,%s", *value, more);

	free(more);
	if (n < 0)
		return -ENOMEM;
	free(*value);
	*value = list;
	return 0;
}

static int set_value(struct oc_request *request, int row, char *value)
{
	request->has_settings = true;
	if (!value)
		value = strdup(""); /* of an option that takes none */
	if (!value)
		return -ENOMEM;
	if (request->values[row] && oc_settings_table[row].repeats)
		return join_values(&request->values[row], value);
	free(request->values[row]);
	request->values[row] = value;
	return 0;
}

static int handle_option(struct oc_request *request, int value, char *argument,
			 struct op_diag *diag)
{
	if (value >= SETTING)
		return set_value(request, value - SETTING, argument);
	if (value >= COMMAND && value < COMMAND + OC_NR_COMMANDS)
		return set_command(request, &oc_commands[value - COMMAND],
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

static int handle_options(struct oc_request *request, poptContext context,
			  struct op_diag *diag)
{
	const char *rest;
	int value, err;

	while ((value = poptGetNextOpt(context)) > 0) {
		err = handle_option(request, value, poptGetOptArg(context),
				    diag);
		if (err)
			return err;
	}
	if (value < -1)
		return op_diag_set(diag, -EINVAL,
				   "%s: %s; see opcontrol --help",
				   poptBadOption(context, 0),
				   poptStrerror(value));
	rest = poptGetArg(context);
	if (!rest)
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "%s: not an option; see opcontrol --help", rest);
}

/* The first setting that was given, for reasons. */
static const char *first_setting(const struct oc_request *request)
{
	for (int i = 0; i < OC_NR_SETTINGS; i++) {
		if (request->values[i])
			return oc_settings_table[i].option;
	}
	return "setup";
}

static int check_verbose(const struct oc_request *request, struct op_diag *diag)
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

static int check_request(const struct oc_request *request, struct op_diag *diag)
{
	const struct oc_command *command = request->command;
	bool has_marks = request->has_settings || request->setup;

	if (request->version)
		return 0;
	if (command && has_marks && !(command->flags & OC_TAKES_SETTINGS))
		return op_diag_set(diag, -EINVAL,
				   "--%s and --%s: settings go with --setup, "
				   "--start or --start-daemon; run opcontrol "
				   "twice",
				   command->option, first_setting(request));
	if (request->setup && !request->has_settings)
		return op_diag_set(diag, -EINVAL,
				   "--setup: no settings are given; give some, "
				   "such as --separate=lib, see opcontrol "
				   "--help");
	if (!command && !has_marks)
		return op_diag_set(diag, -EINVAL,
				   "no command; give one, such as --start, see "
				   "opcontrol --help");
	return check_verbose(request, diag);
}

bool oc_request_has(const struct oc_request *request, const char *option)
{
	for (int i = 0; i < OC_NR_SETTINGS; i++)
		if (request->values[i] &&
		    !strcmp(oc_settings_table[i].option, option))
			return true;
	return false;
}

/* --vmlinux and --no-vmlinux would undo each other. */
static int check_values(const struct oc_request *request, struct op_diag *diag)
{
	if (!oc_request_has(request, "vmlinux") ||
	    !oc_request_has(request, "no-vmlinux"))
		return 0;
	return op_diag_set(diag, -EINVAL,
			   "--vmlinux and --no-vmlinux: each undoes the other; "
			   "give one of them");
}

int oc_request_parse(struct oc_request *request, int argc, const char **argv,
		     struct op_diag *diag)
{
	struct options options = { 0 };
	poptContext context;
	int err;

	build_options(&options);
	context = poptGetContext("opcontrol", argc, argv, options.all, 0);
	if (!context)
		return op_diag_set(diag, -ENOMEM, "out of memory");
	poptSetOtherOptionHelp(context, "[COMMAND] [SETTING...]");
	err = handle_options(request, context, diag);
	poptFreeContext(context);
	if (!err)
		err = check_values(request, diag);
	if (!err)
		err = check_request(request, diag);
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
