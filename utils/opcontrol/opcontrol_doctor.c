// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --doctor: ask the kernel what only the kernel knows, then let the checks
 * (opcontrol_examine.h) look at the rest.
 */

#include "utils/opcontrol/opcontrol_doctor.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "utils/opcontrol/opcontrol_examine.h"
#include "utils/opcontrol/opcontrol_run.h"

/* Try to open the clock that every machine has as an event: 0 or -errno. */
static int try_clock(pid_t pid, int cpu, bool with_kernel)
{
	const struct perf_event_attr attr = oc_examine_clock(with_kernel);
	int fd = op_perf_open(&attr, pid, cpu, -1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Cut @path to the part that exists. */
static void find_existing_part(char *path)
{
	while (access(path, F_OK)) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path) {
			strcpy(path, "/");
			return;
		}
		*slash = '\0';
	}
}

/* Root keeps samples where opcontrol does, others where operf does. */
static int find_session_folder(struct oc_machine *machine, struct opcontrol *oc)
{
	size_t room = sizeof(machine->session_dir);
	int err = 0;

	if (geteuid())
		err = getcwd(machine->session_dir, room) ? 0 : -errno;
	else
		memcpy(machine->session_dir, oc->session.dir, room);
	return err ? op_diag_set(
			     &oc->diag, err,
			     "cannot use the current directory: %s; change to another",
			     strerror(-err))
		   : 0;
}

int oc_doctor(struct opcontrol *oc)
{
	struct oc_machine machine = {
		.root = "",
		.tools = oc->tools,
		.module_file = getenv("OPROFILE_MODULE"),
		.debuginfod_urls = getenv("DEBUGINFOD_URLS"),
		.java_options = getenv("JAVA_TOOL_OPTIONS"),
		.own_err = try_clock(0, -1, false),
		.kernel_err = try_clock(0, -1, true),
		.system_err = try_clock(-1, 0, true),
	};
	int err = find_session_folder(&machine, oc);
	int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC, 0);
	struct statvfs fs;
	long nr_cpus;

	if (fd < 0)
		machine.fanotify_err = -errno;
	else
		close(fd);
	if (err)
		return err;
	find_existing_part(machine.session_dir);
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	machine.nr_cpus = nr_cpus > 0 ? (unsigned int)nr_cpus : 1;
	machine.write_err =
		access(machine.session_dir, W_OK | X_OK) ? -errno : 0;
	if (!statvfs(machine.session_dir, &fs))
		machine.free_bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	return oc_examine(&machine, stdout) ? 0 : -ENODEV;
}
