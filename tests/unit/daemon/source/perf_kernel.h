/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PERF_KERNEL_H
#define TESTS_UNIT_PERF_KERNEL_H

/*
 * A kernel for opd_perf_events, in the test program: the system calls that
 * have to do with perf_events come here, as the program's own functions stand
 * before the C library's. All others go on to it.
 *
 * What is asked of the kernel is told in words on one line:
 *
 *	KIND[/TASK]@CPU=N	event N was opened; =ERROR: it was refused.
 *				TASK is self, gone, cgroup or a number;
 *				KIND is side, clock, rawCONFIG or TYPE:CONFIG,
 *				with "!" if it is to be precise
 *	map N:KIB	its ring, with room for so much
 *	N>M		its records go to the ring of M
 *	filter N	its samples are filtered
 *	on N, off N, -N	it was enabled, disabled, closed
 *	period N:COUNT	it takes a sample that often from now on
 *	timer N ms, pause N ms	the timers were set
 *
 * Its clock and its timers go on by hand; it has two CPUs, no processes but
 * this one, and one module.
 */

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "libop/kernel/op_perf_filter.h"

#define KERNEL_EVENTS 256

struct kernel_event {
	int fd; /* a pipe; -1: closed */
	int writer; /* of it; -1: all its tasks have ended */
	int cpu;
	bool samples;
	uint64_t time;
	uint64_t lost;
	bool timed; /* asked for the next two */
	uint64_t enabled, running;
	void *ring;
	size_t ring_len; /* with the page before it */
};

static struct kernel {
	FILE *told; /* NULL: this kernel is not there */
	struct kernel_event events[KERNEL_EVENTS];
	int nr;
	char possible[64];
	char online[128];
	char modules[64];
	char paranoid[8];
	uint64_t now; /* ns */
	int timer; /* an eventfd, */
	int pause; /* and another */
	long lockable; /* KiB of rings */
	int nr_refused; /* how many opens there are until one is refused */
	int refusal; /* with this error */
	bool no_build_ids;
	bool no_lost;
	bool no_precise;
	int no_cpu; /* goes offline while it is opened; -1: none */
	int dead_cpu; /* went offline unseen; -1: none */
	int no_task; /* has ended; 0: none */
	bool no_enable;
	int no_period; /* the event that keeps its own; 0: none */
	bool filters; /* loads BPF programs */
	long fs_type; /* of all file systems; 0: what they are */
	uid_t user; /* who runs this program */
} kernel;

static void kernel_reset(FILE *told)
{
	memset(&kernel, 0, sizeof(kernel));
	strcpy(kernel.possible, "0-1\n");
	strcpy(kernel.online, "0-1\n");
	strcpy(kernel.modules, "ext4 1\n");
	strcpy(kernel.paranoid, "-1\n");
	kernel.now = UINT64_C(1000000000);
	kernel.timer = kernel.pause = -1;
	kernel.lockable = 1 << 30;
	kernel.no_cpu = kernel.dead_cpu = -1;
	kernel.told = told;
}

static struct kernel_event *kernel_find(int fd)
{
	for (int i = 0; kernel.told && i < kernel.nr; i++)
		if (kernel.events[i].fd == fd)
			return &kernel.events[i];
	return NULL;
}

static int kernel_nr(const struct kernel_event *event)
{
	return (int)(event - kernel.events);
}

/* ---- opening ----------------------------------------------------------------
 */

static void kernel_tell_attr(const struct perf_event_attr *attr, pid_t task,
			     int cpu, unsigned long flags)
{
	if (attr->type == PERF_TYPE_SOFTWARE &&
	    attr->config == PERF_COUNT_SW_DUMMY)
		fputs(" side", kernel.told);
	else if (attr->type == PERF_TYPE_SOFTWARE &&
		 attr->config == PERF_COUNT_SW_CPU_CLOCK)
		fputs(" clock", kernel.told);
	else if (attr->type == PERF_TYPE_RAW)
		fprintf(kernel.told, " raw%llx",
			(unsigned long long)attr->config);
	else
		fprintf(kernel.told, " %u:%llx", attr->type,
			(unsigned long long)attr->config);
	if (attr->precise_ip)
		fputs("!", kernel.told);
	if (flags & PERF_FLAG_PID_CGROUP)
		fputs("/cgroup", kernel.told);
	else if (task == getpid())
		fputs("/self", kernel.told);
	else if (task && task == kernel.no_task)
		fputs("/gone", kernel.told);
	else if (task > 0)
		fprintf(kernel.told, "/%d", (int)task);
	fprintf(kernel.told, "@%d=", cpu);
}

