// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Targets of counting: CPUs or tasks. All of them are checked before a counter
 * is opened, so that a message can name a CPU that is offline or a process that
 * has ended. A process stands for its present threads; the counters are
 * inherited by threads and processes that it starts.
 */

#include "utils/ocount/ocount_target.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "utils/ocount/ocount_number.h"

#define ONLINE_FILE "/sys/devices/system/cpu/online"
#define CPU_MAX 65535
#define PID_MAX 0x7fffffff

static int out_of_memory(struct op_diag *diag)
{
	return op_out_of_memory(diag);
}

static bool has_target(const struct ocount_targets *targets, pid_t pid, int cpu)
{
	for (size_t i = 0; i < targets->nr; i++)
		if (targets->list[i].pid == pid && targets->list[i].cpu == cpu)
			return true;
	return false;
}

static int add_target(struct ocount_targets *targets, pid_t pid, int cpu,
		      struct op_diag *diag)
{
	if (has_target(targets, pid, cpu))
		return 0;
	if (op_array_reserve(&targets->list, targets->nr, 1))
		return out_of_memory(diag);
	targets->list[targets->nr++] =
		(struct ocount_target){ .pid = pid, .cpu = cpu };
	return 0;
}

static int watch_task(struct ocount_targets *targets, pid_t pid,
		      struct op_diag *diag)
{
	if (op_array_reserve(&targets->watched, targets->nr_watched, 1))
		return out_of_memory(diag);
	targets->watched[targets->nr_watched++] = pid;
	return 0;
}

/* ---- CPUs ---------------------------------------------------------------- */

/* Add CPUs FIRST[-LAST],... */
static int add_cpu_targets(struct ocount_targets *targets, const char *text,
			   struct op_diag *diag)
{
	const char *at = text;
	uint64_t first, last;
	int err;

	do {
		err = ocount_number_parse(at, &at, 10, CPU_MAX, &first);
		last = first;
		if (!err && *at == '-')
			err = ocount_number_parse(at + 1, &at, 10, CPU_MAX,
						  &last);
		if (err || last < first || (*at && *at != ','))
			return op_diag_set(
				diag, -EINVAL,
				"--cpu-list=%s: not a list of CPUs; write it as 0,2-3",
				text);
		for (; !err && first <= last; first++)
			err = add_target(targets, -1, (int)first, diag);
	} while (!err && *at++);
	return err;
}

static int add_online(struct ocount_targets *targets, struct op_diag *diag)
{
	FILE *file = fopen(ONLINE_FILE, "re");
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int err;

	if (!file)
		return op_diag_set(diag, -errno, ONLINE_FILE ": %s",
				   strerror(errno));
	len = getline(&line, &size, file);
	if (len > 0 && line[len - 1] == '\n')
		line[len - 1] = '\0';
	err = len > 0 ? add_cpu_targets(targets, line, diag) : -EIO;
	free(line);
	fclose(file);
	return err ? op_diag_set(diag, err, ONLINE_FILE ": not readable") : 0;
}

/* A CPU that cannot be is told from one that is refused before any is
 * opened. */
static int check_online(const struct ocount_targets *targets,
			struct op_diag *diag)
{
	struct ocount_targets online = { .list = NULL };
	int err = add_online(&online, diag);

	for (size_t i = 0; !err && i < targets->nr; i++) {
		int cpu = targets->list[i].cpu;

		if (!has_target(&online, -1, cpu))
			err = op_diag_set(
				diag, -ENODEV,
				"CPU %d: offline or missing; " ONLINE_FILE
				" lists the CPUs that are online",
				cpu);
	}
	ocount_targets_release(&online);
	return err;
}

/* ---- tasks --------------------------------------------------------------- */

static void read_comm(struct ocount_target *target)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)target->pid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(target->comm, sizeof(target->comm), file))
		target->comm[strcspn(target->comm, "\n")] = '\0';
	fclose(file);
	/* a task names itself as it likes, terminals take that for orders */
	for (char *c = target->comm; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
}

