// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The flat files of trees, and which samples have no stack. The flat files have
 * all samples of a session, its call trees those that came with a stack, both
 * by application, event and task. So what a flat file has more than the trees
 * of the same task have in its image came without a stack.
 *
 * Trees know a sampled function alone, and not always as the symbol that the
 * flat samples are in: one range of unwinding tables may hold several symbols.
 * So the number is that of the whole file, and it is shared out among the
 * functions that have more flat samples than stacks, as they have more.
 */

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libpp/tree/tree_input.h"

/* ---- the flat files of an image ------------------------------------------ */

/* Trees tell no more of a build than this compares. */
static bool is_same_build(const struct pp_image *a, const struct pp_image *b)
{
	return !memcmp(&a->build_id, &b->build_id, sizeof(a->build_id)) &&
	       (a->build_id.len || a->mtime == b->mtime);
}

const struct pp_sample_file *
pp_tree_next_flat_file(const struct pp_sample_list *list,
		       const struct pp_image *image, size_t *at)
{
	if (!*at)
		*at = OP_BISECT(i, list->nr,
				strcmp(list->files[i].image->path,
				       image->path) < 0);
	while (*at < list->nr) {
		const struct pp_sample_file *file = &list->files[(*at)++];

		if (strcmp(file->image->path, image->path))
			break;
		if (!pp_is_call_graph(file) &&
		    is_same_build(file->image, image))
			return file;
	}
	return NULL;
}

/* ---- the flat file of a stack -------------------------------------------- */

static bool is_same_task(const struct op_mangle *a, const struct op_mangle *b)
{
	return a->tgid == b->tgid && a->tid == b->tid && a->cpu == b->cpu &&
	       pp_is_of_event(a, b) && !a->cgroup == !b->cgroup &&
	       (!a->cgroup || !strcmp(a->cgroup, b->cgroup));
}

static bool is_same_name(const struct op_image_name *a,
			 const struct op_image_name *b)
{
	return a->space == b->space && a->tgid == b->tgid &&
	       a->start == b->start && a->end == b->end &&
	       !strcmp(a->name, b->name);
}

/* The flat file with the samples of @tree in @image: the file of the tree's
 * application or, where images are not separated by application, that of the
 * image as its own application. Names are those of the files: in a report
 * applications may be merged. */
const struct pp_sample_file *
pp_tree_flat_file(const struct pp_sample_list *list,
		  const struct pp_image *image,
		  const struct pp_sample_file *tree)
{
	const struct pp_sample_file *file, *of_image = NULL;
	size_t at = 0;

	while ((file = pp_tree_next_flat_file(list, image, &at))) {
		if (file->session != tree->session ||
		    !is_same_task(&file->name, &tree->name))
			continue;
		if (is_same_name(&file->name.app, &tree->name.app))
			return file;
		if (is_same_name(&file->name.app, &file->name.dep))
			of_image = file;
	}
	return of_image;
}

void pp_tree_inputs_find_flat(struct pp_tree_inputs *in)
{
	for (size_t i = 0; i < in->nr; i++) {
		struct pp_tree_input *input = &in->list[i];

		for (uint32_t j = 0; j < ctree_nr_images(input->tree); j++) {
			struct pp_tree_image *image = &input->images[j];

			image->flat = pp_tree_flat_file(
				&in->side->list, image->image, input->file);
			image->is_chosen &= image->flat != NULL;
		}
	}
}

/* ---- what is left -------------------------------------------------------- */

/* By file and function, the stacks before the samples. */
static int compare_flat_parts(const void *a, const void *b)
{
	const struct pp_flat_part *x = a, *y = b;

	return op_compare((uintptr_t)x->file, (uintptr_t)y->file)
		       ?: op_compare(x->function, y->function)
			       ?: op_compare(y->has_stack, x->has_stack)
				       ?: op_compare(x->key, y->key);
}

/* Give each sample of a function its part of those that have no stack there,
 * in @weights. */
static void weigh_function(const struct pp_flat_part *parts, size_t nr,
			   double *weights)
{
	uint64_t flat = 0, stacks = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t *sum = parts[i].has_stack ? &stacks : &flat;

		*sum = pp_add_counts(*sum, parts[i].count);
	}
	for (size_t i = 0; i < nr; i++)
		weights[i] = parts[i].has_stack || flat <= stacks
				     ? 0
				     : (double)parts[i].count *
					       ((double)(flat - stacks) /
						(double)flat);
}

/* Share out what has no stack among the parts of one file. */
static void settle_file(struct pp_flat_part *parts, size_t nr, double *weights)
{
	uint64_t flat = 0, stacks = 0, left, given = 0;
	double all = 0, before = 0;

	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i;
		     end < nr && parts[end].function == parts[i].function;)
			end++;
		weigh_function(parts + i, end - i, weights + i);
	}
	for (size_t i = 0; i < nr; i++) {
		uint64_t *sum = parts[i].has_stack ? &stacks : &flat;

		*sum = pp_add_counts(*sum, parts[i].count);
		all += weights[i];
	}
	left = flat > stacks ? flat - stacks : 0;
	for (size_t i = 0; i < nr; i++) {
		uint64_t until;

		before += weights[i];
		/* Large numbers round to what they are not. */
		until = before < all ? (uint64_t)nearbyint((double)left *
							   (before / all))
				     : left;
		if (until > left)
			until = left;
		parts[i].count = weights[i] > 0 ? until - given : 0;
		given += parts[i].count;
	}
}

int pp_flat_parts_settle(struct pp_flat_part *parts, size_t nr)
{
	double *weights = calloc(nr + 1, sizeof(*weights));

	if (!weights)
		return -ENOMEM;
	if (nr)
		qsort(parts, nr, sizeof(*parts), compare_flat_parts);
	for (size_t i = 0, end; i < nr; i = end) {
		for (end = i; end < nr && parts[end].file == parts[i].file;)
			end++;
		settle_file(parts + i, end - i, weights + i);
	}
	free(weights);
	return 0;
}
