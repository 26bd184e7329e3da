#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Totals of symbols (opreport -l) and the call tree as text (--tree): of stacks
# that are known, and of a program that accounts for its own inclusive time.
# timeout: 300
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../perf.sh"

report() {
	"$BIN/opreport" --session-dir="$SESSION" "$@" >"$TMP/report" 2>"$TMP/err"
}
# table ARG...: rows without the header, blanks squeezed.
table() {
	report -n "$@" || cat "$TMP/err"
	sed 's/  */ /g' "$TMP/report"
}
# lines ARG...: as they are.
lines() {
	report -n "$@" || cat "$TMP/err"
	cat "$TMP/report"
}

# ---- known stacks --------------------------------------------------------------

cat >"$TMP/prog.c" <<'END'
int leaf(int x) { return x + 1; }
int busy(int x) { return leaf(x) + 1; }
int idle(int x) { return leaf(x) + 2; }
int main(int argc, char **argv) { return busy(argc) + idle(argv != 0); }
END
${CC:-cc} -O0 -Wl,--build-id -o "$TMP/prog" "$TMP/prog.c" || exit 1
at() {
	nm "$TMP/prog" | awk -v f="$1" '$3 == f { print "0x" $1 }' |
		while read -r start; do echo $((start + 3)); done
}
main=$(at main) busy=$(at busy) idle=$(at idle) leaf=$(at leaf)
P="{root}$TMP/prog" Z="{root}/lib/libz.so.1"
SESSION=$TMP/known
known=$SESSION/samples/current
EVENT=TIMER.0.0.all.all.all
# busy calls itself, and through idle; 20 samples in leaf have no stack.
"$TESTBIN/mktree" "$known/$P/{tree}/$EVENT" timer-hz=1000 <<END
image p root:$TMP/prog mtime=$TMP/prog
image z root:/lib/libz.so.1
image cut kern:[truncated] pseudo
stack 500 p+$main p+$busy p+$leaf
stack 200 p+$main p+$busy p+$busy p+$idle p+$busy p+$leaf
stack 100 p+$main p+$busy z+0x10
stack 100 p+$main p+$idle
stack 80 cut+0 p+$leaf
END
{
	echo "$leaf 800"
	echo "$idle 100"
} | "$TESTBIN/mkodb" "$known/$P/{dep}/$P/$EVENT" timer-hz=1000 \
	"mtime=$TMP/prog"
echo "0x10 100" | "$TESTBIN/mkodb" "$known/$P/{dep}/$Z/$EVENT" timer-hz=1000

is "totals" "$(table -l)" "800 80.0000 80.0000 prog leaf
100 10.0000 30.0000 prog idle
100 10.0000 10.0000 libz.so.1 /lib/libz.so.1
0 0 90.0000 prog main
0 0 80.0000 prog busy"
like "samples without a stack are told" \
	"$(report -l --verbose=stats; cat "$TMP/err")" \
	'^opreport: 20 of 1000 samples have no stack; in totals'
is "sorted by them" "$(table -l --sort=total | cut -d ' ' -f 3-)" \
	"90.0000 prog main
80.0000 prog leaf
80.0000 prog busy
30.0000 prog idle
10.0000 libz.so.1 /lib/libz.so.1"
is "a threshold is for samples" "$(table -l -t 50 | cut -d ' ' -f 3-)" \
	"80.0000 leaf"
is "or for totals, if these sort" "$(table -l -t 85 --sort=total)" \
	"0 0 90.0000 main"
is "rows are chosen by name, totals stay" "$(table -l -i busy,idle)" \
	"100 100.000 30.0000 idle
0 0 80.0000 busy"
is "samples of one image" "$(table -l lib-image:/lib/libz.so.1)" \
	"100 100.000 100.000 libz.so.1 /lib/libz.so.1"
like "with intervals" "$(table -l --intervals -i main)" \
	'^0 0 .* 90\.0000 87\.9848-91\.7091 main$'
is "in JSON" "$(report -l --json && python3 -c 'import json, sys
for s in json.load(open(sys.argv[1]))["symbols"]:
    print(s["symbol"], s["total"][0], s["total_percent"][0])' "$TMP/report")" \
	"leaf 800 80
idle 300 30
/lib/libz.so.1 100 10
main 900 90
busy 800 80"
is "in CSV" "$(report -l --csv && awk -F , 'NR == 1 { print $(NF - 1), $NF }
	/,main,/ { print $(NF - 1), $NF }' "$TMP/report")" "total total_percent
900 90"
unlike "not in a call graph" "$("$BIN/opreport" --session-dir="$SESSION" -d 2>&1)" \
	'total %'

is "the tree" "$(lines --tree --threshold=0)" \
	"      980    100.000          0  prog
      900    91.8367          0    main
      800    81.6327          0      busy
      500    51.0204    51.0204        leaf
      200    20.4082          0        busy
                                       idle
                                       busy
                                       leaf
      100    10.2041    10.2041        [libz.so.1]
      100    10.2041    10.2041      idle
       80     8.1633          0    [truncated]
                                   leaf [prog]"
