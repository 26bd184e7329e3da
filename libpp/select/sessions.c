// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens the sessions that a specification names, in the order in which it
 * names them. A session may be named by its path; in an archive that is a path
 * of the machine that was profiled. Whether the pack of a session can be used
 * is found out here, once: its loose files are used even if it cannot.
 *
 * The spans of its history are in libpp/select/session_spans.c.
 */

#include "libpp/select/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <unistd.h>

#include "libop/base/op_near_names.h"
#include "libpp/select/sample_list.h"
#include "libpp/select/session_search.h"
#include "libpp/select/slices.h"

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
			search->diag, err, "%s: %s%s", folder, strerror(-err),
			err == -EACCES || err == -EPERM
				? "; run as the user who profiled or as root, or profile with --readable-by=GROUP"
				: "");
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

/* ---- labels -------------------------------------------------------------- */

/* A session without a file of labels has no labels, which is no error. */
static int read_session_labels(struct pp_session_search *search,
			       const char *path, struct op_labels *labels)
{
	const char *file =
		op_arena_printf(search->arena, "%s/" OP_LABELS_FILE, path);
	struct op_diag why = { 0 };
	int err = file ? pp_archive_check(search->archive, file) : -ENOMEM;

	if (!err)
		err = op_labels_read(labels, file, &why);
	if (err == -ENOENT || err == -ENOTDIR)
		return 0;
	if (err && err != -EACCES)
		op_diag_set(search->diag, err, "%s%s%s",
			    *why.text ? why.text : file, *why.text ? "" : ": ",
			    *why.text ? "" : pp_why_not_opened(err));
	return err;
}

/* The values of the label @key that sessions have, for an error: those that are
 * most like @wanted. */
static const char *near_labels(struct pp_session_search *search,
			       const char *key, const char *wanted)
{
	struct op_arena *arena = search->arena;
	const char **names = NULL, **more, *value;
	size_t nr = 0;

	for (size_t i = 0; i < search->nr_seen; i++) {
		value = op_labels_find(&search->seen[i], key);
		more = op_arena_grow(arena, (void *)names, nr, sizeof(*names));
		if (!more)
			break;
		names = more;
		if (value)
			names[nr++] = value;
	}
	return op_near_names(arena, wanted, names, nr, NEAR_NAMES);
}

static bool is_label_seen(const struct pp_session_search *search,
			  const char *key, const struct pp_spec_item *item)
{
	for (size_t i = 0; i < search->nr_seen; i++) {
		const char *value = op_labels_find(&search->seen[i], key);

		if (value && (!strcmp(item->pattern, value) ||
			      !fnmatch(item->pattern, value, 0)))
			return true;
	}
	return false;
}

/* No session has the labels that are asked for: say which one is the first that
 * none has. */
static int report_no_labels(struct pp_session_search *search)
{
	static const enum pp_spec_tag tags[] = { PP_SPEC_HOST, PP_SPEC_LABEL };

	for (size_t t = 0; t < 2; t++) {
		const struct pp_spec_list *list = &search->spec->lists[tags[t]];

		for (size_t i = 0; i < list->nr; i++) {
			const struct pp_spec_item *item = &list->items[i];
			const char *key = item->key ?: OP_LABEL_HOST, *near;

			if (is_label_seen(search, key, item))
				continue;
			near = near_labels(search, key, item->pattern);
			return op_diag_set(
				search->diag, -ENOENT,
				"%s:%s: no session has that label; values of %s here: %s",
				pp_spec_tag_name(tags[t]), item->text, key,
				near ? near : "none");
		}
	}
	return op_diag_set(
		search->diag, -ENOENT,
		"no session has all of these labels together; leave one out");
}

/* Keep what is not chosen for the message that may come. */
static int note_labels(struct pp_session_search *search,
		       struct op_labels *labels)
{
	struct op_labels *more = op_arena_grow(search->arena, search->seen,
					       search->nr_seen, sizeof(*more));

	if (!more)
		return -ENOMEM;
	search->seen = more;
	more[search->nr_seen++] = *labels;
	*labels = (struct op_labels){ 0 };
	return 0;
}

