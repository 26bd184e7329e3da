// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes an archive: copies of the listed files, then the facts about it, then
 * the hash of every file. All of that is made in a hidden folder beside the
 * place of the archive and renamed at the end, so that whoever looks sees the
 * whole archive or none, and an interrupted oparchive leaves nothing.
 *
 * The session may be in use meanwhile. A sample file that was torn by a write
 * is copied again, and without a sample file there is no archive, because it
 * would not be the session; a binary that cannot be read costs only names,
 * which is said.
 */

#include "libpp/archive_write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libdb/ctree.h"
#include "libdb/odb.h"
#include "libop/op_config.h"
#include "libop/op_file.h"
#include "libop/op_folder.h"
#include "libpp/archive.h"
#include "libpp/archive_samples.h"
#include "libpp/symbols/elf_digest.h"

/* A sample file that is written meanwhile is copied again. */
#define TRIES_MAX 20

struct writer {
	struct pp_archive_list *list;
	const struct pp_archive_writing *how;
	struct op_diag *diag;
	struct op_arena *arena;
	const char *folder; /* the hidden one */
	struct pp_sums sums;
	uint64_t done; /* bytes */
};

static int cannot_write(struct writer *w, int err)
{
	return op_diag_set(w->diag, err,
			   "%s: cannot be written: %s; nothing is kept",
			   w->how->folder, strerror(-err));
}

/* ---- folders ------------------------------------------------------------- */

static int remove_archive_folder(const char *folder)
{
	char *copy = strdup(folder), *roots[] = { copy, NULL };
	FTS *fts =
		copy ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
	FTSENT *entry;
	int err = fts ? 0 : -errno;

	while (fts && (entry = fts_read(fts))) {
		if (entry->fts_info == FTS_D)
			continue;
		if (entry->fts_info == FTS_DP ? rmdir(entry->fts_accpath)
					      : unlink(entry->fts_accpath))
			err = -errno;
	}
	if (fts)
		fts_close(fts);
	free(copy);
	return err;
}

/* ---- single files -------------------------------------------------------- */

static int tell_progress(struct writer *w, uint64_t more)
{
	int ret;

	w->done += more;
	ret = w->how->progress ? w->how->progress(w->how->data, w->done) : 0;
	return ret ? op_diag_set(w->diag, -EINTR,
				 "%s: ended early; nothing is kept",
				 w->how->folder)
		   : 0;
}

/* Copy and hash. What is wrong with the source is in *@why. */
static int copy_and_hash(struct writer *w, int from, int to,
			 uint8_t hash[PP_SHA256_LEN], int *why)
{
	struct sha256_ctx sha;
	uint8_t buf[65536];
	uint64_t at = 0;
	int err = 0;

	*why = 0;
	sha256_init(&sha);
	while (!err) {
		ssize_t got = read(from, buf, sizeof(buf));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			*why = -errno;
		if (got <= 0)
			break;
		sha256_update(&sha, (size_t)got, buf);
		err = op_file_write_at(to, buf, (size_t)got, at);
		if (err)
			return cannot_write(w, err);
		at += (uint64_t)got;
		err = tell_progress(w, (uint64_t)got);
	}
	sha256_digest(&sha, PP_SHA256_LEN, hash);
	return err;
}

/* The digest of a binary; a copy of what is no ELF file. */
static int copy_digest(struct writer *w, int from, int to,
		       uint8_t hash[PP_SHA256_LEN], int *why)
{
	int err = pp_elf_digest(from, to);

	if (err && err != -ENOEXEC)
		return cannot_write(w, err);
	if (err && ftruncate(to, 0))
		return cannot_write(w, -errno);
	if (err)
		return copy_and_hash(w, from, to, hash, why);
	*why = 0;
	if (lseek(to, 0, SEEK_SET))
		return cannot_write(w, -errno);
	err = pp_sha256_fd(to, hash);
	return err ? cannot_write(w, err) : 0;
}

/* Let the new file @to look like @from, but writable for its owner, who will
 * want to remove it one day. Closes @to. */
static int finish_file(struct writer *w, int from, int to)
{
	struct stat st;
	int err = fstat(from, &st) ? -errno : 0;

	if (!err) {
		const struct timespec times[] = { st.st_atim, st.st_mtim };

		if (fchmod(to, (st.st_mode & 0777) | S_IWUSR) ||
		    futimens(to, times))
			err = -errno;
	}
	if (close(to) && !err)
		err = -errno;
	return err ? cannot_write(w, err) : 0;
}

