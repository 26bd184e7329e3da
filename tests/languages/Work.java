// SPDX-License-Identifier: GPL-2.0-or-later

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * One of the programs of tests/languages/run. alpha() is called by its interface, beta()
 * has a hash map, gamma() sorts by a lambda.
 */
public class Work {
	static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

	static double cpuTime() {
		return THREADS.getCurrentThreadCpuTime() * 1e-9;
	}

	static double processTime() {
		return ((com.sun.management.OperatingSystemMXBean) ManagementFactory
				.getOperatingSystemMXBean()).getProcessCpuTime() * 1e-9;
	}

	static long leafHash(long x, int n) {
		for (int i = 0; i < n; i++) {
			x ^= x << 13;
			x ^= x >>> 7;
			x ^= x << 17;
			x += i;
		}
		return x;
	}

	interface Shape {
		long alpha(long x);
	}

	static class Square implements Shape {
		long k = 3;

		@Override
		public long alpha(long x) {
			long sum = k;
			for (int i = 0; i < 60; i++)
				sum += leafHash(x + i, 33000);
			return sum;
		}
	}

	static int leafCount(long x) {
		Map<String, Integer> counts = new HashMap<>();
		for (int i = 0; i < 6000; i++)
			counts.merge("k" + Math.floorMod(x + i * 7919L, 1500), i, Integer::sum);
		return counts.size();
	}

	static long beta(long x) {
		return leafCount(x) + leafCount(x + 1);
	}

	static long gamma(long x) {
		Integer[] values = new Integer[8000];
		for (int i = 0; i < values.length; i++)
			values[i] = (int) (i * 2654435761L + x);
		Arrays.sort(values, (a, b) -> b.compareTo(a));
		return values[5];
	}

	public static void main(String[] args) {
		double end = args.length > 0 ? Double.parseDouble(args[0]) : 1;
		double[] spent = new double[3];
		Shape shape = new Square();
		long sum = 1;
		int rounds = 0;

		for (; processTime() < end; rounds++) {
			double t0 = cpuTime();
			sum += shape.alpha(sum);
			double t1 = cpuTime();
			sum += beta(sum);
			double t2 = cpuTime();
			sum += gamma(sum);
			spent[0] += t1 - t0;
			spent[1] += t2 - t1;
			spent[2] += cpuTime() - t2;
		}
		System.out.printf(Locale.ROOT,
				"sum %d%nalpha %f beta %f gamma %f cpu %f rounds %d%n", sum, spent[0],
				spent[1], spent[2], processTime(), rounds);
	}
}
