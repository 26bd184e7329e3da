// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signals come through a descriptor like everything else, so nothing interrupts
 * a handler and no handler needs locks. What is left of a record at the end of
 * a read is moved to the start of the buffer and completed by the next read.
 * The number of reads for one event is bounded, because a busy source would
 * otherwise keep clients and signals waiting for ever.
 *
 * Every 10 seconds binaries are checked for having vanished, and whether a span
 * of the history has come to its end; every minute the
 * size of the sample files is looked at (when they have no room, each time),
 * and every 10 minutes everything is brought to the disk.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "daemon/opd.h"
#include "daemon/opd_command.h"
#include "daemon/store/opd_history.h"

#define TICK_SECONDS 10
#define TICKS_TO_PACK 6
#define TICKS_TO_SYNC 60
#define MAX_EVENTS 8
/* A buffer that fills up as fast as it is read must not be read for ever. */
#define MAX_DRAIN_READS 4096
/* The same where signals and clients may be waiting, too: 2 MiB may be 128
 * pieces of stacks, each of which takes its time to be unwound. */
#define MAX_READS 4

static void signal_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGCHLD);
}

void opd_loop_block_signals(void)
{
	sigset_t set;

	signal_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* ---- reading ----------------------------------------------------------------
 */

/* Hand the whole words to the context machine; what it leaves stays. */
static void handle_words(struct opd *opd)
{
	struct opd_loop *loop = &opd->loop;
	size_t used;

	used = opd_trans_run(opd, loop->words, loop->len / sizeof(uint64_t));
	loop->len -= used * sizeof(uint64_t);
	memmove(loop->words, loop->words + used, loop->len);
}

/* Returns the number of bytes, 0 at the end of the stream, or -errno. */
static ssize_t read_once(struct opd *opd)
{
	struct opd_loop *loop = &opd->loop;
	size_t room = OPD_CHUNK_WORDS * sizeof(uint64_t) - loop->len;
	char *to = (char *)loop->words + loop->len;
	ssize_t got = opd_source_read(&opd->source, to, room);

	if (got > 0) {
		opd_record_write(&opd->record, to, (size_t)got);
		loop->len += (size_t)got;
		opd->stats.nr_reads++;
		handle_words(opd);
	}
	return got;
}

/* The source has ended, or cannot be read any more. */
static void end_source(struct opd *opd, ssize_t got)
{
	opd->loop.quit = true;
	opd->loop.error = (int)got;
	if (got)
		op_log(&opd->log, "reading samples: %s", strerror((int)-got));
}

/* Whether there may be more at once. */
static bool read_more(struct opd *opd)
{
	ssize_t got = read_once(opd);

	if (got > 0)
		return true;
	if (got != -EAGAIN)
		end_source(opd, got);
	return false;
}

/* Likewise, after MAX_READS at most. */
static bool read_many(struct opd *opd)
{
	bool more = true;

	for (int i = 0; more && i < MAX_READS; i++)
		more = read_more(opd);
	return more;
}

/* Likewise; the time that it takes is reading in the budget's account. */
static bool read_in_budget(struct opd *opd)
{
	bool more;

	opd_budget_reads(&opd->budget);
	more = read_many(opd);
	opd_budget_has_read(&opd->budget);
	return more;
}

/* Where more comes than can be read, a lower rate will end it. */
void opd_loop_drain(struct opd *opd)
{
	bool more = true;

	for (int i = 0; more && i < MAX_DRAIN_READS; i += MAX_READS) {
		more = read_in_budget(opd);
		opd_budget_check(&opd->budget, false);
	}
}

/* ---- the disk ---------------------------------------------------------------
 */

/* A thread that waits until all of a file system is on the disk. */
struct barrier {
	int folder;
	int done; /* an eventfd */
	int err;
};

static void *wait_for_disk(void *arg)
{
	struct barrier *barrier = arg;

	if (syncfs(barrier->folder))
		barrier->err = -errno;
	if (barrier->done >= 0 && eventfd_write(barrier->done, 1))
		barrier->err = -errno;
	return NULL;
}

/* Go on counting until the thread is done: a disk that is busy may take
 * seconds, which no buffer of samples lasts. */
static void count_meanwhile(struct opd *opd, struct barrier *barrier)
{
	struct pollfd fds[] = { { .fd = barrier->done, .events = POLLIN },
				{ .fd = opd->source.fd, .events = POLLIN } };

	while (!(fds[0].revents & POLLIN)) {
		/* A source that has ended is ready for ever. */
		if (opd->loop.quit)
			fds[1].fd = -1;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			read_many(opd);
	}
}

/*
 * Bring to the disk what has been counted until now, the files, their folders
 * and the ledger, whatever is counted meanwhile. One call for the whole file
 * system: a session has thousands of files.
 */
static int bring_to_disk(struct opd *opd)
{
	struct barrier barrier = { .done = -1 };
	pthread_t thread;

	/* What is replayed can be replayed again. */
	if (opd->source.ops->ends)
		return 0;
	barrier.done = eventfd(0, EFD_CLOEXEC);
	barrier.folder =
		open(opd->session.samples, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (barrier.folder < 0) {
		barrier.err = -errno;
	} else if (barrier.done < 0 ||
		   pthread_create(&thread, NULL, wait_for_disk, &barrier)) {
		wait_for_disk(&barrier);
	} else {
		count_meanwhile(opd, &barrier);
		pthread_join(thread, NULL);
	}
	if (barrier.folder >= 0)
		close(barrier.folder);
	if (barrier.done >= 0)
		close(barrier.done);
	return barrier.err;
}

int opd_loop_dump(struct opd *opd, struct op_diag *diag)
{
	int err = opd_source_dump(&opd->source, diag);

	if (err)
		return err;
	opd_loop_drain(opd);
	opd_record_flush(&opd->record);
	opd_keep_sweep(&opd->keep);
	opd_sfiles_sync(&opd->store);
	while (opd_ksyms_take(&opd->ksyms))
		;
	opd_tasks_write(&opd->tasks, false);
	opd_budget_check(&opd->budget, true);
	err = opd_stats_write(&opd->stats);
	if (err)
		op_diag_set(diag, err, "the ledger cannot be written");
	else
		err = bring_to_disk(opd);
	opd_pack_check(&opd->store);
	return err ? op_diag_set(diag, err,
				 "%s: samples cannot be written to disk: %s",
				 opd->session.samples, strerror(-err))
		   : 0;
}

/* ---- waiting ----------------------------------------------------------------
 */

int opd_loop_add(struct opd_loop *loop, int fd, unsigned int waiter)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = waiter };

	return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno
								    : 0;
}

