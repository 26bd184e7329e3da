// SPDX-License-Identifier: GPL-2.0-or-later

#include "utils/operf/operf_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libop/op_config.h"
#include "libop/op_control.h"
#include "utils/process.h"
#include "utils/operf/operf.h"
#include "utils/operf/operf_wait.h"

#define DAEMON "oprofiled"
#define PACKING "packing = " /* bytes, which it says at its end */

/* Milliseconds. What is asked for may have to wait for the disk. */
#define DYING_MS 15000
#define REQUEST_MS 120000
#define END_MS 60000

void operf_daemon_init(struct operf_daemon *daemon)
{
	memset(daemon, 0, sizeof(*daemon));
	daemon->pidfd = daemon->error_fd = -1;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* ---- its end ------------------------------------------------------------- */

static void wait_for(struct operf_daemon *daemon)
{
	pid_t pid;

	do {
		pid = waitpid(daemon->pid, &daemon->status, 0);
	} while (pid < 0 && errno == EINTR);
	daemon->pid = 0;
	close_fd(&daemon->pidfd);
}

/*
 * What it has written to stderr: one line becomes @line without its name, all
 * else goes to ours.
 */
static void take_last_words(const struct operf_daemon *daemon, char *line,
			    size_t len)
{
	const char name[] = DAEMON ": ";
	char text[OP_DIAG_MAX];
	ssize_t n = pread(daemon->error_fd, text, sizeof(text) - 1, 0);
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
		n = pread(daemon->error_fd, text, sizeof(text), at);
		if (n > 0)
			fwrite(text, 1, (size_t)n, stderr);
	}
}

/* Why it has ended: its own words if it had some. @hint: what to do. */
static int explain_end(const struct operf_daemon *daemon, const char *hint,
		       struct op_diag *diag)
{
	char line[OP_DIAG_MAX];

	take_last_words(daemon, line, sizeof(line));
	if (WIFSIGNALED(daemon->status))
		return op_diag_set(diag, -EIO,
				   DAEMON ": the daemon was ended by signal %d "
					  "(%s)%s",
				   WTERMSIG(daemon->status),
				   strsignal(WTERMSIG(daemon->status)), hint);
	if (!WEXITSTATUS(daemon->status))
		return 0;
	if (*line)
		return op_diag_set(diag, -EIO, DAEMON ": %s", line);
	return op_diag_set(diag, -EIO,
			   DAEMON ": the daemon ended with status %d%s",
			   WEXITSTATUS(daemon->status), hint);
}

int operf_daemon_reap(struct operf *operf, struct op_diag *diag)
{
	char hint[sizeof(operf->session.log) + 16];

	wait_for(&operf->daemon);
	snprintf(hint, sizeof(hint), "; see %s", operf->session.log);
	return explain_end(&operf->daemon, hint, diag);
}

void operf_daemon_release(struct operf_daemon *daemon)
{
	if (daemon->pid && daemon->pidfd < 0)
		kill(daemon->pid, SIGTERM);
	else if (daemon->pid)
		process_end(daemon->pidfd, END_MS);
	if (daemon->pid)
		wait_for(daemon);
	close_fd(&daemon->error_fd);
}

/* ---- its command line ---------------------------------------------------- */

static void add_source(struct process_args *args, const struct operf *operf)
{
	const struct operf_options *options = &operf->options;
	char target[64] = "", rate[64] = "", depth[64] = "";
	const char *between = ":";

	if (operf->command.pid)
		snprintf(target, sizeof(target), ":exec=%d",
			 operf->command.pid);
	else if (options->pid)
		snprintf(target, sizeof(target), ":pid=%d", options->pid);
	if (*target)
		between = ",";
	if (options->rate)
		snprintf(rate, sizeof(rate), "%srate=%" PRIu64, between,
			 options->rate);
	if (*rate)
		between = ",";
	if (options->depth)
		snprintf(depth, sizeof(depth), "%scallgraph=%" PRIu64, between,
			 options->depth);
	process_args_add(args, "--source=perf%s%s%s", target, rate, depth);
}

