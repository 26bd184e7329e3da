// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A daemon for tests of operf: it takes no samples, but locks the session,
 * says when it is ready, answers and leaves an account as oprofiled does with
 * --source=perf.
 *
 * In the folder $FAKE_DIR it writes down how it was called ("argv") and what
 * it was asked and saw then ("seen"), and takes the account that it is to
 * leave from "ledger". $FAKE_MODE makes it misbehave:
 *
 *	fail		is not ready and says why
 *	die		is killed before it is ready
 *	complain	ends before it is ready, with a line on stderr
 *	hang		is never ready
 *	refuse-VERB	answers that request with an error
 *	crash-VERB	is killed by that request
 *	pack-VERB	says first, and twice, that it packs
 *	empty		leaves no sample files
 *	linger		outlives its socket until SIGTERM has come once more
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *mode = "", *folder;
static const char *session, *ready, *source;
static int signals; /* SIGTERM is read here */

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fake oprofiled: %s\n", what);
	exit(1);
}

static FILE *open_in(const char *where, const char *name, const char *how)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", where, name);
	file = fopen(path, how);
	check(file || *how == 'r', path);
	return file;
}

static void write_argv(int argc, char **argv)
{
	FILE *file = open_in(folder, "argv", "w");

	for (int i = 1; i < argc; i++)
		fprintf(file, "%s\n", argv[i]);
	fclose(file);
}

static const char *value_of(int argc, char **argv, const char *option)
{
	size_t len = strlen(option);

	for (int i = 1; i < argc; i++)
		if (!strncmp(argv[i], option, len))
			return argv[i] + len;
	return NULL;
}

static void make_session(void)
{
	int fd;

	check(!chdir(session), "session folder");
	mkdir("run", 0755);
	mkdir("samples", 0755);
	mkdir("samples/current", 0755);
	fd = open("run/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	check(fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB), "lock");
	check(!ftruncate(fd, 0) && dprintf(fd, "%d\n", (int)getpid()) > 0,
	      "lock file");
}

static void say_ready(const char *why)
{
	int fd = ready ? atoi(ready) : -1;

	check(fd > 2 && write(fd, why, strlen(why) + 1) > 0, "ready-fd");
	close(fd);
}

/* The process that is to be profiled, or 0. */
static pid_t command_pid(void)
{
	const char *exec = source ? strstr(source, "exec=") : NULL;

	return exec ? atoi(exec + strlen("exec=")) : 0;
}

/* Who we are, and what the process that is to be profiled runs. */
static void see(const char *request)
{
	pid_t pid = command_pid();
	char path[64], exe[4096] = "";
	FILE *file = open_in(folder, "seen", "a");
	int death = 0;

	prctl(PR_GET_PDEATHSIG, &death);
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (pid && readlink(path, exe, sizeof(exe) - 1) < 0)
		exe[0] = '\0';
	fprintf(file, "%s: leader %d death %d exec %s\n", request,
		getsid(0) == getpid(), death,
		strrchr(exe, '/') ? strrchr(exe, '/') + 1 : "-");
	fclose(file);
}

static void leave_account(void)
{
	FILE *from = open_in(folder, "ledger", "r");
	FILE *to = open_in(session, "samples/current/ledger", "w");
	char line[256];

	if (!from)
		fputs("source = perf/fake\ntaken = 100\nstored = 97\n"
		      "pending = 0\nlost.sample_lost_overflow = 3\n",
		      to);
	while (from && fgets(line, sizeof(line), from))
		fputs(line, to);
	if (from)
		fclose(from);
	fclose(to);
	if (strcmp(mode, "empty"))
		mkdir("samples/current/{root}", 0755);
}

/* Wait for SIGTERM or, unless @fd is -1, for a client. */
static bool is_told_to_end(int fd)
{
	struct pollfd p[] = { { .fd = signals, .events = POLLIN },
			      { .fd = fd, .events = POLLIN } };

	check(poll(p, 2, -1) > 0, "poll");
	return p[0].revents;
}

/* Until operf, which the command's end has woken, finds no socket. */
static void linger(void)
{
	struct signalfd_siginfo first;

	check(read(signals, &first, sizeof(first)) == sizeof(first), "signal");
	is_told_to_end(-1);
}

static void end(void)
{
	leave_account();
	unlink("run/control");
	if (!strcmp(mode, "linger"))
		linger();
	_exit(0);
}

static int listen_here(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX,
				       .sun_path = "run/control" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	unlink(address.sun_path);
	check(fd >= 0 && !bind(fd, (void *)&address, sizeof(address)) &&
		      !listen(fd, 8),
	      "socket");
	return fd;
}

static bool is_mode(const char *what, const char *verb)
{
	size_t len = strlen(what);

	return !strncmp(mode, what, len) && !strcmp(mode + len, verb);
}

/* Returns whether to go on. */
static bool serve(int fd)
{
	char request[4096] = "";
	bool refuse;

	/* One line, which is short, comes in one piece. */
	check(read(fd, request, sizeof(request) - 1) > 0, "request");
	request[strcspn(request, "\n")] = '\0';
	see(request);
	if (is_mode("crash-", request))
		raise(SIGKILL);
	if (is_mode("pack-", request))
		check(dprintf(fd, " packing = 9437184\n packing = 1\n") > 0,
		      "packing");
	refuse = is_mode("refuse-", request);
	check(dprintf(fd, refuse ? "error the disk is full\n" : "ok\n") > 0,
	      "answer");
	close(fd);
	return refuse || strcmp(request, "shutdown") != 0;
}

static void open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	check(signals >= 0, "signals");
}

static void misbehave(void)
{
	if (!strcmp(mode, "fail")) {
		say_ready("cycles: told to fail; tell me otherwise");
		exit(1);
	}
	if (!strcmp(mode, "die"))
		raise(SIGKILL);
	check(strcmp(mode, "complain"), "told to complain");
	if (!strcmp(mode, "hang") && is_told_to_end(-1))
		end();
}

int main(int argc, char **argv)
{
	int fd, client;

	/* Whatever a test leaves behind ends by itself. */
	alarm(300);
	if (getenv("FAKE_MODE"))
		mode = getenv("FAKE_MODE");
	folder = getenv("FAKE_DIR");
	session = value_of(argc, argv, "--session-dir=");
	ready = value_of(argc, argv, "--ready-fd=");
	source = value_of(argc, argv, "--source=");
	check(session && folder, "no --session-dir or FAKE_DIR");
	write_argv(argc, argv);
	make_session();
	open_signals();
	misbehave();
	fd = listen_here();
	say_ready("");
	while (!is_told_to_end(fd)) {
		client = accept(fd, NULL, NULL);
		check(client >= 0, "accept");
		if (!serve(client))
			break;
	}
	end();
}
