// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decodes x86-64 instructions, by a letter for each opcode that says which
 * bytes follow it.
 *
 *	[prefixes] [REX] [0f, 0f 38, 0f 3a] opcode [ModRM [SIB] [disp]] [imm]
 *	[VEX, EVEX or XOP]                  opcode [ModRM [SIB] [disp]] [imm]
 */

#include "libcfi/x86_decoder.h"

/*
 * Bytes that follow an opcode:
 *
 *	-  none           m  ModRM             p  this is a prefix
 *	b  imm8           B  ModRM, imm8       x  there is no such instruction
 *	w  imm16          Z  ModRM, imm16/32   r  ModRM of two registers always
 *	z  imm16/32       t  ModRM, imm8 if reg is 0 or 1
 *	v  imm16/32/64    T  ModRM, imm16/32 if reg is 0 or 1
 *	e  imm16, imm8    j  rel8
 *	o  an address     J  rel32
 */
/* clang-format off */
static const char layout_1[] =
	/* 00 */ "mmmmbzxxmmmmbzxp"
	/* 10 */ "mmmmbzxxmmmmbzxx"
	/* 20 */ "mmmmbzpxmmmmbzpx"
	/* 30 */ "mmmmbzpxmmmmbzpx"
	/* 40 */ "pppppppppppppppp"
	/* 50 */ "----------------"
	/* 60 */ "xxpmppppzZbB----"
	/* 70 */ "jjjjjjjjjjjjjjjj"
	/* 80 */ "BZxBmmmmmmmmmmmm"
	/* 90 */ "----------x-----"
	/* a0 */ "oooo----bz------"
	/* b0 */ "bbbbbbbbvvvvvvvv"
	/* c0 */ "BBw-ppBZe-w--bx-"
	/* d0 */ "mmmmxxx-mmmmmmmm"
	/* e0 */ "jjjjbbbbJJxj----"
	/* f0 */ "p-pp--tT------mm";

static const char layout_0f[] =
	/* 00 */ "mmmmx-----x-xm-B"
	/* 10 */ "mmmmmmmmmmmmmmmm"
	/* 20 */ "rrrrxxxxmmmmmmmm"
	/* 30 */ "------x-pxpxxxxx"
	/* 40 */ "mmmmmmmmmmmmmmmm"
	/* 50 */ "mmmmmmmmmmmmmmmm"
	/* 60 */ "mmmmmmmmmmmmmmmm"
	/* 70 */ "BBBBmmm-mmxxmmmm"
	/* 80 */ "JJJJJJJJJJJJJJJJ"
	/* 90 */ "mmmmmmmmmmmmmmmm"
	/* a0 */ "---mBmxx---mBmmm"
	/* b0 */ "mmmmmmmmmmBmmmmm"
	/* c0 */ "mmBmBBBm--------"
	/* d0 */ "mmmmmmmmmmmmmmmm"
	/* e0 */ "mmmmmmmmmmmmmmmm"
	/* f0 */ "mmmmmmmmmmmmmmmm";
/* clang-format on */

_Static_assert(sizeof(layout_1) == 257 && sizeof(layout_0f) == 257,
	       "a letter for each opcode");

static uint8_t next_insn_byte(struct x86_decoder *d)
{
	uint8_t byte = d->at < d->len ? d->bytes[d->at] : 0;

	d->at++;
	return byte;
}

/* A signed number of @size bytes. */
static int64_t next_insn_number(struct x86_decoder *d, unsigned int size)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < size; i++)
		value |= (uint64_t)next_insn_byte(d) << 8 * i;
	if (!size || size == 8)
		return (int64_t)value;
	return (int64_t)(value << (64 - 8 * size)) >> (64 - 8 * size);
}

/* ---- prefixes and opcodes ---------------------------------------------------
 */

static uint8_t legacy_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x66:
		return PREFIX_66;
	case 0x67:
		return PREFIX_67;
	case 0xf0:
		return PREFIX_LOCK;
	case 0xf2:
		return PREFIX_F2;
	case 0xf3:
		return PREFIX_F3;
	case 0x64:
	case 0x65:
		return PREFIX_SEGMENT;
	}
	return 0;
}

/* Up to the first byte that is no prefix; a REX counts if it is the last. */
static uint8_t skip_prefixes(struct x86_decoder *d)
{
	for (;;) {
		uint8_t byte = next_insn_byte(d);

		if (d->at > X86_MAX_INSN)
			return 0;
		if (byte >> 4 == 4) {
			d->rex = byte;
			continue;
		}
		if (!legacy_prefix(byte) && byte != 0x26 && byte != 0x2e &&
		    byte != 0x36 && byte != 0x3e)
			return byte;
		d->prefixes |= legacy_prefix(byte);
		d->rex = 0;
	}
}

