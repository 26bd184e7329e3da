// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The program oprofiled, all but its main(), so that tests can run it: take
 * samples from a source and count them in sample files.
 *
 *	options -> struct opd -> loop -> finish
 *
 * In the background the parent waits at a pipe until the daemon is ready or
 * has said why it is not.
 */

#include "daemon/opd_main.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "daemon/context/opd_trans.h"
#include "daemon/opd.h"
#include "daemon/opd_command.h"
#include "daemon/opd_notify.h"
#include "daemon/opd_run.h"
#include "daemon/store/opd_session.h"
#include "libop/options/op_original.h"

static int fail(const char *why, int status)
{
	fprintf(stderr, "oprofiled: %s\n", why);
	return status;
}

/* Options that scripts for the original profiler give and that change
 * nothing. */
static void report_ignored_options(unsigned int ignored)
{
	for (unsigned int i = 0; i < OP_NR_ORIGINAL_OPROFILED; i++)
		if (ignored & 1u << i)
			fprintf(stderr, "oprofiled: --%s: ignored: %s\n",
				op_original_oprofiled[i].name,
				op_original_oprofiled[i].why);
}

/* ---- the background ---------------------------------------------------------
 */

/* Tell the parent through the pipe @fd that the daemon is ready (""), or @why
 * it is not. */
static void report_to_parent(int fd, const char *why)
{
	ssize_t done;

	if (fd < 0)
		return;
	do
		done = write(fd, why, strlen(why) + 1);
	while (done < 0 && errno == EINTR);
	close(fd);
}

