// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call frame information by hand: each instruction and operation by what it
 * makes of registers and stack, and files that are laid out in all ways.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>

#include "libcfi/cfi.h"
#include "tests/unit/cfi_elf.h"

#define FUNC 0x100u /* where the function is in the code, and its length */
#define FUNC_LEN 0x80u

/* The stack, and what is in it: word n is WORD(n). */
#define SP 0x7000u
#define NR_WORDS 64u
#define WORD(n) (0xab0000u + 8 * (n))
/* What register n holds, but for those that are addresses. */
#define REG(n) (0x1000u * (n) + 0x123)
#define RBP_VALUE (SP + 0x20)

/* CFA = rsp + 8, return address below it */
#define PLAIN_CIE "\x0c\x07\x08\x90\x01"
/* CFA = sp */
#define PLAIN_CIE_AARCH64 "\x0c\x1f"

static struct elf_file file;
static struct bytes eh;
static uint64_t words[NR_WORDS];
static const struct cfi_stack stack = { SP, (const uint8_t *)words,
					sizeof(words) };

static struct cfi_table *make(void)
{
	struct op_diag diag = { "" };
	struct cfi_table *table;
	uint8_t *exact;
	int err;

	elf_finish(&file);
	/* So that a byte too far is seen. */
	exact = malloc(file.len);
	assert_non_null(exact);
	memcpy(exact, file.byte, file.len);
	err = cfi_table_new(&table, exact, file.len, &diag);
	free(exact);
	assert_string_equal(diag.text, "");
	assert_int_equal(err, 0);
	return table;
}

/* A file whose only function has these instructions. */
static struct cfi_table *function(uint16_t machine, const struct cie *cie,
				  const char *insns, size_t len)
{
	size_t at;

	elf_init(&file, machine);
	eh.len = 0;
	at = put_cie(&eh, cie, false);
	put_fde(&eh, at, false, CODE_ADDR + FUNC, FUNC_LEN, insns, len);
	put_int(&eh, 0, 4);
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	return make();
}

static struct cfi_table *x86(const char *insns, size_t len)
{
	return function(EM_X86_64,
			&(struct cie){ .ra = 16, .insns = PLAIN_CIE }, insns,
			len);
}

static struct cfi_regs start_regs(enum cfi_arch arch)
{
	struct cfi_regs regs = { .known = 0x1ffff };

	if (arch == CFI_AARCH64)
		regs.known = 0x1ffffffff;
	for (unsigned int i = 0; i < CFI_MAX_REGS; i++)
		regs.reg[i] = REG(i);
	regs.reg[arch == CFI_AARCH64 ? CFI_AARCH64_SP : CFI_X86_64_RSP] = SP;
	if (arch == CFI_X86_64)
		regs.reg[CFI_X86_64_RBP] = RBP_VALUE;
	for (size_t i = 0; i < NR_WORDS; i++)
		words[i] = WORD(i);
	return regs;
}

/* One step from @at bytes into the function; the table is freed. */
static enum cfi_step step(struct cfi_table *table, unsigned int at,
			  struct cfi_regs *regs)
{
	enum cfi_step got;

	*regs = start_regs(cfi_table_arch(table));
	got = cfi_unwind(table, CODE_OFFSET + FUNC + at, false, regs, &stack);
	cfi_table_free(table);
	return got;
}

static bool is_known(const struct cfi_regs *regs, unsigned int reg)
{
	return regs->known >> reg & 1;
}

/* ---- instructions -----------------------------------------------------------
 */

#define UNKNOWN UINT64_MAX

/* The bytes of a string, with zeros among them. */
#define INSNS(text) text, sizeof(text) - 1

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
};
/* clang-format on */

