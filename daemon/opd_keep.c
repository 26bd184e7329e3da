// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/opd_keep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/opd.h"
#include "libop/op_open.h"
#include "libop/op_config.h"
#include "libop/op_copy.h"

void opd_keep_init(struct opd_keep *keep, bool forever, rlim_t left)
{
	memset(keep, 0, sizeof(*keep));
	keep->forever = forever;
	keep->max_open = OPD_KEEP_MAX;
	if (left / 4 < OPD_KEEP_MAX)
		keep->max_open = (unsigned int)(left / 4);
}

static void let_go(struct opd_keep *keep, struct opd_kept *kept)
{
	if (kept->fd < 0)
		return;
	close(kept->fd);
	kept->fd = -1;
	keep->nr_open--;
}

void opd_keep_release(struct opd_keep *keep)
{
	for (size_t i = 0; i < keep->nr; i++)
		let_go(keep, &keep->kept[i]);
	free(keep->kept);
	memset(keep, 0, sizeof(*keep));
}

/* ---- copying ----------------------------------------------------------------
 */

static int check_size(const struct opd_keep *keep, const struct stat *st)
{
	if ((uint64_t)st->st_size > OPD_KEEP_FILE_MAX)
		return -EFBIG;
	if ((uint64_t)st->st_size > OPD_KEEP_TOTAL_MAX - keep->copied)
		return -ENOSPC;
	return 0;
}

/* Into the session, unless it is there already. */
static int copy_image(struct opd *opd, const struct opd_image *image, int fd)
{
	char path[PATH_MAX];
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	err = op_session_image(&opd->session, image->name,
			       image->build_id.bytes, image->build_id.len,
			       image->mtime, path, sizeof(path));
	if (err || !access(path, F_OK))
		return err;
	err = check_size(&opd->keep, &st);
	if (!err && mkdir(opd->session.images, 0755) && errno != EEXIST)
		err = -errno;
	if (!err)
		err = op_copy_file(fd, &st, path);
	if (!err)
		opd->keep.copied += (uint64_t)st.st_size;
	return err;
}

static void keep_copy(struct opd *opd, struct opd_kept *kept, int fd)
{
	int err = copy_image(opd, kept->image, fd);

	kept->done = true;
	if (err)
		op_log(&opd->log, "%s: is gone, and no copy can be kept: %s",
		       kept->image->name, strerror(-err));
	else
		op_log(&opd->log, "%s: is gone; a copy is kept in %s",
		       kept->image->name, opd->session.images);
}

/* ---- a process that runs it -------------------------------------------------
 */

/* Open the file that a line of maps is about, if it is the one. */
static int open_line(const struct opd_kept *kept, uint32_t tgid,
		     const char *line)
{
	uint64_t start, end, ino;
	unsigned int maj, min;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*x %x:%x %" SCNu64 " ",
		   &start, &end, &maj, &min, &ino) != 5)
		return -1;
	if (kept->dev ? ino != kept->ino
		      : !strstr(line, kept->image->name) || !ino)
		return -1;
	return op_open_mapped(tgid, start, end);
}

/* The inode says little across file systems: the build must be right. */
static bool is_build(const struct opd_image *image, int fd)
{
	struct op_build_id id = { 0, { 0 } };
	struct stat st;

	if (op_build_id_of_elf(&id, fd))
		id.len = 0;
	return !fstat(fd, &st) &&
	       !opd_builds_differ(&image->build_id, image->mtime, &id,
				  (uint64_t)st.st_mtime);
}

static int search_maps(const struct opd_kept *kept, uint32_t tgid)
{
	char path[64], *line = NULL;
	size_t room = 0;
	int fd = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", tgid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (fd < 0 && getline(&line, &room, file) >= 0) {
		fd = open_line(kept, tgid, line);
		if (fd >= 0 && !is_build(kept->image, fd)) {
			close(fd);
			fd = -1;
		}
	}
	free(line);
	fclose(file);
	return fd;
}

static int search_processes(const struct opd_kept *kept)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	uint64_t tgid;
	int fd = -1;

	if (!folder)
		return -1;
	while (fd < 0 && (entry = readdir(folder)))
		if (!op_parse_u64(entry->d_name, &tgid) && tgid <= INT32_MAX)
			fd = search_maps(kept, (uint32_t)tgid);
	closedir(folder);
	return fd;
}

/* ---- keeping ----------------------------------------------------------------
 */

