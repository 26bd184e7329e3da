// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A frame's caller by reading the frame's code: rows of code and the rule that
 * comes of it, the bounds of a search, and the step by such a rule.
 */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "libcfi/cfi_return.h"
#include "cfi_fixture.h"

#define CODE 0x401000u
#define MAX_CODE 65536

/* Code at CODE; nothing is before or after it. */
struct code {
	uint8_t *bytes;
	size_t len;
	size_t nr_reads;
};

static size_t read_code(void *ctx, uint64_t addr, void *buf, size_t len)
{
	struct code *code = ctx;

	code->nr_reads++;
	if (addr < CODE || addr >= CODE + code->len)
		return 0;
	if (len > CODE + code->len - addr)
		len = CODE + code->len - addr;
	memcpy(buf, code->bytes + (addr - CODE), len);
	return len;
}

static unsigned int digit_of(char c)
{
	return isdigit((unsigned char)c) ? (unsigned int)(c - '0')
					 : (unsigned int)(c - 'a' + 10);
}

/* Code as hexadecimal digits. A '|' is where the program counter is, *@pc. */
static struct code parse_code(const char *text, size_t *pc)
{
	struct code code = { .bytes = malloc(MAX_CODE) };

	assert_non_null(code.bytes);
	*pc = 0;
	for (; *text; text++) {
		if (*text == '|')
			*pc = code.len;
		if (*text == '|' || *text == ' ')
			continue;
		assert_true(isxdigit((unsigned char)*text));
		code.bytes[code.len++] =
			(uint8_t)(digit_of(text[0]) << 4 | digit_of(text[1]));
		text++;
	}
	return code;
}

static const char *name_of(enum cfi_arch arch, unsigned int reg)
{
	static const char *const x86[] = { "rax", "rdx", "rcx", "rbx", "rsi",
					   "rdi", "rbp", "rsp", "r8",  "r9",
					   "r10", "r11", "r12", "r13", "r14",
					   "r15", "ra" };
	static char name[8];

	if (arch == CFI_X86_64)
		return x86[reg];
	snprintf(name, sizeof(name), reg == CFI_AARCH64_SP ? "sp" : "x%u", reg);
	return name;
}

/* "rsp+24 ra-8 rbx-16 r12?": the CFA, places from there, what is gone. */
static const char *text_of_rule(enum cfi_arch arch, const struct cfi_rule *rule)
{
	static char text[512];
	int len = snprintf(text, sizeof(text), "%s%+d",
			   name_of(arch, rule->cfa_reg), rule->cfa_value);

	for (unsigned int i = 0; i < rule->nr_places; i++) {
		const struct cfi_place *place = &rule->place[i];
		size_t room = sizeof(text) - (size_t)len;

		assert_true(place->how == CFI_AT_CFA ||
			    place->how == CFI_UNDEFINED ||
			    place->how == CFI_IN_REG);
		len += snprintf(text + len, room, " %s",
				name_of(arch, place->reg));
		room = sizeof(text) - (size_t)len;
		if (place->how == CFI_AT_CFA)
			len += snprintf(text + len, room, "%+d", place->value);
		else if (place->how == CFI_IN_REG)
			len += snprintf(text + len, room, "=%d", place->value);
		else
			len += snprintf(text + len, room, "?");
	}
	snprintf(text + len, sizeof(text) - (size_t)len, "%s%s",
		 rule->flags & CFI_RULE_RA_SIGNED ? " signed" : "",
		 rule->flags & CFI_RULE_UNCONFIRMED ? " unconfirmed" : "");
	return text;
}

struct return_row {
	const char *what;
	const char *code;
	const char *wanted; /* NULL: no answer */
	enum { HERE, RETURNED, OWN_ABI } how;
};

static void check_return(enum cfi_arch arch, const struct return_row *row)
{
	size_t pc;
	struct code code = parse_code(row->code, &pc);
	const struct cfi_code_reader reader = {
		.read = read_code,
		.ctx = &code,
		.has_own_abi = row->how == OWN_ABI,
	};
	union cfi_return found;
	const char *got = NULL;

	/* A byte too far is seen by the sanitizer. */
	code.bytes = realloc(code.bytes, code.len);
	assert_non_null(code.bytes);
	if (cfi_find_return(arch, &reader, CODE + pc, row->how == RETURNED,
			    &found))
		got = text_of_rule(arch, &found.rule);
	free(code.bytes);
	if (!got != !row->wanted || (got && strcmp(got, row->wanted) != 0))
		fail_msg("%s: %s, not %s", row->what, got ? got : "no answer",
			 row->wanted ? row->wanted : "no answer");
}

#define CHECK_RETURNS(arch, rows)                                              \
	do {                                                                   \
		for (size_t row_ = 0; row_ < sizeof(rows) / sizeof(*(rows));   \
		     row_++)                                                   \
			check_return(arch, &(rows)[row_]);                     \
	} while (0)

/* ---- x86-64 -----------------------------------------------------------------
 */

/* sub $0x18,%rsp; add $0x18,%rsp; pop %rbx; pop %rbp; pop %r12; ret */
#define POPS_1 "4883ec18"
#define POPS_2 "4883c418"
#define POPS_3 "5b 5d 415c c3"
/* push %rbp; mov %rsp,%rbp; push %rbx; push %r12; sub $0x20,%rsp;
 * mov %rdi,%rbx */
#define FRAME "55 4889e5 53 4154 4883ec20 4889fb "
/* lea -0x10(%rbp),%rsp; pop %r12; pop %rbx; pop %rbp; ret */
#define UNFRAME "488d65f0 415c 5b 5d c3"

