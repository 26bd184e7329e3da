// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of an archive is made with the functions that find files for a
 * report (pp_side_find(), pp_image_symbols_open()), so that a report on the
 * archive misses nothing: the sample files and trees that are asked for, the
 * images in them with their debug files, the kernel's symbols, ledgers and
 * logs, the event files, and with --with-sources the source files.
 *
 * Each file has a place in the archive, where a report will look for it: its
 * path here, unless that comes from --root, or from an archive that is
 * archived again. Several images may share a file, so the list is made without
 * looking, and doubles are dropped at the end.
 */

#include "libpp/archive/archive_list.h"
#include "libdb/timeline.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libop/image/op_build_id.h"
#include "libop/events/op_events.h"
#include "libop/image/op_perf_map.h"
#include "libop/base/op_plural.h"
#include "libop/base/op_search.h"
#include "libpp/archive/archive_labels.h"
#include "libpp/archive/archive_samples.h"
#include "libpp/images/image_symbols.h"
#include "libpp/tree/tree_input.h"

/* The state that the functions of this file share. */
struct search {
	struct pp_archive_list *list;
	const struct pp_archive_request *request;
	struct pp_request report; /* what finds all that it can */
	struct pp_population population;
	struct pp_side *side;
	struct pp_archive_samples samples; /* that are asked for */
	struct pp_messages quiet; /* what was said before */
	struct op_diag *diag;
};

/* ---- the list ------------------------------------------------------------ */

/* The session is its sample files; the rest is for their names. */
static int cannot_look_at(struct search *s, enum pp_archive_part part,
			  const char *from, int err)
{
	if (part == PP_ARCHIVE_SAMPLES || part == PP_ARCHIVE_TREES)
		return op_diag_set(s->diag, err, "%s: cannot be read: %s", from,
				   strerror(-err));
	pp_message_of_error(&s->list->report.messages, err,
			    "%s: cannot be read: %s; the archive is without it",
			    from, strerror(-err));
	return 0;
}

/*
 * Add the file @from, which was called @name. One that is not there, or is no
 * file, is not an error here: those who need it report it.
 */
static int archive_file(struct search *s, enum pp_archive_part part,
			const char *from, const char *name)
{
	struct pp_archive_list *list = s->list;
	struct pp_archive_file *files;
	struct stat st;

	if (stat(from, &st))
		return pp_is_fault(-errno)
			       ? cannot_look_at(s, part, from, -errno)
			       : 0;
	if (!S_ISREG(st.st_mode))
		return 0;
	files = op_arena_grow(&list->report.arena, list->files, list->nr,
			      sizeof(*files));
	if (!files)
		return -ENOMEM;
	list->files = files;
	files += list->nr;
	*files = (struct pp_archive_file){
		.from = op_arena_strdup(&list->report.arena, from),
		.to = op_arena_strdup(&list->report.arena,
				      name + strspn(name, "/")),
		.part = part,
		.size = (uint64_t)st.st_size,
	};
	if (!files->from || !files->to)
		return -ENOMEM;
	list->nr++;
	return 0;
}

/* Add a file of the session, or of an archive that is archived again. */
static int archive_file_at_home(struct search *s, enum pp_archive_part part,
				const char *from)
{
	return archive_file(s, part, from,
			    pp_locate_home(&s->side->locator, from));
}

static int compare_destinations(const void *a, const void *b)
{
	const struct pp_archive_file *const *x = a, *const *y = b;

	return strcmp((*x)->to, (*y)->to)
		       ?: op_compare((uintptr_t)*x, (uintptr_t)*y);
}

