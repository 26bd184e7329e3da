#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opannotate on what Debian's compilers make with -O2 -g of C, C++, Rust and
# Go, in the versions and shapes that debug information comes in. Every
# instruction of the program's own functions gets samples; LLVM tells what line
# each is of. (addr2line of binutils does not for C++ of DWARF 5: of code inlined
# from a header it may tell the line with the name of another file.)
# timeout: 400
. "$(dirname "$0")/../lib.sh"

SESSION=$TMP/session
for tool in perl llvm-addr2line; do
	command -v $tool >/dev/null ||
		skip_all "$tool not found; run utils/install-deps"
done
cc=${CC:-cc}
cd "$TMP" || exit 1

cat >prog.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include "mix.h"
__attribute__((noinline)) static unsigned burn(unsigned n)
{
	unsigned x = n;
	for (unsigned i = 0; i < n; i++) /* BURN */
		x = mix(x, i);
	return x;
}
__attribute__((noinline)) static unsigned rest(unsigned n)
{
	return n * 3 + 1;
}
int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	printf("%u\n", burn(n) + rest(n));
	return 0;
}
END
cat >mix.h <<'END'
static inline unsigned mix(unsigned a, unsigned b)
{
	a ^= b << 7; /* BURN */
	return a * 2654435761u; /* BURN */
}
END
cat >prog.cc <<'END'
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
template <typename T> struct Tally {
	T sum{};
	void add(T x)
	{
		for (int i = 0; i < 64; i++)
			sum = sum * 3 + x / 7; /* BURN */
	}
};
template <typename T> __attribute__((noinline)) T burn(const std::vector<T> &all)
{
	Tally<T> tally;
	for (const T &x : all)
		tally.add(x);
	return tally.sum;
}
int main(int argc, char **argv)
{
	std::vector<unsigned> a;
	std::vector<double> b;
	for (int i = argc > 1 ? atoi(argv[1]) : 10; i > 0; i--) {
		a.push_back(i);
		b.push_back(i);
	}
	std::sort(a.begin(), a.end());
	printf("%u %g\n", burn(a), burn(b));
}
END
cat >prog.rs <<'END'
#[inline]
fn mix(a: u32, b: u32) -> u32 {
    (a ^ (b << 7)).wrapping_mul(2654435761) // BURN
}
#[inline(never)]
fn burn(n: u32) -> u32 {
    let mut x = n;
    for i in 0..n {
        x = mix(x, i);
    }
    x
}
fn main() {
    let n = std::env::args().nth(1).map_or(1, |s| s.parse().unwrap());
    println!("{}", burn(n));
}
END
cat >prog.go <<'END'
package main

import (
	"fmt"
	"os"
	"strconv"
)

func mix(a, b uint32) uint32 {
	return (a ^ b<<7) * 2654435761 // BURN
}

//go:noinline
func burn(n uint32) uint32 {
	x := n
	for i := uint32(0); i < n; i++ { // BURN
		x = mix(x, i) // BURN
	}
	return x
}

func main() {
	n := 1
	if len(os.Args) > 1 {
		n, _ = strconv.Atoi(os.Args[1])
	}
	fmt.Println(burn(uint32(n)))
}
END
touch -d 2020-01-01 prog.* mix.h

# Every instruction of the functions whose names match $2: its file offset, some
# count, and the line by addr2line. From the binary in $1; $3 has its lines.
cat >truth.pl <<'END'
use strict;
use warnings;
my ($binary, $names, $debug) = @ARGV;
my (@text, @addresses);
for (`readelf -S -W $binary`) {
	@text = (hex $1, hex $2)
		if / \.text +PROGBITS +([0-9a-f]+) ([0-9a-f]+) /;
}
my $on;
for (`objdump -d -j .text --no-show-raw-insn $binary`) {
	if (/^[0-9a-f]+ <(.*)>:$/) { $on = $1 =~ /$names/ }
	elsif ($on && /^ *([0-9a-f]+):/) { push @addresses, $1 }
}
open my $out, '>', 'addresses' or die;
print $out "$_\n" for @addresses;
close $out;
my @places = `llvm-addr2line -e $debug <addresses`;
my $count = 0;
for my $i (0 .. $#addresses) {
	chomp(my $place = $places[$i]);
	$place =~ s{/\./}{/}g;
	1 while $place =~ s{/(?!\.\./)[^/]+/\.\./}{/};
	$count = ($count * 5 + 3) % 17;
	printf "%d %d %s\n", hex($addresses[$i]) - $text[0] + $text[1],
		$count + 1, $place;
}
END

# What annotated.pl is to say about lines and files, of the samples in "truth".
cat >wanted.pl <<'END'
use strict;
use warnings;
my (%line, %file);
while (<STDIN>) {
	my (undef, $count, $place) = split;
	next if $place =~ /^\?\?/;
	$line{$place} += $count;
	$place =~ s/:\d+$//;
	$file{$place} += $count;
}
print "$_ $line{$_}\n" for keys %line;
print "$_ $file{$_}\n" for keys %file;
END

