// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ranges come in tables of hundreds, so they are appended and sorted at the
 * first look-up after a change. Sorting also cuts each range where the next one
 * starts, which gives the binary search of opd_kernel_find() ranges without
 * overlap. Code made at run time (BPF) is announced one function at a time and
 * is not part of the tables, so a new table leaves it in place.
 */

#include "daemon/opd_kernel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/store/opd_image.h"
#include "libop/base/op_array.h"
#include "libop/session/op_sample_file.h"
#include "libop/base/op_search.h"
#include "module/uapi/oprofile.h"

void opd_kernel_init(struct opd_kernel *kernel, struct opd_images *images,
		     const char *vmlinux)
{
	memset(kernel, 0, sizeof(*kernel));
	kernel->images = images;
	kernel->vmlinux = vmlinux;
	kernel->sorted = true;
}

void opd_kernel_release(struct opd_kernel *kernel)
{
	free(kernel->ranges);
	kernel->ranges = NULL;
	kernel->nr = 0;
}

void opd_kernel_clear(struct opd_kernel *kernel)
{
	kernel->nr = 0;
	kernel->sorted = true;
	kernel->changes++;
}

/* The image that samples in kernel image @name are counted in. */
static struct opd_image_id image_id(const struct opd_kernel *kernel,
				    const char *name,
				    const struct op_build_id *build_id)
{
	struct opd_image_id id = {
		.space = OP_SPACE_KERN,
		.kind = OP_IMAGE_MODULE,
		.name = name,
		.build_id = *build_id,
	};

	if (!strcmp(name, OP_KERNEL_NAME)) {
		id.kind = OP_IMAGE_KERNEL;
		if (kernel->vmlinux) {
			id.space = OP_SPACE_ROOT;
			id.name = kernel->vmlinux;
		}
	}
	return id;
}

static int add_range(struct opd_kernel *kernel, const struct opd_image_id *id,
		     uint64_t start, uint64_t end, uint64_t key)
{
	struct opd_image *image;
	int err;

	if (start >= end)
		return -EINVAL;
	if (kernel->nr >= OPD_MAX_RANGES)
		return -ENOSPC;
	err = op_array_reserve(&kernel->ranges, kernel->nr, 1);
	if (!err)
		err = opd_image_get(kernel->images, id, &image);
	if (err)
		return err;
	if (!key) {
		image->start = start;
		image->end = end;
	}
	kernel->ranges[kernel->nr++] =
		(struct opd_range){ start, end, key, image };
	kernel->sorted = false;
	kernel->changes++;
	return 0;
}

int opd_kernel_add(struct opd_kernel *kernel, const char *name, uint64_t start,
		   uint64_t end, const struct op_build_id *build_id)
{
	struct opd_image_id id = image_id(kernel, name, build_id);

	return add_range(kernel, &id, start, end, 0);
}

int opd_kernel_add_init(struct opd_kernel *kernel, const char *name,
			uint64_t start, uint64_t end,
			const struct op_build_id *build_id)
{
	struct opd_image_id id = image_id(kernel, name, build_id);

	return add_range(kernel, &id, start, end, OP_INIT_CODE_KEY);
}

static bool is_code(const struct opd_range *range)
{
	return range->image->kind == OP_IMAGE_PSEUDO;
}

void opd_kernel_clear_images(struct opd_kernel *kernel)
{
	size_t kept = 0;

	for (size_t i = 0; i < kernel->nr; i++)
		if (is_code(&kernel->ranges[i]))
			kernel->ranges[kept++] = kernel->ranges[i];
	kernel->nr = kept;
	kernel->changes++;
}

/* Code from @start to before @end takes the place of what starts there; what
 * starts before, of which the end may have been guessed, ends there. */
static void make_room(struct opd_kernel *kernel, uint64_t start, uint64_t end)
{
	size_t kept = 0;

	for (size_t i = 0; i < kernel->nr; i++) {
		struct opd_range range = kernel->ranges[i];

		if (is_code(&range) && start <= range.start &&
		    range.start < end)
			continue;
		if (is_code(&range) && range.start < start && start < range.end)
			range.end = start;
		kernel->ranges[kept++] = range;
	}
	kernel->nr = kept;
	kernel->changes++;
}

int opd_kernel_add_code(struct opd_kernel *kernel, const char *name,
			uint64_t start, uint64_t end)
{
	const struct opd_image_id id = {
		.space = OP_SPACE_KERN,
		.kind = OP_IMAGE_PSEUDO,
		.name = name,
	};

	make_room(kernel, start, end);
	return add_range(kernel, &id, start, end, 0);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct opd_range *ra = a;
	const struct opd_range *rb = b;

	return op_compare(ra->start, rb->start) ?: op_compare(ra->end, rb->end);
}

static void sort_ranges(struct opd_kernel *kernel)
{
	struct opd_range *ranges = kernel->ranges;

	if (kernel->nr)
		qsort(ranges, kernel->nr, sizeof(ranges[0]), compare_ranges);
	for (size_t i = 0; i + 1 < kernel->nr; i++)
		if (ranges[i].end > ranges[i + 1].start)
			ranges[i].end = ranges[i + 1].start;
	kernel->sorted = true;
}

const struct opd_range *opd_kernel_find(struct opd_kernel *kernel, uint64_t pc)
{
	const struct opd_range *at;
	size_t nr;

	if (!kernel->sorted)
		sort_ranges(kernel);
	at = kernel->ranges;
	nr = kernel->nr;
	/* The last range that starts at or below pc is in at[0..nr). */
	while (nr > 1) {
		size_t half = nr / 2;

		at += at[half].start <= pc ? half : 0;
		nr -= half;
	}
	return nr && at->start <= pc && pc < at->end ? at : NULL;
}