static int copy_open_file(struct writer *w, const struct pp_archive_file *file,
			  int from, char *path, uint8_t *hash, int *why)
{
	bool digest = w->how->symbols_only && file->part == PP_ARCHIVE_IMAGE;
	int err = op_make_parents(path, 0755), to;

	if (err)
		return cannot_write(w, err);
	to = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (to < 0)
		return cannot_write(w, -errno);
	err = digest ? copy_digest(w, from, to, hash, why)
		     : copy_and_hash(w, from, to, hash, why);
	if (!err)
		return finish_file(w, from, to);
	close(to);
	return err;
}

/* What is asked for of the pack @from. */
static int copy_pack(struct writer *w, const struct pp_archive_file *file,
		     int from, char *path, uint8_t *hash, int *why)
{
	int to, err = op_make_parents(path, 0755)
			      ?: pp_archive_pack_write(file->pack, path);

	*why = err == -EBADMSG ? err : 0;
	if (err)
		return *why ? 0 : cannot_write(w, err);
	to = open(path, O_RDWR | O_CLOEXEC);
	if (to < 0)
		return cannot_write(w, -errno);
	err = pp_sha256_fd(to, hash);
	if (err) {
		close(to);
		return cannot_write(w, err);
	}
	return finish_file(w, from, to) ?: tell_progress(w, file->size);
}

