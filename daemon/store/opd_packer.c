// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The crash protocol of packing: the steps in which the loose sample files of a
 * session folder come into its pack, while the daemon counts and reports are
 * made. The process that packs may be killed at any instant, and the daemon
 * with it; after that every sample is still counted, and counted once.
 *
 * What is counted under a name is the sum of three places (libdb/db_folder.h):
 *
 *	packed			the pack, which has a generation G; G is 0 where
 *				there is no pack
 *	.packing-N/{...}	files on their way into the pack: they count
 *				while N is more than G
 *	{...}			loose files, which the daemon writes: they count
 *
 * The files of .packing-N are never written to again. The four steps:
 *
 *	begin	.packing-N is made, N being more than G and more than any other
 *		number there. The folders {...} are renamed into it, one by one.
 *		Each rename moves files from one place that counts to another.
 *		The daemon goes on with new loose files.
 *	write	.packed.grow gets the sum of the pack and of all .packing-*
 *		whose number is more than G; its generation is N. It does not
 *		count, as readers do not know its name.
 *	commit	.packed.grow is brought to the disk and renamed to packed. This
 *		one rename changes G to N: from here on the pack counts and
 *		.packing-* does not.
 *	tidy	The folders .packing-* with numbers up to G are removed. They do
 *		not count, so nothing depends on how far this comes.
 *
 * What a kill leaves, and what becomes of that:
 *
 *	killed in	is left				the next packer
 *	begin		.packing-N, loose files		packs both
 *	write		.packing-N, .packed.grow	packs .packing-N, and
 *							overwrites .packed.grow
 *	commit		as after write, or as in tidy
 *	tidy		.packing-N with N <= G		removes it (tidy)
 *
 * A step that fails (a full disk) leaves the same as a kill, and the next
 * packer does the same about it. While .packing-N exists no other folder gets
 * its number, because each new N is more than all that are there.
 *
 * Readers list a folder, then read what they have listed. A rename in between
 * would let them miss files or find them twice. So readers hold a shared
 * flock(2) on the session folder (db_folder_open()), and begin and commit hold
 * it alone for their renames. Commit has the lock while it brings the file to
 * the disk, too. Write and tidy need no lock.
 *
 * One process at a time packs: the daemon, or the child that it has forked and
 * that does not live longer (opd_pack.c). The daemon's own lock keeps a second
 * daemon out until both have ended, so these functions need no further lock.
 */

#include "daemon/store/opd_packer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libdb/db_folder.h"
#include "libdb/pack.h"
#include "libop/base/op_array.h"
#include "libop/base/op_clock.h"
#include "libop/base/op_search.h"
#include "libop/files/op_folder.h"
#include "libop/files/op_lock.h"
#include "libop/session/op_sample_file.h"
#include "libop/files/op_walk.h"

