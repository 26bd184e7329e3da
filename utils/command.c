// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running the command that is profiled or counted.
 *
 * The command's process is made before profiling begins and waits at a pipe.
 * So its pid is known to those who set up events, everything can be undone
 * while nothing of the command has run, and no instruction of the command is
 * missed. Our end of the pipe closed without a byte makes the process exit;
 * its errno comes back through a second pipe, which a successful exec closes.
 * Programs are looked for as a shell and execvp(3) do.
 */

#include "utils/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libop/options/op_perf_habits.h"

#define DEFAULT_PATH "/bin:/usr/bin" /* as execvp(3) has it */
#define HEAD 512 /* bytes that tell text from a binary */

void command_init(struct command *command, char **argv)
{
	memset(command, 0, sizeof(*command));
	command->argv = argv;
	command->go_fd = command->error_fd = -1;
}

/* ---- finding ------------------------------------------------------------- */

/* 0 if @path can be executed as far as its file tells, or -errno. */
static int try_path(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return access(path, X_OK) ? -errno : 0;
}

/* Look for @name in the folders of @list; an empty one is the current one. */
static int search_path_list(struct command *command, const char *name,
			    const char *list)
{
	int found = -ENOENT;

	for (;;) {
		size_t len = strcspn(list, ":");
		int n = snprintf(command->path, sizeof(command->path),
				 "%.*s/%s", len ? (int)len : 1,
				 len ? list : ".", name);
		int err = n < (int)sizeof(command->path)
				  ? try_path(command->path)
				  : -ENAMETOOLONG;

		if (!err)
			return 0;
		/* A file that cannot be executed is the reason to report;
		 * folders that the user may not search are skipped. */
		if (err != -EISDIR && !access(command->path, F_OK))
			found = err;
		if (!list[len])
			return found;
		list += len + 1;
	}
}

/* Whether the file begins like text; what cannot be read may be anything. */
static bool begins_like_text(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char head[HEAD];
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, head, sizeof(head));
	close(fd);
	return len >= 0 && !memchr(head, '\0', (size_t)len);
}

static int explain_find(const char *name, int err, struct op_diag *diag)
{
	struct stat st;

	if (err && !stat(name, &st) && S_ISDIR(st.st_mode))
		return op_diag_set(diag, -EISDIR,
				   "%s: is a folder, not a program; give the "
				   "path of a program",
				   name);
	if (err == -ENOENT && strchr(name, ' '))
		return op_diag_set(diag, err,
				   "%s: no such program; give the program and "
				   "its arguments as separate words, without "
				   "quotes around them",
				   name);
	if (err == -ENOENT &&
	    op_perf_habit(diag, program_invocation_short_name, name, NULL))
		return err;
	if (err == -ENOENT && !strchr(name, '/'))
		return op_diag_set(diag, err,
				   "%s: no such program on PATH; check the "
				   "name, or give its path",
				   name);
	if (err == -ENOENT || err == -ENOTDIR)
		return op_diag_set(diag, -ENOENT,
				   "%s: no such program; check the path", name);
	if (err == -EACCES)
		return op_diag_set(diag, err,
				   "%s: may not be executed; try chmod +x if "
				   "it is a program",
				   name);
	return op_diag_set(diag, err, "%s: cannot be executed: %s", name,
			   strerror(-err));
}

int command_find(struct command *command, struct op_diag *diag)
{
	const char *name = command->argv[0];
	const char *list = getenv("PATH");
	int err = 0;

	if (!*name)
		err = -ENOENT;
	else if (!strchr(name, '/'))
		err = search_path_list(command, name,
				       list ? list : DEFAULT_PATH);
	else if (strlen(name) >= sizeof(command->path))
		err = -ENAMETOOLONG;
	else
		err = try_path(strcpy(command->path, name));
	if (err)
		return explain_find(name, err, diag);
	command->is_text = begins_like_text(command->path);
	return 0;
}

/* ---- the child ----------------------------------------------------------- */

