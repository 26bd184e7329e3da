#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opgprof: files that gprof reads, of fixed and position independent programs,
# libraries and other word sizes, with no sample lost or misplaced.
# sanitized: yes
. "$(dirname "$0")/../lib.sh"

command -v gprof >/dev/null || skip_all "no gprof (package binutils)"

SESSION=$TMP/session
CURRENT=$SESSION/samples/current
E=EVENT.1000.0.all.all.all
PROG=$TMP/prog P="{root}$TMP/prog" L="{root}$TMP/lib.so"

cat >"$TMP/prog.s" <<'END'
	.text
	.globl main, odd, even, _start
	.type main, @function
main:	.skip 32, 0x90
	.size main, . - main
	.type odd, @function
odd:	.skip 33, 0x90
	.size odd, . - odd
	.type even, @function
even:	.skip 31, 0x90
	.size even, . - even
	.type tail, @function
tail:	.skip 16, 0x90
	.size tail, . - tail
_start:	nop
END
as -o "$TMP/prog.o" "$TMP/prog.s" && as --32 -o "$TMP/prog32.o" "$TMP/prog.s" &&
	ld -e _start -o "$PROG" "$TMP/prog.o" || exit 1

# counts NAME IMAGE [OPTION...] <"ADDRESS COUNT" lines: a file of the session.
counts() {
	name=$1 image=$2
	shift 2
	"$TESTBIN/mkodb" "$CURRENT/$name" event=1 count=1000 cpu-type=timer \
		mtime="$image" "$@"
}

# offset BINARY SYMBOL [PLUS]: the offset of its code in the file.
offset() {
	readelf -SW "$1" | sed 's/\[ *//' >"$TMP/sections"
	awk -v v="$(nm "$1" | awk -v s="$2" '$3 == s { print $1 }')" -v p="${3:-0}" '
		function hex(s, n, i) {
			for (i = 1; i <= length(s); i++)
				n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
			return n + 0
		}
		$2 == ".text" { printf "0x%x", hex(v) - hex($4) + hex($5) + p }' "$TMP/sections"
}

# arc BINARY SYMBOL PLUS SYMBOL PLUS COUNT: a call from one to the other.
arc() {
	printf '0x%x%08x %d\n' "$(offset "$1" "$2" "$3")" \
		"$(offset "$1" "$4" "$5")" "$6"
}

gprof_file() {
	"$BIN/opgprof" --session-dir="$SESSION" -o "$TMP/gmon" "$@" 2>"$TMP/err"
}

# flat BINARY [SPEC...]: "SYMBOL SAMPLES" lines out of gprof's flat profile.
flat() {
	binary=$1
	shift
	gprof_file "$@" || cat "$TMP/err"
	gprof -b -p "$binary" "$TMP/gmon" | awk '$1 ~ /^[0-9.]+$/ { print $NF, $3 + 0 }' |
		sort
}

# refuses ERE STATUS ARG...: one line about it, and no file.
refuses() {
	ere=$1 status=$2
	shift 2
	rm -f "$TMP/gmon"
	gprof_file "$@" >"$TMP/out"
	is "refused, status $status: $*" "$?" "$status"
	like "why: $ere" "$(cat "$TMP/out" "$TMP/err")" "^opgprof: .*$ere"
	ok "and writes nothing" [ ! -e "$TMP/gmon" ]
}

# ---- samples -----------------------------------------------------------------

# What is counted at the last byte of odd shares a bin with the first of even,
# and to gprof such a bin is of even alone.
{
	echo "$(offset "$PROG" main 2) 100"
	echo "$(offset "$PROG" odd 0) 50"
	echo "$(offset "$PROG" odd 32) 7"
	echo "$(offset "$PROG" even 0) 300"
	echo "$(offset "$PROG" tail 15) 1"
} | counts "$P/{dep}/$P/$E" "$PROG"
is "each sample is in its function" "$(flat "$PROG")" "\
even 300
main 100
odd 57
tail 1"
is "nothing to complain of" "$(cat "$TMP/err")" ""
is "the whole header" "$(od -An -c -N 20 "$TMP/gmon" | tr -d ' \n')" \
	'gmon001\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
is "a file is gmon.out by default" "$(cd "$TMP" && "$BIN/opgprof" --session-dir="$SESSION" &&
	cmp gmon gmon.out && echo same)" same
is "--threshold" "$(flat "$PROG" -t 20)" "\
even 300
main 100"

# ---- counts beyond 16 and 31 bits --------------------------------------------

{
	echo "$(offset "$PROG" main 2) 65535"
	echo "$(offset "$PROG" main 4) 65536"
	echo "$(offset "$PROG" odd 3) 10000000"
} | counts "$P/{dep}/$P/BIG.1.0.all.all.all" "$PROG"
is "more than a bin can hold" "$(flat "$PROG" event:BIG)" "\
main 131071
odd 10000000"
like "to the sample" "$(gprof -b -p "$PROG" "$TMP/gmon")" " 10000000\.00 10000000\.00 .*odd"
is "is nothing to complain of, too" "$(cat "$TMP/err")" ""
{
	echo "$(offset "$PROG" main 2) 5000000000"
	echo "$(offset "$PROG" odd 3) 10000000000"
} | counts "$P/{dep}/$P/HUGE.1.0.all.all.all" "$PROG"
like "more than gprof can add: shares stay as they are" \
	"$(gprof_file event:HUGE; gprof -b -p "$PROG" "$TMP/gmon")" "^ 66\.67 .* odd$"
like "and that is told" "$(cat "$TMP/err")" \
	"^opgprof: warning: samples are divided by 5, because"
