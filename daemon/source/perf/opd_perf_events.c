// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For each CPU, and for each thread where single processes are sampled, one
 * event for the side band is opened and then one for each counter. The first
 * event of a kind on a CPU maps the ring, and the later ones are directed into
 * it. Every event is bound to a CPU, because the kernel maps no ring for an
 * event that is inherited by children and runs on all CPUs.
 *
 * Locked memory is limited for ordinary users. When a ring cannot be mapped for
 * that reason, all events are closed and opened again with smaller rings, down
 * to a least size: the rings of all CPUs have one size, so the last CPU that is
 * opened may change that of the first.
 *
 * A CPU that goes offline takes its events with it. close_cpu() adds what they
 * tell of losses and times to a sum before it closes them, so that the sum
 * never falls. A thread or CPU that disappears while its events are opened is
 * left out.
 */

#include "daemon/source/perf/opd_perf_events.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "daemon/source/opd_cpu_list.h"
#include "daemon/source/perf/opd_perf_attr.h"
#include "libop/base/op_array.h"
#include "libop/files/op_config.h"
#include "libop/files/op_open.h"
#include "libop/kernel/op_perf.h"
#include "libop/base/op_search.h"

/*
 * Bytes of a CPU's rings: enough for a second of many samples. An ordinary
 * user may lock 516 KiB for each CPU (kernel.perf_event_mlock_kb) in all of
 * what he profiles; where that is used up, so many bits less.
 */
#define SAMPLE_SIZE ((size_t)256 << 10)
#define SIDE_SIZE ((size_t)128 << 10)
#define LESS 2
#define LEAST ((size_t)16 << 10)

/*
 * Where CPUs are sampled, the side band is of all processes: the fork, the
 * exec, the mappings and the end of a short command are a kilobyte, and a shell
 * starts a thousand of those in a second.
 */
#define SIDE_OF_ALL_SIZE ((size_t)2 << 20)
#define SIDE_OF_ALL_TOTAL ((size_t)128 << 20) /* of all CPUs */

/*
 * With stacks: a quarter of a second of samples, or what there is. The room of
 * a record is that of the longest stack, so where rings are small those are
 * cut.
 */
#define STACKS_SIZE ((size_t)16 << 20)
#define STACKS_LEAST ((size_t)64 << 10)
#define STACKS_TOTAL ((size_t)512 << 20) /* of all CPUs */
#define STACKS_IN_RING 32
#define STACK_LEAST 4096

/* Opening events, one after the other. */
struct opening {
	struct opd_perf_events *all;
	const struct opd_perf_target *target; /* these two are @all's */
	const struct opd_events *counters;
	struct op_diag *diag;
	struct opd_cpu_list online;
};

/* The events that are opened on one CPU for one task. */
struct slot {
	struct opd_perf_cpu *cpu;
	pid_t task; /* -1: all */
};

/* ---- opening ----------------------------------------------------------------
 */

static int add_event(struct opd_perf_events *all,
		     const struct opd_perf_event *event)
{
	if (op_array_reserve(&all->events, all->nr, 1))
		return -ENOMEM;
	all->events[all->nr++] = *event;
	return 0;
}

/* The first event of a CPU has the ring. */
static int connect_ring(const struct opening *o, struct opd_perf_ring *ring,
			int fd, size_t size, uint64_t sample_type, int *owner)
{
	int err;

	if (ring->meta)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, *owner) ? -errno
								    : 0;
	*owner = fd;
	err = opd_perf_ring_map(ring, fd, size, sample_type);
	if (err == -EPERM)
		return op_diag_set(
			o->diag, err,
			"buffers: the limit of locked memory is reached (kernel.perf_event_mlock_kb, ulimit -l); end other profilers, raise the limit, or run as root");
	return err;
}

/* Samples may be of a cgroup, and then the side band is of all. */
static int open_event(const struct opening *o,
		      const struct perf_event_attr *attr,
		      const struct slot *slot)
{
	if (o->all->cgroup_fd && attr->disabled)
		return op_perf_open_cgroup(attr, o->all->cgroup_fd,
					   (int)slot->cpu->cpu);
	return op_perf_open(attr, slot->task, (int)slot->cpu->cpu, -1);
}