/* Several images may share a debug file, and all share the events. */
static int drop_double_files(struct pp_archive_list *list)
{
	const struct pp_archive_file **order = NULL;
	size_t kept = 0;

	order = calloc(list->nr + 1, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < list->nr; i++)
		order[i] = &list->files[i];
	qsort(order, list->nr, sizeof(*order), compare_destinations);
	for (size_t i = 1; i < list->nr; i++)
		if (!strcmp(order[i]->to, order[i - 1]->to))
			list->files[order[i] - list->files].from = NULL;
	free(order);
	for (size_t i = 0; i < list->nr; i++)
		if (list->files[i].from)
			list->files[kept++] = list->files[i];
	list->nr = kept;
	for (size_t i = 0; i < kept; i++)
		list->size += list->files[i].size;
	return 0;
}

/* ---- paths --------------------------------------------------------------- */

/* Without components "." and empty ones. */
static void clean_path(char *path)
{
	char *to = path;

	while (*path) {
		size_t len;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len && (len > 1 || *path != '.')) {
			*to++ = '/';
			to = memmove(to, path, len);
			to += len;
		}
		path += len;
	}
	*to = '\0';
}

/* @path as an absolute one that stays as it was given where it can: modules
 * are shown under it. */
static const char *absolute(struct op_arena *arena, const char *path)
{
	size_t len = strlen(path);
	char *copy, *real;

	if (*path == '/' && !strstr(path, "/../") &&
	    !(len >= 3 && !strcmp(path + len - 3, "/.."))) {
		copy = op_arena_strdup(arena, path);
		if (copy)
			clean_path(copy);
		return copy;
	}
	real = realpath(path, NULL);
	copy = op_arena_strdup(arena, real ? real : path);
	free(real);
	return copy;
}

/* Where to look for binaries, as absolute paths. */
static int set_paths(struct search *s)
{
	struct op_arena *arena = &s->list->report.arena;
	const char *const *asked = s->request->image_path;
	const char **list;
	size_t nr = 0;

	if (s->request->root) {
		s->report.images.root = absolute(arena, s->request->root);
		if (!s->report.images.root)
			return -ENOMEM;
	}
	while (asked && asked[nr])
		nr++;
	if (!nr)
		return 0;
	list = op_arena_alloc(arena, nr + 1, sizeof(*list));
	for (size_t i = 0; list && i < nr; i++) {
		list[i] = absolute(arena, asked[i]);
		if (!list[i])
			return -ENOMEM;
	}
	s->report.images.path = list;
	return list ? 0 : -ENOMEM;
}

/* Record the path of the session, as the archive has it, and the folders that
 * images were looked for in. */
static int record_paths(struct search *s)
{
	const struct pp_locator *locator = &s->side->locator;
	struct op_arena *arena = &s->list->report.arena;
	const char **list;
	size_t nr = 0;

	s->list->session = op_arena_strdup(
		arena, pp_locate_home(locator, s->side->session->dir));
	while (locator->image_path && locator->image_path[nr])
		nr++;
	list = op_arena_alloc(arena, nr + 1, sizeof(*list));
	if (!s->list->session || !list)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		list[i] = pp_locate_home(locator, locator->image_path[i]);
	s->list->image_path = list;
	return 0;
}

/* ---- images -------------------------------------------------------------- */

/* A copy of perf's is called as one of the session's own would be. */
static const char *place_of_perf_copy(const struct search *s,
				      const struct pp_image *image)
{
	const struct op_session *session = s->side->session;
	char path[8192];

	if (op_session_image(session, image->path, &image->build_id,
			     image->mtime, path, sizeof(path)))
		return NULL;
	return op_arena_strdup(&s->list->report.arena,
			       pp_locate_home(&s->side->locator, path));
}

/*
 * The place in the archive of the file @path of @image: where a report on the
 * archive will look for it. That is the name of the image, or a debug folder,
 * both without --root in front, or it is in the image path.
 */
static const char *image_place(const struct search *s,
			       const struct pp_image *image, const char *path)
{
	const char *root = s->report.images.root ? s->report.images.root : "";
	size_t len = strlen(root);
	const char *rest = path + len;

	if (len && !strncmp(path, root, len) && *rest == '/' &&
	    (!strcmp(rest, image->path) ||
	     !strncmp(rest, "/usr/lib/debug/", 15)))
		return rest;
	return pp_locate_home(&s->side->locator, path);
}

