// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * /proc/self/cgroup has one line for each hierarchy, "NUMBER:CONTROLLERS:PATH".
 * perf_events uses that of the controller perf_event (cgroup version 1) where
 * it is mounted, and else the one of version 2, whose number is 0 and which has
 * no controllers in that line. In version 2 a cgroup that hands controllers
 * down has no processes of its own; ours are not handed any, so one below the
 * cgroup that operf is in does no harm to that.
 *
 * Programs in the background may outlive the command. They are moved back
 * before the cgroup is removed, and again when they have started others
 * meanwhile.
 */

#include "utils/operf/operf_cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_lock.h"
#include "libop/kernel/op_perf.h"

#define CGROUP_NAME "operf-"
#define PROCS "cgroup.procs"
#define TRIES 10 /* to move all out */

/* Whether the list @controllers, with commas, has @name. */
static bool has_controller(const char *controllers, const char *name)
{
	size_t len = strlen(name);

	for (;; controllers++) {
		size_t one = strcspn(controllers, ",");

		if (one == len && !strncmp(controllers, name, len))
			return true;
		controllers += one;
		if (!*controllers)
			return false;
	}
}

/* *@folder = that of @path below @root, if that is a cgroup we may change. */
static bool is_own_folder(char folder[PATH_MAX], const char *root,
			  const char *path)
{
	char procs[PATH_MAX + 16];

	if (snprintf(folder, PATH_MAX, "%s%s", root,
		     strcmp(path, "/") ? path : "") >= PATH_MAX)
		return false;
	snprintf(procs, sizeof(procs), "%s/" PROCS, folder);
	return !access(procs, W_OK);
}

/* Look at one line of /proc/self/cgroup; whether @folder is set. */
static bool parse_cgroup_line(char folder[PATH_MAX], char *line, bool is_v2)
{
	char *controllers = strchr(line, ':'), *path;

	path = controllers ? strchr(++controllers, ':') : NULL;
	if (!path)
		return false;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	/* The daemon's options have commas between them. */
	if (*path != '/' || strchr(path, ','))
		return false;
	if (is_v2)
		return !strncmp(line, "0:", 2) && !*controllers &&
		       (is_own_folder(folder, "/sys/fs/cgroup", path) ||
			is_own_folder(folder, "/sys/fs/cgroup/unified", path));
	return has_controller(controllers, "perf_event") &&
	       is_own_folder(folder, "/sys/fs/cgroup/perf_event", path);
}

static bool find_own_cgroup(char folder[PATH_MAX], bool is_v2)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (file && !found && getline(&line, &room, file) >= 0)
		found = parse_cgroup_line(folder, line, is_v2);
	free(line);
	if (file)
		fclose(file);
	return found;
}

static int move_to_cgroup(const char *folder, pid_t pid)
{
	char path[PATH_MAX + 64];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/" PROCS, folder);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (dprintf(fd, "%d", (int)pid) < 0)
		err = -errno;
	close(fd);
	return err;
}

/*
 * Whether perf_events samples a cgroup: of version 2 it does not know those of
 * a machine where nobody has handed a controller down yet (ENOENT).
 */
static int try_to_sample(const char *folder)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.disabled = 1,
	};
	int folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd, cpu = sched_getcpu();

	if (folder_fd < 0)
		return -errno;
	fd = op_perf_open_cgroup(&attr, folder_fd, cpu < 0 ? 0 : cpu);
	close(folder_fd);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Whether the cgroup @name is one of an operf that has gone. */
static bool is_left_behind(const char *name)
{
	size_t len = strlen(CGROUP_NAME);

	return !strncmp(name, CGROUP_NAME, len) &&
	       op_process_is_gone(name + len);
}

/* An operf that was killed leaves its cgroup. One where a program still runs
 * cannot be removed. */
static void remove_left_cgroups(const char *parent)
{
	DIR *dir = opendir(parent);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (is_left_behind(entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	if (dir)
		closedir(dir);
}

int operf_cgroup_make(struct operf_cgroup *cgroup, pid_t pid)
{
	int err = 0;

	if (!find_own_cgroup(cgroup->parent, false) &&
	    !find_own_cgroup(cgroup->parent, true))
		err = -ENOENT;
	if (!err) {
		snprintf(cgroup->folder, sizeof(cgroup->folder),
			 "%s/" CGROUP_NAME "%d", cgroup->parent, (int)getpid());
		rmdir(cgroup->folder); /* of an earlier process of this pid */
		remove_left_cgroups(cgroup->parent);
		err = mkdir(cgroup->folder, 0755) ? -errno : 0;
	}
	if (!err) {
		err = try_to_sample(cgroup->folder)
			      ?: move_to_cgroup(cgroup->folder, pid);
		if (err)
			rmdir(cgroup->folder);
	}
	if (err)
		cgroup->parent[0] = '\0';
	return err;
}

static void move_all_out(const struct operf_cgroup *cgroup)
{
	char path[PATH_MAX + 64];
	FILE *file;
	int pid;

	snprintf(path, sizeof(path), "%s/" PROCS, cgroup->folder);
	file = fopen(path, "re");
	while (file && fscanf(file, "%d", &pid) == 1)
		(void)move_to_cgroup(cgroup->parent, pid);
	if (file)
		fclose(file);
}

void operf_cgroup_remove(struct operf_cgroup *cgroup)
{
	if (!*cgroup->parent)
		return;
	for (int i = 0; rmdir(cgroup->folder) && errno == EBUSY && i < TRIES;
	     i++)
		move_all_out(cgroup);
	cgroup->parent[0] = '\0';
}
