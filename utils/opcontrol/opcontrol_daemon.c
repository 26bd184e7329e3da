// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starting, asking and ending the daemon.
 */

#include "utils/opcontrol/opcontrol_daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/op_config.h"
#include "libop/op_control.h"
#include "libop/op_ibs.h"
#include "utils/opcontrol/opcontrol.h"
#include "utils/process.h"

#define DAEMON "oprofiled"

/* Milliseconds. What is asked for may have to wait for the disk; telling how
 * it is never does. */
#define STATUS_MS 15000
#define DYING_MS 50
#define DYING_TRIES 100
#define REQUEST_MS 120000
#define END_MS 60000
#define GRACE_MS 15000

bool oc_reply_find(const char *reply, const char *key, char *buf, size_t len)
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

/* The pid in the lock file if it is that of a living daemon, else 0: a daemon
 * that was killed leaves its file, and the pid may be anyone's by now. */
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
	return pid && process_is(pid, DAEMON) ? pid : 0;
}

static int read_status(struct opcontrol *oc)
{
	struct oc_daemon *daemon = &oc->daemon;
	char text[32];

	oc_reply_find(daemon->reply, "pid", text, sizeof(text));
	daemon->pid = parse_pid(text);
	if (!daemon->pid)
		return op_diag_set(&oc->diag, -EPROTO,
				   DAEMON ": its answer to \"status\" names no "
					  "pid; use daemon and opcontrol of "
					  "one version");
	oc_reply_find(daemon->reply, "running", text, sizeof(text));
	daemon->is_sampling = !strcmp(text, "1");
	oc_reply_find(daemon->reply, "targeted", text, sizeof(text));
	daemon->is_targeted = !strcmp(text, "1");
	daemon->answers = true;
	return 0;
}

/*
 * A daemon that is being killed may still take the call and then hang up, or
 * have no socket any more while the kernel takes back its other files; one that
 * is starting has no socket yet. A moment later there is none, or one.
 */
static bool is_passing(const struct opcontrol *oc, int err)
{
	if (err == -ENOENT || err == -ECONNREFUSED)
		return locked_pid(oc->session.lock) != 0;
	return err == -EPROTO;
}

static int ask_status(struct opcontrol *oc, struct op_diag *why)
{
	struct oc_daemon *daemon = &oc->daemon;
	int err;

	for (int i = 0; i < DYING_TRIES; i++) {
		if (i)
			poll(NULL, 0, DYING_MS);
		why->text[0] = '\0';
		err = op_control_call(oc->session.socket, "status",
				      daemon->reply, sizeof(daemon->reply),
				      STATUS_MS, why);
		if (!is_passing(oc, err))
			break;
	}
	return err;
}

int oc_daemon_find(struct opcontrol *oc)
{
	const char *socket = oc->session.socket;
	struct oc_daemon *daemon = &oc->daemon;
	struct op_diag why = { "" };
	int err;

	memset(daemon, 0, sizeof(*daemon));
	err = ask_status(oc, &why);
	if (!err)
		return read_status(oc);
	daemon->reply[0] = '\0';
	daemon->pid = locked_pid(oc->session.lock);
	if (daemon->pid || err == -ENOENT || err == -ECONNREFUSED)
		return 0;
	if (err == -EACCES || err == -EPERM)
		return op_diag_set(&oc->diag, err,
				   "%s: you may not ask the daemon; you must "
				   "be root, try sudo",
				   socket);
	if (!why.text[0])
		op_diag_set(&why, err, "%s: %s", socket, strerror(-err));
	oc->diag = why;
	return err;
}

int oc_daemon_call(struct opcontrol *oc, const char *request)
{
	struct op_diag why = { "" };
	int err = -ETIMEDOUT;

	oc_say(oc, "ask the daemon, pid %d: %s", oc->daemon.pid, request);
	if (oc->daemon.answers)
		err = op_control_call(oc->session.socket, request, NULL, 0,
				      REQUEST_MS, &why);
	if (!err)
		return 0;
	if (err == -EREMOTEIO)
		return op_diag_set(&oc->diag, err, DAEMON ": %s", why.text);
	return op_diag_set(&oc->diag, err,
			   DAEMON ": the daemon, pid %d, does not answer: %s; "
				  "end it with opcontrol --shutdown",
			   oc->daemon.pid, strerror(-err));
}

static void add_perf(struct process_args *args, const struct opcontrol *oc)
{
	uint64_t rate = oc->settings.numbers[OC_TIMER_RATE];
	uint64_t depth = oc->settings.numbers[OC_CALLGRAPH];
	char options[64];
	int n = 0;

	if (rate && !oc->events.list.nr) /* it is the timer's */
		n = sprintf(options, ",rate=%" PRIu64, rate);
	if (depth)
		n += sprintf(options + n, ",callgraph=%" PRIu64, depth);
	if (n)
		process_args_add(args, "--source=perf:%s", options + 1);
	else
		process_args_add(args, "--source=perf");
}

