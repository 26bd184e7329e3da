// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel hands over files that are executed to root alone (fanotify). To
 * others inotify(7) tells the names of files that were written, linked or made
 * executable, which for a program is long before its end: between its writing
 * and its deletion lie the fork and the exec of who runs it.
 *
 * Only regular files with an x bit that the user owns are opened. A folder that
 * the user cannot write into, such as /usr/bin, holds none that vanish.
 * There is a limit to the folders, the entries of a folder that are read, and
 * the files that are held, so a folder of any size costs the same; what is
 * beyond the limits is found as other files are, by its path.
 */

#include "daemon/source/perf/opd_perf_folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/base/op_array.h"
#include "libop/files/op_open.h"
#include "module/uapi/oprofile.h"

#define MAX_PROGRAMS 256
#define MAX_ENTRIES 4096 /* of a folder */
#define MAX_READS 64 /* of some hundred events each */
#define MAX_GONE 2 /* seconds */
#define FDS_OF_OTHERS 64 /* what the daemon needs besides */
#define NEWS                                                                   \
	(IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR |   \
	 IN_EXCL_UNLINK)

void opd_perf_folders_init(struct opd_perf_folders *folders)
{
	memset(folders, 0, sizeof(*folders));
	folders->fd = -1;
}

int opd_perf_folders_open(struct opd_perf_folders *folders)
{
	struct rlimit limit = { 0 };

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur <= FDS_OF_OTHERS)
		return -EMFILE;
	folders->max = (limit.rlim_cur - FDS_OF_OTHERS) / 4;
	if (folders->max > MAX_PROGRAMS)
		folders->max = MAX_PROGRAMS;
	folders->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return folders->fd < 0 ? -errno : 0;
}

static void close_program(struct opd_perf_program *program)
{
	close(program->fd);
	free(program->name);
}

/* ---- folders ----------------------------------------------------------------
 */

/* Its programs are closed, too. */
static void forget_folder(struct opd_perf_folders *folders, unsigned int at)
{
	struct opd_perf_folder *folder = &folders->folder[at];
	size_t kept = 0;

	for (size_t i = 0; i < folders->nr; i++) {
		if (folders->program[i].folder == at)
			close_program(&folders->program[i]);
		else
			folders->program[kept++] = folders->program[i];
	}
	folders->nr = kept;
	if (folder->watch >= 0)
		inotify_rm_watch(folders->fd, folder->watch);
	free(folder->path);
	folder->path = NULL;
}

void opd_perf_folders_close(struct opd_perf_folders *folders)
{
	for (unsigned int i = 0; i < OPD_PERF_FOLDERS_MAX; i++)
		if (folders->folder[i].path)
			forget_folder(folders, i);
	free(folders->program);
	if (folders->fd >= 0)
		close(folders->fd);
	opd_perf_folders_init(folders);
}

/* The length of the folder's part of @path, "/" included; 0: it has none. */
static size_t folder_len(const char *path)
{
	const char *end = path[0] == '/' ? strrchr(path, '/') : NULL;

	return end ? (size_t)(end - path) + 1 : 0;
}

/* The number of the folder of @path, or OPD_PERF_FOLDERS_MAX. */
static unsigned int find_folder(const struct opd_perf_folders *folders,
				const char *path)
{
	size_t len = folder_len(path);
	unsigned int i;

	for (i = 0; i < OPD_PERF_FOLDERS_MAX; i++) {
		const char *known = folders->folder[i].path;

		if (known && strlen(known) == len && !strncmp(known, path, len))
			break;
	}
	return i;
}

/* ---- programs ---------------------------------------------------------------
 */

static bool is_held(const struct opd_perf_folders *folders,
		    const struct opd_perf_program *program)
{
	for (size_t i = 0; i < folders->nr; i++) {
		const struct opd_perf_program *known = &folders->program[i];

		if (known->ino == program->ino && known->dev == program->dev &&
		    known->folder == program->folder &&
		    !strcmp(known->name, program->name))
			return true;
	}
	return false;
}

/* Take over what is in @program. Returns whether it could be held. */
static bool hold_program(struct opd_perf_folders *folders,
			 const struct opd_perf_program *program)
{
	if (folders->nr == folders->max) {
		close_program(&folders->program[0]);
		folders->nr--;
		memmove(&folders->program[0], &folders->program[1],
			folders->nr * sizeof(folders->program[0]));
	}
	if (op_array_reserve(&folders->program, folders->nr, 1))
		return false;
	folders->program[folders->nr++] = *program;
	return true;
}

/* Open what is called @name in folder @at, if it is a program of this user's.
 * Returns whether it is new. */
static bool open_program(struct opd_perf_folders *folders, unsigned int at,
			 const char *name)
{
	struct opd_perf_program program = { .folder = at };
	char path[OP_PATH_MAX];
	struct stat st;
	int len;

	len = snprintf(path, sizeof(path), "%s%s", folders->folder[at].path,
		       name);
	if (len < 0 || (size_t)len >= sizeof(path) || lstat(path, &st) ||
	    !S_ISREG(st.st_mode) || !(st.st_mode & 0111) ||
	    st.st_uid != geteuid())
		return false;
	program.fd = op_open_regular(path);
	if (program.fd < 0)
		return false;
	program.name = strdup(name);
	if (program.name && !fstat(program.fd, &st)) {
		program.dev = st.st_dev;
		program.ino = st.st_ino;
		if (!is_held(folders, &program) &&
		    hold_program(folders, &program))
			return true;
	}
	close_program(&program);
	return false;
}

