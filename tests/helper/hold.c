// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hold PID: a process that does nothing and does not end by itself, but with
 * process PID: the script that started it, so that nothing stays behind.
 *
 * hold --stopped PID: the same process is stopped (SIGSTOP). It is a child of
 * this one, which prints its pid as soon as it has stopped.
 */

#include <err.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void hold(const char *pid)
{
	struct pollfd p = { .events = POLLIN };

	p.fd = (int)syscall(SYS_pidfd_open, atoi(pid), 0);
	/* It may have ended before this process had its turn. */
	if (p.fd < 0 && (errno == ESRCH || errno == EINVAL))
		return;
	if (p.fd < 0)
		err(2, "process %s", pid);
	while (poll(&p, 1, -1) <= 0)
		;
}

static void stop_a_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		err(2, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		errx(2, "it does not stop");
	printf("%d\n", (int)pid);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--stopped"))
		stop_a_child();
	else if (argc != 2)
		errx(2, "usage: hold [--stopped] PID");
	hold(argv[argc - 1]);
	return 0;
}
