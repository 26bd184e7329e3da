// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's counters, one for each event and target.
 *
 * An event that cannot be counted, or a target that has ended, does not end
 * the run: it is marked, and the others are counted. An ordinary user who
 * asked for no mode gets user mode alone where the kernel's may not be
 * counted, and is told. Counters are never reset: what was read the last time
 * is subtracted.
 */

#include "utils/ocount/ocount_counter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "libop/files/op_open.h"
#include "libop/kernel/op_perf.h"

static struct ocount_counter *
counter_of_target(const struct ocount_counters *counters, size_t event,
		  size_t target)
{
	return &counters->list[event * counters->targets->nr + target];
}

/* ---- opening ------------------------------------------------------------- */

static void say_opened(const struct ocount_counters *counters,
		       const struct ocount_event *event,
		       const struct ocount_target *target, int fd)
{
	if (!counters->verbose)
		return;
	fprintf(stderr,
		"+ %s: type %" PRIu32 ", config 0x%" PRIx64
		", kernel %d, user %d, %s %d: %s\n",
		event->name, event->type, event->config, event->kernel,
		event->user, target->pid < 0 ? "CPU" : "thread",
		target->pid < 0 ? target->cpu : (int)target->pid,
		fd < 0 ? strerror(-fd) : "open");
}

static int try_to_open(const struct ocount_counters *counters,
		       const struct ocount_event *event,
		       const struct ocount_target *target)
{
	struct perf_event_attr attr;
	int fd;

	ocount_event_attr(event, &attr);
	attr.inherit = counters->targets->inherit;
	attr.enable_on_exec = counters->on_exec;
	fd = op_perf_open(&attr, target->pid, target->cpu, -1);
	say_opened(counters, event, target, fd);
	return fd;
}

static int explain_refusal(const struct ocount_event *event,
			   const struct ocount_target *target, int err,
			   struct op_diag *diag)
{
	struct perf_event_attr attr;

	ocount_event_attr(event, &attr);
	return op_perf_explain(diag, err, &attr, target->pid, target->cpu,
			       event->name);
}

static bool is_refusal(int err)
{
	return err == -EACCES || err == -EPERM;
}

/* Errors that are the event's, whatever the target. */
static bool is_events(int err)
{
	return err == -ENOENT || err == -EOPNOTSUPP || err == -EINVAL ||
	       err == -ENOSPC || err == -EBUSY;
}

/*
 * Once more without the kernel, which refused with -EACCES. Events that are
 * all the kernel's would count 0 then, so they fail instead. Returns the
 * descriptor or -errno.
 */
static int open_user_only(struct ocount_counters *counters,
			  struct ocount_event *event,
			  const struct ocount_target *target)
{
	bool is_kernels = ocount_event_is_kernels(event);
	struct op_diag why = { "" };
	int fd;

	event->user = !is_kernels;
	explain_refusal(event, target, -EACCES, &why);
	event->user = true;
	if (is_kernels) {
		event->failed = true;
		event->reason = why;
		return -EACCES;
	}
	event->kernel = false;
	fd = try_to_open(counters, event, target);
	if (fd < 0 || ocount_event_is_clock(event))
		return fd;
	if (!counters->user_only)
		counters->user_only_why = why;
	counters->user_only = true;
	if (!ocount_event_show_modes(event))
		return fd;
	close(fd);
	return -ENOMEM;
}

/* Returns 0 also for what failed and is marked so. */
static int open_counter_on_target(struct ocount_counters *counters,
				  struct ocount_counter *counter,
				  struct ocount_event *event,
				  struct ocount_target *target,
				  struct op_diag *diag)
{
	int fd = try_to_open(counters, event, target);

	if (is_refusal(fd) && event->kernel && event->user &&
	    !event->modes_given)
		fd = open_user_only(counters, event, target);
	if (event->failed)
		return 0;
	if (fd == -ESRCH && counters->targets->nr > 1) {
		target->gone = true;
		return 0;
	}
	if (is_events(fd)) {
		event->failed = true;
		explain_refusal(event, target, fd, &event->reason);
		return 0;
	}
	if (fd < 0)
		return explain_refusal(event, target, fd, diag);
	counter->fd = fd;
	return 0;
}

