// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding, starting, asking and ending the daemon.
 *
 * The control socket tells whether there is a daemon. The pid in the lock file
 * only serves to end a daemon that answers no more: a daemon that was killed
 * leaves its file, and by now the pid may be another program's. While a daemon
 * starts or dies, the two may disagree for a moment, so "status" is asked again
 * until they agree. A daemon is signalled through a handle of its process
 * (pidfd), never by its number.
 */

#include "utils/daemon.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libop/files/op_config.h"
#include "libop/session/op_control.h"
#include "utils/say.h"

/* Milliseconds. A request may have to wait for the disk; "status" only until
 * what is under way is done, so a daemon that neither answers nor works is
 * given up earlier. */
#define STATUS_MS 15000
#define DYING_MS 50
#define DYING_TRIES 100
#define REQUEST_MS 120000
#define END_MS 60000

bool daemon_reply_find(const char *reply, const char *key, char *buf,
		       size_t len)
{
	size_t key_len = strlen(key), line_len;
	const char *line;

	*buf = '\0';
	for (line = reply; *line; line += line_len + (line[line_len] != '\0')) {
		line_len = strcspn(line, "\n");
		if (line_len < key_len + 3 || memcmp(line, key, key_len) ||
		    memcmp(line + key_len, " = ", 3))
			continue;
		if (line_len - key_len - 3 >= len)
			return false;
		memcpy(buf, line + key_len + 3, line_len - key_len - 3);
		buf[line_len - key_len - 3] = '\0';
		return true;
	}
	return false;
}

static pid_t parse_pid(const char *text)
{
	uint64_t pid;

	if (op_parse_u64(text, &pid) || pid > INT_MAX)
		return 0;
	return (pid_t)pid;
}

/* The pid in the lock file if it is that of a living daemon, else 0. */
static pid_t locked_pid(const char *lock)
{
	FILE *file = fopen(lock, "re");
	char text[32] = "";
	pid_t pid;

	if (!file)
		return 0;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	text[strcspn(text, " \n")] = '\0';
	pid = parse_pid(text);
	return pid && op_process_is(pid, DAEMON_NAME) ? pid : 0;
}

/*
 * Whether the error of a "status" may be over in a moment. A daemon that is
 * being killed may still take the call and then hang up, or have no socket any
 * more while the kernel closes its other files; a daemon that is starting has
 * no socket yet.
 */
static bool is_passing_error(const struct daemon *daemon, int err)
{
	if (err == -ENOENT || err == -ECONNREFUSED)
		return locked_pid(daemon->session->lock) != 0;
	return err == -EPROTO;
}

/* Whether the daemon has run since *@before, or waits for a CPU: on a crowded
 * machine its turn may be late. */
static bool is_at_work(const struct daemon *daemon,
		       struct op_process_activity *before)
{
	struct op_process_activity now =
		op_process_activity(locked_pid(daemon->session->lock));
	bool works =
		now.state == 'R' || (now.state && now.ticks != before->ticks);

	*before = now;
	return works;
}

/*
 * In turns of STATUS_MS, as long as the daemon is at work. One that is not may
 * have answered just when the turn was over, so it has one more.
 */
static int call_for_status(struct daemon *daemon, struct op_diag *why)
{
	int turn_ms = daemon->turn_ms ?: STATUS_MS, left_ms = REQUEST_MS, err;
	int nr_idle = 0;
	struct op_process_activity before =
		op_process_activity(locked_pid(daemon->session->lock));

	do {
		why->text[0] = '\0';
		err = op_control_call(daemon->session->socket, "status",
				      daemon->reply, sizeof(daemon->reply),
				      turn_ms, why);
		left_ms -= turn_ms;
		nr_idle = is_at_work(daemon, &before) ? 0 : nr_idle + 1;
	} while (err == -ETIMEDOUT && left_ms > 0 && nr_idle < 2);
	return err;
}

