/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_EXPR_H
#define LIBCFI_CFI_EXPR_H

/*
 * One frame while its caller is sought, and the expressions that are run on
 * it. No memory but the piece of the stack can be read.
 */

#include "libcfi/cfi.h"

struct cfi_frame {
	enum cfi_arch arch;
	const struct cfi_regs *regs;
	const struct cfi_stack *stack;
	uint64_t sp;
	unsigned int *nr_ops; /* that all its expressions may still run */
};

/* A signal frame's need some 50. */
#define CFI_MAX_OPS 256

/* @size bytes at @addr. Returns CFI_CALLER if they could be read. */
enum cfi_step cfi_load(const struct cfi_frame *frame, uint64_t addr,
		       unsigned int size, uint64_t *value);

/*
 * Run an expression; the stack of values starts with *@initial, if not NULL.
 * Returns CFI_CALLER if there is a result; CFI_NO_DATA for one that is
 * damaged, runs too long, or needs what is not known.
 */
enum cfi_step cfi_expr_run(const struct cfi_frame *frame, const uint8_t *expr,
			   size_t len, const uint64_t *initial,
			   uint64_t *value);

#endif /* LIBCFI_CFI_EXPR_H */
