// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starting the daemon as a child and waiting until it is ready.
 *
 * The child gets a pipe and writes a zero byte to it once its sources are
 * open and its socket listens; text before the zero byte is why it could not
 * start. The end of the pipe without a zero byte is its death. What the child
 * writes to stderr goes to a file in memory, as the command's output may share
 * our stderr: one line there becomes part of the reason that main prints, and
 * longer text is passed on as it is.
 */

#include "utils/daemon_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Milliseconds. */
#define DYING_MS 15000
#define END_MS 60000

#define WHILE_IT_STARTED " while it started; try again"

void daemon_child_init(struct daemon_child *child)
{
	memset(child, 0, sizeof(*child));
	child->pidfd = child->error_fd = -1;
	child->ready[0] = child->ready[1] = -1;
}

static void daemon_child_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- its end ------------------------------------------------------------- */

void daemon_child_wait(struct daemon_child *child)
{
	pid_t pid;

	do {
		pid = waitpid(child->daemon.pid, &child->status, 0);
	} while (pid < 0 && errno == EINTR);
	child->daemon.pid = 0;
	daemon_child_close(&child->pidfd);
}

/*
 * Read the daemon's stderr: the last line, without the daemon's name, becomes
 * @line; all else goes to our stderr.
 */
static void read_last_words(const struct daemon_child *child, char *line,
			    size_t len)
{
	const char name[] = DAEMON_NAME ": ";
	char text[OP_DIAG_MAX];
	ssize_t n = pread(child->error_fd, text, sizeof(text) - 1, 0);
	const char *start = text;

	text[n > 0 ? n : 0] = '\0';
	*line = '\0';
	if (!strncmp(start, name, strlen(name)))
		start += strlen(name);
	if (strcspn(text, "\n") + 1 >= strlen(text)) {
		snprintf(line, len, "%.*s", (int)strcspn(start, "\n"), start);
		return;
	}
	for (off_t at = 0; n > 0; at += n) {
		n = pread(child->error_fd, text, sizeof(text), at);
		if (n > 0)
			fwrite(text, 1, (size_t)n, stderr);
	}
}

int daemon_child_explain(const struct daemon_child *child, const char *hint,
			 struct op_diag *diag)
{
	char line[OP_DIAG_MAX];

	read_last_words(child, line, sizeof(line));
	if (WIFSIGNALED(child->status))
		return op_diag_set(diag, -EIO,
				   DAEMON_NAME
				   ": the daemon was ended by signal %d (%s)%s",
				   WTERMSIG(child->status),
				   strsignal(WTERMSIG(child->status)), hint);
	if (!WEXITSTATUS(child->status))
		return 0;
	if (*line)
		return op_diag_set(diag, -EIO, DAEMON_NAME ": %s", line);
	return op_diag_set(diag, -EIO,
			   DAEMON_NAME ": the daemon ended with status %d%s",
			   WEXITSTATUS(child->status), hint);
}

int daemon_child_explain_call(struct daemon_child *child, int err,
			      const char *why, struct op_diag *diag)
{
	if (err == -EREMOTEIO)
		return op_diag_set(diag, err, "%s", why);
	if (!op_process_wait(child->pidfd, DYING_MS)) {
		daemon_child_wait(child);
		daemon_child_explain(child, WHILE_IT_STARTED, diag);
	}
	return op_diag_set(diag, err, DAEMON_NAME ": %s", why);
}

void daemon_child_release(struct daemon_child *child)
{
	if (child->daemon.pid && child->pidfd < 0)
		kill(child->daemon.pid, SIGTERM);
	else if (child->daemon.pid)
		op_process_end(child->pidfd, END_MS);
	if (child->daemon.pid)
		daemon_child_wait(child);
	daemon_child_close(&child->error_fd);
	daemon_child_close(&child->ready[0]);
	daemon_child_close(&child->ready[1]);
}

/* ---- its start ----------------------------------------------------------- */

