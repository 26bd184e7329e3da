// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which sample files there are: walks the session folders and takes the file
 * names apart.
 */

#include "libpp/sample_list.h"

#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpp/near_names.h"

#define NEAR_NAMES 5

/* All that the functions of this file hand on to each other. */
struct search {
	struct pp_sample_list *list;
	const struct op_session *session;
	const struct pp_spec *spec;
	struct pp_messages *messages;
	struct op_diag *diag;
	char *scratch; /* for op_mangle_parse() */
	const char *folder; /* being walked */
	size_t nr_set_aside; /* files that the daemon no longer counts in */
};

/* ---- names --------------------------------------------------------------- */

const char *pp_image_name(struct pp_arena *arena,
			  const struct op_image_name *name)
{
	switch (name->space) {
	case OP_SPACE_KERN:
		/* [vdso] and the like look like nothing that has a path. */
		if (*name->name == '[' || *name->name == '/')
			return pp_arena_strdup(arena, name->name);
		return pp_arena_printf(arena, "/%s", name->name);
	case OP_SPACE_ANON:
		return pp_arena_printf(arena,
				       "%s (tgid:%lld range:0x%llx-0x%llx)",
				       name->name, (long long)name->tgid,
				       (unsigned long long)name->start,
				       (unsigned long long)name->end);
	default:
		return pp_arena_strdup(arena, name->name);
	}
}

const char *pp_base_name(const char *name)
{
	const char *slash = *name == '/' ? strrchr(name, '/') : NULL;

	return slash && slash[1] ? slash + 1 : name;
}

bool pp_is_call_graph(const struct pp_sample_file *file)
{
	return file->name.cg.space != OP_SPACE_NONE;
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	size_t end_len = strlen(end);

	return len >= end_len && !memcmp(text + len - end_len, end, end_len);
}

/* Whether a file was renamed out of the way: NAME.bad, NAME.stale, maybe with
 * a further number. */
static bool is_set_aside(const char *path)
{
	size_t len = strlen(path);
	bool digits = false;

	while (len && path[len - 1] >= '0' && path[len - 1] <= '9') {
		len--;
		digits = true;
	}
	if (digits && len && path[len - 1] == '.')
		len--;
	return ends_with(path, len, ".bad") || ends_with(path, len, ".stale");
}

/* ---- the session folders ------------------------------------------------- */

/* "a, b and 3 more" of the entries of folder @dir that are not hidden. */
static const char *near_sessions(struct search *search, const char *dir,
				 const char *wanted)
{
	struct pp_arena *arena = search->list->arena;
	const char **names = NULL, **grown;
	struct dirent *entry;
	size_t nr = 0;
	DIR *d = opendir(dir);

	while (d && (entry = readdir(d)) != NULL) {
		if (entry->d_name[0] == '.' || entry->d_type == DT_REG)
			continue;
		grown = pp_arena_grow(arena, names, nr, sizeof(*names));
		if (!grown)
			break;
		names = grown;
		names[nr] = pp_arena_strdup(arena, entry->d_name);
		nr += names[nr] != NULL;
	}
	if (d)
		closedir(d);
	return pp_near_names(arena, wanted, names, nr, NEAR_NAMES);
}

static int no_session(struct search *search, const char *name,
		      const char *folder, int err)
{
	const char *samples = search->session->samples;
	const char *near;

	if (err != ENOENT && err != ENOTDIR)
		return op_diag_set(
			search->diag, -err,
			"%s: %s; run as the user who profiled, or as root",
			folder, strerror(err));
	if (access(samples, F_OK))
		return op_diag_set(
			search->diag, -ENOENT,
			"%s: there are no samples; profile first, or name another session folder with --session-dir",
			samples);
	near = near_sessions(search, samples, name);
	return op_diag_set(search->diag, -ENOENT,
			   "%s: no such session in %s; sessions there: %s",
			   name, samples, near ? near : "unknown");
}

static bool is_excluded(const struct pp_spec *spec, const char *name)
{
	const struct pp_spec_list *list = &spec->lists[PP_SPEC_SESSION_EXCLUDE];
	size_t i;

	for (i = 0; i < list->nr; i++)
		if (!strcmp(list->items[i].text, name))
			return true;
	return false;
}

static int add_folder(struct search *search, const char *name)
{
	struct pp_arena *arena = search->list->arena;
	const char **folders;
	const char *folder;
	DIR *dir;

	if (is_excluded(search->spec, name))
		return 0;
	if (*name == '/' && search->list->archive)
		folder = pp_arena_printf(arena, "%s%s",
					 search->list->archive->root, name);
	else if (*name == '.' || *name == '/')
		folder = pp_arena_strdup(arena, name);
	else
		folder = pp_arena_printf(arena, "%s/%s",
					 search->session->samples, name);
	folders = pp_arena_grow(arena, search->list->sessions,
				search->list->nr_sessions, sizeof(*folders));
	if (!folder || !folders)
		return -ENOMEM;
	dir = opendir(folder);
	if (!dir)
		return no_session(search, name, folder, errno);
	closedir(dir);
	search->list->sessions = folders;
	folders[search->list->nr_sessions++] = folder;
	return 0;
}

static int find_folders(struct search *search)
{
	const struct pp_spec_list *list = &search->spec->lists[PP_SPEC_SESSION];
	int ret = 0;
	size_t i;

	if (!list->nr)
		ret = add_folder(search, "current");
	for (i = 0; i < list->nr && !ret; i++)
		ret = add_folder(search, list->items[i].text);
	if (!ret && !search->list->nr_sessions)
		ret = op_diag_set(
			search->diag, -ENOENT,
			"%s: no session is left; exclude fewer",
			search->spec->lists[PP_SPEC_SESSION_EXCLUDE].word);
	return ret;
}

