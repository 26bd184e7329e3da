// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Images are a list that only grows, because sample files, ranges and cookies
 * point to them. Two hash tables lead into it: by name to the first image of
 * that name, whose kind all others have, and by name and build to each. So a
 * file that is built a thousand times costs no more to find than another.
 */

#include "daemon/store/opd_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libop/base/op_array.h"

static bool is_wanted(const struct opd_images *images, const char *name)
{
	for (unsigned int i = 0; i < images->nr_wanted; i++)
		if (!strcmp(images->wanted[i], name))
			return true;
	return images->nr_wanted == 0;
}

int opd_images_init(struct opd_images *images, char *const *wanted,
		    unsigned int nr_wanted)
{
	struct opd_image_id other = {
		.space = OP_SPACE_KERN,
		.kind = OP_IMAGE_PSEUDO,
		.name = "[kernel-other]",
	};

	memset(images, 0, sizeof(*images));
	images->anon.space = OP_SPACE_ANON;
	images->anon.kind = OP_IMAGE_ANON;
	images->wanted = wanted;
	images->nr_wanted = nr_wanted;
	images->anon.wanted = nr_wanted == 0;
	images->anon.first = &images->anon;
	return opd_image_get(images, &other, &images->other);
}

void opd_images_release(struct opd_images *images)
{
	for (size_t i = 0; i < images->nr; i++) {
		free(images->list[i]->name);
		free(images->list[i]);
	}
	free(images->list);
	images->list = NULL;
	images->nr = images->names_len = 0;
	op_hash_release(&images->names);
	op_hash_release(&images->builds);
}

static bool same_name(const struct opd_image *image,
		      const struct opd_image_id *id)
{
	return image->space == id->space && !strcmp(image->name, id->name);
}

static struct opd_image *find_first(const struct opd_images *images,
				    const struct opd_image_id *id,
				    uint64_t hash)
{
	uint32_t number;

	op_hash_each(&images->names, hash, number)
		if (same_name(images->list[number - 1], id))
			return images->list[number - 1];
	return NULL;
}

static struct opd_image *find_build(const struct opd_images *images,
				    const struct opd_image_id *id,
				    const char *build, uint64_t hash)
{
	uint32_t number;

	op_hash_each(&images->builds, hash, number) {
		struct opd_image *image = images->list[number - 1];

		if (same_name(image, id) && !strcmp(image->build, build))
			return image;
	}
	return NULL;
}

static struct opd_image *new_image(struct opd_images *images,
				   const struct opd_image_id *id,
				   const char *build)
{
	struct opd_image *image = calloc(1, sizeof(*image));

	if (image)
		image->name = strdup(id->name);
	if (!image || !image->name) {
		free(image);
		return NULL;
	}
	image->space = id->space;
	image->kind = id->kind;
	image->is_made = id->is_made;
	image->build_id = id->build_id;
	image->mtime = id->mtime;
	image->wanted = is_wanted(images, id->name);
	strcpy(image->build, build);
	image->first = image;
	return image;
}

/* @hash is that of its name, @build_hash that of name and build. */
static int add_image(struct opd_images *images, struct opd_image *image,
		     uint64_t hash, uint64_t build_hash)
{
	if (op_array_reserve(&images->list, images->nr, 1) ||
	    op_hash_reserve(&images->names, images->nr + 1) ||
	    op_hash_reserve(&images->builds, images->nr + 1)) {
		free(image->name);
		free(image);
		return -ENOMEM;
	}
	images->list[images->nr++] = image;
	images->names_len += strlen(image->name) + 1;
	if (image->first == image)
		op_hash_add(&images->names, hash, (uint32_t)images->nr);
	op_hash_add(&images->builds, build_hash, (uint32_t)images->nr);
	return 0;
}

static bool has_room(const struct opd_images *images, const char *name)
{
	return images->nr < OPD_IMAGES_MAX &&
	       strlen(name) < OPD_IMAGE_NAMES_MAX - images->names_len;
}

int opd_image_get(struct opd_images *images, const struct opd_image_id *id,
		  struct opd_image **out)
{
	struct opd_image *first, *image;
	uint64_t hash, build_hash;
	char build[OP_BUILD_TEXT_MAX];
	int err;

	/* The seeds are there from the first image on. */
	if (op_hash_reserve(&images->names, 1) ||
	    op_hash_reserve(&images->builds, 1))
		return -ENOMEM;
	op_build_text(build, &id->build_id, id->dev, id->ino, id->mtime);
	hash = op_hash_text(images->names.seed, id->name);
	build_hash = op_hash_text(op_hash_text(images->builds.seed, id->name),
				  build);
	first = find_first(images, id, hash);
	if (first && first->kind != id->kind)
		return -EEXIST;
	*out = find_build(images, id, build, build_hash);
	if (*out)
		return 0;
	if (!has_room(images, id->name))
		return -ENOSPC;
	image = new_image(images, id, build);
	if (!image)
		return -ENOMEM;
	if (first)
		image->first = first;
	err = add_image(images, image, hash, build_hash);
	if (!err)
		*out = image;
	return err;
}
