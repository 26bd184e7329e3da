// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ocount: count events of a command, processes, threads or CPUs.
 *
 * The order of a run: command line, events, output, the command's process
 * waits, counters, the command executes, its end or a signal, the counts. What
 * an output file held stays until the first counts are written. The exit
 * status is the command's, and 125 to 127 where ocount itself fails, as env(1)
 * and others have it.
 */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "libop/base/op_clock.h"
#include "libop/kernel/op_perf.h"
#include "utils/ocount/ocount_counter.h"
#include "utils/ocount/ocount_event.h"
#include "utils/ocount/ocount_options.h"
#include "utils/ocount/ocount_print.h"
#include "utils/ocount/ocount_result.h"
#include "utils/ocount/ocount_target.h"
#include "utils/ocount/ocount_watch.h"
#include "utils/command.h"
#include "utils/say.h"

/* Exit statuses of ocount's own; all others are those of the command. */
#define EXIT_OCOUNT 125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

struct ocount {
	struct ocount_request request;
	struct ocount_events events;
	FILE *output; /* stdout if none was given */
	struct command command;
	struct ocount_targets targets;
	struct ocount_watch watch;
	struct ocount_counters counters;
	struct ocount_result result;
	char *subject;
	uint64_t since; /* ns; when the interval began */
	uint64_t nr_printed;
	struct op_diag diag;
};

/* ---- output -------------------------------------------------------------- */

/* An existing file keeps its content until there are new counts to write. */
static int open_output(struct ocount *o)
{
	const char *path = o->request.output;
	int fd;

	o->output = stdout;
	if (!path)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	o->output = fd < 0 ? NULL : fdopen(fd, "w");
	if (o->output)
		return 0;
	return op_diag_set(&o->diag, -errno,
			   "--output-file=%s: cannot open it: %s", path,
			   strerror(errno));
}

static int fail_output(struct ocount *o)
{
	const char *path = o->request.output;

	return op_diag_set(&o->diag, -errno, "%s: cannot write to it: %s",
			   path ? path : "standard output", strerror(errno));
}

/* Print the counts since the last interval. */
static int print_result(struct ocount *o)
{
	const struct ocount_style style = {
		.subject = o->subject,
		.separate =
			o->request.separate_cpu || o->request.separate_thread,
		.brief = o->request.brief,
		.intervals = o->request.interval_ms != 0,
	};
	uint64_t until = op_clock_ns(CLOCK_MONOTONIC);
	int fd = fileno(o->output);
	struct stat st;
	int err = ocount_result_read(&o->result, &o->counters, until - o->since,
				     &o->diag);

	if (err)
		return err;
	if (o->request.output && !o->nr_printed && !fstat(fd, &st) &&
	    S_ISREG(st.st_mode) && ftruncate(fd, 0))
		return fail_output(o);
	o->since = until;
	o->nr_printed++;
	ocount_print(o->output, &style, &o->result);
	return fflush(o->output) ? fail_output(o) : 0;
}

/* ---- before -------------------------------------------------------------- */

static int set_subject(struct ocount *o)
{
	const struct ocount_request *r = &o->request;
	static const char *const kinds[] = {
		[OCOUNT_CPUS] = "CPU",
		[OCOUNT_PROCESSES] = "process",
		[OCOUNT_THREADS] = "thread",
	};
	int len;

	if (r->mode == OCOUNT_COMMAND)
		len = asprintf(&o->subject, "%s", o->command.path);
	else if (r->mode == OCOUNT_SYSTEM)
		len = asprintf(&o->subject, "the whole system");
	else
		len = asprintf(&o->subject, "%s %s", kinds[r->mode], r->list);
	if (len >= 0)
		return 0;
	o->subject = NULL;
	return op_out_of_memory(&o->diag);
}

/* Find the targets of counting, or make the command's process; @status is set
 * for a command that cannot run. */
static int prepare_targets(struct ocount *o, int *status)
{
	const struct ocount_request *r = &o->request;
	int err;

	if (r->mode != OCOUNT_COMMAND) {
		err = ocount_targets_init(&o->targets, r->mode, r->list,
					  &o->diag);
		return err ? err : set_subject(o);
	}
	command_init(&o->command, (char **)r->command);
	err = command_find(&o->command, &o->diag);
	if (err)
		*status = err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	else
		err = command_fork(&o->command, &o->diag);
	if (!err)
		err = ocount_targets_init_child(&o->targets, o->command.pid,
						&o->diag);
	return err ? err : set_subject(o);
}

static int prepare_counters(struct ocount *o)
{
	const struct ocount_request *r = &o->request;
	/* The command's process has been made: it keeps its own signals. */
	int err = ocount_watch_block(&o->diag);

	if (!err)
		err = ocount_watch_init(&o->watch, o->targets.watched,
					o->targets.nr_watched, r->interval_ms,
					&o->diag);
	if (!err)
		err = ocount_counters_open(&o->counters, &o->events,
					   &o->targets,
					   r->mode == OCOUNT_COMMAND,
					   r->verbose, &o->diag);
	if (err)
		return err;
	return ocount_result_init(&o->result, &o->counters,
				  r->separate_cpu || r->separate_thread,
				  &o->diag);
}

/*
 * The kernel stops counting for an ordinary user when a program begins that
 * has more rights than the user, or that the user may not read.
 */