static int ask_for_status(struct daemon *daemon, struct op_diag *why)
{
	int err;

	for (int i = 0; i < DYING_TRIES; i++) {
		if (i)
			poll(NULL, 0, DYING_MS);
		err = call_for_status(daemon, why);
		if (!is_passing_error(daemon, err))
			break;
	}
	return err;
}

int daemon_find(struct daemon *daemon, struct op_diag *diag)
{
	const char *socket = daemon->session->socket;
	struct op_diag why = { "" };
	char text[32];
	int err = ask_for_status(daemon, &why);

	daemon->answers = !err;
	if (err)
		daemon->reply[0] = '\0';
	daemon_reply_find(daemon->reply, "running", text, sizeof(text));
	daemon->is_sampling = !strcmp(text, "1");
	daemon_reply_find(daemon->reply, "targeted", text, sizeof(text));
	daemon->is_targeted = !strcmp(text, "1");
	daemon_reply_find(daemon->reply, "pid", text, sizeof(text));
	daemon->pid = err ? locked_pid(daemon->session->lock) : parse_pid(text);
	/* A daemon that one may not ask is no daemon that hangs. */
	if (err == -EACCES || err == -EPERM)
		return op_diag_set(diag, err,
				   "%s: you may not ask the daemon; you must "
				   "be root, try sudo",
				   socket);
	if (daemon->pid || err == -ENOENT || err == -ECONNREFUSED)
		return 0;
	if (!err)
		return op_diag_set(diag, -EPROTO,
				   DAEMON_NAME
				   ": its answer to \"status\" names no "
				   "pid; use daemon and opcontrol of "
				   "one version");
	if (!why.text[0])
		op_diag_set(&why, err, "%s: %s", socket, strerror(-err));
	return op_diag_set(diag, err, "%s", why.text);
}

int daemon_say_start(const struct daemon *daemon, const char *path,
		     const struct op_process_args *args, struct op_diag *diag)
{
	say_step(daemon->verbose, "start %s", path);
	for (int i = 1; i < args->nr; i++)
		say_step(daemon->verbose, "    %s", args->argv[i]);
	if (!args->failed)
		return 0;
	return op_diag_set(diag, -ENOMEM, DAEMON_NAME ": out of memory");
}

int daemon_start(struct daemon *daemon, const char *path,
		 const struct op_process_args *args, struct op_diag *diag)
{
	int err = daemon_say_start(daemon, path, args, diag);

	if (!err)
		err = op_process_run(path, args->argv, environ, NULL, 0, diag);
	if (!err)
		err = daemon_find(daemon, diag);
	if (err)
		return err > 0 ? -EIO : err;
	if (daemon->answers)
		return 0;
	return op_diag_set(diag, -EIO,
			   DAEMON_NAME ": it started, but does not answer; see "
				       "%s",
			   daemon->session->log);
}

int daemon_ask(const struct daemon *daemon, const char *request,
	       struct op_diag *why)
{
	say_step(daemon->verbose, "ask the daemon, pid %d: %s", daemon->pid,
		 request);
	return op_control_call(daemon->session->socket, request, NULL, 0,
			       REQUEST_MS, why);
}

int daemon_end(const struct daemon *daemon, int pidfd, int grace_ms,
	       void (*heard)(void *data, const char *line), void *data,
	       bool *is_forced, struct op_diag *why)
{
	int asked = -ETIMEDOUT, err;

	say_step(daemon->verbose, "ask the daemon, pid %d: shutdown",
		 daemon->pid);
	if (daemon->answers)
		asked = op_control_follow(daemon->session->socket, "shutdown",
					  heard, data, REQUEST_MS, why);
	err = asked;
	/* The daemon may end before its answer has been read. */
	if (!err || err == -EREMOTEIO || err == -EPROTO || err == -ECONNREFUSED)
		err = op_process_wait(pidfd, END_MS);
	/* Its last act was to remove the socket, or somebody else has. */
	*is_forced = err && err != -ENOENT;
	if (err) {
		say_step(daemon->verbose, "no end: send signals to pid %d",
			 daemon->pid);
		err = op_process_end(pidfd, grace_ms);
	}
	return !err && asked == -EREMOTEIO ? asked : err;
}
