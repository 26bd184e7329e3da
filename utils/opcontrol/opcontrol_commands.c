// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The commands: which steps each of them is made of, and what it prints.
 *
 * A command changes a session whose daemon runs only by asking the daemon,
 * which has its files open; without a daemon opcontrol changes the session
 * itself. Whether the caller must be root and a daemon must run is said by
 * flags in the table, and checked before the command is called.
 */

#include "utils/opcontrol/opcontrol_commands.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/files/op_process.h"
#include "libop/session/op_ledger.h"
#include "libop/session/op_session_folder.h"
#include "libop/session/op_span.h"
#include "utils/opcontrol/opcontrol_daemon.h"
#include "utils/opcontrol/opcontrol_doctor.h"
#include "utils/opcontrol/opcontrol_mine.h"
#include "utils/opcontrol/opcontrol_module.h"
#include "utils/opcontrol/opcontrol_run.h"
#include "utils/opcontrol/opcontrol_status.h"
#include "utils/say.h"
#include "utils/symbols.h"

static int command_init_module(struct opcontrol *oc)
{
	return oc_source_set_up(&oc->choice, &oc->settings, &oc->fs, oc->tools,
				&oc->diag);
}

static int command_start_daemon(struct opcontrol *oc)
{
	const struct oc_daemon_options options = {
		.settings = &oc->settings,
		.choice = &oc->choice,
		.events = &oc->events,
		.verbose = oc->request.daemon_verbose,
	};
	int err;

	if (oc->daemon.is_targeted)
		return op_diag_set(&oc->diag, -EBUSY,
				   "%s: operf profiles a program there, with "
				   "the daemon of pid %d; wait for its end, or "
				   "name another folder with --session-dir",
				   oc->session.dir, oc->daemon.pid);
	if (oc->daemon.pid)
		return 0;
	err = command_init_module(oc);
	if (!err)
		err = oc_events_choose(&oc->events, &oc->settings,
				       oc->choice.source, &oc->diag);
	if (!err)
		err = oc_source_write_settings(&oc->choice, &oc->settings,
					       &oc->events, &oc->diag);
	if (err)
		return err;
	printf("Using log file %s\n", oc->session.log);
	err = oc_daemon_start(&oc->daemon, oc->tools, &options, &oc->diag);
	if (!err)
		puts("Daemon started.");
	return err;
}

static int command_start(struct opcontrol *oc)
{
	int err = command_start_daemon(oc);

	if (err)
		return err;
	err = oc_daemon_call(&oc->daemon, "start", &oc->diag);
	if (err)
		oc_events_explain(oc->daemon.reply, &oc->diag);
	else
		puts("Profiler running.");
	return err;
}

static int command_dump(struct opcontrol *oc)
{
	return oc_daemon_call(&oc->daemon, "dump", &oc->diag);
}

/* For the time when the files are gone; a profile without that is a profile,
 * too. */
static void keep_symbols_of_session(struct opcontrol *oc)
{
	uint64_t mib = oc->settings.numbers[OC_SYMBOL_STORE];
	struct op_diag why = { "" };
	struct op_ledger ledger;
	int err;

	if (!mib || op_session_account(oc->session.current, &ledger, NULL) ||
	    !ledger.stored)
		return;
	err = symbols_keep(oc->tools, &oc->session, mib, NULL, &why);
	/* Where reports are made elsewhere, opsymbols is not installed. */
	if (err == -ENOENT)
		say_step(oc->request.verbose, "%s", why.text);
	else if (err)
		fprintf(stderr, "opcontrol: warning: no symbols are kept: %s\n",
			why.text);
}

static int command_stop(struct opcontrol *oc)
{
	int err;

	puts("Stopping profiling.");
	err = oc_daemon_call(&oc->daemon, "stop", &oc->diag);
	if (!err)
		keep_symbols_of_session(oc);
	return err;
}

static int command_shutdown(struct opcontrol *oc)
{
	int err;

	if (!oc->daemon.pid) {
		puts("Daemon not running");
		return 0;
	}
	if (oc->daemon.is_sampling)
		puts("Stopping profiling.");
	puts("Killing daemon.");
	err = oc_daemon_shutdown(&oc->daemon, &oc->diag);
	if (!err)
		keep_symbols_of_session(oc);
	return err;
}