static void add_source(struct process_args *args, const struct opcontrol *oc)
{
	if (oc->choice.source == OC_SOURCE_PERF)
		add_perf(args, oc);
	else if (oc->fs.is_plain)
		process_args_add(args, "--source=oprofilefs:%s", oc->fs.root);
	process_args_add(args, "--source-reason=%s", oc->choice.reason);
}

/* Nothing for an empty @text; NULL: memory ran out while it was made. */
static void add_text(struct process_args *args, const char *option, char *text)
{
	if (!text)
		args->failed = true;
	else if (*text)
		process_args_add(args, "--%s=%s", option, text);
	free(text);
}

static void add_events(struct process_args *args, const struct opcontrol *oc)
{
	const struct event_list *list = &oc->events.list;

	add_text(args, "events", event_list_daemon_text(list));
	add_text(args, "ext-feature",
		 op_ibs_feature_text(list->event, list->nr));
}

static void add_args(struct process_args *args, const struct opcontrol *oc)
{
	const struct oc_settings *settings = &oc->settings;
	const char *verbose = oc->request.daemon_verbose;

	process_args_add(args, DAEMON);
	process_args_add(args, "--session-dir=%s", settings->session_dir);
	for (int i = 0; i < OC_NR_SEPARATE; i++)
		process_args_add(args, "--%s=%d", oc_separates[i].daemon,
				 settings->separate[i]);
	add_events(args, oc);
	if (settings->vmlinux[0])
		process_args_add(args, "--vmlinux=%s", settings->vmlinux);
	else
		process_args_add(args, "--no-vmlinux");
	if (settings->images[0])
		process_args_add(args, "--image=%s", settings->images);
	if (oc_settings_is_set(settings, OC_PACK_AT))
		process_args_add(args, "--pack-at=%" PRIu64,
				 settings->numbers[OC_PACK_AT]);
	add_source(args, oc);
	if (verbose)
		process_args_add(args, "--verbose=%s", verbose);
}

static int run_daemon(struct opcontrol *oc, const char *path)
{
	struct process_args args = { .nr = 0 };
	int err = -ENOMEM;

	add_args(&args, oc);
	oc_say(oc, "start %s", path);
	for (int i = 1; i < args.nr; i++)
		oc_say(oc, "    %s", args.argv[i]);
	if (args.failed)
		op_diag_set(&oc->diag, err, DAEMON ": out of memory");
	else
		err = process_run(path, args.argv, environ, NULL, 0, &oc->diag);
	process_args_release(&args);
	return err > 0 ? -EIO : err;
}

int oc_daemon_start(struct opcontrol *oc)
{
	char path[OC_PATH_MAX + 16];
	int err = 0;

	if (oc->settings.vmlinux[0])
		err = oc_settings_check_vmlinux(oc->settings.vmlinux,
						&oc->diag);
	if (!err)
		err = process_find_own(path, sizeof(path), DAEMON, oc->tools,
				       &oc->diag);
	if (!err)
		err = run_daemon(oc, path);
	if (!err)
		err = oc_daemon_find(oc);
	if (err || oc->daemon.answers)
		return err;
	return op_diag_set(&oc->diag, -EIO,
			   DAEMON ": it started, but does not answer; see %s",
			   oc->session.log);
}

int oc_daemon_shutdown(struct opcontrol *oc)
{
	int pidfd = process_open(oc->daemon.pid);
	struct op_diag why = { "" };
	int err = -ETIMEDOUT;
	bool failed;

	if (pidfd == -ESRCH)
		return 0;
	if (pidfd < 0)
		return op_diag_set(&oc->diag, pidfd,
				   DAEMON ": cannot watch pid %d: %s",
				   oc->daemon.pid, strerror(-pidfd));
	oc_say(oc, "ask the daemon, pid %d: shutdown", oc->daemon.pid);
	if (oc->daemon.answers)
		err = op_control_call(oc->session.socket, "shutdown", NULL, 0,
				      REQUEST_MS, &why);
	failed = err == -EREMOTEIO;
	/* It may be gone before its answer has been read. */
	if (!err || failed || err == -EPROTO || err == -ECONNREFUSED)
		err = process_wait(pidfd, END_MS);
	if (err) {
		oc_say(oc, "no end: send signals to pid %d", oc->daemon.pid);
		err = process_end(pidfd, GRACE_MS);
	}
	close(pidfd);
	if (err)
		return op_diag_set(&oc->diag, err,
				   DAEMON ": pid %d does not end: %s",
				   oc->daemon.pid, strerror(-err));
	return failed ? op_diag_set(&oc->diag, -EIO, DAEMON ": %s", why.text)
		      : 0;
}
