/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_KERNEL_OP_VMLINUX_H
#define LIBOP_KERNEL_OP_VMLINUX_H

/*
 * The kernel's own image, from which reports may take its symbols.
 */

#include "libop/base/op_diag.h"

/*
 * Whether @path, as --vmlinux has it, is the image of the kernel that runs:
 * an ELF file with its build-id or, where the file or the kernel has none,
 * with its banner. @root ("" for this machine) is where sys/kernel/notes and
 * proc/version are; where they tell neither, each ELF file will do. Returns 0
 * or -errno with the reason in @diag, which ends with @instead: what to do
 * where there is no such file.
 */
int op_vmlinux_check(const char *path, const char *root, const char *instead,
		     struct op_diag *diag);

#endif /* LIBOP_KERNEL_OP_VMLINUX_H */