/* The field pp of a VEX prefix stands for a prefix of another instruction. */
static void set_implied_prefix(struct x86_decoder *d, uint8_t pp)
{
	static const uint8_t implied[] = { 0, PREFIX_66, PREFIX_F3, PREFIX_F2 };

	d->prefixes |= implied[pp & 3];
	d->is_vector = true;
}

/* Bits R, X and B are written inverted, at the top of @byte. */
static uint8_t inverted_rex(uint8_t byte)
{
	return (uint8_t)(~byte >> 5 & (REX_R | REX_X | REX_B));
}

static bool read_vex(struct x86_decoder *d, uint8_t first)
{
	uint8_t byte = next_insn_byte(d), last = byte;

	d->map = MAP_0F;
	d->rex = byte & 0x80 ? 0 : REX_R;
	if (first != 0xc5) {
		d->map = byte & 31;
		last = next_insn_byte(d);
		d->rex = inverted_rex(byte) | (last & 0x80 ? REX_W : 0);
	}
	d->vvvv = ~last >> 3 & 15;
	set_implied_prefix(d, last);
	if (first == 0x8f)
		return d->map >= MAP_XOP_8 && d->map <= MAP_XOP_A;
	return d->map >= MAP_0F && d->map <= MAP_0F3A;
}

static bool read_evex(struct x86_decoder *d)
{
	uint8_t byte = next_insn_byte(d), second = next_insn_byte(d);

	next_insn_byte(d);
	d->map = byte & 7;
	d->rex = inverted_rex(byte) | (second & 0x80 ? REX_W : 0);
	d->vvvv = ~second >> 3 & 15;
	set_implied_prefix(d, second);
	/* Clear, these bits say that it is an instruction of APX. */
	return !(byte & 8) && second & 4 && d->map >= MAP_0F &&
	       d->map <= MAP_EVEX_6 && d->map != 4;
}

/* pop to memory has the opcode of an XOP prefix, whose map is 8 at least. */
static bool is_vector_prefix(const struct x86_decoder *d, uint8_t byte)
{
	if (byte == 0x8f)
		return d->at < d->len && d->bytes[d->at] & 0x18;
	return byte == 0xc4 || byte == 0xc5 || byte == 0x62;
}

static bool read_opcode(struct x86_decoder *d)
{
	uint8_t byte = skip_prefixes(d);

	if (is_vector_prefix(d, byte)) {
		/* With other prefixes they are no instruction. */
		if (d->rex || d->prefixes & (PREFIX_66 | PREFIX_F2 | PREFIX_F3 |
					     PREFIX_LOCK))
			return false;
		if (byte == 0x62 ? !read_evex(d) : !read_vex(d, byte))
			return false;
		d->opcode = next_insn_byte(d);
		return true;
	}
	if (byte == 0x0f) {
		d->map = MAP_0F;
		byte = next_insn_byte(d);
		if (byte == 0x38 || byte == 0x3a) {
			d->map = byte == 0x38 ? MAP_0F38 : MAP_0F3A;
			byte = next_insn_byte(d);
		}
	}
	d->opcode = byte;
	return true;
}

static char insn_layout(const struct x86_decoder *d)
{
	switch ((enum opcode_map)d->map) {
	case MAP_1:
		return layout_1[d->opcode];
	case MAP_0F:
		if (!d->is_vector || d->opcode == 0x77)
			return layout_0f[d->opcode];
		return layout_0f[d->opcode] == 'B' ? 'B' : 'm';
	case MAP_0F3A:
	case MAP_XOP_8:
		return 'B';
	case MAP_XOP_A:
		return 'D';
	case MAP_0F38:
	case MAP_EVEX_5:
	case MAP_EVEX_6:
	case MAP_XOP_9:
		break;
	}
	return 'm';
}

/* ---- operands ---------------------------------------------------------------
 */

static void read_memory_operand(struct x86_decoder *d)
{
	uint8_t rm = d->rm & 7, index = 4;
	unsigned int size = d->mod == 1 ? 1 : d->mod == 2 ? 4 : 0;

	d->base = d->rm;
	if (rm == 4) {
		uint8_t sib = next_insn_byte(d);

		rm = sib & 7;
		d->base = rm | (d->rex & REX_B ? 8 : 0);
		index = (sib >> 3 & 7) | (d->rex & REX_X ? 8 : 0);
		if (rm == 5 && !d->mod)
			d->base = X86_NO_REG;
	} else if (rm == 5 && !d->mod) {
		d->is_beside = true;
		d->base = X86_NO_REG;
	}
	if (d->base == X86_NO_REG)
		size = 4;
	d->disp = (int32_t)next_insn_number(d, size);
	d->is_plain = d->base != X86_NO_REG && index == 4 &&
		      !(d->prefixes & (PREFIX_SEGMENT | PREFIX_67));
}

