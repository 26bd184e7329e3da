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

/* 0 or -errno of opening the clock that every machine has as an event. */
static int try_clock(pid_t pid, int cpu, bool with_kernel)
{
	const struct perf_event_attr attr = oc_examine_clock(with_kernel);
	int fd = op_perf_open(&attr, pid, cpu, -1);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int try_fanotify(void)
{
	int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
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

static void ask_file_system(struct oc_machine *machine)
{
	struct statvfs fs;

	find_existing_part(machine->session_dir);
	machine->write_err =
		access(machine->session_dir, W_OK | X_OK) ? -errno : 0;
	machine->free_bytes = statvfs(machine->session_dir, &fs)
				      ? 0
				      : (uint64_t)fs.f_bavail * fs.f_frsize;
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
		.fanotify_err = try_fanotify(),
	};
	int err = find_session_folder(&machine, oc);

	if (err)
		return err;
	ask_file_system(&machine);
	return oc_examine(&machine, stdout) ? 0 : -ENODEV;
}