static const char *place_of_build(struct op_arena *arena, const uint8_t *id,
				  size_t len)
{
	char hex[OP_BUILD_TEXT_MAX];

	op_build_id_text(id, len, hex);
	return op_arena_printf(arena, "/usr/lib/debug/.build-id/%.2s/%s.debug",
			       hex, hex + 2);
}

/* Archive the file that debug files share, which is found by its own build-id.
 */
static int archive_shared_file(struct search *s,
			       struct pp_image_symbols *symbols)
{
	const uint8_t *id;
	size_t len;
	const char *path = op_bfd_shared_path(symbols->bfd, &id, &len);
	const char *place;

	if (!path)
		return 0;
	place = place_of_build(&s->list->report.arena, id, len);
	return place ? archive_file(s, PP_ARCHIVE_DEBUG, path, place) : -ENOMEM;
}

/*
 * A debug file is found by its name in a folder beside the binary @image, if
 * the binary names it, else by the build-id of the binary.
 */
static int archive_debug_file(struct search *s,
			      struct pp_image_symbols *symbols,
			      const char *image)
{
	struct op_arena *arena = &s->list->report.arena;
	const char *path = op_bfd_debug_path(symbols->bfd), *base, *place;
	const char *by_build;
	char *name;
	size_t len;
	const uint8_t *id = op_bfd_build_id(symbols->bfd, &len);

	base = path ? strrchr(path, '/') : NULL;
	if (!base)
		return 0;
	name = op_bfd_debug_name(symbols->bfd, NULL);
	by_build = strstr(path, "/.build-id/");
	if (id && by_build)
		/* The name may have the fingerprint. */
		place = op_arena_printf(arena, "/usr/lib/debug%s", by_build);
	else if (id && (!name || strcmp(name, base + 1)))
		place = place_of_build(arena, id, len);
	else
		place = op_arena_printf(arena, "%.*s/.debug%s",
					(int)(strrchr(image, '/') - image),
					image, base);
	free(name);
	return place ? archive_file(s, PP_ARCHIVE_DEBUG, path, place) : -ENOMEM;
}

static int archive_image(struct search *s, const struct pp_image *image,
			 bool lines, struct pp_messages *messages)
{
	struct pp_image_symbols symbols;
	int err = pp_image_symbols_open(&symbols, image, s->side->session,
					&s->side->locator,
					lines ? PP_WANT_LINES : 0, messages);

	if (!err && symbols.bfd) {
		const char *place =
			symbols.is_perf_copy
				? place_of_perf_copy(s, image)
				: image_place(s, image, symbols.path);

		err = !place ? -ENOMEM : 0;
		err = err ?: archive_file(s, PP_ARCHIVE_IMAGE, symbols.path, place)
			      ?: archive_debug_file(s, &symbols, place)
			      ?: archive_shared_file(s, &symbols);
	}
	pp_image_symbols_release(&symbols);
	return err;
}

/*
 * Lines of the kernel come from another file than its symbols; and the session
 * has a snapshot of these, which is archived even where the kernel's binary is
 * at hand, because a report may do without that.
 */
static int archive_files_of_image(struct search *s,
				  const struct pp_image *image)
{
	char path[8192];
	int err = archive_image(s, image, false, &s->list->report.messages);

	if (!err && image->recorded.space == OP_SPACE_ANON &&
	    !op_perf_map_path(path, sizeof(path), s->side->session->images,
			      image->recorded.tgid))
		return archive_file_at_home(s, PP_ARCHIVE_SESSION, path);
	if (err || image->recorded.space != OP_SPACE_KERN)
		return err;
	err = archive_image(s, image, true, &s->quiet);
	if (err || op_ksyms_path(path, sizeof(path), s->side->session->symbols,
				 image->recorded.name, &image->build_id))
		return err;
	return archive_file_at_home(s, PP_ARCHIVE_SESSION, path);
}

