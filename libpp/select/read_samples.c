// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads sample files. What is counted under one name is the sum of its parts:
 * the loose file, the entry of the pack, and what a packer is at work on. Each
 * part is opened once, so that header, total and counts are of one moment even
 * while the daemon writes on. A part that cannot be used is said in a message
 * and left out; a file without parts that have samples leaves the list. The
 * samples of a file stay unsorted unless several parts had to be added up,
 * because most readers sort those of many files together anyway.
 */

#include "libpp/select/sample_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/classic/op_classic.h"
#include "libop/base/op_sort.h"
#include "libpp/select/slices.h"

/* ---- parts --------------------------------------------------------------- */

/* Put why @part cannot be opened into @why; a file of the original profiler
 * looks damaged to us. */
static int cannot_open(const struct pp_sample_part *part, int err,
		       struct op_diag *why)
{
	struct op_diag ignored = { 0 };
	struct op_classic classic;
	bool is_classic;

	if (!err || err == -ENOMEM)
		return err;
	is_classic =
		err == -EBADMSG && !part->member.entry &&
		!op_classic_open(&classic, part->member.path, NULL, &ignored);
	if (is_classic)
		op_classic_close(&classic);
	return op_diag_set(
		why, pp_is_fault(err) ? err : -EBADMSG, "%s: %s", part->label,
		is_classic
			? "it is of OProfile 1.4 or older; convert the session with opimport --session"
			: pp_why_not_opened(err));
}

/* A pack was checked as a whole when it was opened. */
static int check_part(const struct pp_sample_list *list,
		      const struct pp_sample_part *part)
{
	return part->member.entry
		       ? 0
		       : pp_archive_check(list->archive, part->member.path);
}

int pp_sample_part_table(const struct pp_sample_list *list,
			 const struct pp_sample_file *file,
			 const struct pp_sample_part *part, struct odb **out,
			 struct op_diag *why)
{
	return cannot_open(part,
			   check_part(list, part)
				   ?: db_folder_table(file->session->folder,
						      &part->member, out),
			   why);
}

int pp_sample_part_tree(const struct pp_sample_list *list,
			const struct pp_sample_file *file,
			const struct pp_sample_part *part, struct ctree **out,
			struct op_diag *why)
{
	return cannot_open(part,
			   check_part(list, part)
				   ?: db_folder_tree(file->session->folder,
						     &part->member, out),
			   why);
}

/* Put the counts behind those that @file has. */
static int append_samples(struct op_arena *arena, struct pp_sample_file *file,
			  const struct odb *odb, uint64_t nr_keys)
{
	struct pp_sample sample, *samples;
	size_t at = 0, nr = file->nr_samples;

	if (nr_keys > SIZE_MAX - nr)
		return -ENOMEM;
	samples = op_arena_alloc(arena, nr + nr_keys, sizeof(sample));
	if (!samples)
		return -ENOMEM;
	if (nr)
		memcpy(samples, file->samples, nr * sizeof(sample));
	while (nr_keys-- && odb_next(odb, &at, &sample.key, &sample.count))
		samples[nr++] = sample;
	file->samples = samples;
	file->nr_samples = nr;
	return 0;
}

/*
 * An empty file is one that the daemon has just made or was killed at; it has
 * nothing to say and its header may not be there yet.
 */
static int take_sample_part(struct op_arena *arena, struct pp_sample_file *file,
			    const struct pp_sample_part *part, struct odb *odb,
			    bool samples, struct op_diag *why)
{
	uint64_t key, count, nr_keys = 0, total = 0;

	for (size_t at = 0; odb_next(odb, &at, &key, &count); nr_keys++)
		total = pp_add_counts(total, count);
	if (!nr_keys)
		return 0;
	if (op_sample_header_check(odb_user(odb), part->label, why))
		return -EBADMSG;
	if (!file->total)
		memcpy(&file->header, odb_user(odb), sizeof(file->header));
	file->total = pp_add_counts(file->total, total);
	return samples ? append_samples(arena, file, odb, nr_keys) : 0;
}

/* Returns 0, -ENOMEM, or another -errno with what is wrong in @why. */
static int read_sample_part(const struct pp_sample_list *list,
			    struct pp_sample_file *file,
			    const struct pp_sample_part *part, bool samples,
			    struct op_diag *why)
{
	struct odb *odb;
	int err = pp_sample_part_table(list, file, part, &odb, why);