static int add_timer(struct opd_loop *loop)
{
	const struct itimerspec every = {
		.it_interval.tv_sec = TICK_SECONDS,
		.it_value.tv_sec = TICK_SECONDS,
	};

	loop->timer_fd =
		timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (loop->timer_fd < 0 ||
	    timerfd_settime(loop->timer_fd, 0, &every, NULL))
		return -errno;
	return opd_loop_add(loop, loop->timer_fd, OPD_WAIT_TIMER);
}

static int add_signals(struct opd_loop *loop)
{
	sigset_t set;

	signal_set(&set);
	loop->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (loop->signal_fd < 0)
		return -errno;
	return opd_loop_add(loop, loop->signal_fd, OPD_WAIT_SIGNAL);
}

static int add_source(struct opd *opd)
{
	int err = opd_loop_add(&opd->loop, opd->source.fd, OPD_WAIT_SOURCE);

	/* epoll does not take regular files: they are always ready. */
	if (err == -EPERM) {
		opd->loop.always_ready = true;
		err = 0;
	}
	return err;
}

int opd_loop_init(struct opd *opd, struct op_diag *diag)
{
	struct opd_loop *loop = &opd->loop;
	int err = -ENOMEM;

	loop->signal_fd = loop->timer_fd = -1;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	loop->words = malloc(OPD_CHUNK_WORDS * sizeof(uint64_t));
	if (loop->epoll_fd < 0)
		err = -errno;
	else if (loop->words)
		err = add_signals(loop);
	if (!err)
		err = add_timer(loop);
	if (!err)
		err = add_source(opd);
	return err ? op_diag_set(diag, err, "event loop: %s", strerror(-err))
		   : 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void opd_loop_release(struct opd *opd)
{
	struct opd_loop *loop = &opd->loop;

	close_fd(&loop->signal_fd);
	close_fd(&loop->timer_fd);
	close_fd(&loop->epoll_fd);
	free(loop->words);
	loop->words = NULL;
}

/* ---- events -----------------------------------------------------------------
 */

static void hang_up(struct opd *opd)
{
	struct op_diag diag = { "" };

	opd_sfiles_drop_all(&opd->store);
	if (op_log_open(&opd->log, opd->session.log, &diag))
		op_log(&opd->log, "%s", diag.text);
	opd_user_samples_read_policy_again(&opd->user_samples);
	op_log(&opd->log, "closed all sample files and opened the log again");
}

static void reap_children(struct opd *opd)
{
	opd_pack_reap(&opd->store);
	opd_user_samples_reap(&opd->user_samples);
}

static void handle_signal(struct opd *opd)
{
	struct signalfd_siginfo info;

	while (read(opd->loop.signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			hang_up(opd);
		else if (info.ssi_signo == SIGCHLD)
			reap_children(opd);
		else
			opd->loop.quit = true;
	}
}

/* A reader or a child may be in the way: it is tried again at the next tick. */
static void close_span(struct opd *opd)
{
	struct op_diag diag = { "" };
	int err = opd_command_close_span(opd, &diag);

	if (err && err != -EBUSY)
		op_log(&opd->log, "%s", diag.text);
}

/* None is closed before the child has made room for it. */
static void close_due_span(struct opd *opd)
{
	if (!opd->store.history.is_untended && opd_history_is_due(&opd->store))
		close_span(opd);
}

/* Nobody knows how much comes until the next tick. */
static void make_room(struct opd *opd)
{
	close_due_span(opd);
	if (opd->store.history.is_untended)
		opd_pack_check(&opd->store);
}

static void handle_timer(struct opd *opd)
{
	struct op_diag diag = { "" };
	uint64_t times;

	if (read(opd->loop.timer_fd, &times, sizeof(times)) < 0)
		return;
	opd_keep_sweep(&opd->keep);
	close_due_span(opd);
	if (++opd->loop.ticks % TICKS_TO_PACK == 0 ||
	    opd->store.disk.is_short || opd->store.history.is_untended)
		opd_pack_check(&opd->store);
	if (opd->loop.ticks % TICKS_TO_SYNC)
		return;
	op_log_refill(&opd->log);
	if (opd_loop_dump(opd, &diag))
		op_log(&opd->log, "%s", diag.text);
	opd_log_statistics(opd);
}

/* To a user who asks for samples, all that were taken up to now. */
static void hand_over(struct opd *opd)
{
	struct op_diag diag = { "" };

	if (!opd_user_samples_accept(&opd->user_samples))
		return;
	if (opd_source_dump(&opd->source, &diag))
		op_log(&opd->log, "%s", diag.text);
	opd_loop_drain(opd);
	opd_user_samples_answer(&opd->user_samples, opd->source.name);
}

static void handle_event(struct opd *opd, uint32_t waiter)
{
	switch (waiter) {
	case OPD_WAIT_SOURCE:
		read_in_budget(opd);
		if (opd_history_is_pressed(&opd->store))
			make_room(opd);
		break;
	case OPD_WAIT_SIGNAL:
		handle_signal(opd);
		break;
	case OPD_WAIT_TIMER:
		handle_timer(opd);
		break;
	case OPD_WAIT_LISTEN:
		opd_control_accept(opd);
		break;
	case OPD_WAIT_USER_SAMPLES:
		hand_over(opd);
		break;
	default:
		opd_control_handle(opd, waiter - OPD_WAIT_CLIENT);
		break;
	}
}

static void run_once(struct opd *opd, bool wait)
{
	struct epoll_event events[MAX_EVENTS];
	int nr = epoll_wait(opd->loop.epoll_fd, events, MAX_EVENTS,
			    wait ? -1 : 0);

	if (nr < 0 && errno != EINTR)
		end_source(opd, -errno);
	for (int i = 0; i < nr && !opd->loop.quit; i++)
		handle_event(opd, events[i].data.u32);
}

void opd_loop_run(struct opd *opd)
{
	bool more = false; /* symbols to take while nothing happens */

	/* The first records of a stream make no descriptor readable. */
	read_more(opd);
	while (!opd->loop.quit) {
		run_once(opd, !opd->loop.always_ready && !more);
		opd_priority_check(&opd->priority, &opd->log);
		opd_budget_check(&opd->budget, false);
		if (opd->loop.always_ready && !opd->loop.quit)
			read_more(opd);
		more = !opd->loop.quit && opd_ksyms_take(&opd->ksyms);
	}
}
