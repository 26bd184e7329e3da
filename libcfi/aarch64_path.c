// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows paths through code of AArch64: what each instruction makes of the
 * general registers, and what stands between functions.
 *
 * A call overwrites the link register. So a function that has called another
 * takes its return address from the stack; a path that has run into another
 * function, as a call never returned, has none at the end of that.
 *
 * Facts: Arm Architecture Reference Manual for A-profile, chapter C4 (encoding)
 * and C6 (instructions); Procedure Call Standard for the Arm 64-bit
 * Architecture, section 6.1 (registers).
 */

#include <string.h>

#include "libcfi/cfi.h"
#include "libcfi/code_path.h"

#define FP CFI_AARCH64_FP
#define LR CFI_AARCH64_LR
/* The stack pointer, as a destination and as a base; elsewhere the number is
 * that of zero. */
#define SP CFI_AARCH64_SP
#define ZERO 31u

/* Scratch registers of the code between a call and its function. */
#define IP0 16u
#define IP1 17u

static uint32_t field(uint32_t insn, unsigned int low, unsigned int bits)
{
	return insn >> low & ((1u << bits) - 1);
}

static int64_t signed_field(uint32_t insn, unsigned int low, unsigned int bits)
{
	int32_t value = (int32_t)(insn << (32 - low - bits));

	return value >> (32 - bits);
}

static void lose_unless_zero(struct code_path *path, unsigned int reg)
{
	if (reg != ZERO)
		code_path_lose(path, reg);
}

/* ---- calculations -----------------------------------------------------------
 */

static void run_add_immediate(struct code_path *path, uint32_t insn)
{
	const unsigned int to = field(insn, 0, 5), from = field(insn, 5, 5);
	int64_t value = field(insn, 10, 12);
	const bool is_64 = insn >> 31, is_sub = insn >> 30 & 1;

	if (insn >> 29 & 1) { /* sets flags: a comparison if to zero */
		lose_unless_zero(path, to);
		return;
	}
	if (insn >> 22 & 1)
		value <<= 12;
	if (is_64)
		code_path_set_sum(path, to, from, is_sub ? -value : value);
	else
		code_path_lose(path, to);
}

static void run_immediate(struct code_path *path, uint32_t insn)
{
	const unsigned int to = field(insn, 0, 5);

	switch (field(insn, 23, 3)) {
	case 2: /* add, sub */
		run_add_immediate(path, insn);
		return;
	case 3: /* with tags: addg, subg; min, max */
		code_path_lose(path, to);
		return;
	case 4: /* and, orr, eor to the stack pointer; not ands */
		if (field(insn, 29, 2) != 3)
			code_path_lose(path, to);
		else
			lose_unless_zero(path, to);
		return;
	}
	lose_unless_zero(path, to);
}

static void run_register(struct code_path *path, uint32_t insn)
{
	const unsigned int to = field(insn, 0, 5), from = field(insn, 16, 5);

	/* orr xd, xzr, xm */
	if ((insn & 0xffe0ffe0) == 0xaa0003e0 && from != ZERO) {
		if (to != ZERO)
			code_path_set_sum(path, to, from, 0);
		return;
	}
	/* ccmp, ccmn have flags in place of a register. */
	if ((insn & 0x1fe00000) == 0x1a400000)
		return;
	/* add, sub of an extended register, without flags */
	if ((insn & 0x3fe00000) == 0x0b200000)
		code_path_lose(path, to);
	else
		lose_unless_zero(path, to);
}

/* Instructions on floating-point numbers and vectors that give an integer. */
static void run_vector(struct code_path *path, uint32_t insn)
{
	const unsigned int opcode = field(insn, 16, 3);

	if ((insn & 0x5f20fc00) == 0x1e200000) {
		/* fcvt*, fmov to a register; 2, 3 and 7 are from one */
		if (opcode != 2 && opcode != 3 && opcode != 7)
			lose_unless_zero(path, field(insn, 0, 5));
	} else if ((insn & 0x5f200000) == 0x1e000000) {
		if (opcode < 2) /* fcvtzs, fcvtzu of fixed-point numbers */
			lose_unless_zero(path, field(insn, 0, 5));
	} else if ((insn & 0xbfe0fc00) == 0x0e003c00 ||
		   (insn & 0xbfe0fc00) == 0x0e002c00) { /* umov, smov */
		lose_unless_zero(path, field(insn, 0, 5));
	}
}

