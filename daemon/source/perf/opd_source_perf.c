// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_events: for machines whose kernel takes no module, and for users who
 * may profile their own programs only.
 *
 *	opd_perf_events	opens events, whose rings
 *	opd_perf_ring	reads and
 *	opd_perf_merge	brings in order;
 *	opd_perf_record	takes records apart,
 *	opd_perf_image	names images, whose files may be deleted soon:
 *	opd_perf_files	holds some open for a moment, which also come from
 *	opd_perf_execs	fanotify, or ahead of their exec from
 *	opd_perf_folders	those that have programs of this user;
 *	opd_process_table	knows by opd_maps what is mapped where;
 *	opd_perf_proc	fills it in from /proc; and
 *	opd_perf_handle	writes, with
 *	opd_perf_stack	and the unwinder for stacks,
 *	opd_waits	for threads that have no CPU,
 *	opd_perf_words	the stream
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "libop/base/op_clock.h"
#include "libop/base/op_log.h"
#include "daemon/source/perf/opd_perf_attr.h"
#include "daemon/source/perf/opd_perf_record.h"
#include "daemon/source/perf/opd_perf_events.h"
#include "daemon/source/perf/opd_perf_execs.h"
#include "daemon/source/perf/opd_perf_proc.h"
#include "daemon/source/perf/opd_perf_target.h"
#include "daemon/source/opd_source.h"
#include "daemon/source/waits/opd_latency.h"
#include "daemon/source/waits/opd_waits.h"
#include "libop/kernel/op_perf.h"
#include "libop/kernel/op_sched_text.h"

/* How often rings are emptied that are far from full. */
#define TICK_MS 100
#define TICKS_PER_SECOND (1000 / TICK_MS)
/*
 * Each record of side band wakes us, to open the file of a new image before it
 * is deleted. So that forks and execs of known programs do not wake us for each
 * of them there is a pause after a look: a short one while new images come.
 */
#define PAUSE_NS 2000000
#define PAUSE_LONG_NS 32000000
#define NEWS_NS 200000000 /* so long after a new one more are expected */
/* A CPU may have taken the time of a record, but not written it yet. */
#define LATE_NS 2000000

#define MODULES "/proc/modules"

struct opd_perf {
	struct opd_perf_target target;
	struct op_perf_filter filter;
	struct opd_perf_events events;
	struct opd_perf_merge merge;
	struct opd_process_table table;
	struct opd_waits waits;
	struct opd_latency latency;
	uint64_t horizon; /* what is being read is before this, ns */
	int timer_fd;
	/* looking ahead in side band */
	int side_fd; /* an epoll of its rings */
	int pause_fd; /* a timer that ends the pause after a look */
	bool side_came; /* side band, since the last pause */
	uint64_t news_at; /* ns, when the last new image was seen there */
	struct opd_perf_execs execs;
	bool reading; /* up to the horizon there may be more */
	bool done; /* all was read: wait before looking again */
	bool flush; /* what is there now is wanted, however late */
	bool charge; /* count waits as far as they are now */
	bool on;
	bool armed; /* the exec of the target turns it on */
	uint64_t off_at; /* ns; 0: it was never turned off */
	unsigned int ticks;
	bool check_cpus; /* once all is read */
	uint64_t modules; /* a hash of what modules there are */
	bool kernel_changed; /* not said yet */
	/* Samples that did not fit the rings: those that the kernel told of,
	 * and what they stand for. */
	uint64_t lost, lost_times;
	uint64_t throttled; /* the most that was told */
	uint64_t date_of_boot; /* ns since the epoch; 0: not looked at yet */
};

/* The lead, ns, of the clock of records over CLOCK_MONOTONIC, which programs
 * use. */
static int64_t raw_ahead_ns(void)
{
	return (int64_t)(opd_perf_now() - op_clock_ns(CLOCK_MONOTONIC));
}

/*
 * The lead, ns, of dates over times of records. The date is that of the start
 * and what has passed since, also while the machine slept: a clock that is set
 * later would make times of samples overlap, or leave a gap.
 */
