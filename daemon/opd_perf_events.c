// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/opd_perf_events.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "libop/op_config.h"
#include "libop/op_perf.h"

/* Pages of a CPU's rings: enough for a second of many samples. An ordinary
 * user may lock 129 pages for each CPU (kernel.perf_event_mlock_kb). */
#define SAMPLE_PAGES 64
#define SIDE_PAGES 32
#define FEWEST_PAGES 4

#define CPUS_ONLINE "/sys/devices/system/cpu/online"

/* Opening events, one after the other. */
struct opening {
	struct opd_perf_events *all;
	const struct opd_perf_target *target;
	const struct opd_events *counters;
	struct op_diag *diag;
};

/* What is opened on one CPU for one task. */
struct slot {
	struct opd_perf_cpu *cpu;
	pid_t task; /* -1: all */
};

/* ---- attributes -------------------------------------------------------------
 */

static bool is_task(const struct opd_perf_target *target)
{
	return target->exec || target->nr_pids;
}

/*
 * A little longer than asked for: samples at whole parts of a second would
 * always meet the same phase of work that is timed by the kernel's tick.
 */
uint64_t opd_perf_period(uint32_t rate)
{
	uint64_t ns = UINT64_C(1000000000) / rate;

	return ns + ns * 3 / 1000;
}

static void init_attr(const struct opening *o, struct perf_event_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->exclude_hv = 1;
	attr->exclude_guest = 1;
	attr->inherit = is_task(o->target);
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC_RAW;
	attr->watermark = 1;
}

static void side_attr(const struct opening *o, struct perf_event_attr *attr)
{
	init_attr(o, attr);
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->sample_type = OPD_PERF_SIDE;
	attr->exclude_kernel = 1;
	attr->mmap = attr->mmap2 = 1;
	attr->comm = attr->comm_exec = 1;
	attr->task = 1;
	attr->ksymbol = 1;
	attr->build_id = !o->all->no_build_ids;
	attr->wakeup_watermark = SIDE_PAGES * 4096 / 8;
}

static void set_event(struct perf_event_attr *attr,
		      const struct opd_event *event,
		      const struct opd_perf_target *target)
{
	const struct op_perf_event *known = op_perf_event_find(event->name);

	attr->sample_period = event->count;
	if (opd_event_is_timer(event)) {
		attr->type = PERF_TYPE_SOFTWARE;
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		attr->sample_period = opd_perf_period(target->rate);
	} else if (known) {
		attr->type = known->type;
		attr->config = known->config;
	} else {
		attr->type = PERF_TYPE_RAW;
		attr->config = event->value | event->um << 8;
	}
}

static void sample_attr(const struct opening *o, struct perf_event_attr *attr,
			const struct opd_event *event)
{
	init_attr(o, attr);
	set_event(attr, event, o->target);
	attr->sample_type = o->all->sample_type;
	attr->read_format = o->all->tells_lost ? PERF_FORMAT_LOST : 0;
	attr->exclude_kernel = !event->kernel;
	attr->exclude_user = !event->user;
	attr->disabled = 1;
	attr->enable_on_exec = o->target->exec != 0;
	attr->wakeup_watermark = SAMPLE_PAGES * 4096 / 2;
}

/* ---- opening ----------------------------------------------------------------
 */

static int add_event(struct opd_perf_events *all, int fd, bool samples)
{
	size_t room = all->room ? all->room * 2 : 64;
	struct opd_perf_event *more;

	if (all->nr == all->room) {
		more = reallocarray(all->events, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		all->events = more;
		all->room = room;
	}
	all->events[all->nr++] = (struct opd_perf_event){ fd, samples };
	return 0;
}

/* The first event of a CPU has the ring; smaller if memory may not be had. */
static int map_ring(struct opd_perf_ring *ring, int fd, size_t pages,
		    uint64_t sample_type)
{
	int err;

	do
		err = opd_perf_ring_map(ring, fd, pages, sample_type);
	while (err == -EPERM && (pages /= 2) >= FEWEST_PAGES);
	return err;
}

static int connect_ring(const struct opening *o, struct opd_perf_ring *ring,
			int fd, size_t pages, uint64_t sample_type, int *owner)
{
	int err;

	if (ring->meta)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, *owner) ? -errno
								    : 0;
	*owner = fd;
	err = map_ring(ring, fd, pages, sample_type);
	if (err == -EPERM)
		return op_diag_set(
			o->diag, err,
			"buffers: no more memory may be locked (kernel.perf_event_mlock_kb is used up, ulimit -l); end other profilers, raise one of these, or become root");
	return err;
}

