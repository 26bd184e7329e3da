// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adds several sessions up to one. The names of all their files are sorted;
 * files of one name are added up and written to the pack of the sum, one name
 * after another. So at a time the memory has all names, and the contents of
 * one.
 *
 * A name may have thousands of files, of the threads of a program say. Where it
 * has more than a few, these are added up in a file.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libdb/db_folder.h"
#include "libdb/db_sum.h"
#include "libdb/pack.h"
#include "libop/base/op_array.h"
#include "libop/files/op_folder.h"
#include "libop/session/op_mangle.h"
#include "libop/files/op_remove.h"
#include "libop/session/op_sample_file.h"
#include "libpp/merge/merge_run.h"

#define PARTS_MAX 64 /* that are in memory: one of each item, and some more */
#define GENERATION 1

/* ---- names --------------------------------------------------------------- */

static int open_archive_of(struct run *run, struct run_source *source)
{
	if (source->archive || !source->item->archive)
		return 0;
	return merge_open(run->work, source->item->archive->path, &run->arena,
			  &source->archive, run->why);
}

/* Set the name of @part in the sum. A sum of an earlier round has that name
 * already. */
static int name_of_part(struct run *run, struct run_part *part)
{
	struct run_source *source = run->source;
	const char *name = part->member.name;
	struct op_diag why = { 0 };
	int err = 0;

	if (!source->item->archive)
		return 0;
	if (strstr(name, "{build:file-"))
		err = open_archive_of(run, source);
	if (!err)
		err = merge_name(run->work, source->archive, name, run->name,
				 &part->changes, &why);
	if (err)
		return merge_is_damaged(run, source, -EBADMSG, name);
	if (!strcmp(run->name, name))
		return 0;
	part->name = op_arena_strdup(&run->arena, run->name);
	return part->name ? 0 : -ENOMEM;
}

static int take_member(const struct db_member *member, void *ctx)
{
	struct run *run = ctx;
	struct run_part part = { .member = *member,
				 .source = (uint32_t)(run->source -
						      run->sources) };
	int err;

	/* What the daemon set aside as damaged counts for nobody. */
	if (op_sample_file_is_set_aside(member->name))
		return 0;
	if (!member->entry) {
		part.member.name = op_arena_strdup(&run->arena, member->name);
		part.member.path = op_arena_strdup(&run->arena, member->path);
		if (!part.member.name || !part.member.path)
			return -ENOMEM;
	}
	part.name = part.member.name;
	err = name_of_part(run, &part);
	if (!err)
		err = op_array_reserve(&run->parts, run->nr_parts, 1);
	if (!err)
		run->parts[run->nr_parts++] = part;
	return err;
}

static int refuse_unlisted_files(const char *path, int err, void *ctx)
{
	struct run *run = ctx;

	return merge_is_damaged(run, run->source, err, path);
}

static int compare_parts(const void *a, const void *b)
{
	const struct run_part *x = a, *y = b;

	return strcmp(x->name, y->name)
		       ?: (x->source > y->source) - (x->source < y->source);
}

static int list_parts(struct run *run)
{
	const struct db_visitor visitor = { .member = take_member,
					    .unlisted = refuse_unlisted_files,
					    .ctx = run };
	int err = 0;

	for (size_t i = 0; i < run->nr_sources && !err; i++) {
		struct run_source *source = &run->sources[i];

		run->source = source;
		err = db_folder_open(&source->folder, source->item->path);
		if (!err)
			err = db_folder_pack_error(source->folder);
		if (err)
			return merge_is_damaged(run, source, err,
						source->item->path);
		err = db_folder_each(source->folder, &visitor);
	}
	if (run->nr_parts)
		qsort(run->parts, run->nr_parts, sizeof(*run->parts),
		      compare_parts);
	return err;
}

/* ---- one name ------------------------------------------------------------ */

/*
 * Headers of one name may differ in facts about the machine, such as the
 * speed of its CPU. The least one stands for all, whichever came first.
 */
static void note_header(struct op_sample_header *least,
			const struct op_sample_header *header, bool is_first)
{
	struct op_sample_header copy = *header;
	uint64_t samples = least->samples;

	least->samples = copy.samples = 0;
	if (is_first || memcmp(&copy, least, sizeof(copy)) < 0)
		*least = copy;
	least->samples = is_first ? 0 : samples;
	op_sample_header_add(least, header);
}

static int merge_into_tables(const char *path, struct db_sum *sum, size_t first)
{
	struct odb *total = NULL;
	int err = odb_open(&total, path, ODB_RDWR);

	for (size_t i = first; i < sum->nr && !err; i++)
		err = odb_merge(total, sum->tables[i]);
	odb_close(total);
	return err;
}

static int merge_into_trees(const char *path, struct db_sum *sum, size_t first)
{
	struct ctree *total = NULL;
	int err = ctree_open(&total, path, ODB_RDWR);

	for (size_t i = first; i < sum->nr && !err; i++)
		err = ctree_merge(total, sum->trees[i]);
	ctree_close(total);
	return err;
}

/* Let the parts of @sum be one, the file run->total. If @is_begun it is the
 * first of the parts already. */
static int unite_parts(struct run *run, struct db_sum *sum, bool is_begun)
{
	bool is_tree = sum->trees;
	size_t first = is_begun;
	struct odb *table;
	struct ctree *tree;
	int err;

	if (!is_begun)
		unlink(run->total);
	err = is_tree ? merge_into_trees(run->total, sum, first)
		      : merge_into_tables(run->total, sum, first);
	db_sum_release(sum);
	err = err ?: db_sum_init(sum, is_tree, PARTS_MAX);
	if (err)
		return err;
	if (is_tree) {
		err = ctree_open(&tree, run->total, ODB_RDONLY);
		if (!err)
			db_sum_add_tree(sum, tree);
	} else {
		err = odb_open(&table, run->total, ODB_RDONLY);
		if (!err)
			db_sum_add_table(sum, table);
	}
	return err;
}

