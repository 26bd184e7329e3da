// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the expressions (DWARF 5 section 2.5) that unwind data may hold in place
 * of a plain offset. They are programs of a stack machine; procedure linkage
 * tables and signal frames have them.
 *
 * Expressions come from files that anybody may have written. The machine has 32
 * values and reads no memory but the piece of stack. All expressions of a frame
 * share a number of operations (nr_ops), so that a loop ends. The first failure
 * stays (expr_fail()) and ends the run after the operation that had it, so the
 * steps of an operation need not test for failures.
 */

#include "libcfi/cfi_expr.h"
#include "libop/base/op_cursor.h"

#define MAX_VALUES 32

/* DW_OP_*; DWARF 5 section 2.5. */
enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONST8U = 0x0e,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ROT = 0x17,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_DIV = 0x1b,
	OP_MINUS = 0x1c,
	OP_MOD = 0x1d,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_BRA = 0x28,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96,
};

struct machine {
	const struct cfi_frame *frame;
	const uint8_t *start;
	struct op_cursor c;
	uint64_t value[MAX_VALUES];
	unsigned int nr;
	enum cfi_step failure; /* CFI_CALLER: none */
};

static void expr_fail(struct machine *m, enum cfi_step why)
{
	if (m->failure == CFI_CALLER)
		m->failure = why;
}

static void push(struct machine *m, uint64_t value)
{
	if (m->nr < MAX_VALUES)
		m->value[m->nr++] = value;
	else
		expr_fail(m, CFI_NO_DATA);
}

static uint64_t pop(struct machine *m)
{
	if (m->nr)
		return m->value[--m->nr];
	expr_fail(m, CFI_NO_DATA);
	return 0;
}

/* The value @depth below the topmost. */
static void pick(struct machine *m, unsigned int depth)
{
	if (depth < m->nr)
		push(m, m->value[m->nr - 1 - depth]);
	else
		expr_fail(m, CFI_NO_DATA);
}

static void push_reg(struct machine *m, uint64_t reg, int64_t offset)
{
	const struct cfi_regs *regs = m->frame->regs;

	if (cfi_register_is_known(regs, reg))
		push(m, regs->reg[reg] + (uint64_t)offset);
	else
		expr_fail(m, CFI_NO_DATA);
}

static void deref(struct machine *m, unsigned int size)
{
	uint64_t addr = pop(m), value = 0;
	enum cfi_step step;

	if (size < 1 || size > 8) {
		expr_fail(m, CFI_NO_DATA);
		return;
	}
	step = cfi_load(m->frame, addr, size, &value);
	if (step != CFI_CALLER)
		expr_fail(m, step);
	push(m, value);
}

/* @distance bytes on, backward if it is negative. */
static void jump(struct machine *m, int64_t distance)
{
	int64_t at = m->c.at - m->start + distance;

	if (m->c.failed || at < 0 || at > m->c.end - m->start)
		expr_fail(m, CFI_NO_DATA);
	else
		m->c.at = m->start + at;
}

static void swap(struct machine *m)
{
	uint64_t a = pop(m), b = pop(m);

	push(m, a);
	push(m, b);
}

static void rotate(struct machine *m)
{
	uint64_t a = pop(m), b = pop(m), c = pop(m);

	push(m, a);
	push(m, c);
	push(m, b);
}

/* Constants, @op from OP_CONST1U to OP_CONST8S: the signed ones are odd. */
static void push_const(struct machine *m, uint8_t op)
{
	unsigned int size = 1u << (op - OP_CONST1U) / 2;

	if (op & 1)
		push(m, (uint64_t)op_cursor_signed(&m->c, size));
	else
		push(m, op_cursor_number(&m->c, size));
}

static bool run_push(struct machine *m, uint8_t op)
{
	struct op_cursor *c = &m->c;

	if (op >= OP_LIT0 && op <= OP_LIT31)
		push(m, op - OP_LIT0);
	else if (op >= OP_BREG0 && op <= OP_BREG31)
		push_reg(m, op - OP_BREG0, op_cursor_sleb(c));
	else if (op >= OP_CONST1U && op <= OP_CONST8S)
		push_const(m, op);
	else if (op == OP_CONSTU)
		push(m, op_cursor_uleb(c));
	else if (op == OP_CONSTS)
		push(m, (uint64_t)op_cursor_sleb(c));
	else if (op == OP_DUP)
		pick(m, 0);
	else if (op == OP_OVER)
		pick(m, 1);
	else if (op == OP_PICK)
		pick(m, op_cursor_u8(c));
	else
		return false;
	return true;
}