static int open_one(struct opening *o, struct perf_event_attr *attr,
		    const struct slot *slot, const char *name, uint32_t counter)
{
	int fd = open_event(o, attr, slot);
	int err;

	/* Not every event, nor every CPU, is that precise. */
	if (fd < 0 && attr->precise_ip) {
		attr->precise_ip = 0;
		fd = open_event(o, attr, slot);
	}
	/* The kernel has no events of cgroups, or not of this hierarchy. */
	if (o->all->cgroup_fd && attr->disabled &&
	    (fd == -EINVAL || fd == -EBADF || fd == -ENOENT))
		return op_diag_set(o->diag, fd,
				   "cgroup %s: perf_events cannot sample it; "
				   "the kernel needs CONFIG_CGROUP_PERF, and a "
				   "cgroup of version 2 or of perf_event",
				   o->target->cgroup);
	if (fd == -ESRCH || fd == -ENODEV)
		return fd; /* the task or CPU is gone; the caller knows which */
	if (fd < 0)
		return op_perf_explain(o->diag, fd, attr, slot->task,
				       (int)slot->cpu->cpu, name);
	err = add_event(o->all,
			&(struct opd_perf_event){ .fd = fd,
						  .cpu = slot->cpu->cpu,
						  .samples = attr->disabled,
						  .counter = counter });
	if (err)
		close(fd);
	return err ? err : fd;
}

static int open_side(struct opening *o, const struct slot *slot)
{
	struct perf_event_attr attr;
	int fd;

	opd_perf_side_attr(o->all, &attr);
	fd = open_one(o, &attr, slot, "mappings and processes", 0);
	if (fd < 0)
		return fd;
	return connect_ring(o, &slot->cpu->side, fd, o->all->side_size,
			    OPD_PERF_SIDE, &slot->cpu->side_fd);
}

static int add_id(struct opd_perf_events *all, int fd, uint32_t counter)
{
	uint64_t id;

	if (!(all->sample_type & PERF_SAMPLE_IDENTIFIER))
		return 0;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &id))
		return -errno;
	if (op_array_reserve(&all->ids, all->nr_ids, 1))
		return -ENOMEM;
	all->ids[all->nr_ids++] = (struct opd_perf_id){ id, counter };
	return 0;
}

static int filter_samples(const struct opening *o, int fd, const char *name)
{
	int err = o->target->filter
			  ? op_perf_filter_attach(o->target->filter, fd)
			  : 0;

	return err ? op_diag_set(o->diag, err,
				 "%s: the kernel does not filter its samples: "
				 "%s",
				 name, strerror(-err))
		   : 0;
}

/* Open the event of @counter, which has no ring yet. Returns its descriptor. */
static int open_filtered(struct opening *o, const struct slot *slot,
			 uint32_t counter)
{
	const struct opd_event *event = &o->counters->counter[counter];
	struct perf_event_attr attr;
	int fd, err;

	opd_perf_sample_attr(o->all, &attr, event);
	fd = open_one(o, &attr, slot, event->name, counter);
	if (fd < 0)
		return fd;
	err = filter_samples(o, fd, event->name);
	return err ? err : fd;
}

static int open_counter(struct opening *o, const struct slot *slot,
			uint32_t counter)
{
	int err, fd = open_filtered(o, slot, counter);

	if (fd < 0)
		return fd;
	err = connect_ring(o, &slot->cpu->samples, fd, o->all->sample_size,
			   o->all->sample_type, &slot->cpu->samples_fd);
	return err ? err : add_id(o->all, fd, counter);
}

/* Open the event that tells the switches of threads, by the first @counter of
 * waits. */
static int open_switches(struct opening *o, const struct slot *slot,
			 uint32_t counter)
{
	int fd = open_filtered(o, slot, counter);

	return fd < 0 ? fd
		      : connect_ring(o, &slot->cpu->switches, fd,
				     o->all->sample_size, o->all->switch_type,
				     &slot->cpu->switches_fd);
}