static int check_any_counted(const struct ocount_counters *counters,
			     struct op_diag *diag)
{
	const struct ocount_events *events = counters->events;
	const struct ocount_targets *targets = counters->targets;
	size_t i = 0;

	while (i < events->nr && events->list[i].failed)
		i++;
	if (i == events->nr)
		return op_diag_set(diag, -ENOENT, "%s",
				   events->list[0].reason.text);
	i = 0;
	while (i < targets->nr && targets->list[i].gone)
		i++;
	if (i < targets->nr)
		return 0;
	return explain_refusal(&events->list[0], &targets->list[0], -ESRCH,
			       diag);
}

static int open_all_counters(struct ocount_counters *counters,
			     struct op_diag *diag)
{
	struct ocount_events *events = counters->events;
	struct ocount_targets *targets = counters->targets;
	int err = 0;

	for (size_t e = 0; e < events->nr; e++) {
		struct ocount_event *event = &events->list[e];

		for (size_t t = 0; !err && !event->failed && t < targets->nr;
		     t++) {
			if (!targets->list[t].gone)
				err = open_counter_on_target(
					counters,
					counter_of_target(counters, e, t),
					event, &targets->list[t], diag);
		}
	}
	return err ? err : check_any_counted(counters, diag);
}

int ocount_counters_open(struct ocount_counters *counters,
			 struct ocount_events *events,
			 struct ocount_targets *targets, bool on_exec,
			 bool verbose, struct op_diag *diag)
{
	size_t nr = events->nr * targets->nr;

	*counters = (struct ocount_counters){
		.events = events,
		.targets = targets,
		.on_exec = on_exec,
		.verbose = verbose,
	};
	counters->list = calloc(nr, sizeof(*counters->list));
	if (!counters->list)
		return op_out_of_memory(diag);
	for (size_t i = 0; i < nr; i++)
		counters->list[i].fd = -1;
	/* The command has been forked before and keeps its own limit. */
	op_open_raise_limit();
	return open_all_counters(counters, diag);
}

void ocount_counters_close(struct ocount_counters *counters)
{
	if (!counters->list)
		return;
	for (size_t i = 0; i < counters->events->nr * counters->targets->nr;
	     i++)
		if (counters->list[i].fd >= 0)
			close(counters->list[i].fd);
	free(counters->list);
	counters->list = NULL;
}

/* ---- counting ------------------------------------------------------------ */

static int control_counters(const struct ocount_counters *counters,
			    unsigned long request, struct op_diag *diag)
{
	size_t nr = counters->events->nr * counters->targets->nr;

	for (size_t i = 0; i < nr; i++) {
		int fd = counters->list[i].fd;

		if (fd >= 0 && ioctl(fd, request, 0))
			return op_diag_set(diag, -errno,
					   "cannot %s a counter: %s",
					   request == PERF_EVENT_IOC_ENABLE
						   ? "start"
						   : "stop",
					   strerror(errno));
	}
	return 0;
}

int ocount_counters_start(const struct ocount_counters *counters,
			  struct op_diag *diag)
{
	return control_counters(counters, PERF_EVENT_IOC_ENABLE, diag);
}

int ocount_counters_stop(const struct ocount_counters *counters,
			 struct op_diag *diag)
{
	return control_counters(counters, PERF_EVENT_IOC_DISABLE, diag);
}

int ocount_counters_read(struct ocount_counters *counters, size_t event,
			 size_t target, struct ocount_reading *reading,
			 struct op_diag *diag)
{
	struct ocount_counter *counter =
		counter_of_target(counters, event, target);
	struct ocount_reading now; /* read(2) gives it in this order */
	ssize_t len;

	*reading = (struct ocount_reading){ 0 };
	if (counter->fd < 0)
		return 0;
	len = read(counter->fd, &now, sizeof(now));
	if (len < 0)
		return op_diag_set(diag, -errno, "%s: cannot read it: %s",
				   counters->events->list[event].name,
				   strerror(errno));
	/* The kernel has taken away a counter that was to be always on. */
	if (len != sizeof(now))
		return 0;
	*reading = (struct ocount_reading){
		.value = now.value - counter->last.value,
		.enabled = now.enabled - counter->last.enabled,
		.running = now.running - counter->last.running,
	};
	counter->last = now;
	return 0;
}
