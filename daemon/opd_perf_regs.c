// SPDX-License-Identifier: GPL-2.0-or-later

#include "daemon/opd_perf_regs.h"

#include <string.h>

/* The DWARF number of each word. */
#if defined(__x86_64__)
enum { DX = 1, CX = 2, BX = 3, SI = 4, DI = 5, AX = 0 };
static const uint8_t numbers[OPD_PERF_NR_REGS] = {
	AX,
	BX,
	CX,
	DX,
	SI,
	DI,
	CFI_X86_64_RBP,
	CFI_X86_64_RSP,
	CFI_X86_64_RIP,
	8,
	9,
	10,
	11,
	12,
	13,
	14,
	15,
};

static void fill(struct opd_perf_user *user, const uint64_t *reg)
{
	user->pc = reg[CFI_X86_64_RIP];
	user->sp = reg[CFI_X86_64_RSP];
	user->fp = reg[CFI_X86_64_RBP];
	/* SYSCALL leaves the return address there (APM volume 3). */
	user->in_syscall = reg[CX] == user->pc;
}
#elif defined(__aarch64__)
static const uint8_t numbers[OPD_PERF_NR_REGS] = {
	0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

static void fill(struct opd_perf_user *user, const uint64_t *reg)
{
	user->pc = reg[CFI_AARCH64_PC];
	user->sp = reg[CFI_AARCH64_SP];
	user->fp = reg[CFI_AARCH64_FP];
	/* Not to be seen; behind an SVC the same function goes on. */
	user->in_syscall = false;
}
#endif

void opd_perf_regs_take(struct opd_perf_user *user, const void *words)
{
	const unsigned char *at = words;

	memset(user, 0, sizeof(*user));
	for (unsigned int i = 0; i < OPD_PERF_NR_REGS; i++) {
		memcpy(&user->regs.reg[numbers[i]], at + 8 * i, 8);
		user->regs.known |= UINT64_C(1) << numbers[i];
	}
	fill(user, user->regs.reg);
}
