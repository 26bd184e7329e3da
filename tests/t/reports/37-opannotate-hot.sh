#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What opannotate shows without --all: which functions and lines, in which order,
# with which numbers; where functions are inlined; and that no sample is lost
# between the lines that are shown.
. "$(dirname "$0")/../lib.sh"

SESSION=$TMP/session
E=CPU_CLK_UNHALTED.100000.0

src=$TMP/src
mkdir -p "$src"
cat >"$src/prog.cc" <<'END'
volatile int sink;
static inline __attribute__((always_inline)) int twice(int x)
{
	for (int i = 0; i < x; i++)
		sink += i;
	return x * 2;
}
template <class T> struct S { T v; __attribute__((noinline)) T f(int n) { while (n--) v += n; return v; } };
// 9
// 10
// 11
// 12
// 13
// 14
__attribute__((noinline))
int hot(int x)
{
	int a = twice(x);
	// 19
	// 20
	// 21
	// 22
	// 23
	// 24
	sink += twice(a);
	return a;
}
__attribute__((noinline)) int cold(int x)
{
	return x * sink;
}
int main(int argc, char **)
{
	S<int> i{1};
	S<long> l{1};
	return hot(argc) + cold(argc) + i.f(argc) + (int)l.f(argc);
}
END
touch -d 2020-01-01 "$src/prog.cc"
prog=$TMP/prog
(cd "$src" && ${CXX:-c++} -O1 -g -no-pie -fno-reorder-functions \
	-Wl,--build-id -o "$prog" prog.cc) || exit 1
section=$(readelf -S -W "$prog" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) \([0-9a-f]*\) .*/0x\1 0x\2/p')

# insns FUNCTION: offsets in the file and lines of its instructions.
insns() {
	objdump -d --no-show-raw-insn "$prog" | awk -v f="<$1>:" '
		$2 == f { on = 1; next } /^$/ { on = 0 }
		on { sub(":", "", $1); print $1 }' | while read -r a; do
		echo "$((0x$a - ${section% *} + ${section#* })) $(
			addr2line -e "$prog" "$a" | sed 's/ .*//; s/.*://')"
	done
}
mangled() {
	nm "$prog" | sed -n "s/.* \\([^ ]*$1[^ ]*\\)\$/\\1/p"
}
f_int=$(mangled 1SIiE1f)
f_long=$(mangled 1SIlE1f)

# 20 samples for each instruction of hot, 10 for each of S<int>::f, 5 of
# S<long>::f, and one in all of cold.
{
	insns "$(mangled 3hot)" | sed 's/ / 20 /'
	insns "$f_int" | sed 's/ / 10 /'
	insns "$f_long" | sed 's/ / 5 /'
	insns "$(mangled 4cold)" | sed '1!d; s/ / 1 /'
} >"$TMP/truth"
cut -d ' ' -f 1-2 "$TMP/truth" |
	"$TESTBIN/mkodb" "$SESSION/samples/current/{root}$prog/{dep}/{root}$prog/$E.all.all.all" \
		mtime="$prog" event=118 count=100000 cpu-type=x86-64/family10
total=$(awk '{ n += $2 } END { print n }' "$TMP/truth")

annotate() {
	"$BIN/opannotate" --session-dir="$SESSION" "$@" 2>"$TMP/err"
}
# line N: the row of line N that has samples: count and text.
line() {
	sed -n "s/^ *\\([0-9][0-9]*\\) *[0-9.]* : *$1  /\\1 /p" "$TMP/out"
}

annotate -s >"$TMP/out"
is "no complaint" "$(cat "$TMP/err")" ""
is "the header is that of opreport" "$(sed 2q "$TMP/out")" "\
CPU: AMD64 family10
Counted CPU_CLK_UNHALTED events (Cycles outside of halt state) with a unit mask of 0x00 (No unit mask) count 100000"
is "the file, and functions by samples" "$(
	sed -n 's/^\/.*\/src\//src\//p; s/^ *[0-9]* *[0-9.]* :\([^ ].*\)/\1/p' "$TMP/out" |
		sed 's/, inlined.*//')" "src/prog.cc
twice
S<int>::f(int)
hot(int)
S<long>::f(int)"
like "where a function was inlined, by samples" "$(cat "$TMP/out")" \
	' :twice, inlined from prog\.cc:(18 \([0-9]+\), prog\.cc:25|25 \([0-9]+\), prog\.cc:18) \([0-9]+\)$'
is "functions of one line have their own counts" "$(line 8 | cut -d ' ' -f 1)" \
	"$(for f in "$f_int" "$f_long"; do
		insns "$f" | while read -r at _; do sed -n "s/^$at \\([0-9]*\\) .*/\\1/p" "$TMP/truth"; done |
			awk '{ n += $1 } END { print n }'
	done)"
is "the declaration, lines around the hot ones, and a gap" "$(
	sed -n '/ :hot(int)$/,/^$/s/^.\{15\}: *\([0-9.]\{1,\}\).*/\1/p' "$TMP/out" |
		tr '\n' ' ')" "16 ... 23 24 25 26 27 28 29 "
like "what is below the threshold is counted" "$(tail -n 1 "$TMP/out")" \
	'^[0-9]+ functions? below 1 %: 1 sample '
