// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * inlined ROUNDS: a program whose time is in functions that -O2 inlines. Each
 * burns an amount that is known: of the samples in the three leaves, mix has
 * 3 of 6, scramble 2 of 6 and filter 1 of 6. mix and scramble are in hash, and
 * hash and filter in work, all of them inlined but work. A round is as long as is
 * drawn for it: samples at a steady rate would see the same part of rounds of one
 * length again and again.
 */

#include <cstdio>
#include <cstdlib>

static volatile unsigned long sink;
static unsigned long length; /* of this round */

namespace shares {

template <int Times> struct burner {
	static inline __attribute__((always_inline)) unsigned long
	burn(unsigned long x)
	{
		for (unsigned long i = 0; i != Times * length; i++) {
			x = x * 6364136223846793005 + 1442695040888963407;
			__asm__ volatile("" : "+r"(x));
		}
		return x;
	}
};

inline unsigned long mix(unsigned long x)
{
	for (unsigned long i = 0; i != 3 * length; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

inline unsigned long scramble(unsigned long x)
{
	for (unsigned long i = 0; i != 2 * length; i++) {
		x = x * 6364136223846793005 + 1442695040888963407;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

inline unsigned long hash(unsigned long x)
{
	x = mix(x);
	return scramble(x);
}

inline unsigned long filter(unsigned long x)
{
	return burner<1>::burn(x);
}

__attribute__((noinline)) void work()
{
	unsigned long x = hash(sink);

	sink = filter(x);
}

} // namespace shares

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < rounds; i++) {
		length = 5000 + (unsigned long)(10000 * drand48());
		shares::work();
		sink = sink + 1;
	}
	return 0;
}
