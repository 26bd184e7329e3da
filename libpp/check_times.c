// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All counts of sample files and of slices are put into one list each, by id.
 * So packs and loose files, whose counts of an id add up, need no look-up.
 */

#include "libpp/check_times.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "libdb/ctree.h"
#include "libdb/odb.h"
#include "libop/base/op_array.h"
#include "libop/base/op_sort.h"
#include "libpp/counts.h"

int pp_check_times_open(struct pp_check_times *times, const char *dir)
{
	char path[PATH_MAX];
	int err;

	*times = (struct pp_check_times){ 0 };
	snprintf(path, sizeof(path), "%.4000s/" TIMELINE_FILE, dir);
	err = timeline_read(&times->timeline, path);
	times->is_open = !err;
	return err == -ENOENT ? 0 : err;
}

void pp_check_times_close(struct pp_check_times *times)
{
	timeline_release(&times->timeline);
	free(times->counts);
	*times = (struct pp_check_times){ 0 };
}

static int add_checked_count(struct pp_check_times *times, uint64_t id,
			     uint64_t count)
{
	if (op_array_reserve(&times->counts, times->nr_counts, 1))
		return -ENOMEM;
	times->counts[times->nr_counts++] =
		(struct timeline_count){ id, count };
	return 0;
}

int pp_check_times_table(struct pp_check_times *times, const char *name,
			 const struct odb *odb)
{
	uint64_t file = timeline_file(times->timeline.head.seed, name);
	uint64_t key, count;
	int err = 0;

	for (size_t at = 0;
	     times->is_open && !err && odb_next(odb, &at, &key, &count);)
		err = add_checked_count(times, timeline_key(file, key), count);
	return err;
}

int pp_check_times_tree(struct pp_check_times *times, const char *name,
			const struct ctree *tree)
{
	uint64_t seed = times->timeline.head.seed;
	uint64_t *ids = NULL;
	int err = 0;

	if (!times->is_open)
		return 0;
	err = timeline_tree_ids(tree, seed, timeline_file(seed, name), &ids);
	for (uint32_t i = 1; !err && i <= ctree_nr_nodes(tree); i++) {
		struct ctree_node node;

		ctree_node(tree, i, &node);
		if (node.count)
			err = add_checked_count(times, ids[i], node.count);
	}
	free(ids);
	return err;
}

/* Add up the counts of one id; returns how many are left, by id. */
static size_t add_up_ids(struct timeline_count *counts, size_t nr)
{
	size_t kept = 0;

	op_sort_by(counts, nr, id);
	for (size_t i = 0; i < nr; i++) {
		if (kept && counts[kept - 1].id == counts[i].id)
			counts[kept - 1].count = pp_add_counts(
				counts[kept - 1].count, counts[i].count);
		else
			counts[kept++] = counts[i];
	}
	return kept;
}

/* All counts of slices, to be freed; NULL: memory is short. */
static struct timeline_count *counts_of_slices(const struct timeline *t,
					       size_t *nr)
{
	struct timeline_count *counts;

	*nr = 0;
	for (size_t i = 0; i < t->nr_slices; i++)
		*nr += t->slices[i].nr_counts;
	counts = malloc((*nr + 1) * sizeof(*counts));
	*nr = 0;
	for (size_t i = 0; counts && i < t->nr_slices; i++)
		for (size_t j = 0; j < t->slices[i].nr_counts; j++)
			counts[(*nr)++] = t->slices[i].counts[j];
	return counts;
}

int pp_check_times_compare(struct pp_check_times *times)
{
	const struct timeline_count *sums = times->counts;
	struct timeline_count *slices;
	size_t nr, nr_sums, i = 0, j = 0;

	if (!times->is_open)
		return 0;
	slices = counts_of_slices(&times->timeline, &nr);
	if (!slices)
		return -ENOMEM;
	nr = add_up_ids(slices, nr);
	nr_sums = times->nr_counts ? add_up_ids(times->counts, times->nr_counts)
				   : 0;
	while (i < nr || j < nr_sums) {
		uint64_t in_slices = 0, in_sum = 0;
		uint64_t id =
			j == nr_sums || (i < nr && slices[i].id < sums[j].id)
				? slices[i].id
				: sums[j].id;

		if (i < nr && slices[i].id == id)
			in_slices = slices[i++].count;
		if (j < nr_sums && sums[j].id == id)
			in_sum = sums[j++].count;
		if (in_slices > in_sum)
			times->more =
				pp_add_counts(times->more, in_slices - in_sum);
		else
			times->less =
				pp_add_counts(times->less, in_sum - in_slices);
	}
	free(slices);
	return 0;
}
