// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which general registers an instruction overwrites, by a letter for each
 * opcode of the two common maps.
 *
 * None must be missed from which a caller's value would be taken, and rsp must
 * not be named in vain, which would end a search. Instructions on vectors have
 * their own numbers of registers in the same fields; the few of them that write
 * a general register are listed.
 */

#include "libcfi/x86_decoder.h"

/*
 * Registers that are overwritten; capitals are for those of 8 bits:
 *
 *	-  none, or said by set_flow() and set_stack_op()
 *	r  ModRM.reg      o  of the opcode     i  as immediate_group() says
 *	m  ModRM.rm       a  rax               s  those of string instructions
 *	x  both           d  rax and rdx       c  rcx
 *	q  both rax and that of the opcode     y  those of syscall
 *	k  rax, rcx, rdx and rbx               p  as other_group() says
 *	h  rax and ModRM.rm
 */
/* clang-format off */
static const char written_1[] =
	/* 00 */ "MmRraa--MmRraa--"
	/* 10 */ "MmRraa--MmRraa--"
	/* 20 */ "MmRraa--MmRraa--"
	/* 30 */ "MmRraa----------"
	/* 40 */ "----------------"
	/* 50 */ "----------------"
	/* 60 */ "---r-----r-rssss"
	/* 70 */ "----------------"
	/* 80 */ "ii-i--XxMmRrmr--"
	/* 90 */ "qqqqqqqqad-----a"
	/* a0 */ "aa--ssss--ssssss"
	/* b0 */ "OOOOOOOOoooooooo"
	/* c0 */ "Mm----Mm--------"
	/* d0 */ "MmMm---a-------p"
	/* e0 */ "ccc-aa------aa--"
	/* f0 */ "------ii------ii";

static const char written_0f[] =
	/* 00 */ "mprr-y----------"
	/* 10 */ "--------------p-"
	/* 20 */ "mm----------pp--"
	/* 30 */ "-dddy--a--------"
	/* 40 */ "rrrrrrrrrrrrrrrr"
	/* 50 */ "r---------------"
	/* 60 */ "----------------"
	/* 70 */ "--------m-----p-"
	/* 80 */ "----------------"
	/* 90 */ "MMMMMMMMMMMMMMMM"
	/* a0 */ "--k-mm-----mmmpr"
	/* b0 */ "Hhrmrrrrr-pmrrrr"
	/* c0 */ "Xx---r-poooooooo"
	/* d0 */ "-------r--------"
	/* e0 */ "----------------"
	/* f0 */ "----------------";
/* clang-format on */

_Static_assert(sizeof(written_1) == 257 && sizeof(written_0f) == 257,
	       "a letter for each opcode");

/* Without REX, numbers from 4 on are the second bytes of the first four. */
static uint16_t bit_of_byte(const struct x86_decoder *d, unsigned int reg)
{
	return x86_bit(reg >= 4 && reg < 8 && !d->rex ? reg - 4 : reg);
}

#define RAX (1u << X86_RAX)
#define RCX (1u << X86_RCX)
#define RDX (1u << X86_RDX)
#define RBX (1u << X86_RBX)
#define RSI (1u << X86_RSI)
#define RDI (1u << X86_RDI)
#define R11 (1u << X86_R11)

/* Opcodes that ModRM.reg chooses from: 80, 81, 83, f6, f7, fe, ff. */
static uint16_t immediate_group(const struct x86_decoder *d)
{
	unsigned int reg = d->reg & 7;
	uint16_t rm = d->mod != 3 ? 0
		      : d->opcode == 0x80 || !(d->opcode & 1)
			      ? bit_of_byte(d, d->rm)
			      : x86_bit(d->rm);

	if (d->opcode <= 0x83)
		return reg == 7 ? 0 : rm; /* not cmp */
	if (d->opcode >= 0xfe)
		return reg < 2 ? rm : 0; /* inc, dec */
	if (reg < 2)
		return 0; /* test */
	return reg < 4 ? rm : RAX | RDX; /* mul, div */
}

/* Opcodes of map 0f, and df of the first. */
static uint16_t other_group(const struct x86_decoder *d)
{
	const bool is_register = d->mod == 3, is_f3 = d->prefixes & PREFIX_F3;
	const unsigned int reg = d->reg & 7;
	uint16_t rm = is_register ? x86_bit(d->rm) : 0;

	switch (d->opcode) {
	case 0x01: /* smsw, and many without operands */
		if (reg == 4 || !is_register)
			return reg == 4 ? rm : 0;
		return RAX | RCX | RDX;
	case 0x1e: /* rdssp, else nop */
		return is_f3 && reg == 1 ? rm : 0;
	case 0x2c: /* cvtss2si and the like; others are of MMX */
	case 0x2d:
		return d->prefixes & (PREFIX_F2 | PREFIX_F3) ? x86_bit(d->reg)
							     : 0;
	case 0x7e: /* movd, but movq between vectors */
		return is_f3 ? 0 : rm;
	case 0xae: /* rdfsbase, rdgsbase */
		return is_f3 && reg < 2 ? rm : 0;
	case 0xba: /* bts, btr, btc */
		return reg > 4 ? rm : 0;
	case 0xc7: /* rdrand, rdseed, rdpid; cmpxchg16b */
		return is_register ? rm : reg == 1 ? RAX | RDX : 0;
	case 0xdf: /* fnstsw ax */
		return is_register && reg == 4 && !(d->rm & 7) ? RAX : 0;
	}
	return 0;
}

