// SPDX-License-Identifier: GPL-2.0-or-later

#include "libpp/format/frame_images.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_frame_images(const void *a, const void *b, void *arg)
{
	const struct pp_frame *frames = arg;
	const char *x = frames[*(const uint32_t *)a].image;
	const char *y = frames[*(const uint32_t *)b].image;

	if (!x || !y)
		return (x != NULL) - (y != NULL);
	return strcmp(x, y);
}

int pp_frame_images_init(struct pp_frame_images *images,
			 const struct pp_tree *tree)
{
	uint32_t *order = calloc(tree->nr_frames, sizeof(*order));

	*images = (struct pp_frame_images){
		.names = calloc(tree->nr_frames, sizeof(const char *)),
		.of_frame = calloc(tree->nr_frames, sizeof(*images->of_frame)),
	};
	if (!order || !images->names || !images->of_frame) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < tree->nr_frames; i++)
		order[i] = i;
	qsort_r(order, tree->nr_frames, sizeof(*order), compare_frame_images,
		tree->frames);
	for (uint32_t i = 0; i < tree->nr_frames; i++) {
		const char *image = tree->frames[order[i]].image;

		if (image &&
		    (!images->nr ||
		     strcmp(images->names[images->nr - 1], image) != 0))
			images->names[images->nr++] = image;
		images->of_frame[order[i]] =
			image ? (int32_t)images->nr - 1 : -1;
	}
	free(order);
	return 0;
}

void pp_frame_images_release(struct pp_frame_images *images)
{
	free(images->names);
	free(images->of_frame);
}
