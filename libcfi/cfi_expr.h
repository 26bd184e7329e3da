/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_EXPR_H
#define LIBCFI_CFI_EXPR_H

/* The expressions of unwind data, which are run on a frame. */

#include "libcfi/cfi_stack.h"

/* Operations of all expressions of a frame; a signal's frame needs some 50. */
#define CFI_MAX_OPS 256

/*
 * Run an expression; the stack of values starts with *@initial, if not NULL.
 * Returns CFI_CALLER if there is a result; CFI_NO_DATA for one that is
 * damaged, runs too long, or needs what is not known.
 */
enum cfi_step cfi_expr_run(const struct cfi_frame *frame, const uint8_t *expr,
			   size_t len, const uint64_t *initial,
			   uint64_t *value);

#endif /* LIBCFI_CFI_EXPR_H */