struct images {
	const struct pp_image **list;
	size_t nr;
};

static int note_image(struct search *s, struct images *images,
		      const struct pp_image *image)
{
	const struct pp_image **more;

	if (images->nr && images->list[images->nr - 1] == image)
		return 0;
	more = op_arena_grow(&s->list->report.arena, (void *)images->list,
			     images->nr, sizeof(*more));
	if (!more)
		return -ENOMEM;
	images->list = more;
	more[images->nr++] = image;
	return 0;
}

/* A tree is that of an application: it may hold nothing that is asked for. */
static int note_tree(struct search *s, struct images *images,
		     const struct pp_tree_input *input)
{
	uint32_t nr = ctree_nr_images(input->tree);
	bool is_chosen = false;
	int err;

	for (uint32_t i = 0; i < nr; i++)
		is_chosen |= input->images[i].is_chosen;
	if (!is_chosen)
		return 0;
	err = pp_archive_samples_add(&s->samples, PP_ARCHIVE_TREES,
				     input->file->session, input->part);
	for (uint32_t i = 0; i < nr && !err; i++)
		err = note_image(s, images, input->images[i].image);
	return err;
}

/* Note the images in call trees, which may have no samples of their own. */
static int note_tree_images(struct search *s, struct images *images)
{
	struct pp_tree_inputs in;
	int err = pp_tree_inputs_read(&in, &s->population, s->side);

	for (size_t i = 0; i < in.nr && !err; i++)
		err = note_tree(s, images, &in.list[i]);
	pp_tree_inputs_release(&in);
	return err;
}

static int compare_archived_images(const void *a, const void *b)
{
	const struct pp_image *const *pa = a, *const *pb = b;
	const struct pp_image *x = *pa, *y = *pb;

	return strcmp(x->name, y->name) ?: op_compare(x->kind, y->kind) ?:
	       memcmp(x->build_id.bytes, y->build_id.bytes,
		      sizeof(x->build_id.bytes)) ?:
	       op_compare(x->mtime, y->mtime);
}

static int archive_images(struct search *s)
{
	const struct pp_sample_list *samples = &s->side->list;
	struct images images = { 0 };
	int err = 0;

	for (size_t i = 0; i < samples->nr && !err; i++) {
		err = note_image(s, &images, samples->files[i].image);
		if (!err && samples->files[i].callee)
			err = note_image(s, &images, samples->files[i].callee);
	}
	if (!err)
		err = note_tree_images(s, &images);
	if (images.nr)
		qsort((void *)images.list, images.nr, sizeof(*images.list),
		      compare_archived_images);
	for (size_t i = 0; i < images.nr && !s->request->samples_only && !err;
	     i++)
		if (!i || compare_archived_images(&images.list[i - 1],
						  &images.list[i]))
			err = archive_files_of_image(s, images.list[i]);
	return err;
}

/* ---- the session --------------------------------------------------------- */

/* @path lies in the session folder @folder, which may have been named in a way
 * that holds for the current folder only. */
static int archive_file_of_session(struct search *s, enum pp_archive_part part,
				   const char *folder, const char *path)
{
	struct op_arena *arena = &s->list->report.arena;
	const char *whole = absolute(arena, folder);

	if (whole)
		whole = op_arena_printf(arena, "%s%s", whole,
					path + strlen(folder));
	return whole ? archive_file(s, part, path,
				    pp_locate_home(&s->side->locator, whole))
		     : -ENOMEM;
}

