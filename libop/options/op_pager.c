// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A pager is a shell command that reads a pipe. posix_spawn() starts it, so
 * that nothing of the caller runs in the child; the descriptor of the output
 * becomes the pipe's, and gets back what it was when the pager is gone. Signals
 * from the keyboard are the pager's business, as it is what the user looks at.
 *
 * less keeps lines in sight since version 600, and refuses an option that it
 * does not know, so it is asked for its version before.
 */

#include "libop/options/op_pager.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LESS_WITH_HEADER 600 /* version */
#define LEAST_ROWS 10 /* of text below a header */

bool op_color_wanted(FILE *out)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(out)) && !(no_color && *no_color) && term &&
	       strcmp(term, "dumb") != 0;
}

/* ---- which --------------------------------------------------------------- */

static bool is_on_path(const char *program)
{
	const char *at = getenv("PATH");
	char path[4096];

	while (at && *at) {
		int len = (int)strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/%s", len, at, program);
		if (!access(path, X_OK))
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

/* NULL for none. */
static const char *choose_pager(void)
{
	const char *term = getenv("TERM");
	const char *command = getenv("OPROFILE_PAGER") ?: getenv("PAGER");

	if (!term || !strcmp(term, "dumb"))
		return NULL;
	if (!command)
		return is_on_path("less") ? "less" : NULL;
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

/* ---- processes ----------------------------------------------------------- */

/* Start "sh -c @command" with @in and, unless it is negative, @out. */
static int spawn_shell(pid_t *pid, const char *command, int in, int out)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t defaults;
	int err;

	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGQUIT);
	if (posix_spawn_file_actions_init(&actions))
		return -ENOMEM;
	if (posix_spawnattr_init(&attr)) {
		posix_spawn_file_actions_destroy(&actions);
		return -ENOMEM;
	}
	err = posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	if (!err && out >= 0)
		err = posix_spawn_file_actions_adddup2(&actions, out,
						       STDOUT_FILENO);
	if (!err)
		err = posix_spawnattr_setsigdefault(&attr, &defaults);
	if (!err)
		err = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	if (!err)
		err = posix_spawn(pid, "/bin/sh", &actions, &attr, argv,
				  environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -err;
}

static int wait_for_child(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return status;
}

/* The version in the line "less VERSION (...)"; 0 if there is none. */
static int version_of_less(void)
{
	char text[64] = "";
	int ends[2], version = 0;
	ssize_t len;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return 0;
	if (!spawn_shell(&pid, "less --version", STDIN_FILENO, ends[1])) {
		close(ends[1]);
		len = read(ends[0], text, sizeof(text) - 1);
		if (len > 5 && !strncmp(text, "less ", 5))
			version = atoi(text + 5);
		close(ends[0]);
		wait_for_child(pid);
		return version;
	}
	close(ends[0]);
	close(ends[1]);
	return 0;
}

/* ---- start and end ------------------------------------------------------- */

/* Set the environment of the pager: the options of less, and the width. */
static void set_environment(const struct op_pager *p, unsigned int nr_header)
{
	bool is_less = !strcmp(p->command, "less");
	struct winsize size = { 0 };
	char text[40];

	if (!ioctl(fileno(p->out), TIOCGWINSZ, &size) && size.ws_col) {
		snprintf(text, sizeof(text), "%u", size.ws_col);
		setenv("COLUMNS", text, 0);
	}
	if (is_less && nr_header && !getenv("LESS") &&
	    size.ws_row >= nr_header + LEAST_ROWS &&
	    version_of_less() >= LESS_WITH_HEADER) {
		snprintf(text, sizeof(text), "FRX --header=%u", nr_header);
		setenv("LESS", text, 0);
	}
	setenv("LESS", "FRX", 0);
	setenv("LV", "-c", 0);
}

static void leave_signals_to_pager(struct op_pager *p)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGPIPE, &ignore, &p->was_pipe);
	sigaction(SIGINT, &ignore, &p->was_int);
	sigaction(SIGQUIT, &ignore, &p->was_quit);
}

void op_pager_start(struct op_pager *p, FILE *out, bool wanted,
		    unsigned int nr_header)
{
	int ends[2];

	*p = (struct op_pager){ .out = out };
	p->command = wanted && isatty(fileno(out)) ? choose_pager() : NULL;
	if (!p->command)
		return;
	set_environment(p, nr_header);
	fflush(out);
	if (pipe2(ends, O_CLOEXEC))
		return;
	p->terminal = fcntl(fileno(out), F_DUPFD_CLOEXEC, 0);
	if (p->terminal >= 0 &&
	    !spawn_shell(&p->pid, p->command, ends[0], -1)) {
		leave_signals_to_pager(p);
		dup2(ends[1], fileno(out));
	} else {
		p->pid = 0;
		if (p->terminal >= 0)
			close(p->terminal);
	}
	close(ends[0]);
	close(ends[1]);
}

int op_pager_end(struct op_pager *p, FILE *out, struct op_diag *diag)
{
	bool failed = fflush(out) || ferror(out);
	int err = errno, status;

	if (!p->pid && failed)
		return op_diag_set(diag, -EIO,
				   "standard output: cannot be written: %s",
				   strerror(err));
	if (!p->pid)
		return 0;
	/* The pager reads to the end once the last writer is gone. */
	dup2(p->terminal, fileno(out));
	close(p->terminal);
	clearerr(out);
	status = wait_for_child(p->pid);
	p->pid = 0;
	sigaction(SIGPIPE, &p->was_pipe, NULL);
	sigaction(SIGINT, &p->was_int, NULL);
	sigaction(SIGQUIT, &p->was_quit, NULL);
	if (WIFEXITED(status) &&
	    (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127))
		return op_diag_set(
			diag, -ENOENT,
			"the pager \"%s\" cannot be run; correct PAGER or OPROFILE_PAGER, or use --no-pager",
			p->command);
	return 0;
}
