// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A step of a walk leads from the registers of a frame to those of its caller,
 * by the rule for the code that the frame is in.
 *
 * A register is known or not ("known" has a bit for each). The value that the
 * caller had in a register that functions may overwrite is not known any more
 * unless it was saved; a rule that needs such a register cannot be followed.
 * Only after a signal are all registers those of the interrupted code.
 *
 * Nothing is believed. Memory outside the piece of stack is not read:
 * CFI_SHORT_STACK says that the frame may go on behind the piece, CFI_BAD_STACK
 * that it cannot be right. The caller's stack pointer has to be above that of
 * the frame, so each walk ends. Exceptions are a signal's frame, which may be
 * on another stack, and an innermost frame of AArch64, which may have saved
 * nothing.
 */

#include "libcfi/cfi_expr.h"
#include "libcfi/cfi_stack.h"
#include "libcfi/cfi_table.h"
#include "libcfi/cfi_unwind.h"

/* Registers that a called function saves, besides the stack pointer. */
#define SAVED_X86_64 0xf048u /* rbx rbp r12-15 */
#define SAVED_AARCH64 0x3ff80000u /* x19-x29 */

/*
 * Linux gives AArch64 programs 48-bit addresses unless they ask for more; the
 * bits above hold what signs a return address.
 */
#define AARCH64_ADDRESS (((uint64_t)1 << 48) - 1)

/* The registers that differ between machines. */
struct abi {
	uint64_t saved;
	uint8_t sp;
	uint8_t pc;
	uint8_t nr_regs;
};

static const struct abi abis[] = {
	[CFI_X86_64] = { SAVED_X86_64, CFI_X86_64_RSP, CFI_X86_64_RIP, 17 },
	[CFI_AARCH64] = { SAVED_AARCH64, CFI_AARCH64_SP, CFI_AARCH64_PC, 33 },
};

static void set_reg(struct cfi_regs *regs, unsigned int reg, uint64_t value)
{
	regs->reg[reg] = value;
	regs->known |= (uint64_t)1 << reg;
}

static enum cfi_step run_expr(const struct cfi_rules *exprs,
			      const struct cfi_frame *frame, int32_t nr,
			      const uint64_t *initial, uint64_t *value)
{
	size_t len;
	const uint8_t *expr = cfi_rules_expr(exprs, nr, &len);

	return cfi_expr_run(frame, expr, len, initial, value);
}

static enum cfi_step find_cfa(const struct cfi_rules *exprs,
			      const struct cfi_frame *frame,
			      const struct cfi_rule *rule, uint64_t *cfa)
{
	if (rule->cfa_is_expr)
		return run_expr(exprs, frame, rule->cfa_value, NULL, cfa);
	if (!cfi_register_is_known(frame->regs, rule->cfa_reg))
		return CFI_NO_DATA;
	*cfa = frame->regs->reg[rule->cfa_reg] +
	       (uint64_t)(int64_t)rule->cfa_value;
	return CFI_CALLER;
}

/* The value of the caller's register that @place says. */
static enum cfi_step find_value(const struct cfi_rules *exprs,
				const struct cfi_frame *frame,
				const struct cfi_place *place, uint64_t cfa,
				uint64_t *value)
{
	uint64_t addr = cfa + (uint64_t)(int64_t)place->value;
	unsigned int reg = place->reg;
	enum cfi_step step;

	switch ((enum cfi_how)place->how) {
	case CFI_AT_CFA:
		return cfi_load(frame, addr, 8, value);
	case CFI_IS_CFA:
		*value = addr;
		return CFI_CALLER;
	case CFI_AT_EXPR:
		step = run_expr(exprs, frame, place->value, &cfa, &addr);
		return step ? step : cfi_load(frame, addr, 8, value);
	case CFI_IS_EXPR:
		return run_expr(exprs, frame, place->value, &cfa, value);
	case CFI_IN_REG:
		reg = (unsigned int)place->value;
		/* fall through */
	case CFI_SAME:
		if (!cfi_register_is_known(frame->regs, reg))
			return CFI_NO_DATA;
		*value = frame->regs->reg[reg];
		return CFI_CALLER;
	case CFI_UNDEFINED:
		return CFI_OUTERMOST;
	case CFI_UNSAID:
		break;
	}
	return CFI_NO_DATA;
}

