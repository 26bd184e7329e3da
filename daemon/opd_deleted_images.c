// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An entry goes through three states. It is held open from its first sample on,
 * by the descriptor that the source has of it or else by its path;
 * where the whole machine is profiled it is let go after a while; and it is
 * done when a copy exists or none can be made. What is on a network file system
 * is done at once: a look at its path may take as long as its server is gone. A
 * sweep compares the path with
 * device, inode and, without a build-id, time of modification. When they
 * differ, the session's copy of another file of the same build gets a second
 * link; else the file is copied from the open descriptor or, if it was let go
 * or gone at once, from another file of that build or from the mapping of the
 * process that had the samples or, at the next sweep, of any.
 *
 * Before a file is copied or given out, its build-id, or its time where the
 * build-id is not known, is compared with that of the samples, because it may
 * be another build by now. A copy gets its name when it is complete, so a
 * daemon that is killed leaves no half of one under that name. The size of a
 * copy, the size of all copies and the number of open descriptors are bounded.
 */

#include "daemon/opd_deleted_images.h"

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

#include "daemon/source/untrusted/opd_untrusted.h"
#include "daemon/source/untrusted/opd_memory_image.h"
#include "daemon/store/opd_image.h"
#include "libop/base/op_array.h"
#include "libop/base/op_clock.h"
#include "libop/files/op_config.h"
#include "libop/files/op_copy.h"
#include "libop/files/op_deleted.h"
#include "libop/files/op_file.h"
#include "libop/base/op_log.h"
#include "libop/files/op_open.h"
#include "libop/base/op_search.h"
#include "libop/session/op_session.h"
#include "libop/session/op_session_readers.h"

#define GONE "is gone"
#define SAME_BUILD_MAX 64 /* names of a build that are tried */

static int compare_mount_ids(const void *a, const void *b)
{
	return op_compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* The mounts that are there now, by the first number of each line of mountinfo
 * (proc(5)). Without memory there are none, and all files are copied. */
static void read_mount_ids(struct opd_deleted_images *images)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	uint64_t id;

	while (file && getline(&line, &room, file) >= 0)
		if (sscanf(line, "%" SCNu64 " ", &id) == 1 &&
		    !op_array_reserve(&images->mounts, images->nr_mounts, 1))
			images->mounts[images->nr_mounts++] = id;
	if (images->nr_mounts)
		qsort(images->mounts, images->nr_mounts,
		      sizeof(*images->mounts), compare_mount_ids);
	free(line);
	if (file)
		fclose(file);
}

/* Whether @fd is on another mount than those; a kernel before Linux 5.8 does
 * not tell. */
static bool is_on_new_mount(const struct opd_deleted_images *images, int fd)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) ||
	    !(st.stx_mask & STATX_MNT_ID))
		return false;
	return !images->nr_mounts ||
	       !bsearch(&(uint64_t){ st.stx_mnt_id }, images->mounts,
			images->nr_mounts, sizeof(*images->mounts),
			compare_mount_ids);
}

void opd_deleted_images_init(struct opd_deleted_images *images,
			     const struct op_session *session,
			     struct op_log *log, const struct op_clock *clock,
			     bool forever, rlim_t left)
{
	memset(images, 0, sizeof(*images));
	images->session = session;
	images->log = log;
	images->clock = clock;
	images->forever = forever;
	images->untrusted = malloc(sizeof(*images->untrusted));
	if (images->untrusted)
		opd_untrusted_init(images->untrusted);
	images->max_open = OPD_DELETED_MAX;
	if (left / 4 < OPD_DELETED_MAX)
		images->max_open = (unsigned int)(left / 4);
	op_shares_init(&images->open_shares, images->max_open);
	op_shares_init(&images->copy_shares, OPD_DELETED_TOTAL_MAX);
	op_shares_init(&images->line_shares, OPD_DELETED_LINES_MAX);
	read_mount_ids(images);
}

static void let_go(struct opd_deleted_images *images, struct opd_kept *kept)
{
	if (kept->fd < 0)
		return;
	close(kept->fd);
	kept->fd = -1;
	images->nr_open--;
	op_shares_give_back(&images->open_shares, kept->user, 1);
}