static int add_parts(struct run *run, struct db_sum *sum,
		     const struct run_part *parts, size_t nr,
		     struct op_sample_header *least)
{
	bool is_begun = false, is_first = true;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		struct run_source *source = &run->sources[parts[i].source];
		size_t before;

		if (sum->nr == PARTS_MAX) {
			err = unite_parts(run, sum, is_begun);
			is_begun = true;
			if (err)
				return op_diag_set(run->why, err, "%s: %s",
						   run->total, strerror(-err));
		}
		before = sum->nr;
		err = merge_part_add(sum, source->folder, &parts[i].member,
				     parts[i].changes, run->scratch);
		if (err)
			return merge_is_damaged(run, source, err,
						parts[i].member.name);
		if (sum->nr == before)
			continue;
		note_header(least, db_sum_user(sum, before), is_first);
		is_first = false;
	}
	return 0;
}

/* Write the sum of the files of one name. */
static int write_name(struct run *run, const struct run_part *parts, size_t nr)
{
	struct op_sample_header least = { 0 };
	struct db_sum sum;
	int err = db_sum_init(&sum, strstr(parts->name, "/{tree}/"), PARTS_MAX);

	if (!err)
		err = add_parts(run, &sum, parts, nr, &least);
	if (!err && sum.nr) {
		memcpy(db_sum_user(&sum, 0), &least, sizeof(least));
		err = db_sum_write(&sum, run->writer, parts->name);
		if (err)
			op_diag_set(run->why, err, "%s: %s", parts->name,
				    strerror(-err));
	}
	db_sum_release(&sum);
	return err;
}

static int write_names(struct run *run)
{
	size_t next;
	int err = 0;

	for (size_t i = 0; i < run->nr_parts && !err; i = next) {
		for (next = i + 1; next < run->nr_parts; next++)
			if (strcmp(run->parts[i].name, run->parts[next].name) !=
			    0)
				break;
		err = write_name(run, &run->parts[i], next - i);
	}
	return err;
}

static int write_pack(struct run *run, const char *to)
{
	char *path = op_arena_printf(&run->arena, "%s/" DB_FOLDER_PACK, to);
	int err = path ? pack_writer_new(&run->writer, path, GENERATION)
		       : -ENOMEM;

	if (err)
		return op_diag_set(run->why, err, "%s: %s", to, strerror(-err));
	err = write_names(run);
	if (err)
		pack_writer_cancel(run->writer);
	else
		err = pack_writer_finish_early(run->writer);
	return err ? op_diag_set(run->why, err, "%s: %s", to, strerror(-err))
		   : 0;
}

/* ---- the run ------------------------------------------------------------- */

static int begin_run(struct run *run, struct merge_item *items, size_t nr,
		     unsigned int thread)
{
	op_arena_init(&run->arena);
	run->sources = op_arena_alloc(&run->arena, nr, sizeof(*run->sources));
	run->name = op_arena_alloc(&run->arena, OP_MANGLE_MAX, 1);
	run->scratch = op_arena_printf(&run->arena, "%s/part-%u",
				       run->work->scratch, thread);
	run->total = op_arena_printf(&run->arena, "%s/total-%u",
				     run->work->scratch, thread);
	if (!run->sources || !run->name || !run->scratch || !run->total)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		if (!items[i].is_damaged)
			run->sources[run->nr_sources++].item = &items[i];
	return run->nr_sources ? 0 : -ENODATA;
}

static void end_run(struct run *run)
{
	for (size_t i = 0; i < run->nr_sources; i++)
		db_folder_close(run->sources[i].folder);
	if (run->total)
		unlink(run->total);
	free(run->parts);
	op_arena_release(&run->arena);
}

/* Set *@memory to the bytes that adding up the pack in @to will need. */
static int measure_run(const char *to, uint64_t *memory)
{
	struct db_folder *folder;
	const struct pack *pack;
	uint64_t nr_keys = 0;
	int err = db_folder_open(&folder, to);

	if (err)
		return err;
	pack = db_folder_pack(folder);
	for (size_t i = 0; pack && i < pack_nr(pack); i++)
		if (pack_entry(pack, i)->nr > nr_keys)
			nr_keys = pack_entry(pack, i)->nr;
	*memory = merge_memory_of(pack ? pack_nr(pack) : 0, nr_keys);
	db_folder_close(folder);
	return 0;
}

static int try_run(struct run *run, const char *to)
{
	char *below = op_arena_printf(&run->arena, "%s/x", to);
	int err = below ? op_make_parents(below, 0755) : -ENOMEM;

	if (err)
		return op_diag_set(run->why, err, "%s: cannot be written: %s",
				   to, strerror(-err));
	return list_parts(run) ?: write_pack(run, to) ?: merge_sum_accounts(run, to) ?:
	       merge_sum_links(run, to);
}

int merge_run(struct merge_work *work, struct merge_item *items, size_t nr,
	      const char *to, unsigned int thread, uint64_t *memory,
	      struct op_diag *why)
{
	struct merge_item *damaged;
	int err;

	do {
		struct run run = { .work = work, .why = why };

		err = begin_run(&run, items, nr, thread) ?: try_run(&run, to);
		damaged = err && run.damaged ? run.damaged->item : NULL;
		end_run(&run);
		if (err)
			op_remove_tree(to);
		if (damaged) {
			damaged->is_damaged = true;
			merge_leave_out(work, damaged->archive, err, why);
			*why = (struct op_diag){ 0 };
		}
	} while (damaged);
	return err || !memory ? err : measure_run(to, memory);
}
