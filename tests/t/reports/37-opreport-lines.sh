#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# opreport --lines: each line of each symbol has its samples, inlined code counts
# for the line it was written on, and the text is that of the line. What
# addr2line says of the addresses is the measure.
. "$(dirname "$0")/../lib.sh"

SESSION=$TMP/session
E=CPU_CLK_UNHALTED.100000.0

src=$TMP/src
mkdir -p "$src"
cat >"$src/prog.c" <<'END'
volatile int sink;
static inline __attribute__((always_inline)) int twice(int x)
{
	sink	+=  x;
	return x * 2;
}
__attribute__((noinline)) int hot(int x)
{
	return twice(x) + twice(sink);
}
__attribute__((noinline)) int cold(int x) { return x * sink; }
int main(int argc, char **argv) { (void)argv; return hot(argc) + cold(argc); }
END
touch -d 2020-01-01 "$src/prog.c"
prog=$TMP/prog
(cd "$src" && ${CC:-cc} -O1 -g -no-pie -Wl,--build-id -o "$prog" prog.c) || exit 1

section=$(readelf -S -W "$prog" | sed -n 's/.* \.text *PROGBITS *\([0-9a-f]*\) \([0-9a-f]*\) .*/0x\1 0x\2/p')
for f in hot cold; do
	objdump -d --no-show-raw-insn "$prog" | awk -v f="<$f>:" '
		$2 == f { on = 1; next } /^$/ { on = 0 }
		on { sub(":", "", $1); print $1 }' | while read -r a; do
		echo "$((0x$a - ${section% *} + ${section#* })) $(
			[ $f = hot ] && echo 10 || echo 1) $(
			addr2line -e "$prog" "$a" | sed 's/ .*//; s/.*://')"
	done
done >"$TMP/truth"
# record TIMES: a session of these samples.
record() {
	awk -v n="$1" '{ print $1, $2 * n }' "$TMP/truth" |
		"$TESTBIN/mkodb" "$SESSION/samples/current/{root}$prog/{dep}/{root}$prog/$E.all.all.all" \
			mtime="$prog" event=118 count=100000 cpu-type=x86-64/family10
}
record 3
mv "$SESSION/samples/current" "$SESSION/samples/old"
record 1

report() {
	"$BIN/opreport" --session-dir="$SESSION" --lines "$@" 2>"$TMP/err"
}
truth() {
	awk '{ n[$3] += $2 } END { for (l in n) print n[l], l }' "$TMP/truth" |
		sort -k1,1nr -k2,2n
}

report -n >"$TMP/out"
is "no complaint" "$(cat "$TMP/err")" ""
is "each line has the samples of its instructions" \
	"$(awk '{ sub(/.*:/, "", $3); print $1, $3 }' "$TMP/out" | sort -k1,1nr -k2,2n)" \
	"$(truth)"
is "most samples first" "$(awk '{ print $1 }' "$TMP/out")" \
	"$(awk '{ print $1 }' "$TMP/out" | sort -rn)"
like "inlined code is of its own line and function, with its text" \
	"$(cat "$TMP/out")" '^[0-9]+ +[0-9.]+ +prog\.c:4 +twice +sink \+= x;$'
is "the header" "$(report | sed -n 3p)" \
	"samples  %        linenr info  symbol name  source"
like "by file and line" "$(report -n -s debug | awk '{ sub(/.*:/, "", $3); print $3 }' |
	tr '\n' ' ')" "^$(truth | awk '{ print $2 }' | sort -n | tr '\n' ' ')\$"
is "of one function" "$(report -n -i cold | awk '{ print $4 }' | sort -u)" cold
is "above a threshold" "$(report -n -t 10 | wc -l)" \
	"$(awk '{ n[$3] += $2; t += $2 } END { for (l in n) k += n[l] >= t / 10; print k }' "$TMP/truth")"
like "with intervals" "$(report -n --intervals | head -n 1)" \
	'^[0-9]+ +[0-9.]+ +[0-9.]+-[0-9.]+ +prog'
like "as CSV" "$(report --csv)" \
	"^1,line,[^,]*,$prog,$prog,twice,,$src/prog\\.c,4,[0-9]+,[0-9.]+,\"sink \\+= x;\"\$"
like "whose head says so" "$(report --csv | head -n 1)" ',percent,source$'
report --json >"$TMP/json"
like "as JSON" "$(tr -d '\n ' <"$TMP/json")" \
	'"lines":\[\{.*"symbol":"twice".*"source":"sink\+=x;","file":"[^"]*prog\.c","line":4,'
unlike "and no symbols beside them" "$(cat "$TMP/json")" '"symbols"'
like "as XML" "$(report --xml)" \
	"<symboldata .*name=\"hot\" .*file=\"$src/prog\\.c\" line=\"4\" .*source=\"sink \\+= x;\""
like "a comparison finds the same lines" "$(report -n '{' session:old '}' '{' session:current '}')" \
	'^[0-9]+ +[0-9.]+ +0 +prog\.c:4 +twice'

mkdir -p "$TMP/moved/src" && mv "$src/prog.c" "$TMP/moved/src/"
report -n >"$TMP/out"
like "a file that is gone is said" "$(cat "$TMP/err")" \
	"prog\\.c: cannot be read: No such file or directory; give its folder with --search-dirs"
like "and its lines have no text" "$(cat "$TMP/out")" '^[0-9]+ +[0-9.]+ +prog\.c:4 +twice$'
like "it is found elsewhere" "$(report -n --search-dirs="$TMP/moved" --base-dirs="$TMP")" \
	' prog\.c:4 +twice +sink \+= x;$'
done_testing
