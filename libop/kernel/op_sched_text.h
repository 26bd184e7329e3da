/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_KERNEL_OP_SCHED_TEXT_H
#define LIBOP_KERNEL_OP_SCHED_TEXT_H

#include <stdint.h>

/*
 * The addresses of the code of the kernel's scheduler, in which every wait
 * ends: the kernel keeps it between two symbols of its own
 * (include/asm-generic/sections.h of Linux). *@end is the first address behind
 * it. Both are 0 where /proc/kallsyms hides addresses from this user.
 */
void op_sched_text(uint64_t *start, uint64_t *end);

#endif /* LIBOP_KERNEL_OP_SCHED_TEXT_H */
