/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_PROGRAM_H
#define LIBCFI_CFI_PROGRAM_H

/*
 * Runs the instructions of an FDE (DWARF 5 section 6.4.2): they go through the
 * function from its start and say what changes where. Each place where
 * something does becomes a row.
 */

#include "libcfi/cfi_frames.h"
#include "libcfi/cfi_rules.h"

/* Where rows go: @rule holds from @addr on. Returns 0 or -ENOMEM. */
struct cfi_row_sink {
	int (*add)(void *ctx, uint64_t addr, uint32_t rule);
	void *ctx;
};

/*
 * Run @fde. What it says before a mistake counts; from there to its end there
 * is rule 0. Returns 0 or -ENOMEM.
 */
int cfi_program_run(const struct cfi_fde *fde, enum cfi_arch arch,
		    struct cfi_rules *rules, const struct cfi_row_sink *sink);

#endif /* LIBCFI_CFI_PROGRAM_H */
