// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sample files of one side of a report: where they are, which of them are
 * asked for, which columns they make and which images they are about. Names
 * come before choosing, because a specification chooses by the names that are
 * shown; reading comes last, because most files of a session are often not
 * asked for. Images are told apart by name and build: files about one of them
 * share one struct pp_image.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/image/op_build_id.h"
#include "libop/base/op_search.h"
#include "libpp/report/population.h"

/* ---- where --------------------------------------------------------------- */

static int find_session(struct pp_population *p, struct pp_side *side,
			struct op_diag *diag)
{
	const struct pp_spec_list *list = &side->spec->lists[PP_SPEC_ARCHIVE];
	struct pp_archive *archive;
	int err;

	side->session = p->request->select.session;
	if (!list->nr)
		return 0;
	if (list->nr > 1)
		return op_diag_set(
			diag, -EINVAL,
			"%s: a report reads one archive; name one, or compare two with { } { }",
			list->word);
	err = pp_archive_open(&archive, &p->report->arena,
			      list->items[0].pattern, side->session, diag);
	if (err)
		return err;
	side->archive = archive;
	side->session = &archive->session;
	return 0;
}

/* ---- which --------------------------------------------------------------- */

static int name_modules(struct pp_side *side)
{
	int err = 0;

	for (size_t i = 0; i < side->list.nr && !err; i++) {
		struct pp_sample_file *file = &side->list.files[i];
		const struct op_mangle *name = &file->name;

		err = pp_side_name_module(side, &name->app, &file->app) ?:
		      pp_side_name_module(side, &name->dep,
					  &file->image_name) ?:
		      pp_side_name_module(side, &name->cg,
					  &file->callee_name);
	}
	return err;
}

/* ---- the profiler's own samples ------------------------------------------ */

static bool is_own_file(const struct pp_sample_file *file)
{
	return file->name.app.space == OP_SPACE_KERN &&
	       !strcmp(file->name.app.name, OP_SELF_NAME);
}

/*
 * Let all samples of the profiler's own processes be in one image without
 * symbols, so that they are one row of any report. Their calls are not asked
 * about.
 */
static void unite_own_samples(struct pp_sample_list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->nr; i++) {
		struct pp_sample_file *file = &list->files[i];

		file->is_own = is_own_file(file);
		if (file->is_own && pp_is_call_graph(file))
			continue;
		if (file->is_own) {
			file->name.dep = file->name.app;
			file->image_name = file->app;
		}
		list->files[kept++] = *file;
	}
	list->nr = kept;
	kept = 0;
	for (size_t i = 0; i < list->nr_trees; i++)
		if (!is_own_file(&list->trees[i]))
			list->trees[kept++] = list->trees[i];
	list->nr_trees = kept;
}

/* Once the files have been read. */
static int hide_own_samples(struct pp_population *p, struct pp_side *side,
			    struct op_diag *diag)
{
	struct pp_sample_list *list = &side->list;
	bool hides = p->request->select.hide_own;
	uint64_t *hidden = &p->report->missing.hidden_own;
	size_t kept = 0;

	for (size_t i = 0; i < list->nr; i++) {
		struct pp_sample_file *file = &list->files[i];

		if (file->is_own && hides) {
			if (side == &p->side)
				*hidden = pp_add_counts(*hidden, file->total);
			continue;
		}
		if (file->is_own) {
			file->header.kind = OP_IMAGE_PSEUDO;
			file->header.build_id_len = 0;
			file->header.mtime = 0;
		}
		list->files[kept++] = *file;
	}
	list->nr = kept;
	return kept ? 0
		    : op_diag_set(diag, -ENOENT,
				  "all samples are of " OP_SELF_NAME
				  ", which is hidden");
}

/* Whether @file is about the application itself: of calls, at both ends, where
 * @callees are asked about. */
static bool is_about_application(const struct pp_sample_file *file,
				 bool callees)
{
	const char *app = file->app_file ?: file->app;

	return !strcmp(app, file->image_name) &&
	       (!callees || !file->callee_name ||
		!strcmp(app, file->callee_name));
}

/* An archive, which has no symbols, keeps all calls of an application. */
static int drop_dependent(struct pp_sample_list *list,
			  const struct pp_request *request,
			  struct op_diag *diag)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (is_about_application(&list->files[i],
					 request->symbols.wanted))
			list->files[kept++] = list->files[i];
	list->nr = kept;
	if (kept)
		return 0;
	return op_diag_set(
		diag, -ENOENT,
		"no samples in the applications themselves; leave out --exclude-dependent");
}

