<?php
// SPDX-License-Identifier: GPL-2.0-or-later
// One of the programs of tests/languages/run. alpha is a method, beta has arrays and
// strings, gamma sorts by a closure.

function now()
{
	$r = getrusage();
	return $r['ru_utime.tv_sec'] + $r['ru_stime.tv_sec'] +
		($r['ru_utime.tv_usec'] + $r['ru_stime.tv_usec']) * 1e-6;
}

function leaf_hash($x, $n)
{
	for ($i = 0; $i < $n; $i++) {
		$x ^= ($x << 13) & 0xffffffff;
		$x ^= $x >> 7;
		$x ^= ($x << 17) & 0xffffffff;
	}
	return $x;
}

class Shape
{
	function alpha($x)
	{
		$sum = 3;
		for ($i = 0; $i < 20; $i++)
			$sum += leaf_hash($x + $i, 4000);
		return $sum;
	}
}

function leaf_count($x)
{
	$counts = [];
	for ($i = 0; $i < 4000; $i++) {
		$key = 'k' . (($x + $i * 7919) % 1500);
		$counts[$key] = ($counts[$key] ?? 0) + $i;
	}
	return count($counts);
}

function beta($x)
{
	$sum = 0;
	for ($i = 0; $i < 6; $i++)
		$sum += leaf_count($x + $i);
	return $sum;
}

function gamma($x)
{
	$values = [];
	for ($i = 0; $i < 6000; $i++)
		$values[] = ($i * 2654435761 + $x) % 65537;
	usort($values, function ($a, $b) { return $a <=> $b; });
	return strlen(md5(implode(',', $values)));
}

$shape = new Shape;
$spent = [0, 0, 0];
$sum = 1;
for ($rounds = 0; now() < (float)($argv[1] ?? 1); $rounds++) {
	$t0 = now();
	$sum = ($sum + $shape->alpha($sum)) & 0xffffffff;
	$t1 = now();
	$sum += beta($sum);
	$t2 = now();
	$sum += gamma($sum);
	$spent[0] += $t1 - $t0;
	$spent[1] += $t2 - $t1;
	$spent[2] += now() - $t2;
}
printf("sum %d\nalpha %f beta %f gamma %f cpu %f rounds %d\n", $sum, $spent[0],
	$spent[1], $spent[2], now(), $rounds);
