// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * operf: profile a command, a process or everything, into a session folder.
 *
 * The order of a run: command line, the program is looked for, the command's
 * process waits, session folder, daemon, the command executes, its end, the
 * daemon's end. Until the command has executed, all can be undone and is.
 */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"
#include "libop/files/op_process.h"
#include "libop/kernel/op_perf.h"
#include "libop/kernel/op_perf_filter.h"
#include "utils/event_list.h"
#include "utils/operf/operf_append.h"
#include "utils/operf/operf_daemon.h"
#include "utils/operf/operf_report.h"
#include "utils/operf/operf_run.h"
#include "utils/operf/operf_runtimes.h"
#include "utils/operf/operf_signals.h"
#include "utils/operf/operf_wait.h"
#include "utils/symbols.h"

/* ---- before -------------------------------------------------------------- */

static int choose_operf_events(struct operf *operf)
{
	const struct operf_options *options = &operf->options;
	bool clock = options->rate != 0;
	struct event_machine machine;
	struct operf_rights rights = {
		.may_sample_kernel = op_perf_may_sample_kernel(),
		.stacks = options->depth != 0,
	};
	int err = event_machine_init(&machine);

	/* Stacks of chosen processes are taken of CPUs only where those of
	 * others are filtered. */
	operf->filters = options->depth && op_perf_filter_works();
	operf->samples_cpus =
		op_perf_may_sample_system() &&
		(operf->filters || !(options->depth && options->nr_pids));
	if (err) {
		op_diag_set(&operf->diag, err, "out of memory");
	} else {
		machine.has_waits = true;
		rights.can_sample_cpu = !options->events && !clock &&
					!options->wall &&
					event_machine_can_sample(&machine);
		err = operf_events_init(&operf->events, &machine,
					options->events, clock, options->wall,
					options->latency, &rights,
					&operf->diag);
	}
	event_machine_release(&machine);
	return err;
}

/* Returns 0, or -errno; status is set for a program that cannot be run. */
static int prepare_run(struct operf *operf, int *status)
{
	char **argv = operf->options.command;
	int err = choose_operf_events(operf);

	if (!err && argv) {
		command_init(&operf->command, argv);
		err = command_find(&operf->command, &operf->diag);
		if (err)
			*status = err == -ENOENT ? OPERF_NOT_FOUND
						 : OPERF_NOT_EXECUTABLE;
		else
			err = operf_runtimes_prepare(operf)
				      ?: command_fork(&operf->command,
						      &operf->diag);
	}
	err = err ?: operf_target_open(operf) ?: operf_signals_block(operf);
	if (err)
		return err;
	/* Without a filter the command's short processes have stacks only if
	 * the command has a cgroup. */
	if (operf->options.depth && operf->samples_cpus && !operf->filters &&
	    operf_profiles_command(&operf->options)) {
		err = operf_cgroup_make(&operf->cgroup, operf->command.pid);
		operf->samples_cpus = !err;
		if (err)
			operf_say(operf, "no cgroup for the command: %s",
				  strerror(-err));
		else
			operf_say(operf, "the command is in the cgroup %s",
				  operf->cgroup.folder);
	}
	return 0;
}

/* ---- the run ------------------------------------------------------------- */

static int start_daemon(struct operf *operf, struct op_ledger *before)
{
	int err;

	operf->folder.verbose = operf->options.verbose;
	operf->child.daemon.verbose = operf->options.verbose;
	operf->child.daemon.session = &operf->session;
	err = operf_session_open(
		&operf->folder, operf->options.session_dir,
		operf->options.readable_by ? &operf->options.readers : NULL,
		&operf->diag);
	if (!err)
		err = operf_session_rotate(&operf->folder,
					   operf->options.append,
					   (unsigned int)operf->options.keep,
					   &operf->diag);
	if (err)
		return err;
	operf_runtimes_make_folder(operf);
	/* The daemon decides about a damaged ledger. */
	operf_ledger_get(operf, before, NULL);
	return operf_daemon_start(operf)
		       ?: operf_daemon_call(operf, "start")
		       ?: operf_signal_interrupts(operf);
}

/* From here on there is something to keep. */
static int begin_sampling(struct operf *operf, int *status)
{
	int err;

	if (operf->events.no_counter)
		operf_inform(operf,
			     "no hardware counters here; sampling the CPU "
			     "clock instead");
	if (operf->events.share)
		operf_inform(operf, "%s", EVENT_LIST_SHARE_NOTE);
	if (operf->events.user_only && operf->events.waits)
		operf_inform(
			operf,
			"only user code is sampled, and the times of waits "
			"have no stacks, as kernel.perf_event_paranoid is %d; "
			"for both set it to 1, run as root or with CAP_PERFMON",
			op_perf_paranoid());
	else if (operf->events.user_only)
		operf_inform(
			operf,
			"only user code is sampled, as "
			"kernel.perf_event_paranoid is %d; for the kernel's "
			"set it to 1, run as root or with CAP_PERFMON",
			op_perf_paranoid());
	if (!operf->options.command) {
		operf_inform(operf,
			     "Profiler started; Ctrl-C or kill -INT %d ends it",
			     (int)getpid());
		return 0;
	}
	err = command_exec(&operf->command, &operf->diag);
	if (err && err != -ESRCH)
		*status = OPERF_NOT_EXECUTABLE;
	return err;
}