static int archive_samples(struct search *s)
{
	struct pp_archive_samples *samples = &s->samples;
	const struct pp_sample_list *list = &s->side->list;
	int err = 0;

	for (size_t i = 0; i < list->nr; i++)
		for (const struct pp_sample_part *part = list->files[i].parts;
		     part && !err; part = part->next)
			err = pp_archive_samples_add(samples,
						     PP_ARCHIVE_SAMPLES,
						     list->files[i].session,
						     part);
	pp_archive_samples_sort(samples);
	for (size_t i = 0; i < samples->nr_packs && !err; i++) {
		const struct pp_archive_pack *pack = &samples->packs[i];
		size_t nr = s->list->nr;

		err = archive_file_of_session(
			s, PP_ARCHIVE_SAMPLES, pack->session->path,
			db_folder_pack_path(pack->session->folder));
		if (!err && s->list->nr > nr)
			s->list->files[nr].pack = pack;
	}
	for (size_t i = 0; i < samples->nr_loose && !err; i++)
		err = archive_file_of_session(s, samples->loose[i].kind,
					      samples->loose[i].session->path,
					      samples->loose[i].path);
	return err;
}

/* The account of what the history of @session has dropped. */
static int archive_dropped(struct search *s, const struct pp_session *session)
{
	const char *path;

	if (!session->dropped)
		return 0;
	path = op_arena_printf(&s->list->report.arena, "%s/ledger",
			       session->dropped);
	return path ? archive_file_of_session(s, PP_ARCHIVE_SESSION,
					      session->dropped, path)
		    : -ENOMEM;
}

/* Archive the files of a session that are beside its samples: the account, the
 * names of threads, and the time line. */
static int archive_ledgers(struct search *s)
{
	static const char *const names[] = { "ledger", "tasks", TIMELINE_FILE };
	const size_t nr_names = sizeof(names) / sizeof(names[0]);
	const struct pp_sample_list *samples = &s->side->list;
	int err = 0;

	for (size_t i = 0; i < nr_names * samples->sessions.nr && !err; i++) {
		const struct pp_session *session =
			&samples->sessions.list[i / nr_names];
		const char *folder = session->path;
		const char *path =
			op_arena_printf(&s->list->report.arena, "%s/%s", folder,
					names[i % nr_names]);

		if (session->is_sliced)
			return op_diag_set(
				s->diag, -EINVAL,
				"time: an archive has all times of %s; leave it out here, and choose times of the archive",
				folder);
		if (session->is_left_out)
			continue;
		err = path ? archive_file_of_session(s, PP_ARCHIVE_SESSION,
						     folder, path)
			   : -ENOMEM;
	}
	for (size_t i = 0; i < samples->sessions.nr && !err; i++)
		err = archive_dropped(s, &samples->sessions.list[i]);
	return err;
}

/* Find the labels of the session at @folder. A session that has none, and is in
 * no archive, gets those of the machine that it is archived on. */
static int find_labels(struct search *s, const char *folder,
		       struct op_labels *labels)
{
	const struct pp_archive *archive = s->side->archive;
	const struct op_labels *more = s->request->labels;
	char *path = op_arena_printf(&s->list->report.arena,
				     "%s/" OP_LABELS_FILE, folder);
	int err = -ENOMEM;

	if (path)
		err = pp_archive_check(archive, path);
	if (pp_archive_refusal(err))
		return op_diag_set(s->diag, err,
				   "%s: %s; archive the session again", path,
				   pp_archive_refusal(err));
	if (!err)
		err = op_labels_read(labels, path, s->diag);
	if (err == -ENOENT)
		err = archive ? 0
			      : pp_labels_of_machine(labels,
						     &s->list->report.messages);
	for (size_t i = 0; more && i < more->nr && !err; i++)
		err = op_labels_set(labels, more->list[i].key,
				    more->list[i].value);
	return err;
}

static int archive_labels_of(struct search *s, const char *folder)
{
	struct pp_archive_list *list = s->list;
	struct op_arena *arena = &list->report.arena;
	struct pp_archive_labels *labels = op_arena_grow(
		arena, list->labels, list->nr_labels, sizeof(*labels));
	const char *whole = absolute(arena, folder), *home;
	int err;

	if (!labels || !whole)
		return -ENOMEM;
	list->labels = labels;
	labels += list->nr_labels;
	*labels = (struct pp_archive_labels){ 0 };
	home = pp_locate_home(&s->side->locator, whole);
	labels->to = op_arena_printf(arena, "%s/" OP_LABELS_FILE,
				     home + strspn(home, "/"));
	if (!labels->to)
		return -ENOMEM;
	err = find_labels(s, folder, &labels->labels);
	if (err || !labels->labels.nr)
		op_labels_release(&labels->labels);
	else
		list->nr_labels++;
	return err;
}