static int64_t date_ahead_ns(struct opd_perf *perf)
{
	uint64_t boot = op_clock_ns(CLOCK_BOOTTIME);

	if (!perf->date_of_boot)
		perf->date_of_boot = op_clock_ns(CLOCK_REALTIME) - boot;
	return (int64_t)(perf->date_of_boot + boot - opd_perf_now());
}

/* ---- opening ----------------------------------------------------------------
 */

/* A user who may not sample the kernel gets samples of user mode alone. */
static void limit_to_user(struct opd_events *events)
{
	if (op_perf_may_sample_kernel())
		return;
	for (unsigned int i = 0; i < events->nr; i++)
		if (opd_event_is_timer(&events->counter[i]))
			events->counter[i].kernel = false;
}

static void describe(struct opd_source *source, const struct opd_perf *perf)
{
	const struct opd_event *first = &source->events->counter[0];

	source->timer_hz = (uint32_t)(UINT64_C(1000000000) /
				      opd_perf_period(perf->target.rate));
	snprintf(source->cpu_type, sizeof(source->cpu_type), "%s",
		 opd_event_is_timer(first) ? "timer" : "perf");
	source->stacks = perf->target.depth != 0;
	source->targeted =
		opd_perf_is_targeted(&perf->target) || perf->target.cgroup;
	snprintf(source->name, sizeof(source->name), "perf/%.26s",
		 opd_event_is_timer(first) ? "cpu-clock" : first->name);
}

/* Watching it already is no error. */
static int watch(int epoll_fd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) && errno != EEXIST)
		return -errno;
	return 0;
}

static int watch_rings(const struct opd_source *source)
{
	const struct opd_perf_events *events = &source->perf->events;
	int err = 0;

	for (unsigned int i = 0; !err && i < events->nr_cpus; i++) {
		const struct opd_perf_cpu *cpu = &events->cpus[i];

		if (cpu->samples.meta)
			err = watch(source->fd, cpu->samples_fd);
		if (!err && cpu->switches.meta)
			err = watch(source->fd, cpu->switches_fd);
		if (!err && cpu->side.meta)
			err = watch(source->perf->side_fd, cpu->side_fd);
	}
	return err;
}

/* Whether new side band makes the source readable. */
static int watch_side(struct opd_source *source, bool on)
{
	struct epoll_event event = { .events = on ? EPOLLIN : 0,
				     .data.fd = source->perf->side_fd };

	return epoll_ctl(source->fd, EPOLL_CTL_MOD, source->perf->side_fd,
			 &event)
		       ? -errno
		       : 0;
}