void opd_deleted_images_release(struct opd_deleted_images *images)
{
	if (images->nr_unsaid)
		op_log(images->log,
		       "%" PRIu64
		       " further files vanished, of users with too many lines here",
		       images->nr_unsaid);
	for (size_t i = 0; i < images->nr; i++)
		let_go(images, &images->kept[i]);
	for (size_t i = 0; i < images->nr; i++)
		free((char *)images->kept[i].binary.name);
	free(images->kept);
	free(images->mounts);
	if (images->untrusted)
		opd_untrusted_release(images->untrusted);
	free(images->untrusted);
	op_hash_release(&images->index);
	op_hash_release(&images->builds);
	op_shares_release(&images->open_shares);
	op_shares_release(&images->copy_shares);
	op_shares_release(&images->line_shares);
	memset(images, 0, sizeof(*images));
}

/* ---- copying ----------------------------------------------------------------
 */

/* Take room for a copy of @len bytes. */
static int reserve_copy_room(struct opd_deleted_images *images,
			     const struct opd_kept *kept, uint64_t len)
{
	if (len > OPD_DELETED_FILE_MAX)
		return -EFBIG;
	if (len > OPD_DELETED_TOTAL_MAX - images->copied)
		return -ENOSPC;
	if (!op_shares_take(&images->copy_shares, kept->user, len))
		return -EDQUOT;
	images->copied += len;
	return 0;
}

static void give_back_room(struct opd_deleted_images *images,
			   const struct opd_kept *kept, uint64_t len)
{
	op_shares_give_back(&images->copy_shares, kept->user, len);
	images->copied -= len;
}

/* Where the session's copy is, or would be. */
static int path_of_copy(const struct opd_deleted_images *images,
			const struct opd_binary *binary, char *path, size_t len)
{
	return op_session_image(images->session, binary->name,
				&binary->build_id, binary->mtime, path, len);
}

static uint64_t hash_build(const struct op_hash *index,
			   const struct op_build_id *build_id)
{
	return op_hash_bytes(index->seed, build_id->bytes, build_id->len);
}

/* The number of the first entry with that build-id, 0 if there is none. */
static uint32_t first_of_build(const struct opd_deleted_images *images,
			       const struct op_build_id *build_id)
{
	uint64_t hash = hash_build(&images->builds, build_id);
	uint32_t number;

	if (!build_id->len)
		return 0;
	op_hash_each(&images->builds, hash, number)
		if (op_build_id_same(&images->kept[number - 1].binary.build_id,
				     build_id))
			break;
	return number;
}

/* Whether the file at @path has the bytes of @fd. */
static bool has_bytes_of(const char *path, int fd)
{
	char a[16384], b[sizeof(a)];
	int other = op_open_regular(path);
	ssize_t len = other < 0 ? -1 : 1;
	off_t at;

	for (at = 0; len > 0; at += len) {
		len = pread(fd, a, sizeof(a), at);
		if (pread(other, b, sizeof(b), at) != len ||
		    (len > 0 && memcmp(a, b, (size_t)len) != 0))
			len = -1;
	}
	if (other >= 0)
		close(other);
	return !len;
}

/*
 * Link the session's copy of the same build to this name, too. Whoever makes a
 * file chooses its build-id: one that is at hand has the bytes of the copy, and
 * one that is not may have been any, so that a copy of root's file alone will
 * do.
 */
static bool link_copy(const struct opd_deleted_images *images,
		      const struct opd_kept *kept)
{
	char path[PATH_MAX], other_path[PATH_MAX];
	uint32_t first = first_of_build(images, &kept->binary.build_id);
	uint32_t number = first ? images->kept[first - 1].copy_of_build : 0;
	const struct opd_kept *other;

	if (!number)
		return false;
	other = &images->kept[number - 1];
	return other != kept &&
	       !path_of_copy(images, &kept->binary, path, sizeof(path)) &&
	       !path_of_copy(images, &other->binary, other_path,
			     sizeof(other_path)) &&
	       (kept->fd < 0
			? other->is_own &&
				  op_build_id_agrees(&kept->binary.build_id,
						     &other->binary.build_id)
			: has_bytes_of(other_path, kept->fd)) &&
	       (!link(other_path, path) || op_is_same_file(other_path, path));
}

/* Into the session, unless it is there already. */
static int copy_binary(struct opd_deleted_images *images, struct opd_kept *kept,
		       int fd)
{
	char path[PATH_MAX];
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	kept->is_own = op_is_own_file(&st);
	err = path_of_copy(images, &kept->binary, path, sizeof(path));
	if (!err && !access(path, F_OK)) {
		if (has_bytes_of(path, fd))
			return 0;
		/* Another user's file, of that name and build-id. */
		err = kept->is_own && !unlink(path) ? 0 : -EEXIST;
	}
	if (!err)
		err = op_session_make_folder(images->session->images);
	if (!err)
		err = reserve_copy_room(images, kept, (uint64_t)st.st_size);
	if (err)
		return err;
	err = op_copy_file(fd, &st, path);
	if (err)
		give_back_room(images, kept, (uint64_t)st.st_size);
	return err;
}

