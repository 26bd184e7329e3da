// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waiting for the end of a run.
 *
 * Signals, the target's end and the daemon's end are all descriptors that one
 * poll(2) waits for, so none of them can be missed between two looks. With a
 * command nothing but the end of the command ends the waiting: its user wants
 * it to run to its end whatever becomes of the profile. The signals of the
 * terminal's keys have reached the command by themselves; others are passed on.
 */

#include "utils/operf/operf_wait.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "utils/operf/operf_daemon.h"
#include "utils/operf/operf_run.h"
#include "utils/process.h"

/* ---- signals ------------------------------------------------------------- */

static bool is_signal_ignored(int sig)
{
	struct sigaction action;

	return !sigaction(sig, NULL, &action) && action.sa_handler == SIG_IGN;
}

/*
 * A shell ignores SIGINT for what it runs in the background; without a command
 * it is how to end us all the same. An ignored SIGHUP is what nohup is for.
 */
static void set_signal_actions(const struct operf *operf)
{
	signal(SIGPIPE, SIG_IGN);
	if (!operf->options.command && is_signal_ignored(SIGINT))
		signal(SIGINT, SIG_DFL);
}

int operf_signals_block(struct operf *operf)
{
	sigset_t set;

	set_signal_actions(operf);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return op_diag_set(&operf->diag, -errno,
				   "cannot block signals: %s", strerror(errno));
	operf->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (operf->signal_fd >= 0)
		return 0;
	return op_diag_set(&operf->diag, -errno, "cannot wait for signals: %s",
			   strerror(errno));
}

/* The next signal, 0 for none. */
static int read_signal(const struct operf *operf)
{
	struct signalfd_siginfo info;

	if (read(operf->signal_fd, &info, sizeof(info)) != sizeof(info))
		return 0;
	operf_say(operf, "signal %u (%s)", info.ssi_signo,
		  strsignal((int)info.ssi_signo));
	return (int)info.ssi_signo;
}

int operf_signal_interrupts(struct operf *operf)
{
	int sig = read_signal(operf);

	if (!sig)
		return 0;
	operf->interrupted = sig;
	return op_diag_set(&operf->diag, -EINTR,
			   "ended by signal %d (%s) before sampling began; "
			   "nothing was changed",
			   sig, strsignal(sig));
}

/* ---- what is profiled ---------------------------------------------------- */

static int explain_target(struct operf *operf, pid_t pid, int err)
{
	if (err == -ESRCH)
		return op_diag_set(&operf->diag, err,
				   "process %d: there is none; ps lists them",
				   pid);
	/* The latter since Linux 6.16. */
	if (err == -EINVAL || err == -ENOENT)
		return op_diag_set(&operf->diag, err,
				   "process %d: is a thread of another "
				   "process; give the number of that one, all "
				   "its threads are profiled",
				   pid);
	return op_diag_set(&operf->diag, err, "process %d: cannot watch it: %s",
			   pid, strerror(-err));
}

int operf_target_open(struct operf *operf)
{
	pid_t pid = operf->command.pid;

	if (!pid)
		pid = operf->options.pid;
	if (!pid)
		return 0;
	operf->target_fd = process_open(pid);
	if (operf->target_fd >= 0)
		return 0;
	return explain_target(operf, pid, operf->target_fd);
}

/* ---- waiting ------------------------------------------------------------- */

/* Returns whether to end. */
static bool handle_operf_signal(struct operf *operf)
{
	int sig = read_signal(operf);

	if (!sig)
		return false;
	if (!operf->command.pid)
		return true;
	/* Those of the terminal's keys have reached the command as well. */
	if (sig == SIGTERM || sig == SIGHUP)
		kill(operf->command.pid, sig);
	return false;
}

/* The daemon has ended by itself: say so. */
static enum operf_end handle_daemon_end(struct operf *operf)
{
	const char *rest = operf->command.pid ? "; the command goes on, "
						"unprofiled"
					      : "";
	struct op_diag why = { "" };

	if (operf_daemon_reap(operf, &why)) {
		operf_note("%s; nothing is sampled any more%s", why.text, rest);
		return OPERF_DAEMON_DIED;
	}
	operf_note("oprofiled: the daemon was told to end; nothing is sampled "
		   "any more%s",
		   rest);
	return OPERF_DAEMON_ENDED;
}

enum operf_end operf_wait(struct operf *operf)
{
	enum operf_end end = OPERF_ENDED;

	for (;;) {
		struct pollfd p[] = {
			{ .fd = operf->target_fd, .events = POLLIN },
			{ .fd = operf->signal_fd, .events = POLLIN },
			{ .fd = operf->child.pidfd, .events = POLLIN },
		};

		if (poll(p, sizeof(p) / sizeof(p[0]), -1) < 0)
			continue; /* EINTR: it was stopped for a while */
		if (p[0].revents)
			return end;
		if (p[1].revents && handle_operf_signal(operf))
			return OPERF_SIGNALLED;
		if (!p[2].revents)
			continue;
		end = handle_daemon_end(operf);
		if (!operf->command.pid)
			return end;
	}
}
