// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows paths through code of x86-64: what each instruction makes of the
 * registers (x86_insn.h), and what stands between functions.
 */

#include <string.h>

#include "libcfi/cfi.h"
#include "libcfi/code_path.h"
#include "libcfi/x86_insn.h"

static bool is_given_back(unsigned int reg)
{
	return reg == X86_RBX || reg == X86_RBP ||
	       (reg >= 12 && reg < X86_NR_REGS);
}

static void push_on_path(struct code_path *path, unsigned int reg)
{
	code_path_store(path, reg == X86_NO_REG ? CODE_NO_REG : reg, X86_RSP,
			-8);
	code_path_set_sum(path, X86_RSP, X86_RSP, -8);
}

static void pop_on_path(struct code_path *path, unsigned int reg)
{
	if (reg != X86_NO_REG)
		code_path_load(path, reg, X86_RSP, 0);
	code_path_set_sum(path, X86_RSP, X86_RSP, 8);
}

static void run_x86_insn(struct code_path *path, const struct x86_insn *insn)
{
	switch ((enum x86_op)insn->op) {
	case X86_MOVE:
		code_path_set_sum(path, insn->to, insn->from, 0);
		break;
	case X86_LEA:
		code_path_set_sum(path, insn->to, insn->from, insn->value);
		break;
	case X86_ADD:
		code_path_set_sum(path, insn->to, insn->to, insn->value);
		break;
	case X86_LOAD:
		code_path_load(path, insn->to, insn->from, insn->value);
		break;
	case X86_STORE:
		code_path_store(path, insn->from, insn->to, insn->value);
		break;
	case X86_PUSH:
		push_on_path(path, insn->from);
		break;
	case X86_POP:
		pop_on_path(path, insn->to);
		break;
	case X86_ENTER:
		push_on_path(path, X86_RBP);
		code_path_set_sum(path, X86_RBP, X86_RSP, 0);
		code_path_set_sum(path, X86_RSP, X86_RSP, -insn->value);
		break;
	case X86_LEAVE:
		code_path_set_sum(path, X86_RSP, X86_RBP, 0);
		pop_on_path(path, X86_RBP);
		break;
	default:
		for (unsigned int writes = insn->writes; writes;
		     writes &= writes - 1)
			code_path_lose(path,
				       (unsigned int)__builtin_ctz(writes));
	}
}

static enum code_flow x86_step(struct code_path *path, const uint8_t *bytes,
			       size_t len, struct code_step *step)
{
	struct x86_insn insn;

	if (!x86_decode(bytes, len, &insn))
		return CODE_END;
	run_x86_insn(path, &insn);
	step->len = insn.len;
	step->target = path->pc + insn.len + (uint64_t)(int64_t)insn.value;
	step->popped = 0;
	step->is_jump = insn.op == X86_JUMP_SLOT;
	step->adjusts_sp = insn.adjusts_sp;
	switch ((enum x86_op)insn.op) {
	case X86_BRANCH:
		return CODE_BRANCH;
	case X86_JUMP:
		return CODE_JUMP;
	case X86_CALL:
		return CODE_CALL;
	/* Into another image, through its table of addresses: that function
	 * returns to this one's caller. */
	case X86_JUMP_SLOT:
		return CODE_RETURN;
	case X86_RET:
		step->popped = (uint32_t)insn.value;
		return CODE_RETURN;
	case X86_JUMP_AWAY:
		return CODE_LEAVE;
	case X86_STOP:
		return CODE_STOP;
	default:
		return CODE_NEXT;
	}
}

/*
 * Functions of Go compare the stack pointer with a limit at 16 bytes, some of
 * the runtime at 24, into what r14 points to; before Go 1.17, rcx. With a large
 * frame it is r12, where the end of the frame is calculated. Other languages do
 * not compare the stack pointer with such a place.
 */
static bool x86_has_go(const uint8_t *bytes, size_t len)
{
	static const uint8_t compare[] = { 0x49, 0x3b, 0x66, 0x10 };
	static const uint8_t old_compare[] = { 0x48, 0x3b, 0x61, 0x10 };

	return memmem(bytes, len, compare, sizeof(compare)) ||
	       memmem(bytes, len, old_compare, sizeof(old_compare));
}

/*
 * Compilers end a function with a call that does not return; the function after
 * it begins at a multiple of 16, with padding before it, or with its prologue.
 */
static enum code_behind x86_behind_call(uint64_t addr, const uint8_t *bytes,
					size_t len)
{
	struct x86_insn insn;
	size_t at = 0;

	while (x86_decode(bytes + at, len - at, &insn) && insn.op == X86_NOP)
		at += insn.len;
	if (x86_has_go(bytes + at, len - at < 4 ? len - at : 4))
		return CODE_BEGINS;
	if (at > 1 && (addr + at) % 8 == 0)
		return CODE_PADDED;
	if (at || !x86_decode(bytes, len, &insn))
		return CODE_GOES_ON;
	return insn.op == X86_ENDBR ||
			       (insn.op == X86_PUSH && is_given_back(insn.from))
		       ? CODE_BEGINS
		       : CODE_GOES_ON;
}

/*
 * A call is e8 with rel32, or ff with 2 in ModRM.reg, of 2 to 7 bytes and a REX
 * prefix; other prefixes may stand before those.
 */