static void add_args(struct process_args *args, const struct operf *operf,
		     int ready_fd)
{
	const struct operf_options *options = &operf->options;

	process_args_add(args, DAEMON);
	process_args_add(args, "--session-dir=%s", operf->session.dir);
	process_args_add(args, "--foreground");
	process_args_add(args, "--ready-fd=%d", ready_fd);
	add_source(args, operf);
	process_args_add(args, "--separate-lib=1");
	process_args_add(args, "--separate-kernel=1");
	if (options->separate_thread)
		process_args_add(args, "--separate-thread=1");
	if (options->separate_cpu)
		process_args_add(args, "--separate-cpu=1");
	if (operf->events.text)
		process_args_add(args, "--events=%s", operf->events.text);
	if (options->pack_at != OP_PACK_AT_DEFAULT)
		process_args_add(args, "--pack-at=%" PRIu64, options->pack_at);
	if (options->record)
		process_args_add(args, "--record=%s", options->record);
	if (options->vmlinux)
		process_args_add(args, "--vmlinux=%s", options->vmlinux);
	if (options->daemon_verbose && *options->daemon_verbose)
		process_args_add(args, "--verbose=%s", options->daemon_verbose);
}

static int find_program(struct operf *operf, char *path, size_t len)
{
	char folder[PATH_MAX] = "";
	int err = process_own_folder(folder, sizeof(folder), &operf->diag);

	return err ? err
		   : process_find_own(path, len, DAEMON, folder, &operf->diag);
}

/* ---- its start ----------------------------------------------------------- */

/* What the new process needs to become the daemon. */
struct birth {
	char path[PATH_MAX + 16];
	struct process_args args;
	pid_t parent;
	int ready_fd; /* it says here that it is ready */
	int error_fd; /* its stderr, -1: ours */
};

static void be_nobodys(void)
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

/* Nothing of ours but the pipe; the command's output may end before us. */
static void set_files(const struct birth *birth)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	if (birth->error_fd >= 0)
		dup2(birth->error_fd, STDERR_FILENO);
	fcntl(birth->ready_fd, F_SETFD, 0);
}

__attribute__((noreturn)) static void be_daemon(const struct birth *birth)
{
	char why[OP_DIAG_MAX];
	ssize_t done;

	be_nobodys();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != birth->parent)
		_exit(EXIT_FAILURE);
	set_files(birth);
	execv(birth->path, birth->args.argv);
	snprintf(why, sizeof(why), "%.800s: cannot run it: %s", birth->path,
		 strerror(errno));
	do {
		done = write(birth->ready_fd, why, strlen(why) + 1);
	} while (done < 0 && errno == EINTR);
	_exit(EXIT_FAILURE);
}

/*
 * Read what the daemon says until a zero byte or the end. Returns 1 when it
 * has said something, 0 when it has not, -EINTR when a signal came.
 */
