#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# opimport reads profiles that others have summed up, files of pprof and folded
# stacks: what we write ourselves comes back as the same tables and stacks, the
# profile of a Go program as `go tool pprof` has it, and lines where the profile
# tells them. Damaged and hostile files are refused with a reason, or give what is
# sound in them.
# sanitized: yes
# timeout: 600
# shellcheck disable=SC1083 # the braces of names of sample files
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/viewers.sh"

viewers_sessions
MADE=$SESSION

# import FILE [OPTION...]: into a new session, which is the one to report from then.
import() {
	SESSION=$TMP/imported
	file=$1
	shift
	rm -rf "$SESSION"
	"$BIN/opimport" "$@" -o "$SESSION" "$file" >"$TMP/out" 2>"$TMP/import.err" &&
		return
	diag "$(cat "$TMP/import.err")"
	return 1
}

# stacks [ARG...]: as folded stacks, sorted.
stacks() {
	report --format=folded "$@" | sort
}

# account KEY: of the session.
account() {
	sed -n "s/^$1 = //p" "$SESSION/samples/current/ledger"
}

# refuses NAME ERE [OPTION...] FILE: exit status 1, nothing made, the reason.
refuses() {
	name=$1 ere=$2
	shift 2
	"$BIN/opimport" -o "$TMP/refused" "$@" >"$TMP/out" 2>"$TMP/err"
	got=$?
	like "$name" "$got $(cat "$TMP/err")" "^1 opimport: .*$ere"
	[ ! -e "$TMP/refused" ] || diag "$(find "$TMP/refused")"
	ok "$name: nothing is left" [ ! -e "$TMP/refused" ]
}

# ---- our own ---------------------------------------------------------------------


# plain: no brackets around images without symbols, which are functions by now.
plain() {
	sed 's/ \[\(.*\)\]$/ \1/' | sort
}

for name in current flat mixed inlines two threads; do
	SESSION=$MADE
	report --format=pprof -o "$TMP/$name.pb.gz" session:$name
	symbols session:$name | plain >"$TMP/table"
	ok "$name as a file of pprof" import "$TMP/$name.pb.gz"
	is "$name: the same table" "$(symbols | plain)" "$(cat "$TMP/table")"
done
like "the rate of the timer" "$(import "$TMP/current.pb.gz"; report -l)" \
	'timer interrupt, 1000 samples per second'
is "two events with their counts" "$(import "$TMP/two.pb.gz"; report -l |
	sed -n 's/^Counted \(.*\) events .* count /\1 /p')" "\
CPU 100000
MISS 5000"
for name in current mixed; do
	SESSION=$MADE
	stacks session:$name >"$TMP/stacks"
	ok "$name as folded stacks" import "$TMP/stacks"
	is "$name: the same stacks" "$(stacks)" "$(cat "$TMP/stacks")"
done
import "$TMP/current.pb.gz"
is "whole stacks, and others" "$(account stacks.whole) $(account stacks.truncated)" \
	"990 10"
ok "threads apart" import "$TMP/threads.pb.gz" --separate-thread
is "processes and threads" "$(stacks)" "\
prog-7/7;main;leaf 3
prog-7/8;main;leaf 3
prog-9/9;main;leaf 3"
like "names of threads" "$(report -l)" "worker"

# ---- folded stacks of others -----------------------------------------------------

printf '%s\r\n' 'web;main;serve;parse 70' '  web;main;serve 20.4' '' 'web;;main 5' \
	'idle 4e2' 'kworker/0:1;run 3' '/opt//app/bin/server/;main 7' '..;main 1' \
	'web;operator new(unsigned long);f(int, char) 2' \
	"web;$(printf %2000d 0);long 6" 'none;zero 0' >"$TMP/a.folded"
ok "folded stacks" import "$TMP/a.folded"
is "their functions" "$(symbols | sed 's/  *00*$/ long/')" "\
0 2 operator new(unsigned long)
0 6 long
13 103 main
2 2 f(int, char)
20 90 serve
3 3 run
400 400 idle
6 6 long
70 70 parse"
is "their applications" "$(report --long-filenames --json | tr ,[ '\n' |
	sed -n 's/^ *{*"image": //p' | sort)" '"/_."
"/idle"
"/kworker_0:1"
"/opt/app/bin/server"
"/web"'
is "all of them" "$(account taken) $(account stored)" "514 514"
symbols >"$TMP/table"
gzip -k "$TMP/a.folded"
ok "packed" import "$TMP/a.folded.gz"
is "packed: the same" "$(symbols)" "$(cat "$TMP/table")"

# More functions than an image has, more frames than a stack, more samples than
# one record tells.
awk 'BEGIN {
	for (i = 0; i < 70000; i++)
		print "many;f" i " 1"
	printf "deep"
	for (i = 0; i < 1100; i++)
		printf ";g" i
	print " 9"
	print "many;f69999 1000000000000000"
}' >"$TMP/large.folded"
ok "a large file" import "$TMP/large.folded"
symbols >"$TMP/table"
is "many functions" "$(grep -c ' f[0-9]*$' "$TMP/table") $(
	grep -E ' f(0|65534|65535|69999)$' "$TMP/table" | tr '\n' ' ')" \
	"70000 1 1 f0 1 1 f65534 1 1 f65535 1000000000000001 1000000000000001 f69999 "
