// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Uses of images: a sample file uses the image that its samples are in. Parts
 * of the report that have other places add their own (struct pp_symbol_user).
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_search.h"
#include "libop/base/op_sort.h"
#include "libpp/report/populate_symbols.h"

static int compare_image_uses(const void *a, const void *b)
{
	const struct pp_use *x = a, *y = b;

	return strcmp(x->image->name, y->image->name) ?:
	       op_compare((uintptr_t)x->image, (uintptr_t)y->image) ?:
	       strcmp(x->app, y->app) ?: strcmp(x->file->path, y->file->path);
}

static uint64_t key_of_sample(const struct pp_use *use, size_t i)
{
	return use->file->samples[i].key;
}

static void put_samples(struct pp_point *points, const struct pp_use *use)
{
	const struct pp_sample_file *file = use->file;

	for (size_t i = 0; i < file->nr_samples; i++)
		points[i] = (struct pp_point){
			.key = file->samples[i].key,
			.class_nr = file->class_nr,
			.count = file->samples[i].count,
			.weight = file->samples[i].count,
		};
}

/* Whether the symbols of @file tell what threads waited for. */
static bool tells_waits(const struct pp_side *side,
			const struct pp_sample_file *file)
{
	return file->image->recorded.space == OP_SPACE_KERN &&
	       pp_class_is_wait(&side->classes.classes[file->class_nr]);
}

int pp_find_uses(struct pp_population *p, struct pp_side *side,
		 struct pp_use **out, size_t *nr)
{
	struct pp_use *uses;
	size_t room = side->list.nr;
	int err = 0;

	for (size_t i = 0; i < side->nr_users; i++)
		if (side->users[i]->nr_uses)
			room += side->users[i]->nr_uses(side);
	*out = uses = calloc(room + 1, sizeof(*uses));
	*nr = 0;
	if (!uses)
		return -ENOMEM;
	for (size_t i = 0; i < side->list.nr; i++) {
		struct pp_sample_file *file = &side->list.files[i];

		if (!pp_is_call_graph(file) &&
		    (!pp_seeks_waits_only(p->request) ||
		     tells_waits(side, file)))
			uses[(*nr)++] = (struct pp_use){
				.image = file->image,
				.app = file->app,
				.file = file,
				.nr_points = file->nr_samples,
				.key = key_of_sample,
				.put = put_samples,
			};
	}
	for (size_t i = 0; i < side->nr_users && !err; i++)
		if (side->users[i]->add_uses)
			err = side->users[i]->add_uses(p, side, uses, nr);
	if (!err)
		qsort(uses, *nr, sizeof(*uses), compare_image_uses);
	return err;
}

/* ---- points -------------------------------------------------------------- */

static size_t nr_points_of_all(const struct pp_use *uses, size_t nr)
{
	size_t nr_points = 0;

	for (size_t i = 0; i < nr; i++)
		nr_points += uses[i].nr_points;
	return nr_points;
}

struct pp_point *pp_gather_points(const struct pp_use *uses, size_t nr,
				  size_t *nr_points)
{
	struct pp_point *points, *point;

	*nr_points = nr_points_of_all(uses, nr);
	points = point = calloc(*nr_points + 1, sizeof(*points));
	for (size_t i = 0; points && i < nr; i++) {
		uses[i].put(point, &uses[i]);
		point += uses[i].nr_points;
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
		for (size_t j = 0; j < uses[i].nr_points; j++)
			keys[at++] = uses[i].key(&uses[i], j);
	if (keys)
		op_sort_by_number(keys, *nr_keys, sizeof(*keys), 0);
	return keys;
}

struct pp_place *pp_places_of_chain(const struct pp_batch *b,
				    const struct pp_point *point)
{
	uint32_t nr = point->chain.nr;
	struct pp_place *places =
		op_arena_alloc(&b->p->report->arena, nr, sizeof(*places));

	if (places && b->p->request->lines.wanted)
		pp_image_symbols_chain(b->symbols, point->key, b->places,
				       places, nr);
	return places;
}
