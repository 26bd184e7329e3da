/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBOP_EVENTS_OP_CPU_ID_H
#define LIBOP_EVENTS_OP_CPU_ID_H

/*
 * The identity of a CPU, and the "match" lines of the files events/ARCH/CPU/cpu
 * that it is compared with; for libop's own use.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libop/base/op_diag.h"

/* Numbers that identify a CPU; /proc/cpuinfo has them under other names. */
enum op_cpu_number {
	OP_CPU_FAMILY, /* CPUID, x86 */
	OP_CPU_MODEL,
	OP_CPU_STEPPING,
	OP_CPU_SIBLINGS, /* threads in one package */
	OP_CPU_IMPLEMENTER, /* MIDR, ARM */
	OP_CPU_VARIANT,
	OP_CPU_PART,
	OP_CPU_REVISION,
	OP_CPU_ARCHITECTURE,
	OP_CPU_PVR, /* its upper half: the version, POWER */
	OP_CPU_MACHINE, /* s390 */
	OP_CPU_NR_NUMBERS
};

struct op_cpu_id {
	char vendor[32]; /* of CPUID; "" unknown */
	bool has[OP_CPU_NR_NUMBERS];
	uint64_t number[OP_CPU_NR_NUMBERS];
	char pmu[16]; /* "cpu_core" or "cpu_atom" where CPUs differ, x86 */
	char model[64]; /* likewise words: "MIPS 24Kc", MIPS */
	char flags[4096]; /* words, a blank before and after each */
};

/*
 * The @nth different CPU of the machine whose /proc and /sys lie below @root.
 * Returns 0, -ENOENT without a reason, or -errno with one.
 */
int op_cpu_id_read(struct op_cpu_id *id, const char *root, unsigned int nth,
		   struct op_diag *diag);

/* A line for people: "vendor AuthenticAMD family 0x19 model 0x1". */
void op_cpu_id_print(const struct op_cpu_id *id, char *buf, size_t len);

/*
 * Compare with a text "KEY VALUE[,VALUE]... [KEY VALUES]...", which is cut
 * up. Keys are the numbers above, with numbers or ranges FIRST-LAST as values,
 * and vendor, flag, cpu and pmu, with words. Returns how many keys it has when
 * all fit, 0 when one does not, -EINVAL with *@why when it is no such text. @id
 * NULL only checks.
 */
int op_cpu_id_match(const struct op_cpu_id *id, char *text, const char **why);

#endif /* LIBOP_EVENTS_OP_CPU_ID_H */
