/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MODULE_USER_REGS_H
#define MODULE_USER_REGS_H

/*
 * Names, on each machine, of the registers that walking a user stack needs.
 */

#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "uapi/oprofile.h"

#if defined(CONFIG_X86_64)

#define USER_STACK_ARCH OP_STACK_X86_64
#define USER_NR_REGS 17

static inline bool user_is_64bit(struct pt_regs *regs)
{
	return user_64bit_mode(regs);
}

static inline u64 user_frame_pointer(const struct pt_regs *regs)
{
	return regs->bp;
}

/* Read the next frame pointer and the return address of a 32-bit program, from
 * the words around its frame pointer. */
static inline void user_narrow_frame(const u32 words[3], u64 at, u64 *next,
				     u64 *pc)
{
	*next = words[1];
	*pc = words[2];
}

/* In the DWARF numbers of the ABI. */
static inline void user_dwarf_regs(const struct pt_regs *regs, u64 *to)
{
	const u64 in_order[USER_NR_REGS] = {
		regs->ax,  regs->dx,  regs->cx,	 regs->bx,  regs->si,
		regs->di,  regs->bp,  regs->sp,	 regs->r8,  regs->r9,
		regs->r10, regs->r11, regs->r12, regs->r13, regs->r14,
		regs->r15, regs->ip,
	};

	memcpy(to, in_order, sizeof(in_order));
}

/* A return address as it is to be called. */
static inline u64 user_code_address(u64 word)
{
	return word;
}

#elif defined(CONFIG_ARM64)

#define USER_STACK_ARCH OP_STACK_AARCH64
#define USER_NR_REGS 33

static inline bool user_is_64bit(struct pt_regs *regs)
{
	return !compat_user_mode(regs);
}

/* 32-bit programs have their frame pointer in r11 (ARM code) or r7 (Thumb
 * code). */
static inline u64 user_frame_pointer(const struct pt_regs *regs)
{
	if (!compat_user_mode(regs))
		return regs->regs[29];
	return regs->regs[compat_thumb_mode(regs) ? 7 : 11];
}

/*
 * Read the next frame pointer and the return address of a 32-bit program, from
 * the words around its frame pointer. GCC lets it point to the return address,
 * other compilers to the frame pointer below. A word that is a frame pointer is
 * above @at, and no code is above the stack. A return to Thumb code is odd.
 */
static inline void user_narrow_frame(const u32 words[3], u64 at, u64 *next,
				     u64 *pc)
{
	bool of_gcc = words[1] && words[1] <= at;

	*next = words[of_gcc ? 0 : 1];
	*pc = words[of_gcc ? 1 : 2] & ~1u;
}

static inline void user_dwarf_regs(const struct pt_regs *regs, u64 *to)
{
	memcpy(to, regs->regs, sizeof(regs->regs));
	to[31] = regs->sp;
	to[32] = regs->pc;
}

/* Without the signature that it may have. */
static inline u64 user_code_address(u64 word)
{
	return word & (TASK_SIZE - 1);
}

#else /* stacks are not walked here */

#define USER_STACK_ARCH 0
#define USER_NR_REGS 0

static inline bool user_is_64bit(struct pt_regs *regs)
{
	return false;
}

static inline u64 user_frame_pointer(const struct pt_regs *regs)
{
	return 0;
}

static inline void user_narrow_frame(const u32 words[3], u64 at, u64 *next,
				     u64 *pc)
{
}

static inline void user_dwarf_regs(const struct pt_regs *regs, u64 *to)
{
}

static inline u64 user_code_address(u64 word)
{
	return word;
}

#endif

#endif /* MODULE_USER_REGS_H */