static int copy_archived_file(struct writer *w,
			      const struct pp_archive_file *file, char *path,
			      uint8_t *hash, int *why)
{
	int from =
		open(file->from, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err;

	if (from < 0) {
		*why = -errno;
		return 0;
	}
	err = file->pack ? copy_pack(w, file, from, path, hash, why)
			 : copy_open_file(w, file, from, path, hash, why);
	close(from);
	return err;
}

/* ---- what may not be copied ---------------------------------------------- */

/* A sample file that changed while it was copied may have come out damaged. */
static bool is_torn(const struct pp_archive_file *file, const char *path)
{
	struct ctree *tree = NULL;
	struct odb *odb = NULL;
	int err = 0;

	if (file->pack)
		return false; /* it has checksums */
	if (file->part == PP_ARCHIVE_SAMPLES)
		err = odb_open(&odb, path, ODB_RDONLY);
	else if (file->part == PP_ARCHIVE_TREES)
		err = ctree_open(&tree, path, ODB_RDONLY);
	odb_close(odb);
	ctree_close(tree);
	return err == -EBADMSG;
}

/*
 * Without a binary its samples have no names, which is said; without a sample
 * file the archive would not be the session.
 */
static int cannot_read(struct writer *w, const struct pp_archive_file *file,
		       int why)
{
	if (file->part == PP_ARCHIVE_SAMPLES ||
	    file->part == PP_ARCHIVE_TREES || file->part == PP_ARCHIVE_OWN)
		return op_diag_set(w->diag, why,
				   "%s: cannot be read: %s; nothing is kept",
				   file->from, strerror(-why));
	pp_message_of_error(&w->list->report.messages, why,
			    "%s: cannot be read: %s; the archive is without it",
			    file->from, strerror(-why));
	return 0;
}

static int add_sum(struct writer *w, const char *name, const uint8_t *hash)
{
	struct pp_sum *sums = op_arena_grow(w->arena, w->sums.list, w->sums.nr,
					    sizeof(*sums));

	if (!sums)
		return -ENOMEM;
	w->sums.list = sums;
	sums[w->sums.nr].name = name;
	memcpy(sums[w->sums.nr++].hash, hash, PP_SHA256_LEN);
	return 0;
}

static int write_archived_file(struct writer *w,
			       const struct pp_archive_file *file)
{
	char *path = op_arena_printf(w->arena, "%s/%s", w->folder, file->to);
	uint8_t hash[PP_SHA256_LEN];
	int tries = 0, why = 0, err;

	if (!path)
		return -ENOMEM;
	do
		err = copy_archived_file(w, file, path, hash, &why);
	while (!err && !why && is_torn(file, path) && ++tries < TRIES_MAX);
	if (err)
		return err;
	if (tries == TRIES_MAX)
		why = -EBUSY;
	if (!why)
		return add_sum(w, file->to, hash);
	unlink(path);
	return cannot_read(w, file, why);
}

/* ---- what is about the archive ------------------------------------------- */

static int write_facts(struct writer *w)
{
	const char *const *folder = w->list->image_path;
	struct op_config *facts = op_config_new();
	char *path =
		op_arena_printf(w->arena, "%s/" PP_ARCHIVE_FACTS, w->folder);
	uint8_t hash[PP_SHA256_LEN];
	int err = -ENOMEM, fd;

	if (facts && path)
		err = op_config_set_u64(facts, PP_FACT_FORMAT,
					PP_ARCHIVE_FORMAT)
			      ?: op_config_set(facts, PP_FACT_SESSION,
					       w->list->session);
	for (; !err && folder && *folder; folder++)
		err = op_config_add(facts, PP_FACT_IMAGE_PATH, *folder);
	if (err == -EINVAL)
		op_diag_set(
			w->diag, err,
			"a path with a newline, or with a blank at an end, cannot be archived: the session folder or --image-path");
	err = err ?: op_make_parents(path, 0755) ?:
		     op_config_write(facts, path, 0644, w->diag);
	op_config_free(facts);
	if (err)
		return err == -EINVAL ? err : cannot_write(w, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : pp_sha256_fd(fd, hash);
	if (fd >= 0)
		close(fd);
	return err ? cannot_write(w, err) : add_sum(w, PP_ARCHIVE_FACTS, hash);
}

static int compare_sums(const void *a, const void *b)
{
	const struct pp_sum *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* A disk may turn out to be full only now. */
static int put_on_disk(struct writer *w)
{
	int fd = open(w->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 || syncfs(fd) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return err ? cannot_write(w, err) : 0;
}

static int write_folder(struct writer *w)
{
	const char *path =
		op_arena_printf(w->arena, "%s/" PP_ARCHIVE_SUMS, w->folder);
	int err = path ? 0 : -ENOMEM;

	for (size_t i = 0; i < w->list->nr && !err; i++)
		err = write_archived_file(w, &w->list->files[i]);
	err = err ?: write_facts(w);
	if (err)
		return err;
	qsort(w->sums.list, w->sums.nr, sizeof(*w->sums.list), compare_sums);
	err = pp_sums_write(&w->sums, path);
	return err ? cannot_write(w, err) : put_on_disk(w);
}

/* ---- its place ----------------------------------------------------------- */

static bool is_archive(const char *folder)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/" PP_ARCHIVE_FACTS, folder) <
		       (int)sizeof(path) &&
	       !access(path, F_OK);
}

static int exists_already(struct writer *w, const char *to)
{
	return op_diag_set(
		w->diag, -EEXIST,
		w->how->replace
			? "%s: exists already and is not an archive; remove it, or name another folder"
			: "%s: exists already; remove it, name another folder, or replace an archive with --force",
		to);
}

/* An empty folder gives way; an archive is exchanged and then removed. */
static int put_archive_in_place(struct writer *w, const char *to)
{
	if (!rename(w->folder, to))
		return 0;
	if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
		return cannot_write(w, -errno);
	if (!w->how->replace || !is_archive(to))
		return exists_already(w, to);
	if (renameat2(AT_FDCWD, w->folder, AT_FDCWD, to, RENAME_EXCHANGE))
		return cannot_write(w, -errno);
	if (remove_archive_folder(w->folder))
		pp_message(&w->list->report.messages, PP_WARNING,
			   "%s: holds the old archive and cannot be removed",
			   w->folder);
	return 0;
}

/* Refuse before the work what would be refused after it. */
static int check_place(struct writer *w, const char *to)
{
	struct dirent *entry = NULL;
	struct stat st;
	DIR *dir;
	bool is_empty;

	if (lstat(to, &st))
		return errno == ENOENT ? 0 : cannot_write(w, -errno);
	dir = opendir(to);
	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			break;
	is_empty = dir && !entry;
	if (dir)
		closedir(dir);
	return is_empty || (w->how->replace && is_archive(to))
		       ? 0
		       : exists_already(w, to);
}

static int make_hidden_folder(struct writer *w, const char *to)
{
	const char *slash = strrchr(to, '/');
	int parent = slash ? (int)(slash - to) + 1 : 0;
	char *folder = op_arena_printf(w->arena, "%.*s.%s.XXXXXX", parent, to,
				       to + parent);
	int err;

	if (!folder)
		return -ENOMEM;
	err = op_make_parents(folder, 0755);
	if (!err && !mkdtemp(folder))
		err = -errno;
	w->folder = folder;
	return err ? cannot_write(w, err) : 0;
}

/* As mkdir(2) would have made it. */
static int open_to_others(struct writer *w)
{
	mode_t mask = umask(0);

	umask(mask);
	return chmod(w->folder, 0777 & ~mask) ? cannot_write(w, -errno) : 0;
}

int pp_archive_write(struct pp_archive_list *list,
		     const struct pp_archive_writing *how, struct op_diag *diag)
{
	struct writer w = { .list = list,
			    .how = how,
			    .diag = diag,
			    .arena = &list->report.arena };
	char *to = op_arena_strdup(w.arena, how->folder);
	int err;

	if (!to)
		return -ENOMEM;
	for (size_t len = strlen(to); len > 1 && to[len - 1] == '/'; len--)
		to[len - 1] = '\0';
	err = check_place(&w, to) ?: make_hidden_folder(&w, to);
	if (err)
		return err;
	err = write_folder(&w) ?: open_to_others(&w) ?:
	      put_archive_in_place(&w, to);
	if (err)
		remove_archive_folder(w.folder);
	return err;
}