/* ---- memory -----------------------------------------------------------------
 */

/* A register of 8 bytes is loaded, or something else if @is_word is false. */
static void load_register(struct code_path *path, unsigned int reg,
			  unsigned int base, int64_t offset, bool is_word)
{
	if (reg == ZERO)
		return;
	if (is_word)
		code_path_load(path, reg, base, offset);
	else
		code_path_lose(path, reg);
}

static void store_register(struct code_path *path, unsigned int reg,
			   unsigned int base, int64_t offset, bool is_word)
{
	code_path_store(path, reg == ZERO || !is_word ? CODE_NO_REG : reg, base,
			offset);
}

/* How the base changes: 1 after the access, 3 before it, else not. */
enum { POST_INDEX = 1, PRE_INDEX = 3 };

/* ldp, stp and those of vectors */
static void run_pair(struct code_path *path, uint32_t insn)
{
	const unsigned int size = field(insn, 30, 2),
			   index = field(insn, 23, 2);
	const unsigned int a = field(insn, 0, 5), b = field(insn, 10, 5);
	const unsigned int base = field(insn, 5, 5);
	const bool is_vector = insn >> 26 & 1, is_load = insn >> 22 & 1;
	const bool is_word = size == 2 && !is_vector;
	/* stgp stores 16 bytes where ldpsw loads 8 */
	unsigned int scale = is_vector ? 2 + size : size == 2 ? 3 : 2;
	int64_t offset, at;

	if (size == 1 && !is_vector && !is_load)
		scale = 4;
	offset = signed_field(insn, 15, 7) * (1 << scale);
	at = index == POST_INDEX ? 0 : offset;
	if (is_load && !is_vector) {
		struct code_path before = *path;

		/* Loads of a pair take both addresses from the registers
		 * before. */
		load_register(path, a, base, at, is_word);
		if (b != ZERO) {
			load_register(&before, b, base, at + 8, is_word);
			path->reg[b] = before.reg[b];
		}
	} else if (!is_load) {
		store_register(path, a, base, at, is_word);
		store_register(path, b, base, at + 8, is_word);
	}
	if (index == POST_INDEX || index == PRE_INDEX)
		code_path_set_sum(path, base, base, offset);
}

/* ldr, str and those of other sizes and of vectors */
static void run_single(struct code_path *path, uint32_t insn)
{
	const unsigned int size = field(insn, 30, 2), opc = field(insn, 22, 2);
	const unsigned int reg = field(insn, 0, 5), base = field(insn, 5, 5);
	const unsigned int index = field(insn, 10, 2);
	const bool is_vector = insn >> 26 & 1, has_12_bits = insn >> 24 & 1;
	const bool is_plain = has_12_bits || !(insn >> 21 & 1);
	const bool is_word = size == 3 && opc < 2 && is_plain;
	/* size 3, opc 2: a prefetch */
	const bool is_load = opc && !(size == 3 && opc == 2);
	int64_t offset = signed_field(insn, 12, 9), at;

	if (has_12_bits)
		offset = (int64_t)field(insn, 10, 12) << size;
	at = !has_12_bits && index == POST_INDEX ? 0 : offset;
	if (!is_vector && !is_plain && index != 2)
		load_register(path, reg, base, 0, false); /* atomic, ldraa */
	else if (!is_vector && is_load)
		load_register(path, reg, base, at, is_word);
	else if (!is_vector && is_plain && !opc)
		store_register(path, reg, base, at, is_word);
	if (has_12_bits || (index != POST_INDEX && index != PRE_INDEX))
		return;
	if (is_plain)
		code_path_set_sum(path, base, base, offset);
	else if (index == PRE_INDEX) /* ldraa */
		code_path_lose(path, base);
}

