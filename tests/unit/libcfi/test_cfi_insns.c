// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The instructions of call frame information: each by what it makes of
 * registers and stack.
 */

#include "libcfi/cfi_program.h"
#include "cfi_fixture.h"

struct insn_case {
	const char *what;
	const char *insns;
	size_t len;
	unsigned int at; /* bytes into the function */
	uint64_t pc; /* of the caller; 0: the step fails */
	uint64_t sp;
	unsigned int reg; /* and what it is */
	uint64_t value;
};

#define WHERE(insn) INSNS("\x0e\x20" insn), 0, WORD(3), SP + 0x20
#define CFA_IS(insn, cfa)                                                      \
	INSNS(insn), 0, WORD(((cfa)-SP) / 8 - 1), (cfa), 3, REG(3)

/* clang-format off */
static const struct insn_case insn_cases[] = {
	{ "nothing", INSNS(""), 0, WORD(0), SP + 8, 3, REG(3) },
	{ "the last byte", INSNS(""), FUNC_LEN - 1, WORD(0), SP + 8, 3, REG(3) },
	{ "caller-saved", INSNS(""), 0, WORD(0), SP + 8, 0, UNKNOWN },
	{ "callee-saved", INSNS(""), 0, WORD(0), SP + 8, 15, REG(15) },

	{ "before advance_loc", INSNS("\x42\x0e\x10"), 1, WORD(0), SP + 8, 3, REG(3) },
	{ "advance_loc", INSNS("\x42\x0e\x10"), 2, WORD(1), SP + 16, 3, REG(3) },
	{ "before advance_loc1", INSNS("\x02\x41\x0e\x10"), 0x40, WORD(0), SP + 8, 3, REG(3) },
	{ "advance_loc1", INSNS("\x02\x41\x0e\x10"), 0x41, WORD(1), SP + 16, 3, REG(3) },
	{ "advance_loc2", INSNS("\x03\x41\0\x0e\x10"), 0x41, WORD(1), SP + 16, 3, REG(3) },
	{ "advance_loc4", INSNS("\x04\x41\0\0\0\x0e\x10"), 0x41, WORD(1), SP + 16, 3, REG(3) },
	{ "before set_loc", INSNS("\1\x10\1\x40\0\0\0\0\0\x0e\x10"), 0xf, WORD(0), SP + 8, 3, REG(3) },
	{ "set_loc", INSNS("\1\x10\1\x40\0\0\0\0\0\x0e\x10"), 0x10, WORD(1), SP + 16, 3, REG(3) },
	{ "two rows", INSNS("\x41\x0e\x10\x41\x0e\x18"), 1, WORD(1), SP + 16, 3, REG(3) },
	{ "two rows", INSNS("\x41\x0e\x10\x41\x0e\x18"), 2, WORD(2), SP + 24, 3, REG(3) },
	{ "changes of one place", INSNS("\x41\x0e\x10\x0e\x18"), 1, WORD(2), SP + 24, 3, REG(3) },

	{ "offset", WHERE("\x83\x04"), 3, WORD(0) },
	{ "offset_extended", WHERE("\5\3\4"), 3, WORD(0) },
	{ "offset_extended_sf", WHERE("\x11\3\4"), 3, WORD(0) },
	{ "negative_offset_extended", WHERE("\x2f\3\1"), 3, WORD(5) },
	{ "restore", WHERE("\x83\4\xc3"), 3, REG(3) },
	{ "restore_extended", WHERE("\x83\4\6\3"), 3, REG(3) },
	{ "undefined", WHERE("\7\3"), 3, UNKNOWN },
	{ "same_value", WHERE("\x83\4\x8\3"), 3, REG(3) },
	{ "same_value of one that is not saved", WHERE("\x8\0"), 0, REG(0) },
	{ "register", WHERE("\x9\3\x0b"), 3, REG(11) },
	{ "val_offset", WHERE("\x14\3\2"), 3, SP + 0x10 },
	{ "val_offset_sf", WHERE("\x15\3\x7e"), 3, SP + 0x30 },
	{ "expression", WHERE("\x10\3\2\x77\x10"), 3, WORD(2) },
	{ "expression, given the CFA", WHERE("\x10\3\2\x38\x1c"), 3, WORD(3) },
	{ "val_expression", WHERE("\x16\3\2\x77\x10"), 3, SP + 0x10 },
	{ "args_size", WHERE("\x2e\x40"), 3, REG(3) },
	{ "a vector register", WHERE("\x91\2"), 3, REG(3) },
	{ "remember and restore", WHERE("\xa\xe\x30\x83\4\xb"), 3, REG(3) },
	{ "remember twice", WHERE("\xa\xe\x30\xa\x83\4\xb\xb"), 3, REG(3) },

	{ "def_cfa", CFA_IS("\xc\6\x10", RBP_VALUE + 0x10) },
	{ "def_cfa_sf", CFA_IS("\x12\6\x7e", RBP_VALUE + 0x10) },
	{ "def_cfa_register", CFA_IS("\xd\6", RBP_VALUE + 8) },
	{ "def_cfa_offset", CFA_IS("\xe\x30", SP + 0x30) },
	{ "def_cfa_offset_sf", CFA_IS("\x13\x7a", SP + 0x30) },
	{ "def_cfa_expression", CFA_IS("\xf\2\x76\x18", RBP_VALUE + 0x18) },
	{ "def_cfa behind an expression", CFA_IS("\xf\2\x76\x18\xc\7\x10", SP + 0x10) },

	/* from a mistake on there is nothing, what was before is right */
	{ "before no instruction", INSNS("\x44\x3f"), 3, WORD(0), SP + 8, 3, REG(3) },
	{ "no instruction", INSNS("\x44\x3f"), 4, 0, 0, 0, 0 },
	{ "restore of nothing", INSNS("\x44\xb"), 4, 0, 0, 0, 0 },
	{ "too much to remember", INSNS("\x44\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa\xa"), 4, 0, 0, 0, 0 },
	{ "offset of an expression", INSNS("\xf\1\x30\xe\x30"), 0, 0, 0, 0, 0 },
	{ "no such register", INSNS("\xd\x7f"), 0, 0, 0, 0, 0 },
	{ "a way back", INSNS("\1\1\0\x40\0\0\0\0\0\x0e\x10"), 0, 0, 0, 0, 0 },
	{ "a block that is too long", INSNS("\xf\x7f\x30"), 0, 0, 0, 0, 0 },
	{ "an offset that is too long", INSNS("\xe\xff\xff\xff\xff\xff\x0f"), 0, 0, 0, 0, 0 },
	{ "signed return address", INSNS("\x2d"), 0, 0, 0, 0, 0 },
	{ "eight states", INSNS("\x44\xa\xa\xa\xa\xa\xa\xa\xa"), 4, WORD(0), SP + 8, 3, REG(3) },
	{ "nine states", INSNS("\x44\xa\xa\xa\xa\xa\xa\xa\xa\xa"), 4, 0, 0, 0, 0 },
	{ "one restored too many", INSNS("\x44\xa\xb\xb"), 4, 0, 0, 0, 0 },
	{ "the last register", INSNS("\x14\x10\2"), 0, SP - 8, SP + 8, 3, REG(3) },
	{ "a register that is none", INSNS("\xc\x11\x8"), 0, 0, 0, 0, 0 },
	{ "a register of no interest", INSNS("\x91\xff\xff\xff\xff\xff\x7f"), 0, WORD(0), SP + 8, 3, REG(3) },
	{ "the largest place", INSNS("\x15\3\x81\x80\x80\x80\x7f"), 0, WORD(0), SP + 8, 3, SP + 8 + 0x7ffffff8u },
	{ "the lowest place", INSNS("\x15\3\x80\x80\x80\x80\1"), 0, WORD(0), SP + 8, 3, SP + 8 - 0x80000000ull },
	{ "a place too large", INSNS("\x15\3\x80\x80\x80\x80\x7f"), 0, 0, 0, 0, 0 },
	{ "a place too low", INSNS("\x15\3\x81\x80\x80\x80\1"), 0, 0, 0, 0, 0 },
	{ "a product too large", INSNS("\x15\3\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f"), 0, 0, 0, 0, 0 },
	{ "an offset too large", INSNS("\xe\x80\x80\x80\x80\x8"), 0, 0, 0, 0, 0 },
	{ "an expression's offset, factored", INSNS("\xf\1\x30\x13\x7a"), 0, 0, 0, 0, 0 },
	{ "signed return address with pc", INSNS("\x2c"), 0, 0, 0, 0, 0 },
};
/* clang-format on */

