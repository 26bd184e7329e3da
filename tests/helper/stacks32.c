// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stacks32: a 32-bit program with a known call tree, without a libc, which
 * need not be there. It ends after a moment.
 *
 * stacks of leaf: _start;begin;outer;middle;inner;leaf
 */

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone))
#endif
#define ROUNDS 50000000u

ALONE static void leaf(void)
{
	volatile unsigned int x = 1;

#ifdef __arm__
	__asm__ volatile("" ::: "lr"); /* else it has no frame */
#endif
	for (unsigned int i = 0; i < ROUNDS; i++)
		x = x * 1664525 + 1013904223;
}

__attribute__((used)) ALONE static void inner(void)
{
	leaf();
	__asm__ volatile("" ::: "memory");
}

#if defined(__arm__) && !defined(__thumb__)
/* With the frame pointer where GCC has it. */
void middle(void);
__asm__(".type middle, %function\n"
	"middle:\n"
	"	push {r11, lr}\n"
	"	add r11, sp, #4\n"
	"	bl inner\n"
	"	sub sp, r11, #4\n"
	"	pop {r11, pc}\n"
	".size middle, . - middle\n");
#else
ALONE static void middle(void)
{
	inner();
	__asm__ volatile("" ::: "memory");
}
#endif

ALONE static void outer(void)
{
	middle();
	__asm__ volatile("" ::: "memory");
}

void begin(void);
void begin(void)
{
	outer();
	__asm__ volatile("" ::: "memory");
}

/* exit(0) when it comes back. */
#ifdef __arm__
__asm__(".globl _start\n"
	".type _start, %function\n"
	"_start:\n"
	"	mov r7, #0\n"
	"	mov r11, #0\n"
	"	bl begin\n"
	"	mov r0, #0\n"
	"	mov r7, #1\n"
	"	svc #0\n");
#else
__asm__(".globl _start\n"
	"_start:\n"
	"	xor %ebp, %ebp\n"
	"	call begin\n"
	"	mov $1, %eax\n"
	"	xor %ebx, %ebx\n"
	"	int $0x80\n");
#endif