static int start_timer(struct opd_source *source)
{
	const struct itimerspec every = {
		.it_interval.tv_nsec = TICK_MS * 1000000L,
		.it_value.tv_nsec = TICK_MS * 1000000L,
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	source->perf->timer_fd = fd;
	if (timerfd_settime(fd, 0, &every, NULL))
		return -errno;
	return watch(source->fd, fd);
}

/* Make the descriptor that is readable when there is something to do. */
static int start_waiting(struct opd_source *source)
{
	int err;

	struct opd_perf *perf = source->perf;

	source->fd = epoll_create1(EPOLL_CLOEXEC);
	if (source->fd < 0)
		return -errno;
	perf->side_fd = epoll_create1(EPOLL_CLOEXEC);
	if (perf->side_fd < 0)
		return -errno;
	err = watch_rings(source) ?: start_timer(source);
	if (err)
		return err;
	perf->pause_fd =
		timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (perf->pause_fd < 0)
		return -errno;
	if (perf->table.images.folders.fd >= 0)
		err = watch(source->fd, perf->table.images.folders.fd);
	return err ?: watch(source->fd, perf->pause_fd)
			      ?: watch(source->fd, perf->side_fd);
}

/* With the errno of the look into /proc. */
static int not_there(pid_t pid, struct op_diag *diag)
{
	if (errno == EMFILE || errno == ENFILE)
		return op_diag_set(diag, -errno, "process %d: %s", (int)pid,
				   strerror(errno));
	return op_diag_set(
		diag, -ESRCH,
		"process %d: no such process, or not one of yours; ps -e lists them",
		(int)pid);
}

/* The events tell changes by now; here is what they change. */
static int read_processes(struct opd_perf *perf, struct op_diag *diag)
{
	const struct opd_perf_target *target = &perf->target;
	struct opd_process_table *table = &perf->table;

	table->now = opd_perf_now();
	table->only_chosen = target->by_cpu;
	table->filter = target->filter;
	/* Its exec starts with nothing. */
	table->chosen_by_exec = (uint32_t)target->exec;
	errno = 0;
	if (target->by_cpu && target->exec &&
	    !opd_perf_proc_tgid(table, table->chosen_by_exec))
		return not_there(target->exec, diag);
	for (size_t i = 0; i < target->nr_pids; i++)
		if (!opd_perf_proc_choose(table, (uint32_t)target->pids[i]))
			return not_there(target->pids[i], diag);
	return opd_perf_samples_cpus(target) ? opd_perf_proc_read_all(table)
					     : 0;
}

/* Files of programs before they are deleted. There is only one way for each
 * user, and none where few files may be open. */
static void hold_programs(struct opd_perf *perf)
{
	if (opd_perf_execs_open(&perf->execs) && geteuid())
		(void)opd_perf_folders_open(&perf->table.images.folders);
}

static int set_up(struct opd_source *source, struct op_diag *diag)
{
	struct opd_perf *perf = source->perf;
	int err = 0;

	opd_process_table_init(&perf->table, "/proc", source->writer);
	perf->table.lowered = true;
	if (source->client->images && *source->client->images)
		perf->table.jits.folder = source->client->images;
	perf->table.jits.log = source->client->log;
	perf->table.jits.removes_maps = perf->target.removes_maps;
	opd_process_table_want_names(&perf->table, source->client->tells);
	source->writer->names.own = source->client->own;
	opd_waits_init(&perf->waits, source->events);
	opd_latency_init(&perf->latency, source->events);
	perf->merge = (struct opd_perf_merge){
		.cpus = perf->events.cpus,
		.nr_cpus = perf->events.nr_cpus,
		.ids = perf->events.ids,
		.nr_ids = perf->events.nr_ids,
		.bounce = malloc(OPD_PERF_RECORD_MAX),
	};
	if (opd_event_is_timer(&source->events->counter[0]))
		perf->merge.period_ns = opd_perf_period(perf->target.rate);
	if (perf->waits.nr_events) {
		perf->merge.waits = &perf->waits;
		op_sched_text(&perf->table.stacks.scheduler_start,
			      &perf->table.stacks.scheduler_end);
	}
	/* Switches say which threads run, and samples of the clock how long. */
	if (perf->waits.nr_events && perf->latency.interval &&
	    perf->merge.period_ns)
		perf->merge.latency = &perf->latency;
	if (!perf->merge.bounce)
		err = -ENOMEM;
	if (!err && perf->target.depth)
		err = opd_perf_stacks_init(&perf->table, perf->target.depth,
					   perf->events.kernel_depth);
	if (!err && perf->table.images.files.max)
		hold_programs(perf);
	if (!err)
		err = read_processes(perf, diag);
	if (!err)
		err = start_waiting(source);
	return err ? op_diag_set(diag, err, "perf_events: %s", strerror(-err))
		   : 0;
}

/*
 * Whether CPUs are sampled for chosen processes. With stacks those of all
 * others would be copied, too, and fill the rings where the machine is busy,
 * unless the kernel drops them: by the filter, or by a cgroup that holds the
 * chosen ones. The filter is the better one, as a process may leave its cgroup.
 */
static void choose_way(struct opd_perf *perf)
{
	struct opd_perf_target *target = &perf->target;

	target->by_cpu = target->cgroup;
	if (target->cgroup || !op_perf_may_sample_system())
		return;
	if (!op_perf_filter_open(&perf->filter))
		target->filter = &perf->filter;
	target->by_cpu = target->filter || !target->depth;
}

static int perf_open(struct opd_source *source, const char *arg,
		     struct op_diag *diag)
{
	struct opd_perf *perf = calloc(1, sizeof(*perf));
	int err;

	if (!perf)
		return op_diag_set(diag, -ENOMEM, "perf_events: out of memory");
	perf->timer_fd = perf->side_fd = perf->pause_fd = -1;
	perf->execs.fd = perf->execs.mounts_fd = -1;
	perf->filter.program_fd = -1;
	source->perf = perf;
	source->path = "perf_events";
	err = opd_perf_target_parse(&perf->target, arg, diag);
	if (err)
		return err;
	if (opd_perf_is_targeted(&perf->target))
		choose_way(perf);
	limit_to_user(source->events);
	describe(source, perf);
	err = opd_perf_events_open(&perf->events, &perf->target, source->events,
				   diag);
	/* A thread's events tell what that thread loads only. */
	source->writer->kernel.is_told = opd_perf_samples_cpus(&perf->target);
	return err ? err : set_up(source, diag);
}

static void perf_close(struct opd_source *source)
{
	struct opd_perf *perf = source->perf;

	if (!perf)
		return;
	if (source->fd >= 0)
		close(source->fd);
	if (perf->timer_fd >= 0)
		close(perf->timer_fd);
	if (perf->side_fd >= 0)
		close(perf->side_fd);
	if (perf->pause_fd >= 0)
		close(perf->pause_fd);
	opd_perf_execs_close(&perf->execs);
	opd_perf_events_close(&perf->events);
	op_perf_filter_close(&perf->filter);
	opd_jits_save(&perf->table.jits);
	opd_waits_release(&perf->waits);
	opd_latency_release(&perf->latency);
	opd_perf_stacks_release(&perf->table.stacks);
	opd_process_table_release(&perf->table);
	opd_perf_target_release(&perf->target);
	free(perf->merge.bounce);
	free(perf);
	source->perf = NULL;
	source->fd = -1;
}

/* ---- reading ----------------------------------------------------------------
 */

/* perf_events does not tell which modules come and go. */
static void check_modules(struct opd_perf *perf)
{
	FILE *file = fopen(MODULES, "re");
	uint64_t hash = UINT64_C(14695981039346656037);
	int c;

	if (!file)
		return;
	while ((c = getc_unlocked(file)) != EOF)
		hash = (hash ^ (uint64_t)c) * UINT64_C(1099511628211);
	fclose(file);
	perf->kernel_changed |= perf->modules && perf->modules != hash;
	perf->modules = hash;
}

/* CPUs that went offline, as in a suspend, have to be opened anew. */
static void reopen_cpus(struct opd_source *source)
{
	struct opd_perf *perf = source->perf;
	struct op_diag diag = { "" };
	int nr = opd_perf_events_replug(&perf->events, &diag);

	perf->check_cpus = false;
	perf->merge.ids = perf->events.ids;
	perf->merge.nr_ids = perf->events.nr_ids;
	/* Where one CPU was refused, others may have been opened before. */
	if (nr && (watch_rings(source) ||
		   (perf->on && opd_perf_events_enable(&perf->events, true))))
		nr = -EIO;
	perf->table.stats[OPD_PERF_REPLUG] += nr > 0;
	perf->table.stats[OPD_PERF_REPLUG_FAILED] += nr < 0;
}

static void tick(struct opd_source *source)
{
	struct opd_perf *perf = source->perf;
	uint64_t times;

	if (read(perf->timer_fd, &times, sizeof(times)) < 0 ||
	    ++perf->ticks % TICKS_PER_SECOND)
		return;
	check_modules(perf);
	opd_perf_execs_read_mounts(&perf->execs);
	opd_perf_files_expire(&perf->table.images.files);
	opd_perf_folders_expire(&perf->table.images.folders);
	opd_perf_proc_find_ended(&perf->table, perf->ticks / TICKS_PER_SECOND);
	/* First all is read that CPUs left which have gone. */
	perf->check_cpus = perf->flush = true;
}

/* An event whose tasks have all ended is always ready: forget it. */
static void forget_ended(int epoll_fd, const struct epoll_event *ready)
{
	if (ready->events & (EPOLLHUP | EPOLLERR))
		epoll_ctl(epoll_fd, EPOLL_CTL_DEL, ready->data.fd, NULL);
}

static bool start_pause(const struct opd_perf *perf)
{
	bool is_short = opd_perf_now() - perf->news_at < NEWS_NS;
	struct itimerspec pause = { .it_value.tv_nsec = PAUSE_LONG_NS };

	if (is_short)
		pause.it_value.tv_nsec = PAUSE_NS;
	return !timerfd_settime(perf->pause_fd, 0, &pause, NULL);
}

/* Returns whether a ring should be read. */
static bool poll_side(struct opd_perf *perf)
{
	size_t nr_images = perf->table.images.nr;
	bool filling;

	opd_perf_execs_read(&perf->execs, &perf->table.images.files);
	if (opd_perf_merge_look_ahead(&perf->merge, &perf->table, &filling))
		perf->side_came = true;
	if (perf->table.images.nr > nr_images)
		perf->news_at = opd_perf_now();
	return filling;
}

/*
 * Look at execs and mappings before their turn. As long as there is more each
 * time, the pauses wake the daemon and not the records. Returns whether rings
 * should be read, too.
 */
static bool handle_side_early(struct opd_source *source)
{
	struct opd_perf *perf = source->perf;
	struct epoll_event ready[16];
	int nr = epoll_wait(perf->side_fd, ready, 16, 0);
	bool any, filling;

	for (int i = 0; i < nr; i++)
		forget_ended(perf->side_fd, &ready[i]);
	filling = poll_side(perf);
	any = perf->side_came;
	perf->side_came = false;
	watch_side(source, !any || !start_pause(perf));
	return filling;
}

/* Returns whether rings should be read. */
static bool handle_ready(struct opd_source *source)
{
	struct opd_perf *perf = source->perf;
	struct epoll_event ready[16];
	int nr = epoll_wait(source->fd, ready, 16, 0);
	bool read_rings = nr <= 0;
	uint64_t times;

	for (int i = 0; i < nr; i++) {
		int fd = ready[i].data.fd;

		if (fd == perf->side_fd ||
		    (fd == perf->pause_fd &&
		     read(fd, &times, sizeof(times)) > 0)) {
			read_rings |= handle_side_early(source);
			continue;
		}
		if (fd == perf->table.images.folders.fd) {
			/* A program that was just made will soon run. */
			if (opd_perf_folders_read(&perf->table.images.folders))
				perf->news_at = opd_perf_now();
			continue;
		}
		read_rings = true;
		if (fd == perf->timer_fd)
			tick(source);
		else
			forget_ended(source->fd, &ready[i]);
	}
	return read_rings;
}

static void start_reading(struct opd_source *source)
{
	struct opd_perf *perf = source->perf;

	perf->horizon = opd_perf_now();
	perf->table.jits.ahead = raw_ahead_ns();
	perf->table.words.ahead = date_ahead_ns(perf);
	perf->table.words.is_timed = true;
	if (!perf->flush)
		perf->horizon -= LATE_NS;
	perf->flush = false;
	opd_perf_events_pace(&perf->events, opd_perf_now());
	(void)poll_side(perf);
	opd_perf_merge_poll(&perf->merge);
	perf->reading = true;
}

/* Count the waits that are going on. True if their samples are written. */
static bool charge_waits(struct opd_perf *perf)
{
	uint64_t end = perf->off_at ? perf->off_at : perf->horizon;

	perf->charge = false;
	opd_waits_charge(&perf->waits, &perf->table,
			 end < perf->horizon ? end : perf->horizon);
	return opd_waits_write(&perf->waits, &perf->table);
}

static ssize_t perf_write(struct opd_source *source)
{
	struct opd_perf *perf = source->perf;

	if (perf->done) {
		perf->done = false;
		return -EAGAIN;
	}
	if (!opd_writer_goes_on(source->writer))
		return -EAGAIN;
	if (!perf->reading) {
		if (!handle_ready(source) && !perf->flush)
			return -EAGAIN;
		start_reading(source);
	}
	if (perf->kernel_changed)
		opd_perf_words_kernel_changed(&perf->table.words);
	perf->kernel_changed = false;
	perf->reading =
		!opd_perf_merge_run(&perf->merge, &perf->table, perf->horizon);
	if (!perf->reading && perf->charge)
		perf->reading = !charge_waits(perf);
	if (!perf->reading)
		opd_jits_end_round(&perf->table.jits, perf->horizon);
	if (perf->check_cpus && !perf->reading)
		reopen_cpus(source);
	if (!source->writer->words.nr)
		return -EAGAIN;
	perf->done = !perf->reading;
	return 1;
}

/* ---- sampling ---------------------------------------------------------------
 */

static int perf_enable(struct opd_source *source, bool on, struct op_diag *diag)
{
	struct opd_perf *perf = source->perf;
	bool by_exec =
		on && perf->target.exec && !perf->target.by_cpu && !perf->armed;
	int err = 0;

	if (on && perf->off_at) {
		opd_perf_merge_stop(&perf->merge, &perf->table, perf->off_at);
		perf->off_at = 0;
	}
	if (!by_exec)
		err = opd_perf_events_enable(&perf->events, on);
	if (err)
		return op_diag_set(diag, err, "perf_events: %s",
				   strerror(-err));
	if (on && perf->waits.nr_events)
		opd_waits_begin(&perf->waits, &perf->table, perf->target.pids,
				perf->target.nr_pids, opd_perf_now());
	perf->armed |= by_exec;
	if (perf->on && !on)
		perf->off_at = opd_perf_now();
	perf->on = on;
	return 0;
}

static int perf_enabled(struct opd_source *source, bool *on)
{
	*on = source->perf->on;
	return 0;
}

static int perf_dump(struct opd_source *source, struct op_diag *diag)
{
	(void)diag;
	source->perf->flush = true;
	source->perf->charge = source->perf->waits.nr_events != 0;
	source->perf->done = false;
	source->perf->reading = false; /* the horizon is a later one */
	check_modules(source->perf);
	opd_jits_save(&source->perf->table.jits);
	return 0;
}

static int perf_cookie(struct opd_source *source, struct op_cookie_query *query)
{
	return opd_perf_image_query(&source->perf->table.images, query);
}

static int perf_detach_file(struct opd_source *source, uint64_t cookie)
{
	return opd_perf_image_take(&source->perf->table.images, cookie);
}

/* ---- statistics -------------------------------------------------------------
 */

static void update_lost(struct opd_perf *perf)
{
	uint64_t lost;

	if (!opd_perf_events_lost(&perf->events, &lost) || lost <= perf->lost)
		return;
	perf->lost_times += (lost - perf->lost) << perf->events.shift;
	perf->lost = lost;
}

/* The kernel knows better than the records that have come; returns what is
 * known of these, to be put back. */
static uint64_t set_overflow(struct opd_perf *perf)
{
	uint64_t *overflow = &perf->table.stats[OPD_PERF_OVERFLOW];
	uint64_t before = *overflow;

	update_lost(perf);
	if (perf->lost_times > *overflow)
		*overflow = perf->lost_times;
	return before;
}

static int perf_account(struct opd_source *source, struct op_ledger *ledger)
{
	struct opd_perf *perf = source->perf;
	uint64_t *throttled = &perf->table.stats[OPD_PERF_THROTTLED];
	uint64_t before = *throttled, overflow = set_overflow(perf);
	int err;

	*throttled += opd_perf_merge_throttled(
		&perf->merge, perf->off_at ? perf->off_at : opd_perf_now());
	/* A CPU may have gone on already, as a record says that comes later:
	 * what was told too much is told less the next time. */
	if (*throttled < perf->throttled)
		*throttled = perf->throttled;
	perf->throttled = *throttled;
	err = opd_process_table_account(&perf->table, ledger);
	*throttled = before;
	perf->table.stats[OPD_PERF_OVERFLOW] = overflow;
	return err;
}

/*
 * Where events share counters the kernel moves each of them on by one place
 * every 4 ms (perf_event_mux_interval_ms): so all have had a turn when all have
 * been moved.
 */
#define KERNEL_SLICE_NS UINT64_C(4000000)

static int perf_event_time(struct opd_source *source, unsigned int counter,
			   struct op_event_time *time)
{
	const struct opd_event *event;
	struct opd_perf_times times;
	uint64_t nr = 0;

	if (!opd_perf_events_times(&source->perf->events, counter, &times))
		return -ENOENT;
	event = &source->events->counter[counter];
	time->enabled = times.enabled;
	time->running = times.running;
	time->samples = event->count ? times.count / event->count : 0;
	for (unsigned int i = 0; i < source->events->nr; i++)
		nr += source->events->counter[i].set;
	time->turns = nr ? times.enabled / (nr * KERNEL_SLICE_NS) : 0;
	return 0;
}

static int perf_handler_time(struct opd_source *source, uint64_t *ns,
			     unsigned int nr)
{
	const struct opd_perf_events *events = &source->perf->events;

	for (unsigned int i = 0; i < events->nr_cpus; i++)
		if (events->cpus[i].cpu < nr)
			ns[events->cpus[i].cpu] = events->cpus[i].handler;
	return 0;
}

static int perf_lower_rate(struct opd_source *source, unsigned int shift)
{
	struct opd_perf *perf = source->perf;

	update_lost(perf);
	return opd_perf_events_lower(&perf->events, shift, opd_perf_now);
}

static struct unwinder *perf_unwinder(struct opd_source *source)
{
	return source->perf->table.stacks.unwinder;
}

static void log_stacks(const struct opd_perf *perf, struct op_log *log)
{
	struct unwinder_stats stats;

	unwinder_stats(perf->table.stacks.unwinder, &stats);
	op_log_plain(log, "Nr. bytes of user stack in a sample: %" PRIu32,
		     perf->events.stack);
	op_log_plain(log,
		     "Nr. unwind tables: %" PRIu64 ", %" PRIu64
		     " bytes; made %" PRIu64 ", dropped %" PRIu64
		     ", images without %" PRIu64,
		     stats.nr_tables, stats.bytes, stats.nr_made,
		     stats.nr_dropped, stats.nr_failed);
}

static void perf_log(struct opd_source *source, struct op_log *log)
{
	struct opd_perf *perf = source->perf;
	uint64_t bad = 0, overflow = set_overflow(perf);

	for (unsigned int i = 0; i < perf->events.nr_cpus; i++)
		bad += perf->events.cpus[i].samples.nr_bad +
		       perf->events.cpus[i].switches.nr_bad +
		       perf->events.cpus[i].side.nr_bad;
	op_log_plain(log, "Nr. invalid records: %" PRIu64, bad);
	opd_process_table_log(&perf->table, log);
	perf->table.stats[OPD_PERF_OVERFLOW] = overflow;
	op_log_plain(log, "Nr. files of programs from fanotify: %" PRIu64,
		     perf->execs.nr_files);
	op_log_plain(log, "Nr. overflows of fanotify: %" PRIu64,
		     perf->execs.nr_overflows);
	if (perf->target.depth)
		log_stacks(perf, log);
}

const struct opd_source_ops opd_source_perf = {
	.name = "perf",
	.of_this_machine = true,
	.open = perf_open,
	.close = perf_close,
	.write = perf_write,
	.enable = perf_enable,
	.enabled = perf_enabled,
	.dump = perf_dump,
	.cookie = perf_cookie,
	.detach_file = perf_detach_file,
	.account = perf_account,
	.event_time = perf_event_time,
	.handler_time = perf_handler_time,
	.lower_rate = perf_lower_rate,
	.unwinder = perf_unwinder,
	.log = perf_log,
};
