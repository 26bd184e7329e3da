// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The signals of a run.
 *
 * All are blocked and read from a descriptor, so that poll(2) can wait for them
 * with other events. Ctrl-C while the daemon ends has a handler, as nothing
 * polls then.
 */

#include "utils/operf/operf_signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "libop/files/op_process.h"
#include "utils/operf/operf_run.h"

static bool is_signal_ignored(int sig)
{
	struct sigaction action;

	return !sigaction(sig, NULL, &action) && action.sa_handler == SIG_IGN;
}

/*
 * A shell ignores SIGINT for what it runs in the background; without a command
 * it is how to end us all the same.
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
	/* nohup ignores it; blocked, an ignored signal is read all the same. */
	if (!is_signal_ignored(SIGHUP))
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

int operf_signal_read(const struct operf *operf)
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
	int sig = operf_signal_read(operf);

	if (!sig)
		return 0;
	operf->interrupted = sig;
	return op_diag_set(&operf->diag, -EINTR,
			   "ended by signal %d (%s) before sampling began; "
			   "nothing was changed",
			   sig, strsignal(sig));
}

/* ---- signals while the daemon ends ----------------------------------------
 */

static struct {
	int pidfd; /* the daemon's */
	bool is_warned;
} hurry;

static void block_interrupts(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(how, &set, NULL);
}

static void handle_hurry(int sig)
{
	static const char warning[] =
		"operf: the daemon still writes samples; Ctrl-C once more "
		"kills it, and those that it has not written are lost\n";
	int saved = errno;

	(void)sig;
	if (hurry.is_warned)
		op_process_signal(hurry.pidfd, SIGKILL);
	else
		hurry.is_warned =
			write(STDERR_FILENO, warning, sizeof(warning) - 1) > 0;
	errno = saved;
}

void operf_hurry_begin(struct operf *operf)
{
	struct sigaction action = { .sa_handler = handle_hurry,
				    .sa_flags = SA_RESTART };

	/* These were for the end of sampling. */
	while (operf_signal_read(operf))
		;
	if (is_signal_ignored(SIGINT))
		return;
	hurry.pidfd = operf->child.pidfd;
	hurry.is_warned = false;
	sigaction(SIGINT, &action, NULL);
	block_interrupts(SIG_UNBLOCK);
}

void operf_hurry_end(void)
{
	block_interrupts(SIG_BLOCK);
}
