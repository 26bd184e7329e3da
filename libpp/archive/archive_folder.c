// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the hidden folder of an archive, and gives it its name at the end:
 * whoever looks sees the whole archive or none, and one that is given up leaves
 * nothing.
 */

#include "libpp/archive/archive_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_file.h"
#include "libop/files/op_folder.h"
#include "libop/files/op_remove.h"
#include "libpp/archive/archive.h"

int pp_archive_folder_failed(struct pp_archive_folder *folder, int err)
{
	return op_diag_set(folder->diag, err,
			   "%s: cannot be written: %s; nothing is kept",
			   folder->place, strerror(-err));
}

/* ---- its place ----------------------------------------------------------- */

static bool is_archive(const char *path)
{
	char facts[PATH_MAX];

	return snprintf(facts, sizeof(facts), "%s/" PP_ARCHIVE_FACTS, path) <
		       (int)sizeof(facts) &&
	       !access(facts, F_OK);
}

static int exists_already(struct pp_archive_folder *folder)
{
	return op_diag_set(
		folder->diag, -EEXIST,
		folder->replace
			? "%s: already exists and is not an archive; remove it, or name another folder"
			: "%s: already exists; remove it, name another folder, or replace an archive with --force",
		folder->place);
}

/* Refuse before the work what would be refused after it. */
static int check_place(struct pp_archive_folder *folder)
{
	const char *to = folder->place;
	struct dirent *entry = NULL;
	struct stat st;
	DIR *dir;
	bool is_empty;

	if (lstat(to, &st))
		return errno == ENOENT
			       ? 0
			       : pp_archive_folder_failed(folder, -errno);
	dir = opendir(to);
	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			break;
	is_empty = dir && !entry;
	if (dir)
		closedir(dir);
	return is_empty || (folder->replace && is_archive(to))
		       ? 0
		       : exists_already(folder);
}

static int make_hidden_folder(struct pp_archive_folder *folder)
{
	const char *to = folder->place;
	const char *slash = strrchr(to, '/');
	int parent = slash ? (int)(slash - to) + 1 : 0;
	char *path = op_arena_printf(folder->arena, "%.*s.%s.XXXXXX", parent,
				     to, to + parent);
	int err;

	if (!path)
		return -ENOMEM;
	err = op_make_parents(path, 0755);
	if (!err && !mkdtemp(path))
		err = -errno;
	folder->path = path;
	return err ? pp_archive_folder_failed(folder, err) : 0;
}

int pp_archive_folder_begin(struct pp_archive_folder *folder,
			    struct op_arena *arena, const char *place,
			    bool replace, struct op_diag *diag)
{
	char *copy = op_arena_strdup(arena, place);

	*folder = (struct pp_archive_folder){
		.arena = arena,
		.diag = diag,
		.place = copy,
		.replace = replace,
		.mode = 0777,
	};
	if (!copy)
		return -ENOMEM;
	for (size_t len = strlen(copy); len > 1 && copy[len - 1] == '/'; len--)
		copy[len - 1] = '\0';
	return check_place(folder) ?: make_hidden_folder(folder);
}

void pp_archive_folder_limit(struct pp_archive_folder *folder,
			     const char *source)
{
	struct stat st;

	if (!stat(source, &st))
		folder->mode &= st.st_mode;
}

/* ---- what is in it ------------------------------------------------------- */

int pp_archive_folder_add(struct pp_archive_folder *folder, const char *name,
			  const uint8_t hash[PP_SHA256_LEN])
{
	struct pp_sums *sums = &folder->sums;
	struct pp_sum *list = op_arena_grow(folder->arena, sums->list, sums->nr,
					    sizeof(*list));

	if (!list)
		return -ENOMEM;
	sums->list = list;
	list[sums->nr].name = name;
	memcpy(list[sums->nr++].hash, hash, PP_SHA256_LEN);
	return 0;
}

int pp_archive_folder_hash(struct pp_archive_folder *folder, const char *name)
{
	char *path =
		op_arena_printf(folder->arena, "%s/%s", folder->path, name);
	uint8_t hash[PP_SHA256_LEN];
	int fd, err;

	if (!path)
		return -ENOMEM;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : pp_sha256_fd(fd, hash);
	if (fd >= 0)
		close(fd);
	return err ? pp_archive_folder_failed(folder, err)
		   : pp_archive_folder_add(folder, name, hash);
}

int pp_archive_folder_facts(struct pp_archive_folder *folder,
			    const struct op_config *facts)
{
	char *path = op_arena_printf(folder->arena, "%s/" PP_ARCHIVE_FACTS,
				     folder->path);
	int err = -ENOMEM;

	if (path)
		err = op_make_parents(path, 0755)
			      ?: op_config_write(facts, path, 0644,
						 folder->diag);
	if (err)
		return pp_archive_folder_failed(folder, err);
	return pp_archive_folder_hash(folder, PP_ARCHIVE_FACTS);
}

/* ---- the end ------------------------------------------------------------- */

static int compare_names_of_sums(const void *a, const void *b)
{
	const struct pp_sum *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* A disk may turn out to be full only now. */
static int put_on_disk(struct pp_archive_folder *folder)
{
	int fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 || syncfs(fd) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return err ? pp_archive_folder_failed(folder, err) : 0;
}

/* The rights are those that mkdir(2) would have given it, for those who may
 * read what it is made of. */
static int open_to_others(struct pp_archive_folder *folder)
{
	return chmod(folder->path, op_file_mode(folder->mode | 0700))
		       ? pp_archive_folder_failed(folder, -errno)
		       : 0;
}

/* An empty folder gives way; an archive is exchanged and then removed. */
static int put_archive_in_place(struct pp_archive_folder *folder,
				struct pp_messages *messages)
{
	const char *to = folder->place;

	if (!rename(folder->path, to))
		return 0;
	if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
		return pp_archive_folder_failed(folder, -errno);
	if (!folder->replace || !is_archive(to))
		return exists_already(folder);
	if (renameat2(AT_FDCWD, folder->path, AT_FDCWD, to, RENAME_EXCHANGE))
		return pp_archive_folder_failed(folder, -errno);
	if (op_remove_tree(folder->path))
		pp_message(messages, PP_WARNING,
			   "%s: holds the old archive and cannot be removed",
			   folder->path);
	return 0;
}

static int write_sums_of_folder(struct pp_archive_folder *folder)
{
	const char *path = op_arena_printf(folder->arena, "%s/" PP_ARCHIVE_SUMS,
					   folder->path);
	int err = path ? 0 : -ENOMEM;

	if (folder->sums.nr)
		qsort(folder->sums.list, folder->sums.nr,
		      sizeof(*folder->sums.list), compare_names_of_sums);
	err = err ?: pp_sums_write(&folder->sums, path);
	return err ? pp_archive_folder_failed(folder, err) : 0;
}

int pp_archive_folder_finish(struct pp_archive_folder *folder,
			     struct pp_messages *messages)
{
	return write_sums_of_folder(folder) ?: put_on_disk(folder) ?:
	       open_to_others(folder) ?: put_archive_in_place(folder, messages);
}

void pp_archive_folder_cancel(struct pp_archive_folder *folder)
{
	op_remove_tree(folder->path);
}
