// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding, running and ending other programs.
 *
 * A program is run by posix_spawn(3) with a list of arguments and never by a
 * shell, so nothing in a file name or a setting is expanded. A process that is
 * to be ended is addressed by a pidfd: once a process has ended its number may
 * be given to another one, but its handle is not.
 */

#include "libop/files/op_process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* No process withstands SIGKILL, but ending takes its time. */
#define KILLED_MS 60000

static bool is_executable_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

int op_process_find(char *buf, size_t len, const char *name,
		    const char *folders)
{
	while (folders && *folders) {
		size_t n = strcspn(folders, ":");

		if (folders[0] == '/' && n < PATH_MAX &&
		    snprintf(buf, len, "%.*s/%s", (int)n, folders, name) <
			    (int)len &&
		    is_executable_file(buf))
			return 0;
		folders += n + (folders[n] == ':');
	}
	return -ENOENT;
}

int op_process_environment(const char **value, const char *name,
			   struct op_diag *diag)
{
	*value = getenv(name);
	if (!*value || !**value) {
		*value = NULL;
		return 0;
	}
	if (geteuid() == getuid() && getegid() == getgid())
		return 0;
	return op_diag_set(diag, -EPERM,
			   "%s: ignored in a program with more rights than its "
			   "caller; unset it",
			   name);
}

int op_process_own_folder(char *buf, size_t len, struct op_diag *diag)
{
	ssize_t n = readlink("/proc/self/exe", buf, len - 1);
	char *slash;

	if (n < 0)
		return op_diag_set(diag, -errno,
				   "/proc/self/exe: %s; is /proc mounted?",
				   strerror(errno));
	buf[n] = '\0';
	slash = strrchr(buf, '/');
	if (slash)
		*slash = '\0';
	return 0;
}

int op_process_find_own(char *buf, size_t len, const char *name,
			const char *folder, struct op_diag *diag)
{
	int n = snprintf(buf, len, "%s/%s", folder, name);

	if (n > 0 && (size_t)n < len && !access(buf, X_OK))
		return 0;
	if (!op_process_find(buf, len, name, getenv("PATH")))
		return 0;
	return op_diag_set(diag, -ENOENT,
			   "%s: no such program in %s or on PATH; build it "
			   "with make, or reinstall oprofile",
			   name, folder);
}

void op_process_args_add(struct op_process_args *args, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (args->nr == OP_PROCESS_MAX_ARGS ||
	    vasprintf(&args->argv[args->nr], fmt, ap) < 0)
		args->failed = true;
	else
		args->nr++;
	va_end(ap);
	args->argv[args->nr] = NULL;
}

void op_process_args_release(struct op_process_args *args)
{
	for (int i = 0; i < args->nr; i++)
		free(args->argv[i]);
	memset(args, 0, sizeof(*args));
}

static int wait_for_status(pid_t pid, const char *path, struct op_diag *diag)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return op_diag_set(diag, -errno, "%s: %s", path,
					   strerror(errno));
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return op_diag_set(diag, -EINTR,
			   "%s: ended by signal %d (%s); try again or see the "
			   "system's log",
			   path, WTERMSIG(status), strsignal(WTERMSIG(status)));
}

/* Read @fd to its end; what does not fit @text is thrown away, so that the
 * writer is never blocked. */
static void read_to_end(int fd, char *text, size_t len)
{
	size_t used = 0;
	char buf[512];

	for (;;) {
		ssize_t got = read(fd, buf, sizeof(buf));
		size_t n = (size_t)got;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		if (n > len - 1 - used)
			n = len - 1 - used;
		memcpy(text + used, buf, n);
		used += n;
	}
	text[used] = '\0';
}

static int spawn_program(pid_t *pid, const char *path, char *const argv[],
			 char *const envp[], int error_fd, struct op_diag *diag)
{
	posix_spawn_file_actions_t actions;
	int err = posix_spawn_file_actions_init(&actions);

	if (err)
		return op_diag_set(diag, -err, "%s: %s", path, strerror(err));
	if (error_fd >= 0)
		err = posix_spawn_file_actions_adddup2(&actions, error_fd,
						       STDERR_FILENO);
	if (!err)
		err = posix_spawn(pid, path, &actions, NULL, argv, envp);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		op_diag_set(diag, -err, "%s: cannot run it: %s", path,
			    strerror(err));
	return -err;
}

int op_process_run(const char *path, char *const argv[], char *const envp[],
		   char *text, size_t len, struct op_diag *diag)
{
	int ends[2] = { -1, -1 };
	pid_t pid;
	int err;

	if (text && pipe2(ends, O_CLOEXEC))
		return op_diag_set(
			diag, -errno,
			"%s: cannot make a pipe: %s; raise ulimit -n", path,
			strerror(errno));
	err = spawn_program(&pid, path, argv, envp, ends[1], diag);
	if (text)
		close(ends[1]);
	if (text && !err)
		read_to_end(ends[0], text, len);
	if (text)
		close(ends[0]);
	return err ? err : wait_for_status(pid, path, diag);
}

/* Copy the line "PID (NAME) STATE ..." of process @pid to @line, and cut it
 * before the ")": a name may hold anything. Returns what is behind that, NULL
 * if there is no such process. */
static char *read_process(pid_t pid, char line[512])
{
	char path[64], *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	if (!fgets(line, 512, file))
		line[0] = '\0';
	fclose(file);
	end = strrchr(line, ')');
	if (!end || end[1] != ' ')
		return NULL;
	*end = '\0';
	return end + 2;
}

bool op_process_is(pid_t pid, const char *name)
{
	char line[512], *state = read_process(pid, line), *start;

	start = state ? strchr(line, '(') : NULL;
	/* A zombie has ended; nobody but its parent can remove it. */
	return start && !strcmp(start + 1, name) && !strchr("ZX", *state);
}

struct op_process_activity op_process_activity(pid_t pid)
{
	struct op_process_activity activity = { .state = '\0' };
	uint64_t user, kernel;
	char line[512], *state = read_process(pid, line);

	if (state &&
	    sscanf(state,
		   "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64
		   " %" SCNu64,
		   &user, &kernel) == 2) {
		activity.state = *state;
		activity.ticks = user + kernel;
	}
	return activity;
}

int op_process_open(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

int op_process_wait(int pidfd, int ms)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int n;

	do {
		n = poll(&p, 1, ms);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n ? 0 : -ETIMEDOUT;
}

int op_process_signal(int pidfd, int signal)
{
	if (syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0) &&
	    errno != ESRCH)
		return -errno;
	return 0;
}

int op_process_end(int pidfd, int grace_ms)
{
	int err = op_process_signal(pidfd, SIGTERM);

	if (!err)
		err = op_process_wait(pidfd, grace_ms);
	if (err != -ETIMEDOUT)
		return err;
	err = op_process_signal(pidfd, SIGKILL);
	return err ? err : op_process_wait(pidfd, KILLED_MS);
}
