#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# opimport reads profiles that others have summed up, files of pprof, callgrind and
# folded stacks: what we write ourselves comes back as the same tables and stacks,
# the profile of a Go program as `go tool pprof` has it, that of valgrind as
# callgrind_annotate has it, and lines where the profile tells them. Damaged and hostile files are refused with a reason, or give what is
# sound in them.
# sanitized: yes
# timeout: 600
# shellcheck disable=SC1083 # the braces of names of sample files
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../viewers.sh"

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

# ---- callgrind, our own and by the rules of the format ---------------------------

# own [ARG...]: the symbols with samples of their own; images by their base names.
own() {
	symbols "$@" | awk '$1 { $2 = ""; print }' | plain | sed 's| /.*/| |' | sort
}

for name in current flat mixed inlines two threads; do
	SESSION=$MADE
	report --format=callgrind -o "$TMP/$name.callgrind" session:$name
	own session:$name >"$TMP/table"
	ok "$name as a file of callgrind" import "$TMP/$name.callgrind"
	is "$name: the same samples" "$(own)" "$(cat "$TMP/table")"
done
SESSION=$MADE
report --callgraph session:current >"$TMP/table"
import "$TMP/current.callgrind"
calls=$(report --callgraph | sed -n 's/^  *\([0-9][0-9]*\) .* \([^ ]*\) *$/\1 \2/p')
like "calls of one function to another" "$calls" '775 busy'
like "and those of the application to the first function" "$calls" '990 main'
is "lines are there" "$(report -l -g | awk '/ leaf$/ { print $3 }')" prog.c:12
is "arcs, and no stacks" "$(account stacks.whole) $(account stacks.arcs_not_stored)" "0 0"

seed=$TOP/tests/fuzz/seeds/fuzz_profile/callgrind
ok "numbers for names, relative positions, jumps, inlined lines" import "$seed"
is "samples by line" "$(report -d -g | awk '/^  0/ { print $2, $4, $6 }')" "\
4 200 sin.c:50
2 10 app.c:16
0 30 app.c:17
1 40 app.h:5
0 60 app.c:8"
is "its calls" "$(report --callgraph event:Ir | awk '/^  / && !/self/ { print $1, $3, $4 }')" "\
200 app main
200 libm.so sin
60 app leaf
60 app main"
import "$seed" --separate-thread
like "its process" "$(find "$SESSION/samples/current" -type f | sample_names)" '/Ir[.0-9]*\.12\.12\.all$'
sed 's/$/\r/' "$seed" >"$TMP/crlf"
import "$seed"
symbols >"$TMP/table"
ok "lines that end as on Windows" import "$TMP/crlf"
is "the same" "$(symbols)" "$(cat "$TMP/table")"
xz -k -c "$seed" >"$TMP/callgrind.xz"
ok "packed by xz" import "$TMP/callgrind.xz"
# Two parts, each with events of its own, in a file without objects.
cat >"$TMP/parts" <<'END'
version: 1
cmd: /srv/www/index.php
part: 1

events: Time_(10ns) Memory

fl=php:internal
fn=php::strlen
1 5 7

fl=index.php
fn={main}
1 10
cfn=php::strlen
calls=1
3 5 7
summary: 15 7
part: 2
events: Memory Time_(10ns)
fn={main}
1 2 3
END
ok "two parts with two orders of events" import "$TMP/parts"
is "their samples" "$(report -l | awk '/^[0-9]/ { print $1, $3, $NF }')" "\
7 5 php::strlen
2 13 {main}"
like "events are words" "$(report)" 'Counted Time__10ns_ events .* count 1$'
grep -v '^fn=(3)$\|^0x1100' "$seed" >"$TMP/short"
ok "a file with less than its totals" import "$TMP/short"
like "which is told" "$(cat "$TMP/import.err")" \
	'opimport: warning: .*short: its functions have less than its totals'

# ---- callgrind by valgrind -------------------------------------------------------

