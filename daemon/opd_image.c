// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * All images are in one hash table by name, and never leave it, because sample
 * files, ranges and cookies point to them. The builds of one name share a
 * bucket in the order of their appearance, so the first of them is found on the
 * way.
 *
 * A new image starts as superseded. settle_builds() makes it the current build
 * of its name and supersedes the one before it, whose sample files are closed.
 * An image whose file has been deleted does not replace a current build: a
 * process that still runs an old binary says nothing about the file that is
 * there now. An earlier build that is named again becomes current again.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/opd.h"

static bool is_wanted(const struct opd *opd, const char *name)
{
	const struct opd_options *opt = &opd->options;

	for (unsigned int i = 0; i < opt->nr_images; i++)
		if (!strcmp(opt->images[i], name))
			return true;
	return opt->nr_images == 0;
}

int opd_images_init(struct opd *opd)
{
	struct opd_images *images = &opd->images;
	struct opd_image_id other = {
		.space = OP_SPACE_KERN,
		.kind = OP_IMAGE_PSEUDO,
		.name = "[kernel-other]",
	};

	memset(images, 0, sizeof(*images));
	images->anon.space = OP_SPACE_ANON;
	images->anon.kind = OP_IMAGE_ANON;
	images->anon.wanted = opd->options.nr_images == 0;
	images->anon.first = &images->anon;
	return opd_image_get(opd, &other, &images->other);
}

void opd_images_release(struct opd *opd)
{
	for (unsigned int i = 0; i < OPD_IMAGE_BUCKETS; i++) {
		struct opd_image *image = opd->images.bucket[i];

		while (image) {
			struct opd_image *next = image->next;

			free(image->name);
			free(image);
			image = next;
		}
		opd->images.bucket[i] = NULL;
	}
}

static bool same_name(const struct opd_image *image,
		      const struct opd_image_id *id)
{
	return image->space == id->space && !strcmp(image->name, id->name);
}

static bool same_build(const struct opd_image *image,
		       const struct opd_image_id *id)
{
	return !op_builds_differ(&image->build_id, image->mtime, &id->build_id,
				 id->mtime);
}

static struct opd_image **bucket_of(struct opd *opd, const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return &opd->images.bucket[(hash ^ hash >> 16) % OPD_IMAGE_BUCKETS];
}

static struct opd_image *new_image(struct opd *opd,
				   const struct opd_image_id *id)
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
	image->build_id = id->build_id;
	image->mtime = id->mtime;
	image->wanted = is_wanted(opd, id->name);
	image->superseded = true; /* until it is settled */
	image->first = image;
	return image;
}

/* Another build of @image's name is the current one from now on. */
static void supersede(struct opd *opd, struct opd_image *image)
{
	if (image->superseded)
		return;
	image->superseded = true;
	opd_sfiles_drop_image(opd, image);
	op_log(&opd->log,
	       "%s: another build appeared; further samples of the earlier one are lost_old_build",
	       image->name);
}

/* @image is or is not the current build of its name. */
static void settle_builds(struct opd *opd, struct opd_image *first,
			  struct opd_image *image,
			  const struct opd_image_id *id)
{
	bool rival = false;

	for (struct opd_image *i = first; i; i = i->next)
		rival |= i != image && same_name(i, id) && !i->superseded;
	if (rival && id->deleted)
		return;
	for (struct opd_image *i = first; i; i = i->next)
		if (i != image && same_name(i, id))
			supersede(opd, i);
	image->superseded = false;
}

/* Make an image and put it behind those that have its hash. */
static struct opd_image *add_image(struct opd *opd, struct opd_image **bucket,
				   const struct opd_image_id *id)
{
	struct opd_image *image = new_image(opd, id);

	if (!image)
		return NULL;
	for (; *bucket; bucket = &(*bucket)->next)
		if (image->first == image && same_name(*bucket, id))
			image->first = *bucket;
	*bucket = image;
	return image;
}

int opd_image_get(struct opd *opd, const struct opd_image_id *id,
		  struct opd_image **out)
{
	struct opd_image **bucket = bucket_of(opd, id->name);
	struct opd_image *image;

	for (image = *bucket; image; image = image->next) {
		if (!same_name(image, id))
			continue;
		if (image->kind != id->kind)
			return -EEXIST;
		if (same_build(image, id))
			break;
	}
	if (!image)
		image = add_image(opd, bucket, id);
	if (!image)
		return -ENOMEM;
	if (image->superseded)
		settle_builds(opd, *bucket, image, id);
	*out = image;
	return 0;
}
