// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rights that this process has with perf_events.
 *
 * Rights are found by asking where the kernel answers: whether the process can
 * count itself, and what its capabilities are. In a user namespace
 * capabilities do not count for perf_event_open(2), which asks for those of
 * the first namespace. A setting that cannot be read counts as the
 * kernel's default.
 */

#include "libop/kernel/op_perf.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PARANOID_FILE "/proc/sys/kernel/perf_event_paranoid"
#define MAX_STACK_FILE "/proc/sys/kernel/perf_event_max_stack"
#define SECOND_KIND_FILE "/sys/bus/event_source/devices/cpu_atom/type"

#ifndef PERF_PMU_TYPE_SHIFT /* Linux 5.13 */
#define PERF_PMU_TYPE_SHIFT 32
#endif

/* linux/capability.h has the second since Linux 5.8 only */
#define CAP_SYS_ADMIN_BIT 21
#define CAP_PERFMON_BIT 38

static FILE *open_below(const char *root, const char *file)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s", root, file) >= PATH_MAX)
		return NULL;
	return fopen(path, "re");
}

/* The number in @path below @root, @otherwise if there is none to read. */
static int read_number_below(const char *root, const char *path, int otherwise)
{
	FILE *file = open_below(root, path);
	int number;

	if (!file)
		return otherwise;
	if (fscanf(file, "%d", &number) != 1)
		number = otherwise;
	fclose(file);
	return number;
}

bool op_perf_second_kind(struct perf_event_attr *attr, const char *root)
{
	int type;

	if (attr->type != PERF_TYPE_HARDWARE &&
	    attr->type != PERF_TYPE_HW_CACHE)
		return false;
	type = read_number_below(root, SECOND_KIND_FILE, 0);
	if (type <= 0 || attr->config >> PERF_PMU_TYPE_SHIFT)
		return false;
	attr->config |= (uint64_t)type << PERF_PMU_TYPE_SHIFT;
	return true;
}

int op_perf_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
		 int group_fd)
{
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	struct perf_event_attr second = *attr;
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
	int err = fd < 0 ? -errno : 0;

	if (err == -ENOENT && cpu >= 0 && op_perf_second_kind(&second, "")) {
		fd = syscall(SYS_perf_event_open, &second, pid, cpu, group_fd,
			     flags);
		err = fd < 0 ? -errno : 0;
	}
	return err ?: (int)fd;
}

int op_perf_open_cgroup(const struct perf_event_attr *attr, int cgroup_fd,
			int cpu)
{
	unsigned long flags = PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP;
	long fd = syscall(SYS_perf_event_open, attr, cgroup_fd, cpu, -1, flags);

	return fd < 0 ? -errno : (int)fd;
}

void op_perf_cycles(struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(*attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
}

/* Whether this process can count @type, @config in its own user mode. */
static bool counts_itself(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = op_perf_open(&attr, 0, -1, -1);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool op_perf_has_pmu(void)
{
	return counts_itself(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
}

int op_perf_paranoid(void)
{
	return read_number_below("", PARANOID_FILE, 2);
}

unsigned int op_perf_max_stack(void)
{
	int nr = read_number_below("", MAX_STACK_FILE, 127);

	return nr > 0 ? (unsigned int)nr : 0;
}

/* perf_event_open(2) asks for the capabilities of the first user namespace,
 * the only one whose map is all numbers onto themselves. */
static bool in_user_namespace(const char *root)
{
	unsigned long inside, outside, nr;
	FILE *file = open_below(root, "/proc/self/uid_map");
	bool first;

	if (!file)
		return false;
	first = fscanf(file, "%lu %lu %lu", &inside, &outside, &nr) == 3 &&
		!inside && !outside && nr == UINT32_MAX;
	fclose(file);
	return !first;
}

static void read_process_rights(struct op_perf_rights *rights, const char *root)
{
	FILE *file = open_below(root, "/proc/self/status");
	const uint64_t wanted = UINT64_C(1) << CAP_SYS_ADMIN_BIT |
				UINT64_C(1) << CAP_PERFMON_BIT;
	char line[256];
	unsigned long uid;

	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "Uid: %*u %lu", &uid) == 1)
			rights->root = uid == 0;
		else if (!strncmp(line, "CapEff:", 7))
			rights->capable =
				(strtoull(line + 7, NULL, 16) & wanted) != 0;
		else if (!strncmp(line, "Seccomp:", 8))
			rights->seccomp = strtol(line + 8, NULL, 10) != 0;
	}
	fclose(file);
}

void op_perf_rights_read(struct op_perf_rights *rights, const char *root)
{
	*rights = (struct op_perf_rights){
		.paranoid = read_number_below(root, PARANOID_FILE, 2),
		.namespace = in_user_namespace(root),
	};
	read_process_rights(rights, root);
	if (rights->namespace)
		rights->capable = false;
}

void op_perf_rights_get(struct op_perf_rights *rights)
{
	op_perf_rights_read(rights, "");
	rights->basic =
		counts_itself(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
}

bool op_perf_may_sample_kernel(void)
{
	struct op_perf_rights rights;

	op_perf_rights_get(&rights);
	return rights.capable || rights.paranoid < 2;
}

bool op_perf_may_sample_system(void)
{
	struct op_perf_rights rights;

	op_perf_rights_read(&rights, "");
	return rights.capable || rights.paranoid < 1;
}