/* ---- adding one ---------------------------------------------------------- */

static int open_chosen_session(struct pp_session_search *search,
			       const char *name, const char *path,
			       struct op_labels *labels)
{
	const char *slash = strrchr(path, '/');
	int err = pp_session_open(search, path,
				  slash && slash[1] ? slash + 1 : path);

	if (err)
		return report_no_session(search, name, path, err);
	search->sessions->list[search->sessions->nr - 1].labels = *labels;
	*labels = (struct op_labels){ 0 };
	return pp_session_add_spans(search);
}

static int add_session(struct pp_session_search *search, const char *name)
{
	const struct pp_spec_list *excluded =
		&search->spec->lists[PP_SPEC_SESSION_EXCLUDE];
	struct op_labels labels = { 0 };
	const char *path;
	int err;

	for (size_t i = 0; i < excluded->nr; i++)
		if (!strcmp(excluded->items[i].text, name))
			return 0;
	path = path_of_session(search, name);
	if (!path)
		return -ENOMEM;
	err = read_session_labels(search, path, &labels);
	if (err == -EACCES)
		err = report_no_session(search, name, path, err);
	if (!err && pp_spec_matches_labels(search->spec, &labels))
		err = open_chosen_session(search, name, path, &labels);
	else if (!err)
		err = note_labels(search, &labels);
	op_labels_release(&labels);
	return err;
}

static int add_all_sessions(struct pp_session_search *search)
{
	const char *const *names = NULL;
	size_t nr;
	int err = pp_archive_sessions(search->archive, search->arena, &names,
				      &nr);

	for (size_t i = 0; i < nr && !err; i++)
		err = add_session(search, names[i]);
	return err;
}

static int open_asked_sessions(struct pp_session_search *search)
{
	const struct pp_spec_list *list = &search->spec->lists[PP_SPEC_SESSION];
	int err = 0;

	if (!list->nr && search->archive && search->archive->merged)
		return add_all_sessions(search);
	if (!list->nr)
		return add_session(search, "current");
	for (size_t i = 0; i < list->nr && !err; i++)
		err = add_session(search, list->items[i].text);
	return err;
}

int pp_sessions_open(struct pp_sessions *sessions, struct op_arena *arena,
		     const struct op_session *session,
		     const struct pp_archive *archive,
		     const struct pp_spec *spec, bool over_time,
		     struct op_diag *diag)
{
	struct pp_session_search search = { .sessions = sessions,
					    .arena = arena,
					    .session = session,
					    .archive = archive,
					    .spec = spec,
					    .over_time = over_time,
					    .diag = diag,
					    .now = time(NULL) };
	int err = open_asked_sessions(&search);

	if (!err && !sessions->nr)
		err = search.nr_seen
			      ? report_no_labels(&search)
			      : op_diag_set(
					diag, -ENOENT,
					"%s: no session is left; exclude fewer",
					spec->lists[PP_SPEC_SESSION_EXCLUDE]
							.word
						?: archive->root);
	for (size_t i = 0; i < search.nr_seen; i++)
		op_labels_release(&search.seen[i]);
	return err ?: pp_session_check_times(&search);
}

int pp_sessions_label(struct pp_sessions *sessions, struct op_arena *arena,
		      const char *key)
{
	const char *value = NULL;

	for (size_t i = 0; i < sessions->nr; i++) {
		struct pp_session *session = &sessions->list[i];

		/* Spans come behind their session. */
		if (!session->is_span)
			value = op_labels_find(&session->labels, key);
		session->name =
			value ? op_arena_strdup(arena, value) : "unknown";
		if (!session->name)
			return -ENOMEM;
	}
	return 0;
}

void pp_sessions_close(struct pp_sessions *sessions)
{
	for (size_t i = 0; i < sessions->nr; i++) {
		db_folder_close(sessions->list[i].folder);
		pp_slices_close(sessions->list[i].slices);
		sessions->list[i].slices = NULL;
		sessions->list[i].folder = NULL;
		op_labels_release(&sessions->list[i].labels);
	}
}
