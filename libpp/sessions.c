// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens the sessions that a specification names, in the order in which it
 * names them. A session may be named by its path; in an archive that is a path
 * of the machine that was profiled. Whether the pack of a session can be used
 * is found out here, once: its loose files are used even if it cannot.
 *
 * The spans of its history are in libpp/session_spans.c.
 */

#include "libpp/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libop/op_near_names.h"
#include "libpp/sample_list.h"
#include "libpp/session_search.h"

#define NEAR_NAMES 5

/* "a, b and 3 more" of the entries of folder @dir that are not hidden. */
static const char *near_sessions(struct pp_session_search *search,
				 const char *dir, const char *wanted)
{
	struct op_arena *arena = search->arena;
	const char **names = NULL, **grown;
	struct dirent *entry;
	size_t nr = 0;
	DIR *d = opendir(dir);

	while (d && (entry = readdir(d)) != NULL) {
		if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
			continue;
		grown = op_arena_grow(arena, names, nr, sizeof(*names));
		if (!grown)
			break;
		names = grown;
		names[nr] = op_arena_strdup(arena, entry->d_name);
		nr += names[nr] != NULL;
	}
	if (d)
		closedir(d);
	return op_near_names(arena, wanted, names, nr, NEAR_NAMES);
}

static int report_no_session(struct pp_session_search *search, const char *name,
			     const char *folder, int err)
{
	const char *samples = search->session->samples;
	const char *near, *inside;

	if (err == -ENOMEM)
		return err;
	if (err == -EBUSY)
		return op_diag_set(
			search->diag, err,
			"%s: another program keeps it locked (flock); try again",
			folder);
	if (err != -ENOENT && err != -ENOTDIR)
		return op_diag_set(
			search->diag, err,
			"%s: %s; run as the user who profiled or as root, or profile with --readable-by=GROUP",
			folder, strerror(-err));
	inside = strstr(samples, "/samples/");
	if (inside && access(samples, F_OK))
		return op_diag_set(
			search->diag, -ENOENT,
			"%s: there are no samples; name the folder that samples is in, --session-dir=%.*s",
			samples, (int)(inside - samples), samples);
	if (access(samples, F_OK))
		return op_diag_set(
			search->diag, -ENOENT,
			"%s: there are no samples; profile first, or name another session folder with --session-dir",
			samples);
	near = near_sessions(search, samples, name);
	return op_diag_set(search->diag, -ENOENT,
			   "%s: no such session in %s; its sessions: %s", name,
			   samples, near ? near : "unknown");
}

static const char *path_of_session(const struct pp_session_search *search,
				   const char *name)
{
	if (*name == '/' && search->archive)
		return op_arena_printf(search->arena, "%s%s",
				       search->archive->root, name);
	if (*name == '.' || *name == '/')
		return op_arena_strdup(search->arena, name);
	return op_arena_printf(search->arena, "%s/%s", search->session->samples,
			       name);
}

/* Find out whether the pack of @session, which is open, can be used. */
static int check_session_pack(struct pp_session_search *search,
			      struct pp_session *session)
{
	const char *path = db_folder_pack_path(session->folder);
	int err = db_folder_pack_error(session->folder);

	if (!err && db_folder_pack(session->folder))
		err = pp_archive_check(search->archive, path);
	if (!err)
		return 0;
	session->pack_errno = err;
	session->pack_error = op_arena_printf(search->arena, "%s: %s", path,
					      pp_why_not_opened(err));
	return session->pack_error ? 0 : -ENOMEM;
}

int pp_session_open(struct pp_session_search *search, const char *path,
		    const char *name)
{
	struct pp_sessions *sessions = search->sessions;
	struct pp_session *session = op_arena_grow(
		search->arena, sessions->list, sessions->nr, sizeof(*session));
	int err;

	if (!session || !path || !name)
		return -ENOMEM;
	sessions->list = session;
	session += sessions->nr;
	*session = (struct pp_session){ .path = path, .name = name };
	err = db_folder_open(&session->folder, path);
	if (err)
		return err;
	sessions->nr++;
	return check_session_pack(search, session);
}

/* ---- sessions --------------------------------------------------------------
 */

static int add_session(struct pp_session_search *search, const char *name)
{
	const struct pp_spec_list *excluded =
		&search->spec->lists[PP_SPEC_SESSION_EXCLUDE];
	const char *path, *slash;
	int err;

	for (size_t i = 0; i < excluded->nr; i++)
		if (!strcmp(excluded->items[i].text, name))
			return 0;
	path = path_of_session(search, name);
	slash = path ? strrchr(path, '/') : NULL;
	err = pp_session_open(search, path,
			      slash && slash[1] ? slash + 1 : path);
	if (err)
		return report_no_session(search, name, path ?: name, err);
	return pp_session_add_spans(search);
}

int pp_sessions_open(struct pp_sessions *sessions, struct op_arena *arena,
		     const struct op_session *session,
		     const struct pp_archive *archive,
		     const struct pp_spec *spec, struct op_diag *diag)
{
	const struct pp_spec_list *list = &spec->lists[PP_SPEC_SESSION];
	struct pp_session_search search = { .sessions = sessions,
					    .arena = arena,
					    .session = session,
					    .archive = archive,
					    .spec = spec,
					    .diag = diag,
					    .now = time(NULL) };
	int err = 0;

	if (!list->nr)
		err = add_session(&search, "current");
	for (size_t i = 0; i < list->nr && !err; i++)
		err = add_session(&search, list->items[i].text);
	if (!err && !sessions->nr)
		err = op_diag_set(diag, -ENOENT,
				  "%s: no session is left; exclude fewer",
				  spec->lists[PP_SPEC_SESSION_EXCLUDE].word);
	return err ?: pp_session_check_times(&search);
}

void pp_sessions_close(struct pp_sessions *sessions)
{
	for (size_t i = 0; i < sessions->nr; i++) {
		db_folder_close(sessions->list[i].folder);
		sessions->list[i].folder = NULL;
	}
}