static int signal_daemon(struct opcontrol *oc, const char *request)
{
	int err = oc_daemon_call(&oc->daemon, request, &oc->diag);

	if (!err)
		puts("Signalling daemon... done");
	return err;
}

static int command_reset(struct opcontrol *oc)
{
	if (oc->daemon.pid)
		return signal_daemon(oc, "reset");
	if (!access(oc->session.samples, F_OK))
		say_step(oc->request.verbose, "remove the samples in %s",
			 oc->session.current);
	return op_session_reset(&oc->session, &oc->diag);
}

static int command_save(struct opcontrol *oc)
{
	const char *name = oc->request.argument;
	char request[NAME_MAX + 8];

	snprintf(request, sizeof(request), "save %s", name);
	if (oc->daemon.pid)
		return signal_daemon(oc, request);
	say_step(oc->request.verbose, "rename %s to %s/%s", oc->session.current,
		 oc->session.samples, name);
	return op_session_save(&oc->session, name, &oc->diag);
}

static int check_saved_name(const char *name, struct op_diag *diag)
{
	if (strlen(name) > NAME_MAX || strchr(name, '\n'))
		return op_diag_set(diag, -EINVAL,
				   "--save=%.64s: not a name for a session; "
				   "give at most %d bytes without a newline",
				   name, NAME_MAX);
	return op_session_name_check(name, diag);
}

/* The list is another program's, which lies beside this one. */
static int command_list_events(struct opcontrol *oc)
{
	char path[OC_PATH_MAX + 16];
	char *argv[] = { "ophelp", NULL };
	int err = op_process_find_own(path, sizeof(path), argv[0], oc->tools,
				      &oc->diag);

	if (!err)
		err = op_process_run(path, argv, environ, NULL, 0, &oc->diag);
	return err > 0 ? -EIO : err;
}

static int command_deinit(struct opcontrol *oc)
{
	int err = oc->daemon.pid ? command_shutdown(oc) : 0;

	if (!err)
		err = oc_fs_unmount(&oc->fs, &oc->diag);
	if (!err && !oc->fs.is_plain)
		err = oc_module_unload(oc->request.verbose, &oc->diag);
	return err;
}

/* clang-format off */
const struct oc_command oc_commands[OC_NR_COMMANDS] = {
	{ "init", 0, NULL, "load the module, if it is used, and mount oprofilefs",
	  OC_NEEDS_ROOT, NULL, command_init_module },
	{ "start-daemon", 0, NULL, "start the daemon without sampling",
	  OC_NEEDS_ROOT | OC_TAKES_SETTINGS, NULL, command_start_daemon },
	{ "start", 's', NULL, "start the daemon if needed, and sampling",
	  OC_NEEDS_ROOT | OC_TAKES_SETTINGS, NULL, command_start },
	{ "dump", 'd', NULL, "write all samples taken so far to sample files",
	  OC_NEEDS_DAEMON, NULL, command_dump },
	{ "stop", 't', NULL, "stop sampling, keep the daemon",
	  OC_NEEDS_ROOT | OC_NEEDS_DAEMON, NULL, command_stop },
	{ "reset", 0, NULL, "remove the samples of the current session",
	  OC_NEEDS_ROOT, NULL, command_reset },
	{ "save", 0, "NAME", "keep the current session as NAME",
	  OC_NEEDS_ROOT, check_saved_name, command_save },
	{ "status", 0, NULL, "show daemon, settings and sample counts",
	  0, NULL, oc_status },
	{ "mine", 0, "DIR", "make a session of the samples of your own processes, from the daemon of --session-dir",
	  OC_NEEDS_NOTHING | OC_NAMES_SESSION, oc_mine_check, oc_mine },
	{ "doctor", 0, NULL, "list what this machine lacks for profiling, and the cures",
	  OC_ASKS_NO_DAEMON, NULL, oc_doctor },
	{ "list-events", 'l', NULL, "list the events of this machine's CPU",
	  OC_NEEDS_NOTHING, NULL, command_list_events },
	{ "shutdown", 'h', NULL, "stop sampling and end the daemon",
	  OC_NEEDS_ROOT, NULL, command_shutdown },
	{ "deinit", 0, NULL, "shut down, unmount and unload the module",
	  OC_NEEDS_ROOT, NULL, command_deinit },
};
/* clang-format on */