is "no sample is lost" "$(awk '
	/^ *[0-9]+ +[0-9.]+ : +[0-9-]+  / { n += $1 }
	/ \.\.\.  \(/ { sub(/.*\(/, ""); n += $1 }
	/ below 1 %: / { sub(/.*: /, ""); n += $1 }
	END { print n }' "$TMP/out")" "$total"
unlike "a function below the threshold" "$(cat "$TMP/out")" ':cold'
annotate -s -t 0 >"$TMP/out"
like "is there without one" "$(cat "$TMP/out")" ' :cold\(int\)$'
unlike "and then nothing is left" "$(cat "$TMP/out")" ' below '
annotate -s -t 100 >"$TMP/out"
like "nothing is above 100 %" "$(cat "$TMP/err")" 'none of 1 source files'
annotate -s -n -i 'S<long>::f' >"$TMP/out"
is "no header, one function" "$(sed 1d "$TMP/out" | head -n 3)" "\
$TMP/src/prog.cc

$(line 8 | awk '{ printf "%6d 100.000 :S<long>::f(int)", $1 }')"

rm "$src/prog.cc"
annotate -s >"$TMP/out"
like "without the source" "$(cat "$TMP/err")" 'prog\.cc: cannot be read'
like "lines have their numbers" "$(cat "$TMP/out")" '^ *[0-9]+ [0-9. ]+ : +8$'

# ---- instructions ------------------------------------------------------------

annotate -a >"$TMP/out"
is "instructions: no complaint" "$(cat "$TMP/err")" ""
is "functions by samples" "$(sed -n 's/^ *[0-9]\{1,\} *[0-9.]* :\([^ ].*\)/\1/p' \
	"$TMP/out")" "hot(int)
S<int>::f(int)
S<long>::f(int)"
is "each instruction of one" "$(sed -n '/:S<int>::f/,/^$/p' "$TMP/out" |
	grep -Ec '^ +10 +[0-9.]+ : +[0-9a-f]+:')" "$(insns "$f_int" | wc -l)"
like "what was inlined is named" "$(cat "$TMP/out")" \
	'^ +:twice inlined from prog\.cc:18$'
# The lines of twice are 4 to 6.
annotate -a -n -i twice >"$TMP/out"
is "an inlined function is shown where it is inlined" "$(
	sed -n 's/^ *[0-9]* *[0-9.]* :\([^ ].*\)/\1/p' "$TMP/out" | sort -u)" "\
hot(int)
twice inlined from prog.cc:18
twice inlined from prog.cc:25"
inlined=$(insns "$(mangled 3hot)" | awk '$2 >= 4 && $2 <= 6 { n += 20 } END { print n }')
is "with its samples" "$(awk '/ :hot/ { print $1 }' "$TMP/out")" "$inlined"
is "and its instructions" "$(awk '/^ +[0-9]+ +[0-9.]+ : +[0-9a-f]+:/ { n += $1 }
	END { print n }' "$TMP/out")" "$inlined"
annotate -a -i nothing >"$TMP/out"
is "a name that is nowhere: nothing is written" "$(cat "$TMP/out")" ""
like "and it is named" "$(cat "$TMP/err")" '^opannotate: --include-symbols=nothing: no symbol'
annotate -a -t 0 -i main >"$TMP/out"
is "no sample, no function" "$(grep -c :main "$TMP/out")" 0
annotate -a -t 0 >"$TMP/out"
like "calls are demangled, as is all" "$(cat "$TMP/out")" '^ +1 +[0-9.]+ :cold\(int\)'
annotate -a -D none >"$TMP/out"
like "names of linkers" "$(cat "$TMP/out")" ' :_Z3hoti$'

# One sample far from the others in a long function is a gap with its number.
awk 'BEGIN { print "volatile int v; int main(void) {"
	for (i = 0; i < 300; i++) print "v += " i ";"
	print "return 0; }" }' >"$src/long.c"
(cd "$src" && ${CC:-cc} -O1 -g -no-pie -Wl,--build-id -o "$prog" long.c) || exit 1
section=$(readelf -S -W "$prog" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) \([0-9a-f]*\) .*/0x\1 0x\2/p')
rm -r "$SESSION"
insns main | awk '$2 == 100 && !n++ { print $1, 1000 } $2 == 200 && !m++ { print $1, 1 }' |
	"$TESTBIN/mkodb" "$SESSION/samples/current/{root}$prog/{dep}/{root}$prog/$E.all.all.all" \
		mtime="$prog" event=118 count=100000 cpu-type=x86-64/family10
annotate -s -n >"$TMP/out"
is "lines around the hot one, and gaps" "$(sed -n 's/^.\{15\}:  *//p' "$TMP/out" |
	sed 's/  v += .*//')" "1  volatile int v; int main(void) {
...
98
99
100
101
102
...  (1 sample)"
annotate -a -n >"$TMP/out"
is "instructions around it" "$(grep -Ec '^.{15}: +[0-9a-f]+:' "$TMP/out")" 7
is "and gaps" "$(sed -n 's/.*: *\.\.\./.../p' "$TMP/out")" "...
...  (1 sample)"
done_testing