static int open_slot(struct opening *o, const struct slot *slot)
{
	int err = open_side(o, slot);
	bool has_switches = false;

	for (uint32_t i = 0; !err && i < o->counters->nr; i++) {
		if (!o->counters->counter[i].set ||
		    opd_event_is_latency(&o->counters->counter[i]))
			continue;
		if (!opd_event_is_wait(&o->counters->counter[i]))
			err = open_counter(o, slot, i);
		else if (!has_switches)
			err = open_switches(o, slot, i);
		has_switches |= opd_event_is_wait(&o->counters->counter[i]);
	}
	return err;
}

/* On all CPUs; -ESRCH when the task has ended. */
static int open_task(struct opening *o, pid_t task)
{
	struct slot slot = { .task = task };
	int err = 0;

	for (unsigned int i = 0; !err && i < o->all->nr_cpus; i++) {
		slot.cpu = &o->all->cpus[i];
		if (!opd_cpu_list_has(&o->online, slot.cpu->cpu))
			continue;
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
			   "process %d: no such process; ps -e lists them",
			   (int)pid);
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

	if (opd_perf_samples_cpus(o->target))
		return open_task(o, -1);
	if (o->target->exec)
		err = open_task(o, o->target->exec);
	if (err == -ESRCH)
		return no_process(o, o->target->exec);
	for (size_t i = 0; !err && i < o->target->nr_pids; i++)
		err = open_process(o, o->target->pids[i]);
	return err;
}

/*
 * The folder of a cgroup, as /proc/PID/cgroup names it or with the folder that
 * the hierarchy is mounted at. perf_events has one hierarchy of its own (cgroup
 * version 1) or is part of the one of all (version 2).
 */
static int open_cgroup(struct opd_perf_events *all, const char *cgroup,
		       struct op_diag *diag)
{
	static const char *const roots[] = { "/sys/fs/cgroup/perf_event",
					     "/sys/fs/cgroup",
					     "/sys/fs/cgroup/unified", "" };
	char path[PATH_MAX + 64];
	struct statfs fs;

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		int fd;

		snprintf(path, sizeof(path), "%s%s%s", roots[i],
			 *cgroup == '/' ? "" : "/", cgroup);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!fstatfs(fd, &fs) && (fs.f_type == CGROUP2_SUPER_MAGIC ||
					  fs.f_type == CGROUP_SUPER_MAGIC)) {
			all->cgroup_fd = fd;
			return 0;
		}
		close(fd);
	}
	return op_diag_set(diag, -ENOENT,
			   "cgroup %s: no such cgroup; see "
			   "/proc/PID/cgroup of a process in it",
			   cgroup);
}

/* ---- the machine ------------------------------------------------------------
 */

static int add_cpus(struct opd_perf_events *all,
		    const struct opd_cpu_list *list)
{
	for (uint32_t cpu = 0; cpu < OPD_MAX_CPUS; cpu++)
		all->nr_cpus += opd_cpu_list_has(list, cpu);
	all->cpus = calloc(all->nr_cpus, sizeof(all->cpus[0]));
	if (!all->cpus)
		return -ENOMEM;
	for (uint32_t cpu = 0, i = 0; cpu < OPD_MAX_CPUS; cpu++)
		if (opd_cpu_list_has(list, cpu))
			all->cpus[i++].cpu = cpu;
	return 0;
}

static int find_cpus(struct opening *o)
{
	struct opd_cpu_list *possible = malloc(sizeof(*possible));
	int err = possible ? opd_cpu_list_read(possible, "possible") : -ENOMEM;

	if (!err)
		err = add_cpus(o->all, possible);
	if (!err)
		err = opd_cpu_list_read(&o->online, "online");
	free(possible);
	if (!err)
		return 0;
	return op_diag_set(o->diag, err, "CPUs: %s; is /sys mounted?",
			   strerror(-err));
}