static bool run_stack_op(struct machine *m, uint8_t op)
{
	struct op_cursor *c = &m->c;
	int64_t distance;
	uint64_t reg;

	switch (op) {
	case OP_NOP:
		return true;
	case OP_DROP:
		pop(m);
		return true;
	case OP_SWAP:
		swap(m);
		return true;
	case OP_ROT:
		rotate(m);
		return true;
	case OP_BREGX:
		reg = op_cursor_uleb(c);
		push_reg(m, reg, op_cursor_sleb(c));
		return true;
	case OP_DEREF:
		deref(m, 8);
		return true;
	case OP_DEREF_SIZE:
		deref(m, op_cursor_u8(c));
		return true;
	case OP_SKIP:
	case OP_BRA:
		distance = op_cursor_signed(c, 2);
		if (op == OP_SKIP || pop(m))
			jump(m, distance);
		return true;
	}
	return false;
}

static bool run_unary(struct machine *m, uint8_t op)
{
	uint64_t value;

	if (op != OP_ABS && op != OP_NEG && op != OP_NOT &&
	    op != OP_PLUS_UCONST)
		return false;
	value = pop(m);
	if (op == OP_PLUS_UCONST)
		value += op_cursor_uleb(&m->c);
	else if (op == OP_NOT)
		value = ~value;
	else if (op == OP_NEG || (int64_t)value < 0)
		value = -value;
	push(m, value);
	return true;
}

static uint64_t divide(struct machine *m, int64_t a, int64_t b)
{
	if (!b || b == -1) {
		if (!b)
			expr_fail(m, CFI_NO_DATA);
		return -(uint64_t)a;
	}
	return (uint64_t)(a / b);
}

static uint64_t modulo(struct machine *m, uint64_t a, uint64_t b)
{
	if (!b)
		expr_fail(m, CFI_NO_DATA);
	return b ? a % b : 0;
}

static uint64_t shift_right(int64_t a, uint64_t b)
{
	return (uint64_t)(a >> (b < 63 ? b : 63));
}

static bool run_binary(struct machine *m, uint8_t op)
{
	uint64_t b = pop(m), a = pop(m);
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (op) {
	case OP_AND:
		push(m, a & b);
		return true;
	case OP_OR:
		push(m, a | b);
		return true;
	case OP_XOR:
		push(m, a ^ b);
		return true;
	case OP_PLUS:
		push(m, a + b);
		return true;
	case OP_MINUS:
		push(m, a - b);
		return true;
	case OP_MUL:
		push(m, a * b);
		return true;
	case OP_DIV:
		push(m, divide(m, sa, sb));
		return true;
	case OP_MOD:
		push(m, modulo(m, a, b));
		return true;
	case OP_SHL:
		push(m, b < 64 ? a << b : 0);
		return true;
	case OP_SHR:
		push(m, b < 64 ? a >> b : 0);
		return true;
	case OP_SHRA:
		push(m, shift_right(sa, b));
		return true;
	case OP_EQ:
		push(m, a == b);
		return true;
	case OP_NE:
		push(m, a != b);
		return true;
	case OP_GE:
		push(m, sa >= sb);
		return true;
	case OP_GT:
		push(m, sa > sb);
		return true;
	case OP_LE:
		push(m, sa <= sb);
		return true;
	case OP_LT:
		push(m, sa < sb);
		return true;
	}
	return false;
}

enum cfi_step cfi_expr_run(const struct cfi_frame *frame, const uint8_t *expr,
			   size_t len, const uint64_t *initial, uint64_t *value)
{
	struct machine m;

	m.frame = frame;
	m.start = expr;
	m.c = op_cursor(expr, len);
	m.nr = 0;
	m.failure = CFI_CALLER;
	if (initial)
		push(&m, *initial);
	while (op_cursor_left(&m.c) && !m.failure) {
		uint8_t op = op_cursor_u8(&m.c);

		if (!*frame->nr_ops ||
		    (!run_push(&m, op) && !run_stack_op(&m, op) &&
		     !run_unary(&m, op) && !run_binary(&m, op)) ||
		    m.c.failed)
			expr_fail(&m, CFI_NO_DATA);
		else
			--*frame->nr_ops;
	}
	*value = pop(&m);
	return m.failure;
}
