// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions of x86-64: rows of bytes and what is said of them, for each
 * class; and that no bytes are read which are not there.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "libcfi/x86_insn.h"

#define NR(rows) (sizeof(rows) / sizeof((rows)[0]))

struct insn_row {
	const char *what;
	const char *bytes;
	size_t len;
	const char *wanted;
};

#define INSN(text) text, sizeof(text) - 1

static const char *const op_names[] = {
	[X86_OTHER] = "other",	  [X86_MOVE] = "move", [X86_LEA] = "lea",
	[X86_ADD] = "add",	  [X86_LOAD] = "load", [X86_STORE] = "store",
	[X86_PUSH] = "push",	  [X86_POP] = "pop",   [X86_ENTER] = "enter",
	[X86_LEAVE] = "leave",	  [X86_NOP] = "nop",   [X86_ENDBR] = "endbr",
	[X86_BRANCH] = "branch",  [X86_JUMP] = "jump", [X86_JUMP_SLOT] = "slot",
	[X86_JUMP_AWAY] = "away", [X86_CALL] = "call", [X86_RET] = "ret",
	[X86_STOP] = "stop",
};

static const char *const reg_names[] = {
	"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8",
	"r9",  "r10", "r11", "r12", "r13", "r14", "r15", "-",
};

/* "OP TO FROM VALUE: REGISTERS", without what is not there. */
static const char *text_of(const struct x86_insn *insn)
{
	static char text[256];
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	fputs(op_names[insn->op], out);
	if (insn->to != X86_NO_REG || insn->from != X86_NO_REG)
		fprintf(out, " %s %s", reg_names[insn->to],
			reg_names[insn->from]);
	if (insn->value)
		fprintf(out, " %d", insn->value);
	if (insn->writes)
		fputc(':', out);
	for (unsigned int i = 0; i < X86_NR_REGS; i++)
		if (insn->writes >> i & 1)
			fprintf(out, " %s", reg_names[i]);
	fclose(out);
	return text;
}

static void check_row(const struct insn_row *row)
{
	uint8_t *exact = malloc(row->len);
	struct x86_insn insn;
	const char *text = "none";

	assert_non_null(exact);
	memcpy(exact, row->bytes, row->len);
	if (x86_decode(exact, row->len, &insn)) {
		if (insn.len != row->len)
			fail_msg("%s: %u bytes", row->what, insn.len);
		text = text_of(&insn);
	}
	if (strcmp(text, row->wanted) != 0)
		fail_msg("%s: %s, not %s", row->what, text, row->wanted);
	for (size_t len = 0; len < row->len; len++)
		if (x86_decode(exact, len, &insn))
			fail_msg("%s: is cut to %zu bytes", row->what, len);
	free(exact);
}

static void check_rows(const struct insn_row *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		check_row(&rows[i]);
}

