// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Steps from a frame to its caller: which are taken, which end a stack, and
 * which cannot be.
 */

#include "cfi_fixture.h"

TEST(outermost)
{
	struct cfi_table *table = x86(INSNS("\7\x10"));
	struct cfi_regs regs;

	assert_int_equal(step(table, 0, &regs), CFI_OUTERMOST);
	assert_int_equal(regs.reg[CFI_X86_64_RSP], SP);
	/* Some end it by a return address of 0. */
	table = x86("", 0);
	regs = start_regs(CFI_X86_64);
	words[0] = 0;
	assert_int_equal(cfi_unwind(table, CODE_OFFSET + FUNC, false, &regs,
				    &stack),
			 CFI_OUTERMOST);
	cfi_table_free(table);
}

/* A frame below all others may be anywhere: the handler had its own stack. */
TEST(signal_frame)
{
	const struct cie cie = { .augmentation = "zRS",
				 .ra = 16,
				 /* the CFA is the word at rsp + 0x40 */
				 .insns = "\xf\4\x77\xc0\0\6"
					  "\x10\x10\2\x77\x10" /* rip */
					  "\x10\0\2\x77\x18", /* rax */
				 .insns_len = 16 };
	struct cfi_table *table = function(EM_X86_64, &cie, "", 0);
	struct cfi_regs regs = start_regs(CFI_X86_64);

	assert_int_equal(step(table, 0, &regs), CFI_INTERRUPTED);
	assert_int_equal(regs.reg[CFI_X86_64_RSP], WORD(8));
	assert_int_equal(regs.reg[CFI_X86_64_RIP], WORD(2));
	assert_int_equal(regs.reg[0], WORD(3));
	assert_true(is_known(&regs, 11));
}

static enum cfi_step step_at(const char *insns, size_t len, uint64_t sp,
			     bool is_return_address)
{
	struct cfi_table *table = x86(insns, len);
	struct cfi_regs regs = start_regs(CFI_X86_64);
	enum cfi_step got;

	regs.reg[CFI_X86_64_RSP] = sp;
	got = cfi_unwind(table, CODE_OFFSET + FUNC + 4, is_return_address,
			 &regs, &stack);
	if (got > CFI_INTERRUPTED)
		assert_int_equal(regs.reg[CFI_X86_64_RSP], sp);
	cfi_table_free(table);
	return got;
}

TEST(stacks_that_cannot_be)
{
	assert_int_equal(step_at("", 0, SP + sizeof(words) - 8, true),
			 CFI_CALLER);
	assert_int_equal(step_at("", 0, SP + sizeof(words) - 4, true),
			 CFI_BAD_STACK); /* not at a word */
	assert_int_equal(step_at("", 0, SP + sizeof(words), true),
			 CFI_SHORT_STACK);
	assert_int_equal(step_at("", 0, UINT64_MAX - 7, true), CFI_BAD_STACK);
	assert_int_equal(step_at("", 0, (uint64_t)1 << 56, true),
			 CFI_BAD_STACK);
	/* another stack */
	assert_int_equal(step_at("", 0, SP - 0x1000, true), CFI_OTHER_STACK);
	assert_int_equal(step_at("", 0, SP + 0x100000, true), CFI_OTHER_STACK);
	/* the caller's must be above */
	assert_int_equal(step_at(INSNS("\xe\0"), SP + 16, true), CFI_BAD_STACK);
	assert_int_equal(step_at(INSNS("\x13\1"), SP + 16, true),
			 CFI_BAD_STACK);
	/* a return address below the stack */
	assert_int_equal(step_at(INSNS("\x90\x20"), SP, true), CFI_BAD_STACK);
}

/* The return address of vfork() is popped into rdi: the caller has that stack.
 * In a frame that called another it would be for ever the same. */
TEST(popped_return_address)
{
	static const char insns[] = "\xe\0\x9\x10\5";
	struct cfi_table *table = x86(INSNS(insns));
	struct cfi_regs regs = start_regs(CFI_X86_64);
	const uint64_t at = CODE_OFFSET + FUNC + 4;

	assert_int_equal(cfi_unwind(table, at, false, &regs, &stack),
			 CFI_CALLER);
	assert_int_equal(regs.reg[CFI_X86_64_RSP], SP);
	assert_int_equal(regs.reg[CFI_X86_64_RIP], REG(5));
	cfi_table_free(table);
	assert_int_equal(step_at(INSNS(insns), SP + 16, true), CFI_BAD_STACK);
	/* one that is where the stack pointer is not */
	assert_int_equal(step_at(INSNS("\xe\0"), SP + 16, false),
			 CFI_BAD_STACK);
}

/*
 * Behind a pop, what held the register is below the stack pointer: it is in
 * the register. In a frame that called another that is no explanation.
 */
TEST(popped_register)
{
	struct cfi_table *table = x86(INSNS("\x83\x2"));
	struct cfi_regs regs = start_regs(CFI_X86_64);
	const uint64_t at = CODE_OFFSET + FUNC + 4;

	assert_int_equal(cfi_unwind(table, at, false, &regs, &stack),
			 CFI_CALLER);
	assert_true(is_known(&regs, 3));
	assert_int_equal(regs.reg[3], REG(3));
	regs = start_regs(CFI_X86_64);
	assert_int_equal(cfi_unwind(table, at, true, &regs, &stack),
			 CFI_CALLER);
	assert_false(is_known(&regs, 3));
	cfi_table_free(table);
}