static int compare_ids(const void *a, const void *b)
{
	const struct opd_perf_id *ia = a;
	const struct opd_perf_id *ib = b;

	return op_compare(ia->id, ib->id);
}

static void sort_ids(struct opd_perf_events *all)
{
	if (all->nr_ids)
		qsort(all->ids, all->nr_ids, sizeof(all->ids[0]), compare_ids);
}

static struct opening *opening_new(struct opd_perf_events *all,
				   struct op_diag *diag)
{
	struct opening *o = malloc(sizeof(*o));

	if (!o)
		return NULL;
	o->all = all;
	o->target = all->target;
	o->counters = all->counters;
	o->diag = diag;
	return o;
}

static void close_all(struct opd_perf_events *all)
{
	for (unsigned int i = 0; i < all->nr_cpus; i++) {
		opd_perf_ring_unmap(&all->cpus[i].samples);
		opd_perf_ring_unmap(&all->cpus[i].side);
		opd_perf_ring_unmap(&all->cpus[i].switches);
	}
	for (size_t i = 0; i < all->nr; i++)
		close(all->events[i].fd);
	all->nr = 0;
	all->nr_ids = 0;
}

/* Choose the length of the copied stack: as much as a record holds, or less
 * where a ring has no room for several of that length. */
static void choose_stack(struct opd_perf_events *all)
{
	size_t room = all->sample_size / STACKS_IN_RING;

	all->stack = all->target->stack;
	if (all->stack)
		return;
	all->stack = OPD_PERF_STACK_MAX;
	if (room < STACK_LEAST)
		all->stack = STACK_LEAST;
	else if (room < all->stack)
		all->stack = (uint32_t)room;
}

static void choose_side(struct opd_perf_events *all)
{
	all->side_size = SIDE_SIZE;
	if (!opd_perf_samples_cpus(all->target))
		return;
	all->side_size = SIDE_OF_ALL_SIZE;
	while (all->side_size > SIDE_SIZE &&
	       all->side_size * all->nr_cpus > SIDE_OF_ALL_TOTAL)
		all->side_size /= 2;
}

/* An ordinary user has little, which is not for the side band. */
static void choose_less(struct opd_perf_events *all)
{
	if (all->side_size > SIDE_SIZE) {
		all->side_size = SIDE_SIZE;
		return;
	}
	all->sample_size >>= all->target->depth ? 1 : LESS;
	if (all->sample_size < SAMPLE_SIZE)
		all->side_size = all->sample_size / 2;
	choose_stack(all);
}

/* A ring found no memory: make all rings smaller. */
static int open_smaller(struct opening *o, int err)
{
	size_t least = o->target->depth ? STACKS_LEAST : LEAST;

	while (err == -EPERM && o->all->sample_size > least) {
		close_all(o->all);
		o->diag->text[0] = '\0';
		choose_less(o->all);
		err = open_target(o);
	}
	return err;
}

static int open_all(struct opening *o)
{
	int err;

	op_open_raise_limit();
	opd_perf_probe_kernel(o->all);
	err = find_cpus(o);
	if (!err && o->target->cgroup)
		err = open_cgroup(o->all, o->target->cgroup, o->diag);
	while (!err && o->target->depth &&
	       o->all->sample_size * o->all->nr_cpus > STACKS_TOTAL &&
	       o->all->sample_size > STACKS_LEAST)
		choose_less(o->all);
	if (!err)
		choose_side(o->all);
	if (!err)
		err = open_smaller(o, open_target(o));
	sort_ids(o->all);
	return err;
}

/* Frames of the scheduler, at most, which are innermost in each wait. */
#define SCHEDULER_FRAMES 12

/* Choose how many frames of the kernel samples have, and those of switches. */
static void choose_chains(struct opd_perf_events *all)
{
	uint32_t depth = all->target->depth, most = op_perf_max_stack();

	all->kernel_depth = depth < most ? depth : most;
	if (all->kernel_depth)
		all->sample_type |= OPD_PERF_CHAIN;
	depth += SCHEDULER_FRAMES;
	all->switch_depth = depth < most ? depth : most;
	if (all->switch_depth)
		all->switch_type |= OPD_PERF_CHAIN;
}

