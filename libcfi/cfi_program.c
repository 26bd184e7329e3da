// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the instructions of an FDE: "from here on this register is saved there".
 *
 * The state is where the CFA is and where each register is saved. The CIE's
 * instructions make the initial state; the FDE's change it and move the
 * location forward. When the location moves, the state becomes a rule, which
 * gets a number (cfi_rules.c), and a row for the code that was passed.
 *
 * A mistake ends the run (program_fail()). The rows before it count, and the
 * rest of the function has rule 0. So damage costs the stacks through that
 * function, not those through the whole image. An unknown instruction is a
 * mistake, too, as the length of its operands is not known.
 *
 * A location that moves backward is a mistake, and so are more than MAX_STILL
 * instructions for one location: no FDE takes longer than its bytes and its
 * code allow.
 */

#include <errno.h>
#include <string.h>

#include "libcfi/cfi_address.h"
#include "libcfi/cfi_program.h"

/* DW_CFA_*; those with an operand in their low bits first. */
enum {
	ADVANCE_LOC = 0x40,
	OFFSET = 0x80,
	RESTORE = 0xc0,
	NOP = 0x00,
	SET_LOC = 0x01,
	ADVANCE_LOC1 = 0x02,
	ADVANCE_LOC2 = 0x03,
	ADVANCE_LOC4 = 0x04,
	OFFSET_EXTENDED = 0x05,
	RESTORE_EXTENDED = 0x06,
	UNDEFINED = 0x07,
	SAME_VALUE = 0x08,
	REGISTER = 0x09,
	REMEMBER_STATE = 0x0a,
	RESTORE_STATE = 0x0b,
	DEF_CFA = 0x0c,
	DEF_CFA_REGISTER = 0x0d,
	DEF_CFA_OFFSET = 0x0e,
	DEF_CFA_EXPRESSION = 0x0f,
	EXPRESSION = 0x10,
	OFFSET_EXTENDED_SF = 0x11,
	DEF_CFA_SF = 0x12,
	DEF_CFA_OFFSET_SF = 0x13,
	VAL_OFFSET = 0x14,
	VAL_OFFSET_SF = 0x15,
	VAL_EXPRESSION = 0x16,
	AARCH64_NEGATE_RA_STATE_WITH_PC = 0x2c,
	AARCH64_NEGATE_RA_STATE = 0x2d,
	GNU_ARGS_SIZE = 0x2e,
	GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* Compilers nest them once. */
#define MAX_REMEMBERED 8

/* Instructions of one place. Signal frames have some 20. */
#define MAX_STILL 256

struct state {
	bool cfa_is_expr;
	bool ra_signed;
	uint8_t cfa_reg;
	int32_t cfa_value;
	uint64_t said; /* bit n: where[n] is not CFI_UNSAID */
	struct {
		int32_t value;
		enum cfi_how how;
	} where[CFI_MAX_REGS];
};

struct program {
	struct op_cursor insns;
	const struct cfi_cie *cie;
	const struct cfi_fde *fde;
	struct cfi_rules *rules;
	enum cfi_arch arch;
	unsigned int nr_regs; /* others are of no interest */
	int err; /* -EBADMSG, -ENOMEM */
	bool changed; /* since the last row */
	uint64_t loc;
	struct state now;
	struct state initial; /* as the CIE leaves it */
	struct state remembered[MAX_REMEMBERED];
	unsigned int nr_remembered;
};

static void program_fail(struct program *p, int err)
{
	if (!p->err)
		p->err = err;
}

/* ---- what an instruction changes --------------------------------------------
 */

static void set_where(struct program *p, uint64_t reg, enum cfi_how how,
		      int64_t value)
{
	if (reg >= p->nr_regs)
		return;
	if (value != (int32_t)value) {
		program_fail(p, -EBADMSG);
		return;
	}
	p->now.where[reg].how = how;
	p->now.where[reg].value = (int32_t)value;
	if (how == CFI_UNSAID)
		p->now.said &= ~((uint64_t)1 << reg);
	else
		p->now.said |= (uint64_t)1 << reg;
	p->changed = true;
}

static void set_cfa_value(struct program *p, int64_t value)
{
	if (value != (int32_t)value || p->now.cfa_is_expr)
		program_fail(p, -EBADMSG);
	p->now.cfa_value = (int32_t)value;
	p->changed = true;
}

static void set_cfa_reg(struct program *p, uint64_t reg)
{
	if (reg >= p->nr_regs)
		program_fail(p, -EBADMSG);
	p->now.cfa_reg = (uint8_t)reg;
	p->now.cfa_is_expr = false;
	p->changed = true;
}

static void restore(struct program *p, uint64_t reg)
{
	if (reg < p->nr_regs)
		set_where(p, reg, p->initial.where[reg].how,
			  p->initial.where[reg].value);
}

/* Takes a block; gives the number of the expression that it is. */
static int32_t take_expr(struct program *p)
{
	uint64_t len = op_cursor_uleb(&p->insns);
	const uint8_t *expr = op_cursor_take(&p->insns, len);
	int32_t nr = 0;
	int err;

	if (!expr)
		return 0;
	err = cfi_rules_add_expr(p->rules, expr, len, &nr);
	if (err)
		program_fail(p, err == -ENOMEM ? err : -EBADMSG);
	return nr;
}

static int64_t factored(struct program *p, int64_t value)
{
	int64_t product;

	if (__builtin_mul_overflow(value, p->cie->data_align, &product))
		program_fail(p, -EBADMSG);
	return product;
}

/* ---- the instructions -------------------------------------------------------
 */

static void advance_location(struct program *p, uint64_t delta)
{
	p->loc += delta * p->cie->code_align;
}

static void set_loc(struct program *p)
{
	const struct cfi_section *section = p->fde->section;
	uint64_t loc;

	if (cfi_address(&p->insns, p->cie->encoding, section->bytes,
			section->addr, &loc))
		p->loc = loc;
	else
		program_fail(p, -EBADMSG);
}

static void remember_state(struct program *p)
{
	if (p->nr_remembered < MAX_REMEMBERED)
		p->remembered[p->nr_remembered++] = p->now;
	else
		program_fail(p, -EBADMSG);
}

static void recall(struct program *p)
{
	if (!p->nr_remembered) {
		program_fail(p, -EBADMSG);
		return;
	}
	p->now = p->remembered[--p->nr_remembered];
	p->changed = true;
}

static void set_cfa_expr(struct program *p)
{
	p->now.cfa_value = take_expr(p);
	p->now.cfa_reg = 0;
	p->now.cfa_is_expr = true;
	p->changed = true;
}

static void negate_ra_state(struct program *p)
{
	if (p->arch != CFI_AARCH64)
		program_fail(p, -EBADMSG);
	p->now.ra_signed = !p->now.ra_signed;
	p->changed = true;
}

/* Run the instructions that set the place of a register. */
static bool run_where(struct program *p, uint8_t op)
{
	struct op_cursor *c = &p->insns;
	uint64_t reg = op_cursor_uleb(c);

	switch (op) {
	case OFFSET_EXTENDED:
		set_where(p, reg, CFI_AT_CFA,
			  factored(p, (int64_t)op_cursor_uleb(c)));
		return true;
	case OFFSET_EXTENDED_SF:
		set_where(p, reg, CFI_AT_CFA, factored(p, op_cursor_sleb(c)));
		return true;
	case GNU_NEGATIVE_OFFSET_EXTENDED:
		set_where(p, reg, CFI_AT_CFA,
			  factored(p,
				   -(int64_t)(op_cursor_uleb(c) & INT64_MAX)));
		return true;
	case VAL_OFFSET:
		set_where(p, reg, CFI_IS_CFA,
			  factored(p, (int64_t)op_cursor_uleb(c)));
		return true;
	case VAL_OFFSET_SF:
		set_where(p, reg, CFI_IS_CFA, factored(p, op_cursor_sleb(c)));
		return true;
	case RESTORE_EXTENDED:
		restore(p, reg);
		return true;
	case UNDEFINED:
		set_where(p, reg, CFI_UNDEFINED, 0);
		return true;
	case SAME_VALUE:
		set_where(p, reg, CFI_SAME, 0);
		return true;
	case REGISTER:
		set_where(p, reg, CFI_IN_REG, (int64_t)op_cursor_uleb(c));
		return true;
	case EXPRESSION:
		set_where(p, reg, CFI_AT_EXPR, take_expr(p));
		return true;
	case VAL_EXPRESSION:
		set_where(p, reg, CFI_IS_EXPR, take_expr(p));
		return true;
	}
	return false;
}

/* Run the instructions that define the CFA. */
static bool run_cfa(struct program *p, uint8_t op)
{
	struct op_cursor *c = &p->insns;

	switch (op) {
	case DEF_CFA:
		set_cfa_reg(p, op_cursor_uleb(c));
		set_cfa_value(p, (int64_t)op_cursor_uleb(c));
		return true;
	case DEF_CFA_SF:
		set_cfa_reg(p, op_cursor_uleb(c));
		set_cfa_value(p, factored(p, op_cursor_sleb(c)));
		return true;
	case DEF_CFA_REGISTER:
		set_cfa_reg(p, op_cursor_uleb(c));
		return true;
	case DEF_CFA_OFFSET:
		set_cfa_value(p, (int64_t)op_cursor_uleb(c));
		return true;
	case DEF_CFA_OFFSET_SF:
		set_cfa_value(p, factored(p, op_cursor_sleb(c)));
		return true;
	case DEF_CFA_EXPRESSION:
		set_cfa_expr(p);
		return true;
	}
	return false;
}

static bool run_row_insn(struct program *p, uint8_t op)
{
	switch (op) {
	case NOP:
		return true;
	case ADVANCE_LOC1:
		advance_location(p, op_cursor_u8(&p->insns));
		return true;
	case ADVANCE_LOC2:
		advance_location(p, op_cursor_number(&p->insns, 2));
		return true;
	case ADVANCE_LOC4:
		advance_location(p, op_cursor_number(&p->insns, 4));
		return true;
	case SET_LOC:
		set_loc(p);
		return true;
	case REMEMBER_STATE:
		remember_state(p);
		return true;
	case RESTORE_STATE:
		recall(p);
		return true;
	case AARCH64_NEGATE_RA_STATE_WITH_PC:
	case AARCH64_NEGATE_RA_STATE:
		negate_ra_state(p);
		return true;
	case GNU_ARGS_SIZE: /* matters to who unwinds for an exception only */
		op_cursor_uleb(&p->insns);
		return true;
	}
	return false;
}

static void run_one(struct program *p)
{
	uint8_t op = op_cursor_u8(&p->insns);
	uint8_t low = op & 0x3f;

	switch (op & 0xc0) {
	case ADVANCE_LOC:
		advance_location(p, low);
		return;
	case OFFSET:
		set_where(p, low, CFI_AT_CFA,
			  factored(p, (int64_t)op_cursor_uleb(&p->insns)));
		return;
	case RESTORE:
		restore(p, low);
		return;
	}
	if (!run_row_insn(p, op) && !run_cfa(p, op) && !run_where(p, op))
		program_fail(p, -EBADMSG);
}

/* ---- rows -------------------------------------------------------------------
 */

static int number_rule(struct program *p, uint32_t *nr)
{
	union {
		struct cfi_rule rule;
		uint8_t room[sizeof(struct cfi_rule) +
			     CFI_MAX_REGS * sizeof(struct cfi_place)];
	} u;
	int err;

	/* To clear the whole room takes more than all the rest. */
	memset(&u.rule, 0, sizeof(u.rule));
	u.rule.cfa_is_expr = p->now.cfa_is_expr;
	u.rule.cfa_reg = p->now.cfa_reg;
	u.rule.cfa_value = p->now.cfa_value;
	u.rule.ra = (uint8_t)p->cie->ra;
	if (p->cie->is_signal)
		u.rule.flags |= CFI_RULE_SIGNAL;
	if (p->now.ra_signed)
		u.rule.flags |= CFI_RULE_RA_SIGNED;
	for (uint64_t said = p->now.said; said; said &= said - 1) {
		unsigned int reg = (unsigned int)__builtin_ctzll(said);

		u.rule.place[u.rule.nr_places++] = (struct cfi_place){
			.how = p->now.where[reg].how,
			.reg = (uint8_t)reg,
			.value = p->now.where[reg].value,
		};
	}
	err = cfi_rules_add(p->rules, &u.rule, nr);
	return err == -E2BIG ? -EBADMSG : err;
}

/* Pass on the rules that are valid from @from on, if they have changed. */
static void put_row(struct program *p, uint64_t from,
		    const struct cfi_row_sink *sink)
{
	uint32_t rule;
	int err;

	if (!p->changed)
		return;
	err = number_rule(p, &rule);
	if (!err)
		err = sink->add(sink->ctx, from, rule);
	if (err)
		program_fail(p, err);
	p->changed = false;
}

static bool program_goes_on(const struct program *p)
{
	return !p->err && op_cursor_left(&p->insns);
}

static void run_cie(struct program *p)
{
	p->insns = op_cursor(p->cie->insns, p->cie->insns_len);
	/* A CIE is of no place, so nothing may depend on one. */
	while (program_goes_on(p))
		run_one(p);
	if (p->insns.failed)
		program_fail(p, -EBADMSG);
	p->initial = p->now;
	p->changed = true;
}

static void run_fde(struct program *p, const struct cfi_fde *fde,
		    const struct cfi_row_sink *sink)
{
	uint64_t from = fde->start;
	unsigned int still = 0;

	p->insns = op_cursor(fde->insns, fde->insns_len);
	p->loc = fde->start;
	while (program_goes_on(p) && from < fde->end) {
		run_one(p);
		if (p->insns.failed || p->loc < from || ++still > MAX_STILL)
			program_fail(p, -EBADMSG);
		if (p->err || p->loc == from)
			continue;
		put_row(p, from, sink);
		from = p->loc;
		still = 0;
	}
	if (!p->err && from < fde->end)
		put_row(p, from, sink);
	if (p->err == -EBADMSG && from < fde->end)
		p->err = sink->add(sink->ctx, from, 0);
}

int cfi_program_run(const struct cfi_fde *fde, enum cfi_arch arch,
		    struct cfi_rules *rules, const struct cfi_row_sink *sink)
{
	const unsigned int sp =
		arch == CFI_X86_64 ? CFI_X86_64_RSP : CFI_AARCH64_SP;
	struct program p;

	/*
	 * Not all of it: most of it is states that are seldom remembered. But
	 * the initial one, too, which a CIE may restore before it has any.
	 */
	memset(&p, 0, offsetof(struct program, remembered));
	p.nr_remembered = 0;
	p.fde = fde;
	p.cie = &fde->cie;
	p.rules = rules;
	p.arch = arch;
	p.nr_regs = arch == CFI_X86_64 ? 17 : 32;
	if (p.cie->ra >= p.nr_regs || p.cie->ra == sp)
		program_fail(&p, -EBADMSG);
	run_cie(&p);
	run_fde(&p, fde, sink);
	return p.err == -EBADMSG ? 0 : p.err;
}
