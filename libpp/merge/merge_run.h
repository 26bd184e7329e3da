/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_MERGE_MERGE_RUN_H
#define LIBPP_MERGE_MERGE_RUN_H

/*
 * A run of adding up, for merge_run.c, which writes the pack of the sum, and
 * merge_account.c, which writes what else a session tells.
 */

#include "libdb/db_folder.h"
#include "libpp/merge/merge_work.h"

struct pack_writer; /* libdb/pack.h */

/* A file of a session. */
struct run_part {
	const char *name; /* in the sum */
	struct db_member member;
	uint32_t source;
	bool changes;
};

struct run_source {
	struct merge_item *item;
	struct db_folder *folder;
	struct pp_archive *archive; /* NULL until it is needed */
};

struct run {
	struct merge_work *work;
	struct op_arena arena;
	struct run_source *sources;
	size_t nr_sources;
	struct run_part *parts; /* op_array.h */
	size_t nr_parts;
	char *name; /* OP_MANGLE_MAX */
	char *scratch, *total; /* files for a moment */
	struct pack_writer *writer;
	struct run_source *damaged; /* NULL: none */
	struct run_source *source; /* being visited */
	struct op_diag *why;
};

/* The session of @source is not to be used, by @err, because of what is at
 * @name. Returns what ends the run. */
int merge_is_damaged(struct run *run, struct run_source *source, int err,
		     const char *name);

/* Write the account, or the links of programs, of the session @to. Return 0 or
 * -errno with the reason in run->why. */
int merge_sum_accounts(struct run *run, const char *to);
int merge_sum_links(struct run *run, const char *to);

#endif /* LIBPP_MERGE_MERGE_RUN_H */