TEST(instructions)
{
	for (size_t i = 0; i < sizeof(insn_cases) / sizeof(insn_cases[0]);
	     i++) {
		const struct insn_case *c = &insn_cases[i];
		struct cfi_regs regs;
		enum cfi_step got = step(x86(c->insns, c->len), c->at, &regs);

		if (got != (c->pc ? CFI_CALLER : CFI_NO_DATA))
			fail_msg("%s: step %d", c->what, (int)got);
		if (!c->pc)
			continue;
		if (regs.reg[CFI_X86_64_RIP] != c->pc ||
		    regs.reg[CFI_X86_64_RSP] != c->sp)
			fail_msg("%s: pc %#lx sp %#lx", c->what,
				 regs.reg[CFI_X86_64_RIP],
				 regs.reg[CFI_X86_64_RSP]);
		if (is_known(&regs, c->reg) != (c->value != UNKNOWN) ||
		    (c->value != UNKNOWN && regs.reg[c->reg] != c->value))
			fail_msg("%s: register %u is %#lx", c->what, c->reg,
				 regs.reg[c->reg]);
	}
}

/* Padding, or what is to keep the daemon busy. */
TEST(many_instructions)
{
	char nothing[300] = { 0 };
	struct cfi_regs regs;

	assert_int_equal(step(x86(nothing, 200), 0, &regs), CFI_CALLER);
	assert_int_equal(step(x86(nothing, 300), 0, &regs), CFI_NO_DATA);
}

