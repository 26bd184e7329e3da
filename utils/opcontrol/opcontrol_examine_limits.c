// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The session folder's disk, limits of this process, and cgroups.
 */

#include <inttypes.h>
#include <mntent.h>
#include <stdlib.h>
#include <string.h>

#include "utils/opcontrol/opcontrol_examine.h"

#define ENOUGH_BYTES ((uint64_t)256 << 20)
/*
 * Where the kernel filters no samples, operf --pid opens a file for each thread
 * on each CPU for what it maps, and one for each event
 * (daemon/source/perf/opd_perf_events.c).
 */
#define ENOUGH_THREADS 1000
#define FILES_BESIDES 64 /* that the daemon needs for other things */

/* ---- the session folder ---------------------------------------------------
 */

struct mount {
	char point[OC_PATH_MAX];
	char type[64];
	bool is_read_only;
};

/* The mount that @machine's session folder is on: of those above it the
 * longest, and of these the last, which hides the others. */
static bool find_mount(const struct oc_machine *machine, struct mount *mount)
{
	FILE *file = setmntent(
		oc_below(machine, mount->point, "/proc/self/mounts"), "re");
	const struct mntent *entry;
	bool found = false;

	while (file && (entry = getmntent(file))) {
		const char *dir = entry->mnt_dir;
		size_t len = strlen(dir);
		bool is_above = !strcmp(dir, "/") ||
				(!strncmp(machine->session_dir, dir, len) &&
				 strchr("/", machine->session_dir[len]));

		if (!is_above || (found && len < strlen(mount->point)))
			continue;
		found = true;
		snprintf(mount->point, sizeof(mount->point), "%s",
			 entry->mnt_dir);
		snprintf(mount->type, sizeof(mount->type), "%s",
			 entry->mnt_type);
		mount->is_read_only = hasmntopt(entry, "ro");
	}
	if (file)
		endmntent(file);
	return found;
}

static bool is_of_network(const char *type)
{
	static const char *const types[] = { "nfs",  "nfs4", "cifs", "smb3",
					     "ceph", "9p",   "afs" };

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i]))
			return true;
	return !strncmp(type, "fuse.", strlen("fuse."));
}

void oc_examine_session(struct oc_machine *machine)
{
	struct mount mount;

	if (!find_mount(machine, &mount))
		mount = (struct mount){ .point = "" };
	if (mount.is_read_only)
		oc_report(
			machine, OC_MISSING,
			"session folder: %s is mounted read-only; mount -o remount,rw %s, or name another folder with --session-dir",
			mount.point, mount.point);
	else if (is_of_network(mount.type))
		oc_report(
			machine, OC_LIMITED,
			"session folder: %s is a network or FUSE file system (%s), which the daemon waits for; name a folder on a disk with --session-dir",
			mount.point, mount.type);
	else if (!strcmp(mount.type, "tmpfs"))
		oc_report(
			machine, OC_LIMITED,
			"session folder: %s is in memory (tmpfs), and gone after a reboot; name a folder on a disk with --session-dir",
			mount.point);
	else if (machine->write_err)
		oc_report(
			machine, OC_MISSING,
			"session folder: no files can be made in %s (%s); name another folder with --session-dir",
			machine->session_dir, strerror(-machine->write_err));
	else if (machine->free_bytes < ENOUGH_BYTES)
		oc_report(
			machine, OC_LIMITED,
			"session folder: %" PRIu64
			" MiB are free at %s, samples are lost when they are used up; remove files, or name another folder with --session-dir",
			machine->free_bytes >> 20, machine->session_dir);
	else
		oc_report(machine, OC_OK,
			  "session folder: %" PRIu64 " MiB are free at %s",
			  machine->free_bytes >> 20, machine->session_dir);
}

/* ---- limits ---------------------------------------------------------------
 */

/* The daemon raises its limit to the hard one, which is in @limits, after the
 * other. */
static void examine_open_files(const struct oc_machine *machine,
			       const char *limits)
{
	const unsigned long a_thread = 2ul * machine->nr_cpus;
	unsigned long most, threads, enough;
	char *hard;

	strtoul(limits, &hard, 10);
	most = strtoul(hard, NULL, 10);
	if (strstr(hard, "unlimited")) {
		oc_report(machine, OC_OK, "open files: no limit");
		return;
	}
	threads = most > FILES_BESIDES ? (most - FILES_BESIDES) / a_thread : 0;
	enough = ENOUGH_THREADS * a_thread + FILES_BESIDES;
	if (threads < ENOUGH_THREADS)
		oc_report(
			machine, OC_LIMITED,
			"open files: at most %lu, so operf --pid can sample one event on %lu threads (%lu files each); ulimit -Hn %lu as root, or LimitNOFILE=%lu in the unit",
			most, threads, a_thread, enough, enough);
	else
		oc_report(
			machine, OC_OK,
			"open files: at most %lu, so operf --pid can sample one event on %lu threads",
			most, threads);
}

void oc_examine_limits(struct oc_machine *machine)
{
	char line[OC_LINE_MAX];

	if (oc_find_line(machine, "/proc/self/limits", "Max open files", line))
		examine_open_files(machine, line);
	if (oc_exists(machine, "/sys/fs/cgroup/cgroup.controllers"))
		oc_report(machine, OC_OK, "cgroups: version 2");
	else if (oc_exists(machine, "/sys/fs/cgroup/perf_event"))
		oc_report(machine, OC_OK,
			  "cgroups: version 1 with the controller perf_event");
	else if (oc_exists(machine, "/sys/fs/cgroup"))
		oc_report(
			machine, OC_LIMITED,
			"cgroups: version 1 without the controller perf_event, so operf --cgroup does not work; boot with systemd.unified_cgroup_hierarchy=1");
	else
		oc_report(
			machine, OC_MISSING,
			"cgroups: none are mounted, so --separate=cgroup and operf --cgroup do not work; mount -t cgroup2 none /sys/fs/cgroup");
}
