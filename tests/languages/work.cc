// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One of the programs of tests/languages/run. alpha() has exceptions that unwind
 * several calls, beta() templates that call each other, gamma() containers.
 */

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <time.h>
#include <utility>
#include <vector>

#define NOINLINE __attribute__((noinline))

static double cpu_time(clockid_t clock)
{
	timespec t;

	clock_gettime(clock, &t);
	return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

namespace work
{

struct odd : std::runtime_error {
	using runtime_error::runtime_error;
};

template <int N> NOINLINE void through(uint64_t x)
{
	std::string guard(20, 'x');

	if constexpr (N > 0)
		through<N - 1>(x);
	else if (x % 2)
		throw odd("odd");
	else
		throw std::out_of_range("even");
	asm volatile("" : : "r"(guard.data()));
}

NOINLINE uint64_t alpha(uint64_t x)
{
	uint64_t sum = 0;

	for (int i = 0; i < 300; i++) {
		try {
			through<8>(x + i);
		} catch (const odd &error) {
			sum += x;
		} catch (const std::exception &error) {
			sum += error.what()[0];
		}
	}
	return sum;
}

template <int N, class F> NOINLINE uint64_t deep(F &&f, uint64_t x)
{
	if constexpr (N > 0)
		return deep<N - 1, F>(std::forward<F>(f), x + N) + 1;
	else
		return f(x);
}

NOINLINE uint64_t beta(uint64_t x)
{
	uint64_t sum = 0;
	auto hash = [](uint64_t y) {
		for (int i = 0; i < 2000; i++) {
			y ^= y << 13;
			y ^= y >> 7;
			y ^= y << 17;
		}
		return y;
	};

	for (int i = 0; i < 300; i++)
		sum += deep<40>(hash, x + i);
	return sum;
}

NOINLINE uint64_t gamma(uint64_t x)
{
	std::map<std::string, std::vector<int>> map;

	for (int i = 0; i < 6000; i++)
		map[std::to_string((x + i * 2654435761u) % 3000)].push_back(i);
	return map.size();
}

}

int main(int argc, char **argv)
{
	double end = argc > 1 ? atof(argv[1]) : 1, spent[3] = {};
	uint64_t sum = 1;
	int rounds = 0;

	for (; cpu_time(CLOCK_PROCESS_CPUTIME_ID) < end; rounds++) {
		double t[4];

		t[0] = cpu_time(CLOCK_THREAD_CPUTIME_ID);
		sum += work::alpha(sum);
		t[1] = cpu_time(CLOCK_THREAD_CPUTIME_ID);
		sum += work::beta(sum);
		t[2] = cpu_time(CLOCK_THREAD_CPUTIME_ID);
		sum += work::gamma(sum);
		t[3] = cpu_time(CLOCK_THREAD_CPUTIME_ID);
		for (int i = 0; i < 3; i++)
			spent[i] += t[i + 1] - t[i];
	}
	printf("sum %llu\n", (unsigned long long)sum);
	printf("alpha %f beta %f gamma %f cpu %f rounds %d\n", spent[0],
	       spent[1], spent[2], cpu_time(CLOCK_PROCESS_CPUTIME_ID), rounds);
}
