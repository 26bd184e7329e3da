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

#include "libop/base/op_clock.h"
#include "utils/operf/operf_wait.h"

#include <errno.h>
#include <poll.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libop/files/op_process.h"
#include "utils/operf/operf_daemon.h"
#include "utils/operf/operf_progress.h"
#include "utils/operf/operf_run.h"
#include "utils/operf/operf_signals.h"

/* ---- what is profiled ---------------------------------------------------- */

static int explain_target(struct operf *operf, pid_t pid, int err)
{
	if (err == -ESRCH)
		return op_diag_set(&operf->diag, err,
				   "process %d: no such process; ps lists them",
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
	const struct operf_options *options = &operf->options;
	pid_t command = operf->command.pid;
	size_t nr = options->nr_pids + (command != 0);
	int fd;

	operf->target_fds = calloc(nr, sizeof(operf->target_fds[0]));
	if (nr && !operf->target_fds)
		return op_out_of_memory(&operf->diag);
	for (size_t i = 0; i < options->nr_pids; i++) {
		fd = op_process_open(options->pids[i]);
		if (fd < 0)
			return explain_target(operf, options->pids[i], fd);
		/* With a command it is that which ends the run. */
		if (command)
			close(fd);
		else
			operf->target_fds[operf->nr_targets++] = fd;
	}
	if (!command)
		return 0;
	fd = op_process_open(command);
	if (fd < 0)
		return explain_target(operf, command, fd);
	operf->target_fds[operf->nr_targets++] = fd;
	return 0;
}

void operf_target_close(struct operf *operf)
{
	while (operf->nr_targets)
		close(operf->target_fds[--operf->nr_targets]);
	free(operf->target_fds);
	operf->target_fds = NULL;
}

/* ---- waiting ------------------------------------------------------------- */

/* Returns whether to end. */
static bool handle_operf_signal(struct operf *operf)
{
	int sig = operf_signal_read(operf);

	if (!sig)
		return false;
	if (!operf->command.pid)
		return true;
	/* The command gets the signals of the terminal's keys by itself. */
	if (sig == SIGTERM || sig == SIGHUP)
		kill(operf->command.pid, sig);
	return false;
}

/* The daemon has ended by itself: say so. */
static enum operf_end handle_daemon_end(struct operf *operf)
{
	const char *rest = operf->command.pid ? "; the command "
						"continues, unprofiled"
					      : "";
	struct op_diag why = { "" };

	if (operf_daemon_reap(operf, &why)) {
		operf_note("%s; sampling has stopped%s", why.text, rest);
		return OPERF_DAEMON_DIED;
	}
	operf_note("oprofiled: the daemon was asked to end; sampling "
		   "has stopped%s",
		   rest);
	return OPERF_DAEMON_ENDED;
}

static enum operf_end wait_for_end(struct operf *operf,
				   struct operf_progress *progress,
				   uint64_t start)
{
	enum operf_end end = OPERF_ENDED;
	uint64_t duration = operf->options.duration_ms;
	size_t target = 0; /* the first that has not ended */

	for (;;) {
		struct pollfd p[] = {
			{ .fd = -1, .events = POLLIN },
			{ .fd = operf->signal_fd, .events = POLLIN },
			{ .fd = operf->child.pidfd, .events = POLLIN },
		};
		uint64_t now = op_clock_ms(), wake = 0, ms = 0;

		/* Without a daemon only the command is waited for. */
		if (operf->child.daemon.pid) {
			wake = operf_progress_next(progress);
			if (duration && (!wake || start + duration < wake))
				wake = start + duration;
		}
		if (wake > now)
			ms = wake - now > INT_MAX ? INT_MAX : wake - now;
		if (target < operf->nr_targets)
			p[0].fd = operf->target_fds[target];
		if (poll(p, sizeof(p) / sizeof(p[0]), wake ? (int)ms : -1) < 0)
			continue; /* EINTR: it was stopped for a while */
		if (p[0].revents && ++target == operf->nr_targets)
			return end;
		if (p[1].revents && handle_operf_signal(operf))
			return OPERF_SIGNALLED;
		if (p[2].revents) {
			operf_progress_end(progress);
			end = handle_daemon_end(operf);
			if (!operf->command.pid)
				return end;
		} else if (wake && duration &&
			   op_clock_ms() >= start + duration) {
			return OPERF_TIMED_OUT;
		} else if (wake) {
			operf_progress_show(progress, op_clock_ms());
		}
	}
}

/* The CPU time of each process of --pid so far, clock ticks; NULL if memory is
 * short, which costs a warning at most. */
static uint64_t *read_ticks(const struct operf_options *options)
{
	uint64_t *ticks = calloc(options->nr_pids + 1, sizeof(*ticks));

	for (size_t i = 0; ticks && i < options->nr_pids; i++)
		ticks[i] = op_process_activity(options->pids[i]).ticks;
	return ticks;
}

static double seconds_since(const struct operf_options *options,
			    const uint64_t *before)
{
	uint64_t *now = read_ticks(options), sum = 0;

	for (size_t i = 0; now && before && i < options->nr_pids; i++)
		sum += now[i] > before[i] ? now[i] - before[i] : 0;
	free(now);
	return (double)sum / (double)sysconf(_SC_CLK_TCK);
}

enum operf_end operf_wait(struct operf *operf)
{
	uint64_t start = op_clock_ms(), *ticks = read_ticks(&operf->options);
	struct operf_progress progress;
	enum operf_end end;

	operf_progress_begin(&progress, operf, start);
	end = wait_for_end(operf, &progress, start);
	operf_progress_end(&progress);
	operf->pids_used = seconds_since(&operf->options, ticks);
	/* A command that outlives the sampling is waited for once more. */
	if (!operf->wall_ns)
		operf->wall_ns = (op_clock_ms() - start) * 1000000;
	free(ticks);
	return end;
}
