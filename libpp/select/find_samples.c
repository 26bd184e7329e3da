// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which sample files there are: visits what is in the session folders and
 * takes the names apart; no file is opened. A name may be there several times,
 * loose, in the pack, and in folders that a packer is at work on; these are
 * the parts of one file, whose counts are added up when they are read, in the
 * order in which the folder listed them. What the daemon renamed for damage is
 * counted and not used.
 */

#include "libdb/pack.h"
#include "libop/base/op_plural.h"
#include "libop/session/op_sample_file.h"
#include "libop/base/op_search.h"
#include "libpp/select/sample_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All that the functions of this file hand on to each other. */
struct search {
	struct pp_sample_list *list;
	struct pp_messages *messages;
	struct op_diag *diag;
	char *scratch; /* for op_mangle_parse() */
	const struct pp_session *session; /* being visited */
	size_t nr_bad; /* files that the daemon no longer counts in */
};

/* ---- names --------------------------------------------------------------- */

/* ---- the files in them --------------------------------------------------- */

/* Where a file of that name is, or would be if it was not packed. */
static const char *path_of_sample_file(struct op_arena *arena,
				       const struct pp_session *session,
				       const char *name)
{
	size_t len = strlen(session->path);
	const char *slash = len && session->path[len - 1] == '/' ? "" : "/";

	return op_arena_printf(arena, "%s%s%s", session->path, slash, name);
}

/* Move what @file's name points to from the scratch buffer to the arena. */
static int keep_sample_names(struct op_arena *arena,
			     struct pp_sample_file *file, const char *mangled)
{
	struct op_mangle *name = &file->name;
	bool had_cgroup = name->cgroup != NULL;
	struct op_image_name *const images[] = { &name->app, &name->dep,
						 &name->cg };

	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
		if (images[i]->space == OP_SPACE_NONE)
			continue;
		images[i]->name = op_arena_strdup(arena, images[i]->name);
		if (!images[i]->name)
			return -ENOMEM;
		if (!images[i]->build)
			continue;
		images[i]->build = op_arena_strdup(arena, images[i]->build);
		if (!images[i]->build)
			return -ENOMEM;
	}
	name->event = op_arena_strdup(arena, name->event);
	if (name->cgroup)
		name->cgroup = op_arena_strdup(arena, name->cgroup);
	if (had_cgroup && !name->cgroup)
		return -ENOMEM;
	file->path = path_of_sample_file(arena, file->session, mangled);
	file->app = pp_image_name(arena, &name->app);
	file->image_name =
		pp_image_name(arena, name->is_tree ? &name->app : &name->dep);
	if (!name->event || !file->path || !file->app || !file->image_name)
		return -ENOMEM;
	if (!pp_is_call_graph(file))
		return 0;
	file->callee_name = pp_image_name(arena, &name->cg);
	return file->callee_name ? 0 : -ENOMEM;
}

static struct pp_sample_part *new_sample_part(struct op_arena *arena,
					      const struct db_member *member,
					      const char *path)
{
	struct pp_sample_part *part = op_arena_alloc(arena, 1, sizeof(*part));

	if (!part)
		return NULL;
	part->member = *member;
	part->member.name = path + strlen(path) - strlen(member->name);
	if (member->entry) {
		part->label = op_arena_printf(arena, "%s: %s", member->path,
					      member->name);
	} else {
		part->label = op_arena_strdup(arena, member->path);
		part->member.path = part->label;
	}
	return part->label ? part : NULL;
}

/* Add @file, of which @member is all so far, to *@files of *@nr. */
static int keep_sample_file(struct op_arena *arena, struct pp_sample_file *file,
			    const struct db_member *member,
			    struct pp_sample_file **files, size_t *nr)
{
	struct pp_sample_file *grown =
		op_arena_grow(arena, *files, *nr, sizeof(*file));

	if (!grown || keep_sample_names(arena, file, member->name))
		return -ENOMEM;
	file->parts = new_sample_part(arena, member, file->path);
	if (!file->parts)
		return -ENOMEM;
	*files = grown;
	grown[(*nr)++] = *file;
	return 0;
}

static int take_sample_file(const struct db_member *member, void *ctx)
{
	struct search *search = ctx;
	struct pp_sample_list *list = search->list;
	struct pp_sample_file file = { .session = search->session };
	struct op_diag reason = { 0 };

	if (member->entry && search->session->pack_error)
		return 0;
	if (op_sample_file_is_set_aside(member->name)) {
		search->nr_bad++;
		return 0;
	}
	if (op_mangle_parse(member->name, &file.name, search->scratch,
			    OP_MANGLE_MAX, &reason)) {
		pp_message(search->messages, PP_WARNING, "%s: %s; left out",
			   member->entry ? member->path : search->session->path,
			   reason.text);
		return 0;
	}
	if (pp_is_call_graph(&file) && !list->call_graphs)
		return 0;
	if (file.name.is_tree)
		return keep_sample_file(list->arena, &file, member,
					&list->trees, &list->nr_trees);
	return keep_sample_file(list->arena, &file, member, &list->files,
				&list->nr);
}

static int warn_of_unread_folder(const char *path, int err, void *ctx)
{
	struct search *search = ctx;

	pp_message_of_error(search->messages, err,
			    "%s: %s; its samples are left out", path,
			    strerror(-err));
	return 0;
}

/* ---- names that are there more than once --------------------------------- */

