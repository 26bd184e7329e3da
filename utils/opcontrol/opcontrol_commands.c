// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The commands: which steps each of them is made of, and what it prints.
 */

#include "utils/opcontrol/opcontrol_commands.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "utils/opcontrol/opcontrol.h"
#include "utils/opcontrol/opcontrol_module.h"
#include "utils/opcontrol/opcontrol_samples.h"
#include "utils/opcontrol/opcontrol_status.h"
#include "utils/process.h"

static int run_init(struct opcontrol *oc)
{
	return oc_source_set_up(oc);
}

static int run_start_daemon(struct opcontrol *oc)
{
	int err;

	if (oc->daemon.is_targeted)
		return op_diag_set(&oc->diag, -EBUSY,
				   "%s: operf profiles a program there, with "
				   "the daemon of pid %d; wait for its end, or "
				   "name another folder with --session-dir",
				   oc->session.dir, oc->daemon.pid);
	if (oc->daemon.pid)
		return 0;
	err = oc_source_set_up(oc);
	if (!err)
		err = oc_events_choose(oc);
	if (!err)
		err = oc_source_write_settings(oc);
	if (err)
		return err;
	printf("Using log file %s\n", oc->session.log);
	err = oc_daemon_start(oc);
	if (!err)
		puts("Daemon started.");
	return err;
}

static int run_start(struct opcontrol *oc)
{
	int err = run_start_daemon(oc);

	if (err)
		return err;
	err = oc_daemon_call(oc, "start");
	if (err)
		oc_events_explain(oc);
	else
		puts("Profiler running.");
	return err;
}

static int run_dump(struct opcontrol *oc)
{
	return oc_daemon_call(oc, "dump");
}

static int run_stop(struct opcontrol *oc)
{
	puts("Stopping profiling.");
	return oc_daemon_call(oc, "stop");
}

static int run_shutdown(struct opcontrol *oc)
{
	if (!oc->daemon.pid) {
		puts("Daemon not running");
		return 0;
	}
	if (oc->daemon.is_sampling)
		puts("Stopping profiling.");
	puts("Killing daemon.");
	return oc_daemon_shutdown(oc);
}

/* The daemon has files open in the session: it must do such things itself. */
static int signal_daemon(struct opcontrol *oc, const char *request)
{
	int err = oc_daemon_call(oc, request);

	if (!err)
		puts("Signalling daemon... done");
	return err;
}

static int run_reset(struct opcontrol *oc)
{
	if (oc->daemon.pid)
		return signal_daemon(oc, "reset");
	return oc_samples_reset(oc);
}

static int run_save(struct opcontrol *oc)
{
	char request[NAME_MAX + 8];

	if (!oc->daemon.pid)
		return oc_samples_save(oc, oc->request.argument);
	snprintf(request, sizeof(request), "save %s", oc->request.argument);
	return signal_daemon(oc, request);
}

static int check_name(const char *name, struct op_diag *diag)
{
	if (strlen(name) > NAME_MAX || strchr(name, '\n'))
		return op_diag_set(diag, -EINVAL,
				   "--save=%.64s: no name for a session; give "
				   "at most %d bytes without a newline",
				   name, NAME_MAX);
	return op_session_name_check(name, diag);
}

static int run_status(struct opcontrol *oc)
{
	return oc_status(oc);
}

/* The list is another program's, which lies beside this one. */
static int run_list_events(struct opcontrol *oc)
{
	char path[OC_PATH_MAX + 16];
	char *argv[] = { "ophelp", NULL };
	int err;

	snprintf(path, sizeof(path), "%s/ophelp", oc->tools);
	if (access(path, X_OK) &&
	    process_find(path, sizeof(path), "ophelp", getenv("PATH")))
		return op_diag_set(&oc->diag, -ENOENT,
				   "ophelp: no such program in %s or on PATH; "
				   "build it with make, or reinstall oprofile",
				   oc->tools);
	err = process_run(path, argv, environ, NULL, 0, &oc->diag);
	return err > 0 ? -EIO : err;
}

static int run_deinit(struct opcontrol *oc)
{
	int err = oc->daemon.pid ? run_shutdown(oc) : 0;

	if (!err)
		err = oc_fs_unmount(oc);
	if (!err)
		err = oc_module_unload(oc);
	return err;
}

/* clang-format off */
const struct oc_command oc_commands[OC_NR_COMMANDS] = {
	{ "init", 0, NULL, "load the module, if it is used, and mount oprofilefs",
	  OC_NEEDS_ROOT, NULL, run_init },
	{ "start-daemon", 0, NULL, "start the daemon without sampling",
	  OC_NEEDS_ROOT | OC_TAKES_SETTINGS, NULL, run_start_daemon },
	{ "start", 's', NULL, "start the daemon if needed, and sampling",
	  OC_NEEDS_ROOT | OC_TAKES_SETTINGS, NULL, run_start },
	{ "dump", 'd', NULL, "write all samples taken so far to sample files",
	  OC_NEEDS_DAEMON, NULL, run_dump },
	{ "stop", 't', NULL, "stop sampling, keep the daemon",
	  OC_NEEDS_ROOT | OC_NEEDS_DAEMON, NULL, run_stop },
	{ "reset", 0, NULL, "remove the samples of the current session",
	  OC_NEEDS_ROOT, NULL, run_reset },
	{ "save", 0, "NAME", "keep the current session as NAME",
	  OC_NEEDS_ROOT, check_name, run_save },
	{ "status", 0, NULL, "show daemon, settings and sample counts",
	  0, NULL, run_status },
	{ "list-events", 'l', NULL, "list the events of this machine's CPU",
	  OC_NEEDS_NOTHING, NULL, run_list_events },
	{ "shutdown", 'h', NULL, "stop sampling and end the daemon",
	  OC_NEEDS_ROOT, NULL, run_shutdown },
	{ "deinit", 0, NULL, "shut down, unmount and unload the module",
	  OC_NEEDS_ROOT, NULL, run_deinit },
};
/* clang-format on */