static uint16_t written_of_letter(const struct x86_decoder *d, char letter)
{
	const uint8_t in_opcode = (d->opcode & 7) | (d->rex & REX_B ? 8 : 0);
	const bool is_register = d->mod == 3;
	uint16_t rm = is_register ? x86_bit(d->rm) : 0;
	uint16_t rm_byte = is_register ? bit_of_byte(d, d->rm) : 0;

	switch (letter) {
	case 'm':
		return rm;
	case 'M':
		return rm_byte;
	case 'r':
		return x86_bit(d->reg);
	case 'R':
		return bit_of_byte(d, d->reg);
	case 'x':
		return rm | x86_bit(d->reg);
	case 'X':
		return rm_byte | bit_of_byte(d, d->reg);
	case 'o':
		return x86_bit(in_opcode);
	case 'O':
		return bit_of_byte(d, in_opcode);
	case 'q': /* 90 is nop, or pause */
		return in_opcode ? RAX | x86_bit(in_opcode) : 0;
	case 'a':
		return RAX;
	case 'c':
		return RCX;
	case 'd':
		return RAX | RDX;
	case 'h':
		return RAX | rm;
	case 'H':
		return RAX | rm_byte;
	case 'k':
		return RAX | RCX | RDX | RBX;
	case 's':
		return RAX | RCX | RSI | RDI;
	case 'y':
		return RAX | RCX | RDX | R11;
	case 'i':
		return immediate_group(d);
	case 'p':
		return other_group(d);
	}
	return 0;
}

/* Opcodes of map 0f with VEX or EVEX, and of EVEX map 5. */
static uint16_t written_by_vector(const struct x86_decoder *d)
{
	switch (d->opcode) {
	case 0x2c: /* vcvtss2si and the like */
	case 0x2d:
	case 0x78:
	case 0x79:
		return d->prefixes & (PREFIX_F2 | PREFIX_F3) ? x86_bit(d->reg)
							     : 0;
	case 0x50: /* vmovmskps */
	case 0x93: /* kmov */
	case 0xc5: /* vpextrw */
	case 0xd7: /* vpmovmskb */
		return d->map == MAP_0F ? x86_bit(d->reg) : 0;
	case 0x7e: /* vmovd; vmovq between vectors has F3 */
		return d->mod == 3 && !(d->prefixes & PREFIX_F3)
			       ? x86_bit(d->rm)
			       : 0;
	}
	return 0;
}

static uint16_t written_0f38(const struct x86_decoder *d)
{
	switch (d->opcode) {
	case 0xf0: /* movbe from memory, crc32 */
		return x86_bit(d->reg);
	case 0xf1: /* movbe to memory, crc32 */
		return d->prefixes & PREFIX_F2 ? x86_bit(d->reg) : 0;
	case 0xf3: /* blsi and the like */
		return d->is_vector ? x86_bit(d->vvvv) : 0;
	case 0xf2: /* andn */
	case 0xf5: /* bzhi, pdep, pext */
	case 0xf7: /* bextr, shlx and the like */
		return d->is_vector ? x86_bit(d->reg) : 0;
	case 0xf6: /* mulx; adcx and adox; wrss */
		if (d->is_vector)
			return x86_bit(d->reg) | x86_bit(d->vvvv);
		return d->prefixes & (PREFIX_66 | PREFIX_F3) ? x86_bit(d->reg)
							     : 0;
	}
	if (d->is_vector && d->opcode >> 4 == 0xe) /* cmpccxadd */
		return x86_bit(d->reg);
	return 0;
}

static uint16_t written_0f3a(const struct x86_decoder *d)
{
	if (d->opcode >= 0x14 && d->opcode <= 0x17) /* pextr, extractps */
		return d->mod == 3 ? x86_bit(d->rm) : 0;
	if (d->opcode >= 0x60 && d->opcode <= 0x63) /* pcmpistri */
		return RCX;
	return d->opcode == 0xf0 ? x86_bit(d->reg) : 0; /* rorx */
}

uint16_t x86_written(const struct x86_decoder *d)
{
	switch ((enum opcode_map)d->map) {
	case MAP_1:
		return written_of_letter(d, written_1[d->opcode]);
	case MAP_0F:
		if (!d->is_vector)
			return written_of_letter(d, written_0f[d->opcode]);
		return written_by_vector(d);
	case MAP_EVEX_5:
		return written_by_vector(d);
	case MAP_0F38:
		return written_0f38(d);
	case MAP_0F3A:
		return written_0f3a(d);
	case MAP_XOP_9: /* blcfill and the like */
		return d->opcode == 1 || d->opcode == 2 ? x86_bit(d->vvvv) : 0;
	case MAP_XOP_A: /* bextr */
		return d->opcode == 0x10 ? x86_bit(d->reg) : 0;
	case MAP_EVEX_6:
	case MAP_XOP_8:
		break;
	}
	return 0;
}
