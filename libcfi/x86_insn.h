/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_X86_INSN_H
#define LIBCFI_X86_INSN_H

/*
 * Instructions of x86-64: their lengths, where they lead to, and what they do
 * to the general registers. All that a search for the end of a function needs
 * (cfi_return.h), and no more: flags, vectors and memory are left out.
 *
 * Facts: Intel 64 and IA-32 Architectures Software Developer's Manual,
 * volume 2, chapter 2 (formats) and appendix A (opcode maps); AMD64
 * Architecture Programmer's Manual, volume 6 (XOP).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No instruction is longer, bytes. */
#define X86_MAX_INSN 15

/* General registers, by the numbers that instructions have for them. */
enum x86_reg {
	X86_RAX = 0,
	X86_RCX = 1,
	X86_RDX = 2,
	X86_RBX = 3,
	X86_RSP = 4,
	X86_RBP = 5,
	X86_RSI = 6,
	X86_RDI = 7,
	X86_R11 = 11,
	X86_NR_REGS = 16,
	X86_NO_REG = 16,
};

enum x86_op {
	X86_OTHER, /* goes on, and overwrites the registers in "writes" */
	X86_MOVE, /* to = from */
	X86_LEA, /* to = from + value */
	X86_ADD, /* to = to + value */
	X86_LOAD, /* to = 8 bytes at from + value */
	X86_STORE, /* 8 bytes at to + value = from */
	X86_PUSH, /* from, or something else if that is X86_NO_REG */
	X86_POP, /* to, likewise */
	X86_ENTER, /* with value bytes of room, level 0 */
	X86_LEAVE,
	X86_NOP, /* does nothing; endbr64 is another thing */
	X86_ENDBR,
	X86_BRANCH, /* to value bytes after the instruction, or not */
	X86_JUMP, /* likewise, always */
	X86_JUMP_SLOT, /* to the address in a word beside the code */
	X86_JUMP_AWAY, /* to any other address */
	X86_CALL,
	X86_RET, /* with value bytes of arguments to be popped */
	X86_STOP, /* no instruction after it is run: a trap, or to the kernel */
};

struct x86_insn {
	uint8_t len; /* bytes */
	uint8_t op; /* enum x86_op */
	uint8_t to; /* enum x86_reg */
	uint8_t from;
	int32_t value;
	/* Bit n: register n holds something else afterwards, which is not said
	 * by op. */
	uint16_t writes;
	/* The stack pointer moves by something that op does not say, or is
	 * rounded: it stays on the same stack. */
	bool adjusts_sp;
};

/*
 * Decode the instruction at @bytes, of which @len are there. Returns false if
 * there is none in 64-bit mode, or its end is missing. Instructions of APX and
 * of the kernel's MAP7 are not known.
 */
bool x86_decode(const uint8_t *bytes, size_t len, struct x86_insn *insn);

#endif /* LIBCFI_X86_INSN_H */