/*
 * At the end of a function a register may have its value back, and what held
 * it be below the stack pointer, where no piece of a stack reaches. In a frame
 * that has called another that cannot be.
 */
static bool was_popped(const struct cfi_frame *frame,
		       const struct cfi_place *place, uint64_t cfa,
		       bool is_return_address)
{
	return !is_return_address && place->how == CFI_AT_CFA &&
	       cfa + (uint64_t)(int64_t)place->value < frame->sp &&
	       cfi_register_is_known(frame->regs, place->reg);
}

/* Fill @up with the caller's; *@ra says what became of the return address. */
static void find_regs(const struct cfi_rules *exprs,
		      const struct cfi_frame *frame,
		      const struct cfi_rule *rule, uint64_t cfa,
		      bool is_return_address, struct cfi_regs *up,
		      enum cfi_step *ra)
{
	*up = *frame->regs;
	if (!(rule->flags & CFI_RULE_SIGNAL))
		up->known &= abis[frame->arch].saved;
	for (unsigned int i = 0; i < rule->nr_places; i++) {
		const struct cfi_place *place = &rule->place[i];
		uint64_t value = 0;
		enum cfi_step step =
			find_value(exprs, frame, place, cfa, &value);

		if (place->reg == rule->ra)
			*ra = step;
		if (step == CFI_CALLER)
			set_reg(up, place->reg, value);
		else if (!was_popped(frame, place, cfa, is_return_address))
			up->known &= ~((uint64_t)1 << place->reg);
	}
}

/* The caller's stack pointer, if nothing says otherwise, is the CFA. */
static bool says_sp(const struct cfi_rule *rule, uint8_t sp)
{
	for (unsigned int i = 0; i < rule->nr_places; i++)
		if (rule->place[i].reg == sp)
			return true;
	return false;
}

static enum cfi_step set_pc(const struct cfi_frame *frame,
			    const struct cfi_rule *rule, struct cfi_regs *up)
{
	const struct abi *abi = &abis[frame->arch];
	uint64_t pc = up->reg[rule->ra];

	if (rule->flags & CFI_RULE_RA_SIGNED)
		pc &= AARCH64_ADDRESS;
	/* A call of a null pointer is interrupted at 0. */
	if (!pc && !(rule->flags & CFI_RULE_SIGNAL))
		return CFI_OUTERMOST;
	set_reg(up, abi->pc, pc);
	if (rule->flags & CFI_RULE_SIGNAL)
		return CFI_INTERRUPTED;
	/* The call has overwritten this register. */
	if (rule->ra != abi->pc)
		up->known &= ~((uint64_t)1 << rule->ra);
	return CFI_CALLER;
}

/* The return address is in a register: in vfork() of the GNU C library for
 * x86-64, whose child uses the stack. */
static bool has_popped_return_address(const struct cfi_rule *rule)
{
	for (unsigned int i = 0; i < rule->nr_places; i++)
		if (rule->place[i].reg == rule->ra)
			return rule->place[i].how == CFI_IN_REG;
	return false;
}

/* Stacks grow downward, in words; that also bounds a walk. */
static bool can_be_sp(const struct cfi_frame *frame,
		      const struct cfi_rule *rule, uint64_t sp,
		      bool is_return_address)
{
	if (sp > CFI_MAX_ADDRESS || sp % 8)
		return false;
	if (rule->flags & CFI_RULE_SIGNAL)
		return true;
	if (!is_return_address &&
	    (frame->arch == CFI_AARCH64 || has_popped_return_address(rule)))
		return sp >= frame->sp;
	return sp > frame->sp;
}