static int read_ready(struct operf *operf, int fd, char *text, size_t len)
{
	struct pollfd p[] = { { .fd = fd, .events = POLLIN },
			      { .fd = operf->signal_fd, .events = POLLIN } };
	size_t used = 0;

	while (used < len) {
		ssize_t n;

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (p[1].revents)
			return operf_signal_interrupts(operf);
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

static int wait_until_ready(struct operf *operf, int fd)
{
	struct operf_daemon *daemon = &operf->daemon;
	char text[OP_DIAG_MAX + 1] = "";
	int state = read_ready(operf, fd, text, sizeof(text));

	if (state < 0)
		return op_diag_set(&operf->diag, state,
				   DAEMON ": cannot wait for it: %s",
				   strerror(-state));
	if (state && !*text)
		return 0;
	if (state)
		op_diag_set(&operf->diag, -EIO, "%s", text);
	/* It is about to end, which needs no signal. */
	if (process_wait(daemon->pidfd, DYING_MS))
		process_end(daemon->pidfd, END_MS);
	wait_for(daemon);
	if (!state)
		explain_end(daemon, " while it started; try again",
			    &operf->diag);
	return op_diag_set(&operf->diag, -EIO,
			   DAEMON ": the daemon ended while it started; use "
				  "daemon and operf of one version");
}

static int spawn(struct operf *operf, struct birth *birth)
{
	struct operf_daemon *daemon = &operf->daemon;

	birth->parent = getpid();
	daemon->error_fd = memfd_create(DAEMON, MFD_CLOEXEC);
	birth->error_fd = daemon->error_fd;
	fflush(NULL);
	daemon->pid = fork();
	if (!daemon->pid)
		be_daemon(birth);
	if (daemon->pid < 0) {
		daemon->pid = 0;
		return op_diag_set(
			&operf->diag, -errno,
			DAEMON
			": cannot make a process: %s; end some, or raise ulimit -u",
			strerror(errno));
	}
	daemon->pidfd = process_open(daemon->pid);
	if (daemon->pidfd >= 0)
		return 0;
	return op_diag_set(&operf->diag, daemon->pidfd,
			   DAEMON ": cannot watch pid %d: %s%s", daemon->pid,
			   strerror(-daemon->pidfd),
			   daemon->pidfd == -EMFILE ? "; raise ulimit -n" : "");
}

static int start(struct operf *operf, struct birth *birth)
{
	int ready[2];
	int err;

	if (pipe2(ready, O_CLOEXEC))
		return op_diag_set(&operf->diag, -errno,
				   "cannot make a pipe: %s; raise ulimit -n",
				   strerror(errno));
	birth->ready_fd = ready[1];
	add_args(&birth->args, operf, ready[1]);
	operf_say(operf, "start %s", birth->path);
	for (int i = 1; i < birth->args.nr; i++)
		operf_say(operf, "    %s", birth->args.argv[i]);
	if (birth->args.failed)
		err = op_diag_set(&operf->diag, -ENOMEM, "out of memory");
	else
		err = spawn(operf, birth);
	close(ready[1]);
	if (!err)
		err = wait_until_ready(operf, ready[0]);
	close(ready[0]);
	process_args_release(&birth->args);
	return err;
}

int operf_daemon_start(struct operf *operf)
{
	struct birth birth = { .args.nr = 0 };
	int err = find_program(operf, birth.path, sizeof(birth.path));

	return err ? err : start(operf, &birth);
}

/* ---- requests ------------------------------------------------------------ */

static void say_call(const struct operf *operf, const char *request)
{
	operf_say(operf, "ask the daemon, pid %d: %s", operf->daemon.pid,
		  request);
}

static int call(struct operf *operf, const char *request, struct op_diag *why)
{
	say_call(operf, request);
	return op_control_call(operf->session.socket, request, NULL, 0,
			       REQUEST_MS, why);
}

int operf_daemon_call(struct operf *operf, const char *request)
{
	struct operf_daemon *daemon = &operf->daemon;
	struct op_diag why = { "" };
	int err = call(operf, request, &why);

	if (!err)
		return 0;
	if (err == -EREMOTEIO)
		return op_diag_set(&operf->diag, err, "%s", why.text);
	if (!process_wait(daemon->pidfd, DYING_MS)) {
		wait_for(daemon);
		explain_end(daemon, " while it started; try again",
			    &operf->diag);
	}
	return op_diag_set(&operf->diag, err, DAEMON ": %s", why.text);
}

/* Seconds may pass. Who sees them pass is told of it, once. */
static void hear(void *data, const char *line)
{
	bool *told = data;
	uint64_t bytes;

	if (*told || strncmp(line, PACKING, strlen(PACKING)) ||
	    op_parse_u64(line + strlen(PACKING), &bytes))
		return;
	operf_note("packing %" PRIu64 " MiB of sample files", bytes >> 20);
	*told = true;
}

static int ask_to_end(struct operf *operf, struct op_diag *why)
{
	bool told = !isatty(STDERR_FILENO);

	say_call(operf, "shutdown");
	return op_control_follow(operf->session.socket, "shutdown", hear, &told,
				 REQUEST_MS, why);
}

int operf_daemon_stop(struct operf *operf)
{
	struct operf_daemon *daemon = &operf->daemon;
	struct op_diag why = { "" };
	int err = ask_to_end(operf, &why);

	/* It may be gone before its answer has been read. */
	if (!err || err == -EPROTO || err == -ECONNREFUSED)
		err = process_wait(daemon->pidfd, END_MS);
	/* Its last act was to remove the socket, or somebody else has. */
	else if (err == -ENOENT)
		err = process_end(daemon->pidfd, END_MS);
	if (err == -EREMOTEIO)
		op_diag_set(&operf->diag, err, DAEMON ": %s", why.text);
	else if (err)
		op_diag_set(&operf->diag, err,
			    DAEMON ": the daemon, pid %d, did not end when "
				   "asked to and was ended by a signal; see %s",
			    daemon->pid, operf->session.log);
	if (err)
		process_end(daemon->pidfd, END_MS);
	return operf_daemon_reap(operf, &operf->diag) ? -EIO : err;
}