static int drop_other_images(struct pp_sample_list *list, const char *image,
			     struct op_diag *diag)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(image, list->files[i].image_name))
			list->files[kept++] = list->files[i];
	list->nr = kept;
	return kept ? 0
		    : op_diag_set(diag, -ENOENT,
				  "%s: there are no samples in it", image);
}

/* Whether some of @files is of the session and the event of @file. */
static bool has_same_event(const struct pp_sample_file **files, size_t nr,
			   const struct pp_sample_file *file)
{
	for (size_t i = 0; i < nr; i++)
		if (files[i]->session == file->session &&
		    pp_is_of_event(&files[i]->name, &file->name))
			return true;
	return false;
}

/* Calls come from the trees of a session. Earlier versions wrote arcs of the
 * same calls beside them. */
static int drop_arcs_of_trees(struct pp_population *p,
			      struct pp_sample_list *list)
{
	const struct pp_sample_file **trees;
	size_t nr_trees = 0, kept = 0;

	trees = op_arena_alloc(list->arena, list->nr_trees,
			       sizeof(const struct pp_sample_file *));
	if (!trees)
		return -ENOMEM;
	/* One for each event of each session. */
	for (size_t i = 0; i < list->nr_trees; i++)
		if (!has_same_event(trees, nr_trees, &list->trees[i]))
			trees[nr_trees++] = &list->trees[i];
	for (size_t i = 0; i < list->nr; i++)
		if (!pp_is_call_graph(&list->files[i]) ||
		    !has_same_event(trees, nr_trees, &list->files[i]))
			list->files[kept++] = list->files[i];
	if (kept < list->nr)
		pp_message(
			&p->report->messages, PP_REMARK_STATS,
			"files of arcs that are not read, because call trees have their calls: %zu",
			list->nr - kept);
	list->nr = kept;
	return 0;
}

static int make_time_columns(struct pp_sample_list *list, size_t most,
			     struct op_diag *diag)
{
	struct pp_sessions *sessions = &list->sessions;

	if (!sessions->history.end)
		return op_diag_set(
			diag, -ENOENT,
			"%s: it has no times to show; leave out --over-time, and profile with operf, or opcontrol --setup --history=SIZE",
			sessions->list[0].path);
	return pp_sessions_make_columns(sessions, list->arena, most);
}

static int choose_files(struct pp_population *p, struct pp_side *side,
			struct op_diag *diag)
{
	const struct pp_request *request = p->request;
	struct pp_messages *messages = &p->report->messages;
	int err;

	side->list.arena = &p->report->arena;
	side->list.archive = side->archive;
	side->list.call_graphs = request->calls.wanted;
	side->list.over_time = request->select.over_time;
	side->list.by_label = request->select.by_label;
	err = pp_sample_list_find(&side->list, side->session, side->spec,
				  messages, diag) ?:
	      (unite_own_samples(&side->list), name_modules(side)) ?:
	      pp_sample_list_choose(&side->list, side->spec, messages, diag);
	if (!err && request->select.over_time)
		err = make_time_columns(&side->list,
					request->select.time_columns, diag);
	if (!err && request->select.exclude_dependent)
		err = pp_side_find_app_files(p, side)
			      ?: drop_dependent(&side->list, request, diag);
	if (!err && request->calls.wanted && request->symbols.wanted)
		err = drop_arcs_of_trees(p, &side->list);
	if (!err && request->select.only_image)
		err = drop_other_images(&side->list, request->select.only_image,
					diag);
	return err
		       ?: pp_sample_list_read(
				  &side->list,
				  request->symbols.wanted ||
					  pp_seeks_waits_only(request) ||
					  request->names.inlines ||
					  request->tree.all,
				  messages, diag)
		       ?: hide_own_samples(p, side, diag);
}

/* ---- their images -------------------------------------------------------- */

/* The build in @name or, where an earlier release wrote it, that in the header
 * of the file. */
static const char *build_of(struct op_arena *arena,
			    const struct op_image_name *name,
			    const uint8_t *build_id, uint32_t len,
			    uint64_t mtime)
{
	struct op_build_id id;
	char text[OP_BUILD_TEXT_MAX];

	if (name->build)
		return name->build;
	if (!len && !mtime)
		return "";
	id = op_build_id_of_room(build_id, len);
	op_build_text(text, &id, 0, 0, mtime);
	return op_arena_strdup(arena, text);
}