/* Choose the fields that the samples of all events have in common. */
static void choose_samples(struct opd_perf_events *all)
{
	const struct opd_events *counters = all->counters;

	all->sample_size = SAMPLE_SIZE;
	/* Without ids all samples would be of counter 0. */
	all->sample_type =
		counters->nr > 1 ? OPD_PERF_SAMPLE_ID : OPD_PERF_SAMPLE;
	if (counters->weights)
		all->sample_type |= PERF_SAMPLE_WEIGHT;
	all->switch_type = OPD_PERF_SAMPLE;
	if (all->target->depth) {
		all->sample_size = STACKS_SIZE;
		choose_stack(all);
		all->sample_type |= OPD_PERF_USER;
		all->switch_type |= OPD_PERF_USER;
	}
	if (opd_events_sample_kernel(counters))
		choose_chains(all);
}

int opd_perf_events_open(struct opd_perf_events *all,
			 const struct opd_perf_target *target,
			 const struct opd_events *counters,
			 struct op_diag *diag)
{
	struct opening *o;
	int err;

	memset(all, 0, sizeof(*all));
	all->target = target;
	all->counters = counters;
	choose_samples(all);
	o = opening_new(all, diag);
	err = o ? open_all(o) : -ENOMEM;
	free(o);
	return err ? op_diag_set(diag, err, "perf_events: %s", strerror(-err))
		   : 0;
}

void opd_perf_events_close(struct opd_perf_events *all)
{
	close_all(all);
	if (all->cgroup_fd)
		close(all->cgroup_fd);
	free(all->events);
	free(all->ids);
	free(all->cpus);
	memset(all, 0, sizeof(*all));
}

/* ---- CPUs that come and go --------------------------------------------------
 */

/* Events of a CPU that went offline never come back to life. */
static void close_cpu(struct opd_perf_events *all, struct opd_perf_cpu *cpu)
{
	size_t kept = 0;

	opd_perf_ring_unmap(&cpu->samples);
	opd_perf_ring_unmap(&cpu->side);
	opd_perf_ring_unmap(&cpu->switches);
	cpu->throttled_at = 0; /* nobody tells the end of that */
	cpu->switch_period = 1;
	for (size_t i = 0; i < all->nr; i++) {
		if (all->events[i].cpu != cpu->cpu) {
			all->events[kept++] = all->events[i];
			continue;
		}
		opd_perf_events_keep(all, &all->events[i]);
		close(all->events[i].fd);
	}
	all->nr = kept;
}

/*
 * Whether the events of an open CPU still count. If the CPU went offline and
 * came back between two looks, as in a suspend, they do not: the time that they
 * have been enabled stands still.
 */
static bool is_alive(struct opd_perf_cpu *cpu)
{
	uint64_t values[2]; /* the count, the time */
	uint64_t last = cpu->enabled;

	if (read(cpu->side_fd, values, sizeof(values)) != sizeof(values))
		return true;
	cpu->enabled = values[1];
	return values[1] != last;
}

static int replug(struct opening *o)
{
	struct slot slot = { .task = -1 };
	int err = opd_cpu_list_read(&o->online, "online");
	int nr = 0;

	for (unsigned int i = 0; !err && i < o->all->nr_cpus; i++) {
		bool online, dead, missing;

		slot.cpu = &o->all->cpus[i];
		online = opd_cpu_list_has(&o->online, slot.cpu->cpu);
		dead = slot.cpu->side.meta && !(online && is_alive(slot.cpu));
		if (dead)
			close_cpu(o->all, slot.cpu);
		missing = online && !slot.cpu->side.meta;
		if (missing)
			err = open_slot(o, &slot);
		/* The next look must not take a part of the events for all. */
		if (err)
			close_cpu(o->all, slot.cpu);
		nr += dead || missing;
		if (err == -ENODEV)
			err = 0; /* it is tried again at the next look */
	}
	sort_ids(o->all);
	return err ? err : nr;
}