	if (err)
		return err;
	file->is_torn = odb_is_torn(odb);
	err = take_sample_part(list->arena, file, part, odb, samples, why);
	odb_close(odb);
	return err;
}

int pp_sample_file_header(const struct pp_sample_list *list,
			  const struct pp_sample_file *file,
			  struct op_sample_header *header)
{
	struct pp_sample_file copy = *file;
	struct op_diag why = { 0 };
	int err = 0;

	for (const struct pp_sample_part *part = file->parts;
	     part && !copy.total && err != -ENOMEM; part = part->next)
		err = read_sample_part(list, &copy, part, false, &why);
	*header = copy.header;
	return err == -ENOMEM || copy.total ? err : -EBADMSG;
}

/* ---- files --------------------------------------------------------------- */

/* Several parts may have counted at one place. */
static void sum_up_samples(struct pp_sample_file *file)
{
	struct pp_sample *samples = file->samples;
	size_t kept = 0;

	op_sort_by(samples, file->nr_samples, key);
	for (size_t i = 0; i < file->nr_samples; i++) {
		if (kept && samples[kept - 1].key == samples[i].key)
			samples[kept - 1].count = pp_add_counts(
				samples[kept - 1].count, samples[i].count);
		else
			samples[kept++] = samples[i];
	}
	file->nr_samples = kept;
}

/* A part that cannot be used leaves @file; @first is why the first one did. */
static int read_sample_file(const struct pp_sample_list *list,
			    struct pp_sample_file *file, bool samples,
			    struct pp_messages *messages, struct op_diag *first)
{
	struct pp_sample_part **link = &file->parts;

	while (*link) {
		struct op_diag why = { 0 };
		int err = read_sample_part(list, file, *link, samples, &why);

		if (err == -ENOMEM)
			return err;
		if (!err) {
			if (file->is_torn)
				pp_message_of_torn(messages, (*link)->label);
			link = &(*link)->next;
			continue;
		}
		pp_message_of_error(messages, err, "%s; left out", why.text);
		messages->nr_unread++;
		if (!first->text[0])
			*first = why;
		*link = (*link)->next;
	}
	if (file->parts && file->parts->next && samples && file->nr_samples)
		sum_up_samples(file);
	return 0;
}

/* ---- times --------------------------------------------------------------- */

/* Files of which the time line has nothing. */
static bool has_no_times(const struct pp_sample_file *file)
{
	return pp_is_call_graph(file) || file->header.derived;
}

/* Append to *@files of *@nr what @file, whose counts are read, has in each
 * column of times. */
static int split_sample_file(struct op_arena *arena,
			     const struct pp_sample_file *file,
			     struct pp_sample_file **files, size_t *nr)
{
	struct pp_slices *slices = file->session->slices;
	uint64_t id = timeline_file(slices->timeline.head.seed,
				    file->parts->member.name);
	size_t nr_columns = slices->nr_columns;
	struct pp_sample_file *parts =
		op_arena_alloc(arena, nr_columns, sizeof(*parts));
	uint64_t *out = op_arena_alloc(arena, nr_columns, sizeof(*out));

