// SPDX-License-Identifier: GPL-2.0-or-later
// One of the programs of tests/languages/run. alpha is a method, beta has a map, gamma a
// library of C and a sort by a function.
"use strict";

const crypto = require("crypto");
const fs = require("fs");

// Other threads of node collect garbage and compile; the clock is that of this one.
const schedstat = fs.openSync(`/proc/self/task/${process.pid}/schedstat`);
const text = Buffer.alloc(100);

function cpuTime() {
	const length = fs.readSync(schedstat, text, 0, 100, 0);
	return parseInt(text.toString("latin1", 0, length), 10) * 1e-9;
}

function processTime() {
	const usage = process.cpuUsage();
	return (usage.user + usage.system) * 1e-6;
}

function leafHash(x, n) {
	for (let i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >>> 7;
		x ^= x << 17;
		x = (x + i) | 0;
	}
	return x;
}

class Shape {
	constructor(k) {
		this.k = k;
	}

	alpha(x) {
		let sum = this.k;
		for (let i = 0; i < 120; i++)
			sum = (sum + leafHash(x + i, 60000)) | 0;
		return sum;
	}
}

function leafCount(x) {
	const counts = new Map();
	for (let i = 0; i < 4000; i++) {
		const key = "k" + ((x + i * 7919) % 1500);
		counts.set(key, (counts.get(key) || 0) + i);
	}
	return counts.size;
}

function beta(x) {
	let sum = 0;
	for (let i = 0; i < 16; i++)
		sum += leafCount((Math.abs(x) % 100000) + i);
	return sum;
}

const buffer = Buffer.alloc(4000000, 7);

function gamma(x) {
	buffer[3] = x & 255;
	const hash = crypto.createHash("sha1").update(buffer).digest();
	const values = [];
	for (let i = 0; i < 8000; i++)
		values.push((i * 2654435761 + x) % 65537);
	values.sort((a, b) => a - b);
	return hash[0] + values[5];
}

function main(end) {
	const spent = [0, 0, 0];
	const shape = new Shape(3);
	let sum = 1;
	let rounds = 0;
	for (; processTime() < end; rounds++) {
		const t0 = cpuTime();
		sum = (sum + shape.alpha(sum)) | 0;
		const t1 = cpuTime();
		sum = (sum + beta(sum)) | 0;
		const t2 = cpuTime();
		sum = (sum + gamma(sum)) | 0;
		spent[0] += t1 - t0;
		spent[1] += t2 - t1;
		spent[2] += cpuTime() - t2;
	}
	console.log(`sum ${sum}`);
	console.log(`alpha ${spent[0]} beta ${spent[1]} gamma ${spent[2]} ` +
		`cpu ${processTime()} rounds ${rounds}`);
}

main(+process.argv[2] || 1);