static int compare_sample_paths(const void *a, const void *b)
{
	const struct pp_sample_file *x = a, *y = b;

	return db_folder_compare(x->path, y->path)
		       ?: op_compare(x->parts->nr, y->parts->nr);
}

/* Sort those of @nr @files that begin at @first, all of one folder, and make
 * one of those that share a name. How many @files are left. */
static size_t unite_parts_of_files(struct pp_sample_file *files, size_t first,
				   size_t nr)
{
	struct pp_sample_part *last = NULL;
	size_t kept = first;

	if (nr == first)
		return nr;
	for (size_t i = first; i < nr; i++)
		files[i].parts->nr = i;
	qsort(files + first, nr - first, sizeof(*files), compare_sample_paths);
	for (size_t i = first; i < nr; i++) {
		if (kept > first &&
		    !strcmp(files[i].path, files[kept - 1].path))
			last->next = files[i].parts;
		else
			files[kept++] = files[i];
		last = files[i].parts;
	}
	return kept;
}

/* The pack is used, but its owner should know. */
static void warn_of_recovered_pack(struct search *search,
				   const struct pp_session *session)
{
	uint64_t nr = pack_nr_missing(db_folder_pack(session->folder));
	size_t nr_found = pack_nr(db_folder_pack(session->folder));
	const char *path = db_folder_pack_path(session->folder);

	if (!nr)
		pp_message(
			search->messages, PP_WARNING,
			"%s: its index is damaged, but all sample files in it were found; repair it with opreport --repair",
			path);
	else if (nr == UINT64_MAX)
		pp_message(
			search->messages, PP_WARNING,
			"%s: it is damaged, and its end is lost: %zu sample file%s found in it; others are left out",
			path, nr_found, op_plural(nr_found));
	else
		pp_message(search->messages, PP_WARNING,
			   "%s: it is damaged: %" PRIu64
			   " sample file%s in it lost and left out",
			   path, nr, op_plural(nr));
}

static int find_files_of_session(struct search *search,
				 const struct pp_session *session)
{
	const struct db_visitor visitor = { .member = take_sample_file,
					    .unlisted = warn_of_unread_folder,
					    .ctx = search };
	struct pp_sample_list *list = search->list;
	size_t nr = list->nr, nr_trees = list->nr_trees;
	int err;

	search->session = session;
	if (session->is_left_out)
		return 0;
	if (session->pack_error)
		pp_message_of_error(search->messages, session->pack_errno,
				    "%s; its samples are left out",
				    session->pack_error);
	if (!session->pack_error &&
	    db_folder_pack_is_recovered(session->folder))
		warn_of_recovered_pack(search, session);
	err = db_folder_each(session->folder, &visitor);
	if (err)
		return op_diag_set(search->diag, err, "%s: %s", session->path,
				   strerror(-err));
	list->nr = unite_parts_of_files(list->files, nr, list->nr);
	list->nr_trees =
		unite_parts_of_files(list->trees, nr_trees, list->nr_trees);
	return 0;
}

/* ---- the whole ---------------------------------------------------------- */

/* Whether @path is the current session, and there is one that it replaced. */
static bool has_run_before(struct op_arena *arena, const char *path)
{
	const char *name = strrchr(path, '/');
	const char *before = name && !strcmp(name, "/current")
				     ? op_arena_printf(arena, "%.*s/previous",
						       (int)(name - path), path)
				     : NULL;

	return before && !access(before, R_OK);
}

static int find_sample_files(struct search *search)
{
	struct pp_sample_list *list = search->list;
	const struct pp_sessions *sessions = &list->sessions;
	const char *pack_error = NULL;
	int err = 0;

	for (size_t i = 0; i < sessions->nr && !err; i++) {
		err = find_files_of_session(search, &sessions->list[i]);
		pack_error = pack_error ?: sessions->list[i].pack_error;
		if (list->archive)
			pp_archive_check_folder(list->archive,
						sessions->list[i].path,
						search->messages);
	}
	if (search->nr_bad)
		pp_message(
			search->messages, PP_WARNING,
			"%s: not counted: %zu file%s set aside as damaged (names ending in .bad or .stale)",
			sessions->list[0].path, search->nr_bad,
			op_plural(search->nr_bad));
	if (err || list->nr)
		return err;
	if (pack_error)
		return op_diag_set(
			search->diag, -ENOENT,
			"no usable sample file is left; the first: %s",
			pack_error);
	if (has_run_before(list->arena, sessions->list[0].path))
		return op_diag_set(
			search->diag, -ENOENT,
			"%s: the last run has no samples; those of the run before are in session:previous",
			sessions->list[0].path);
	return op_diag_set(
		search->diag, -ENOENT,
		"%s: there are no sample files; profile first (operf, or opcontrol --start), then write out the buffers with opcontrol --dump",
		sessions->list[0].path);
}

int pp_sample_list_find(struct pp_sample_list *list,
			const struct op_session *session,
			const struct pp_spec *spec,
			struct pp_messages *messages, struct op_diag *diag)
{
	struct search search = { .list = list,
				 .messages = messages,
				 .diag = diag };
	int err = pp_sessions_open(&list->sessions, list->arena, session,
				   list->archive, spec, list->over_time, diag);

	if (!err && list->by_label)
		err = pp_sessions_label(&list->sessions, list->arena,
					list->by_label);
	if (err)
		return err;
	search.scratch = malloc(OP_MANGLE_MAX);
	err = search.scratch ? find_sample_files(&search) : -ENOMEM;
	free(search.scratch);
	return err;
}
