// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A daemon for tests of opcontrol: it takes no samples, but starts, locks,
 * listens and answers as oprofiled does (libop/session/op_control.h), and
 * writes down in its session folder how it was called ("argv") and asked
 * ("requests").
 *
 * The file "mode" in the session folder makes it misbehave: "fail" (does not
 * start), "refuse" (answers every request but status with an error), "start
 * TEXT" (answers start with the error TEXT), "deaf" (never answers),
 * "stubborn" (does not end when asked), "dying" (after a dump it is as one that
 * was killed: nobody listens, and it ends when somebody looks for its pid).
 */

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char mode[64];
static const char *source = "module/timer", *source_reason = "none";
static bool running, dying;

static void check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "fake oprofiled: %s\n", what);
	exit(1);
}

static void read_option(const char *option)
{
	static const char reason[] = "--source-reason=", events[] = "--events=";
	static char sampled[64];

	/* It comes before --source. */
	if (!strncmp(option, events, strlen(events))) {
		source = "module/perf";
		snprintf(sampled, sizeof(sampled), "perf/%.*s",
			 (int)strcspn(option + strlen(events), ":"),
			 option + strlen(events));
	}
	if (!strncmp(option, "--source=perf", strlen("--source=perf")))
		source = *sampled ? sampled : "perf/cpu-clock";
	if (!strncmp(option, reason, strlen(reason)))
		source_reason = option + strlen(reason);
}

static void read_argv(int argc, char **argv)
{
	FILE *file = fopen("argv", "w");

	check(file, "argv");
	for (int i = 1; i < argc; i++) {
		fprintf(file, "%s\n", argv[i]);
		read_option(argv[i]);
	}
	fclose(file);
}

static void read_mode(void)
{
	FILE *file = fopen("mode", "r");

	if (!file)
		return;
	check(fgets(mode, sizeof(mode), file), "mode");
	mode[strcspn(mode, "\n")] = '\0';
	fclose(file);
}

static void write_lock(void)
{
	FILE *file = fopen("run/lock", "w");

	check(file, "lock");
	fprintf(file, "%d\n", (int)getpid());
	fclose(file);
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

static void log_request(const char *request)
{
	FILE *file = fopen("requests", "a");

	check(file, "requests");
	fprintf(file, "%s\n", request);
	fclose(file);
}

static void answer(FILE *client, const char *request)
{
	if (!strcmp(request, "status")) {
		fprintf(client, " pid = %d\n running = %d\n", (int)getpid(),
			running);
		fprintf(client, " source = %s\n source-reason = %s\n", source,
			source_reason);
		fprintf(client, " separate = lib cpu\n vmlinux = (none)\n"
				" taken = 4745\n stored = 4700\n"
				" pending = 3\n"
				" lost.sample_lost_overflow = 42\n"
				" lost.lost_bad_record = 0\n");
	} else {
		log_request(request);
	}
	if (!strcmp(mode, "refuse") && strcmp(request, "status"))
		fprintf(client, "error the disk is full\n");
	else if (!strncmp(mode, "start ", 6) && !strcmp(request, "start"))
		fprintf(client, "error %s\n", mode + 6);
	else
		fprintf(client, "ok\n");
	running = running ? strcmp(request, "stop") != 0
			  : !strcmp(request, "start");
	dying = !strcmp(mode, "dying") && !strcmp(request, "dump");
}

/* Returns whether to go on. */
static bool serve(int fd)
{
	char request[4096] = "";
	FILE *in, *out;

	in = fdopen(fd, "r");
	out = fdopen(dup(fd), "w");
	check(in && out, "client");
	if (!fgets(request, sizeof(request), in))
		request[0] = '\0';
	request[strcspn(request, "\n")] = '\0';
	answer(out, request);
	fclose(out);
	fclose(in);
	return strcmp(request, "shutdown") || !strcmp(mode, "stubborn");
}

static void die(int fd)
{
	int watch = inotify_init1(IN_CLOEXEC);
	char event[4096];

	check(watch >= 0 && inotify_add_watch(watch, "run/lock", IN_OPEN) >= 0,
	      "watch");
	close(fd);
	check(read(watch, event, sizeof(event)) > 0, "watch");
	_exit(1);
}

static void run(int fd)
{
	int client;

	/* Whatever a test leaves behind ends by itself. */
	alarm(300);
	do {
		client = accept(fd, NULL, NULL);
		if (!strcmp(mode, "deaf"))
			pause();
	} while (client >= 0 && serve(client) && !dying);
	if (dying)
		die(fd);
	unlink("run/control");
	unlink("run/lock");
}

int main(int argc, char **argv)
{
	static const char option[] = "--session-dir=";
	int fd;

	check(argc > 1 && !strncmp(argv[1], option, strlen(option)),
	      "no --session-dir");
	mkdir(argv[1] + strlen(option), 0755);
	check(!chdir(argv[1] + strlen(option)), "session folder");
	mkdir("run", 0755);
	mkdir("samples", 0755);
	mkdir("samples/current", 0755);
	read_mode();
	read_argv(argc, argv);
	check(strcmp(mode, "fail"), "told to fail");
	fd = listen_here();
	if (fork())
		_exit(0);
	setsid();
	write_lock();
	check(freopen("/dev/null", "w", stdout) &&
		      freopen("/dev/null", "w", stderr),
	      "/dev/null");
	run(fd);
	return 0;
}
