// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Every 10 seconds binaries are checked for having vanished, and a span of the
 * history is closed if its time has come. Every minute the size of the sample
 * files is measured (when they have no room, each time), and every 10 minutes
 * everything is brought to the disk.
 */

#include "daemon/opd_run.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "daemon/opd.h"
#include "daemon/opd_reading.h"
#include "daemon/opd_span.h"
#include "daemon/store/opd_history.h"

/* Ticks of the timer, which are 10 seconds apart. */
#define TICKS_TO_PACK 6
#define TICKS_TO_SYNC 60
#define MAX_EVENTS 8

static void hang_up(struct opd *opd)
{
	struct op_diag diag = { "" };

	opd_sfiles_drop_all(&opd->store);
	if (op_log_open(&opd->log, opd->session.log, &diag))
		op_log(&opd->log, "%s", diag.text);
	opd_user_samples_read_policy_again(&opd->user_samples);
	op_log(&opd->log, "closed all sample files and opened the log again");
}

static void handle_signal(struct opd *opd)
{
	struct signalfd_siginfo info;

	while (read(opd->loop.signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			hang_up(opd);
		} else if (info.ssi_signo == SIGCHLD) {
			opd_pack_reap(&opd->store);
			opd_user_samples_reap(&opd->user_samples);
		} else {
			opd->loop.quit = true;
		}
	}
}

/* No span is closed before the child has made room for it. */
static void close_due_span(struct opd *opd)
{
	struct op_diag diag = { "" };
	int err;

	if (opd->store.history.is_untended || !opd_history_is_due(&opd->store))
		return;
	err = opd_span_close(opd, &diag);
	/* A reader or a child is in the way: the next tick tries again. */
	if (err && err != -EBUSY)
		op_log(&opd->log, "%s", diag.text);
}

static void handle_timer(struct opd *opd)
{
	struct op_diag diag = { "" };
	uint64_t times;

	if (read(opd->loop.timer_fd, &times, sizeof(times)) < 0)
		return;
	opd_deleted_images_sweep(&opd->deleted_images);
	close_due_span(opd);
	if (++opd->loop.ticks % TICKS_TO_PACK == 0 ||
	    opd->store.disk.is_short || opd->store.history.is_untended)
		opd_pack_check(&opd->store);
	if (opd->loop.ticks % TICKS_TO_SYNC)
		return;
	op_log_refill(&opd->log);
	if (opd_reading_dump(opd, &diag))
		op_log(&opd->log, "%s", diag.text);
	opd_log_statistics(opd);
}

/* Send a user who asks for samples all that were taken up to now. */
static void send_user_samples(struct opd *opd)
{
	struct op_diag diag = { "" };

	if (!opd_user_samples_accept(&opd->user_samples))
		return;
	if (opd_source_dump(&opd->source, &diag))
		op_log(&opd->log, "%s", diag.text);
	opd_reading_drain(opd);
	opd_user_samples_answer(&opd->user_samples, opd->source.name);
}

static void handle_event(struct opd *opd, uint32_t waiter)
{
	switch (waiter) {
	case OPD_WAIT_SOURCE:
		opd_reading_in_budget(opd);
		if (!opd_history_is_pressed(&opd->store))
			break;
		/* So much may come until the next tick that it is too late. */
		close_due_span(opd);
		if (opd->store.history.is_untended)
			opd_pack_check(&opd->store);
		break;
	case OPD_WAIT_SIGNAL:
		handle_signal(opd);
		break;
	case OPD_WAIT_TIMER:
		handle_timer(opd);
		break;
	case OPD_WAIT_LISTEN:
		opd_control_accept(&opd->control);
		break;
	case OPD_WAIT_USER_SAMPLES:
		send_user_samples(opd);
		break;
	default:
		opd_control_handle(&opd->control, waiter - OPD_WAIT_CLIENT);
		break;
	}
}

static void wait_and_handle(struct opd *opd, bool wait)
{
	struct epoll_event events[MAX_EVENTS];
	int nr = epoll_wait(opd->loop.epoll_fd, events, MAX_EVENTS,
			    wait ? -1 : 0);

	if (nr < 0 && errno != EINTR)
		opd_reading_end(opd, -errno);
	for (int i = 0; i < nr && !opd->loop.quit; i++)
		handle_event(opd, events[i].data.u32);
}

void opd_run(struct opd *opd)
{
	bool more = false; /* symbols to take while nothing happens */

	/* The first records of a stream make no descriptor readable. */
	opd_reading_once(opd);
	while (!opd->loop.quit) {
		wait_and_handle(opd, !opd->loop.always_ready && !more);
		opd_priority_check(&opd->priority, &opd->log);
		opd_budget_check(&opd->budget, false);
		if (opd->loop.always_ready && !opd->loop.quit)
			opd_reading_once(opd);
		more = !opd->loop.quit && opd_ksyms_copy_next(&opd->ksyms);
	}
}