/* ---- what comes out, row by row ---------------------------------------------
 */

struct rows {
	uint64_t addr[8];
	uint32_t rule[8];
	size_t nr;
	int err; /* of the next row */
};

static int take_row(void *ctx, uint64_t addr, uint32_t rule)
{
	struct rows *rows = ctx;

	assert_true(rows->nr < 8);
	rows->addr[rows->nr] = addr;
	rows->rule[rows->nr++] = rule;
	return rows->err;
}

/* Run exactly these bytes, of a function at 0x1000 to 0x1080. */
static int run(const uint8_t *insns, size_t len, struct rows *rows)
{
	static const uint8_t cie_insns[] = PLAIN_CIE;
	static const struct cfi_section section = { .addr = 0 };
	const struct cfi_fde fde = {
		.start = 0x1000,
		.end = 0x1080,
		.insns = insns,
		.insns_len = len,
		.section = &section,
		.cie = { .insns = cie_insns,
			 .insns_len = sizeof(cie_insns) - 1,
			 .code_align = 2,
			 .data_align = -8,
			 .ra = 16 },
	};
	const struct cfi_row_sink sink = { take_row, rows };
	struct cfi_rules rules;
	int err;

	assert_int_equal(cfi_rules_init(&rules), 0);
	rows->nr = 0;
	err = cfi_program_run(&fde, CFI_X86_64, &rules, &sink);
	cfi_rules_release(&rules);
	return err;
}

TEST(rows_are_of_changes)
{
	/* on by 2, which changes nothing, by 4, CFA, by 0, CFA, by 6 */
	static const uint8_t insns[] = { 0x41, 0x42, 0xe,  0x10, 0x40,
					 0xe,  0x18, 0x43, 0xe,	 8 };
	struct rows rows = { .err = 0 };

	assert_int_equal(run(insns, sizeof(insns), &rows), 0);
	assert_int_equal(rows.nr, 3);
	assert_int_equal(rows.addr[0], 0x1000);
	assert_int_equal(rows.addr[1], 0x1006);
	assert_int_equal(rows.addr[2], 0x100c);
	assert_int_equal(rows.rule[0], rows.rule[2]);
	assert_true(rows.rule[1] != rows.rule[0] && rows.rule[1] != 0);
	/* None behind the end of the function: 0x1080 is there no more. */
	assert_int_equal(
		run((const uint8_t *)"\x7f\xe\x10\x41\xe\x18", 6, &rows), 0);
	assert_int_equal(rows.nr, 2);
	assert_int_equal(rows.addr[1], 0x107e);
	assert_int_equal(run((const uint8_t *)"\2\x40\xe\x10", 4, &rows), 0);
	assert_int_equal(rows.nr, 1);
}