/* The parent's part: exit as the daemon says. */
static int wait_for_daemon(int fd)
{
	char why[OP_DIAG_MAX + 1];
	size_t len = 0;
	ssize_t got;

	while (len < sizeof(why) - 1) {
		got = read(fd, why + len, sizeof(why) - 1 - len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		len += (size_t)got;
	}
	why[len] = '\0';
	if (len == 0)
		return fail("the daemon died while it started; see its log", 1);
	return why[0] ? fail(why, 1) : 0;
}

/*
 * Returns the pipe to the parent in the daemon. The parent does not return.
 */
static int go_to_background(struct op_diag *diag)
{
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return op_diag_set(diag, -errno, "pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		return op_diag_set(diag, -errno, "fork: %s", strerror(errno));
	if (pid > 0) {
		close(fds[1]);
		exit(wait_for_daemon(fds[0]));
	}
	close(fds[0]);
	setsid();
	return fds[1];
}

/* Let go of the terminal and of the folder we were started in. */
static void detach(struct opd *opd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (chdir(opd->session.dir))
		op_log(&opd->log, "%s: %s", opd->session.dir, strerror(errno));
	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	if (null > STDERR_FILENO)
		close(null);
}

/* ---- life -------------------------------------------------------------------
 */

static void log_start(struct opd *opd)
{
	time_t now = time(NULL);
	char date[64] = "";
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(date, sizeof(date), "%a %b %e %H:%M:%S %Y", &tm);
	op_log_plain(&opd->log, "oprofiled started %s", date);
	op_log_plain(&opd->log, "kernel pointer size: %zu", sizeof(void *));
}

/* A daemon that ends with who started it was started by operf: a shell or a
 * manager is none of ours. */
static struct opd_own_processes find_own_processes(const struct opd *opd)
{
	struct opd_own_processes own = { .daemon = getpid() };
	int signal = 0;

	if (opd->options.ready_fd >= 0 && !prctl(PR_GET_PDEATHSIG, &signal) &&
	    signal)
		own.starter = getppid();
	return own;
}

static int start(struct opd *opd, struct op_diag *diag)
{
	struct opd_options *options = &opd->options;
	const struct opd_source_ops *ops;
	const char *arg;
	int err;

	err = op_session_init(&opd->session, options->session_dir, diag)
		      ?: opd_session_make(
				 &opd->session,
				 options->has_readers ? &options->readers : NULL,
				 diag)
		      ?: opd_session_lock(&opd->store, diag)
		      ?: op_log_open(&opd->log, opd->session.log, diag);
	if (err)
		return err;
	opd->log.verbose = options->verbose;
	/* A source that ends is a recording. It needs no policy, as only its
	 * owner reads the result. */
	ops = opd_source_find(options->source, &arg);
	if (!ops || !ops->ends)
		err = opd_user_samples_read_policy(&opd->user_samples, diag);
	if (err)
		return err;
	opd_choose_names(opd);
	if (!ops || !ops->ends)
		opd->client.own = find_own_processes(opd);
	err = opd_source_open(&opd->source, options->source,
			      &opd->options.events, &opd->client, diag);
	if (err)
		return err;
	log_start(opd);
	err = opd_setup(opd, diag)
		      ?: opd_loop_init(&opd->loop, opd->source.fd, diag);
	if (err || opd->source.ops->ends)
		return err;
	err = opd_command_listen(opd, diag)
		      ?: opd_user_samples_open(&opd->user_samples, diag);
	if (!err && opd->user_samples.fd >= 0)
		err = opd_loop_add(&opd->loop, opd->user_samples.fd,
				   OPD_WAIT_USER_SAMPLES);
	return err ? op_diag_set(diag, err, "%s", strerror(-err)) : 0;
}

/* The log may be on the same disk, so it is no place for this reason. */
static int explain_finish(const struct opd *opd, int err, struct op_diag *diag)
{
	bool full = err == -ENOSPC || err == -EDQUOT;

	return op_diag_set(diag, err,
			   "%s: cannot write the account of samples: %s; %s%s",
			   opd->session.current, strerror(-err),
			   full ? "make room and profile again" : "see ",
			   full ? "" : opd->session.log);
}

static int finish(struct opd *opd, struct op_diag *diag)
{
	int err = opd->loop.error, failed;
	struct op_diag why = { "" };

	if (err)
		op_diag_set(diag, err, "%s: %s; see %s", opd->options.source,
			    strerror(-err), opd->session.log);
	/* Handle the samples that are still on their way. */
	if (opd_command_stop(opd, &why))
		op_log(&opd->log, "%s", why.text);
	opd_trans_end(opd, (opd->loop.len + 7) / 8);
	if (!err && *opd->source.why.text) {
		err = -EBADMSG;
		*diag = opd->source.why;
	}
	failed = opd_finish(opd);
	if (failed && !err)
		err = explain_finish(opd, failed, diag);
	op_log_plain(&opd->log, "oprofiled stopped");
	return err;
}

/*
 * A daemon of operf is no service: if there is a manager, it is that of the
 * program that is profiled.
 */
static void notify_manager(struct opd *opd, bool is_ready)
{
	int err;

	if (opd->options.ready_fd >= 0)
		return;
	err = is_ready ? opd_notify_ready() : opd_notify("STOPPING=1");
	if (err)
		op_log(&opd->log, "cannot notify the service manager: %s: %s",
		       getenv("NOTIFY_SOCKET"), strerror(-err));
}

/* Sets *@told where who waits at @waiting knows the reason. */
static int run(struct opd *opd, int waiting, bool *told, struct op_diag *diag)
{
	int err;

	opd_loop_block_signals();
	err = start(opd, diag);
	if (err) {
		report_to_parent(waiting, diag->text);
		*told = waiting >= 0;
		return err;
	}
	if (!opd->options.foreground)
		detach(opd);
	/* Before the parent ends: a manager takes that for the end of all. */
	notify_manager(opd, true);
	report_to_parent(waiting, "");
	/* A recording waits for nobody. */
	if (!opd->source.ops->ends)
		opd_priority_begin(&opd->priority, &opd->log);
	opd_run(opd);
	opd_priority_end(&opd->priority);
	notify_manager(opd, false);
	return finish(opd, diag);
}

/* Free all, and only then tell who asked for the end that it has come. */
static void release(struct opd *opd, int err, const struct op_diag *diag)
{
	opd_release(opd);
	opd_control_answer_shutdown(&opd->control, err, diag);
	opd_options_release(&opd->options);
}

int opd_main(struct opd *opd, int argc, const char **argv)
{
	struct op_diag diag = { "" };
	bool told = false;
	int waiting;
	int err;

	opd_init(opd);
	if (opd_options_parse(&opd->options, argc, argv, &diag)) {
		opd_options_release(&opd->options);
		return fail(diag.text, 2);
	}
	report_ignored_options(opd->options.ignored);
	if (opd->options.version) {
		opd_options_release(&opd->options);
		return printf("oprofiled: %s %s\n", PACKAGE_NAME,
			      PACKAGE_VERSION) < 0;
	}
	if (opd_extended_init(&opd->extended, opd->options.ext_features,
			      opd->options.source, &opd->options.events,
			      &diag)) {
		release(opd, 0, NULL);
		return fail(diag.text, 2);
	}
	umask(022);
	waiting = opd->options.ready_fd;
	if (!opd->options.foreground) {
		waiting = go_to_background(&diag);
		if (waiting < 0)
			return fail(diag.text, 1);
	}
	err = run(opd, waiting, &told, &diag);
	release(opd, err, &diag);
	if (err && !told)
		return fail(diag.text, 1);
	return err ? 1 : 0;
}
