/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_OP_VMLINUX_H
#define LIBOP_OP_VMLINUX_H

/*
 * The kernel's own image, from which reports may take its symbols.
 */

#include "libop/op_diag.h"

/*
 * Whether @path, as --vmlinux has it, is an ELF file that can be read. Returns
 * 0 or -errno with the reason in @diag, which ends with @instead: what to do
 * where there is none.
 */
int op_vmlinux_check(const char *path, const char *instead,
		     struct op_diag *diag);

#endif /* LIBOP_OP_VMLINUX_H */