static bool x86_ends_in_call(const uint8_t *end, size_t len)
{
	struct x86_insn insn;

	for (size_t i = 2; i <= 8 && i <= len; i++)
		if (x86_decode(end - i, i, &insn) && insn.len == i &&
		    insn.op == X86_CALL)
			return true;
	return false;
}

static bool x86_find_callee(uint64_t end_at, const uint8_t *end, size_t len,
			    uint64_t *callee)
{
	int32_t offset;

	if (len < 5 || end[-5] != 0xe8)
		return false;
	memcpy(&offset, end - sizeof(offset), sizeof(offset));
	*callee = end_at + (uint64_t)(int64_t)offset;
	return true;
}

static bool x86_checks_stack(const uint8_t *bytes, size_t len)
{
	static const struct {
		uint8_t len;
		uint8_t bytes[6];
	} starts[] = {
		{ 4, { 0x49, 0x3b, 0x66, 0x10 } }, /* cmp 0x10(%r14),%rsp */
		{ 4, { 0x49, 0x3b, 0x66, 0x18 } },
		{ 4, { 0x48, 0x3b, 0x61, 0x10 } }, /* cmp 0x10(%rcx),%rsp */
		{ 4, { 0x4c, 0x8d, 0x64, 0x24 } }, /* lea N(%rsp),%r12 */
		{ 4, { 0x4c, 0x8d, 0xa4, 0x24 } },
		/* mov %rsp,%r12; sub $N,%r12 */
		{ 6, { 0x49, 0x89, 0xe4, 0x49, 0x81, 0xec } },
	};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (len >= starts[i].len &&
		    !memcmp(bytes, starts[i].bytes, starts[i].len))
			return true;
	return false;
}

/* push N(%rip): psABI, section 5.2. */
static bool x86_ends_in_linkage(const uint8_t *end, size_t len)
{
	return len >= 6 && end[-6] == 0xff && end[-5] == 0x35;
}

static bool begins_with(const uint8_t *bytes, size_t len, const uint8_t *code,
			size_t code_len)
{
	return len >= code_len && !memcmp(bytes, code, code_len);
}

/* Behind a call of what a register points to there is exit(), with its result,
 * and nothing else: as where C libraries call main(). */
static bool x86_exits_with_result(uint64_t addr, const uint8_t *before,
				  size_t len)
{
	static const uint8_t exit[] = { 0x89, 0xc7, 0xe8 };
	const uint8_t *bytes = before + CODE_ROOT_BEFORE;
	const size_t end = sizeof(exit) + 4;

	return (before[1] == 0xff && (before[2] & 0xf8) == 0xd0) &&
	       begins_with(bytes, len, exit, sizeof(exit)) && len > end &&
	       x86_behind_call(addr + end, bytes + end, len - end) !=
		       CODE_GOES_ON;
}

/*
 * Whether a return to @addr ends a stack: the code there calls exit(2) by its
 * number, soon and after no other call. goexit() of Go's runtime is a nop,
 * after which the return address points, a call, and a nop
 * (runtime/asm_amd64.s). Functions of makecontext(3) return to code of the GNU
 * C library that takes the stack pointer from rbx (__start_context.S).
 */
static bool x86_is_root(uint64_t addr, const uint8_t *before, size_t len)
{
	static const uint8_t exits[] = { 0xb8, 60, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t starts_context[] = { 0x48, 0x89, 0xdc, 0x48,
						  0x8b, 0x3c, 0x24 };
	const uint8_t *bytes = before + CODE_ROOT_BEFORE;
	struct x86_insn insn;

	if (len >= 6 && bytes[-1] == 0x90 && bytes[0] == 0xe8 &&
	    bytes[5] == 0x90)
		return true;
	if (begins_with(bytes, len, starts_context, sizeof(starts_context)) ||
	    x86_exits_with_result(addr, before, len))
		return true;
	for (size_t at = 0; at < len && x86_decode(bytes + at, len - at, &insn);
	     at += insn.len) {
		if (begins_with(bytes + at, len - at, exits, sizeof(exits)))
			return true;
		if (insn.op == X86_CALL || insn.op == X86_BRANCH ||
		    insn.op == X86_JUMP || insn.op == X86_JUMP_AWAY ||
		    insn.op == X86_JUMP_SLOT || insn.op == X86_RET ||
		    insn.op == X86_STOP)
			return false;
	}
	return false;
}

/* System V psABI for x86-64, section 3.2.3; figure 3.36 (DWARF numbers). */
const struct code_machine x86_machine = {
	.nr_regs = X86_NR_REGS,
	.sp = X86_RSP,
	.link = CODE_NO_REG,
	.nr_saved = 6,
	.saved = { X86_RBX, X86_RBP, 12, 13, 14, 15 },
	.max_call = X86_MAX_INSN,
	.pushed = 8,
	.ra = CFI_X86_64_RIP,
	.dwarf = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 },
	.go_kept_sp = 12,
	.step = x86_step,
	.behind_call = x86_behind_call,
	.ends_in_call = x86_ends_in_call,
	.find_callee = x86_find_callee,
	.ends_in_linkage = x86_ends_in_linkage,
	.has_go = x86_has_go,
	.checks_stack = x86_checks_stack,
	.is_root = x86_is_root,
};
