// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens archives in place of a session. An archive of ours has facts (a file
 * of keys) and the hashes of all its files; what oparchive of the original
 * made has neither and is searched for a session folder. Nothing in an archive
 * is trusted more than any other file: paths in the facts must not lead out of
 * it, and a file is held against its hash when it is used, not when the
 * archive is opened, as most reports use few of its files.
 */

#include "libpp/archive/archive.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/files/op_config.h"
#include "libop/files/op_open.h"

/* ---- the facts ----------------------------------------------------------- */

/* A path that is absolute and leads nowhere else when put behind another. */
static bool is_archived_path(const char *path)
{
	size_t len = strlen(path);

	return path[0] == '/' && !strstr(path, "/../") &&
	       !(len >= 3 && !strcmp(path + len - 3, "/.."));
}

static int bad_fact(const char *path, const char *key, const char *what,
		    struct op_diag *diag)
{
	return op_diag_set(diag, -EINVAL,
			   "%s: %s: %s; archive the session again", path, key,
			   what);
}

/* Folders of which nothing was archived are left out. */
static int take_image_path_facts(struct pp_archive *archive,
				 struct op_arena *arena,
				 const struct op_config *facts)
{
	const char **list, *key, *value, *path;
	unsigned int nr_facts = 0;
	size_t nr = 0;

	while (!op_config_at(facts, nr_facts, &key, &value))
		nr_facts++;
	list = op_arena_alloc(arena, nr_facts + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (unsigned int i = 0; !op_config_at(facts, i, &key, &value); i++) {
		if (strcmp(key, PP_FACT_IMAGE_PATH) || !is_archived_path(value))
			continue;
		path = op_arena_printf(arena, "%s%s", archive->root, value);
		if (!path)
			return -ENOMEM;
		if (!access(path, F_OK))
			list[nr++] = path;
	}
	if (nr)
		archive->image_path = list;
	return 0;
}

static int take_facts(struct pp_archive *archive, struct op_arena *arena,
		      const struct op_config *facts, const char *path,
		      struct op_diag *diag)
{
	const char *name = op_config_find(facts, PP_FACT_SESSION), *dir;
	uint64_t format;

	if (op_config_get_u64(facts, PP_FACT_FORMAT, &format, NULL))
		return bad_fact(path, PP_FACT_FORMAT, "missing", diag);
	if (format != PP_ARCHIVE_FORMAT)
		return op_diag_set(
			diag, -EPROTO,
			"%s: the archive is of format %llu, this program reads %d; use the release of oprofile that made it, or a later one",
			path, (unsigned long long)format, PP_ARCHIVE_FORMAT);
	if (op_config_find(facts, PP_FACT_MERGED) &&
	    op_config_get_u64(facts, PP_FACT_MERGED, &archive->merged, NULL))
		return bad_fact(path, PP_FACT_MERGED, "no number", diag);
	if (!name || !is_archived_path(name))
		return bad_fact(path, PP_FACT_SESSION, "no path of a session",
				diag);
	dir = op_arena_printf(arena, "%s%s", archive->root, name);
	archive->events =
		op_arena_printf(arena, "%s/" PP_ARCHIVE_EVENTS, archive->root);
	if (!dir || !archive->events)
		return -ENOMEM;
	return op_session_init(&archive->session, dir, diag)
		       ?: take_image_path_facts(archive, arena, facts);
}

/* ---- opening ------------------------------------------------------------- */

/* The session is at the place it was archived from, or at the default one. */
static int search_session(struct pp_archive *archive, struct op_arena *arena,
			  const struct op_session *asked, struct op_diag *diag)
{
	const char *const places[] = { asked->dir, OP_SESSION_DIR_DEFAULT, "" };

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *dir = op_arena_printf(arena, "%s%s", archive->root,
						  places[i]);
		int err = dir ? op_session_init(&archive->session, dir, diag)
			      : -ENOMEM;

		if (err || !access(archive->session.samples, F_OK))
			return err;
	}
	return op_diag_set(
		diag, -ENOENT,
		"archive:%s: it holds no session; give the folder that the archive was written to; of an archive of OProfile 1.4 or older import the session with opimport --session",
		archive->root);
}

static int read_archive(struct pp_archive *archive, struct op_arena *arena,
			const struct op_session *asked, struct op_diag *diag)
{
	const char *facts_path =
		op_arena_printf(arena, "%s/" PP_ARCHIVE_FACTS, archive->root);
	const char *sums_path =
		op_arena_printf(arena, "%s/" PP_ARCHIVE_SUMS, archive->root);
	struct op_config *facts;
	int err;

	if (!facts_path || !sums_path)
		return -ENOMEM;
	err = pp_archive_check_place(archive, facts_path)
		      ?: pp_archive_check_place(archive, sums_path);
	if (err)
		return op_diag_set(diag, err, "%s/" PP_ARCHIVE_FOLDER ": %s",
				   archive->root, pp_archive_refusal(err));
	err = op_config_read(&facts, facts_path, diag);
	if (err == -ENOENT)
		return search_session(archive, arena, asked, diag);
	if (err)
		return err;
	err = pp_sums_read(&archive->sums, arena, sums_path, diag);
	if (err == -ENOENT)
		op_diag_set(diag, err,
			    "%s: it is missing; archive the session again",
			    sums_path);
	if (!err)
		err = pp_archive_check(archive, facts_path);
	if (pp_archive_refusal(err))
		op_diag_set(diag, err, "%s: %s; archive the session again",
			    facts_path, pp_archive_refusal(err));
	else if (err)
		op_diag_set(diag, err, "%s: cannot be read: %s", facts_path,
			    strerror(-err));
	if (!err)
		err = take_facts(archive, arena, facts, facts_path, diag);
	op_config_free(facts);
	return err;
}