static int pack_path(char *path, const char *dir)
{
	int len = snprintf(path, PATH_MAX, "%s/" DB_FOLDER_PACK, dir);

	return len < 0 || len >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int folder_path(char *path, const char *dir, uint64_t generation)
{
	int len = snprintf(path, PATH_MAX, "%s/" DB_FOLDER_PACKING "%" PRIu64,
			   dir, generation);

	return len < 0 || len >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static int compare_generations(const void *a, const void *b)
{
	return op_compare(*(const uint64_t *)a, *(const uint64_t *)b);
}

int opd_packer_folders(const char *dir, uint64_t **out, size_t *nr)
{
	DIR *folder = opendir(dir);
	struct dirent *entry;
	int err = 0;

	*out = NULL;
	*nr = 0;
	if (!folder)
		return -errno;
	while (!err && (errno = 0, entry = readdir(folder))) {
		uint64_t number = db_folder_packing(entry->d_name);

		if (!number)
			continue;
		err = op_array_reserve(out, *nr, 1);
		if (!err)
			(*out)[(*nr)++] = number;
	}
	if (!err)
		err = -errno;
	closedir(folder);
	if (*nr)
		qsort(*out, *nr, sizeof(**out), compare_generations);
	if (err) {
		free(*out);
		*out = NULL;
		*nr = 0;
	}
	return err;
}

int opd_packer_generation(const char *dir, uint64_t *generation)
{
	char path[PATH_MAX];
	struct pack *pack;
	int err = pack_path(path, dir);

	*generation = 0;
	if (!err)
		err = pack_open(&pack, path);
	if (err)
		return err == -ENOENT ? 0 : err;
	*generation = pack_generation(pack);
	pack_close(pack);
	return 0;
}

/* ---- how much there is ------------------------------------------------------
 */

/* An entry that cannot be looked at is too little to matter here. */
static int measure_entry(const struct op_walk_entry *entry, void *ctx)
{
	struct opd_packer_size *out = ctx;

	if (!entry->depth || entry->kind == OP_WALK_UNREAD)
		return 0;
	/* Neither on its way into the pack, nor may it be. */
	if (entry->depth == 1 && entry->name[0] != '{' &&
	    !db_folder_packing(entry->name))
		return OP_WALK_SKIP;
	if (entry->kind != OP_WALK_FOLDER &&
	    (entry->kind != OP_WALK_FILE ||
	     op_sample_file_is_set_aside(entry->name)))
		return 0;
	out->loose += (uint64_t)entry->st->st_blocks * 512;
	out->left |= entry->depth == 1 && entry->name[0] == '.';
	return 0;
}

int opd_packer_size(const char *dir, struct opd_packer_size *out)
{
	char path[PATH_MAX];
	struct stat st;
	int err = pack_path(path, dir);

	memset(out, 0, sizeof(*out));
	if (!err)
		err = op_walk(dir, measure_entry, out);
	if (!err && !stat(path, &st))
		out->packed = (uint64_t)st.st_blocks * 512;
	return err;
}

/* ---- locks ------------------------------------------------------------------
 */

int opd_packer_lock(const char *dir, unsigned int wait_ms)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	int err = fd < 0 ? -errno : op_lock(fd, wait_ms, &op_clock);

	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* ---- beginning --------------------------------------------------------------
 */

/* Rename one folder of loose files. */
static int move_one(const char *dir, const char *name, const char *to)
{
	char from[PATH_MAX], path[PATH_MAX];
	int len = snprintf(from, sizeof(from), "%s/%s", dir, name);

	if (len < 0 || (size_t)len >= sizeof(from))
		return -ENAMETOOLONG;
	len = snprintf(path, sizeof(path), "%s/%s", to, name);
	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENAMETOOLONG;
	return rename(from, path) ? -errno : 0;
}

/* Call move_one() for all, or only tell whether there are some: 1. */
static int move_all(const char *dir, const char *to)
{
	DIR *folder = opendir(dir);
	struct dirent *entry;
	int ret = 0;

	if (!folder)
		return -errno;
	while (!ret && (errno = 0, entry = readdir(folder)))
		if (entry->d_name[0] == '{')
			ret = to ? move_one(dir, entry->d_name, to) : 1;
	if (!ret)
		ret = -errno;
	closedir(folder);
	return ret;
}

/* With the lock. */
static int move_loose(struct opd_packer *packer)
{
	char path[PATH_MAX];
	int err = folder_path(path, packer->dir, packer->generation);

	if (!err && mkdir(path, 0755))
		err = -errno;
	return err ? err : move_all(packer->dir, path);
}

/* @last is the largest number of a .packing-N or 0, @in_pack that of the pack.
 */
static int begin_generation(struct opd_packer *packer, uint64_t last,
			    uint64_t in_pack, bool again, unsigned int wait_ms)
{
	int lock, err = move_all(packer->dir, NULL);

	if (err < 0)
		return err;
	if (!err && last <= in_pack)
		return -ENODATA;
	packer->generation = last > in_pack ? last : in_pack;
	/* The samples to pack are in the folders already. */
	if (last > in_pack && (again || !err))
		return 0;
	packer->generation++;
	lock = opd_packer_lock(packer->dir, wait_ms);
	if (lock < 0)
		return lock;
	err = move_loose(packer);
	close(lock);
	return err;
}

int opd_packer_begin(struct opd_packer *packer, const char *dir, bool again,
		     unsigned int wait_ms, struct op_diag *diag)
{
	uint64_t *folders = NULL, in_pack;
	size_t nr;
	int err = opd_packer_generation(dir, &in_pack);

	*packer = (struct opd_packer){ .dir = dir };
	if (!err)
		err = opd_packer_folders(dir, &folders, &nr);
	if (!err)
		err = begin_generation(packer, nr ? folders[nr - 1] : 0,
				       in_pack, again, wait_ms);
	free(folders);
	if (!err)
		return 0;
	return op_diag_set(diag, err, "%s: %s", dir,
			   err == -EBUSY ? "a program is reading it"
					 : strerror(-err));
}

/* ---- ending -----------------------------------------------------------------
 */

int opd_packer_commit(struct opd_packer *packer, unsigned int wait_ms,
		      struct op_diag *diag)
{
	struct pack_writer *writer = packer->writer;
	int lock = opd_packer_lock(packer->dir, wait_ms);
	int err = lock;

	packer->writer = NULL;
	if (lock < 0) {
		pack_writer_cancel(writer);
	} else {
		err = pack_writer_finish(writer);
		close(lock);
	}
	if (!err)
		return 0;
	return op_diag_set(
		diag, err, "%s: %s", packer->dir,
		err == -EBUSY ? "a program has been reading it for too long"
			      : strerror(-err));
}

void opd_packer_cancel(struct opd_packer *packer)
{
	pack_writer_cancel(packer->writer);
	packer->writer = NULL;
}

/* ---- tidying up -------------------------------------------------------------
 */

/* Give a file that was renamed for damage, in folder @top, back to @dir. */
static int keep_damaged_file(const char *dir, const char *top, const char *path)
{
	char to[PATH_MAX];
	int len = snprintf(to, sizeof(to), "%s%s", dir, path + strlen(top));
	int err;

	if (len < 0 || (size_t)len >= sizeof(to))
		return -ENAMETOOLONG;
	err = op_make_parents(to, 0755);
	if (!err && rename(path, to))
		err = -errno;
	return err;
}

/* A folder .packing-N under way of removal. */
struct removal {
	const char *dir; /* the session folder */
	const char *top;
};

static int remove_packed_entry(const struct op_walk_entry *entry, void *ctx)
{
	const struct removal *removal = ctx;
	int failed = 0;

	if (entry->kind == OP_WALK_UNREAD)
		return entry->err;
	if (entry->kind == OP_WALK_FILE &&
	    op_sample_file_is_set_aside(entry->name))
		return keep_damaged_file(removal->dir, removal->top,
					 entry->path);
	if (entry->kind == OP_WALK_LEFT)
		failed = rmdir(entry->path);
	else if (entry->kind != OP_WALK_FOLDER)
		failed = unlink(entry->path);
	return failed ? -errno : 0;
}

static int remove_folder(const char *dir, uint64_t generation)
{
	char path[PATH_MAX];
	struct removal removal = { dir, path };
	int err = folder_path(path, dir, generation);

	return err ? err : op_walk(path, remove_packed_entry, &removal);
}

int opd_packer_tidy(const char *dir, struct op_diag *diag)
{
	uint64_t *folders = NULL, in_pack;
	size_t nr = 0;
	int err = opd_packer_generation(dir, &in_pack);

	if (!err && in_pack)
		err = opd_packer_folders(dir, &folders, &nr);
	for (size_t i = 0; !err && i < nr && folders[i] <= in_pack; i++)
		err = remove_folder(dir, folders[i]);
	free(folders);
	return err ? op_diag_set(diag, err, "%s: cannot be tidied up: %s", dir,
				 strerror(-err))
		   : 0;
}