static void note_protected(const struct ocount *o)
{
	const char *path = o->command.path;
	struct op_perf_rights rights;
	struct stat st;

	op_perf_rights_get(&rights);
	if (rights.capable || stat(path, &st))
		return;
	if (((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	    ((st.st_mode & S_ISGID) && st.st_gid != getegid()) ||
	    access(path, R_OK))
		say_note(
			"ocount",
			"%s: the kernel does not let ordinary users count a program that is set-user-ID or that they cannot read; run ocount as root",
			path);
}

/* ---- the run ------------------------------------------------------------- */

static int begin_counting(struct ocount *o, int *status)
{
	const struct ocount_request *r = &o->request;
	int err;

	if (o->events.is_fallback)
		say_note(
			"ocount",
			"no hardware counters here, as in most virtual machines; counting cpu-clock, nanoseconds on a CPU");
	for (size_t i = 0; i < o->events.nr; i++)
		if (o->events.list[i].failed)
			say_note("ocount", "not counted: %s",
				 o->events.list[i].reason.text);
	if (o->counters.user_only)
		say_note("ocount", "counting user mode only: %s",
			 o->counters.user_only_why.text);
	o->since = op_clock_ns(CLOCK_MONOTONIC);
	if (r->mode == OCOUNT_COMMAND) {
		note_protected(o);
		err = command_exec(&o->command, &o->diag);
		if (err && err != -ESRCH)
			*status = err == -ENOENT ? EXIT_NOT_FOUND
						 : EXIT_NOT_EXECUTABLE;
		return err;
	}
	err = ocount_counters_start(&o->counters, &o->diag);
	if (!err && !r->nr_intervals)
		say_note("ocount", "counting; Ctrl-C or kill -INT %d ends it",
			 (int)getpid());
	return err;
}

/* Whether the intervals that were asked for have all been printed. */
static bool has_all(const struct ocount *o)
{
	return o->request.nr_intervals &&
	       o->nr_printed >= o->request.nr_intervals;
}

/* Wait for the end. */
static int wait_for_counts(struct ocount *o)
{
	bool asked = false;
	int err = 0;

	while (!err && (o->command.pid || !has_all(o))) {
		switch (ocount_watch_wait(&o->watch)) {
		case OCOUNT_INTERVAL:
			err = print_result(o);
			if (err || !has_all(o))
				break;
			ocount_watch_stop_timer(&o->watch);
			err = ocount_counters_stop(&o->counters, &o->diag);
			break;
		case OCOUNT_SIGNAL:
			/* A command is asked once to end, then left alone. */
			if (!o->command.pid || asked)
				return 0;
			asked = true;
			/* The terminal's keys have reached the command, too. */
			if (o->watch.sent)
				kill(o->command.pid, o->watch.sig);
			break;
		case OCOUNT_ENDED:
			return 0;
		case OCOUNT_FAILED:
			return op_diag_set(&o->diag, -errno, "cannot wait: %s",
					   strerror(errno));
		}
	}
	return err;
}

/* Returns the command's exit status; a signal that ended it is reported. */
static int keep_command_status(struct ocount *o)
{
	struct command *command = &o->command;
	siginfo_t info = { .si_pid = 0 };
	int sig;

	waitid(P_PID, (id_t)command->pid, &info, WEXITED | WNOHANG | WNOWAIT);
	if (!info.si_pid) {
		say_note("ocount", "%s: continues, no longer counted",
			 command->argv[0]);
		command->pid = 0;
		return 128 + o->watch.sig;
	}
	command_wait(command);
	if (WIFSIGNALED(command->status)) {
		sig = WTERMSIG(command->status);
		say_note("ocount", "%s: was ended by signal %d (%s)",
			 command->argv[0], sig, strsignal(sig));
	}
	return command_exit_status(command);
}

/* Returns the exit status; o->diag has the reason of a failure. */
static int run_ocount(struct ocount *o)
{
	int status = EXIT_OCOUNT;
	int err = ocount_events_init(&o->events, o->request.events, &o->diag)
			  ?: open_output(o)
			  ?: prepare_targets(o, &status)
			  ?: prepare_counters(o)
			  ?: begin_counting(o, &status)
			  ?: wait_for_counts(o);

	if (err)
		return status;
	if (!has_all(o) &&
	    (ocount_counters_stop(&o->counters, &o->diag) || print_result(o)))
		return status;
	return o->command.pid ? keep_command_status(o) : EXIT_SUCCESS;
}

int main(int argc, const char **argv)
{
	struct ocount o = { .output = NULL };
	int status = EXIT_OCOUNT;

	command_init(&o.command, NULL);
	if (ocount_request_parse(&o.request, argc, argv, &o.diag))
		; /* the reason is below */
	else if (!o.request.version)
		status = run_ocount(&o);
	else if (puts("ocount: " PACKAGE_NAME " " PACKAGE_VERSION) >= 0 &&
		 !fflush(stdout))
		status = EXIT_SUCCESS;
	else
		fail_output(&o);
	if (o.diag.text[0])
		say_note("ocount", "%s", o.diag.text);
	ocount_result_release(&o.result);
	ocount_counters_close(&o.counters);
	ocount_watch_release(&o.watch);
	ocount_targets_release(&o.targets);
	command_release(&o.command);
	if (o.output && o.output != stdout)
		fclose(o.output);
	ocount_events_release(&o.events);
	ocount_request_release(&o.request);
	free(o.subject);
	return status;
}