/* What a CFA is counted from must be known. */
TEST(unknown_registers)
{
	struct cfi_table *table = x86(INSNS("\xc\3\x8"));
	struct cfi_regs regs = start_regs(CFI_X86_64);
	const uint64_t at = CODE_OFFSET + FUNC;

	regs.known &= ~((uint64_t)1 << 3);
	assert_int_equal(cfi_unwind(table, at, false, &regs, &stack),
			 CFI_NO_DATA);
	regs.known = (uint64_t)1 << 3;
	assert_int_equal(cfi_unwind(table, at, false, &regs, &stack),
			 CFI_BAD_STACK);
	cfi_table_free(table);
}

/* ---- AArch64 ----------------------------------------------------------------
 */

static enum cfi_step aarch64(const char *insns, size_t len, bool is_return,
			     struct cfi_regs *regs)
{
	const struct cie cie = { .ra = 30,
				 .augmentation = "zRB",
				 .insns = PLAIN_CIE_AARCH64,
				 .insns_len = 3 };
	struct cfi_table *table = function(EM_AARCH64, &cie, insns, len);
	enum cfi_step got;

	*regs = start_regs(CFI_AARCH64);
	regs->reg[CFI_AARCH64_LR] = 0x00aa000000001234;
	got = cfi_unwind(table, CODE_OFFSET + FUNC + 4, is_return, regs,
			 &stack);
	cfi_table_free(table);
	return got;
}

TEST(aarch64_frames)
{
	struct cfi_regs regs;

	assert_int_equal(aarch64("", 0, false, &regs), CFI_CALLER);
	assert_int_equal(regs.reg[CFI_AARCH64_PC], 0x00aa000000001234);
	assert_int_equal(regs.reg[CFI_AARCH64_SP], SP);
	assert_false(is_known(&regs, CFI_AARCH64_LR));
	assert_true(is_known(&regs, 19));
	assert_false(is_known(&regs, 18));
	/* one that called another has it no more */
	assert_int_equal(aarch64("", 0, true, &regs), CFI_BAD_STACK);
	assert_int_equal(aarch64(INSNS("\xe\x20"), true, &regs), CFI_NO_DATA);
	/* stp x29, x30, [sp, -32]! */
	assert_int_equal(aarch64(INSNS("\xe\x20\x9d\4\x9e\3"), true, &regs),
			 CFI_CALLER);
	assert_int_equal(regs.reg[CFI_AARCH64_PC], WORD(1));
	assert_int_equal(regs.reg[CFI_AARCH64_FP], WORD(0));
	assert_int_equal(regs.reg[CFI_AARCH64_SP], SP + 0x20);
	/* signed, and no more so */
	assert_int_equal(aarch64(INSNS("\x2d"), false, &regs), CFI_CALLER);
	assert_int_equal(regs.reg[CFI_AARCH64_PC], 0x1234);
	assert_int_equal(aarch64(INSNS("\x2d\x2d"), false, &regs), CFI_CALLER);
	assert_int_equal(regs.reg[CFI_AARCH64_PC], 0x00aa000000001234);
}

/* The kernel's code that a handler returns to, with struct rt_sigframe. */
TEST(aarch64_sigreturn)
{
	const uint32_t code[] = { 0xd503201f, 0xd2801168, 0xd4000001 };
	static uint64_t frame[80];
	const struct cfi_stack signal_stack = { SP, (const uint8_t *)frame,
						sizeof(frame) };
	const struct {
		unsigned int at;
		bool is_return_address;
		enum cfi_step step;
	} places[] = {
		{ 0x40, true, CFI_NO_DATA },
		{ 0x44, true, CFI_INTERRUPTED },
		{ 0x44, false, CFI_INTERRUPTED },
		{ 0x48, false, CFI_INTERRUPTED },
		{ 0x4c, false, CFI_NO_DATA },
	};
	struct cfi_table *table;

	elf_init(&file, EM_AARCH64);
	memcpy(file.byte + CODE_OFFSET + 0x40, code, sizeof(code));
	table = make();
	for (size_t i = 0; i < sizeof(frame) / sizeof(frame[0]); i++)
		frame[i] = 0x9000 + 8 * i;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct cfi_regs regs = start_regs(CFI_AARCH64);

		assert_int_equal(cfi_unwind(table, CODE_OFFSET + places[i].at,
					    places[i].is_return_address, &regs,
					    &signal_stack),
				 places[i].step);
		if (places[i].step != CFI_INTERRUPTED)
			continue;
		/* siginfo, ucontext up to uc_mcontext, fault_address */
		for (unsigned int reg = 0; reg < 33; reg++)
			assert_int_equal(regs.reg[reg],
					 0x9000 + 128 + 176 + 8 + 8 * reg);
		assert_int_equal(regs.known, 0x1ffffffff);
	}
	cfi_table_free(table);
	/* Other machines have their own. */
	elf_init(&file, EM_X86_64);
	memcpy(file.byte + CODE_OFFSET + 0x40, code, sizeof(code));
	table = make();
	assert_int_equal(cfi_table_nr_rows(table), 0);
	cfi_table_free(table);
}