	if (!parts || !out)
		return -ENOMEM;
	for (size_t i = 0; i < nr_columns; i++) {
		parts[i] = *file;
		parts[i].session = &slices->columns[i];
		parts[i].total = parts[i].nr_samples = 0;
		parts[i].samples = op_arena_alloc(arena, file->nr_samples,
						  sizeof(*file->samples));
		if (!parts[i].samples)
			return -ENOMEM;
	}
	for (size_t i = 0; i < file->nr_samples; i++) {
		uint64_t key = file->samples[i].key;

		pp_slices_split(slices, timeline_key(id, key),
				file->samples[i].count, out);
		for (size_t j = 0; j < nr_columns; j++) {
			if (!out[j])
				continue;
			parts[j].samples[parts[j].nr_samples++] =
				(struct pp_sample){ key, out[j] };
			parts[j].total = pp_add_counts(parts[j].total, out[j]);
		}
	}
	for (size_t i = 0; i < nr_columns; i++) {
		struct pp_sample_file *grown;

		if (!parts[i].nr_samples)
			continue;
		grown = op_arena_grow(arena, *files, *nr, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		*files = grown;
		grown[(*nr)++] = parts[i];
	}
	return 0;
}

/* Trees are read later: there is one for each column. */
static int split_tree_files(struct pp_sample_list *list)
{
	struct pp_sample_file *trees = NULL, *grown;
	size_t nr = 0;

	for (size_t i = 0; i < list->nr_trees; i++) {
		const struct pp_sample_file *tree = &list->trees[i];
		struct pp_slices *slices = tree->session->slices;

		for (size_t j = 0; j < (slices ? slices->nr_columns : 1); j++) {
			grown = op_arena_grow(list->arena, trees, nr,
					      sizeof(*grown));
			if (!grown)
				return -ENOMEM;
			trees = grown;
			trees[nr] = *tree;
			if (slices)
				trees[nr].session = &slices->columns[j];
			nr++;
		}
	}
	list->trees = trees;
	list->nr_trees = nr;
	return 0;
}

static bool has_slices(const struct pp_sample_list *list)
{
	bool has = false;

	for (size_t i = 0; i < list->sessions.nr; i++)
		has |= list->sessions.list[i].slices != NULL;
	return has;
}

/* Keep of all files what came at the times that are asked for. */
static int split_by_times(struct pp_sample_list *list,
			  struct pp_messages *messages)
{
	struct pp_sample_file *files = NULL, *grown;
	size_t nr = 0, nr_without = 0;
	uint64_t unknown = 0;
	int err = 0;

	for (size_t i = 0; i < list->sessions.nr && !err; i++)
		if (list->sessions.list[i].slices)
			err = pp_slices_begin_round(
				list->sessions.list[i].slices);
	for (size_t i = 0; i < list->nr && !err; i++) {
		if (list->files[i].session->slices) {
			nr_without += has_no_times(&list->files[i]);
			if (!has_no_times(&list->files[i]))
				err = split_sample_file(list->arena,
							&list->files[i], &files,
							&nr);
			continue;
		}
		grown = op_arena_grow(list->arena, files, nr, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		files = grown;
		files[nr++] = list->files[i];
	}
	for (size_t i = 0; i < list->sessions.nr && !err; i++)
		if (list->sessions.list[i].slices)
			unknown += list->sessions.list[i].slices->unknown;
	if (unknown)
		pp_message(
			messages, PP_WARNING,
			"%llu samples are of an unknown time, as a daemon was killed or had no time line; they are left out",
			(unsigned long long)unknown);
	if (nr_without)
		pp_message(
			messages, PP_WARNING,
			"%zu files of arcs or of a feature have no times; they are left out",
			nr_without);
	list->files = files;
	list->nr = nr;
	return err ?: split_tree_files(list);
}

int pp_sample_list_read(struct pp_sample_list *list, bool samples,
			struct pp_messages *messages, struct op_diag *diag)
{
	size_t kept = 0, nr_messages = messages->nr;
	bool splits = has_slices(list);
	struct op_diag first = { 0 };
	int err = 0;

	for (size_t i = 0; i < list->nr && !err; i++) {
		struct pp_sample_file *file = &list->files[i];

		err = read_sample_file(list, file, samples || splits, messages,
				       &first);
		if (err || !file->total)
			continue;
		pp_message(messages, PP_REMARK_SFILE, "%s: %llu %s", file->path,
			   (unsigned long long)file->total,
			   pp_is_call_graph(file) ? "calls" : "samples");
		list->files[kept++] = *file;
	}
	if (err)
		return err;
	list->nr = kept;
	if (kept && splits)
		err = split_by_times(list, messages);
	if (err || list->nr)
		return err;
	if (kept)
		return op_diag_set(
			diag, -ENOENT,
			"no samples of these files came at that time; ask for another, or for more files");
	/* The error says what the messages say. */
	messages->nr = nr_messages;
	if (first.text[0])
		return op_diag_set(
			diag, -ENOENT,
			"no usable sample file is left; the first: %s",
			first.text);
	return op_diag_set(
		diag, -ENOENT,
		"the sample files hold no samples yet; write out the buffers with opcontrol --dump");
}