/* @why there is need of a copy: what the file is. */
static void record_copy(struct opd_deleted_images *images,
			struct opd_kept *kept, const char *why, int err)
{
	uint32_t first = first_of_build(images, &kept->binary.build_id);
	uint32_t *copy = first ? &images->kept[first - 1].copy_of_build : NULL;

	if (!err && copy && (!*copy || kept->is_own))
		*copy = (uint32_t)(kept - images->kept) + 1;
	images->new_copies |= !err;
	if (!op_shares_take(&images->line_shares, kept->user, 1))
		images->nr_unsaid++;
	else if (err)
		op_log(images->log, "%s: %s, and it cannot be copied: %s",
		       kept->binary.name, why, strerror(-err));
	else
		op_log(images->log, "%s: %s; a copy is kept in %s",
		       kept->binary.name, why, images->session->images);
}

/* Several file systems may have the inode number: compare the build, too.
 * Without build-id and time nothing tells the right file. */
static bool is_build(const struct opd_deleted_images *images,
		     const struct opd_binary *binary, int fd)
{
	struct op_build_id id = { 0, { 0 } };
	struct stat st;

	if (opd_untrusted_build_id(images->untrusted, fd, &id))
		id.len = 0;
	/* A build-id that is known decides, else the time of modification. */
	if (binary->build_id.len)
		return op_build_id_agrees(&binary->build_id, &id);
	return binary->mtime && !fstat(fd, &st) &&
	       binary->mtime == (uint64_t)st.st_mtime;
}

/* ---- keeping ----------------------------------------------------------------
 */

/* Whether the path does not lead to the file any more. */
static bool is_gone(const struct opd_kept *kept)
{
	struct stat st;

	return stat(kept->binary.name, &st) || st.st_ino != kept->ino ||
	       st.st_dev != kept->dev ||
	       (!kept->binary.build_id.len && kept->binary.mtime &&
		(uint64_t)st.st_mtime != kept->binary.mtime);
}

/* Open a file that is held, or find it by its path. */
static int open_kept(const struct opd_kept *kept)
{
	if (kept->fd >= 0)
		return fcntl(kept->fd, F_DUPFD_CLOEXEC, 0);
	return kept->shut || kept->is_remote
		       ? -1
		       : op_open_without_links("/", kept->binary.name);
}

/* Open another file of the same build that root alone may write, of the first
 * and the latest names: a user may give a build any number of them. */
static int open_same_build(const struct opd_deleted_images *images,
			   const struct opd_kept *kept)
{
	uint32_t number = first_of_build(images, &kept->binary.build_id);

	for (int i = 0; number && i < SAME_BUILD_MAX; i++) {
		const struct opd_kept *other = &images->kept[number - 1];
		int fd = other != kept ? open_kept(other) : -1;
		struct stat st;

		if (fd >= 0 && !fstat(fd, &st) && op_is_own_file(&st) &&
		    is_build(images, &kept->binary, fd))
			return fd;
		if (fd >= 0)
			close(fd);
		number = other->next_of_build;
	}
	return -1;
}

/* The path of @kept leads to its file no more: make a copy of @fd, which is a
 * file of its build, or -1 where none was found. */
static void settle(struct opd_deleted_images *images, struct opd_kept *kept,
		   int fd)
{
	/* A file that was written over in place is another build by now. */
	if (fd >= 0 && is_build(images, &kept->binary, fd))
		record_copy(images, kept, GONE, copy_binary(images, kept, fd));
	kept->missing = fd < 0;
	if (fd >= 0 && fd != kept->fd)
		close(fd);
	kept->done = true;
	let_go(images, kept);
}

/* ---- a process that runs it -------------------------------------------------
 */

static uint64_t hash_sought(const struct op_hash *index,
			    const struct opd_kept *kept)
{
	return kept->dev ? op_hash_mix(index->seed, kept->ino)
			 : op_hash_text(index->seed, kept->binary.name);
}

/* @fd, if it is a file of that build; else it is closed. */
static int keep_if_build(const struct opd_deleted_images *images,
			 const struct opd_binary *binary, int fd)
{
	if (fd < 0 || is_build(images, binary, fd))
		return fd;
	close(fd);
	return -1;
}

