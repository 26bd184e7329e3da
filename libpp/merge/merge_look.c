// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks at one archive: whether its sample files are those that were archived,
 * which labels its sessions have, and how much memory they take. Nothing of an
 * archive is in the sum before all of that is known, so a damaged one is left
 * out as a whole.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libdb/db_folder.h"
#include "libdb/pack.h"
#include "libop/session/op_sample_file.h"
#include "libop/session/op_span.h"
#include "libop/files/op_walk.h"
#include "libpp/merge/merge_work.h"
#include "libpp/select/sample_list.h"

/* Bytes for a file's name in the index of a pack, in ours, and in that of the
 * sum; and for a key or node while it is added up. */
#define MEMORY_OF_SESSION 65536
#define MEMORY_OF_FILE 2048
#define MEMORY_OF_KEY 96

struct look {
	struct merge_work *work;
	struct merge_archive *of;
	struct op_arena arena; /* until the look ends */
	struct pp_archive *archive;
	struct merge_item *items; /* its own, until all are good */
	struct op_labels *labels; /* of each item */
	size_t nr_items;
	bool has_samples;
	struct op_diag why;

	/* the folder under way */
	uint64_t nr_files;
	uint64_t nr_keys; /* of the largest */
	/* the session under way */
	char cpu_type[sizeof(((struct op_sample_header *)0)->cpu_type)];
};

uint64_t merge_memory_of(uint64_t nr, uint64_t nr_keys)
{
	return MEMORY_OF_SESSION + nr * MEMORY_OF_FILE +
	       nr_keys * MEMORY_OF_KEY;
}

/* ---- its sample files ---------------------------------------------------- */

/* Events of several CPU types in one session are told apart by nothing. */
static void note_cpu_type(struct look *look, const void *user)
{
	struct op_sample_header header;

	memcpy(&header, user, sizeof(header));
	/* One that was made and never counted in has no header yet. */
	if (op_sample_header_check(&header, "", NULL))
		return;
	if (!*look->cpu_type)
		strcpy(look->cpu_type, header.cpu_type);
	else if (strcmp(look->cpu_type, header.cpu_type) != 0)
		strcpy(look->cpu_type, "several");
}

static int look_at_member(const struct db_member *member, void *ctx)
{
	struct look *look = ctx;
	uint64_t user[ODB_USER_SIZE / 8], nr_keys;
	struct stat st;

	if (member->entry) {
		note_cpu_type(look, member->entry->user);
		nr_keys = member->entry->nr;
	} else {
		if (stat(member->path, &st))
			return -errno;
		/* Damage of this file is found when it is added up. */
		if (!odb_peek(member->path, user))
			note_cpu_type(look, user);
		nr_keys = (uint64_t)st.st_size / 16;
	}
	look->nr_files++;
	if (nr_keys > look->nr_keys)
		look->nr_keys = nr_keys;
	return 0;
}

static int refuse_unlisted_folder(const char *path, int err, void *ctx)
{
	struct look *look = ctx;

	return op_diag_set(&look->why, err, "%s: %s", path, strerror(-err));
}

static int look_at_members(struct look *look, const char *path)
{
	const struct db_visitor visitor = { .member = look_at_member,
					    .unlisted = refuse_unlisted_folder,
					    .ctx = look };
	struct db_folder *folder;
	int err = db_folder_open(&folder, path);

	if (err)
		return op_diag_set(&look->why, err, "%s: %s", path,
				   strerror(-err));
	look->nr_files = look->nr_keys = 0;
	err = db_folder_pack_error(folder);
	if (!err && db_folder_pack_is_recovered(folder))
		err = -EBADMSG;
	if (err)
		op_diag_set(&look->why, err, "%s: %s",
			    db_folder_pack_path(folder),
			    pp_why_not_opened(err));
	else
		err = db_folder_each(folder, &visitor);
	db_folder_close(folder);
	return err;
}

/* A session has no links, and one may lead to files of others. */
static int refuse_link(const struct op_walk_entry *entry, void *ctx)
{
	struct look *look = ctx;

	if (entry->kind != OP_WALK_OTHER)
		return 0;
	return op_diag_set(&look->why, -EXDEV, "%s: it is not a regular file",
			   entry->path);
}

static int check_session_links(struct look *look, const char *path)
{
	int err = pp_archive_check_place(look->archive, path);

	if (err)
		return op_diag_set(&look->why, err, "%s: %s", path,
				   pp_archive_refusal(err));
	return op_walk(path, refuse_link, look);
}

/* Whether all that was archived below @path is there as it was. */
static int check_session_files(struct look *look, const char *path)
{
	const struct pp_archive *archive = look->archive;
	const char *name = pp_archive_name(archive, path);
	char *start = op_arena_printf(&look->arena, "%s/", name);
	const struct pp_sum *sum;
	size_t nr;
	int err = 0;

	if (!start)
		return -ENOMEM;
	sum = pp_sums_below(&archive->sums, start, &nr);
	for (; nr && !err; nr--, sum++) {
		const char *file = op_arena_printf(&look->arena, "%s/%s",
						   archive->root, sum->name);

		err = file ? pp_archive_check(archive, file) : -ENOMEM;
		if (err && err != -ENOMEM)
			op_diag_set(&look->why, err, "%s: %s", file,
				    err == -ENOENT ? "it is missing"
						   : pp_why_not_opened(err));
	}
	return err;
}

/* ---- its sessions -------------------------------------------------------- */

