/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_KERNEL_RANGE_H
#define DAEMON_SOURCE_OPD_KERNEL_RANGE_H

/*
 * The addresses of the kernel's text, which stay as they are until the machine
 * boots again. To find them in /proc/kallsyms takes 70 ms, so the first session
 * of a boot leaves them in the cache of sessions, which its user alone may
 * read.
 */

#include <stdbool.h>
#include <stdint.h>

struct op_build_id;

/* *@start and *@end = the range of the kernel @id, as a session of this boot
 * has left it; @proc is the folder "/proc". False if none has. */
bool opd_kernel_range_get(const char *proc, const struct op_build_id *id,
			  uint64_t *start, uint64_t *end);

/* Leave the range to later sessions. That this fails is no loss. */
void opd_kernel_range_keep(const char *proc, const struct op_build_id *id,
			   uint64_t start, uint64_t end);

#endif /* DAEMON_SOURCE_OPD_KERNEL_RANGE_H */