/* What moves the stack pointer and what is known of values. */
TEST(values)
{
	static const struct insn_row rows[] = {
		{ "push %rbx", INSN("\x53"), "push - rbx" },
		{ "push %r12", INSN("\x41\x54"), "push - r12" },
		{ "push $1", INSN("\x6a\1"), "push" },
		{ "push $0x1000", INSN("\x68\0\x10\0\0"), "push" },
		{ "push 8(%rax)", INSN("\xff\x70\x8"), "push" },
		{ "pushf", INSN("\x9c"), "push" },
		{ "push %fs", INSN("\xf\xa0"), "push" },
		{ "push %ax", INSN("\x66\x50"), "other: rsp rbp" },
		{ "pop %rbp", INSN("\x5d"), "pop rbp -" },
		{ "pop %r15", INSN("\x41\x5f"), "pop r15 -" },
		{ "pop 8(%rax)", INSN("\x8f\x40\x8"), "pop" },
		{ "pop %rdx, long", INSN("\x8f\xc2"), "pop rdx -" },
		{ "popf", INSN("\x9d"), "pop" },
		{ "enter $0x120,$0", INSN("\xc8\x20\1\0"), "enter 288" },
		{ "enter $0x20,$2", INSN("\xc8\x20\0\2"), "other: rsp rbp" },
		{ "leave", INSN("\xc9"), "leave" },
		{ "add $8,%rsp", INSN("\x48\x83\xc4\x8"), "add rsp - 8" },
		{ "sub $8,%rsp", INSN("\x48\x83\xec\x8"), "add rsp - -8" },
		{ "sub $-8,%rsp", INSN("\x48\x83\xec\xf8"), "add rsp - 8" },
		{ "sub $0x12345678,%r12", INSN("\x49\x81\xec\x78\x56\x34\x12"),
		  "add r12 - -305419896" },
		{ "add $8,%esp", INSN("\x83\xc4\x8"), "other: rsp" },
		{ "sub $-0x80000000,%rsp", INSN("\x48\x81\xec\0\0\0\x80"),
		  "other: rsp" },
		{ "and $-16,%rsp", INSN("\x48\x83\xe4\xf0"), "other: rsp" },
		{ "cmp $8,%rsp", INSN("\x48\x83\xfc\x8"), "other" },
		{ "addq $8,(%rsp)", INSN("\x48\x83\x4\x24\x8"), "other" },
		{ "sub %rax,%rsp", INSN("\x48\x29\xc4"), "other: rsp" },
		{ "cmp %rax,%rsp", INSN("\x48\x39\xc4"), "other" },
		{ "cmp (%rax),%rsp", INSN("\x48\x3b\x20"), "other" },
		{ "lea -8(%rbp),%rsp", INSN("\x48\x8d\x65\xf8"),
		  "lea rsp rbp -8" },
		{ "lea 8(%rsp),%rsp", INSN("\x48\x8d\x64\x24\x8"),
		  "lea rsp rsp 8" },
		{ "lea 8(%r12),%rsp", INSN("\x49\x8d\x64\x24\x8"),
		  "lea rsp r12 8" },
		{ "lea (%rsp,%rax),%rsp", INSN("\x48\x8d\x24\x4"),
		  "other: rsp" },
		{ "lea 8(%rip),%rbx", INSN("\x48\x8d\x1d\x8\0\0\0"),
		  "other: rbx" },
		{ "lea 8(%esp),%rsp", INSN("\x67\x48\x8d\x64\x24\x8"),
		  "other: rsp" },
		{ "mov %rbp,%rsp", INSN("\x48\x89\xec"), "move rsp rbp" },
		{ "mov %rbp,%rsp, other form", INSN("\x48\x8b\xe5"),
		  "move rsp rbp" },
		{ "mov %ebp,%esp", INSN("\x89\xec"), "other: rsp" },
		{ "mov 0x10(%rsp),%rbp", INSN("\x48\x8b\x6c\x24\x10"),
		  "load rbp rsp 16" },
		{ "mov -0x100(%rbp),%r15", INSN("\x4c\x8b\xbd\0\xff\xff\xff"),
		  "load r15 rbp -256" },
		{ "mov %fs:8(%rsp),%rbp", INSN("\x64\x48\x8b\x6c\x24\x8"),
		  "other: rbp" },
		{ "mov (%rsp,%rax,8),%rbp", INSN("\x48\x8b\x2c\xc4"),
		  "other: rbp" },
		{ "mov (%rsp,%r12),%rbp", INSN("\x4a\x8b\x2c\x24"),
		  "other: rbp" },
		{ "mov 0x1000,%rbp", INSN("\x48\x8b\x2c\x25\0\x10\0\0"),
		  "other: rbp" },
		{ "mov %rbx,8(%rsp)", INSN("\x48\x89\x5c\x24\x8"),
		  "store rsp rbx 8" },
		{ "mov %ebx,8(%rsp)", INSN("\x89\x5c\x24\x8"), "other" },
	};

	check_rows(rows, NR(rows));
}

TEST(flow)
{
	static const struct insn_row rows[] = {
		{ "jne -2", INSN("\x75\xfe"), "branch -2" },
		{ "jne far", INSN("\xf\x85\0\1\0\0"), "branch 256" },
		{ "loop", INSN("\xe2\x7f"), "branch 127" },
		{ "jrcxz", INSN("\xe3\x80"), "branch -128" },
		{ "jmp", INSN("\xeb\x10"), "jump 16" },
		{ "jmp far", INSN("\xe9\0\1\0\0"), "jump 256" },
		{ "jmp *8(%rip)", INSN("\xff\x25\x8\0\0\0"), "slot" },
		{ "bnd jmp *8(%rip)", INSN("\xf2\xff\x25\x8\0\0\0"), "slot" },
		{ "jmp *%rax", INSN("\xff\xe0"), "away" },
		{ "notrack jmp *%r11", INSN("\x3e\x41\xff\xe3"), "away" },
		{ "jmp *(%rdx,%rax,8)", INSN("\xff\x24\xc2"), "away" },
		{ "call", INSN("\xe8\0\1\0\0"), "call 256" },
		{ "data16 rex.W call", INSN("\x66\x48\xe8\0\0\0\0"), "call" },
		{ "call *%rax", INSN("\xff\xd0"), "call" },
		{ "ret", INSN("\xc3"), "ret" },
		{ "repz ret", INSN("\xf3\xc3"), "ret" },
		{ "ret $0x8010", INSN("\xc2\x10\x80"), "ret 32784" },
		{ "lret", INSN("\xcb"), "stop" },
		{ "iretq", INSN("\x48\xcf"), "stop" },
		{ "hlt", INSN("\xf4"), "stop" },
		{ "int3", INSN("\xcc"), "stop" },
		{ "int $0x80", INSN("\xcd\x80"), "other" },
		{ "ud2", INSN("\xf\xb"), "stop" },
		{ "ud1 (%rax),%eax", INSN("\xf\xb9\0"), "stop" },
		{ "lcall *(%rax)", INSN("\xff\x18"), "stop" },
		{ "syscall", INSN("\xf\5"), "other: rax rcx rdx r11" },
		{ "nop", INSN("\x90"), "nop" },
		{ "xchg %ax,%ax", INSN("\x66\x90"), "nop" },
		{ "pause", INSN("\xf3\x90"), "nop" },
		{ "nopw 0(%rax,%rax)", INSN("\x66\xf\x1f\x44\0\0"), "nop" },
		{ "endbr64", INSN("\xf3\xf\x1e\xfa"), "endbr" },
		{ "rdsspq %rax", INSN("\xf3\x48\xf\x1e\xc8"), "other: rax" },
	};

	check_rows(rows, NR(rows));
}

