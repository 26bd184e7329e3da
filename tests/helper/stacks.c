// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stacks SECONDS: a program whose call tree is known. It uses CPU time in five
 * functions, each of which is always called the same way:
 *
 *	main, chain_0, chain_1, ... chain_63, leaf_chain
 *	main, recurse (20 times), leaf_recurse
 *	main, sort_all, (libc), compare, leaf_compare
 *	main, interrupted, (signal), on_signal, leaf_signal
 *	main, call_outer, call_inner, (libc), (the kernel)
 *
 * It is built with frame pointers (stacks_fp) and without (stacks_no). Prints
 * how often each was called.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "burn.h"

#define DEPTH 20
#define NR_SORTED 4

/* A call that is not the last thing that its function does. */
#define CALL(call)                                                             \
	do {                                                                   \
		call;                                                          \
		__asm__ volatile("" ::: "memory");                             \
	} while (0)

static uint64_t length;

BURN_FUNCTION(leaf_chain)
BURN_FUNCTION(calibrate)
BURN_FUNCTION(leaf_recurse)
BURN_FUNCTION(leaf_compare)
BURN_FUNCTION(leaf_signal)

/* ---- a chain of calls ---------------------------------------------------- */

#define LINK(name, next)                                                       \
	BURN_ALONE static void name(void)                                      \
	{                                                                      \
		CALL(next());                                                  \
	}

BURN_ALONE static void chain_63(void)
{
	CALL(leaf_chain(length));
}

/* clang-format off */
LINK(chain_62, chain_63) LINK(chain_61, chain_62) LINK(chain_60, chain_61)
LINK(chain_59, chain_60) LINK(chain_58, chain_59) LINK(chain_57, chain_58)
LINK(chain_56, chain_57) LINK(chain_55, chain_56) LINK(chain_54, chain_55)
LINK(chain_53, chain_54) LINK(chain_52, chain_53) LINK(chain_51, chain_52)
LINK(chain_50, chain_51) LINK(chain_49, chain_50) LINK(chain_48, chain_49)
LINK(chain_47, chain_48) LINK(chain_46, chain_47) LINK(chain_45, chain_46)
LINK(chain_44, chain_45) LINK(chain_43, chain_44) LINK(chain_42, chain_43)
LINK(chain_41, chain_42) LINK(chain_40, chain_41) LINK(chain_39, chain_40)
LINK(chain_38, chain_39) LINK(chain_37, chain_38) LINK(chain_36, chain_37)
LINK(chain_35, chain_36) LINK(chain_34, chain_35) LINK(chain_33, chain_34)
LINK(chain_32, chain_33) LINK(chain_31, chain_32) LINK(chain_30, chain_31)
LINK(chain_29, chain_30) LINK(chain_28, chain_29) LINK(chain_27, chain_28)
LINK(chain_26, chain_27) LINK(chain_25, chain_26) LINK(chain_24, chain_25)
LINK(chain_23, chain_24) LINK(chain_22, chain_23) LINK(chain_21, chain_22)
LINK(chain_20, chain_21) LINK(chain_19, chain_20) LINK(chain_18, chain_19)
LINK(chain_17, chain_18) LINK(chain_16, chain_17) LINK(chain_15, chain_16)
LINK(chain_14, chain_15) LINK(chain_13, chain_14) LINK(chain_12, chain_13)
LINK(chain_11, chain_12) LINK(chain_10, chain_11) LINK(chain_9, chain_10)
LINK(chain_8, chain_9) LINK(chain_7, chain_8) LINK(chain_6, chain_7)
LINK(chain_5, chain_6) LINK(chain_4, chain_5) LINK(chain_3, chain_4)
LINK(chain_2, chain_3) LINK(chain_1, chain_2) LINK(chain_0, chain_1)
	/* clang-format on */

	/* ---- recursion, a callback, a signal, a system call
	   ----------------------- */

	BURN_ALONE static void recurse(int left)
{
	if (left > 1)
		CALL(recurse(left - 1));
	else
		CALL(leaf_recurse(length));
}

static void recurse_all(void)
{
	recurse(DEPTH);
}

static int compare(const void *a, const void *b)
{
	CALL(leaf_compare(length / NR_SORTED));
	return *(const int *)a - *(const int *)b;
}

BURN_ALONE static void sort_all(void)
{
	int numbers[NR_SORTED] = { 3, 1, 2, 4 };

	CALL(qsort(numbers, NR_SORTED, sizeof(numbers[0]), compare));
}

static void on_signal(int sig)
{
	(void)sig;
	CALL(leaf_signal(length));
}

/* By an instruction of its own, so that libc is not in between. */
BURN_ALONE static void interrupted(void)
{
#if defined(__x86_64__)
	CALL(__asm__ volatile("ud2"));
#else
	CALL(__asm__ volatile("udf #0"));
#endif
}

BURN_ALONE static void call_inner(void)
{
	static char buf[256];

	for (uint64_t i = 0; i < length / 500; i++)
		if (getrandom(buf, sizeof(buf), 0) < 0)
			abort();
}

BURN_ALONE static void call_outer(void)
{
	CALL(call_inner());
}

/* The handler returns behind the instruction. */
static void on_trap(int sig, siginfo_t *info, void *context)
{
	ucontext_t *user = context;

	(void)info;
	on_signal(sig);
#if defined(__x86_64__)
	user->uc_mcontext.gregs[REG_RIP] += 2;
#else
	user->uc_mcontext.pc += 4;
#endif
}

static void (*const kinds[])(void) = { chain_0, recurse_all, sort_all,
				       interrupted, call_outer };

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_trap,
				    .sa_flags = SA_SIGINFO };
	uint64_t wanted = (argc > 1 ? atof(argv[1]) : 1) * 1e9, nr = 0,
		 burned = 0;

	sigaction(SIGILL, &action, NULL);
	length = burn_rounds(calibrate, 2000000, &burned);
	do {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			kinds[i]();
		nr++;
	} while (burn_clock() < wanted);
	printf("%ju\n", (uintmax_t)nr);
	return 0;
}