TEST(x86_epilogues)
{
	static const struct return_row rows[] = {
		{ "a leaf", "c3", "rsp+8 ra-8", HERE },
		{ "other prefixes", "f3c3", "rsp+8 ra-8", HERE },
		{ "pops", "|" POPS_2 POPS_3, "rsp+56 ra-8 rbx-32 rbp-24 r12-16",
		  HERE },
		{ "in the middle", POPS_2 "5b|5d 415c c3",
		  "rsp+24 ra-8 rbp-24 r12-16", HERE },
		{ "what is pushed is popped", "|" POPS_1 POPS_2 POPS_3,
		  "rsp+32 ra-8 rbx-32 rbp-24 r12-16", HERE },
		/* lea 0x28(%rsp),%rsp; lea 0x1000(%rsp),%rsp; ret */
		{ "lea", "488d642428 488da42400100000 c3", "rsp+4144 ra-8",
		  HERE },
		/* mov -8(%rbp),%rbx; leave; ret */
		{ "leave", "488b5df8 c9 c3", "rbp+16 ra-8 rbx-24 rbp-16",
		  HERE },
		/* mov %rbp,%rsp; pop %rbp; ret $0x10 */
		{ "arguments are popped", "4889ec 5d c21000",
		  "rbp+32 ra-24 rbp-32", HERE },
		/* and $-32,%rsp */
		{ "an unknown stack pointer is taken from rbp",
		  "4883e4e0" UNFRAME, "rbp+16 ra-8 rbx-24 rbp-16 r12-32",
		  HERE },
		{ "or not", "4883e4e0 c3", NULL, HERE },
		/* xor %ebp,%ebp */
		{ "but not from one that was overwritten", "31ed c9 c3", NULL,
		  HERE },
		/* mov 0x10(%rsp),%rbp; add $0x18,%rsp; ret */
		{ "moves", "488b6c2410 4883c418 c3", "rsp+32 ra-8 rbp-16",
		  HERE },
		/* mov %r11,%rsp; ret */
		{ "another register", "4c89dc c3", "r11+8 ra-8", HERE },
		/* xor %ebx,%ebx; ret */
		{ "a register that is gone", "31db c3", "rsp+8 ra-8 rbx?",
		  HERE },
		/* syscall */
		{ "calls of the kernel", "0f05 c3", "rsp+8 ra-8", HERE },
		{ "16 bits of the stack", "6658 c3", NULL, HERE },
		{ "a return into the kernel", "48cf", NULL, HERE },
	};

	CHECK_RETURNS(CFI_X86_64, rows);
}

TEST(x86_prologues)
{
	static const struct return_row rows[] = {
		{ "at the start", "|" FRAME UNFRAME, "rsp+8 ra-8", HERE },
		{ "rbp is pushed", "55|4889e5 53 4154 4883ec20 4889fb" UNFRAME,
		  "rsp+16 ra-8 rbp-16", HERE },
		{ "the frame is made",
		  "55 4889e5|53 4154 4883ec20 4889fb" UNFRAME,
		  "rbp+16 ra-8 rbp-16", HERE },
		{ "one is pushed", "55 4889e5 53|4154 4883ec20 4889fb" UNFRAME,
		  "rbp+16 ra-8 rbx-24 rbp-16", HERE },
		{ "all are", FRAME "|" UNFRAME,
		  "rbp+16 ra-8 rbx-24 rbp-16 r12-32", HERE },
		/* push %r12; pop %rcx */
		{ "an argument is no register that is saved",
		  FRAME "|4154 59" UNFRAME, "rbp+16 ra-8 rbx-24 rbp-16 r12-32",
		  HERE },
		/* push %rbx, and it is left there */
		{ "even if it stays", FRAME "|53" UNFRAME,
		  "rbp+16 ra-8 rbx-24 rbp-16 r12-32", HERE },
		/* enter $0x20,$0; leave; ret */
		{ "enter", "c8200000 c9 c3", "rsp+8 ra-8", HERE },
		{ "enter of level 1", "c8200001 c9 c3", NULL, HERE },
		/* mov %rbx,-8(%rsp); mov %rdi,%rbx; mov -8(%rsp),%rbx; ret */
		{ "the red zone", "48895c24f8 4889fb 488b5c24f8 c3",
		  "rsp+8 ra-8", HERE },
		{ "unknown there", "48895c24f8|4889fb 488b5c24f8 c3",
		  "rsp+8 ra-8 rbx?", HERE },
		/* sub $0x18,%rsp; mov %rbx,8(%rsp); xor %ebx,%ebx;
		 * mov 8(%rsp),%rbx; add $0x18,%rsp; ret */
		{ "moves", "4883ec18|48895c2408 31db 488b5c2408 4883c418 c3",
		  "rsp+32 ra-8", HERE },
		{ "moved", "4883ec18 48895c2408|31db 488b5c2408 4883c418 c3",
		  "rsp+32 ra-8 rbx-24", HERE },
	};

	CHECK_RETURNS(CFI_X86_64, rows);
}

TEST(x86_paths)
{
	static const struct return_row rows[] = {
		/* test %edi,%edi; je 1f; call .; 1: add $8,%rsp; ret */
		{ "around a call", "85ff 7405 e8fbffffff 4883c408 c3",
		  "rsp+16 ra-8", HERE },
		/* test %edi,%edi; je 1f; call .; push %rbp; mov %rsp,%rbp; ret;
		 * 1: add $0x18,%rsp; ret */
		{ "a call is followed last",
		  "85ff 740a e8fbffffff 55 4889e5 c3 4883c418 c3",
		  "rsp+32 ra-8", HERE },
		/* 1: dec %rdi; jne 1b; ret */
		{ "a loop", "48ffcf 75fb c3", "rsp+8 ra-8", HERE },
		{ "a loop without an end", "ebfe", NULL, HERE },
		/* 1: sub $0x1000,%rsp; cmp %r11,%rsp; jne 1b;
		 * add $0x4000,%rsp; ret */
		{ "a loop that moves the stack pointer",
		  "4881ec00100000 4c39dc 75f4 4881c400400000 c3", NULL, HERE },
		{ "after it", "4881ec00100000 4c39dc 75f4|4881c400400000 c3",
		  "rsp+16392 ra-8", HERE },
		/* pop %rbx; jmp 1f; ud2; 1: push %rbx; push %r13;
		 * mov %edi,%ebx; pop %r13; pop %rbx; ret */
		{ "another function in its place",
		  "5b eb02 0f0b 53 4155 89fb 415d 5b c3", "rsp+16 ra-8 rbx-16",
		  HERE },
		/* add $8,%rsp; pop %rbx; jmp *%rax */
		{ "one that is not known", "4883c408 5b ffe0",
		  "rsp+24 ra-8 rbx-16", HERE },
		{ "one of several places", "ffe0", NULL, HERE },
		/* push %rbx; jmp *%rax */
		{ "from within", "53 ffe0", NULL, HERE },
		/* jmp *0x1234(%rip) */
		{ "one of another image", "ff2534120000", "rsp+8 ra-8", HERE },
		/* push 0x1234(%rip) */
		{ "or the dynamic linker", "ff3534120000|ff2534120000", NULL,
		  HERE },
		{ "before that", "90|ff3534120000 ff2534120000", NULL, HERE },
		{ "where code ends", "4883c418", NULL, HERE },
		{ "no instruction", "06 c3", NULL, HERE },
		{ "a trap", "cc c3", NULL, HERE },
		{ "ud2", "0f0b c3", NULL, HERE },
	};

	CHECK_RETURNS(CFI_X86_64, rows);
}