static void leave_our_session(void)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT,
				       SIGPIPE };
	sigset_t none;

	setsid();
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* In the new process: nothing of ours but the pipe is left open. */
__attribute__((noreturn)) static void
become_daemon(const struct daemon_child *child, const char *path,
	      char *const argv[], pid_t parent)
{
	char why[OP_DIAG_MAX];
	ssize_t done;
	int null;

	leave_our_session();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	if (child->error_fd >= 0)
		dup2(child->error_fd, STDERR_FILENO);
	fcntl(child->ready[1], F_SETFD, 0);
	execv(path, argv);
	snprintf(why, sizeof(why), "%.800s: cannot run it: %s", path,
		 strerror(errno));
	do {
		done = write(child->ready[1], why, strlen(why) + 1);
	} while (done < 0 && errno == EINTR);
	_exit(EXIT_FAILURE);
}

static int fork_daemon(struct daemon_child *child, const char *path,
		       char *const argv[], struct op_diag *diag)
{
	pid_t parent = getpid(), pid;

	child->error_fd = memfd_create(DAEMON_NAME, MFD_CLOEXEC);
	fflush(NULL);
	pid = fork();
	if (!pid)
		become_daemon(child, path, argv, parent);
	if (pid < 0)
		return op_diag_set(diag, -errno,
				   DAEMON_NAME ": cannot make a process: %s; "
					       "end some, or raise ulimit -u",
				   strerror(errno));
	child->daemon.pid = pid;
	child->pidfd = op_process_open(pid);
	if (child->pidfd >= 0)
		return 0;
	return op_diag_set(diag, child->pidfd,
			   DAEMON_NAME ": cannot watch pid %d: %s%s", pid,
			   strerror(-child->pidfd),
			   child->pidfd == -EMFILE ? "; raise ulimit -n" : "");
}

/*
 * Read what the daemon says until a zero byte or the end. Returns 1 when it
 * has said something, 0 when it has not, -EINTR when a signal came.
 */
static int read_ready_text(int fd, int signal_fd, char *text, size_t len)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN },
			      { .fd = signal_fd, .events = POLLIN } };
	size_t used = 0;

	while (used < len) {
		ssize_t n;

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (p[1].revents)
			return -EINTR;
		if (!p[0].revents)
			continue;
		n = read(fd, text + used, len - used);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			return 0;
		used += n > 0 ? (size_t)n : 0;
		if (memchr(text, '\0', used))
			return 1;
	}
	text[len - 1] = '\0';
	return 1;
}

static int wait_until_ready(struct daemon_child *child, int signal_fd,
			    struct op_diag *diag)
{
	char text[OP_DIAG_MAX + 1] = "";
	int state =
		read_ready_text(child->ready[0], signal_fd, text, sizeof(text));

	if (state == -EINTR)
		return state;
	if (state < 0)
		return op_diag_set(diag, state,
				   DAEMON_NAME ": cannot wait for it: %s",
				   strerror(-state));
	if (state && !*text)
		return 0;
	if (state)
		op_diag_set(diag, -EIO, "%s", text);
	/* The daemon is about to end, which needs no signal. */
	if (op_process_wait(child->pidfd, DYING_MS))
		op_process_end(child->pidfd, END_MS);
	daemon_child_wait(child);
	if (!state)
		daemon_child_explain(child, WHILE_IT_STARTED, diag);
	return op_diag_set(diag, -EIO,
			   DAEMON_NAME
			   ": the daemon ended while it started; use "
			   "daemon and operf of one version");
}

int daemon_child_begin(struct daemon_child *child, struct op_process_args *args,
		       struct op_diag *diag)
{
	if (pipe2(child->ready, O_CLOEXEC))
		return op_diag_set(diag, -errno,
				   "cannot make a pipe: %s; raise ulimit -n",
				   strerror(errno));
	op_process_args_add(args, DAEMON_NAME);
	op_process_args_add(args, "--session-dir=%s",
			    child->daemon.session->dir);
	op_process_args_add(args, "--foreground");
	op_process_args_add(args, "--ready-fd=%d", child->ready[1]);
	return 0;
}

int daemon_child_start(struct daemon_child *child, const char *path,
		       const struct op_process_args *args, int signal_fd,
		       struct op_diag *diag)
{
	int err = daemon_say_start(&child->daemon, path, args, diag);

	if (!err)
		err = fork_daemon(child, path, args->argv, diag);
	/* Its end of the pipe tells of its death only if ours is closed. */
	daemon_child_close(&child->ready[1]);
	if (!err)
		err = wait_until_ready(child, signal_fd, diag);
	daemon_child_close(&child->ready[0]);
	child->daemon.answers = !err;
	return err;
}