/* Registers that are overwritten, and lengths of all kinds of operands. */
TEST(others)
{
	static const struct insn_row rows[] = {
		{ "xchg %rax,%r8", INSN("\x49\x90"), "other: rax r8" },
		{ "xchg %rsp,%rax", INSN("\x48\x94"), "other: rax rsp" },
		{ "xchg %rsp,%rbx", INSN("\x48\x87\xdc"), "other: rbx rsp" },
		{ "mov $1,%ebx", INSN("\xbb\1\0\0\0"), "other: rbx" },
		{ "mov $1,%bx", INSN("\x66\xbb\1\0"), "other: rbx" },
		{ "movabs $1,%rbx", INSN("\x48\xbb\1\0\0\0\0\0\0\0"),
		  "other: rbx" },
		{ "movabs 1,%al", INSN("\xa0\1\0\0\0\0\0\0\0"), "other: rax" },
		{ "addr32 mov 1,%al", INSN("\x67\xa0\1\0\0\0"), "other: rax" },
		{ "mov $1,%ah", INSN("\xb4\1"), "other: rax" },
		{ "mov $1,%spl", INSN("\x40\xb4\1"), "other: rsp" },
		{ "mov $1,%ch", INSN("\xc6\xc5\1"), "other: rcx" },
		{ "mov %ah,%bh", INSN("\x88\xe7"), "other: rbx" },
		{ "mov (%rax),%dh", INSN("\x8a\x30"), "other: rdx" },
		{ "movl $1,4(%rax)", INSN("\xc7\x40\4\1\0\0\0"), "other" },
		{ "movw $1,4(%rax)", INSN("\x66\xc7\x40\4\1\0"), "other" },
		{ "test $1,%bl", INSN("\xf6\xc3\1"), "other" },
		{ "test $1,%ebx", INSN("\xf7\xc3\1\0\0\0"), "other" },
		{ "not %ebx", INSN("\xf7\xd3"), "other: rbx" },
		{ "neg %bh", INSN("\xf6\xdf"), "other: rbx" },
		{ "mul %rbx", INSN("\x48\xf7\xe3"), "other: rax rdx" },
		{ "inc %bl", INSN("\xfe\xc3"), "other: rbx" },
		{ "dec %r12", INSN("\x49\xff\xcc"), "other: r12" },
		{ "decl (%rax)", INSN("\xff\x8"), "other" },
		{ "shl $4,%rbx", INSN("\x48\xc1\xe3\4"), "other: rbx" },
		{ "imul $4,%rax,%rbx", INSN("\x48\x6b\xd8\4"), "other: rbx" },
		{ "movslq %eax,%rbx", INSN("\x48\x63\xd8"), "other: rbx" },
		{ "movzbl %al,%ebx", INSN("\xf\xb6\xd8"), "other: rbx" },
		{ "cmove %rax,%rbx", INSN("\x48\xf\x44\xd8"), "other: rbx" },
		{ "sete %bl", INSN("\xf\x94\xc3"), "other: rbx" },
		{ "bts $3,%ebx", INSN("\xf\xba\xeb\3"), "other: rbx" },
		{ "bt $3,%ebx", INSN("\xf\xba\xe3\3"), "other" },
		{ "bswap %r12", INSN("\x49\xf\xcc"), "other: r12" },
		{ "cmpxchg %rcx,%rbx", INSN("\x48\xf\xb1\xcb"),
		  "other: rax rbx" },
		{ "lock cmpxchg16b (%rdi)", INSN("\xf0\x48\xf\xc7\xf"),
		  "other: rax rdx" },
		{ "xadd %rbx,%r12", INSN("\x49\xf\xc1\xdc"), "other: rbx r12" },
		{ "rdrand %rbx", INSN("\x48\xf\xc7\xf3"), "other: rbx" },
		{ "cpuid", INSN("\xf\xa2"), "other: rax rcx rdx rbx" },
		{ "rdtsc", INSN("\xf\x31"), "other: rax rdx" },
		{ "rep movsb", INSN("\xf3\xa4"), "other: rax rcx rsi rdi" },
		{ "cltq", INSN("\x48\x98"), "other: rax" },
		{ "fnstsw %ax", INSN("\xdf\xe0"), "other: rax" },
		{ "fldt (%rsp)", INSN("\xdb\x2c\x24"), "other" },
		{ "movaps %xmm4,%xmm4", INSN("\xf\x28\xe4"), "other" },
		{ "movq %xmm4,%rbp", INSN("\x66\x48\xf\x7e\xe5"),
		  "other: rbp" },
		{ "movq %xmm5,%xmm4", INSN("\xf3\xf\x7e\xe5"), "other" },
		{ "cvttsd2si %xmm0,%rbx", INSN("\xf2\x48\xf\x2c\xd8"),
		  "other: rbx" },
		{ "cvtps2pi %xmm0,%mm3", INSN("\xf\x2d\xd8"), "other" },
		{ "pmovmskb %xmm0,%ebx", INSN("\x66\xf\xd7\xd8"),
		  "other: rbx" },
		{ "pshufd $1,%xmm0,%xmm4", INSN("\x66\xf\x70\xe0\1"), "other" },
		{ "pextrd $1,%xmm0,%ebx", INSN("\x66\xf\x3a\x16\xc3\1"),
		  "other: rbx" },
		{ "pcmpistri $1,%xmm0,%xmm4", INSN("\x66\xf\x3a\x63\xe0\1"),
		  "other: rcx" },
		{ "crc32b %al,%ebx", INSN("\xf2\xf\x38\xf0\xd8"),
		  "other: rbx" },
		{ "movbe %ebx,(%rax)", INSN("\xf\x38\xf1\x18"), "other" },
		{ "rdfsbase %rbx", INSN("\xf3\x48\xf\xae\xc3"), "other: rbx" },
		{ "mfence", INSN("\xf\xae\xf0"), "other" },
	};

	check_rows(rows, NR(rows));
}

