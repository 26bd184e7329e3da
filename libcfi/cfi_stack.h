/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_CFI_STACK_H
#define LIBCFI_CFI_STACK_H

/*
 * A frame while its caller is sought: its registers, of which some are known,
 * and the piece of the stack, which is all memory that can be read.
 */

#include <string.h>

#include "libcfi/cfi.h"

/* The highest address of a program with 57-bit addresses; AArch64 has fewer. */
#define CFI_MAX_ADDRESS (((uint64_t)1 << 56) - 1)

struct cfi_frame {
	enum cfi_arch arch;
	const struct cfi_regs *regs;
	const struct cfi_stack *stack;
	uint64_t sp;
	unsigned int *nr_ops; /* that all its expressions may still run */
};

static inline bool cfi_register_is_known(const struct cfi_regs *regs,
					 uint64_t reg)
{
	return reg < CFI_MAX_REGS && (regs->known >> reg & 1);
}

/*
 * The reason why @addr cannot be read, not CFI_CALLER. If the frame is on the
 * stack of the piece, an address below the piece is an error; another stack may
 * be anywhere.
 */
enum cfi_step cfi_why_unreadable(const struct cfi_frame *f, uint64_t addr);

/* @size bytes at @addr. Returns CFI_CALLER if they could be read. */
static inline enum cfi_step cfi_load(const struct cfi_frame *frame,
				     uint64_t addr, unsigned int size,
				     uint64_t *value)
{
	const struct cfi_stack *stack = frame->stack;
	uint64_t at = addr - stack->start;

	if (addr < stack->start || at > stack->len || size > stack->len - at)
		return cfi_why_unreadable(frame, addr);
	*value = 0;
	memcpy(value, stack->bytes + at, size);
	return CFI_CALLER;
}

#endif /* LIBCFI_CFI_STACK_H */