is "the innermost frames of a deep stack" "$(account stacks.truncated) $(
	grep -c ' g[0-9]*$' "$TMP/table") $(grep ' g1099$' "$TMP/table")" \
	"9 1024 9 9 g1099"

# ---- a profile of Go -------------------------------------------------------------

if command -v go >/dev/null; then
	cat >"$TMP/prog.go" <<-'END'
	package main

	import (
		"os"
		"runtime/pprof"
	)

	var sink uint64

	//go:noinline
	func hot(n int) {
		for i := 0; i < n; i++ {
			sink += uint64(i) * 3
		}
	}

	func inlined(n int) {
		for i := 0; i < n; i++ {
			sink ^= uint64(i) * 5
		}
	}

	func main() {
		f, _ := os.Create(os.Args[1])
		pprof.StartCPUProfile(f)
		for i := 0; i < 2000; i++ {
			hot(100000)
			inlined(50000)
		}
		pprof.StopCPUProfile()
		f.Close()
	}
	END
	# The program stays where the profile says: its own symbols are not used.
	(cd "$TMP" && HOME=$TMP GO111MODULE=off go build -o goprog prog.go &&
		./goprog "$TMP/go.pb.gz") || exit 1
	ok "a profile of Go" import "$TMP/go.pb.gz"
	is "its functions are those of go tool pprof" "$(symbols)" "$(
		HOME=$TMP go tool pprof -top -nodefraction=0 -edgefraction=0 \
			-sample_index=samples "$TMP/go.pb.gz" 2>/dev/null |
			awk '/^ +flat  flat%/ { rows = 1; next } rows {
				print $1 + 0, $4 + 0, $6 }' | sort)"
	like "an event with its count" "$(report)" '^Counted cpu .* count 10000000$'
	like "lines" "$("$BIN/opannotate" --session-dir="$SESSION" --source)" \
		'^ *[0-9]+ +[0-9.]+ :main.hot$'
	like "the line of a loop" "$(report -g -l)" 'prog.go:1[0-9] .*main.hot$'
else
	skip "a profile of Go: no go here"
fi

# ---- what is refused -------------------------------------------------------------

echo 'main;hot' >"$TMP/bad"
refuses "a stack without a count" \
	'bad:1: no count behind the stack; a line of folded stacks is' "$TMP/bad"
printf 'main;hot 7\n\nmain -3\n' >"$TMP/bad"
refuses "a negative count" 'bad:3: no count' "$TMP/bad"
printf 'main 18446744073709551616\n' >"$TMP/bad"
refuses "a count that is too large" 'bad:1: no count' "$TMP/bad"
printf 'main;hot 7 9\nmain 3 0\n' >"$TMP/bad"
refuses "a comparison" 'bad: each stack has two counts: it is a comparison' "$TMP/bad"
printf '\n \n' >"$TMP/bad"
refuses "blanks alone" 'bad: has no stacks' "$TMP/bad"
: >"$TMP/bad"
refuses "an empty file" 'bad: is empty' "$TMP/bad"
head -c 5000 /dev/zero | tr '\0' a >"$TMP/bad"
printf '\0 7\n' >>"$TMP/bad"
refuses "a zero byte" 'bad: has a zero byte' "$TMP/bad"
refuses "a file that is missing" 'none: No such file' "$TMP/none"
refuses "a folder" 'is no regular file' "$TMP"
mkfifo "$TMP/fifo"
refuses "a FIFO" 'fifo: is no regular file' "$TMP/fifo"
refuses "two files" 'a.folded: is not of perf record; of other files name one' \
	"$TMP/a.folded" "$TMP/a.folded"
head -c 100 "$TMP/current.pb.gz" >"$TMP/bad"
refuses "a packed file that is cut" 'bad: is packed and damaged; give' "$TMP/bad"
seed=$TOP/tests/fuzz/seeds/fuzz_profile/pprof
ok "a file of pprof with labels, and a sample that is nowhere" import "$seed"
is "its stacks" "$(stacks) $(account lost.lost_no_image)" "\
app;main;leaf;inner 3
app;main;leaf;inner;0x5000 5 1"
head -c -20 "$seed" >"$TMP/bad"
refuses "a file of pprof that is cut" 'bad: is damaged, or neither of pprof' "$TMP/bad"
# change NAME OLD NEW ERE: the same with other bytes somewhere.
change() {
	python3 -c 'import sys
old, new = (bytes.fromhex(x) for x in sys.argv[3:])
data = open(sys.argv[1], "rb").read()
assert data.count(old)
open(sys.argv[2], "wb").write(data.replace(old, new, 1))' \
		"$seed" "$TMP/bad" "$2" "$3"
	refuses "$1" "$4; the file is damaged: write it again" "$TMP/bad"
}
change "a sample at no location" 0a020201 0a020901 \
	'a sample is at location 9, which is not there'
change "a location in no function" 0801100a 0809100a \
	'location 1 is in function 9, which is not there'
change "a location in no mapping" 080110011880 080110071880 \
	'location 1 is in mapping 7, which is not there'
change "two functions of one id" 2a0608021007 2a0608011007 \
	'two of its functions, locations or mappings have one id'
change "a value too few" 12060a001202010a 12060a0020012001 \
	'a sample has [0-9]* values, but there are 2 types of them'
exits "a folder with samples" 1 "$BIN/opimport" -o "$SESSION" "$TMP/a.folded"

done_testing