static void read_modrm(struct x86_decoder *d, bool is_register)
{
	uint8_t byte = next_insn_byte(d);

	d->mod = is_register ? 3 : byte >> 6;
	d->reg = (byte >> 3 & 7) | (d->rex & REX_R ? 8 : 0);
	d->rm = (byte & 7) | (d->rex & REX_B ? 8 : 0);
	if (d->mod != 3)
		read_memory_operand(d);
}

static bool has_modrm(char layout)
{
	return layout == 'm' || layout == 'B' || layout == 'Z' ||
	       layout == 'D' || layout == 'r' || layout == 't' || layout == 'T';
}

/* Returns false if @layout says that there is no such instruction. */
static bool read_operands(struct x86_decoder *d, char layout)
{
	unsigned int word =
		d->rex & REX_W || !(d->prefixes & PREFIX_66) ? 4 : 2;

	if (has_modrm(layout)) {
		read_modrm(d, layout == 'r');
		if (layout == 't' && (d->reg & 7) < 2)
			layout = 'b';
		if (layout == 'T' && (d->reg & 7) < 2)
			layout = 'z';
	}
	switch (layout) {
	case 'b':
	case 'B':
	case 'j':
		d->imm = next_insn_number(d, 1);
		return true;
	case 'w':
		d->imm = next_insn_number(d, 2) & 0xffff;
		return true;
	case 'e':
		d->imm = next_insn_number(d, 3);
		return true;
	case 'z':
	case 'Z':
		d->imm = next_insn_number(d, word);
		return true;
	case 'v':
		d->imm = next_insn_number(d, d->rex & REX_W ? 8 : word);
		return true;
	case 'o':
		d->imm = next_insn_number(d, d->prefixes & PREFIX_67 ? 4 : 8);
		return true;
	case 'J':
	case 'D':
		d->imm = next_insn_number(d, 4);
		return true;
	case 'x':
	case 'p':
		return false;
	}
	return true;
}

/* ---- what is said of an instruction -----------------------------------------
 */

/* Calls, jumps and returns. Returns false for others. */
static bool set_flow(const struct x86_decoder *d, struct x86_insn *insn)
{
	static const uint8_t of_group_5[] = {
		X86_OTHER,     X86_OTHER, X86_CALL, X86_STOP,
		X86_JUMP_AWAY, X86_STOP,  X86_PUSH, X86_STOP,
	};
	uint8_t op = d->opcode;

	if (op >> 4 == 7 || (op >= 0xe0 && op <= 0xe3)) {
		insn->op = X86_BRANCH;
	} else if (op == 0xeb || op == 0xe9) {
		insn->op = X86_JUMP;
	} else if (op == 0xe8) {
		insn->op = X86_CALL;
	} else if (op == 0xc2 || op == 0xc3) {
		insn->op = X86_RET;
	} else if (op == 0xcc || op == 0xf4 || op == 0xcf || op == 0xca ||
		   op == 0xcb) {
		insn->op = X86_STOP;
	} else if (op == 0xff && of_group_5[d->reg & 7] != X86_OTHER) {
		insn->op = of_group_5[d->reg & 7];
		if (insn->op == X86_JUMP_AWAY && d->is_beside)
			insn->op = X86_JUMP_SLOT;
		if (insn->op == X86_PUSH && d->mod == 3)
			insn->from = d->rm;
	} else {
		return false;
	}
	insn->value = (int32_t)d->imm;
	return true;
}

/* The stack pointer moves by itself. Returns false if it does not so. */
static bool set_stack_op(const struct x86_decoder *d, struct x86_insn *insn)
{
	uint8_t reg = (d->opcode & 7) | (d->rex & REX_B ? 8 : 0);

	switch (d->opcode) {
	case 0x50 ... 0x57:
		insn->op = X86_PUSH;
		insn->from = reg;
		return true;
	case 0x58 ... 0x5f:
		insn->op = X86_POP;
		insn->to = reg;
		return true;
	case 0x68:
	case 0x6a:
	case 0x9c: /* pushf */
		insn->op = X86_PUSH;
		return true;
	case 0x8f:
		insn->to = d->mod == 3 ? d->rm : X86_NO_REG;
		/* fall through */
	case 0x9d: /* popf */
		insn->op = X86_POP;
		return true;
	case 0xc8:
		insn->op = X86_ENTER;
		insn->value = (int32_t)d->imm & 0xffff;
		return true;
	case 0xc9:
		insn->op = X86_LEAVE;
		return true;
	}
	return false;
}