static void run_memory(struct code_path *path, uint32_t insn)
{
	const bool is_load = insn >> 22 & 1;

	switch (field(insn, 27, 3)) {
	case 5:
		run_pair(path, insn);
		return;
	case 7:
		run_single(path, insn);
		return;
	case 3:
		if (!(insn >> 24 & 1)) { /* beside the code */
			if (!(insn >> 26 & 1))
				lose_unless_zero(path, field(insn, 0, 5));
			return;
		}
		/* of tags, and copies: both may change their base */
		lose_unless_zero(path, field(insn, 0, 5));
		lose_unless_zero(path, field(insn, 16, 5));
		if (insn >> 10 & 1)
			code_path_lose(path, field(insn, 5, 5));
		return;
	case 1:
		if (insn >> 26 & 1) { /* vectors; bit 23: the base changes */
			if (insn >> 23 & 1)
				code_path_lose(path, field(insn, 5, 5));
			return;
		}
		/* exclusive ones, and compare and swap */
		lose_unless_zero(path, field(insn, 16, 5));
		if (is_load) {
			lose_unless_zero(path, field(insn, 0, 5));
			lose_unless_zero(path, field(insn, 10, 5));
		}
	}
}

/* ---- flow -------------------------------------------------------------------
 */

static enum code_flow branch_to_register(uint32_t insn, struct code_step *step)
{
	const unsigned int reg = field(insn, 5, 5);

	switch (field(insn, 21, 4)) {
	case 0: /* br, braaz */
	case 8: /* braa */
		step->is_jump = reg == IP0 || reg == IP1;
		return step->is_jump ? CODE_RETURN : CODE_LEAVE;
	case 1: /* blr, blraaz */
	case 9: /* blraa */
		return CODE_CALL;
	case 2: /* ret; retaa has no register */
		step->link = field(insn, 10, 6) ? LR : reg;
		return step->link == ZERO ? CODE_END : CODE_RETURN;
	}
	return CODE_END;
}

static enum code_flow run_branch(struct code_path *path, uint32_t insn,
				 struct code_step *step)
{
	/* tbz has 14 bits, others 19. */
	const unsigned int bits = (insn & 0x7e000000) == 0x36000000 ? 14 : 19;

	if ((insn & 0x7c000000) == 0x14000000) { /* b, bl */
		step->target =
			path->pc + (uint64_t)(signed_field(insn, 0, 26) * 4);
		return insn >> 31 ? CODE_CALL : CODE_JUMP;
	}
	step->target = path->pc + (uint64_t)(signed_field(insn, 5, bits) * 4);
	if ((insn & 0xff000000) == 0x54000000 || /* b.cond */
	    (insn & 0x7c000000) == 0x34000000) /* cbz, tbz */
		return CODE_BRANCH;
	if ((insn & 0xff000000) == 0xd4000000) /* svc, else brk and hlt */
		return (insn & 0xffe0001f) == 0xd4000001 ? CODE_NEXT
							 : CODE_STOP;
	if ((insn & 0xfe000000) == 0xd6000000)
		return branch_to_register(insn, step);
	if ((insn & 0xffe00000) == 0xd5200000) /* mrs, sysl */
		lose_unless_zero(path, field(insn, 0, 5));
	return (insn & 0xff000000) == 0xd5000000 ? CODE_NEXT : CODE_END;
}

/* paciasp and pacibsp sign the link register, autiasp and autibsp check it, as
 * retaa and retab do. */
static void follow_signature(struct code_path *path, uint32_t insn)
{
	if ((insn & 0xffffffbf) == 0xd503233f)
		path->is_signed = true;
	else if ((insn & 0xffffffbf) == 0xd50323bf ||
		 (insn & 0xfffffbff) == 0xd65f0bff)
		path->is_authenticated = !path->is_signed;
}