static int archive_labels(struct search *s)
{
	const struct pp_sessions *sessions = &s->side->list.sessions;
	int err = 0;

	/* Spans have those of their session. */
	for (size_t i = 0; i < sessions->nr && !err; i++)
		if (!sessions->list[i].is_span)
			err = archive_labels_of(s, sessions->list[i].path);
	return err;
}

static int archive_logs(struct search *s)
{
	static const char *const names[] = { "/abi", "/samples/oprofiled.log",
					     "/samples/operf.log" };
	int err = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) &&
			   !s->request->samples_only && !err;
	     i++) {
		const char *path =
			op_arena_printf(&s->list->report.arena, "%s%s",
					s->side->session->dir, names[i]);

		err = path ? archive_file_at_home(s, PP_ARCHIVE_SESSION, path)
			   : -ENOMEM;
	}
	return err;
}

/* ---- the events ---------------------------------------------------------- */

/* The event files in folder @dir for a CPU type: first its description, then
 * the files that it includes. */
static int archive_events_of_cpu(struct search *s, const char *dir,
				 const char *cpu_type)
{
	struct op_arena *arena = &s->list->report.arena;
	struct op_events *events;
	int err = 0;

	/* A type that is not described here is not described there. */
	if (op_events_load(&events, dir, cpu_type, NULL))
		return 0;
	for (size_t i = 0; i <= events->nr_paths && !err; i++) {
		const char *path =
			i ? events->paths[i - 1]
			  : op_arena_printf(arena, "%s/%s/cpu", dir, cpu_type);
		const char *place =
			path ? op_arena_printf(arena, PP_ARCHIVE_EVENTS "%s",
					       path + strlen(dir))
			     : NULL;

		err = place ? archive_file(s, PP_ARCHIVE_OWN, path, place)
			    : -ENOMEM;
	}
	op_events_free(events);
	return err;
}

/* Each type once: there are as many as kinds of machines. */
static int archive_events(struct search *s)
{
	const struct pp_archive *archive = s->side->archive;
	const struct pp_sample_list *samples = &s->side->list;
	const char *last = "";
	char *dir = NULL;
	int err = 0;

	if (archive && archive->events)
		dir = strdup(archive->events);
	else if (op_events_dir(&dir, NULL))
		return 0;
	if (!dir)
		return -ENOMEM;
	for (size_t i = 0; i < samples->nr && !err; i++) {
		const char *type = samples->files[i].header.cpu_type;

		if (strcmp(type, last))
			err = archive_events_of_cpu(s, dir, type);
		last = type;
	}
	free(dir);
	return err;
}

/* ---- the sources --------------------------------------------------------- */

struct names {
	const char **list;
	size_t nr;
};

static int note_source(struct search *s, struct names *names, const char *name)
{
	const char **more;

	/* Neighbours are mostly of one file. */
	if (!name || (names->nr && !strcmp(names->list[names->nr - 1], name)))
		return 0;
	more = op_arena_grow(&s->list->report.arena, names->list, names->nr,
			     sizeof(*more));
	if (!more)
		return -ENOMEM;
	names->list = more;
	more[names->nr++] = name;
	return 0;
}