# annotated FILE: "FUNCTION EVENT COUNT" of callgrind_annotate, which shows a function
# once for each file that was inlined into it, some of these without its object.
# reported: the same by opreport.
annotated() {
	(cd / && callgrind_annotate --threshold=100 --auto=no "$1") | python3 -c '
import collections, re, sys
sums, events = collections.Counter(), []
for line in sys.stdin:
    if line.startswith("Events shown:"):
        events = line.split()[2:]
    m = re.match(r"([^a-zA-Z?/]*?) *([^ ]*?):([^\[]*?)( \[.*\])?$", line)
    if not m:
        continue
    counts = re.sub(r"\([^)]*\)", "", m[1]).replace(",", "").split()
    for event, count in zip(events, counts):
        if count != ".":
            sums[m[3], event] += int(count)
print("\n".join(sorted(" ".join(k) + f" {n}" for k, n in sums.items() if n)))'
}
reported() {
	report -l --csv | python3 -c '
import collections, csv, sys
sums = collections.Counter()
for row in csv.DictReader(sys.stdin):
    if row["row"] == "symbol":
        sums[row["symbol"], row["class"].split(":")[0]] += int(row["samples"])
print("\n".join(sorted(" ".join(k) + f" {n}" for k, n in sums.items() if n)))'
}

if command -v valgrind >/dev/null; then
	for options in --dump-line=yes "--dump-instr=yes --collect-jumps=yes --branch-sim=yes" \
		"--compress-strings=no --compress-pos=no --cache-sim=yes"; do
		# shellcheck disable=SC2086 # words
		valgrind --tool=callgrind --callgrind-out-file="$TMP/valgrind.out" \
			$options "$TMP/prog" a b c >"$TMP/out" 2>&1 || diag "$(cat "$TMP/out")"
		ok "valgrind $options" import "$TMP/valgrind.out"
		reported >"$TMP/reported"
		annotated "$TMP/valgrind.out" >"$TMP/annotated"
		ok "the costs are those of callgrind_annotate" \
			cmp "$TMP/annotated" "$TMP/reported" ||
			diag "$(diff "$TMP/annotated" "$TMP/reported" | head -n 20)"
		ok "of hundreds of functions" [ "$(wc -l <"$TMP/reported")" -gt 200 ]
		is "nothing is lost" "$(account taken)" "$(account stored)"
	done
	like "main called busy" "$(report --callgraph event:Ir image:"$TMP/prog")" \
		'^ .* prog  *busy$'
	sed '/^totals:/,$d' "$TMP/valgrind.out" >"$TMP/bad"
	refuses "one that is cut" 'bad:[0-9]*: ends without totals, so it is cut short' \
		"$TMP/bad"
	head -c 20000 "$TMP/valgrind.out" | sed '$d' >"$TMP/bad"
	refuses "one that is cut earlier" 'bad:[0-9]*: ends ' "$TMP/bad"
else
	skip "callgrind by valgrind: no valgrind here"
fi

# ---- folded stacks of others -----------------------------------------------------

printf '%s\r\n' 'web;main;serve;parse 70' '  web;main;serve 20' '' 'web;;main 5' \
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
		'^ *[0-9]+ +[0-9.]+ +[0-9.]+ :main.hot$'
	like "the line of a loop" "$(report -g -l)" 'prog.go:1[0-9] .*main.hot$'
else
	skip "a profile of Go: no go here"
fi

# ---- what is refused -------------------------------------------------------------

echo 'main;hot' >"$TMP/bad"
refuses "a stack without a count" \
	'bad:1: no count after the stack; a line of folded stacks is' "$TMP/bad"
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
refuses "a file that is missing" 'none: No such file' "$TMP/none"
refuses "a folder" 'is neither a file nor a pipe' "$TMP"
refuses "a device" 'is neither a file nor a pipe' /dev/null

# What pprof can read and we cannot.
legacy() {
	refuses "$1" "bad: is $2; $3" "$TMP/bad"
}
BY_PPROF='convert it with pprof -proto -output=FILE.pb.gz BINARY PROFILE and import that'
python3 -c "import struct, sys
for name, how in ('le64', '<12Q'), ('be64', '>12Q'), ('le32', '<12I'), ('be32', '>12I'):
	open(sys.argv[1] + name, 'wb').write(struct.pack(
		how, 0, 3, 0, 10000, 0, 5, 2, 0x401010, 0x401050, 0, 1, 0))" "$TMP/gperf-"
