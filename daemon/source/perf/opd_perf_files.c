// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file is told from others by device and inode, which are its own as long as
 * it is held. Its build-id is read once, when it comes, because it is what the
 * kernel tells of a mapping and looked for with each new image. With 128 files
 * a search is faster than that reading by far.
 */

#include "daemon/source/perf/opd_perf_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/source/untrusted/opd_untrusted.h"
#include "libop/files/op_deleted.h"
#include "module/uapi/oprofile.h"

#define MAX_AGE 2
#define FDS_OF_OTHERS 64 /* what the daemon needs besides */

/* Leave out file @at, whose descriptor is somebody else's or closed. */
static void forget_file(struct opd_perf_files *files, size_t at)
{
	files->nr--;
	memmove(&files->file[at], &files->file[at + 1],
		(files->nr - at) * sizeof(files->file[0]));
}

void opd_perf_files_init(struct opd_perf_files *files)
{
	struct rlimit limit = { 0 };
	rlim_t max = 0;

	files->nr = 0;
	files->untrusted = NULL;
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur > FDS_OF_OTHERS)
		max = (limit.rlim_cur - FDS_OF_OTHERS) / 4;
	files->max = max < OPD_PERF_FILES_MAX ? max : OPD_PERF_FILES_MAX;
}

void opd_perf_files_release(struct opd_perf_files *files)
{
	for (size_t i = 0; i < files->nr; i++)
		close(files->file[i].fd);
	files->nr = 0;
}

static bool is_held(const struct opd_perf_files *files, const struct stat *st)
{
	for (size_t i = 0; i < files->nr; i++)
		if (files->file[i].ino == st->st_ino &&
		    files->file[i].dev == st->st_dev)
			return true;
	return false;
}

void opd_perf_files_add(struct opd_perf_files *files, int fd,
			const struct op_build_id *id)
{
	struct opd_perf_file file = { .fd = fd };
	struct stat st;

	if (!files->max || fstat(fd, &st) || !S_ISREG(st.st_mode) ||
	    is_held(files, &st)) {
		close(fd);
		return;
	}
	if (files->nr == files->max) {
		close(files->file[0].fd);
		forget_file(files, 0);
	}
	file.dev = st.st_dev;
	file.ino = st.st_ino;
	if (id)
		file.build_id = *id;
	else if (opd_untrusted_build_id(files->untrusted, fd, &file.build_id))
		file.build_id.len = 0;
	files->file[files->nr++] = file;
}

/* Whether its path is @name, or was until it was deleted: one of both may have
 * " (deleted)" at its end. */
static bool has_name(const struct opd_perf_file *file, const char *name)
{
	char link[32], path[OP_PATH_MAX];
	size_t name_len = op_deleted_at(name, strlen(name));
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file->fd);
	len = readlink(link, path, sizeof(path));
	return len > 0 && (size_t)len < sizeof(path) &&
	       op_deleted_at(path, (size_t)len) == name_len &&
	       !memcmp(path, name, name_len);
}

/* Its number, or that of files there are. */
static size_t find_file(const struct opd_perf_files *files,
			const struct op_build_id *build_id, uint64_t ino,
			const char *name)
{
	size_t i;

	for (i = 0; i < files->nr; i++) {
		const struct opd_perf_file *file = &files->file[i];

		if ((build_id->len
			     ? op_build_id_agrees(&file->build_id, build_id)
			     : file->ino == ino) &&
		    (!name || has_name(file, name)))
			break;
	}
	return i;
}

int opd_perf_files_open(const struct opd_perf_files *files,
			const struct op_build_id *build_id, uint64_t ino,
			const char *name)
{
	size_t at = find_file(files, build_id, ino, name);

	return at == files->nr ? -1
			       : fcntl(files->file[at].fd, F_DUPFD_CLOEXEC, 0);
}

int opd_perf_files_take(struct opd_perf_files *files,
			const struct op_build_id *build_id, uint64_t ino)
{
	size_t at = find_file(files, build_id, ino, NULL);
	int fd;

	if (at == files->nr)
		return -1;
	fd = files->file[at].fd;
	forget_file(files, at);
	return fd;
}

void opd_perf_files_expire(struct opd_perf_files *files)
{
	size_t kept = 0;

	for (size_t i = 0; i < files->nr; i++) {
		if (++files->file[i].age < MAX_AGE)
			files->file[kept++] = files->file[i];
		else
			close(files->file[i].fd);
	}
	files->nr = kept;
}