TEST(vectors)
{
	static const struct insn_row rows[] = {
		{ "vzeroupper", INSN("\xc5\xf8\x77"), "other" },
		{ "vmovaps %ymm4,%ymm4", INSN("\xc5\xfc\x28\xe4"), "other" },
		{ "vpmovmskb %ymm0,%ebx", INSN("\xc5\xfd\xd7\xd8"),
		  "other: rbx" },
		{ "vmovd %xmm0,%ebx", INSN("\xc5\xf9\x7e\xc3"), "other: rbx" },
		{ "vmovq %xmm3,%xmm0", INSN("\xc5\xfa\x7e\xc3"), "other" },
		{ "vcvttsd2si %xmm0,%rbx", INSN("\xc4\xe1\xfb\x2c\xd8"),
		  "other: rbx" },
		{ "vpshufd $1,%xmm0,%xmm4", INSN("\xc5\xf9\x70\xe0\1"),
		  "other" },
		{ "kmovd %k0,%ebx", INSN("\xc5\xfb\x93\xd8"), "other: rbx" },
		{ "kmovd %ebx,%k0", INSN("\xc5\xfb\x92\xc3"), "other" },
		{ "andn %rax,%rcx,%rbx", INSN("\xc4\xe2\xf0\xf2\xd8"),
		  "other: rbx" },
		{ "blsr %rax,%rbx", INSN("\xc4\xe2\xe0\xf3\xc8"),
		  "other: rbx" },
		{ "mulx %rax,%r12,%rbx", INSN("\xc4\xe2\x9b\xf6\xd8"),
		  "other: rbx r12" },
		{ "shlx %rax,%rcx,%r12", INSN("\xc4\x62\xf9\xf7\xe1"),
		  "other: r12" },
		{ "rorx $1,%rax,%rbx", INSN("\xc4\xe3\xfb\xf0\xd8\1"),
		  "other: rbx" },
		{ "vextracti128 $1,%ymm4,%xmm4", INSN("\xc4\xe3\x7d\x39\xe4\1"),
		  "other" },
		{ "vpternlogd $1,%zmm4,%zmm4,%zmm4",
		  INSN("\x62\xf3\x5d\x48\x25\xe4\1"), "other" },
		{ "vmovups 0x40(%rsp),%zmm4",
		  INSN("\x62\xf1\x7c\x48\x10\x64\x24\1"), "other" },
		{ "vcvttsd2usi %xmm0,%rbx", INSN("\x62\xf1\xff\x8\x78\xd8"),
		  "other: rbx" },
		{ "vmovw %xmm0,%ebx", INSN("\x62\xf5\x7d\x8\x7e\xc3"),
		  "other: rbx" },
		{ "XOP vpcomb $1,...", INSN("\x8f\xe8\x78\xcc\xc0\1"),
		  "other" },
		{ "XOP blcfill %rax,%rbx", INSN("\x8f\xe9\xe0\1\xc8"),
		  "other: rbx" },
		{ "XOP bextr $1,%rax,%rbx",
		  INSN("\x8f\xea\xf8\x10\xd8\1\0\0\0"), "other: rbx" },
	};

	check_rows(rows, NR(rows));
}