static int refuse_missing_task(struct op_diag *diag, const char *kind,
			       pid_t pid)
{
	return op_diag_set(
		diag, -ESRCH,
		"%s %d: not running; ps -eL lists all processes and threads",
		kind, (int)pid);
}

/* Whether @pid is the first thread of its process. */
static bool is_process(pid_t pid)
{
	char path[64];

	/* /proc/TID/task is its process's, so it has itself only there */
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");
	char line[256];
	int tgid = 0;

	if (!file)
		return false;
	while (!tgid && fgets(line, sizeof(line), file))
		if (!strncmp(line, "Tgid:", 5))
			tgid = (int)strtol(line + 5, NULL, 10);
	fclose(file);
	return tgid == pid;
}

static int add_thread_targets(struct ocount_targets *targets, pid_t pid,
			      struct op_diag *diag)
{
	struct dirent *entry;
	char path[64];
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT
			       ? refuse_missing_task(diag, "process", pid)
			       : op_diag_set(diag, -errno, "%s: %s", path,
					     strerror(errno));
	if (!is_process(pid))
		err = op_diag_set(
			diag, -EINVAL,
			"process %d: it is a thread of another process; use --thread-list=%d",
			(int)pid, (int)pid);
	while (!err && (entry = readdir(dir))) {
		long tid = strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			err = add_target(targets, (pid_t)tid, -1, diag);
	}
	closedir(dir);
	return err;
}

static int add_task_target(struct ocount_targets *targets,
			   enum ocount_mode mode, pid_t pid,
			   struct op_diag *diag)
{
	char path[64];
	int err = watch_task(targets, pid, diag);

	if (err)
		return err;
	if (mode == OCOUNT_PROCESSES)
		return add_thread_targets(targets, pid, diag);
	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (access(path, F_OK))
		return refuse_missing_task(diag, "thread", pid);
	return add_target(targets, pid, -1, diag);
}

static int add_task_targets(struct ocount_targets *targets,
			    enum ocount_mode mode, const char *text,
			    struct op_diag *diag)
{
	const char *at = text;
	uint64_t pid;
	int err;

	do {
		err = ocount_number_parse(at, &at, 10, PID_MAX, &pid);
		if (err || !pid || (*at && *at != ','))
			return op_diag_set(
				diag, -EINVAL,
				"--%s-list=%s: not a list of numbers; write it as 1234,5678",
				mode == OCOUNT_PROCESSES ? "process" : "thread",
				text);
		err = add_task_target(targets, mode, (pid_t)pid, diag);
	} while (!err && *at++);
	for (size_t i = 0; i < targets->nr; i++)
		read_comm(&targets->list[i]);
	return err;
}

/* -------------------------------------------------------------------------- */

int ocount_targets_init(struct ocount_targets *targets, enum ocount_mode mode,
			const char *text, struct op_diag *diag)
{
	int err;

	*targets = (struct ocount_targets){
		.inherit = mode == OCOUNT_PROCESSES,
	};
	if (mode == OCOUNT_SYSTEM)
		return add_online(targets, diag);
	if (mode != OCOUNT_CPUS)
		return add_task_targets(targets, mode, text, diag);
	err = add_cpu_targets(targets, text, diag);
	return err ? err : check_online(targets, diag);
}

int ocount_targets_init_child(struct ocount_targets *targets, pid_t pid,
			      struct op_diag *diag)
{
	int err;

	*targets = (struct ocount_targets){ .inherit = true };
	err = add_target(targets, pid, -1, diag);
	return err ? err : watch_task(targets, pid, diag);
}

void ocount_targets_release(struct ocount_targets *targets)
{
	free(targets->list);
	free(targets->watched);
	*targets = (struct ocount_targets){ .list = NULL };
}