static int read_item_labels(struct look *look, const char *path,
			    struct op_labels *labels)
{
	char *file = op_arena_printf(&look->arena, "%s/" OP_LABELS_FILE, path);
	int err = file ? op_labels_read(labels, file, &look->why) : -ENOMEM;

	if (err == -ENOENT)
		err = 0;
	/* The samples say it better. */
	op_labels_drop(labels, OP_LABEL_CPU);
	if (!err && *look->cpu_type)
		err = op_labels_set(labels, OP_LABEL_CPU, look->cpu_type);
	return err;
}

static int add_item(struct look *look, const char *path)
{
	struct merge_item *items = op_arena_grow(
		&look->arena, look->items, look->nr_items, sizeof(*items));
	struct op_labels *labels = op_arena_grow(
		&look->arena, look->labels, look->nr_items, sizeof(*labels));

	if (!items || !labels)
		return -ENOMEM;
	look->items = items;
	look->labels = labels;
	labels[look->nr_items] = (struct op_labels){ 0 };
	items[look->nr_items++] = (struct merge_item){
		.path = path,
		.memory = merge_memory_of(look->nr_files, look->nr_keys),
	};
	return 0;
}

/* A session, or a span of its history. One without samples may have an account:
 * @alone, that counts only beside others. */
static int look_at_folder(struct look *look, const char *path, bool alone)
{
	char *ledger = op_arena_printf(&look->arena, "%s/ledger", path);
	int err = ledger ? look_at_members(look, path) : -ENOMEM;

	look->has_samples |= look->nr_files > 0;
	if (err || (!look->nr_files && (alone || access(ledger, F_OK))))
		return err;
	return add_item(look, path);
}

/* The spans of a session's history, which have its labels. In the sum nobody
 * asks when, nor what was dropped before. */
static int look_at_spans(struct look *look, const char *path,
			 const struct op_span *spans, size_t nr)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		const struct op_span *span = &spans[i];
		char name[OP_SPAN_NAME_MAX];
		char *folder;

		if (!op_span_counts(span))
			continue;
		op_span_name(span, name);
		folder = op_arena_printf(&look->arena, "%s/%s", path, name);
		err = folder ? look_at_folder(look, folder, false) : -ENOMEM;
	}
	return err;
}

static int look_at_session(struct look *look, const char *name)
{
	const char *path = op_arena_printf(
		&look->arena, "%s/%s", look->archive->session.samples, name);
	size_t first = look->nr_items, nr = 0;
	struct op_span *spans = NULL;
	int err = path ? check_session_links(look, path)
				  ?: check_session_files(look, path)
		       : -ENOMEM;

	*look->cpu_type = '\0';
	if (!err)
		err = op_spans_list(path, &spans, &nr)
			      ?: look_at_spans(look, path, spans, nr)
			      ?: look_at_folder(look, path, !nr);
	free(spans);
	for (size_t i = first; i < look->nr_items && !err; i++)
		err = read_item_labels(look, path, &look->labels[i]);
	return err;
}

static int look_at_sessions(struct look *look)
{
	const char *const *names = NULL;
	size_t nr;
	int err = pp_archive_sessions(look->archive, &look->arena, &names, &nr);

	for (size_t i = 0; i < nr && !err; i++)
		err = look_at_session(look, names[i]);
	if (!err && !look->has_samples)
		err = op_diag_set(&look->why, -ENOENT, "it holds no samples");
	return err;
}

/* Hand what was found to the merge; with the lock. */
static int add_items(struct look *look)
{
	struct merge_work *work = look->work;
	struct op_arena *arena = &work->merge->arena;
	int err = 0;

	for (size_t i = 0; i < look->nr_items && !err; i++) {
		struct merge_item *more = op_arena_grow(
			arena, work->items, work->nr_items, sizeof(*more));

		if (!more)
			return -ENOMEM;
		work->items = more;
		more += work->nr_items;
		*more = look->items[i];
		more->archive = look->of;
		more->path = op_arena_strdup(arena, look->items[i].path);
		err = more->path
			      ? merge_set_of(work, &look->labels[i], &more->set)
			      : -ENOMEM;
		work->nr_items += !err;
	}
	return err;
}

/* ---- the archive --------------------------------------------------------- */

int merge_open(const struct merge_work *work, const char *root,
	       struct op_arena *arena, struct pp_archive **archive,
	       struct op_diag *why)
{
	int err = pp_archive_open(archive, arena, root, &work->asked, why);

	if (!err && !(*archive)->events)
		err = op_diag_set(
			why, -ENOENT,
			"it has no " PP_ARCHIVE_FACTS
			"; it is not of oparchive, or of OProfile 1.4 or older");
	return err;
}

int merge_look_at(struct merge_work *work, size_t i, unsigned int thread)
{
	struct look look = { .work = work, .of = &work->archives[i] };
	int err;

	(void)thread;
	if (look.of->is_left_out)
		return 0;
	op_arena_init(&look.arena);
	err = merge_open(work, look.of->path, &look.arena, &look.archive,
			 &look.why)
		      ?: look_at_sessions(&look);
	if (!err) {
		pthread_mutex_lock(&work->lock);
		err = add_items(&look);
		pthread_mutex_unlock(&work->lock);
	}
	for (size_t k = 0; k < look.nr_items; k++)
		op_labels_release(&look.labels[k]);
	op_arena_release(&look.arena);
	if (err == -ENOMEM)
		return err;
	if (err)
		merge_leave_out(work, look.of, err, &look.why);
	return 0;
}
