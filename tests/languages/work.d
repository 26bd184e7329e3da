// SPDX-License-Identifier: GPL-2.0-or-later
// One of the programs of tests/languages/run. alpha is a method called by its interface,
// beta has an associative array, gamma a template of the library with a lambda.
module work;

import core.sys.posix.time;
import std.algorithm : sort;
import std.conv : to;
import std.stdio : writefln;

double cpuTime(int clock)
{
	timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

enum process = 2;
enum thread = 3;

pragma(inline, false) ulong leafHash(ulong x, int n)
{
	foreach (i; 0 .. n)
	{
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		x += i;
	}
	return x;
}

interface Shape
{
	ulong alpha(ulong x);
}

class Square : Shape
{
	ulong alpha(ulong x)
	{
		ulong sum = 3;
		foreach (i; 0 .. 60)
			sum += leafHash(x + i, 33_000);
		return sum;
	}
}

pragma(inline, false) ulong beta(ulong x)
{
	ulong[string] counts;

	foreach (i; 0 .. 6000)
		counts["k" ~ to!string((x + i * 7919) % 1500)] += i;
	return counts.length;
}

pragma(inline, false) ulong gamma(ulong x)
{
	auto values = new uint[12_000];

	foreach (i, ref value; values)
		value = cast(uint)(i * 2654435761 + x);
	values.sort!((a, b) => a > b);
	return values[7];
}

void main(string[] args)
{
	immutable end = args.length > 1 ? args[1].to!double : 1.0;
	double[3] spent = 0;
	Shape shape = new Square;
	ulong sum = 1;
	int rounds;

	for (; cpuTime(process) < end; rounds++)
	{
		immutable t0 = cpuTime(thread);
		sum += shape.alpha(sum);
		immutable t1 = cpuTime(thread);
		sum += beta(sum);
		immutable t2 = cpuTime(thread);
		sum += gamma(sum);
		spent[0] += t1 - t0;
		spent[1] += t2 - t1;
		spent[2] += cpuTime(thread) - t2;
	}
	writefln("sum %d\nalpha %f beta %f gamma %f cpu %f rounds %d", sum, spent[0],
			spent[1], spent[2], cpuTime(process), rounds);
}
