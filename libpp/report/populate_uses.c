// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file uses the image that its samples are in; a call graph uses two, that of
 * the callers and that of the callees, and a call tree those of its frames.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libop/base/op_sort.h"
#include "libpp/report/populate_symbols.h"
#include "libpp/tree/tree_input.h"

static int compare_image_uses(const void *a, const void *b)
{
	const struct pp_use *x = a, *y = b;

	return strcmp(x->image->name, y->image->name) ?:
	       op_compare((uintptr_t)x->image, (uintptr_t)y->image) ?:
	       strcmp(x->app, y->app) ?: strcmp(x->file->path, y->file->path);
}

/* A call graph uses two images. */
static int add_uses_of_calls(struct op_arena *arena,
			     struct pp_sample_file *file, struct pp_use *uses)
{
	file->callers =
		op_arena_alloc(arena, file->nr_samples, sizeof(*file->callers));
	file->callees =
		op_arena_alloc(arena, file->nr_samples, sizeof(*file->callees));
	if (!file->callers || !file->callees)
		return -ENOMEM;
	uses[0] = (struct pp_use){ .image = file->image,
				   .app = file->app,
				   .file = file,
				   .ends = file->callers,
				   .shift = 32 };
	uses[1] = (struct pp_use){ .image = file->callee,
				   .app = file->app,
				   .file = file,
				   .ends = file->callees };
	return 0;
}

/* A call tree uses the images of frames whose symbols are needed. */
static size_t add_uses_of_tree(const struct pp_tree_input *tree,
			       struct pp_use *uses)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < ctree_nr_images(tree->tree); i++) {
		const struct pp_tree_image *image = &tree->images[i];

		if (image->nr_nodes)
			uses[nr++] = (struct pp_use){ .image = image->image,
						      .app = image->app,
						      .file = tree->file,
						      .tree = tree,
						      .tree_image = image };
	}
	return nr;
}

static size_t most_uses(const struct pp_side *side)
{
	size_t nr = 2 * side->list.nr;

	for (size_t i = 0; side->trees && i < side->trees->nr; i++)
		nr += ctree_nr_images(side->trees->list[i].tree);
	return nr;
}

int pp_find_uses(struct pp_population *p, const struct pp_side *side,
		 struct pp_use **out, size_t *nr)
{
	struct pp_use *uses = calloc(most_uses(side) + 1, sizeof(*uses));
	int err = uses ? 0 : -ENOMEM;

	*out = uses;
	*nr = 0;
	for (size_t i = 0; !err && i < side->list.nr; i++) {
		struct pp_sample_file *file = &side->list.files[i];

		if (pp_is_call_graph(file)) {
			err = add_uses_of_calls(&p->report->arena, file,
						&uses[*nr]);
			*nr += 2;
			continue;
		}
		uses[(*nr)++] = (struct pp_use){ .image = file->image,
						 .app = file->app,
						 .file = file };
	}
	for (size_t i = 0; !err && side->trees && i < side->trees->nr; i++)
		*nr += add_uses_of_tree(&side->trees->list[i], &uses[*nr]);
	if (!err)
		qsort(uses, *nr, sizeof(*uses), compare_image_uses);
	return err;
}

/* ---- points -------------------------------------------------------------- */

static size_t nr_points_of(const struct pp_use *use)
{
	return use->tree ? use->tree_image->nr_nodes : use->file->nr_samples;
}

static size_t nr_points_of_all(const struct pp_use *uses, size_t nr)
{
	size_t nr_points = 0;

	for (size_t i = 0; i < nr; i++)
		nr_points += nr_points_of(&uses[i]);
	return nr_points;
}

static uint64_t key_of_sample(const struct pp_use *use, size_t i)
{
	uint64_t key = use->file->samples[i].key;

	return use->ends ? (uint32_t)(key >> use->shift) : key;
}

static uint64_t key_of_point(const struct pp_use *use, size_t i)
{
	struct ctree_node node;

	if (!use->tree)
		return key_of_sample(use, i);
	ctree_node(use->tree->tree, use->tree_image->nodes[i] + 1, &node);
	return node.offset;
}

static void put_tree_points(struct pp_point *points, const struct pp_use *use)
{
	const struct pp_tree_image *image = use->tree_image;

	for (uint32_t i = 0; i < image->nr_nodes; i++) {
		uint32_t at = image->nodes[i];
		struct ctree_node node;

		ctree_node(use->tree->tree, at + 1, &node);
		points[i] = (struct pp_point){
			.key = node.offset,
			.is_function = node.count ||
				       !(use->tree->needs[at] & PP_NEEDS_PLACE),
			.is_node = true,
			.class_nr = (unsigned int)use->tree->class_nr,
			.symbol_nr = &use->tree->frames[at],
		};
	}
}

static void put_file_points(struct pp_point *points, const struct pp_use *use)
{
	const struct pp_sample_file *file = use->file;
	uint32_t *ends = use->ends;

	for (size_t i = 0; i < file->nr_samples; i++) {
		const struct pp_sample *sample = &file->samples[i];

		points[i] = (struct pp_point){
			.key = key_of_sample(use, i),
			.class_nr = file->class_nr,
			.count = ends ? 0 : sample->count,
			.symbol_nr = ends ? &ends[i] : NULL,
			.is_function = ends && !use->shift,
			.weight = sample->count,
		};
	}
}

struct pp_point *pp_gather_points(const struct pp_use *uses, size_t nr,
				  size_t *nr_points)
{
	struct pp_point *points, *point;

	*nr_points = nr_points_of_all(uses, nr);
	points = point = calloc(*nr_points + 1, sizeof(*points));
	for (size_t i = 0; points && i < nr; i++) {
		if (uses[i].tree)
			put_tree_points(point, &uses[i]);
		else
			put_file_points(point, &uses[i]);
		point += nr_points_of(&uses[i]);
	}
	if (points)
		op_sort_by(points, *nr_points, key);
	return points;
}

uint64_t *pp_gather_keys(const struct pp_use *uses, size_t nr, size_t *nr_keys)
{
	uint64_t *keys;
	size_t at = 0;

	*nr_keys = nr_points_of_all(uses, nr);
	keys = malloc((*nr_keys + 1) * sizeof(*keys));
	for (size_t i = 0; keys && i < nr; i++)
		for (size_t j = 0; j < nr_points_of(&uses[i]); j++)
			keys[at++] = key_of_point(&uses[i], j);
	if (keys)
		op_sort_by_number(keys, *nr_keys, sizeof(*keys), 0);
	return keys;
}