static enum cfi_step restore_caller(const struct cfi_rules *exprs,
				    const struct cfi_frame *frame,
				    const struct cfi_rule *rule,
				    bool is_return_address, struct cfi_regs *up)
{
	const struct abi *abi = &abis[frame->arch];
	enum cfi_step step, ra = CFI_NO_DATA;
	uint64_t cfa = 0;

	step = find_cfa(exprs, frame, rule, &cfa);
	/* A return address that is undefined is found without a CFA, too. */
	find_regs(exprs, frame, rule, cfa, is_return_address, up, &ra);
	if (ra == CFI_OUTERMOST || step)
		return ra == CFI_OUTERMOST ? ra : step;
	if (!says_sp(rule, abi->sp))
		set_reg(up, abi->sp, cfa);
	if (!cfi_register_is_known(up, abi->sp) ||
	    !can_be_sp(frame, rule, up->reg[abi->sp], is_return_address))
		return CFI_BAD_STACK;
	/* A leaf of AArch64 says nothing: it is still in its register. */
	if (ra == CFI_NO_DATA && frame->arch == CFI_AARCH64 &&
	    !is_return_address &&
	    cfi_register_is_known(frame->regs, rule->ra)) {
		set_reg(up, rule->ra, frame->regs->reg[rule->ra]);
		ra = CFI_CALLER;
	}
	return ra == CFI_CALLER ? set_pc(frame, rule, up) : ra;
}

#define MAX_SAVED 8 /* places of a rule that is taken the short way */

/*
 * Most frames have all that they saved in the stack, below a CFA that a
 * register leads to: then nothing is to be undone where a step fails, so that
 * the registers need not be copied. False, with all as it was, for other
 * frames; restore_caller() does the same for them.
 */
static bool restore_saved(const struct cfi_frame *frame,
			  const struct cfi_rule *rule, struct cfi_regs *regs,
			  enum cfi_step *step)
{
	const struct abi *abi = &abis[frame->arch];
	uint64_t value[MAX_SAVED], cfa, pc = 0;
	bool has_ra = false;

	if (rule->flags || rule->cfa_is_expr || rule->nr_places > MAX_SAVED ||
	    !cfi_register_is_known(regs, rule->cfa_reg))
		return false;
	cfa = regs->reg[rule->cfa_reg] + (uint64_t)(int64_t)rule->cfa_value;
	if (cfa <= frame->sp || cfa > CFI_MAX_ADDRESS || cfa % 8)
		return false;
	for (unsigned int i = 0; i < rule->nr_places; i++) {
		const struct cfi_place *place = &rule->place[i];

		if (place->how != CFI_AT_CFA || place->reg == abi->sp ||
		    cfi_load(frame, cfa + (uint64_t)(int64_t)place->value, 8,
			     &value[i]) != CFI_CALLER)
			return false;
		if (place->reg == rule->ra) {
			has_ra = true;
			pc = value[i];
		}
	}
	if (!has_ra)
		return false;
	*step = pc ? CFI_CALLER : CFI_OUTERMOST;
	if (!pc)
		return true;
	regs->known &= abi->saved;
	for (unsigned int i = 0; i < rule->nr_places; i++)
		set_reg(regs, rule->place[i].reg, value[i]);
	set_reg(regs, abi->sp, cfa);
	set_reg(regs, abi->pc, pc);
	if (rule->ra != abi->pc)
		regs->known &= ~((uint64_t)1 << rule->ra);
	return true;
}

enum cfi_step cfi_apply(enum cfi_arch arch, const struct cfi_rules *exprs,
			const struct cfi_rule *rule, bool is_return_address,
			struct cfi_regs *regs, const struct cfi_stack *stack)
{
	const struct abi *abi = &abis[arch];
	unsigned int nr_ops = CFI_MAX_OPS;
	struct cfi_frame frame = { arch, regs, stack, regs->reg[abi->sp],
				   &nr_ops };
	struct cfi_regs up;
	enum cfi_step step;

	if (!cfi_register_is_known(regs, abi->sp) || frame.sp > CFI_MAX_ADDRESS)
		return CFI_BAD_STACK;
	if (restore_saved(&frame, rule, regs, &step))
		return step;
	step = restore_caller(exprs, &frame, rule, is_return_address, &up);
	if (step <= CFI_INTERRUPTED)
		*regs = up;
	return step;
}

enum cfi_step cfi_unwind(const struct cfi_table *table, uint64_t offset,
			 bool is_return_address, struct cfi_regs *regs,
			 const struct cfi_stack *stack)
{
	uint32_t nr = cfi_table_find(table, offset - is_return_address);

	if (!nr)
		return CFI_NO_DATA;
	return cfi_apply(table->arch, &table->rules,
			 cfi_rule(&table->rules, nr), is_return_address, regs,
			 stack);
}
