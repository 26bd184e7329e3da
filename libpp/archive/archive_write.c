// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes an archive: copies of the listed files, then the facts about it, then
 * the hash of every file.
 *
 * The session may be in use meanwhile. A sample file that was torn by a write
 * is copied again, and without a sample file there is no archive, because it
 * would not be the session; a binary that cannot be read costs only names,
 * which is said.
 */

#include "libpp/archive/archive_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libdb/ctree.h"
#include "libdb/odb.h"
#include "libop/files/op_config.h"
#include "libop/files/op_file.h"
#include "libop/files/op_folder.h"
#include "libpp/archive/archive.h"
#include "libpp/archive/archive_folder.h"
#include "libpp/archive/archive_samples.h"
#include "libpp/symbols/elf_digest.h"

/* A sample file that is written meanwhile is copied again. */
#define TRIES_MAX 20

struct writer {
	struct pp_archive_list *list;
	const struct pp_archive_writing *how;
	struct op_diag *diag;
	struct op_arena *arena;
	struct pp_archive_folder folder;
	uint64_t done; /* bytes */
};

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
			return pp_archive_folder_failed(&w->folder, err);
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
		return pp_archive_folder_failed(&w->folder, err);
	if (err && ftruncate(to, 0))
		return pp_archive_folder_failed(&w->folder, -errno);
	if (err)
		return copy_and_hash(w, from, to, hash, why);
	*why = 0;
	if (lseek(to, 0, SEEK_SET))
		return pp_archive_folder_failed(&w->folder, -errno);
	err = pp_sha256_fd(to, hash);
	return err ? pp_archive_folder_failed(&w->folder, err) : 0;
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
	return err ? pp_archive_folder_failed(&w->folder, err) : 0;
}

static int copy_open_file(struct writer *w, const struct pp_archive_file *file,
			  int from, char *path, uint8_t *hash, int *why)
{
	bool digest = w->how->symbols_only && file->part == PP_ARCHIVE_IMAGE;
	int err = op_make_parents(path, 0755), to;

	if (err)
		return pp_archive_folder_failed(&w->folder, err);
	to = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (to < 0)
		return pp_archive_folder_failed(&w->folder, -errno);
	err = digest ? copy_digest(w, from, to, hash, why)
		     : copy_and_hash(w, from, to, hash, why);
	if (!err)
		return finish_file(w, from, to);
	close(to);
	return err;
}

/* Copy the entries that are asked for of the pack @from. */
static int copy_pack(struct writer *w, const struct pp_archive_file *file,
		     int from, char *path, uint8_t *hash, int *why)
{
	int to, err = op_make_parents(path, 0755)
			      ?: pp_archive_pack_write(file->pack, path);

	*why = err == -EBADMSG ? err : 0;
	if (err)
		return *why ? 0 : pp_archive_folder_failed(&w->folder, err);
	to = open(path, O_RDWR | O_CLOEXEC);
	if (to < 0)
		return pp_archive_folder_failed(&w->folder, -errno);
	err = pp_sha256_fd(to, hash);
	if (err) {
		close(to);
		return pp_archive_folder_failed(&w->folder, err);
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

static int write_archived_file(struct writer *w,
			       const struct pp_archive_file *file)
{
	char *path =
		op_arena_printf(w->arena, "%s/%s", w->folder.path, file->to);
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
		return pp_archive_folder_add(&w->folder, file->to, hash);
	unlink(path);
	return cannot_read(w, file, why);
}

/* ---- what is about the archive ------------------------------------------- */

static int write_facts(struct writer *w)
{
	const char *const *folder = w->list->image_path;
	struct op_config *facts = op_config_new();
	int err = -ENOMEM;

	if (facts)
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
	err = err ?: pp_archive_folder_facts(&w->folder, facts);
	op_config_free(facts);
	return err;
}

static int write_labels(struct writer *w,
			const struct pp_archive_labels *labels)
{
	char *path =
		op_arena_printf(w->arena, "%s/%s", w->folder.path, labels->to);
	int err = path ? op_make_parents(path, 0755) : -ENOMEM;

	if (!err)
		err = op_labels_write(&labels->labels, path, NULL);
	return err ? pp_archive_folder_failed(&w->folder, err)
		   : pp_archive_folder_hash(&w->folder, labels->to);
}

static int write_folder(struct writer *w)
{
	int err = 0;

	for (size_t i = 0; i < w->list->nr && !err; i++)
		err = write_archived_file(w, &w->list->files[i]);
	for (size_t i = 0; i < w->list->nr_labels && !err; i++)
		err = write_labels(w, &w->list->labels[i]);
	return err ?: write_facts(w);
}

/* A session is for those who may look into its folder samples/. */
static void limit_to_session(struct writer *w, const char *session)
{
	char *above = op_arena_printf(w->arena, "%s/..", session);

	pp_archive_folder_limit(&w->folder, session);
	if (above)
		pp_archive_folder_limit(&w->folder, above);
}

int pp_archive_write(struct pp_archive_list *list,
		     const struct pp_archive_writing *how, struct op_diag *diag)
{
	struct writer w = { .list = list,
			    .how = how,
			    .diag = diag,
			    .arena = &list->report.arena };
	int err = pp_archive_folder_begin(&w.folder, w.arena, how->folder,
					  how->replace, diag);

	if (err)
		return err;
	for (size_t i = 0; i < list->sessions.nr; i++)
		limit_to_session(&w, list->sessions.list[i].path);
	err = write_folder(&w)
		      ?: pp_archive_folder_finish(&w.folder,
						  &list->report.messages);
	if (err)
		pp_archive_folder_cancel(&w.folder);
	return err;
}
