// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bare32: 32-bit code without a libc and without frame pointers. The register
 * of the frame pointer points to an array of addresses of functions that are
 * never called.
 *
 * stacks of leaf_hot: _start;with_array;real_caller;leaf_hot
 * stacks of innocent: never
 */

#define ALONE __attribute__((noinline, noclone))

static volatile unsigned long sum;

ALONE static void leaf_hot(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++)
		sum += i * sum;
}

__attribute__((used)) ALONE static void real_caller(unsigned long rounds)
{
	leaf_hot(rounds);
	__asm__ volatile("");
}

ALONE static void innocent(void)
{
	__asm__ volatile("");
}

ALONE static void with_array(unsigned long rounds)
{
	unsigned long array[4] = { 0, (unsigned long)innocent + 1, 0, 0 };

	__asm__ volatile("movl %0, %%ebp\n\t"
			 "pushl %1\n\t"
			 "call real_caller\n\t"
			 "addl $4, %%esp"
			 :
			 : "r"(array), "r"(rounds)
			 : "ebp", "eax", "ecx", "edx", "memory");
}

void _start(void);
void _start(void)
{
	with_array(300000000);
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
	for (;;)
		;
}