/* Wait for the byte that lets us go on. */
static bool wait_for_go(int fd)
{
	char byte;
	ssize_t n;

	do {
		n = read(fd, &byte, 1);
	} while (n < 0 && errno == EINTR);
	return n == 1;
}

__attribute__((noreturn)) static void be_command(struct command *command,
						 int go, int error)
{
	char **environment = command->environment ?: environ;
	ssize_t done;
	int err;

	if (!wait_for_go(go))
		_exit(0);
	execve(command->path, command->argv, environment);
	/* A script without "#!" is one of the shell's, as execvp(3) has it. */
	if (errno == ENOEXEC && command->is_text)
		execvpe(command->path, command->argv, environment);
	err = errno;
	do {
		done = write(error, &err, sizeof(err));
	} while (done < 0 && errno == EINTR);
	_exit(0);
}

static int open_pipes(int go[2], int error[2])
{
	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (!pipe2(error, O_CLOEXEC))
		return 0;
	close(go[0]);
	close(go[1]);
	return -errno;
}

int command_fork(struct command *command, struct op_diag *diag)
{
	int go[2], error[2];
	int err = open_pipes(go, error);

	if (err)
		return op_diag_set(diag, err,
				   "cannot make a pipe: %s; raise ulimit -n",
				   strerror(-err));
	fflush(NULL); /* what is buffered must not be written twice */
	command->pid = fork();
	if (!command->pid) {
		close(go[1]);
		close(error[0]);
		be_command(command, go[0], error[1]);
	}
	err = command->pid < 0 ? -errno : 0;
	close(go[0]);
	close(error[1]);
	command->go_fd = go[1];
	command->error_fd = error[0];
	if (!err)
		return 0;
	command->pid = 0;
	return op_diag_set(
		diag, err,
		"cannot make a process: %s; end some, or raise ulimit -u",
		strerror(-err));
}

/* ---- its life ------------------------------------------------------------ */

static void close_command_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int explain_exec(const struct command *command, int err,
			struct op_diag *diag)
{
	const char *name = command->argv[0];

	/* The file was there: it is the interpreter that is not. */
	if (err == ENOENT)
		return op_diag_set(diag, -ENOEXEC,
				   "%s: its interpreter (see its first line, "
				   "or its architecture) is missing",
				   name);
	if (err == ENOEXEC)
		return op_diag_set(diag, -err,
				   "%s: not a program of this machine", name);
	return op_diag_set(diag, -err, "%s: cannot be executed: %s", name,
			   strerror(err));
}

/* Read the child's errno: 0 when a successful exec closed the pipe. */
static int read_error(int fd)
{
	int err = 0;
	ssize_t n;

	do {
		n = read(fd, &err, sizeof(err));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(err) ? err : 0;
}

int command_exec(struct command *command, struct op_diag *diag)
{
	ssize_t done;
	int err;

	do {
		done = write(command->go_fd, "", 1);
	} while (done < 0 && errno == EINTR);
	close_command_fd(&command->go_fd);
	if (done != 1)
		return op_diag_set(diag, -ESRCH,
				   "%s: its process was ended before it could "
				   "begin",
				   command->argv[0]);
	err = read_error(command->error_fd);
	close_command_fd(&command->error_fd);
	return err ? explain_exec(command, err, diag) : 0;
}

void command_wait(struct command *command)
{
	pid_t pid;

	if (!command->pid)
		return;
	do {
		pid = wait4(command->pid, &command->status, 0, &command->usage);
	} while (pid < 0 && errno == EINTR);
	command->pid = 0;
}

void command_release(struct command *command)
{
	/* A child that still waits may be stopped, so SIGTERM is not enough. */
	if (command->pid && command->go_fd >= 0)
		kill(command->pid, SIGKILL);
	close_command_fd(&command->go_fd);
	close_command_fd(&command->error_fd);
	command_wait(command);
}

int command_exit_status(const struct command *command)
{
	if (WIFEXITED(command->status))
		return WEXITSTATUS(command->status);
	return 128 + WTERMSIG(command->status);
}
