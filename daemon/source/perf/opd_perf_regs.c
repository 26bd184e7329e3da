// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers come in the order of the bits of a mask, and which bit is which
 * register differs from their numbers in DWARF, by which code is unwound. A
 * recording may have more of them than are needed here.
 */

#include "daemon/source/perf/opd_perf_regs.h"

#include <string.h>

#define NONE UINT8_MAX

/* The DWARF number of each bit; flags and segments have none here. */
#if defined(__x86_64__)
enum { DX = 1, CX = 2, BX = 3, SI = 4, DI = 5, AX = 0 };
static const uint8_t numbers[] = {
	AX,
	BX,
	CX,
	DX,
	SI,
	DI,
	CFI_X86_64_RBP,
	CFI_X86_64_RSP,
	CFI_X86_64_RIP,
	NONE,
	NONE,
	NONE,
	NONE,
	NONE,
	NONE,
	NONE,
	8,
	9,
	10,
	11,
	12,
	13,
	14,
	15,
};

static void fill(struct opd_perf_user *user, const uint64_t *reg, bool narrow)
{
	(void)narrow;
	user->pc = reg[CFI_X86_64_RIP];
	user->sp = reg[CFI_X86_64_RSP];
	user->fp = reg[CFI_X86_64_RBP];
	/* SYSCALL leaves the return address there (APM volume 3). */
	user->in_syscall = reg[CX] == user->pc;
}

struct opd_perf_frame opd_perf_frame_parse(const uint32_t words[3], uint64_t fp)
{
	(void)fp;
	return (struct opd_perf_frame){ words[1], words[2] };
}
#elif defined(__aarch64__)
static const uint8_t numbers[] = {
	0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10, 11, 12, 13, 14, 15, 16,
	17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
};

/*
 * The frame pointer of a 32-bit task is r11 in ARM code, r7 in Thumb code.
 * No register says which of them it runs, but the address in its link register
 * is of a call from or in this function, and odd if that is in Thumb code.
 */
static uint64_t narrow_fp(const uint64_t *reg)
{
	return reg[reg[14] & 1 ? 7 : 11];
}

static void fill(struct opd_perf_user *user, const uint64_t *reg, bool narrow)
{
	user->pc = reg[CFI_AARCH64_PC];
	user->sp = reg[CFI_AARCH64_SP];
	user->fp = narrow ? narrow_fp(reg) : reg[CFI_AARCH64_FP];
	/* Not to be seen; behind an SVC the same function goes on. */
	user->in_syscall = false;
}

/* Check a frame in the same way as the module does in user_narrow_frame(). */
struct opd_perf_frame opd_perf_frame_parse(const uint32_t words[3], uint64_t fp)
{
	bool of_gcc = words[1] && words[1] <= fp;

	return (struct opd_perf_frame){
		.next = words[of_gcc ? 0 : 1],
		.pc = words[of_gcc ? 1 : 2] & ~UINT32_C(1),
	};
}
#endif

void opd_perf_regs_parse(struct opd_perf_user *user, uint64_t mask,
			 const void *words, bool narrow)
{
	const unsigned char *at = words;

	memset(user, 0, sizeof(*user));
	for (unsigned int i = 0; i < sizeof(numbers); i++) {
		if (!(mask >> i & 1))
			continue;
		if (numbers[i] != NONE) {
			memcpy(&user->regs.reg[numbers[i]], at, 8);
			user->regs.known |= UINT64_C(1) << numbers[i];
		}
		at += 8;
	}
	fill(user, user->regs.reg, narrow);
}
