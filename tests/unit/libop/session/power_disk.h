/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_POWER_DISK_H
#define TESTS_UNIT_POWER_DISK_H

/*
 * A disk that loses its power. It watches a folder: what is in the files at
 * each step, and what the code under test asks to be brought to the disk, by
 * its own fsync(), syncfs(), rename() and their kin, which take the place of
 * the C library's in this program. power_cut() then makes a folder as a file
 * system may leave it:
 *
 *  - each sector of a file has what it had at any step since the file was last
 *    brought to the disk, each on its own; the same for its length;
 *  - names are those of any one step since a folder, or all, was brought to the
 *    disk: as file systems with a journal do it, what was named later is not
 *    there without what was named before;
 *  - what fsync(2) of a file does to its name is nothing: that is the least
 * that is promised.
 *
 * A file is known by its inode, which is held open, so that no number comes
 * again.
 */

#include <stdbool.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libop/files/op_folder.h"
#include "libop/files/op_walk.h"
#include "tests/unit/test.h"

#define POWER_VERSIONS 24 /* of a file, kept: the first is that on the disk */
#define POWER_TREES 48 /* of names, likewise */

struct power_version {
	uint8_t *bytes;
	size_t len;
};

struct power_file {
	ino_t ino;
	int fd;
	struct power_version versions[POWER_VERSIONS];
	size_t nr;
};

struct power_name {
	char *path; /* below the folder */
	size_t file; /* SIZE_MAX: a folder */
};

struct power_tree {
	struct power_name *names;
	size_t nr;
};

static struct power_disk {
	const char *folder; /* NULL: nothing is watched */
	struct power_file *files;
	size_t nr_files;
	struct power_tree trees[POWER_TREES];
	size_t nr_trees;
	uint64_t random;
	/* called before anything changes the disk's state: a time to cut */
	void (*step)(void *ctx);
	void *ctx;
} power;

static uint64_t power_random(uint64_t below)
{
	power.random ^= power.random << 13;
	power.random ^= power.random >> 7;
	power.random ^= power.random << 17;
	return power.random % below;
}

/* ---- what there is --------------------------------------------------------
 */

static void power_drop_versions(struct power_file *file, size_t from, size_t nr)
{
	for (size_t i = from; i < from + nr; i++)
		free(file->versions[i].bytes);
	memmove(&file->versions[from], &file->versions[from + nr],
		(file->nr - from - nr) * sizeof(file->versions[0]));
	file->nr -= nr;
}

static void power_look_at_file(struct power_file *file)
{
	struct power_version read = { NULL, 0 };
	struct power_version *last = &file->versions[file->nr - 1];
	struct stat st;

	assert_int_equal(fstat(file->fd, &st), 0);
	read.len = (size_t)st.st_size;
	read.bytes = malloc(read.len + 1);
	assert_non_null(read.bytes);
	assert_int_equal(pread(file->fd, read.bytes, read.len, 0), read.len);
	if (file->nr && last->len == read.len &&
	    !memcmp(last->bytes, read.bytes, read.len)) {
		free(read.bytes);
		return;
	}
	/* One of the middle is forgotten: the oldest is on the disk. */
	if (file->nr == POWER_VERSIONS)
		power_drop_versions(file, 1 + power_random(file->nr - 1), 1);
	file->versions[file->nr++] = read;
}

static size_t power_file_of(const char *path, ino_t ino)
{
	struct power_file *file;

	for (size_t i = 0; i < power.nr_files; i++)
		if (power.files[i].ino == ino)
			return i;
	power.files = realloc(power.files,
			      (power.nr_files + 1) * sizeof(*power.files));
	assert_non_null(power.files);
	file = &power.files[power.nr_files];
	/* On the disk it is empty. */
	*file = (struct power_file){ .ino = ino,
				     .fd = open(path, O_RDONLY | O_CLOEXEC),
				     .nr = 1 };
	assert_true(file->fd >= 0);
	file->versions[0].bytes = calloc(1, 1);
	return power.nr_files++;
}

static void power_free_tree(struct power_tree *tree)
{
	for (size_t i = 0; i < tree->nr; i++)
		free(tree->names[i].path);
	free(tree->names);
	*tree = (struct power_tree){ NULL, 0 };
}

static int power_take_name(const struct op_walk_entry *entry, void *ctx)
{
	struct power_tree *tree = ctx;
	struct power_name *name;

	if (!entry->depth ||
	    (entry->kind != OP_WALK_FILE && entry->kind != OP_WALK_FOLDER))
		return 0;
	tree->names =
		realloc(tree->names, (tree->nr + 1) * sizeof(*tree->names));
	assert_non_null(tree->names);
	name = &tree->names[tree->nr++];
	name->path = strdup(entry->below);
	name->file = entry->kind == OP_WALK_FILE
			     ? power_file_of(entry->path, entry->st->st_ino)
			     : SIZE_MAX;
	return 0;
}

static bool power_same_tree(const struct power_tree *a,
			    const struct power_tree *b)
{
	bool same = a->nr == b->nr;

	for (size_t i = 0; same && i < a->nr; i++)
		same = a->names[i].file == b->names[i].file &&
		       !strcmp(a->names[i].path, b->names[i].path);
	return same;
}