/* The file that process @tgid has mapped there: root opens the mapping; the
 * owner opens it where it is the program, or gets what of it is in memory. */
static int open_mapping(const struct opd_deleted_images *images,
			const struct opd_binary *binary, uint32_t tgid,
			uint64_t start, uint64_t end)
{
	char exe[64];
	int fd =
		keep_if_build(images, binary, op_open_mapped(tgid, start, end));

	snprintf(exe, sizeof(exe), "/proc/%" PRIu32 "/exe", tgid);
	if (fd < 0)
		fd = keep_if_build(images, binary, op_open_regular(exe));
	if (fd < 0)
		fd = keep_if_build(images, binary,
				   opd_memory_image_open(images->untrusted,
							 "/proc", tgid, start));
	return fd;
}

/* Whether the file that process @tgid has mapped, as @line of its maps says, is
 * the one: then that is settled. */
static void try_mapping(struct opd_deleted_images *images,
			struct opd_kept *kept, uint32_t tgid, const char *line)
{
	uint64_t start, end;
	int fd;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2)
		return;
	fd = open_mapping(images, &kept->binary, tgid, start, end);
	if (fd < 0)
		return;
	kept->is_sought = false;
	images->nr_sought--;
	settle(images, kept, fd);
}

/* A file that was never there is known by its path, others by the inode. */
static void search_line(struct opd_deleted_images *images,
			const struct op_hash *sought, uint32_t tgid,
			const char *line)
{
	const char *path = strchr(line, '/');
	size_t len;
	uint64_t ino;
	uint32_t number;

	if (!path || sscanf(line, "%*s %*s %*s %*s %" SCNu64, &ino) != 1 ||
	    !ino)
		return;
	len = op_deleted_at(path, strcspn(path, "\n"));
	op_hash_each(sought, op_hash_bytes(sought->seed, path, len), number) {
		struct opd_kept *kept = &images->kept[number - 1];

		if (kept->is_sought && !kept->dev &&
		    !strncmp(kept->binary.name, path, len) &&
		    !kept->binary.name[len])
			try_mapping(images, kept, tgid, line);
	}
	op_hash_each(sought, op_hash_mix(sought->seed, ino), number) {
		struct opd_kept *kept = &images->kept[number - 1];

		if (kept->is_sought && kept->dev && kept->ino == ino)
			try_mapping(images, kept, tgid, line);
	}
}

static void search_maps(struct opd_deleted_images *images,
			const struct op_hash *sought, uint32_t tgid)
{
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", tgid);
	file = fopen(path, "re");
	if (!file)
		return;
	while (images->nr_sought && getline(&line, &room, file) >= 0)
		search_line(images, sought, tgid, line);
	free(line);
	fclose(file);
}

static void search_process(struct opd_deleted_images *images,
			   const struct opd_kept *kept, uint32_t tgid)
{
	struct op_hash sought = { 0 };

	if (op_hash_reserve(&sought, 1))
		return;
	op_hash_add(&sought, hash_sought(&sought, kept),
		    (uint32_t)(kept - images->kept) + 1);
	search_maps(images, &sought, tgid);
	op_hash_release(&sought);
}

/* Look through the mappings of all processes once, however many files are
 * sought. What no process has is missing. */
static void search_processes(struct opd_deleted_images *images)
{
	DIR *folder = images->nr_sought ? opendir("/proc") : NULL;
	struct op_hash sought = { 0 };
	struct dirent *entry;
	uint64_t tgid;

	/* The next time. */
	if (!folder || op_hash_reserve(&sought, images->nr_sought)) {
		if (folder)
			closedir(folder);
		return;
	}
	for (size_t i = 0; i < images->nr; i++)
		if (images->kept[i].is_sought)
			op_hash_add(&sought,
				    hash_sought(&sought, &images->kept[i]),
				    (uint32_t)i + 1);
	while (images->nr_sought && (entry = readdir(folder)))
		if (!op_parse_u64(entry->d_name, &tgid) && tgid <= INT32_MAX)
			search_maps(images, &sought, (uint32_t)tgid);
	closedir(folder);
	op_hash_release(&sought);
	for (size_t i = 0; i < images->nr && images->nr_sought; i++) {
		if (!images->kept[i].is_sought)
			continue;
		images->kept[i].is_sought = false;
		images->nr_sought--;
		settle(images, &images->kept[i], -1);
	}
}

/* ---- looking ----------------------------------------------------------------
 */