static void instructions(void **state)
{
	(void)state;
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
static void many_instructions(void **state)
{
	char nothing[300] = { 0 };
	struct cfi_regs regs;

	(void)state;
	assert_int_equal(step(x86(nothing, 200), 0, &regs), CFI_CALLER);
	assert_int_equal(step(x86(nothing, 300), 0, &regs), CFI_NO_DATA);
}

/* The column of the return address is no place for the stack pointer. */
static void return_address_columns(void **state)
{
	struct cie cie = { .insns = PLAIN_CIE };
	struct cfi_regs regs;

	(void)state;
	for (unsigned int ra = 0; ra < 256; ra++) {
		bool is_sound = ra < 17 && ra != CFI_X86_64_RSP;

		cie.ra = (uint8_t)ra;
		assert_int_equal(step(function(EM_X86_64, &cie, "\x80\1", 0), 0,
				      &regs),
				 !is_sound || (ra && ra != 16) ? CFI_NO_DATA
							       : CFI_CALLER);
	}
}

static void function_bounds(void **state)
{
	struct cfi_table *table = x86("", 0);
	struct cfi_regs regs = start_regs(CFI_X86_64);
	const uint64_t start = CODE_OFFSET + FUNC;

	(void)state;
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

/* ---- expressions ------------------------------------------------------------
 */

/* clang-format off */
static const struct {
	const char *expr;
	size_t len;
	uint64_t value; /* UNKNOWN: there is none */
} exprs[] = {
	{ INSNS("\x30"), 0 },
	{ INSNS("\x4f"), 31 },
	{ INSNS("\x8\xff"), 0xff },
	{ INSNS("\x9\xfe"), (uint64_t)-2 },
	{ INSNS("\xa\xfe\xff"), 0xfffe },
	{ INSNS("\xb\xfe\xff"), (uint64_t)-2 },
	{ INSNS("\xc\1\2\3\x84"), 0x84030201 },
	{ INSNS("\xd\1\2\3\x84"), 0xffffffff84030201 },
	{ INSNS("\xe\1\2\3\4\5\6\7\x80"), 0x8007060504030201 },
	{ INSNS("\xf\1\2\3\4\5\6\7\x80"), 0x8007060504030201 },
	{ INSNS("\x10\x80\x01"), 128 },
	{ INSNS("\x11\x7f\x31\x22"), 0 },
	{ INSNS("\x73\x02"), REG(3) + 2 },
	{ INSNS("\x73\x7e"), REG(3) - 2 },
	{ INSNS("\x92\3\x02"), REG(3) + 2 },
	{ INSNS("\x77\x08\x06"), WORD(1) },
	{ INSNS("\x77\x08\x94\x01"), WORD(1) & 0xff },
	{ INSNS("\x77\x08\x94\x02"), WORD(1) & 0xffff },
	{ INSNS("\x31\x32\x12\x22"), 4 },
	{ INSNS("\x31\x32\x13"), 1 },
	{ INSNS("\x31\x32\x14"), 1 },
	{ INSNS("\x31\x32\x33\x15\2"), 1 },
	{ INSNS("\x31\x35\x16\x1c"), 4 }, /* 5 - 1 */
	{ INSNS("\x31\x32\x33\x17\x1e\x1c"), 1 }, /* 3 - 1 * 2 */
	{ INSNS("\x9\xfb\x19"), 5 },
	{ INSNS("\x35\x19"), 5 },
	{ INSNS("\x35\x33\x1a"), 1 },
	{ INSNS("\x9\xfa\x32\x1b"), (uint64_t)-3 },
	{ INSNS("\xf\0\0\0\0\0\0\0\x80\x9\xff\x1b"), (uint64_t)1 << 63 },
	{ INSNS("\x35\x33\x1c"), 2 },
	{ INSNS("\x35\x33\x1d"), 2 },
	{ INSNS("\x35\x33\x1e"), 15 },
	{ INSNS("\x35\x1f"), (uint64_t)-5 },
	{ INSNS("\x35\x20"), ~(uint64_t)5 },
	{ INSNS("\x35\x32\x21"), 7 },
	{ INSNS("\x35\x33\x22"), 8 },
	{ INSNS("\x35\x23\x80\1"), 133 },
	{ INSNS("\x35\x33\x24"), 40 },
	{ INSNS("\x35\x8\x40\x24"), 0 },
	{ INSNS("\x9\xff\x8\x3f\x25"), 1 },
	{ INSNS("\x9\xff\x8\x40\x25"), 0 },
	{ INSNS("\x9\xe0\x34\x26"), (uint64_t)-2 },
	{ INSNS("\x9\xf0\x8\x40\x26\x20"), 0 },
	{ INSNS("\x35\x33\x27"), 6 },
	{ INSNS("\x9\xff\x33\x29"), 0 },
	{ INSNS("\x33\x33\x29"), 1 },
	{ INSNS("\x9\xff\x33\x2a"), 0 },
	{ INSNS("\x33\x33\x2a"), 1 },
	{ INSNS("\x33\x33\x2b"), 0 },
	{ INSNS("\x33\x9\xff\x2b"), 1 },
	{ INSNS("\x9\xff\x33\x2c"), 1 },
	{ INSNS("\x9\xff\x33\x2d"), 1 },
	{ INSNS("\x33\x33\x2e"), 0 },
	{ INSNS("\x32\x2f\1\0\x33\x34\x22"), 6 }, /* over lit3 */
	{ INSNS("\x32\x31\x28\1\0\x33"), 2 },
	{ INSNS("\x32\x30\x28\1\0\x33"), 3 },
	{ INSNS("\x32\x96"), 2 },
	/* none */
	{ INSNS("\x77\x00\x77\x00\x1b\x30\x1b"), UNKNOWN }, /* 1 / 0 */
	{ INSNS("\x31\x30\x1d"), UNKNOWN },
	{ INSNS("\x22\x22\x22"), UNKNOWN },
	{ INSNS("\x31\x32\x15\x9"), UNKNOWN },
	{ INSNS("\x2f\xfd\xff"), UNKNOWN }, /* for ever */
	{ INSNS("\x2f\xfc\xff"), UNKNOWN },
	{ INSNS("\x2f\1\0"), UNKNOWN },
	{ INSNS("\x12\x2f\xfc\xff"), UNKNOWN }, /* for ever more values */
	{ INSNS("\xe\1\2\3"), UNKNOWN },
	{ INSNS("\x77\x08\x94\x09"), UNKNOWN },
	{ INSNS("\x77\x08\x94\x00"), UNKNOWN },
	{ INSNS("\x30\x6"), UNKNOWN }, /* memory that is not at hand */
	{ INSNS("\x77\xc0\x7e\x6"), UNKNOWN },
	{ INSNS("\x77\x80\x04\x6"), UNKNOWN },
	{ INSNS("\x92\x20\0"), UNKNOWN }, /* no such register */
	{ INSNS("\x92\xff\x7f\0"), UNKNOWN },
	{ INSNS("\x50"), UNKNOWN }, /* not an operation here */
	{ INSNS("\x3"), UNKNOWN },
};
/* clang-format on */

static void expressions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(exprs) / sizeof(exprs[0]); i++) {
		uint8_t insns[64] = { 0x16, 3, (uint8_t)exprs[i].len };
		struct cfi_regs regs;

		memcpy(insns + 3, exprs[i].expr, exprs[i].len);
		assert_int_equal(
			step(x86((const char *)insns, 3 + exprs[i].len), 0,
			     &regs),
			CFI_CALLER);
		if (is_known(&regs, 3) != (exprs[i].value != UNKNOWN) ||
		    (is_known(&regs, 3) && regs.reg[3] != exprs[i].value))
			fail_msg("expression %zu: %d %#lx", i,
				 is_known(&regs, 3), regs.reg[3]);
	}
}

