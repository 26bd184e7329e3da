// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding, running and ending other programs. */

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "libop/files/op_process.h"

TEST(finds_programs_by_absolute_path_only)
{
	char path[PATH_MAX];

	assert_int_equal(op_process_find(path, sizeof(path), "sh",
					 "::.:bin:/no/such:/bin:/usr/bin"),
			 0);
	assert_string_equal(path, "/bin/sh");
	assert_int_equal(chdir("/bin"), 0);
	assert_int_equal(op_process_find(path, sizeof(path), "sh", ":.::./:"),
			 -ENOENT);
	assert_int_equal(op_process_find(path, sizeof(path), "sh", NULL),
			 -ENOENT);
	assert_int_equal(op_process_find(path, sizeof(path), "..", "/bin"),
			 -ENOENT);
	assert_int_equal(op_process_find(path, 7, "sh", "/bin"), -ENOENT);
	assert_int_equal(op_process_find(path, 8, "sh", "/bin"), 0);
}

static int run_shell(const char *script, char *text, size_t len,
		     struct op_diag *diag)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };
	char *envp[] = { "PATH=/usr/bin:/bin", NULL };

	diag->text[0] = '\0';
	return op_process_run("/bin/sh", argv, envp, text, len, diag);
}

TEST(runs_programs)
{
	struct op_diag diag;
	char text[8];

	assert_int_equal(run_shell("exit 0", NULL, 0, &diag), 0);
	assert_int_equal(run_shell("exit 7", NULL, 0, &diag), 7);
	assert_string_equal(diag.text, "");
	assert_int_equal(run_shell("echo yes >&2; exit 1", text, sizeof(text),
				   &diag),
			 1);
	assert_string_equal(text, "yes\n");
	/* More than a pipe holds does not block. */
	assert_int_equal(run_shell("head -c 300000 /dev/zero | tr '\\0' x >&2",
				   text, sizeof(text), &diag),
			 0);
	assert_string_equal(text, "xxxxxxx");
	assert_int_equal(run_shell("kill -KILL $$", NULL, 0, &diag), -EINTR);
	assert_non_null(strstr(diag.text, "signal 9"));
}

TEST(tells_what_cannot_be_run)
{
	char *argv[] = { "x", NULL };
	struct op_diag diag = { "" };

	assert_int_equal(op_process_run("/no/such", argv, argv, NULL, 0, &diag),
			 -ENOENT);
	assert_non_null(strstr(diag.text, "/no/such: cannot run it: No such"));
}

TEST(knows_processes_by_name)
{
	char name[17] = "";
	pid_t pid;

	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	assert_int_equal(prctl(PR_SET_NAME, "a) Z (b"), 0);
	assert_true(op_process_is(getpid(), "a) Z (b"));
	assert_false(op_process_is(getpid(), "a"));
	assert_int_equal(prctl(PR_SET_NAME, name), 0);
	assert_true(op_process_is(getpid(), name));

	pid = fork();
	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, pid, NULL, WEXITED | WNOWAIT), 0);
	assert_false(op_process_is(pid, name)); /* a zombie */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_false(op_process_is(pid, name));
}

/* A child that waits; with @stubborn SIGTERM does not end it. */
static pid_t child(bool stubborn)
{
	int ends[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		signal(SIGTERM, stubborn ? SIG_IGN : SIG_DFL);
		if (write(ends[1], "", 1) == 1)
			for (;;)
				pause();
		_exit(0);
	}
	assert_int_equal(read(ends[0], &c, 1), 1);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

static void ends_by(bool stubborn, int signal_wanted)
{
	pid_t pid = child(stubborn);
	int status, fd = op_process_open(pid);

	assert_true(fd >= 0);
	assert_int_equal(op_process_wait(fd, 0), -ETIMEDOUT);
	assert_int_equal(op_process_end(fd, stubborn ? 0 : 60000), 0);
	assert_int_equal(op_process_wait(fd, 0), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), signal_wanted);
	/* By now the pid may be anyone's, but the handle is not. */
	assert_int_equal(op_process_end(fd, 0), 0);
	close(fd);
	assert_int_equal(op_process_open(pid), -ESRCH);
}

TEST(ends_processes)
{
	ends_by(false, SIGTERM);
	ends_by(true, SIGKILL);
}
