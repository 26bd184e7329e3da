/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_OPD_UNWIND_TABLES_H
#define DAEMON_OPD_UNWIND_TABLES_H

/*
 * The tables of images by cookie. An image whose file could not be had, or is
 * none that can be unwound, is remembered as such. Images of one build-id have
 * one table. When all tables take more than the limit, those not used for
 * longest go, and are made again when they are needed.
 */

#include "libop/op_build_id.h"
#include "daemon/opd_unwind.h"

#define OPD_UNWIND_BUCKETS 1024

struct opd_unwind_tables {
	const struct opd_unwind_ops *ops;
	void *ctx;
	size_t limit; /* bytes */
	struct opd_unwind_image *bucket[OPD_UNWIND_BUCKETS];
	struct opd_unwind_table *newest; /* by last use */
	struct opd_unwind_table *oldest;
	struct cfi_table *vdso;
	bool vdso_tried;
	struct opd_unwind_stats stats;
};

void opd_unwind_tables_init(struct opd_unwind_tables *tables,
			    const struct opd_unwind_ops *ops, void *ctx);

/* Free all; it may be used again. */
void opd_unwind_tables_forget(struct opd_unwind_tables *tables);

/* Drop what is beyond the limit. */
void opd_unwind_tables_trim(struct opd_unwind_tables *tables);

/*
 * The table for code in @map, NULL if there is none. It holds until the next
 * call.
 */
const struct cfi_table *
opd_unwind_tables_find(struct opd_unwind_tables *tables,
		       const struct opd_unwind_map *map);

#endif /* DAEMON_OPD_UNWIND_TABLES_H */