static int set_builds(struct op_arena *arena, struct pp_sample_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct pp_sample_file *file = &list->files[i];
		const struct op_sample_header *h = &file->header;

		file->build = build_of(arena, &file->name.dep, h->build_id,
				       h->build_id_len, h->mtime);
		file->callee_build =
			build_of(arena, &file->name.cg, h->cg_build_id,
				 h->cg_build_id_len, h->cg_mtime);
		if (!file->build || !file->callee_build)
			return -ENOMEM;
	}
	return 0;
}

/* By image, the builds of one apart, and by application. */
static int compare_sample_files(const void *a, const void *b)
{
	const struct pp_sample_file *x = a, *y = b;

	return strcmp(x->image_name, y->image_name) ?:
	       strcmp(x->build, y->build) ?: strcmp(x->app, y->app) ?:
	       strcmp(x->path, y->path);
}

/* Sort the files by image and application and give each its image. */
static int set_images(struct op_arena *arena, struct pp_sample_list *list)
{
	struct pp_sample_file *files = list->files;

	if (set_builds(arena, list))
		return -ENOMEM;
	qsort(files, list->nr, sizeof(*files), compare_sample_files);
	for (size_t i = 0; i < list->nr; i++) {
		if (i &&
		    !strcmp(files[i].image_name, files[i - 1].image_name) &&
		    !strcmp(files[i].build, files[i - 1].build))
			files[i].image = files[i - 1].image;
		else
			files[i].image =
				pp_image_new(arena, files[i].image_name,
					     &files[i].name.dep, files[i].build,
					     &files[i].header);
		if (!files[i].image)
			return -ENOMEM;
		if (!pp_is_call_graph(&files[i]))
			files[i].image->samples = pp_add_counts(
				files[i].image->samples, files[i].total);
	}
	return 0;
}

int pp_side_add_files(struct pp_side *side, const struct pp_sample_file *files,
		      size_t nr)
{
	struct pp_sample_list *list = &side->list;
	struct pp_sample_file *all =
		op_arena_alloc(list->arena, list->nr + nr, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++)
		all[i] = list->files[i];
	for (size_t i = 0; i < nr; i++)
		all[list->nr + i] = files[i];
	list->files = all;
	list->nr += nr;
	qsort(all, list->nr, sizeof(*all), compare_sample_files);
	return 0;
}

/* Stacks of a thread have a root of their own, and no CPU matters to them. The
 * time of a thread is that on all CPUs. */
unsigned int pp_class_merge(const struct pp_request *request)
{
	if (request->select.threads)
		return request->select.merge | PP_MERGE_SESSION | PP_MERGE_CPU |
		       PP_MERGE_CGROUP;
	if (!request->tree.wanted)
		return request->select.merge;
	return request->select.merge | PP_MERGE_TGID | PP_MERGE_TID |
	       PP_MERGE_CPU | PP_MERGE_CGROUP;
}

/* ---- all of it ----------------------------------------------------------- */

int pp_side_find(struct pp_population *p, struct pp_side *side,
		 struct op_diag *diag)
{
	const struct pp_request *request = p->request;
	struct op_arena *arena = &p->report->arena;
	struct pp_sample_list *list = &side->list;
	int err;

	if (request->lines.wanted)
		side->wants |= PP_WANT_LINES;
	if (request->names.inlines || request->lines.frames)
		side->wants |= PP_WANT_INLINES;
	if (p->request->lines.declarations)
		side->wants |= PP_WANT_DECLARATIONS;
	err = find_session(p, side, diag)
		      ?: pp_locator_init(&side->locator, arena, side->archive,
					 request->images.root,
					 request->images.path, diag);
	err = err
		      ?: pp_locator_add_debug_folder(&side->locator,
						     side->session->store);
	/* An archive is complete, and a report on it the same anywhere. */
	if (!side->archive)
		side->locator.debug.server = request->images.debuginfod;
	err = err ?: choose_files(p, side, diag);
	for (size_t i = 0;
	     !err && request->select.merge & PP_MERGE_LIB && i < list->nr; i++)
		list->files[i].app = list->files[i].image_name;
	err = err ?: pp_arrange(&side->classes, list, pp_class_merge(request),
				request->select.any_axes, request->select.layout,
				request->select.max_columns ?: PP_MANY_COLUMNS, diag) ?:
		     set_images(arena, list);
	if (!err && request->calls.wanted)
		err = pp_side_find_callees(p, side);
	return err ?: pp_side_name_tasks(p, side) ?: pp_side_tell_builds(p, side);
}