for kind in le64 be64 le32 be32; do
	cp "$TMP/gperf-$kind" "$TMP/bad"
	legacy "a CPU profile of gperftools, $kind" 'a CPU profile of gperftools' "$BY_PPROF"
done
printf 'heap profile: 14: 3333 [ 20: 5000] @ heap_v2/524288\n 4: 1111 [10: 2222] @ 0x401010\n' >"$TMP/bad"
legacy "a heap profile as text" 'a heap profile as text, of gperftools or Go' \
	"fetch it without \\?debug=, or $BY_PPROF"
printf -- '--- contention:\ncycles/second=1000\n93 2 @ 0x401010\n' >"$TMP/bad"
legacy "contention as text" 'a profile of contention as text' 'fetch it without'
printf 'goroutine profile: total 4\n1 @ 0x43e7d6 0x409b1c\n' >"$TMP/bad"
legacy "goroutines as text" 'a list of goroutines as text' 'fetch it without'

# ---- what is odd -----------------------------------------------------------------

# As Austin begins and ends its files; the mark of UTF-8 as some editors leave it.
printf '\357\273\277# austin: 3.6.0\n# interval: 100\n\n#\nP1;a.py:work:3 152\nP1;a.py:main 120\n\n# duration: 383010.5\n' >"$TMP/odd"
ok "comments and a mark of UTF-8" import "$TMP/odd"
is "are left out" "$(cat "$TMP/import.err") $(stacks | tr '\n' ' ')" \
	"opimport: 272 samples = 272 stored + 0 lost P1;a.py:main 120 P1;a.py:work:3 152 "
printf 'p;f 3\np;g\np;f 4\np;f 1\n#p;h -5\n' >"$TMP/odd"
ok "odd lines" import "$TMP/odd"
is "are left out with a warning" "$(cat "$TMP/import.err")" "\
opimport: warning: $TMP/odd:2: no count after the stack; 2 such lines left out, each a lost sample in the account
opimport: 10 samples = 8 stored + 2 lost"
like "and are in the account" "$(report | "$TESTBIN/facts")" \
	'^Samples: 10 = 8 \+ 2 \(2 lost_no_count\)'
printf 'web;class@anonymous\0/srv/x.php:3;f\001 7\nweb;class@anonymous\0/srv/x.php:3;g 2\n' >"$TMP/odd"
ok "zero bytes in names" import "$TMP/odd"
is "are replaced" "$(stacks | tr '\001' '^')" "\
web;class@anonymous?/srv/x.php:3;f? 7
web;class@anonymous?/srv/x.php:3;g 2"
cat >"$TMP/odd" <<'END'
version: 1
creator: xdebug 3.1.0 (PHP 8.1.0)
cmd: /var/www/index.php
positions: line
events: Time Memory

fl=(1) php:internal
fn=(1) php::usleep
5 102 0

fl=(2) /var/www/index.php
fn=(2) {main}
1 2000 -400
2 10 70
cfl=(1)
cfn=(1)
calls=1 0 0
5 102 -20

summary: 2112 -330
END
ok "memory that Xdebug saw being freed" import "$TMP/odd"
is "is left out with a warning" "$(cat "$TMP/import.err")" "\
opimport: warning: $TMP/odd: negative costs, which samples cannot have: 1 of -400 in all are left out, and lost in the account
opimport: 2582 samples = 2182 stored + 400 lost"
is "what took time is there" "$(report -n -l event:Time | awk '{ print $1, $NF }')" "\
2010 {main}
102 php::usleep"

# ---- pipes -----------------------------------------------------------------------

