// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A frame's caller by reading the frame's code: rows of code and the rule that
 * comes of it, the bounds of a search, and the step by such a rule.
 */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "libcfi/cfi_return.h"
#include "tests/unit/cfi_fixture.h"

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
			    place->how == CFI_UNDEFINED);
		len += snprintf(text + len, room, " %s",
				name_of(arch, place->reg));
		room = sizeof(text) - (size_t)len;
		if (place->how == CFI_AT_CFA)
			len += snprintf(text + len, room, "%+d", place->value);
		else
			len += snprintf(text + len, room, "?");
	}
	if (rule->flags & CFI_RULE_RA_SIGNED)
		snprintf(text + len, sizeof(text) - (size_t)len, " signed");
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

static void x86_epilogues(void **state)
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

	(void)state;
	CHECK_RETURNS(CFI_X86_64, rows);
}

static void x86_prologues(void **state)
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

	(void)state;
	CHECK_RETURNS(CFI_X86_64, rows);
}

static void x86_paths(void **state)
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

	(void)state;
	CHECK_RETURNS(CFI_X86_64, rows);
}

/* Which returns are believed after a call. */
static void x86_calls(void **state)
{
	static const struct return_row rows[] = {
		/* call .; add $8,%rsp; ret */
		{ "a call", "|e8fbffffff 4883c408 c3", "rsp+16 ra-8", HERE },
		{ "which has returned", "e8fbffffff|4883c408 c3", "rsp+16 ra-8",
		  RETURNED },
		{ "not aligned", "|e8fbffffff c3", NULL, HERE },
		{ "nor then", "e8fbffffff|c3", NULL, RETURNED },
		{ "but without a call", "e8fbffffff|c3", "rsp+8 ra-8", HERE },
		/* call .; sub $8,%rsp; call .; add $16,%rsp; ret */
		{ "two calls that differ",
		  "|e8fbffffff 4883ec08 e8fbffffff 4883c418 c3", NULL, HERE },
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

	(void)state;
	CHECK_RETURNS(CFI_X86_64, rows);
	CHECK_RETURNS(CFI_X86_64, unrelated);
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
static void searches_end(void **state)
{
	struct code code = { .bytes = malloc(MAX_CODE) };
	union cfi_return found;

	(void)state;
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
static void any_bytes(void **state)
{
	struct code code = { .bytes = malloc(512), .len = 512 };
	uint64_t seed = 1;
	size_t nr_found = 0;

	(void)state;
	assert_non_null(code.bytes);
	for (unsigned int round = 0; round < 4000; round++) {
		enum cfi_arch arch = round % 2 ? CFI_X86_64 : CFI_X86_64;
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

static enum cfi_step follow(const char *text, bool is_return_address,
			    struct cfi_regs *regs)
{
	size_t pc;
	struct code code = parse_code(text, &pc);
	const struct cfi_code_reader reader = { .read = read_code,
						.ctx = &code };
	union cfi_return found;

	assert_true(cfi_find_return(CFI_X86_64, &reader, CODE + pc,
				    is_return_address, &found));
	free(code.bytes);
	return cfi_follow_return(CFI_X86_64, &found, is_return_address, regs,
				 &stack);
}

static void x86_steps(void **state)
{
	struct cfi_regs regs = start_regs(CFI_X86_64);

	(void)state;
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

static void x86_code_before_return_addresses(void **state)
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

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		assert_true(ends_in_call(CFI_X86_64, calls[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(ends_in_call(CFI_X86_64, others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_epilogues),
		cmocka_unit_test(x86_prologues),
		cmocka_unit_test(x86_paths),
		cmocka_unit_test(x86_calls),
		cmocka_unit_test(searches_end),
		cmocka_unit_test(any_bytes),
		cmocka_unit_test(x86_steps),
		cmocka_unit_test(x86_code_before_return_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
