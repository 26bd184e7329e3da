// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stacks32: a 32-bit program with a known call tree, without a libc, which
 * need not be there: _start, outer, middle, inner, leaf. It ends after a
 * moment.
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

	for (unsigned int i = 0; i < ROUNDS; i++)
		x = x * 1664525 + 1013904223;
}

ALONE static void inner(void)
{
	leaf();
	__asm__ volatile("" ::: "memory");
}

ALONE static void middle(void)
{
	inner();
	__asm__ volatile("" ::: "memory");
}

ALONE static void outer(void)
{
	middle();
	__asm__ volatile("" ::: "memory");
}

void begin(void);
void begin(void)
{
	outer();
	__asm__ volatile("int $0x80" ::"a"(1), "b"(0)); /* exit(0) */
}

__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tcall begin\n");
