// SPDX-License-Identifier: GPL-2.0-or-later
/* Images as sample files name them, and as a report shows them. */

#include <errno.h>
#include <string.h>

#include "libop/image/op_build_id.h"
#include "libpp/report/population.h"

struct pp_image *pp_image_new(struct op_arena *arena, const char *name,
			      const struct op_image_name *recorded,
			      const char *build,
			      const struct op_sample_header *header)
{
	struct pp_image *image = op_arena_alloc(arena, 1, sizeof(*image));

	if (!image)
		return NULL;
	image->name = image->path = name;
	image->base = pp_base_name(name);
	image->recorded = *recorded;
	image->kind = header->kind;
	image->build = build;
	image->mtime = header->mtime;
	image->anon_start = header->anon_start;
	image->build_id =
		op_build_id_of_room(header->build_id, header->build_id_len);
	return image;
}

static int take_module_path(void *data, const char *path)
{
	*(const char **)data = path;
	return 0;
}

/* A module that the image path has goes by the name that it has there. */
int pp_side_name_module(struct pp_side *side, const struct op_image_name *name,
			const char **shown)
{
	const char *path;
	int err;

	if (!side->locator.image_path || name->space != OP_SPACE_KERN)
		return 0;
	err = pp_locate_module(&side->locator, *shown, true, take_module_path,
			       &path);
	if (!err)
		*shown = pp_locate_home(&side->locator, path);
	return err == -ENOMEM ? err : 0;
}