static int compare_source_names(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static int list_sources(struct search *s, const struct pp_report *report,
			struct names *names)
{
	int err = 0;

	for (size_t i = 0; i < report->symbols.nr && !err; i++) {
		const struct pp_symbol_entry *entry = &report->symbols.list[i];

		err = note_source(s, names, entry->place.file);
		for (size_t k = 0; k < entry->nr_details && !err; k++)
			err = note_source(s, names,
					  entry->details[k].place.file);
	}
	if (names->nr)
		qsort(names->list, names->nr, sizeof(*names->list),
		      compare_source_names);
	return err;
}

static int archive_sources_of_report(struct search *s,
				     const struct pp_report *report)
{
	struct names names = { 0 };
	size_t missing = 0;
	const char *first = NULL, *path;
	int err = list_sources(s, report, &names);

	for (size_t i = 0; i < names.nr && !err; i++) {
		if (i && !strcmp(names.list[i], names.list[i - 1]))
			continue;
		err = pp_locate_source(&s->side->locator, names.list[i], &path);
		if (!err)
			err = archive_file(s, PP_ARCHIVE_SOURCE, path,
					   names.list[i]);
		else if (pp_is_fault(err) && err != -ENOMEM)
			err = cannot_look_at(s, PP_ARCHIVE_SOURCE,
					     names.list[i], err);
		else if (err != -ENOMEM) {
			first = first ? first : names.list[i];
			missing++;
			err = 0;
		}
	}
	if (missing)
		pp_message(
			&s->list->report.messages, PP_WARNING,
			"%zu source file%s cannot be found, the first: %s; annotations will lack them",
			missing, op_plural(missing),
			op_arena_strdup(&s->list->report.arena, first));
	return err;
}

/* Archive the source files in which a report finds lines. */
static int archive_sources(struct search *s)
{
	struct pp_request request = s->report;
	struct pp_report *report;
	int err;

	if (!s->request->sources)
		return 0;
	request.calls.wanted = false;
	request.symbols.wanted = true;
	request.symbols.details = true;
	request.lines.wanted = true;
	err = pp_report_new(&report, &request, s->diag);
	if (!err) {
		pp_take_faults(&s->list->report.messages, &report->messages);
		err = archive_sources_of_report(s, report);
	}
	pp_report_free(report);
	return err;
}

/* ---- all of it ----------------------------------------------------------- */

static int list_archive(struct search *s)
{
	int err =
		set_paths(s) ?: pp_side_find(&s->population, s->side, s->diag);

	s->list->sessions = s->side->list.sessions;
	return err ?: archive_images(s) ?: archive_sources(s) ?:
		      archive_samples(s) ?: archive_ledgers(s) ?:
		      archive_labels(s) ?: archive_logs(s) ?: archive_events(s) ?:
		      record_paths(s) ?: drop_double_files(s->list);
}

int pp_archive_list_new(struct pp_archive_list **out,
			const struct pp_archive_request *request,
			struct op_diag *diag)
{
	struct pp_archive_list *list = calloc(1, sizeof(*list));
	struct search s = { .list = list, .request = request, .diag = diag };
	int err;

	*out = list;
	if (!list)
		return op_out_of_memory(diag);
	op_arena_init(&list->report.arena);
	list->report.messages.arena = &list->report.arena;
	s.quiet.arena = &list->report.arena;
	s.samples.arena = &list->report.arena;
	s.report = (struct pp_request){
		.select = { .session = request->session,
			    .spec = request->spec,
			    .exclude_dependent = request->exclude_dependent,
			    .merge = PP_MERGE_SESSION | PP_MERGE_CPU |
				     PP_MERGE_TGID | PP_MERGE_TID,
			    .any_axes = true },
		.images.debuginfod = request->debuginfod,
		.calls.wanted = true,
	};
	s.population.report = &list->report;
	s.population.request = &s.report;
	s.side = &s.population.side;
	s.side->spec = request->spec;
	err = list_archive(&s);
	return err ? op_diag_set(diag, err, "%s", strerror(-err)) : 0;
}

void pp_archive_list_free(struct pp_archive_list *list)
{
	if (!list)
		return;
	pp_sessions_close(&list->sessions);
	for (size_t i = 0; i < list->nr_labels; i++)
		op_labels_release(&list->labels[i].labels);
	op_arena_release(&list->report.arena);
	free(list);
}
