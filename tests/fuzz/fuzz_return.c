// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as code: a search for the return ends, its rule is sane, and the
 * step by it goes up or is refused.
 *
 * The first byte says what the code is: bit 0 AArch64, bit 1 a program counter
 * that is a return address, bit 2 code with an ABI of its own. Its last quarter
 * is the stack, too.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libcfi/cfi_return.h"

#define CODE 0x401000u
#define STACK 0x7f0000000000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct code {
	const uint8_t *bytes;
	size_t len;
};

static void check(bool claim)
{
	if (!claim)
		abort();
}

static size_t read_code(void *ctx, uint64_t addr, void *buf, size_t len)
{
	const struct code *code = ctx;

	if (addr < CODE || addr >= CODE + code->len)
		return 0;
	if (len > CODE + code->len - addr)
		len = CODE + code->len - addr;
	memcpy(buf, code->bytes + (addr - CODE), len);
	return len;
}

/* One place for a register, in the frame or gone. */
static void check_rule(enum cfi_arch arch, const struct cfi_rule *rule)
{
	const unsigned int nr_regs = arch == CFI_X86_64 ? 17 : 32;
	uint64_t seen = 0;

	check(rule->nr_places <= CFI_MAX_RETURN_PLACES);
	check(rule->cfa_reg < nr_regs && !rule->cfa_is_expr);
	for (unsigned int i = 0; i < rule->nr_places; i++) {
		const struct cfi_place *place = &rule->place[i];

		check(place->reg < nr_regs && !(seen >> place->reg & 1));
		seen |= UINT64_C(1) << place->reg;
		check(place->how == CFI_UNDEFINED || place->how == CFI_IN_REG ||
		      (place->how == CFI_AT_CFA && place->value <= -8));
		check(place->how != CFI_UNDEFINED || place->reg != rule->ra);
	}
}

static void follow(enum cfi_arch arch, const union cfi_return *found,
		   bool is_return_address, const struct cfi_stack *stack)
{
	const bool is_x86 = arch == CFI_X86_64;
	const unsigned int sp = is_x86 ? CFI_X86_64_RSP : CFI_AARCH64_SP;
	struct cfi_regs regs = { .known = 0x1ffffffff };
	enum cfi_step step;

	for (unsigned int i = 0; i < CFI_MAX_REGS; i++)
		regs.reg[i] = STACK + 8 * (uint64_t)i;
	regs.reg[sp] = STACK;
	step = cfi_follow_return(arch, found, is_return_address, &regs, stack);
	check(step != CFI_INTERRUPTED);
	if (step == CFI_CALLER)
		check(regs.reg[sp] > STACK ||
		      (!is_x86 && !is_return_address && regs.reg[sp] == STACK));
	else
		check(regs.reg[sp] == STACK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct code code = { data + 1, size ? size - 1 : 0 };
	const size_t quarter = size / 4;
	const struct cfi_stack stack = { STACK, data + size - quarter,
					 quarter };
	struct cfi_code_reader reader = { .read = read_code, .ctx = &code };
	bool is_return_address;
	enum cfi_arch arch;

	if (!size)
		return 0;
	arch = data[0] & 1 ? CFI_AARCH64 : CFI_X86_64;
	is_return_address = data[0] & 2;
	reader.has_own_abi = data[0] & 4;
	for (uint64_t pc = CODE; pc < CODE + code.len && pc < CODE + 64;
	     pc += arch == CFI_AARCH64 ? 4 : 3) {
		union cfi_return found;

		cfi_is_after_call(arch, &reader, pc);
		check(!cfi_is_entered_from(arch, &reader, CODE + code.len, pc,
					   is_return_address) ||
		      arch == CFI_X86_64);
		if (!cfi_find_return(arch, &reader, pc, is_return_address,
				     &found))
			continue;
		check_rule(arch, &found.rule);
		follow(arch, &found, is_return_address, &stack);
	}
	return 0;
}