is "its callers" "$(lines --tree=callers -t 9)" \
	"      780    79.5918  leaf [prog]
      700    71.4286    busy
      500    51.0204      main
                          prog
      200    20.4082      idle
                          busy
                          busy
                          main
                          prog
      100    10.2041  [libz.so.1]
                      busy [prog]
                      main
                      prog
      100    10.2041  idle [prog]
                      main
                      prog"
report --tree
like "what is left out is said" "$(report --tree -t 30 && cat "$TMP/report")" \
	'^[0-9]+ frames with less than 30 % of the samples are not shown; --thresh'
is "callers outwards, folded" "$(report --tree=callers --format=folded &&
	cat "$TMP/report")" \
	"[libz.so.1];busy;main;prog 100
idle;main;prog 100
leaf;[truncated];prog 80
leaf;busy;idle;busy;busy;main;prog 200
leaf;busy;main;prog 500"

rm -r "$known/$P/{tree}"
unlike "without stacks there are no totals" "$(report -l && cat "$TMP/report")" \
	'total %'
exits "which is an error where they are asked for" 1 report -l --sort=total
like "with the reason" "$(cat "$TMP/err")" '--sort=total: the samples have no stacks'

# ---- code without unwind data -----------------------------------------------------

cat >"$TMP/ends.folded" <<'END'
a;[no unwind data];f 30
b;[no unwind data];g;h 31
b;[no unwind data];g 9
a;[truncated];c 70
a;d 40
END
ok "stacks that end early" "$BIN/opimport" -o "$TMP/ends" "$TMP/ends.folded"
for option in -l --tree --callgraph; do
	like "opreport $option names the code that most end in" \
		"$("$BIN/opreport" --session-dir="$TMP/ends" $option 2>/dev/null)" \
		'70 no_unwind_data; 40 end in /b, which has no unwind data'
done
unlike "a report that reads no stacks does not" \
	"$("$BIN/opreport" --session-dir="$TMP/ends")" "which has no unwind data"

# ---- a program's own account ------------------------------------------------------

if ! "$TESTBIN/canperf" own 2>/dev/null; then
	skip "a program's own account" "no perf events for this user"
	done_testing
fi
SESSION=$TMP/session RATE=2000
cd "$TMP" || exit 1
${CC:-cc} -O2 -g -o inclusive "$TOP/tests/t/inclusive.c" || exit 1
profiled "inclusive time" -g ./inclusive 2000 lines
report -l --sort=total --csv inclusive 2>/dev/null || report -l --sort=total --csv
"$BIN/opannotate" --session-dir="$SESSION" -sn -t 0.1 >"$TMP/lines" 2>/dev/null
while read -r name share; do
	case $name in
	# "  SELF  %  TOTAL% :  LINE  TEXT"
	line:*) seen=$(sed -n "s/^.* \([0-9.]*\) : *${name#line:}  .*/\1/p" "$TMP/lines") ;;
	*) seen=$(awk -F , -v f="$name" '$2 == "symbol" && $6 == f {
		print $NF }' "$TMP/report") ;;
	esac
	ok "$name: its own account says $share %, the report ${seen:-nothing} %" \
		awk -v a="$share" -v b="${seen:--100}" \
		'BEGIN { exit !(a - b < 3 && b - a < 3) }'
done <"$TMP/truth"
# Lines and their samples, of opreport, of opannotate and of the page.
report --lines --sort=total --csv
all=$(awk -F , '$2 == "line" { print 100 * $12 / $13; exit }' "$TMP/report")
sed -n 's/^.* \([0-9.]*\) : *\([0-9]*\)  .*/\2 \1/p' "$TMP/lines" |
	awk -v all="$all" '$2 >= 5 { printf "%d %.0f\n", $1, $2 * all / 100 }' |
	sort -u >"$TMP/totals"
is "opreport --lines has the same totals as opannotate" \
	"$(awk -F , '$2 == "line" && $8 ~ /inclusive\.c$/ && $13 >= 5 {
		print $9, $12 }' "$TMP/report" | sort -u)" "$(cat "$TMP/totals")"
report --html="$TMP/page.html"
is "and so has the page" "$(python3 -c '
import json, sys
page = open(sys.argv[1]).read()
start = page.index(">", page.index("<script type=\"application/json\"")) + 1
code = json.JSONDecoder().raw_decode(page[start:].lstrip())[0]["code"]
for symbol in code["symbols"]:
    runs, at = symbol["line_totals"], 0
    for file, line in zip(symbol["lines"][::2], symbol["lines"][1::2]):
        count = sum(runs[at + 2 : at + 1 + 2 * runs[at] : 2])
        at += 1 + 2 * runs[at]
        if code["files"][file][0].endswith("inclusive.c") and count >= code["all"][2] / 20:
            print(line, count)
' "$TMP/page.html" | sort -u)" "$(cat "$TMP/totals")"
ok "lines: some are of calls, of recursion and of what is inlined" \
	test "$(grep -c '^line:' "$TMP/truth")" -ge 9
done_testing
