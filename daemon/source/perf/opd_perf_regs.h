/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DAEMON_SOURCE_PERF_OPD_PERF_REGS_H
#define DAEMON_SOURCE_PERF_OPD_PERF_REGS_H

/*
 * User registers in a sample of perf_events: which are asked for, and what
 * they are to an unwinder. They come as 64-bit words in the order of the bits
 * of the mask (asm/perf_regs.h), also those of a 32-bit task.
 */

#include <stdbool.h>
#include <stdint.h>

#include "libcfi/cfi.h"
#include "module/uapi/oprofile.h"

#if defined(__x86_64__)
/* AX BX CX DX SI DI BP SP IP, R8 to R15 */
#define OPD_PERF_REGS UINT64_C(0xff01ff)
#define OPD_PERF_NR_REGS 17
#define OPD_PERF_STACK_ARCH OP_STACK_X86_64
#elif defined(__aarch64__)
/* X0 to X29, LR, SP, PC */
#define OPD_PERF_REGS UINT64_C(0x1ffffffff)
#define OPD_PERF_NR_REGS 33
#define OPD_PERF_STACK_ARCH OP_STACK_AARCH64
#endif

/* The state of a task of the sampled machine in user mode. */
struct opd_perf_user {
	struct cfi_regs regs;
	uint64_t pc;
	uint64_t sp;
	uint64_t fp;
	/* The task is in a system call: its pc is a return address, not that of
	 * an instruction which was under way. */
	bool in_syscall;
};

/* Fill @user from the words at @words, one for each bit of @mask, which has at
 * least those of OPD_PERF_REGS; @narrow: they are of a 32-bit task. */
void opd_perf_regs_parse(struct opd_perf_user *user, uint64_t mask,
			 const void *words, bool narrow);

/* A caller of a 32-bit task. */
struct opd_perf_frame {
	uint32_t next; /* the frame above, 0: none */
	uint32_t pc; /* where it returns to */
};

/* The frame at @fp from the words there: one below, at it, one above. */
struct opd_perf_frame opd_perf_frame_parse(const uint32_t words[3],
					   uint64_t fp);

#endif /* DAEMON_SOURCE_PERF_OPD_PERF_REGS_H */