/* The samples are worth as much without: a failure is a line on stderr. */
static void keep_symbols_of_run(const struct operf *operf)
{
	const struct operf_options *options = &operf->options;
	struct op_diag why = { "" };
	char folder[PATH_MAX];
	struct op_ledger ledger;
	int err;

	operf_ledger_get(operf, &ledger, NULL);
	if (!options->symbol_store || !ledger.stored)
		return;
	operf_say(operf, "keep symbols in %s", operf->session.store);
	err = op_process_own_folder(folder, sizeof(folder), &why)
		      ?: symbols_keep(folder, &operf->session,
				      options->symbol_store,
				      options->no_symbols, &why);
	if (err == -ENOENT)
		operf_say(operf, "%s", why.text);
	else if (err)
		operf_note("no symbols are kept: %s", op_diag_text(&why, err));
}

/* Returns the exit status. */
static int finish_run(struct operf *operf, enum operf_end end,
		      const struct op_ledger *before)
{
	bool has_failed = end == OPERF_DAEMON_DIED ||
			  (operf->options.command && end == OPERF_DAEMON_ENDED);
	struct command *command = &operf->command;
	int status = EXIT_SUCCESS;
	int err = 0;

	/* The command goes on, unprofiled. */
	if (end == OPERF_TIMED_OUT && operf->command.pid) {
		err = operf_daemon_stop(operf);
		operf_wait(operf);
	}
	if (operf->command.pid) {
		command_wait(command);
		if (WIFSIGNALED(command->status))
			operf_note("%s: was ended by signal %d (%s)",
				   command->argv[0], WTERMSIG(command->status),
				   strsignal(WTERMSIG(command->status)));
		status = command_exit_status(command);
	}
	if (operf->child.daemon.pid)
		err = operf_daemon_stop(operf);
	operf_session_commit(&operf->folder, operf->options.quiet);
	/* The ledger of a daemon that has died is not up to date. */
	if (!err && end != OPERF_DAEMON_DIED)
		operf_keep_times(operf, end, before);
	if (!err && end != OPERF_DAEMON_DIED)
		err = operf_report(operf, before);
	if (!err) {
		keep_symbols_of_run(operf);
		operf_keep_cost(operf, before);
	}
	if (!err && !has_failed)
		return status;
	if (operf->options.command)
		operf_note("%s: its exit status was %d",
			   operf->options.command[0], status);
	return OPERF_FAILED;
}

/* Returns the exit status; operf->diag has the reason of a failure. */
static int profile_target(struct operf *operf)
{
	struct op_ledger before;
	int status = OPERF_FAILED;
	int err = operf_append_confirm(operf) ?: prepare_run(operf, &status);

	if (err)
		return status;
	err = start_daemon(operf, &before);
	if (!err)
		err = begin_sampling(operf, &status);
	if (!err)
		return finish_run(operf, operf_wait(operf), &before);
	command_release(&operf->command);
	daemon_child_release(&operf->child);
	operf_runtimes_release(operf);
	operf_session_undo(&operf->folder);
	return operf->interrupted ? 128 + operf->interrupted : status;
}

/* Open standard files that are closed, so that no file of ours becomes one. */
static void hold_standard_files(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	static struct operf operf;
	int status = OPERF_FAILED;

	hold_standard_files();
	command_init(&operf.command, NULL);
	operf_session_init(&operf.folder, &operf.session);
	daemon_child_init(&operf.child);
	operf.signal_fd = -1;
	if (operf_options_parse(&operf.options, argc, argv, &operf.diag))
		; /* the reason is below */
	else if (!operf.options.version)
		status = profile_target(&operf);
	else if (puts("operf: " PACKAGE_NAME " " PACKAGE_VERSION) >= 0 &&
		 !operf_printed(&operf.diag))
		status = EXIT_SUCCESS;
	if (operf.diag.text[0])
		operf_note("%s", operf.diag.text);
	command_release(&operf.command);
	daemon_child_release(&operf.child);
	operf_runtimes_release(&operf);
	operf_session_close(&operf.folder);
	operf_target_close(&operf);
	operf_cgroup_remove(&operf.cgroup);
	if (operf.signal_fd >= 0)
		close(operf.signal_fd);
	operf_events_release(&operf.events);
	operf_options_release(&operf.options);
	return status;
}
