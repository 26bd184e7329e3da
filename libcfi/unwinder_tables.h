/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_UNWINDER_TABLES_H
#define LIBCFI_UNWINDER_TABLES_H

/*
 * The tables of images by cookie. An image whose file could not be had, or is
 * none that can be unwound, is remembered as such; one for whose table there
 * was no memory is tried again now and then. Equal tables of one build-id are
 * one. When all tables take more than the limit, those not used for longest go,
 * and are made again when they are needed.
 */

#include "libop/image/op_build_id.h"
#include "libop/base/op_hash.h"
#include "libcfi/unwinder.h"

struct unwinder_tables {
	const struct unwinder_ops *ops;
	void *ctx;
	size_t limit; /* bytes */
	struct unwinder_image *images; /* all that were asked for */
	size_t nr_images;
	size_t last; /* number of the image that was found last, from 1 */
	struct op_hash index; /* of images by cookie, from 1 */
	struct unwinder_table *newest; /* by last use */
	struct unwinder_table *oldest;
	struct cfi_table *vdso;
	bool vdso_tried;
	bool lacks_memory; /* the last answer is no table for this reason */
	struct unwinder_stats stats;
};

void unwinder_tables_init(struct unwinder_tables *tables,
			  const struct unwinder_ops *ops, void *ctx);

/* Free all; it may be used again. */
void unwinder_tables_forget(struct unwinder_tables *tables);

/* Drop what is beyond the limit. */
void unwinder_tables_trim(struct unwinder_tables *tables);

/*
 * The table for code in @map, which tells so much or more; NULL if there is
 * none, or no memory for one (lacks_memory). It holds until the next call.
 */
const struct cfi_table *unwinder_tables_find(struct unwinder_tables *tables,
					     const struct unwinder_map *map,
					     enum cfi_extent extent);

#endif /* LIBCFI_UNWINDER_TABLES_H */
