/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_KILL_AT_H
#define TESTS_UNIT_KILL_AT_H

/*
 * A process is killed on its way, at a system call and not at a time: what is
 * done to files is done by these. Its parent holds it by ptrace(2).
 */

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"

/* Wait until @pid stands still. False when it is about to end by itself. */
static bool kill_at_stops(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	return status >> 8 != (SIGTRAP | PTRACE_EVENT_EXIT << 8);
}

/* Kill @pid, which may stand still once more then. */
static void kill_at_kill(pid_t pid)
{
	siginfo_t info = { 0 };

	assert_int_equal(kill(pid, SIGKILL), 0);
	while (!waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOWAIT) &&
	       (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED))
		ptrace(PTRACE_CONT, pid, NULL, NULL);
}

/*
 * Let child @pid do @nr system calls from now on, then kill it. Returns how
 * many it has done: fewer if it ended before, by itself. Either way it is for
 * the caller to wait for its end. @gate is closed once it is held: a pipe whose
 * end it waits for, or -1. Without leave to use ptrace the test is skipped, and
 * @pid killed.
 */
__attribute__((unused)) static unsigned long kill_at(pid_t pid, int gate,
						     unsigned long nr)
{
	unsigned long done = 0;

	if (ptrace(PTRACE_SEIZE, pid, NULL,
		   (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXIT))) {
		assert_true(errno == EPERM || errno == ESRCH);
		if (errno == ESRCH)
			return 0;
		kill_at_kill(pid);
		skip();
	}
	assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
	if (gate >= 0)
		close(gate);
	while (kill_at_stops(pid)) {
		/* Each call stops twice. */
		if (done++ == 2 * nr) {
			kill_at_kill(pid);
			return nr;
		}
		assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), 0);
	}
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return done / 2;
}

#endif /* TESTS_UNIT_KILL_AT_H */