printf 'main;hot 7\nmain;cold 3\n' >"$TMP/plain.folded"
gzip -c "$TMP/plain.folded" >"$TMP/packed.gz"
import "$TMP/plain.folded"
stacks >"$TMP/wanted"
"$BIN/opreport" --session-dir="$SESSION" --format=pprof --output-file="$TMP/plain.pb" 2>/dev/null
mkfifo "$TMP/fifo"
# shellcheck disable=SC2002 # a pipe is what is tried
for file in plain.folded packed.gz plain.pb; do
	SESSION=$TMP/piped
	for way in pipe file fifo; do
		rm -rf "$SESSION"
		case $way in
		pipe) cat "$TMP/$file" | "$BIN/opimport" -o "$SESSION" - 2>"$TMP/err" ;;
		file) "$BIN/opimport" -o "$SESSION" - <"$TMP/$file" 2>"$TMP/err" ;;
		fifo)
			cat "$TMP/$file" >"$TMP/fifo" &
			"$BIN/opimport" -o "$SESSION" "$TMP/fifo" 2>"$TMP/err"
			wait $!
			;;
		esac
		is "$file by a $way" "$(stacks)" "$(cat "$TMP/wanted")"
	done
done
(
	read -r _
	"$BIN/opimport" -o "$TMP/rest" - 2>/dev/null
) <"$TMP/plain.folded"
SESSION=$TMP/rest
is "what is left of standard input" "$(stacks)" "main;cold 3"
# shellcheck disable=SC2002 # likewise
got=$(cat "$TMP/plain.folded" | TMPDIR=$TMP/none "$BIN/opimport" -o "$TMP/refused" - 2>&1)
like "nowhere to hold it" "$got" \
	"opimport: -: cannot be held in $TMP/none: No such file or directory; name another folder with TMPDIR"
is "nothing is left of what was held" "$(find "$TMP" -name 'opimport-*')" ""
is "an empty pipe" "$(: | "$BIN/opimport" -o "$TMP/refused" - 2>&1)" \
	"opimport: -: is empty; give a file of perf record, pprof, callgrind or folded stacks, or an old sample file with its --abi"

refuses "two files" 'a.folded: is not a file of perf record; name one such file' \
	"$TMP/a.folded" "$TMP/a.folded"
head -c 100 "$TMP/current.pb.gz" >"$TMP/bad"
refuses "a packed file that is cut" 'bad: is packed and damaged; give' "$TMP/bad"
# callgrind NAME SED ERE: the file of callgrind, edited, is refused.
callgrind() {
	sed "$2" "$TOP/tests/fuzz/seeds/fuzz_profile/callgrind" >"$TMP/bad"
	refuses "callgrind: $1" "$3" "$TMP/bad"
}
callgrind "a name that was not told" 's/^fn=(3)$/fn=(4)/' \
	'bad:33: a number is used before its name is given; the file is damaged'
callgrind "a line of nothing" 's/^fe=(1)/fe (1)/' 'bad:21: is no line of callgrind'
callgrind "a key of nobody" 's/^fe=/xy=/' 'bad:21: xy= is no key of callgrind'
callgrind "no position" 's/^+4 +1 30/4+ 1 30/' 'a line of costs begins with no position'
callgrind "no number" 's/^+4 +1 30/+4 +1 3x/' 'bad:18: no number where costs are'
callgrind "more costs than events" 's/^0x1000.*/& 9/' 'more costs than the 2 events'
callgrind "a cost out of reach" 's/^0x1000.*/0x1000 16 99999999999999999/' \
	'a cost of 99999999999999999; the file'
callgrind "calls without costs" 's/^+4 18 200 4//; s/^cfn=(3) leaf/fn=(3) leaf/' \
	'no costs in the line after calls='
callgrind "calls of nobody" '/^cfn=(2)/d' 'calls= without a number or a function'
callgrind "an event twice" 's/^events: Ir Dr/events: Ir Ir/' 'two events are called Ir'
callgrind "33 events" "s/^events: .*/events: $(seq -s' ' 33)/" \
	'more than 32 events; write fewer'
callgrind "costs without an event" '/^events:/d' 'costs of no function or of no event'
callgrind "another kind of positions" 's/^positions.*/positions: bytes/' \
	'positions of the unknown kind bytes'
callgrind "a later version" 's/^version.*/version: 2/' \
	'is of a version of the format that is not known'
callgrind "no costs" '/^[0-9+*-]/d; /^calls/d; /^totals/d' 'bad: has no costs; give a file'
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