# Of lines "NAME... total COUNT" print those that are not the sum of what is in
# the file for the names.
cat >sums.pl <<'END'
use strict;
use warnings;
my %count;
open my $in, '<', shift or die;
while (<$in>) {
	my ($name, undef, $count) = split;
	$count{$name} += $count;
}
while (<STDIN>) {
	my ($names, $sum) = /^(.*) total (\d+)$/;
	$sum -= $count{$_} // 0 for split /,? /, "$names ";
	print if $sum;
}
END

# annotated WHAT BINARY NAMES [WITH-LINES]
annotated() {
	rm -rf "$SESSION"
	perl truth.pl "$2" "$3" "${4:-$2}" >truth
	total=$(awk '{ n += $2 } END { print n + 0 }' truth)
	like "$1 has instructions" "$total" '[0-9]{3}'
	P="{root}$TMP/$2"
	awk '{ print $1, $2 }' truth | "$TESTBIN/mkodb" \
		"$SESSION/samples/current/$P/{dep}/$P/CYCLES.1000.0.all.all.all" \
		mtime="$TMP/$2" event=1 count=1000
	"$BIN/opannotate" --session-dir="$SESSION" --all -s -D none >out 2>err
	perl "$TOP/tests/t/annotated.pl" <out >said
	# Of files that are not here no line is shown but line 0.
	perl wanted.pl <truth | while read -r place count; do
		case $place in
		*:0) ;;
		*:*) [ -r "${place%:*}" ] || continue ;;
		esac
		echo "$place $count"
	done | sort >wanted
	grep -v ' total [0-9]*$' said | sort >got
	ok "$1: lines are those that LLVM tells" diff wanted got
	is "$1: every sample is in a file or said to have no line" "$({
		awk '!/:[0-9]+ [0-9]+$/' got
		sed -n 's/.*no source lines for \([0-9]*\) samples.*/x \1/p' err
	} | awk '{ n += $NF } END { print n }')" "$total"
	"$BIN/opreport" --session-dir="$SESSION" -n -l --no-inlines -D none |
		awk '{ print $NF, "total", $1 }' | sort >by_symbol
	is "$1: functions have the totals of opreport" \
		"$(grep ' total [0-9]*$' said | perl sums.pl by_symbol)" ""
	like "$1: and are there" "$(cat said)" " total [0-9]"
}

# marked WHAT SOURCE: the lines that burn, which are marked in the source, have
# samples.
marked() {
	grep -n BURN "$2" | sed 's/:.*//' >marked
	while read -r line; do
		grep -q "/$2:$line " said || echo "$line"
	done <marked >missing
	is "$1: the marked lines of $2 have samples" "$(cat missing)" ""
}

for version in 2 3 4 5; do
	$cc -O2 -g -gdwarf-$version -o c$version prog.c || exit 1
	annotated "C, DWARF $version" c$version '^(main|burn|rest)$'
	marked "C, DWARF $version" prog.c
	marked "C, DWARF $version" mix.h
done
$cc -O2 -g -gz -ffunction-sections -o cz prog.c
annotated "C, compressed, a section for each function" cz '^(main|burn|rest)$'
cp c5 whole
objcopy --only-keep-debug c5 c5.debug
strip c5
objcopy --add-gnu-debuglink=c5.debug c5
annotated "C, with its lines in a file of their own" c5 . whole
if command -v clang >/dev/null; then
	clang -O2 -g -o clang prog.c
	annotated "C by clang" clang '^(main|burn|rest)$'
else
	skip "C by clang" "no clang; run utils/install-deps"
fi

if echo 'int main() {}' | ${CXX:-c++} -x c++ -o probe - 2>/dev/null; then
	${CXX:-c++} -O2 -g -o cpp prog.cc
	annotated "C++" cpp .
	marked "C++" prog.cc
	like "C++: names as people write them" \
		"$("$BIN/opannotate" --session-dir="$SESSION" --all -s 2>/dev/null)" \
		'double burn<double>\(std::vector<double, '
else
	skip "C++" "no C++ compiler; install the Debian package g++"
fi

rustc=$(PATH=/usr/bin:$PATH command -v rustc)
if [ -n "$rustc" ] && "$rustc" --version >/dev/null 2>&1; then
	"$rustc" -C opt-level=2 -g -o rust prog.rs || exit 1
	annotated "Rust" rust '4prog4(main|burn)'
	marked "Rust" prog.rs
	like "Rust: names as people write them" \
		"$("$BIN/opannotate" --session-dir="$SESSION" --all -s 2>/dev/null)" \
		'prog::burn total: '
else
	skip "Rust" "no rustc; install the Debian package rustc"
fi

if command -v go >/dev/null; then
	HOME=$TMP GOCACHE=$TMP/cache GO111MODULE=off go build -o goprog prog.go ||
		exit 1
	annotated "Go" goprog '^main[.](main|burn)$'
	marked "Go" prog.go
else
	skip "Go" "no go; install the Debian package golang-go"
fi
done_testing
