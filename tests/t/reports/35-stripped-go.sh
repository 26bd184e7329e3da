#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Stripped Go programs have the names that the same program has with symbols: from
# the table for tracebacks, in the file, in its digest in the store once it is gone,
# and in archives. A program with C in it has addresses for the functions of C.
# tier: all
# sanitized: no
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../stripped.sh"

command -v go >/dev/null || skip_all "no go; install the Debian package golang-go"
SESSION=$TMP/session CURRENT=$TMP/session/samples/current
E=CPU_CLK_UNHALTED.100000.0.all.all.all
mkdir "$TMP/bin" && cd "$TMP" || exit 1
cat >plain.go <<'END2'
package main

type shape interface{ area(x int) int }
type square struct{ side int }

//go:noinline
func (s *square) area(x int) int { return s.side * s.side * x }

//go:noinline
func fold[T any](list []T, f func(T) int) int {
	sum := 0
	for _, each := range list {
		sum += f(each)
	}
	return sum
}

func main() {
	var s shape = &square{3}
	println(fold([]int{1, 2}, func(x int) int { return s.area(x) }))
}
END2
cat >mixed.go <<'END2'
package main

/*
__attribute__((noinline)) static int c_leaf(int x) { return x * 3 + 1; }
__attribute__((noinline)) int c_work(int x) { return c_leaf(x) + c_leaf(x + 1); }
*/
import "C"

//go:noinline
func work(x int) int { return int(C.c_work(C.int(x))) }

func main() { println(work(1)) }
END2

nr_builds=100
# build FILE SOURCE LDFLAGS [ARG...]: bin/FILE, with a build-id of its own.
build() {
	file=$1 source=$2 ldflags=$3
	shift 3
	nr_builds=$((nr_builds + 1))
	HOME=$TMP GOCACHE=$TMP/cache GO111MODULE=off GOFLAGS='' go build \
		-ldflags="$ldflags -B 0x10$nr_builds$nr_builds" -o "bin/$file" \
		"$@" "$source"
}
# points FILE: offset in the file and number of samples of each function, 1 for the
# first and so on.
points() {
	readelf -SW "$1" | sed 's/\[ */[/' | awk '$2 == ".text" {
		print $4, $5, $6 }' >text
	nm --defined-only "$1" | awk '$2 ~ /^[tT]$/ {
		sub(/^0+/, "", $1); print $1 }' | sort -u | perl -e '
		open(my $text, "<", "text") or die;
		my ($vma, $at, $len) = map { hex } split " ", <$text>;
		while (<STDIN>) {
			my $offset = hex($_) - $vma;
			next if $offset < 0 || $offset >= $len;
			printf "0x%x %d\n", $offset + $at, ++$n;
		}'
}
# sample NAME: these samples in bin/NAME.
sample() {
	"$TESTBIN/mkodb" \
		"$CURRENT/{root}$TMP/bin/$1/{dep}/{root}$TMP/bin/$1/$E" \
		event=118 count=100000 build-id="$(readelf -n "bin/$1" |
			sed -n 's/.*Build ID: //p')" <samples
}
# rows NAME [ARG...]: counts and names of the rows of bin/NAME. Tables for tracebacks
# are without the suffix of functions with the older convention for calls, and say
# "[...]" for what is in brackets.
rows() {
	image=$TMP/bin/$1
	shift
	"$BIN/opreport" --session-dir="$SESSION" -n -l image:"$image" "$@" \
		2>"$TMP/err" | sed 's/^\([0-9]*\)  *[0-9.e-]*  */\1 /
			s/\.abi0$//; s/\[.*\]/[...]/' | sort -n
}
# fresh: a session without samples.
fresh() {
	rm -rf "$SESSION" archive bin/*
	mkdir -p "$CURRENT"
	printf '%s\n' 'source = test' 'taken = 0' 'stored = 0' \
		'pending = 0' >"$CURRENT/ledger"
}

while read -r how flags; do
	fresh
	# shellcheck disable=SC2086 # words
	{
		build twin plain.go -w $flags || exit 1
		build prog plain.go '-s -w' $flags || exit 1
	}
	[ "$how" != strip ] || strip -o bin/prog bin/twin
	is "$how: no table of symbols" "$(nm bin/prog 2>/dev/null)" ""
	points bin/twin >samples
	nr=$(wc -l <samples)
	ok "$how: there are $nr functions" test "$nr" -gt 500
	sample twin
	sample prog
	rows twin >wanted
	is "$how: a row for each in the twin" "$(wc -l <wanted)" "$nr"
	like "$how: such as these" "$(cat wanted)" \
		'main[.][(][*]square[)][.]area'
	is "$how: the same names" "$(rows prog)" "$(cat wanted)"
	is "$how: nothing is said" "$(cat err)" ""
	rows_stay "$how"
done <<'END2'
linked
strip
independent -buildmode=pie
END2

# Go finds gcc, or it builds no such program. The linker of C puts the table of a
# position-independent one among other data.
for mode in exe pie; do
	fresh
	if ! CGO_ENABLED=1 build twin mixed.go -w -buildmode=$mode 2>/dev/null; then
		skip "Go with C, $mode" "go builds no program with C here"
		continue
	fi
	strip -o bin/prog bin/twin
	points bin/twin >samples
	sample twin
	sample prog
	rows twin | grep ' [a-z/]*[.]' >wanted
	ok "Go with C, $mode: functions of Go" test "$(wc -l <wanted)" -gt 500
	rows prog >mixed
	is "$mode: all but labels" "$(sort mixed >sorted
		sort wanted | comm -23 - sorted | sed 's/.* //' | sort)" \
		"runtime.etext
runtime.text"
	address=$(nm bin/twin | sed -n 's/^0*\([0-9a-f]*\) . c_leaf$/\1/p')
	like "$mode: a function of C" "$(cat mixed)" " [(]0x${address}[)]$"
	ok "$mode: names are stored" "$BIN/opsymbols" --session-dir="$SESSION"
	rm bin/prog
	is "$mode: the store has them" "$(rows prog)" "$(cat mixed)"
done
done_testing
