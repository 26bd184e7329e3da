/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_KERNEL_H
#define DAEMON_OPD_KERNEL_H

/*
 * Which kernel image an address is in, as the OP_KERNEL_RANGE records of the
 * stream tell. The table is sorted by address and its ranges do not overlap:
 * where a module is said to have more than its code, the module above takes its
 * own part.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/image/op_build_id.h"

struct opd_image;
struct opd_images;

#define OPD_MAX_RANGES 65536

struct opd_range {
	uint64_t start;
	uint64_t end; /* first address behind it */
	uint64_t key; /* that start has in the image */
	struct opd_image *image;
};

struct opd_kernel {
	struct opd_images *images; /* borrowed, like the next */
	const char *vmlinux; /* what the kernel is filed under, or NULL */
	struct opd_range *ranges;
	size_t nr;
	bool sorted;
	uint64_t changes; /* of the table */
};

/* An empty table of @images; @vmlinux is that of the options. */
void opd_kernel_init(struct opd_kernel *kernel, struct opd_images *images,
		     const char *vmlinux);
void opd_kernel_release(struct opd_kernel *kernel);

/* Start a new table. */
void opd_kernel_clear(struct opd_kernel *kernel);

/* Likewise, but keep code that was made at run time. */
void opd_kernel_clear_images(struct opd_kernel *kernel);

/*
 * Add the range of @name (OP_KERNEL_NAME for the kernel itself). Returns 0,
 * -EINVAL for an empty range, -ENOSPC, -ENOMEM, -EEXIST when a file image has
 * the name.
 */
int opd_kernel_add(struct opd_kernel *kernel, const char *name, uint64_t start,
		   uint64_t end, const struct op_build_id *build_id);

/*
 * The same of the code that module @name runs once while it is loaded. Its keys
 * begin at OP_INIT_CODE_KEY, where no other code of a module has any.
 */
int opd_kernel_add_init(struct opd_kernel *kernel, const char *name,
			uint64_t start, uint64_t end,
			const struct op_build_id *build_id);

/*
 * Add code that was made at run time, one function. It takes the place of
 * such code that starts in it, and such code that starts before ends at it.
 * Errors as above.
 */
int opd_kernel_add_code(struct opd_kernel *kernel, const char *name,
			uint64_t start, uint64_t end);

/* The range that holds @pc, NULL if none; valid until the table changes. */
const struct opd_range *opd_kernel_find(struct opd_kernel *kernel, uint64_t pc);

#endif /* DAEMON_OPD_KERNEL_H */
