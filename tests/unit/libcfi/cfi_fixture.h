/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_CFI_FIXTURE_H
#define TESTS_UNIT_CFI_FIXTURE_H

/*
 * What the tests of libcfi share: a file whose only function has instructions
 * that are written by hand, and one step from it, with registers and a stack
 * in which each value tells where it is from.
 */

#include <errno.h>
#include <stdlib.h>

#include "libcfi/cfi.h"
#include "cfi_elf.h"
#include "tests/unit/test.h"

#define FUNC 0x100u /* where the function is in the code, and its length */
#define FUNC_LEN 0x80u

/* The stack, and what is in it: word n is WORD(n). */
#define SP 0x7000u
#define NR_WORDS 64u
#define WORD(n) (0xab0000u + 8 * (n))
/* What register n holds, but for those that are addresses. */
#define REG(n) (0x1000u * (n) + 0x123)
#define RBP_VALUE (SP + 0x20)
#define UNKNOWN UINT64_MAX

/* CFA = rsp + 8, return address below it */
#define PLAIN_CIE "\x0c\x07\x08\x90\x01"
/* CFA = sp */
#define PLAIN_CIE_AARCH64 "\x0c\x1f"

/* The bytes of a string, with zeros among them. */
#define INSNS(text) text, sizeof(text) - 1

static struct elf_file file;
static struct bytes eh;
static uint64_t words[NR_WORDS];
static const struct cfi_stack stack = { SP, (const uint8_t *)words,
					sizeof(words) };

static inline struct cfi_table *make(void)
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
static inline struct cfi_table *
function(uint16_t machine, const struct cie *cie, const char *insns, size_t len)
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

static inline struct cfi_table *x86(const char *insns, size_t len)
{
	return function(EM_X86_64,
			&(struct cie){ .ra = 16, .insns = PLAIN_CIE }, insns,
			len);
}

static inline struct cfi_regs start_regs(enum cfi_arch arch)
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
static inline enum cfi_step step(struct cfi_table *table, unsigned int at,
				 struct cfi_regs *regs)
{
	enum cfi_step got;

	*regs = start_regs(cfi_table_arch(table));
	got = cfi_unwind(table, CODE_OFFSET + FUNC + at, false, regs, &stack);
	cfi_table_free(table);
	return got;
}

static inline bool is_known(const struct cfi_regs *regs, unsigned int reg)
{
	return regs->known >> reg & 1;
}

#endif /* TESTS_UNIT_CFI_FIXTURE_H */