TEST(no_instructions)
{
	static const struct insn_row rows[] = {
		{ "push %es", INSN("\6"), "none" },
		{ "pusha", INSN("\x60"), "none" },
		{ "call far", INSN("\x9a\0\0\0\0\0\0"), "none" },
		{ "into", INSN("\xce"), "none" },
		{ "aam", INSN("\xd4\x10"), "none" },
		{ "jmp far", INSN("\xea\0\0\0\0\0\0"), "none" },
		{ "prefixes alone", INSN("\x66\x66\x66"), "none" },
		{ "REX alone", INSN("\x48"), "none" },
		{ "REX and VEX", INSN("\x48\xc5\xf8\x77"), "none" },
		{ "66 and EVEX", INSN("\x66\x62\xf1\x7c\x48\x10\x24\x24"),
		  "none" },
		{ "VEX, map 4", INSN("\xc4\xe4\x7d\x39\xe4"), "none" },
		{ "APX", INSN("\x62\xfc\x7c\x8\x10\x24\x24"), "none" },
		{ "0f 04", INSN("\xf\4"), "none" },
		{ "16 bytes",
		  INSN("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66"
		       "\x66\x66\x90"),
		  "none" },
	};

	check_rows(rows, NR(rows));
}

/* REX counts only where the opcode follows it. */
TEST(prefixes)
{
	static const struct insn_row rows[] = {
		{ "REX, then 66", INSN("\x48\x66\x89\xec"), "other: rsp" },
		{ "two REX", INSN("\x48\x41\x54"), "push - r12" },
		{ "66 and REX.W: 4 bytes", INSN("\x66\x48\x81\xc4\1\0\0\0"),
		  "add rsp - 1" },
		{ "66: 2 bytes", INSN("\x66\x81\xc4\1\0"), "other: rsp" },
		{ "15 bytes",
		  INSN("\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66\x66"
		       "\x66\x90"),
		  "nop" },
	};

	check_rows(rows, NR(rows));
}

/* The end of an instruction is found from its own bytes alone. */
TEST(any_bytes)
{
	uint64_t seed = 1;
	size_t nr = 0;

	for (unsigned int round = 0; round < 200000; round++) {
		uint8_t bytes[X86_MAX_INSN + 1];
		struct x86_insn insn, again;
		uint8_t *exact;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			seed = seed * 6364136223846793005u +
			       1442695040888963407u;
			bytes[i] = (uint8_t)(seed >> 56);
		}
		if (!x86_decode(bytes, sizeof(bytes), &insn))
			continue;
		nr++;
		assert_in_range(insn.len, 1, X86_MAX_INSN);
		assert_in_range(insn.op, X86_OTHER, X86_STOP);
		assert_in_range(insn.to, 0, X86_NO_REG);
		assert_in_range(insn.from, 0, X86_NO_REG);
		exact = malloc(insn.len);
		assert_non_null(exact);
		memcpy(exact, bytes, insn.len);
		assert_true(x86_decode(exact, insn.len, &again));
		assert_int_equal(again.len, insn.len);
		assert_int_equal(again.op, insn.op);
		assert_int_equal(again.to, insn.to);
		assert_int_equal(again.from, insn.from);
		assert_int_equal(again.value, insn.value);
		assert_int_equal(again.writes, insn.writes);
		assert_false(x86_decode(exact, insn.len - 1u, &again));
		free(exact);
	}
	assert_in_range(nr, 100000, 200000);
}