static enum code_flow aarch64_step(struct code_path *path, const uint8_t *bytes,
				   size_t len, struct code_step *step)
{
	uint32_t insn;

	if (len < sizeof(insn))
		return CODE_END;
	memcpy(&insn, bytes, sizeof(insn));
	*step = (struct code_step){ .len = sizeof(insn), .link = LR };
	/* add and sub with another register, from sp to sp */
	step->adjusts_sp = (insn & 0xbfe003ff) == 0x8b2003ff;
	follow_signature(path, insn);
	switch (field(insn, 25, 4)) {
	case 0: /* udf; the rest is SME's */
		return insn >> 16 ? CODE_NEXT : CODE_STOP;
	case 1:
	case 3:
		return CODE_END;
	case 2: /* SVE: addvl, addpl */
		if ((insn & 0xffa0f800) == 0x04205000)
			code_path_lose(path, field(insn, 0, 5));
		break;
	case 8:
	case 9:
		run_immediate(path, insn);
		break;
	case 10:
	case 11:
		return run_branch(path, insn, step);
	case 5:
	case 13:
		run_register(path, insn);
		break;
	case 7:
	case 15:
		run_vector(path, insn);
		break;
	default:
		run_memory(path, insn);
	}
	return CODE_NEXT;
}

/* ---- between functions ------------------------------------------------------
 */

#define NOP 0xd503201fu

static bool aarch64_has_word(const uint8_t *bytes, size_t len, uint32_t mask,
			     uint32_t wanted)
{
	uint32_t insn;

	for (size_t at = 0; at + sizeof(insn) <= len; at += sizeof(insn)) {
		memcpy(&insn, bytes + at, sizeof(insn));
		if ((insn & mask) == wanted)
			return true;
	}
	return false;
}

/* The next function, or padding before it, which may be none. */
static enum code_behind aarch64_behind_call(uint64_t addr, const uint8_t *bytes,
					    size_t len)
{
	uint64_t at = addr;

	while (len >= 4 && aarch64_has_word(bytes, 4, UINT32_MAX, NOP)) {
		at += 4;
		bytes += 4;
		len -= 4;
	}
	if (at != addr && at % 16 == 0)
		return CODE_PADDED;
	/* stp x29, x30, [sp, #-N]!; paciasp, pacibsp */
	if (len >= 4 && (aarch64_has_word(bytes, 4, 0xffe07fff, 0xa9a07bfd) ||
			 aarch64_has_word(bytes, 4, 0xffffffbf, 0xd503233f)))
		return CODE_BEGINS;
	return CODE_GOES_ON;
}

static bool aarch64_ends_in_call(const uint8_t *end, size_t len)
{
	return len >= 4 &&
	       (aarch64_has_word(end - 4, 4, 0xfc000000, 0x94000000) ||
		aarch64_has_word(end - 4, 4, 0xfefff000, 0xd63f0000));
}

/* stp x16, x30, [sp, #-16]! is up to 5 instructions before the jump. */
static bool aarch64_ends_in_linkage(const uint8_t *end, size_t len)
{
	len -= len % 4;
	return aarch64_has_word(end - len, len, UINT32_MAX, 0xa9bf7bf0);
}

/* Go: the limit of the stack, ldr x16, [x28, #16]; some of the runtime 24. */
static bool aarch64_has_go(const uint8_t *bytes, size_t len)
{
	return aarch64_has_word(bytes, len, UINT32_MAX, 0xf9400b90);
}

static bool aarch64_checks_stack(const uint8_t *bytes, size_t len)
{
	return len >= 4 &&
	       (aarch64_has_word(bytes, 4, UINT32_MAX, 0xf9400b90) ||
		aarch64_has_word(bytes, 4, UINT32_MAX, 0xf9400f90));
}

const struct code_machine aarch64_machine = {
	.nr_regs = 32,
	.sp = SP,
	.link = LR,
	.nr_saved = 12,
	.saved = { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, FP, LR },
	.max_call = 4,
	.ra = LR,
	.dwarf = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
		   11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
		   22, 23, 24, 25, 26, 27, 28, FP, LR, SP },
	.step = aarch64_step,
	.behind_call = aarch64_behind_call,
	.ends_in_call = aarch64_ends_in_call,
	.ends_in_linkage = aarch64_ends_in_linkage,
	.has_go = aarch64_has_go,
	.go_kept_sp = 20,
	.checks_stack = aarch64_checks_stack,
};
