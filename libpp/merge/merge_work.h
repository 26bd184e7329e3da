/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_MERGE_MERGE_WORK_H
#define LIBPP_MERGE_MERGE_WORK_H

/*
 * Structures and functions that the files of libpp/merge/ share.
 *
 * A merge is a sort of sessions by their labels, and a sum of those that are
 * alike. It has these steps:
 *
 *	look	 each archive is checked, its sessions become items
 *	add up	 items of one set of labels become one, some at a time:
 *		 as many as the memory allows make a run, which is a
 *		 session folder of its own and an item of the next
 *		 round; the last round makes the sessions of the sum
 *	copy	 binaries, and what else archives hold, are copied
 *	finish	 facts and hashes are written, the folder gets its name
 *
 * Threads take one archive, or one run, at a time.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_arena.h"
#include "libop/base/op_diag.h"
#include "libop/base/op_hash.h"
#include "libop/session/op_labels.h"
#include "libop/session/op_session.h"
#include "libpp/archive/archive.h"
#include "libpp/archive/archive_folder.h"
#include "libpp/merge/merge.h"

/* Where things are in the sum. */
#define MERGE_SESSION "var/lib/oprofile"
#define MERGE_MODULES PP_ARCHIVE_FOLDER "/modules"
#define MERGE_DEBUG "usr/lib/debug/.build-id"

struct merge_archive {
	const char *path; /* real, absolute */
	bool is_left_out; /* its thread's, or with the lock */
};

/* A session of an archive, or the sum of several. */
struct merge_item {
	struct merge_archive *archive; /* that it is of; NULL: a sum */
	const char *path; /* the folder of the session */
	uint32_t set; /* of labels */
	uint64_t memory; /* bytes that adding it up takes */
	bool is_damaged; /* it was found to be while it was added up */
};

/* Labels of one or more sessions. */
struct merge_set {
	struct op_labels labels;
	const char *name; /* of the session in the sum */
};

struct merge_files; /* merge_files.c */
struct round; /* merge_rounds.c */

struct merge_work {
	const struct pp_merge_request *request;
	struct merge_archive *archives; /* ascending paths, each once */
	size_t nr_archives;
	struct pp_archive_folder folder; /* the sum */
	const char *scratch; /* folder in it for what is removed at the end */
	struct op_session asked; /* for pp_archive_open() */
	bool keep_cgroups;

	/* What threads share: with the lock, as the arena of @merge. */
	pthread_mutex_t lock;
	struct pp_merge *merge;
	struct merge_item *items;
	size_t nr_items;
	struct merge_set *sets;
	size_t nr_sets;
	struct op_hash set_index; /* of sets, by their labels */
	struct merge_files *files;
	uint64_t merged; /* archives, with those in sums */
	size_t nr_runs; /* numbers for names */
	struct round *round; /* of adding up, that is under way */
	struct op_diag why; /* why all ends, once @err is set */
	int err;
};

/* ---- threads (merge_threads.c) ------------------------------------------- */

/* A step: number @i of several. @thread is below request->threads. Returns 0 or
 * -errno, which ends the merge. */
typedef int (*merge_step)(struct merge_work *work, size_t i,
			  unsigned int thread);

/* Take @nr steps of @what. Returns 0 or the first error. */
int merge_each(struct merge_work *work, const char *what, size_t nr,
	       merge_step step);

/* End the merge by @err, for the reason in @why; the first that says so counts.
 * Returns @err. */
int merge_fail(struct merge_work *work, int err, const struct op_diag *why);

/* Leave out the archive, which cannot be used by @err, for the reason in @why.
 */
void merge_leave_out(struct merge_work *work, struct merge_archive *archive,
		     int err, const struct op_diag *why);

/* ---- labels (merge_labels.c) --------------------------------------------- */

/* Whether the label @key is kept. */
bool merge_keeps(const struct pp_merge_request *request, const char *key);

/* *@set is the number of the set of @labels, as far as they are kept; with the
 * lock. Returns 0 or -ENOMEM. */
int merge_set_of(struct merge_work *work, const struct op_labels *labels,
		 uint32_t *set);

void merge_sets_release(struct merge_work *work);

/* ---- archives (merge_look.c) --------------------------------------------- */

/* Open the archive @root for a moment, in @arena. Returns as pp_archive_open(),
 * -ENOENT also for one that is not of oparchive. */
int merge_open(const struct merge_work *work, const char *root,
	       struct op_arena *arena, struct pp_archive **archive,
	       struct op_diag *why);

/* Steps: check archive @i and make items of its sessions; take its files. */
int merge_look_at(struct merge_work *work, size_t i, unsigned int thread);
int merge_take(struct merge_work *work, size_t i, unsigned int thread);

/* The memory that adding up a session takes that has @nr files, of which the
 * largest has @nr_keys keys or nodes. */
uint64_t merge_memory_of(uint64_t nr, uint64_t nr_keys);

/* ---- binaries and what else is no session (merge_files.c) ---------------- */

int merge_files_new(struct merge_work *work);
void merge_files_free(struct merge_files *files);

/* All of them are in place: add their hashes. *@has_modules: some are in
 * MERGE_MODULES. Returns 0 or -ENOMEM. */
int merge_files_finish(struct merge_work *work, bool *has_modules);

/* ---- adding up (merge_rounds.c, merge_run.c) ----------------------------- */

/* Make the sessions of the sum of all items. */
int merge_add_up(struct merge_work *work);

/*
 * Make the session folder @to of the sum of @nr items that are not damaged; one
 * that turns out to be is marked, and the sum is that of the others. *@memory,
 * unless NULL, is what adding up the sum takes. Returns 0; -ENODATA when no
 * item is left; -errno with the reason in @why.
 */
int merge_run(struct merge_work *work, struct merge_item *items, size_t nr,
	      const char *to, unsigned int thread, uint64_t *memory,
	      struct op_diag *why);

/* ---- contents (merge_part.c) --------------------------------------------- */

struct db_sum; /* libdb/db_sum.h */
struct db_folder;
struct db_member;
struct op_mangle;

/*
 * Write the name that the sample file @name of @archive (NULL: of none) has in
 * the sum to @buf of OP_MANGLE_MAX bytes. *@changes: its contents change, too.
 * Returns 0 or -EINVAL when it is no name, with the reason in @why.
 */
int merge_name(const struct merge_work *work, const struct pp_archive *archive,
	       const char *name, char *buf, bool *changes, struct op_diag *why);

/*
 * Add @member of @folder to @sum as it is in the sum. If it @changes, @scratch
 * is where to make a file for a moment. Returns 0 or -errno; -EBADMSG and the
 * like when it is damaged.
 */
int merge_part_add(struct db_sum *sum, const struct db_folder *folder,
		   const struct db_member *member, bool changes,
		   const char *scratch);

#endif /* LIBPP_MERGE_MERGE_WORK_H */