ok "records of full bins are small" [ "$(wc -c <"$TMP/gmon")" -lt 4000000 ]
{
	echo "$(offset "$PROG" main 2) 1"
	echo "0x40000000 1"
} | counts "$P/{dep}/$P/FAR.1.0.all.all.all" "$PROG"
gprof_file event:FAR
ok "no room is taken by code without samples" [ "$(wc -c <"$TMP/gmon")" -lt 1000 ]

# ---- calls -------------------------------------------------------------------

{
	arc "$PROG" main 5 odd 3 40
	arc "$PROG" main 9 odd 0 2
	arc "$PROG" odd 9 odd 32 3
	arc "$PROG" odd 9 even 0 5000000000
} | counts "$P/{dep}/$P/{cg}/$P/$E" "$PROG"
# Ends of calls without samples take no room and decide nothing.
{
	echo "$(offset "$PROG" main 0) 3"
	echo "$(offset "$PROG" main 4) 2"
} | counts "$P/{dep}/$P/CALLS.1.0.all.all.all" "$PROG"
arc "$PROG" main 5 tail 3 1 | counts "$P/{dep}/$P/{cg}/$P/CALLS.1.0.all.all.all" \
	"$PROG"
gprof_file event:CALLS
at=$(nm "$PROG" | awk '$3 == "main" { print $1 }')
is "a bin from the first sample to the last" \
	"$(od -An -tx8 -j 21 -N 16 "$TMP/gmon" | xargs)" \
	"$at $(printf '%016x' $((0x$at + 8)))"
arc "$PROG" main 9 main 0 77 | counts "$P/{dep}/$P/{cg}/$L/$E" "$PROG"
gprof_file event:EVENT
gprof -b -q "$PROG" "$TMP/gmon" >"$TMP/graph"
like "calls add up by function" "$(cat "$TMP/graph")" ' 42/42 +odd '
like "recursion is told apart" "$(cat "$TMP/graph")" '^\[[0-9]\].* 42\+3 +odd '
like "more calls than 32 bits hold" "$(cat "$TMP/graph")" ' 5000000000/5000000000 +even '
unlike "calls into another binary are left out" "$(cat "$TMP/graph")" ' 77(/|$)'

# ---- other kinds of binaries -------------------------------------------------

ld -pie --dynamic-linker /lib64/ld-linux-x86-64.so.2 -e _start -o "$TMP/pie" "$TMP/prog.o"
ld -shared -o "$TMP/lib.so" "$TMP/prog.o"
ld -m elf_i386 -e _start -o "$TMP/prog32" "$TMP/prog32.o"
for kind in pie lib.so prog32; do
	binary=$TMP/$kind
	I="{root}$binary"
	{
		echo "$(offset "$binary" odd 4) 30"
		echo "$(offset "$binary" even 8) 12"
	} | counts "$I/{dep}/$I/KIND.1.0.all.all.all" "$binary"
	arc "$binary" odd 4 even 2 9 |
		counts "$I/{dep}/$I/{cg}/$I/KIND.1.0.all.all.all" "$binary"
	is "samples of $kind" "$(flat "$binary" "image:$binary")" "\
even 12
odd 30"
	like "calls of $kind" "$(gprof -b -q "$binary" "$TMP/gmon")" ' 9/9 +even '
done

# A library that two programs use; and what is built of 4-byte instructions.
for user in 1 2; do
	echo "$(offset "$TMP/lib.so" main 4) 11" |
		counts "{root}/no/$user/{dep}/$L/USED.1.0.7.7.$user" "$TMP/lib.so"
done
is "a library, with what all programs did in it" \
	"$(flat "$TMP/lib.so" event:USED "$TMP/lib.so")" "main 22"
is "by bins as large as the code allows" \
	"$(od -An -t u8 -j 21 -N 16 "$TMP/gmon" | awk '{ print $2 - $1 }')" 8

# ---- what cannot be ----------------------------------------------------------

refuses "samples of several events \(BIG:1, CALLS:1\), .*event:" 1 \
	event:BIG,CALLS "$PROG"
refuses "samples of several events \([^,]*, [^,]* and others\), .*event:" 1 "$PROG"
refuses "samples in several binaries \([^,]*/lib.so, [^,]*/pie\), .*name exactly one" 1 \
	event:KIND image:"$TMP/lib.so,$TMP/pie"
refuses "samples in several binaries \([^,]*, [^,]* and others\), .*name exactly one" 1 \
	event:KIND
refuses "gprof cannot compare profiles" 1 '{' image:a '}' '{' image:b '}'
refuses "no sample files match" 1 /no/such
refuses "not a percentage" 2 -t x event:BIG
refuses "nosuch" 2 --nosuch
rm -f "$TMP/gmon"
echo '0x10 5' | counts "{root}/no/prog/{dep}/{root}/no/prog/GONE.1.0.all.all.all" "$PROG"
refuses "/no/prog: gprof needs the binary" 1 event:GONE
like "why it is not used" "$(cat "$TMP/err")" "^opgprof: warning: /no/prog: .*not found"
touch -d '2001-01-01' "$PROG"
refuses "$PROG: gprof needs the binary" 1 event:BIG
like "why the changed one is not used" "$(cat "$TMP/err")" "changed since it was profiled"
"$BIN/opgprof" --session-dir="$SESSION" -o /dev/full "image:$TMP/pie" 2>"$TMP/err"
like "a full disk" "$? $(cat "$TMP/err")" "^1 opgprof: /dev/full: cannot be written: No space left"
ok "is still there" [ -c /dev/full ]
done_testing
