/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBPP_FORMAT_FRAME_IMAGES_H
#define LIBPP_FORMAT_FRAME_IMAGES_H

/* The images of all frames of a call tree, each once, for formats that number
 * them. */

#include <stdint.h>

#include "libpp/tree/tree.h"

struct pp_frame_images {
	const char **names; /* by name */
	uint32_t nr;
	int32_t *of_frame; /* for each frame: index of its image; -1: none */
};

/* Returns 0 or -ENOMEM. To be released either way. */
int pp_frame_images_init(struct pp_frame_images *images,
			 const struct pp_tree *tree);
void pp_frame_images_release(struct pp_frame_images *images);

#endif /* LIBPP_FORMAT_FRAME_IMAGES_H */
