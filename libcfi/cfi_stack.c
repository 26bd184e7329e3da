// SPDX-License-Identifier: GPL-2.0-or-later
/* The reasons why an address is not in the piece of a stack. */

#include "libcfi/cfi_stack.h"

/*
 * More than the frame of a signal takes: a stack pointer that is no farther
 * beyond the piece than this is on the same stack.
 */
#define MAX_SIGNAL_FRAME 32768

enum cfi_step cfi_why_unreadable(const struct cfi_frame *f, uint64_t addr)
{
	uint64_t start = f->stack->start, end = start + f->stack->len;

	if (addr > CFI_MAX_ADDRESS)
		return CFI_BAD_STACK;
	if (!f->stack->len || f->sp < start || f->sp > end + MAX_SIGNAL_FRAME)
		return CFI_OTHER_STACK;
	return addr >= start ? CFI_SHORT_STACK : CFI_BAD_STACK;
}