static bool open_programs(struct opd_perf_folders *folders, unsigned int at)
{
	DIR *dir = opendir(folders->folder[at].path);
	const struct dirent *entry;
	bool any = false;

	for (int i = 0; dir && i < MAX_ENTRIES; i++) {
		entry = readdir(dir);
		if (!entry)
			break;
		any |= open_program(folders, at, entry->d_name);
	}
	if (dir)
		closedir(dir);
	return any;
}

/*
 * Look at what is at the path of folder @at now. If there was another folder
 * before, its programs stay held until they expire; they keep its inode, so
 * inotify does not tell that it was deleted. Returns whether it can be watched.
 */
static bool watch_folder(struct opd_perf_folders *folders, unsigned int at)
{
	struct opd_perf_folder *folder = &folders->folder[at];
	struct stat st;

	folder->idle = 0;
	if (stat(folder->path, &st) || access(folder->path, W_OK))
		return false;
	if (folder->watch >= 0 && folder->dev == st.st_dev &&
	    folder->ino == st.st_ino)
		return true;
	if (folder->watch >= 0)
		inotify_rm_watch(folders->fd, folder->watch);
	folder->dev = st.st_dev;
	folder->ino = st.st_ino;
	folder->watch = inotify_add_watch(folders->fd, folder->path, NEWS);
	if (folder->watch < 0)
		return false;
	/* After the watch, so that no program falls between. */
	(void)open_programs(folders, at);
	return true;
}

void opd_perf_folders_add(struct opd_perf_folders *folders, const char *path)
{
	unsigned int at = find_folder(folders, path);

	if (folders->fd < 0 || !folder_len(path))
		return;
	if (at < OPD_PERF_FOLDERS_MAX) {
		(void)watch_folder(folders, at);
		return;
	}
	for (at = 0; at < OPD_PERF_FOLDERS_MAX && folders->folder[at].path;)
		at++;
	if (at == OPD_PERF_FOLDERS_MAX)
		return;
	folders->folder[at].watch = -1;
	folders->folder[at].path = strndup(path, folder_len(path));
	if (folders->folder[at].path && !watch_folder(folders, at))
		forget_folder(folders, at);
}

/* ---- changes ----------------------------------------------------------------
 */

static bool handle_folder_event(struct opd_perf_folders *folders,
				const struct inotify_event *event)
{
	bool any = false;

	for (unsigned int i = 0; i < OPD_PERF_FOLDERS_MAX; i++) {
		if (!folders->folder[i].path)
			continue;
		if (event->mask & IN_Q_OVERFLOW)
			any |= open_programs(folders, i);
		else if (folders->folder[i].watch != event->wd)
			continue;
		else if (event->mask & IN_IGNORED)
			forget_folder(folders, i);
		else if (event->len)
			any |= open_program(folders, i, event->name);
	}
	return any;
}

bool opd_perf_folders_read(struct opd_perf_folders *folders)
{
	union {
		struct inotify_event event;
		char bytes[4096];
	} buf;
	bool any = false;

	for (int i = 0; folders->fd >= 0 && i < MAX_READS; i++) {
		ssize_t len = read(folders->fd, &buf, sizeof(buf));
		const char *at = buf.bytes;

		if (len <= 0)
			break;
		while (at < buf.bytes + len) {
			const struct inotify_event *event = (const void *)at;

			any |= handle_folder_event(folders, event);
			at += sizeof(*event) + event->len;
		}
	}
	return any;
}

int opd_perf_folders_find(const struct opd_perf_folders *folders,
			  const char *path, size_t *at)
{
	unsigned int folder = find_folder(folders, path);
	const char *name = path + folder_len(path);

	while (folder < OPD_PERF_FOLDERS_MAX && *at < folders->nr) {
		const struct opd_perf_program *program =
			&folders->program[folders->nr - ++*at];

		if (program->folder == folder && !strcmp(program->name, name))
			return fcntl(program->fd, F_DUPFD_CLOEXEC, 0);
	}
	return -1;
}

void opd_perf_folders_expire(struct opd_perf_folders *folders)
{
	size_t kept = 0;
	struct stat st;

	for (unsigned int i = 0; i < OPD_PERF_FOLDERS_MAX; i++)
		if (folders->folder[i].path &&
		    ++folders->folder[i].idle > OPD_PERF_FOLDERS_IDLE)
			forget_folder(folders, i);
	for (size_t i = 0; i < folders->nr; i++) {
		struct opd_perf_program *program = &folders->program[i];

		if (fstat(program->fd, &st) || !st.st_nlink)
			program->gone++;
		if (program->gone > MAX_GONE)
			close_program(program);
		else
			folders->program[kept++] = *program;
	}
	folders->nr = kept;
}