/* A file that is neither held nor copied is sought in process @tgid (0: not
 * known), and at the next sweep in all processes. */
static void rescue(struct opd_deleted_images *images, struct opd_kept *kept,
		   uint32_t tgid)
{
	int fd = kept->fd;

	if (link_copy(images, kept)) {
		record_copy(images, kept, GONE, 0);
		kept->done = true;
		let_go(images, kept);
		return;
	}
	if (fd < 0)
		fd = open_same_build(images, kept);
	if (fd >= 0) {
		settle(images, kept, fd);
		return;
	}
	kept->is_sought = true;
	images->nr_sought++;
	if (tgid)
		search_process(images, kept, tgid);
}

static void look_after(struct opd_deleted_images *images, struct opd_kept *kept,
		       time_t now)
{
	if (kept->done || kept->is_sought)
		return;
	if (is_gone(kept))
		rescue(images, kept, 0);
	else if (!images->forever && now - kept->since > OPD_DELETED_SECONDS)
		let_go(images, kept);
}

void opd_deleted_images_sweep(struct opd_deleted_images *images)
{
	time_t now = images->clock->seconds();
	bool new_copies;

	for (size_t i = 0; i < images->nr; i++)
		look_after(images, &images->kept[i], now);
	search_processes(images);
	new_copies = images->new_copies;
	images->new_copies = false;
	for (size_t i = 0; new_copies && i < images->nr; i++) {
		struct opd_kept *kept = &images->kept[i];

		if (kept->missing && link_copy(images, kept)) {
			record_copy(images, kept, GONE, 0);
			kept->missing = false;
		}
	}
}

/* By its path, also as process @tgid sees it. */
static int open_by_path(const struct opd_deleted_images *images,
			const struct opd_binary *binary, uint32_t tgid)
{
	int fd = op_open_without_links("/", binary->name);

	if (fd >= 0 && is_build(images, binary, fd))
		return fd;
	if (fd >= 0)
		close(fd);
	if (!tgid)
		return -1;
	fd = op_open_in_root(tgid, binary->name, binary->build_id.len);
	if (fd < 0 || is_build(images, binary, fd))
		return fd;
	close(fd);
	return -1;
}

/* A fingerprint that is known is another one than none. */
static bool is_same_binary(const struct opd_binary *a,
			   const struct opd_binary *b)
{
	return op_build_id_same(&a->build_id, &b->build_id) &&
	       !memcmp(a->build_id.bytes, b->build_id.bytes,
		       sizeof(a->build_id.bytes)) &&
	       (a->build_id.len || a->mtime == b->mtime) &&
	       !strcmp(a->name, b->name);
}

static uint64_t hash_binary(const struct op_hash *index,
			    const struct opd_binary *binary)
{
	uint64_t hash = hash_build(index, &binary->build_id);

	if (!binary->build_id.len)
		hash = op_hash_mix(hash, binary->mtime);
	return op_hash_text(hash, binary->name);
}

static struct opd_kept *find_kept(const struct opd_deleted_images *images,
				  const struct opd_binary *binary)
{
	uint64_t hash = hash_binary(&images->index, binary);
	uint32_t number;

	op_hash_each(&images->index, hash, number)
		if (is_same_binary(&images->kept[number - 1].binary, binary))
			return &images->kept[number - 1];
	return NULL;
}

static int open_copy(const struct opd_deleted_images *images,
		     const struct opd_binary *binary)
{
	char path[PATH_MAX];

	if (path_of_copy(images, binary, path, sizeof(path)))
		return -1;
	return op_open_regular(path);
}

