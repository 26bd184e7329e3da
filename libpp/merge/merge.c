// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merges archives: looks at all, adds their sessions up, and makes an archive
 * of that. merge_work.h tells how the work is divided.
 */

#include "libpp/merge/merge.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libdb/db_folder.h"
#include "libop/files/op_config.h"
#include "libop/files/op_folder.h"
#include "libop/files/op_remove.h"
#include "libpp/merge/merge_work.h"

/* ---- which archives ------------------------------------------------------ */

static int compare_archives(const void *a, const void *b)
{
	const struct merge_archive *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* An archive that does not exist is handled like a damaged one. */
static int note_archive(struct merge_work *work, const char *path)
{
	struct merge_archive *archive = &work->archives[work->nr_archives++];
	char *real = realpath(path, NULL);
	struct op_diag why = { 0 };
	int err = real ? 0 : -errno;

	archive->path = op_arena_strdup(&work->merge->arena, real ?: path);
	free(real);
	if (!archive->path)
		return -ENOMEM;
	if (err)
		merge_leave_out(work, archive, err, &why);
	return 0;
}

/* An archive that is named twice would count twice. */
static int list_archives(struct merge_work *work)
{
	const struct pp_merge_request *request = work->request;
	size_t kept = 0;
	int err = 0;

	work->archives = op_arena_alloc(&work->merge->arena, request->nr,
					sizeof(*work->archives));
	if (request->nr && !work->archives)
		return -ENOMEM;
	for (size_t i = 0; i < request->nr && !err; i++)
		err = note_archive(work, request->archives[i]);
	if (work->nr_archives)
		qsort(work->archives, work->nr_archives,
		      sizeof(*work->archives), compare_archives);
	for (size_t i = 0; i < work->nr_archives; i++)
		if (kept && !compare_archives(&work->archives[i],
					      &work->archives[kept - 1]))
			pp_message(&work->merge->messages, PP_WARNING,
				   "%s: named twice; it counts once",
				   work->archives[i].path);
		else
			work->archives[kept++] = work->archives[i];
	work->nr_archives = kept;
	return err;
}

/* ---- the sum as an archive ----------------------------------------------- */

static int write_facts_of_sum(struct merge_work *work, bool has_modules)
{
	struct op_config *facts = op_config_new();
	int err = -ENOMEM;

	if (facts)
		err = op_config_set_u64(facts, PP_FACT_FORMAT,
					PP_ARCHIVE_FORMAT)
			      ?: op_config_set(facts, PP_FACT_SESSION,
					       "/" MERGE_SESSION)
				 ?: op_config_set_u64(facts, PP_FACT_MERGED,
						      work->merged);
	if (!err && has_modules)
		err = op_config_add(facts, PP_FACT_IMAGE_PATH,
				    "/" MERGE_MODULES);
	err = err ?: pp_archive_folder_facts(&work->folder, facts);
	op_config_free(facts);
	return err;
}

static int hash_session(struct merge_work *work, const char *name)
{
	static const char *const files[] = { DB_FOLDER_PACK, OP_LABELS_FILE,
					     "ledger", "tasks" };
	int err = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !err; i++) {
		char path[PATH_MAX], *file;
		struct stat st;

		file = op_arena_printf(&work->merge->arena,
				       MERGE_SESSION "/samples/%s/%s", name,
				       files[i]);
		if (!file)
			return -ENOMEM;
		snprintf(path, sizeof(path), "%s/%s", work->folder.path, file);
		if (!stat(path, &st))
			err = pp_archive_folder_hash(&work->folder, file);
		else if (errno != ENOENT)
			err = pp_archive_folder_failed(&work->folder, -errno);
	}
	return err;
}

static int finish_sum(struct merge_work *work)
{
	bool has_modules;
	int err = merge_files_finish(work, &has_modules);

	for (size_t i = 0; i < work->nr_sets && !err; i++)
		err = hash_session(work, work->sets[i].name);
	if (!err) {
		err = op_remove_tree(work->scratch);
		if (err)
			err = pp_archive_folder_failed(&work->folder, err);
	}
	return err ?: write_facts_of_sum(work, has_modules)
		   ?: pp_archive_folder_finish(&work->folder,
					       &work->merge->messages);
}

/* ---- all of it ----------------------------------------------------------- */

static int begin_sum(struct merge_work *work, struct op_diag *diag)
{
	struct op_arena *arena = &work->merge->arena;
	char *below;
	int err = pp_archive_folder_begin(&work->folder, arena,
					  work->request->folder,
					  work->request->replace, diag);

	if (err)
		return err;
	for (size_t i = 0; i < work->request->nr; i++)
		pp_archive_folder_limit(&work->folder,
					work->request->archives[i]);
	work->scratch =
		op_arena_printf(arena, "%s/.scratch", work->folder.path);
	below = op_arena_printf(arena, "%s/.scratch/x", work->folder.path);
	if (!work->scratch || !below)
		return -ENOMEM;
	err = op_make_parents(below, 0755);
	return err ? pp_archive_folder_failed(&work->folder, err) : 0;
}

static int check_is_left(size_t nr, struct op_diag *diag)
{
	if (nr)
		return 0;
	return op_diag_set(diag, -ENOENT,
			   "no archive can be used; nothing is written");
}

static int merge_all_steps(struct merge_work *work, struct op_diag *diag)
{
	int err = merge_each(work, "archives", work->nr_archives,
			     merge_look_at)
			  ?: check_is_left(work->nr_items, diag)
			  ?: merge_add_up(work)
			  ?: check_is_left(work->merge->nr_sessions, diag)
			  ?: merge_each(work, "archives, for their binaries",
					work->nr_archives, merge_take)
			  ?: finish_sum(work);

	if (work->err)
		op_diag_set(diag, work->err, "%s",
			    op_diag_text(&work->why, work->err));
	return err;
}

static int run_merge(struct merge_work *work, struct op_diag *diag)
{
	int err = list_archives(work)
			  ?: op_session_init(&work->asked, "/" MERGE_SESSION,
					     diag)
			  ?: merge_files_new(work)
			  ?: begin_sum(work, diag);

	if (!err)
		err = merge_all_steps(work, diag);
	if (err && work->folder.path)
		pp_archive_folder_cancel(&work->folder);
	merge_files_free(work->files);
	merge_sets_release(work);
	return err ? op_diag_set(diag, err, "%s", strerror(-err)) : 0;
}

int pp_merge_new(struct pp_merge **out, const struct pp_merge_request *request,
		 struct op_diag *diag)
{
	struct pp_merge *merge = calloc(1, sizeof(*merge));
	struct merge_work work = { .request = request, .merge = merge };
	int err;

	*out = merge;
	if (!merge)
		return op_out_of_memory(diag);
	op_arena_init(&merge->arena);
	merge->messages.arena = &merge->arena;
	work.keep_cgroups = merge_keeps(request, "cgroup");
	pthread_mutex_init(&work.lock, NULL);
	err = run_merge(&work, diag);
	pthread_mutex_destroy(&work.lock);
	return err;
}

void pp_merge_free(struct pp_merge *merge)
{
	if (!merge)
		return;
	op_arena_release(&merge->arena);
	free(merge);
}
