// SPDX-License-Identifier: GPL-2.0-or-later

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.HashMap;

/*
 * Account: three kinds of work, each by a method of its own; prints what share of the
 * CPU time each of them took by its own clock. A frame that was interpreted has the name
 * Interpreter.
 *
 * stacks of Account.leafHash: ROOT;JAVA Account.main;JAVA Account.run;JAVA Account$Square.workAlpha;Account.leafHash
 * stacks of Account.leafMap: ROOT;JAVA Account.main;JAVA Account.run;JAVA Account.workBeta;Account.leafMap
 * stacks of Account.workGamma: ROOT;JAVA Account.main;JAVA Account.run;Account.workGamma
 */
public class Account {
	interface Shape {
		long workAlpha(long x);
	}

	static class Square implements Shape {
		int side = 3;

		public long workAlpha(long x) {
			long sum = side;
			for (int i = 0; i < 60; i++)
				sum += leafHash(x + i, 40000);
			return sum;
		}
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

	static int leafMap(long x) {
		HashMap<String, Integer> m = new HashMap<>();
		for (int i = 0; i < 6000; i++)
			m.merge("k" + Math.floorMod(x + i * 7919L, 1500), i, Integer::sum);
		return m.size();
	}

	static long workBeta(long x) {
		long sum = 0;
		for (int i = 0; i < 3; i++)
			sum += leafMap(x + i);
		return sum;
	}

	static long workGamma(long x) {
		Integer[] a = new Integer[8000];
		for (int i = 0; i < a.length; i++)
			a[i] = (int)(i * 2654435761L + x);
		Arrays.sort(a, (p, q) -> p.compareTo(q));
		return a[5];
	}

	static final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

	static double cpuTime() {
		return threads.getCurrentThreadCpuTime() * 1e-9;
	}

	static long run(int rounds, double[] took) {
		Shape shape = new Square();
		long sum = 1;

		for (int i = 0; i < rounds; i++) {
			double begin = cpuTime();
			sum += shape.workAlpha(sum);
			double end = cpuTime();
			took[0] += end - begin;
			sum += workBeta(sum);
			begin = cpuTime();
			took[1] += begin - end;
			sum += workGamma(sum);
			took[2] += cpuTime() - begin;
		}
		return sum;
	}

	public static void main(String[] args) {
		double[] took = new double[3];
		long sum = run(350, took);
		double all = took[0] + took[1] + took[2];

		System.out.printf("Account$Square.workAlpha %.3f%n", 100 * took[0] / all);
		System.out.printf("Account.workBeta %.3f%n", 100 * took[1] / all);
		System.out.printf("Account.workGamma %.3f%n", 100 * took[2] / all);
		if (sum == 0)
			System.out.println(sum);
	}
}
