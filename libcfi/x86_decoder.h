/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_X86_DECODER_H
#define LIBCFI_X86_DECODER_H

/* An x86-64 instruction taken apart, between its bytes and its meaning. */

#include "libcfi/x86_insn.h"

/* Tables of opcodes: the first bytes, or the number in a VEX prefix. */
enum opcode_map {
	MAP_1 = 0,
	MAP_0F = 1,
	MAP_0F38 = 2,
	MAP_0F3A = 3,
	MAP_EVEX_5 = 5, /* 16-bit floating point */
	MAP_EVEX_6 = 6,
	MAP_XOP_8 = 8,
	MAP_XOP_9 = 9,
	MAP_XOP_A = 10,
};

/* Prefixes that change what an opcode means. */
enum {
	PREFIX_66 = 1,
	PREFIX_F3 = 2,
	PREFIX_F2 = 4,
	PREFIX_67 = 8,
	PREFIX_LOCK = 16,
	PREFIX_SEGMENT = 32, /* fs or gs */
};

enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8, REX = 0x40 };

struct x86_decoder {
	const uint8_t *bytes;
	size_t len;
	size_t at; /* of the next byte; beyond len: it is missing */
	uint8_t prefixes;
	uint8_t rex; /* as in a REX prefix, if it is said by another one, too */
	uint8_t map; /* enum opcode_map */
	bool is_vector; /* VEX, EVEX or XOP */
	uint8_t vvvv;
	uint8_t opcode;
	/* ModRM, if there is one */
	uint8_t mod;
	uint8_t reg; /* with its bit of REX, like those below */
	uint8_t rm;
	bool is_plain; /* memory at base + disp, without an index */
	bool is_beside; /* memory at rip + disp */
	uint8_t base;
	int32_t disp;
	int64_t imm;
};

/* A bit for each general register that the instruction overwrites. */
uint16_t x86_written(const struct x86_decoder *d);

static inline uint16_t x86_bit(unsigned int reg)
{
	return (uint16_t)(1u << (reg & 15));
}

#endif /* LIBCFI_X86_DECODER_H */