/* Whether the path does not lead to the file any more. */
static bool is_gone(const struct opd_kept *kept)
{
	struct stat st;

	return stat(kept->image->name, &st) || st.st_ino != kept->ino ||
	       st.st_dev != kept->dev ||
	       (!kept->image->build_id.len &&
		(uint64_t)st.st_mtime != kept->image->mtime);
}

/* A file that was written over in place is another build by now. */
static void rescue(struct opd *opd, struct opd_kept *kept)
{
	int fd = kept->fd >= 0 ? kept->fd : search_processes(kept);

	if (fd >= 0 && is_build(kept->image, fd))
		keep_copy(opd, kept, fd);
	if (fd >= 0 && fd != kept->fd)
		close(fd);
	kept->done = true;
	let_go(&opd->keep, kept);
}

static void look_after(struct opd *opd, struct opd_kept *kept, time_t now)
{
	if (kept->done)
		return;
	if (is_gone(kept))
		rescue(opd, kept);
	else if (!opd->keep.forever && now - kept->since > OPD_KEEP_SECONDS)
		let_go(&opd->keep, kept);
}

void opd_keep_sweep(struct opd *opd)
{
	struct opd_keep *keep = &opd->keep;
	time_t now = opd->clock->seconds();

	for (size_t i = 0; i < keep->nr; i++)
		look_after(opd, &keep->kept[i], now);
}

/* By its path, also as the process sees it that runs it now. */
static int open_image(struct opd *opd, const struct opd_image *image)
{
	int64_t tgid = opd->trans.context.tgid;
	char path[PATH_MAX + 64];
	int fd = op_open_regular(image->name);

	if (fd >= 0 && is_build(image, fd))
		return fd;
	if (fd >= 0)
		close(fd);
	if (tgid <= 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/root%s", tgid,
		 image->name);
	fd = op_open_regular(path);
	if (fd < 0 || is_build(image, fd))
		return fd;
	close(fd);
	return -1;
}

static int open_kept(const struct opd_keep *keep, const struct opd_image *image)
{
	for (size_t i = 0; i < keep->nr; i++)
		if (keep->kept[i].image == image && keep->kept[i].fd >= 0)
			return fcntl(keep->kept[i].fd, F_DUPFD_CLOEXEC, 0);
	return -1;
}

static int open_copy(const struct opd *opd, const struct opd_image *image)
{
	char path[PATH_MAX];

	if (op_session_image(&opd->session, image->name, image->build_id.bytes,
			     image->build_id.len, image->mtime, path,
			     sizeof(path)))
		return -1;
	return op_open_regular(path);
}

int opd_keep_open(struct opd *opd, const struct opd_image *image)
{
	int fd;

	/* Without any of both no file is certain to be the one. */
	if (image->kind != OP_IMAGE_FILE || image->name[0] != '/' ||
	    (!image->build_id.len && !image->mtime))
		return -ENOENT;
	fd = open_kept(&opd->keep, image);
	if (fd < 0)
		fd = open_image(opd, image);
	if (fd < 0)
		fd = open_copy(opd, image);
	if (fd >= 0 && !is_build(image, fd)) {
		close(fd);
		fd = -1;
	}
	return fd < 0 ? -ENOENT : fd;
}

static struct opd_kept *add_kept(struct opd_keep *keep)
{
	size_t room = keep->room ? keep->room * 2 : 64;
	struct opd_kept *more;

	if (keep->nr == keep->room) {
		more = reallocarray(keep->kept, room, sizeof(*more));
		if (!more)
			return NULL;
		keep->kept = more;
		keep->room = room;
	}
	return &keep->kept[keep->nr++];
}

static void hold(struct opd_keep *keep, struct opd_kept *kept, int fd)
{
	struct stat st;

	if (fstat(fd, &st) || keep->nr_open >= keep->max_open) {
		close(fd);
		kept->done = true;
		return;
	}
	kept->fd = fd;
	kept->dev = st.st_dev;
	kept->ino = st.st_ino;
	keep->nr_open++;
}

void opd_keep_image(struct opd *opd, const struct opd_image *image,
		    bool deleted)
{
	struct opd_kept *kept;
	int fd;

	if (image->kind != OP_IMAGE_FILE || image->name[0] != '/')
		return;
	kept = add_kept(&opd->keep);
	if (!kept)
		return;
	*kept = (struct opd_kept){ .image = image,
				   .since = opd->clock->seconds() };
	kept->fd = -1;
	fd = deleted ? -1 : open_image(opd, image);
	if (fd >= 0)
		hold(&opd->keep, kept, fd);
	else
		rescue(opd, kept);
}