/* Which returns are believed after a call. */
TEST(x86_calls)
{
	static const struct return_row rows[] = {
		/* call .; add $8,%rsp; ret */
		{ "a call", "|e8fbffffff 4883c408 c3", "rsp+16 ra-8", HERE },
		{ "which has returned", "e8fbffffff|4883c408 c3", "rsp+16 ra-8",
		  RETURNED },
		{ "not aligned", "|e8fbffffff c3", "rsp+8 ra-8 unconfirmed",
		  HERE },
		{ "nor then", "e8fbffffff|c3", "rsp+8 ra-8 unconfirmed",
		  RETURNED },
		/* call .; je 1f; ret; 1: call .; add $8,%rsp; ret */
		{ "an aligned one is better",
		  "e8fbffffff|7401 c3 e8fbffffff 4883c408 c3", "rsp+16 ra-8",
		  RETURNED },
		/* the same, add $16,%rsp */
		{ "the first of two that are not",
		  "e8fbffffff|7401 c3 e8fbffffff 4883c410 c3",
		  "rsp+8 ra-8 unconfirmed", RETURNED },
		{ "but without a call", "e8fbffffff|c3", "rsp+8 ra-8", HERE },
		/* call .; sub $8,%rsp; call .; add $16,%rsp; ret */
		{ "two calls that differ",
		  "|e8fbffffff 4883ec08 e8fbffffff 4883c418 c3",
		  "rsp+24 ra-8 unconfirmed", HERE },
		{ "by 16", "|e8fbffffff 4883ec10 e8fbffffff 4883c418 c3",
		  "rsp+16 ra-8", HERE },
		/* call .; xor %ebx,%ebx; add $8,%rsp; ret */
		{ "a register is not given back",
		  "|e8fbffffff 31db 4883c408 c3", NULL, HERE },
		{ "unless nobody has to", "|e8fbffffff 31db c3",
		  "rsp+8 ra-8 rbx?", OWN_ABI },
		/* ... cmp 0x10(%r14),%rsp */
		{ "as in Go", "|e8fbffffff 31db c3 cc 493b6610",
		  "rsp+8 ra-8 rbx?", HERE },
		/* call .; pop %rbx; pop %rbx; ... */
		{ "two registers from one place",
		  "|e8fbffffff 488b1c24 4c8b2424 4883c408 c3", NULL, HERE },
		{ "caller-saved registers", "|e8fbffffff 4c89dc c3", NULL,
		  HERE },
	};
	static const struct return_row unrelated[] = {
		{ "endbr64", "e8fbffffff|f30f1efa 4883c408 c3", NULL,
		  RETURNED },
		{ "a prologue", "e8fbffffff|55 5d 4883c408 c3", NULL,
		  RETURNED },
		/* nopl 0(%rax): up to a multiple of 8 */
		{ "padding", "e8fbffffff|0f1f00 4883c408 c3", NULL, RETURNED },
		/* The function is at the start of the code. */
		{ "padding behind a call of a leaf",
		  "c3 9090 e8f8ffffff|0f1f840000000000 4883c408 c3",
		  "rsp+16 ra-8", RETURNED },
		{ "of one with branches",
		  "84c0 7402 ebfe c3 e8f4ffffff|0f1f4000 4883c408 c3",
		  "rsp+16 ra-8", RETURNED },
		{ "of one that never returns",
		  "ebfe 90 e8f8ffffff|0f1f840000000000 4883c408 c3", NULL,
		  RETURNED },
		{ "of one that returns behind a call",
		  "e800000000 c3 9090 e8f3ffffff|0f1f00 4883c408 c3", NULL,
		  RETURNED },
		{ "of one that is elsewhere",
		  "909090 e800100000|0f1f840000000000 4883c408 c3", NULL,
		  RETURNED },
		{ "a nop", "90 e8fbffffff|90 4883c408 c3", "rsp+16 ra-8",
		  RETURNED },
		{ "a function of Go", "e8fbffffff|90 493b6610 c3", NULL,
		  RETURNED },
		{ "after a call in between", "|e8fbffffff f30f1efa 4883c408 c3",
		  NULL, HERE },
		/* 1: cmp 0x10(%r14),%rsp; jbe 2f; ret;
		 * call panic; 2: call morestack; jmp 1b */
		{ "Go starts over",
		  "493b6610 7606 c3|e8fbffffff e8fbffffff "
		  "ebed",
		  NULL, HERE },
		{ "from the end", "493b6610 7606 c3 e8fbffffff|e8fbffffff ebed",
		  "rsp+8 ra-8", HERE },
	};

	CHECK_RETURNS(CFI_X86_64, rows);
	CHECK_RETURNS(CFI_X86_64, unrelated);
}

/*
 * Which callers confirm what the code of a function says of its frame. The
 * function is at the start of the code, the caller's call at the end.
 */