static int open_one(struct opening *o, struct perf_event_attr *attr,
		    const struct slot *slot, const char *name)
{
	int fd = op_perf_open(attr, slot->task, (int)slot->cpu->cpu, -1);
	int err;

	if (fd == -ESRCH || fd == -ENODEV)
		return fd; /* it is not there any more: the caller knows why */
	if (fd < 0)
		return op_perf_explain(o->diag, fd, attr, slot->task,
				       (int)slot->cpu->cpu, name);
	err = add_event(o->all, fd, attr->disabled);
	if (err)
		close(fd);
	return err ? err : fd;
}

static int open_side(struct opening *o, const struct slot *slot)
{
	struct perf_event_attr attr;
	int fd;

	side_attr(o, &attr);
	fd = open_one(o, &attr, slot, "mappings and processes");
	if (fd < 0)
		return fd;
	return connect_ring(o, &slot->cpu->side, fd, SIDE_PAGES, OPD_PERF_SIDE,
			    &slot->cpu->side_fd);
}

static int add_id(struct opd_perf_events *all, int fd, uint32_t counter)
{
	struct opd_perf_id *more;
	uint64_t id;

	if (!(all->sample_type & PERF_SAMPLE_IDENTIFIER))
		return 0;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id))
		return -errno;
	more = reallocarray(all->ids, all->nr_ids + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	all->ids = more;
	all->ids[all->nr_ids++] = (struct opd_perf_id){ id, counter };
	return 0;
}

static int open_counter(struct opening *o, const struct slot *slot,
			uint32_t counter)
{
	const struct opd_event *event = &o->counters->counter[counter];
	struct perf_event_attr attr;
	int fd, err;

	sample_attr(o, &attr, event);
	fd = open_one(o, &attr, slot, event->name);
	if (fd < 0)
		return fd;
	err = connect_ring(o, &slot->cpu->samples, fd, SAMPLE_PAGES,
			   o->all->sample_type, &slot->cpu->samples_fd);
	return err ? err : add_id(o->all, fd, counter);
}

static int open_slot(struct opening *o, const struct slot *slot)
{
	int err = open_side(o, slot);

	for (uint32_t i = 0; !err && i < o->counters->nr; i++)
		if (o->counters->counter[i].set)
			err = open_counter(o, slot, i);
	return err;
}

/* On all CPUs; -ESRCH when the task has ended. */
static int open_task(struct opening *o, pid_t task)
{
	struct slot slot = { .task = task };
	int err = 0;

	for (unsigned int i = 0; !err && i < o->all->nr_cpus; i++) {
		slot.cpu = &o->all->cpus[i];
		err = open_slot(o, &slot);
		if (err == -ENODEV)
			err = 0; /* this CPU went offline */
	}
	return err;
}

/* ---- whom -------------------------------------------------------------------
 */

static int no_process(const struct opening *o, pid_t pid)
{
	return op_diag_set(o->diag, -ESRCH,
			   "process %d: there is none; see ps -e", (int)pid);
}

static int open_process(struct opening *o, pid_t pid)
{
	struct dirent *entry;
	unsigned int nr = 0;
	char path[64];
	uint64_t tid;
	int err = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	folder = opendir(path);
	if (!folder)
		return no_process(o, pid);
	while (!err && (entry = readdir(folder))) {
		if (op_parse_u64(entry->d_name, &tid) || tid > INT32_MAX)
			continue;
		err = open_task(o, (pid_t)tid);
		nr += !err;
		if (err == -ESRCH)
			err = 0; /* this thread has ended */
	}
	closedir(folder);
	return !err && nr == 0 ? no_process(o, pid) : err;
}

static int open_target(struct opening *o)
{
	int err = 0;

	if (!is_task(o->target))
		return open_task(o, -1);
	if (o->target->exec)
		err = open_task(o, o->target->exec);
	if (err == -ESRCH)
		return no_process(o, o->target->exec);
	for (size_t i = 0; !err && i < o->target->nr_pids; i++)
		err = open_process(o, o->target->pids[i]);
	return err;
}

/* ---- the machine ------------------------------------------------------------
 */

