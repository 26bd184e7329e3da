/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_BUILD_H
#define LIBCFI_CFI_BUILD_H

#include "libcfi/cfi_image.h"
#include "libcfi/cfi_table.h"

/*
 * Fill @table, all zero, from @image. Returns 0 or -ENOMEM; the table is to be
 * freed by cfi_table_free() either way.
 */
int cfi_build(struct cfi_table *table, const struct cfi_image *image,
	      enum cfi_extent extent);

#endif /* LIBCFI_CFI_BUILD_H */