/* Moves and sums of 8 bytes. Returns false for others. */
static bool set_move(const struct x86_decoder *d, struct x86_insn *insn)
{
	unsigned int group = d->reg & 7;

	if (!(d->rex & REX_W) || (d->mod != 3 && !d->is_plain))
		return false;
	insn->value = d->disp;
	switch (d->opcode) {
	case 0x81:
	case 0x83:
		if (d->mod != 3 || (group != 0 && group != 5) ||
		    d->imm == INT32_MIN)
			return false;
		insn->op = X86_ADD;
		insn->to = d->rm;
		insn->value = (int32_t)(group ? -d->imm : d->imm);
		return true;
	case 0x89:
		insn->op = d->mod == 3 ? X86_MOVE : X86_STORE;
		insn->to = d->mod == 3 ? d->rm : d->base;
		insn->from = d->reg;
		return true;
	case 0x8b:
		insn->op = d->mod == 3 ? X86_MOVE : X86_LOAD;
		insn->to = d->reg;
		insn->from = d->mod == 3 ? d->rm : d->base;
		return true;
	case 0x8d:
		insn->op = X86_LEA;
		insn->to = d->reg;
		insn->from = d->base;
		return d->mod != 3;
	}
	return false;
}

static bool set_0f_op(const struct x86_decoder *d, struct x86_insn *insn)
{
	switch (d->opcode) {
	case 0x80 ... 0x8f:
		insn->op = X86_BRANCH;
		insn->value = (int32_t)d->imm;
		return true;
	case 0x07: /* sysret */
	case 0x0b: /* ud2, ud1 and ud0 */
	case 0x35: /* sysexit */
	case 0xb9:
	case 0xff:
		insn->op = X86_STOP;
		return true;
	case 0xa0: /* fs and gs */
	case 0xa8:
		insn->op = X86_PUSH;
		return true;
	case 0xa1:
	case 0xa9:
		insn->op = X86_POP;
		return true;
	case 0x1e:
		insn->op = X86_NOP;
		if (d->prefixes & PREFIX_F3 && d->mod == 3 && (d->reg & 7) == 7)
			insn->op = X86_ENDBR;
		return !(d->prefixes & PREFIX_F3 && (d->reg & 7) == 1);
	case 0x1f:
		insn->op = X86_NOP;
		return true;
	}
	return false;
}

/* Returns true if all that @insn does is said by its op. */
static bool set_insn_op(const struct x86_decoder *d, struct x86_insn *insn)
{
	if (d->is_vector)
		return false;
	if (d->map == MAP_0F)
		return set_0f_op(d, insn);
	if (d->map != MAP_1)
		return false;
	if (set_flow(d, insn) || set_stack_op(d, insn) || set_move(d, insn))
		return true;
	if (d->opcode == 0x90 && !(d->rex & REX_B))
		insn->op = X86_NOP;
	return insn->op == X86_NOP;
}

/* Room for an array, arguments popped by their number, and alignment. */
static bool adjusts_stack_pointer(const struct x86_decoder *d)
{
	if (d->map != MAP_1 || d->is_vector || !(d->rex & REX_W))
		return false;
	switch (d->opcode) {
	case 0x01: /* add and sub */
	case 0x29:
		return d->mod == 3 && d->rm == X86_RSP;
	case 0x03:
	case 0x2b:
		return d->reg == X86_RSP;
	case 0x81: /* and */
	case 0x83:
		return d->mod == 3 && d->rm == X86_RSP && (d->reg & 7) == 4;
	case 0x8d:
		return d->mod != 3 && d->reg == X86_RSP && d->base == X86_RSP;
	}
	return false;
}

static void set_written(struct x86_insn *insn, uint16_t writes)
{
	*insn = (struct x86_insn){
		.len = insn->len,
		.to = X86_NO_REG,
		.from = X86_NO_REG,
		.writes = writes,
	};
}

/* Operands of 2 bytes, and enter with the frames of outer functions: no
 * compiler uses them, and where the stack pointer goes is left out. */
static bool is_odd_stack_op(const struct x86_decoder *d,
			    const struct x86_insn *insn)
{
	if (insn->op == X86_ENTER && d->imm >> 16 & 31)
		return true;
	return d->prefixes & PREFIX_66 && insn->op >= X86_PUSH &&
	       insn->op <= X86_LEAVE;
}

bool x86_decode(const uint8_t *bytes, size_t len, struct x86_insn *insn)
{
	struct x86_decoder d = { .bytes = bytes, .len = len };

	*insn = (struct x86_insn){ .to = X86_NO_REG, .from = X86_NO_REG };
	if (!read_opcode(&d) || !read_operands(&d, insn_layout(&d)) ||
	    d.at > len || d.at > X86_MAX_INSN)
		return false;
	insn->len = (uint8_t)d.at;
	if (!set_insn_op(&d, insn)) {
		set_written(insn, x86_written(&d));
		insn->adjusts_sp = adjusts_stack_pointer(&d);
	} else if (is_odd_stack_op(&d, insn)) {
		set_written(insn, x86_bit(X86_RSP) | x86_bit(X86_RBP));
	}
	return true;
}