int pp_archive_open(struct pp_archive **out, struct op_arena *arena,
		    const char *root, const struct op_session *asked,
		    struct op_diag *diag)
{
	struct pp_archive *archive = op_arena_alloc(arena, 1, sizeof(*archive));
	int err;

	if (!archive)
		return -ENOMEM;
	/* The root folder is spelt "" so that paths can be put behind it. */
	archive->root = strcmp(root, "/") ? root : "";
	err = read_archive(archive, arena, asked, diag);
	if (!err)
		*out = archive;
	return err;
}

int pp_archive_sessions(const struct pp_archive *archive,
			struct op_arena *arena, const char *const **names,
			size_t *nr)
{
	const char *samples =
		pp_archive_name(archive, archive->session.samples);
	char *start = op_arena_printf(arena, "%s/", samples ? samples : "");
	const char **list = NULL, **more;
	const struct pp_sum *sum;
	size_t left, len;

	*nr = 0;
	if (!start)
		return -ENOMEM;
	sum = pp_sums_below(&archive->sums, start, &left);
	for (; samples && left; left--, sum++) {
		const char *name = sum->name + strlen(start);

		len = strcspn(name, "/");
		if (!name[len] || (*nr && !strncmp(list[*nr - 1], name, len) &&
				   !list[*nr - 1][len]))
			continue;
		more = op_arena_grow(arena, (void *)list, *nr, sizeof(*more));
		if (!more)
			return -ENOMEM;
		list = more;
		list[*nr] = op_arena_printf(arena, "%.*s", (int)len, name);
		if (!list[(*nr)++])
			return -ENOMEM;
	}
	*names = list;
	return 0;
}

/* ---- checking ------------------------------------------------------------ */

const char *pp_archive_name(const struct pp_archive *archive, const char *path)
{
	size_t len = strlen(archive->root);

	if (strncmp(path, archive->root, len) || path[len] != '/')
		return NULL;
	return path + len + strspn(path + len, "/");
}

const char *pp_archive_refusal(int err)
{
	switch (err) {
	case -EILSEQ:
		return "it is not the archived file";
	case -EXDEV:
		return "a symbolic link leads out of the archive";
	default:
		return NULL;
	}
}

int pp_archive_check_place(const struct pp_archive *archive, const char *path)
{
	const char *name = archive ? pp_archive_name(archive, path) : NULL;
	int at;

	/* Nothing leads out of the root folder. */
	if (!name || !*archive->root)
		return 0;
	at = op_find_beneath(archive->root, name);
	if (at < 0)
		return errno == EXDEV ? -EXDEV : 0;
	close(at);
	return 0;
}

int pp_archive_open_file(const struct pp_archive *archive, const char *name)
{
	char *path;
	int fd;

	if (*archive->root) {
		fd = op_open_beneath(archive->root, name);
		return fd < 0 ? -errno : fd;
	}
	if (asprintf(&path, "/%s", name) < 0)
		return -ENOMEM;
	fd = op_open_regular(path);
	fd = fd < 0 ? -errno : fd;
	free(path);
	return fd;
}

int pp_archive_check(const struct pp_archive *archive, const char *path)
{
	const char *name = archive ? pp_archive_name(archive, path) : NULL;
	const struct pp_sum *sum =
		name ? pp_sums_find(&archive->sums, name) : NULL;
	uint8_t hash[PP_SHA256_LEN];
	int fd, err;

	if (!sum)
		return pp_archive_check_place(archive, path);
	fd = pp_archive_open_file(archive, name);
	if (fd < 0)
		return fd;
	err = pp_sha256_fd(fd, hash);
	close(fd);
	if (err)
		return err;
	return memcmp(hash, sum->hash, sizeof(hash)) ? -EILSEQ : 0;
}

void pp_archive_check_folder(const struct pp_archive *archive, const char *path,
			     struct pp_messages *messages)
{
	const char *name = pp_archive_name(archive, path);
	const struct pp_sum *sum;
	char start[8192];
	size_t nr;

	if (!name ||
	    snprintf(start, sizeof(start), "%s/", name) >= (int)sizeof(start))
		return;
	sum = pp_sums_below(&archive->sums, start, &nr);
	for (; nr; nr--, sum++) {
		char file[16384];
		struct stat st;

		snprintf(file, sizeof(file), "%s/%s", archive->root, sum->name);
		if (!lstat(file, &st)) {
			if (!S_ISREG(st.st_mode))
				pp_message(
					messages, PP_WARNING,
					"%s: it is not a regular file; its content is left out",
					file);
		} else if (errno == ENOENT) {
			pp_message(
				messages, PP_WARNING,
				"%s: missing in the archive; its content is left out",
				file);
		}
	}
}

bool pp_archive_check_events(const struct pp_archive *archive,
			     struct pp_messages *messages)
{
	size_t nr;
	const struct pp_sum *sum =
		pp_sums_below(&archive->sums, PP_ARCHIVE_EVENTS "/", &nr);

	for (; nr; nr--, sum++) {
		char file[8192];
		int err;

		snprintf(file, sizeof(file), "%s/%s", archive->root, sum->name);
		err = pp_archive_check(archive, file);
		if (!err)
			continue;
		pp_message(messages, PP_WARNING,
			   "%s: %s; events are not described", file,
			   pp_archive_refusal(err) ?: strerror(-err));
		return false;
	}
	return true;
}
