// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/store/opd_packer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/op_clock.h"
#include "libop/op_lock.h"
#include "daemon/store/opd_mangling.h"
#include "libdb/db_folder.h"
#include "libdb/pack.h"

/* ---- names ------------------------------------------------------------------
 */

bool opd_packer_is_bad(const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *dot = strstr(slash ? slash : name, ".bad");

	return dot && (dot[4] == '\0' || dot[4] == '-');
}

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

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int add_number(uint64_t **numbers, size_t *nr, uint64_t number)
{
	uint64_t *more = realloc(*numbers, (*nr + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	more[(*nr)++] = number;
	*numbers = more;
	return 0;
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
	while (!err && (entry = readdir(folder))) {
		uint64_t number = db_folder_packing(entry->d_name);

		if (number)
			err = add_number(out, nr, number);
	}
	closedir(folder);
	if (*nr)
		qsort(*out, *nr, sizeof(**out), compare_numbers);
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

/* Whether @entry is on its way into the pack, or may be. */
static bool is_loose(const FTSENT *entry)
{
	if (entry->fts_level == 1 && entry->fts_name[0] != '{' &&
	    !db_folder_packing(entry->fts_name))
		return false;
	return entry->fts_level > 0 && !opd_packer_is_bad(entry->fts_name);
}

static void measure(FTS *tree, struct opd_packer_size *out)
{
	FTSENT *entry;

	while ((entry = fts_read(tree))) {
		bool is_folder = entry->fts_info == FTS_D;

		if (!is_folder && entry->fts_info != FTS_F)
			continue;
		if (!is_loose(entry))
			continue;
		out->loose += (uint64_t)entry->fts_statp->st_blocks * 512;
		out->left |= entry->fts_level == 1 && entry->fts_name[0] == '.';
	}
}

int opd_packer_size(const char *dir, struct opd_packer_size *out)
{
	char *const paths[] = { (char *)dir, NULL };
	char path[PATH_MAX];
	struct stat st;
	FTS *tree;
	int err = pack_path(path, dir);

	memset(out, 0, sizeof(*out));
	if (err)
		return err;
	tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!tree)
		return -errno;
	measure(tree, out);
	fts_close(tree);
	if (!stat(path, &st))
		out->packed = (uint64_t)st.st_blocks * 512;
	return 0;
}

/* ---- locks ------------------------------------------------------------------
 */

static int open_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

int opd_packer_lock(const char *dir, unsigned int wait_ms)
{
	int fd = open_folder(dir);
	int err = fd < 0 ? fd : op_lock(fd, wait_ms, &op_clock);

	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

/* A descriptor of .packing-@generation, locked. */
static int claim(const char *dir, uint64_t generation)
{
	char path[PATH_MAX];
	int err = folder_path(path, dir, generation);

	return err ? err : opd_packer_lock(path, OPD_PACKER_NO_WAIT);
}

int opd_packer_busy(const char *dir)
{
	uint64_t *folders;
	size_t nr;
	int fd, err = opd_packer_folders(dir, &folders, &nr);

	if (err)
		return err;
	for (size_t i = 0; i < nr && !err; i++) {
		fd = claim(dir, folders[i]);
		/* It may be removed right now. */
		if (fd == -EBUSY)
			err = -EBUSY;
		else if (fd >= 0)
			close(fd);
	}
	free(folders);
	return err;
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
	while (!ret && (entry = readdir(folder)))
		if (entry->d_name[0] == '{')
			ret = to ? move_one(dir, entry->d_name, to) : 1;
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
	if (err)
		return err;
	packer->claim = claim(packer->dir, packer->generation);
	return packer->claim < 0 ? packer->claim : move_all(packer->dir, path);
}

/* What is in the folders already, the largest of which is @last. */
static int take_folders(struct opd_packer *packer, uint64_t last)
{
	packer->generation = last;
	packer->claim = claim(packer->dir, last);
	return packer->claim < 0 ? packer->claim : 0;
}

/* @last is the largest number of a .packing-N or 0, @in_pack that of the pack.
 */
static int begin(struct opd_packer *packer, uint64_t last, uint64_t in_pack,
		 bool again, unsigned int wait_ms)
{
	int lock, err = move_all(packer->dir, NULL);

	if (err < 0)
		return err;
	if (!err && last <= in_pack)
		return -ENODATA;
	if (last > in_pack && (again || !err))
		return take_folders(packer, last);
	packer->generation = last > in_pack ? last : in_pack;
	if (packer->generation < OPD_PACKER_FIRST)
		packer->generation = OPD_PACKER_FIRST;
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
	int err = opd_packer_busy(dir);

	*packer = (struct opd_packer){ .dir = dir, .claim = -1 };
	if (!err)
		err = opd_packer_generation(dir, &in_pack);
	if (!err)
		err = opd_packer_folders(dir, &folders, &nr);
	if (!err)
		err = begin(packer, nr ? folders[nr - 1] : 0, in_pack, again,
			    wait_ms);
	free(folders);
	if (!err)
		return 0;
	opd_packer_release(packer);
	return op_diag_set(diag, err, "%s: %s", dir,
			   err == -EBUSY ? "somebody reads it or packs it"
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
	return op_diag_set(diag, err, "%s: %s", packer->dir,
			   err == -EBUSY ? "somebody reads it for long"
					 : strerror(-err));
}

void opd_packer_release(struct opd_packer *packer)
{
	pack_writer_cancel(packer->writer);
	packer->writer = NULL;
	if (packer->claim >= 0)
		close(packer->claim);
	packer->claim = -1;
}

/* ---- tidying up -------------------------------------------------------------
 */

/* Give a file that was renamed for damage, in folder @top, back to @dir. */
static int keep(const char *dir, const char *top, const char *path)
{
	char to[PATH_MAX];
	int len = snprintf(to, sizeof(to), "%s%s", dir, path + strlen(top));
	int err;

	if (len < 0 || (size_t)len >= sizeof(to))
		return -ENAMETOOLONG;
	err = opd_make_parents(to);
	if (!err && rename(path, to))
		err = -errno;
	return err;
}

static int remove_one(const FTSENT *entry, const char *dir, const char *top)
{
	int failed = 0;

	switch (entry->fts_info) {
	case FTS_D:
		return 0;
	case FTS_DP:
		failed = rmdir(entry->fts_accpath);
		break;
	case FTS_F:
		if (opd_packer_is_bad(entry->fts_name))
			return keep(dir, top, entry->fts_path);
		failed = unlink(entry->fts_accpath);
		break;
	default:
		failed = unlink(entry->fts_accpath);
		break;
	}
	/* Another may do the same. */
	return failed && errno != ENOENT ? -errno : 0;
}

static int remove_folder(const char *dir, uint64_t generation)
{
	char path[PATH_MAX];
	char *const paths[] = { path, NULL };
	FTSENT *entry;
	FTS *tree;
	int err = folder_path(path, dir, generation);

	if (err)
		return err;
	tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!tree)
		return -errno;
	while (!err && (entry = fts_read(tree)))
		err = remove_one(entry, dir, path);
	fts_close(tree);
	return err;
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
