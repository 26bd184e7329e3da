// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * call_tree ROUNDS: a program whose call tree is known, for tests that build it
 * without frame pointers. All its time is in functions named leaf_*, each of
 * which is always called the same way. Prints how often each was.
 */

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/random.h>

#define ALONE __attribute__((noinline, noclone, noipa))
/* A call that is not the last thing that its function does. */
#define CALL(call)                                                             \
	do {                                                                   \
		call;                                                          \
		__asm__ volatile("" ::: "memory");                             \
	} while (0)

extern "C" {

static long calls[16];
static volatile unsigned long sink;

static inline __attribute__((always_inline)) void burn(int leaf, int times)
{
	unsigned long x = sink;

	calls[leaf]++;
	for (int i = 0; i < times * 1000; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		__asm__ volatile("" : "+r"(x));
	}
	sink = x;
}

#define LEAF(name, nr, times)                                                  \
	ALONE void name()                                                      \
	{                                                                      \
		burn(nr, times);                                               \
	}

LEAF(leaf_chain, 0, 400)
LEAF(leaf_recurse, 1, 400)
LEAF(leaf_compare, 2, 100)
LEAF(leaf_signal, 3, 400)
LEAF(leaf_tail, 4, 400)
LEAF(leaf_cleanup, 5, 400)
LEAF(leaf_catch, 6, 400)

/* ---- 64 calls ---- */

#define LINK(name, next)                                                       \
	ALONE void name()                                                      \
	{                                                                      \
		CALL(next());                                                  \
	}
#define LINKS(n, next)                                                         \
	LINK(chain_##n##7, next)                                               \
	LINK(chain_##n##6, chain_##n##7)                                       \
	LINK(chain_##n##5, chain_##n##6)                                       \
	LINK(chain_##n##4, chain_##n##5)                                       \
	LINK(chain_##n##3, chain_##n##4)                                       \
	LINK(chain_##n##2, chain_##n##3)                                       \
	LINK(chain_##n##1, chain_##n##2)                                       \
	LINK(chain_##n##0, chain_##n##1)
LINKS(7, leaf_chain)
LINKS(6, chain_70)
LINKS(5, chain_60)
LINKS(4, chain_50)
LINKS(3, chain_40)
LINKS(2, chain_30)
LINKS(1, chain_20)
LINKS(0, chain_10)

/* ---- recursion ---- */

ALONE void recurse(int left)
{
	if (left > 1)
		CALL(recurse(left - 1));
	else
		CALL(leaf_recurse());
}

/* ---- a callback, through libc ---- */

ALONE int compare(const void *a, const void *b)
{
	CALL(leaf_compare());
	return *(const int *)a - *(const int *)b;
}

ALONE void sort_all()
{
	int numbers[] = { 3, 1, 2, 4 };

	CALL(qsort(numbers, 4, sizeof(numbers[0]), compare));
}

/* ---- a signal ---- */

ALONE void on_signal(int)
{
	CALL(leaf_signal());
}

/* By an instruction of its own, so that libc is not in between. */
ALONE void interrupted()
{
#if defined(__x86_64__)
	CALL(__asm__ volatile("int3"));
#else
	CALL(__asm__ volatile("nop"));
	raise(SIGTRAP);
#endif
}

/* ---- a call that leaves no frame behind ---- */

ALONE void tail_inner()
{
	CALL(leaf_tail());
}

ALONE void tail_outer()
{
	tail_inner();
}

/* ---- the kernel ---- */

ALONE void system_call()
{
	static char buf[4096];

	for (int i = 0; i < 200; i++)
		CALL(if (getrandom(buf, sizeof(buf), 0) < 0) abort());
}

} /* extern "C" */

/* ---- exceptions ---- */

struct guard {
	ALONE ~guard();
};

guard::~guard()
{
	CALL(leaf_cleanup());
}

extern "C" ALONE void thrower(int what)
{
	if (what)
		throw what;
}

extern "C" ALONE void guarded(int what)
{
	guard g;

	CALL(thrower(what));
}

extern "C" ALONE void catcher(int what)
{
	try {
		CALL(guarded(what));
	} catch (int) {
		CALL(leaf_catch());
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	signal(SIGTRAP, on_signal);
	for (int i = 0; i < rounds; i++) {
		CALL(chain_00());
		CALL(recurse(20));
		CALL(sort_all());
		CALL(interrupted());
		CALL(tail_outer());
		CALL(system_call());
		CALL(catcher(1));
	}
	for (int i = 0; i < 7; i++)
		printf("%ld ", calls[i]);
	printf("\n");
	return 0;
}