/* Take up how the folder is now. */
static void power_look(void)
{
	struct power_tree tree = { NULL, 0 };

	assert_int_equal(op_walk(power.folder, power_take_name, &tree), 0);
	for (size_t i = 0; i < power.nr_files; i++)
		power_look_at_file(&power.files[i]);
	if (power.nr_trees &&
	    power_same_tree(&tree, &power.trees[power.nr_trees - 1])) {
		power_free_tree(&tree);
		return;
	}
	if (power.nr_trees == POWER_TREES) {
		size_t i = 1 + power_random(POWER_TREES - 1);

		power_free_tree(&power.trees[i]);
		memmove(&power.trees[i], &power.trees[i + 1],
			(--power.nr_trees - i) * sizeof(tree));
	}
	power.trees[power.nr_trees++] = tree;
}

/* ---- barriers --------------------------------------------------------------
 */

static void power_sync_file(struct power_file *file)
{
	power_drop_versions(file, 0, file->nr - 1);
}

static void power_sync_names(void)
{
	for (size_t i = 0; i + 1 < power.nr_trees; i++)
		power_free_tree(&power.trees[i]);
	power.trees[0] = power.trees[power.nr_trees - 1];
	power.nr_trees = 1;
}

static void power_sync_all(void)
{
	power_look();
	for (size_t i = 0; i < power.nr_files; i++)
		power_sync_file(&power.files[i]);
	power_sync_names();
}

/* Something is about to change, or has changed. */
static void power_step(void)
{
	if (!power.folder)
		return;
	power_look();
	if (power.step)
		power.step(power.ctx);
}

int fsync(int fd)
{
	struct stat st;

	power_step();
	if (power.folder && !fstat(fd, &st)) {
		if (S_ISDIR(st.st_mode))
			power_sync_names();
		for (size_t i = 0; i < power.nr_files; i++)
			if (power.files[i].ino == st.st_ino)
				power_sync_file(&power.files[i]);
	}
	return 0;
}

int syncfs(int fd)
{
	(void)fd;
	power_step();
	if (power.folder)
		power_sync_all();
	return 0;
}

/* What changes names, one way or another. */
static int power_change(long number, long a, long b, long c, long d, long e)
{
	int ret, err;

	power_step();
	ret = (int)syscall(number, a, b, c, d, e);
	err = errno;
	power_step();
	errno = err;
	return ret;
}

int renameat2(int oldfd, const char *old, int newfd, const char *new,
	      unsigned int flags)
{
	return power_change(SYS_renameat2, oldfd, (long)old, newfd, (long)new,
			    flags);
}

int renameat(int oldfd, const char *old, int newfd, const char *new)
{
	return renameat2(oldfd, old, newfd, new, 0);
}

int rename(const char *old, const char *new)
{
	return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0);
}

int unlinkat(int fd, const char *name, int flag)
{
	return power_change(SYS_unlinkat, fd, (long)name, flag, 0, 0);
}

int unlink(const char *name)
{
	return unlinkat(AT_FDCWD, name, 0);
}

/* ---- the cut ---------------------------------------------------------------
 */

/* What @file is on the disk: sectors of @sector bytes, each of some time. */
static void power_write_file(const struct power_file *file, const char *path,
			     size_t sector)
{
	size_t len = file->versions[power_random(file->nr)].len;
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	for (size_t at = 0; at < len; at += sector) {
		const struct power_version *v =
			&file->versions[power_random(file->nr)];

		for (size_t i = at; i < at + sector && i < len; i++)
			putc(i < v->len ? v->bytes[i] : 0, out);
	}
	assert_int_equal(fclose(out), 0);
}

/* Make the folder @to what is left of the one that is watched. */
static void power_cut(const char *to)
{
	const struct power_tree *tree =
		&power.trees[power_random(power.nr_trees)];
	size_t sector = power_random(2) ? 512 : 4096;
	char path[16384];

	for (size_t i = 0; i < tree->nr; i++) {
		const struct power_name *name = &tree->names[i];

		snprintf(path, sizeof(path), "%s/%s", to, name->path);
		assert_int_equal(op_make_parents(path, 0755), 0);
		if (name->file == SIZE_MAX)
			mkdir(path, 0755);
		else
			power_write_file(&power.files[name->file], path,
					 sector);
	}
}

/* Watch the folder @folder, which is on the disk. */
static void power_watch(const char *folder, uint64_t seed)
{
	power.folder = folder;
	power.random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	power_sync_all();
}

static void power_forget(void)
{
	for (size_t i = 0; i < power.nr_files; i++) {
		power_drop_versions(&power.files[i], 0, power.files[i].nr);
		close(power.files[i].fd);
	}
	free(power.files);
	for (size_t i = 0; i < power.nr_trees; i++)
		power_free_tree(&power.trees[i]);
	memset(&power, 0, sizeof(power));
}

#endif /* TESTS_UNIT_POWER_DISK_H */
