// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Only notifications are asked for (FAN_CLASS_NOTIF), which nobody waits for.
 * The kernel's queue refers to the file from its exec on. So the queue need not
 * be read at once, and is read before the side band that has the mappings.
 *
 * Whole file systems are marked, found by their mount points. A path to a
 * file system of the network, or of a process, may make us wait for that; so
 * those are left out, with all that hold no programs.
 */

#include "daemon/source/perf/opd_perf_execs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <unistd.h>

#include "daemon/source/perf/opd_perf_files.h"

#define MOUNTS "/proc/self/mountinfo"
#define BUF_LEN 4096
#define MAX_READS 256 /* of some hundred files each */

/* A file system on a disk of this machine, or in its memory. */
static bool is_local(const char *type, const char *device)
{
	static const char *const types[] = { "btrfs",	"overlay", "ramfs",
					     "tmpfs",	"zfs",	   "9p",
					     "virtiofs" };

	if (!strcmp(type, "autofs") || !strncmp(type, "fuse", 4))
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i]))
			return true;
	return !strncmp(device, "/dev/", 5);
}

/* The kernel writes spaces and the like as \040. In place. */
static void unescape_path(char *path)
{
	char *out = path;
	unsigned int byte;

	for (; *path; path++) {
		if (*path == '\\' && sscanf(path, "\\%3o", &byte) == 1 &&
		    strlen(path) >= 4) {
			*out++ = (char)byte;
			path += 3;
		} else {
			*out++ = *path;
		}
	}
	*out = '\0';
}

/* "ID PARENT DEV ROOT POINT OPTIONS [TAG...] - TYPE DEVICE OPTIONS" */
static void mark_mount(int fd, char *line)
{
	char *point = NULL, *type, *device;
	char *rest = strstr(line, " - ");
	char *at = line;

	if (!rest)
		return;
	*rest = '\0';
	rest += 3;
	for (int i = 0; i < 5; i++)
		point = strsep(&at, " ");
	type = strsep(&rest, " ");
	device = strsep(&rest, " ");
	if (!point || !device || !is_local(type, device))
		return;
	unescape_path(point);
	/* A mount that cannot be marked, or is hidden by another, reports
	 * nothing. */
	fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_OPEN_EXEC,
		      AT_FDCWD, point);
}

static void mark_mounts(int fd)
{
	FILE *file = fopen(MOUNTS, "re");
	char *line = NULL;
	size_t room = 0;

	while (file && getline(&line, &room, file) >= 0)
		mark_mount(fd, line);
	free(line);
	if (file)
		fclose(file);
}

int opd_perf_execs_open(struct opd_perf_execs *execs)
{
	execs->nr_files = execs->nr_overflows = 0;
	execs->mounts_fd = -1;
	execs->fd =
		fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK,
			      O_RDONLY | O_LARGEFILE | O_CLOEXEC | O_NONBLOCK);
	if (execs->fd < 0)
		return -errno;
	/* Before the first look, so that no mount falls between. */
	execs->mounts_fd = open(MOUNTS, O_RDONLY | O_CLOEXEC);
	mark_mounts(execs->fd);
	return 0;
}

void opd_perf_execs_close(struct opd_perf_execs *execs)
{
	if (execs->fd >= 0)
		close(execs->fd);
	if (execs->mounts_fd >= 0)
		close(execs->mounts_fd);
	execs->fd = execs->mounts_fd = -1;
}

static void handle_exec_event(struct opd_perf_execs *execs,
			      const struct fanotify_event_metadata *event,
			      struct opd_perf_files *files)
{
	execs->nr_overflows += (event->mask & FAN_Q_OVERFLOW) != 0;
	if (event->fd < 0)
		return;
	execs->nr_files++;
	opd_perf_files_add(files, event->fd, NULL);
}

void opd_perf_execs_read(struct opd_perf_execs *execs,
			 struct opd_perf_files *files)
{
	union {
		struct fanotify_event_metadata event;
		char bytes[BUF_LEN];
	} buf;

	for (int i = 0; execs->fd >= 0 && i < MAX_READS; i++) {
		const struct fanotify_event_metadata *event = &buf.event;
		ssize_t len = read(execs->fd, &buf, sizeof(buf));

		if (len <= 0)
			break;
		for (; FAN_EVENT_OK(event, len) &&
		       event->vers == FANOTIFY_METADATA_VERSION;
		     event = FAN_EVENT_NEXT(event, len))
			handle_exec_event(execs, event, files);
	}
}

void opd_perf_execs_read_mounts(struct opd_perf_execs *execs)
{
	struct pollfd p = { .fd = execs->mounts_fd, .events = POLLPRI };

	if (execs->fd >= 0 && poll(&p, 1, 0) > 0)
		mark_mounts(execs->fd);
}
