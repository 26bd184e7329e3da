// SPDX-License-Identifier: GPL-2.0-or-later
/* The operations of expressions: each by the value that it leaves. */

#include "libcfi/cfi_expr.h"
#include "cfi_fixture.h"

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
	/* each comparison of -1 with 3, 3 with 3 and 3 with -1 */
	{ INSNS("\x33\x9\xff\x29"), 0 },
	{ INSNS("\x33\x9\xff\x2a"), 1 },
	{ INSNS("\x9\xff\x33\x2b"), 0 },
	{ INSNS("\x33\x33\x2c"), 1 },
	{ INSNS("\x33\x9\xff\x2c"), 0 },
	{ INSNS("\x33\x33\x2d"), 0 },
	{ INSNS("\x33\x9\xff\x2d"), 0 },
	{ INSNS("\x9\xff\x33\x2e"), 1 },
	{ INSNS("\x33\x9\xff\x2e"), 1 },
	/* the limits of shifts, of divisors and of the stack of values */
	{ INSNS("\x31\x8\x3f\x24"), (uint64_t)1 << 63 },
	{ INSNS("\xe\0\0\0\0\0\0\0\x40\x8\x3e\x26"), 1 },
	{ INSNS("\xe\0\0\0\0\0\0\0\x40\x8\x3f\x26"), 0 },
	{ INSNS("\x36\x31\x1b"), 6 },
	{ INSNS("\x36\x9\xff\x1b"), (uint64_t)-6 },
	{ INSNS("\x36\x9\xfe\x1b"), (uint64_t)-3 },
	{ INSNS("\x36\x31\x1d"), 0 },
	{ INSNS("\x9\xff\x35\x1d"), 0 }, /* unsigned: 2^64 - 1 is 5 * n */
	{ INSNS("\x9\xff\x37\x1d"), 1 },
	{ INSNS("\x30\x19"), 0 },
	{ INSNS("\x35\x9\xfb\x1e"), (uint64_t)-25 },
	{ INSNS("\x31\x15\1"), SP + 8 }, /* pick the CFA */
	{ INSNS("\x31\x15\2"), UNKNOWN },
	{ INSNS("\x14"), UNKNOWN },
	{ INSNS("\x12"), SP + 8 },
	{ INSNS("\x13"), UNKNOWN },
	{ INSNS("\x35\x33\x16\x13"), 3 },
	{ INSNS("\x12\x12\x12\x12\x12\x12\x12\x12\x12\x12\x12\x12"
		"\x12\x12\x12\x12\x12\x12\x12\x12\x12\x12\x12\x12"
		"\x12\x12\x12\x12\x12\x12\x35"), 5 }, /* value 32 */
	{ INSNS("\x12\x12\x12\x12\x12\x12\x12\x12\x12\x12\x12\x12"
		"\x12\x12\x12\x12\x12\x12\x12\x12\x12\x12\x12\x12"
		"\x12\x12\x12\x12\x12\x12\x12\x35"), UNKNOWN },
	/* jumps to the end, to the start, and just beyond */
	{ INSNS("\x32\x2f\0\0"), 2 },
	{ INSNS("\x32\x2f\1\0\x33"), 2 },
	{ INSNS("\x32\x2f\2\0\x33"), UNKNOWN },
	{ INSNS("\x8\xc\x25\x12\x28\xf9\xff\x23\5"), 5 }, /* CFA >> 12, twice */
	{ INSNS("\x8\xc\x25\x12\x28\xf8\xff\x23\5"), UNKNOWN },
	{ INSNS("\x2f\0"), UNKNOWN },
	/* registers: the last one, and the limits of the stack */
	{ INSNS("\x80\1"), REG(16) + 1 },
	{ INSNS("\x81\1"), UNKNOWN },
	{ INSNS("\x92\x10\1"), REG(16) + 1 },
	{ INSNS("\x77\x08\x94\x08"), WORD(1) },
	{ INSNS("\x77\xf8\x03\x06"), WORD(63) },
	{ INSNS("\x77\xf9\x03\x06"), UNKNOWN },
	{ INSNS("\x77\xff\x03\x94\1"), 0 },
	{ INSNS("\x77\x80\x04\x94\1"), UNKNOWN },
	{ INSNS("\x77\x00\x06"), WORD(0) },
	{ INSNS("\x77\x7f\x94\1"), UNKNOWN },
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

TEST(expressions)
{
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

/* All expressions of a frame share what may be run. */
TEST(operations_are_bounded)
{
	static const uint8_t expr[] = { 0x35, 0x96, 0x96, 0x96 };
	const struct cfi_regs regs = start_regs(CFI_X86_64);
	unsigned int nr_ops = 7;
	const struct cfi_frame frame = { CFI_X86_64, &regs, &stack, SP,
					 &nr_ops };
	uint64_t value = 0;

	assert_int_equal(cfi_expr_run(&frame, expr, 4, NULL, &value),
			 CFI_CALLER);
	assert_int_equal(value, 5);
	assert_int_equal(nr_ops, 3);
	assert_int_equal(cfi_expr_run(&frame, expr, 4, NULL, &value),
			 CFI_NO_DATA);
	assert_int_equal(nr_ops, 0);
	nr_ops = 4;
	assert_int_equal(cfi_expr_run(&frame, expr, 4, NULL, &value),
			 CFI_CALLER);
	assert_int_equal(nr_ops, 0);
	/* No operation leaves what there was, which may be nothing. */
	assert_int_equal(cfi_expr_run(&frame, expr, 0, &(uint64_t){ 9 },
				      &value),
			 CFI_CALLER);
	assert_int_equal(value, 9);
	assert_int_equal(cfi_expr_run(&frame, expr, 0, NULL, &value),
			 CFI_NO_DATA);
}

/* The first mistake is the one that is told. */
TEST(a_short_stack_is_told_from_damage)
{
	static const uint8_t expr[] = { 0x77, 0x80, 0x04, 0x06, 0x13, 0x13 };
	const struct cfi_regs regs = start_regs(CFI_X86_64);
	unsigned int nr_ops = 7;
	const struct cfi_frame frame = { CFI_X86_64, &regs, &stack, SP,
					 &nr_ops };
	uint64_t value;

	assert_int_equal(cfi_expr_run(&frame, expr, sizeof(expr), NULL, &value),
			 CFI_SHORT_STACK);
	assert_int_equal(cfi_expr_run(&frame, expr + 4, 2, NULL, &value),
			 CFI_NO_DATA);
}

/* What linkers write for procedure linkage tables. */
TEST(plt)
{
	const char insns[] = "\xf\xb\x77\x8\x80\0\x3f\x1a\x3b\x2a\x33\x24\x22";
	struct cfi_table *table = x86(INSNS(insns));
	uint64_t at;

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