static int kernel_refuses(const struct perf_event_attr *attr, pid_t task,
			  int cpu)
{
	if (attr->build_id && kernel.no_build_ids)
		return EINVAL;
	if (attr->read_format & PERF_FORMAT_LOST && kernel.no_lost)
		return EINVAL;
	if (attr->precise_ip && kernel.no_precise)
		return EOPNOTSUPP;
	if (task && task == kernel.no_task)
		return ESRCH;
	if (cpu >= 0 && cpu == kernel.no_cpu)
		return ENODEV;
	if (kernel.nr_refused && --kernel.nr_refused == 0)
		return kernel.refusal;
	return kernel.nr == KERNEL_EVENTS ? EMFILE : 0;
}

static long kernel_open(const struct perf_event_attr *attr, pid_t task, int cpu,
			unsigned long flags)
{
	int err = kernel_refuses(attr, task, cpu), ends[2];

	kernel_tell_attr(attr, task, cpu, flags);
	if (err) {
		fputs(strerrorname_np(err), kernel.told);
		errno = err;
		return -1;
	}
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK)) {
		fputs("none", kernel.told);
		return -1;
	}
	fprintf(kernel.told, "%d", kernel.nr);
	kernel.events[kernel.nr] = (struct kernel_event){
		.fd = ends[0],
		.writer = ends[1],
		.cpu = cpu,
		.samples = attr->config != PERF_COUNT_SW_DUMMY,
		.timed = attr->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	return kernel.events[kernel.nr++].fd;
}

/* The newest event of CPU @cpu, of samples or side band. */
__attribute__((unused)) static struct kernel_event *kernel_of(int cpu,
							      bool samples)
{
	for (int i = kernel.nr - 1; i >= 0; i--)
		if (kernel.events[i].fd >= 0 && kernel.events[i].cpu == cpu &&
		    kernel.events[i].samples == samples)
			return &kernel.events[i];
	abort();
}

/* ---- in place of the C library's --------------------------------------------
 */

#define REAL(name) ((__typeof__(&(name)))dlsym(RTLD_NEXT, #name))
/* A function that stands before the C library's of that name. */
#define INSTEAD_OF(name) __asm__(#name)

long kernel_syscall(long number, ...) INSTEAD_OF(syscall);
int kernel_any_ioctl(int fd, unsigned long request, ...) INSTEAD_OF(ioctl);
void *kernel_any_mmap(void *at, size_t len, int prot, int flags, int fd,
		      off64_t offset) INSTEAD_OF(mmap64);
int kernel_munmap(void *at, size_t len) INSTEAD_OF(munmap);
ssize_t kernel_read(int fd, void *buf, size_t len) INSTEAD_OF(read);
int kernel_close(int fd) INSTEAD_OF(close);
FILE *kernel_fopen(const char *path, const char *mode) INSTEAD_OF(fopen64);
DIR *kernel_opendir(const char *path) INSTEAD_OF(opendir);
int kernel_clock_gettime(clockid_t clock, struct timespec *now)
	INSTEAD_OF(clock_gettime);
int kernel_timerfd_create(int clock, int flags) INSTEAD_OF(timerfd_create);
int kernel_fanotify_init(unsigned int flags, unsigned int event_f_flags)
	INSTEAD_OF(fanotify_init);
int kernel_timerfd_settime(int fd, int flags, const struct itimerspec *new,
			   struct itimerspec *old) INSTEAD_OF(timerfd_settime);
int kernel_fstatfs(int fd, struct statfs64 *fs) INSTEAD_OF(fstatfs64);
uid_t kernel_geteuid(void) INSTEAD_OF(geteuid);
int kernel_stat(const char *path, struct stat *st) INSTEAD_OF(stat64);
int kernel_setrlimit(__rlimit_resource_t resource, const struct rlimit64 *limit)
	INSTEAD_OF(setrlimit64);

