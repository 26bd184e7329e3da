/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_OPD_PROC_H
#define DAEMON_SOURCE_OPD_PROC_H

/*
 * Where the running kernel and its modules lie, as /proc tells it.
 */

#include <stdint.h>

#include "libop/base/op_diag.h"

struct op_kallsyms;

/* Bytes with the zero byte, as in the kernel. */
#define OPD_MODULE_NAME_MAX 64

/*
 * The kernel's code: from _stext to _end (to _etext where the kernel does not
 * list its data) in @all. Returns 0; -EACCES with the reason when the addresses
 * are hidden; -ENOENT.
 */
int opd_proc_kernel(const struct op_kallsyms *all, uint64_t *start,
		    uint64_t *end, struct op_diag *diag);

/*
 * Call @fn for each module in @modules, a file like /proc/modules, until it
 * returns other than 0, which is then returned. A file that does not exist
 * has no modules. Returns 0; -EACCES with the reason when the addresses are
 * hidden; -errno.
 */
int opd_proc_modules(const char *modules,
		     int (*fn)(void *arg, const char *name, uint64_t start,
			       uint64_t end),
		     void *arg, struct op_diag *diag);

/* How many mappings a process may have, 0 when it is not known. */
uint64_t opd_proc_max_maps(void);

/* The speed of the first CPU in kHz, 0 when it is not known. */
uint32_t opd_proc_cpu_khz(void);

#endif /* DAEMON_SOURCE_OPD_PROC_H */