int opd_deleted_images_open(const struct opd_deleted_images *images,
			    const struct opd_binary *binary, uint32_t tgid)
{
	const struct opd_kept *kept = find_kept(images, binary);
	int fd = -1;

	if (binary->name[0] != '/' || (kept && kept->shut))
		return -ENOENT;
	if (kept && kept->fd >= 0)
		fd = fcntl(kept->fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		fd = open_by_path(images, binary, tgid);
	if (fd < 0)
		fd = open_copy(images, binary);
	if (fd >= 0 && !is_build(images, binary, fd)) {
		close(fd);
		fd = -1;
	}
	return fd < 0 ? -ENOENT : fd;
}

/* Behind the first of its build: a build may have any number of names. */
static void join_build(struct opd_deleted_images *images, struct opd_kept *kept)
{
	const struct op_build_id *build_id = &kept->binary.build_id;
	uint32_t first = first_of_build(images, build_id);
	uint32_t number = (uint32_t)(kept - images->kept) + 1;

	if (first) {
		kept->next_of_build = images->kept[first - 1].next_of_build;
		images->kept[first - 1].next_of_build = number;
	} else if (build_id->len) {
		op_hash_add(&images->builds,
			    hash_build(&images->builds, build_id), number);
	}
}

/* NULL without memory, or when there are as many as images may have names. */
static struct opd_kept *add_kept(struct opd_deleted_images *images,
				 const struct opd_binary *binary, uint32_t user)
{
	size_t len = strlen(binary->name) + 1;
	struct opd_kept *kept;
	char *name;

	if (images->nr >= OPD_IMAGES_MAX ||
	    len > OPD_IMAGE_NAMES_MAX - images->names_len)
		return NULL;
	if (op_array_reserve(&images->kept, images->nr, 1) ||
	    op_hash_reserve(&images->index, images->nr + 1) ||
	    op_hash_reserve(&images->builds, images->nr + 1))
		return NULL;
	name = strdup(binary->name);
	if (!name)
		return NULL;
	kept = &images->kept[images->nr++];
	*kept = (struct opd_kept){ .binary = *binary,
				   .since = images->clock->seconds(),
				   .fd = -1 };
	kept->binary.name = name;
	kept->user = user;
	images->names_len += len;
	op_hash_add(&images->index, hash_binary(&images->index, binary),
		    (uint32_t)images->nr);
	join_build(images, kept);
	return kept;
}

/* The process has ended: the file at its path here tells its user. */
static void add_user_of_kept(struct opd_kept *kept, const struct stat *st,
			     enum op_holder holder)
{
	if (kept->user == OP_USER_UNKNOWN && holder == OP_KERNEL_HAS &&
	    !is_gone(kept))
		kept->user = st->st_uid;
}

static void hold_open(struct opd_deleted_images *images, struct opd_kept *kept,
		      int fd)
{
	enum op_holder holder = op_who_has(fd);
	struct stat st = { 0 };

	/* Just now it was read, so its server answers. */
	kept->is_remote = holder == OP_NETWORK_HAS;
	if (!fstat(fd, &st)) {
		kept->dev = st.st_dev;
		kept->ino = st.st_ino;
		add_user_of_kept(kept, &st, holder);
	}
	if (!kept->ino || kept->is_remote ||
	    images->nr_open >= images->max_open ||
	    !op_shares_take(&images->open_shares, kept->user, 1)) {
		close(fd);
		kept->done = true;
		return;
	}
	kept->fd = fd;
	images->nr_open++;
}

/* Copy a file on a mount that is younger than the daemon, so that this can be
 * unmounted. A file that is too large for a copy is found by its path, or in a
 * process that has it mapped. */
static void copy_from_new_mount(struct opd_deleted_images *images,
				struct opd_kept *kept)
{
	bool is_linked = link_copy(images, kept);
	int err = is_linked ? 0 : copy_binary(images, kept, kept->fd);

	record_copy(images, kept,
		    "is on a file system mounted after the daemon started",
		    err);
	kept->done = !err;
	let_go(images, kept);
}

void opd_deleted_images_binary(struct opd_deleted_images *images,
			       const struct opd_binary *binary, uint32_t tgid,
			       bool deleted, int fd)
{
	bool is_new = binary->name[0] == '/' && !find_kept(images, binary);
	struct opd_kept *kept =
		is_new ? add_kept(images, binary,
				  op_user_of_process("/proc", tgid))
		       : NULL;
	bool may_be_gone = fd >= 0;

	if (fd >= 0 && (!kept || !is_build(images, binary, fd))) {
		close(fd);
		fd = -1;
	}
	if (!kept)
		return;
	if (fd < 0 && !deleted)
		fd = open_by_path(images, binary, tgid);
	if (fd >= 0)
		hold_open(images, kept, fd);
	/* A file that is gone need not be held until the next sweep. */
	if (!kept->done && (fd < 0 || (may_be_gone && is_gone(kept))))
		rescue(images, kept, tgid);
	if (kept->fd >= 0 && is_on_new_mount(images, kept->fd))
		copy_from_new_mount(images, kept);
}

void opd_deleted_images_shut(struct opd_deleted_images *images,
			     const struct opd_binary *binary)
{
	struct opd_kept *kept = NULL;

	if (binary->name[0] == '/' && !find_kept(images, binary))
		kept = add_kept(images, binary, OP_USER_UNKNOWN);
	if (kept)
		kept->done = kept->shut = true;
}
