// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All images are in one hash table by name, and never leave it, because sample
 * files, ranges and cookies point to them. The builds of one name share a
 * bucket in the order of their appearance, so the first of them is found on the
 * way.
 */

#include "daemon/store/opd_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	for (unsigned int i = 0; i < OPD_IMAGE_BUCKETS; i++) {
		struct opd_image *image = images->bucket[i];

		while (image) {
			struct opd_image *next = image->next;

			free(image->name);
			free(image);
			image = next;
		}
		images->bucket[i] = NULL;
	}
}

static bool same_name(const struct opd_image *image,
		      const struct opd_image_id *id)
{
	return image->space == id->space && !strcmp(image->name, id->name);
}

static struct opd_image **bucket_of(struct opd_images *images, const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return &images->bucket[(hash ^ hash >> 16) % OPD_IMAGE_BUCKETS];
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

/* Make an image and put it behind those that have its hash. */
static struct opd_image *add_image(struct opd_images *images,
				   struct opd_image **bucket,
				   const struct opd_image_id *id,
				   const char *build)
{
	struct opd_image *image = new_image(images, id, build);

	if (!image)
		return NULL;
	for (; *bucket; bucket = &(*bucket)->next)
		if (image->first == image && same_name(*bucket, id))
			image->first = *bucket;
	*bucket = image;
	return image;
}

int opd_image_get(struct opd_images *images, const struct opd_image_id *id,
		  struct opd_image **out)
{
	struct opd_image **bucket = bucket_of(images, id->name);
	char build[OP_BUILD_TEXT_MAX];
	struct opd_image *image;

	op_build_text(build, &id->build_id, id->dev, id->ino, id->mtime);
	for (image = *bucket; image; image = image->next) {
		if (!same_name(image, id))
			continue;
		if (image->kind != id->kind)
			return -EEXIST;
		if (!strcmp(image->build, build))
			break;
	}
	*out = image ? image : add_image(images, bucket, id, build);
	return *out ? 0 : -ENOMEM;
}