/* Maps are files without a name, programs too. */
static long kernel_bpf(int command)
{
	int fd;

	if (!kernel.filters) {
		errno = EPERM;
		return -1;
	}
	fd = memfd_create("bpf", MFD_CLOEXEC);
	if (fd >= 0 && command == BPF_MAP_CREATE &&
	    ftruncate(fd, OP_PERF_FILTER_WORDS * sizeof(uint64_t)))
		return -1;
	return fd;
}

/* As the C library does it, all six are taken, however many there are. */
__attribute__((no_sanitize("address"))) long kernel_syscall(long number, ...)
{
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (kernel.told && number == SYS_perf_event_open)
		return kernel_open((const void *)a[0], (pid_t)a[1], (int)a[2],
				   (unsigned long)a[4]);
	if (kernel.told && number == SYS_bpf)
		return kernel_bpf((int)a[0]);
	return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static int kernel_ioctl(const struct kernel_event *event, unsigned long request,
			void *arg)
{
	uint64_t id = 1000 - 10 * (uint64_t)kernel_nr(event), period;

	switch (request) {
	case PERF_EVENT_IOC_SET_OUTPUT:
		fprintf(kernel.told, " %d>%d", kernel_nr(event),
			kernel_nr(kernel_find((int)(intptr_t)arg)));
		return 0;
	case PERF_EVENT_IOC_SET_BPF:
		fprintf(kernel.told, " filter %d", kernel_nr(event));
		return 0;
	case PERF_EVENT_IOC_ID:
		memcpy(arg, &id, sizeof(id));
		return 0;
	case PERF_EVENT_IOC_ENABLE:
	case PERF_EVENT_IOC_DISABLE:
		if (kernel.no_enable)
			break;
		fprintf(kernel.told, " %s %d",
			request == PERF_EVENT_IOC_ENABLE ? "on" : "off",
			kernel_nr(event));
		return 0;
	case PERF_EVENT_IOC_PERIOD:
		memcpy(&period, arg, sizeof(period));
		fprintf(kernel.told, " period %d:%lu", kernel_nr(event),
			(unsigned long)period);
		if (kernel_nr(event) == kernel.no_period)
			break;
		return 0;
	}
	errno = EIO;
	return -1;
}

int kernel_any_ioctl(int fd, unsigned long request, ...)
{
	struct kernel_event *event = kernel_find(fd);
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	return event ? kernel_ioctl(event, request, arg)
		     : REAL(ioctl)(fd, request, arg);
}

/* Of the records; the page before them is free. */
static long kernel_kib(size_t len)
{
	return (long)(len - (size_t)sysconf(_SC_PAGESIZE)) / 1024;
}

static void *kernel_mmap(struct kernel_event *event, size_t len)
{
	long kib = kernel_kib(len);

	fprintf(kernel.told, " map %d:", kernel_nr(event));
	if (kib > kernel.lockable) {
		fputs("EPERM", kernel.told);
		errno = EPERM;
		return MAP_FAILED;
	}
	kernel.lockable -= kib;
	fprintf(kernel.told, "%ld", kib);
	event->ring_len = len;
	event->ring =
		REAL(mmap)(NULL, len, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return event->ring;
}

void *kernel_any_mmap(void *at, size_t len, int prot, int flags, int fd,
		      off64_t offset)
{
	struct kernel_event *event = fd < 0 ? NULL : kernel_find(fd);

	return event ? kernel_mmap(event, len)
		     : REAL(mmap64)(at, len, prot, flags, fd, offset);
}

int kernel_munmap(void *at, size_t len)
{
	for (int i = 0; kernel.told && i < kernel.nr; i++)
		if (kernel.events[i].ring == at) {
			kernel.events[i].ring = NULL;
			kernel.lockable += kernel_kib(len);
		}
	return REAL(munmap)(at, len);
}

/* A count, then the time of side band, or two times and the lost samples. */
ssize_t kernel_read(int fd, void *buf, size_t len)
{
	struct kernel_event *event = kernel_find(fd);
	uint64_t values[4] = { 7 };
	size_t nr = 1;

	if (!event)
		return REAL(read)(fd, buf, len);
	event->time += event->cpu != kernel.dead_cpu;
	if (event->timed) {
		values[nr++] = event->enabled;
		values[nr++] = event->running;
	}
	values[nr++] = event->samples ? event->lost : event->time;
	if (len < nr * sizeof(values[0])) {
		errno = ENOSPC;
		return -1;
	}
	memcpy(buf, values, nr * sizeof(values[0]));
	return (ssize_t)(nr * sizeof(values[0]));
}

int kernel_close(int fd)
{
	struct kernel_event *event = kernel_find(fd);

	if (event) {
		fprintf(kernel.told, " -%d", kernel_nr(event));
		event->fd = -1;
		if (event->writer >= 0)
			REAL(close)(event->writer);
	}
	return REAL(close)(fd);
}

FILE *kernel_fopen(const char *path, const char *mode)
{
	const struct {
		const char *path;
		const char *text;
	} files[] = {
		{ "/sys/devices/system/cpu/possible", kernel.possible },
		{ "/sys/devices/system/cpu/online", kernel.online },
		{ "/proc/sys/kernel/perf_event_max_stack", "127\n" },
		{ "/proc/sys/kernel/perf_event_paranoid", kernel.paranoid },
		{ "/proc/self/status", "CapEff: 0\n" },
		{ "/proc/modules", kernel.modules },
	};

	for (size_t i = 0; kernel.told && i < sizeof(files) / sizeof(files[0]);
	     i++)
		if (!strcmp(path, files[i].path))
			return fmemopen((void *)files[i].text,
					strlen(files[i].text), "r");
	return REAL(fopen64)(path, mode);
}

/* This is the first pid namespace, wherever tests run. */
int kernel_stat(const char *path, struct stat *st)
{
	int err = REAL(stat)(path, st);

	if (kernel.told && !strcmp(path, "/proc/self/ns/pid"))
		st->st_ino = 0xEFFFFFFCu;
	return err;
}

/* There is a folder without any process. */
DIR *kernel_opendir(const char *path)
{
	bool is_proc = kernel.told && !strcmp(path, "/proc");
	DIR *dir = REAL(opendir)(is_proc ? "/proc/self/ns" : path);

	return dir;
}

int kernel_clock_gettime(clockid_t clock, struct timespec *now)
{
	if (!kernel.told || clock != CLOCK_MONOTONIC_RAW)
		return REAL(clock_gettime)(clock, now);
	now->tv_sec = (time_t)(kernel.now / 1000000000);
	now->tv_nsec = (long)(kernel.now % 1000000000);
	return 0;
}

/* What is executed on this very machine is nobody's business. */
int kernel_fanotify_init(unsigned int flags, unsigned int event_f_flags)
{
	if (!kernel.told)
		return REAL(fanotify_init)(flags, event_f_flags);
	errno = EPERM;
	return -1;
}

int kernel_timerfd_create(int clock, int flags)
{
	int *which = kernel.timer < 0 ? &kernel.timer : &kernel.pause;

	if (!kernel.told)
		return REAL(timerfd_create)(clock, flags);
	*which = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return *which;
}

int kernel_fstatfs(int fd, struct statfs64 *fs)
{
	int err = REAL(fstatfs64)(fd, fs);

	if (kernel.told && kernel.fs_type)
		fs->f_type = kernel.fs_type;
	return err;
}

uid_t kernel_geteuid(void)
{
	return kernel.told ? kernel.user : REAL(geteuid)();
}

/* As if no more could be had. */
int kernel_setrlimit(__rlimit_resource_t resource, const struct rlimit64 *limit)
{
	return kernel.told ? 0 : REAL(setrlimit64)(resource, limit);
}

int kernel_timerfd_settime(int fd, int flags, const struct itimerspec *new,
			   struct itimerspec *old)
{
	if (!kernel.told || (fd != kernel.timer && fd != kernel.pause))
		return REAL(timerfd_settime)(fd, flags, new, old);
	if (fd == kernel.pause)
		fprintf(kernel.told, " pause %ld ms",
			new->it_value.tv_nsec / 1000000);
	else
		fprintf(kernel.told, " timer %ld ms%s",
			new->it_interval.tv_nsec / 1000000,
			memcmp(&new->it_value, &new->it_interval,
			       sizeof(new->it_value))
				? " from another time on"
				: "");
	return 0;
}

#endif /* TESTS_UNIT_PERF_KERNEL_H */
