/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_FILES_OP_PROC_H
#define LIBOP_FILES_OP_PROC_H

/* Numbers that the kernel tells of a process or thread, proc(5). */

#include <stdbool.h>
#include <stdint.h>

/*
 * *@number = the first number behind @key, such as "Tgid:", in the file status
 * of @pid below @proc, which is "/proc" but for tests. Returns false, with
 * *@number as it was, if there is no such process, line or number.
 */
bool op_proc_status(const char *proc, uint32_t pid, const char *key,
		    uint32_t *number);

#endif /* LIBOP_FILES_OP_PROC_H */