/* ---- the files in them --------------------------------------------------- */

static int copy_image_name(struct pp_arena *arena, struct op_image_name *name)
{
	if (name->space == OP_SPACE_NONE)
		return 0;
	name->name = pp_arena_strdup(arena, name->name);
	return name->name ? 0 : -ENOMEM;
}

/* Move what @file's name points to from the scratch buffer to the arena. */
static int keep_names(struct pp_arena *arena, struct pp_sample_file *file,
		      const char *path)
{
	struct op_mangle *name = &file->name;
	const struct op_image_name *dep;

	if (copy_image_name(arena, &name->app) ||
	    copy_image_name(arena, &name->dep) ||
	    copy_image_name(arena, &name->cg))
		return -ENOMEM;
	dep = name->is_tree ? &name->app : &name->dep;
	name->event = pp_arena_strdup(arena, name->event);
	file->path = pp_arena_strdup(arena, path);
	file->app = pp_image_name(arena, &name->app);
	file->image_name = pp_image_name(arena, dep);
	if (!name->event || !file->path || !file->app || !file->image_name)
		return -ENOMEM;
	if (!pp_is_call_graph(file))
		return 0;
	file->callee_name = pp_image_name(arena, &name->cg);
	return file->callee_name ? 0 : -ENOMEM;
}

/* Add @file, found at @path, to *@files of *@nr. */
static int keep_file(struct pp_arena *arena, struct pp_sample_file *file,
		     const char *path, struct pp_sample_file **files,
		     size_t *nr)
{
	struct pp_sample_file *grown =
		pp_arena_grow(arena, *files, *nr, sizeof(*file));

	if (!grown || keep_names(arena, file, path))
		return -ENOMEM;
	*files = grown;
	grown[(*nr)++] = *file;
	return 0;
}

/* @path lies in a session folder, @name is the part behind that. */
static int add_file(struct search *search, const char *path, const char *name)
{
	struct pp_sample_list *list = search->list;
	struct pp_sample_file file = { .session = search->folder };
	struct op_diag reason = { 0 };

	/* The ledger and whatever else lies there is no sample file. */
	if (*name != '{')
		return 0;
	if (is_set_aside(name)) {
		search->nr_set_aside++;
		return 0;
	}
	if (op_mangle_parse(name, &file.name, search->scratch, OP_MANGLE_MAX,
			    &reason)) {
		pp_message(search->messages, PP_WARNING,
			   "%s: not the name of a sample file (%s); left out",
			   path, reason.text);
		return 0;
	}
	if (pp_is_call_graph(&file) && !list->call_graphs)
		return 0;
	if (file.name.is_tree)
		return keep_file(list->arena, &file, path, &list->trees,
				 &list->nr_trees);
	return keep_file(list->arena, &file, path, &list->files, &list->nr);
}

static int by_entry_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int visit(struct search *search, const FTSENT *entry, size_t folder_len)
{
	const char *name = entry->fts_path + folder_len;

	while (*name == '/')
		name++;
	switch (entry->fts_info) {
	case FTS_F:
		return add_file(search, entry->fts_path, name);
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		pp_message(search->messages, PP_WARNING,
			   "%s: %s; what it holds is left out", entry->fts_path,
			   strerror(entry->fts_errno));
		return 0;
	default:
		return 0;
	}
}

/* Symbolic links are not followed: a session is one tree. */
static int walk_folder(struct search *search, const char *folder)
{
	char *copy = pp_arena_strdup(search->list->arena, folder);
	char *roots[] = { copy, NULL };
	FTSENT *entry;
	FTS *fts;
	int ret = 0;

	if (!copy)
		return -ENOMEM;
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_entry_name);
	if (!fts)
		return -errno;
	while (!ret && (errno = 0, entry = fts_read(fts)) != NULL)
		ret = visit(search, entry, strlen(folder));
	if (!ret && errno)
		ret = op_diag_set(search->diag, -errno, "%s: %s", folder,
				  strerror(errno));
	fts_close(fts);
	return ret;
}

/* ---- the whole ---------------------------------------------------------- */

static int nothing_found(struct search *search)
{
	return op_diag_set(
		search->diag, -ENOENT,
		"%s: there are no sample files; profile first (opcontrol --start), and opcontrol --dump brings out what is still in the buffers",
		search->list->sessions[0]);
}

static int run(struct search *search)
{
	int ret = find_folders(search);
	size_t i;

	for (i = 0; i < search->list->nr_sessions && !ret; i++) {
		search->folder = search->list->sessions[i];
		ret = walk_folder(search, search->folder);
		if (search->list->archive)
			pp_archive_check_folder(search->list->archive,
						search->folder,
						search->messages);
	}
	if (search->nr_set_aside)
		pp_message(
			search->messages, PP_WARNING,
			"%s: %zu files were set aside as damaged or of another binary (names ending in .bad or .stale); not counted",
			search->list->sessions[0], search->nr_set_aside);
	if (ret)
		return ret;
	return search->list->nr ? 0 : nothing_found(search);
}

int pp_sample_list_find(struct pp_sample_list *list,
			const struct op_session *session,
			const struct pp_spec *spec,
			struct pp_messages *messages, struct op_diag *diag)
{
	struct search search = { .list = list,
				 .session = session,
				 .spec = spec,
				 .messages = messages,
				 .diag = diag };
	int ret;

	search.scratch = malloc(OP_MANGLE_MAX);
	ret = search.scratch ? run(&search) : -ENOMEM;
	free(search.scratch);
	return ret;
}