/* Of one place there may be 256 instructions, and more of the next. */
TEST(instructions_of_a_place_are_bounded)
{
	uint8_t insns[514] = { 0 };
	struct rows rows = { .err = 0 };

	assert_int_equal(run(insns, 256, &rows), 0);
	assert_int_equal(rows.nr, 1);
	assert_true(rows.rule[0] != 0);
	assert_int_equal(run(insns, 257, &rows), 0);
	assert_int_equal(rows.nr, 1);
	assert_int_equal(rows.rule[0], 0);
	insns[255] = 0x41;
	assert_int_equal(run(insns, 512, &rows), 0);
	assert_int_equal(rows.nr, 1);
	assert_true(rows.rule[0] != 0);
	/* A mistake in the second place: rule 0 from there on. */
	assert_int_equal(run(insns, 513, &rows), 0);
	assert_int_equal(rows.nr, 2);
	assert_true(rows.rule[0] != 0);
	assert_int_equal(rows.addr[1], 0x1002);
	assert_int_equal(rows.rule[1], 0);
}

/* Memory that is short ends it, at the row that could not be kept. */
TEST(a_row_that_is_not_taken_ends_it)
{
	static const uint8_t insns[] = { 0x41, 0xe, 0x10, 0x41, 0xe, 0x18 };
	struct rows rows = { .err = -ENOMEM };

	assert_int_equal(run(insns, sizeof(insns), &rows), -ENOMEM);
	assert_int_equal(rows.nr, 1);
	assert_int_equal(run(insns, 0, &rows), -ENOMEM);
	assert_int_equal(rows.nr, 1);
}

/*
 * What a CIE restores itself is what nobody has said yet, and nothing of what
 * another file's CIE has left in memory: here an expression, which this file
 * has not.
 */
TEST(restore_in_a_cie)
{
	static const char *const restores[] = { PLAIN_CIE "\xc3",
						PLAIN_CIE "\6\3" };
	const struct cie other = { .ra = 16,
				   .insns = PLAIN_CIE "\x16\3\2\x77\x10" };
	struct cfi_regs regs;

	for (size_t i = 0; i < 2; i++) {
		const struct cie cie = { .ra = 16, .insns = restores[i] };

		assert_int_equal(step(function(EM_X86_64, &other, "", 0), 0,
				      &regs),
				 CFI_CALLER);
		assert_int_equal(regs.reg[3], SP + 0x10);
		assert_int_equal(step(function(EM_X86_64, &cie, "", 0), 0,
				      &regs),
				 CFI_CALLER);
		assert_int_equal(regs.reg[3], REG(3));
	}
}

/* The column of the return address is no place for the stack pointer. */
TEST(return_address_columns)
{
	struct cie cie = { .insns = PLAIN_CIE };
	struct cfi_regs regs;

	for (unsigned int ra = 0; ra < 256; ra++) {
		bool is_sound = ra < 17 && ra != CFI_X86_64_RSP;

		cie.ra = (uint8_t)ra;
		assert_int_equal(step(function(EM_X86_64, &cie, "\x80\1", 0), 0,
				      &regs),
				 !is_sound || (ra && ra != 16) ? CFI_NO_DATA
							       : CFI_CALLER);
	}
}

TEST(function_bounds)
{
	struct cfi_table *table = x86("", 0);
	struct cfi_regs regs = start_regs(CFI_X86_64);
	const uint64_t start = CODE_OFFSET + FUNC;

	assert_int_equal(cfi_unwind(table, start - 1, false, &regs, &stack),
			 CFI_NO_DATA);
	assert_int_equal(cfi_unwind(table, start + FUNC_LEN, false, &regs,
				    &stack),
			 CFI_NO_DATA);
	/* a call may be the last thing in a function */
	assert_int_equal(cfi_unwind(table, start, true, &regs, &stack),
			 CFI_NO_DATA);
	assert_int_equal(regs.reg[CFI_X86_64_RSP], SP);
	assert_int_equal(cfi_unwind(table, start + FUNC_LEN, true, &regs,
				    &stack),
			 CFI_CALLER);
	assert_int_equal(cfi_unwind(table, 0, false, &regs, &stack),
			 CFI_NO_DATA);
	assert_int_equal(cfi_unwind(table, 0, true, &regs, &stack),
			 CFI_NO_DATA);
	assert_int_equal(cfi_unwind(table, UINT64_MAX, false, &regs, &stack),
			 CFI_NO_DATA);
	cfi_table_free(table);
}