int opd_perf_events_replug(struct opd_perf_events *all, struct op_diag *diag)
{
	struct opening *o;
	int err;

	if (!opd_perf_samples_cpus(all->target))
		return 0;
	o = opening_new(all, diag);
	err = o ? replug(o) : -ENOMEM;
	free(o);
	return err < 0 ? op_diag_set(diag, err, "perf_events: %s",
				     strerror(-err))
		       : err;
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

static int lower_event(const struct opd_perf_events *all,
		       const struct opd_perf_event *event)
{
	struct perf_event_attr attr;

	if (opd_event_is_wait(&all->counters->counter[event->counter]))
		return 0; /* opd_perf_events_pace() looks at all->shift */
	opd_perf_sample_attr(all, &attr,
			     &all->counters->counter[event->counter]);
	return ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &attr.sample_period)
		       ? -errno
		       : 0;
}

/* Divide the rate by 2 to the power of @shift on each CPU. Returns the first
 * error; other CPUs have the rate nevertheless. */
static int divide_rates(struct opd_perf_events *all, unsigned int shift,
			uint64_t (*now)(void))
{
	int err = 0;

	all->shift = shift;
	for (unsigned int i = 0; i < all->nr_cpus; i++) {
		struct opd_perf_cpu *cpu = &all->cpus[i];
		int failed = 0;

		for (size_t k = 0; k < all->nr && !failed; k++)
			if (all->events[k].samples &&
			    all->events[k].cpu == cpu->cpu)
				failed = lower_event(all, &all->events[k]);
		if (!failed)
			opd_perf_rates_change(&cpu->rates, now(), shift);
		err = err ?: failed;
	}
	return err;
}

int opd_perf_events_lower(struct opd_perf_events *all, unsigned int shift,
			  uint64_t (*now)(void))
{
	unsigned int before = all->shift;
	int err;

	if (!opd_perf_samples_cpus(all->target))
		return -EOPNOTSUPP;
	err = divide_rates(all, shift, now);
	/* All events must have one rate, by which lost samples are weighed. */
	if (err)
		divide_rates(all, before, now);
	return err;
}

#define PACE_NS UINT64_C(20000000) /* from one look to the next, at least */

/* A CPU may have the samples of a second at once, so that a short burst makes
 * no other thread miss the one switch before a long wait. */
static uint64_t choose_period(struct opd_perf_cpu *cpu, int64_t most,
			      uint64_t took)
{
	const uint64_t second = UINT64_C(1000000000);
	uint64_t rate =
		(uint64_t)((unsigned __int128)cpu->nr_switches * second / took);
	int64_t credit = cpu->switch_credit - (int64_t)cpu->nr_switches;

	credit += took < second ? (int64_t)(took * (uint64_t)most / second)
				: most;
	cpu->switch_credit = credit < -most  ? -most
			     : credit > most ? most
					     : credit;
	if (cpu->switch_credit > 0)
		return 1;
	/* An even period would meet threads that take turns at one of them. */
	return (rate * (cpu->switch_period ?: 1) / (uint64_t)most) | 1;
}

static void pace_cpu(struct opd_perf_cpu *cpu, uint64_t most, uint64_t now)
{
	uint64_t period;

	if (now < cpu->paced_at + PACE_NS)
		return;
	period = choose_period(cpu, (int64_t)most, now - cpu->paced_at);
	cpu->paced_at = now;
	cpu->nr_switches = 0;
	if (period != (cpu->switch_period ?: 1) &&
	    !ioctl(cpu->switches_fd, PERF_EVENT_IOC_PERIOD, &period))
		cpu->switch_period = period;
}

void opd_perf_events_pace(const struct opd_perf_events *all, uint64_t now)
{
	uint64_t most = (all->target->rate >> all->shift) ?: 1;

	if (!opd_perf_samples_cpus(all->target))
		return;
	for (unsigned int i = 0; i < all->nr_cpus; i++)
		if (all->cpus[i].switches.meta)
			pace_cpu(&all->cpus[i], most, now);
}