static int add_cpu(struct opd_perf_events *all, unsigned long cpu)
{
	struct opd_perf_cpu *more =
		reallocarray(all->cpus, all->nr_cpus + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	all->cpus = more;
	memset(&more[all->nr_cpus], 0, sizeof(*more));
	more[all->nr_cpus++].cpu = (uint32_t)cpu;
	return 0;
}

/* "0-3,8" */
static int add_cpus(struct opd_perf_events *all, const char *list)
{
	unsigned long first, last;
	int err = 0, used;

	while (!err && sscanf(list, "%lu%n", &first, &used) == 1) {
		list += used;
		last = first;
		if (sscanf(list, "-%lu%n", &last, &used) == 1)
			list += used;
		if (last > OPD_PERF_MAX_CPU || first > last)
			return -EINVAL;
		for (; !err && first <= last; first++)
			err = add_cpu(all, first);
		list += *list == ',';
	}
	return !err && all->nr_cpus == 0 ? -EINVAL : err;
}

static int find_cpus(struct opd_perf_events *all, struct op_diag *diag)
{
	FILE *file = fopen(CPUS_ONLINE, "re");
	char list[4096] = "";
	int err = file ? 0 : -errno;

	if (file && !fgets(list, sizeof(list), file))
		err = -EIO;
	if (file)
		fclose(file);
	if (!err)
		err = add_cpus(all, list);
	return err ? op_diag_set(diag, err,
				 CPUS_ONLINE ": %s; is /sys mounted?",
				 strerror(-err))
		   : 0;
}

/* Each CPU and thread needs descriptors: take as many as we may. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* What this kernel can, tried with an event of our own. */
static void probe_kernel(struct opening *o)
{
	struct perf_event_attr attr;
	int fd;

	side_attr(o, &attr);
	fd = op_perf_open(&attr, 0, -1, -1);
	o->all->no_build_ids = fd == -EINVAL || fd == -E2BIG;
	if (fd >= 0)
		close(fd);
	side_attr(o, &attr);
	attr.read_format = PERF_FORMAT_LOST;
	fd = op_perf_open(&attr, 0, -1, -1);
	o->all->tells_lost = fd >= 0;
	if (fd >= 0)
		close(fd);
}

static int compare_ids(const void *a, const void *b)
{
	const struct opd_perf_id *ia = a;
	const struct opd_perf_id *ib = b;

	return (ia->id > ib->id) - (ia->id < ib->id);
}

static unsigned int count_counters(const struct opd_events *counters)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < counters->nr; i++)
		nr += counters->counter[i].set;
	return nr;
}

int opd_perf_events_open(struct opd_perf_events *all,
			 const struct opd_perf_target *target,
			 const struct opd_events *counters,
			 struct op_diag *diag)
{
	struct opening o = { all, target, counters, diag };
	int err;

	memset(all, 0, sizeof(*all));
	/* Without ids all samples would be of counter 0. */
	all->sample_type = counters->nr > 1 || count_counters(counters) > 1
				   ? OPD_PERF_SAMPLE_ID
				   : OPD_PERF_SAMPLE;
	raise_limit();
	probe_kernel(&o);
	err = find_cpus(all, diag);
	if (!err)
		err = open_target(&o);
	if (!err && all->nr_ids)
		qsort(all->ids, all->nr_ids, sizeof(all->ids[0]), compare_ids);
	if (err && !diag->text[0])
		op_diag_set(diag, err, "perf_events: %s", strerror(-err));
	return err;
}

void opd_perf_events_close(struct opd_perf_events *all)
{
	for (unsigned int i = 0; i < all->nr_cpus; i++) {
		opd_perf_ring_unmap(&all->cpus[i].samples);
		opd_perf_ring_unmap(&all->cpus[i].side);
	}
	for (size_t i = 0; i < all->nr; i++)
		close(all->events[i].fd);
	free(all->events);
	free(all->ids);
	free(all->cpus);
	memset(all, 0, sizeof(*all));
}

/* ---- while they are open ----------------------------------------------------
 */

int opd_perf_events_enable(const struct opd_perf_events *all, bool on)
{
	unsigned long request =
		on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	for (size_t i = 0; i < all->nr; i++)
		if (all->events[i].samples &&
		    ioctl(all->events[i].fd, request, 0))
			return -errno;
	return 0;
}

bool opd_perf_events_lost(const struct opd_perf_events *all, uint64_t *lost)
{
	uint64_t values[2]; /* the count, the lost samples */

	*lost = 0;
	if (!all->tells_lost)
		return false;
	for (size_t i = 0; i < all->nr; i++)
		if (all->events[i].samples &&
		    read(all->events[i].fd, values, sizeof(values)) ==
			    sizeof(values))
			*lost += values[1];
	return true;
}