TEST(x86_entries)
{
	static const struct {
		const char *what;
		const char *code;
		bool wanted;
	} rows[] = {
		{ "nothing is saved", "e8fbffffff|c3 e8f5ffffff", true },
		/* push %rbx; call .; pop %rbx; ret */
		{ "a register is", "53 e8faffffff|5b c3 e8f3ffffff", true },
		{ "before that", "53|e8faffffff 5b c3 e8f3ffffff", true },
		/* push %rbp; mov %rsp,%rbp; and $-64,%rsp; sub $0x40,%rsp;
		 * call .; leave; ret */
		{ "the stack pointer is aligned",
		  "55 4889e5 4883e4c0 4883ec40 e8efffffff|c9 c3 e8e8ffffff",
		  true },
		/* test %al,%al; je 1f; jmp .; 1: call .; ret */
		{ "behind a branch", "84c0 7402 ebfe e8f5ffffff|c3 e8efffffff",
		  true },
		{ "another function is called", "c3 e8fbffffff|c3 e8f4ffffff",
		  false },
		{ "a pointer is called", "e8fbffffff|c3 ffd0", false },
		{ "no call", "e8fbffffff|c3 9090909090", false },
		/* push %rbx; call of what never returns; the next function */
		{ "the return is another function's",
		  "53 e8faffffff|c3 e8f4ffffff", false },
		/* push %rbx; push %rbp; call .; pop %rbx; pop %rbp; ret */
		{ "registers of another function",
		  "53 55 e8f9ffffff|5b 5d c3 e8f1ffffff", false },
		/* xor %ebx,%ebx; call .; ret */
		{ "a register is not saved", "31db e8f9ffffff|c3 e8f3ffffff",
		  false },
		{ "no return", "e8fbffffff|ebfe e8f4ffffff", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t pc;
		struct code code = parse_code(rows[i].code, &pc);
		const struct cfi_code_reader reader = { .read = read_code,
							.ctx = &code };
		bool is_return_address =
			rows[i].code[0] != '5' || rows[i].code[2] != '|';
		bool got;

		code.bytes = realloc(code.bytes, code.len);
		assert_non_null(code.bytes);
		got = cfi_is_entered_from(CFI_X86_64, &reader, CODE + code.len,
					  CODE + pc, is_return_address);
		free(code.bytes);
		if (got != rows[i].wanted)
			fail_msg("%s: %d", rows[i].what, got);
	}
}

/* An instruction that is too far from the entry of its function. */
TEST(x86_entries_are_near)
{
	/* jmp to the last bytes; there: call .; ret */
	static const struct {
		size_t len;
		bool wanted;
	} rows[] = { { 30000, true }, { 33000, false } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		static const uint8_t end[] = { 0xe8, 0xfb, 0xff, 0xff,
					       0xff, 0xc3, 0xe8 };
		struct code code = { .bytes = malloc(MAX_CODE),
				     .len = rows[i].len + sizeof(end) + 4 };
		const struct cfi_code_reader reader = { .read = read_code,
							.ctx = &code };
		int32_t jump = (int32_t)rows[i].len - 5;
		int32_t call = -(int32_t)code.len;

		assert_non_null(code.bytes);
		memset(code.bytes, 0xcc, MAX_CODE);
		code.bytes[0] = 0xe9;
		memcpy(code.bytes + 1, &jump, 4);
		memcpy(code.bytes + rows[i].len, end, sizeof(end));
		memcpy(code.bytes + code.len - 4, &call, 4);
		assert_int_equal(cfi_is_entered_from(
					 CFI_X86_64, &reader, CODE + code.len,
					 CODE + rows[i].len + 5, true),
				 rows[i].wanted);
		free(code.bytes);
	}
}

/* ---- AArch64 ----------------------------------------------------------------
 */

#define RET "c0035fd6"
#define BL "00000094" /* to itself */
/* stp x29, x30, [sp, #-32]!; mov x29, sp; str x19, [sp, #16]; mov x19, x0 */
#define PUSH_FRAME "fd7bbea9fd030091f30b00f9f30300aa"
/* ldr x19, [sp, #16]; ldp x29, x30, [sp], #32; ret */
#define POP_FRAME "f30b40f9fd7bc2a8" RET

TEST(aarch64_epilogues)
{
	static const struct return_row rows[] = {
		{ "a leaf", RET, "sp+0", HERE },
		{ "a frame", PUSH_FRAME BL "|" POP_FRAME,
		  "sp+32 x30-24 x19-16 x29-32", RETURNED },
		{ "from its start", "|" PUSH_FRAME BL POP_FRAME, "sp+0", HERE },
		{ "in its middle",
		  "fd7bbea9|fd030091f30b00f9f30300aa" BL POP_FRAME,
		  "sp+32 x30-24 x29-32", HERE },
		{ "the last instruction", PUSH_FRAME BL "f30b40f9fd7bc2a8|" RET,
		  "sp+0", HERE },
		/* sub sp, sp, #0x20; stp x19, x20, [sp]; stp x29, x30,
		 * [sp, #16]; add x29, sp, #16; ldp x29, x30, [sp, #16];
		 * ldp x19, x20, [sp]; add sp, sp, #0x20; ret */
		{ "moves",
		  "ff8300d1f35300a9fd7b01a9fd430091|fd7b41a9f35340a9"
		  "ff830091" RET,
		  "sp+32 x30-8 x19-32 x20-24 x29-16", HERE },
		/* sub sp, sp, x1; mov sp, x29; ldp x29, x30, [sp], #16; ret */
		{ "from the frame pointer", "ff6321cbbf030091fd7bc1a8" RET,
		  "x29+16 x30-8 x29-16", HERE },
		/* sub sp, x29, #16; ldp x29, x30, [sp, #16];
		 * add sp, sp, #0x30; ret */
		{ "below it", "bf4300d1fd7b41a9ffc30091" RET,
		  "x29+32 x30-24 x29-32", HERE },
		/* and sp, x9, #-16; ret */
		{ "an unknown stack pointer", "3fed7c92" RET, NULL, HERE },
		/* ldp d8, d9, [sp], #16; ldp q8, q9, [sp], #32;
		 * ldr x30, [sp], #16; ret */
		{ "vectors", "e827c16ce827c1acfe0741f8" RET, "sp+64 x30-16",
		  HERE },
		/* add sp, sp, #1, lsl #12; ret */
		{ "a large frame", "ff074091" RET, "sp+4096", HERE },
		/* ret x10; mov x30, x10; ret */
		{ "another link", "40015fd6", "sp+0 x30=10", HERE },
		{ "moved", "fe030aaa" RET, "sp+0 x30=10", HERE },
		/* mov x19, x30; bl; mov x30, x19; ret */
		{ "kept in a register", "f3031eaa" BL "|fe0313aa" RET,
		  "sp+0 x30=19", RETURNED },
		{ "overwritten", "fe0301cb" RET, NULL, HERE },
		/* paciasp; stp; ldp; autiasp; ret */
		{ "signed", "3f2303d5fd7bbfa9|fd7bc1a8bf2303d5" RET,
		  "sp+16 x30-8 x29-16 signed", HERE },
		{ "not yet", "|3f2303d5fd7bbfa9fd7bc1a8bf2303d5" RET, "sp+0",
		  HERE },
		{ "in its register", "3f2303d5|bf2303d5" RET, "sp+0 signed",
		  HERE },
		{ "retaa", "fd7bc1a8ff0b5fd6", "sp+16 x30-8 x29-16 signed",
		  HERE },
	};

	CHECK_RETURNS(CFI_AARCH64, rows);
}

TEST(aarch64_paths)
{
	static const struct return_row rows[] = {
		/* cbz x0, 1f; tbz w0, #3, 1f; b.eq 1f; brk #1;
		 * 1: b 2f; hlt #1; 2: svc #0; ret */
		{ "branches",
		  "800000b46000183640000054200020d402000014200040d4010000d4" RET,
		  "sp+0", HERE },
		/* b . */
		{ "a loop without an end", "00000014", NULL, HERE },
		/* sub sp, sp, #16; cmp sp, x16; b.ne . - 8; ret */
		{ "a loop that moves the stack pointer",
		  "ff4300d1ff6330ebc1ffff54" RET, NULL, HERE },
		/* ldp x29, x30, [sp], #16; br x3 */
		{ "another function in its place", "fd7bc1a860001fd6",
		  "sp+16 x30-8 x29-16", HERE },
		{ "one of several places", "60001fd6", NULL, HERE },
		/* br x17 */
		{ "one of another image", "20021fd6", "sp+0", HERE },
		/* stp x16, x30, [sp, #-16]!; adrp; ldr; add; br x17 */
		{ "or the dynamic linker",
		  "f07bbfa910000090|110640f91022009120021fd6", NULL, HERE },
		{ "where code ends", "ff830091", NULL, HERE },
		{ "a part of an instruction", "ff830091c003", NULL, HERE },
		{ "udf", "00000000" RET, NULL, HERE },
		/* A call overwrites the link: it must be loaded. */
		{ "a call", BL RET, NULL, HERE },
		{ "which has returned", BL "|" RET, NULL, RETURNED },
		{ "another function", BL "|" PUSH_FRAME POP_FRAME, NULL,
		  RETURNED },
		{ "all the same", BL "|1f2003d5" PUSH_FRAME BL POP_FRAME, NULL,
		  RETURNED },
		/* ldp x29, x30, [sp], #32; nop up to a multiple of 16 */
		{ "padding", BL "|1f2003d51f2003d51f2003d5fd7bc2a8" RET, NULL,
		  RETURNED },
		{ "a nop", BL "|1f2003d5fd7bc2a8" RET, "sp+32 x30-24 x29-32",
		  RETURNED },
		/* movz x19, #1 */
		{ "a register is not given back", BL "330080d2fd7bc2a8" RET,
		  NULL, HERE },
		/* ldr x16, [x28, #16] */
		{ "as in Go", BL "330080d2fd7bc2a8" RET "900b40f9",
		  "sp+32 x30-24 x19? x29-32", HERE },
	};

	CHECK_RETURNS(CFI_AARCH64, rows);
}

/* Each register that an instruction overwrites, and no other. */
TEST(aarch64_registers)
{
	static const struct return_row rows[] = {
		/* mrs x19, tpidr_el0 */
		{ "mrs", "53d03bd5" RET, "sp+0 x19?", HERE },
		/* fmov x19, d0; fmov d20, x0; scvtf d21, x0;
		 * fcvtzs w22, d0; umov w23, v0.s[1] */
		{ "vectors", "1300669e1400679e1500629e1600781e173c0c0e" RET,
		  "sp+0 x19? x22? x23?", HERE },
		/* cmp sp, x16; cmp x0, #1; ccmp x0, #1, #3, eq */
		{ "comparisons", "ff6330eb1f0400f1030841fa" RET, "sp+0", HERE },
		/* movz x19, #1; adrp x20; and x21, x0, #0xff;
		 * ldxr x22, [x0]; ldar x23, [x0]; ldadd x0, x24, [x1];
		 * csel x25, x0, x1, eq; ldr x26, .; ldrb w27, [x0], #1;
		 * ldpsw x28, x0, [x1] */
		{ "others",
		  "330080d214000090151c4092167c5fc817fcdfc8380020f81900819a"
		  "1a0000581b1440383c004069" RET,
		  "sp+0 x19? x20? x21? x22? x23? x24? x25? x26? x27? x28?",
		  HERE },
		/* prfm pldl1keep, [x1]; ldr x19, [sp, x1];
		 * ldur x20, [sp, #8]; ldr w21, [sp, #8]; add sp, sp, #16 */
		{ "loads", "200080f9f36b61f8f48340f8f50b40b9ff430091" RET,
		  "sp+16 x19? x20-8 x21?", HERE },
	};

	CHECK_RETURNS(CFI_AARCH64, rows);
}

/* ---- bounds -----------------------------------------------------------------
 */

static bool find_in(struct code *code, enum cfi_arch arch,
		    union cfi_return *found)
{
	const struct cfi_code_reader reader = { .read = read_code,
						.ctx = code };

	return cfi_find_return(arch, &reader, CODE, false, found);
}

/* So many nops before the return, then so many branches that go nowhere. */
TEST(searches_end)
{
	struct code code = { .bytes = malloc(MAX_CODE) };
	union cfi_return found;

	assert_non_null(code.bytes);
	memset(code.bytes, 0x90, MAX_CODE);
	code.len = MAX_CODE;
	code.bytes[1900] = 0xc3;
	assert_true(find_in(&code, CFI_X86_64, &found));
	code.bytes[1900] = 0x90;
	code.bytes[2100] = 0xc3;
	assert_false(find_in(&code, CFI_X86_64, &found));
	assert_true(code.nr_reads < 4000);
	/* jne, each to the next but one; the last ends with a trap */
	for (size_t i = 0; i < MAX_CODE; i += 2)
		memcpy(code.bytes + i, "\x75\x02", 2);
	assert_false(find_in(&code, CFI_X86_64, &found));
	/* jne far away: all paths wait */
	memset(code.bytes, 0xcc, MAX_CODE);
	for (size_t i = 0; i < 300; i++)
		memcpy(code.bytes + 2 * i, "\x75\x7f", 2);
	assert_false(find_in(&code, CFI_X86_64, &found));
	code.bytes[600] = 0xc3;
	assert_true(find_in(&code, CFI_X86_64, &found));
	assert_int_equal(found.rule.cfa_value, 8);
	/* calls */
	for (size_t i = 0; i < 1000; i += 5)
		memcpy(code.bytes + i, "\xe8\0\0\0\0", 5);
	assert_false(find_in(&code, CFI_X86_64, &found));
	free(code.bytes);
}

/* Whatever the bytes are, the answer is sane, and the same again. */
TEST(any_bytes)
{
	struct code code = { .bytes = malloc(512), .len = 512 };
	uint64_t seed = 1;
	size_t nr_found = 0;

	assert_non_null(code.bytes);
	for (unsigned int round = 0; round < 4000; round++) {
		enum cfi_arch arch = round % 2 ? CFI_X86_64 : CFI_AARCH64;
		union cfi_return found, again;

		for (size_t i = 0; i < code.len; i++) {
			seed = seed * 6364136223846793005u +
			       1442695040888963407u;
			code.bytes[i] = (uint8_t)(seed >> 56);
		}
		if (!find_in(&code, arch, &found))
			continue;
		nr_found++;
		assert_true(find_in(&code, arch, &again));
		assert_true(found.rule.nr_places <= CFI_MAX_RETURN_PLACES);
		assert_memory_equal(&found, &again,
				    sizeof(found.rule) +
					    found.rule.nr_places *
						    sizeof(struct cfi_place));
	}
	free(code.bytes);
	assert_true(nr_found > 100);
}

/* ---- steps ------------------------------------------------------------------
 */

static enum cfi_step follow_in(enum cfi_arch arch, const char *text,
			       bool is_return_address, struct cfi_regs *regs)
{
	size_t pc;
	struct code code = parse_code(text, &pc);
	const struct cfi_code_reader reader = { .read = read_code,
						.ctx = &code };
	union cfi_return found;

	assert_true(cfi_find_return(arch, &reader, CODE + pc, is_return_address,
				    &found));
	free(code.bytes);
	return cfi_follow_return(arch, &found, is_return_address, regs, &stack);
}

static enum cfi_step follow(const char *text, bool is_return_address,
			    struct cfi_regs *regs)
{
	return follow_in(CFI_X86_64, text, is_return_address, regs);
}

TEST(x86_steps)
{
	struct cfi_regs regs = start_regs(CFI_X86_64);

	assert_int_equal(follow("c3", false, &regs), CFI_CALLER);
	assert_int_equal(regs.reg[CFI_X86_64_RIP], WORD(0));
	assert_int_equal(regs.reg[CFI_X86_64_RSP], SP + 8);
	assert_int_equal(regs.reg[CFI_X86_64_RBP], RBP_VALUE);
	assert_true(is_known(&regs, 3));
	assert_false(is_known(&regs, 0));
	/* pop %rbx; xor %r12d,%r12d; ret */
	regs = start_regs(CFI_X86_64);
	assert_int_equal(follow("5b 4531e4 c3", false, &regs), CFI_CALLER);
	assert_int_equal(regs.reg[3], WORD(0));
	assert_int_equal(regs.reg[CFI_X86_64_RIP], WORD(1));
	assert_false(is_known(&regs, 12));
	assert_true(is_known(&regs, 13));
	/* leave; ret $0x10 */
	regs = start_regs(CFI_X86_64);
	assert_int_equal(follow("c9 c21000", true, &regs), CFI_CALLER);
	assert_int_equal(regs.reg[CFI_X86_64_RBP], WORD(4));
	assert_int_equal(regs.reg[CFI_X86_64_RIP], WORD(5));
	assert_int_equal(regs.reg[CFI_X86_64_RSP], RBP_VALUE + 32);
	regs = start_regs(CFI_X86_64);
	regs.known &= ~((uint64_t)1 << CFI_X86_64_RBP);
	assert_int_equal(follow("c9 c3", true, &regs), CFI_NO_DATA);
	/* add $0x200,%rsp: beyond the piece of the stack */
	regs = start_regs(CFI_X86_64);
	assert_int_equal(follow("4881c400020000 c3", false, &regs),
			 CFI_SHORT_STACK);
	assert_int_equal(regs.reg[CFI_X86_64_RSP], SP);
	/* The frame pointer is below the stack pointer. */
	regs = start_regs(CFI_X86_64);
	regs.reg[CFI_X86_64_RBP] = SP - 32;
	assert_int_equal(follow("c9 c3", true, &regs), CFI_BAD_STACK);
	/* A return address of 0 is where stacks end. */
	regs = start_regs(CFI_X86_64);
	words[0] = 0;
	assert_int_equal(follow("c3", false, &regs), CFI_OUTERMOST);
}

TEST(aarch64_steps)
{
	struct cfi_regs regs = start_regs(CFI_AARCH64);

	assert_int_equal(follow_in(CFI_AARCH64, RET, false, &regs), CFI_CALLER);
	assert_int_equal(regs.reg[CFI_AARCH64_PC], REG(30));
	assert_int_equal(regs.reg[CFI_AARCH64_SP], SP);
	assert_false(is_known(&regs, CFI_AARCH64_LR));
	assert_true(is_known(&regs, 19));
	regs = start_regs(CFI_AARCH64);
	words[1] = WORD(1) | UINT64_C(0xab) << 48;
	assert_int_equal(follow_in(CFI_AARCH64, "f30b40f9fd7bc2a8ff0b5fd6",
				   true, &regs),
			 CFI_CALLER);
	assert_int_equal(regs.reg[CFI_AARCH64_PC], WORD(1));
	assert_int_equal(regs.reg[CFI_AARCH64_FP], WORD(0));
	assert_int_equal(regs.reg[CFI_AARCH64_SP], SP + 32);
	assert_int_equal(regs.reg[19], WORD(2));
	/* The link is where an outermost function has none. */
	regs = start_regs(CFI_AARCH64);
	regs.reg[CFI_AARCH64_LR] = 0;
	assert_int_equal(follow_in(CFI_AARCH64, RET, false, &regs),
			 CFI_OUTERMOST);
}

static bool ends_in_call(enum cfi_arch arch, const char *text)
{
	size_t pc;
	struct code code = parse_code(text, &pc);
	const struct cfi_code_reader reader = { .read = read_code,
						.ctx = &code };
	bool is_after = cfi_is_after_call(arch, &reader, CODE + code.len);

	free(code.bytes);
	return is_after;
}

TEST(x86_code_before_return_addresses)
{
	static const char *const calls[] = {
		"e800000000", /* rel32 */
		"ffd0", /* *%rax */
		"41ffd3", /* *%r11 */
		"ff10", /* *(%rax) */
		"ff14c8", /* *(%rax,%rcx,8) */
		"ff5008", /* *8(%rax) */
		"41ff542408", /* *8(%r12) */
		"ff9000010000", /* *0x100(%rax) */
		"ff1534120000", /* *0x1234(%rip) */
		"41ff942400010000", /* *0x100(%r12) */
		"90909090909090909090909090909090e800000000",
		"3effd0", /* notrack */
		"f2e800000000", /* bnd */
	};
	static const char *const others[] = {
		"",	      "c3",
		"90",	      "ffe0", /* jmp *%rax */
		"e900000000", "0000000000000000",
		"ff30", /* push (%rax) */
		"e8000000", /* its beginning is missing */
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		assert_true(ends_in_call(CFI_X86_64, calls[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(ends_in_call(CFI_X86_64, others[i]));
}

TEST(aarch64_code_before_return_addresses)
{
	assert_true(ends_in_call(CFI_AARCH64, BL));
	assert_true(ends_in_call(CFI_AARCH64, "20003fd6")); /* blr x1 */
	assert_true(ends_in_call(CFI_AARCH64, "3f083fd6")); /* blraaz x1 */
	assert_true(ends_in_call(CFI_AARCH64, "3f083fd7")); /* blraa x1, sp */
	assert_false(ends_in_call(CFI_AARCH64, ""));
	assert_false(ends_in_call(CFI_AARCH64, RET));
	assert_false(ends_in_call(CFI_AARCH64, "60001fd6")); /* br x3 */
	assert_false(ends_in_call(CFI_AARCH64, "00000014")); /* b . */
	assert_false(ends_in_call(CFI_AARCH64, "0094"));
}

static bool switches_at(enum cfi_arch arch, const char *text,
			bool is_return_address)
{
	size_t pc;
	struct code code = parse_code(text, &pc);
	const struct cfi_code_reader reader = { read_code, &code, false };
	bool switches =
		cfi_switches_stack(arch, &reader, CODE + pc, is_return_address);

	free(code.bytes);
	return switches;
}

static bool switches_stack(enum cfi_arch arch, const char *text)
{
	return switches_at(arch, text, true);
}

/* Go's runtime.nanotime1, up to its call of the [vdso] and from there on: mov
 * %rsp,%r12; mov 0x38(%rdx),%rsp; sub $16,%rsp; and $-16,%rsp; call *%rax; mov
 * (%rsp),%rax; mov %r12,%rsp; add $24,%rsp; ret. */
#define TO_VDSO "488b6238|4883ec10 4883e4f0"
#define FROM_VDSO "ffd0 488b0424 4c89e4 4883c418 c3"

TEST(stacks_that_go_leaves_for_the_vdso)
{
	static const struct kept_row {
		const char *what;
		const char *code; /* from "|" on */
		bool is_kept;
	} rows[] = {
		{ "before it", "|4989e4 488b6238" FROM_VDSO, false },
		{ "on the other stack", "4989e4" TO_VDSO FROM_VDSO, true },
		{ "before the call", "|ffd0" FROM_VDSO, true },
		{ "behind it", "ffd0|488b0424 4c89e4 4883c418 c3", true },
		{ "behind the first of two", "ffd0|90" FROM_VDSO, true },
		{ "back again", "4c89e4|4883c418 c3", false },
		{ "with another register", "ffd0|488b0424 4889dc c3", false },
		{ "behind a return", "|c3 4c89e4 c3", false },
		{ "no code", "", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t pc;
		struct code code = parse_code(rows[i].code, &pc);
		const struct cfi_code_reader reader = { read_code, &code,
							false };

		print_message("%s\n", rows[i].what);
		assert_int_equal(cfi_keeps_sp_in_go(CFI_X86_64, &reader,
						    CODE + pc),
				 rows[i].is_kept);
		free(code.bytes);
	}
}

TEST(switches_of_stacks)
{
	static const char *const switches[] = {
		/* mov 0x30(%rsp),%rdi; mov 8(%rdi),%rsi; sub 0x28(%rsp),%rsi;
		 * mov %rdi,%fs:-8; mov %rsi,%rsp; mov %eax,0x18(%rsp); ret */
		("488b7c2430 488b7708 482b742428 6448893c25f8ffffff 4889f4 "
		 "89442418 c3"),
		/* mov 0x38(%rdi),%rsp; ret */
		"488b6738 c3",
		/* jmp over a byte; mov (%rdi),%rsp */
		"eb01 90 488b27",
		/* mov 0x38(%r14),%rsp; push %rax; mov (%rdx),%r12; call *%r12;
		 * pop %rax; jmp: Go's mcall() */
		"498b6638 50 4c8b22 41ffd4|58 e900000000",
		/* the same behind an instruction of 9 bytes */
		"644c893425f8ffffff 498b6638 50 4c8b22 41ffd4|58 e900000000",
		/* mov 0x38(%rbx),%rsp; call; call; ret: its morestack() */
		"488b6338 e800000000|e800000000 c3",
	};
	static const char *const others[] = {
		"",
		"c3",
		/* leave; ret */
		"c9 c3",
		/* lea -0x28(%rbp),%rsp; pop %rbx; pop %rbp; ret */
		"488d65d8 5b 5d c3",
		/* mov -0x40(%rbp),%rsp; ret */
		"488b65c0 c3",
		/* mov %rbx,%rsp; ret */
		"4889dc c3",
		/* call; mov (%rdi),%rsp */
		"e800000000 488b27",
		/* ret; mov (%rdi),%rsp */
		"c3 488b27",
		/* mov 0x38(%rbp),%rsp; call; ret */
		"488b6538 e800000000|c3",
		/* mov 0x38(%rbx),%rsp; ret; call */
		"488b6338 c3 e800000000|c3",
		/* mov 8(%rax),%r12; call; ret */
		"4c8b6008 e800000000|c3",
		/* mov 0x38(%rbx),%rsp; jmp; call; ret */
		"488b6338 eb00 e800000000|c3",
		/* mov (%rsp),%rax; mov %r12,%rsp; ret */
		"488b0424 4c89e4 c3",
	};

	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++)
		assert_true(switches_stack(CFI_X86_64, switches[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(switches_stack(CFI_X86_64, others[i]));
	/* A sample in mcall(), before the switch and after it. */
	assert_false(switches_at(CFI_X86_64, "4989c6|498b6638 50 ffd0", false));
	assert_true(switches_at(CFI_X86_64, "498b6638|50 ffd0", false));
	assert_true(switches_at(CFI_X86_64, "498b6638 50|ffd0", false));
	/* mov 0x38(%rdx),%rbx; mov %rbx,%rsp; call *%rdi */
	assert_true(switches_at(CFI_X86_64, "488b5a38 4889dc|ffd7", false));
	/* mov 0x38(%rax),%rsp; movq $0,0x38(%rax); ret, and with a call first
	 */
	assert_true(switches_at(CFI_X86_64, "|488b6038 48c7403800000000 c3",
				false));
	assert_false(switches_at(CFI_X86_64, "|488b6038 ffd7 c3", false));
	/* mov 0x38(%rdi),%rsp; jmp; ret */
	assert_false(switches_at(CFI_X86_64, "488b6738 eb00|c3", false));
	/* ldr x0, [x1]; mov sp, x0; bl; ret */
	assert_true(
		switches_stack(CFI_AARCH64, "200040f9 1f000091 " BL "|" RET));
	/* ldr x0, [x1]; mov sp, x0; ret */
	assert_true(switches_stack(CFI_AARCH64, "200040f9 1f000091 c0035fd6"));
	/* mov sp, x29; ldp x29, x30, [sp], #16; ret */
	assert_false(switches_stack(CFI_AARCH64, "bf030091 fd7bc1a8 c0035fd6"));
}

static void must_stay_on_stack(enum cfi_arch arch, const char *text)
{
	assert_false(switches_stack(arch, text));
}

static void must_switch_stack(enum cfi_arch arch, const char *text)
{
	assert_true(switches_stack(arch, text));
}

/* Instructions that move the stack pointer by numbers that are not known. */
TEST(stacks_with_room_for_arrays_and_arguments)
{
	/* mov %rbp,%rsp; pop %rbp; pop %rcx; lea 8(%rsp,%r10,8),%rsp;
	 * push %rcx; ret: of V8 */
	must_stay_on_stack(CFI_X86_64, "488be5 5d 59 4a8d64d408 51 c3");
	/* mov -8(%rbp),%rsp; lea (%rsp,%rdx,8),%rsp; ret: of HotSpot */
	must_stay_on_stack(CFI_X86_64, "488b65f8 488d24d4 c3");
	/* sub %rax,%rsp; add; and $-64,%rsp; sub and add of memory */
	must_stay_on_stack(CFI_X86_64, "4829c4 c3");
	must_stay_on_stack(CFI_X86_64, "4801c4 c3");
	must_stay_on_stack(CFI_X86_64, "4883e4c0 c3");
	must_stay_on_stack(CFI_X86_64, "482b642408 c3");
	must_stay_on_stack(CFI_X86_64, "48034508 4803e0 c3");
	/* mov 0x38(%rdi),%rsp; sub %rax,%rsp; ret */
	must_switch_stack(CFI_X86_64, "488b6738 4829c4 c3");
	/* lea (%rax,%rdx,8),%rsp; ret */
	must_switch_stack(CFI_X86_64, "488d24d0 c3");
	/* sub %rsp,%rax; xor %rax,%rsp; ret */
	must_switch_stack(CFI_X86_64, "4829e0 4831c4 c3");
	/* sub sp, sp, x1; ret */
	must_stay_on_stack(CFI_AARCH64, "ff6321cb c0035fd6");
	/* sub sp, x2, x1; ret */
	must_switch_stack(CFI_AARCH64, "5f6021cb c0035fd6");
}