/* What linkers write for procedure linkage tables. */
static void plt(void **state)
{
	const char insns[] = "\xf\xb\x77\x8\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22";
	struct cfi_table *table = x86(INSNS(insns));
	uint64_t at;

	(void)state;
	for (unsigned int i = 0; i < 16; i++) {
		struct cfi_regs regs = start_regs(CFI_X86_64);

		at = CODE_OFFSET + FUNC + i;
		regs.reg[CFI_X86_64_RIP] = at;
		assert_int_equal(cfi_unwind(table, at, false, &regs, &stack),
				 CFI_CALLER);
		assert_int_equal(regs.reg[CFI_X86_64_RSP],
				 i < 11 ? SP + 8 : SP + 16);
	}
	cfi_table_free(table);
}

/* ---- steps ------------------------------------------------------------------
 */

static void outermost(void **state)
{
	struct cfi_table *table = x86(INSNS("\7\x10"));
	struct cfi_regs regs;

	(void)state;
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
static void signal_frame(void **state)
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

	(void)state;
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

static void stacks_that_cannot_be(void **state)
{
	(void)state;
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
	assert_int_equal(step_at("", 0, SP - 0x1000, true), CFI_SHORT_STACK);
	/* the caller's must be above */
	assert_int_equal(step_at(INSNS("\xe\0"), SP + 16, true), CFI_BAD_STACK);
	assert_int_equal(step_at(INSNS("\x13\1"), SP + 16, true),
			 CFI_BAD_STACK);
	/* a return address below the stack */
	assert_int_equal(step_at(INSNS("\x90\x20"), SP, true), CFI_BAD_STACK);
}

/*
 * Behind a pop, what held the register is below the stack pointer: it is in
 * the register. In a frame that called another that is no explanation.
 */
static void popped_register(void **state)
{
	struct cfi_table *table = x86(INSNS("\x83\x2"));
	struct cfi_regs regs = start_regs(CFI_X86_64);
	const uint64_t at = CODE_OFFSET + FUNC + 4;

	(void)state;
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
static void unknown_registers(void **state)
{
	struct cfi_table *table = x86(INSNS("\xc\3\x8"));
	struct cfi_regs regs = start_regs(CFI_X86_64);
	const uint64_t at = CODE_OFFSET + FUNC;

	(void)state;
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

static void aarch64_frames(void **state)
{
	struct cfi_regs regs;

	(void)state;
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
static void aarch64_sigreturn(void **state)
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

	(void)state;
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

/* ---- files ------------------------------------------------------------------
 */

/* The caller's stack pointer above SP at an offset in the code; 0: no data. */
static uint64_t cfa_at(const struct cfi_table *table, uint64_t at)
{
	struct cfi_regs regs = start_regs(CFI_X86_64);
	enum cfi_step got =
		cfi_unwind(table, CODE_OFFSET + at, false, &regs, &stack);

	if (got == CFI_NO_DATA)
		return 0;
	assert_int_equal(got, CFI_CALLER);
	return regs.reg[CFI_X86_64_RSP] - SP;
}

static const struct cie x86_cie = { .ra = 16, .insns = PLAIN_CIE };

/* Functions in any order, overlapping, and outside of code. */
static void many_functions(void **state)
{
	struct cfi_table *table;
	size_t cie, other;

	(void)state;
	elf_init(&file, EM_X86_64);
	eh.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_fde(&eh, cie, false, CODE_ADDR + 0x200, 0x20, "\xe\x10", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x100, 0x20, "\xe\x18", 0);
	other = put_cie(&eh,
			&(struct cie){ .augmentation = "zPLR",
				       .ra = 16,
				       .insns = PLAIN_CIE "\xe\x20" },
			false);
	put_fde(&eh, other, false, CODE_ADDR + 0x110, 0x20, "", 0);
	put_fde(&eh, cie, false, CODE_ADDR + CODE_LEN - 8, 0x200, "\xe\x28", 0);
	put_fde(&eh, cie, false, 0, 0x200, "\xe\x30", 0);
	put_fde(&eh, other, false, CODE_ADDR + 0x220, 0x20, "", 0);
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	table = make();
	assert_int_equal(cfa_at(table, 0xff), 0);
	assert_int_equal(cfa_at(table, 0x100), 0x18);
	assert_int_equal(cfa_at(table, 0x11f), 0x18);
	assert_int_equal(cfa_at(table, 0x120), 0x20);
	assert_int_equal(cfa_at(table, 0x12f), 0x20);
	assert_int_equal(cfa_at(table, 0x130), 0);
	assert_int_equal(cfa_at(table, 0x21f), 0x10);
	assert_int_equal(cfa_at(table, 0x220), 0x20);
	assert_int_equal(cfa_at(table, CODE_LEN - 1), 0x28);
	assert_int_equal(cfa_at(table, CODE_LEN), 0);
	assert_true(cfi_table_nr_rules(table) <= 5);
	assert_true(cfi_table_bytes(table) < 4096);
	cfi_table_free(table);
}

/* The function that holds the code, UINT64_MAX if it is not known. */
static uint64_t function_at(const struct cfi_table *table, uint64_t at)
{
	uint64_t start;

	return cfi_function(table, CODE_OFFSET + at, &start)
		       ? start - CODE_OFFSET
		       : UINT64_MAX;
}

/* One behind the other, with the rule of the one before; some overlap. */
static void function_starts(void **state)
{
	const struct cie signal = { .augmentation = "zRS",
				    .ra = 16,
				    .insns = PLAIN_CIE };
	struct cfi_table *table;
	size_t cie;

	(void)state;
	elf_init(&file, EM_X86_64);
	file.header.e_entry = CODE_ADDR + 0x800;
	eh.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_fde(&eh, cie, false, CODE_ADDR + 0x100, 0x20, "", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x120, 0x20,
		"\x44\xe\x10\x44\xe\x18\x44\xe\x8", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x140, 0x20, "", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x170, 0x10, "", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x178, 0x10, "", 0);
	/* damaged in the middle of it */
	put_fde(&eh, cie, false, CODE_ADDR + 0x188, 0x10, "\x44\x3f", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x200, 0x20, "", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x220, 0x20, "", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x240, 0x20, "", 0);
	put_fde(&eh, put_cie(&eh, &signal, false), false, CODE_ADDR + 0x300,
		0x10, "", 0);
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	elf_section(&file, ".plt", CODE_ADDR + 0x200, "", 0)->sh_size = 0x20;
	elf_section(&file, ".plt.got", CODE_ADDR + 0x220, "", 0)->sh_size =
		0x20;
	table = make();
	assert_int_equal(function_at(table, 0), UINT64_MAX);
	assert_int_equal(function_at(table, 0xff), UINT64_MAX);
	for (uint64_t at = 0x100; at < 0x160; at++)
		assert_int_equal(function_at(table, at), at & ~UINT64_C(0x1f));
	assert_int_equal(function_at(table, 0x160), UINT64_MAX);
	assert_int_equal(function_at(table, 0x17f), 0x170);
	/* What of the second one has rows is in its symbol, too. */
	assert_int_equal(function_at(table, 0x187), 0x180);
	assert_int_equal(function_at(table, 0x18b), 0x188);
	assert_int_equal(function_at(table, 0x18c), UINT64_MAX);
	for (uint64_t at = 0x200; at < 0x240; at++)
		assert_int_equal(function_at(table, at), UINT64_MAX);
	assert_int_equal(function_at(table, 0x25f), 0x240);
	assert_int_equal(function_at(table, 0x300), UINT64_MAX);
	assert_int_equal(function_at(table, 0x30f), UINT64_MAX);
	assert_int_equal(function_at(table, 0x800), UINT64_MAX);
	assert_int_equal(function_at(table, 0x810), UINT64_MAX);
	/* They are no less there. */
	assert_int_equal(cfa_at(table, 0x210), 8);
	assert_int_equal(cfa_at(table, 0x128), 0x18);
	cfi_table_free(table);
}

/* .eh_frame is right where both tell; each entry of each layout is read. */
static void debug_frame(const char *name, uint8_t version,
			uint64_t flags_of_section)
{
	static struct bytes debug;
	uint8_t packed[4096];
	uLongf len = sizeof(packed) - 64;
	struct cfi_table *table;
	size_t cie, at = 0;

	elf_init(&file, EM_X86_64);
	eh.len = debug.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_fde(&eh, cie, false, CODE_ADDR + 0x100, 0x20, "\xe\x10", 0);
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	cie = put_cie(&debug,
		      &(struct cie){ .augmentation = "",
				     .version = version,
				     .ra = 16,
				     .insns = PLAIN_CIE },
		      true);
	put_fde(&debug, cie, true, CODE_ADDR + 0x100, 0x20, "\xe\x18", 0);
	put_fde(&debug, cie, true, CODE_ADDR + 0x200, 0x20, "\xe\x20", 0);
	if (flags_of_section) {
		const Elf64_Chdr head = { .ch_type = ELFCOMPRESS_ZLIB,
					  .ch_size = debug.len };

		memcpy(packed, &head, at = sizeof(head));
	} else if (name[1] == 'z') {
		const uint64_t big = __builtin_bswap64(debug.len);

		memcpy(packed, "ZLIB", 4);
		memcpy(packed + 4, &big, sizeof(big));
		at = 12;
	}
	assert_int_equal(compress(packed + at, &len, debug.byte, debug.len),
			 Z_OK);
	if (at)
		elf_section(&file, name, 0, packed, at + len)->sh_flags =
			flags_of_section;
	else
		elf_section(&file, name, 0, debug.byte, debug.len);
	table = make();
	assert_int_equal(cfa_at(table, 0x110), 0x10);
	assert_int_equal(cfa_at(table, 0x210), 0x20);
	cfi_table_free(table);
}

static void debug_frames(void **state)
{
	(void)state;
	debug_frame(".debug_frame", 1, 0);
	debug_frame(".debug_frame", 3, 0);
	debug_frame(".debug_frame", 4, 0);
	debug_frame(".debug_frame", 4, SHF_COMPRESSED);
	debug_frame(".zdebug_frame", 3, 0);
}

/* A file without section headers, as some strip it. */
static void only_segments(void **state)
{
	uint8_t index[12] = { 1, 0x1b, 3, 0x3b };
	int32_t to_eh = EH_ADDR - (EH_ADDR + 0x1000 + 4);
	struct cfi_table *table;
	size_t cie;

	(void)state;
	elf_init(&file, EM_X86_64);
	eh.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_fde(&eh, cie, false, CODE_ADDR + 0x100, 0x20, "\xe\x10", 0);
	put_int(&eh, 0, 4); /* the end; what comes then is none of it */
	put_fde(&eh, cie, false, CODE_ADDR + 0x200, 0x20, "\xe\x20", 0);
	memcpy(index + 4, &to_eh, sizeof(to_eh));
	file.segment[file.nr_segments++] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R,
		.p_offset = file.len,
		.p_vaddr = EH_ADDR,
		.p_filesz = 0x1000 + sizeof(index),
	};
	file.segment[file.nr_segments++] = (Elf64_Phdr){
		.p_type = PT_GNU_EH_FRAME,
		.p_offset = file.len + 0x1000,
		.p_vaddr = EH_ADDR + 0x1000,
		.p_filesz = sizeof(index),
	};
	memcpy(file.byte + file.len, eh.byte, eh.len);
	memcpy(file.byte + file.len + 0x1000, index, sizeof(index));
	file.len += 0x1000 + sizeof(index);
	table = make();
	assert_int_equal(cfa_at(table, 0x110), 0x10);
	assert_int_equal(cfa_at(table, 0x210), 0);
	cfi_table_free(table);
}

/* A zero word between entries of a section is padding. */
static void padded_section(void **state)
{
	struct cfi_table *table;
	size_t cie;

	(void)state;
	elf_init(&file, EM_X86_64);
	eh.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_int(&eh, 0, 4);
	put_fde(&eh, cie, false, CODE_ADDR + 0x200, 0x20, "\xe\x20", 0);
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	table = make();
	assert_int_equal(cfa_at(table, 0x210), 0x20);
	cfi_table_free(table);
}

/* Addresses, written in all ways. */
static void encodings(void **state)
{
	static const struct {
		uint8_t encoding;
		unsigned int size;
		bool is_relative;
		bool is_read;
	} ways[] = {
		{ 0x00, 8, false, true },  { 0x03, 4, false, true },
		{ 0x04, 8, false, true },  { 0x0b, 4, false, true },
		{ 0x0c, 8, false, true },  { 0x1b, 4, true, true },
		{ 0x1c, 8, true, true },   { 0x10, 8, true, true },
		{ 0x2b, 4, false, false }, { 0x3b, 4, false, false },
		{ 0x9b, 4, true, false },  { 0x0f, 8, false, false },
		{ 0xff, 8, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct cie cie = x86_cie;
		struct cfi_table *table;
		size_t cie_at, at;
		uint64_t start;

		elf_init(&file, EM_X86_64);
		eh.len = 0;
		cie.encoding = ways[i].encoding;
		cie_at = put_cie(&eh, &cie, false);
		at = begin_entry(&eh);
		put_int(&eh, eh.len - cie_at, 4);
		start = CODE_ADDR + 0x100;
		if (ways[i].is_relative)
			start -= EH_ADDR + eh.len;
		put_int(&eh, start, ways[i].size);
		put_int(&eh, 0x20, ways[i].size);
		put_int(&eh, 0, 1);
		put_insns(&eh, "\xe\x10", 0);
		end_entry(&eh, at);
		elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
		table = make();
		if (cfa_at(table, 0x11f) != (ways[i].is_read ? 0x10 : 0))
			fail_msg("encoding %#x", ways[i].encoding);
		assert_int_equal(cfa_at(table, 0x120), 0);
		cfi_table_free(table);
	}
}

/* The entry point of a program, which in ld.so has no data. */
static void entry_point(void **state)
{
	struct cfi_regs regs = start_regs(CFI_X86_64);
	struct cfi_table *table;
	size_t cie;

	(void)state;
	elf_init(&file, EM_X86_64);
	file.header.e_entry = CODE_ADDR + 0x180;
	eh.len = 0;
	cie = put_cie(&eh, &x86_cie, false);
	put_fde(&eh, cie, false, CODE_ADDR + 0x100, 0x80, "\xe\x10", 0);
	put_fde(&eh, cie, false, CODE_ADDR + 0x1a0, 0x80, "\xe\x18", 0);
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	table = make();
	assert_int_equal(cfa_at(table, 0x17f), 0x10);
	assert_int_equal(cfi_unwind(table, CODE_OFFSET + 0x180, false, &regs,
				    &stack),
			 CFI_OUTERMOST);
	assert_int_equal(cfi_unwind(table, CODE_OFFSET + 0x1a0, true, &regs,
				    &stack),
			 CFI_OUTERMOST);
	assert_int_equal(cfa_at(table, 0x1a0), 0x18);
	cfi_table_free(table);
	/* That which has data is not touched. */
	elf_init(&file, EM_X86_64);
	file.header.e_entry = CODE_ADDR + 0x110;
	elf_section(&file, ".eh_frame", EH_ADDR, eh.byte, eh.len);
	table = make();
	assert_int_equal(cfa_at(table, 0x110), 0x10);
	assert_int_equal(cfa_at(table, 0x190), 0);
	cfi_table_free(table);
}

static void refused(const char *why)
{
	struct op_diag diag = { "" };
	struct cfi_table *table;

	elf_finish(&file);
	assert_int_equal(cfi_table_new(&table, file.byte, file.len, &diag),
			 -EBADMSG);
	assert_string_equal(diag.text, why);
}

static void other_files(void **state)
{
	struct op_diag diag = { "" };
	struct cfi_table *table;

	(void)state;
	assert_int_equal(cfi_table_new(&table, NULL, 0, &diag), -EBADMSG);
	assert_string_equal(diag.text, "not an ELF file");
	assert_int_equal(cfi_table_read(&table, -1, NULL), -EBADF);
	elf_init(&file, EM_X86_64);
	file.header.e_ident[EI_CLASS] = ELFCLASS32;
	refused("not a 64-bit little-endian ELF file");
	elf_init(&file, EM_X86_64);
	file.header.e_ident[EI_DATA] = ELFDATA2MSB;
	refused("not a 64-bit little-endian ELF file");
	elf_init(&file, EM_S390);
	refused("an ELF file of machine 22, not of a known one");
	/* Nothing to unwind with is no error. */
	elf_init(&file, EM_X86_64);
	table = make();
	assert_int_equal(cfi_table_nr_rows(table), 0);
	assert_int_equal(cfa_at(table, 0x110), 0);
	cfi_table_free(table);
}

/* Cut anywhere, and with any byte of the data changed. */
static void damage(void **state)
{
	struct cfi_table *table = x86(INSNS("\x42\xe\x10\x83\2\x42\xa\xf\2\x77"
					    "\x18\x42\xb"));
	uint8_t *whole, *copy;
	size_t at = file.section[1].sh_offset;
	struct cfi_regs regs;

	(void)state;
	cfi_table_free(table);
	whole = malloc(file.len);
	assert_non_null(whole);
	memcpy(whole, file.byte, file.len);
	for (size_t len = 0; len < file.len;
	     len += len < 256 || len >= at ? 1 : 1000) {
		copy = malloc(len + 1);
		assert_non_null(copy);
		memcpy(copy, whole, len);
		if (!cfi_table_new(&table, copy, len, NULL))
			cfi_table_free(table);
		free(copy);
	}
	for (size_t i = 0; i < (file.len - at) * 8; i++) {
		whole[at + i / 8] ^= (uint8_t)(1 << i % 8);
		if (!cfi_table_new(&table, whole, file.len, NULL))
			step(table, i % 8, &regs);
		whole[at + i / 8] ^= (uint8_t)(1 << i % 8);
	}
	free(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions),
		cmocka_unit_test(many_instructions),
		cmocka_unit_test(return_address_columns),
		cmocka_unit_test(function_bounds),
		cmocka_unit_test(expressions),
		cmocka_unit_test(plt),
		cmocka_unit_test(outermost),
		cmocka_unit_test(signal_frame),
		cmocka_unit_test(stacks_that_cannot_be),
		cmocka_unit_test(popped_register),
		cmocka_unit_test(unknown_registers),
		cmocka_unit_test(aarch64_frames),
		cmocka_unit_test(aarch64_sigreturn),
		cmocka_unit_test(many_functions),
		cmocka_unit_test(function_starts),
		cmocka_unit_test(debug_frames),
		cmocka_unit_test(only_segments),
		cmocka_unit_test(padded_section),
		cmocka_unit_test(encodings),
		cmocka_unit_test(entry_point),
		cmocka_unit_test(other_files),
		cmocka_unit_test(damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
